package org

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	src := "# -*- coding: utf-8 -*-\n#+TODO: ASK | APPROVED(a) DENIED\n\n* ASK [#A] Push :git:work:\nSCHEDULED: <2026-11-21 Sat>\n:PROPERTIES:\n:Id: req-7\n:X+:  a b \n:END:\nbody\n\n** child\n* TODO x"
	d := Parse([]byte(src))
	if got, want := fmt.Sprint(d.Open, d.Done, d.Preamble), "[ASK] [APPROVED DENIED] 58"; got != want {
		t.Errorf("keywords and preamble %s, want %s", got, want)
	}
	h := d.Headings[0]
	got := fmt.Sprintf("%d %q %q %q %q %q %q %v", h.Level, h.State, h.Priority, h.Title, h.Tags, h.Scheduled, h.Deadline, h.Props)
	if want := `1 "ASK" "A" "Push" ["git" "work"] "<2026-11-21 Sat>" "" [{Id req-7} {X+ a b}]`; got != want {
		t.Errorf("heading %s\nwant    %s", got, want)
	}
	if v, ok := h.Prop("ID"); v != "req-7" || !ok {
		t.Errorf("Prop(ID) = %q, %v", v, ok)
	}
	if _, ok := h.Prop("NONE"); ok {
		t.Error("Prop finds what is not there")
	}
	if got := d.BodyText(h); got != "body\n\n" {
		t.Errorf("body %q", got)
	}
	if kids := d.Children(h); len(kids) != 1 || kids[0].Title != "child" || kids[0].Parent != 0 {
		t.Errorf("children %v", kids)
	}
	if top := d.Top(); len(top) != 2 || top[1].Title != "TODO x" || top[1].State != "" {
		t.Errorf("top %v", top)
	}
}

// checkParse holds what is true of every Doc: ranges nest, touch, and cover the text.
func checkParse(t *testing.T, src []byte) *Doc {
	t.Helper()
	d := Parse(src)
	at := d.Preamble
	for i, h := range d.Headings {
		if h.Start != at {
			t.Fatalf("heading %d starts at %d, want %d", i, h.Start, at)
		}
		if !(h.Start < h.Meta && h.Meta <= h.Body && h.Body <= h.Next && h.Next <= h.End && h.End <= len(src)) {
			t.Fatalf("heading %d: ranges out of order: %+v", i, h)
		}
		if h.Start > 0 && src[h.Start-1] != '\n' || !bytes.HasPrefix(src[h.Start:], []byte(strings.Repeat("*", h.Level)+" ")) {
			t.Fatalf("heading %d is not at a line of %d stars", i, h.Level)
		}
		if h.Parent >= 0 {
			p := d.Headings[h.Parent]
			if h.Parent >= i || p.Level >= h.Level || p.Start >= h.Start || p.End < h.End {
				t.Fatalf("heading %d is not within its parent", i)
			}
		}
		if h.End < len(src) && stars(src[h.End:d.lineEnd(h.End)]) == 0 {
			t.Fatalf("heading %d ends within text", i)
		}
		if len(h.Props) != len(h.props) || string(src[h.title.from:h.title.to]) != h.Title {
			t.Fatalf("heading %d: places do not fit: %+v", i, h)
		}
		at = h.Next
	}
	if at != len(src) {
		t.Fatalf("headings end at %d of %d", at, len(src))
	}
	return d
}

// edit is one edit and what it means for the heading it is made on.
type edit struct {
	name  string
	make  func(*Doc, *Heading) []byte
	apply func(*facts)
}

// facts are what a reader sees of a heading.
type facts struct {
	level                              int
	state, priority, title, tags, plan string
	props                              []Prop
	body                               string
}

func factsOf(d *Doc, h *Heading) facts {
	return facts{h.Level, h.State, h.Priority, h.Title, strings.Join(h.Tags, ":"), h.Scheduled + h.Deadline + h.Closed, slices.Clone(h.Props), trimBlankLines(strings.ReplaceAll(d.BodyText(h), "\r\n", "\n"))}
}

