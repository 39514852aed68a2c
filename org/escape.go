package org

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	exampleBegin = "#+begin_example"
	quotedBegin  = "#+begin_example quoted"
	exampleEnd   = "#+end_example"
)

var (
	// All but sneaky look at one line.

	// edge: a line that a comma disarms while the paragraph stays a paragraph. `**bold**` is none, nor is an indented
	// list item; ours are `* x`, `# x` and the same with commas before them.
	edge  = regexp.MustCompile(`^([ \t]*)(,*#(?:\s|$))|^(,*\*+[ \t])`)
	edged = regexp.MustCompile(`^([ \t]*),(,*#(?:\s|$))|^,(,*\*+[ \t])`)

	// alive: a line that something still acts on within an example block. Org's own rule covers `*` and `#+`; Emacs
	// also finds by regexp anywhere: drawers and ids (`:ID: x`), planning, clocks and diary sexps, which it evaluates;
	// and git finds merge markers.
	alive    = regexp.MustCompile(`(?i)^([ \t]*)(,*` + aliveRe + `)`)
	disarmed = regexp.MustCompile(`(?i)^([ \t]*),(,*` + aliveRe + `)`)

	// syntax: what is not plain prose to Org, or what org-lint, the agenda or a click could take up; and for speed,
	// a character that each can not do without.
	syntax = []struct {
		char string
		re   *regexp.Regexp
	}{
		{"#", regexp.MustCompile(`^[ \t]*,*#\+`)},                                    // keywords, blocks
		{":", regexp.MustCompile(`^[ \t]*:(?:[ \t]|$|\S+:)`)},                        // fixed width, drawers
		{":", regexp.MustCompile(`(?i)^[ \t]*(?:closed|deadline|scheduled|clock):`)}, // planning, clocks
		{"|", regexp.MustCompile(`^[ \t]*\|`)},                                       // tables
		{"+", regexp.MustCompile(`^[ \t]*\+(?:-+\+)+[ \t]*$`)},                       // tables of table.el
		{"%", regexp.MustCompile(`^[ \t]*&?%%\(|<%%\(`)},                             // diary sexps
		{"\\", regexp.MustCompile(`(?i)^[ \t]*\\begin\{`)},                           // LaTeX environments
		{"<=>|", regexp.MustCompile(`^(?:<{7}|={7}|>{7}|\|{7})(?:[ \t]|$)`)},         // merge markers
		{"[", regexp.MustCompile(`(?i)\[fn:|\[\[|\[cite`)},                           // footnotes, links, citations
		{"{", regexp.MustCompile(`\{\{\{`)},                                          // macros
		{"<", regexp.MustCompile(`<<[^<>\n]+>>|<\d+-\d+-\d`)},                        // targets, active stamps
		{"_", regexp.MustCompile(`(?i)(?:src|call)_[^\s\[({]+[\[({]`)},               // inline code
		{":", regexp.MustCompile(`(?i)(?:^|[^a-z0-9])` + linkTypes + `:\S`)},         // links that are checked or run
	}

	// sneaky: what acts from anywhere in a line of an example block. Emacs obeys local variables, and the agenda
	// shows ranges of stamps (single ones it leaves alone there).
	sneaky = regexp.MustCompile(`(?i)local variables:|>-{1,3}<\d`)
)

const (
	aliveRe   = `(?:\*|#\+|:\S+:(?:\s|$)|(?:closed|deadline|scheduled|clock):|&?%%\(|<{7}|={7}|>{7}|\|{7})`
	linkTypes = `(?:attachment|docview|elisp|file(?:\+\w+)?|id|shell)`
)

// Escape turns any text into Org text in which nothing is alive: no line of it is a heading, drawer, planning line,
// keyword, block edge, link target, agenda stamp or merge marker. [Unescape] gives the text back, byte for byte, from
// the body it was written to.
//
//   - Ordinary prose stays as it is. Lines such as `* x` and `# x` get a comma in front, and one that has commas there
//     already gets one more.
//   - Text with Org syntax, with blank edges, or empty, goes whole into an example block, a newline added; lines that
//     are alive even there get a comma.
//   - Text with control characters (but newline and tab), direction overrides, invalid UTF-8, a "Local Variables:" or
//     a range of stamps goes into `#+begin_example quoted`, where a backslash is `\\`, a byte `\xHH` and a character `\u{H}`.
//
// The result has no newline at its end.
func Escape(text string) string {
	begin := exampleBegin
	switch {
	case unclean(text):
		begin, text = quotedBegin, quote(text)
	case plain(text):
		return eachLine(text, edge, "$1,$2$3")
	}
	return begin + "\n" + eachLine(text, alive, "$1,$2") + "\n" + exampleEnd
}

