package consciousness

import (
	"fmt"
	"math"
	"slices"

	"amacs/consciousness/sexp"
	"amacs/threads"
)

// threadField is one entry of a thread's alist; those not must are left out
// where they are empty.
type threadField struct {
	key  sexp.Symbol
	get  func(threads.Thread) sexp.Value
	set  func(*threads.Thread, sexp.Value) error
	must bool
}

var threadFields = []threadField{
	{"id", func(t threads.Thread) sexp.Value { return string(t.ID) }, func(t *threads.Thread, v sexp.Value) error {
		s, err := word(v)
		if err != nil {
			return err
		}
		t.ID, err = threads.ParseID(s)
		return err
	}, true},
	threadText("concern", func(t *threads.Thread) *string { return &t.Concern }, true),
	threadText("goal", func(t *threads.Thread) *string { return &t.Goal }, false),
	threadNames("buffers", func(t *threads.Thread) *[]string { return &t.Buffers }, true),
	threadNames("skills", func(t *threads.Thread) *[]string { return &t.Skills }, false),
	threadNumber("started", func(t *threads.Thread) *int { return &t.Started }),
	threadText("evidence", func(t *threads.Thread) *string { return &t.Evidence }, false),
	threadText("learned", func(t *threads.Thread) *string { return &t.Learned }, false),
	threadNumber("completed", func(t *threads.Thread) *int { return &t.Completed }),
}

func threadText(key sexp.Symbol, at func(*threads.Thread) *string, must bool) threadField {
	return threadField{key,
		func(t threads.Thread) sexp.Value { return orNil(*at(&t)) },
		func(t *threads.Thread, v sexp.Value) (err error) { *at(t), err = word(v); return err },
		must}
}

func threadNumber(key sexp.Symbol, at func(*threads.Thread) *int) threadField {
	return threadField{key,
		func(t threads.Thread) sexp.Value {
			if *at(&t) == 0 {
				return sexp.Nil
			}
			return int64(*at(&t))
		},
		func(t *threads.Thread, v sexp.Value) (err error) {
			if v == sexp.Nil {
				return nil
			}
			*at(t), err = whole(v, 0, math.MaxInt32)
			return err
		},
		false}
}

func threadNames(key sexp.Symbol, at func(*threads.Thread) *[]string, must bool) threadField {
	return threadField{key,
		func(t threads.Thread) sexp.Value { return stringList(*at(&t)) },
		func(t *threads.Thread, v sexp.Value) error {
			vs, err := sexp.Slice(v)
			if err != nil {
				return fmt.Errorf("%s is not a list", sexp.Print(v))
			}
			for _, v := range vs {
				s, err := word(v)
				if err != nil {
					return err
				}
				*at(t) = append(*at(t), s)
			}
			return nil
		},
		must}
}

func threadAlist(t threads.Thread) sexp.Value {
	var pairs []sexp.Value
	for _, f := range threadFields {
		if v := f.get(t); f.must || v != sexp.Nil {
			pairs = append(pairs, &sexp.Cons{Car: f.key, Cdr: v})
		}
	}
	return sexp.List(pairs...)
}

func threadList(ts []threads.Thread) sexp.Value {
	vs := make([]sexp.Value, len(ts))
	for i, t := range ts {
		vs[i] = threadAlist(t)
	}
	return sexp.List(vs...)
}

func readThread(v sexp.Value) (t threads.Thread, err error) {
	for _, f := range threadFields {
		x, ok := sexp.Get(v, f.key)
		if !ok {
			if f.key == "id" {
				return t, fmt.Errorf("a thread has no id: %s", sexp.Print(v))
			}
			continue
		}
		if err := f.set(&t, x); err != nil {
			return t, fmt.Errorf("%s: %w", f.key, err)
		}
	}
	return t, nil
}

// readThreads reads a list of threads. One that does not fit is left out, with
// an error for the first such; the others are read all the same.
func readThreads(v sexp.Value) (ts []threads.Thread, err error) {
	vs, bad := sexp.Slice(v)
	if bad != nil {
		return nil, fmt.Errorf("%s is not a list of threads", sexp.Print(v))
	}
	for _, v := range vs {
		t, bad := readThread(v)
		if bad == nil && slices.ContainsFunc(ts, func(o threads.Thread) bool { return o.ID == t.ID }) {
			bad = fmt.Errorf("thread %q is there twice", t.ID)
		}
		if bad == nil {
			ts = append(ts, t)
		} else if err == nil {
			err = bad
		}
	}
	return ts, err
}
