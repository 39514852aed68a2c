package recall

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"slices"
	"sort"
)

// id is the id of a doc.
func (s *segment) id(doc int) (string, error) {
	if names, ok := s.idNames[doc/perBlock]; ok && doc%perBlock < len(names) {
		return names[doc%perBlock], nil
	}
	if s.idAt == nil {
		var err error
		if s.idAt, err = s.heads(secIDHead); err != nil {
			return "", err
		}
	}
	if doc/perBlock >= len(s.idAt) {
		return "", damaged("a segment")
	}
	b, err := s.block(secIDs, s.idAt[doc/perBlock])
	if err != nil {
		return "", err
	}
	var names []string
	for c := (cursor{b: b}); len(c.b) > 0; {
		names = append(names, c.text())
		if c.bad {
			return "", damaged("a segment")
		}
	}
	if doc%perBlock >= len(names) {
		return "", damaged("a segment")
	}
	s.idNames[doc/perBlock] = names
	return names[doc%perBlock], nil
}

// find lists the docs of an id: one that lives, at most, and older versions.
func (s *segment) find(id string) (docs []int, err error) {
	b, err := s.section(secByID)
	if err != nil {
		return nil, err
	}
	le, hash := binary.LittleEndian, hashID(id)
	for i := sort.Search(s.n, func(i int) bool { return le.Uint32(b[8*i:]) >= hash }); i < s.n && le.Uint32(b[8*i:]) == hash; i++ {
		doc := int(le.Uint32(b[8*i+4:]))
		if doc >= s.n {
			return nil, damaged("a segment")
		}
		name, err := s.id(doc)
		if err != nil {
			return nil, err
		}
		if name == id {
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

func (b *builder) ids(sec *[sections][]byte) {
	blocks := blockWriter{}
	type pair struct{ hash, doc uint32 }
	pairs := make([]pair, len(b.rows))
	for i, r := range b.rows {
		if i%perBlock == 0 {
			blocks.next("")
		}
		blocks.add(appendText(nil, r.id))
		pairs[i] = pair{hashID(r.id), uint32(i)}
	}
	sec[secIDs], sec[secIDHead] = blocks.bytes()
	slices.SortFunc(pairs, func(x, y pair) int { return cmp.Or(cmp.Compare(x.hash, y.hash), cmp.Compare(x.doc, y.doc)) })
	for _, p := range pairs {
		sec[secByID] = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(sec[secByID], p.hash), p.doc)
	}
}

func hashID(id string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(id))
	return h.Sum32()
}
