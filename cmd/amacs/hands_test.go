package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"amacs/harness/home"
)

// project is a git work tree in which the program runs from now on.
func (w *world) project(files map[string]string) string {
	w.t.Helper()
	dir := filepath.Join(w.temp, "code")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			w.t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	c := exec.Command("git", "init", "-q", dir)
	c.Env = w.env
	if out, err := c.CombinedOutput(); err != nil {
		w.t.Fatalf("git init: %v\n%s", err, out)
	}
	w.cwd = dir
	return dir
}

// does is a reply that evaluates a form and asks for the next tick.
func does(form, about string) string {
	return object(map[string]any{"eval": form, "monologue": about, "continue": true})
}

// requests are those of permissions.org.
func (w *world) requests() []home.Request {
	w.t.Helper()
	b, err := os.ReadFile(w.path(home.Permissions))
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return home.Requests(b)
}

// TestAnswersAtThePrompt: yes, always, no and never, typed by a person, with the
// diff before them.
func TestAnswersAtThePrompt(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"xterm", "dumb"} {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dir := w.project(map[string]string{"a.txt": "one\ntwo\n", "b.txt": "three\n"})
			edit := func(file, old, now string) string {
				return does(fmt.Sprintf(`(agent-edit-file %q %q %q :why "it counts wrongly")`, file, old, now), "Editing "+file)
			}
			p := w.terminal(t, []string{"TERM=" + term}, w.script(
				edit("a.txt", "one", "1"),
				edit("a.txt", "two", "2"),
				edit("b.txt", "three", "3"),
				does(`(agent-run "touch made")`, "Touching"),
				does(`(agent-run "git push")`, "Pushing"),
				does(`(agent-run "git push")`, "Pushing again"),
				does(`(agent-edit-file "../outside" "x" "y")`, "Wandering"),
				said("that was all"),
			)...)
			p.says(`amacs>$`)
			p.typed("count properly\r")
			p.says(`-one \+1 .*The agent wants to edit a\.txt why: it counts wrongly asked because: it writes .*a\.txt.*y yes, once · n no · always · never.*\(y/n/always/never\)`)
			if b, _ := os.ReadFile(filepath.Join(dir, "a.txt")); string(b) != "one\ntwo\n" {
				t.Errorf("before the answer the file is %q", b)
			}
			p.typed("y\r")
			p.says(`-two \+2 .*\(y/n/always/never\)`)
			p.typed("always\r")
			p.says(`-three \+3 .*wants to run touch made`) // b.txt without a question
			p.typed("n\r")
			p.says(`wants to run git push .*\(y/n/always/never\)`)
			p.typed("never\r")
			p.says(`that was all`)
			p.says(`· 8 ticks in \d+s: 2 files changed \(a\.txt, b\.txt\).*amacs>$`)
			p.typed("\x04")
			if code := p.ended(); code != 0 {
				t.Errorf("exit %d", code)
			}
			if strings.Count(p.words(), "wants to run git push") != 1 {
				t.Error("after never it was asked again")
			}
			if _, err := os.Stat(filepath.Join(dir, "made")); err == nil {
				t.Error("what was denied was run")
			}
			var got []string
			for _, r := range w.requests() {
				got = append(got, fmt.Sprintf("%s %s %s", r.State, r.Given, r.By))
			}
			want := "[DONE yes prompt DONE always prompt DENIED no prompt DENIED never prompt]"
			if fmt.Sprint(got) != want {
				t.Errorf("requests: %v, want %v", got, want)
			}
			w.settled(0)
		})
	}
}

// A question that the human leaves, or does not answer in time, is no, for now.
func TestNoAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.project(map[string]string{"a.txt": "one\n"})
	p := w.terminal(t, []string{"TERM=xterm"}, w.script(does(`(agent-write-file "a.txt" "two")`, "Writing"), said("all right"))...)
	p.says(`amacs>$`)
	p.typed("go\r")
	p.says(`\(y/n/always/never\)`)
	p.typed("\x03")
	p.says(`all right`)
	p.typed("\x04")
	p.ended()
	if r := w.requests(); len(r) != 1 || r[0].State != home.Expired {
		t.Errorf("requests: %+v", r)
	}
	if log := w.git("log", "--format=%B"); !strings.Contains(log, "the human left the question: no, for now") {
		t.Errorf("the agent was not told:\n%s", log)
	}
}

// An approved action that was interrupted by kill -9 is not done again, and the
// agent learns that nobody knows what was done.
func TestApprovedRunsOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.project(map[string]string{"a.txt": "one\n"})
	form := `(agent-run "echo done >> log.txt" :shell t)`
	w.must("", append(w.script(does(form, "Writing a log"), said("asked")), "ask", "log it")...)
	r := w.requests()
	if len(r) != 1 || !r[0].Waits() {
		t.Fatalf("requests: %+v", r)
	}
	w.must("", "approve", r[0].ID)
	c := w.command("", append(w.script(said("x")), "ask", "go on")...)
	c.Env = append(c.Env, "AMACS_TEST_KILL=running")
	if w.finish(c).code != -1 {
		t.Fatal("it was not killed")
	}
	out := w.must("", append(w.script(`{"expect":"it is not known what was done of it","reply":`+said("I shall look")+`}`), "ask", "and?")...)
	contains(t, "the reply", out.out, "I shall look")
	if got := w.requests(); got[0].State != home.Failed {
		t.Errorf("the request is %+v", got[0])
	}
	if b, err := os.ReadFile(filepath.Join(dir, "log.txt")); err == nil {
		t.Errorf("it was run: %q", b)
	}
	w.must("", append(w.script(said("x")), "ask", "and now?")...)
	if _, err := os.Stat(filepath.Join(dir, "log.txt")); err == nil {
		t.Error("it was run later")
	}
	w.settled(0)
}

// Ctrl-C ends a command of the agent, and what it started.
func TestInterruptRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.project(map[string]string{"a.txt": "one\n"})
	p := w.terminal(t, []string{"TERM=xterm"}, w.script(does(`(agent-run "echo $$ > pid; sleep 1000 & wait" :shell t)`, "Waiting"), said("never said"))...)
	p.says(`amacs>$`)
	p.typed("wait\r")
	p.says(`\(y/n/always/never\)`)
	p.typed("y\r")
	p.says(`· running echo`)
	w.await("the command", func() bool { b, _ := os.ReadFile(filepath.Join(dir, "pid")); return len(b) > 1 })
	began := time.Now()
	p.typed("\x03")
	p.says(`\(interrupted|interrupted by the human|amacs>$`)
	w.await("the prompt", func() bool { return strings.HasSuffix(p.words(), "amacs>") })
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	p.typed("\x04")
	p.ended()
	if out, err := exec.Command("pgrep", "-f", "^sleep 1000$").Output(); err == nil {
		t.Errorf("a child is left: %s", out)
	}
	if r := w.requests(); len(r) != 1 || r[0].State != home.Failed {
		t.Errorf("requests: %+v", r)
	}
}

// The same eval with the same result, three times in a row, ends the chain.
func TestLoop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	same := does(`(agent-get 'chat-context-depth)`, "Looking how far I see")
	r := w.must("hello\nand?\n", w.script(same, same, same, `{"expect":"3 times in a row, with the same result","reply":`+said("I was stuck")+`}`)...)
	contains(t, "the end of the chain", r.out, "stopped: the same eval gave the same result 3 times in a row")
	contains(t, "the stages", r.out, "· tick 2: Looking how far I see")
	contains(t, "the reply", r.out, "I was stuck")
}
