package org

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestEscape(t *testing.T) {
	same := []string{
		"It's fine – really: *bold*, =code=, https://example.com/x.", "- a\n- b\n  * c\n\n1. x\n2) y", "**Title**\ntext", "a\n\n\nb", "don't :-)", "call_me src_x a << b",
		"[2026-11-21 Sat] \\alpha $x$ [50%] - [ ] x", "  indented\n\ttab", "## Heading\n-----\nx", "👩‍👩‍👧 日本語 \u200f",
	}
	for _, s := range same {
		if got := Escape(s); got != s {
			t.Errorf("Escape(%q) = %q, want it unchanged", s, got)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"* Tick 99\n,* y", ",* Tick 99\n,,* y"},
		{"# x\n  # y", ",# x\n  ,# y"},
		{"", "#+begin_example\n\n#+end_example"},
		{"a\n", "#+begin_example\na\n\n#+end_example"},
		{":END:\n* x\n#+end_example", "#+begin_example\n,:END:\n,* x\n,#+end_example\n#+end_example"},
		{"<<<<<<< HEAD\n=======", "#+begin_example\n,<<<<<<< HEAD\n,=======\n#+end_example"},
		{"a\r\n\\\xff", "#+begin_example quoted\na\\u{d}\n\\\\\\xff\n#+end_example"},
		{"Local Variables:", "#+begin_example quoted\n\\u{4c}ocal Variables:\n#+end_example"},
	} {
		if got := Escape(c.in); got != c.want {
			t.Errorf("Escape(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

func TestUnescapeOfHandEdits(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""}, {"\n \n", ""}, {"\n\ntext\n\nmore\n\n", "text\n\nmore"}, {",* x\n", "* x"},
		{"#+begin_example\nx\n", "#+begin_example\nx"},
		{"#+begin_example\nx\n#+end_example\nand more\n", "#+begin_example\nx\n#+end_example\nand more"},
		{"#+begin_example\nx\n#+end_example\n#+begin_example\ny\n#+end_example\n", "#+begin_example\nx\n#+end_example\n#+begin_example\ny\n#+end_example"},
		{"#+BEGIN_EXAMPLE\r\n,* x\r\n#+END_EXAMPLE\r\n", "* x"},
		{"#+begin_example quoted\n\\q \\u{110000} \\x4\n#+end_example", "\\q \ufffd \\x4"},
	} {
		if got := Unescape(c.in); got != c.want {
			t.Errorf("Unescape(%q)\n got %q\nwant %q", c.in, got, c.want)
		}
	}
}

// checkEscape holds the laws of Escape for one text.
func checkEscape(t *testing.T, x string) {
	t.Helper()
	e := Escape(x)
	if got := Unescape(e); got != x {
		t.Errorf("Unescape(Escape(%q)) = %q, by way of %q", x, got, e)
	}
	file := []byte("* a\n" + e + "\n\n* b\n")
	d := Parse(file)
	if len(d.Headings) != 2 || d.Headings[0].Body != 4 || d.Headings[1].Title != "b" {
		t.Fatalf("Escape(%q) = %q has structure", x, e)
	}
	if got := Unescape(d.BodyText(d.Headings[0])); got != x {
		t.Errorf("read back from a body: %q, want %q", got, x)
	}
	crlf := Parse([]byte(strings.ReplaceAll(string(file), "\n", "\r\n")))
	if got := Unescape(crlf.BodyText(crlf.Headings[0])); got != x {
		t.Errorf("read back from a CRLF body: %q, want %q", got, x)
	}
	if err := Damage(file); err != nil || !utf8.ValidString(e) || strings.IndexFunc(e, isUnclean) >= 0 {
		t.Errorf("Escape(%q) = %q is not clean: %v", x, e, err)
	}
}

// checkTitle holds the laws of EscapeTitle for one text.
func checkTitle(t *testing.T, x string) {
	t.Helper()
	e, want := EscapeTitle(x), oneLine(x)
	if got := UnescapeTitle(e); got != want {
		t.Errorf("UnescapeTitle(EscapeTitle(%q)) = %q, want %q, by way of %q", x, got, want, e)
	}
	for _, entry := range []Entry{{Title: e}, {Title: e, Tags: []string{"t"}}, {Title: e, State: "TODO", Priority: "A"}} {
		d := Parse(Append([]byte("#+TODO: TODO ASK | DONE\n"), entry))
		if len(d.Headings) != 1 {
			t.Fatalf("title %q makes %d headings", e, len(d.Headings))
		}
		h := d.Headings[0]
		if h.Title != e || h.State != entry.State || h.Priority != entry.Priority || h.Comment || fmt.Sprint(h.Tags) != fmt.Sprint(entry.Tags) {
			t.Errorf("title %q is read as %q state %q priority %q tags %v comment %v", e, h.Title, h.State, h.Priority, h.Tags, h.Comment)
		}
	}
}

func TestEscapeLaws(t *testing.T) {
	for _, x := range nasty {
		checkEscape(t, x)
		checkTitle(t, x)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		x := scribble(r, 6)
		checkEscape(t, x)
		checkTitle(t, x)
	}
}

func FuzzEscape(f *testing.F) {
	for _, x := range nasty {
		f.Add(x)
	}
	f.Fuzz(checkEscape)
}

func FuzzEscapeTitle(f *testing.F) {
	for _, x := range nasty {
		f.Add(x)
	}
	f.Fuzz(checkTitle)
}

func FuzzUnescape(f *testing.F) {
	for _, x := range nasty {
		f.Add(x)
		f.Add(Escape(x))
	}
	f.Fuzz(func(t *testing.T, x string) {
		checkEscape(t, Unescape(x)) // whatever a body holds, what it reads as can be stored again
	})
}

func TestEscapeTitle(t *testing.T) {
	for _, s := range []string{"Fix the borrow checker", "HTTP timeouts: a study", "don't [do] it (50%)", "raid:5", "call_me", "a: b:", "*bold* start", "x :y", "1/2 done"} {
		if got := EscapeTitle(s); got != s {
			t.Errorf("EscapeTitle(%q) = %q, want it unchanged", s, got)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"", "\u200b"}, {"TODO x", "\u200bTODO x"}, {"x :tag:", "x :tag:\u200b"}, {"[[x]]", "[\u200b[x]]"}, {"a\nb\tc ", "a b c"},
		{"[#A] x", "[\u200b#A] x"}, {"{{{{x", "{\u200b{\u200b{{x"}, {"id:file:x", "id\u200b:file\u200b:x"}, {"\u200bx", "\u200b\u200bx"},
	} {
		if got := EscapeTitle(c.in); got != c.want {
			t.Errorf("EscapeTitle(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
