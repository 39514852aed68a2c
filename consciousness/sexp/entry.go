package sexp

import (
	"bytes"
	"unicode/utf8"
)

// Entry finds the first pair of an alist whose key is a symbol written before
// a dot or first in parentheses; the alist may have a quote. value is the
// node behind the dot of (key . value); for (key a b) it is the range of a and
// b with the list of both as its Value and Rest set, for (key) an empty range.
// Both are nil if there is no such pair.
func Entry(alist *Node, key Symbol) (pair, value *Node) {
	for _, kid := range unquoted(alist).Kids {
		c, ok := kid.Value.(*Cons)
		if !ok || kid.Prefix != "" || c.Car != Value(key) {
			continue
		}
		if kid.Dotted && len(kid.Kids) == 2 {
			return kid, kid.Kids[1]
		}
		first, last := kid.Kids[0], kid.Kids[len(kid.Kids)-1]
		rest := &Node{Value: c.Cdr, Start: first.End, End: last.End, Rest: true}
		if len(kid.Kids) > 1 {
			rest.Start, rest.Kids, rest.Dotted = kid.Kids[1].Start, kid.Kids[1:], kid.Dotted
		}
		return kid, rest
	}
	return nil, nil
}

// SetEntry gives key the value v in an alist, which may be quoted or nil: only
// the bytes of the old value change, and none if it is equal; a new pair goes
// to the end.
func SetEntry(src []byte, alist *Node, key Symbol, v Value) []byte {
	alist = unquoted(alist)
	p := layout{newline: newline(src)}
	if _, old := Entry(alist, key); old != nil {
		if Equal(old.Value, v) {
			return bytes.Clone(src)
		}
		p.value(v, column(src, old.Start), 1)
		return Replace(src, old, p.String())
	}
	at := alist.Start + 1
	if blanks, lines := alist.indent(src); lines {
		at = len(blanks)
	} else if n := len(alist.Kids); n > 0 {
		at = column(src, alist.Kids[n-1].End) + 1
	}
	p.pair(&Cons{key, v}, at, 1)
	return InsertAfter(src, alist, len(alist.Kids)-1, p.String())
}

// unquoted returns the form behind a quote.
func unquoted(n *Node) *Node {
	for n.Prefix == "'" {
		n = n.Kids[0]
	}
	return n
}

// column counts the characters before at in its line.
func column(src []byte, at int) int { return utf8.RuneCount(src[lineStart(src, at):at]) }
