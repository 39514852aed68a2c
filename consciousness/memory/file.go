package memory

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"amacs/org"
)

// Preamble begins a new file of memories.
func Preamble(s Scope) []byte {
	return []byte("# -*- coding: utf-8 -*-\n#+TITLE: " + org.EscapeTitle("Memories: "+s.String()) + "\n" +
		"# One heading is one memory. Edit, move or delete them; a new one needs no properties.\n")
}

// Read reads the memories of a file, in its order. It never fails.
//
// A heading with an ID is a memory, at any level. One without is a new memory,
// made by a hand, unless it has headings below it (it is a group), stands below
// a memory (it is a note), is empty, or is commented out or archived in Org's
// way. Missing or strange properties are: a fact, medium in importance and
// trust, confidence 1, strength 1.
func Read(src []byte) []Memory {
	doc := org.Parse(src)
	var out []Memory
	for _, h := range headings(doc) {
		out = append(out, read(doc, h))
	}
	return out
}

// headings are those that are memories.
func headings(doc *org.Doc) (out []*org.Heading) {
	const (
		group = iota
		known // a memory with an id: what has none below it is a note
		hidden
	)
	kind := make([]int, len(doc.Headings))
	for i, h := range doc.Headings {
		above := group
		if h.Parent >= 0 {
			above = kind[h.Parent]
		}
		leaf := i+1 == len(doc.Headings) || doc.Headings[i+1].Parent != i
		switch {
		case above == hidden || h.Comment || slices.Contains(h.Tags, "ARCHIVE"):
			kind[i] = hidden
		case id(h) != "":
			kind[i] = known
			out = append(out, h)
		case above == known:
			kind[i] = known
		case leaf && strings.TrimSpace(content(doc, h)) != "":
			out = append(out, h)
		}
	}
	return out
}

func id(h *org.Heading) string {
	v, _ := h.Prop("ID")
	return org.UnescapeTitle(v)
}

func content(doc *org.Doc, h *org.Heading) string {
	return joined(strings.TrimSpace(org.UnescapeTitle(h.Title)), org.Unescape(splitBody(doc.BodyText(h)).text))
}

func read(doc *org.Doc, h *org.Heading) Memory {
	m := Memory{Kind: Fact, Importance: Medium, Trust: Medium, Confidence: 1, Strength: 1,
		Content: content(doc, h), Tags: h.Tags, Crumbs: crumbs(splitBody(doc.BodyText(h)).log)}
	for _, f := range fields {
		if v, ok := h.Prop(f.key); ok {
			f.set(&m, org.UnescapeTitle(v))
		}
	}
	return m
}

// entry is a memory as it is first written into a file with these TODO words.
func (m Memory) entry(todo []string) org.Entry {
	title, whole := m.heading(todo)
	e := org.Entry{Title: title, Tags: m.Tags}
	for _, f := range fields {
		if v := f.get(&m); v != "" {
			e.Props = append(e.Props, org.Prop{Key: f.key, Value: org.EscapeTitle(v)})
		}
	}
	e.Body = withCrumbs("", m.Crumbs)
	if !whole {
		e.Body += org.Escape(m.Content)
	}
	return e
}

// heading is the escaped title, and whether it is the whole content. One that
// begins with a TODO word of the file's own is kept from being read as one.
func (m Memory) heading(todo []string) (title string, whole bool) {
	if title, whole = asTitle(m.Content); !whole {
		title = org.EscapeTitle(excerpt(m.Content))
	}
	first, _, _ := strings.Cut(title, " ")
	if slices.Contains(todo, first) {
		title = "\u200b" + title
	}
	return title, whole
}

// Add puts memories at the end of a file. It fails where one can not be stored,
// see [Memory.Check], and where its id is taken.
func Add(src []byte, ms ...Memory) ([]byte, error) {
	doc := org.Parse(src)
	taken := map[string]bool{}
	for _, h := range doc.Headings {
		taken[id(h)] = true
	}
	todo := slices.Concat(doc.Open, doc.Done)
	var out []byte
	for i, m := range ms {
		if err := m.Check(); err != nil {
			return nil, err
		}
		if taken[m.ID] {
			return nil, fmt.Errorf("the id %s is taken by another memory; choose a new one", m.ID)
		}
		taken[m.ID] = true
		e := m.entry(todo)
		if i == 0 {
			out = org.Append(src, e)
		} else {
			out = append(out, ends("\n"+e.String(), src)...)
		}
	}
	if len(ms) == 0 {
		return src, nil
	}
	return out, nil
}

// ends is text with the line ends of a file.
func ends(text string, file []byte) string {
	if i := bytes.IndexByte(file, '\n'); i > 0 && file[i-1] == '\r' {
		return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	return text
}

// byID are the headings of the memories, nil for an id that two have.
func byID(doc *org.Doc) map[string]*org.Heading {
	at := map[string]*org.Heading{}
	for _, h := range headings(doc) {
		id := id(h)
		if _, twice := at[id]; twice {
			h = nil
		}
		at[id] = h
	}
	return at
}

func find(at map[string]*org.Heading, id string) (*org.Heading, error) {
	h, ok := at[id]
	switch {
	case !ok || id == "":
		return nil, fmt.Errorf("no memory in the file has the id %q", id)
	case h == nil:
		return nil, fmt.Errorf("two memories in the file have the id %s; change one of them there", id)
	}
	return h, nil
}
