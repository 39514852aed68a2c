package eval

import (
	"strings"
	"unicode/utf8"
)

// translate turns an Emacs regexp into one of Go. anchored says that it looks
// at what comes before the place where it is matched. Back references, syntax
// classes and word or symbol boundaries, which depend on a buffer's mode, are
// refused.
func translate(source string) (out string, anchored bool, err error) {
	t := translation{src: source, first: true}
	for t.src != "" && err == nil {
		err = t.next()
	}
	if t.open > 0 && err == nil {
		err = fail("invalid-regexp", "Unmatched ( or \\(")
	}
	return t.out.String(), t.anchored, err
}

type translation struct {
	src      string
	out      strings.Builder
	first    bool // nothing to repeat yet: at the start, behind \( or \|
	anchored bool
	open     int // groups
}

// put writes a piece of the translation and takes size bytes off the source.
func (t *translation) put(piece string, size int, first bool) error {
	t.out.WriteString(piece)
	t.src = t.src[size:]
	t.first = first
	return nil
}

func (t *translation) next() error {
	switch c := t.src[0]; c {
	case '\\':
		return t.escape()
	case '[':
		return t.bracket()
	case '(', ')', '{', '}', '|':
		return t.put(`\`+string(c), 1, false)
	case '*', '+', '?':
		if t.first {
			return t.put(`\`+string(c), 1, false)
		}
		return t.repeat()
	case '^':
		if t.first {
			t.anchored = true
			return t.put("^", 1, true)
		}
		return t.put(`\^`, 1, false)
	case '$':
		if rest := t.src[1:]; rest == "" || strings.HasPrefix(rest, `\)`) || strings.HasPrefix(rest, `\|`) {
			return t.put("$", 1, false)
		}
		return t.put(`\$`, 1, false)
	}
	_, size := utf8.DecodeRuneInString(t.src)
	return t.put(t.src[:size], size, false)
}

// repeat takes one postfix operator. A run of several means the same as *
// in Emacs and is an error in Go.
func (t *translation) repeat() error {
	size := 1
	if len(t.src) > 1 && t.src[1] == '?' {
		size = 2
	}
	if len(t.src) > size && strings.IndexByte("*+?", t.src[size]) >= 0 {
		return fail("invalid-regexp", "one repetition behind another is not supported here")
	}
	return t.put(t.src[:size], size, false)
}

func (t *translation) escape() error {
	if len(t.src) < 2 {
		return fail("invalid-regexp", "Trailing backslash")
	}
	switch c := t.src[1]; c {
	case '(':
		t.open++
		if strings.HasPrefix(t.src, `\(?:`) {
			return t.put("(?:", 4, true)
		}
		if strings.HasPrefix(t.src, `\(?`) {
			return fail("invalid-regexp", "numbered groups are not supported here")
		}
		return t.put("(", 2, true)
	case ')':
		if t.open--; t.open < 0 {
			return fail("invalid-regexp", "Unmatched ) or \\)")
		}
		return t.put(")", 2, false)
	case '|':
		return t.put("|", 2, true)
	case '{':
		return t.interval()
	case '`':
		t.anchored = true
		return t.put(`\A`, 2, true)
	case '\'':
		return t.put(`\z`, 2, true)
	case 'w', 'W', 's', 'S', 'b', 'B', '<', '>', '_', 'c', 'C', '=':
		return fail("invalid-regexp", `\`+string(c)+" is not supported here; use a set such as [[:alnum:]] or [ \\t]")
	default:
		if c >= '1' && c <= '9' {
			return fail("invalid-regexp", "back references are not supported here")
		}
	}
	_, size := utf8.DecodeRuneInString(t.src[1:])
	piece := t.src[1 : 1+size]
	if strings.Contains(`.*+?^$[]\/(){}|`, piece) {
		piece = `\` + piece
	}
	return t.put(piece, 1+size, false)
}

// interval is \{2,3\}.
func (t *translation) interval() error {
	inner, _, ok := strings.Cut(t.src[2:], `\}`)
	low, high, ranged := strings.Cut(inner, ",")
	if !ok || strings.Trim(low+high, "0123456789") != "" || t.first {
		return fail("invalid-regexp", "Invalid content of \\{\\}")
	}
	if low == "" {
		low = "0"
	}
	piece := "{" + low
	if ranged {
		piece += "," + high
	}
	return t.put(piece+"}", 4+len(inner), false)
}

// classes are the named sets, with Emacs' meaning for any Unicode character.
var classes = map[string]string{
	"alpha": `\pL\pM\p{Nl}`, "alnum": `\pL\pM\p{Nl}\p{Nd}`, "digit": "0-9", "xdigit": "0-9A-Fa-f", "space": ` \t\n\r\f`, "blank": `\p{Zs}\t`,
	"upper": `\p{Lu}\p{Ll}`, "lower": `\p{Lu}\p{Ll}`, "ascii": `\x00-\x7f`, "nonascii": `\x{80}-\x{10ffff}`, "cntrl": `\x00-\x1f`,
}

// bracket is a set: no escapes in it, ] first stands for itself.
func (t *translation) bracket() error {
	unmatched := fail("invalid-regexp", "Unmatched [ or [^")
	out, rest := "[", t.src[1:]
	if after, negated := strings.CutPrefix(rest, "^"); negated {
		out, rest = "[^", after
	}
	for first := true; ; first = false {
		if rest == "" {
			return unmatched
		}
		if rest[0] == ']' && !first {
			return t.put(out+"]", len(t.src)-len(rest)+1, false)
		}
		if inner, ok := strings.CutPrefix(rest, "[:"); ok {
			if name, after, closed := strings.Cut(inner, ":]"); closed && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == "" {
				set, known := classes[name]
				if !known {
					return fail("invalid-regexp", "Invalid character class name")
				}
				out, rest = out+set, after
				continue
			}
		}
		low, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		out += literal(low)
		if len(rest) > 1 && rest[0] == '-' && rest[1] != ']' {
			high, size := utf8.DecodeRuneInString(rest[1:])
			if high < low {
				return fail("invalid-regexp", "a range in [] runs backwards")
			}
			out, rest = out+"-"+literal(high), rest[1+size:]
		}
	}
}

// literal writes a character for a Go set.
func literal(r rune) string {
	if r < utf8.RuneSelf && strings.IndexByte(`\]^-[`, byte(r)) >= 0 {
		return `\` + string(r)
	}
	return string(r)
}
