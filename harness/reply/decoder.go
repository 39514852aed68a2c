package reply

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// decoder undoes the escapes of a string's inside, byte by byte. Both [Parse]
// and [Stream] read strings with it, so that they agree. As in encoding/json,
// invalid UTF-8 and half surrogate pairs become U+FFFD.
type decoder struct {
	out  []byte // whole runes, decoded
	odd  bool   // an unknown escape was kept as it was
	part []byte // the start of a rune
	esc  []byte // the start of an escape
	high rune   // the first half of a surrogate pair
}

// escaped reports whether a backslash stands directly before the next byte.
func (d *decoder) escaped() bool { return len(d.esc) == 1 }

func (d *decoder) feed(c byte) {
	switch {
	case len(d.esc) == 0 && c == '\\':
		d.flushPart()
		d.esc = append(d.esc, c)
	case len(d.esc) == 0:
		d.plain(c)
	case len(d.esc) == 1:
		d.escape(c)
	case isHex(c):
		if d.esc = append(d.esc, c); len(d.esc) == len(`\u1234`) {
			n, _ := strconv.ParseUint(string(d.esc[2:]), 16, 16)
			d.esc = d.esc[:0]
			d.unit(rune(n))
		}
	default:
		d.keepEscape()
		d.feed(c)
	}
}

// close ends the string: what is unfinished is kept as it is.
func (d *decoder) close() {
	d.keepEscape()
	d.flushPart()
	d.flushHigh()
}

// escape reads the byte after a backslash.
func (d *decoder) escape(c byte) {
	if c == 'u' {
		d.esc = append(d.esc, c)
		return
	}
	d.esc = d.esc[:0]
	switch c {
	case 'n', '\n':
		d.unit('\n')
	case 't':
		d.unit('\t')
	case 'r':
		d.unit('\r')
	case 'b':
		d.unit('\b')
	case 'f':
		d.unit('\f')
	case '"', '\'', '\\', '/':
		d.unit(rune(c))
	default: // a regexp's \d
		d.odd = true
		d.unit('\\')
		d.plain(c)
	}
}

func (d *decoder) keepEscape() {
	if len(d.esc) == 0 {
		return
	}
	d.odd = true
	esc := d.esc
	d.esc = nil
	for _, c := range esc {
		d.plain(c)
	}
}

func (d *decoder) plain(c byte) {
	d.flushHigh()
	d.part = append(d.part, c)
	for len(d.part) > 0 && utf8.FullRune(d.part) {
		r, n := utf8.DecodeRune(d.part)
		d.out = utf8.AppendRune(d.out, r)
		d.part = d.part[n:]
	}
}

// unit adds a UTF-16 code unit.
func (d *decoder) unit(r rune) {
	if d.high != 0 {
		if pair := utf16.DecodeRune(d.high, r); pair != utf8.RuneError {
			d.high = 0
			d.out = utf8.AppendRune(d.out, pair)
			return
		}
		d.flushHigh()
	}
	if r >= 0xD800 && r < 0xDC00 {
		d.high = r
		return
	}
	d.out = utf8.AppendRune(d.out, r)
}

func (d *decoder) flushHigh() {
	if d.high != 0 {
		d.high = 0
		d.out = utf8.AppendRune(d.out, utf8.RuneError)
	}
}

func (d *decoder) flushPart() {
	for range d.part {
		d.out = utf8.AppendRune(d.out, utf8.RuneError)
	}
	d.part = d.part[:0]
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
