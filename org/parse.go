package org

import (
	"bytes"
	"regexp"
	"strings"
)

// Doc is an outline: its text and where its headings are.
type Doc struct {
	Src      []byte
	Headings []*Heading // all of them, in file order
	Preamble int        // bytes before the first heading
	Open     []string   // TODO keywords that mean work is left, e.g. TODO
	Done     []string   // TODO keywords that mean it is finished, e.g. DONE

	eol string // "\n" or "\r\n", after the first line's
}

// Heading is one heading with its subtree. Offsets are bytes into Doc.Src:
//
//	Start ≤ Meta ≤ Body ≤ Next ≤ End
//
// State, Priority, Title and Tags are as written; the title is still escaped (see [UnescapeTitle]).
type Heading struct {
	Level    int    // number of stars
	State    string // TODO keyword, "" if none
	Priority string // what stands in [#…], "" if none
	Comment  bool   // the title is preceded by COMMENT
	Title    string
	Tags     []string

	Scheduled, Deadline, Closed string // the stamp with its brackets, "" if none

	Props []Prop // in order, duplicates included

	Start  int // first byte of the heading line
	Meta   int // first byte after the heading line
	Body   int // first byte after planning line and property drawer
	Next   int // start of the next heading of any level, or end of text
	End    int // end of the subtree
	Parent int // index in Doc.Headings, -1 at the top

	index  int
	state  span // empty where a keyword would go, if there is none
	title  span
	tags   span   // with colons; empty at the end of the title if there are none
	drawer span   // from :PROPERTIES: to after :END:'s line; empty if there is none
	props  []line // beside Props
	plan   span   // the planning line
}

// Prop is a line of a property drawer. The key keeps its spelling; `:KEY+:` has the key "KEY+".
type Prop struct{ Key, Value string }

type span struct{ from, to int }

// line is a property's place: the whole line with its end, the end of ":KEY:", and the value.
type line struct{ all, value span }

// Parse reads an outline. It never fails: what is not structure is body text. TODO keywords are those of the text's own
// #+TODO, #+SEQ_TODO and #+TYP_TODO lines, else TODO and DONE.
func Parse(src []byte) *Doc {
	d := &Doc{Src: src, Preamble: len(src), eol: lineEnding(src)}
	starts := d.scan()
	known := make(map[string]bool, len(d.Open)+len(d.Done))
	for _, k := range append(append([]string{}, d.Open...), d.Done...) {
		known[k] = true
	}
	d.Headings = make([]*Heading, len(starts))
	var open []*Heading
	for i, at := range starts {
		h := &Heading{Start: at, Next: len(src), End: len(src), Parent: -1, index: i}
		if i+1 < len(starts) {
			h.Next = starts[i+1]
		}
		d.readHeadingLine(h, known)
		d.readMeta(h)
		for len(open) > 0 && open[len(open)-1].Level >= h.Level {
			open[len(open)-1].End = at
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			h.Parent = open[len(open)-1].index
		}
		open = append(open, h)
		d.Headings[i] = h
	}
	if len(starts) > 0 {
		d.Preamble = starts[0]
	}
	return d
}

var (
	keywordLine = regexp.MustCompile(`(?i)^#\+(?:TODO|SEQ_TODO|TYP_TODO):[ \t]*(.*)`)
	opaqueBegin = regexp.MustCompile(`(?i)^#\+begin_(example|src|export|comment|verse)(?:\s|$)`)
	opaqueEnd   = regexp.MustCompile(`(?i)^#\+end_(\S+)\s*$`)
)

// scan finds where headings start and reads the TODO keywords: Emacs obeys a #+TODO line anywhere but within a block
// of verbatim text, and only a block that is closed before the next heading is one.
func (d *Doc) scan() []int {
	var starts []int
	var held [][]byte // keyword lines within a block that may turn out not to be one
	block := ""
	unclosed := func() {
		for _, words := range held {
			d.addKeywords(words)
		}
		held, block = nil, ""
	}
	for at := 0; at < len(d.Src); {
		next := d.lineEnd(at)
		line := d.Src[at:next]
		if stars(line) > 0 {
			unclosed()
			starts = append(starts, at)
		} else if line = bytes.TrimLeft(line, " \t"); bytes.HasPrefix(line, []byte("#+")) {
			if m := keywordLine.FindSubmatch(line); m != nil && block == "" {
				d.addKeywords(m[1])
			} else if m != nil {
				held = append(held, m[1])
			} else if m := opaqueBegin.FindSubmatch(line); m != nil && block == "" {
				block = string(m[1])
			} else if m := opaqueEnd.FindSubmatch(line); m != nil && strings.EqualFold(string(m[1]), block) {
				held, block = nil, ""
			}
		}
		at = next
	}
	unclosed()
	if len(d.Open)+len(d.Done) == 0 {
		d.Open, d.Done = []string{"TODO"}, []string{"DONE"}
	}
	return starts
}

