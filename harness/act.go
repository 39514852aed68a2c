package harness

import (
	"context"
	"errors"

	"amacs/consciousness"
	"amacs/harness/eval"
)

// Outcome is what the reply's eval did. Its changes are in the mind's edits.
type Outcome struct {
	Eval consciousness.LastEval
}

// act evaluates the reply's form. An error in it is a fact that the agent sees
// on its next tick, not a failure of the tick (RFC v4 §7).
func act(ctx context.Context, h *Harness, m *Mind, a Answer, show Show) Outcome {
	h.step("act")
	out := Outcome{Eval: consciousness.LastEval{Tick: m.Tick, Skipped: true}}
	if a.Eval == "" {
		return out
	}
	show(Event{Kind: Acting, Text: a.Eval})
	r := eval.Run(ctx, a.Eval, functions(m), nil, eval.DefaultLimits())
	for _, text := range r.Messages {
		show(Event{Notice, text})
	}
	out.Eval = consciousness.LastEval{Tick: m.Tick, Form: a.Eval, Success: r.Err == nil, Result: r.Text}
	if r.Err != nil {
		out.Eval.Result, out.Eval.Error = "", r.Err.Error()
		if errors.Is(ctx.Err(), context.Canceled) {
			out.Eval.Error = "interrupted by the human: " + out.Eval.Error
		}
	}
	return out
}
