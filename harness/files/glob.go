package files

import (
	"regexp"
	"strings"
)

// globbed is a pattern of gitignore(5) as a regular expression for a whole
// path; with braces, `{a,b}` means either. ok is false for a pattern that can
// match nothing, as `a[`.
func globbed(p string, braces bool) (re *regexp.Regexp, ok bool) {
	var b strings.Builder
	b.WriteString(`(?s)\A(?:`)
	open := 0
	for i := 0; i < len(p); {
		c := p[i]
		switch {
		case c == '*':
			n := len(p[i:]) - len(strings.TrimLeft(p[i:], "*"))
			begins, ends := i == 0 || p[i-1] == '/', i+n == len(p) || p[i+n] == '/'
			i += n
			switch {
			case n == 1 || !begins || !ends:
				b.WriteString(`[^/]*`)
			case i == len(p):
				b.WriteString(`.+`)
			default: // "**/" also stands for no folder at all
				b.WriteString(`(?:.*/)?`)
				i++
			}
			continue
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			class, n := classOf(p[i:])
			if n == 0 {
				return nil, false
			}
			b.WriteString(class)
			i += n
			continue
		case braces && c == '{':
			b.WriteString(`(?:`)
			open++
		case braces && c == ',' && open > 0:
			b.WriteByte('|')
		case braces && c == '}' && open > 0:
			b.WriteByte(')')
			open--
		case c == '\\':
			if i++; i == len(p) {
				return nil, false
			}
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		}
		i++
	}
	b.WriteString(`)\z`)
	if open > 0 {
		return nil, false
	}
	re, err := regexp.Compile(b.String())
	return re, err == nil
}

// classOf is the bracket expression at the beginning of p, and its length; 0 is
// one without an end.
func classOf(p string) (class string, n int) {
	var b strings.Builder
	b.WriteByte('[')
	i := 1
	if i < len(p) && (p[i] == '!' || p[i] == '^') {
		b.WriteString(`^/`)
		i++
	}
	for first := i; i < len(p); i++ {
		switch c := p[i]; {
		case c == ']' && i > first:
			b.WriteByte(']')
			return b.String(), i + 1
		case c == '[' && strings.HasPrefix(p[i:], "[:"):
			end := strings.Index(p[i:], ":]")
			if end < 0 {
				return "", 0
			}
			b.WriteString(p[i : i+end+2])
			i += end + 1
		case c == '-' && i > first && i+1 < len(p) && p[i+1] != ']':
			b.WriteByte('-')
		case c == '\\':
			if i++; i == len(p) {
				return "", 0
			}
			b.WriteString(classByte(p[i]))
		default:
			b.WriteString(classByte(c))
		}
	}
	return "", 0
}

func classByte(c byte) string {
	if strings.IndexByte(`\[]^-&~`, c) >= 0 {
		return `\` + string(rune(c))
	}
	return string([]byte{c})
}
