package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"amacs/harness/home"
)

// byHand are edits that a human may make, one of each file of a home.
var byHand = map[string]func(was string) string{
	home.Consciousness: func(s string) string {
		return "; my own remark\n" + strings.Replace(s, "(chat-context-depth . 5)", "(chat-context-depth .   6) ; more", 1)
	},
	home.Chat: func(s string) string { return s + "\n* A heading of mine\n:PROPERTIES:\n:Custom: x\n:END:\n\ttext\r\n" },
	home.Scratchpad: func(s string) string {
		return strings.Replace(s, "body", "BODY by hand  ", 1) + "\n\n* TODO Mine :tag:\nSCHEDULED: <2026-11-22 Sun>\n"
	},
	home.Monologue:         func(s string) string { return s + "a line of mine, no newline" },
	home.ConfigFile:        func(s string) string { return s + "\n# a remark\npack:   false\n" },
	".gitignore":           func(s string) string { return s + "*.mine\n" },
	"skills/core/SKILL.md": func(s string) string { return s + "\nSpeak plainly.\n" },
	"skills/mine/SKILL.md": func(string) string { return "---\nname: mine\ndescription: my skill\n---\ntext\n" },
	"notes of mine.txt":    func(string) string { return "\x00\xff binary\r\n" },
	"threads/deep/x.org":   func(string) string { return "* x\n" },
}

// hand makes the edits and returns what each file holds then.
func (w *world) hand() map[string]string {
	w.t.Helper()
	now := map[string]string{}
	for path, edit := range byHand {
		was, _ := os.ReadFile(w.path(path)) // some are new
		now[path] = edit(string(was))
		if now[path] == string(was) {
			w.t.Fatalf("the edit of %s changes nothing", path)
		}
		if err := os.MkdirAll(filepath.Dir(w.path(path)), 0o700); err != nil {
			w.t.Fatal(err)
		}
		w.write(path, now[path])
	}
	return now
}

// attributed checks that the commit before the last tick is the human's, and
// holds just these bytes.
func (w *world) attributed(want map[string]string) {
	w.t.Helper()
	log := w.log()
	tick := log[len(log)-1]
	edit := log[len(log)-2]
	if edit.author != human || !strings.HasPrefix(edit.subject, "[EDIT] ") || !strings.HasPrefix(tick.subject, "[TICK ") {
		w.t.Fatalf("the last commits are %v, %v", edit, tick)
	}
	for path, text := range want {
		if got := w.git("show", edit.hash+":"+path); got != text {
			w.t.Errorf("%s in the [EDIT] commit:\n%q\nwant\n%q", path, got, text)
		}
	}
	if n := strings.Count(w.git("show", "--name-only", "--format=", edit.hash), "\n"); n != len(want) {
		w.t.Errorf("the [EDIT] commit holds %d files, want %d", n, len(want))
	}
}

// kept checks that the tick after the edits left every hand-made line alone.
func (w *world) kept(want map[string]string) {
	w.t.Helper()
	for path, text := range want {
		now := w.read(path)
		switch path {
		case home.Consciousness:
			contains(w.t, path, now, "; my own remark\n", "(chat-context-depth .   6) ; more")
		case home.Chat: // an answer may stand before what was added at the end
			contains(w.t, path, now, "\n* A heading of mine\n:PROPERTIES:\n:Custom: x\n:END:\n\ttext\r\n")
		case home.Scratchpad, home.Monologue:
			if !strings.HasPrefix(now, strings.TrimRight(text, "\r\n")) {
				w.t.Errorf("%s: hand-made bytes were changed:\n%q\nwant first\n%q", path, now, text)
			}
		default:
			if now != text {
				w.t.Errorf("%s: %q, want %q", path, now, text)
			}
		}
	}
}

// TestHandEditsBetweenTicks: each file edited by hand is kept to the byte,
// committed first, in the human's name.
func TestHandEditsBetweenTicks(t *testing.T) {
	w := newWorld(t)
	w.must("", append(w.script(deed), "ask", "line one")...)
	want := w.hand()
	w.must("", append(w.script(said("seen")), "ask", "line two")...)
	w.attributed(want)
	w.kept(want)
	if out := w.git("status", "--porcelain"); out != "" {
		t.Errorf("git status: %s", out)
	}
	w.once("line one", "line two")
}

