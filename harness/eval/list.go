package eval

import (
	"slices"
	"unicode/utf8"

	"amacs/consciousness/sexp"
)

// cons, list, listEnding and vector make values, which are charged for.

func (m *machine) cons(a, b Value) (Value, error) {
	return &sexp.Cons{Car: a, Cdr: b}, m.charge(cellSize)
}

func (m *machine) list(elements ...Value) (Value, error) {
	return m.listEnding(elements, sexp.Nil)
}

func (m *machine) listEnding(elements []Value, tail Value) (Value, error) {
	if err := m.charge(int64(len(elements)) * cellSize); err != nil {
		return nil, err
	}
	for i := len(elements) - 1; i >= 0; i-- {
		tail = &sexp.Cons{Car: elements[i], Cdr: tail}
	}
	return tail, m.work(len(elements) / 16)
}

func (m *machine) vector(elements []Value) (Value, error) {
	return sexp.Vector(elements), m.charge(int64(len(elements))*cellSize + cellSize)
}

// manyElements is from where on a slice of elements is charged for: fewer of
// them are a small sum at any depth.
const manyElements = 64

// cells walks a list and returns its elements and what it ends in.
func (m *machine) cells(v Value) (out []Value, tail Value, err error) {
	for {
		c, ok := v.(*sexp.Cons)
		if !ok {
			return out, v, m.work(len(out) / 16)
		}
		if len(out)%manyElements == manyElements-1 {
			if err := m.charge(manyElements * 16); err != nil {
				return nil, nil, err
			}
		}
		out = append(out, c.Car)
		v = c.Cdr
	}
}

// elements returns those of a proper list.
func (m *machine) elements(v Value) ([]Value, error) {
	out, tail, err := m.cells(v)
	if err == nil && tail != sexp.Nil {
		err = wrongType("listp", v)
	}
	return out, err
}

// sequence returns the elements of a list, vector or string.
func (m *machine) sequence(v Value) ([]Value, error) {
	switch x := v.(type) {
	case sexp.Vector:
		return x, m.work(len(x) / 16)
	case string:
		if err := m.charge(int64(len(x)) * 24); err != nil {
			return nil, err
		}
		return chars(x), m.work(len(x) / 16)
	}
	out, tail, err := m.cells(v)
	switch {
	case err != nil:
		return nil, err
	case tail == sexp.Nil:
		return out, nil
	case len(out) == 0:
		return nil, wrongType("sequencep", v)
	}
	return nil, wrongType("listp", tail)
}

func listFunctions() map[Symbol]builtin {
	return map[Symbol]builtin{
		"car": path("a"), "cdr": path("d"), "caar": path("aa"), "cadr": path("da"), "cdar": path("ad"), "cddr": path("dd"),
		"caddr": path("dda"), "cdddr": path("ddd"),
		"car-safe": safe(path("a")), "cdr-safe": safe(path("d")),
		"cons":    {2, 2, func(m *machine, a []Value) (Value, error) { return m.cons(a[0], a[1]) }},
		"list":    {0, -1, func(m *machine, a []Value) (Value, error) { return m.list(a...) }},
		"append":  {0, -1, appendLists},
		"nconc":   {0, -1, appendLists},
		"nthcdr":  {2, 2, func(m *machine, a []Value) (Value, error) { return m.nthcdr(a[0], a[1]) }},
		"nth":     {2, 2, nthFunction},
		"last":    {1, 2, last},
		"butlast": {1, 2, butlast},
		"member":  {2, 2, tailWhere((*machine).equal)},
		"memq":    {2, 2, tailWhere(sameNoError)}, "memql": {2, 2, tailWhere(sameNoError)},
		"make-list": {2, 2, func(m *machine, a []Value) (Value, error) {
			n, err := m.size(a[0], cellSize)
			if err != nil {
				return nil, err
			}
			return m.list(slices.Repeat([]Value{a[1]}, n)...)
		}},
		"number-sequence": {1, 3, numberSequence},
		"proper-list-p": {1, 1, func(m *machine, a []Value) (Value, error) {
			out, tail, err := m.cells(a[0])
			if err != nil || tail != sexp.Nil {
				return sexp.Nil, err
			}
			return int64(len(out)), nil
		}},
		"ensure-list": {1, 1, func(m *machine, a []Value) (Value, error) {
			if isNil(a[0]) || isA[*sexp.Cons](a[0]) {
				return a[0], nil
			}
			return m.list(a[0])
		}},
		"flatten-tree": {1, 1, func(m *machine, a []Value) (Value, error) {
			out, err := m.leaves(nil, a[0])
			if err != nil {
				return nil, err
			}
			return m.list(out...)
		}},
	}
}

// length counts the elements of a sequence, without making a slice of them.
func length(m *machine, a []Value) (Value, error) {
	n := 0
	switch x := a[0].(type) {
	case string:
		return int64(utf8.RuneCountInString(x)), m.work(len(x) / 64)
	case sexp.Vector:
		return int64(len(x)), nil
	case *sexp.Cons:
		var v Value = x
		for {
			c, ok := v.(*sexp.Cons)
			if !ok {
				break
			}
			n, v = n+1, c.Cdr
		}
		if v != sexp.Nil {
			return nil, wrongType("listp", v)
		}
		return int64(n), m.work(n / 16)
	}
	if !isNil(a[0]) {
		return nil, wrongType("sequencep", a[0])
	}
	return int64(0), nil
}

func sameNoError(_ *machine, a, b Value) (bool, error) { return same(a, b), nil }

