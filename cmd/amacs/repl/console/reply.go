package console

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// reply is a streamed text on its way to the screen: cleaned, and without the
// newlines at its beginning and end, which are held back until more comes.
type reply struct {
	clean cleaner
	begun bool // some of it is shown
	held  int  // newlines held back
}

func (r *reply) feed(chunk string) string { return r.trim(r.clean.feed(chunk)) }

func (r *reply) rest() string { return r.trim(r.clean.rest()) }

func (r *reply) trim(text string) string {
	body := strings.TrimLeft(text, "\n")
	if r.begun {
		r.held += len(text) - len(body)
	}
	if body == "" {
		return ""
	}
	text = strings.Repeat("\n", r.held) + strings.TrimRight(body, "\n")
	r.held = len(body) - len(strings.TrimRight(body, "\n"))
	return text
}

// wrapper cuts a text that comes in pieces into rows of at most width columns,
// at spaces where there are any.
type wrapper struct {
	row     []rune // the unfinished row
	columns int    // its width
}

// feed returns the rows that are finished, each with its newline.
func (w *wrapper) feed(text string, width int) string {
	var out strings.Builder
	for _, r := range text {
		if r == '\n' {
			out.WriteString(w.take(len(w.row)))
			continue
		}
		if n := columnsOf(r, w.columns); n > 0 && w.columns+n > width {
			out.WriteString(w.wrap(r))
			if r == ' ' {
				continue
			}
		}
		w.row = append(w.row, r)
		w.columns += columnsOf(r, w.columns)
	}
	return out.String()
}

// wrap finishes a row that r does not fit into.
func (w *wrapper) wrap(r rune) string {
	if r == ' ' {
		return w.take(len(w.row))
	}
	for i := len(w.row) - 1; i > 0; i-- {
		if w.row[i] == ' ' && strings.TrimLeft(string(w.row[:i]), " ") != "" {
			done := w.take(i)
			w.row = w.row[1:]
			w.measure()
			return done
		}
	}
	return w.take(len(w.row))
}

// take cuts the first n runes off the row, as a row of its own.
func (w *wrapper) take(n int) string {
	done := string(w.row[:n]) + "\n"
	w.row = w.row[n:]
	w.measure()
	return done
}

func (w *wrapper) measure() {
	w.columns = 0
	for _, r := range w.row {
		w.columns += columnsOf(r, w.columns)
	}
}

// columnsOf is the width of r when it is written at a column.
func columnsOf(r rune, column int) int {
	if r == '\t' {
		return 8 - column%8
	}
	return runewidth.RuneWidth(r)
}
