package harness

import (
	"context"
	"fmt"

	"amacs/harness/reply"
)

// Source says what set a tick off.
type Source string

// The sources of ticks.
const (
	Human    Source = "human"
	Continue Source = "continue"
)

// Input is a stimulus: what makes a tick.
type Input struct {
	Source Source
	Text   string // what the human said, "" for nothing new; what waits in the inbox is heard too
	Cwd    string // the folder of the face, which relative paths are meant from
	Chain  int    // how many continue ticks came before, in a row
	Ask    Asker  // puts questions to the human; nil: nobody is there
}

// Event is progress worth showing while a tick runs.
type Event struct {
	Kind EventKind
	Text string
}

// EventKind tells events apart.
type EventKind int

// The kinds of event.
const (
	Notice    EventKind = iota // a sentence for the human
	Thinking                   // the model is being asked
	Chunk                      // a piece of the reply, as it arrives
	Withdrawn                  // what was streamed does not count; Text says why
	Acting                     // an eval runs
	Running                    // a command or a tool runs
)

// Show is told of progress; it must not block for long.
type Show func(Event)

// Report is what came of a tick.
type Report struct {
	Tick      int       `json:"tick"`
	Outcome   string    `json:"outcome"` // replied, silent, interrupted, unparsed, failed
	Reply     string    `json:"reply"`
	Monologue string    `json:"monologue"`
	Mood      string    `json:"mood"`
	Thread    string    `json:"thread,omitempty"`
	Continue  bool      `json:"continue"`
	Eval      *EvalDone `json:"eval,omitempty"`
	Edited    []string  `json:"edited,omitempty"` // files outside of the home that were changed
	Ran       int       `json:"ran,omitempty"`    // commands and tools that ran
	Notices   []string  `json:"notices,omitempty"`
	Model     string    `json:"model"`
	In        int       `json:"tokens_in"`
	Cached    int       `json:"tokens_cached"`
	Out       int       `json:"tokens_out"`
	CostUSD   *float64  `json:"cost_usd"` // null where no price is known
	Heard     int       `json:"-"`        // lines of the human that this tick took up
	Waiting   int       `json:"-"`        // lines of the human that had no answer when it began
	Failure   error     `json:"-"`        // why no reply came, for outcome failed
	Raw       string    `json:"-"`        // what the model sent, for outcome unparsed
}

// EvalDone is what an eval gave.
type EvalDone struct {
	Form    string `json:"form"`
	Success bool   `json:"success"`
	Result  string `json:"result,omitempty"`
	Error   string `json:"error,omitempty"`
}

// Tick carries one input through the mind. When it returns, the home is where it
// was, with what the human said kept, or one commit further on. Cancelling ctx
// while the model is asked ends the tick with a commit that says so.
func (h *Harness) Tick(ctx context.Context, in Input, show Show) (Report, error) {
	words, err := h.Ready(ctx)
	if err != nil {
		return Report{}, err
	}
	if err := h.keep(&in); err != nil {
		return Report{}, err
	}
	release, err := h.lease(ctx, show)
	if err != nil {
		return Report{}, err
	}
	defer release()
	mind, err := h.wake(ctx, in, words)
	if err != nil {
		return Report{}, err
	}
	mind.tell(show)
	mind.settleRequests(ctx, show)
	view := see(mind)
	answer := h.think(ctx, mind, view, show)
	outcome := act(ctx, h, mind, answer, show)
	remember(mind, h.cleanAnswer(answer), h.cleanOutcome(outcome))
	return h.commit(context.WithoutCancel(ctx), mind, answer, outcome)
}

// keep puts what the human said into the inbox, so that nothing that follows can
// lose it, a Ctrl-C included.
func (h *Harness) keep(in *Input) error {
	if in.Text == "" {
		return nil
	}
	if err := h.Post(context.Background(), in.Text); err != nil {
		return fmt.Errorf("keeping what you said, which is not heard: %w", err)
	}
	h.step("kept")
	in.Text = ""
	return nil
}

// lease takes the tick lease, waiting for a tick that another face runs.
func (h *Harness) lease(ctx context.Context, show Show) (func(), error) {
	return h.home.Lease(ctx, func(holder string) {
		show(Event{Notice, "waiting for the tick of " + holder + "; your line is kept"})
	})
}

// Converse runs a tick and those that it asks for with continue, up to the
// limit that the mind sets. each is told of every report as it comes.
func (h *Harness) Converse(ctx context.Context, in Input, show Show, each func(Report)) error {
	for {
		report, err := h.Tick(ctx, in, show)
		if err != nil {
			return err
		}
		each(report)
		if !report.Continue || ctx.Err() != nil {
			return nil
		}
		chain := in.Chain + 1
		if report.Heard > 0 {
			chain = 1
		}
		in = Input{Source: Continue, Cwd: in.Cwd, Chain: chain, Ask: in.Ask}
	}
}

// Answer is what came of asking the model.
type Answer struct {
	reply.Reply
	Outcome string // replied, silent, interrupted, unparsed, failed
	Raw     string // the model's text, whole
	Partial string // what was streamed of a reply that did not end
	Err     error  // for failed
	Model   string
	Spent   charge
}
