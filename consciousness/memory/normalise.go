package memory

import (
	"strings"
	"unicode"
)

const (
	before = `"'([{«“‘„‚`                  // dropped before a word
	after  = `"')]}»”’.,;:!…`              // dropped after it
	alone  = `-–—*•"'([{«“‘„‚)]}»”’.,;:!…` // not a word
)

// Normalise is a content in the form in which exact duplicates are equal: small
// letters, single spaces, without the punctuation of sentences. What tells
// things apart stays: C++, -5, .env, v1.2, >, a question mark.
func Normalise(s string) string {
	s = strings.Map(func(r rune) rune {
		switch r {
		case '\u00ad', '\u200b', '\u2060', '\ufeff': // seen by nobody
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	var words []string
	for _, w := range strings.Fields(s) {
		if strings.Trim(w, alone) == "" {
			continue
		}
		words = append(words, strings.TrimRight(strings.TrimLeft(w, before), after))
	}
	return strings.Join(words, " ")
}
