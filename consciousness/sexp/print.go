package sexp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPrint bounds the bytes of Print: data that shares parts can print to
// far more than it holds.
const maxPrint = 64 << 20

// Print writes v as Emacs' prin1 does: [Read] and Emacs' read take it back to
// an equal value. What has no end is cut with a mark that no reader takes:
// #deep below 1,000 levels, #circle in a circular list, #long after 64 MiB.
func Print(v Value) string {
	text, _ := PrintWithin(v, false, maxPrint)
	return text
}

// Display writes v as Emacs' princ does, for people: strings without quotes.
func Display(v Value) string {
	text, _ := PrintWithin(v, true, maxPrint)
	return text
}

// PrintWithin is [Print], or [Display] if display is true, cut to at most
// max bytes. whole is false if something is missing.
func PrintWithin(v Value, display bool, max int) (text string, whole bool) {
	p := printer{display: display, max: max}
	p.value(v, 1)
	if len(p.out) <= max {
		return string(p.out), !p.cut
	}
	mark := "#long"
	end := max - len(mark)
	if end < 0 {
		return "", false
	}
	for end > 0 && end > max-len(mark)-utf8.UTFMax && !utf8.RuneStart(p.out[end]) {
		end--
	}
	return string(p.out[:end]) + mark, false
}

type printer struct {
	out     []byte
	max     int
	display bool // no quotes, no backslashes
	escape  bool // control characters in strings as escapes, for files
	cut     bool
	inside  int // backquotes around
}

// put appends s unless the limit has been passed; it reports whether there is room.
func (p *printer) put(s string) bool {
	if room := p.max + 1 - len(p.out); len(s) > room {
		s, p.cut = s[:room], true
	}
	p.out = append(p.out, s...)
	return len(p.out) <= p.max
}

func (p *printer) value(v Value, depth int) {
	if depth > maxDepth {
		p.cut = true
		p.put("#deep")
		return
	}
	switch x := clean(v).(type) {
	case Symbol:
		p.symbol(string(x))
	case string:
		p.text(x)
	case int64:
		p.put(strconv.FormatInt(x, 10))
	case float64:
		p.put(printFloat(x))
	case *Cons:
		p.list(x, depth)
	case Vector:
		p.put("[")
		for i, kid := range x {
			if i > 0 && !p.put(" ") {
				return
			}
			p.value(kid, depth+1)
		}
		p.put("]")
	case fmt.Stringer:
		p.put(x.String())
	default:
		p.put(fmt.Sprintf("#<%T>", x))
	}
}

var prefixes = map[Symbol]string{"quote": "'", "function": "#'", "`": "`", ",": ",", ",@": ",@"}

// list prints a list; (quote x) and its kin by their prefix. The comma forms
// have one only within a backquote, as in Emacs.
func (p *printer) list(c *Cons, depth int) {
	name, _ := c.Car.(Symbol)
	prefix, kid := prefixes[name], secondOfTwo(c)
	step := map[Symbol]int{"`": 1, ",": -1, ",@": -1}[name]
	if prefix != "" && kid != nil && (step >= 0 || p.inside > 0) {
		if kid, ok := kid.Car.(Symbol); ok && prefix == "," && strings.HasPrefix(string(kid), "@") {
			prefix = ", " // not the splicing ,@
		}
		p.put(prefix)
		p.inside += step
		p.value(kid.Car, depth+1)
		p.inside -= step
		return
	}
	p.put("(")
	first := true
	tail, circle := walk(c, func(c *Cons) bool {
		room := first || p.put(" ")
		first = false
		if room {
			p.value(c.Car, depth+1)
		}
		return room
	})
	switch {
	case len(p.out) > p.max:
		return
	case circle:
		p.cut = true
		p.put(" . #circle")
	case tail != Nil:
		p.put(" . ")
		p.value(tail, depth+1)
	}
	p.put(")")
}

// secondOfTwo returns the second cell of a list of two elements, else nil.
func secondOfTwo(c *Cons) *Cons {
	if second, ok := c.Cdr.(*Cons); ok && clean(second.Cdr) == Nil {
		return second
	}
	return nil
}

func (p *printer) symbol(name string) {
	if p.display {
		p.put(name)
		return
	}
	if name == "" {
		p.put("##")
		return
	}
	var out strings.Builder
	if _, isNumber, _ := number(name); isNumber || name[0] == '.' || name[0] == '?' {
		out.WriteByte('\\')
	}
	for i := 0; i < len(name); i++ {
		if delimits(name[i]) || name[i] == '\\' || strings.HasPrefix(name[i:], nbsp) {
			out.WriteByte('\\')
		}
		out.WriteByte(name[i])
	}
	p.put(out.String())
}

func (p *printer) text(s string) {
	if p.display {
		p.put(s)
		return
	}
	if !p.put(`"`) {
		return
	}
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		piece := s[:size]
		switch {
		case r == '"' || r == '\\':
			piece = `\` + piece
		case r == utf8.RuneError && size == 1:
			piece = fmt.Sprintf(`\%03o`, s[0])
		case p.escape && (r < ' ' || r == 0o177):
			piece = escaped(r)
		}
		if !p.put(piece) {
			return
		}
		s = s[size:]
	}
	p.put(`"`)
}

func escaped(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	}
	return fmt.Sprintf(`\%03o`, r)
}

// printFloat finds the shortest of 15 to 17 digits that reads back to f, as
// Emacs does, and keeps it a float by a ".0" where need be.
func printFloat(f float64) string {
	if math.IsNaN(f) {
		sign := ""
		if math.Signbit(f) {
			sign = "-"
		}
		return fmt.Sprintf("%s%d.0e+NaN", sign, math.Float64bits(f)&nanPayload)
	}
	if math.IsInf(f, 0) {
		return map[bool]string{true: "1.0e+INF", false: "-1.0e+INF"}[f > 0]
	}
	digits := 15
	if math.Abs(f) < 0x1p-1022 {
		digits = 1 // subnormal numbers have less to tell
	}
	text := strconv.FormatFloat(f, 'g', digits, 64)
	for back, _ := strconv.ParseFloat(text, 64); back != f; back, _ = strconv.ParseFloat(text, 64) {
		digits++
		text = strconv.FormatFloat(f, 'g', digits, 64)
	}
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}
