package eval

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"amacs/consciousness/sexp"
)

// Func is a function of the host.
type Func struct {
	Name string
	Args string // as help shows them: "ID &key :concern :buffers"
	Doc  string // one line
	// Min and Max count the positional arguments; Max < 0 is any number.
	Min, Max int
	// Keys are the keywords, such as ":concern", that may follow the positional
	// arguments with a value each. Without any, a keyword is an argument like others.
	Keys []string
	// Waits says that Call waits for the world or for a human: the run's time
	// stands still meanwhile, and only the ctx of Run ends it.
	Waits bool
	// Call does the work. An *Error it returns is signalled as it is, another
	// error as (error "text"); a nil Value is the list nil. It must heed ctx.
	Call func(ctx context.Context, a Args) (sexp.Value, error)
}

// Args are the evaluated arguments of a [Func]. Unlike the built-in functions,
// its accessors coerce where nothing can be mistaken: a symbol or number is taken
// for text, digits for a number.
type Args struct {
	list []Value
	keys map[Symbol]Value
}

// Len counts the positional arguments.
func (a Args) Len() int { return len(a.list) }

// Value returns the i-th positional argument, nil (the symbol) if it is absent.
func (a Args) Value(i int) Value {
	if i < 0 || i >= len(a.list) {
		return sexp.Nil
	}
	return a.list[i]
}

// Optional returns the i-th positional argument, false if it is absent or nil.
func (a Args) Optional(i int) (Value, bool) {
	v := a.Value(i)
	return v, v != sexp.Nil
}

// String returns the i-th argument as text: a symbol's name, a number's digits.
func (a Args) String(i int) (string, error) { return text(a.Value(i)) }

// Int returns the i-th argument as an integer.
func (a Args) Int(i int) (int64, error) { return integer(a.Value(i)) }

// Key returns the value behind a keyword, false if it was not given.
func (a Args) Key(name string) (Value, bool) {
	v, ok := a.keys[Symbol(name)]
	return v, ok
}

// Text returns the value behind a keyword as text, "" if absent or nil.
func (a Args) Text(key string) (string, error) {
	v, ok := a.Key(key)
	if !ok || v == sexp.Nil {
		return "", nil
	}
	return text(v)
}

// Texts returns the value behind a keyword as a list of texts; a single text
// counts as a list of one.
func (a Args) Texts(key string) ([]string, error) {
	v, ok := a.Key(key)
	if !ok || v == sexp.Nil {
		return nil, nil
	}
	elements, err := sexp.Slice(v)
	if vector, ok := v.(sexp.Vector); ok {
		elements, err = vector, nil
	}
	if err != nil {
		elements = []Value{v}
	}
	out := make([]string, len(elements))
	for i, element := range elements {
		if out[i], err = text(element); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Count returns the value behind a keyword as a number that is not negative,
// otherwise if it is absent or nil.
func (a Args) Count(key string, otherwise int) (int, error) {
	v, ok := a.Key(key)
	if !ok || v == sexp.Nil {
		return otherwise, nil
	}
	n, err := integer(v)
	if err == nil && (n < 0 || n > math.MaxInt) {
		err = wrongType("natnump", v)
	}
	return int(n), err
}

func text(v Value) (string, error) {
	switch x := v.(type) {
	case string:
		return x, nil
	case Symbol:
		if x != sexp.Nil {
			return string(x), nil
		}
	case int64, float64:
		return sexp.Print(x), nil
	}
	return "", wrongType("stringp", v)
}

func integer(v Value) (int64, error) {
	switch x := v.(type) {
	case int64:
		return x, nil
	case float64:
		if n := int64(x); float64(n) == x && math.Abs(x) < 1<<53 {
			return n, nil
		}
	case string:
		if n, err := strconv.ParseInt(strings.TrimSpace(x), 10, 64); err == nil {
			return n, nil
		}
	}
	return 0, wrongType("integerp", v)
}

// builtin makes the function one of the machine's.
func (f Func) builtin() builtin {
	return builtin{min: 0, max: -1, call: func(m *machine, list []Value) (Value, error) {
		a, err := f.args(list)
		if err != nil {
			return nil, err
		}
		ctx := m.clock.ctx
		if f.Waits {
			ctx = m.clock.around
			m.clock.pause()
			defer m.clock.resume()
		}
		v, err := f.Call(ctx, a)
		if err != nil {
			return nil, m.asError(err)
		}
		return m.adopt(v, 0)
	}}
}

// args sorts the arguments into positional ones and keywords.
func (f Func) args(list []Value) (Args, error) {
	split := len(list)
	if len(f.Keys) > 0 {
		if i := slices.IndexFunc(list, isKeyword); i >= 0 {
			split = i
		}
	}
	if split < f.Min || f.Max >= 0 && split > f.Max {
		err := fail("wrong-number-of-arguments", Symbol(f.Name), int64(split))
		err.Hint = "the form is " + f.usage()
		return Args{}, err
	}
	a := Args{list: list[:split], keys: map[Symbol]Value{}}
	for rest := list[split:]; len(rest) > 0; rest = rest[2:] {
		key, _ := rest[0].(Symbol)
		if !slices.Contains(f.Keys, string(key)) {
			shown, _ := sexp.PrintWithin(rest[0], false, 100)
			return Args{}, plainError(fmt.Sprintf("%s: unknown keyword %s; known: %s", f.Name, shown, strings.Join(f.Keys, ", ")))
		}
		if len(rest) == 1 {
			return Args{}, plainError(fmt.Sprintf("%s: no value after %s; the form is %s", f.Name, key, f.usage()))
		}
		if _, twice := a.keys[key]; !twice { // the first one counts, as in a plist
			a.keys[key] = rest[1]
		}
	}
	return a, nil
}

func (f Func) usage() string { return strings.TrimSuffix("("+f.Name+" "+f.Args, " ") + ")" }

func isKeyword(v Value) bool {
	s, ok := v.(Symbol)
	return ok && strings.HasPrefix(string(s), ":")
}

// adopt turns a Go value into a Lisp one, a copy that is charged for. nil, bool
// and int stand for what they mean.
func (m *machine) adopt(v Value, depth int) (Value, error) {
	if depth > m.limits.Depth {
		return nil, plainError("a value of the host nests too deep")
	}
	switch x := v.(type) {
	case nil:
		return sexp.Nil, nil
	case bool:
		return truth(x), nil
	case int:
		return int64(x), nil
	case Symbol, int64, float64, *closure:
		return v, nil
	case string:
		return m.text(x)
	case sexp.Vector:
		out := make([]Value, len(x))
		for i, element := range x {
			var err error
			if out[i], err = m.adopt(element, depth+1); err != nil {
				return nil, err
			}
		}
		return m.vector(out)
	case *sexp.Cons:
		var out []Value
		tail := v
		for {
			c, ok := tail.(*sexp.Cons)
			if !ok {
				break
			}
			element, err := m.adopt(c.Car, depth+1)
			if err != nil {
				return nil, err
			}
			if err := m.charge(cellSize); err != nil { // now, lest a circle go on
				return nil, err
			}
			out = append(out, element)
			tail = c.Cdr
		}
		end, err := m.adopt(tail, depth+1)
		if err != nil {
			return nil, err
		}
		return m.listEnding(out, end)
	}
	return nil, plainError(fmt.Sprintf("a value of the host is no Lisp value: %T", v))
}
