package files

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// replace is text with old replaced by new, once or everywhere. Both are given
// with plain line ends, and text keeps its own.
func replace(text string, f form, old, new string, all bool) (string, error) {
	old, new = plainEnds(old), plainEnds(new)
	switch {
	case old == "":
		return "", errors.New("the text to replace is empty; say what stands there now, or write the whole file")
	case old == new:
		return "", errors.New("the new text is the same as the old")
	case f.loose && f.wide != nil:
		return "", errors.New("not all of it is text in its encoding; an edit would change more than was asked for")
	case f.loose && strings.ContainsFunc(new, func(r rune) bool { return r >= utf8.RuneSelf }):
		return "", errors.New("it is not UTF-8, and the new text has letters outside of ASCII: two encodings would be mixed")
	}
	v := plainOf(text)
	at := v.find(old, all)
	switch {
	case len(at) == 0:
		why := "the text to replace is not there"
		if f.loose && strings.ContainsRune(old, utf8.RuneError) {
			why += " (\uFFFD stands for a byte that is no UTF-8; choose a text without it)"
		}
		return "", errors.New(why + nearest(v.text, old))
	case len(at) > 1 && !all:
		return "", fmt.Errorf("the text to replace is there more than once, in %s; give more of the text around it, or replace all", linesAt(v.text, at))
	}
	if f.ends == "mixed" {
		f.ends = "\n"
		if 2*len(v.crlf) > strings.Count(v.text, "\n") {
			f.ends = "\r\n"
		}
	}
	var out strings.Builder
	done := 0
	for _, i := range at {
		out.WriteString(text[done:v.raw(i)])
		out.WriteString(f.fit(new))
		done = v.raw(i + len(old))
	}
	out.WriteString(text[done:])
	return out.String(), nil
}

// plain is a text with "\n" for every "\r\n".
type plain struct {
	text string
	crlf []int // where in text a "\n" was more
}

func plainOf(raw string) (p plain) {
	for i := 0; ; {
		j := strings.Index(raw[i:], "\r\n")
		if j < 0 {
			break
		}
		p.crlf = append(p.crlf, i+j-len(p.crlf))
		i += j + 2
	}
	p.text = plainEnds(raw)
	return p
}

// raw is the place in the raw text of a place in the plain one.
func (p plain) raw(i int) int {
	before, _ := slices.BinarySearch(p.crlf, i)
	return i + before
}

const manyFound = 1000

// find is where old stands. If only one place is wanted, places that overlap
// count too, and no more than manyFound are sought.
func (p plain) find(old string, all bool) (at []int) {
	for i := 0; all || len(at) < manyFound; {
		j := strings.Index(p.text[i:], old)
		if j < 0 {
			break
		}
		at = append(at, i+j)
		if i += j + 1; all {
			i += len(old) - 1
		}
	}
	return at
}

// linesAt names the lines of some places: "lines 3, 17 and 40".
func linesAt(text string, at []int) string {
	var ns []string
	line, done := 1, 0
	for _, i := range at {
		line += strings.Count(text[done:i], "\n")
		done = i
		if n := strconv.Itoa(line); len(ns) == 0 || ns[len(ns)-1] != n {
			ns = append(ns, n)
		}
	}
	switch last := len(ns) - 1; {
	case last == 0:
		return "line " + ns[0]
	case last >= 20:
		return "lines " + strings.Join(ns[:20], ", ") + " and more"
	default:
		return "lines " + strings.Join(ns[:last], ", ") + " and " + ns[last]
	}
}
