package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"amacs/harness/home"
	"amacs/harness/journal"
)

var tickField = regexp.MustCompile(`\(current-tick \. \d+\)`)

// files is every file of the home that git could know, but for the number of the
// last tick, and every folder.
func (r *rig) files() map[string]string {
	r.t.Helper()
	out := map[string]string{}
	r.must(filepath.WalkDir(r.home.Root(), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(r.home.Root(), p)
		if rel == ".git" || rel == ".amacs" || rel == home.Workspace {
			return filepath.SkipDir
		}
		if d.IsDir() {
			out[rel+"/"] = ""
			return nil
		}
		out[rel] = tickField.ReplaceAllString(r.read(filepath.ToSlash(rel)), "(current-tick . N)")
		return nil
	}))
	return out
}

func (r *rig) same(what string, want map[string]string) {
	r.t.Helper()
	now := r.files()
	for _, p := range slices.Sorted(maps.Keys(want)) {
		if text, ok := now[p]; !ok {
			r.t.Errorf("%s: %s is gone", what, p)
		} else if text != want[p] {
			r.t.Errorf("%s: %s is not as it was; it is now\n%s\nand was\n%s", what, p, text, want[p])
		}
	}
	for p := range now {
		if _, ok := want[p]; !ok {
			r.t.Errorf("%s: %s is new", what, p)
		}
	}
}

func (r *rig) undo(n int) Moved {
	r.t.Helper()
	m, err := r.Undo(context.Background(), n)
	r.must(err)
	return m
}

func (r *rig) redo(n int) Moved {
	r.t.Helper()
	m, err := r.Redo(context.Background(), n)
	r.must(err)
	return m
}

// clean checks that nothing waits to be committed.
func (r *rig) clean() {
	r.t.Helper()
	changes, err := r.journal.Changes(context.Background())
	r.must(err)
	if len(changes) > 0 {
		r.t.Errorf("not committed: %v", changes)
	}
}

// busyWork is what twenty ticks of many kinds answer.
func busyWork() (play []string) {
	long := strings.Repeat("words and more words\\n", 400)
	for i := range 20 {
		eval := []string{
			`(agent-add-note \"findings\" \"what tick after tick found\")`,
			fmt.Sprintf(`(progn (agent-create-thread \"work-%d\" :concern \"c\") (agent-switch-thread \"work-%d\"))`, i, i),
			fmt.Sprintf(`(agent-create-skill \"skill-%d\" :description \"d\" :body \"how to do %d things\")`, i, i),
			fmt.Sprintf(`(agent-complete-thread \"work-%d\" :evidence \"it is done\" :learned \"much\")`, i-2),
			`(agent-edit-note \"findings\" \"\")`,
		}[i%5]
		play = append(play, fmt.Sprintf(`{"mood":"mood %d","confidence":0.5,"monologue":"step %d","reply":"%d %s","eval":"%s","scratchpad":{"heading":"log","content":"line %d"}}`, i, i, i, long, eval, i))
	}
	return play
}

// Twenty ticks of many kinds taken back, put back and taken back again.
func TestUndoOfTwentyTicks(t *testing.T) {
	r := newRig(t, busyWork()...)
	before := r.files()
	for i := range 20 {
		if rep := r.say(fmt.Sprintf("line %d", i)); rep.Outcome != "replied" || rep.Eval == nil || !rep.Eval.Success {
			t.Fatalf("tick %d: %s %+v", i, rep.Outcome, rep.Eval)
		}
	}
	after := r.files()
	if !slices.ContainsFunc(slices.Collect(maps.Keys(after)), func(p string) bool { return strings.HasPrefix(p, "archive/agent-chat/") }) {
		t.Fatal("the ticks fill no archive")
	}
	for range 2 {
		if m := r.undo(20); len(m.Ticks) != 20 || m.Ticks[0] != 1 || len(m.Left) > 0 {
			t.Errorf("undo: %+v", m)
		}
		r.same("undo", before)
		r.clean()
		if m := r.redo(1); len(m.Ticks) != 20 || len(m.Left) > 0 {
			t.Errorf("redo: %+v", m)
		}
		r.same("redo", after)
		r.clean()
	}
	s, _, err := r.home.Draft().State()
	r.must(err)
	if s.Tick != 20 {
		t.Errorf("current-tick is %d", s.Tick)
	}
	r.undo(20)
	r.script(`{"mood":"m","confidence":1,"monologue":"m","reply":"again"}`)
	if rep := r.say("and now"); rep.Tick != 21 {
		t.Errorf("the next tick is %d", rep.Tick)
	}
	var subjects []string
	for e, err := range r.journal.Log(context.Background(), journal.Query{Kind: "UNDO"}) {
		r.must(err)
		subjects = append(subjects, e.Text+" "+e.Trailers[undoTicks])
	}
	want := []string{"Took back tick 1 to 20 1-20", "Put back tick 1 to 20 1-20", "Took back tick 1 to 20 1-20", "Put back tick 1 to 20 1-20", "Took back tick 1 to 20 1-20"}
	if !slices.Equal(subjects, want) {
		t.Errorf("the history says %q", subjects)
	}
}

