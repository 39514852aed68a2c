package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// deed is a reply that touches everything a tick can: eval, note, reply.
var deed = object(map[string]any{
	"eval":       `(progn (agent-create-thread "work" :concern "c") (agent-switch-thread "work") (agent-add-note "from eval" "text"))`,
	"scratchpad": map[string]any{"heading": "a note", "content": "* Tick 99\nbody"},
	"reply":      "* a heading\nof the reply",
})

// killing is one way to die: a home, a run of the program and the steps at
// which it is killed.
type killing struct {
	from  func(w *world) // makes the home
	in    string
	args  []string
	play  []string // the script of the run
	steps []string // STEP or STEP:N
	lines []string // of the human: on disk afterwards if the run came past the steps "before"
	early []string // lines that were on disk before the run
	quiet string   // steps that leave nothing to mend, though others do
	edits int
}

func firstTick(w *world) { w.must("", append(w.script(said("welcome")), "ask", "line zero")...) }

// full is a home whose next tick archives: long exchanges, then as many short
// ones as the depths show.
func full(w *world) {
	var in string
	var play []string
	for i := range 12 {
		in += fmt.Sprintf("old line %d\n", i)
		text := "short"
		if i < 3 {
			text = strings.Repeat("words and more words\n", 320)
		}
		play = append(play, said(text))
	}
	w.must(in, w.script(play...)...)
}

// waiting is a home in which a run died with a line in the inbox.
func waiting(w *world) {
	firstTick(w)
	p := w.start(nil, w.script(`{"hang":true}`)...)
	p.say("asked in vain")
	w.await("the pending line", func() bool { return strings.Contains(w.read("agent-chat.org"), "asked in vain") })
	q := w.start(nil, append(w.script(said("too late")), "ask", "typed meanwhile")...)
	w.await("the inbox", func() bool { return w.heard()["typed meanwhile"] == 1 })
	p.cmd.Process.Signal(syscall.SIGSTOP) // so that it does not hand the lease to the other
	q.kill()
	p.kill()
}

func edited(w *world) {
	firstTick(w)
	w.write("scratchpad.org", w.read("scratchpad.org")+"* by hand\nmine\n")
}

func (w *world) await(what string, ok func() bool) {
	w.t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			w.t.Fatalf("waited 10 s for %s", what)
		}
	}
}

var tickSteps = []string{"kept", "wake", "settle", "hear", "claimed", "heard", "think", "reserved", "answered", "act", "commit", "intend", "write", "git", "committed"}

func second(steps []string) (out []string) {
	for _, s := range steps {
		out = append(out, s+":2")
	}
	return out
}

var killings = map[string]killing{
	"tick": {from: firstTick, args: []string{"ask", "line one"}, play: []string{deed}, steps: tickSteps, lines: []string{"line one"}, early: []string{"line zero"}},
	"first": {from: func(w *world) { w.must("", "init") }, args: []string{"ask", "line one"}, play: []string{deed},
		steps: []string{"kept", "claimed", "think", "intend", "write", "git", "committed"}, lines: []string{"line one"}},
	"continue": {from: firstTick, args: []string{"ask", "line one"}, play: []string{object(map[string]any{"continue": true, "reply": "going on"}), deed},
		steps: second([]string{"wake", "settle", "hear", "heard", "think", "act", "commit", "intend", "write", "git", "committed"}), lines: []string{"line one"}, early: []string{"line zero"}, quiet: "heard think act commit intend"},
	"inbox": {from: waiting, args: []string{"ask", "line one"}, play: []string{deed}, steps: tickSteps,
		lines: []string{"line one"}, early: []string{"line zero", "asked in vain", "typed meanwhile"}, quiet: "all"},
	"archive": {from: full, args: []string{"ask", "line one"}, play: []string{said(strings.Repeat("long words\n", 1500))}, steps: second([]string{"intend", "write", "git", "committed"}),
		lines: []string{"line one"}, early: []string{"old line 0", "old line 1", "old line 2", "old line 3"}, quiet: "intend"},
	"command": {from: firstTick, args: []string{"depth", "chat", "7"}, steps: []string{"settle", "intend", "write", "git", "committed"}, early: []string{"line zero"}, quiet: "intend"},
	"purge":   {from: spoken, args: []string{"purge", "--yes", "--text", "zebracrossing"}, steps: []string{"forget", "stored", "planned", "moved", "erased"}},
	"unpurge": {from: forgotten, args: []string{"purge", "--back"}, steps: []string{"backing", "movedback"}},
	"confirm": {from: forgotten, args: []string{"purge", "--confirm"}, steps: []string{"dropping", "dropped"}},
	"edits":   {from: edited, args: []string{"ask", "line one"}, play: []string{deed}, steps: []string{"settle", "edits", "heard", "write", "committed"}, lines: []string{"line one"}, early: []string{"line zero"}, edits: 1},
}

// spoken is a home that holds what is to be forgotten; forgotten one in which a purge
// waits to be confirmed.
func spoken(w *world) {
	w.must("", append(w.script(said("of the zebracrossing")), "ask", "a zebracrossing")...)
}

func forgotten(w *world) {
	spoken(w)
	w.must("", "purge", "--yes", "--text", "zebracrossing")
}

// mended are the steps after which the next start has something to say.
var mended = []string{"claimed", "heard", "think", "reserved", "answered", "act", "commit", "intend", "write", "git",
	"planned", "moved", "erased", "backing", "movedback"}

