package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// The kinds of lines.
const (
	reserve  = "reserve"
	settle   = "settle"
	carry    = "carry"
	reported = "reported"
)

// line is one line of a month's file. A settlement has the time of its
// reservation, so that a call belongs to one day and one file.
type line struct {
	Kind     string    `json:"kind"`
	ID       string    `json:"id,omitempty"` // joins a settlement to its reservation
	At       time.Time `json:"at"`
	Source   Source    `json:"source,omitempty"`
	Provider string    `json:"provider,omitempty"`
	Model    string    `json:"model,omitempty"`
	In       int       `json:"in,omitempty"`
	Cached   int       `json:"cached,omitempty"`
	Written  int       `json:"written,omitempty"`
	Out      int       `json:"out,omitempty"`
	USD      *float64  `json:"usd,omitempty"` // nil = no known price
	MS       int64     `json:"ms,omitempty"`  // how long the call took
	Outcome  string    `json:"outcome,omitempty"`
	Warned   []string  `json:"warned,omitempty"`   // the caps of which this reservation told that 80% is spent
	Calls    int       `json:"calls,omitempty"`    // of a carry
	Unpriced int       `json:"unpriced,omitempty"` // of a carry: how many of the calls have no known price
	Through  int64     `json:"through,omitempty"`  // of reported: the lines before this byte of the file
}

// The most that a line may say: sums of millions of such lines stay exact.
const (
	maxUSD    = 1e6
	maxTokens = 1e12
)

// check refuses numbers that make no sense: they would make the sums lie.
func (l *line) check() error {
	for _, n := range []int{l.In, l.Cached, l.Written, l.Out, l.Calls, l.Unpriced} {
		if n < 0 || int64(n) > maxTokens {
			return fmt.Errorf("%d is no number of tokens", n)
		}
	}
	if l.USD != nil && (math.IsNaN(*l.USD) || *l.USD < 0 || *l.USD > maxUSD) {
		return fmt.Errorf("%v USD is no cost", *l.USD)
	}
	if y := l.At.Year(); y < 1000 || y > 9999 {
		return fmt.Errorf("%s is no time", l.At)
	}
	return nil
}

func (l *line) day() string { return l.At.Format(time.DateOnly) }

// month is the name of a day's file.
func monthOf(day string) string { return day[:len("2006-01")] }

// parse reads a line of a month's file.
func parse(b []byte, month string) (l line, err error) {
	if err := json.Unmarshal(b, &l); err != nil {
		return l, err
	}
	switch l.Kind {
	case reserve, settle, carry, reported:
	default:
		return l, fmt.Errorf("unknown kind %q", l.Kind)
	}
	if err := l.check(); err != nil {
		return l, err
	}
	if monthOf(l.day()) != month {
		return l, errors.New("a day of another month")
	}
	return l, nil
}

// print is the line with its end.
func (l *line) print() ([]byte, error) {
	b, err := json.Marshal(l)
	return append(b, '\n'), err
}

// tally is a sum of calls.
type tally struct {
	Calls     int   `json:"n,omitempty"`
	Unpriced  int   `json:"u,omitempty"`
	Unsettled int   `json:"s,omitempty"`
	In        int   `json:"i,omitempty"`
	Cached    int   `json:"c,omitempty"`
	Written   int   `json:"w,omitempty"`
	Out       int   `json:"o,omitempty"`
	Nano      int64 `json:"d,omitempty"` // nano-dollars: whole numbers, so that sums are exact in any order
}

// tally is what a line counts for.
func (l *line) tally() tally {
	t := tally{Calls: 1, In: l.In, Cached: l.Cached, Written: l.Written, Out: l.Out}
	if l.Kind == carry {
		t.Calls, t.Unpriced = l.Calls, l.Unpriced
	} else if l.USD == nil {
		t.Unpriced = 1
	}
	if l.Kind == reserve {
		t.Unsettled = 1
	}
	if l.USD != nil {
		t.Nano = nano(*l.USD)
	}
	return t
}

func (t tally) plus(o tally) tally {
	return tally{t.Calls + o.Calls, t.Unpriced + o.Unpriced, t.Unsettled + o.Unsettled,
		t.In + o.In, t.Cached + o.Cached, t.Written + o.Written, t.Out + o.Out, t.Nano + o.Nano}
}

func (t tally) minus(o tally) tally {
	return tally{t.Calls - o.Calls, t.Unpriced - o.Unpriced, t.Unsettled - o.Unsettled,
		t.In - o.In, t.Cached - o.Cached, t.Written - o.Written, t.Out - o.Out, t.Nano - o.Nano}
}

// or is the larger of two sums that tell of the same calls.
func (t tally) or(o tally) tally {
	return tally{max(t.Calls, o.Calls), max(t.Unpriced, o.Unpriced), max(t.Unsettled, o.Unsettled),
		max(t.In, o.In), max(t.Cached, o.Cached), max(t.Written, o.Written), max(t.Out, o.Out), max(t.Nano, o.Nano)}
}

// least is what two sums have in common.
func (t tally) least(o tally) tally {
	return tally{min(t.Calls, o.Calls), min(t.Unpriced, o.Unpriced), min(t.Unsettled, o.Unsettled),
		min(t.In, o.In), min(t.Cached, o.Cached), min(t.Written, o.Written), min(t.Out, o.Out), min(t.Nano, o.Nano)}
}

func (t tally) usd() float64 { return float64(t.Nano) / 1e9 }
func (t tally) tokens() int  { return t.In + t.Out }
