package harness

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"amacs/harness/journal"
	"amacs/harness/ledger"
)

// What the trailers of a commit tell is what was spent.
func TestTrailers(t *testing.T) {
	when := time.Date(2026, 11, 21, 23, 30, 0, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		source, tokens, cost string
		want                 ledger.Sum
		ok                   bool
	}{
		{"human", charge{}.tokens(), charge{}.cost(), ledger.Sum{}, false},
		{"human", "1200 in, 1000 cached, 80 out", "0.0007", ledger.Sum{USD: 0.0007, In: 1200, Cached: 1000, Out: 80, Calls: 1}, true},
		{"continue", "10 in, 0 cached, 1 out", "unknown", ledger.Sum{In: 10, Out: 1, Calls: 1, Unpriced: 1}, true},
		{"explore", "0 in, 0 cached, 0 out", charge{USD: 0.1 + 0.2}.cost(), ledger.Sum{USD: 0.1 + 0.2, Calls: 1}, true},
		{"ambient", "10 in, 0 cached, 1 out", "0", ledger.Sum{In: 10, Out: 1, Calls: 1}, true},
		{"assist", "10 in, 0 cached, 1 out", "0", ledger.Sum{}, false},
		{"human", "10 in, 0 cached, 1 out", "", ledger.Sum{}, false},
		{"human", "", "0.5", ledger.Sum{}, false},
	} {
		d, ok := spentIn(journal.Entry{When: when, Trailers: map[string]string{"Source": c.source, "Model": "m", "Tokens": c.tokens, "Cost-USD": c.cost}})
		want := ledger.DaySum{Date: "2026-11-21", Source: ledger.Source(c.source), Model: "m", Sum: c.want}
		if ok != c.ok || ok && d != want {
			t.Errorf("%s, %s, %s: %+v %v, want %+v", c.source, c.tokens, c.cost, d, ok, want)
		}
	}
}

// A day is read back as it was written, whatever stands in a trailer leaves sums
// that a ledger takes.
func FuzzTrailers(f *testing.F) {
	f.Add("2026-11-21 assist 0.0021 USD, 310 in, 0 cached, 45 out, 2 calls", "human", "310 in, 0 cached, 45 out", "0.0021", int64(1))
	f.Add("2026-11-21 judge 1 USD, 310 in, 0 cached, 45 out, 2 calls, 1 of unknown price", "nobody", "-1 in, 0 cached, 45 out", "NaN", int64(1<<40))
	f.Add("0000-00-00 embed 9999 USD, 999999999 in, 999999999 cached, 1 out, 2 calls", "explore", "999999999 in, 0 cached, 45 out", "9999.99", int64(-1<<60))
	f.Fuzz(func(t *testing.T, text, source, tokens, cost string, when int64) {
		if d, ok := beside(text); ok && d.Check() == nil {
			if again, ok := beside(besideText(d)); !ok || again != d {
				t.Errorf("%q is %+v, and after printing %+v", text, d, again)
			}
		}
		days := daySums{}
		for range 3 {
			if d, ok := beside(text); ok {
				days.add(d)
			}
			e := journal.Entry{When: time.Unix(when, 0), Trailers: map[string]string{"Source": source, "Tokens": tokens, "Cost-USD": cost}}
			if d, ok := spentIn(e); ok {
				days.add(d)
			}
		}
		if err := ledger.Open(t.TempDir(), ledger.Options{}).Carry(t.Context(), days.list()); err != nil {
			t.Errorf("%q, %q, %q, %q: %v", text, source, tokens, cost, err)
		}
	})
}

// What is spent beside the ticks stands in the commit of the next tick, once.
func TestBeside(t *testing.T) {
	r := newRig(t, `{"text":"a","usage":{"in":10,"cached":4,"out":2},"cost":0.25}`, `{"text":"b","usage":{"in":1,"out":1},"cost":0.5}`,
		`{"reply":{"mood":"calm","confidence":1,"monologue":"m","reply":"one"}}`, `{"reply":{"mood":"calm","confidence":1,"monologue":"m","reply":"two"}}`)
	for _, s := range []ledger.Source{ledger.Judge, ledger.Judge} {
		if _, _, err := r.Ask(t.Context(), Small{Source: s, Text: "?"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	r.say("one")
	r.say("two")
	var got []string
	for e, err := range r.journal.Log(t.Context(), journal.Query{}) {
		r.must(err)
		if text := e.Trailers[besideTrailer]; text != "" {
			got = append(got, fmt.Sprint(e.Tick, ": ", text))
		}
	}
	if want := []string{"1: 2026-11-21 judge 0.75 USD, 11 in, 4 cached, 3 out, 2 calls"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
