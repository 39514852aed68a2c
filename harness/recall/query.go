package recall

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// Query is what is asked for.
type Query struct {
	// Text is the words. Any of them may be there; the more and the rarer, the
	// better. "Words in quotes" must stand together, and word* is any word that
	// begins so. Without a word that says something, what passes the filter is
	// listed, newest first.
	Text string
	Filter
	Limit int // at most so many hits; 0 is 20
}

// Filter is what a doc must be. An empty field lets all pass; of several values
// in one field, one must be there.
type Filter struct {
	Kinds, Scopes, Groups []string
	Tags                  []string
	Since, Until          time.Time // from Since on and before Until; a doc without a time passes neither
}

// wanted is a query's text, read.
type wanted struct {
	terms   []wantedTerm
	phrases [][]word
}

type wantedTerm struct {
	term   string
	prefix bool
	times  int
}

func parse(text string) (w wanted) {
	at := map[wantedTerm]int{}
	add := func(t wantedTerm) {
		i, ok := at[t]
		if !ok {
			i = len(w.terms)
			at[t] = i
			w.terms = append(w.terms, t)
		}
		w.terms[i].times++
	}
	for i, piece := range strings.Split(text, `"`) {
		quoted := i%2 == 1 && strings.Count(text, `"`) > i
		if quoted {
			if ws := words(piece); len(ws) > 1 {
				w.phrases = append(w.phrases, ws)
			}
		}
		for _, f := range strings.Fields(piece) {
			head, star := strings.CutSuffix(f, "*")
			if head = foldAll(strings.TrimFunc(head, func(r rune) bool { return !letter(r) && !ideograph(r) })); star &&
				utf8.RuneCountInString(head) >= leastPrefix && !quoted {
				add(wantedTerm{term: head, prefix: true})
			}
		}
		if !quoted {
			piece = unstarred(piece)
		}
		for _, t := range words(piece) {
			if n := utf8.RuneCountInString(t.term); n == 1 && ideograph([]rune(t.term)[0]) {
				add(wantedTerm{term: t.term, prefix: true}) // is in pairs, mostly
				continue
			}
			add(wantedTerm{term: t.term})
		}
	}
	return w
}

// unstarred is a text without the words that end in a star.
func unstarred(s string) string {
	if !strings.Contains(s, "*") {
		return s
	}
	return strings.Join(slices.DeleteFunc(strings.Fields(s), func(f string) bool {
		return strings.HasSuffix(f, "*") && utf8.RuneCountInString(f) > leastPrefix
	}), " ")
}