func (f facts) String() string {
	return fmt.Sprintf("%d|%s|%s|%s|%s|%s|%q|%q", f.level, f.state, f.priority, f.title, f.tags, f.plan, f.props, f.body)
}

func edits(value, text string) []edit {
	value, text = EscapeTitle(value), Escape(text)
	return []edit{
		{"SetProp new", func(d *Doc, h *Heading) []byte { return d.SetProp(h, "Fresh Key", value) }, func(f *facts) {
			f.props = append(f.props, Prop{"Fresh_Key", value})
		}},
		{"SetProp", func(d *Doc, h *Heading) []byte { return d.SetProp(h, "a", value) }, func(f *facts) {
			i := slices.IndexFunc(f.props, func(p Prop) bool { return strings.EqualFold(p.Key, "a") })
			if i < 0 {
				f.props = append(f.props, Prop{"a", value})
			} else {
				f.props[i].Value = value
			}
		}},
		{"SetProp empty", func(d *Doc, h *Heading) []byte { return d.SetProp(h, "empty", "") }, func(f *facts) { f.props = append(f.props, Prop{"empty", ""}) }},
		{"DeleteProp", func(d *Doc, h *Heading) []byte { return d.DeleteProp(h, "A") }, func(f *facts) {
			f.props = slices.DeleteFunc(f.props, func(p Prop) bool { return strings.EqualFold(p.Key, "A") })
		}},
		{"SetState", func(d *Doc, h *Heading) []byte { return d.SetState(h, d.Done[0]) }, nil},
		{"SetTitle", func(d *Doc, h *Heading) []byte { return d.SetTitle(h, value) }, func(f *facts) { f.title = value }},
		{"SetTags", func(d *Doc, h *Heading) []byte { return d.SetTags(h, []string{"é", "a-b"}) }, func(f *facts) { f.tags = "é:a_b" }},
		{"SetTags none", func(d *Doc, h *Heading) []byte { return d.SetTags(h, nil) }, func(f *facts) { f.tags = "" }},
		{"ReplaceBody", func(d *Doc, h *Heading) []byte { return d.ReplaceBody(h, text) }, func(f *facts) { f.body = text }},
		{"AppendBody", func(d *Doc, h *Heading) []byte { return d.AppendBody(h, "- "+value) }, func(f *facts) {
			if f.body != "" {
				f.body += "\n"
			}
			f.body += "- " + value
		}},
		{"AppendBody nothing", func(d *Doc, h *Heading) []byte { return d.AppendBody(h, "") }, func(*facts) {}},
	}
}

// tame says whether h's line is one that edits can be told apart on: a title that is not itself on the brink of syntax.
func tame(h *Heading) bool {
	return h.Title != "" && EscapeTitle(UnescapeTitle(h.Title)) == h.Title && !h.Comment
}

// checkEdits makes every edit on every heading. Each one is one splice that does to its heading what it says, and
// nothing to any other.
func checkEdits(t *testing.T, src []byte, value, text string) {
	d := checkParse(t, src)
	if len(d.Headings) > 12 || len(d.Done) == 0 {
		return
	}
	for i, h := range d.Headings {
		if !tame(h) || slices.Contains(append(d.Open, d.Done...), strings.Fields(h.Title)[0]) {
			continue
		}
		for _, e := range edits(value, text) {
			if first, _, _ := strings.Cut(EscapeTitle(value), " "); slices.Contains(append(d.Open, d.Done...), first) {
				continue
			}
			before := bytes.Clone(src)
			out := e.make(d, h)
			if !bytes.Equal(before, src) {
				t.Fatalf("%s changed the text it was given", e.name)
			}
			if e.apply == nil {
				e.apply = func(f *facts) { f.state = d.Done[0] }
			}
			after := Parse(out)
			if fmt.Sprint(after.Open, after.Done) != fmt.Sprint(d.Open, d.Done) {
				continue // the edit took a #+TODO line away
			}
			checkSame(t, e, d, after, i)
			head, tail := h.Start, h.Next
			if len(out)-(len(src)-tail) < head || !bytes.Equal(out[:head], src[:head]) || !bytes.HasSuffix(out, src[tail:]) {
				t.Fatalf("%s on heading %d touched other text:\n%q\n%q", e.name, i, src, out)
			}
		}
		if out := d.Remove(h); !bytes.Equal(out, append(bytes.Clone(src[:h.Start]), src[h.End:]...)) {
			t.Fatalf("Remove: %q from %q", out, src)
		}
		checkAppendChild(t, d, i, Entry{Title: EscapeTitle(value), Body: Escape(text)})
	}
}

