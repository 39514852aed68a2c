package eval

import "amacs/consciousness/sexp"

// binding takes one variable of a let apart: VAR, (VAR) or (VAR FORM).
func (m *machine) binding(v Value, env *scope) (Symbol, Value, error) {
	if name, ok := v.(Symbol); ok {
		return name, sexp.Nil, nil
	}
	parts, err := m.elements(v)
	if err != nil {
		return "", nil, err
	}
	if len(parts) > 2 {
		return "", nil, fail("error", append([]Value{"`let' bindings can have only one value-form"}, parts...)...)
	}
	if len(parts) == 0 {
		return "", nil, wrongType("symbolp", v)
	}
	name, ok := parts[0].(Symbol)
	if !ok {
		return "", nil, wrongType("symbolp", parts[0])
	}
	value, err := m.progn(parts[1:], env)
	return name, value, err
}

func let(m *machine, a []Value, env *scope) (Value, error) {
	list, err := m.elements(a[0])
	if err != nil {
		return nil, err
	}
	inner := env
	for _, v := range list {
		name, value, err := m.binding(v, env)
		if err != nil {
			return nil, err
		}
		if inner, err = m.bind(inner, name, value); err != nil {
			return nil, err
		}
	}
	return m.progn(a[1:], inner)
}

func letStar(m *machine, a []Value, env *scope) (Value, error) {
	list, err := m.elements(a[0])
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		name, value, err := m.binding(v, env)
		if err != nil {
			return nil, err
		}
		if env, err = m.bind(env, name, value); err != nil {
			return nil, err
		}
	}
	return m.progn(a[1:], env)
}

// bindAll binds (VAR FORM)… in order as long as no value is nil. A single
// (VAR FORM) may stand without the outer parentheses.
func (m *machine) bindAll(v Value, env *scope) (inner *scope, all bool, err error) {
	list, err := m.elements(v)
	if err != nil {
		return nil, false, err
	}
	if len(list) == 2 {
		if name, ok := list[0].(Symbol); ok && name != sexp.Nil {
			list = []Value{v}
		}
	}
	for _, v := range list {
		name, value, err := m.binding(v, env)
		if err != nil {
			return nil, false, err
		}
		if env, err = m.bind(env, name, value); err != nil || value == sexp.Nil {
			return nil, false, err
		}
	}
	return env, true, nil
}

func ifLet(m *machine, a []Value, env *scope) (Value, error) {
	inner, all, err := m.bindAll(a[0], env)
	switch {
	case err != nil:
		return nil, err
	case all:
		return m.eval(a[1], inner)
	}
	return m.progn(a[2:], env)
}

func whenLet(m *machine, a []Value, env *scope) (Value, error) {
	inner, all, err := m.bindAll(a[0], env)
	if err != nil || !all {
		return sexp.Nil, err
	}
	return m.progn(a[1:], inner)
}

func setq(m *machine, a []Value, env *scope) (v Value, err error) {
	if len(a)%2 != 0 {
		return nil, fail("wrong-number-of-arguments", Symbol("setq"), int64(len(a)))
	}
	v = sexp.Nil
	for i := 0; i < len(a); i += 2 {
		if v, err = m.eval(a[i+1], env); err != nil {
			return nil, err
		}
		if err = m.set(a[i], v, env); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// set gives a variable a value; one that is bound nowhere becomes global.
func (m *machine) set(place, v Value, env *scope) error {
	name, ok := place.(Symbol)
	switch {
	case !ok:
		return wrongType("symbolp", place)
	case isConstant(name):
		return fail("setting-constant", name)
	}
	s, hops := env.find(name)
	if s != nil {
		s.value = v
		return m.work(hops / 16)
	}
	m.globals[name] = v
	return m.charge(scopeSize + int64(len(name)))
}

func push(m *machine, a []Value, env *scope) (Value, error) {
	v, err := m.eval(a[0], env)
	if err != nil {
		return nil, err
	}
	old, err := m.eval(a[1], env)
	if err != nil {
		return nil, err
	}
	list, err := m.cons(v, old)
	if err != nil {
		return nil, err
	}
	return list, m.set(a[1], list, env)
}

func pop(m *machine, a []Value, env *scope) (Value, error) {
	old, err := m.eval(a[0], env)
	if err != nil || old == sexp.Nil {
		return sexp.Nil, err
	}
	c, ok := old.(*sexp.Cons)
	if !ok {
		return nil, wrongType("listp", old)
	}
	return c.Car, m.set(a[0], c.Cdr, env)
}

// backquote evaluates the commas of a template; level counts the backquotes
// around, of which only the innermost one's commas are meant.
func (m *machine) backquote(v Value, level int, env *scope) (Value, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	switch x := v.(type) {
	case sexp.Vector:
		list, err := m.list(x...)
		if err != nil {
			return nil, err
		}
		filled, err := m.backquote(list, level, env)
		if err != nil {
			return nil, err
		}
		elements, err := m.elements(filled)
		if err != nil {
			return nil, err
		}
		return m.vector(elements)
	case *sexp.Cons:
		if op, arg := unary(x); op != "" {
			return m.unquote(op, arg, level, env)
		}
		return m.template(x, level, env)
	}
	return v, nil
}

// unary recognises (` x), (, x) and (,@ x).
func unary(c *sexp.Cons) (op Symbol, arg Value) {
	op, _ = c.Car.(Symbol)
	rest, ok := c.Cdr.(*sexp.Cons)
	if !ok || rest.Cdr != sexp.Nil || op != "`" && op != "," && op != ",@" {
		return "", nil
	}
	return op, rest.Car
}

func (m *machine) unquote(op Symbol, arg Value, level int, env *scope) (Value, error) {
	if op == "`" {
		level++
	} else if level--; level == 0 {
		return m.eval(arg, env)
	}
	inner, err := m.backquote(arg, level, env)
	if err != nil {
		return nil, err
	}
	return m.list(op, inner)
}

// template fills in a list.
func (m *machine) template(c *sexp.Cons, level int, env *scope) (Value, error) {
	var out []Value
	var tail Value = c
	for first := true; ; first = false {
		c, ok := tail.(*sexp.Cons)
		if !ok {
			break
		}
		if op, _ := unary(c); op != "" && !first { // a comma behind a dot
			break
		}
		tail = c.Cdr
		inner, isCons := c.Car.(*sexp.Cons)
		if op, arg := Symbol(""), Value(nil); isCons {
			if op, arg = unary(inner); op == ",@" && level == 1 {
				v, err := m.eval(arg, env)
				if err != nil {
					return nil, err
				}
				if tail == sexp.Nil {
					return m.listEnding(out, v)
				}
				elements, err := m.sequence(v)
				if err != nil {
					return nil, err
				}
				out = append(out, elements...)
				continue
			}
		}
		v, err := m.backquote(c.Car, level, env)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	end, err := m.backquote(tail, level, env)
	if err != nil {
		return nil, err
	}
	return m.listEnding(out, end)
}
