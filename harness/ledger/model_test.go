package ledger

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// simple is the ledger as one would keep it in the head: a list of calls.
type simple struct {
	calls []simpleCall
}

type simpleCall struct {
	day       string
	source    Source
	nano      int64
	tokens    int
	unpriced  bool
	unsettled bool
}

func (s *simple) spent(sources []Source, since string) (nano int64, tokens int, t Sum) {
	for _, c := range s.calls {
		if c.day < since || sources != nil && !slices.Contains(sources, c.source) {
			continue
		}
		nano += c.nano
		tokens += c.tokens
		t.Calls++
		if c.unpriced {
			t.Unpriced++
		}
		if c.unsettled {
			t.Unsettled++
		}
	}
	t.USD = float64(nano) / 1e9
	return nano, tokens, t
}

// allows is what the caps below mean.
func (s *simple) allows(now time.Time, src Source, nano int64, unpriced bool, tokens int) bool {
	day, month := now.Format(time.DateOnly), now.Format("2006-01")+"-01"
	usd := func(sources []Source, since string, limit int64) bool {
		spent, _, _ := s.spent(sources, since)
		return nano == 0 && !(unpriced && spent >= limit) || nano > 0 && spent+nano <= limit
	}
	_, used, _ := s.spent(nil, "")
	if tokens > 0 && used+tokens > 40_000 {
		return false
	}
	ok := usd(nil, month, 9e9) && usd(nil, day, 4e9)
	if src == Explore {
		ok = ok && usd([]Source{Explore}, day, 1e9)
	}
	if src == Judge || src == Embed {
		ok = ok && usd([]Source{Judge, Embed}, month, 2e9)
	}
	return ok
}

// Random calls, crashes, clocks and processes, against the list.
func TestModel(t *testing.T) {
	all := caps(t, "lifetime", "40000 tokens", "month", "9", "day", "4", "explore", "1", "assist", "2 USD a month")
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "ledger")
		must(t, err)
		defer os.RemoveAll(dir)
		k := &clock{noon}
		open := func() *Ledger {
			l := Open(dir, Options{Caps: all, Now: k.now, Prices: Prices{"priced": {In: 100, Out: 1000}}})
			l.storeAfter = 1 << rapid.IntRange(0, 12).Draw(t, "store after")
			return l
		}
		ledgers := []*Ledger{open(), open()}
		var s simple
		type running struct {
			r *Reservation
			i int
		}
		var begun []running
		pick := func() *Ledger { return rapid.SampledFrom(ledgers).Draw(t, "ledger") }
		t.Repeat(map[string]func(*rapid.T){
			"reserve": func(t *rapid.T) {
				w := Worst{Source: rapid.SampledFrom([]Source{Human, Explore, Judge, Embed, Agent}).Draw(t, "source"),
					Model: rapid.SampledFrom([]string{"priced", "unknown"}).Draw(t, "model"),
					In:    rapid.IntRange(0, 4000).Draw(t, "in"), Out: rapid.IntRange(0, 1000).Draw(t, "out"),
					Free: rapid.IntRange(0, 4).Draw(t, "free") == 0}
				c := simpleCall{day: k.at.Format(time.DateOnly), source: w.Source, tokens: w.In + w.Out, unsettled: true}
				switch {
				case w.Free:
				case w.Model == "priced":
					c.nano = int64(w.In)*100_000 + int64(w.Out)*1_000_000
				default:
					c.unpriced = true
				}
				want := s.allows(k.at, c.source, c.nano, c.unpriced, c.tokens)
				r, err := pick().Reserve(ctx, w)
				var e *Exceeded
				if err != nil && !errors.As(err, &e) {
					t.Fatal(err)
				}
				if (err == nil) != want {
					t.Fatalf("%+v: %v, want allowed: %v", w, err, want)
				}
				if err == nil {
					begun = append(begun, running{r, len(s.calls)})
					s.calls = append(s.calls, c)
				}
			},
			"settle": func(t *rapid.T) {
				if len(begun) == 0 {
					t.Skip()
				}
				n := rapid.IntRange(0, len(begun)-1).Draw(t, "which")
				x := begun[n]
				begun = slices.Delete(begun, n, n+1)
				in := rapid.IntRange(0, 4000).Draw(t, "in")
				done, err := x.r.Settle(Call{In: in, Outcome: "ok"})
				must(t, err)
				c := &s.calls[x.i]
				c.tokens, c.unsettled, c.unpriced, c.nano = in, false, done.USD == nil, 0
				if done.USD != nil {
					c.nano = nano(*done.USD)
				}
			},
			"another process": func(t *rapid.T) { ledgers[rapid.IntRange(0, 1).Draw(t, "ledger")] = open() },
			"the sums are deleted": func(t *rapid.T) {
				if err := os.Remove(filepath.Join(dir, sumsFile)); err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
			},
			"time": func(t *rapid.T) {
				k.at = k.at.Add(time.Duration(rapid.IntRange(-30, 60).Draw(t, "hours")) * time.Hour)
			},
			"a crash in mid-line": func(t *rapid.T) {
				f, err := os.OpenFile(filepath.Join(dir, k.at.Format("2006-01")+".jsonl"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
				must(t, err)
				_, err = f.WriteString(`{"kind":"reserve","id":"x`)
				must(t, err, f.Close())
			},
			"": func(t *rapid.T) {
				got, err := pick().Totals(k.at)
				must(t, err)
				if got.Broken != nil {
					t.Fatalf("broken: %v", got.Broken)
				}
				for since, have := range map[string]Sum{"": got.Lifetime, k.at.Format("2006-01") + "-01": got.Month, k.at.Format(time.DateOnly): got.Day} {
					_, tokens, want := s.spent(nil, since)
					if have.In+have.Out != tokens || have.USD != want.USD || have.Calls != want.Calls || have.Unpriced != want.Unpriced || have.Unsettled != want.Unsettled {
						t.Fatalf("since %q: %+v, want %+v and %d tokens", since, have, want, tokens)
					}
				}
				sum := 0
				for s := range maps.Values(got.Sources) {
					sum += s.Lifetime.Calls
				}
				if sum != got.Lifetime.Calls {
					t.Fatalf("the sources have %d calls, all have %d", sum, got.Lifetime.Calls)
				}
			},
		})
	})
}
