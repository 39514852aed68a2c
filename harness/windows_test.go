package harness

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/threads"
)

func newAt(tick int) time.Time {
	return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).Add(time.Duration(tick) * time.Minute)
}

// talk is a conversation that goes on in memory, archive included.
type talk struct {
	t       *testing.T
	disk    fstest.MapFS
	draft   *home.Draft
	state   consciousness.State
	tick    int
	waiting []int
	past    []int // ticks of what is answered
	thought []int // ticks
}

func (c *talk) do(what string, err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatalf("tick %d, %s: %v", c.tick, what, err)
	}
}

// save puts the draft on disk.
func (c *talk) save() {
	for path, text := range c.draft.Contents() {
		c.disk[path] = &fstest.MapFile{Data: text}
	}
	c.draft = home.NewDraft(c.disk)
}

// mind is what a tick that begins now knows.
func (c *talk) mind() *Mind {
	m := &Mind{Tick: c.tick, State: c.state, Now: newAt(c.tick), Core: "core", Window: 1 << 30, draft: c.draft}
	c.do("reading", m.loadTexts())
	return m
}

// pass runs one tick: lines are said, and answered if answer; each entry holds
// its tick as <n> and as many bytes as size.
func (c *talk) pass(lines int, answer bool, size int) {
	for range lines {
		c.tick++
		c.do("saying", c.draft.Say(home.Line{At: newAt(c.tick), Tick: c.tick, Text: fmt.Sprintf("<%d> %s", c.tick, strings.Repeat("x", size))}))
		c.waiting = append(c.waiting, c.tick)
	}
	if lines == 0 {
		c.tick++
	}
	c.check()
	if answer {
		text := "yes"
		if len(c.waiting) == 0 {
			text, c.past = fmt.Sprintf("<%d> of my own", c.tick), append(c.past, c.tick)
		}
		c.do("answering", c.draft.Answer(c.tick, newAt(c.tick), c.waiting, text, ""))
		c.past = append(c.past, c.waiting...)
		c.waiting = nil
	}
	c.do("thinking", c.draft.Think(home.Thought{Tick: c.tick, Time: newAt(c.tick), Text: fmt.Sprintf("<%d> %s", c.tick, strings.Repeat("y", size))}))
	c.thought = append(c.thought, c.tick)
	c.save()
	if c.tick%7 == 0 { // a lesser depth may have been in force when it was archived
		_, err := c.draft.Archive(1, 1)
		c.do("archiving", err)
		c.save()
	}
}

// check holds what is shown against what was said.
func (c *talk) check() {
	c.t.Helper()
	shown := map[string][]int{}
	for _, s := range layout(c.mind()).Sections {
		for word := range strings.FieldsSeq(s.Text) {
			var n int
			if _, err := fmt.Sscanf(word, "<%d>", &n); err == nil {
				shown[s.Name] = append(shown[s.Name], n)
			}
		}
	}
	if !slices.Equal(shown["pending"], c.waiting) && len(c.waiting) > 0 {
		c.t.Errorf("tick %d: pending %v, want %v", c.tick, shown["pending"], c.waiting)
	}
	for _, w := range []struct {
		name  string
		depth int
		all   []int
	}{{"chat", c.state.ChatDepth, c.past}, {"monologue", c.state.MonologueDepth, c.thought}} {
		got := shown[w.name]
		least, most := min(w.depth, len(w.all)), w.depth+max(4, w.depth/2)-1
		if w.depth == 0 {
			most = 0
		}
		if len(got) < least || len(got) > most {
			c.t.Errorf("tick %d: depth %d of %s shows %d of %d", c.tick, w.depth, w.name, len(got), len(w.all))
		}
		if !slices.Equal(got, w.all[len(w.all)-min(len(got), len(w.all)):]) {
			c.t.Errorf("tick %d: %s shows %v, not the newest", c.tick, w.name, got)
		}
	}
	if c.t.Failed() {
		c.t.FailNow()
	}
}

