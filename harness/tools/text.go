package tools

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// secrets are the keys that went to a server. They are taken out of whatever
// comes back.
type secrets struct {
	mu    sync.Mutex
	texts []string
}

func (s *secrets) add(value string) {
	if len(value) < 4 { // as common as any word
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, value, url.QueryEscape(value), url.PathEscape(value))
	// Where two begin alike, the longer one is meant.
	slices.SortFunc(s.texts, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	s.texts = slices.Compact(s.texts)
}

func (s *secrets) hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range s.texts {
		text = strings.ReplaceAll(text, secret, "[hidden]")
	}
	return text
}

var escapes = regexp.MustCompile(`\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)?|.)?`) // ECMA-48 §5.4

// oneLine is a text in one line of at most n characters, without control and
// format characters.
func oneLine(text string, n int) string {
	if limit := n * 16; len(text) > limit { // what is behind it is not shown
		text = text[:limit]
	}
	text = escapes.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	text = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, text)
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > n {
		text = strings.TrimSpace(string([]rune(text)[:n-1])) + "…"
	}
	return text
}

// lastLines is the end of what a program said, in one line.
func lastLines(text string) string {
	const lines, size = 8, 1000
	text = strings.TrimSpace(text)
	all := strings.Split(text, "\n")
	var kept []string
	for _, l := range slices.Backward(all) {
		if l = oneLine(l, 300); l == "" {
			continue
		}
		kept = append(kept, l)
		if len(kept) == lines || len(strings.Join(kept, "")) > size {
			break
		}
	}
	slices.Reverse(kept)
	return strings.Join(kept, " · ")
}

// size is a number of bytes for people.
func size(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%d KB", (n+1<<9)>>10)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
