package home

import (
	"strings"
	"testing"

	"amacs/org"
)

func TestAddNote(t *testing.T) {
	d := draft(nil)
	must(t, d.AddNote(Note{Heading: "Working Notes", Tick: 42, Text: "Content here..."}),
		d.AddNote(Note{Heading: "Parser Investigation", Thread: "rust-debugging", Tick: 45, Text: "Content here..."}),
		d.AddNote(Note{Heading: "Working Notes", Thread: "rust-debugging", Tick: 46, Text: "another thread"}),
		d.AddNote(Note{Heading: "Working Notes", Thread: "null", Tick: 47, Text: "* again"}))
	want := orgHead + `
* Working Notes
:PROPERTIES:
:THREAD: null
:TICK: 47
:END:
Content here...

,* again

* Parser Investigation
:PROPERTIES:
:THREAD: rust-debugging
:TICK: 45
:END:
Content here...

* Working Notes
:PROPERTIES:
:THREAD: rust-debugging
:TICK: 46
:END:
another thread
`
	if got := d.text(t, Scratchpad); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if n, err := d.Note("Working Notes", ""); err != nil || n.Text != "Content here...\n\n* again" || n.Tick != 47 {
		t.Errorf("%+v, %v", n, err)
	}
}

const handNotes = `#+TITLE: mine
* TODO [#A] Shopping                                :home:
DEADLINE: <2026-11-21 Sat>
- [ ] milk
- [X] bread
  1. rye
| a | b |
|---+---|
| 1 | 2 |
See [[https://example.org][the list]].

** a child
#+begin_src sh
echo hi
#+end_src

* COMMENT Hidden
x
* 
* Empty`

func TestHumanNotes(t *testing.T) {
	for name, src := range map[string]string{"LF": handNotes, "CRLF": strings.ReplaceAll(handNotes, "\n", "\r\n")} {
		ns := Notes([]byte(src))
		if len(ns) != 4 || ns[0].Heading != "Shopping" || ns[0].Tick != 0 || ns[0].Thread != "" || ns[1].Heading != "Hidden" || ns[3].Heading != "Empty" {
			t.Fatalf("%s: %+v", name, ns)
		}
		for _, shown := range []string{"- [X] bread\n  1. rye\n| a | b |\n|---+---|", "[[https://example.org][the list]]", "** a child\n#+begin_src sh\necho hi"} {
			if !strings.Contains(ns[0].Text, shown) {
				t.Errorf("%s: %q is not shown in %q", name, shown, ns[0].Text)
			}
		}
		d := draft(map[string]string{Scratchpad: src})
		must(t, d.AddNote(Note{Heading: "Shopping", Tick: 9, Text: "and eggs"}), d.AddNote(Note{Heading: "Empty", Tick: 10, Text: "full"}))
		got := d.text(t, Scratchpad)
		rest := got
		for i, line := range strings.Split(src, "\n") {
			at := strings.Index(rest, line)
			if at < 0 {
				t.Fatalf("%s: line %d %q is gone:\n%s", name, i+1, line, got)
			}
			rest = rest[at+len(line):]
		}
		if n, _ := d.Note("Shopping", ""); n.Tick != 9 || !strings.Contains(n.Text, "the list]].\n\nand eggs\n\n** a child") {
			t.Errorf("%s: %+v", name, n)
		}
		if n, _ := d.Note("Empty", ""); n.Tick != 10 || n.Text != "full" {
			t.Errorf("%s: %+v", name, n)
		}
	}
}

func TestEditNote(t *testing.T) {
	d := draft(map[string]string{Scratchpad: "* a\n:PROPERTIES:\n:MINE: x\n:TICK: 1\n:END:\nold\n\n** kid\nstays\n\n* b\ntext\n"})
	must(t, d.EditNote(Note{Heading: "a", Tick: 5, Text: "new\n* text"}))
	if got, want := d.text(t, Scratchpad), "* a\n:PROPERTIES:\n:MINE: x\n:TICK: 5\n:END:\nnew\n,* text\n\n** kid\nstays\n\n* b\ntext\n"; got != want {
		t.Errorf("got\n%s", got)
	}
	must(t, d.EditNote(Note{Heading: "a", Tick: 6}))
	if got := d.text(t, Scratchpad); got != "* b\ntext\n" {
		t.Errorf("got\n%s", got)
	}
	for _, err := range []error{d.EditNote(Note{Heading: "a"}), d.EditNote(Note{Heading: "b", Thread: "other", Text: "x"}), d.AddNote(Note{Heading: "\x00 \n", Text: "x"}), d.AddNote(Note{Heading: "x", Text: " \n"})} {
		if err == nil {
			t.Error("no error")
		}
	}
	if _, err := d.Note("c", "t"); err == nil || !strings.Contains(err.Error(), `thread "t" has no note "c"; the notes are "b"`) {
		t.Errorf("%v", err)
	}
}

var titles = []string{"plain", "COMMENT x", "x :tag:", "[#A] y", "TODO z", "[[file:x][y]]", "[fn:1]", " padded ", "two\nlines", "é\xff", "* a", ":END:", "[1/3]", "\u200b", "null", "İ"}

// checkNotes: what AddNote is given comes back, and parts of one heading come
// in order, an empty line between them.
func checkNotes(t *testing.T, heading, thread, one, two string, tick int) {
	d := draft(map[string]string{Scratchpad: orgHead + "* before\nx\n"})
	n := Note{Heading: heading, Thread: thread, Tick: tick & 0xffff, Text: one}
	if err := d.AddNote(n); err != nil {
		if n.named().Heading != "" && strings.TrimSpace(one) != "" {
			t.Fatal(err)
		}
		return
	}
	want := n.named()
	if want.Heading == "before" && want.Thread == "" {
		return
	}
	got := Notes([]byte(d.text(t, Scratchpad)))
	if len(got) != 2 || got[1] != want {
		t.Fatalf("read back %+v, want %+v from\n%s", got, want, d.text(t, Scratchpad))
	}
	n.Text, n.Tick = two, n.Tick+1
	if d.AddNote(n) != nil {
		return
	}
	must(t, d.AddNote(Note{Heading: "after", Tick: 1, Text: "y"}))
	want.Text, want.Tick = one+"\n\n"+two, n.Tick
	if got = Notes([]byte(d.text(t, Scratchpad))); heading != "after" && (len(got) != 3 || got[1] != want) {
		t.Fatalf("after a second part %+v, want %+v from\n%s", got, want, d.text(t, Scratchpad))
	}
	if err := org.Damage([]byte(d.text(t, Scratchpad))); err != nil {
		t.Fatal(err)
	}
}

func FuzzNotes(f *testing.F) {
	for i, s := range nasty {
		f.Add(titles[i%len(titles)], titles[(i+3)%len(titles)], s, nasty[(i+5)%len(nasty)], i)
	}
	f.Fuzz(checkNotes)
}
