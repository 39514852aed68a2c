package console

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes text from elsewhere safe to print: what could steer a terminal
// becomes visible. Control characters are shown as their pictures (␛), U+0080
// to U+009F and the characters that reorder or break text as <U+202E>, bytes
// that are not UTF-8 as U+FFFD. CR LF and CR become newlines; newlines and tabs stay.
func Clean(s string) string {
	var c cleaner
	return c.feed(s) + c.rest()
}

// Bare is Clean for a text that somebody decides on: characters without a shape
// of their own are shown as <U+200B>, so that nothing looks like something else.
func Bare(s string) string {
	var b strings.Builder
	for _, r := range Clean(s) {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// cleaner cleans a text that comes in pieces, cut anywhere.
type cleaner struct {
	part string // the beginning of a rune whose end has not come yet
	cr   bool   // the last character was CR
}

func (c *cleaner) feed(s string) string {
	s = c.part + s
	c.part = ""
	var out strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 && !utf8.FullRuneInString(s[i:]) {
			c.part = s[i:]
			break
		}
		if r == '\r' || r == '\n' && !c.cr {
			out.WriteByte('\n')
		} else if r != '\n' {
			out.WriteString(visible(r))
		}
		c.cr = r == '\r'
		i += n
	}
	return out.String()
}

// rest ends the text: what is left can only be an unfinished rune.
func (c *cleaner) rest() string {
	n := len(c.part)
	*c = cleaner{}
	return strings.Repeat(string(utf8.RuneError), n)
}

// visible is r itself, or what is shown in its place.
func visible(r rune) string {
	switch {
	case r == '\t' || r == '\n':
	case r < 0x20:
		return string(0x2400 + r)
	case r == 0x7f:
		return "␡"
	case steers(r):
		return fmt.Sprintf("<U+%04X>", r)
	}
	return string(r)
}

// steers reports whether r is a C1 control, a line or paragraph separator, or
// a bidirectional embedding, override or isolate.
func steers(r rune) bool {
	return 0x80 <= r && r <= 0x9f || 0x2028 <= r && r <= 0x202e || 0x2066 <= r && r <= 0x2069
}