// TestHandEditsDuringThink: the same while the model is asked. The tick's own
// bytes in the chat do not pass for the human's.
func TestHandEditsDuringThink(t *testing.T) {
	w := newWorld(t)
	w.must("", append(w.script(deed), "ask", "line one")...)
	p := w.start(nil, append(w.script(`{"delay_ms":1200,"reply":`+said("after the edit")+`}`), "ask", "line two")...)
	w.await("the pending line", func() bool { return strings.Contains(w.read(home.Chat), "line two") && w.heardOnce("line two") })
	want := w.hand()
	if !p.until("after the edit") {
		t.Error("no answer")
	}
	p.quit()
	w.attributed(want)
	w.kept(want)
	for _, c := range w.log() {
		if c.author != human {
			continue
		}
		if d := w.git("show", "--format=", c.hash, "--", home.Chat); strings.Contains(d, "+line two") {
			t.Errorf("amacs' own bytes are attributed to the human:\n%s", d)
		}
	}
	if out := w.git("status", "--porcelain"); out != "" {
		t.Errorf("git status: %s", out)
	}
	w.once("line one", "line two")
}

// heardOnce says that the line has left the inbox for the chat.
func (w *world) heardOnce(line string) bool { return w.heard()[line] == 1 }

// mangled are files that can not be read any more, and what is said of them.
var mangled = []struct{ path, text, says string }{
	{home.Consciousness, "((identity . \"amacs-1\")\n (mood . ", "line"},
	{home.Consciousness, "<<<<<<< HEAD\n((mood . \"a\"))\n=======\n((mood . \"b\"))\n>>>>>>> x\n", home.Consciousness},
	{home.Consciousness, "", home.Consciousness},
	{home.Scratchpad, "# -*- coding: utf-8 -*-\n<<<<<<< HEAD\n* a\n=======\n* b\n>>>>>>> other\n", "merge marker"},
	{home.Monologue, "[2026-11-21 Sat 05:42][TICK 1] x\n\x00\x00\x00\n", "NUL"},
	{"skills/core/SKILL.md", "---\nname: [broken\n---\n", "SKILL.md"},
}

// TestMangledFiles: a file that can not be read is named and left alone; the tick
// works without it and goes on with it once it is mended.
func TestMangledFiles(t *testing.T) {
	base := newWorld(t)
	base.must("", append(base.script(deed), "ask", "line one")...)
	for i, m := range mangled {
		t.Run(fmt.Sprint(i, m.path), func(t *testing.T) {
			w := base.copyOf(t)
			good := w.read(m.path)
			w.write(m.path, m.text)
			r := w.must("", append(w.script(deed), "ask", "line two")...)
			contains(t, "the tick", r.errs, filepath.Base(m.path), m.says)
			if now := w.read(m.path); now != m.text {
				t.Errorf("%s was overwritten: %q", m.path, now)
			}
			contains(t, "the reply", r.out, "of the reply")
			d := w.amacs("", "doctor")
			contains(t, "doctor", d.out, filepath.Base(m.path))
			if d.code == 0 {
				t.Error("doctor finds nothing")
			}
			w.numbers()
			w.write(m.path, good)
			r = w.must("", append(w.script(deed), "ask", "line three")...)
			if strings.Contains(r.errs, "damaged") {
				t.Errorf("still named when mended: %s", r.errs)
			}
			w.settled(2)
			w.once("line one", "line two", "line three")
		})
	}
}

// TestMangledChat: without a readable chat nothing can be answered; the line
// waits for it.
func TestMangledChat(t *testing.T) {
	w := newWorld(t)
	w.must("", append(w.script(deed), "ask", "line one")...)
	good := w.read(home.Chat)
	for _, bad := range []string{good + "\x00", good + "<<<<<<< HEAD\n"} {
		w.write(home.Chat, bad)
		r := w.amacs("", append(w.script(deed), "ask", "line two")...)
		if r.code != exitHome {
			t.Errorf("exit %d, want %d", r.code, exitHome)
		}
		contains(t, "the refusal", r.errs, home.Chat, "kept")
		if now := w.read(home.Chat); now != bad {
			t.Errorf("the chat was overwritten: %q", now)
		}
		w.once("line two")
		w.write(home.Chat, good)
		w.must("", append(w.script(said("both")), "ask", "line three")...)
		w.once("line one", "line two", "line three")
		for _, e := range w.chat() {
			if e.Pending() {
				t.Errorf("%q is still pending", e.Human)
			}
		}
		w = w.copyOf(t)
		w.write(home.Chat, good)
		w.git("reset", "-q", "--hard", "HEAD~3")
		os.RemoveAll(w.path(".amacs"))
	}
}

// TestMangledConfig: a config.yaml that can not be read is named with its line.
func TestMangledConfig(t *testing.T) {
	w := newWorld(t)
	firstTick(w)
	for text, says := range map[string]string{
		"provider: [\n":     "config.yaml",
		"povider: script\n": "provider",
		"\x00":              "config.yaml",
	} {
		w.write(home.ConfigFile, text)
		r := w.amacs("", "ask", "line one")
		if r.code == 0 || !strings.Contains(r.errs, says) {
			t.Errorf("%q: exit %d, %s", text, r.code, r.errs)
		}
		if now := w.read(home.ConfigFile); now != text {
			t.Errorf("config.yaml was overwritten: %q", now)
		}
	}
}

