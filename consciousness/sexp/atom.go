package sexp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// delimits reports whether c ends a symbol or number before it.
func delimits(c byte) bool {
	return c <= ' ' || strings.IndexByte("\"';#()[]`,", c) >= 0
}

// atom reads a symbol or a number.
func (p *parser) atom() (Value, error) {
	start, escaped := p.pos, false
	var name strings.Builder
	for p.pos < len(p.src) && !delimits(p.src[p.pos]) && !strings.HasPrefix(p.src[p.pos:], nbsp) {
		if p.src[p.pos] == '\\' {
			escaped = true
			if p.pos++; p.pos >= len(p.src) {
				return nil, p.incomplete()
			}
		}
		_, size := utf8.DecodeRuneInString(p.src[p.pos:])
		name.WriteString(p.src[p.pos : p.pos+size])
		p.pos += size
	}
	text := name.String()
	if escaped {
		return Symbol(text), nil
	}
	if text == "." {
		return nil, p.fail(start, ".")
	}
	v, isNumber, err := number(text)
	switch {
	case err != nil:
		return nil, p.fail(start, err.Error())
	case isNumber:
		return v, nil
	}
	return Symbol(text), nil
}

// number reads s as Emacs does: 5 and 5. are integers, 5.0 .5 5e1 5.e1 floats,
// 1.0e+INF and 0.0e+NaN the special ones.
func number(s string) (v Value, isNumber bool, err error) {
	unsigned := s[signLen(s):]
	rest := strings.TrimLeft(unsigned, "0123456789")
	whole := len(unsigned) - len(rest)
	if whole > 0 && (rest == "" || rest == ".") {
		n, err := strconv.ParseInt(strings.TrimSuffix(s, "."), 10, 64)
		if err != nil {
			return nil, true, fmt.Errorf("integer %s does not fit in 64 bits (write a float or a string)", s)
		}
		return n, true, nil
	}
	fraction := 0
	if after, dotted := strings.CutPrefix(rest, "."); dotted {
		rest = strings.TrimLeft(after, "0123456789")
		fraction = len(after) - len(rest)
	}
	if whole+fraction == 0 {
		return nil, false, nil
	}
	if special, ok := special(s, rest); ok {
		return special, true, nil
	}
	if rest != "" {
		exponent := strings.TrimLeft(rest, "eE")
		if len(rest)-len(exponent) != 1 {
			return nil, false, nil
		}
		digits := exponent[signLen(exponent):]
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			return nil, false, nil
		}
	}
	f, _ := strconv.ParseFloat(s, 64) // out of range is infinite, as in Emacs
	return f, true, nil
}

func signLen(s string) int {
	if s != "" && (s[0] == '+' || s[0] == '-') {
		return 1
	}
	return 0
}

const (
	nanBits    = 0x7ff8 << 48
	nanPayload = 1<<51 - 1
)

// special reads the floats whose exponent is INF or NaN. The mantissa of a
// NaN is its payload.
func special(s, exponent string) (float64, bool) {
	sign := 1.0
	if s[0] == '-' {
		sign = -1
	}
	switch exponent {
	case "e+INF", "E+INF":
		return math.Inf(int(sign)), true
	case "e+NaN", "E+NaN":
		mantissa, _ := strconv.ParseFloat(strings.TrimSuffix(s, exponent), 64)
		bits := nanBits | uint64(math.Min(math.Abs(mantissa), nanPayload))&nanPayload
		return math.Copysign(math.Float64frombits(bits), sign), true
	}
	return 0, false
}

// hash reads what begins with #: #'f, ## and #x10. The rest is refused.
func (p *parser) hash(n *Node) error {
	rest := p.src[p.pos+1:]
	switch {
	case strings.HasPrefix(rest, "'"):
		return p.quoted(n, "#'", "function")
	case strings.HasPrefix(rest, "#"):
		p.pos += 2
		n.Value = Symbol("")
		return nil
	}
	end := 0
	for end < len(rest) && !delimits(rest[end]) {
		end++
	}
	word := rest[:end]
	base, digits := radix(word)
	if base == 0 {
		return p.fail(p.pos, "#")
	}
	v, err := strconv.ParseInt(digits, base, 64)
	if err != nil || strings.Contains(digits, "_") {
		return p.fail(p.pos, fmt.Sprintf("integer, radix %d", base))
	}
	p.pos += 1 + end
	n.Value = v
	return nil
}

// radix splits xFF or 24r1k into the base and the digits; base 0 is neither.
func radix(word string) (base int, digits string) {
	if word == "" {
		return 0, ""
	}
	switch word[0] {
	case 'b', 'B':
		return 2, word[1:]
	case 'o', 'O':
		return 8, word[1:]
	case 'x', 'X':
		return 16, word[1:]
	}
	number, digits, ok := strings.Cut(word, "r")
	base, err := strconv.Atoi(number)
	if !ok || err != nil || base < 2 || base > 36 {
		return 0, ""
	}
	return base, digits
}