// checkSame compares two parses that differ by e on heading i.
func checkSame(t *testing.T, e edit, d, after *Doc, i int) {
	t.Helper()
	if len(after.Headings) != len(d.Headings) {
		t.Fatalf("%s on heading %d: %d headings, were %d:\n%q\n%q", e.name, i, len(after.Headings), len(d.Headings), d.Src, after.Src)
	}
	for k := range d.Headings {
		want, got := factsOf(d, d.Headings[k]), factsOf(after, after.Headings[k])
		if k == i {
			e.apply(&want)
		}
		if got.String() != want.String() {
			t.Fatalf("%s on heading %d: heading %d is\n%s, want\n%s\n%q\n%q", e.name, i, k, got, want, d.Src, after.Src)
		}
	}
}

func checkAppendChild(t *testing.T, d *Doc, i int, e Entry) {
	t.Helper()
	h := d.Headings[i]
	out := Parse(d.AppendChild(h, e))
	kids := out.Children(out.Headings[i])
	if len(out.Headings) != len(d.Headings)+1 || len(kids) == 0 {
		t.Fatalf("AppendChild to %d of %q: %q", i, d.Src, out.Src)
	}
	kid := kids[len(kids)-1]
	if kid.Title != e.Title || kid.Level != h.Level+1 || Unescape(out.BodyText(kid)) != Unescape(e.Body) {
		t.Fatalf("AppendChild to %d of %q: %q", i, d.Src, out.Src)
	}
	if !bytes.HasPrefix(out.Src, d.Src[:h.Meta]) || !bytes.HasSuffix(out.Src, d.Src[h.End:]) {
		t.Fatalf("AppendChild touched other text: %q, %q", d.Src, out.Src)
	}
}

func TestEdits(t *testing.T) {
	for _, src := range outlines {
		checkEdits(t, []byte(src), "TODO new :t:", "one\n\n* two\n")
		checkEdits(t, []byte(src), "", "")
	}
	r := rand.New(rand.NewPCG(7, 8))
	for range 400 {
		checkEdits(t, []byte(randomOutline(r, 20)), scribble(r, 3), scribble(r, 5))
	}
}

func FuzzEdits(f *testing.F) {
	for i, src := range outlines {
		f.Add([]byte(src), nasty[i*3%len(nasty)], nasty[i*7%len(nasty)])
	}
	r := rand.New(rand.NewPCG(9, 9))
	for range 20 {
		f.Add([]byte(randomOutline(r, 15)), "v", "t")
	}
	f.Fuzz(func(t *testing.T, src []byte, value, text string) { checkEdits(t, src, value, text) })
}

