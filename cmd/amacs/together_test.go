package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"amacs/consciousness"
	"amacs/consciousness/sexp"
	"amacs/harness"
	"amacs/harness/home"
)

// TestTogether: two prompts and a command that writes, on one home at once. Ticks
// come one after the other, nothing is lost, nothing is doubled.
func TestTogether(t *testing.T) {
	const lines, writes = 6, 8
	w := newWorld(t)
	firstTick(w)
	var all []string
	var wg sync.WaitGroup
	for face := range 2 {
		var play []string
		for i := range lines {
			play = append(play, fmt.Sprintf(`{"delay_ms":20,"reply":%s}`, object(map[string]any{
				"eval": fmt.Sprintf(`(agent-add-note "face %d" "note %d")`, face, i), "reply": fmt.Sprintf("answer %d", i),
			})))
			all = append(all, fmt.Sprintf("face %d line %d", face, i))
		}
		p := w.start(nil, w.script(play...)...)
		wg.Go(func() {
			for i := range lines {
				p.say(fmt.Sprintf("face %d line %d", face, i))
				if !p.until(fmt.Sprintf("answer %d", i)) {
					t.Errorf("face %d: no answer to line %d", face, i)
				}
			}
			if code := p.quit(); code != 0 {
				t.Errorf("face %d: exit %d", face, code)
			}
		})
	}
	wg.Go(func() {
		for i := range writes {
			if r := w.amacs("", "depth", "chat", fmt.Sprint(i+1)); r.code != 0 {
				t.Errorf("depth: exit %d\n%s", r.code, r.errs)
			}
			if i == 3 {
				if r := w.amacs("", "thread", "new", "side", "a", "concern"); r.code != 0 {
					t.Errorf("thread new: exit %d\n%s", r.code, r.errs)
				}
			}
		}
	})
	wg.Wait()
	w.settled(0)
	w.once(all...)
	log := w.git("log", "--format=%s")
	if n := strings.Count(log, "[TICK "); n != 1+2*lines {
		t.Errorf("%d ticks, want %d", n, 1+2*lines)
	}
	if n := strings.Count(log, "[CONFIG] chat-context-depth"); n != writes {
		t.Errorf("%d changes of the depth, want %d", n, writes)
	}
	contains(t, "depth", w.must("", "depth").out, fmt.Sprint(writes))
	contains(t, "threads", w.must("", "threads").out, "side")
	for face := range 2 {
		for i := range lines {
			contains(t, "the scratchpad", w.read(home.Scratchpad), fmt.Sprintf("note %d", i))
			contains(t, "the scratchpad", w.read(home.Scratchpad), fmt.Sprintf("* face %d", face))
		}
	}
}

// depthEdit is what `amacs depth chat N` does.
func depthEdit(n int64) home.Edit {
	return home.Edit{What: "setting a depth", Apply: func(d *home.Draft) error {
		return d.Mind(func(s *consciousness.State) error { return s.Set(sexp.Symbol("chat-context-depth"), n) })
	}}
}

// TestChangeDuringThink: while a tick waits for its model, changes by others land
// at once, the tick keeps them, and nobody who only looks is blocked.
func TestChangeDuringThink(t *testing.T) {
	w := newWorld(t)
	firstTick(w)
	t.Setenv("HOME", w.temp+"/home")
	open := func() *harness.Harness {
		h, err := harness.Open(t.Context(), harness.Options{
			Root: w.dir, Provider: "script", Model: w.script(`{"hang":true}`)[3],
		})
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	ctx, cancel := context.WithCancel(t.Context())
	thinking, done := make(chan bool), make(chan error)
	go func() {
		_, err := open().Tick(ctx, harness.Input{Source: harness.Human, Text: "a long thought"}, func(e harness.Event) {
			if e.Kind == harness.Thinking {
				close(thinking)
			}
		})
		done <- err
	}()
	<-thinking
	other := open()
	var took []time.Duration
	for i := range int64(21) {
		at := time.Now()
		if err := other.Change(t.Context(), "CONFIG", fmt.Sprintf("chat-context-depth is %d", i+1), depthEdit(i+1)); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(at))
	}
	slices.Sort(took)
	t.Logf("a change during a tick: median %v, slowest %v", took[10], took[20])
	if took[10] > 50*time.Millisecond { // the median: other programs share the disk
		t.Errorf("a change took %v, want 50 ms at most", took[10])
	}
	for _, look := range []string{"status", "log", "diff", "context", "threads", "notes", "doctor"} {
		w.must("", look)
	}
	contains(t, "status", w.must("", "status").out, "1")
	select {
	case <-done:
		t.Fatal("the tick ended by itself")
	default:
	}
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	w.settled(0)
	w.once("a long thought")
	contains(t, "depth", w.must("", "depth").out, "21")
}

// TestWaitingLine: a line said while another face thinks is on disk at once, and
// an end of that face by kill -9 does not lose it.
func TestWaitingLine(t *testing.T) {
	w := newWorld(t)
	waiting(w)
	n := w.heard()
	if n["asked in vain"] != 1 || n["typed meanwhile"] != 1 {
		t.Errorf("on disk: %v", n)
	}
	p := w.start(nil, w.script(said("all answered"))...)
	p.say("and now")
	if !p.until("all answered") {
		t.Error("no answer")
	}
	p.quit()
	w.settled(0)
	w.once("asked in vain", "typed meanwhile", "and now")
	for _, e := range w.chat() {
		if e.Pending() {
			t.Errorf("%q is still pending", e.Human)
		}
	}
}
