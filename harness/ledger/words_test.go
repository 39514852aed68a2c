package ledger

import "testing"

func TestWords(t *testing.T) {
	for _, tc := range [][2]string{
		{Price{In: 3, Out: 15, Cached: 0.3}.String(), "3 in, 15 out, 0.3 cached"},
		{Price{In: 0.25, Out: 2}.String(), "0.25 in, 2 out"},
		{Sum{}.String(), "no calls"},
		{Sum{Calls: 1, In: 1200, Cached: 1000, Out: 80, USD: 0.0007}.String(), "1 call, 1,200 tokens in (83% cached), 80 out, $0.0007"},
		{Sum{Calls: 1200, In: 1234567, Out: 999, USD: 12.4, Unpriced: 3, Unsettled: 1}.String(),
			"1,200 calls, 1,234,567 tokens in, 999 out, $12.40, 3 of unknown price, 1 unsettled and counted at the worst"},
		{Pressure{Level: "low"}.String(), "low"},
		{Pressure{Level: "critical", Ratio: 0.962, Cap: "day"}.String(), "critical (96% of cap-day)"},
	} {
		if tc[0] != tc[1] {
			t.Errorf("%q, want %q", tc[0], tc[1])
		}
	}
}
