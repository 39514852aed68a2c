package main

import (
	"fmt"
	"os"
	"sync"
	"time"

	"golang.org/x/term"

	"amacs/harness"
)

// spinner shows on standard error how long the model has been thinking, where
// that is a terminal that can take a line back.
type spinner struct {
	out   *os.File // nil: nothing is shown
	mu    sync.Mutex
	began time.Time
	end   chan struct{} // nil while it rests
	done  chan struct{}
}

func (a *app) spinner() *spinner {
	s := &spinner{}
	if term.IsTerminal(int(a.err.Fd())) && !bare() && !a.json {
		s.out = a.err
	}
	return s
}

// event starts it with the thinking. Something else to be shown takes it away
// until after is called.
func (s *spinner) event(e harness.Event) (after func()) {
	if e.Kind == harness.Thinking {
		s.mu.Lock()
		s.began = time.Now()
		s.mu.Unlock()
	}
	shows := e.Kind == harness.Notice || e.Kind == harness.Withdrawn || e.Kind == harness.Running
	if e.Kind == harness.Thinking || shows && s.stop() {
		return s.start
	}
	return func() {}
}

func (s *spinner) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.out == nil || s.end != nil {
		return
	}
	s.end, s.done = make(chan struct{}), make(chan struct{})
	go func(began time.Time, end, done chan struct{}) {
		defer close(done)
		tick := time.NewTicker(time.Second / 4)
		defer tick.Stop()
		for i := 0; ; i++ {
			fmt.Fprintf(s.out, "\r%c thinking %ds", `|/-\`[i%4], int(time.Since(began).Seconds()))
			select {
			case <-tick.C:
			case <-end:
				fmt.Fprint(s.out, "\r\x1b[K")
				return
			}
		}
	}(s.began, s.end, s.done)
}

// stop takes the line back and reports whether there was one.
func (s *spinner) stop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		return false
	}
	close(s.end)
	<-s.done
	s.end = nil
	return true
}
