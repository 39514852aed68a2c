package redact

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// The tokens that are known by their own shape. One line is one rule:
//
//	kind  words  regexp
//
// The words, in lower case and with commas between, are how such a token
// begins; a < before a word says that the word stands inside the token. The
// regexp (RE2) describes the whole token. What comes before and after must not
// be a letter, a digit or an underscore; what follows the word must not read
// like words. A rule that stands earlier gives the kind.
var (
	//go:embed rules.txt
	ownRules string
	// gitleaks.txt is made from the rules of gitleaks (MIT, gitleaks.LICENSE)
	// by TestGitleaks -update.
	//go:embed gitleaks.txt
	gitleaksRules string
)

// rule is one line of the two lists.
type rule struct {
	kind   string
	begins []string // words that begin the token
	inside []string // words that stand in it
	shape  func() *regexp.Regexp
	source string
}

// rules reads both lists.
var rules = sync.OnceValue(func() []*rule {
	var out []*rule
	for line := range strings.Lines(ownRules + gitleaksRules) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		r, err := parseRule(line)
		if err != nil {
			panic(err) // the lists are part of the program, and tested
		}
		out = append(out, r)
	}
	return out
})

func parseRule(line string) (*rule, error) {
	kind, rest, _ := strings.Cut(line, " ")
	list, source, ok := strings.Cut(strings.TrimSpace(rest), " ")
	if !ok {
		return nil, fmt.Errorf("rule of three columns expected: %q", line)
	}
	r := &rule{kind: kind, source: strings.TrimSpace(source)}
	for word := range strings.SplitSeq(list, ",") {
		if in, inside := strings.CutPrefix(word, "<"); inside {
			r.inside = append(r.inside, in)
		} else {
			r.begins = append(r.begins, word)
		}
	}
	r.shape = lazy(`\A(?:` + r.source + `)`)
	return r, nil
}

// longest bounds a token, so that the time for one word found is bounded.
const longest = 2048

// reach is how far before a word inside it a token may begin.
const reach = 80

// A run of token bytes longer than long is looked into only patience times for
// each rule: else a text made of nothing but beginnings would take forever.
const (
	long     = 256
	patience = 20
)

// token looks for a token of rule r around the word from start to end.
func (f *finder) token(r *rule, start, end int, inside bool) {
	if !inside {
		f.tokenAt(r, start, end)
		return
	}
	first := start
	for first > 0 && start-first < reach && isTokenByte(f.s[first-1]) {
		first--
	}
	for at := first; at < start; at++ {
		if isWordByte(f.s[at]) && f.tokenAt(r, at, at) {
			return
		}
	}
}

// tokenAt looks for a token of rule r that begins at start with a word that
// ends at end.
func (f *finder) tokenAt(r *rule, start, end int) bool {
	if start < f.taken[r] || !opens(f.s, start) {
		return false
	}
	run := f.s[start:f.run(start)]
	if len(run) > long && f.failed[r] >= patience {
		return false
	}
	m := r.shape().FindStringIndex(run[:min(len(run), longest)])
	if m == nil {
		if len(run) > long {
			f.failed[r]++
		}
		return false
	}
	stop := start + m[1]
	for stop > end && (f.s[stop-1] == '.' || f.s[stop-1] == '-') {
		stop-- // the end of a sentence, a dash
	}
	f.taken[r] = stop
	if stop < len(f.s) && isWordByte(f.s[stop]) || isExample(f.s[start:stop]) || !isLot(f.s[min(end, stop):stop]) {
		return false
	}
	f.add(start, stop, r.kind, byShape)
	return true
}

// run returns where the token bytes from start on end.
func (f *finder) run(start int) int {
	if start < f.runEnd {
		return f.runEnd
	}
	end := start
	for end < len(f.s) && isTokenByte(f.s[end]) {
		end++
	}
	f.runEnd = end
	clear(f.failed)
	return end
}

// opens says whether a token may begin at i: not within a word or a hash in
// base64. The letter of an escape (\n), of a URL's (%3D) and the end of a colour (ESC[31m) are no
// part of a word.
func opens(s string, i int) bool {
	if i == 0 {
		return true
	}
	if !isWordByte(s[i-1]) {
		return s[i-1] != '-' && s[i-1] != '+' || i == 1 || !isWordByte(s[i-2])
	}
	switch s[i-1] {
	case 'n', 'r', 't':
		return i > 1 && s[i-2] == '\\'
	case 'm':
		for k := i - 2; k >= 0 && k > i-12; k-- {
			if s[k] == '[' {
				return k > 0 && (s[k-1] == 0x1b || k > 2 && s[k-3:k] == "033" || k > 1 && s[k-2:k] == "1b")
			}
			if s[k] != ';' && !isDigit(s[k]) {
				return false
			}
		}
		return false
	}
	return i > 2 && s[i-3] == '%' && isHex(s[i-2]) && isHex(s[i-1])
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLetter(c byte) bool { return isLower(c | 0x20) }
func isHex(c byte) bool    { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }
func isSpace(c byte) bool  { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// isWordByte says whether c is one of \w.
func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' }

// isTokenByte says whether c may stand in the middle of a token.
func isTokenByte(c byte) bool { return isWordByte(c) || strings.IndexByte("-.~+/=:%$@", c) >= 0 }
