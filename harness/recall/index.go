package recall

import (
	"bytes"
	"encoding/binary"
	"os"
	"sync"
)

// Index is the texts as they are searched. Its methods may be called at the same
// time.
type Index struct {
	mu      sync.Mutex
	parts   []*part
	pending map[string]Doc // put and not yet in a segment
	order   []string       // the ids of pending, as they were put
	seen    *view          // nil after a change
	path    string         // of the cache file, if any
	file    *os.File       // what parts are read from
	header  []byte         // of the file, as it was read or written
	end     int64          // of what is used in the file
}

// part is a segment and which of its docs are dead.
type part struct {
	*segment
	dead   bitmap
	gone   int
	inFile bool
}

func (p *part) kill(doc int) {
	if !p.dead.has(doc) {
		p.dead.set(doc)
		p.gone++
	}
}

// New is an empty index.
func New() *Index { return &Index{pending: map[string]Doc{}} }

// Put adds docs, or replaces those of the same ids. What is the same already
// costs little.
func (ix *Index) Put(docs ...Doc) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for _, d := range docs {
		if err := ix.put(d); err != nil {
			return err
		}
	}
	return nil
}

// pendingMost bounds the docs that wait to become a segment.
const pendingMost = 1 << 14

func (ix *Index) put(d Doc) error {
	old, at, err := ix.find(d.ID)
	if err != nil {
		return err
	}
	if old != nil {
		switch sum, err := old.sum(at); {
		case err != nil:
			return err
		case sum == d.sum():
			return nil
		}
		old.kill(at)
	}
	if _, ok := ix.pending[d.ID]; !ok {
		ix.order = append(ix.order, d.ID)
	}
	ix.pending[d.ID] = d
	ix.seen = nil
	if len(ix.pending) >= pendingMost {
		return ix.settle()
	}
	return nil
}

// find is where the living doc of an id is; nil if it is pending or not there.
func (ix *Index) find(id string) (*part, int, error) {
	if _, ok := ix.pending[id]; ok {
		return nil, 0, nil
	}
	for _, p := range ix.parts {
		docs, err := p.find(id)
		if err != nil {
			return nil, 0, err
		}
		for _, doc := range docs {
			if !p.dead.has(doc) {
				return p, doc, nil
			}
		}
	}
	return nil, 0, nil
}

// Remove takes docs out. An id that is not there is no fault.
func (ix *Index) Remove(ids ...string) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for _, id := range ids {
		if err := ix.remove(id); err != nil {
			return err
		}
	}
	return nil
}

func (ix *Index) remove(id string) error {
	if _, ok := ix.pending[id]; ok {
		delete(ix.pending, id)
		ix.seen = nil
		return nil
	}
	p, doc, err := ix.find(id)
	if err != nil || p == nil {
		return err
	}
	p.kill(doc)
	ix.seen = nil
	return nil
}

// Replace makes docs all that there is of a source: a file that was read again.
func (ix *Index) Replace(source string, docs ...Doc) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	keep := map[string]bool{}
	for _, d := range docs {
		keep[d.ID] = true
	}
	ids, err := ix.ids(source)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !keep[id] {
			if err := ix.remove(id); err != nil {
				return err
			}
		}
	}
	for _, d := range docs {
		d.Source = source
		if err := ix.put(d); err != nil {
			return err
		}
	}
	return nil
}

func (ix *Index) ids(source string) (out []string, err error) {
	if err := ix.settle(); err != nil {
		return nil, err
	}
	for _, p := range ix.parts {
		col, err := p.col(facetSource)
		if err != nil {
			return nil, err
		}
		for doc := range p.n {
			if p.dead.has(doc) || col.name(doc) != source {
				continue
			}
			id, err := p.id(doc)
			if err != nil {
				return nil, err
			}
			out = append(out, id)
		}
	}
	return out, nil
}

// Len is the number of docs.
func (ix *Index) Len() (n int) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	for _, p := range ix.parts {
		n += p.n - p.gone
	}
	return n + len(ix.pending)
}

