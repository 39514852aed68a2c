package org

import (
	"bytes"
	"strings"
)

// Entry is a heading to be written. Foreign text in it is already escaped: titles and property values by [EscapeTitle]
// (the agenda runs a <%%(…)> that it finds in a drawer), bodies by [Escape]. Stamps carry their brackets, e.g.
// <2026-11-21 Sat>. Every field but Body is written on one line.
type Entry struct {
	Level     int // 0 means: one below the parent
	State     string
	Priority  string
	Title     string
	Tags      []string
	Scheduled string
	Deadline  string
	Props     []Prop
	Body      string
	Children  []Entry
}

// String is the entry as Org text, ending in a newline, with a blank line before each child.
func (e Entry) String() string {
	var b strings.Builder
	e.write(&b, max(e.Level, 1))
	return b.String()
}

func (e Entry) write(b *strings.Builder, level int) {
	b.WriteString(strings.Repeat("*", level) + " ")
	if e.State != "" {
		b.WriteString(e.State + " ")
	}
	if e.Priority != "" {
		b.WriteString("[#" + e.Priority + "] ")
	}
	b.WriteString(oneLine(e.Title))
	if tags := tagString(e.Tags); tags != "" {
		b.WriteString(" " + tags)
	}
	b.WriteString("\n")
	if plan := planningText(e.Scheduled, e.Deadline, ""); plan != "" {
		b.WriteString(plan + "\n")
	}
	if len(e.Props) > 0 {
		b.WriteString(":PROPERTIES:\n")
		for _, p := range e.Props {
			b.WriteString(propLine(p.Key, p.Value) + "\n")
		}
		b.WriteString(":END:\n")
	}
	b.WriteString(ended(e.Body))
	for _, c := range e.Children {
		b.WriteString("\n")
		c.write(b, max(c.Level, level+1))
	}
}

// Append adds a top-level entry at the end of the file, after a blank line. A missing final newline is added first; a
// file with CRLF line ends gets CRLF.
func Append(src []byte, e Entry) []byte {
	d := Doc{Src: src, eol: lineEnding(src)}
	gap := ""
	last := bytes.TrimSuffix(src, []byte("\n"))
	if len(bytes.TrimSpace(last[bytes.LastIndexByte(last, '\n')+1:])) > 0 {
		gap = "\n"
	}
	return d.insert(len(src), gap+e.String())
}

// tagString is `:a:b:`, or "" for no tags. What can not stand in a tag becomes "_".
func tagString(tags []string) string {
	text := ""
	for _, t := range tags {
		t = strings.Map(func(r rune) rune {
			if isTagRune(r) {
				return r
			}
			return '_'
		}, t)
		if t != "" {
			text += ":" + t
		}
	}
	if text == "" {
		return ""
	}
	return text + ":"
}

// planningText is the planning line in Emacs' order, or "".
func planningText(scheduled, deadline, closed string) string {
	var parts []string
	for _, p := range []struct{ keyword, stamp string }{{"CLOSED: ", closed}, {"DEADLINE: ", deadline}, {"SCHEDULED: ", scheduled}} {
		if p.stamp != "" {
			parts = append(parts, p.keyword+oneLine(p.stamp))
		}
	}
	return strings.Join(parts, " ")
}

func propLine(key, value string) string {
	return strings.TrimRight(":"+propKey(key)+": "+oneLine(value), " ")
}

// propKey makes any string a key that can stand in a drawer and not end it.
func propKey(key string) string {
	key = strings.Join(strings.Fields(strings.ReplaceAll(oneLine(key), zwsp, " ")), "_")
	if key == "" || strings.EqualFold(key, "END") || strings.EqualFold(key, "PROPERTIES") {
		key += "_"
	}
	return key
}

// ended is text with a newline at its end, unless it is empty.
func ended(text string) string {
	if text == "" || strings.HasSuffix(text, "\n") {
		return text
	}
	return text + "\n"
}