// path makes car, cdr and their chains: steps are taken from left to right.
func path(steps string) builtin {
	return builtin{1, 1, func(_ *machine, a []Value) (Value, error) {
		v := a[0]
		for _, step := range steps {
			if isNil(v) {
				return v, nil
			}
			c, ok := v.(*sexp.Cons)
			switch {
			case !ok:
				return nil, wrongType("listp", v)
			case step == 'a':
				v = c.Car
			default:
				v = c.Cdr
			}
		}
		return v, nil
	}}
}

func safe(b builtin) builtin {
	return builtin{1, 1, func(m *machine, a []Value) (Value, error) {
		if !isA[*sexp.Cons](a[0]) {
			return sexp.Nil, nil
		}
		return b.call(m, a)
	}}
}

// appendLists is append; the last argument is the tail, whatever it is.
func appendLists(m *machine, a []Value) (Value, error) {
	if len(a) == 0 {
		return sexp.Nil, nil
	}
	var out []Value
	for _, v := range a[:len(a)-1] {
		elements, err := m.sequence(v)
		if err != nil {
			return nil, err
		}
		if err := m.charge(int64(len(elements)) * 16); err != nil {
			return nil, err
		}
		out = append(out, elements...)
	}
	return m.listEnding(out, a[len(a)-1])
}

func (m *machine) nthcdr(count, list Value) (Value, error) {
	n, ok := count.(int64)
	if !ok {
		return nil, wrongType("integerp", count)
	}
	v := list
	for i := int64(0); i < n && v != sexp.Nil; i++ {
		c, ok := v.(*sexp.Cons)
		if !ok {
			return nil, wrongType("listp", list)
		}
		v = c.Cdr
		if i%16 == 15 {
			if err := m.work(1); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

func nthFunction(m *machine, a []Value) (Value, error) {
	tail, err := m.nthcdr(a[0], a[1])
	if err != nil || tail == sexp.Nil {
		return tail, err
	}
	c, ok := tail.(*sexp.Cons)
	if !ok {
		return nil, wrongType("listp", tail)
	}
	return c.Car, nil
}

func last(m *machine, a []Value) (Value, error) {
	n, err := optionalInt(a, 1, 1)
	if err != nil {
		return nil, err
	}
	count := int64(0)
	for v := a[0]; isA[*sexp.Cons](v); v = v.(*sexp.Cons).Cdr {
		count++
	}
	return m.nthcdr(count-max(n, 0), a[0])
}

func butlast(m *machine, a []Value) (Value, error) {
	n, err := optionalInt(a, 1, 1)
	if err != nil || n <= 0 {
		return a[0], err
	}
	out, err := m.sequence(a[0])
	if err != nil {
		return nil, err
	}
	return m.list(out[:max(0, int64(len(out))-n)]...)
}

// optionalInt is the i-th argument as an integer, otherwise if it is nil or absent.
func optionalInt(a []Value, i int, otherwise int64) (int64, error) {
	if i >= len(a) || isNil(a[i]) {
		return otherwise, nil
	}
	n, ok := a[i].(int64)
	if !ok {
		return 0, wrongType("integerp", a[i])
	}
	return n, nil
}

// size checks a count of elements of so many bytes each before they are made.
func (m *machine) size(v Value, bytes int64) (int, error) {
	n, ok := v.(int64)
	switch {
	case !ok || n < 0:
		return 0, wrongType("wholenump", v)
	case n > m.limits.Memory/bytes:
		return 0, m.charge(m.limits.Memory + 1)
	}
	return int(n), m.work(int(n) / 16)
}

// tailWhere makes member and memq.
func tailWhere(equal func(m *machine, a, b Value) (bool, error)) func(*machine, []Value) (Value, error) {
	return func(m *machine, a []Value) (Value, error) {
		for v, n := a[1], 0; ; n++ {
			c, ok := v.(*sexp.Cons)
			if !ok {
				if !isNil(v) {
					return nil, wrongType("listp", a[1])
				}
				return v, nil
			}
			found, err := equal(m, a[0], c.Car)
			if err != nil || found {
				return v, err
			}
			if err := m.work(n % 2); err != nil {
				return nil, err
			}
			v = c.Cdr
		}
	}
}

func numberSequence(m *machine, a []Value) (Value, error) {
	from, err := number(a[0])
	if err != nil {
		return nil, err
	}
	if len(a) == 1 || isNil(a[1]) {
		return m.list(a[0])
	}
	to, err := number(a[1])
	if err != nil {
		return nil, err
	}
	step := num{i: 1}
	if len(a) == 3 && !isNil(a[2]) {
		if step, err = number(a[2]); err != nil {
			return nil, err
		}
	}
	direction := step.compare(num{})
	if direction == 0 {
		if from.compare(to) == 0 {
			return m.list(a[0])
		}
		return nil, plainError("The increment can not be zero")
	}
	var out []Value
	for n := int64(0); ; n++ {
		if err := m.charge(cellSize); err != nil {
			return nil, err
		}
		product, err := multiply(step, num{i: n})
		if err != nil {
			return nil, err
		}
		next, err := add(from, product)
		if err != nil || next.compare(to)*direction > 0 {
			break // beyond the largest integer is beyond the end
		}
		out = append(out, next.value())
	}
	return m.list(out...)
}

// leaves appends the atoms of a tree, without nil.
func (m *machine) leaves(out []Value, v Value) ([]Value, error) {
	if err := m.enter(); err != nil {
		return nil, err
	}
	defer m.leave()
	for {
		c, ok := v.(*sexp.Cons)
		if !ok {
			break
		}
		var err error
		if out, err = m.leaves(out, c.Car); err != nil {
			return nil, err
		}
		if err := m.charge(16); err != nil {
			return nil, err
		}
		v = c.Cdr
	}
	if isNil(v) {
		return out, nil
	}
	return append(out, v), nil
}
