package sexp

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// SyntaxError says where text is not a form. Offset counts bytes from 0, Line
// and Col from 1; Col counts characters.
type SyntaxError struct {
	Offset, Line, Col int
	// Msg is what Emacs puts in the error's data, such as ")" or
	// ". in wrong context".
	Msg string
	// Incomplete: the text ended inside a form, more of it could be valid.
	Incomplete bool
}

// Error gives the place and the reason.
func (e *SyntaxError) Error() string {
	if e.Incomplete {
		return fmt.Sprintf("line %d, column %d: end of file during parsing", e.Line, e.Col)
	}
	return fmt.Sprintf("line %d, column %d: invalid read syntax: %s", e.Line, e.Col, e.Msg)
}

// Unwrap lets errors.Is find [io.ErrUnexpectedEOF] in an incomplete form.
func (e *SyntaxError) Unwrap() error {
	if e.Incomplete {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// Node is a form with its place in the text: src[Start:End], quote included.
type Node struct {
	Value      Value
	Start, End int
	// Kids are the elements of a list or vector in order, or the one form
	// behind a Prefix. The last kid of a dotted list is its tail.
	Kids   []*Node
	Dotted bool
	// Prefix is ' ` , ,@ or #' before a form, else empty.
	Prefix string
	// Rest marks the value of a pair written as (key a b): not a form of its
	// own but the range of the elements after the key. [Replace] knows.
	Rest bool

	dot int // offset of the dot of a dotted list
}

// Read reads the first form of src. rest is the offset of the byte after it.
// Errors are *SyntaxError; a src without any form is an incomplete one.
func Read(src string) (v Value, rest int, err error) {
	p := parser{src: src}
	n, err := p.form()
	if err != nil {
		return nil, 0, err
	}
	return n.Value, n.End, nil
}

// ReadAll reads every form of src; none is no error.
func ReadAll(src string) ([]Value, error) {
	nodes, err := parse(src)
	if err != nil {
		return nil, err
	}
	values := make([]Value, len(nodes))
	for i, n := range nodes {
		values[i] = n.Value
	}
	return values, nil
}

// Parse reads every form of src with its byte range, in order. Errors are
// *SyntaxError.
func Parse(src []byte) ([]*Node, error) { return parse(string(src)) }

func parse(src string) ([]*Node, error) {
	p := parser{src: src}
	var nodes []*Node
	for p.space(); p.pos < len(src); p.space() {
		n, err := p.form()
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

type parser struct {
	src        string
	pos, depth int
}

func (p *parser) fail(at int, msg string) error {
	before := p.src[:at]
	line := strings.Count(before, "\n")
	col := utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return &SyntaxError{Offset: at, Line: line + 1, Col: col + 1, Msg: msg}
}

func (p *parser) incomplete() error {
	err := p.fail(len(p.src), "end of file during parsing").(*SyntaxError)
	err.Incomplete = true
	return err
}

const nbsp = "\u00a0" // blank to Emacs' reader, as every byte up to 040 is

// space passes over blanks and comments.
func (p *parser) space() {
	for p.pos < len(p.src) {
		switch c := p.src[p.pos]; {
		case c <= ' ':
			p.pos++
		case c == ';':
			if end := strings.IndexByte(p.src[p.pos:], '\n'); end >= 0 {
				p.pos += end
			} else {
				p.pos = len(p.src)
			}
		case strings.HasPrefix(p.src[p.pos:], nbsp):
			p.pos += len(nbsp)
		default:
			return
		}
	}
}

// form reads one form, blanks before it included.
func (p *parser) form() (*Node, error) {
	p.space()
	if p.pos >= len(p.src) {
		return nil, p.incomplete()
	}
	if p.depth++; p.depth > maxDepth {
		return nil, p.fail(p.pos, fmt.Sprintf("forms nest deeper than %d", maxDepth))
	}
	defer func() { p.depth-- }()
	n := &Node{Start: p.pos}
	err := p.fill(n)
	n.End = p.pos
	return n, err
}

func (p *parser) fill(n *Node) (err error) {
	switch c := p.src[p.pos]; c {
	case '(':
		return p.list(n)
	case '[':
		return p.vector(n)
	case ')', ']':
		return p.fail(p.pos, string(c))
	case '\'':
		return p.quoted(n, "'", "quote")
	case '`':
		return p.quoted(n, "`", "`")
	case ',':
		if strings.HasPrefix(p.src[p.pos:], ",@") {
			return p.quoted(n, ",@", ",@")
		}
		return p.quoted(n, ",", ",")
	case '"':
		n.Value, err = p.text()
	case '?':
		n.Value, err = p.char()
	case '#':
		return p.hash(n)
	default:
		n.Value, err = p.atom()
	}
	return err
}

func (p *parser) quoted(n *Node, prefix string, name Symbol) error {
	n.Prefix = prefix
	p.pos += len(prefix)
	kid, err := p.form()
	if err != nil {
		return err
	}
	n.Kids = []*Node{kid}
	n.Value = List(name, kid.Value)
	return nil
}

func (p *parser) list(n *Node) error {
	p.pos++
	for {
		p.space()
		switch {
		case p.pos >= len(p.src):
			return p.incomplete()
		case p.src[p.pos] == ')':
			p.pos++
			n.Value = listOf(n.Kids, Nil)
			return nil
		case p.src[p.pos] == ']':
			return p.fail(p.pos, "] in a list")
		case p.atDot():
			return p.tail(n)
		}
		kid, err := p.form()
		if err != nil {
			return err
		}
		n.Kids = append(n.Kids, kid)
	}
}

func listOf(kids []*Node, tail Value) Value {
	for i := len(kids) - 1; i >= 0; i-- {
		tail = &Cons{kids[i].Value, tail}
	}
	return tail
}

// atDot reports whether a dot stands here as a token of its own.
func (p *parser) atDot() bool {
	if p.src[p.pos] != '.' {
		return false
	}
	rest := p.src[p.pos+1:]
	return rest == "" || delimits(rest[0]) || strings.HasPrefix(rest, nbsp)
}

// tail reads ". form)" of a dotted list.
func (p *parser) tail(n *Node) error {
	n.Dotted, n.dot = true, p.pos
	if len(n.Kids) == 0 {
		return p.fail(p.pos, ". in wrong context")
	}
	p.pos++
	kid, err := p.form()
	if err != nil {
		return err
	}
	n.Value = listOf(n.Kids, kid.Value)
	n.Kids = append(n.Kids, kid)
	p.space()
	if p.pos >= len(p.src) {
		return p.incomplete()
	}
	if p.src[p.pos] != ')' {
		return p.fail(p.pos, ". in wrong context")
	}
	p.pos++
	return nil
}

func (p *parser) vector(n *Node) error {
	p.pos++
	for {
		p.space()
		switch {
		case p.pos >= len(p.src):
			return p.incomplete()
		case p.src[p.pos] == ']':
			p.pos++
			v := make(Vector, len(n.Kids))
			for i, kid := range n.Kids {
				v[i] = kid.Value
			}
			n.Value = v
			return nil
		case p.src[p.pos] == ')' || p.atDot():
			return p.fail(p.pos, ") or . in a vector")
		}
		kid, err := p.form()
		if err != nil {
			return err
		}
		n.Kids = append(n.Kids, kid)
	}
}
