package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// word is one term of a text. Words have places in the order of the text; a
// stop word takes a place and is not there. What was written as one name
// (snake_case, camelCase, a path, a version) stands whole, too, at the place of
// its first part.
type word struct {
	term  string
	place int
	whole bool
}

// maxTerm is the length of the longest term in bytes; of a longer one the
// beginning is indexed.
const maxTerm = 64

// words splits a text into terms: letters folded, English endings taken off,
// stop words left out.
func words(text string) []word {
	s := splitter{out: make([]word, 0, len(text)/6)}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case ideograph(r):
			end := i + run(text[i:], ideograph)
			s.ideographs(text[i:end])
			i = end
		case letter(r):
			end := i + nameLen(text[i:])
			s.name(text[i:end])
			for _, tail := range [2]string{"++", "#"} { // c++, c#
				if end-i == 1 && strings.HasPrefix(text[end:], tail) {
					s.whole(foldAll(text[i:end])+tail, s.place-1)
				}
			}
			i = end
		default:
			i += size
		}
	}
	return s.out
}

// places is the length of a text in words.
func places(ws []word) (n int) {
	for _, w := range ws {
		if !w.whole {
			n++
		}
	}
	return n
}

func letter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)) && !ideograph(r)
}

// ideograph is a letter of a script that is written without spaces.
func ideograph(r rune) bool {
	return r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー')
}

func run(s string, in func(rune) bool) int {
	for i, r := range s {
		if !in(r) {
			return i
		}
	}
	return len(s)
}

const joiners = `_-./\:@'’`

// nameLen is the length of the name at the beginning of s: letters and digits
// with single joiners (or a double colon) between them.
func nameLen(s string) int {
	n := run(s, letter)
	for {
		j, size := utf8.DecodeRuneInString(s[n:])
		if strings.HasPrefix(s[n:], "::") {
			size = 2
		}
		next, _ := utf8.DecodeRuneInString(s[n+size:])
		digits := size == 1 && n+1 < len(s) && digit(s[n-1]) && digit(s[n+1])
		if size == 0 || !letter(next) || !strings.ContainsRune(joiners, j) && !(j == ',' && digits) {
			return n
		}
		n += size + run(s[n+size:], letter)
	}
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

type splitter struct {
	out   []word
	place int
}

// add takes the next place for a folded word.
func (s *splitter) add(w string) {
	if w != "" && !stop[w] {
		s.out = append(s.out, word{term: term(w), place: s.place})
	}
	s.place++
}

func (s *splitter) whole(w string, place int) {
	s.out = append(s.out, word{term: term(w), place: place, whole: true})
}

// term is a folded word as it is indexed.
func term(w string) string {
	for i := range len(w) {
		if c := w[i]; c < 'a' || c > 'z' {
			if len(w) > maxTerm {
				w = w[:maxTerm]
				for !utf8.ValidString(w) {
					w = w[:len(w)-1]
				}
			}
			return w
		}
	}
	if len(w) > maxTerm {
		return w[:maxTerm]
	}
	return stem(w)
}

func foldAll(s string) string {
	plain := true
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf && unicode.IsMark(r) || r == utf8.RuneError {
			return -1
		}
		return fold(r)
	}, s)
}

// name adds a name: its parts, and what of it stands whole.
func (s *splitter) name(n string) {
	if strings.ContainsAny(n, "'’") {
		n = apostrophe(n)
	}
	n = strings.ReplaceAll(n, ",", "")
	if strings.IndexFunc(n, func(r rune) bool { return !letter(r) }) < 0 && !camel(n) {
		s.add(foldAll(n))
		return
	}
	place := s.place
	if s.number(n) {
		return
	}
	elements := strings.FieldsFunc(n, func(r rune) bool { return strings.ContainsRune(`/\:@`, r) })
	for _, e := range elements {
		s.element(e)
	}
	if len(elements) > 1 {
		s.whole(foldAll(n), place)
	}
}

// element adds a piece of a path: lock.go, is_ready, homeDir.
func (s *splitter) element(e string) {
	place, parts := s.place, 0
	for _, p := range strings.FieldsFunc(e, func(r rune) bool { return !letter(r) }) {
		for p != "" {
			n := hump(p)
			s.add(foldAll(p[:n]))
			parts++
			p = p[n:]
		}
	}
	if parts > 1 {
		s.whole(strings.NewReplacer("_", "", "-", "").Replace(foldAll(e)), place)
	}
}

// number adds a version, date or clock time: whole, and each beginning of it,
// so that 1.26 finds 1.26.8 and 2026-11 finds 2026-11-21.
func (s *splitter) number(n string) bool {
	if len(n) > 1 && (n[0] == 'v' || n[0] == 'V') && digit(n[1]) {
		n = n[1:]
	}
	parts := strings.FieldsFunc(n, func(r rune) bool { return strings.ContainsRune(".-:/", r) })
	for _, p := range parts {
		if run(p, func(r rune) bool { return '0' <= r && r <= '9' }) < len(p) {
			return false
		}
	}
	place, end := s.place, 0
	for i, p := range parts {
		end += len(p)
		if i > 0 {
			s.whole(n[:end], place)
		}
		if len(p) > 2 {
			s.add(p)
		}
		end++
	}
	if s.place == place {
		s.place++
	}
	return true
}

// camel says that a name has a hump: homeDir, HTTPServer.
func camel(n string) bool { return hump(n) < len(n) }

// hump is the length of the first part of a camelCase name.
func hump(n string) int {
	upper := 0
	for i, r := range n {
		switch {
		case unicode.IsUpper(r):
			if i > 0 && upper == 0 {
				return i
			}
			upper++
		case upper > 1 && unicode.IsLower(r):
			if before, size := utf8.DecodeLastRuneInString(n[:i]); unicode.IsUpper(before) && n[i:] != "s" { // URLs is one
				return i - size
			}
			upper = 0
		default:
			upper = 0
		}
	}
	return len(n)
}

// apostrophe takes the English endings off ('s, 'll) and closes the others up,
// so that don't is a stop word and O'Brien one name.
func apostrophe(n string) string {
	n = strings.ReplaceAll(n, "’", "'")
	head, tail, _ := strings.Cut(n, "'")
	switch strings.ToLower(tail) {
	case "s", "ll", "re", "ve", "d", "m":
		if joined := head + tail; stop[foldAll(joined)] {
			return joined
		}
		return head
	}
	return strings.ToLower(strings.ReplaceAll(n, "'", ""))
}

// ideographs adds the pairs of neighbouring letters, as one of them says too
// little and nobody wrote where a word ends.
func (s *splitter) ideographs(text string) {
	rs := []rune(text)
	if len(rs) == 1 {
		s.add(text)
	}
	for i := 0; i+1 < len(rs); i++ {
		s.add(string(rs[i : i+2]))
	}
}
