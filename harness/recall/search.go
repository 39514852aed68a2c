package recall

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// BM25's constants, and what a neighbouring turn's score adds to a turn's own.
const (
	k1          = 1.2
	lengthShare = 0.75 // b in the papers
	nearShare   = 0.5
	usualLimit  = 20
	leastPrefix = 2 // letters before a *
)

// Search lists the docs that answer best, the best first; those of the same
// score newest first. It fails with [ErrStale] where the cache file is damaged.
func (ix *Index) Search(q Query) ([]Hit, error) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	v, err := ix.view()
	if err != nil || v.n == 0 {
		return nil, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = usualLimit
	}
	want := parse(q.Text)
	if len(want.terms) == 0 {
		if strings.TrimSpace(q.Text) != "" && q.Filter.empty() {
			return nil, nil
		}
		return ix.listed(v, q.Filter, limit)
	}
	sc, err := ix.score(v, want)
	if err != nil {
		return nil, err
	}
	return ix.best(v, sc, q.Filter, limit)
}

// scores of all docs, and which have one.
type scores struct {
	own, cover []float64
	touched    []int32 // docs with a word of the query
	mass       float64 // of all words of the query
}

// found is one doc of one term.
type found struct {
	doc int32
	tf  int32
}

func (ix *Index) score(v *view, want wanted) (*scores, error) {
	sc := &scores{own: make([]float64, v.n), cover: make([]float64, v.n)}
	var masses []float64
	var list []found
	for _, t := range want.terms {
		var err error
		if list, err = ix.lists(v, t, list[:0]); err != nil {
			return nil, err
		}
		df := float64(len(list))
		idf := math.Log(1 + (float64(v.live)-df+0.5)/(df+0.5))
		masses = append(masses, idf)
		weight := idf * float64(t.times)
		for _, f := range list {
			tf := float64(f.tf)
			if sc.own[f.doc] == 0 {
				sc.touched = append(sc.touched, f.doc)
			}
			sc.own[f.doc] += weight * tf * (k1 + 1) / (tf + k1*(1-lengthShare+lengthShare*float64(v.length[f.doc])/v.mean))
			sc.cover[f.doc] += idf
		}
	}
	sc.mass = mass(masses)
	for _, phrase := range want.phrases {
		if err := ix.keepPhrase(v, sc, phrase); err != nil {
			return nil, err
		}
	}
	return sc, nil
}

// coverWords is how many of the weightiest words of a long query an answer must
// have to answer all of it.
const coverWords = 5

func mass(idfs []float64) (sum float64) {
	slices.Sort(idfs)
	for _, m := range idfs[max(0, len(idfs)-coverWords):] {
		sum += m
	}
	return sum
}

// lists is the living docs of a term.
func (ix *Index) lists(v *view, t wantedTerm, out []found) ([]found, error) {
	for i, p := range ix.parts {
		entries, err := p.matching(t)
		if err != nil {
			return nil, err
		}
		start := len(out)
		base := int32(v.base[i])
		for _, e := range entries {
			if err := p.postings(e, func(doc, tf int) {
				if p.gone == 0 || !p.dead.has(doc) {
					out = append(out, found{base + int32(doc), int32(tf)})
				}
			}); err != nil {
				return nil, err
			}
		}
		if len(entries) > 1 {
			out = append(out[:start], united(out[start:])...)
		}
	}
	return out, nil
}

// matching is the terms of a part that a term of the query means. The stem of a
// word may be shorter than the beginning that was asked for.
func (p *part) matching(t wantedTerm) (out []entry, err error) {
	if !t.prefix {
		e, ok, err := p.lookup(t.term)
		if ok {
			out = append(out, e)
		}
		return out, err
	}
	if s := term(t.term); len(s) < len(t.term) {
		if e, ok, err := p.lookup(s); err != nil {
			return nil, err
		} else if ok {
			out = append(out, e)
		}
	}
	err = p.entries(t.term, func(e entry) bool {
		if !strings.HasPrefix(e.term, t.term) {
			return false
		}
		out = append(out, e)
		return true
	})
	return out, err
}

// united is each doc once, its counts added.
func united(list []found) []found {
	slices.SortFunc(list, func(a, b found) int { return cmp.Compare(a.doc, b.doc) })
	n := 0
	for _, f := range list {
		if n > 0 && list[n-1].doc == f.doc {
			list[n-1].tf += f.tf
			continue
		}
		list[n] = f
		n++
	}
	return list[:n]
}

// best adds the neighbours' context and sorts out the first few.
func (ix *Index) best(v *view, sc *scores, filter Filter, limit int) ([]Hit, error) {
	docs := sc.touched
	total := func(doc int32) float64 { return sc.own[doc] }
	if v.before != nil {
		total = func(doc int32) float64 {
			s := sc.own[doc]
			if n := v.before[doc]; n >= 0 {
				s += nearShare * sc.own[n]
			}
			if n := v.after[doc]; n >= 0 {
				s += nearShare * sc.own[n]
			}
			return s
		}
		docs = withNeighbours(v, sc)
	}
	top := &top{ix: ix, v: v, limit: limit}
	pass := ix.filter(filter)
	for _, doc := range docs {
		if err := top.offer(doc, total(doc), pass); err != nil {
			return nil, err
		}
	}
	return top.hits(sc)
}

// withNeighbours is the touched docs and the turns beside them, each once.
func withNeighbours(v *view, sc *scores) []int32 {
	out := slices.Clone(sc.touched)
	added := make(bitmap, v.n/64+1)
	for _, doc := range sc.touched {
		for _, n := range [2]int32{v.before[doc], v.after[doc]} {
			if n >= 0 && sc.own[n] == 0 && !added.has(int(n)) {
				added.set(int(n))
				out = append(out, n)
			}
		}
	}
	return out
}

// listed is what passes the filter, newest first.
func (ix *Index) listed(v *view, filter Filter, limit int) ([]Hit, error) {
	pass := ix.filter(filter)
	top := &top{ix: ix, v: v, limit: limit}
	for i, p := range ix.parts {
		for doc := range p.n {
			if p.dead.has(doc) {
				continue
			}
			if err := top.offer(int32(v.base[i]+doc), 0, pass); err != nil {
				return nil, err
			}
		}
	}
	return top.hits(nil)
}
