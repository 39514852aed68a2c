package recall

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Ask is what [Index.Recall] chooses from. Its rules come from the caller as
// plain values.
type Ask struct {
	Query                       // Limit is how many are shown at most; 0 is 5
	Near  []Hit                 // what is near by vectors, the nearest first, Score the cosine; none without an embedder
	Never map[string]bool       // superseded, already shown, or this session's own: not shown
	Prior func(id string) Prior // nil is none
}

// Prior is what speaks for showing a doc, whatever was asked. It decides
// between answers that are nearly as good; it makes no good one out of a bad.
type Prior struct {
	Age        time.Duration // since it was last confirmed; zero if unknown is as good as new
	Confidence float64       // 0 to 1
	Importance int           // 1 high, 0 medium, -1 low
	Strength   int           // how often it was said; 1 is once
	Here       bool          // of the project and branch at hand
}

// Factor is what a score is multiplied by: between 0.85 and 1.3.
func (p Prior) Factor() float64 {
	f := 0.9 + 0.1*min(max(p.Confidence, 0), 1)
	f += 0.05 * math.Exp2(-max(p.Age.Hours(), 0)/24/30)
	f += 0.05 * float64(min(max(p.Importance, -1), 1))
	f += min(0.1, 0.03*math.Log(float64(max(p.Strength, 1))))
	if p.Here {
		f += 0.05
	}
	return f
}

const (
	usualMost  = 5
	pool       = 50   // candidates that are looked at
	fuseK      = 60   // Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", 2009
	gateShare  = 0.5  // of the best score, below which an answer is left out
	gateCover  = 0.25 // of what was asked, below which words in common mean nothing
	gateCosine = 0.35 // below which two texts are not near
	gateNear   = 0.8  // of the best cosine
)

// Recall chooses the few docs that are worth showing: words and vectors fused,
// the caller's rules kept, weak answers left out. There may be none.
func (ix *Index) Recall(a Ask) ([]Hit, error) {
	most := a.Limit
	if most <= 0 {
		most = usualMost
	}
	a.Query.Limit = max(pool, 5*most) + len(a.Never)
	said, err := ix.Search(a.Query)
	if err != nil {
		return nil, err
	}
	near, err := ix.passing(a.Near, a.Filter)
	if err != nil {
		return nil, err
	}
	said, near = gateSaid(a.allowed(said)), gateNearby(a.allowed(near))
	out := said
	if len(near) > 0 {
		out = Fuse(said, near)
	}
	return out[:min(len(out), most)], nil
}

// allowed is what may be shown, its scores weighed.
func (a *Ask) allowed(hits []Hit) (out []Hit) {
	for _, h := range hits {
		if a.Never[h.ID] {
			continue
		}
		if a.Prior != nil {
			h.Score *= a.Prior(h.ID).Factor()
		}
		out = append(out, h)
	}
	slices.SortStableFunc(out, func(x, y Hit) int { return cmp.Compare(y.Score, x.Score) })
	return out
}

func gateSaid(hits []Hit) []Hit {
	return slices.DeleteFunc(hits, func(h Hit) bool {
		return h.Score < gateShare*hits[0].Score || h.Own == h.Score && h.Own > 0 && h.Cover < gateCover
	})
}

func gateNearby(hits []Hit) []Hit {
	return slices.DeleteFunc(hits, func(h Hit) bool { return h.Score < max(gateCosine, gateNear*hits[0].Score) })
}

// passing is the hits that are in the index and pass the filter.
func (ix *Index) passing(hits []Hit, f Filter) (out []Hit, err error) {
	if len(hits) == 0 {
		return nil, nil
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if err := ix.settle(); err != nil {
		return nil, err
	}
	pass := ix.filter(f)
	for _, h := range hits {
		p, doc, err := ix.find(h.ID)
		if err != nil {
			return nil, err
		}
		if p == nil {
			continue
		}
		ok, err := pass(slices.Index(ix.parts, p), doc)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, h)
		}
	}
	return out, nil
}

// Fuse makes one list of several by reciprocal rank: each gives 1/(60+rank). Own
// and Cover are those of the first list that has the doc.
func Fuse(lists ...[]Hit) []Hit {
	at := map[string]int{}
	var out []Hit
	for _, list := range lists {
		for rank, h := range list {
			i, ok := at[h.ID]
			if !ok {
				i = len(out)
				at[h.ID] = i
				h.Score = 0
				out = append(out, h)
			}
			out[i].Score += 1 / float64(fuseK+rank+1)
		}
	}
	slices.SortStableFunc(out, func(x, y Hit) int { return cmp.Compare(y.Score, x.Score) })
	return out
}
