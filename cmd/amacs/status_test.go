package main

import (
	"testing"
	"time"

	"amacs/harness/ledger"
)

func TestLimitText(t *testing.T) {
	now := time.Date(2026, 11, 21, 14, 30, 0, 0, time.Local)
	for _, c := range []struct {
		limit ledger.Limit
		want  string
	}{
		{ledger.Limit{Kind: "requests", Limit: 50, Remaining: 42, Reset: now.Add(time.Minute)}, "x: 42 of 50 requests left, whole again at 14:31:00"},
		{ledger.Limit{Kind: "tokens", Remaining: 900, Reset: now.Add(24 * time.Hour)}, "x: 900 tokens left, whole again at 2026-11-22 14:30:00"},
		{ledger.Limit{Kind: "tokens", Limit: 1000, Remaining: 900, Seen: now}, "x: 900 of 1000 tokens left at 2026-11-21 14:30:00"},
		{ledger.Limit{Kind: ledger.RetryAfter, Reset: now.Add(time.Second)}, "x: asked for no more calls until 14:30:01"},
		{ledger.Limit{Kind: ledger.RetryAfter, Reset: now}, ""},
		{ledger.Limit{Kind: "requests", Limit: 50, Remaining: 42, Reset: now.Add(-time.Hour)}, ""},
	} {
		if got := limitText("x", c.limit, now); got != c.want {
			t.Errorf("%+v: %q, want %q", c.limit, got, c.want)
		}
	}
}
