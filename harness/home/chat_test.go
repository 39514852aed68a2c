package home

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"
	"unicode/utf8"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// nasty are texts that have come alive somewhere.
var nasty = []string{
	"hello", "two\nlines", "", " ", "\n", "\n\n", "a\n", "a\n\n\n", "\na", " a ", "a\r\nb\r\n", "a\rb", "\r",
	"* Tick 99", "* Tick 99\n:PROPERTIES:\n:REPLY_TICK: 1\n:END:", "** Agent\nmine", ":END:", ":PROPERTIES:\n:X: y\n:END:",
	"#+begin_src sh\nrm\n#+end_src", "#+begin_example\na\n#+end_example", "#+end_example", "x\n#+end_example\n#+begin_example quoted",
	",#+end_example", "#+TODO: Tick | Human", "SCHEDULED: <2026-11-21 Sat>", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x",
	"\xff\xfe bytes", "a\x00b", "é 😀 \u200b \u202e", "| a | b |", "- item", "# comment", ",* a", "Local Variables:\nmode: x\nEnd:",
	"İİİ\n#+begin_example\nK\n#+end_example\nafter", "[[file:x]] [fn:1] %%(f)", strings.Repeat("long ", 5000), "[2026-11-21 Sat 05:42][TICK 7] x",
}

// draft is a draft over files in memory.
func draft(files map[string]string) *Draft {
	m := fstest.MapFS{}
	for path, text := range files {
		m[path] = &fstest.MapFile{Data: []byte(text)}
	}
	return NewDraft(m)
}

