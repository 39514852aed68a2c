package recall

import "slices"

// filter says of a doc of a part whether it passes. Only the columns that are
// asked for are read.
func (ix *Index) filter(f Filter) func(part, doc int) (bool, error) {
	type ask struct {
		facet int
		of    []string
	}
	var asks []ask
	for _, a := range []ask{{facetKind, f.Kinds}, {facetScope, f.Scopes}, {facetGroup, f.Groups}} {
		if len(a.of) > 0 {
			asks = append(asks, a)
		}
	}
	since, until := millis(f.Since), millis(f.Until)
	timed := !f.Since.IsZero() || !f.Until.IsZero()
	return func(part, doc int) (bool, error) {
		p := ix.parts[part]
		for _, a := range asks {
			col, err := p.col(a.facet)
			if err != nil || !slices.Contains(a.of, col.name(doc)) {
				return false, err
			}
		}
		if timed {
			at, err := p.millis(doc)
			if err != nil || at == noTime || at < since || !f.Until.IsZero() && at >= until {
				return false, err
			}
		}
		if len(f.Tags) > 0 {
			tags, err := p.tags(doc)
			if err != nil || !slices.ContainsFunc(f.Tags, func(t string) bool { return slices.Contains(tags, t) }) {
				return false, err
			}
		}
		return true, nil
	}
}

func (f Filter) empty() bool {
	return len(f.Kinds)+len(f.Scopes)+len(f.Groups)+len(f.Tags) == 0 && f.Since.IsZero() && f.Until.IsZero()
}
