package sexp

import "strings"

const width = 78 // columns that PrintIndented tries to stay within

// PrintIndented writes v for a file: an alist with one pair per line, nested
// ones two columns further in (RFC v4 §3.1), other long lists with one element
// per line, and control characters in strings as escapes. The first line has
// no indentation: it is meant to stand at column indent, counted from 0.
func PrintIndented(v Value, indent int) string {
	p := layout{newline: "\n"}
	p.value(v, indent, 1)
	return p.String()
}

type layout struct {
	strings.Builder
	newline string
}

func flat(v Value) string {
	p := printer{max: maxPrint, escape: true}
	p.value(v, 1)
	return string(p.out)
}

func (p *layout) value(v Value, indent, depth int) {
	elements, err := Slice(v)
	if err != nil || len(elements) == 0 || depth > maxDepth/2 {
		p.WriteString(flat(v))
		return
	}
	pairs := isAlist(elements)
	if !pairs || len(elements) == 1 {
		line := flat(v)
		if name, _ := elements[0].(Symbol); indent+len(line) <= width && !pairs || prefixes[name] != "" {
			p.WriteString(line)
			return
		}
	}
	for i, element := range elements {
		if i == 0 {
			p.WriteByte('(')
		} else {
			p.line(indent + 1)
		}
		if pairs {
			p.pair(element.(*Cons), indent+1, depth+1)
		} else {
			p.value(element, indent+1, depth+1)
		}
	}
	p.WriteByte(')')
}

// pair writes (key . value), the value on a line of its own if it has pairs itself.
func (p *layout) pair(c *Cons, indent, depth int) {
	key := flat(c.Car)
	p.WriteString("(" + key + " .")
	elements, err := Slice(c.Cdr)
	if err == nil && (isAlist(elements) || indent+len(key)+len(flat(c.Cdr)) > width) && len(elements) > 0 {
		p.line(indent + 2)
		p.value(c.Cdr, indent+2, depth+1)
	} else {
		p.WriteString(" " + flat(c.Cdr))
	}
	p.WriteByte(')')
}

func (p *layout) line(indent int) {
	p.WriteString(p.newline + strings.Repeat(" ", max(indent, 0)))
}

// isAlist reports whether every element is a pair with a symbol in front.
func isAlist(elements []Value) bool {
	for _, element := range elements {
		pair, ok := element.(*Cons)
		if !ok {
			return false
		}
		if name, ok := pair.Car.(Symbol); !ok || name == Nil {
			return false
		}
	}
	return len(elements) > 0
}
