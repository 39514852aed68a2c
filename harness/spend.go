package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"amacs/harness/ledger"
	"amacs/harness/provider"
)

// charge is what calls cost.
type charge struct {
	provider.Usage
	USD      float64
	Unpriced bool // some of it has no known price
}

func (c *charge) add(other charge) {
	c.In, c.Cached, c.Written, c.Out = c.In+other.In, c.Cached+other.Cached, c.Written+other.Written, c.Out+other.Out
	c.USD, c.Unpriced = math.Round((c.USD+other.USD)*1e9)/1e9, c.Unpriced || other.Unpriced // in whole nano-dollars, as in the ledger
}

// tokens is the Tokens trailer.
func (c charge) tokens() string {
	return fmt.Sprintf("%d in, %d cached, %d out", c.In, c.Cached, c.Out)
}

// cost is the Cost-USD trailer.
func (c charge) cost() string {
	if c.Unpriced && c.USD == 0 {
		return "unknown"
	}
	return strconv.FormatFloat(c.USD, 'f', -1, 64)
}

// spend makes one call of a model, metered: its worst case is booked before, what
// it cost after. A call that the caps do not allow is not made, and its error is
// a *ledger.Exceeded.
func (h *Harness) spend(ctx context.Context, source ledger.Source, m provider.Model, req provider.Request, stream func(string)) (provider.Response, charge, []string, error) {
	f := m.Facts()
	if f.Provider == "offline" { // no model: there is nothing to book
		resp, err := m.Complete(ctx, req, stream)
		return resp, charge{Usage: resp.Usage}, nil, err
	}
	worst := ledger.Worst{Source: source, Provider: f.Provider, Model: f.Model, In: atMost(req), Out: req.Settings.MaxTokens, Free: h.billing(f) == provider.Free}
	if f.MaxUSD > 0 {
		worst.USD = &f.MaxUSD
	}
	if err := h.carry(ctx); err != nil {
		return provider.Response{}, charge{}, nil, err
	}
	booked, err := h.Ledger().Reserve(ctx, worst)
	if err != nil {
		return provider.Response{}, charge{}, nil, err
	}
	h.step("reserved")
	began := time.Now()
	resp, err := m.Complete(ctx, req, stream)
	call, limits := h.came(f, req, resp, err)
	call.Took = time.Since(began)
	h.step("answered")
	done, settleErr := booked.Settle(call)
	words := append(booked.Warnings, resp.Words...)
	if settleErr != nil {
		words = append(words, "what the call cost could not be written down; it counts at its worst case: "+settleErr.Error())
	}
	if e := h.Ledger().KeepLimits(f.Provider, limits); e != nil {
		words = append(words, "rate limits could not be kept: "+e.Error())
	}
	paid := charge{Usage: provider.Usage{In: done.In, Cached: done.Cached, Written: done.Written, Out: done.Out}}
	if done.USD != nil {
		paid.USD = *done.USD
	} else {
		paid.Unpriced = paid.Usage != (provider.Usage{})
	}
	return resp, paid, words, err
}

// came is what is to be booked of a call, as far as the provider tells, else by
// estimate, and the rate limits that it told.
func (h *Harness) came(f provider.Facts, req provider.Request, resp provider.Response, err error) (ledger.Call, []ledger.Limit) {
	c := ledger.Call{Model: strings.TrimPrefix(resp.Model, f.Provider+":"), USD: resp.Cost, Outcome: "ok"}
	used, limits := resp.Usage, asKept(resp.Limits)
	var e *provider.Error
	switch {
	case errors.As(err, &e):
		c.Outcome, c.USD = e.Class.String(), e.Cost
		used, limits = e.Usage, asKept(e.Limits)
		if e.RetryAfter > 0 {
			limits = append(limits, ledger.Limit{Kind: ledger.RetryAfter, Reset: h.now().Add(e.RetryAfter)})
		}
		if e.Began {
			if used.In == 0 {
				used.In = estimate(req)
			}
			used.Out = max(used.Out, min(len(e.Partial)/bytesPerToken, cmp.Or(req.Settings.MaxTokens, math.MaxInt)))
			if c.USD == nil && f.MaxUSD > 0 { // what a CLI had spent by then, nobody knows
				c.USD = &f.MaxUSD
			}
		}
	case err != nil:
		c.Outcome = provider.Classify(err).String()
	case used == (provider.Usage{}) && h.billing(f) != provider.Free:
		used.In, used.Out = estimate(req), len(resp.Text)/bytesPerToken
		c.Outcome = "ok, tokens estimated"
	}
	c.In, c.Cached, c.Written, c.Out = used.In, used.Cached, used.Written, used.Out
	return c, limits
}

// billing is who pays for a model. A server on this machine is free, unless the
// settings give its model a price: it may pass questions on.
func (h *Harness) billing(f provider.Facts) provider.Billing {
	if _, ok := h.Config().Prices[f.Model]; ok && f.Billing == provider.Free {
		return provider.PerToken
	}
	return f.Billing
}

func asKept(limits []provider.Limit) (out []ledger.Limit) {
	for _, l := range limits {
		out = append(out, ledger.Limit{Kind: l.Kind, Limit: l.Limit, Remaining: l.Remaining, Reset: l.Reset})
	}
	return out
}

// estimate guesses the tokens of a request; atMost is more than they will be.
func estimate(req provider.Request) int { return bytesOf(req) / bytesPerToken }
func atMost(req provider.Request) int   { return bytesOf(req) / 2 }

func bytesOf(req provider.Request) int {
	n := len(req.System) + len(req.Schema)
	for _, b := range req.Blocks {
		n += len(b.Text)
	}
	for _, t := range req.Retry {
		n += len(t.Text)
	}
	return n
}
