package eval

import (
	"slices"
	"strings"

	"amacs/consciousness/sexp"
)

func sequenceFunctions() map[Symbol]builtin {
	keep := func(wanted bool) builtin {
		return builtin{2, 2, func(m *machine, a []Value) (Value, error) { return m.filter(a[0], a[1], wanted) }}
	}
	without := func(equal equality) builtin {
		return builtin{2, 2, func(m *machine, a []Value) (Value, error) { return m.without(a[0], a[1], equal) }}
	}
	mapped := builtin{2, 2, func(m *machine, a []Value) (Value, error) {
		out, err := m.mapped(a[0], a[1])
		if err != nil {
			return nil, err
		}
		return m.list(out...)
	}}
	mapc := builtin{2, 2, func(m *machine, a []Value) (Value, error) {
		_, err := m.mapped(a[0], a[1])
		return a[1], err
	}}
	return map[Symbol]builtin{
		"length": {1, 1, length},
		"mapcar": mapped, "seq-map": mapped, "mapc": mapc, "seq-do": mapc,
		"mapcan": {2, 2, func(m *machine, a []Value) (Value, error) {
			out, err := m.mapped(a[0], a[1])
			if err != nil {
				return nil, err
			}
			return appendLists(m, out)
		}},
		"mapconcat":  {2, 3, mapconcat},
		"seq-filter": keep(true), "cl-remove-if-not": keep(true), "seq-remove": keep(false), "cl-remove-if": keep(false),
		"seq-find":    {2, 3, func(m *machine, a []Value) (Value, error) { return m.first(a, true) }},
		"seq-some":    {2, 2, func(m *machine, a []Value) (Value, error) { return m.first(a, false) }},
		"seq-every-p": {2, 2, every},
		"seq-reduce":  {3, 3, reduce},
		"seq-take":    {2, 2, func(m *machine, a []Value) (Value, error) { return m.part(a, true) }},
		"seq-drop":    {2, 2, func(m *machine, a []Value) (Value, error) { return m.part(a, false) }},
		"seq-uniq":    {1, 2, uniq}, "delete-dups": {1, 1, uniq},
		"seq-contains-p": {2, 2, func(m *machine, a []Value) (Value, error) {
			list, err := m.sequence(a[0])
			if err != nil {
				return nil, err
			}
			for _, v := range list {
				if found, err := m.equal(v, a[1]); err != nil || found {
					return truth(found), err
				}
			}
			return sexp.Nil, nil
		}},
		"delete": without((*machine).equal), "remove": without((*machine).equal),
		"delq": without(sameNoError), "remq": without(sameNoError),
		"reverse": {1, 1, reverse}, "nreverse": {1, 1, reverse},
		"sort":   {2, 2, sortFunction},
		"vector": {0, -1, func(m *machine, a []Value) (Value, error) { return m.vector(slices.Clone(a)) }},
		"vconcat": {0, -1, func(m *machine, a []Value) (Value, error) {
			list, err := appendLists(m, append(slices.Clone(a), sexp.Nil))
			if err != nil {
				return nil, err
			}
			out, err := m.elements(list)
			if err != nil {
				return nil, err
			}
			return m.vector(out)
		}},
		"aref": {2, 2, aref},
		"elt": {2, 2, func(m *machine, a []Value) (Value, error) {
			switch {
			case isA[string](a[0]) || isA[sexp.Vector](a[0]):
				return aref(m, a)
			case isNil(a[0]) || isA[*sexp.Cons](a[0]):
				return nthFunction(m, []Value{a[1], a[0]})
			}
			return nil, wrongType("sequencep", a[0])
		}},
	}
}

