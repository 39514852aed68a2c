package eval

import (
	"errors"

	"amacs/consciousness/sexp"
)

// specialForms is the table of what does not evaluate its arguments first.
func specialForms() map[Symbol]form {
	return map[Symbol]form{
		"quote":            {1, 1, func(_ *machine, a []Value, _ *scope) (Value, error) { return a[0], nil }},
		"function":         {1, 1, function},
		"lambda":           {0, -1, lambda},
		"defun":            {2, -1, func(m *machine, a []Value, _ *scope) (Value, error) { return m.define(a, false) }},
		"defmacro":         {2, -1, func(m *machine, a []Value, _ *scope) (Value, error) { return m.define(a, true) }},
		"declare":          {0, -1, nothing},
		"interactive":      {0, -1, nothing},
		"`":                {1, 1, func(m *machine, a []Value, env *scope) (Value, error) { return m.backquote(a[0], 1, env) }},
		"progn":            {0, -1, (*machine).progn},
		"prog1":            {1, -1, func(m *machine, a []Value, env *scope) (Value, error) { return m.nth(a, 0, env) }},
		"prog2":            {2, -1, func(m *machine, a []Value, env *scope) (Value, error) { return m.nth(a, 1, env) }},
		"let":              {1, -1, let},
		"let*":             {1, -1, letStar},
		"if-let":           {2, -1, ifLet},
		"when-let":         {1, -1, func(m *machine, a []Value, env *scope) (Value, error) { return whenLet(m, a, env) }},
		"setq":             {0, -1, setq},
		"push":             {2, 2, push},
		"pop":              {1, 1, pop},
		"if":               {2, -1, ifForm},
		"when":             {1, -1, func(m *machine, a []Value, env *scope) (Value, error) { return m.branch(a, env, true) }},
		"unless":           {1, -1, func(m *machine, a []Value, env *scope) (Value, error) { return m.branch(a, env, false) }},
		"cond":             {0, -1, cond},
		"and":              {0, -1, and},
		"or":               {0, -1, or},
		"while":            {1, -1, while},
		"dolist":           {1, -1, dolist},
		"dotimes":          {1, -1, dotimes},
		"catch":            {1, -1, catch},
		"unwind-protect":   {1, -1, unwindProtect},
		"condition-case":   {2, -1, conditionCase},
		"ignore-errors":    {0, -1, ignoreErrors},
		"save-match-data":  {0, -1, (*machine).progn},
		"with-no-warnings": {0, -1, (*machine).progn},
	}
}

func nothing(*machine, []Value, *scope) (Value, error) { return sexp.Nil, nil }

func function(m *machine, a []Value, env *scope) (Value, error) {
	if c, ok := a[0].(*sexp.Cons); ok && c.Car == Symbol("lambda") {
		return m.lambdaForm(c, env)
	}
	return a[0], nil
}

func lambda(m *machine, a []Value, env *scope) (Value, error) {
	if len(a) == 0 {
		return m.closure("", sexp.Nil, nil, env)
	}
	return m.closure("", a[0], a[1:], env)
}

// define is defun and defmacro. What is built in stays as it is.
func (m *machine) define(a []Value, macro bool) (Value, error) {
	name, ok := a[0].(Symbol)
	if !ok {
		return nil, wrongType("symbolp", a[0])
	}
	_, isForm := m.forms[name]
	_, isBuiltin := m.builtin[name]
	if isForm || isBuiltin || isConstant(name) {
		return nil, plainError(string(name) + " is built in and can not be defined again; choose another name")
	}
	c, err := m.closure(string(name), a[1], a[2:], nil)
	if err != nil {
		return nil, err
	}
	c.macro = macro
	m.defined[name] = c
	return name, nil
}

// nth evaluates all forms and returns the value of the i-th.
func (m *machine) nth(forms []Value, i int, env *scope) (Value, error) {
	if _, err := m.progn(forms[:i], env); err != nil {
		return nil, err
	}
	v, err := m.eval(forms[i], env)
	if err != nil {
		return nil, err
	}
	_, err = m.progn(forms[i+1:], env)
	return v, err
}

func ifForm(m *machine, a []Value, env *scope) (Value, error) {
	test, err := m.eval(a[0], env)
	if err != nil {
		return nil, err
	}
	if test != sexp.Nil {
		return m.eval(a[1], env)
	}
	return m.progn(a[2:], env)
}

// branch evaluates a body if the test in front of it comes out as wanted.
func (m *machine) branch(a []Value, env *scope, wanted bool) (Value, error) {
	test, err := m.eval(a[0], env)
	if err != nil || (test != sexp.Nil) != wanted {
		return sexp.Nil, err
	}
	return m.progn(a[1:], env)
}

func cond(m *machine, a []Value, env *scope) (Value, error) {
	for _, clause := range a {
		parts, err := m.elements(clause)
		if err != nil {
			return nil, err
		}
		if len(parts) == 0 {
			continue
		}
		test, err := m.eval(parts[0], env)
		switch {
		case err != nil:
			return nil, err
		case test == sexp.Nil:
			continue
		case len(parts) == 1:
			return test, nil
		}
		return m.progn(parts[1:], env)
	}
	return sexp.Nil, nil
}