func TestEditsKeepTheirForm(t *testing.T) {
	const src = "* TODO [#A] a   :x:\n  :PROPERTIES:\n  :Key:   old\n  :END:\nbody\n\n* b"
	for _, c := range []struct {
		name, want string
		edit       func(d *Doc) []byte
	}{
		{"value in place", strings.Replace(src, "old", "new", 1), func(d *Doc) []byte { return d.SetProp(d.Headings[0], "KEY", "new") }},
		{"indented like the drawer", strings.Replace(src, "old\n", "old\n  :N: 1\n", 1), func(d *Doc) []byte { return d.SetProp(d.Headings[0], "N", "1") }},
		{"drawer at the end of the file", src + "\n:PROPERTIES:\n:N: 1\n:END:\n", func(d *Doc) []byte { return d.SetProp(d.Headings[1], "N", "1") }},
		{"last property", strings.Replace(src, "  :PROPERTIES:\n  :Key:   old\n  :END:\n", "", 1), func(d *Doc) []byte { return d.DeleteProp(d.Headings[0], "key") }},
		{"no such property", src, func(d *Doc) []byte { return d.DeleteProp(d.Headings[0], "none") }},
		{"state", strings.Replace(src, "TODO", "DONE", 1), func(d *Doc) []byte { return d.SetState(d.Headings[0], "DONE") }},
		{"no state", strings.Replace(src, "TODO ", "", 1), func(d *Doc) []byte { return d.SetState(d.Headings[0], "") }},
		{"first state", strings.Replace(src, "* b", "* TODO b", 1), func(d *Doc) []byte { return d.SetState(d.Headings[1], "TODO") }},
		{"title", strings.Replace(src, " a ", " z ", 1), func(d *Doc) []byte { return d.SetTitle(d.Headings[0], "z") }},
		{"tags", strings.Replace(src, ":x:", ":y:", 1), func(d *Doc) []byte { return d.SetTags(d.Headings[0], []string{"y"}) }},
		{"planning above the drawer", strings.Replace(src, ":x:\n", ":x:\nSCHEDULED: <2026-11-21 Sat>\n", 1), func(d *Doc) []byte { return d.SetPlanning(d.Headings[0], "SCHEDULED", "<2026-11-21 Sat>") }},
		{"body", strings.Replace(src, "body", "one\ntwo", 1), func(d *Doc) []byte { return d.ReplaceBody(d.Headings[0], "one\ntwo") }},
		{"no body", strings.Replace(src, "body\n", "", 1), func(d *Doc) []byte { return d.ReplaceBody(d.Headings[0], "") }},
		{"more body", strings.Replace(src, "body\n", "body\nmore\n", 1), func(d *Doc) []byte { return d.AppendBody(d.Headings[0], "more") }},
		{"body at the end of the file", src + "\nmore\n", func(d *Doc) []byte { return d.AppendBody(d.Headings[1], "more") }},
		{"child", strings.Replace(src, "body\n", "body\n\n** c\n", 1), func(d *Doc) []byte { return d.AppendChild(d.Headings[0], Entry{Title: "c"}) }},
		{"entry", src + "\n\n* c\n", func(d *Doc) []byte { return Append(d.Src, Entry{Title: "c"}) }},
	} {
		for _, eol := range []string{"\n", "\r\n"} {
			d := Parse([]byte(strings.ReplaceAll(src, "\n", eol)))
			if got, want := string(c.edit(d)), strings.ReplaceAll(c.want, "\n", eol); got != want {
				t.Errorf("%s:\n got %q\nwant %q", c.name, got, want)
			}
		}
	}
}

