// Package nearest finds the names that someone may have meant.
package nearest

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
)

// Names returns at most n of the names in from that are near word, the
// nearest first, equals by name. Case does not matter. A name is near if
//   - it is one edit away (agent-recal, agent-recall), or two if the longer of
//     the two has at least five letters (mapcra, mapcar), or three from twelve on;
//   - or one begins with the other (agent-create, agent-create-thread) or
//     contains it (create-thread, agent-create-thread), and the shorter has at
//     least three letters.
//
// Fewer edits are nearer; to begin with the other counts as one edit, to contain
// it as two; among equals, the difference in length decides.
//
// Nothing is near an empty word.
func Names(word string, from []string, n int) []string {
	type candidate struct {
		name string
		rank int
	}
	var near []candidate
	for _, name := range from {
		if rank, ok := distance(strings.ToLower(word), strings.ToLower(name)); ok {
			near = append(near, candidate{name, rank})
		}
	}
	slices.SortFunc(near, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), strings.Compare(a.name, b.name))
	})
	near = slices.CompactFunc(near, func(a, b candidate) bool { return a.name == b.name })
	names := make([]string, 0, max(0, min(n, len(near))))
	for _, c := range near[:cap(names)] {
		names = append(names, c.name)
	}
	return names
}

// longest bounds the letters compared: no name is longer, and the cost of a
// comparison is their product.
const longest = 100

// edit is the rank of one edit, more than any difference in length.
const edit = longest + 1

// distance returns how far name is from word, and whether that is near.
func distance(word, name string) (rank int, near bool) {
	if word == "" || name == "" || len(word) > longest || len(name) > longest {
		return 0, false
	}
	letters, other := utf8.RuneCountInString(word), utf8.RuneCountInString(name)
	if letters < other {
		word, name, letters, other = name, word, other, letters
	}
	edits, allowed := levenshtein.ComputeDistance(word, name), 1
	switch {
	case letters >= 12:
		allowed = 3
	case letters >= 5:
		allowed = 2
	}
	near = edits <= allowed && edits < letters
	if other >= 3 && strings.Contains(word, name) {
		parts := 2
		if strings.HasPrefix(word, name) {
			parts = 1
		}
		if !near || parts < edits {
			edits, near = parts, true
		}
	}
	return edits*edit + letters - other, near
}
