package harness

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"amacs/harness/ledger"
	"amacs/harness/provider"
	"amacs/harness/reply"
)

// maxRetries is how often a reply that can not be read is asked for again (RFC
// v4 §2.4).
const maxRetries = 2

// think asks the model, at most three times, until a reply can be read. A
// prompt that proves too long is trimmed further, once.
func (h *Harness) think(ctx context.Context, m *Mind, v View, show Show) Answer {
	h.step("think")
	show(Event{Kind: Thinking})
	var spent charge
	req, shorter := v.veiled(h.Clean).request(), false
	for try := 0; ; {
		a := h.ask(ctx, m, req, show)
		spent.add(a.Spent)
		a.Spent = spent
		if provider.Classify(a.Err) == provider.TooLong && !shorter {
			show(Event{Notice, fmt.Sprintf("(the prompt is too long for %s; asking again with less)", m.model.Name())})
			req, shorter = fit(m, v.bytes()*6/10).veiled(h.Clean).request(), true
			continue
		}
		var problem *reply.Problem
		if !errors.As(a.Err, &problem) {
			return a
		}
		if try == maxRetries {
			show(Event{Withdrawn, fmt.Sprintf("(not valid JSON: %s; gave up after %d retries)", problem.Reason, maxRetries)})
			a.Outcome, a.Err = "unparsed", nil
			return a
		}
		try++
		show(Event{Withdrawn, fmt.Sprintf("(not valid JSON: %s; asking again %d/%d)", problem.Reason, try, maxRetries)})
		req.Retry = append(req.Retry,
			provider.Turn{Role: "assistant", Text: a.Raw},
			provider.Turn{Role: "user", Text: reply.RetryMessage(problem, a.Raw)})
	}
}

// ask gets one answer, making the call anew where a fault may pass. A reply that
// can not be read comes back with a *reply.Problem as its Err.
func (h *Harness) ask(ctx context.Context, m *Mind, req provider.Request, show Show) Answer {
	var spent charge
	for n := 1; ; n++ {
		a := h.call(ctx, m, req, show)
		spent.add(a.Spent)
		a.Spent = spent
		wait, again := provider.Again(a.Err, n)
		if !again {
			return a
		}
		show(Event{Notice, fmt.Sprintf("(%s; asking again in %s, %d/%d)", short(a.Err), wait.Round(100*time.Millisecond), n+1, provider.Attempts)})
		if h.pause(ctx, wait); ctx.Err() != nil {
			a.Outcome, a.Err = "interrupted", nil
			return a
		}
	}
}

// call makes one call.
func (h *Harness) call(ctx context.Context, m *Mind, req provider.Request, show Show) Answer {
	var stream reply.Stream
	var shown strings.Builder
	resp, spent, words, err := h.spend(ctx, ledger.Source(m.Source), m.model, req, func(text string) {
		if piece := stream.Write(text); piece != "" {
			shown.WriteString(piece)
			show(Event{Chunk, piece})
		}
	})
	a := Answer{Raw: most(resp.Text), Partial: shown.String(), Model: answered(m.model, resp.Model), Spent: spent}
	for _, w := range words {
		show(Event{Notice, w})
	}
	switch {
	case err != nil && (ctx.Err() != nil || provider.Classify(err) == provider.Cancelled):
		a.Outcome = "interrupted"
	case err != nil:
		a.Outcome, a.Err, a.Partial = "failed", err, most(a.Partial)
		if a.Partial != "" {
			show(Event{Withdrawn, "(the reply broke off)"})
		}
	default:
		a.Reply, a.Err = reply.Parse(resp.Text)
		var problem *reply.Problem
		if errors.As(a.Err, &problem) && resp.Stop == "max_tokens" {
			problem.Reason = "it reached the length that max-tokens in api-settings allows; make it shorter"
		}
		a.Outcome = "replied"
		if strings.TrimSpace(a.Text) == "" {
			a.Outcome, a.Text = "silent", ""
		}
	}
	return a
}

// most is a text that was no reply, or not a whole one, as it is kept and sent
// back: a model or a server that runs away must not fill the chat.
func most(text string) string {
	const limit = 64 << 10
	if len(text) <= limit {
		return text
	}
	return fmt.Sprintf("%s\n[... and %d KB more ...]", strings.ToValidUTF8(text[:limit], ""), (len(text)-limit)>>10)
}

// short is an error of a model without what is said once it is given up.
func short(err error) string {
	var e *provider.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	return e.Provider + ": " + e.Err.Error()
}

// answered names the model of a commit: the provider, and which of its models
// says that it answered.
func answered(m provider.Model, said string) string {
	f := m.Facts()
	switch {
	case said == "" || said == f.Model:
		return m.Name()
	case f.Provider == "agent":
		name, _, _ := strings.Cut(f.Model, ":")
		return "agent:" + name + ":" + said
	case f.Provider == "script" || f.Provider == "offline":
		return said
	}
	return f.Provider + ":" + said
}