// expected is what the law of undo expects: the states that the mind went through,
// and the undos that can be taken back.
type expected struct {
	past   []moment // the mind stands on the last one
	undone [][]moment
}

type moment struct {
	files map[string]string
	tick  int // 0: a hand edit
}

// Any mixture of ticks, hand edits, undos and redos leads where it should.
func TestUndoLaw(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	r := newRig(t)
	w := expected{past: []moment{{files: r.files()}}}
	for i := range 40 {
		switch k := rnd.IntN(10); {
		case k < 3:
			r.script(fmt.Sprintf(`{"mood":"mood %d","confidence":1,"monologue":"thought %d","reply":"r","scratchpad":{"heading":"note %d","content":"c %d"}}`, i, i, rnd.IntN(3), i))
			rep := r.say(fmt.Sprintf("line %d", i))
			w.past, w.undone = append(w.past, moment{r.files(), rep.Tick}), nil
		case k < 4:
			r.write("scratchpad.org", r.read("scratchpad.org")+fmt.Sprintf("* by hand %d\n", i))
			_, err := r.Mend(context.Background())
			r.must(err)
			w.past, w.undone = append(w.past, moment{files: r.files()}), nil
		case k < 7:
			n := 1 + rnd.IntN(3)
			at, ticks := len(w.past), []int{}
			for at > 1 && len(ticks) < n {
				if at--; w.past[at].tick > 0 {
					ticks = append(ticks, w.past[at].tick)
				}
			}
			m, err := r.Undo(context.Background(), n)
			if len(ticks) < n {
				if err == nil {
					t.Fatalf("step %d: undo %d of %d ticks", i, n, len(ticks))
				}
				continue
			}
			r.must(err)
			slices.Sort(ticks)
			if !slices.Equal(m.Ticks, ticks) {
				t.Fatalf("step %d: took back %v, want %v", i, m.Ticks, ticks)
			}
			w.undone, w.past = append(w.undone, w.past), slices.Clone(w.past[:at])
		default:
			n := 1 + rnd.IntN(2)
			_, err := r.Redo(context.Background(), n)
			if len(w.undone) < n {
				if err == nil {
					t.Fatalf("step %d: redo %d of %d", i, n, len(w.undone))
				}
				continue
			}
			r.must(err)
			at := len(w.undone) - n
			w.past, w.undone = w.undone[at], w.undone[:at]
		}
		r.same(fmt.Sprintf("step %d", i), w.past[len(w.past)-1].files)
		r.clean()
		if t.Failed() {
			t.FailNow()
		}
	}
}

// A hand edit that nobody committed goes back with the tick before it, and comes
// back with a redo; answers and settings stay.
func TestUndoOverHandEdits(t *testing.T) {
	const said = `{"mood":"m","confidence":1,"monologue":"m","reply":"r"}`
	r := newRig(t, said, said)
	r.say("one")
	r.say("two")
	r.write("scratchpad.org", r.read("scratchpad.org")+"* mine\n")
	r.write("config.yaml", r.read("config.yaml")+"# mine\n")
	r.write("permissions.org", "* ASK something\n")
	m := r.undo(1)
	if !slices.Equal(m.Ticks, []int{2}) || len(m.Edits) != 1 || !strings.Contains(m.Edits[0], "scratchpad.org") {
		t.Errorf("undo: %+v", m)
	}
	if strings.Contains(r.read("scratchpad.org"), "mine") || strings.Contains(r.read(home.Chat), "two") {
		t.Error("the undo left something")
	}
	for _, p := range []string{"config.yaml", "permissions.org"} {
		if text := r.read(p); !strings.Contains(text, "mine") && !strings.Contains(text, "something") {
			t.Errorf("%s went back: %s", p, text)
		}
	}
	r.redo(1)
	if !strings.Contains(r.read("scratchpad.org"), "mine") || !strings.Contains(r.read(home.Chat), "two") {
		t.Error("the redo did not bring everything back")
	}
	r.undo(1)
	r.write("scratchpad.org", "* since\n")
	if _, err := r.WouldRedo(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "scratchpad.org was edited") {
		t.Errorf("a look at a redo after a hand edit: %v", err)
	}
	if _, err := r.Redo(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "[EDIT] scratchpad.org") {
		t.Errorf("redo after a hand edit: %v", err)
	}
	r.clean() // the edit is committed though
	if _, err := r.Undo(context.Background(), 2); err == nil || !strings.Contains(err.Error(), "only 1 tick") {
		t.Errorf("undo of too much: %v", err)
	}
	r.undo(1)
	if _, err := r.Undo(context.Background(), 1); err == nil || !strings.Contains(err.Error(), "no tick") {
		t.Errorf("undo of nothing: %v", err)
	}
}

