package journal

import (
	"path"
	"strings"
)

// rules are the patterns of one ignore file, below those that it overrides.
// Own code, because go-git's matcher differs from git on `[!a]`, `a**b` and
// more, and a pattern that is misread commits a secret.
type rules struct {
	under    *rules // of lower precedence
	base     string // the folder that holds the file; "" the top
	fold     bool   // core.ignoreCase
	patterns []pattern
}

type pattern struct {
	glob     string
	negated  bool
	dirOnly  bool
	anchored bool // matched against the path below base, not the name
}

func newRules(under *rules, base, text string, fold bool) *rules {
	rs := &rules{under: under, base: base, fold: fold}
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\uFEFF"), "\n") {
		if p, ok := parsePattern(strings.TrimSuffix(line, "\r")); ok {
			if fold {
				p.glob = strings.ToLower(p.glob)
			}
			rs.patterns = append(rs.patterns, p)
		}
	}
	return rs
}

func parsePattern(line string) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line, p.negated = strings.CutPrefix(line, "!")
	line = trimSpaces(line)
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anchored = strings.Contains(line, "/")
	p.glob = strings.TrimPrefix(line, "/")
	return p, line != ""
}

// trimSpaces removes trailing spaces that are not escaped.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			end = i + 1
		} else if s[i] != ' ' {
			end = i + 1
		}
	}
	return s[:end]
}

// ignored tells whether the last pattern that matches excludes p. The caller
// does not descend into ignored folders, so their contents are not asked about.
func (rs *rules) ignored(p string, dir bool) bool {
	for ; rs != nil; rs = rs.under {
		rel := p
		if rs.base != "" {
			var below bool
			if rel, below = strings.CutPrefix(p, rs.base+"/"); !below {
				continue
			}
		}
		if rs.fold {
			rel = strings.ToLower(rel)
		}
		for i := len(rs.patterns) - 1; i >= 0; i-- {
			pt := rs.patterns[i]
			if pt.dirOnly && !dir {
				continue
			}
			text := path.Base(rel)
			if pt.anchored {
				text = rel
			}
			if (glob{segments: pt.anchored}).match(pt.glob, text) {
				return !pt.negated
			}
		}
	}
	return false
}

// glob matches as git's wildmatch does; segments says that only `**` crosses a
// slash.
type glob struct{ segments bool }

func (g glob) match(p, s string) bool {
	for start := p; p != ""; {
		switch c := p[0]; c {
		case '*':
			return g.star(start, p, s)
		case '?':
			if s == "" || g.segments && s[0] == '/' {
				return false
			}
			p, s = p[1:], s[1:]
		case '[':
			if s == "" || g.segments && s[0] == '/' {
				return false
			}
			in, rest, ok := class(p[1:], s[0])
			if !ok || !in {
				return false
			}
			p, s = rest, s[1:]
		default:
			if c == '\\' {
				if p = p[1:]; p == "" {
					return false
				}
			}
			if s == "" || s[0] != p[0] {
				return false
			}
			p, s = p[1:], s[1:]
		}
	}
	return s == ""
}

// star matches a pattern p that begins with stars; start is the pattern of
// which p is the end.
func (g glob) star(start, p, s string) bool {
	stars := len(p) - len(strings.TrimLeft(p, "*"))
	before := start[:len(start)-len(p)]
	p = p[stars:]
	deep := !g.segments
	if g.segments && stars > 1 && (before == "" || strings.HasSuffix(before, "/")) && (p == "" || p[0] == '/') {
		deep = true
		if p != "" && g.match(p[1:], s) {
			return true // "**/" also stands for no folder at all
		}
	}
	if p == "" {
		return deep || !strings.Contains(s, "/")
	}
	for i := 0; ; i++ {
		if g.match(p, s[i:]) {
			return true
		}
		if i == len(s) || !deep && s[i] == '/' {
			return false
		}
	}
}

// class matches c against the bracket expression that p continues; ok is false
// where it has no end.
func class(p string, c byte) (in bool, rest string, ok bool) {
	negated := false
	if p != "" && (p[0] == '!' || p[0] == '^') {
		negated, p = true, p[1:]
	}
	for first, prev := true, byte(0); ; first = false {
		if p == "" {
			return false, "", false
		}
		ch := p[0]
		switch {
		case ch == ']' && !first:
			return in != negated, p[1:], true
		case ch == '[' && strings.HasPrefix(p, "[:"):
			name, after, closed := strings.Cut(p[2:], ":]")
			if !closed || strings.Contains(name, "]") {
				break // an ordinary bracket
			}
			member, known := posix(name, c)
			if !known {
				return false, "", false
			}
			in, p, prev = in || member, after, 0
			continue
		case ch == '-' && prev != 0 && len(p) > 1 && p[1] != ']':
			hi, n := literal(p[1:])
			if n == 0 {
				return false, "", false
			}
			in, p, prev = in || prev <= c && c <= hi, p[1+n:], 0
			continue
		}
		lit, n := literal(p)
		if n == 0 {
			return false, "", false
		}
		in, p, prev = in || lit == c, p[n:], lit
	}
}

// literal reads one byte, which may be escaped.
func literal(p string) (c byte, n int) {
	if p[0] != '\\' {
		return p[0], 1
	}
	if len(p) == 1 {
		return 0, 0
	}
	return p[1], 2
}

// posix tells whether c is in the named class, and whether there is one.
func posix(name string, c byte) (member, known bool) {
	lower, upper, digit := 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9'
	graph := c > ' ' && c < 0x7f
	switch name {
	case "alpha":
		return lower || upper, true
	case "alnum":
		return lower || upper || digit, true
	case "lower":
		return lower, true
	case "upper":
		return upper, true
	case "digit":
		return digit, true
	case "xdigit":
		return digit || 'a' <= c|0x20 && c|0x20 <= 'f', true
	case "punct":
		return graph && !lower && !upper && !digit, true
	case "graph":
		return graph, true
	case "print":
		return graph || c == ' ', true
	case "space":
		return c == ' ' || '\t' <= c && c <= '\r', true
	case "blank":
		return c == ' ' || c == '\t', true
	case "cntrl":
		return c < ' ' || c == 0x7f, true
	}
	return false, false
}