// TestKilledAtEachStep: kill -9 at each step of each kind of change. The home is
// sound at once, the next tick ends what was begun and says so.
func TestKilledAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("60 homes")
	}
	reached := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(killings)) {
		k := killings[name]
		base := newWorld(t)
		k.from(base)
		for _, at := range k.steps {
			step, _, _ := strings.Cut(at, ":")
			reached[step] = true
			t.Run(name+"/"+at, func(t *testing.T) { k.die(base.copyOf(t), at) })
		}
	}
	src, err := filepath.Glob("../../harness/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range src {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`h\.step\("(\w+)"\)`).FindAllStringSubmatch(string(b), -1) {
			if !reached[m[1]] {
				t.Errorf("%s: step %q is never killed at", filepath.Base(f), m[1])
			}
		}
	}
}

func (k killing) die(w *world, at string) {
	t := w.t
	c := w.command(k.in, append(w.script(k.play...), k.args...)...)
	c.Env = append(c.Env, "AMACS_TEST_KILL="+at)
	if r := w.finish(c); !r.killed {
		t.Fatalf("was not killed: exit %d\n%s%s", r.code, r.out, r.errs)
	}
	w.whole()
	found := w.heard() // between chat and inbox a line may be in both
	for _, line := range slices.Concat(k.early, k.lines) {
		if found[line] == 0 {
			t.Errorf("the line %q is not on disk", line)
		}
	}

	r := w.must("", append(w.script(said("here again")), "ask", "line after")...)
	says := strings.Contains(r.errs, "interrupted")
	step, _, _ := strings.Cut(at, ":")
	if k.quiet != "all" { // there, an earlier run had left something too
		if want := slices.Contains(mended, step) && !strings.Contains(k.quiet, step); says != want {
			t.Errorf("the next start says what it mended: %v, want %v:\n%s", says, want, r.errs)
		}
	}
	w.settled(k.edits)
	w.once(append(slices.Concat(k.early, k.lines), "line after")...)
	if k.args[0] == "depth" && slices.Contains(mended, step) && step != "intend" {
		contains(t, "the depth", w.must("", "depth").out, "7")
	}
}

// TestKilledAtRandom: lines typed one after the other at prompts that are killed
// at random instants. A line that was answered is never lost, none is doubled.
func TestKilledAtRandom(t *testing.T) {
	runs := 40
	if os.Getenv("AMACS_LONG") != "" {
		runs = 1000
	}
	w := newWorld(t)
	firstTick(w)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	var play []string
	for i := range 30 {
		play = append(play, object(map[string]any{"eval": fmt.Sprintf(`(agent-add-note "note %d" "text")`, i%7), "reply": fmt.Sprintf("answer %d", i)}))
	}
	flags := w.script(play...)
	var answered []string
	typed := map[string]bool{"line zero": true}
	for run := range runs {
		p := w.start(nil, flags...)
		timer := time.AfterFunc(time.Duration(rnd.IntN(160))*time.Millisecond, func() { _ = p.cmd.Process.Kill() })
		for i := 0; ; i++ {
			line := fmt.Sprintf("run %d line %d", run, i)
			typed[line] = true
			p.say(line)
			if !p.until(fmt.Sprintf("answer %d", i)) {
				break
			}
			answered = append(answered, line)
		}
		timer.Stop()
		p.kill()
		w.whole()
		for line, n := range w.heard() {
			if n > 2 || !typed[line] { // in the inbox and in the chat, for a moment
				t.Errorf("run %d: %q is on disk %d times", run, line, n)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	w.must("", append(w.script(said("here again")), "ask", "line after")...)
	w.settled(0)
	w.once(answered...)
	w.once(slices.Collect(maps.Keys(w.heard()))...)
	for _, e := range w.chat() {
		if e.Pending() {
			t.Errorf("%q is still pending", e.Human)
		}
	}
	t.Logf("%d lines answered in %d runs", len(answered), runs)
}

// TestKilledAtFirstStart: a first start that is killed at any instant leaves
// nothing that the next one can not complete.
func TestKilledAtFirstStart(t *testing.T) {
	runs := 12
	if os.Getenv("AMACS_LONG") != "" {
		runs = 300
	}
	for i := range runs {
		w := newWorld(t)
		p := w.start(nil, append(w.script(said("x")), "ask", "line one")...)
		time.Sleep(time.Duration(i%60) * 60 * time.Millisecond / time.Duration(min(runs, 60)))
		p.kill()
		r := w.amacs("", append(w.script(said("here")), "ask", "line two")...)
		if r.code == exitHome && strings.Contains(r.errs, "amacs init") { // it says what to do, and that helps
			w.must("", "init")
			r = w.amacs("", append(w.script(said("here")), "ask", "line two")...)
		}
		if r.code != 0 {
			t.Fatalf("run %d: exit %d\n%s", i, r.code, r.errs)
		}
		left, _ := filepath.Glob(w.path(".git-amacs-tmp-*")) // the journal's, made before there is a .git to hold it
		for _, dir := range left {
			t.Logf("run %d left %s", i, filepath.Base(dir))
			os.RemoveAll(dir)
		}
		w.settled(0)
		w.once("line two")
		if n := w.heard()["line one"]; n > 1 {
			t.Errorf("line one is on disk %d times", n)
		}
	}
}
