package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"amacs/consciousness/sexp"
)

// machine is the state of one Run.
type machine struct {
	clock    *clock // of this run only
	limits   Limits
	forms    map[Symbol]form
	builtin  map[Symbol]builtin // the host's included
	defined  map[Symbol]*closure
	globals  map[Symbol]Value
	catches  []Value // tags of the catches around
	match    match   // of the last string-match
	messages []string

	steps, look, depth int
	memory             int64
	output             int
	stopped            *Error // the limit that was reached: from then on nothing runs
}

// form is a special form: it gets its arguments unevaluated.
type form struct {
	min, max int // arguments, max < 0 for any number
	eval     func(m *machine, args []Value, env *scope) (Value, error)
}

type builtin struct {
	min, max int
	call     func(m *machine, args []Value) (Value, error)
}

// closure is a function or macro written in Lisp.
type closure struct {
	name     string   // empty for a lambda
	params   []Symbol // the first are required, the others optional
	required int
	rest     Symbol // "" for none
	body     []Value
	env      *scope
	macro    bool
}

// String is how a function prints.
func (c *closure) String() string {
	if c.name != "" {
		return "#<function " + c.name + ">"
	}
	return "#<lambda " + c.usage() + ">"
}

// usage is the argument list.
func (c *closure) usage() string {
	var words []string
	for i, s := range c.params {
		if i == c.required {
			words = append(words, "&optional")
		}
		words = append(words, string(s))
	}
	if c.rest != "" {
		words = append(words, "&rest", string(c.rest))
	}
	return "(" + strings.Join(words, " ") + ")"
}

// scope is one variable binding and those around it.
type scope struct {
	name  Symbol
	value Value
	up    *scope
}

func (s *scope) find(name Symbol) (found *scope, hops int) {
	for ; s != nil && s.name != name; s = s.up {
		hops++
	}
	return s, hops
}

func (s *scope) names(globals []Symbol) []string {
	var names []string
	for _, name := range globals {
		names = append(names, string(name))
	}
	for ; s != nil; s = s.up {
		names = append(names, string(s.name))
	}
	return names
}

func newMachine(clock *clock, funcs []Func, vars map[Symbol]Value, lim Limits) *machine {
	m := &machine{clock: clock, limits: lim, forms: specialForms(), builtin: builtins(), defined: map[Symbol]*closure{}, globals: map[Symbol]Value{}}
	for _, f := range funcs {
		m.builtin[Symbol(f.Name)] = f.builtin()
	}
	maps.Copy(m.globals, vars)
	return m
}

// Sizes charged for what is made, in bytes.
const (
	cellSize    = 48 // a cons and a small value in it
	scopeSize   = 64
	closureSize = 160
)

// work counts n steps. It is the one place where step and time limits hold.
func (m *machine) work(n int) error {
	m.steps += n
	if m.stopped == nil && m.steps > m.limits.Steps {
		m.stop("step-limit", fmt.Sprintf("more than %d steps; is there an endless loop?", m.limits.Steps))
	}
	if m.stopped == nil && m.steps >= m.look {
		m.look = m.steps + 256
		if m.clock.ctx.Err() != nil {
			m.stopped = m.timeOver()
		}
	}
	if m.stopped != nil {
		return m.stopped
	}
	return nil
}

// charge counts n bytes of memory.
func (m *machine) charge(n int64) error {
	if m.memory += n; m.stopped == nil && (m.memory > m.limits.Memory || n < 0) {
		m.stop("memory-limit", fmt.Sprintf("more than %d bytes made", m.limits.Memory))
	}
	if m.stopped != nil {
		return m.stopped
	}
	return nil
}

// chargeReading counts what the reader makes of src at worst: a node, a value
// and a cell for each two bytes.
func (m *machine) chargeReading(src string) error {
	if err := m.work(len(src) / 64); err != nil {
		return err
	}
	return m.charge(int64(len(src)) * 160)
}

