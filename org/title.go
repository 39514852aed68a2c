package org

import (
	"regexp"
	"strings"
	"unicode"
)

// zwsp, the zero width space, is Org's own way to say that what follows is text.
const zwsp = "\u200b"

// states are TODO keywords in common use and those of our own files: as a title's first word they are disarmed.
var states = []string{
	"ACTIVE", "APPROVED", "ASK", "BLOCKED", "CANCELED", "CANCELLED", "DELEGATED", "DENIED", "DOING", "DONE", "DROPPED",
	"EXPIRED", "EXPLORED", "EXPLORING", "FAILED", "FIXME", "HOLD", "IDEA", "MAYBE", "NEXT", "OPEN", "PAUSED", "PROJ",
	"PRUNED", "REFUSED", "RETIRED", "RUNNING", "SHARED", "SKIPPED", "SOMEDAY", "STARTED", "STRT", "TODO", "WAIT",
	"WAITING", "WONDER",
}

var (
	// opener: a title that begins with structure.
	opener = regexp.MustCompile(`^(?:COMMENT|QUOTE |Footnotes$|\*+(?:[ \t]|$)|(?:` + strings.Join(states, "|") + `)(?: |$))`)
	// closer: a title whose end would be read as tags.
	closer = regexp.MustCompile(`(?:^|[ \t]):\S*:$`)
	// inner: syntax inside a title. The escape goes behind the group.
	inner = regexp.MustCompile(`(?i)^(?:` + strings.Join([]string{
		`(\[)(?:#|fn:|\[|cite|\d*%\]|\d*/\d*\])`, // cookies, footnotes, links, citations, counts
		`(<)(?:<|%%|\d+-\d|` + linkTypes + `:)`,  // targets, stamps, links
		`(\{)\{\{`,                               // macros
		`(src|call)_[^\s\[({]+[\[({]`,            // inline code
		`(local) variables:`,
	}, "|") + `)`)
	link = regexp.MustCompile(`(?i)^(` + linkTypes + `):\S`)
)

// EscapeTitle turns text into one line that Org reads as a plain title: no state, priority, COMMENT, tag, link, stamp,
// count or footnote, and never empty. What would be syntax is split by a zero width space, and one that was there is
// doubled; ordinary titles are unchanged. Titles are single lines: line ends and control characters become blanks,
// invalid bytes U+FFFD, and blanks at the edges go; [UnescapeTitle] gives back that line.
func EscapeTitle(text string) string {
	s := strings.ReplaceAll(oneLine(text), zwsp, zwsp+zwsp)
	var b strings.Builder
	if s == "" || opener.MatchString(s) {
		b.WriteString(zwsp)
	}
	from := 0
	for i := range len(s) {
		if n := splitAt(s, i); n > 0 {
			b.WriteString(s[from:i+n] + zwsp)
			from = i + n
		}
	}
	b.WriteString(s[from:])
	if closer.MatchString(s) {
		b.WriteString(zwsp)
	}
	return b.String()
}

// splitAt says behind how many bytes of s[i:] a zero width space is due, or 0.
func splitAt(s string, i int) int {
	m := inner.FindStringSubmatchIndex(s[i:])
	if m == nil && (i == 0 || !isAlnum(s[i-1])) {
		m = link.FindStringSubmatchIndex(s[i:])
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 {
			return m[g+1]
		}
	}
	return 0
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

// UnescapeTitle is the inverse of EscapeTitle.
func UnescapeTitle(s string) string {
	if !strings.Contains(s, zwsp) {
		return s
	}
	var b strings.Builder
	run := 0
	for _, r := range s {
		if r == 0x200B {
			run++
			if run%2 == 0 {
				b.WriteString(zwsp)
			}
			continue
		}
		run = 0
		b.WriteRune(r)
	}
	return b.String()
}

// oneLine makes text a single clean line: what ends a line or controls a terminal becomes a blank, invalid bytes become
// U+FFFD, and blanks at the edges go.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || isUnclean(r) {
			return ' '
		}
		return r
	}, text)
	return strings.TrimSpace(text)
}
