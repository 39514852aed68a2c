package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"amacs/harness/home"
)

func noted(i int, heading, content, eval string) string {
	return fmt.Sprintf(`{"mood":"m","confidence":1,"monologue":"thought %d","reply":"r","eval":"%s","scratchpad":{"heading":"%s","content":"%s"}}`, i, eval, heading, content)
}

// A note's story: each commit that touched it, and what led to that.
func TestWhy(t *testing.T) {
	r := newRig(t,
		noted(1, "Lifetimes of parsers", "a", ""), noted(2, "other", "x", ""),
		noted(3, "Lifetimes of parsers", "b", `(car '(1 2))`), noted(4, "other", "y", ""),
		noted(5, "other", "z", `(agent-edit-note \"Lifetimes of parsers\" \"anew\")`),
		noted(6, "other", "z", `(agent-edit-note \"Lifetimes of parsers\" \"\")`),
		noted(7, "Lifetimes of parsers", "another of that name", ""))
	why := func(what string) (home.Note, string) {
		t.Helper()
		n, causes, err := r.Why(context.Background(), what)
		r.must(err)
		var out []string
		for _, c := range causes {
			out = append(out, fmt.Sprintf("%s %d", c.Did, c.Tick))
		}
		return n, strings.Join(out, ", ")
	}
	expect := func(what, want string) {
		t.Helper()
		if n, got := why(what); got != want || n.Heading != "Lifetimes of parsers" {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	r.say("one")
	r.say("two")
	r.say("three")
	r.say("four")
	expect("lifetimes", "written 1, added to 3")
	r.write(home.Scratchpad, strings.Replace(r.read(home.Scratchpad), "a\n", "a by hand\n", 1))
	r.say("five")
	expect("PARSERS", "written 1, added to 3, rewritten by hand 0, rewritten 5")
	_, causes, err := r.Why(context.Background(), "lifetimes")
	r.must(err)
	c := causes[1]
	if !slices.Equal(c.Human, []string{"three"}) || c.Thought != "thought 3" || c.Eval != `(car '(1 2))` || c.Commit == "" || c.Time.IsZero() {
		t.Errorf("%+v", c)
	}
	r.undo(1)
	r.redo(1)
	expect("lifetimes", "written 1, added to 3, rewritten by hand 0, rewritten 5, rewritten by an undo or a redo 0, rewritten by an undo or a redo 0")
	r.undo(5)
	r.redo(1)
	r.say("six")
	_, got := why("lifetimes")
	if !strings.HasPrefix(got, "written 1, ") || !strings.HasSuffix(got, "taken out 6") {
		t.Errorf("a note that was taken out: %s", got)
	}
	r.say("seven")
	expect("lifetimes", "written 7")

	var unknown *Unknown
	if _, _, err := r.Why(context.Background(), "othr"); !errors.As(err, &unknown) || !slices.Contains(unknown.Near, "other") {
		t.Errorf("a misspelt heading: %v", err)
	}
	if _, _, err := r.Why(context.Background(), "o"); err == nil || !strings.Contains(err.Error(), "several notes") {
		t.Errorf("a part of two headings: %v", err)
	}
}

func TestAt(t *testing.T) {
	r := newRig(t, busyWork()...)
	for i := range 20 {
		r.say(fmt.Sprintf("line %d", i))
	}
	now := r.files()
	m, err := r.At(context.Background(), 7, 3)
	r.must(err)
	if m.Mood != "mood 6" || m.Threads.Active != "work-6" || len(m.Damaged) > 0 {
		t.Errorf("%+v", m)
	}
	var ticks []int
	for _, e := range m.Exchanges {
		ticks = append(ticks, e.Tick)
	}
	if !slices.Equal(ticks, []int{5, 6, 7}) || m.Exchanges[2].Human != "line 6" {
		t.Errorf("exchanges %v", ticks)
	}
	var notes []string
	for _, n := range m.Notes {
		notes = append(notes, n.Heading)
	}
	if !slices.Equal(notes, []string{"log", "findings"}) {
		t.Errorf("notes %q", notes)
	}
	m, err = r.At(context.Background(), 20, 19) // reads on into the archive of then
	r.must(err)
	if len(m.Exchanges) != 19 || m.Exchanges[0].Tick != 2 {
		t.Errorf("%d exchanges", len(m.Exchanges))
	}
	r.same("looking", now)
}
