package console

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// glyph is what one place of the live block shows: some text of a known width,
// or "\n" for the end of a row. Text may carry colour.
type glyph struct {
	text  string
	width int
}

func glyphs(s string) []glyph {
	var gs []glyph
	for _, r := range s {
		gs = append(gs, glyph{string(r), runewidth.RuneWidth(r)})
	}
	return gs
}

// block is a text laid out on the screen and the place of the cursor in it.
type block struct {
	rows     []string
	widths   []int // of the rows, in columns
	row, col int
}

func (b *block) add(text string, width int) {
	b.rows = append(b.rows, text)
	b.widths = append(b.widths, width)
}

// layout breaks glyphs into rows of at most width columns. The cursor stands
// on glyph number cursor, or after the last.
func layout(gs []glyph, cursor, width int) block {
	var b block
	var text strings.Builder
	x := 0
	end := func() {
		b.add(text.String(), x)
		text.Reset()
		x = 0
	}
	for i, g := range gs {
		needs := g.width
		if i == cursor {
			needs = max(needs, 1) // the cursor itself needs a place
		}
		if x > 0 && x+needs > width {
			end()
		}
		if i == cursor {
			b.row, b.col = len(b.rows), x
		}
		if g.text == "\n" {
			end()
			continue
		}
		text.WriteString(g.text)
		x += g.width
	}
	if cursor >= len(gs) {
		if x >= width {
			end()
		}
		b.row, b.col = len(b.rows), x
	}
	end()
	return b
}

// window is the part of b that has at most height rows and holds the cursor.
func (b block) window(height int) block {
	if len(b.rows) <= height {
		return b
	}
	from := min(b.row, len(b.rows)-height)
	return block{b.rows[from : from+height], b.widths[from : from+height], b.row - from, b.col}
}

// rowAt is the number of the row, below the block's first, in which the cursor
// is after the terminal has broken the block's rows anew at another width.
func (b block) rowAt(width int) int {
	row := 0
	for i := range b.row {
		row += max(1, (b.widths[i]+width-1)/width)
	}
	return row + b.col/width
}