func (m *machine) stop(symbol Symbol, text string) {
	m.stopped = &Error{Symbol: symbol, Data: sexp.List(text), Limit: true}
}

func (m *machine) timeOver() *Error {
	text := "the time was over"
	if !m.clock.over() {
		text = "it was cancelled"
	}
	m.stop("time-limit", text)
	return m.stopped
}

// enter counts one level of depth; leave must follow.
func (m *machine) enter() error {
	if m.depth++; m.depth > m.limits.Depth && m.stopped == nil {
		m.stop("depth-limit", fmt.Sprintf("more than %d forms within each other; is there an endless recursion?", m.limits.Depth))
	}
	return m.work(1)
}

func (m *machine) leave() { m.depth-- }

func truth(b bool) Value {
	if b {
		return sexp.T
	}
	return sexp.Nil
}

// eval evaluates one form.
func (m *machine) eval(v Value, env *scope) (Value, error) {
	switch x := v.(type) {
	case Symbol:
		if err := m.work(1); err != nil {
			return nil, err
		}
		return m.variable(x, env)
	case *sexp.Cons:
		if err := m.enter(); err != nil {
			return nil, err
		}
		defer m.leave()
		return m.evalList(x, env)
	}
	return v, m.work(1)
}

func (m *machine) variable(name Symbol, env *scope) (Value, error) {
	if isConstant(name) {
		return name, nil
	}
	s, hops := env.find(name)
	if s != nil {
		if hops > 16 {
			return s.value, m.work(hops / 16)
		}
		return s.value, nil
	}
	if v, ok := m.globals[name]; ok {
		return v, nil
	}
	return nil, &Error{Symbol: "void-variable", Data: sexp.List(name), scope: env}
}

func isConstant(name Symbol) bool {
	return name == sexp.Nil || name == sexp.T || name != "" && name[0] == ':'
}

func (m *machine) evalList(c *sexp.Cons, env *scope) (Value, error) {
	args, proper := arguments(c.Cdr)
	if !proper {
		return nil, wrongType("listp", c.Cdr)
	}
	name, named := c.Car.(Symbol)
	if !named {
		f, err := m.lambdaForm(c.Car, env)
		if err != nil {
			return nil, err
		}
		return m.callEvaluated(f, args, env)
	}
	if special, ok := m.forms[name]; ok {
		if len(args) < special.min || special.max >= 0 && len(args) > special.max {
			return nil, fail("wrong-number-of-arguments", name, int64(len(args)))
		}
		return special.eval(m, args, env)
	}
	if f, ok := m.defined[name]; ok && f.macro {
		expansion, err := m.apply(f, args)
		if err != nil {
			return nil, err
		}
		return m.eval(expansion, env)
	}
	if !m.isFunction(name) {
		return nil, fail("void-function", name)
	}
	return m.callEvaluated(name, args, env)
}

// arguments returns the elements of a list; false if it is not a proper one.
func arguments(v Value) ([]Value, bool) {
	n := 0
	for tail, ok := v.(*sexp.Cons); ok; tail, ok = tail.Cdr.(*sexp.Cons) {
		n++
	}
	args := make([]Value, n)
	for i := range args {
		c := v.(*sexp.Cons)
		args[i], v = c.Car, c.Cdr
	}
	return args, v == sexp.Nil
}

func (m *machine) callEvaluated(f Value, forms []Value, env *scope) (Value, error) {
	args := make([]Value, len(forms))
	for i, form := range forms {
		v, err := m.eval(form, env)
		if err != nil {
			return nil, err
		}
		args[i] = v
	}
	return m.apply(f, args)
}

func (m *machine) isFunction(name Symbol) bool {
	_, builtin := m.builtin[name]
	_, defined := m.defined[name]
	return builtin || defined
}

