package harness

import (
	"testing"
	"time"
)

func TestSummary(t *testing.T) {
	cost, free := 0.0123, 0.0
	edited := Report{Edited: []string{"a.go", "b.go"}, Ran: 1, CostUSD: &cost}
	many := Report{Edited: []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"}}
	for _, c := range []struct {
		ticks []Report
		want  string
	}{
		{nil, ""},
		{[]Report{{}}, ""},
		{[]Report{{}, {CostUSD: &free}}, ""},
		{[]Report{{}, {}, {}}, "3 ticks in 2s"},
		{[]Report{{Ran: 1}}, "1 tick in 2s: 1 command"},
		{[]Report{edited, {Edited: []string{"b.go"}, Ran: 2}}, "2 ticks in 2s: 2 files changed (a.go, b.go), 3 commands, $0.0123"},
		{[]Report{many}, "1 tick in 2s: 9 files changed (1, 2, 3, 4, 5, 6, 7, 2 more)"},
	} {
		if got := Summary(c.ticks, 1900*time.Millisecond); got != c.want {
			t.Errorf("%+v: %q, want %q", c.ticks, got, c.want)
		}
	}
}
