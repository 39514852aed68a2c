package sexp

import (
	"bytes"
	"slices"
)

// Replace returns src with text where n stands. As in every edit here, n must
// come from parsing exactly src, src itself is not changed, and text is one
// form without a comment.
func Replace(src []byte, n *Node, text string) []byte {
	if !n.Rest {
		return splice(src, n.Start, n.End, text)
	}
	if n.Start == n.End {
		return splice(src, n.Start, n.End, " . "+text)
	}
	return splice(src, n.Start, n.End, ". "+text)
}

// InsertAfter puts text into a list or vector behind its i-th element, -1 for
// the front. It stands on a line of its own where the elements around do, with
// their indentation, and behind the comment that ends the line. In a dotted
// list it never comes behind the tail. nil becomes a list of one; what has no
// elements at all is returned as it is.
func InsertAfter(src []byte, list *Node, i int, text string) []byte {
	list = unquoted(list)
	switch {
	case list.sequence(src):
	case list.Value == Value(Nil):
		return splice(src, list.Start, list.End, "("+text+")")
	default:
		return bytes.Clone(src)
	}
	last := len(list.Kids) - 1
	if list.Dotted {
		last--
	}
	i = min(i, last)
	indent, lines := list.indent(src)
	if i < 0 {
		at := list.Start + 1
		switch {
		case len(list.Kids) == 0:
		case lines && !ownLine(src, list.Kids[0].Start):
			text += newline(src) + indent
		default:
			text += " "
		}
		return splice(src, at, at, text)
	}
	at := list.Kids[i].End
	if lines && (i == last || ownLine(src, list.Kids[i+1].Start)) {
		return splice(src, lineEnd(src, at), lineEnd(src, at), newline(src)+indent+text)
	}
	return splice(src, at, at, " "+text)
}

// Delete takes the i-th element out of a list or vector, with its line if it
// has one of its own. Comments stay. The tail of a dotted list goes with its
// dot; the only element before a tail leaves the tail. An i that is not there
// changes nothing.
func Delete(src []byte, list *Node, i int) []byte {
	list = unquoted(list)
	if i < 0 || i >= len(list.Kids) || !list.sequence(src) {
		return bytes.Clone(src)
	}
	if list.Dotted && i == 0 && len(list.Kids) == 2 {
		tail := list.Kids[1]
		return splice(src, list.Start, list.End, string(src[tail.Start:tail.End]))
	}
	from := list.Start + 1
	if i > 0 {
		from = list.Kids[i-1].End
	}
	if list.Dotted && i == len(list.Kids)-1 {
		src = cut(src, list.dot+1, list.Kids[i])
		return cut(src, from, &Node{Start: list.dot, End: list.dot + 1})
	}
	return cut(src, from, list.Kids[i])
}

// cut removes n, and of the blanks between from, where the token before n
// ends, and n what is no longer needed.
func cut(src []byte, from int, n *Node) []byte {
	start, end := n.Start, n.End
	ownComment := lineEnd(src, end) > end
	comments := bytes.IndexByte(src[from:start], ';') >= 0
	switch rest := src[end:]; {
	case ownLine(src, start) && ownComment: // leaves a line with the comment only
	case comments: // the last of them ends this side of the line break, which must stay
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if len(bytes.TrimSpace(line)) == 0 {
			start, end = lineStart(src, start), min(end+len(line)+1, len(src))
		}
	case from < start:
		start = from
	case src[start-1] == '(' || src[start-1] == '[':
		end += len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
	}
	return splice(src, start, end, "")
}

// splice puts text in place of src[start:end], with a blank where two tokens
// would run into one.
func splice(src []byte, start, end int, text string) []byte {
	before, after := closed(src[:start]), end >= len(src) || opens(src[end])
	if text == "" {
		if !before && !after {
			text = " "
		}
	} else {
		if !before && !opens(text[0]) || text[0] == '@' && start > 0 && src[start-1] == ',' {
			text = " " + text
		}
		if !after && !closed([]byte(text)) {
			text += " "
		}
	}
	return slices.Concat(src[:start], []byte(text), src[end:])
}

// closed reports whether no token at the end of text can run on into what
// follows. A delimiter behind \\ or ? may be part of a symbol or character.
func closed(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	last := text[len(text)-1]
	if !delimits(last) || last == '#' {
		return false
	}
	return len(text) == 1 || text[len(text)-2] != '\\' && text[len(text)-2] != '?'
}

// opens reports whether c ends any token before it.
func opens(c byte) bool { return delimits(c) && c != '#' }

// sequence reports whether n is written as a list or vector.
func (n *Node) sequence(src []byte) bool {
	return !n.Rest && n.Start < len(src) && (src[n.Start] == '(' || src[n.Start] == '[')
}

// indent returns the blanks before the elements that begin a line, and
// whether there is such an element.
func (n *Node) indent(src []byte) (blanks string, lines bool) {
	for _, kid := range n.Kids {
		if ownLine(src, kid.Start) {
			return string(src[lineStart(src, kid.Start):kid.Start]), true
		}
	}
	return "", false
}

func lineStart(src []byte, at int) int { return bytes.LastIndexByte(src[:at], '\n') + 1 }

// ownLine reports whether only blanks stand between the line's start and at.
func ownLine(src []byte, at int) bool {
	start := lineStart(src, at)
	return start > 0 && len(bytes.TrimLeft(src[start:at], " \t")) == 0
}

// lineEnd returns the end of the line if only blanks and a comment follow at,
// else at itself.
func lineEnd(src []byte, at int) int {
	rest := src[at:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	rest = bytes.TrimSuffix(rest, []byte("\r"))
	if bytes.HasPrefix(bytes.TrimLeft(rest, " \t"), []byte(";")) {
		return at + len(rest)
	}
	return at
}

// newline returns the line end that src uses.
func newline(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
