package eval

import (
	"maps"
	"slices"

	"amacs/consciousness/sexp"
)

// builtins is the table of functions, a fresh map for each machine.
func builtins() map[Symbol]builtin {
	all := map[Symbol]builtin{}
	for _, family := range []map[Symbol]builtin{
		controlFunctions(), typeFunctions(), listFunctions(), alistFunctions(), sequenceFunctions(),
		numberFunctions(), stringFunctions(), textFunctions(), regexpFunctions(),
	} {
		maps.Copy(all, family)
	}
	return all
}

func controlFunctions() map[Symbol]builtin {
	return map[Symbol]builtin{
		"identity": {1, 1, func(_ *machine, a []Value) (Value, error) { return a[0], nil }},
		"ignore":   {0, -1, func(*machine, []Value) (Value, error) { return sexp.Nil, nil }},
		"funcall":  {1, -1, func(m *machine, a []Value) (Value, error) { return m.apply(a[0], a[1:]) }},
		"apply":    {1, -1, applyFunction},
		"eval": {1, 2, func(m *machine, a []Value) (Value, error) {
			if err := m.enter(); err != nil {
				return nil, err
			}
			defer m.leave()
			return m.eval(a[0], nil)
		}},
		"macroexpand": {1, 1, macroexpand},
		"throw": {2, 2, func(m *machine, a []Value) (Value, error) {
			for _, tag := range m.catches {
				if same(tag, a[0]) {
					return nil, &thrown{a[0], a[1]}
				}
			}
			return nil, fail("no-catch", a[0], a[1])
		}},
		"signal": {2, 2, func(_ *machine, a []Value) (Value, error) {
			name, ok := a[0].(Symbol)
			if !ok {
				return nil, wrongType("symbolp", a[0])
			}
			return nil, &Error{Symbol: name, Data: a[1]}
		}},
		"error":      {1, -1, func(m *machine, a []Value) (Value, error) { return m.signalText("error", a) }},
		"user-error": {1, -1, func(m *machine, a []Value) (Value, error) { return m.signalText("user-error", a) }},
		"message":    {1, -1, message},
		"error-message-string": {1, 1, func(m *machine, a []Value) (Value, error) {
			c, ok := a[0].(*sexp.Cons)
			if !ok {
				return nil, wrongType("listp", a[0])
			}
			name, _ := c.Car.(Symbol)
			return m.text(errorText(name, c.Cdr))
		}},
		"boundp": {1, 1, func(m *machine, a []Value) (Value, error) {
			name, ok := a[0].(Symbol)
			if !ok {
				return nil, wrongType("symbolp", a[0])
			}
			_, bound := m.globals[name]
			return truth(bound || isConstant(name)), nil
		}},
		"fboundp": {1, 1, func(m *machine, a []Value) (Value, error) {
			name, ok := a[0].(Symbol)
			if !ok {
				return nil, wrongType("symbolp", a[0])
			}
			_, special := m.forms[name]
			return truth(special || m.isFunction(name)), nil
		}},
	}
}

func applyFunction(m *machine, a []Value) (Value, error) {
	if len(a) == 1 {
		c, ok := a[0].(*sexp.Cons)
		if !ok {
			return nil, wrongType("listp", a[0])
		}
		list, err := m.elements(c.Cdr)
		if err != nil {
			return nil, err
		}
		return m.apply(c.Car, list)
	}
	last, err := m.elements(a[len(a)-1])
	if err != nil {
		return nil, err
	}
	return m.apply(a[0], slices.Concat(a[1:len(a)-1], last))
}

func macroexpand(m *machine, a []Value) (Value, error) {
	v := a[0]
	for {
		c, ok := v.(*sexp.Cons)
		if !ok {
			return v, nil
		}
		name, _ := c.Car.(Symbol)
		f := m.defined[name]
		if f == nil || !f.macro {
			return v, nil
		}
		args, err := m.elements(c.Cdr)
		if err != nil {
			return nil, err
		}
		if v, err = m.apply(f, args); err != nil {
			return nil, err
		}
	}
}

func (m *machine) signalText(symbol Symbol, a []Value) (Value, error) {
	text, err := m.format(a, true)
	if err != nil {
		return nil, err
	}
	return nil, fail(symbol, text)
}

