package harness

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"amacs/consciousness"
	"amacs/harness/eval"
	"amacs/harness/journal"
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
	m.gate.why, m.gate.show = a.Monologue, show
	r := eval.Run(ctx, a.Eval, functions(m), nil, eval.DefaultLimits())
	for _, text := range r.Messages {
		show(Event{Notice, text})
	}
	out.Eval = consciousness.LastEval{Tick: m.Tick, Form: a.Eval, Success: r.Err == nil, Result: r.Text, Sources: strings.Join(m.sources, "; ")}
	if r.Err != nil {
		out.Eval.Result, out.Eval.Error = "", r.Err.Error()
		if errors.Is(ctx.Err(), context.Canceled) {
			out.Eval.Error = "interrupted by the human: " + out.Eval.Error
		}
	}
	if a.Continue && h.repeats(ctx, out) {
		m.looping = true
		out.warn(fmt.Sprintf("(You have done just this %d times in a row, with the same result. Try something else, or tell the human where you are stuck.)", loopMax))
	}
	return out
}

// loopMax is how often the same eval may give the same result in a row.
const loopMax = 3

// durations differ where nothing else does.
var durations = regexp.MustCompile(`\b\d+(\.\d+)?(h|m|s|ms|µs|ns)\b`)

// repeats says that the ticks before have done the same and seen the same.
func (h *Harness) repeats(ctx context.Context, out Outcome) bool {
	plain := func(body string) string { return strings.TrimSpace(durations.ReplaceAllString(body, "…")) }
	body, same := plain(evalBody(h.cleanOutcome(out).Eval)), 1
	for e, err := range h.journal.Log(ctx, journal.Query{Kind: "TICK", Max: loopMax - 1}) {
		if err != nil || plain(e.Body) != body {
			return false
		}
		same++
	}
	return same == loopMax
}
