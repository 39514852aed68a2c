package ledger

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"time"
)

// Calls are the calls that were reserved from since on and before until (zero =
// no end), in the order of their reservations within each month; those of
// another history are not among them. A line that can not be read gives a
// [Broken], and the iteration goes on; after any other error it ends.
func (l *Ledger) Calls(since, until time.Time) iter.Seq2[Call, error] {
	return func(yield func(Call, error) bool) {
		l.mu.Lock()
		err := l.refresh()
		names := l.names()
		l.mu.Unlock()
		if err != nil {
			yield(Call{}, err)
			return
		}
		for _, name := range names {
			// A day's margin: a call belongs to the month of the zone it was made in.
			if name < since.AddDate(0, 0, -1).Format("2006-01") && !since.IsZero() || !until.IsZero() && name > until.AddDate(0, 0, 1).Format("2006-01") {
				continue
			}
			if !l.callsOf(name, since, until, yield) {
				return
			}
		}
	}
}

// callsOf reads one month. It holds its calls in memory.
func (l *Ledger) callsOf(name string, since, until time.Time, yield func(Call, error) bool) bool {
	b, err := os.ReadFile(l.pathOf(name))
	if os.IsNotExist(err) {
		return true
	}
	if err != nil {
		yield(Call{}, fmt.Errorf("reading the ledger: %w", err))
		return false
	}
	b = b[:bytes.LastIndexByte(b, '\n')+1]
	var calls []Call
	at := map[string]int{}
	for n := 1; len(b) > 0; n++ {
		text, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		if len(text) == 0 || bytes.HasSuffix(text, torn) {
			continue
		}
		x, err := parse(text, name)
		if err != nil {
			if !yield(Call{}, Broken{l.pathOf(name), n}) {
				return false
			}
			continue
		}
		if x.Kind != reserve && x.Kind != settle || x.At.Before(since) || !until.IsZero() && !x.At.Before(until) {
			continue
		}
		c := Call{At: x.At, Source: x.Source, Provider: x.Provider, Model: x.Model, In: x.In, Cached: x.Cached, Written: x.Written,
			Out: x.Out, USD: x.USD, Took: time.Duration(x.MS) * time.Millisecond, Outcome: x.Outcome}
		i, known := at[x.ID]
		switch {
		case x.Kind == reserve:
			c.Outcome = Unsettled
			at[x.ID] = len(calls)
			calls = append(calls, c)
		case known:
			calls[i] = c
			delete(at, x.ID)
		default:
			calls = append(calls, c)
		}
	}
	for _, c := range calls {
		if !yield(c, nil) {
			return false
		}
	}
	return true
}
