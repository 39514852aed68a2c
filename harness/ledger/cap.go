package ledger

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Caps are the caps by their names, those of [CapNames]. A missing one is off.
//
// lifetime, month and day hold for all calls together, the others for the calls
// of one source; assist also covers suggest, extract, compact, judge and embed.
type Caps map[string]Cap

// CapNames are the caps, in the order in which they are asked. In config.yaml
// each has "cap-" before it.
func CapNames() []string { return slices.Clone(capNames) }

var capNames = []string{"lifetime", "month", "day", "human", "continue", "ambient", "explore", "assist"}

// DefaultCaps are what holds where nothing is configured: 5 USD a day. A day is
// the span in which a mistake is noticed; the sum is a long day's talk with a
// large model, and a loop that runs wild ends at it. A month or a lifetime would
// stop a user at work for what was spent as intended.
func DefaultCaps() Caps { return Caps{"day": {{USD: 5, Period: Day}}} }

// covers says whether a cap counts the calls of a source.
func covers(name string, s Source) bool {
	if name == "assist" {
		return slices.Contains([]Source{Assist, Suggest, Extract, Compact, Judge, Embed}, s)
	}
	return coversAll(name) || name == string(s)
}

// coversAll says whether a cap counts the calls of every source.
func coversAll(name string) bool { return name == "lifetime" || name == "month" || name == "day" }

// Cap is a limit, or several that hold at once. nil is off.
type Cap []Bound

// Bound is the most of one unit in one period: USD, or tokens (in and out).
type Bound struct {
	USD    float64 // 0 = the bound is in tokens
	Tokens int     // 0 = the bound is in USD
	Period Period
}

// Period is the time in which a bound counts.
type Period string

// The periods, as they stand in a cap's text.
const (
	Day   Period = "a day"
	Month Period = "a month"
	Ever  Period = "ever"
)

var boundText = regexp.MustCompile(`^(\$?)\s*([0-9]+(?:\.[0-9]+)?)\s*((?i:usd|tokens?)?)(?:\s+(a day|a month|ever))?$`)

// ParseCap reads the text of a cap, which is named since some imply a period:
//
//	off
//	5                            USD in the cap's own period
//	$5
//	200000 tokens
//	1 USD a day, 20 USD a month, 100 USD ever
//
// The caps lifetime, month and day have that period only; those of a source have
// any, a day where none is said. [Cap.String] prints it back.
func ParseCap(name, text string) (Cap, error) {
	if !slices.Contains(capNames, name) {
		return nil, fmt.Errorf("there is no cap %q; they are %s", name, strings.Join(capNames, ", "))
	}
	if strings.TrimSpace(text) == "off" {
		return nil, nil
	}
	var c Cap
	for _, part := range strings.Split(text, ",") {
		b, err := parseBound(name, strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("cap-%s: %w", name, err)
		}
		for _, other := range c {
			if other.Period == b.Period && (other.USD > 0) == (b.USD > 0) {
				return nil, fmt.Errorf("cap-%s: %s and %s contradict each other", name, other, b)
			}
		}
		c = append(c, b)
	}
	return c, nil
}

var errZero = errors.New("0 would stop every call; to switch the cap off say off, to stop paid calls use provider: offline")

func parseBound(name, text string) (b Bound, err error) {
	m := boundText.FindStringSubmatch(text)
	if m == nil {
		return b, fmt.Errorf("%q is no limit; say off, or for instance 5 USD, 200000 tokens, 1 USD a day", text)
	}
	if strings.Trim(m[2], "0.") == "" {
		return b, errZero
	}
	switch tokens := strings.HasPrefix(strings.ToLower(m[3]), "token"); {
	case !tokens:
		if b.USD, err = strconv.ParseFloat(m[2], 64); err != nil || b.USD > maxUSD || nano(b.USD) == 0 {
			return b, fmt.Errorf("%s USD is not between 0.000000001 and %d", m[2], int(maxUSD))
		}
	case m[1] == "$":
		return b, fmt.Errorf("%q: a limit is in USD or in tokens", text)
	default:
		if b.Tokens, err = strconv.Atoi(m[2]); err != nil || int64(b.Tokens) > maxTokens {
			return b, fmt.Errorf("%s is no whole number of tokens up to %d", m[2], int64(maxTokens))
		}
	}
	own := map[string]Period{"lifetime": Ever, "month": Month, "day": Day}[name]
	switch b.Period = Period(m[4]); {
	case b.Period == "":
		b.Period = own
		if own == "" {
			b.Period = Day
		}
	case own != "" && b.Period != own:
		return b, fmt.Errorf("%q: this cap's limits are all %q; for others there are cap-lifetime, cap-month and cap-day", text, string(own))
	}
	return b, nil
}

// String is the text that ParseCap reads.
func (c Cap) String() string {
	if len(c) == 0 {
		return "off"
	}
	var parts []string
	for _, b := range c {
		parts = append(parts, b.String())
	}
	return strings.Join(parts, ", ")
}

// String is as "5 USD a day".
func (b Bound) String() string {
	if b.USD > 0 {
		return strconv.FormatFloat(b.USD, 'f', -1, 64) + " USD " + string(b.Period)
	}
	return fmt.Sprintf("%d tokens %s", b.Tokens, b.Period)
}

// limit and of are in nano-dollars or in tokens.
func (b Bound) limit() int64 {
	if b.USD > 0 {
		return nano(b.USD)
	}
	return int64(b.Tokens)
}

func (b Bound) of(t tally) int64 {
	if b.USD > 0 {
		return t.Nano
	}
	return int64(t.tokens())
}

// amount is a number of the bound's unit in words.
func (b Bound) amount(n int64) string {
	if b.USD == 0 {
		return fmt.Sprintf("%d tokens", n)
	}
	usd := float64(n) / 1e9
	if n >= 100_000 {
		usd = math.Ceil(usd*1e4-1e-6) / 1e4
	}
	return strconv.FormatFloat(usd, 'f', -1, 64) + " USD"
}

// since is the day on which the period began, "" for ever.
func (p Period) since(now time.Time) string {
	switch p {
	case Day:
		return now.Format(time.DateOnly)
	case Month:
		return now.Format("2006-01") + "-01"
	}
	return ""
}

// ends is when the period is over; zero = never.
func (p Period) ends(now time.Time) time.Time {
	y, m, d := now.Date()
	switch p {
	case Day:
		return time.Date(y, m, d+1, 0, 0, 0, 0, now.Location())
	case Month:
		return time.Date(y, m+1, 1, 0, 0, 0, 0, now.Location())
	}
	return time.Time{}
}
