package sexp

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Modifier bits of a character code, as in Emacs.
const (
	alt     = 1 << 22
	super   = 1 << 23
	hyper   = 1 << 24
	shift   = 1 << 25
	control = 1 << 26
	meta    = 1 << 27
	mods    = alt | super | hyper | shift | control | meta
)

// text reads a string.
func (p *parser) text() (Value, error) {
	p.pos++
	var out []byte
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch c {
		case '"':
			p.pos++
			return string(out), nil
		case '\\':
			var err error
			if out, err = p.textEscape(out); err != nil {
				return nil, err
			}
		default:
			out = append(out, c)
			p.pos++
		}
	}
	return nil, p.incomplete()
}

// textEscape appends what a backslash in a string stands for.
func (p *parser) textEscape(out []byte) ([]byte, error) {
	start := p.pos
	rest := p.src[p.pos+1:]
	for _, nothing := range []string{"\r\n", "\n", " "} {
		if strings.HasPrefix(rest, nothing) {
			p.pos += 1 + len(nothing)
			return out, nil
		}
	}
	code, raw, err := p.escape()
	switch {
	case err != nil:
		return nil, err
	case raw || code < utf8.RuneSelf:
		return append(out, byte(code)), nil
	case code == control|' ':
		return append(out, 0), nil
	case code&^meta < utf8.RuneSelf && code&meta != 0:
		return append(out, byte(code&^meta)|0x80), nil
	case code > utf8.MaxRune:
		return nil, p.fail(start, "Invalid modifier in string")
	case !utf8.ValidRune(rune(code)):
		return nil, p.fail(start, "a surrogate is not a character")
	}
	return utf8.AppendRune(out, rune(code)), nil
}

// char reads ?a and its kin to a character code with modifier bits.
func (p *parser) char() (Value, error) {
	start := p.pos
	if p.pos++; p.pos >= len(p.src) {
		return nil, p.incomplete()
	}
	var code int64
	if p.src[p.pos] == '\\' {
		var err error
		if code, _, err = p.escape(); err != nil {
			return nil, err
		}
	} else {
		r, size := utf8.DecodeRuneInString(p.src[p.pos:])
		if r == utf8.RuneError && size == 1 {
			return nil, p.fail(start, "? before a byte that is not UTF-8")
		}
		code = int64(r)
		p.pos += size
	}
	if p.pos < len(p.src) && !delimits(p.src[p.pos]) && p.src[p.pos] != '.' && p.src[p.pos] != '?' {
		return nil, p.fail(start, "?")
	}
	return code, nil
}

var plainEscapes = map[byte]int64{'a': 7, 'b': 8, 'd': 127, 'e': 27, 'f': 12, 'n': 10, 'r': 13, 't': 9, 'v': 11}

var modifiers = map[byte]int64{'M': meta, 'S': shift, 'H': hyper, 'A': alt, 's': super}

// escape reads a backslash escape to a character code. raw marks a byte of
// 0x80 or more written in octal or hex: itself, not the character of that code.
func (p *parser) escape() (code int64, raw bool, err error) {
	start := p.pos
	if p.pos += 2; p.pos > len(p.src) {
		return 0, false, p.incomplete()
	}
	c := p.src[p.pos-1]
	dash := strings.HasPrefix(p.src[p.pos:], "-")
	if c == 's' && !dash {
		return ' ', false, nil
	}
	if bit := modifiers[c]; bit != 0 || c == 'C' {
		if !dash {
			return 0, false, p.fail(start, "Invalid escape character syntax")
		}
		p.pos++
		code, err := p.modified()
		if c == 'C' {
			return controlled(code), false, err
		}
		return code | bit, false, err
	}
	switch {
	case c == '^':
		code, err := p.modified()
		return controlled(code), false, err
	case plainEscapes[c] != 0:
		return plainEscapes[c], false, nil
	case c >= '0' && c <= '7':
		p.pos--
		return p.coded(start, 8, 3)
	case c == 'x':
		return p.coded(start, 16, 8)
	case c == 'u' || c == 'U' || c == 'N':
		code, err := p.unicode(start, c)
		return code, false, err
	case c == '\n':
		return 0, false, p.fail(start, "?")
	}
	p.pos--
	r, size := utf8.DecodeRuneInString(p.src[p.pos:])
	p.pos += size
	if r == utf8.RuneError && size == 1 {
		return int64(c), true, nil
	}
	return int64(r), false, nil
}

// modified reads the character after \C- or \M-.
func (p *parser) modified() (int64, error) {
	if p.pos >= len(p.src) {
		return 0, p.incomplete()
	}
	if p.src[p.pos] == '\\' {
		if p.depth++; p.depth > maxDepth {
			return 0, p.fail(p.pos, "Invalid escape character syntax")
		}
		defer func() { p.depth-- }()
		code, _, err := p.escape()
		return code, err
	}
	r, size := utf8.DecodeRuneInString(p.src[p.pos:])
	if r == utf8.RuneError && size == 1 {
		return 0, p.fail(p.pos, "Invalid escape character syntax")
	}
	p.pos += size
	return int64(r), nil
}

// controlled applies the control key to a character.
func controlled(code int64) int64 {
	upper := code & 0o137
	switch {
	case code&^mods == '?':
		return 0o177 | code&mods
	case upper >= 'A' && upper <= 'Z', code&0o177 >= '@' && code&0o177 <= '_':
		return code & (0o37 | ^0o177)
	}
	return code | control
}

// coded reads up to most digits of \101 or \x41.
func (p *parser) coded(start, base, most int) (code int64, raw bool, err error) {
	end := p.pos
	for end < len(p.src) && end-p.pos < most {
		if _, err := strconv.ParseUint(p.src[end:end+1], base, 8); err != nil {
			break
		}
		end++
	}
	if end > p.pos {
		code, _ = strconv.ParseInt(p.src[p.pos:end], base, 64)
	}
	p.pos = end
	switch {
	case code >= 0x3fff80 && code <= 0x3fffff: // Emacs' own code of a raw byte
		return code & 0xff, true, nil
	case code > utf8.MaxRune:
		return 0, false, p.fail(start, "character out of range")
	}
	return code, code >= 0x80 && code <= 0xff, nil
}

// unicode reads the digits of \u1234, \U0010ffff and \N{U+41}.
func (p *parser) unicode(start int, kind byte) (int64, error) {
	digits := ""
	rest := p.src[p.pos:]
	switch size := map[byte]int{'u': 4, 'U': 8}[kind]; {
	case kind == 'N':
		inner, ok := strings.CutPrefix(rest, "{U+")
		end := strings.IndexByte(inner, '}')
		if !ok || end < 0 {
			return 0, p.fail(start, `\N takes {U+hex digits} only`)
		}
		digits = inner[:end]
		p.pos += len("{U+}") + end
	case len(rest) < size:
		return 0, p.incomplete()
	default:
		digits = rest[:size]
		p.pos += size
	}
	code, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || code > utf8.MaxRune {
		return 0, p.fail(start, "not a Unicode character: "+p.src[start:p.pos])
	}
	return int64(code), nil
}