// message keeps a line for the human and the next tick. (message nil) says nothing.
func message(m *machine, a []Value) (Value, error) {
	if a[0] == sexp.Nil {
		return sexp.Nil, nil
	}
	text, err := m.format(a, true)
	if err != nil {
		return nil, err
	}
	m.output += len(text)
	if m.output > m.limits.Output {
		m.stop("output-limit", "the messages are too long together")
		return nil, m.stopped
	}
	m.messages = append(m.messages, text)
	return text, nil
}

func typeFunctions() map[Symbol]builtin {
	is := func(test func(Value) bool) builtin {
		return builtin{1, 1, func(_ *machine, a []Value) (Value, error) { return truth(test(a[0])), nil }}
	}
	equality := func(test func(a, b Value) bool) builtin {
		return builtin{2, 2, func(_ *machine, a []Value) (Value, error) { return truth(test(a[0], a[1])), nil }}
	}
	return map[Symbol]builtin{
		"null": is(isNil), "not": is(isNil),
		"symbolp": is(isA[Symbol]), "stringp": is(isA[string]), "integerp": is(isA[int64]), "floatp": is(isA[float64]),
		"consp": is(isA[*sexp.Cons]), "vectorp": is(isA[sexp.Vector]), "keywordp": is(isKeyword),
		"fixnump":   is(isA[int64]),
		"natnump":   is(func(v Value) bool { n, ok := v.(int64); return ok && n >= 0 }),
		"numberp":   is(func(v Value) bool { return isA[int64](v) || isA[float64](v) }),
		"atom":      is(func(v Value) bool { return !isA[*sexp.Cons](v) }),
		"listp":     is(func(v Value) bool { return isNil(v) || isA[*sexp.Cons](v) }),
		"nlistp":    is(func(v Value) bool { return !isNil(v) && !isA[*sexp.Cons](v) }),
		"arrayp":    is(func(v Value) bool { return isA[string](v) || isA[sexp.Vector](v) }),
		"sequencep": is(func(v Value) bool { return isNil(v) || isA[*sexp.Cons](v) || isA[string](v) || isA[sexp.Vector](v) }),
		"booleanp":  is(func(v Value) bool { return isNil(v) || v == sexp.T }),
		"characterp": is(func(v Value) bool {
			n, ok := v.(int64)
			return ok && n >= 0 && n <= maxChar
		}),
		"functionp": {1, 1, func(m *machine, a []Value) (Value, error) { return truth(m.callable(a[0])), nil }},
		"type-of":   {1, 1, func(_ *machine, a []Value) (Value, error) { return typeOf(a[0]), nil }},
		"eq":        equality(same), "eql": equality(same),
		"equal": {2, 2, func(m *machine, a []Value) (Value, error) {
			equal, err := m.equal(a[0], a[1])
			return truth(equal), err
		}},
	}
}

func isNil(v Value) bool { return v == sexp.Nil }

func isA[T any](v Value) bool {
	_, ok := v.(T)
	return ok
}

// callable reports whether funcall would take v.
func (m *machine) callable(v Value) bool {
	if name, ok := v.(Symbol); ok {
		c := m.defined[name]
		return m.isFunction(name) && (c == nil || !c.macro)
	}
	_, err := m.lambdaForm(v, nil)
	return err == nil
}

func typeOf(v Value) Symbol {
	switch v.(type) {
	case Symbol:
		return "symbol"
	case string:
		return "string"
	case int64:
		return "integer"
	case float64:
		return "float"
	case *sexp.Cons:
		return "cons"
	case sexp.Vector:
		return "vector"
	}
	return "function"
}

// same is eq and eql: strings with the same bytes are the same, as are numbers
// of the same type and value.
func same(a, b Value) bool {
	switch x := a.(type) {
	case float64, string:
		return sexp.Equal(a, b)
	case sexp.Vector:
		y, ok := b.(sexp.Vector)
		return ok && len(x) == len(y) && (len(x) == 0 || &x[0] == &y[0])
	}
	return !isA[sexp.Vector](b) && a == b
}

// equal is Emacs' equal, its work counted.
func (m *machine) equal(a, b Value) (bool, error) {
	const cheap = 16 // comparisons for a step
	equal, done, used := sexp.EqualWithin(a, b, cheap*max(1, m.limits.Steps-m.steps+1))
	if err := m.work(used / cheap); err != nil {
		return false, err
	}
	if !done {
		return false, plainError("values nest too deep to compare")
	}
	return equal, nil
}
