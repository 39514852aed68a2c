package home

import (
	"fmt"
	"strconv"
	"strings"

	"amacs/org"
)

// Note is a heading of scratchpad.org (RFC v4 §4.2). It belongs to a thread, or
// to all ("null"). Heading and thread together name it.
//
//	# -*- coding: utf-8 -*-
//
//	* Parser Investigation
//	:PROPERTIES:
//	:THREAD: rust-debugging
//	:TICK: 45
//	:END:
//	Content here...
//
// A heading that the human wrote, without properties, is a global note of tick 0.
type Note struct {
	Heading string
	Thread  string // "" = global
	Tick    int    // last written
	Text    string
}

// Notes reads a scratchpad, in file order.
func Notes(src []byte) []Note {
	doc := org.Parse(src)
	var out []Note
	for _, h := range doc.Top() {
		out = append(out, note(doc, h))
	}
	return out
}

func note(doc *org.Doc, h *org.Heading) Note {
	n := Note{Text: noteText(string(doc.Src[h.Body:h.End]))}
	n.Heading, n.Thread = noteName(h)
	if v, ok := h.Prop("TICK"); ok {
		n.Tick, _ = strconv.Atoi(v)
	}
	return n
}

func noteName(h *org.Heading) (heading, thread string) {
	thread, _ = h.Prop("THREAD")
	return org.UnescapeTitle(h.Title), threadName(org.UnescapeTitle(thread))
}

// threadName is "" for the names of no thread.
func threadName(s string) string {
	if s == "null" || s == "nil" {
		return ""
	}
	return s
}

// named is the note with heading and thread as they come back from a file.
func (n Note) named() Note {
	n.Heading = org.UnescapeTitle(org.EscapeTitle(n.Heading))
	n.Thread = threadName(org.UnescapeTitle(org.EscapeTitle(n.Thread)))
	return n
}

// noteText undoes the escape of each piece that was written into a note; what
// the human wrote around the pieces stays as it is.
func noteText(body string) string {
	var parts, plain []string
	flush := func() {
		if text := org.Unescape(strings.Join(plain, "\n")); text != "" {
			parts = append(parts, text)
		}
		plain = nil
	}
	lines := strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		end := blockEnd(lines, i)
		if end < 0 {
			plain = append(plain, lines[i])
			continue
		}
		flush()
		parts = append(parts, org.Unescape(strings.Join(lines[i:end+1], "\n")))
		i = end
	}
	flush()
	return strings.Join(parts, "\n\n")
}

// blockEnd is the last line of the example block that begins at line i, as
// org.Escape makes them; -1 if none does.
func blockEnd(lines []string, i int) int {
	if first := strings.ToLower(lines[i]); first != "#+begin_example" && first != "#+begin_example quoted" {
		return -1
	}
	for j := i + 1; j < len(lines); j++ {
		if strings.EqualFold(strings.TrimSpace(lines[j]), "#+end_example") {
			return j
		}
	}
	return -1
}

// AddNote writes content under heading. A heading used again within the same
// thread is added to, after an empty line, and renews its tick.
func (d *Draft) AddNote(n Note) error {
	if n = d.cleanNote(n); n.Heading == "" || strings.TrimSpace(n.Text) == "" {
		return fmt.Errorf("a note needs a heading and a text")
	}
	return d.edit(Scratchpad, func(src []byte) ([]byte, error) {
		doc := org.Parse(src)
		h := findNote(doc, n)
		if h == nil {
			return org.Append(src, n.entry()), nil
		}
		text := org.Escape(n.Text)
		if strings.TrimSpace(doc.BodyText(h)) != "" {
			text = "\n" + text
		}
		return renew(doc.AppendBody(h, text), n), nil
	})
}

// cleanNote is a note as it is stored, without secrets.
func (d *Draft) cleanNote(n Note) Note {
	n.Heading, n.Thread, n.Text = d.Clean(n.Heading), d.Clean(n.Thread), d.Clean(n.Text)
	return n.named()
}

// EditNote replaces the text of a note; with no text it takes the note out.
func (d *Draft) EditNote(n Note) error {
	n = d.cleanNote(n)
	return d.edit(Scratchpad, func(src []byte) ([]byte, error) {
		doc := org.Parse(src)
		h := findNote(doc, n)
		if h == nil {
			return nil, unknownNote(doc, n)
		}
		if strings.TrimSpace(n.Text) == "" {
			return doc.Remove(h), nil
		}
		return renew(doc.ReplaceBody(h, org.Escape(n.Text)), n), nil
	})
}

// Note finds a note by heading and thread.
func (d *Draft) Note(heading, thread string) (Note, error) {
	src, err := d.Bytes(Scratchpad)
	if err != nil {
		return Note{}, err
	}
	doc, n := org.Parse(src), Note{Heading: heading, Thread: thread}.named()
	if h := findNote(doc, n); h != nil {
		return note(doc, h), nil
	}
	return Note{}, unknownNote(doc, n)
}

func (n Note) entry() org.Entry {
	thread := "null"
	if n.Thread != "" {
		thread = org.EscapeTitle(n.Thread)
	}
	return org.Entry{
		Title: org.EscapeTitle(n.Heading),
		Props: []org.Prop{{Key: "THREAD", Value: thread}, {Key: "TICK", Value: strconv.Itoa(n.Tick)}},
		Body:  org.Escape(n.Text),
	}
}

func renew(src []byte, n Note) []byte {
	doc := org.Parse(src)
	return doc.SetProp(findNote(doc, n), "TICK", strconv.Itoa(n.Tick))
}

// findNote finds a note by its names, as they come back from a file.
func findNote(doc *org.Doc, n Note) *org.Heading {
	for _, h := range doc.Top() {
		if name, of := noteName(h); name == n.Heading && of == n.Thread {
			return h
		}
	}
	return nil
}

func unknownNote(doc *org.Doc, n Note) error {
	of := "no global note"
	if n.Thread != "" {
		of = fmt.Sprintf("thread %q has no note", n.Thread)
	}
	var known []string
	for _, h := range doc.Top() {
		name, of := noteName(h)
		name = strconv.Quote(name)
		if of != "" {
			name += " :thread " + strconv.Quote(of)
		}
		known = append(known, name)
	}
	if len(known) == 0 {
		return fmt.Errorf("%s %q; there are no notes yet", of, n.Heading)
	}
	return fmt.Errorf("%s %q; the notes are %s", of, n.Heading, strings.Join(known, ", "))
}
