package eval

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"amacs/consciousness/sexp"
)

func stringFunctions() map[Symbol]builtin {
	compared := func(ok func(c int) bool) builtin {
		return builtin{2, 2, func(m *machine, a []Value) (Value, error) {
			x, err := stringOrSymbol(a[0])
			if err != nil {
				return nil, err
			}
			y, err := stringOrSymbol(a[1])
			if err != nil {
				return nil, err
			}
			return truth(ok(strings.Compare(x, y))), m.work(min(len(x), len(y)) / 64)
		}}
	}
	equal := compared(func(c int) bool { return c == 0 })
	less := compared(func(c int) bool { return c < 0 })
	greater := compared(func(c int) bool { return c > 0 })
	return map[Symbol]builtin{
		"string=": equal, "string-equal": equal, "string<": less, "string-lessp": less, "string>": greater, "string-greaterp": greater,
		"concat":          {0, -1, (*machine).concat},
		"format":          {1, -1, func(m *machine, a []Value) (Value, error) { return formatValue(m, a, false) }},
		"format-message":  {1, -1, func(m *machine, a []Value) (Value, error) { return formatValue(m, a, true) }},
		"substring":       {1, 3, substring},
		"string-prefix-p": affix(strings.HasPrefix), "string-suffix-p": affix(strings.HasSuffix),
		"string-trim": trimmed(true, true), "string-trim-left": trimmed(true, false), "string-trim-right": trimmed(false, true),
		"string-join":    {1, 2, stringJoin},
		"string-replace": {3, 3, stringReplace},
		"string-search":  {2, 3, stringSearch},
		"string-empty-p": {1, 1, func(_ *machine, a []Value) (Value, error) { s, err := stringOrSymbol(a[0]); return truth(s == ""), err }},
		"string-blank-p": {1, 1, func(_ *machine, a []Value) (Value, error) {
			s, err := isString(a[0])
			if err != nil || strings.Trim(s, " \t\n\r") != "" {
				return sexp.Nil, err
			}
			return int64(0), nil
		}},
		"string-pad":           {2, 4, stringPad},
		"string-remove-prefix": cutAffix(strings.TrimPrefix), "string-remove-suffix": cutAffix(strings.TrimSuffix),
	}
}

func formatValue(m *machine, a []Value, curved bool) (Value, error) {
	text, err := m.format(a, curved)
	if err != nil {
		return nil, err
	}
	return text, nil
}

func affix(has func(s, part string) bool) builtin {
	return builtin{2, 3, func(m *machine, a []Value) (Value, error) {
		part, err := isString(a[0])
		if err != nil {
			return nil, err
		}
		s, err := isString(a[1])
		if err != nil {
			return nil, err
		}
		if len(a) > 2 && !isNil(a[2]) {
			s, part = strings.ToLower(s), strings.ToLower(part)
		}
		return truth(has(s, part)), m.work((len(s) + len(part)) / 64)
	}}
}

func cutAffix(cut func(s, part string) string) builtin {
	return builtin{2, 2, func(_ *machine, a []Value) (Value, error) {
		part, err := isString(a[0])
		if err != nil {
			return nil, err
		}
		s, err := isString(a[1])
		return cut(s, part), err
	}}
}

func substring(m *machine, a []Value) (Value, error) {
	var n int64
	s, isText := a[0].(string)
	vector, isVector := a[0].(sexp.Vector)
	switch {
	case isText:
		n = int64(utf8.RuneCountInString(s))
	case isVector:
		n = int64(len(vector))
	default:
		return nil, wrongType("arrayp", a[0])
	}
	if err := m.work(len(s) / 32); err != nil {
		return nil, err
	}
	from, err := optionalInt(a, 1, 0)
	if err != nil {
		return nil, err
	}
	to, err := optionalInt(a, 2, n)
	if err != nil {
		return nil, err
	}
	if from < 0 {
		from += n
	}
	if to < 0 {
		to += n
	}
	if from < 0 || from > to || to > n {
		start, end := Value(sexp.Nil), Value(sexp.Nil)
		if len(a) > 1 {
			start = a[1]
		}
		if len(a) > 2 {
			end = a[2]
		}
		return nil, outOfRange(a[0], start, end)
	}
	if isVector {
		return m.vector(vector[from:to:to])
	}
	start := byteOffset(s, from)
	return s[start : start+byteOffset(s[start:], to-from)], m.charge(cellSize)
}

// trimmed makes string-trim and its kin; the second and third argument may be
// regexps of what goes.
func trimmed(left, right bool) builtin {
	most := 2
	if left && right {
		most = 3
	}
	return builtin{1, most, func(m *machine, a []Value) (Value, error) {
		s, err := isString(a[0])
		if err != nil {
			return nil, err
		}
		which := a[1:]
		part := func() Value {
			if len(which) == 0 {
				return sexp.Nil
			}
			v := which[0]
			which = which[1:]
			return v
		}
		if left {
			if s, err = m.trimEnd(s, part(), "\\`\\(?:", "\\)"); err != nil {
				return nil, err
			}
		}
		if right {
			if s, err = m.trimEnd(s, part(), "\\(?:", "\\)\\'"); err != nil {
				return nil, err
			}
		}
		return s, m.charge(cellSize)
	}}
}

