package recall

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Span is a time from Since on and before Until; the zero time is open.
type Span struct{ Since, Until time.Time }

// When reads the first time that a question names ("yesterday", "last week",
// "in March", "since 2026-11-03", "two months ago") and returns it, in now's
// zone, with the question without it. Weeks begin on Monday. A month or a
// weekday without a year is the last one that has begun.
func When(text string, now time.Time) (span Span, rest string, ok bool) {
	at := -1
	wrong := map[int]bool{} // where there is no such date; a part of it is none either
	for _, p := range phrases {
		for _, m := range p.re.FindAllStringSubmatchIndex(text, -1) {
			if at >= 0 && m[0] >= at {
				break
			}
			groups := make([]string, len(m)/2)
			for i := range groups {
				if m[2*i] >= 0 {
					groups[i] = strings.ToLower(text[m[2*i]:m[2*i+1]])
				}
			}
			s, valid := p.span(groups[2:], now)
			if !valid {
				wrong[m[0]] = true
			}
			if wrong[m[0]] {
				continue
			}
			span, at, ok = bounded(groups[1], s), m[0], true
			rest = strings.TrimSpace(strings.TrimSpace(text[:m[0]]) + " " + strings.TrimLeft(text[m[1]:], " ,"))
			break
		}
	}
	if !ok {
		return Span{}, text, false
	}
	return span, rest, true
}

// bounded is the span that a word before a time makes of it.
func bounded(word string, s Span) Span {
	switch word {
	case "since", "from":
		return Span{Since: s.Since}
	case "after":
		return Span{Since: s.Until}
	case "before":
		return Span{Until: s.Since}
	case "until", "till":
		return Span{Until: s.Until}
	}
	return s
}

const (
	lead    = `(?i)\b(?:(since|from|after|before|until|till|in|on|at|during|over|within|for)\s+)?(?:the\s+)?`
	must    = `(?i)\b(since|from|after|before|until|till|in|on|during|last)\s+`
	months  = `(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`
	days    = `(monday|tuesday|wednesday|thursday|friday|saturday|sunday)`
	numbers = `(\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|couple of|few)`
	units   = `(hour|day|week|month|year)s?`
)

// phrases are the ways to name a time. Of two that begin at the same place the
// first one counts. The first group is the word before it.
var phrases = []struct {
	re   *regexp.Regexp
	span func(m []string, now time.Time) (Span, bool)
}{
	{regexp.MustCompile(lead + `(\d{4})-(\d{2})-(\d{2})\b`), func(m []string, now time.Time) (Span, bool) {
		return dayOf(num(m[0]), num(m[1]), num(m[2]), now)
	}},
	{regexp.MustCompile(lead + `(\d{4})-(\d{2})\b`), func(m []string, now time.Time) (Span, bool) {
		return monthOf(num(m[0]), num(m[1]), now)
	}},
	{regexp.MustCompile(lead + months + `\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?\b`), func(m []string, now time.Time) (Span, bool) {
		return dayInMonth(month(m[0]), num(m[1]), num(m[2]), now)
	}},
	{regexp.MustCompile(lead + `(\d{1,2})(?:st|nd|rd|th)?\s+(?:of\s+)?` + months + `(?:,?\s+(\d{4}))?\b`), func(m []string, now time.Time) (Span, bool) {
		return dayInMonth(month(m[1]), num(m[0]), num(m[2]), now)
	}},
	{regexp.MustCompile(lead + months + `\s+(\d{4})\b`), func(m []string, now time.Time) (Span, bool) {
		return monthOf(num(m[1]), month(m[0]), now)
	}},
	{regexp.MustCompile(must + months + `\b`), func(m []string, now time.Time) (Span, bool) {
		y, mo := now.Year(), month(m[0])
		if mo > int(now.Month()) {
			y--
		}
		return monthOf(y, mo, now)
	}},
	{regexp.MustCompile(must + `(\d{4})\b`), func(m []string, now time.Time) (Span, bool) {
		y := num(m[0])
		return Span{date(y, 1, 1, now), date(y+1, 1, 1, now)}, y >= 1970 && y <= now.Year()
	}},
	{regexp.MustCompile(lead + `day before yesterday\b`), func(_ []string, now time.Time) (Span, bool) { return daysBack(2, now), true }},
	{regexp.MustCompile(lead + `(?:yesterday|last night)\b`), func(_ []string, now time.Time) (Span, bool) { return daysBack(1, now), true }},
	{regexp.MustCompile(lead + `(?:today|tonight|this (?:morning|afternoon|evening))\b`), func(_ []string, now time.Time) (Span, bool) {
		return daysBack(0, now), true
	}},
	{regexp.MustCompile(lead + `(?:last|past)\s+` + numbers + `\s+` + units + `\b`), func(m []string, now time.Time) (Span, bool) {
		return Span{back(now, count(m[0]), m[1]), now}, true
	}},
	{regexp.MustCompile(lead + numbers + `\s+` + units + `\s+ago\b`), func(m []string, now time.Time) (Span, bool) {
		return unitOf(back(now, count(m[0]), m[1]), m[1]), true
	}},
	{regexp.MustCompile(lead + `(this|last|past|previous)\s+(week|month|year)\b`), func(m []string, now time.Time) (Span, bool) {
		if m[0] == "this" {
			return unitOf(now, m[1]), true
		}
		begun := unitOf(now, m[1]).Since
		return unitOf(begun.AddDate(0, 0, -1), m[1]), true
	}},
	{regexp.MustCompile(must + `(?:last\s+)?` + days + `\b`), func(m []string, now time.Time) (Span, bool) {
		for back := 1; ; back++ {
			if s := daysBack(back, now); strings.ToLower(s.Since.Weekday().String()) == m[0] {
				return s, true
			}
		}
	}},
}

