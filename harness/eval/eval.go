// Package eval runs the elisp-like language in which the agent acts.
//
// The text is what a reply carries in its eval field (RFC v4 §7):
//
//	(agent-create-thread "rust-debugging" :concern "Fix ownership error"
//	                     :buffers '("src/main.rs"))
//	(mapcar (lambda (n) (* n n)) (number-sequence 1 3))
//
// The language is total and closed. Values are those of [sexp] and functions;
// the forms and functions are the part of Emacs Lisp that needs no buffer, file,
// clock or process, with Emacs' results and error messages ([Names] lists them;
// testdata/emacs.el says where they differ and why). The world is reached only
// through the [Func]s that the caller hands to [Run], and [Limits] end what runs
// away with an error that no handler catches.
//
// Three things are simpler than in Emacs: variables are always lexical, no value
// changes once it is made (sort, delete or nreverse return a new list), and
// integers have 64 bits, with an overflow-error beyond.
//
// Begin reading at [Run], then machine.go.
package eval

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"amacs/consciousness/sexp"
	"amacs/harness/nearest"
)

// Value is a [sexp.Value] or a function made by lambda.
type Value = sexp.Value

// Symbol is a [sexp.Symbol].
type Symbol = sexp.Symbol

// Limits bound one [Run].
type Limits struct {
	Steps  int           // forms evaluated and comparable units of work
	Depth  int           // forms and calls within each other
	Time   time.Duration // by the clock
	Memory int64         // bytes of all values made, those dropped again included
	Output int           // bytes of Result.Text, and of Result.Messages together
}

// DefaultLimits is enough for anything an agent does in a tick: a million
// steps, a depth of 800 as in Emacs, 10 seconds, 64 MiB, 16 KiB of output.
func DefaultLimits() Limits {
	return Limits{Steps: 1_000_000, Depth: 800, Time: 10 * time.Second, Memory: 64 << 20, Output: 16 << 10}
}

// Result is what a [Run] came to.
type Result struct {
	Value    Value    // of the last form; nil (the symbol) for none, and after an error
	Text     string   // Value as prin1 writes it, cut to Limits.Output with a mark; empty after an error
	Messages []string // of (message …), in order
	Err      *Error
	Steps    int
}

// cutMark ends a Text that was cut.
const cutMark = "[...truncated...]"

// Run reads all forms of src and then evaluates them in order, with funcs beside
// the built-in functions and vars as variables. A form that can not be read keeps
// all from running. The time limit bounds the ctx that functions get, but for
// those that wait; one that does not heed it can not be interrupted.
func Run(ctx context.Context, src string, funcs []Func, vars map[Symbol]Value, lim Limits) (res Result) {
	clock := startClock(ctx, lim.Time)
	defer clock.end()
	m := newMachine(clock, funcs, vars, lim)
	defer func() {
		if r := recover(); r != nil { // can not happen; a mistake here must not end the program
			res = Result{Value: sexp.Nil, Err: &Error{Symbol: "internal-error", Data: sexp.List(fmt.Sprint(r))}}
		}
		res.Messages, res.Steps = m.messages, m.steps
	}()
	value, err := m.run(src)
	if err != nil {
		return Result{Value: sexp.Nil, Err: m.explain(err)}
	}
	text, whole := sexp.PrintWithin(value, false, lim.Output)
	if !whole {
		text, _ = sexp.PrintWithin(value, false, max(0, lim.Output-len(cutMark)))
		text = strings.TrimSuffix(text, "#long") + cutMark
	}
	return Result{Value: value, Text: text}
}

// run reads and evaluates src.
func (m *machine) run(src string) (Value, error) {
	if err := m.chargeReading(src); err != nil {
		return nil, err
	}
	forms, err := sexp.ReadAll(src)
	if err != nil {
		return nil, readError(err)
	}
	return m.progn(forms, nil)
}

// explain turns what ended the run into an Error, with the nearest names for
// an unknown one.
func (m *machine) explain(err error) *Error {
	if t, ok := errors.AsType[*thrown](err); ok { // can not happen: throw looks for its catch
		return fail("no-catch", t.tag, t.value)
	}
	e := m.asError(err)
	if e.Hint != "" || e.Limit {
		return e
	}
	var known []string
	switch e.Symbol {
	case "void-function":
		known = m.functionNames()
	case "void-variable":
		known = e.scope.names(slices.Collect(maps.Keys(m.globals)))
	default:
		return e
	}
	name := ""
	if c, ok := e.Data.(*sexp.Cons); ok {
		if s, ok := c.Car.(Symbol); ok {
			name = string(s)
		}
	}
	e = &Error{Symbol: e.Symbol, Data: e.Data}
	if near := nearest.Names(name, known, 3); len(near) > 0 {
		e.Hint = "nearest: " + strings.Join(near, ", ")
	} else if m.isFunction(Symbol(name)) {
		e.Hint = fmt.Sprintf("it is a function: write (%s …) or #'%s", name, name)
	}
	return e
}

// Names lists every built-in form and function, sorted.
func Names() []string {
	names := slices.Collect(maps.Keys(specialForms()))
	names = slices.AppendSeq(names, maps.Keys(builtins()))
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	slices.Sort(out)
	return out
}
