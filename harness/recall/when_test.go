package recall

import (
	"testing"
	"time"
)

func TestWhen(t *testing.T) {
	now := time.Date(2026, 11, 21, 23, 30, 0, 0, time.FixedZone("CET", 3600)) // a Saturday
	const none = "-"
	for _, c := range []struct{ text, since, until, rest string }{
		{"what did we do yesterday?", "2026-11-20 00:00", "2026-11-21 00:00", "what did we do ?"},
		{"the day before yesterday", "2026-11-19 00:00", "2026-11-20 00:00", ""},
		{"today's notes", "2026-11-21 00:00", "2026-11-22 00:00", "'s notes"},
		{"decisions of last week", "2026-11-09 00:00", "2026-11-16 00:00", "decisions of"},
		{"this week", "2026-11-16 00:00", "2026-11-23 00:00", ""},
		{"last month", "2026-10-01 00:00", "2026-11-01 00:00", ""},
		{"last year", "2025-01-01 00:00", "2026-01-01 00:00", ""},
		{"bugs in March", "2026-03-01 00:00", "2026-04-01 00:00", "bugs"},
		{"bugs in December", "2025-12-01 00:00", "2026-01-01 00:00", "bugs"},
		{"in May 2024 we moved", "2024-05-01 00:00", "2024-06-01 00:00", "we moved"},
		{"March 3rd, 2025", "2025-03-03 00:00", "2025-03-04 00:00", ""},
		{"on 3 December", "2025-12-03 00:00", "2025-12-04 00:00", ""},
		{"2026-11 releases", "2026-11-01 00:00", "2026-12-01 00:00", "releases"},
		{"on 2026-11-03", "2026-11-03 00:00", "2026-11-04 00:00", ""},
		{"since 2026-11-03", "2026-11-03 00:00", none, ""},
		{"after last week", "2026-11-16 00:00", none, ""},
		{"before March 2025", none, "2025-03-01 00:00", ""},
		{"until yesterday", none, "2026-11-21 00:00", ""},
		{"in 2024", "2024-01-01 00:00", "2025-01-01 00:00", ""},
		{"two months ago", "2026-09-01 00:00", "2026-10-01 00:00", ""},
		{"3 days ago", "2026-11-18 00:00", "2026-11-19 00:00", ""},
		{"in the last 3 days", "2026-11-18 23:30", "2026-11-21 23:30", ""},
		{"the past two hours", "2026-11-21 21:30", "2026-11-21 23:30", ""},
		{"on Monday", "2026-11-16 00:00", "2026-11-17 00:00", ""},
		{"last Saturday", "2026-11-14 00:00", "2026-11-15 00:00", ""},
	} {
		span, rest, ok := When(c.text, now)
		show := func(at time.Time) string {
			if at.IsZero() {
				return none
			}
			return at.In(now.Location()).Format("2006-01-02 15:04")
		}
		if !ok || show(span.Since) != c.since || show(span.Until) != c.until || rest != c.rest {
			t.Errorf("%q: %s to %s, %q, %v; want %s to %s, %q", c.text, show(span.Since), show(span.Until), rest, ok, c.since, c.until, c.rest)
		}
	}
	for _, text := range []string{"", "we may march on", "the week was long", "port 5432", "in 5432", "on 2026-13-45", "version 2026", "sunday clothes"} {
		if span, rest, ok := When(text, now); ok || rest != text {
			t.Errorf("%q names no time; got %v, %q", text, span, rest)
		}
	}
}

func FuzzWhen(f *testing.F) {
	f.Add("what happened on the 3rd of March 2025 or two weeks ago", int64(1795300000))
	f.Add("since last friday", int64(0))
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		now := time.Unix(unix%4e9, 0).UTC()
		span, rest, ok := When(text, now)
		switch {
		case !ok && (rest != text || span != Span{}):
			t.Fatalf("%q: no time, and yet %v, %q", text, span, rest)
		case ok && !span.Since.IsZero() && !span.Until.IsZero() && !span.Since.Before(span.Until):
			t.Fatalf("%q: from %v to %v", text, span.Since, span.Until)
		}
	})
}
