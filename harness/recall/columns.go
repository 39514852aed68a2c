package recall

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// column is a facet as read.
type column struct {
	names []string
	width int
	of    []byte
}

func (c *column) number(doc int) (n int) {
	for k := range c.width {
		n |= int(c.of[doc*c.width+k]) << (8 * k)
	}
	return n
}

func (c *column) name(doc int) string { return c.names[c.number(doc)] }

func (s *segment) lengths() ([]byte, error) { return s.section(secLengths) }

func (s *segment) millis(doc int) (int64, error) {
	b, err := s.section(secTimes)
	if err != nil {
		return 0, err
	}
	return int64(binary.LittleEndian.Uint64(b[8*doc:])), nil
}

func (s *segment) sum(doc int) (uint64, error) {
	b, err := s.section(secSums)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b[8*doc:]), nil
}

func (s *segment) orders() ([]int64, error) {
	if s.order != nil {
		return s.order, nil
	}
	b, err := s.section(secOrders)
	if err != nil {
		return nil, err
	}
	c := cursor{b: b}
	out := make([]int64, s.n)
	for i := range out {
		out[i] = c.varint()
	}
	if c.bad {
		return nil, damaged("a segment")
	}
	s.order = out
	return out, nil
}

func (s *segment) names(c *cursor) (names []string, err error) {
	n := c.uvarint()
	if n > uint64(len(c.b)) {
		return nil, damaged("a segment")
	}
	for range n {
		names = append(names, c.text())
	}
	if c.bad {
		return nil, damaged("a segment")
	}
	return names, nil
}

// col reads a facet.
func (s *segment) col(f int) (*column, error) {
	if s.facet[f] != nil {
		return s.facet[f], nil
	}
	b, err := s.section(secFacet + f)
	if err != nil {
		return nil, err
	}
	c := cursor{b: b}
	names, err := s.names(&c)
	if err != nil {
		return nil, err
	}
	col := &column{names: names, width: facetWidth(len(names)), of: c.b}
	if len(c.b) != col.width*s.n || len(names) == 0 && s.n > 0 {
		return nil, damaged("a segment")
	}
	for doc := range s.n {
		if col.number(doc) >= len(names) {
			return nil, damaged("a segment")
		}
	}
	s.facet[f] = col
	return col, nil
}

// tags of a doc.
func (s *segment) tags(doc int) ([]string, error) {
	if s.tagOf == nil {
		b, err := s.section(secTags)
		if err != nil {
			return nil, err
		}
		c := cursor{b: b}
		names, err := s.names(&c)
		if err != nil {
			return nil, err
		}
		out := make([][]string, s.n)
		for i := range out {
			for range min(c.uvarint(), uint64(len(c.b))) {
				n := c.uvarint()
				if n >= uint64(len(names)) {
					return nil, damaged("a segment")
				}
				out[i] = append(out[i], names[n])
			}
		}
		if c.bad {
			return nil, damaged("a segment")
		}
		s.tagOf = out
	}
	return s.tagOf[doc], nil
}

// table numbers strings in their order.
func table(all []string) (names []string, number map[string]uint64, head []byte) {
	slices.Sort(all)
	names = slices.Compact(all)
	number = make(map[string]uint64, len(names))
	head = binary.AppendUvarint(nil, uint64(len(names)))
	for i, n := range names {
		number[n] = uint64(i)
		head = appendText(head, n)
	}
	return names, number, head
}

func (b *builder) tags(sec *[sections][]byte) {
	var all []string
	for _, r := range b.rows {
		all = append(all, r.tags...)
	}
	_, number, out := table(all)
	for _, r := range b.rows {
		out = binary.AppendUvarint(out, uint64(len(r.tags)))
		for _, t := range r.tags {
			out = binary.AppendUvarint(out, number[t])
		}
	}
	sec[secTags] = out
}

// facet is a column of few different strings: the strings, then a number of 0,
// 1, 2 or 4 bytes for each doc.
func (b *builder) facet(f int) []byte {
	all := make([]string, len(b.rows))
	for i, r := range b.rows {
		all[i] = r.facets[f]
	}
	names, number, out := table(all)
	width := facetWidth(len(names))
	out = bytes.Clone(out)
	for _, r := range b.rows {
		n := number[r.facets[f]]
		for k := range width {
			out = append(out, byte(n>>(8*k)))
		}
	}
	return out
}

func facetWidth(names int) int {
	switch {
	case names <= 1:
		return 0
	case names <= 1<<8:
		return 1
	case names <= 1<<16:
		return 2
	}
	return 4
}
