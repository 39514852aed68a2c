package eval

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// directive is one %-sequence of a format string.
type directive struct {
	flags     string
	width     int
	precision int // -1 for none
	verb      byte
	field     int // argument number of %2$s, 0 for the next one
}

// format is Emacs' format: a[0] with the other arguments put in. curved turns
// the quotes of the format string into ‘curved’ ones, as messages have them.
func (m *machine) format(a []Value, curved bool) (string, error) {
	f, err := isString(a[0])
	if err != nil {
		return "", err
	}
	if err := m.work(len(f) / 32); err != nil {
		return "", err
	}
	var out strings.Builder
	put := func(s string) error {
		out.WriteString(s)
		return m.charge(int64(len(s)))
	}
	next := 1
	for f != "" {
		plain, rest, found := strings.Cut(f, "%")
		if curved {
			plain = curvedQuotes.Replace(plain)
		}
		if err := put(plain); err != nil {
			return "", err
		}
		if !found {
			break
		}
		var d directive
		d, f = parseDirective(rest)
		var text string
		switch {
		case d.verb == 0:
			err = plainError("Format string ends in middle of format specifier")
		case d.verb == '%':
			text = "%"
		default:
			if d.field > 0 {
				next = d.field
			}
			if next >= len(a) {
				return "", plainError("Not enough arguments for format string")
			}
			text, err = m.directive(d, a[next], rest[:len(rest)-len(f)])
			next++
		}
		if err == nil {
			err = put(text)
		}
		if err != nil {
			return "", err
		}
	}
	return out.String(), nil
}

var curvedQuotes = strings.NewReplacer("`", "‘", "'", "’")

// parseDirective reads what follows a percent sign.
func parseDirective(s string) (d directive, rest string) {
	d.precision = -1
	if digits := leadingDigits(s); digits != "" && strings.HasPrefix(s[len(digits):], "$") {
		d.field = atMost(digits)
		s = s[len(digits)+1:]
	}
	end := len(s) - len(strings.TrimLeft(s, "-+ #0"))
	d.flags, s = s[:end], s[end:]
	digits := leadingDigits(s)
	d.width, s = atMost(digits), s[len(digits):]
	if strings.HasPrefix(s, ".") {
		digits = leadingDigits(s[1:])
		d.precision, s = atMost(digits), s[1+len(digits):]
	}
	if s == "" {
		return d, ""
	}
	d.verb = s[0]
	if d.verb >= utf8.RuneSelf {
		_, size := utf8.DecodeRuneInString(s)
		return d, s[size:]
	}
	return d, s[1:]
}

func leadingDigits(s string) string {
	return s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
}

// atMost reads digits to a number that is large enough for any limit to refuse.
func atMost(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil && digits != "" || n > math.MaxInt32 {
		return math.MaxInt32
	}
	return n
}

// directive formats one value.
func (m *machine) directive(d directive, v Value, source string) (string, error) {
	if err := m.charge(int64(d.width) + int64(max(0, d.precision))); err != nil {
		return "", err
	}
	switch d.verb {
	case 's', 'S':
		text, err := m.print(v, d.verb == 's')
		if err != nil {
			return "", err
		}
		return d.pad(cutTo(text.(string), d.precision)), nil
	case 'c':
		c, ok := appendChar(nil, v)
		if !ok {
			return "", plainError("Format specifier doesn’t match argument type")
		}
		return d.pad(string(c)), nil
	case 'd', 'o', 'x', 'X', 'e', 'f', 'g':
		n, err := number(v)
		if err != nil {
			return "", plainError("Format specifier doesn’t match argument type")
		}
		return d.number(n)
	}
	return "", plainError("Invalid format operation %" + source)
}

// cutTo cuts s to n characters, unless n is negative.
func cutTo(s string, n int) string {
	if n < 0 {
		return s
	}
	if end := byteOffset(s, int64(n)); end >= 0 {
		return s[:end]
	}
	return s
}

func (d directive) pad(s string) string {
	missing := d.width - utf8.RuneCountInString(s)
	if missing <= 0 {
		return s
	}
	if strings.Contains(d.flags, "-") {
		return s + strings.Repeat(" ", missing)
	}
	return strings.Repeat(" ", missing) + s
}

func (d directive) number(n num) (string, error) {
	whole := strings.IndexByte("efg", d.verb) < 0
	var value any = n.i
	switch {
	case whole && n.float:
		if !(n.f > math.MinInt64 && n.f < -math.MinInt64) {
			return "", overflow()
		}
		value = int64(n.f)
	case !whole:
		f := n.toFloat().f
		value = f
		if d.verb == 'g' {
			return d.general(f), nil
		}
		if math.IsInf(f, 0) || math.IsNaN(f) {
			return d.pad(infinite(f)), nil
		}
	}
	verb := "%" + d.flags
	if d.width > 0 {
		verb += strconv.Itoa(d.width)
	}
	if d.precision >= 0 {
		verb += "." + strconv.Itoa(d.precision)
	}
	return fmt.Sprintf(verb+string(d.verb), value), nil
}

// general is C's %g: the shorter of %e and %f without trailing zeros.
func (d directive) general(f float64) string {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return d.pad(infinite(f))
	}
	precision := d.precision
	if precision < 0 {
		precision = 6
	}
	text := strconv.FormatFloat(f, 'g', max(1, precision), 64)
	if !strings.HasPrefix(text, "-") {
		switch {
		case strings.Contains(d.flags, "+"):
			text = "+" + text
		case strings.Contains(d.flags, " "):
			text = " " + text
		}
	}
	missing := d.width - len(text)
	if strings.Contains(d.flags, "0") && !strings.Contains(d.flags, "-") && missing > 0 {
		sign := text[:len(text)-len(strings.TrimLeft(text, "+- "))]
		return sign + strings.Repeat("0", missing) + text[len(sign):]
	}
	return d.pad(text)
}

func infinite(f float64) string {
	switch {
	case math.IsNaN(f) && math.Signbit(f):
		return "-nan"
	case math.IsNaN(f):
		return "nan"
	case f < 0:
		return "-inf"
	}
	return "inf"
}
