package memory

import (
	"strings"
	"unicode/utf8"

	"amacs/org"
)

const (
	titleSize   = 120 // characters; a longer content stands in the body
	excerptSize = 80  // characters
	more        = "…" // ends a title that is an excerpt
)

// Title is the content in one line: itself where it fits, else its beginning
// and "…".
func (m Memory) Title() string {
	if _, whole := asTitle(m.Content); whole {
		return m.Content
	}
	return excerpt(m.Content)
}

// asTitle is a content escaped as a title, if it can be one.
func asTitle(s string) (title string, ok bool) {
	if len(s) > 4*titleSize || utf8.RuneCountInString(s) > titleSize {
		return "", false
	}
	title = org.EscapeTitle(s)
	return title, org.UnescapeTitle(title) == s
}

func excerpt(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > excerptSize {
		s = string(r[:excerptSize])
		if i := strings.LastIndexByte(s, ' '); i > len(s)/2 {
			s = s[:i]
		}
	}
	return s + " " + more
}

// joined is the content of a title and a body, both unescaped.
func joined(title, body string) string {
	switch {
	case body == "":
		return title
	case title == "" || strings.HasSuffix(title, more):
		return body
	}
	return title + "\n" + body
}
