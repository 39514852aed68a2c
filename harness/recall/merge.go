package recall

import (
	"slices"
)

// take adds the living docs of a segment to a builder.
func (b *builder) take(s *segment, dead bitmap) error {
	to := make([]int, s.n)
	for doc := range to {
		to[doc] = -1
		if dead.has(doc) {
			continue
		}
		r, err := s.row(doc)
		if err != nil {
			return err
		}
		to[doc] = len(b.rows)
		b.rows = append(b.rows, r)
	}
	var all []entry
	err := s.entries("", func(e entry) bool {
		all = append(all, e)
		return true
	})
	for _, e := range all {
		if err != nil {
			break
		}
		var p *posting
		err = s.places(e, func(doc int, at []int) {
			if to[doc] < 0 {
				return
			}
			if p == nil {
				p = b.posting(e.term)
			}
			p.add(to[doc], at)
		})
	}
	return err
}

// bitmap is a set of docs of one segment.
type bitmap []uint64

func (m bitmap) has(doc int) bool { return doc/64 < len(m) && m[doc/64]&(1<<(doc%64)) != 0 }

func (m *bitmap) set(doc int) {
	if need := doc/64 + 1; need > len(*m) {
		*m = slices.Grow(*m, need-len(*m))[:need]
	}
	(*m)[doc/64] |= 1 << (doc % 64)
}
