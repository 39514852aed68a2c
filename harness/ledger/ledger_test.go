package ledger

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var ctx = context.Background()

// noon is when the tests begin: a Saturday, nine days before the month ends.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.FixedZone("", 3600))

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func caps(t testing.TB, texts ...string) Caps {
	t.Helper()
	out := Caps{}
	for i := 0; i < len(texts); i += 2 {
		c, err := ParseCap(texts[i], texts[i+1])
		must(t, err)
		out[texts[i]] = c
	}
	return out
}

func must(t interface {
	Helper()
	Fatal(...any)
}, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func usd(v float64) *float64 { return &v }

// call is reserved and settled at a price.
func call(t testing.TB, l *Ledger, s Source, price float64) {
	t.Helper()
	r, err := l.Reserve(ctx, Worst{Source: s, Model: "m", USD: usd(price)})
	must(t, err)
	_, err = r.Settle(Call{USD: usd(price), Outcome: "ok"})
	must(t, err)
}

// refused is the cap that refuses a call, "" if none does.
func refused(t testing.TB, l *Ledger, w Worst) string {
	t.Helper()
	_, err := l.Reserve(ctx, w)
	var e *Exceeded
	if errors.As(err, &e) {
		return e.Cap
	}
	must(t, err)
	return ""
}

func totals(t testing.TB, l *Ledger) Totals {
	t.Helper()
	all, err := l.Totals(l.now())
	must(t, err)
	return all
}

func TestReserveAndSettle(t *testing.T) {
	c := &clock{noon}
	dir := filepath.Join(t.TempDir(), "state", "ledger")
	l := Open(dir, Options{Now: c.now, Prices: Prices{"m": {In: 2, Cached: 0.2, Written: 2.5, Out: 10}}})
	if got := totals(t, l); got.Lifetime != (Sum{}) {
		t.Errorf("an empty ledger: %+v", got)
	}
	r, err := l.Reserve(ctx, Worst{Source: Human, Provider: "p", Model: "m", In: 1000, Out: 100})
	must(t, err)
	want := Sum{USD: 0.0035, In: 1000, Out: 100, Calls: 1, Unsettled: 1}
	if got := totals(t, l); got.Day != want || got.Sources[Human].Month != want {
		t.Errorf("reserved: %+v", got)
	}
	done, err := r.Settle(Call{In: 800, Cached: 500, Written: 100, Out: 50, Took: 1500 * time.Millisecond, Outcome: "ok"})
	must(t, err)
	if done.USD == nil || *done.USD != 0.00125 || done.Provider != "p" || done.Model != "m" || done.Source != Human || !done.At.Equal(noon) {
		t.Errorf("settled: %+v", done)
	}
	want = Sum{USD: 0.00125, In: 800, Cached: 500, Written: 100, Out: 50, Calls: 1}
	for _, l := range []*Ledger{l, Open(dir, Options{Now: c.now})} {
		got := totals(t, l)
		if got.Day != want || got.Month != want || got.Lifetime != want || got.Sources[Human] != got.Spans {
			t.Errorf("settled: %+v", got)
		}
	}
	if _, err := r.Settle(Call{}); err == nil {
		t.Error("settled twice")
	}
	c.at = noon.AddDate(0, 0, 1)
	if got := totals(t, l); got.Day != (Sum{}) || got.Month != want {
		t.Errorf("the day after: %+v", got)
	}
	c.at = noon.AddDate(0, 1, 0)
	if got := totals(t, l); got.Month != (Sum{}) || got.Lifetime != want {
		t.Errorf("the month after: %+v", got)
	}
}

// What a call costs, by what is known of it.
func TestCost(t *testing.T) {
	for _, c := range []struct {
		name     string
		worst    Worst
		call     Call
		want     float64
		unpriced int
	}{
		{"the provider says", Worst{Model: "m"}, Call{In: 10, USD: usd(3)}, 3, 0},
		{"by the table", Worst{Model: "m"}, Call{In: 1e6}, 2, 0},
		{"another model answered", Worst{Model: "m"}, Call{Model: "n", In: 1e6}, 4, 0},
		{"an unknown model answered", Worst{Model: "m"}, Call{Model: "m-tuned", In: 1e6}, 2, 0},
		{"free", Worst{Model: "m", Free: true}, Call{In: 1e6}, 0, 0},
		{"free, and yet billed", Worst{Model: "m", Free: true}, Call{In: 1e6, USD: usd(1)}, 1, 0},
		{"unknown price", Worst{Model: "x"}, Call{In: 1e6}, 0, 1},
		{"nothing used", Worst{Model: "x"}, Call{}, 0, 0},
	} {
		l := Open(t.TempDir(), Options{Prices: Prices{"m": {In: 2}, "n": {In: 4}}})
		c.worst.Source = Human
		r, err := l.Reserve(ctx, c.worst)
		must(t, err)
		done, err := r.Settle(c.call)
		must(t, err)
		if (done.USD == nil) != (c.unpriced == 1) {
			t.Errorf("%s: settled at %v", c.name, done.USD)
		}
		if got := totals(t, l).Lifetime; got.USD != c.want || got.Unpriced != c.unpriced || got.In != c.call.In {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// Numbers that make no sense are not written; the call counts at its worst.
func TestNonsense(t *testing.T) {
	l := Open(t.TempDir(), Options{})
	for _, w := range []Worst{{Model: "m"}, {Source: "typo"}, {Source: Human, In: -1}, {Source: Human, Out: 1e13}, {Source: Human, USD: usd(-1)}} {
		if _, err := l.Reserve(ctx, w); err == nil {
			t.Errorf("%+v was booked", w)
		}
	}
	r, err := l.Reserve(ctx, Worst{Source: Human, USD: usd(2), In: 5})
	must(t, err)
	if _, err := r.Settle(Call{USD: usd(-1)}); err == nil {
		t.Error("settled at less than nothing")
	}
	if got := totals(t, l).Lifetime; got.USD != 2 || got.Unsettled != 1 {
		t.Errorf("it counts as %+v", got)
	}
}

func TestCaps(t *testing.T) {
	paid := func(s Source, v float64) Worst { return Worst{Source: s, Model: "m", In: 10, Out: 10, USD: usd(v)} }
	for _, c := range []struct {
		name  string
		caps  Caps
		spent func(*Ledger)
		call  Worst
		want  string
	}{
		{"no caps", nil, nil, paid(Human, 1000), ""},
		{"to the cent", caps(t, "day", "5"), func(l *Ledger) { call(t, l, Human, 4.7) }, paid(Human, 0.3), ""},
		{"a cent more", caps(t, "day", "5"), func(l *Ledger) { call(t, l, Human, 4.7) }, paid(Human, 0.31), "day"},
		{"tenths add up", caps(t, "day", "0.3"), func(l *Ledger) { call(t, l, Human, 0.1); call(t, l, Human, 0.1) }, paid(Human, 0.1), ""},
		{"one call is too much", caps(t, "month", "1"), nil, paid(Human, 1.01), "month"},
		{"the longest is told", caps(t, "day", "1", "month", "1", "lifetime", "1"), nil, paid(Human, 2), "lifetime"},
		{"tokens", caps(t, "day", "19 tokens"), nil, paid(Human, 0), "day"},
		{"tokens of a free call", caps(t, "day", "19 tokens"), nil, Worst{Source: Human, In: 10, Out: 10, Free: true}, "day"},
		{"tokens to the last", caps(t, "day", "20 tokens"), nil, paid(Human, 0), ""},
		{"USD or tokens", caps(t, "day", "5 USD, 19 tokens"), nil, paid(Human, 0.1), "day"},
		{"free when all is spent", caps(t, "day", "1"), func(l *Ledger) { call(t, l, Human, 1) }, Worst{Source: Human, In: 10, Free: true}, ""},
		{"unknown price", caps(t, "day", "1"), func(l *Ledger) { call(t, l, Human, 0.99) }, Worst{Source: Human, Model: "x", In: 10}, ""},
		{"unknown price when all is spent", caps(t, "day", "1"), func(l *Ledger) { call(t, l, Human, 1) }, Worst{Source: Human, Model: "x", In: 10}, "day"},
		{"another source's cap", caps(t, "explore", "1"), func(l *Ledger) { call(t, l, Explore, 1) }, paid(Human, 5), ""},
		{"its own", caps(t, "explore", "1"), func(l *Ledger) { call(t, l, Explore, 1) }, paid(Explore, 0.1), "explore"},
		{"assist covers the small ones", caps(t, "assist", "1"), func(l *Ledger) { call(t, l, Judge, 0.5); call(t, l, Embed, 0.5) }, paid(Suggest, 0.1), "assist"},
		{"assist covers no agent", caps(t, "assist", "1"), nil, paid(Agent, 2), ""},
		{"an agent counts in all", caps(t, "day", "1"), nil, paid(Agent, 2), "day"},
		{"what is under way counts", caps(t, "day", "1"), func(l *Ledger) { refused(t, l, paid(Human, 0.8)) }, paid(Human, 0.3), "day"},
	} {
		l := Open(t.TempDir(), Options{Caps: c.caps, Now: (&clock{noon}).now})
		if c.spent != nil {
			c.spent(l)
		}
		before := totals(t, l).Lifetime
		got := refused(t, l, c.call)
		if got != c.want {
			t.Errorf("%s: refused by %q, want %q", c.name, got, c.want)
		}
		if after := totals(t, l).Lifetime; (after == before) != (got != "") {
			t.Errorf("%s: before %+v, after %+v", c.name, before, after)
		}
	}
}

func TestExceededSays(t *testing.T) {
	l := Open(t.TempDir(), Options{Caps: caps(t, "day", "5", "lifetime", "900 tokens"), Now: (&clock{noon}).now})
	call(t, l, Human, 4.5)
	refused(t, l, Worst{Source: Human, USD: usd(0.3)})
	for _, c := range []struct {
		worst Worst
		want  string
	}{
		{Worst{Source: Human, USD: usd(0.25001)}, "cap-day is 5 USD a day: 4.8 USD is spent (1 of the calls unsettled, at their worst) and this call could come to 0.2501 USD; it resets on 2026-11-22 00:00, or change it: amacs config cap-day LIMIT"},
		{Worst{Source: Human, USD: usd(6)}, "this call could come to 6 USD, more than the whole cap; a smaller max-tokens may fit, or change it"},
		{Worst{Source: Human, In: 901}, "cap-lifetime is 900 tokens ever: 0 tokens are spent"},
	} {
		_, err := l.Reserve(ctx, c.worst)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// A clock that is set back frees nothing; one that was ahead blocks nothing for
// longer than it was spent for.
func TestClock(t *testing.T) {
	for _, c := range []struct {
		name string
		to   time.Time
		want string
	}{
		{"an hour on", noon.Add(time.Hour), "day"},
		{"the last minute", time.Date(2026, 11, 21, 23, 59, 0, 0, noon.Location()), "day"},
		{"the next day", noon.AddDate(0, 0, 1), ""},
		{"back a day", noon.AddDate(0, 0, -1), "day"},
		{"back a month", noon.AddDate(0, -1, 0), "day"},
		{"back to the beginning", time.Unix(0, 0), "day"},
		{"another zone, the day before", noon.In(time.FixedZone("", -12*3600-1)).Add(-time.Hour), "day"},
	} {
		k := &clock{noon}
		l := Open(t.TempDir(), Options{Caps: caps(t, "day", "1"), Now: k.now})
		call(t, l, Human, 1)
		k.at = c.to
		if got := refused(t, l, Worst{Source: Human, USD: usd(0.1)}); got != c.want {
			t.Errorf("%s: refused by %q, want %q", c.name, got, c.want)
		}
	}
	k := &clock{noon}
	l := Open(t.TempDir(), Options{Caps: caps(t, "month", "1"), Now: k.now})
	call(t, l, Human, 1)
	k.at = noon.AddDate(0, 0, 9) // 30 November
	if got := refused(t, l, Worst{Source: Human, USD: usd(0.1)}); got != "month" {
		t.Errorf("at the end of the month: %q", got)
	}
	k.at = noon.AddDate(0, 0, 10)
	if got := refused(t, l, Worst{Source: Human, USD: usd(0.1)}); got != "" {
		t.Errorf("in the next month: %q", got)
	}
}

// A call that runs over midnight belongs to the day on which it began.
func TestOverMidnight(t *testing.T) {
	k := &clock{time.Date(2026, 11, 30, 23, 59, 59, 0, noon.Location())}
	dir := t.TempDir()
	l := Open(dir, Options{Now: k.now})
	r, err := l.Reserve(ctx, Worst{Source: Human, USD: usd(2)})
	must(t, err)
	began := k.at
	k.at = k.at.Add(2 * time.Second)
	_, err = r.Settle(Call{USD: usd(1), Outcome: "ok"})
	must(t, err)
	if got := totals(t, l); got.Day.Calls != 0 || got.Month.Calls != 0 || got.Lifetime != (Sum{USD: 1, Calls: 1}) {
		t.Errorf("after midnight: %+v", got)
	}
	if got, err := l.Totals(began); err != nil || got.Day.USD != 1 {
		t.Errorf("before midnight: %+v, %v", got, err)
	}
	if files, _ := filepath.Glob(dir + "/*.jsonl"); len(files) != 1 {
		t.Errorf("the call is in %v", files)
	}
}

func TestWarnings(t *testing.T) {
	k := &clock{noon}
	dir := t.TempDir()
	open := func() *Ledger { return Open(dir, Options{Caps: caps(t, "day", "1", "month", "10"), Now: k.now}) }
	warnings := func(l *Ledger) []string {
		r, err := l.Reserve(ctx, Worst{Source: Human, USD: usd(0.01)})
		must(t, err)
		_, err = r.Settle(Call{USD: usd(0)})
		must(t, err)
		return r.Warnings
	}
	call(t, open(), Human, 0.79)
	if got := warnings(open()); got != nil {
		t.Errorf("at 79%%: %q", got)
	}
	call(t, open(), Human, 0.01)
	free, err := open().Reserve(ctx, Worst{Source: Human, Free: true})
	if err != nil || free.Warnings != nil {
		t.Errorf("a free call warns: %q, %v", free.Warnings, err)
	}
	if got := warnings(open()); !slices.Equal(got, []string{"0.8 USD of cap-day is spent (1 USD a day)"}) {
		t.Errorf("at 80%%: %q", got)
	}
	if got := warnings(open()); got != nil {
		t.Errorf("told again: %q", got)
	}
	k.at = k.at.AddDate(0, 0, 1)
	call(t, open(), Human, 0.9)
	if got := warnings(open()); len(got) != 1 {
		t.Errorf("the next day: %q", got)
	}
}

func TestPressure(t *testing.T) {
	for _, c := range []struct {
		spent float64
		want  string
	}{{0, "low"}, {0.5, "low"}, {0.51, "moderate"}, {0.75, "moderate"}, {0.76, "high"}, {0.9, "high"}, {0.91, "critical"}, {1, "critical"}} {
		l := Open(t.TempDir(), Options{Caps: caps(t, "day", "1", "lifetime", "100", "explore", "100000 tokens"), Now: (&clock{noon}).now})
		call(t, l, Human, c.spent)
		got, err := l.Pressure(noon)
		must(t, err)
		if got.Level != c.want || got.Ratio != c.spent || c.spent > 0 && got.Cap != "day" {
			t.Errorf("%v of 1: %+v, want %s", c.spent, got, c.want)
		}
	}
	// What a source has used up of its own cap presses on nobody else.
	l := Open(t.TempDir(), Options{Caps: caps(t, "month", "10", "human", "1", "explore", "1", "assist", "1"), Now: (&clock{noon}).now})
	for _, s := range []Source{Human, Explore, Assist} {
		call(t, l, s, 1)
	}
	got, err := l.Pressure(noon)
	if err != nil || got != (Pressure{"low", 0.3, "month"}) {
		t.Errorf("used-up caps of sources: %+v, %v", got, err)
	}
	got, err = Open(t.TempDir(), Options{Caps: caps(t, "explore", "1")}).Pressure(noon)
	if err != nil || got != (Pressure{Level: "low"}) {
		t.Errorf("without a cap for all: %+v, %v", got, err)
	}
	all, err := Open(t.TempDir(), Options{Caps: caps(t, "day", "1, 500 tokens", "month", "30")}).Standings(noon)
	if err != nil || len(all) != 3 || all[0].Limit != "30 USD a month" || all[2].Used != "0 tokens" || all[1].Resets.Day() != 22 {
		t.Errorf("standings: %+v, %v", all, err)
	}
}

func TestCalls(t *testing.T) {
	k := &clock{noon}
	dir := t.TempDir()
	l := Open(dir, Options{Now: k.now})
	for i := range 5 {
		k.at = noon.AddDate(0, 0, 5*i) // 21 November … 11 December
		call(t, l, Source(sources[i]), float64(i))
	}
	refused(t, l, Worst{Source: Human, Model: "left", USD: usd(9)})
	list := func(since, until time.Time) (out []float64) {
		for c, err := range l.Calls(since, until) {
			must(t, err)
			if (c.Outcome == Unsettled) != (c.Model == "left") {
				t.Errorf("%+v", c)
			}
			out = append(out, *c.USD)
		}
		return out
	}
	if got := list(time.Time{}, time.Time{}); !slices.Equal(got, []float64{0, 1, 2, 3, 4, 9}) {
		t.Errorf("all: %v", got)
	}
	if got := list(noon.AddDate(0, 0, 5), noon.AddDate(0, 0, 15)); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("a part: %v", got)
	}
	for range l.Calls(time.Time{}, time.Time{}) {
		break // and it may be left
	}
	must(t, os.WriteFile(filepath.Join(dir, "2026-12.jsonl"), []byte("rubbish\n"), 0o600))
	var broken []error
	for _, err := range l.Calls(time.Time{}, time.Time{}) {
		if err != nil {
			broken = append(broken, err)
		}
	}
	if len(broken) != 1 || broken[0] != (Broken{filepath.Join(dir, "2026-12.jsonl"), 1}) {
		t.Errorf("broken: %v", broken)
	}
}

func TestLimits(t *testing.T) {
	k := &clock{noon}
	dir := t.TempDir()
	l := Open(dir, Options{Now: k.now})
	must(t, l.KeepLimits("a", nil))
	if got, err := l.Limits(); err != nil || len(got) != 0 {
		t.Errorf("none: %v, %v", got, err)
	}
	reset := noon.Add(time.Minute).UTC()
	must(t, l.KeepLimits("a", []Limit{{Kind: "tokens", Limit: 100, Remaining: 50, Reset: reset}, {Kind: "requests", Limit: 5}}))
	must(t, l.KeepLimits("b", []Limit{{Kind: "tokens", Limit: 7}}))
	k.at = noon.Add(time.Second)
	must(t, l.KeepLimits("a", []Limit{{Kind: "tokens", Limit: 100, Remaining: 40, Reset: reset}, {Kind: RetryAfter, Reset: reset}}))
	got, err := Open(dir, Options{}).Limits()
	must(t, err)
	a := got["a"]
	if len(got) != 2 || len(a) != 3 || a[0].Kind != "requests" || !a[0].Seen.Equal(noon) || a[1].Kind != RetryAfter ||
		a[2].Remaining != 40 || !a[2].Seen.Equal(k.at) || !a[2].Reset.Equal(reset) {
		t.Errorf("%+v", got)
	}
	must(t, os.WriteFile(filepath.Join(dir, limitsFile), []byte("{"), 0o600))
	if _, err := l.Limits(); err == nil || !strings.Contains(err.Error(), limitsFile) {
		t.Errorf("a broken file: %v", err)
	}
	must(t, l.KeepLimits("b", []Limit{{Kind: "tokens", Limit: 8}}))
	if got, err := l.Limits(); err != nil || got["b"][0].Limit != 8 {
		t.Errorf("mended: %+v, %v", got, err)
	}
}