// addKeywords takes one sequence, e.g. TODO(t) WAIT(w@/!) | DONE(d): without a bar the last one means done.
func (d *Doc) addKeywords(value []byte) {
	var names []string
	bar := -1
	for _, w := range strings.Fields(string(value)) {
		if w == "|" {
			if bar < 0 {
				bar = len(names)
			}
			continue
		}
		if i := strings.IndexByte(w, '('); i >= 0 && strings.HasSuffix(w, ")") {
			w = w[:i]
		}
		if w != "" {
			names = append(names, w)
		}
	}
	if bar < 0 {
		bar = max(len(names)-1, 0)
	}
	d.Open = append(d.Open, names[:bar]...)
	d.Done = append(d.Done, names[bar:]...)
}

// lineEnding is what the first line ends in.
func lineEnding(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// stars counts the stars of a heading line; 0 if it is none.
func stars(line []byte) int {
	n := 0
	for n < len(line) && line[n] == '*' {
		n++
	}
	if n < len(line) && line[n] == ' ' {
		return n
	}
	return 0
}

// lineEnd is the offset after the end of the line that at is in.
func (d *Doc) lineEnd(at int) int {
	if i := bytes.IndexByte(d.Src[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.Src)
}

// textEnd is where the line's text ends, before \n or \r\n.
func (d *Doc) textEnd(at int) int {
	end := d.lineEnd(at)
	if end > at && d.Src[end-1] == '\n' {
		end--
		if end > at && d.Src[end-1] == '\r' {
			end--
		}
	}
	return end
}

var (
	planningLine = regexp.MustCompile(`(?i)^[ \t]*(?:CLOSED|DEADLINE|SCHEDULED):`)
	stamp        = `(?:[<\[]\d{4}-\d\d-\d\d(?: [^\]>\n]*)?[>\]]|<%%\([^>\n]+\)>)`
	planning     = regexp.MustCompile(`\b(CLOSED|DEADLINE|SCHEDULED): *[ \t]*(` + stamp + `(?:--` + stamp + `)?)`)
	drawerBegin  = regexp.MustCompile(`(?i)^[ \t]*:PROPERTIES:[ \t]*$`)
	drawerEnd    = regexp.MustCompile(`(?i)^[ \t]*:END:[ \t]*$`)
	property     = regexp.MustCompile(`^[ \t]*:([^\s` + emacsBlank + `]+):(?: .*)?[ \t]*$`)
)

// emacsBlank is what Org mode takes for white space beyond ASCII: not what Unicode does.
const emacsBlank = `\x{a0}\x{2000}-\x{200b}\x{202f}\x{205f}\x{3000}`

// readMeta reads the planning line and the property drawer that stand directly below h's line.
func (d *Doc) readMeta(h *Heading) {
	h.Meta = d.lineEnd(h.Start)
	at := h.Meta
	if at < h.Next && planningLine.Match(d.Src[at:d.textEnd(at)]) {
		h.plan = span{at, d.lineEnd(at)}
		for _, m := range planning.FindAllSubmatch(d.Src[at:d.textEnd(at)], -1) {
			*h.stamp(string(m[1])) = string(m[2])
		}
		at = h.plan.to
	}
	h.Body = at
	h.drawer = span{at, at}
	if at >= h.Next || !drawerBegin.Match(d.Src[at:d.textEnd(at)]) {
		return
	}
	var props []Prop
	var places []line
	for at = d.lineEnd(at); at < h.Next; at = d.lineEnd(at) {
		text := d.Src[at:d.textEnd(at)]
		if drawerEnd.Match(text) {
			h.Props, h.props = props, places
			h.drawer.to = d.lineEnd(at)
			h.Body = h.drawer.to
			return
		}
		m := property.FindSubmatchIndex(text)
		if m == nil {
			return
		}
		from, to := m[3]+1, len(bytes.TrimRight(text, " \t"))
		for from < to && (text[from] == ' ' || text[from] == '\t') {
			from++
		}
		from = min(from, max(to, m[3]+1))
		to = max(from, to)
		props = append(props, Prop{string(text[m[2]:m[3]]), string(text[from:to])})
		places = append(places, line{span{at, d.lineEnd(at)}, span{at + from, at + to}})
	}
}

// stamp is the field that a planning keyword stands for.
func (h *Heading) stamp(keyword string) *string {
	switch keyword {
	case "SCHEDULED":
		return &h.Scheduled
	case "DEADLINE":
		return &h.Deadline
	}
	return &h.Closed
}

// Prop returns the first value of a property; the key's case does not matter.
func (h *Heading) Prop(key string) (string, bool) {
	for _, p := range h.Props {
		if strings.EqualFold(p.Key, key) {
			return p.Value, true
		}
	}
	return "", false
}

// BodyText is h's own text: below its drawer, above the next heading.
func (d *Doc) BodyText(h *Heading) string { return string(d.Src[h.Body:h.Next]) }

// Children are the headings directly below h.
func (d *Doc) Children(h *Heading) []*Heading { return d.under(h.index, h.index+1, h.End) }

// Top are the headings that have no parent.
func (d *Doc) Top() []*Heading { return d.under(-1, 0, len(d.Src)) }

func (d *Doc) under(parent, from, end int) []*Heading {
	var hs []*Heading
	for _, h := range d.Headings[from:] {
		if h.Start >= end {
			break
		}
		if h.Parent == parent {
			hs = append(hs, h)
		}
	}
	return hs
}
