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

// From tick to tick, without edits, the stable part of the prompt stays the same
// to the byte but when a block closes; then what stands before the block does.
func TestStablePrefix(t *testing.T) {
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
	sum, sumAll, least := 0.0, 0.0, 1.0
	var before, stableBefore, system string
	for n := 1; n <= ticks; n++ {
		r.say(fmt.Sprintf("A question of the human, number %d, of some words.", n))
		q := r.asked[len(r.asked)-1]
		text := q.Text()
		steady, _, _ := strings.Cut(printed(q), "~~~~~~~~")
		closes := n%window(5) == 0 || n%window(20) == 0
		// Four ticks in which five exchanges ended: one must leave for the window to
		// stay within its bound.
		crowded := n%8 == 7
		if n > 1 {
			if q.System != system {
				t.Fatalf("tick %d: the system prompt changed", n)
			}
			if steady != stableBefore && !closes && !crowded {
				t.Errorf("tick %d: the stable part changed, and no block closed:\n%s\nwas\n%s", n, steady, stableBefore)
			}
			same := 0
			for same < min(len(text), len(before)) && text[same] == before[same] {
				same++
			}
			share := float64(same) / float64(len(text))
			shareAll := float64(len(system)+same) / float64(len(system)+len(text))
			sum, sumAll = sum+share, sumAll+shareAll
			if n > 10 {
				least = min(least, shareAll)
			}
		}
		before, stableBefore, system = text, steady, q.System
	}
	t.Logf("leading bytes as in the tick before: %.0f%% of the prompt, %.0f%% with the system prompt (at least %.0f%% after tick 10)",
		100*sum/(ticks-1), 100*sumAll/(ticks-1), 100*least)
}
