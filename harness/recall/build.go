package recall

import (
	"cmp"
	"encoding/binary"
	"hash/crc32"
	"slices"
)

// The sections of a segment, in their order.
const (
	secPostings = iota // lists, each with its checksum before it; read one at a time
	secTerms           // blocks of terms, read one at a time
	secTermHead        // the first term of each block
	secIDs             // blocks of ids, read one at a time
	secIDHead
	secLengths // words of each doc, 2 bytes
	secTimes   // milliseconds, 8 bytes
	secOrders  // signed numbers
	secByID    // sorted pairs of the hash of an id and a doc, 4 bytes each
	secSums    // what was put, hashed, 8 bytes
	secTags
	secFacet // kind, scope, group, source
	sections = secFacet + facets
)

const (
	facetKind = iota
	facetScope
	facetGroup
	facetSource
	facets
)

const (
	perBlock  = 64
	footerLen = 4 + sections*12 + 4 // docs, then offset, length and checksum of each section, then its own checksum
	maxLength = 1<<16 - 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func sum32(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// builder makes a segment out of docs.
type builder struct {
	rows     []row
	postings map[string]*posting
}

func newBuilder() *builder { return &builder{postings: map[string]*posting{}} }

func (b *builder) posting(term string) *posting {
	p := b.postings[term]
	if p == nil {
		p = &posting{term: term}
		b.postings[term] = p
	}
	return p
}

func (b *builder) add(d Doc) {
	ws := words(d.Text)
	r := rowOf(d)
	r.length = min(places(ws), maxLength)
	slices.SortStableFunc(ws, func(x, y word) int { return cmp.Compare(x.term, y.term) })
	var at []int
	for i := 0; i < len(ws); {
		at = at[:0]
		j := i
		for ; j < len(ws) && ws[j].term == ws[i].term; j++ {
			if len(at) == 0 || at[len(at)-1] != ws[j].place {
				at = append(at, ws[j].place)
			}
		}
		slices.Sort(at)
		b.posting(ws[i].term).add(len(b.rows), at)
		i = j
	}
	b.rows = append(b.rows, r)
}

// bytes is the segment.
func (b *builder) bytes() []byte {
	var sec [sections][]byte
	b.terms(&sec)
	b.ids(&sec)
	for _, r := range b.rows {
		sec[secLengths] = binary.LittleEndian.AppendUint16(sec[secLengths], uint16(r.length))
		sec[secTimes] = binary.LittleEndian.AppendUint64(sec[secTimes], uint64(r.millis))
		sec[secOrders] = binary.AppendVarint(sec[secOrders], r.order)
		sec[secSums] = binary.LittleEndian.AppendUint64(sec[secSums], r.sum)
	}
	b.tags(&sec)
	for f := range facets {
		sec[secFacet+f] = b.facet(f)
	}

	var out, footer []byte
	footer = binary.LittleEndian.AppendUint32(footer, uint32(len(b.rows)))
	for i, s := range sec {
		footer = binary.LittleEndian.AppendUint32(footer, uint32(len(out)))
		footer = binary.LittleEndian.AppendUint32(footer, uint32(len(s)))
		check := uint32(0)
		if i != secPostings && i != secTerms && i != secIDs { // those check themselves, piece by piece
			check = sum32(s)
		}
		footer = binary.LittleEndian.AppendUint32(footer, check)
		out = append(out, s...)
	}
	footer = binary.LittleEndian.AppendUint32(footer, sum32(footer))
	return append(out, footer...)
}