// mapped calls f on each element.
func (m *machine) mapped(f, v Value) ([]Value, error) {
	list, err := m.sequence(v)
	if err != nil {
		return nil, err
	}
	out := make([]Value, len(list))
	for i, element := range list {
		if out[i], err = m.apply(f, []Value{element}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func mapconcat(m *machine, a []Value) (Value, error) {
	pieces, err := m.mapped(a[0], a[1])
	if err != nil {
		return nil, err
	}
	separator := Value("")
	if len(a) > 2 {
		separator = a[2]
	}
	var all []Value
	for i, piece := range pieces {
		if i > 0 {
			all = append(all, separator)
		}
		all = append(all, piece)
	}
	return m.concat(all)
}

func (m *machine) filter(f, v Value, wanted bool) (Value, error) {
	list, err := m.sequence(v)
	if err != nil {
		return nil, err
	}
	var out []Value
	for _, element := range list {
		test, err := m.apply(f, []Value{element})
		if err != nil {
			return nil, err
		}
		if (test != sexp.Nil) == wanted {
			out = append(out, element)
		}
	}
	return m.list(out...)
}

// first returns the first element that passes, or what the test said of it.
func (m *machine) first(a []Value, element bool) (Value, error) {
	list, err := m.sequence(a[1])
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		test, err := m.apply(a[0], []Value{v})
		switch {
		case err != nil:
			return nil, err
		case test == sexp.Nil:
			continue
		case element:
			return v, nil
		}
		return test, nil
	}
	if len(a) > 2 {
		return a[2], nil
	}
	return sexp.Nil, nil
}

func every(m *machine, a []Value) (Value, error) {
	list, err := m.sequence(a[1])
	if err != nil {
		return nil, err
	}
	for _, v := range list {
		if test, err := m.apply(a[0], []Value{v}); err != nil || test == sexp.Nil {
			return sexp.Nil, err
		}
	}
	return sexp.T, nil
}

func reduce(m *machine, a []Value) (Value, error) {
	list, err := m.sequence(a[1])
	v := a[2]
	for i := 0; err == nil && i < len(list); i++ {
		v, err = m.apply(a[0], []Value{v, list[i]})
	}
	return v, err
}

// part returns the first n elements or the rest, as the kind of sequence it was.
func (m *machine) part(a []Value, front bool) (Value, error) {
	n, ok := a[1].(int64)
	if !ok {
		return nil, wrongType("integerp", a[1])
	}
	list, err := m.sequence(a[0])
	if err != nil {
		return nil, err
	}
	cut := min(max(n, 0), int64(len(list)))
	if front {
		list = list[:cut]
	} else {
		list = list[cut:]
	}
	return m.like(a[0], list)
}

// like makes a sequence of the kind of model.
func (m *machine) like(model Value, elements []Value) (Value, error) {
	switch model.(type) {
	case string:
		text, err := m.stringOf(elements)
		if err != nil {
			return nil, err
		}
		return m.text(text)
	case sexp.Vector:
		return m.vector(slices.Clone(elements))
	}
	return m.list(elements...)
}

func uniq(m *machine, a []Value) (Value, error) {
	list, err := m.sequence(a[0])
	if err != nil {
		return nil, err
	}
	equal, err := m.test(a, 1, (*machine).equal)
	if err != nil {
		return nil, err
	}
	var out []Value
next:
	for _, v := range list {
		for _, seen := range out {
			if err := m.work(1); err != nil {
				return nil, err
			}
			again, err := equal(m, seen, v)
			if err != nil {
				return nil, err
			}
			if again {
				continue next
			}
		}
		out = append(out, v)
	}
	return m.list(out...)
}

func (m *machine) without(unwanted, v Value, equal equality) (Value, error) {
	list, err := m.sequence(v)
	if err != nil {
		return nil, err
	}
	out := make([]Value, 0, len(list))
	for _, element := range list {
		drop, err := equal(m, unwanted, element)
		if err != nil {
			return nil, err
		}
		if err := m.work(1); err != nil {
			return nil, err
		}
		if !drop {
			out = append(out, element)
		}
	}
	return m.like(v, out)
}

func reverse(m *machine, a []Value) (Value, error) {
	list, err := m.sequence(a[0])
	if err != nil {
		return nil, err
	}
	out := slices.Clone(list)
	slices.Reverse(out)
	return m.like(a[0], out)
}

// sortFunction is a stable sort into a new sequence.
func sortFunction(m *machine, a []Value) (Value, error) {
	switch a[0].(type) {
	case *sexp.Cons, sexp.Vector:
	default:
		if isNil(a[0]) {
			return a[0], nil
		}
		return nil, wrongType("list-or-vector-p", a[0])
	}
	list, err := m.sequence(a[0])
	if err != nil {
		return nil, err
	}
	out, err := m.merged(a[1], slices.Clone(list), make([]Value, len(list)))
	if err != nil {
		return nil, err
	}
	return m.like(a[0], out)
}

// merged sorts list by the predicate and returns it; room is as long.
func (m *machine) merged(before Value, list, room []Value) ([]Value, error) {
	half := len(list) / 2
	if half == 0 {
		return list, nil
	}
	left, err := m.merged(before, list[:half], room[:half])
	if err != nil {
		return nil, err
	}
	right, err := m.merged(before, list[half:], room[half:])
	if err != nil {
		return nil, err
	}
	out := room[:0]
	for len(left) > 0 && len(right) > 0 {
		swap, err := m.apply(before, []Value{right[0], left[0]})
		if err != nil {
			return nil, err
		}
		if swap != sexp.Nil {
			out, right = append(out, right[0]), right[1:]
		} else {
			out, left = append(out, left[0]), left[1:]
		}
	}
	out = append(append(out, left...), right...)
	copy(list, out)
	return list, nil
}

func aref(m *machine, a []Value) (Value, error) {
	i, ok := a[1].(int64)
	if !ok {
		return nil, wrongType("fixnump", a[1])
	}
	var found Value
	switch x := a[0].(type) {
	case sexp.Vector:
		if i >= 0 && i < int64(len(x)) {
			found = x[i]
		}
	case string:
		if err := m.work(len(x) / 64); err != nil {
			return nil, err
		}
		if at := byteOffset(x, i); i >= 0 && at >= 0 && at < len(x) {
			found, _ = charAt(x[at:])
		}
	default:
		return nil, wrongType("arrayp", a[0])
	}
	if found == nil {
		return nil, outOfRange(a[0], i)
	}
	return found, nil
}

// concat joins strings and sequences of characters.
func (m *machine) concat(a []Value) (Value, error) {
	var out strings.Builder
	for _, v := range a {
		piece, ok := v.(string)
		if !ok {
			list, err := m.sequence(v)
			if err != nil {
				return nil, err
			}
			if piece, err = m.stringOf(list); err != nil {
				return nil, err
			}
		}
		if err := m.charge(int64(len(piece))); err != nil {
			return nil, err
		}
		out.WriteString(piece)
	}
	return out.String(), m.work(out.Len() / 64)
}