func TestSetPlanning(t *testing.T) {
	d := Parse([]byte("* a\nSCHEDULED: <2026-11-21 Sat> DEADLINE: <2026-11-22 Sun>\nbody\n"))
	d = Parse(d.SetPlanning(d.Headings[0], "CLOSED", "[2026-11-23 Mon]"))
	d = Parse(d.SetPlanning(d.Headings[0], "deadline", ""))
	if got, want := string(d.Src), "* a\nCLOSED: [2026-11-23 Mon] SCHEDULED: <2026-11-21 Sat>\nbody\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	d = Parse(d.SetPlanning(d.Headings[0], "CLOSED", ""))
	if got, want := string(d.SetPlanning(d.Headings[0], "SCHEDULED", "")), "* a\nbody\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAppend(t *testing.T) {
	e := Entry{State: "TODO", Priority: "B", Title: "a\nb", Tags: []string{"x", "", "y z"}, Deadline: "<2026-11-21 Sat>", Props: []Prop{{"K", "v"}, {"EMPTY", ""}}, Body: "text", Children: []Entry{{Title: "kid", Body: "t\n"}}}
	const want = "* TODO [#B] a b :x:y_z:\nDEADLINE: <2026-11-21 Sat>\n:PROPERTIES:\n:K: v\n:EMPTY:\n:END:\ntext\n\n** kid\nt\n"
	for _, c := range []struct{ src, want string }{
		{"", want}, {"x", "x\n\n" + want}, {"x\n", "x\n\n" + want}, {"x\n\n", "x\n\n" + want}, {"\n", "\n" + want},
		{"x\r\ny", strings.ReplaceAll("x\ny\n\n"+want, "\n", "\r\n")}, {"x\r\n\r\n", strings.ReplaceAll("x\n\n"+want, "\n", "\r\n")},
	} {
		if got := string(Append([]byte(c.src), e)); got != c.want {
			t.Errorf("Append(%q)\n got %q\nwant %q", c.src, got, c.want)
		}
	}
}

func TestDamage(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"* a\n=======\n<<<<<<<< x\n <<<<<<< x\n", ""}, {"", ""},
		{"a\nb\n<<<<<<< HEAD\n", "line 3"}, {"a\n>>>>>>> x", "line 2"}, {"||||||| base\r\n", "line 1"}, {">>>>>>>", "line 1"},
		{"a\n\x00", "line 2: a NUL"}, {"\xff\xfea\x00", "UTF-16"},
	} {
		err := Damage([]byte(c.src))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("Damage(%q) = %v, want %q", c.src, err, c.want)
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"plain *bold* text\nmore", "plain *bold* text\nmore"},
		{"* Head\n:PROPERTIES:\n:A: 1\n:END:\nbody", "* Head\nbody"},
		{"#+TITLE: x\n# note\n- a\n  - b\n1. c", "- a\n  - b\n1. c"},
		{"see [[https://x.org/a][the page]] and [[https://y.org]]", "see the page (https://x.org/a) and https://y.org"},
		{"#+begin_src go\nfunc f() {\n\tx()\n}\n#+end_src\ndone", "    func f() {\n    \tx()\n    }\ndone"},
		{"#+begin_example\n,* x\n#+end_example", "    * x"},
		{"| a | bb |\n|---+----|\n| ccc | d |", "| a   | bb |\n|-----+----|\n| ccc | d  |"},
		{"|a|b|\n|1|2|", "|a|b|\n|1|2|"}, {"| a || b |", "| a || b |"},
		{"#+INCLUDE: \"/etc/passwd\" src x\n#+SETUPFILE: /etc/passwd\nx", "x"},
		{strings.Repeat("x", 70000), strings.Repeat("x", 70000)}, {"#+begin_src\n[[a][b]]", "#+begin_src\n[[a][b]]"},
	} {
		if got := Text([]byte(c.src)); got != c.want {
			t.Errorf("Text(%.60q)\n got %.200q\nwant %.200q", c.src, got, c.want)
		}
	}
}

func TestTextEndsSoon(t *testing.T) {
	for _, s := range []string{"#+begin_quote\n", "#+begin_src\n", "#+begin_quote\n#+end_quote\n", "*a ", "[[a][", "{{{a(", "_{", "\\(", "\\begin{x}\n", " - a\n", "[fn:1:", ":a:\n"} {
		start := time.Now()
		Text([]byte(strings.Repeat(s, renderLimit/len(s))))
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%q over and over takes %v", s, took)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, x := range slices.Concat(nasty, outlines) {
		f.Add([]byte(x))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if bytes.Contains([]byte(Text(src)), []byte("root:x:0:0")) && !bytes.Contains(src, []byte("root:x:0:0")) {
			t.Errorf("Text(%q) read a file", src)
		}
	})
}
