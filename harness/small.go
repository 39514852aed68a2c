package harness

import (
	"context"
	"fmt"
	"time"

	"amacs/harness/ledger"
	"amacs/harness/provider"
)

// Small is a question to the fast model, beside the ticks: one call, no commit,
// nothing remembered but its cost.
type Small struct {
	Source    ledger.Source // assist, suggest, extract, compact, judge
	System    string
	Text      string
	MaxTokens int // 200 for what a human waits for, 500 for other work; 0 = 200
}

// How long a small question may take.
const (
	smallStream = 10 * time.Second // where somebody reads along
	smallWhole  = 15 * time.Second
	smallTokens = 200
)

// Ask asks a small question. stream may be nil.
func (h *Harness) Ask(ctx context.Context, q Small, stream func(string)) (resp provider.Response, spent charge, err error) {
	if _, err := h.Ready(ctx); err != nil {
		return resp, spent, err
	}
	s := h.settings.Load()
	name := s.config.FastModel
	if name == "" {
		name = s.chosen.Model
	}
	m, err := s.model(name)
	if err != nil {
		return resp, spent, err
	}
	limit := smallWhole
	if stream != nil {
		limit = smallStream
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s did not answer within %s", m.Name(), limit))
	defer cancel()
	req := provider.Request{System: q.System, Blocks: []provider.Block{{Text: q.Text}}, Settings: provider.Settings{Temperature: 1, TopP: 1, MaxTokens: q.MaxTokens}}
	if req.Settings.MaxTokens == 0 {
		req.Settings.MaxTokens = smallTokens
	}
	resp, spent, _, err = h.spend(ctx, q.Source, m, req, stream)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return resp, spent, err
}

// Checked is what came of asking whether a model answers.
type Checked struct {
	Model string        `json:"model"`
	Text  string        `json:"text"`
	Took  time.Duration `json:"took"`
	In    int           `json:"tokens_in"`
	Out   int           `json:"tokens_out"`
	USD   *float64      `json:"usd"` // null where no price is known
}

// Check asks the fast model for one word.
func (h *Harness) Check(ctx context.Context) (Checked, error) {
	began := time.Now()
	resp, spent, err := h.Ask(ctx, Small{Source: "assist", System: "You are asked whether you can be reached.", Text: "Answer with the one word: ready"}, nil)
	if err != nil {
		return Checked{}, err
	}
	c := Checked{Model: resp.Model, Text: resp.Text, Took: time.Since(began).Round(time.Millisecond), In: spent.In, Out: spent.Out}
	if !spent.Unpriced {
		c.USD = &spent.USD
	}
	return c, nil
}

// Spent is "21 tokens in, 3 out, $0.0001".
func (c Checked) Spent() string {
	cost := "price not known"
	if c.USD != nil {
		cost = ledger.Dollars(*c.USD)
	}
	return ledger.Tokens(c.In, 0, c.Out) + ", " + cost
}
