package memory

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"amacs/org"
)

// Set writes memories that are in the file as they are now. Only what differs
// from the file is written, within the memory's own heading.
func Set(src []byte, ms ...Memory) ([]byte, error) {
	doc := org.Parse(src)
	at := byID(doc)
	var changes []change
	for _, m := range ms {
		h, err := find(at, m.ID)
		if err != nil {
			return nil, err
		}
		if err := checkChange(read(doc, h), m); err != nil {
			return nil, fmt.Errorf("the memory %s can not become this: %w", m.ID, err)
		}
		at[m.ID] = nil // a second change would not know of this one
		changes = append(changes, change{h, rewrite(doc, h, m, false)})
	}
	return apply(doc, changes), nil
}

// checkChange checks only what changes: what a hand wrote is left alone.
func checkChange(old, m Memory) error {
	fine := Memory{ID: "x", Content: "x", Kind: Fact, Importance: Medium, Trust: Medium}
	was, now, to := reflect.ValueOf(old), reflect.ValueOf(&m).Elem(), reflect.ValueOf(fine)
	for i := range now.NumField() {
		if reflect.DeepEqual(was.Field(i).Interface(), now.Field(i).Interface()) {
			now.Field(i).Set(to.Field(i))
		}
	}
	return m.check()
}

// change is a heading with the bytes that take the place of its own: those up
// to the next heading.
type change struct {
	h   *org.Heading
	own []byte
}

func apply(doc *org.Doc, changes []change) []byte {
	slices.SortFunc(changes, func(a, b change) int { return a.h.Start - b.h.Start })
	out := make([]byte, 0, len(doc.Src)+1024)
	at := 0
	for _, c := range changes {
		out = append(out, doc.Src[at:c.h.Start]...)
		out = append(out, c.own...)
		at = c.h.Next
	}
	return append(out, doc.Src[at:]...)
}

// rewrite is a heading's own bytes with what m changes in it; all gives it also
// the properties that it lacks.
func rewrite(doc *org.Doc, h *org.Heading, m Memory, all bool) []byte {
	old := read(doc, h)
	// The heading alone, below the TODO words of its file, is parsed again
	// after each step.
	todo := slices.Concat(doc.Open, doc.Done)
	prefix := ends("#+TODO: "+strings.Join(doc.Open, " ")+" | "+strings.Join(doc.Done, " ")+"\n", doc.Src)
	own := doc.Src[h.Start:h.Next]
	step := func(edit func(d *org.Doc, h *org.Heading) []byte) {
		d := org.Parse(slices.Concat([]byte(prefix), own))
		own = edit(d, d.Headings[0])[len(prefix):]
	}
	if m.Content != old.Content {
		title, _ := m.heading(todo)
		step(func(d *org.Doc, h *org.Heading) []byte { return d.SetTitle(h, title) })
	}
	if !slices.Equal(m.Tags, old.Tags) {
		step(func(d *org.Doc, h *org.Heading) []byte { return d.SetTags(h, m.Tags) })
	}
	for _, f := range fields {
		v := f.get(&m)
		_, has := h.Prop(f.key)
		switch lacks := all && f.always && !has; {
		case v == f.get(&old) && !lacks || v == "" && !has:
		case v == "":
			step(func(d *org.Doc, h *org.Heading) []byte { return d.DeleteProp(h, f.key) })
		default:
			step(func(d *org.Doc, h *org.Heading) []byte { return d.SetProp(h, f.key, org.EscapeTitle(v)) })
		}
	}
	if m.Content != old.Content || !slices.EqualFunc(m.Crumbs, old.Crumbs, sameCrumb) {
		step(func(d *org.Doc, h *org.Heading) []byte { return setBody(d, h, old, m) })
	}
	return own
}

func sameCrumb(a, b Crumb) bool { return a.line() == b.line() }

func setBody(d *org.Doc, h *org.Heading, old, m Memory) []byte {
	b := splitBody(d.BodyText(h))
	if !slices.EqualFunc(m.Crumbs, old.Crumbs, sameCrumb) {
		b.log = withCrumbs(b.log, m.Crumbs)
	}
	if m.Content != old.Content {
		text := ""
		if _, whole := asTitle(m.Content); !whole {
			text = org.Escape(m.Content) + "\n"
		}
		b.text = within(b.text, text)
	}
	if b.log != "" && b.text != "" && !strings.HasSuffix(b.log, "\n") {
		b.log += "\n"
	}
	written := ends(b.before+b.log+b.text, d.Src)
	if written != "" && !bytes.HasSuffix(d.Src[:h.Body], []byte("\n")) {
		written = ends("\n", d.Src) + written
	}
	return slices.Concat(d.Src[:h.Body], []byte(written), d.Src[h.Next:])
}

// within puts text in the place of old's, and leaves the blank lines around it.
func within(old, text string) string {
	from, to, at := len(old), len(old), 0
	for line := range strings.SplitAfterSeq(old, "\n") {
		if !blank(line) {
			from, to = min(from, at), at+len(line)
		}
		at += len(line)
	}
	if from == len(old) {
		return text + old
	}
	if text == "" {
		from = 0
	}
	return old[:from] + text + old[to:]
}

// Remove takes a memory out of a file, with the notes below it, and returns it
// as text for [Paste]. Memories below it stay.
func Remove(src []byte, which string) (rest, block []byte, err error) {
	doc := org.Parse(src)
	h, err := find(byID(doc), which)
	if err != nil {
		return nil, nil, err
	}
	end := h.End
	for _, k := range headings(doc) {
		if k.Start > h.Start && k.Start < end {
			end = k.Start
		}
	}
	return slices.Concat(src[:h.Start], src[end:]), slices.Clone(src[h.Start:end]), nil
}

// Paste puts a memory that [Remove] took out at the end of another file, as a
// heading of the first level.
func Paste(src, block []byte) []byte {
	doc := org.Parse(block)
	if len(doc.Headings) == 0 {
		return src
	}
	top := doc.Headings[0].Level
	var text []byte
	for _, h := range doc.Headings {
		text = append(text, block[h.Start+min(top-1, h.Level-1):h.Next]...)
	}
	out := slices.Clone(src)
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, ends("\n", src)...)
	}
	if last := bytes.TrimSuffix(bytes.TrimSuffix(out, []byte("\n")), []byte("\r")); len(last) > 0 && last[len(last)-1] != '\n' {
		out = append(out, ends("\n", src)...)
	}
	return append(out, ends(string(text), src)...)
}
