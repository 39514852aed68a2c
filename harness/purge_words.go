package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// word is a text that is to be forgotten, and what stands in its place.
type word struct {
	Text []byte `json:"text"`
	Mark string `json:"mark"`
}

const (
	purged    = "[purged]"
	wordLeast = 4 // bytes: less would be found everywhere
	partLeast = 8 // bytes of a word that was cut off, before a sign of that
)

// check refuses a text that can not be told from others.
func (w word) check() error {
	text := string(w.Text)
	switch {
	case len(strings.TrimSpace(text)) < wordLeast:
		return fmt.Errorf("a text of less than %d bytes would be found everywhere: name a longer one", wordLeast)
	case strings.Contains(purged+w.Mark+purged, text), strings.Contains(text, w.Mark): // or there would be no end
		return fmt.Errorf("%q is what stands where something was forgotten: name another text", w.Mark)
	}
	return nil
}

// eraser takes words out of texts. It is a function of its words alone, and leaves
// alone what it has been through.
type eraser struct {
	plain *strings.Replacer
	parts []part
	cuts  []word // long enough to be seen also where they were cut off
}

// part is a word of several lines: it also stands indented, as one line, and with
// the commas by which Org escapes.
type part struct {
	sign []byte // its longest line, without which it can not be there
	form *regexp.Regexp
	mark []byte
}

// newEraser makes an eraser. Beside each word as it is, it finds the word as JSON
// and the working state write it.
func newEraser(words []word) *eraser {
	e := &eraser{}
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(len(b.Text), len(a.Text)) }) // the longest first
	var pairs []string
	seen := map[string]bool{}
	add := func(text, mark string) {
		if !seen[text] {
			seen[text] = true
			pairs = append(pairs, text, mark)
		}
	}
	for _, w := range words {
		text := string(w.Text)
		add(text, w.Mark)
		for _, html := range []bool{true, false} {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(html)
			if utf8.ValidString(text) && enc.Encode(text) == nil { // a string: can not fail
				add(strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`), w.Mark)
			}
		}
		if p, ok := lines(text, w.Mark); ok {
			e.parts = append(e.parts, p)
		} else if len(text) > partLeast {
			e.cuts = append(e.cuts, w)
		}
	}
	e.plain = strings.NewReplacer(pairs...)
	return e
}

func lines(text, mark string) (part, bool) {
	var forms []string
	p := part{mark: []byte(strings.ReplaceAll(mark, "$", "$$"))}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		forms = append(forms, regexp.QuoteMeta(line))
		if len(line) > len(p.sign) {
			p.sign = []byte(line)
		}
	}
	if len(forms) < 2 || !utf8.ValidString(text) {
		return p, false
	}
	p.form = regexp.MustCompile(strings.Join(forms, `[ \t]*(?:(?:\r?\n|\\r|\\n)[ \t,]*)*[ \t]*`))
	return p, true
}

// text is b without the words; b itself where none is in it. What was taken out may
// have brought together another word: it looks again.
func (e *eraser) text(b []byte) []byte {
	for {
		out := e.once(b)
		if bytes.Equal(out, b) {
			return b
		}
		b = out
	}
}

func (e *eraser) once(b []byte) []byte {
	out := b
	for _, p := range e.parts {
		if bytes.Contains(out, p.sign) {
			out = p.form.ReplaceAll(out, p.mark)
		}
	}
	out = []byte(e.plain.Replace(string(out)))
	for _, w := range e.cuts {
		out = w.cutOff(out)
	}
	return out
}

// ends are the signs that a text was cut off.
var ends = [][]byte{[]byte("…"), []byte(" [...]"), []byte(" …"), []byte("[...truncated...]"), []byte("\n[...truncated...]")}

// cutOff takes out the first bytes of a word where they stand before the sign that
// the rest was cut off.
func (w word) cutOff(b []byte) []byte {
	if !bytes.Contains(b, w.Text[:partLeast]) {
		return b
	}
	for n := len(w.Text) - 1; n >= partLeast; n-- {
		for _, end := range ends {
			b = bytes.ReplaceAll(b, slices.Concat(w.Text[:n], end), slices.Concat([]byte(w.Mark), end))
		}
	}
	return b
}

// errTooCommon says that a text is also a part of what amacs itself writes.
var errTooCommon = errors.New("it is also a part of what amacs writes around the texts: choose a longer one")
