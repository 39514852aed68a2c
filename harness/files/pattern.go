package files

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wanted finds the lines that a pattern matches.
type wanted struct {
	re *regexp.Regexp
	// One of the needles stands in every line that matches; without any, nothing
	// is known. They make the search fast: other lines are not looked at.
	needles [][]byte
	folded  bool // needles are in lower case, and lines may have either
}

// compile reads the pattern of a query. Without IgnoreCase, case counts if the
// pattern has a capital, as with `rg --smart-case`.
func compile(q Query) (w wanted, err error) {
	text := q.Pattern
	fold := q.IgnoreCase
	switch {
	case text == "":
		return w, errors.New("there is no pattern to search for")
	case q.Literal:
		fold = fold || !strings.ContainsFunc(text, unicode.IsUpper)
		text = regexp.QuoteMeta(text)
	default:
		fold = fold || !capital(text)
	}
	if fold {
		text = "(?i)" + text
	}
	w.re, err = regexp.Compile(text)
	if err != nil {
		var bad *syntax.Error
		if errors.As(err, &bad) {
			return w, fmt.Errorf("the pattern is no regular expression of Go (%s); mend it, or search for the literal text", bad.Code)
		}
		return w, err
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return w, err
	}
	if breaks(tree) {
		return w, errors.New("the pattern asks for a line end; a search is line by line")
	}
	for _, n := range required(tree) {
		w.needles = append(w.needles, []byte(n.text))
		w.folded = w.folded || n.folded
	}
	if w.folded {
		for i, n := range w.needles {
			w.needles[i] = lowered(n)
		}
	}
	return w, nil
}

// capital says that a regular expression asks for a capital letter, or for no
// letter at all; `\W` and the like are no letters.
func capital(p string) bool {
	letters := false
	for i := 0; i < len(p); {
		switch {
		case p[i] == '\\' && i+1 < len(p):
			class := p[i+1]
			i += 2
			switch {
			case strings.IndexByte("pPx", class) < 0:
			case i < len(p) && p[i] == '{':
				i = after(p, i, "}")
			case class != 'x':
				i++
			}
			continue
		case strings.HasPrefix(p[i:], "(?P<") || strings.HasPrefix(p[i:], "(?<"):
			i = after(p, i, ">")
			continue
		}
		r, n := utf8.DecodeRuneInString(p[i:])
		if unicode.IsUpper(r) {
			return true
		}
		letters = letters || unicode.IsLetter(r)
		i += n
	}
	return !letters
}

// after is the place after the next end in p.
func after(p string, i int, end string) int {
	if j := strings.Index(p[i:], end); j >= 0 {
		return i + j + len(end)
	}
	return len(p)
}

// breaks says that a pattern names a line end.
func breaks(re *syntax.Regexp) bool {
	if re.Op == syntax.OpLiteral && strings.ContainsRune(string(re.Rune), '\n') {
		return true
	}
	for _, sub := range re.Sub {
		if breaks(sub) {
			return true
		}
	}
	return false
}

// needle is a text that a match holds, in any case if it is folded.
type needle struct {
	text   string
	folded bool
}

const manyNeedles = 8

// required are texts of which one stands in all that re matches, if such are
// known.
func required(re *syntax.Regexp) (best []needle) {
	switch re.Op {
	case syntax.OpLiteral:
		if n := literal(re.Rune, re.Flags&syntax.FoldCase != 0); n.text != "" {
			return []needle{n}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if ns := required(sub); shortest(ns) > shortest(best) {
				best = ns
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			ns := required(sub)
			if len(ns) == 0 || len(best)+len(ns) > manyNeedles {
				return nil
			}
			best = append(best, ns...)
		}
	}
	return best
}

func shortest(ns []needle) int {
	least := 0
	for i, n := range ns {
		if i == 0 || len(n.text) < least {
			least = len(n.text)
		}
	}
	return least
}

// literal is the longest part of runes that bytes can be compared with: U+FFFD
// also matches what is no UTF-8, and without case k and s have forms outside of
// ASCII.
func literal(runes []rune, folded bool) (n needle) {
	safe := func(r rune) bool {
		return r != utf8.RuneError && (!folded || r < utf8.RuneSelf && !strings.ContainsRune("kKsS", r))
	}
	for _, part := range strings.FieldsFunc(string(runes), func(r rune) bool { return !safe(r) }) {
		if len(part) > len(n.text) {
			n = needle{part, folded}
		}
	}
	return n
}

// lines calls found for each line of b that matches: where it begins and ends,
// and where in it the match begins. It ends when found says false.
func (w wanted) lines(b []byte, found func(start, end, at int) bool) {
	hay := b
	if w.folded {
		hay = lowered(b)
	}
	next := make([]int, len(w.needles)) // where each needle stands, from pos on
	for i, n := range w.needles {
		next[i] = place(hay, n, 0)
	}
	for pos := 0; pos < len(b); {
		start := pos
		if len(next) > 0 {
			first := len(b)
			for i, at := range next {
				if at < pos {
					next[i] = place(hay, w.needles[i], pos)
				}
				first = min(first, next[i])
			}
			if first == len(b) {
				return
			}
			start = pos + bytes.LastIndexByte(hay[pos:first], '\n') + 1
		}
		end := len(b)
		if i := bytes.IndexByte(b[start:], '\n'); i >= 0 {
			end = start + i
		}
		if line := b[start:end]; w.re.Match(line) && !found(start, end, w.re.FindIndex(line)[0]) {
			return
		}
		pos = end + 1
	}
}

// place is where the needle stands in hay from pos on, the end if nowhere.
func place(hay, needle []byte, pos int) int {
	if i := bytes.Index(hay[pos:], needle); i >= 0 {
		return pos + i
	}
	return len(hay)
}

// lowered is b with the capitals of ASCII made small.
func lowered(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		out[i] = c
	}
	return out
}
