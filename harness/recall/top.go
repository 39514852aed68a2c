package recall

import (
	"slices"
	"sort"
)

// top keeps the best few of many.
type top struct {
	ix    *Index
	v     *view
	limit int
	kept  []ranked // the best first
}

type ranked struct {
	doc   int32
	score float64
	time  int64
	id    string // read where it must decide
}

// offer puts a doc among the best if it is one of them and passes.
func (t *top) offer(doc int32, score float64, pass func(part, doc int) (bool, error)) error {
	full := len(t.kept) == t.limit
	if full && score < t.kept[t.limit-1].score {
		return nil
	}
	i := t.v.part(int(doc))
	local := int(doc) - t.v.base[i]
	if ok, err := pass(i, local); err != nil || !ok {
		return err
	}
	r := ranked{doc: doc, score: score}
	var err error
	if r.time, err = t.ix.parts[i].millis(local); err != nil {
		return err
	}
	at := sort.Search(len(t.kept), func(i int) bool {
		k := &t.kept[i]
		switch {
		case k.score != score:
			return k.score < score
		case k.time != r.time:
			return k.time < r.time
		}
		if e := t.know(k); e != nil {
			err = e
		}
		if e := t.know(&r); e != nil {
			err = e
		}
		return k.id > r.id
	})
	if err != nil || at == t.limit {
		return err
	}
	if full {
		t.kept = t.kept[:t.limit-1]
	}
	t.kept = slices.Insert(t.kept, at, r)
	return nil
}

func (t *top) know(r *ranked) (err error) {
	if r.id == "" {
		i := t.v.part(int(r.doc))
		r.id, err = t.ix.parts[i].id(int(r.doc) - t.v.base[i])
	}
	return err
}

func (t *top) hits(sc *scores) ([]Hit, error) {
	var out []Hit
	for i := range t.kept {
		r := &t.kept[i]
		if err := t.know(r); err != nil {
			return nil, err
		}
		h := Hit{ID: r.id, Score: r.score}
		if sc != nil {
			h.Own, h.Cover = sc.own[r.doc], min(1, sc.cover[r.doc]/sc.mass)
		}
		out = append(out, h)
	}
	return out, nil
}
