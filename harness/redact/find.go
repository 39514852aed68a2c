package redact

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// span is a secret in a text. Of two that overlap, the kind of the lower rank
// is shown.
type span struct {
	start, end int
	kind       string
	rank       int
}

// The ranks: what a secret is says more than where it stands, and that says
// more than what it is called.
const (
	byFrame = iota
	byShape
	byPlace
	byName
	byEcho
)

// least is the number of bytes below which nothing is taken for a secret.
const least = 5

// find returns the secrets of s in order, without overlaps.
func find(s string) []span {
	f := finder{s: s, taken: map[*rule]int{}, failed: map[*rule]int{}, passed: map[*place]int{}}
	x := everything()
	x.words.each(s, func(word, start int) {
		for _, l := range x.leads[word] {
			f.follow(l, start, start+len(x.words.list[word]))
		}
	})
	return merge(f.spans)
}

// index is all that is looked for.
type index struct {
	words *words
	leads [][]lead // of a word
	marks string   // everything that can stand for a secret
}

// lead is what a word may lead to: one of these.
type lead struct {
	rule   *rule
	inside bool // the word stands inside the rule's token
	place  *place
	frame  bool
	name   bool
}

var everything = sync.OnceValue(func() *index {
	number := map[string]int{}
	var list []string
	x := &index{}
	kinds := map[string]bool{"private-key": true, "password": true, "token": true, "api-key": true, "secret": true, "credential": true}
	on := func(word string, l lead) {
		n, have := number[word]
		if !have {
			n = len(list)
			number[word] = n
			list = append(list, word)
			x.leads = append(x.leads, nil)
		}
		x.leads[n] = append(x.leads[n], l)
	}
	for _, r := range rules() {
		kinds[r.kind] = true
		for _, word := range r.begins {
			on(word, lead{rule: r})
		}
		for _, word := range r.inside {
			on(word, lead{rule: r, inside: true})
		}
	}
	for _, p := range places() {
		kinds[p.kind] = true
		on(p.word, lead{place: p})
	}
	for _, word := range []string{"-----begin", "private-lines:"} {
		on(word, lead{frame: true})
	}
	for _, word := range nameWords {
		on(word, lead{name: true})
	}
	for kind := range kinds {
		x.marks += mark(kind)
	}
	x.words = newWords(list)
	return x
})

// follow looks at what the word from start to end leads to.
func (f *finder) follow(l lead, start, end int) {
	switch {
	case l.rule != nil:
		f.token(l.rule, start, end, l.inside)
	case l.place != nil:
		f.placed(l.place, start)
	case l.frame:
		f.framed(start)
	default:
		f.assigned(start, end)
	}
}

// A finder gathers what the words found in s lead to.
type finder struct {
	s       string
	spans   []span
	nameEnd int           // names before it have been looked at
	taken   map[*rule]int // up to where a rule has matched
	runEnd  int           // where the run of token bytes ends that was looked at last
	failed  map[*rule]int // how often a rule has not matched in that run
	// valueEnd is where a long value ends, valueTries how many names have been
	// looked at within it.
	valueEnd, valueTries int
	passed               map[*place]int // up to where a place has been looked for
}

// add notes a secret, unless it can not be one.
func (f *finder) add(start, end int, kind string, rank int) {
	if end-start < least || strings.Contains(f.s[start:end], before) || strings.Contains(everything().marks, f.s[start:end]) {
		return
	}
	f.spans = append(f.spans, span{start, end, kind, rank})
}

// merge sorts spans and joins those that overlap.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end), cmp.Compare(a.rank, b.rank))
	})
	out := spans[:0]
	for _, p := range spans {
		if len(out) == 0 || p.start >= out[len(out)-1].end {
			out = append(out, p)
			continue
		}
		last := &out[len(out)-1]
		last.end = max(last.end, p.end)
		if p.rank < last.rank {
			last.kind, last.rank = p.kind, p.rank
		}
	}
	return out
}