func and(m *machine, a []Value, env *scope) (v Value, err error) {
	v = sexp.T
	for _, form := range a {
		if v, err = m.eval(form, env); err != nil || v == sexp.Nil {
			return v, err
		}
	}
	return v, nil
}

func or(m *machine, a []Value, env *scope) (Value, error) {
	for _, form := range a {
		if v, err := m.eval(form, env); err != nil || v != sexp.Nil {
			return v, err
		}
	}
	return sexp.Nil, nil
}

func while(m *machine, a []Value, env *scope) (Value, error) {
	for {
		test, err := m.eval(a[0], env)
		if err != nil || test == sexp.Nil {
			return sexp.Nil, err
		}
		if _, err := m.progn(a[1:], env); err != nil {
			return nil, err
		}
	}
}

// loopHead takes (VAR FORM [RESULT]) apart.
func (m *machine) loopHead(v Value, env *scope) (name Symbol, value Value, result []Value, err error) {
	parts, err := m.elements(v)
	if err != nil {
		return "", nil, nil, err
	}
	if len(parts) < 2 || len(parts) > 3 {
		return "", nil, nil, fail("wrong-number-of-arguments", v, int64(len(parts)))
	}
	name, ok := parts[0].(Symbol)
	if !ok {
		return "", nil, nil, wrongType("symbolp", parts[0])
	}
	value, err = m.eval(parts[1], env)
	return name, value, parts[2:], err
}

func dolist(m *machine, a []Value, env *scope) (Value, error) {
	name, list, result, err := m.loopHead(a[0], env)
	if err != nil {
		return nil, err
	}
	for list != sexp.Nil {
		c, ok := list.(*sexp.Cons)
		if !ok {
			return nil, wrongType("listp", list)
		}
		inner, err := m.bind(env, name, c.Car)
		if err != nil {
			return nil, err
		}
		if err := m.work(1); err != nil {
			return nil, err
		}
		if _, err := m.progn(a[1:], inner); err != nil {
			return nil, err
		}
		list = c.Cdr
	}
	inner, err := m.bind(env, name, sexp.Nil)
	if err != nil {
		return nil, err
	}
	return m.progn(result, inner)
}

func dotimes(m *machine, a []Value, env *scope) (Value, error) {
	name, count, result, err := m.loopHead(a[0], env)
	if err != nil {
		return nil, err
	}
	n, err := number(count)
	if err != nil {
		return nil, err
	}
	i := int64(0)
	for ; n.compare(num{i: i}) > 0; i++ {
		inner, err := m.bind(env, name, i)
		if err != nil {
			return nil, err
		}
		if err := m.work(1); err != nil {
			return nil, err
		}
		if _, err := m.progn(a[1:], inner); err != nil {
			return nil, err
		}
	}
	inner, err := m.bind(env, name, i)
	if err != nil {
		return nil, err
	}
	return m.progn(result, inner)
}

func catch(m *machine, a []Value, env *scope) (Value, error) {
	tag, err := m.eval(a[0], env)
	if err != nil {
		return nil, err
	}
	m.catches = append(m.catches, tag)
	v, err := m.progn(a[1:], env)
	m.catches = m.catches[:len(m.catches)-1]
	if t, ok := errors.AsType[*thrown](err); ok && same(t.tag, tag) {
		return t.value, nil
	}
	return v, err
}

func unwindProtect(m *machine, a []Value, env *scope) (Value, error) {
	v, err := m.eval(a[0], env)
	if _, cleanup := m.progn(a[1:], env); cleanup != nil {
		return nil, cleanup
	}
	return v, err
}

func ignoreErrors(m *machine, a []Value, env *scope) (Value, error) {
	v, err := m.progn(a, env)
	if e, ok := errors.AsType[*Error](err); ok && !e.Limit && e.matches(Symbol("error")) {
		return sexp.Nil, nil
	}
	return v, err
}

// conditionCase is (condition-case VAR FORM (CONDITION BODY…)…).
func conditionCase(m *machine, a []Value, env *scope) (Value, error) {
	name, ok := a[0].(Symbol)
	if !ok {
		return nil, wrongType("symbolp", a[0])
	}
	v, err := m.eval(a[1], env)
	e, isError := errors.AsType[*Error](err)
	if err != nil && (!isError || e.Limit) {
		return nil, err
	}
	for _, clause := range a[2:] {
		c, ok := clause.(*sexp.Cons)
		if !ok || !handles(c.Car, e) {
			continue
		}
		if e != nil {
			v = e.value()
		}
		inner := env
		if name != sexp.Nil {
			var err error
			if inner, err = m.bind(env, name, v); err != nil {
				return nil, err
			}
		}
		body, err := m.elements(c.Cdr)
		if err != nil {
			return nil, err
		}
		return m.progn(body, inner)
	}
	return v, err
}

// handles reports whether a handler for condition, a symbol or a list of them,
// is meant for e; no error at all is for :success.
func handles(condition Value, e *Error) bool {
	if e == nil {
		return condition == Symbol(":success")
	}
	if several, ok := condition.(*sexp.Cons); ok {
		list, err := sexp.Slice(several)
		if err != nil {
			return false
		}
		for _, one := range list {
			if handles(one, e) {
				return true
			}
		}
		return false
	}
	s, ok := condition.(Symbol)
	return ok && e.matches(s)
}