// At every tick of a conversation a depth of N shows at least N entries, where
// there are so many, and fewer than N + max(4, N/2), the newest ones.
func TestWindows(t *testing.T) {
	for i, depth := range []struct{ chat, thoughts int }{{5, 20}, {1, 0}, {2, 1}, {9, 3}, {40, 100}} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(uint64(i), 1))
			c := &talk{t: t, disk: fstest.MapFS{}, state: consciousness.New()}
			c.draft = home.NewDraft(c.disk)
			c.state.ChatDepth, c.state.MonologueDepth = depth.chat, depth.thoughts
			for c.tick < 300 {
				switch {
				case c.tick == 100: // ten silent ticks
					for range 10 {
						c.pass(1, false, 50)
					}
				case rnd.IntN(6) == 0:
					c.pass(0, rnd.IntN(2) == 0, 100) // continue
				default:
					c.pass(1+rnd.IntN(8)/7, rnd.IntN(4) > 0, 20+rnd.IntN(2500))
				}
			}
			segments := 0
			for path := range c.disk {
				if strings.HasPrefix(path, "archive/agent-chat/") {
					segments++
				}
			}
			if segments < 3 {
				t.Errorf("only %d segments were archived: the test tests too little", segments)
			}
		})
	}
}

// Lines that wait are shown beside the window, and take none of its room.
func TestWindowPending(t *testing.T) {
	const head = "# -*- coding: utf-8 -*-\n"
	old, now := head, head
	for n := 1; n <= 20; n++ {
		old += "\n" + home.Exchange{Tick: n, Human: "asked", HasHuman: true, Agent: "answered", HasAgent: true}.Print()
	}
	for n := 21; n <= 50; n++ {
		now += "\n" + home.Exchange{Tick: n, Human: "waits", HasHuman: true}.Print()
	}
	c := &talk{t: t, tick: 51, state: consciousness.New(), disk: fstest.MapFS{
		"archive/agent-chat/00001-00020.org": {Data: []byte(old)}, home.Chat: {Data: []byte(now)},
	}}
	c.draft = home.NewDraft(c.disk)
	if m := c.mind(); len(m.Pending) != 30 || len(m.Past) < c.state.ChatDepth {
		t.Errorf("%d wait, and %d are past", len(m.Pending), len(m.Past))
	}
}

// From tick to tick, without edits, all that stood before the last breakpoint
// stays as it was; a step of the chat changes only what stands behind the one
// before it, that of the monologue, which falls on every second one, only what
// stands behind the first.
func TestStablePrefix(t *testing.T) {
	if testing.Short() {
		t.Skip("50 ticks")
	}
	const ticks = 50
	var script []string
	for n := range ticks {
		reply := strings.Repeat(fmt.Sprintf("Sentence of answer %d. ", n), 12)
		if n%8 == 2 { // silent: the next reply ends this exchange, too
			reply = ""
		}
		script = append(script, fmt.Sprintf(`{"mood":"even","confidence":0.8,"monologue":"Thought number %d, a line of the usual length","reply":%q}`, n, reply))
	}
	r := newRig(t, script...)
	var before []string // what stood before each breakpoint
	for n := 1; n <= ticks; n++ {
		r.say(fmt.Sprintf("A question of the human, number %d, of some words.", n))
		q := r.asked[len(r.asked)-1]
		text := q.System
		var now []string
		for _, b := range q.Blocks {
			if text += b.Text; b.Cache {
				now = append(now, text)
			}
		}
		if n > 20 && len(now) != breakpoints-1 {
			t.Errorf("tick %d: %d breakpoints beside that of the system prompt", n, len(now))
		}
		// Four ticks in which five exchanges ended: one must leave for the window to
		// stay within its bound.
		crowded := n%8 == 7
		stays := len(before)
		switch {
		case n%step(20) == 0:
			stays = min(stays, 1)
		case n%step(5) == 0, crowded:
			stays = min(stays, len(before)-1)
		}
		for i, was := range before[:max(0, stays)] {
			if !strings.HasPrefix(text, was) {
				t.Errorf("tick %d: what stood before breakpoint %d has changed:\n%s\nwas\n%s", n, i+1, text, was)
			}
		}
		before = now
	}
}