func (m *machine) functionNames() []string {
	var names []string
	for _, name := range slices.Concat(slices.Collect(maps.Keys(m.forms)), slices.Collect(maps.Keys(m.builtin)), slices.Collect(maps.Keys(m.defined))) {
		names = append(names, string(name))
	}
	return names
}

// apply calls a function with evaluated arguments.
func (m *machine) apply(f Value, args []Value) (Value, error) {
	switch x := f.(type) {
	case *closure:
		return m.applyClosure(x, args)
	case Symbol:
		if c, ok := m.defined[x]; ok && !c.macro {
			return m.applyClosure(c, args)
		}
		if b, ok := m.builtin[x]; ok {
			if len(args) < b.min || b.max >= 0 && len(args) > b.max {
				return nil, fail("wrong-number-of-arguments", x, int64(len(args)))
			}
			if err := m.work(1); err != nil {
				return nil, err
			}
			return b.call(m, args)
		}
		if _, ok := m.forms[x]; ok || m.defined[x] != nil {
			return nil, fail("invalid-function", x)
		}
		return nil, fail("void-function", x)
	}
	c, err := m.lambdaForm(f, nil)
	if err != nil {
		return nil, err
	}
	return m.applyClosure(c, args)
}

func (m *machine) applyClosure(c *closure, args []Value) (Value, error) {
	if len(args) < c.required || c.rest == "" && len(args) > len(c.params) {
		err := fail("wrong-number-of-arguments", c, int64(len(args)))
		err.Hint = "it takes " + c.usage()
		return nil, err
	}
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	env := c.env
	for i, name := range c.params {
		var v Value = sexp.Nil
		if i < len(args) {
			v = args[i]
		}
		env = &scope{name, v, env}
	}
	if c.rest != "" {
		list, err := m.list(args[min(len(args), len(c.params)):]...)
		if err != nil {
			return nil, err
		}
		env = &scope{c.rest, list, env}
	}
	if err := m.charge(int64(len(c.params)+1) * scopeSize); err != nil {
		return nil, err
	}
	return m.progn(c.body, env)
}

func (m *machine) bind(env *scope, name Symbol, v Value) (*scope, error) {
	if isConstant(name) {
		return nil, fail("setting-constant", name)
	}
	return &scope{name, v, env}, m.charge(scopeSize)
}

// progn evaluates forms and returns the value of the last one.
func (m *machine) progn(forms []Value, env *scope) (v Value, err error) {
	v = sexp.Nil
	for _, form := range forms {
		if v, err = m.eval(form, env); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// lambdaForm makes a function of (lambda …) written as data.
func (m *machine) lambdaForm(v Value, env *scope) (*closure, error) {
	if c, ok := v.(*closure); ok {
		return c, nil
	}
	parts, err := sexp.Slice(v)
	if err != nil || len(parts) < 2 || parts[0] != Symbol("lambda") {
		return nil, fail("invalid-function", v)
	}
	return m.closure("", parts[1], parts[2:], env)
}

// closure makes a function of an argument list and a body.
func (m *machine) closure(name string, params Value, body []Value, env *scope) (*closure, error) {
	c := &closure{name: name, body: body, env: env}
	names, err := sexp.Slice(params)
	if err != nil {
		return nil, fail("invalid-function", params)
	}
	optional := false
	for i := 0; i < len(names); i++ {
		s, ok := names[i].(Symbol)
		switch {
		case !ok || isConstant(s):
			return nil, fail("invalid-function", params)
		case s == "&optional" && !optional:
			optional = true
		case s == "&rest" && i == len(names)-2:
			last, ok := names[i+1].(Symbol)
			if !ok || last == "" || isConstant(last) || last[0] == '&' {
				return nil, fail("invalid-function", params)
			}
			c.rest = last
			i++
		case s != "" && s[0] == '&':
			return nil, fail("invalid-function", params)
		default:
			c.params = append(c.params, s)
			if !optional {
				c.required++
			}
		}
	}
	return c, m.charge(closureSize + int64(len(names))*16)
}
