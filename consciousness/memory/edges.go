package memory

import (
	"cmp"
	"fmt"
	"slices"
)

// The functions here work on the memories by their ids and return those that
// change, as they become; nil where all is so already.

// Supersede lets one memory take the place of an older one. Both follow their
// chains: what is superseded is the last that took old's place, by the last that
// took by's. It fails where that would be a circle.
func Supersede(all map[string]Memory, old, by string) ([]Memory, error) {
	o, err := Latest(all, old)
	if err != nil {
		return nil, err
	}
	n, err := Latest(all, by)
	if err != nil {
		return nil, err
	}
	if o.ID == n.ID {
		if old != by && n.ID == by {
			return nil, nil // old has led to by before
		}
		return nil, fmt.Errorf("%s can not supersede %s: what stands in the place of both is %s", by, old, n.ID)
	}
	o.SupersededBy = n.ID
	n.Supersedes = with(n.Supersedes, o.ID)
	return []Memory{o, n}, nil
}

// Latest is what stands in the place of a memory now: itself, or the last of
// its chain. A chain that leads to a memory which is not there ends before it.
func Latest(all map[string]Memory, id string) (Memory, error) {
	m, ok := all[id]
	if !ok {
		return m, missing(id)
	}
	seen := map[string]bool{}
	for {
		seen[m.ID] = true
		next, ok := all[m.SupersededBy]
		if !ok {
			return m, nil
		}
		if seen[next.ID] {
			return m, fmt.Errorf("%s and %s supersede each other in a circle; take SUPERSEDED_BY out of one of them in its file", m.ID, next.ID)
		}
		m = next
	}
}

func missing(id string) error {
	return fmt.Errorf("there is no memory with the id %s; `amacs memory list` shows them", id)
}

// Chain is the history of a memory: all whose place it took, itself, and all
// that took its place, each after those before it, by time.
func Chain(all map[string]Memory, id string) ([]Memory, error) {
	m, ok := all[id]
	if !ok {
		return nil, missing(id)
	}
	before := map[string][]Memory{}
	for _, m := range all {
		if m.SupersededBy != "" {
			before[m.SupersededBy] = append(before[m.SupersededBy], m)
		}
	}
	var out []Memory
	seen := map[string]bool{}
	var take func(m Memory)
	take = func(m Memory) {
		if seen[m.ID] {
			return
		}
		seen[m.ID] = true
		older := before[m.ID]
		slices.SortFunc(older, func(a, b Memory) int {
			return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
		})
		for _, o := range older {
			take(o)
		}
		out = append(out, m)
	}
	take(m)
	for next, ok := all[m.SupersededBy]; ok && !seen[next.ID]; next, ok = all[next.SupersededBy] {
		seen[next.ID] = true
		out = append(out, next)
	}
	return out, nil
}

// Contradict says of two memories that not both can hold.
func Contradict(all map[string]Memory, a, b string) ([]Memory, error) {
	x, y, err := pair(all, a, b)
	if err != nil {
		return nil, err
	}
	if slices.Contains(x.Contradicts, b) && slices.Contains(y.Contradicts, a) {
		return nil, nil
	}
	x.Contradicts, y.Contradicts = with(x.Contradicts, b), with(y.Contradicts, a)
	return []Memory{x, y}, nil
}

// Settle takes the contradiction of two memories away.
func Settle(all map[string]Memory, a, b string) ([]Memory, error) {
	x, y, err := pair(all, a, b)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(x.Contradicts, b) && !slices.Contains(y.Contradicts, a) {
		return nil, nil
	}
	x.Contradicts, y.Contradicts = without(x.Contradicts, b), without(y.Contradicts, a)
	return []Memory{x, y}, nil
}

// Relate links two memories, or changes the weight of their link: above 0, up
// to 1; 0 takes the link away.
func Relate(all map[string]Memory, a, b string, weight float64) ([]Memory, error) {
	if !(weight >= 0 && weight <= 1) {
		return nil, fmt.Errorf("%s can not relate to %s by %v: a weight is from 0 to 1", a, b, weight)
	}
	x, y, err := pair(all, a, b)
	if err != nil {
		return nil, err
	}
	one, other := linked(x.Relates, b, round(weight)), linked(y.Relates, a, round(weight))
	if slices.Equal(one, x.Relates) && slices.Equal(other, y.Relates) {
		return nil, nil
	}
	x.Relates, y.Relates = one, other
	return []Memory{x, y}, nil
}

func pair(all map[string]Memory, a, b string) (x, y Memory, err error) {
	x, okX := all[a]
	y, okY := all[b]
	switch {
	case !okX:
		err = missing(a)
	case !okY:
		err = missing(b)
	case a == b:
		err = fmt.Errorf("%s can not be linked with itself", a)
	}
	return x, y, err
}

func with(ids []string, id string) []string {
	if slices.Contains(ids, id) {
		return ids
	}
	return append(slices.Clone(ids), id)
}

// without is nil where nothing is left, as a file reads.
func without(ids []string, id string) (left []string) {
	for _, x := range ids {
		if x != id {
			left = append(left, x)
		}
	}
	return left
}

func linked(links []Link, id string, weight float64) (out []Link) {
	found := weight == 0
	for _, l := range links {
		switch {
		case l.ID != id:
			out = append(out, l)
		case !found:
			out, found = append(out, Link{id, weight}), true
		}
	}
	if !found {
		out = append(out, Link{id, weight})
	}
	return out
}
