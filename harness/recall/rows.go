package recall

import (
	"encoding/binary"
	"hash/fnv"
	"time"
)

// row is what a segment keeps of a doc beside its words.
type row struct {
	id     string
	length int
	millis int64
	order  int64
	sum    uint64
	facets [facets]string
	tags   []string
}

func rowOf(d Doc) row {
	return row{
		id: d.ID, millis: millis(d.Time), order: int64(d.Order), sum: d.sum(), tags: d.Tags,
		facets: [facets]string{facetKind: d.Kind, facetScope: d.Scope, facetGroup: d.Group, facetSource: d.Source},
	}
}

// noTime is the zero time: before all others.
const noTime = -1 << 63

func millis(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixMilli()
}

// sum tells two versions of a doc apart.
func (d Doc) sum() uint64 {
	var b []byte
	for _, s := range append([]string{d.ID, d.Text, d.Kind, d.Scope, d.Group, d.Source}, d.Tags...) {
		b = appendText(b, s)
	}
	b = binary.AppendVarint(binary.AppendVarint(b, int64(d.Order)), millis(d.Time))
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}

// doc is what a row tells, the text excepted.
func (r row) doc() Doc {
	d := Doc{
		ID: r.id, Tags: r.tags, Order: int(r.order),
		Kind: r.facets[facetKind], Scope: r.facets[facetScope], Group: r.facets[facetGroup], Source: r.facets[facetSource],
	}
	if r.millis != noTime {
		d.Time = time.UnixMilli(r.millis)
	}
	return d
}

// row reads all that is kept of a doc beside its words.
func (s *segment) row(doc int) (r row, err error) {
	if r.id, err = s.id(doc); err != nil {
		return r, err
	}
	lengths, err := s.lengths()
	if err != nil {
		return r, err
	}
	r.length = int(binary.LittleEndian.Uint16(lengths[2*doc:]))
	if r.millis, err = s.millis(doc); err != nil {
		return r, err
	}
	orders, err := s.orders()
	if err != nil {
		return r, err
	}
	r.order = orders[doc]
	if r.sum, err = s.sum(doc); err != nil {
		return r, err
	}
	if r.tags, err = s.tags(doc); err != nil {
		return r, err
	}
	for f := range facets {
		col, err := s.col(f)
		if err != nil {
			return r, err
		}
		r.facets[f] = col.name(doc)
	}
	return r, nil
}
