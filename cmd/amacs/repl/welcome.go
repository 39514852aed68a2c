package repl

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness/provider"
)

// welcome asks once, on a home where nobody has said who shall answer. The
// answer goes to config.yaml; without one the offline responder answers, and the
// question comes back with the next start.
func (r *repl) welcome(ctx context.Context) error {
	if !r.con.Interactive() || r.Harness.Configured() {
		return nil
	}
	var found []provider.Candidate
	for _, c := range r.Harness.Candidates(ctx) {
		if c.Ready && c.Provider != "offline" && len(found) < 9 {
			found = append(found, c)
		}
	}
	if len(found) == 0 {
		r.say("No key with a default model, no agent CLI and no local model server was found, so the built-in offline responder answers; `/doctor` tells what was looked for.")
		return nil
	}
	var b strings.Builder
	keys := "0"
	b.WriteString("Who shall answer? This was found here:\n")
	for i, c := range found {
		fmt.Fprintf(&b, "  %d  %s: %s; %s\n", i+1, c.Name(), c.Why, r.terms(c))
		keys += fmt.Sprint(i + 1)
	}
	b.WriteString("  0  nobody: the built-in offline responder, no model\nA number and Enter (Ctrl-C to decide later):")
	key, err := r.choose(ctx, b.String(), keys)
	if errors.Is(err, console.ErrNoAnswer) {
		r.say("the offline responder answers until then; this is asked again at the next start")
		return nil
	}
	if err != nil {
		return err
	}
	chosen := provider.Candidate{Provider: "offline"}
	if key != '0' {
		chosen = found[key-'1']
	}
	if err := r.Harness.Use(ctx, chosen); err != nil {
		return err
	}
	r.say(fmt.Sprintf("%s answers from now on; `/config provider` changes it", chosen.Name()))
	return nil
}

// choose asks until a line is one of keys. Another line is no answer, and no
// message either: it may be a slip of the key that chooses who is paid.
func (r *repl) choose(ctx context.Context, question, keys string) (key rune, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		key, err = r.con.Ask(ctx, r.voice.sentences(question), keys)
	}()
	for {
		select {
		case <-done:
			return key, err
		case e := <-r.con.Events():
			if _, ok := e.(console.Line); ok {
				r.say("that is none of the numbers, and nobody has heard it; Ctrl-C leaves the question")
				r.con.Next()
			} else {
				r.later = append(r.later, e)
			}
		}
	}
}

// terms say who pays.
func (r *repl) terms(c provider.Candidate) string {
	switch c.Billing {
	case provider.PerToken:
		return "billed by the token, at most " + r.Harness.Config().CapDay + " a day (cap-day)"
	case provider.Subscription:
		return "uses your own login there"
	}
	return "free"
}
