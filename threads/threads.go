// Package threads holds the lines of work of one mind: what the agent is about, in at most three places at once
// (RFC v4 §5).
//
// A thread is open until it is completed; of the open ones at most one is active, the one that has the agent's attention.
// Only its buffers and skills are loaded; the others are pending, and cost their concern and the names of their buffers.
//
// On disk the open threads are the field open-threads of consciousness.el, one alist each, and the active one is
// named by active-thread:
//
//	(active-thread . "rust-debugging")
//	(open-threads . (((id . "rust-debugging")
//	                  (concern . "Fix ownership error")
//	                  (goal . "cargo test passes")
//	                  (buffers . ("/src/main.rs"))
//	                  (skills . ("rust-mode"))
//	                  (started . 42))))
//
// Nothing here reads or writes that: a [Set] is a value, and each of its methods returns another. Begin with Set.
package threads

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxOpen is how many threads may be open at once (RFC v4 §5).
const MaxOpen = 3

// A Thread is one line of work. The last three fields are those of a completed one.
type Thread struct {
	ID            ID
	Concern, Goal string   // one line each; the goal may be empty
	Buffers       []string // files and directories to show while it is active, each once
	Skills        []string // names of the skills to load while it is active, each once
	Started       int      // tick

	Evidence, Learned string // what shows that it is done; what to keep from it
	Completed         int    // tick
}

// A Set is the open threads, oldest first. The zero Set has none.
// Its methods leave it as it is and return a changed one that shares no memory with it; beside an error they return the Set itself.
type Set struct {
	Open   []Thread
	Active ID // "" when none is
}

// Find returns the open thread of that id.
func (s Set) Find(id ID) (Thread, bool) {
	if i := s.index(id); i >= 0 {
		return s.Open[i].clone(), true
	}
	return Thread{}, false
}

// Pending returns the open threads that are not active, oldest first.
func (s Set) Pending() []Thread {
	pending := s.clone().Open
	return slices.DeleteFunc(pending, func(t Thread) bool { return t.ID == s.Active })
}

// Create opens t, and does not make it active. It refuses an id that is open already or against the rule of [ParseID],
// a thread without a concern, and a fourth thread.
func (s Set) Create(t Thread) (Set, error) {
	if err := s.refuse(t); err != nil {
		return s, fmt.Errorf("creating thread %q: %w", t.ID, err)
	}
	opened := Thread{
		ID:      t.ID,
		Concern: oneLine(t.Concern),
		Goal:    oneLine(t.Goal),
		Buffers: distinct(t.Buffers),
		Skills:  distinct(t.Skills),
		Started: t.Started,
	}
	next := s.clone()
	next.Open = append(next.Open, opened)
	return next, nil
}

// refuse says why t can not be created.
func (s Set) refuse(t Thread) error {
	if _, err := ParseID(string(t.ID)); err != nil {
		return err
	}
	if s.index(t.ID) >= 0 {
		return fmt.Errorf("it is open already; (agent-switch-thread %q) goes on with it", t.ID)
	}
	if oneLine(t.Concern) == "" {
		return fmt.Errorf("it needs a concern, a sentence on what it is about: (agent-create-thread %q :concern \"…\")", t.ID)
	}
	if len(s.Open) >= MaxOpen {
		return fmt.Errorf("%s are open, and %d is the most; complete one first: (agent-complete-thread %q :evidence \"…\" :learned \"…\")",
			s.names(), MaxOpen, s.Open[0].ID)
	}
	return nil
}

// Switch makes an open thread the active one.
func (s Set) Switch(id ID) (Set, error) {
	if s.index(id) < 0 {
		return s, fmt.Errorf("switching thread: %w", s.unknown(id))
	}
	next := s.clone()
	next.Active = id
	return next, nil
}

// Complete closes a thread and returns it with its evidence, what was learned, and the tick it was completed in.
// Without evidence it stays open; learned may be empty. Completing the active thread leaves none active.
func (s Set) Complete(id ID, evidence, learned string, tick int) (Set, Thread, error) {
	i := s.index(id)
	if i < 0 {
		return s, Thread{}, fmt.Errorf("completing thread: %w", s.unknown(id))
	}
	evidence, learned = strings.TrimSpace(evidence), strings.TrimSpace(learned)
	if evidence == "" {
		return s, Thread{}, fmt.Errorf("completing thread %q: it needs evidence, something that shows it is done: (agent-complete-thread %q :evidence \"go test ./... passes\" :learned \"…\")", id, id)
	}
	next := s.clone()
	done := next.Open[i]
	done.Evidence, done.Learned, done.Completed = evidence, learned, tick
	next.Open = slices.Delete(next.Open, i, i+1)
	if next.Active == id {
		next.Active = ""
	}
	return next, done, nil
}

// AddBuffer shows path while the thread is active. One that it has already changes nothing.
func (s Set) AddBuffer(id ID, path string) (Set, error) {
	return s.edit(id, "adding a buffer", path, func(t *Thread) { t.Buffers = distinct(append(t.Buffers, path)) })
}

// RemoveBuffer takes path from the thread. One that it does not have changes nothing.
func (s Set) RemoveBuffer(id ID, path string) (Set, error) {
	return s.edit(id, "removing a buffer", path, func(t *Thread) { t.Buffers = without(t.Buffers, path) })
}

// BindSkill loads the named skill while the thread is active. One that is bound already changes nothing.
func (s Set) BindSkill(id ID, name string) (Set, error) {
	return s.edit(id, "binding a skill", name, func(t *Thread) { t.Skills = distinct(append(t.Skills, name)) })
}

// UnbindSkill takes the named skill from the thread. One that is not bound changes nothing.
func (s Set) UnbindSkill(id ID, name string) (Set, error) {
	return s.edit(id, "unbinding a skill", name, func(t *Thread) { t.Skills = without(t.Skills, name) })
}

// edit changes one thread of a clone; name is what is added to it or removed.
func (s Set) edit(id ID, doing, name string, change func(*Thread)) (Set, error) {
	i := s.index(id)
	if i < 0 {
		return s, fmt.Errorf("%s: %w", doing, s.unknown(id))
	}
	if name == "" {
		return s, fmt.Errorf("%s: its name is empty", doing)
	}
	next := s.clone()
	change(&next.Open[i])
	return next, nil
}

func (s Set) index(id ID) int {
	return slices.IndexFunc(s.Open, func(t Thread) bool { return t.ID == id })
}

// unknown is the error for an id that is not open.
func (s Set) unknown(id ID) error {
	if len(s.Open) == 0 {
		return errors.New(`no thread is open; (agent-create-thread "some-id" :concern "…") opens one`)
	}
	return fmt.Errorf("no open thread %q; open: %s", id, s.names())
}

// names lists the open ids: a, b (active), c.
func (s Set) names() string {
	names := make([]string, len(s.Open))
	for i, t := range s.Open {
		names[i] = string(t.ID)
		if t.ID == s.Active {
			names[i] += " (active)"
		}
	}
	return strings.Join(names, ", ")
}

func (s Set) clone() Set {
	s.Open = slices.Clone(s.Open)
	for i, t := range s.Open {
		s.Open[i] = t.clone()
	}
	return s
}

func (t Thread) clone() Thread {
	t.Buffers, t.Skills = slices.Clone(t.Buffers), slices.Clone(t.Skills)
	return t
}

// distinct returns the names without the empty ones and repetitions, in the order of their first appearance.
func distinct(names []string) []string {
	var out []string
	for _, name := range names {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

func without(names []string, name string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return n == name })
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
