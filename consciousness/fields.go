package consciousness

import (
	"fmt"
	"math"
	"strings"
	"time"

	"amacs/consciousness/sexp"
	"amacs/threads"
)

// Kind says who may change a field.
type Kind int

// The kinds of field; the package comment explains them.
const (
	Chosen Kind = iota
	Derived
	Set
)

// Field is one entry of the alist.
type Field struct {
	Key  sexp.Symbol
	Kind Kind
	get  func(*State) sexp.Value
	// set leaves the state alone on an error, but for sets, which take what fits.
	// It tells which numbers it has brought into their range.
	set func(*State, sexp.Value) (clamped []string, err error)
}

// Fields lists every field in file order.
func Fields() []Field { return append([]Field(nil), fields...) }

// Lookup finds a field by its key.
func Lookup(key sexp.Symbol) (Field, error) {
	var names []string
	for _, f := range fields {
		if f.Key == key {
			return f, nil
		}
		names = append(names, string(f.Key))
	}
	return Field{}, fmt.Errorf("no field %q; the fields are %s", key, strings.Join(names, ", "))
}

var fields = []Field{
	text("identity", Chosen, func(s *State) *string { return &s.Identity }),
	number("current-tick", Derived, 0, math.MaxInt32, func(s *State) *int { return &s.Tick }),
	exact("current-time", Derived,
		func(s *State) sexp.Value {
			if s.Time.IsZero() {
				return sexp.Nil
			}
			return s.Time.UTC().Format(time.RFC3339)
		},
		func(s *State, v sexp.Value) error {
			if v == sexp.Nil {
				s.Time = time.Time{}
				return nil
			}
			str, _ := v.(string)
			t, err := time.Parse(time.RFC3339, str)
			if err != nil {
				return fmt.Errorf("%s is not a time such as \"2026-11-21T14:30:00Z\"", sexp.Print(v))
			}
			s.Time = t.UTC()
			return nil
		}),
	exact("long-gap", Derived,
		func(s *State) sexp.Value {
			if s.LongGap == 0 {
				return sexp.Nil
			}
			return int64(s.LongGap / time.Second)
		},
		func(s *State, v sexp.Value) error {
			if v == sexp.Nil {
				s.LongGap = 0
				return nil
			}
			n, err := whole(v, 0, math.MaxInt32)
			if err == nil {
				s.LongGap = time.Duration(n) * time.Second
			}
			return err
		}),
	text("mood", Chosen, func(s *State) *string { return &s.Mood }),
	exact("confidence", Chosen,
		func(s *State) sexp.Value { return s.Confidence },
		func(s *State, v sexp.Value) (err error) {
			f, err := float(v, 0, 1)
			if err == nil {
				s.Confidence = f
			}
			return err
		}),
	exact("active-thread", Chosen,
		func(s *State) sexp.Value { return orNil(string(s.Threads.Active)) },
		func(s *State, v sexp.Value) error {
			id, err := word(v)
			if err == nil {
				s.Threads.Active = threads.ID(id)
			}
			return err
		}),
	exact("open-threads", Set,
		func(s *State) sexp.Value { return threadList(s.Threads.Open) },
		func(s *State, v sexp.Value) (err error) {
			s.Threads.Open, err = readThreads(v)
			return err
		}),
	exact("pending-threads", Derived,
		func(s *State) sexp.Value {
			var out []sexp.Value
			for _, t := range s.Threads.Pending() {
				out = append(out, alist("id", string(t.ID), "concern", t.Concern, "buffers", stringList(t.Buffers)))
			}
			return sexp.List(out...)
		},
		func(*State, sexp.Value) error { return nil }),
	exact("completed-threads", Set,
		func(s *State) sexp.Value { return threadList(s.Completed) },
		func(s *State, v sexp.Value) (err error) {
			s.Completed, err = readThreads(v)
			return err
		}),
	exact("last-eval-result", Derived, printLastEval, readLastEval),
	exact("budget", Derived,
		func(s *State) sexp.Value {
			limit := sexp.Value(sexp.Nil)
			if s.Budget.Limit > 0 {
				limit = s.Budget.Limit
			}
			return alist("cost-so-far", s.Budget.Cost, "budget-limit", limit, "pressure", sexp.Symbol(s.Budget.Pressure))
		},
		func(*State, sexp.Value) error { return nil }),
	number("chat-context-depth", Chosen, 1, 1000, func(s *State) *int { return &s.ChatDepth }),
	number("monologue-context-depth", Chosen, 0, 1000, func(s *State) *int { return &s.MonologueDepth }),
	number("global-scratchpad-depth", Chosen, 0, 1000, func(s *State) *int { return &s.GlobalNotes }),
	number("thread-scratchpad-depth", Chosen, 0, 1000, func(s *State) *int { return &s.ThreadNotes }),
	number("buffer-content-limit", Chosen, 0, 1_000_000, func(s *State) *int { return &s.BufferLimit }),
	exact("buffer-line-numbers", Chosen,
		func(s *State) sexp.Value { return truth(s.LineNumbers) },
		func(s *State, v sexp.Value) error {
			s.LineNumbers = v != sexp.Nil
			return nil
		}),
	number("autonomous-tick-limit", Chosen, 0, 1000, func(s *State) *int { return &s.ContinueLimit }),
	{"api-settings", Chosen, printAPI, readAPI},
}

