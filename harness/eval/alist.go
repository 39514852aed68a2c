package eval

import (
	"slices"

	"amacs/consciousness/sexp"
)

func alistFunctions() map[Symbol]builtin {
	car := func(c *sexp.Cons) Value { return c.Car }
	cdr := func(c *sexp.Cons) Value { return c.Cdr }
	return map[Symbol]builtin{
		"assoc": {2, 3, func(m *machine, a []Value) (Value, error) {
			equal, err := m.test(a, 2, (*machine).equal)
			if err != nil {
				return nil, err
			}
			return m.pair(a[0], a[1], car, equal)
		}},
		"assq":   {2, 2, func(m *machine, a []Value) (Value, error) { return m.pair(a[0], a[1], car, sameNoError) }},
		"rassoc": {2, 2, func(m *machine, a []Value) (Value, error) { return m.pair(a[0], a[1], cdr, (*machine).equal) }},
		"rassq":  {2, 2, func(m *machine, a []Value) (Value, error) { return m.pair(a[0], a[1], cdr, sameNoError) }},
		"alist-get": {2, 5, func(m *machine, a []Value) (Value, error) {
			equal, err := m.test(a, 4, sameNoError)
			if err != nil {
				return nil, err
			}
			found, err := m.pair(a[0], a[1], car, equal)
			if err != nil {
				return nil, err
			}
			if c, ok := found.(*sexp.Cons); ok {
				return c.Cdr, nil
			}
			if len(a) > 2 {
				return a[2], nil
			}
			return sexp.Nil, nil
		}},
		"plist-get":    {2, 2, plistGet},
		"plist-put":    {3, 3, plistPut},
		"plist-member": {2, 2, plistMember},
	}
}

type equality = func(m *machine, a, b Value) (bool, error)

// test is the equality that the i-th argument names, otherwise if it is nil or absent.
func (m *machine) test(a []Value, i int, otherwise equality) (equality, error) {
	if i >= len(a) || isNil(a[i]) {
		return otherwise, nil
	}
	if !m.callable(a[i]) {
		_, err := m.apply(a[i], nil) // for its error
		return nil, err
	}
	return func(m *machine, x, y Value) (bool, error) {
		v, err := m.apply(a[i], []Value{x, y})
		return err == nil && v != sexp.Nil, err
	}, nil
}

// pair finds the first pair of an alist of which one side equals key. Other
// elements are passed over.
func (m *machine) pair(key, alist Value, side func(*sexp.Cons) Value, equal equality) (Value, error) {
	for v := alist; v != sexp.Nil; {
		c, ok := v.(*sexp.Cons)
		if !ok {
			return nil, wrongType("listp", alist)
		}
		if pair, ok := c.Car.(*sexp.Cons); ok {
			found, err := equal(m, side(pair), key)
			if err != nil {
				return nil, err
			}
			if found {
				return pair, nil
			}
		}
		if err := m.work(1); err != nil {
			return nil, err
		}
		v = c.Cdr
	}
	return sexp.Nil, nil
}

// plistTail returns the cell of key in a plist, nil if there is none.
func (m *machine) plistTail(plist, key Value) (*sexp.Cons, error) {
	for v := plist; ; {
		c, ok := v.(*sexp.Cons)
		if !ok {
			return nil, nil
		}
		if same(c.Car, key) {
			return c, nil
		}
		value, ok := c.Cdr.(*sexp.Cons)
		if !ok {
			return nil, nil
		}
		if err := m.work(1); err != nil {
			return nil, err
		}
		v = value.Cdr
	}
}

func plistGet(m *machine, a []Value) (Value, error) {
	c, err := m.plistTail(a[0], a[1])
	if err != nil || c == nil {
		return sexp.Nil, err
	}
	if value, ok := c.Cdr.(*sexp.Cons); ok {
		return value.Car, nil
	}
	return sexp.Nil, nil
}

func plistMember(m *machine, a []Value) (Value, error) {
	c, err := m.plistTail(a[0], a[1])
	if err != nil || c == nil {
		return sexp.Nil, err
	}
	return c, nil
}

func plistPut(m *machine, a []Value) (Value, error) {
	list, err := m.elements(a[0])
	if err != nil || len(list)%2 != 0 {
		return nil, wrongType("plistp", a[0])
	}
	list = slices.Clone(list)
	for i := 0; i < len(list); i += 2 {
		if same(list[i], a[1]) {
			list[i+1] = a[2]
			return m.list(list...)
		}
	}
	return m.list(append(list, a[1], a[2])...)
}
