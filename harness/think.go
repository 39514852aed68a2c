package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"amacs/harness/provider"
	"amacs/harness/reply"
)

// maxRetries is how often a reply that can not be read is asked for again (RFC
// v4 §2.4).
const maxRetries = 2

// think asks the model, at most three times, until a reply can be read.
func (h *Harness) think(ctx context.Context, view View, show Show) Answer {
	h.step("think")
	show(Event{Kind: Thinking})
	req := view.request()
	var used provider.Usage
	for try := 0; ; try++ {
		a, resp := h.ask(ctx, req, show)
		used.In, used.Cached, used.Out = used.In+resp.Usage.In, used.Cached+resp.Usage.Cached, used.Out+resp.Usage.Out
		a.Model = resp.Model
		if a.Model == "" {
			a.Model = h.model.Name()
		}
		a.Tokens = fmt.Sprintf("%d in, %d cached, %d out", used.In, used.Cached, used.Out)
		var problem *reply.Problem
		if !errors.As(a.Err, &problem) {
			return a
		}
		if try == maxRetries {
			show(Event{Withdrawn, fmt.Sprintf("(not valid JSON: %s; gave up after %d retries)", problem.Reason, maxRetries)})
			a.Outcome, a.Err = "unparsed", nil
			return a
		}
		show(Event{Withdrawn, fmt.Sprintf("(not valid JSON: %s; asking again %d/%d)", problem.Reason, try+1, maxRetries)})
		req.Retry = append(req.Retry,
			provider.Turn{Role: "assistant", Text: a.Raw},
			provider.Turn{Role: "user", Text: reply.RetryMessage(problem, a.Raw)})
	}
}

// ask makes one call. A reply that can not be read comes back with a
// *reply.Problem as its Err.
func (h *Harness) ask(ctx context.Context, req provider.Request, show Show) (Answer, provider.Response) {
	var stream reply.Stream
	var shown strings.Builder
	resp, err := h.model.Complete(ctx, req, func(text string) {
		if piece := stream.Write(text); piece != "" {
			shown.WriteString(piece)
			show(Event{Chunk, piece})
		}
	})
	a := Answer{Raw: resp.Text, Partial: shown.String()}
	switch {
	case err != nil && (ctx.Err() != nil || provider.Classify(err) == provider.Cancelled):
		a.Outcome = "interrupted"
	case err != nil:
		a.Outcome, a.Err = "failed", err
		if a.Partial != "" {
			show(Event{Withdrawn, "(the reply broke off)"})
		}
	default:
		a.Reply, a.Err = reply.Parse(resp.Text)
		a.Outcome = "replied"
		if strings.TrimSpace(a.Text) == "" {
			a.Outcome, a.Text = "silent", ""
		}
	}
	return a, resp
}
