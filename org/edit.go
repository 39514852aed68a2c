package org

import (
	"bytes"
	"strings"
)

// splice returns the text with s replaced. Line ends of the new text follow the file's.
func (d *Doc) splice(s span, text string) []byte {
	if d.eol == "\r\n" {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", "\r\n")
	}
	out := make([]byte, 0, len(d.Src)+len(text))
	out = append(out, d.Src[:s.from]...)
	out = append(out, text...)
	return append(out, d.Src[s.to:]...)
}

// insert puts whole lines at a line's start, ending the line before if it has no end.
func (d *Doc) insert(at int, lines string) []byte {
	if at > 0 && d.Src[at-1] != '\n' {
		lines = "\n" + lines
	}
	return d.splice(span{at, at}, lines)
}

// SetProp sets a property: in place if h has it (first of several), else as the last line of the drawer, which is
// made below the planning line if there is none. Value is written on one line, foreign text in it is already escaped
// by [EscapeTitle]; blanks in the key become "_".
func (d *Doc) SetProp(h *Heading, key, value string) []byte {
	key, value = propKey(key), oneLine(value)
	for i, p := range h.Props {
		if !strings.EqualFold(p.Key, key) {
			continue
		}
		at := h.props[i].value
		if value != "" && d.Src[at.from-1] == ':' {
			value = " " + value
		}
		return d.splice(at, value)
	}
	if h.drawer.from == h.drawer.to {
		return d.insert(h.Body, ":PROPERTIES:\n"+propLine(key, value)+"\n:END:\n")
	}
	end := d.lineStart(h.drawer.to - 1)
	indent := d.Src[end:skipBlanks(d.Src, end)]
	return d.splice(span{end, end}, string(indent)+propLine(key, value)+"\n")
}

// DeleteProp removes a property, every line of it, and the drawer with its last one, unless the text below it would
// then be taken for h's planning or drawer.
func (d *Doc) DeleteProp(h *Heading, key string) []byte {
	out := append([]byte{}, d.Src[:h.drawer.from]...)
	at, left := h.drawer.from, 0
	for i, p := range h.Props {
		if strings.EqualFold(p.Key, key) {
			out = append(out, d.Src[at:h.props[i].all.from]...)
			at = h.props[i].all.to
		} else {
			left++
		}
	}
	below := d.Src[h.Body:d.textEnd(h.Body)]
	if left == 0 && len(h.Props) > 0 && !planningLine.Match(below) && !drawerBegin.Match(below) {
		return d.splice(h.drawer, "")
	}
	return append(out, d.Src[at:]...)
}

// SetState changes the TODO keyword; "" takes it away. The keyword must be one of the file's own to be seen as one.
func (d *Doc) SetState(h *Heading, state string) []byte {
	at := h.state
	if at.from < at.to && state != "" {
		return d.splice(at, state)
	}
	if state != "" {
		return d.splice(at, state+" ")
	}
	if at.from < at.to {
		at.to = skipBlanks(d.Src, at.to)
	}
	return d.splice(at, "")
}

// SetTitle replaces the title, which is already escaped, and leaves state, priority and tags.
func (d *Doc) SetTitle(h *Heading, title string) []byte {
	title = oneLine(title)
	if !isBlank(d.Src[h.title.from-1]) {
		title = " " + title
	}
	if h.title.to < len(d.Src) && d.Src[h.title.to] == ':' {
		title += " "
	}
	return d.splice(h.title, title)
}

// SetTags replaces the tags; none takes them away.
func (d *Doc) SetTags(h *Heading, tags []string) []byte {
	at, text := h.tags, tagString(tags)
	if text == "" {
		at.from = h.title.to
	} else if !isBlank(d.Src[at.from-1]) {
		text = " " + text
	}
	return d.splice(at, text)
}

// SetPlanning sets a stamp, with its brackets, or takes it away with "". Keyword is SCHEDULED, DEADLINE or CLOSED.
// The whole planning line is written anew.
func (d *Doc) SetPlanning(h *Heading, keyword, stamp string) []byte {
	c := *h
	*c.stamp(strings.ToUpper(keyword)) = stamp
	text := ended(planningText(c.Scheduled, c.Deadline, c.Closed))
	if h.plan.to > h.plan.from {
		return d.splice(h.plan, text)
	}
	return d.insert(h.Meta, text)
}

// content is the part of h's body between its leading and its trailing blank lines; empty at Body if there is none.
func (d *Doc) content(h *Heading) span {
	from, to := h.Body, h.Body
	for at := h.Body; at < h.Next; at = d.lineEnd(at) {
		if len(bytes.TrimSpace(d.Src[at:d.lineEnd(at)])) == 0 {
			continue
		}
		if to == h.Body {
			from = at
		}
		to = d.lineEnd(at)
	}
	if to == h.Body {
		from = h.Body
	}
	return span{from, to}
}

// ReplaceBody puts text, already escaped, in the place of h's own body. Blank lines around it stay.
func (d *Doc) ReplaceBody(h *Heading, text string) []byte {
	at := d.content(h)
	text = ended(text)
	if at.from > 0 && d.Src[at.from-1] != '\n' && text != "" {
		text = "\n" + text
	}
	return d.splice(at, text)
}

// AppendBody adds lines, already escaped, after h's own body and before the blank lines that end it.
func (d *Doc) AppendBody(h *Heading, text string) []byte {
	if text == "" {
		return d.splice(span{}, "")
	}
	return d.insert(d.content(h).to, ended(text))
}

// AppendChild adds an entry after the last line of h's subtree, at least one level below h, a blank line before it.
func (d *Doc) AppendChild(h *Heading, e Entry) []byte {
	e.Level = max(e.Level, h.Level+1)
	last := h
	for _, k := range d.Headings[h.index:] {
		if k.Start >= h.End {
			break
		}
		last = k
	}
	return d.insert(d.content(last).to, "\n"+e.String())
}

// Remove takes h and its whole subtree out. The subtree's text is Src[h.Start:h.End].
func (d *Doc) Remove(h *Heading) []byte { return d.splice(span{h.Start, h.End}, "") }

// lineStart is the first byte of the line that at is in.
func (d *Doc) lineStart(at int) int { return bytes.LastIndexByte(d.Src[:at], '\n') + 1 }
