package ledger

import (
	"fmt"
	"strconv"
)

// Price is what a model costs, by the user's prices or the built-in ones.
func (l *Ledger) Price(model string) (Price, bool) { return l.prices.Of(model) }

// String is "3 in, 15 out, 0.3 cached", in USD per million tokens.
func (p Price) String() string {
	text := fmt.Sprintf("%g in, %g out", p.In, p.Out)
	if p.Cached > 0 {
		text += fmt.Sprintf(", %g cached", p.Cached)
	}
	return text
}

// String is "12 calls, 40,112 tokens in (81% cached), 2,020 out, $0.1314", or
// "no calls".
func (s Sum) String() string {
	if s.Calls == 0 {
		return "no calls"
	}
	text := plural(s.Calls, "call") + ", " + Tokens(s.In, s.Cached, s.Out) + ", " + Dollars(s.USD)
	if s.Unpriced > 0 {
		text += fmt.Sprintf(", %s of unknown price", thousands(s.Unpriced))
	}
	if s.Unsettled > 0 {
		text += fmt.Sprintf(", %s unsettled and counted at the worst", thousands(s.Unsettled))
	}
	return text
}

// String is "critical (96% of cap-day)".
func (p Pressure) String() string {
	if p.Cap == "" {
		return p.Level
	}
	return fmt.Sprintf("%s (%.0f%% of cap-%s)", p.Level, 100*p.Ratio, p.Cap)
}

// Tokens is "3,120 tokens in (84% cached), 210 out".
func Tokens(in, cached, out int) string {
	share := ""
	if cached > 0 {
		share = fmt.Sprintf(" (%d%% cached)", 100*cached/max(1, in))
	}
	return fmt.Sprintf("%s tokens in%s, %s out", thousands(in), share, thousands(out))
}

// Dollars is "$0.0123", "$12.40".
func Dollars(usd float64) string {
	if usd >= 1 || usd == 0 {
		return fmt.Sprintf("$%.2f", usd)
	}
	return fmt.Sprintf("$%.4f", usd)
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

// thousands is a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