// TestDerivedFields: hand edits of derived fields have no effect, and are named.
func TestDerivedFields(t *testing.T) {
	w := newWorld(t)
	for i := range 3 {
		w.must("", append(w.script(said("x")), "ask", fmt.Sprint("line ", i))...)
	}
	w.write(home.Consciousness, strings.Replace(w.read(home.Consciousness), "(current-tick . 3)", "(current-tick . 1)", 1))
	r := w.must("", append(w.script(said("x")), "ask", "line after")...)
	contains(t, "the tick", r.errs, "current-tick", "no effect")
	w.settled(1)
	if out := w.git("log", "-1", "--format=%s"); !strings.HasPrefix(out, "[TICK 4]") {
		t.Errorf("the next tick is %s", out)
	}
	contains(t, "consciousness.el", w.read(home.Consciousness), "(current-tick . 4)")
}

// TestStaleSave: an editor that saves an old version over newer entries. What it
// dropped is named, and can be put back.
func TestStaleSave(t *testing.T) {
	w := newWorld(t)
	w.must("", append(w.script(deed), "ask", "line one")...)
	old := map[string]string{}
	for _, path := range []string{home.Chat, home.Monologue, home.Scratchpad} {
		old[path] = w.read(path)
	}
	second := object(map[string]any{"eval": `(agent-add-note "second" "text")`, "reply": "two"})
	w.must("", append(w.script(second), "ask", "line two")...)
	for path, text := range old {
		w.write(path, text)
	}
	r := w.must("", append(w.script(said("three")), "ask", "line three")...)
	contains(t, "the tick", r.errs, "amacs restore agent-chat.org", "amacs restore monologue.org", "amacs restore scratchpad.org", "tick 2", "second")
	for path := range old {
		w.must("", "restore", path)
	}
	w.settled(1)
	w.once("line one", "line two", "line three")
	contains(t, "the scratchpad", w.read(home.Scratchpad), "* second")
	contains(t, "the monologue", w.read(home.Monologue), "[TICK 2]")
}

// TestStaleSaveDuringThink: the same while the line that it drops waits for its
// answer.
func TestStaleSaveDuringThink(t *testing.T) {
	w := newWorld(t)
	firstTick(w)
	old := w.read(home.Chat)
	p := w.start(nil, append(w.script(`{"delay_ms":800,"reply":`+said("an answer")+`}`), "ask", "line one")...)
	w.await("the pending line", func() bool { return w.heardOnce("line one") && strings.Contains(w.read(home.Chat), "line one") })
	w.write(home.Chat, old+"\nmine\n")
	if !p.until("an answer") {
		t.Error("no answer")
	}
	p.quit()
	contains(t, "the history", w.git("log", "-p", "--", home.Chat), "+line one")
	w.must("", "restore", home.Chat)
	w.must("", append(w.script(said("again")), "ask", "line two")...)
	w.settled(1)
	w.once("line zero", "line one", "line two")
}

// TestEditAfterKill: what a hand changes between a kill and the next start stays
// the hand's, and what the killed tick had written stays the tick's.
func TestEditAfterKill(t *testing.T) {
	base := newWorld(t)
	firstTick(base)
	for _, at := range []string{"heard", "write", "git"} {
		t.Run(at, func(t *testing.T) {
			w := base.copyOf(t)
			c := w.command("", append(w.script(deed), "ask", "line one")...)
			c.Env = append(c.Env, "AMACS_TEST_KILL="+at)
			if r := w.finish(c); !r.killed {
				t.Fatal("was not killed")
			}
			for _, path := range []string{home.Chat, home.Monologue} {
				w.write(path, strings.Replace(w.read(path), "\n#+TITLE:", "\n# mine\n#+TITLE:", 1))
			}
			r := w.must("", append(w.script(said("here")), "ask", "line two")...)
			for _, c := range w.log() {
				if c.author != human {
					continue
				}
				if d := w.git("show", "--format=", c.hash); strings.Contains(d, "+line one") || strings.Count(d, "\n+# mine") != 2 {
					t.Errorf("the [EDIT] commit:\n%s", d)
				}
			}
			w.settled(1)
			w.once("line zero", "line one", "line two")
			contains(t, "the chat", w.read(home.Chat), "\n# mine\n")
			if at == "write" { // the hand edited the files of before
				contains(t, "the next start", r.errs, "amacs restore monologue.org")
			}
		})
	}
}

// needs skips a test for want of a program, but never in CI.
func needs(t testing.TB, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is missing, and CI=true", program)
		}
		t.Skipf("%s is missing", program)
	}
}
