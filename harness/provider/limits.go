package provider

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// limits reads the rate limits out of an answer's header.
//
//	anthropic-ratelimit-input-tokens-remaining: 39000
//	anthropic-ratelimit-input-tokens-reset: 2026-11-21T19:00:00Z
//	x-ratelimit-remaining-requests: 59
//	x-ratelimit-reset-requests: 6m0s
//
// Anthropic's reset is a date (RFC 3339); OpenAI's the time left; others send
// seconds, or the time since 1970 in seconds or milliseconds.
func limits(h http.Header, now time.Time) (out []Limit) {
	for _, kind := range []string{"requests", "tokens", "input-tokens", "output-tokens"} {
		for _, name := range []func(string) string{
			func(what string) string { return "anthropic-ratelimit-" + kind + "-" + what },
			func(what string) string { return "x-ratelimit-" + what + "-" + kind },
		} {
			remaining, err := strconv.Atoi(h.Get(name("remaining")))
			if err != nil || remaining < 0 {
				continue
			}
			limit, _ := strconv.Atoi(h.Get(name("limit"))) // 0 = not said
			reset, _ := resetTime(h.Get(name("reset")), now)
			out = append(out, Limit{Kind: kind, Limit: max(limit, 0), Remaining: remaining, Reset: reset})
			break
		}
	}
	return out
}

// resetTime reads when a limit is whole again; now is the time of the answer.
func resetTime(text string, now time.Time) (time.Time, bool) {
	text = strings.TrimSpace(text)
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, true
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(d), true
	}
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !(n >= 0 && n <= 1e14): // NaN is neither
		return time.Time{}, false
	case n >= 1e11:
		return time.UnixMilli(int64(n)), true
	case n >= 1e9:
		return time.Unix(int64(n), 0), true
	}
	return now.Add(time.Duration(n * float64(time.Second))), true
}