func num(s string) int {
	n, _ := strconv.Atoi(s) // digits by the expression; nothing is zero
	return n
}

func count(s string) int {
	for i, w := range strings.Fields("one two three four five six seven eight nine ten eleven twelve") {
		if w == s {
			return i + 1
		}
	}
	switch s {
	case "a", "an":
		return 1
	case "couple of":
		return 2
	case "few":
		return 3
	}
	return num(s)
}

func month(s string) int {
	return strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", s[:3])/3 + 1
}

func date(y, m, d int, now time.Time) time.Time {
	return time.Date(y, time.Month(m), d, 0, 0, 0, 0, now.Location())
}

func dayOf(y, m, d int, now time.Time) (Span, bool) {
	s := Span{date(y, m, d, now), date(y, m, d+1, now)}
	return s, s.Since.Day() == d && int(s.Since.Month()) == m
}

func dayInMonth(m, d, y int, now time.Time) (Span, bool) {
	if y == 0 {
		if y = now.Year(); date(y, m, d, now).After(now) {
			y--
		}
	}
	return dayOf(y, m, d, now)
}

func monthOf(y, m int, now time.Time) (Span, bool) {
	return Span{date(y, m, 1, now), date(y, m+1, 1, now)}, m >= 1 && m <= 12
}

func daysBack(n int, now time.Time) Span {
	y, m, d := now.Date()
	return Span{date(y, int(m), d-n, now), date(y, int(m), d-n+1, now)}
}

// back is a time so many units before now.
func back(now time.Time, n int, unit string) time.Time {
	switch unit {
	case "hour":
		return now.Add(-time.Duration(n) * time.Hour)
	case "day":
		return now.AddDate(0, 0, -n)
	case "week":
		return now.AddDate(0, 0, -7*n)
	case "month":
		return now.AddDate(0, -n, 0)
	}
	return now.AddDate(-n, 0, 0)
}

// unitOf is the hour, day, week, month or year that a time is in.
func unitOf(t time.Time, unit string) Span {
	y, m, d := t.Date()
	switch unit {
	case "hour":
		h := t.Truncate(time.Hour)
		return Span{h, h.Add(time.Hour)}
	case "day":
		return Span{date(y, int(m), d, t), date(y, int(m), d+1, t)}
	case "week":
		d -= (int(t.Weekday()) + 6) % 7
		return Span{date(y, int(m), d, t), date(y, int(m), d+7, t)}
	case "month":
		return Span{date(y, int(m), 1, t), date(y, int(m)+1, 1, t)}
	}
	return Span{date(y, 1, 1, t), date(y+1, 1, 1, t)}
}