// A tick whose line was committed before it, because a hand edited the chat
// meanwhile, goes back with its line.
func TestUndoTakesTheLineAlong(t *testing.T) {
	r := newRig(t, `{"mood":"m","confidence":1,"monologue":"m","reply":"one"}`, `{"mood":"m","confidence":1,"monologue":"m","reply":"two"}`)
	r.say("first")
	before := r.files()
	r.step = func(step string) {
		if step == "think" {
			r.write(home.Chat, r.read(home.Chat)+"# by hand\n")
		}
	}
	r.say("second")
	r.step = func(string) {}
	m := r.undo(1)
	if len(m.Edits) != 1 {
		t.Errorf("hand edits: %q", m.Edits)
	}
	r.same("undo", before)
}

// What would be overwritten, or can not be read, stays and is named.
func TestUndoLeavesAndNames(t *testing.T) {
	const said = `{"mood":"m","confidence":1,"monologue":"m","reply":"r"}`
	const conflict = "<<<<<<< one\n* a\n=======\n* b\n>>>>>>> two\n"
	r := newRig(t, said, said, said)
	r.say("one")
	r.write("scratchpad.org", conflict)
	r.write("skills/a/run.sh", "#!/bin/sh\n")
	r.write("skills/b/SKILL.md", "b\n")
	r.must(os.Symlink("b", r.home.Path("skills/link")))
	r.say("two")
	r.write("scratchpad.org", "* mended\n")
	for _, p := range []string{"skills/a", "skills/b", "skills/link"} {
		r.must(os.RemoveAll(r.home.Path(p)))
	}
	r.say("three")
	r.write(".git/info/exclude", "skills/a\nskills/b\n")
	r.write("skills/a/run.sh", "ignored by git\n")
	r.write("skills/b", "a file\n")
	m := r.undo(1) // hand edits are committed before a tick: they stand above tick 2
	slices.Sort(m.Left)
	m2 := r.undo(1)
	left := strings.Join(append(m.Left, m2.Left...), "\n")
	for _, want := range []string{"scratchpad.org", "skills/a/run.sh", "skills/b/SKILL.md", "skills/link"} {
		if !strings.Contains(left, want) {
			t.Errorf("%s is not named in\n%s", want, left)
		}
	}
	if got := r.read("scratchpad.org"); got != "* mended\n" {
		t.Errorf("scratchpad.org: %q", got)
	}
	if got := r.read("skills/a/run.sh"); got != "ignored by git\n" {
		t.Errorf("skills/a/run.sh: %q", got)
	}
}

func TestUndoWaitsForNoTick(t *testing.T) {
	r := newRig(t, `{"mood":"m","confidence":1,"monologue":"m","reply":"r"}`)
	r.say("one")
	release, err := r.home.TryLease()
	r.must(err)
	if _, err := r.Undo(context.Background(), 1); !errors.Is(err, home.ErrBusy) {
		t.Errorf("undo while a tick runs: %v", err)
	}
	release()
	before := r.files()
	m, err := r.WouldUndo(context.Background(), 1)
	r.must(err)
	var paths []string
	for _, c := range m.Files {
		paths = append(paths, c.Path)
	}
	if !slices.Equal(m.Ticks, []int{1}) || !slices.Contains(paths, home.Chat) {
		t.Errorf("would undo: %+v", m)
	}
	r.same("looking at an undo", before)
	if got := r.undo(1); !slices.Equal(got.Files, m.Files) {
		t.Errorf("did %v, said %v", got.Files, m.Files)
	}
}

func TestTickWords(t *testing.T) {
	for _, c := range []struct {
		ticks      []int
		say, print string
	}{
		{[]int{4}, "tick 4", "4"}, {[]int{43, 44, 45}, "tick 43 to 45", "43-45"},
		{[]int{1, 3, 4, 9}, "tick 1, 3 to 4 and 9", "1,3-4,9"},
	} {
		if got := TickWords(c.ticks); got != c.say {
			t.Errorf("%v: %q", c.ticks, got)
		}
		if got := printTicks(c.ticks); got != c.print {
			t.Errorf("%v: %q", c.ticks, got)
		}
		if got := readTicks(c.print); !slices.Equal(got, c.ticks) {
			t.Errorf("%s: %v", c.print, got)
		}
	}
	for _, odd := range []string{"", "x", "3-", "-3", "5-3", "1-99999999999999999999", "1-999999999999"} {
		if got := readTicks(odd); len(got) > mostTicks+1 {
			t.Errorf("%s: %d ticks", odd, len(got))
		}
	}
}