func (d *Draft) text(t testing.TB, path string) string {
	t.Helper()
	b, err := d.Bytes(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestChatIsTheFormOfTheRFC(t *testing.T) {
	d := draft(map[string]string{Chat: "# -*- coding: utf-8 -*-\n#+TITLE: Chat\n"})
	must(t, d.Say(Line{Tick: 42, At: noon, Text: "What's causing the ownership error?"}),
		d.Answer(42, noon, []int{42}, "Looking at main.rs line 45...", ""))
	want := `# -*- coding: utf-8 -*-
#+TITLE: Chat

* Tick 42
:PROPERTIES:
:TIMESTAMP: 2026-11-21T12:00:00Z
:END:

** Human
What's causing the ownership error?

** Agent
Looking at main.rs line 45...
`
	if got := d.text(t, Chat); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestAnswer(t *testing.T) {
	say := func(d *Draft, ticks ...int) {
		for _, n := range ticks {
			must(t, d.Say(Line{Tick: n, At: noon, Text: fmt.Sprint("line ", n)}))
		}
	}
	const head = ":PROPERTIES:\n:TIMESTAMP: 2026-11-21T12:00:00Z\n"
	for _, tc := range []struct {
		name string
		do   func(d *Draft)
		want string
	}{
		{"the newest of several gets it", func(d *Draft) {
			say(d, 3, 4, 5)
			must(t, d.Answer(6, noon, []int{3, 4, 5}, "yes", ""))
		}, "* Tick 3\n" + head + ":REPLY_TICK: 6\n:END:\n\n** Human\nline 3\n\n* Tick 4\n" + head + ":REPLY_TICK: 6\n:END:\n\n** Human\nline 4\n\n" +
			"* Tick 5\n" + head + ":REPLY_TICK: 6\n:END:\n\n** Human\nline 5\n\n** Agent\nyes\n"},
		{"none is pending", func(d *Draft) { must(t, d.Answer(6, noon, nil, "by myself", "")) },
			"* Tick 6\n" + head + ":END:\n\n** Agent\nby myself\n"},
		{"the newest was taken out by hand", func(d *Draft) {
			say(d, 3)
			must(t, d.Answer(5, noon, []int{3, 4}, "yes", ""))
		}, "* Tick 3\n" + head + ":REPLY_TICK: 5\n:END:\n\n** Human\nline 3\n\n* Tick 5\n" + head + ":END:\n\n** Agent\nyes\n"},
		{"interrupted", func(d *Draft) {
			say(d, 3)
			must(t, d.Answer(3, noon, []int{3}, "I was ab", "interrupted"))
		}, "* Tick 3\n" + head + ":END:\n\n** Human\nline 3\n\n** Agent\n:PROPERTIES:\n:OUTCOME: interrupted\n:END:\nI was ab\n"},
		{"unparsed twice, then answered", func(d *Draft) {
			say(d, 3)
			must(t, d.Unparsed(3, noon, 3, "{oops"), d.Unparsed(4, noon, 3, "{again"), d.Answer(5, noon, []int{3}, "yes", ""))
		}, "* Tick 3\n" + head + ":REPLY_TICK: 5\n:END:\n\n** Human\nline 3\n\n** Unparsed\n{again\n\n** Agent\nyes\n"},
		{"unparsed with none pending", func(d *Draft) { must(t, d.Unparsed(3, noon, 0, "{oops"), d.Unparsed(4, noon, 0, "")) },
			"* Tick 3\n" + head + ":END:\n\n** Unparsed\n{oops\n"},
	} {
		d := draft(nil)
		tc.do(d)
		if got := d.text(t, Chat); got != orgHead+"\n"+tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, got, tc.want)
		}
		for _, e := range Exchanges([]byte(d.text(t, Chat))) {
			if e.Pending() {
				if e.Tick != 3 || !strings.HasPrefix(tc.name, "unparsed") {
					t.Errorf("%s: tick %d is pending", tc.name, e.Tick)
				}
			}
		}
	}
}

func TestSayRefusesANumberThatWas(t *testing.T) {
	d := draft(map[string]string{Chat: "* Tick 7\n"})
	if err := d.Say(Line{Tick: 7, Text: "x"}); err == nil {
		t.Error("tick 7 was entered twice")
	}
}

// handChat has what a hand adds. X marks places where edits may add lines.
const handChat = `# mine
#+STARTUP: overview
preamble

* Groceries :list:
- milk

* Tick 3                                                        :keep:
:PROPERTIES:
:TIMESTAMP: 2026-11-21T12:00:00Z
:MINE: yes
:END:
:LOGBOOK:
- a note
:END:
my remark

** Human
line 3
# a comment


*** deeper, mine
| a | b |

* Tick 4
:PROPERTIES:
:TIMESTAMP: 2026-11-21T12:00:00Z
:END:
** Human
line 4



* Not an exchange
* Tick 0012345678901234567890
* Tick x
`

func TestHandEditsOfTheChatStay(t *testing.T) {
	for name, src := range map[string]string{
		"LF": handChat, "CRLF": strings.ReplaceAll(handChat, "\n", "\r\n"), "no final newline": strings.TrimSuffix(handChat, "\n"),
	} {
		d := draft(map[string]string{Chat: src})
		must(t, d.Say(Line{Tick: 6, At: noon, Text: "one\n* two"}), d.Unparsed(7, noon, 4, "{raw"), d.Answer(8, noon, []int{3, 4, 6}, "yes\nsir", ""))
		got := d.text(t, Chat)
		if name == "CRLF" && strings.Count(got, "\n") != strings.Count(got, "\r\n") {
			t.Errorf("%s: line ends are mixed:\n%q", name, got)
		}
		// Each line of the hand is there, in order.
		rest := got
		for i, line := range strings.Split(strings.TrimSuffix(src, "\n"), "\n") {
			at := strings.Index(rest, line)
			if at < 0 {
				t.Fatalf("%s: line %d %q is gone:\n%s", name, i+1, line, got)
			}
			rest = rest[at+len(line):]
		}
		es := Exchanges([]byte(got))
		if len(es) != 3 || es[0].ReplyTick != 8 || es[1].Unparsed != "{raw" || es[2].Human != "one\n* two" || es[2].Agent != "yes\nsir" {
			t.Errorf("%s: read back %+v", name, es)
		}
		if added := len(strings.Split(got, "\n")) - len(strings.Split(src, "\n")); added > 24 {
			t.Errorf("%s: %d lines were added:\n%s", name, added, got)
		}
	}
}

func TestDamagedFilesAreLeftAlone(t *testing.T) {
	for _, src := range []string{"* Tick 1\n<<<<<<< HEAD\n", "a\x00b", "\xff\xfea"} {
		d := draft(map[string]string{Chat: src})
		for _, err := range []error{d.Say(Line{Tick: 9, Text: "x"}), d.Answer(9, noon, nil, "x", ""), d.Put(Chat, nil)} {
			if _, ok := err.(*Damaged); !ok {
				t.Errorf("%q: %v", src, err)
			}
		}
		if len(d.Changed()) > 0 {
			t.Errorf("%q was changed", src)
		}
	}
}

func TestDanglingLinkIsDamage(t *testing.T) {
	d := NewDraft(fstest.MapFS{Scratchpad: {Data: []byte("away/pad.org"), Mode: fs.ModeSymlink}})
	err := d.AddNote(Note{Heading: "a", Text: "b"})
	if _, ok := err.(*Damaged); !ok || !strings.Contains(err.Error(), "away/pad.org") {
		t.Errorf("%v", err)
	}
}

// checkChat: two lines, said and answered, come back byte for byte.
func checkChat(t *testing.T, human, agent string) {
	t.Helper()
	d := draft(nil)
	must(t, d.Say(Line{Tick: 1, At: noon, Text: human}), d.Say(Line{Tick: 2, At: noon, Text: agent}),
		d.Unparsed(2, noon, 2, human), d.Answer(3, noon, []int{1, 2}, agent, ""), d.Answer(4, noon, nil, human, "interrupted"))
	src := d.text(t, Chat)
	want := []Exchange{
		{Tick: 1, Time: noon, Human: human, HasHuman: true, ReplyTick: 3},
		{Tick: 2, Time: noon, Human: agent, HasHuman: true, Agent: agent, HasAgent: true, ReplyTick: 3, Unparsed: human},
		{Tick: 4, Time: noon, Agent: human, HasAgent: true, Outcome: "interrupted"},
	}
	got := Exchanges([]byte(src))
	if len(got) != len(want) {
		t.Fatalf("%q %q: %d exchanges:\n%s", human, agent, len(got), src)
	}
	printed := orgHead
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("read back %+v, want %+v from\n%s", got[i], want[i], src)
		}
		printed += "\n" + got[i].Print()
	}
	if printed != src {
		t.Errorf("Print gives\n%s\nthe file is\n%s", printed, src)
	}
	if !utf8.ValidString(src) || d.files[Chat].damage != nil {
		t.Errorf("%q %q: the file is damaged: %q", human, agent, src)
	}
}

func FuzzChat(f *testing.F) {
	for i, s := range nasty {
		f.Add(s, nasty[(i+7)%len(nasty)])
	}
	f.Fuzz(checkChat)
}
