package eval

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"

	"amacs/consciousness/sexp"
)

// pattern is an Emacs regexp as Go's regexp matches it: case is ignored and ^
// and $ match at lines, as in Emacs by default. What can not be matched exactly
// so is refused.
type pattern struct {
	re    *regexp.Regexp
	cost  int  // instructions: what a byte of input may cost
	start bool // has an anchor that looks at what comes before
}

// match is where the last string-match found something, in bytes.
type match struct {
	text string
	at   []int
}

// maxPattern bounds the instructions of a regexp.
const maxPattern = 5000

func (m *machine) compile(source string) (*pattern, error) {
	if err := m.work(1 + len(source)); err != nil {
		return nil, err
	}
	translated, anchored, err := translate(source)
	if err != nil {
		return nil, err
	}
	parsed, err := syntax.Parse("(?im:"+translated+")", syntax.Perl)
	if err != nil {
		return nil, fail("invalid-regexp", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fail("invalid-regexp", err.Error())
	}
	if len(program.Inst) > maxPattern {
		return nil, fail("invalid-regexp", "Regular expression too big")
	}
	if err := m.charge(int64(len(program.Inst)) * 500); err != nil {
		return nil, err
	}
	re, err := regexp.Compile("(?im:" + translated + ")")
	if err != nil {
		return nil, fail("invalid-regexp", err.Error())
	}
	return &pattern{re, len(program.Inst), anchored}, m.work(len(program.Inst))
}

// find returns the first match as pairs of byte offsets, nil for none.
func (m *machine) find(p *pattern, s string) ([]int, error) {
	if err := m.work(1 + len(s)*p.cost/256); err != nil {
		return nil, err
	}
	return p.re.FindStringSubmatchIndex(s), nil
}

// findAll returns the matches that follow one another. A regexp that matches
// the empty text is refused: Emacs has rules of its own for it.
func (m *machine) findAll(p *pattern, s string) ([][]int, error) {
	if p.re.MatchString("") {
		return nil, plainError("a regexp that matches the empty text can not be used to split or replace here")
	}
	var all [][]int
	for n := 8; ; n *= 2 { // in growing portions, so that the work is counted on the way
		if err := m.work(1 + len(s)*p.cost/256 + n); err != nil {
			return nil, err
		}
		all = p.re.FindAllStringSubmatchIndex(s, n)
		if len(all) < n {
			return all, m.charge(int64(len(all)) * 64)
		}
	}
}

func regexpFunctions() map[Symbol]builtin {
	return map[Symbol]builtin{
		"string-match":   {2, 3, func(m *machine, a []Value) (Value, error) { return m.stringMatch(a, true) }},
		"string-match-p": {2, 3, func(m *machine, a []Value) (Value, error) { return m.stringMatch(a, false) }},
		"match-string": {1, 2, func(m *machine, a []Value) (Value, error) {
			from, to, err := m.group(a[0])
			if err != nil || from < 0 {
				return sexp.Nil, err
			}
			if len(a) > 1 && a[1] != Value(m.match.text) {
				return nil, plainError("match-string needs the string that was matched last")
			}
			return m.text(m.match.text[from:to])
		}},
		"match-beginning": {1, 1, func(m *machine, a []Value) (Value, error) { return m.edge(a[0], false) }},
		"match-end":       {1, 1, func(m *machine, a []Value) (Value, error) { return m.edge(a[0], true) }},
		"regexp-quote": {1, 1, func(m *machine, a []Value) (Value, error) {
			s, err := isString(a[0])
			if err != nil {
				return nil, err
			}
			return m.text(quoter.Replace(s))
		}},
		"split-string":             {1, 4, splitString},
		"replace-regexp-in-string": {3, 5, replaceRegexp},
	}
}

var quoter = strings.NewReplacer("[", "\\[", "*", "\\*", ".", "\\.", "\\", "\\\\", "?", "\\?", "+", "\\+", "^", "\\^", "$", "\\$")

// group returns the byte range of a group of the last match, -1 for none.
func (m *machine) group(v Value) (from, to int, err error) {
	n, ok := v.(int64)
	if !ok || n < 0 {
		return 0, 0, wrongType("wholenump", v)
	}
	if n >= int64(len(m.match.at)/2) {
		return -1, -1, nil
	}
	return m.match.at[2*n], m.match.at[2*n+1], nil
}

func (m *machine) edge(v Value, end bool) (Value, error) {
	from, to, err := m.group(v)
	if err != nil || from < 0 {
		return sexp.Nil, err
	}
	if end {
		from = to
	}
	return int64(utf8.RuneCountInString(m.match.text[:from])), m.work(from / 64)
}

func (m *machine) stringMatch(a []Value, remember bool) (Value, error) {
	source, s, from, err := searchArgs(a)
	if err != nil {
		return nil, err
	}
	if from < 0 {
		from += int64(utf8.RuneCountInString(s))
	}
	start := byteOffset(s, from)
	if from < 0 || start < 0 {
		return nil, outOfRange(a[1], a[2])
	}
	p, err := m.compile(source)
	if err != nil {
		return nil, err
	}
	if start > 0 && p.start {
		return nil, plainError("a regexp with ^ or \\` can only be matched from the start of a string here")
	}
	at, err := m.find(p, s[start:])
	if err != nil {
		return nil, err
	}
	for i := range at {
		if at[i] >= 0 {
			at[i] += start
		}
	}
	if remember && at != nil {
		m.match = match{s, at}
	}
	if at == nil {
		return sexp.Nil, nil
	}
	return int64(utf8.RuneCountInString(s[:at[0]])), m.work(at[0] / 64)
}

// splitString is (split-string STRING &optional SEPARATORS OMIT-NULLS TRIM).
func splitString(m *machine, a []Value) (Value, error) {
	s, err := isString(a[0])
	if err != nil {
		return nil, err
	}
	separator, omit := "[ \f\t\n\r\v]+", true
	if len(a) > 1 && !isNil(a[1]) {
		if separator, err = isString(a[1]); err != nil {
			return nil, err
		}
		omit = len(a) > 2 && !isNil(a[2])
	}
	pieces, err := m.pieces(s, separator)
	if err != nil {
		return nil, err
	}
	var out []Value
	for _, piece := range pieces {
		if len(a) > 3 && !isNil(a[3]) {
			if piece, err = m.trimEnd(piece, a[3], "\\`\\(?:", "\\)"); err != nil {
				return nil, err
			}
			if piece, err = m.trimEnd(piece, a[3], "\\(?:", "\\)\\'"); err != nil {
				return nil, err
			}
		}
		if piece != "" || !omit {
			out = append(out, piece)
		}
	}
	return m.list(out...)
}

// pieces splits s at a separator; an empty one splits it into characters, with
// empty pieces at both ends.
func (m *machine) pieces(s, separator string) ([]string, error) {
	if separator == "" {
		if err := m.charge(int64(len(s)) * 24); err != nil {
			return nil, err
		}
		out := []string{""}
		for at := 0; at < len(s); {
			_, size := utf8.DecodeRuneInString(s[at:])
			out = append(out, s[at:at+size])
			at += size
		}
		if s == "" {
			return out, nil
		}
		return append(out, ""), nil
	}
	p, err := m.compile(separator)
	if err != nil {
		return nil, err
	}
	found, err := m.findAll(p, s)
	if err != nil {
		return nil, err
	}
	var out []string
	start := 0
	for _, at := range found {
		out = append(out, s[start:at[0]])
		start = at[1]
	}
	return append(out, s[start:]), nil
}

// replaceRegexp is (replace-regexp-in-string REGEXP REP STRING &optional
// FIXEDCASE LITERAL), REP a string or a function.
func replaceRegexp(m *machine, a []Value) (Value, error) {
	source, err := isString(a[0])
	if err != nil {
		return nil, err
	}
	s, err := isString(a[2])
	if err != nil {
		return nil, err
	}
	p, err := m.compile(source)
	if err != nil {
		return nil, err
	}
	found, err := m.findAll(p, s)
	if err != nil {
		return nil, err
	}
	given := func(i int) bool { return len(a) > i && !isNil(a[i]) }
	var out strings.Builder
	start := 0
	for _, at := range found {
		whole := s[at[0]:at[1]]
		rep, isText := a[1].(string)
		if !isText {
			v, err := m.apply(a[1], []Value{whole})
			if err != nil {
				return nil, err
			}
			if rep, err = isString(v); err != nil {
				return nil, err
			}
		}
		if !given(4) {
			if rep, err = expand(rep, s, at); err != nil {
				return nil, err
			}
		}
		if !given(3) {
			rep = likeCase(rep, whole)
		}
		if err := m.charge(int64(at[0] - start + len(rep))); err != nil {
			return nil, err
		}
		out.WriteString(s[start:at[0]])
		out.WriteString(rep)
		start = at[1]
	}
	out.WriteString(s[start:])
	return out.String(), m.charge(int64(len(s)-start) + 32)
}

// expand puts groups in place of \1 and \& in a replacement.
func expand(rep, s string, at []int) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(rep, `\`)
		out.WriteString(before)
		switch {
		case !found:
			return out.String(), nil
		case after == "":
			return "", plainError("Invalid use of `\\' in replacement text")
		}
		rep = after[1:]
		switch c := after[0]; {
		case c == '\\':
			out.WriteByte('\\')
		case c == '&' || c >= '0' && c <= '9':
			n := 0
			if c != '&' {
				n = int(c - '0')
			}
			if 2*n < len(at) && at[2*n] >= 0 {
				out.WriteString(s[at[2*n]:at[2*n+1]])
			}
		case c == '?':
			out.WriteString(`\?`)
		default:
			return "", plainError("Invalid use of `\\' in replacement text")
		}
	}
}

// likeCase gives a replacement the case of what it replaces, as replace-match
// does: all capitals for a word in capitals, initials for words with initials.
func likeCase(rep, old string) string {
	var lower, upper, long, plainInitial bool
	before := ' '
	for _, r := range old {
		switch {
		case unicode.IsLower(r):
			lower = true
			if isWord(before) {
				long = true
			} else {
				plainInitial = true
			}
		case unicode.IsUpper(r):
			upper = true
			if isWord(before) {
				long = true
			}
		default:
			if !isWord(before) {
				plainInitial = true
			}
		}
		before = r
	}
	switch {
	case long && !lower && upper, !long && !plainInitial && upper:
		return mapRunes(rep, unicode.ToUpper)
	case long && !plainInitial:
		return initials(rep)
	}
	return rep
}

// initials makes the first letter of each word large and leaves the others.
func initials(s string) string {
	before := ' '
	return mapRunes(s, func(r rune) rune {
		was := before
		before = r
		if isWord(was) {
			return r
		}
		return unicode.ToTitle(r)
	})
}
