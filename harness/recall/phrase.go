package recall

// keepPhrase takes the scores of those away that do not have the words of a
// phrase in its order.
func (ix *Index) keepPhrase(v *view, sc *scores, phrase []word) error {
	has := make(map[int32]bool)
	for i, p := range ix.parts {
		starts, err := p.phrase(phrase)
		if err != nil {
			return err
		}
		for doc := range starts {
			has[int32(v.base[i]+doc)] = true
		}
	}
	kept := sc.touched[:0]
	for _, doc := range sc.touched {
		if has[doc] {
			kept = append(kept, doc)
		} else {
			sc.own[doc], sc.cover[doc] = 0, 0
		}
	}
	sc.touched = kept
	return nil
}

// phrase lists where the words stand in the order of the phrase: for each doc
// the places that the phrase could begin at.
func (p *part) phrase(phrase []word) (map[int]map[int]bool, error) {
	var starts map[int]map[int]bool
	for _, w := range phrase {
		e, ok, err := p.lookup(w.term)
		if err != nil || !ok {
			return nil, err
		}
		next := map[int]map[int]bool{}
		if err := p.places(e, func(doc int, at []int) {
			if p.dead.has(doc) || starts != nil && starts[doc] == nil {
				return
			}
			for _, place := range at {
				start := place - w.place
				if starts != nil && !starts[doc][start] {
					continue
				}
				if next[doc] == nil {
					next[doc] = map[int]bool{}
				}
				next[doc][start] = true
			}
		}); err != nil {
			return nil, err
		}
		starts = next
	}
	return starts, nil
}