// exact is a field that refuses what does not fit it.
func exact(key sexp.Symbol, kind Kind, get func(*State) sexp.Value, set func(*State, sexp.Value) error) Field {
	return Field{key, kind, get, func(s *State, v sexp.Value) ([]string, error) { return nil, set(s, v) }}
}

func text(key sexp.Symbol, kind Kind, at func(*State) *string) Field {
	return exact(key, kind,
		func(s *State) sexp.Value { return *at(s) },
		func(s *State, v sexp.Value) error {
			str, ok := v.(string)
			if sym, is := v.(sexp.Symbol); is && sym != sexp.Nil {
				str, ok = string(sym), true
			}
			if str = strings.Join(strings.Fields(str), " "); !ok || str == "" {
				return fmt.Errorf("%s is not a text", sexp.Print(v))
			}
			*at(s) = str
			return nil
		})
}

func number(key sexp.Symbol, kind Kind, low, high int, at func(*State) *int) Field {
	return exact(key, kind,
		func(s *State) sexp.Value { return int64(*at(s)) },
		func(s *State, v sexp.Value) error {
			n, err := whole(v, low, high)
			if err == nil {
				*at(s) = n
			}
			return err
		})
}

func whole(v sexp.Value, low, high int) (int, error) {
	n, ok := v.(int64)
	if f, is := v.(float64); is && f == math.Trunc(f) && math.Abs(f) < 1e9 {
		n, ok = int64(f), true
	}
	if !ok || n < int64(low) || n > int64(high) {
		return 0, fmt.Errorf("%s is not a whole number from %d to %d", sexp.Print(v), low, high)
	}
	return int(n), nil
}

func float(v sexp.Value, low, high float64) (float64, error) {
	f, ok := v.(float64)
	if n, is := v.(int64); is {
		f, ok = float64(n), true
	}
	if !ok || math.IsNaN(f) || f < low || f > high {
		return 0, fmt.Errorf("%s is not a number from %g to %g", sexp.Print(v), low, high)
	}
	return f, nil
}

// word reads a name written as a string or symbol; nil is "".
func word(v sexp.Value) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case sexp.Symbol:
		if v == sexp.Nil {
			return "", nil
		}
		return string(v), nil
	}
	return "", fmt.Errorf("%s is not a name", sexp.Print(v))
}

func orNil(s string) sexp.Value {
	if s == "" {
		return sexp.Nil
	}
	return s
}

// alist builds ((k . v) …) from k, v, k, v…
func alist(kv ...any) sexp.Value {
	var pairs []sexp.Value
	for i := 0; i < len(kv); i += 2 {
		pairs = append(pairs, &sexp.Cons{Car: sexp.Symbol(kv[i].(string)), Cdr: kv[i+1]})
	}
	return sexp.List(pairs...)
}

func stringList(xs []string) sexp.Value {
	vs := make([]sexp.Value, len(xs))
	for i, x := range xs {
		vs[i] = x
	}
	return sexp.List(vs...)
}

func printLastEval(s *State) sexp.Value {
	e := s.LastEval
	if e == (LastEval{}) {
		return sexp.Nil
	}
	fields := []any{"tick", int64(e.Tick), "form", orNil(e.Form), "success", truth(e.Success),
		"result", orNil(e.Result), "error", orNil(e.Error), "skipped", truth(e.Skipped)}
	if e.Sources != "" {
		fields = append(fields, "sources", e.Sources)
	}
	return alist(fields...)
}

func truth(b bool) sexp.Value {
	if b {
		return sexp.T
	}
	return sexp.Nil
}

func readLastEval(s *State, v sexp.Value) error {
	var e LastEval
	for key, at := range map[sexp.Symbol]*string{"form": &e.Form, "result": &e.Result, "error": &e.Error, "sources": &e.Sources} {
		if x, ok := sexp.Get(v, key); ok {
			str, err := word(x)
			if err != nil {
				return err
			}
			*at = str
		}
	}
	if x, ok := sexp.Get(v, "tick"); ok {
		n, err := whole(x, 0, math.MaxInt32)
		if err != nil {
			return err
		}
		e.Tick = n
	}
	isTrue := func(key sexp.Symbol) bool { x, ok := sexp.Get(v, key); return ok && x != sexp.Nil }
	e.Success, e.Skipped = isTrue("success"), isTrue("skipped")
	s.LastEval = e
	return nil
}
