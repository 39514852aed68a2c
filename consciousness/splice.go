package consciousness

import (
	"bytes"
	"errors"
	"fmt"

	"amacs/consciousness/sexp"
	"amacs/threads"
)

// find is the alist of a consciousness.el.
func find(src []byte) (*sexp.Node, error) {
	forms, err := sexp.Parse(src)
	if err != nil {
		return nil, err
	}
	if len(forms) == 0 {
		return nil, errors.New("it holds no alist")
	}
	n := forms[0]
	// (setq agent-consciousness '(…)), as older homes have it
	if len(n.Kids) == 3 && n.Kids[0].Value == sexp.Symbol("setq") {
		n = n.Kids[2]
	}
	for n.Prefix == "'" {
		n = n.Kids[0]
	}
	if len(forms) > 1 {
		return nil, fmt.Errorf("it holds %d forms, one alist is expected", len(forms))
	}
	items, err := sexp.Slice(n.Value)
	if err != nil {
		return nil, errors.New("its form is not an alist")
	}
	for _, item := range items {
		if _, ok := item.(*sexp.Cons); !ok {
			return nil, fmt.Errorf("its form is not an alist: %s is no pair", sexp.Print(item))
		}
	}
	return n, nil
}

// Splice makes the text of a consciousness.el say what s says. Only the values
// that differ are replaced; comments, layout and unknown fields stay, and so
// does a value that did not fit, until its field is set.
func Splice(src []byte, s State) ([]byte, error) {
	was, _, err := Parse(src)
	if err != nil {
		return nil, err
	}
	alist, err := find(src)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		before := src
		now := f.get(&s)
		_, value := sexp.Entry(alist, f.Key)
		if value != nil && (sexp.Equal(value.Value, now) || f.Kind != Derived && sexp.Equal(f.get(&was), now)) {
			continue
		}
		var list bool
		if value != nil {
			_, err := sexp.Slice(value.Value)
			list = err == nil && value.Prefix == ""
		}
		switch {
		case f.Kind == Set && list:
			var ts []threads.Thread
			if ts, err = readThreads(now); err == nil {
				src, err = spliceThreads(src, f.Key, ts)
			}
		case f.Kind == Chosen && list && now != sexp.Nil:
			src, err = spliceAlist(src, f.Key, f.get(&was), now)
		default:
			src = sexp.SetEntry(src, alist, f.Key, now)
		}
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(src, before) { // the places have moved
			if alist, err = find(src); err != nil {
				return nil, err
			}
		}
	}
	return src, nil
}

// spliceAlist changes those pairs of a field, an alist itself, that differ.
func spliceAlist(src []byte, key sexp.Symbol, was, now sexp.Value) ([]byte, error) {
	pairs, err := sexp.Slice(now)
	if err != nil {
		alist, err := find(src)
		if err != nil {
			return nil, err
		}
		return sexp.SetEntry(src, alist, key, now), nil // a word in place of a list
	}
	for _, p := range pairs {
		list, _, err := listNodes(src, key)
		if err != nil {
			return nil, err
		}
		pair := p.(*sexp.Cons)
		name := pair.Car.(sexp.Symbol)
		old, _ := sexp.Get(was, name)
		if there, _ := sexp.Entry(list, name); there == nil || !sexp.Equal(old, pair.Cdr) {
			src = sexp.SetEntry(src, list, name, pair.Cdr)
		}
	}
	return src, nil
}

// spliceThreads changes a list of threads entry by entry.
func spliceThreads(src []byte, key sexp.Symbol, want []threads.Thread) ([]byte, error) {
	wanted := map[threads.ID]bool{}
	for _, t := range want {
		wanted[t.ID] = true
	}
	list, off, err := listNodes(src, key)
	if err != nil {
		return nil, err
	}
	have := map[threads.ID]bool{}
	for i := len(list.Kids) - 1; i >= off; i-- {
		t, err := readThread(list.Kids[i].Value)
		if err != nil {
			continue // not ours to touch
		}
		if have[t.ID] = wanted[t.ID]; !wanted[t.ID] {
			src = sexp.Delete(src, list, i)
		}
	}
	for _, t := range want {
		if list, off, err = listNodes(src, key); err != nil {
			return nil, err
		}
		if !have[t.ID] {
			last, at := len(list.Kids)-1, column(src, list.Start)+1
			if last >= off {
				at = column(src, list.Kids[last].Start)
			}
			src = sexp.InsertAfter(src, list, last, sexp.PrintIndented(threadAlist(t), at))
			continue
		}
		for i := off; i < len(list.Kids); i++ {
			if old, err := readThread(list.Kids[i].Value); err == nil && old.ID == t.ID {
				if src, err = spliceThread(src, key, i, old, t); err != nil {
					return nil, err
				}
				break
			}
		}
	}
	return src, nil
}

// spliceThread changes those fields of the i-th node that differ.
func spliceThread(src []byte, key sexp.Symbol, i int, old, want threads.Thread) ([]byte, error) {
	for _, f := range threadFields {
		now := f.get(want)
		if sexp.Equal(f.get(old), now) {
			continue
		}
		list, _, err := listNodes(src, key)
		if err != nil {
			return nil, err
		}
		node := list.Kids[i]
		if now != sexp.Nil || f.must {
			src = sexp.SetEntry(src, node, f.key, now)
			continue
		}
		pair, _ := sexp.Entry(node, f.key)
		for j, kid := range node.Kids {
			if kid == pair {
				src = sexp.Delete(src, node, j)
			}
		}
	}
	return src, nil
}

// listNodes is the node whose kids from off on are the elements of a field.
func listNodes(src []byte, key sexp.Symbol) (list *sexp.Node, off int, err error) {
	alist, err := find(src)
	if err != nil {
		return nil, 0, err
	}
	pair, value := sexp.Entry(alist, key)
	if value == nil {
		return nil, 0, fmt.Errorf("no field %s", key)
	}
	if value.Rest { // (key thread thread)
		return pair, 1, nil
	}
	return value, 0, nil
}

func column(src []byte, at int) int {
	n := 0
	for at > 0 && src[at-1] != '\n' {
		at, n = at-1, n+1
	}
	return n
}

// Overruled names the derived fields that differ between two versions of the
// file, as they do when a hand sets them.
func Overruled(was, now []byte) []string {
	a, err := find(was)
	if err != nil {
		return nil
	}
	b, err := find(now)
	if err != nil {
		return nil
	}
	var keys []string
	for _, f := range fields {
		_, x := sexp.Entry(a, f.Key)
		_, y := sexp.Entry(b, f.Key)
		if f.Kind == Derived && x != nil && y != nil && !sexp.Equal(x.Value, y.Value) {
			keys = append(keys, string(f.Key))
		}
	}
	return keys
}
