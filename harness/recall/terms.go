package recall

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
)

// entry is a term as the dictionary has it.
type entry struct {
	term             string
	count            int
	docs, places     []byte // of a word of one doc
	off              int64  // else where its lists are
	docsLen, placeLn int64
}

// entries reads the terms from one on for as long as each wants more.
func (s *segment) entries(from string, each func(entry) bool) error {
	if s.termAt == nil {
		var err error
		if s.termAt, err = s.heads(secTermHead); err != nil {
			return err
		}
	}
	i := sort.Search(len(s.termAt), func(i int) bool { return s.termAt[i].first > from }) - 1
	for i = max(i, 0); i < len(s.termAt); i++ {
		b, ok := s.blocks[i]
		if !ok {
			var err error
			if b, err = s.block(secTerms, s.termAt[i]); err != nil {
				return err
			}
			s.blocks[i] = b
		}
		before := ""
		for c := (cursor{b: b}); len(c.b) > 0; {
			same := c.uvarint()
			rest := c.bytes(c.uvarint())
			if c.bad || same > uint64(len(before)) {
				return damaged("a segment")
			}
			e := entry{term: before[:same] + string(rest), count: int(c.uvarint()), docsLen: int64(c.uvarint()), placeLn: int64(c.uvarint())}
			before = e.term
			if e.count == 1 {
				e.docs, e.places = c.bytes(uint64(e.docsLen)), c.bytes(uint64(e.placeLn))
			} else {
				e.off = int64(c.uvarint())
			}
			if c.bad || e.count < 1 || e.count > s.n {
				return damaged("a segment")
			}
			if e.term >= from && !each(e) {
				return nil
			}
		}
	}
	return nil
}

// lookup finds a term.
func (s *segment) lookup(term string) (found entry, ok bool, err error) {
	err = s.entries(term, func(e entry) bool {
		if e.term == term {
			found, ok = e, true
		}
		return false
	})
	return found, ok, err
}

func (s *segment) list(off, n int64) ([]byte, error) {
	b, err := s.at(secPostings, off, n+4)
	if err != nil {
		return nil, err
	}
	if sum32(b[4:]) != binary.LittleEndian.Uint32(b) {
		return nil, damaged("a segment")
	}
	return b[4:], nil
}

// postings calls each with the docs of a term, in their order, and how often
// they have it.
func (s *segment) postings(e entry, each func(doc, tf int)) error {
	b := e.docs
	if e.count > 1 {
		var err error
		if b, err = s.list(e.off, e.docsLen); err != nil {
			return err
		}
	}
	doc := 0
	for c := (cursor{b: b}); len(c.b) > 0; {
		v, tf := c.uvarint(), uint64(1)
		if v&1 == 0 {
			tf = c.uvarint()
		}
		v >>= 1
		if c.bad || v >= uint64(s.n) || doc+int(v) >= s.n || tf == 0 || tf > 1<<31 {
			return damaged("a segment")
		}
		doc += int(v)
		each(doc, int(tf))
	}
	return nil
}

// places calls each with the docs of a term and where they have it.
func (s *segment) places(e entry, each func(doc int, at []int)) error {
	b := e.places
	if e.count > 1 {
		var err error
		if b, err = s.list(e.off+4+e.docsLen, e.placeLn); err != nil {
			return err
		}
	}
	c := cursor{b: b}
	var at []int
	err := s.postings(e, func(doc, tf int) {
		at = at[:0]
		last := 0
		for range min(tf, len(c.b)) {
			last += int(c.uvarint())
			at = append(at, last)
		}
		if len(at) == tf {
			each(doc, at)
		} else {
			c.bad = true
		}
	})
	if err == nil && c.bad {
		err = damaged("a segment")
	}
	return err
}

// posting is the list of one term while a segment is built: docs and counts in
// one stream, places in another, so that a search that asks for no phrase reads
// the first alone.
type posting struct {
	term   string
	docs   []byte
	places []byte
	count  int
	last   int
}

// add appends a doc; docs arrive in their order, places in theirs.
func (p *posting) add(doc int, places []int) {
	delta := uint64(doc-p.last) << 1
	if len(places) == 1 {
		p.docs = binary.AppendUvarint(p.docs, delta|1)
	} else {
		p.docs = binary.AppendUvarint(binary.AppendUvarint(p.docs, delta), uint64(len(places)))
	}
	last := 0
	for _, at := range places {
		p.places = binary.AppendUvarint(p.places, uint64(at-last))
		last = at
	}
	p.last = doc
	p.count++
}

func (b *builder) terms(sec *[sections][]byte) {
	all := make([]*posting, 0, len(b.postings))
	for _, p := range b.postings {
		all = append(all, p)
	}
	slices.SortFunc(all, func(x, y *posting) int { return cmp.Compare(x.term, y.term) })
	blocks := blockWriter{}
	for i, p := range all {
		before := ""
		if i%perBlock != 0 {
			before = all[i-1].term
		} else {
			blocks.next(p.term)
		}
		same := common(before, p.term)
		e := binary.AppendUvarint(nil, uint64(same))
		e = appendText(e, p.term[same:])
		e = binary.AppendUvarint(e, uint64(p.count))
		e = binary.AppendUvarint(e, uint64(len(p.docs)))
		e = binary.AppendUvarint(e, uint64(len(p.places)))
		if p.count == 1 { // a word of one doc is kept here
			e = append(append(e, p.docs...), p.places...)
		} else {
			e = binary.AppendUvarint(e, uint64(len(sec[secPostings])))
			s := sec[secPostings]
			s = binary.LittleEndian.AppendUint32(s, sum32(p.docs))
			s = append(s, p.docs...)
			s = binary.LittleEndian.AppendUint32(s, sum32(p.places))
			sec[secPostings] = append(s, p.places...)
		}
		blocks.add(e)
	}
	sec[secTerms], sec[secTermHead] = blocks.bytes()
}

func common(a, b string) (n int) {
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
