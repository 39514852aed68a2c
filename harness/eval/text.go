package eval

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"amacs/consciousness/sexp"
)

// Characters are integers: code points, and from rawByte on the bytes 0x80 to
// 0xff that are not part of valid UTF-8, with Emacs' codes for them.
const (
	rawByte = 0x3fff00
	maxChar = 0x3fffff
)

// charAt returns the first character of s and its length in bytes.
func charAt(s string) (Value, int) {
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		return int64(rawByte | int(s[0])), 1
	}
	return int64(r), size
}

func chars(s string) []Value {
	out := make([]Value, 0, len(s))
	for s != "" {
		c, size := charAt(s)
		out = append(out, c)
		s = s[size:]
	}
	return out
}

// appendChar adds a character to a string; false if v is none.
func appendChar(out []byte, v Value) ([]byte, bool) {
	c, ok := v.(int64)
	switch {
	case !ok || c < 0 || c > maxChar:
		return out, false
	case c >= rawByte|0x80:
		return append(out, byte(c)), true
	case c > utf8.MaxRune || !utf8.ValidRune(rune(c)):
		return out, false
	}
	return utf8.AppendRune(out, rune(c)), true
}

// stringOf makes a string of characters.
func (m *machine) stringOf(list []Value) (string, error) {
	var out []byte
	for _, v := range list {
		var ok bool
		if out, ok = appendChar(out, v); !ok {
			return "", wrongType("characterp", v)
		}
	}
	return string(out), nil
}

// text charges for a string that was made.
func (m *machine) text(s string) (Value, error) {
	if err := m.charge(int64(len(s)) + 32); err != nil {
		return nil, err
	}
	return s, m.work(len(s) / 64)
}

// byteOffset returns where the i-th character begins, len(s) for the one after
// the last, -1 beyond.
func byteOffset(s string, i int64) int {
	at := 0
	for ; i > 0 && at < len(s); i-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	if i > 0 {
		return -1
	}
	return at
}

// stringOrSymbol is what string= and its kin take.
func stringOrSymbol(v Value) (string, error) {
	switch x := v.(type) {
	case string:
		return x, nil
	case Symbol:
		return string(x), nil
	}
	return "", wrongType("stringp", v)
}

func isString(v Value) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", wrongType("stringp", v)
	}
	return s, nil
}

// textFunctions convert between texts, symbols, characters and numbers.
func textFunctions() map[Symbol]builtin {
	return map[Symbol]builtin{
		"symbol-name": {1, 1, func(_ *machine, a []Value) (Value, error) {
			name, ok := a[0].(Symbol)
			if !ok {
				return nil, wrongType("symbolp", a[0])
			}
			return string(name), nil
		}},
		"intern": {1, 1, func(_ *machine, a []Value) (Value, error) {
			name, err := isString(a[0])
			return Symbol(name), err
		}},
		"prin1-to-string": {1, 2, func(m *machine, a []Value) (Value, error) {
			return m.print(a[0], len(a) > 1 && !isNil(a[1]))
		}},
		"read": {1, 1, readFunction},
		"number-to-string": {1, 1, func(m *machine, a []Value) (Value, error) {
			if _, err := number(a[0]); err != nil {
				return nil, wrongType("numberp", a[0])
			}
			return m.text(sexp.Print(a[0]))
		}},
		"string-to-number": {1, 2, stringToNumber},
		"char-to-string":   {1, 1, func(m *machine, a []Value) (Value, error) { return m.joinChars(a) }},
		"string":           {0, -1, func(m *machine, a []Value) (Value, error) { return m.joinChars(a) }},
		"string-to-list": {1, 1, func(m *machine, a []Value) (Value, error) {
			list, err := m.sequence(a[0])
			if err != nil {
				return nil, err
			}
			return m.list(list...)
		}},
		"string-to-char": {1, 1, func(_ *machine, a []Value) (Value, error) {
			s, err := isString(a[0])
			if err != nil || s == "" {
				return int64(0), err
			}
			c, _ := charAt(s)
			return c, nil
		}},
		"make-string": {2, 3, func(m *machine, a []Value) (Value, error) {
			one, ok := appendChar(nil, a[1])
			n, err := m.size(a[0], int64(max(1, len(one))))
			switch {
			case err != nil:
				return nil, err
			case !ok:
				return nil, wrongType("characterp", a[1])
			}
			if err := m.charge(int64(n * len(one))); err != nil {
				return nil, err
			}
			return strings.Repeat(string(one), n), nil
		}},
		"upcase":     {1, 1, cased(unicode.ToUpper)},
		"downcase":   {1, 1, cased(unicode.ToLower)},
		"capitalize": {1, 1, capitalize},
	}
}

func (m *machine) joinChars(list []Value) (Value, error) {
	s, err := m.stringOf(list)
	if err != nil {
		return nil, err
	}
	return m.text(s)
}

// print is prin1-to-string, or princ if display is set. A text may be a quarter
// of the memory left: the printer needs room besides.
func (m *machine) print(v Value, display bool) (Value, error) {
	room := max(0, min(m.limits.Memory-m.memory, int64(m.limits.Steps-m.steps+1)*256)/4)
	text, whole := sexp.PrintWithin(v, display, int(room))
	if !whole && int64(len(text)) > room-16 {
		return nil, m.charge(m.limits.Memory + 1)
	}
	if err := m.charge(int64(len(text)) + 32); err != nil {
		return nil, err
	}
	return text, m.work(len(text) / 64)
}

func readFunction(m *machine, a []Value) (Value, error) {
	src, err := isString(a[0])
	if err != nil {
		return nil, err
	}
	if err := m.chargeReading(src); err != nil {
		return nil, err
	}
	v, _, err := sexp.Read(src)
	if err != nil {
		return nil, readError(err)
	}
	return v, nil
}

// cased makes upcase and downcase, of a string or a character.
func cased(change func(rune) rune) func(*machine, []Value) (Value, error) {
	return func(m *machine, a []Value) (Value, error) {
		switch x := a[0].(type) {
		case int64:
			if x >= 0 && x <= utf8.MaxRune {
				return int64(change(rune(x))), nil
			}
		case string:
			return m.text(mapRunes(x, change))
		}
		return nil, wrongType("char-or-string-p", a[0])
	}
}

// mapRunes changes each character and keeps bytes that are none.
func mapRunes(s string, change func(rune) rune) string {
	out := make([]byte, 0, len(s))
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && size == 1 {
			out = append(out, s[0])
		} else {
			out = utf8.AppendRune(out, change(r))
		}
		s = s[size:]
	}
	return string(out)
}

// capitalize makes the first letter of each word large, the others small.
func capitalize(m *machine, a []Value) (Value, error) {
	if isA[int64](a[0]) {
		return cased(unicode.ToTitle)(m, a)
	}
	s, ok := a[0].(string)
	if !ok {
		return nil, wrongType("char-or-string-p", a[0])
	}
	inWord := false
	return m.text(mapRunes(s, func(r rune) rune {
		was := inWord
		inWord = isWord(r)
		if was {
			return unicode.ToLower(r)
		}
		return unicode.ToTitle(r)
	}))
}

// isWord is Emacs' standard syntax of words.
func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '$' || r == '%' || unicode.IsMark(r)
}
