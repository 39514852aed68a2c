package main

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"amacs/harness/home"
)

// TestUndoKilledAtEachStep: kill -9 at each step of an undo and of a redo. The
// next change finds the mind as it was before, or makes it what was meant.
func TestUndoKilledAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("ten homes")
	}
	mind := func(w *world) map[string]string {
		out := map[string]string{}
		for _, p := range strings.Fields(w.git("ls-files")) {
			out[p] = w.read(p)
		}
		delete(out, home.Consciousness) // its current-tick stays
		return out
	}
	base := newWorld(t)
	firstTick(base)
	early := mind(base)
	base.must("", append(base.script(deed), "ask", "line one")...)
	base.must("", append(base.script(deed), "ask", "line two")...)
	late := mind(base)
	undone := base.copyOf(t)
	undone.must("", "undo", "2")

	for _, c := range []struct {
		command     string
		from        *world
		before, end map[string]string
	}{
		{"undo 2", base, late, early},
		{"redo", undone, early, late},
	} {
		for _, step := range []string{"settle", "intend", "write", "git", "committed"} {
			t.Run(fmt.Sprintf("%s/%s", c.command, step), func(t *testing.T) {
				w := c.from.copyOf(t)
				cmd := w.command("", strings.Fields(c.command)...)
				cmd.Env = append(cmd.Env, "AMACS_TEST_KILL="+step)
				if r := w.finish(cmd); !r.killed {
					t.Fatalf("was not killed: exit %d\n%s%s", r.code, r.out, r.errs)
				}
				w.whole()
				want, undos := c.end, strings.Count(c.from.git("log", "--format=%s"), "[UNDO]")+1
				if step == "settle" || step == "intend" {
					want, undos = c.before, undos-1
				}
				w.must("", "depth", "chat", "7") // any change ends what was begun
				if !maps.Equal(mind(w), want) {
					t.Errorf("the mind is neither as it was nor as it was meant; git says\n%s", w.git("log", "--stat", "-3"))
				}
				if n := strings.Count(w.git("log", "--format=%s"), "[UNDO]"); n != undos {
					t.Errorf("%d [UNDO] commits, want %d", n, undos)
				}
				w.settled(0)
			})
		}
	}
}