// trimEnd takes off what a regexp matches, by default blanks.
func (m *machine) trimEnd(s string, part Value, before, after string) (string, error) {
	if isNil(part) {
		part = "[ \t\n\r]+"
	}
	source, err := isString(part)
	if err != nil {
		return "", err
	}
	re, err := m.compile(before + source + after)
	if err != nil {
		return "", err
	}
	at, err := m.find(re, s)
	if err != nil || at == nil {
		return s, err
	}
	return s[:at[0]] + s[at[1]:], nil
}

func stringJoin(m *machine, a []Value) (Value, error) {
	list, err := m.sequence(a[0])
	if err != nil {
		return nil, err
	}
	var all []Value
	for i, v := range list {
		if i > 0 && len(a) > 1 {
			all = append(all, a[1])
		}
		all = append(all, v)
	}
	return m.concat(all)
}

func stringReplace(m *machine, a []Value) (Value, error) {
	var s [3]string
	for i := range s {
		var err error
		if s[i], err = isString(a[i]); err != nil {
			return nil, err
		}
	}
	if s[0] == "" {
		return nil, fail("wrong-length-argument", int64(0))
	}
	n := int64(strings.Count(s[2], s[0]))
	if err := m.charge(int64(len(s[2])) + n*int64(len(s[1])-len(s[0])) + 32); err != nil {
		return nil, err
	}
	return strings.ReplaceAll(s[2], s[0], s[1]), m.work(len(s[2]) / 32)
}

// searchArgs are what is searched for, the string, and from which character on.
func searchArgs(a []Value) (what, s string, from int64, err error) {
	if what, err = isString(a[0]); err != nil {
		return "", "", 0, err
	}
	if s, err = isString(a[1]); err != nil {
		return "", "", 0, err
	}
	from, err = optionalInt(a, 2, 0)
	return what, s, from, err
}

func stringSearch(m *machine, a []Value) (Value, error) {
	needle, s, from, err := searchArgs(a)
	if err != nil {
		return nil, err
	}
	start := byteOffset(s, from)
	if from < 0 || start < 0 {
		return nil, outOfRange(from)
	}
	at := strings.Index(s[start:], needle)
	if err := m.work((len(s) + len(needle)) / 32); err != nil || at < 0 {
		return sexp.Nil, err
	}
	return int64(utf8.RuneCountInString(s[:start+at])), nil
}

func stringPad(m *machine, a []Value) (Value, error) {
	s, err := isString(a[0])
	if err != nil {
		return nil, err
	}
	n, err := m.size(a[1], 1)
	if err != nil {
		return nil, err
	}
	pad := []byte(" ")
	if len(a) > 2 && !isNil(a[2]) {
		var ok bool
		if pad, ok = appendChar(nil, a[2]); !ok {
			return nil, wrongType("characterp", a[2])
		}
	}
	missing := max(0, n-utf8.RuneCountInString(s))
	if err := m.charge(int64(len(s) + missing*len(pad))); err != nil {
		return nil, err
	}
	filler := strings.Repeat(string(pad), missing)
	if len(a) > 3 && !isNil(a[3]) {
		return filler + s, nil
	}
	return s + filler, nil
}

// numberPrefix is what string-to-number takes in base 10.
var numberPrefix = regexp.MustCompile(`^[ \t]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+|e\+INF|e\+NaN)?)`)

func stringToNumber(m *machine, a []Value) (Value, error) {
	s, err := isString(a[0])
	if err != nil {
		return nil, err
	}
	base, err := optionalInt(a, 1, 10)
	if err != nil {
		return nil, err
	}
	if base < 2 || base > 16 {
		return nil, outOfRange(base)
	}
	if err := m.work(len(s) / 16); err != nil {
		return nil, err
	}
	if base == 10 {
		found := numberPrefix.FindStringSubmatch(s)
		if found == nil {
			return int64(0), nil
		}
		v, _, err := sexp.Read(found[1])
		if err != nil {
			return nil, overflow()
		}
		return v, nil
	}
	s = strings.TrimLeft(s, " \t")
	end := 0
	for end < len(s) && (end == 0 && (s[0] == '-' || s[0] == '+') || isDigit(s[end], int(base))) {
		end++
	}
	n, err := strconv.ParseInt(s[:end], int(base), 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return nil, overflow()
	case err != nil: // no digits
		return int64(0), nil
	}
	return n, nil
}

func isDigit(c byte, base int) bool {
	_, err := strconv.ParseUint(string(rune(c)), base, 8)
	return err == nil
}
