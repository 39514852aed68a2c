package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/term"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
	"amacs/harness/permit"
)

// asker puts the agent's questions to the human of a command that has no prompt,
// nil where nobody is at the terminal: then they wait in permissions.org.
func (a *app) asker(spin *spinner) harness.Asker {
	if !term.IsTerminal(int(a.in.Fd())) || !term.IsTerminal(int(a.err.Fd())) || a.inside {
		return nil
	}
	next := a.answering()
	return func(ctx context.Context, q harness.Question) (harness.Given, error) {
		if spin.stop() {
			defer spin.start()
		}
		if q.Diff != "" {
			fmt.Fprintln(a.err, console.Bare(q.Diff))
		}
		fmt.Fprintln(a.err, console.Bare(q.Text))
		for first := true; ; first = false {
			line, err := next(ctx, "(y/n/always/never): ", first)
			if err != nil {
				return harness.Given{}, err
			}
			if g, ok := given(line); ok {
				return g, nil
			}
		}
	}
}

// answering reads the answers to questions at a terminal without a prompt. The
// function it gives asks; with fresh, what was typed before is no answer. The
// terminal is read from the first question on: what is typed before is the shell's.
func (a *app) answering() func(ctx context.Context, question string, fresh bool) (string, error) {
	reader := sync.OnceValue(func() <-chan string { return typedLines(a.in) })
	return func(ctx context.Context, question string, fresh bool) (string, error) {
		if fresh {
			console.Flush(a.in)
		}
		typed := reader()
		for fresh && len(typed) > 0 {
			<-typed
		}
		fmt.Fprint(a.err, question)
		select {
		case line, ok := <-typed:
			if !ok {
				return "", harness.ErrNoAnswer
			}
			return line, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// typedLines reads a terminal from now on. A line that nobody asks for is dropped
// by the next question.
func typedLines(f *os.File) <-chan string {
	out := make(chan string, 100)
	go func() {
		defer close(out)
		for in := bufio.NewScanner(f); in.Scan(); {
			select {
			case out <- in.Text():
			default: // a hundred lines ahead: no answers
			}
		}
	}()
	return out
}

// given reads an answer: its letter or word, and perhaps words for the agent.
func given(line string) (harness.Given, bool) {
	key, words, _ := strings.Cut(strings.TrimSpace(line), " ")
	g := harness.Given{Words: strings.TrimSpace(words)}
	switch strings.ToLower(key) {
	case "y", "yes":
		g.Answer = permit.Yes
	case "n", "no":
		g.Answer = permit.No
	case "always":
		g.Answer = permit.Always
	case "never":
		g.Answer = permit.NeverMore
	default:
		return g, false
	}
	return g, true
}
