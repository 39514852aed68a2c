package sexp

import (
	"errors"
	"math"
	"reflect"
)

// maxDepth is how deep forms nest, in the reader, the printer and [Equal].
const maxDepth = 1000

// maxSteps ends Equal on data that shares or repeats itself without end.
const maxSteps = 100_000_000

// Value is a Symbol, string, int64, float64, *Cons or Vector. The empty list
// is the symbol nil; a Go nil counts as nil too. Other Go types may stand in a
// value (an evaluator's functions): they print as their String method says, or
// as #<…>, and can not be read back.
type Value any

// Symbol is an interned name. A keyword begins with ':'.
type Symbol string

// Cons is a pair.
type Cons struct{ Car, Cdr Value }

// Vector is [a b c].
type Vector []Value

// Nil is false and the empty list, T is true.
const (
	Nil = Symbol("nil")
	T   = Symbol("t")
)

// List returns the proper list of vs.
func List(vs ...Value) Value {
	var list Value = Nil
	for i := len(vs) - 1; i >= 0; i-- {
		list = &Cons{vs[i], list}
	}
	return list
}

// Slice returns the elements of a proper list. It is an error if v is not a
// list, ends in a dotted tail or runs in a circle.
func Slice(v Value) ([]Value, error) {
	var out []Value
	tail, circle := walk(v, func(c *Cons) bool {
		out = append(out, c.Car)
		return true
	})
	switch {
	case circle:
		return nil, errors.New("list runs in a circle")
	case tail != Nil && len(out) == 0:
		return nil, errors.New("not a list: " + brief(v))
	case tail != Nil:
		return nil, errors.New("list ends in a dotted tail: " + brief(tail))
	}
	return out, nil
}

func brief(v Value) string {
	text, whole := PrintWithin(v, false, 60)
	if !whole {
		text += "…"
	}
	return text
}

// Get returns the value of the first pair of alist whose car is key. Elements
// that are not pairs are passed over, as in Emacs' assq.
func Get(alist Value, key Symbol) (Value, bool) {
	var value Value
	found := false
	walk(alist, func(c *Cons) bool {
		if pair, ok := c.Car.(*Cons); ok && pair.Car == Value(key) {
			value, found = clean(pair.Cdr), true
		}
		return !found
	})
	return value, found
}

// walk calls visit for each cell of a list until it returns false. It returns
// what the last cell ends in (Nil for a proper list), and whether the list
// runs in a circle (found by Brent's algorithm).
func walk(v Value, visit func(*Cons) bool) (tail Value, circle bool) {
	var mark *Cons
	for n, next := 0, 1; ; n++ {
		c, ok := v.(*Cons)
		if !ok {
			return clean(v), false
		}
		if c == mark {
			return c, true
		}
		if n == next {
			mark, next = c, 2*next
		}
		if !visit(c) {
			return c.Cdr, false
		}
		v = c.Cdr
	}
}

// clean turns a Go nil into Nil.
func clean(v Value) Value {
	if v == nil {
		return Nil
	}
	return v
}

// Equal reports whether a and b print alike: Emacs' equal, with 0.0 and -0.0
// different and a NaN equal to itself. Values nested deeper than 1,000, or too
// large to compare in 100 million steps, are not equal.
func Equal(a, b Value) bool {
	equal, _, _ := EqualWithin(a, b, maxSteps)
	return equal
}

// EqualWithin is [Equal] with a bound on the work, and says how many steps it
// took. done is false if the steps or the depth did not suffice; equal is then
// false too.
func EqualWithin(a, b Value, steps int) (equal, done bool, used int) {
	e := equality{left: steps}
	equal = e.same(a, b, 0)
	return equal && !e.over, !e.over, steps - max(e.left, 0)
}

type equality struct {
	left int
	over bool
}

func (e *equality) same(a, b Value, depth int) bool {
	for {
		if e.left--; e.left < 0 || depth > maxDepth {
			e.over = true
			return false
		}
		a, b = clean(a), clean(b)
		x, ok := a.(*Cons)
		if !ok {
			return e.sameAtom(a, b, depth)
		}
		y, ok := b.(*Cons)
		if !ok {
			return false
		}
		if x == y {
			return true
		}
		if !e.same(x.Car, y.Car, depth+1) {
			return false
		}
		a, b = x.Cdr, y.Cdr
	}
}

func (e *equality) sameAtom(a, b Value, depth int) bool {
	switch x := a.(type) {
	case float64:
		y, ok := b.(float64)
		return ok && math.Float64bits(x) == math.Float64bits(y)
	case Vector:
		y, ok := b.(Vector)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !e.same(x[i], y[i], depth+1) {
				return false
			}
		}
		return true
	}
	t := reflect.TypeOf(a)
	return t == reflect.TypeOf(b) && t.Comparable() && a == b
}
