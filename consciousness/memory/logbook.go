package memory

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"amacs/org"
)

// crumb is a line of the log that was written here; others are a hand's, or
// Emacs'.
var crumb = regexp.MustCompile(`^[ \t]*- (used|reinforced) (\[[^\]\n]*\])(?: tick (\d+))?(?: session (\S+))?[ \t]*\r?\n?$`)

func (c Crumb) line() string {
	s := "- " + c.What + " " + writeStamp(c.At)
	if c.Tick > 0 {
		s += fmt.Sprint(" tick ", c.Tick)
	}
	if c.Session != "" {
		s += " session " + org.EscapeTitle(c.Session)
	}
	return s + "\n"
}

func readCrumb(line string) (c Crumb, ok bool) {
	m := crumb.FindStringSubmatch(line)
	if m == nil {
		return c, false
	}
	c = Crumb{What: m[1], At: readStamp(m[2]), Session: org.UnescapeTitle(m[4])}
	c.Tick, _ = strconv.Atoi(m[3])
	return c, !c.At.IsZero()
}

// body is what stands below a heading's drawer, as written: the log, if it
// stands first, and the text with the blank lines around it.
type body struct{ before, log, text string }

func splitBody(s string) body {
	at := 0
	for line := range strings.SplitAfterSeq(s, "\n") {
		if !blank(line) {
			break
		}
		at += len(line)
	}
	end := at
	for line := range strings.SplitAfterSeq(s[at:], "\n") {
		word := strings.TrimSpace(line)
		if end == at && !strings.EqualFold(word, ":LOGBOOK:") {
			break
		}
		end += len(line)
		if strings.EqualFold(word, ":END:") {
			return body{s[:at], s[at:end], s[end:]}
		}
	}
	return body{text: s}
}

// blank reports whether a line, with its end, is layout, as org.Unescape sees it.
func blank(line string) bool {
	if text, ok := strings.CutSuffix(line, "\n"); ok {
		line = strings.TrimSuffix(text, "\r")
	}
	return strings.Trim(line, " \t") == ""
}

// crumbs reads a log.
func crumbs(log string) (out []Crumb) {
	for line := range strings.SplitAfterSeq(log, "\n") {
		if c, ok := readCrumb(line); ok {
			out = append(out, c)
		}
	}
	return out
}

// withCrumbs is the log with these crumbs: those that went are taken out, new
// ones go to its end, and all other lines stay. A log without a line is none.
func withCrumbs(log string, cs []Crumb) string {
	var lines []string
	left := slices.Clone(cs)
	if log == "" {
		lines = []string{":LOGBOOK:\n", ":END:\n"}
	} else {
		for line := range strings.SplitAfterSeq(log, "\n") {
			c, ok := readCrumb(line)
			if i := slices.Index(left, c); ok && i >= 0 {
				left = slices.Delete(left, i, i+1)
			} else if ok || line == "" {
				continue
			}
			lines = append(lines, line)
		}
	}
	end := len(lines) - 1
	for _, c := range left {
		lines = slices.Insert(lines, end, c.line())
		end++
	}
	if len(lines) == 2 {
		return ""
	}
	return strings.Join(lines, "")
}
