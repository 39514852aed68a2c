package redact

import "slices"

// echoes are the secrets found so far, to be found wherever else they stand.
type echoes struct {
	first   [256]bool      // bytes that one of them begins with
	lengths map[head][]int // of those that begin so, longest first
	kinds   map[string]string
}

// head is how a secret begins.
type head [least]byte

func newEchoes() *echoes {
	return &echoes{lengths: map[head][]int{}, kinds: map[string]string{}}
}

// add takes up a secret of at least least bytes.
func (e *echoes) add(secret, kind string) {
	if _, have := e.kinds[secret]; have {
		return
	}
	e.kinds[secret] = kind
	h := head([]byte(secret[:least]))
	e.first[h[0]] = true
	at, have := slices.BinarySearchFunc(e.lengths[h], len(secret), func(a, b int) int { return b - a })
	if !have {
		e.lengths[h] = slices.Insert(e.lengths[h], at, len(secret))
	}
}

// in returns where the secrets stand in s, in order, without overlaps.
func (e *echoes) in(s string) []span {
	var out []span
	if len(e.kinds) == 0 {
		return nil
	}
	for i := 0; i+least <= len(s); i++ {
		if !e.first[s[i]] {
			continue
		}
		for _, n := range e.lengths[head([]byte(s[i:i+least]))] {
			if i+n > len(s) {
				continue
			}
			if kind, ok := e.kinds[s[i:i+n]]; ok {
				out = append(out, span{i, i + n, kind, byEcho})
				i += n - 1
				break
			}
		}
	}
	return out
}
