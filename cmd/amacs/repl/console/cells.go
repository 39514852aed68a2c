package console

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// The last private-use plane is ours within a line: its last page for keys
// (keys.go), the rest for cells. Such a rune that somebody types is a cell.
const (
	firstCell = 0x100000
	lastCell  = 0x10feff
	firstKey  = 0x10ff00
)

// A cell is a text that is one rune of a line, and how it is shown.
type cell struct{ text, label string }

var (
	newlineCell = cell{"\n", "\n"} // shown as a new row
	tabCell     = cell{"\t", "    "}
)

// cells gives out the runes. Both the keyboard and the editor use it.
type cells struct {
	mu    sync.Mutex
	known map[cell]rune
	list  []cell // list[i] is the cell of rune firstCell+i
	bytes int
}

// of returns the rune of a cell, U+FFFD when there are no more.
func (c *cells) of(k cell) rune {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.known[k]; ok {
		return r
	}
	r := rune(firstCell + len(c.list))
	if r > lastCell {
		return utf8.RuneError
	}
	if c.known == nil {
		c.known = make(map[cell]rune)
	}
	c.known[k] = r
	c.list = append(c.list, k)
	c.bytes += len(k.text)
	return r
}

// at returns what r stands for; ok is false for an ordinary rune.
func (c *cells) at(r rune) (k cell, ok bool) {
	if r < firstCell {
		return cell{}, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := int(r - firstCell); i < len(c.list) {
		return c.list[i], true
	}
	return cell{}, true
}

// encode turns a text into runes of a line: decode(encode(s)) == s for any s.
// What could not stand in a line as it is becomes a cell, and so do backslash
// and quote if the text is inert, that is, not to be read as syntax.
func (c *cells) encode(s string, inert bool) []rune {
	rs := make([]rune, 0, len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\n':
			r = c.of(newlineCell)
		case r == '\t':
			r = c.of(tabCell)
		case r == utf8.RuneError && n == 1:
			r = c.of(cell{s[i : i+1], fmt.Sprintf("<%02X>", s[i])})
		case r >= firstCell:
			r = c.of(cell{s[i : i+n], fmt.Sprintf("<U+%X>", r)})
		case inert && (r == '\\' || r == '"'), unicode.IsControl(r), steers(r):
			r = c.of(cell{string(r), visible(r)})
		}
		rs = append(rs, r)
		i += n
	}
	return rs
}

func (c *cells) decode(rs []rune) string {
	var b strings.Builder
	for _, r := range rs {
		if k, ok := c.at(r); ok {
			b.WriteString(k.text)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// full reports whether so much is held that it is time to forget.
func (c *cells) full() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes > 16<<20 || len(c.list) > 20_000
}

// forget frees all cells; no line may hold any.
func (c *cells) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known, c.list, c.bytes = nil, nil, 0
}

// token stands for a text that is too long to be edited in the line: its label
// says how long it is, `[paste #1, 40 lines]`, and how it begins if hint is set.
func (c *cells) token(name, text string, hint bool) rune {
	size := fmt.Sprintf("%d bytes", len(text))
	if n := lines(text); n > 1 {
		size = fmt.Sprintf("%d lines", n)
	}
	label := name + ", " + size
	if hint {
		begin := []rune(strings.Join(strings.Fields(Clean(text[:min(len(text), 200)])), " "))
		label += ": " + string(begin[:min(len(begin), 30)]) + "…"
	}
	return c.of(cell{text, "[" + label + "]"})
}

// lines counts the lines of a text, with or without a final newline.
func lines(text string) int {
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}
