package repl

import (
	"context"
	"errors"
	"time"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
	"amacs/harness/permit"
)

// givens are the answers by their keys.
var givens = map[rune]permit.Given{'y': permit.Yes, 'n': permit.No, 'A': permit.Always, 'N': permit.NeverMore}

// ask puts a question of the gate to the human. The diff of an edit is shown
// with it. Other lines that are typed meanwhile are heard by the next tick.
func (v *voice) ask(ctx context.Context, q harness.Question) (harness.Given, error) {
	v.mu.Lock()
	v.close()
	v.doing = "asking"
	text := q.Text
	if q.Diff != "" {
		text = q.Diff + "\n" + text
	}
	text = v.sentences(console.Bare(text))
	v.mu.Unlock()
	key, err := v.con.Ask(ctx, text, "ynAN", "yes", "no", "always", "never")
	v.mu.Lock()
	v.doing = "evaluating"
	v.mu.Unlock()
	if errors.Is(err, console.ErrNoAnswer) {
		err = harness.ErrNoAnswer
	}
	return harness.Given{Answer: givens[key]}, err
}

// summary ends a conversation that did more than reply.
func (v *voice) summary(ticks []harness.Report, took time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s := harness.Summary(ticks, took); s != "" {
		v.notice("· " + s)
	}
}
