package recall

import (
	"cmp"
	"slices"
)

// turn is a doc of a conversation.
type turn struct {
	doc   int32
	order int64
}

// neighbours links each living turn with the one before and the one after it.
func (ix *Index) neighbours(v *view) error {
	number := map[string]int{}
	var groups [][]turn
	for i, p := range ix.parts {
		col, err := p.col(facetGroup)
		if err != nil {
			return err
		}
		if len(col.names) == 1 && col.names[0] == "" {
			continue
		}
		orders, err := p.orders()
		if err != nil {
			return err
		}
		to := make([]int, len(col.names))
		for k, name := range col.names {
			at, ok := number[name]
			if !ok {
				at = len(groups)
				number[name] = at
				groups = append(groups, nil)
			}
			to[k] = at
		}
		for doc := range p.n {
			k := col.number(doc)
			if col.names[k] != "" && !p.dead.has(doc) {
				groups[to[k]] = append(groups[to[k]], turn{int32(v.base[i] + doc), orders[doc]})
			}
		}
	}
	if len(groups) == 0 {
		return nil
	}
	v.before, v.after = make([]int32, v.n), make([]int32, v.n)
	for i := range v.before {
		v.before[i], v.after[i] = -1, -1
	}
	for _, turns := range groups {
		if err := ix.sortTurns(v, turns); err != nil {
			return err
		}
		for i := 1; i < len(turns); i++ {
			v.after[turns[i-1].doc] = turns[i].doc
			v.before[turns[i].doc] = turns[i-1].doc
		}
	}
	return nil
}

// sortTurns sorts by order, and turns of the same order by id.
func (ix *Index) sortTurns(v *view, turns []turn) (err error) {
	if slices.IsSortedFunc(turns, func(a, b turn) int {
		if a.order <= b.order { // two of the same order must be sorted, too
			return -1
		}
		return 1
	}) {
		return nil
	}
	id := func(t turn) string {
		i := v.part(int(t.doc))
		name, fault := ix.parts[i].id(int(t.doc) - v.base[i])
		if fault != nil {
			err = fault
		}
		return name
	}
	slices.SortFunc(turns, func(a, b turn) int {
		if c := cmp.Compare(a.order, b.order); c != 0 {
			return c
		}
		return cmp.Compare(id(a), id(b))
	})
	return err
}