// Doc is what the index knows of a doc: all but its text.
func (ix *Index) Doc(id string) (d Doc, ok bool, err error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if d, ok := ix.pending[id]; ok {
		d.Text = ""
		return d, true, nil
	}
	p, doc, err := ix.find(id)
	if err != nil || p == nil {
		return d, false, err
	}
	r, err := p.row(doc)
	if err != nil {
		return d, false, err
	}
	return r.doc(), true, nil
}

// settle makes a segment of what is pending, and merges segments so that each
// is at least three times as large as the next: few to ask, and each doc is
// copied a few times at most.
func (ix *Index) settle() error {
	if len(ix.pending) > 0 {
		b := newBuilder()
		for _, id := range ix.order {
			if d, ok := ix.pending[id]; ok {
				b.add(d)
				delete(ix.pending, id)
			}
		}
		if err := ix.append(b); err != nil {
			return err
		}
	}
	ix.order = ix.order[:0]
	clear(ix.pending)
	for n := len(ix.parts); n > 0; n = len(ix.parts) {
		first := n
		for first > 1 && ix.parts[first-2].n < 3*sizeOf(ix.parts[first-1:]) {
			first--
		}
		if first == n {
			first = n - 1
		}
		if last := ix.parts[n-1]; first == n-1 && last.gone*2 < max(last.n, 1) {
			break
		}
		if err := ix.merge(first); err != nil {
			return err
		}
	}
	return ix.thin()
}

func sizeOf(parts []*part) (n int) {
	for _, p := range parts {
		n += p.n
	}
	return n
}

// thin writes a segment anew that is dead by half.
func (ix *Index) thin() error {
	for i, p := range ix.parts {
		if p.gone*2 >= max(p.n, 1) {
			return ix.merge(i)
		}
	}
	return nil
}

// merge makes one segment of the parts from one on.
func (ix *Index) merge(first int) error {
	b := newBuilder()
	for _, p := range ix.parts[first:] {
		if err := b.take(p.segment, p.dead); err != nil {
			return err
		}
	}
	ix.parts = ix.parts[:first]
	ix.seen = nil
	if len(b.rows) == 0 {
		return nil
	}
	return ix.append(b)
}

func (ix *Index) append(b *builder) error {
	if len(b.rows) == 0 {
		return nil
	}
	raw := b.bytes()
	s, err := openSegment(bytes.NewReader(raw), 0, int64(len(raw)))
	if err != nil {
		return err
	}
	ix.parts = append(ix.parts, &part{segment: s})
	ix.seen = nil
	return nil
}

// view is what all searches of one state share.
type view struct {
	base   []int // of each part, in one numbering of all docs
	n      int   // docs, dead ones included
	live   int
	length []uint16
	mean   float64
	before []int32 // the neighbouring turns; -1 if there is none. Nil without groups
	after  []int32
}

func (ix *Index) view() (*view, error) {
	if err := ix.settle(); err != nil {
		return nil, err
	}
	if ix.seen != nil {
		return ix.seen, nil
	}
	v := &view{}
	for _, p := range ix.parts {
		v.base = append(v.base, v.n)
		v.n += p.n
	}
	v.length = make([]uint16, v.n)
	total := 0
	for i, p := range ix.parts {
		b, err := p.lengths()
		if err != nil {
			return nil, err
		}
		for doc := range p.n {
			length := binary.LittleEndian.Uint16(b[2*doc:])
			v.length[v.base[i]+doc] = length
			if !p.dead.has(doc) {
				total += int(length)
			}
		}
		v.live += p.n - p.gone
	}
	v.mean = max(1, float64(total)/float64(max(v.live, 1)))
	if err := ix.neighbours(v); err != nil {
		return nil, err
	}
	ix.seen = v
	return v, nil
}

// part finds the part of a doc of the one numbering.
func (v *view) part(doc int) int {
	i := len(v.base) - 1
	for v.base[i] > doc {
		i--
	}
	return i
}