// The steps of all depths end together, and none is longer than its window.
func TestSteps(t *testing.T) {
	for depth := range 1001 {
		n := step(depth)
		if n < 4 || n > window(depth) || 2*n <= window(depth) || n&(n-1) != 0 {
			t.Errorf("depth %d: step %d, window %d", depth, n, window(depth))
		}
	}
}

// Notes move in blocks, too: at least as many as the depth are shown, the newest
// by the tick that wrote them last, and what is closed stays until the next step.
func TestNoteWindows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	m := &Mind{State: consciousness.New()}
	m.State.GlobalNotes, m.State.ThreadNotes = 3, 9
	m.State.Threads = threads.Set{Open: []threads.Thread{{ID: "work", Concern: "c"}}, Active: "work"}
	var before []home.Note
	amended := true
	for m.Tick = 1; m.Tick < 400; m.Tick++ {
		closed, open := m.notes()
		if m.Tick%step(3) != 0 && !amended && !slices.Equal(closed, before) {
			t.Fatalf("tick %d: closed are %v, were %v", m.Tick, closed, before)
		}
		before, amended = closed, false
		for thread, depth := range map[string]int{"": 3, "work": 9, "other": 0} {
			var all, shown []int
			for _, n := range m.Notes {
				if n.Thread == thread {
					all = append(all, n.Tick)
				}
			}
			for _, n := range slices.Concat(closed, open) {
				if n.Thread == thread {
					shown = append(shown, n.Tick)
				}
			}
			slices.Sort(all)
			if n := len(shown); n < min(depth, len(all)) || n >= max(1, depth+window(depth)) && depth > 0 || depth == 0 && n > 0 || !slices.Equal(shown, all[len(all)-n:]) {
				t.Fatalf("tick %d: depth %d of %q shows %v of %v", m.Tick, depth, thread, shown, all)
			}
		}
		if rnd.IntN(2) == 0 {
			n := home.Note{Heading: fmt.Sprint("n", m.Tick), Thread: []string{"", "work", "other"}[rnd.IntN(3)], Tick: m.Tick}
			if i := rnd.IntN(len(m.Notes) + 1); i < len(m.Notes) && rnd.IntN(3) == 0 {
				m.Notes[i].Tick, amended = m.Tick, true // one that was added to
			} else {
				m.Notes = append(m.Notes, n)
			}
		}
	}
}

// A file that is changed goes behind the chat, and comes back with the chat's
// next step.
func TestBufferGroups(t *testing.T) {
	m := &Mind{State: consciousness.New()}
	for n := 1; n < 12; n++ {
		m.Thoughts = append(m.Thoughts, home.Thought{Tick: n, Time: newAt(n)})
	}
	m.Buffers = []Buffer{{Name: "of tick 9", Changed: newAt(9)}, {Name: "gone"}, {Name: "of tick 3", Changed: newAt(3)}, {Name: "old", Changed: newAt(-99)}}
	for _, c := range []struct {
		tick           int
		steady, edited string
	}{{8, "gone old of tick 3", "of tick 9"}, {11, "gone old of tick 3", "of tick 9"}, {12, "gone old of tick 3 of tick 9", ""}} {
		m.Tick = c.tick
		steady, edited := m.buffers()
		names := func(bs []Buffer) string {
			var out []string
			for _, b := range bs {
				out = append(out, b.Name)
			}
			return strings.Join(out, " ")
		}
		if names(steady) != c.steady || names(edited) != c.edited {
			t.Errorf("tick %d: steady %q, edited %q, want %q and %q", c.tick, names(steady), names(edited), c.steady, c.edited)
		}
	}
}
