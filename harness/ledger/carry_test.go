package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCarry(t *testing.T) {
	k := &clock{noon}
	dir := t.TempDir()
	open := func() *Ledger { return Open(dir, Options{Caps: caps(t, "day", "5"), Now: k.now}) }
	l := open()
	history := []DaySum{
		{"2026-11-21", Human, "p:m", Sum{USD: 2, In: 100, Cached: 80, Out: 10, Calls: 3}},
		{"2026-11-21", Human, "p:n", Sum{USD: 1, Calls: 1, Unpriced: 1}},
		{"2026-11-20", Ambient, "p:m", Sum{USD: 4, Calls: 2}},
		{"2025-02-01", Explore, "p:m", Sum{USD: 8, Calls: 1}},
	}
	must(t, l.Carry(ctx, history))
	size := func() (n int64) {
		files, _ := filepath.Glob(dir + "/*.jsonl")
		for _, f := range files {
			info, err := os.Stat(f)
			must(t, err)
			n += info.Size()
		}
		return n
	}
	before := size()
	must(t, open().Carry(ctx, history), l.Carry(ctx, history[:1]))
	if size() != before {
		t.Error("what is known was written again")
	}
	for _, l := range []*Ledger{l, open()} {
		got := totals(t, l)
		if got.Day != (Sum{USD: 3, In: 100, Cached: 80, Out: 10, Calls: 4, Unpriced: 1}) || got.Month.USD != 7 || got.Lifetime.USD != 15 || got.Sources[Explore].Lifetime.USD != 8 {
			t.Errorf("carried: %+v", got)
		}
	}
	if got := refused(t, l, Worst{Source: Human, USD: usd(2.5)}); got != "day" {
		t.Errorf("what was carried over holds no cap: %q", got)
	}
	// What is spent here from then on comes on top.
	call(t, l, Human, 0.5)
	call(t, l, Explore, 0.25)
	if got := totals(t, open()).Day.USD; got != 3.75 {
		t.Errorf("with two calls made here: %v", got)
	}
	// Told anew, the history has them as well: they count once.
	must(t, l.Carry(ctx, []DaySum{{"2026-11-21", Human, "p:m", Sum{USD: 2.5, In: 100, Cached: 80, Out: 10, Calls: 4}}, history[1],
		{"2026-11-21", Explore, "m", Sum{USD: 0.25, Calls: 1}}}))
	if got := totals(t, open()).Day; got != (Sum{USD: 3.75, In: 100, Cached: 80, Out: 10, Calls: 6, Unpriced: 1}) {
		t.Errorf("told anew: %+v", got)
	}
	// By a process that read the history before those two calls were in it.
	must(t, open().Carry(ctx, history))
	if got := totals(t, open()).Day.USD; got != 3.75 {
		t.Errorf("told by another process: %v", got)
	}
	told, err := l.Carried("2026-11-20")
	must(t, err)
	slices.SortFunc(told, func(a, b DaySum) int { return strings.Compare(a.Date+a.Model, b.Date+b.Model) })
	if want := []DaySum{history[2], history[0], history[1]}; !slices.Equal(told, want) {
		t.Errorf("carried: %+v, want %+v", told, want)
	}
	for _, bad := range [][]DaySum{{{Date: "yesterday", Source: Human}}, {{Date: "2026-11-21"}}, {{Date: "2026-11-21", Source: Human, Sum: Sum{USD: -1}}},
		{{Date: "2026-11-21", Source: Human}, {Date: "2026-11-21", Source: Human}}} {
		if l.Carry(ctx, bad) == nil {
			t.Errorf("carried %+v", bad)
		}
	}
}

func TestUnreported(t *testing.T) {
	k := &clock{noon}
	dir := t.TempDir()
	open := func() *Ledger { return Open(dir, Options{Now: k.now}) }
	l := open()
	report := func(l *Ledger) (Report, string) {
		r, err := l.Unreported()
		must(t, err)
		text := ""
		for _, d := range r.Days {
			text += fmt.Sprint(d.Date, " ", d.Source, " ", d.Model, " ", d.USD, " ", d.Calls, "; ")
		}
		return r, text
	}
	call(t, l, Human, 1)
	call(t, l, Judge, 1)
	call(t, l, Judge, 2)
	refused(t, l, Worst{Source: Judge, USD: usd(7)}) // never settled
	k.at = k.at.AddDate(0, 0, 10)
	call(t, l, Embed, 4)
	slow, err := l.Reserve(ctx, Worst{Source: Assist, Provider: "p", Model: "m", USD: usd(9)})
	must(t, err)
	const want = "2026-11-21 judge m 3 2; 2026-12-01 embed m 4 1; "
	r, text := report(l)
	if _, again := report(open()); text != want || again != want {
		t.Errorf("unreported: %s and %s", text, again)
	}
	// Calls that end while the commit is made are for the next one.
	_, err = slow.Settle(Call{USD: usd(8)})
	must(t, err, l.Reported(ctx, r))
	const next = "2026-12-01 assist p:m 8 1; "
	r, text = report(l)
	if _, again := report(open()); text != next || again != next {
		t.Errorf("after the commit: %s and %s", text, again)
	}
	must(t, open().Reported(ctx, r), l.Reported(ctx, r))
	if r, text = report(l); text != "" {
		t.Errorf("all is named: %s", text)
	}
	must(t, l.Reported(ctx, r))
	if got := totals(t, l).Lifetime; got.USD != 23 || got.Calls != 6 {
		t.Errorf("totals: %+v", got)
	}
}