// Unescape is the inverse of Escape, for a heading's body text: blank lines around it are layout. A body that was
// rewritten by hand comes back as it reads, without the blank lines.
func Unescape(s string) string {
	s = trimBlankLines(strings.ReplaceAll(s, "\r\n", "\n"))
	first, rest, _ := strings.Cut(s, "\n")
	first = strings.ToLower(strings.TrimSpace(first))
	if first == exampleBegin || first == quotedBegin {
		if text, ok := cutEnd(rest); ok {
			text = uncomma(text, disarmed, "$1$2")
			if first == quotedBegin {
				text = unquote(text)
			}
			return text
		}
	}
	return uncomma(s, edged, "$1$2$3")
}

// eachLine rewrites the lines that re matches.
func eachLine(text string, re *regexp.Regexp, with string) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		if re.MatchString(line) {
			line = re.ReplaceAllString(line, with)
		}
		b.WriteString(line)
	}
	return b.String()
}

// uncomma is eachLine for what begins with a comma; few lines do.
func uncomma(text string, re *regexp.Regexp, with string) string {
	var b strings.Builder
	for line := range strings.SplitAfterSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimLeft(line, " \t"), ",") {
			line = re.ReplaceAllString(line, with)
		}
		b.WriteString(line)
	}
	return b.String()
}

// cutEnd takes away the block's last line, which must be its only end.
func cutEnd(s string) (text string, ok bool) {
	i := strings.LastIndexByte(s, '\n')
	if i < 0 || !isEnd(s[i+1:]) {
		return "", false
	}
	for line := range strings.SplitSeq(s[:i], "\n") {
		if isEnd(line) {
			return "", false
		}
	}
	return s[:i], true
}

func isEnd(line string) bool { return strings.EqualFold(strings.TrimSpace(line), exampleEnd) }

// plain says whether text can stand as it is, but for commas.
func plain(text string) bool {
	if text == "" || trimBlankLines(text) != text {
		return false
	}
	for line := range strings.SplitSeq(text, "\n") {
		for _, s := range syntax {
			if strings.ContainsAny(line, s.char) && s.re.MatchString(line) {
				return false
			}
		}
	}
	return true
}

// trimBlankLines drops blank lines at both ends and the last line's newline.
func trimBlankLines(s string) string {
	for {
		line, rest, more := strings.Cut(s, "\n")
		if strings.Trim(line, " \t") != "" {
			break
		}
		if !more {
			return ""
		}
		s = rest
	}
	for {
		i := strings.LastIndexByte(s, '\n')
		if strings.Trim(s[i+1:], " \t") != "" {
			return s
		}
		s = s[:i] // i ≥ 0: the first line is not blank
	}
}

// unclean says whether text can not be shown as it is, or would act on an editor.
func unclean(text string) bool {
	return !utf8.ValidString(text) || strings.IndexFunc(text, isUnclean) >= 0 || sneaky.MatchString(text)
}

// isUnclean: control characters, line and paragraph separators, byte order marks, and what reorders text on a screen.
func isUnclean(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r), r == 0x2028, r == 0x2029, r == 0xFEFF:
		return true
	}
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

func quote(text string) string {
	var b strings.Builder
	at := sneaky.FindAllStringIndex(text, -1)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if len(at) > 0 && at[0][0] < i {
			at = at[1:]
		}
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case isUnclean(r), len(at) > 0 && at[0][0] == i:
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

var quoted = regexp.MustCompile(`\\(?:\\|x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]{1,6}\})`)

func unquote(s string) string {
	return quoted.ReplaceAllStringFunc(s, func(q string) string {
		switch q[1] {
		case 'x':
			n, _ := strconv.ParseUint(q[2:], 16, 8)
			return string([]byte{byte(n)})
		case 'u':
			n, _ := strconv.ParseUint(q[3:len(q)-1], 16, 32)
			return string(rune(n))
		}
		return `\`
	})
}
