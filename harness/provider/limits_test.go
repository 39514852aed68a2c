package provider

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
)

func TestLimits(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	header := func(lines ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(lines); i += 2 {
			h.Set(lines[i], lines[i+1])
		}
		return h
	}
	for name, c := range map[string]struct {
		h    http.Header
		want []Limit
	}{
		"none": {nil, nil},
		"anthropic": {header("anthropic-ratelimit-requests-limit", "50", "anthropic-ratelimit-requests-remaining", "49", "anthropic-ratelimit-requests-reset", "2026-11-21T12:00:30Z",
			"anthropic-ratelimit-output-tokens-limit", "8000", "anthropic-ratelimit-output-tokens-remaining", "0", "anthropic-ratelimit-output-tokens-reset", "2026-11-21T13:01:00+01:00"),
			[]Limit{{"requests", 50, 49, now.Add(30 * time.Second)}, {"output-tokens", 8000, 0, now.Add(time.Minute)}}},
		"openai": {header("x-ratelimit-limit-requests", "60", "x-ratelimit-remaining-requests", "59", "x-ratelimit-reset-requests", "120ms",
			"x-ratelimit-limit-tokens", "150000", "x-ratelimit-remaining-tokens", "149984", "x-ratelimit-reset-tokens", "6m0s"),
			[]Limit{{"requests", 60, 59, now.Add(120 * time.Millisecond)}, {"tokens", 150000, 149984, now.Add(6 * time.Minute)}}},
		"nonsense": {header("x-ratelimit-limit-requests", "many", "x-ratelimit-remaining-requests", "-1", "x-ratelimit-remaining-tokens", "7", "x-ratelimit-reset-tokens", "soon"),
			[]Limit{{Kind: "tokens", Remaining: 7}}},
	} {
		got := limits(c.h, now)
		if !slices.EqualFunc(got, c.want, func(a, b Limit) bool {
			return a.Kind == b.Kind && a.Limit == b.Limit && a.Remaining == b.Remaining && a.Reset.Equal(b.Reset)
		}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for text, want := range map[string]time.Duration{"30": 30 * time.Second, "1.5s": 1500 * time.Millisecond, fmt.Sprint(now.Unix() + 9): 9 * time.Second,
		fmt.Sprint(now.UnixMilli() + 9): 9 * time.Millisecond, "-1s": -1, "": -1, "NaN": -1, "1e300": -1} {
		got, ok := resetTime(text, now)
		if ok != (want >= 0) || ok && !got.Equal(now.Add(want)) {
			t.Errorf("%q: %v, %v", text, got, ok)
		}
	}
}
