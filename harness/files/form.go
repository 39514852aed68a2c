package files

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// form is how a file writes text down.
type form struct {
	mark  string    // byte order mark, "" is none
	wide  byteOrder // UTF-16 with this order; nil is UTF-8
	ends  string    // line ends: "\n", "\r\n", "mixed", "" where there is no line end
	loose bool      // some bytes are no text in this encoding
}

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

const (
	markUTF8  = "\xEF\xBB\xBF"
	markLess  = "\xFF\xFE"
	markGreat = "\xFE\xFF"
)

var errBinary = errors.New("it is a binary file, not text")

// decode is b as text, line ends as they are. Bytes that are no UTF-8 stay in
// it.
func decode(b []byte) (text string, f form, err error) {
	switch {
	case bytes.HasPrefix(b, []byte(markUTF8)):
		f.mark = markUTF8
	case bytes.HasPrefix(b, []byte(markLess)):
		f.mark, f.wide = markLess, binary.LittleEndian
	case bytes.HasPrefix(b, []byte(markGreat)):
		f.mark, f.wide = markGreat, binary.BigEndian
	}
	body := b[len(f.mark):]
	if f.wide == nil {
		text = string(body)
		f.loose = !utf8.ValidString(text)
	} else {
		units := make([]uint16, len(body)/2)
		for i := range units {
			units[i] = f.wide.Uint16(body[2*i:])
		}
		text = string(utf16.Decode(units))
		f.loose = !bytes.Equal(f.encode(text), b)
	}
	if strings.Contains(text, "\x00") || !mostlyText(text) {
		return "", f, errBinary
	}
	f.ends = endsOf(text)
	return text, f, nil
}

// encode is text as it lies on disk.
func (f form) encode(text string) []byte {
	if f.wide == nil {
		return []byte(f.mark + text)
	}
	out := []byte(f.mark)
	for _, r := range text {
		if r > 0xFFFF {
			hi, lo := utf16.EncodeRune(r)
			out = f.wide.AppendUint16(f.wide.AppendUint16(out, uint16(hi)), uint16(lo))
		} else {
			out = f.wide.AppendUint16(out, uint16(r))
		}
	}
	return out
}

// mostlyText allows for the odd byte of an older encoding. The first 8 KB tell.
func mostlyText(s string) bool {
	s = s[:min(len(s), 8<<10)]
	bad := 0
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if r == utf8.RuneError && n == 1 || r < ' ' && !strings.ContainsRune("\t\n\v\f\r\b\x1b", r) {
			bad++
		}
		i += n
	}
	return bad*10 <= len(s)
}

func endsOf(text string) string {
	all, crlf := strings.Count(text, "\n"), strings.Count(text, "\r\n")
	switch {
	case all == 0:
		return ""
	case crlf == 0:
		return "\n"
	case crlf == all:
		return "\r\n"
	}
	return "mixed"
}

// fit is text with the line ends of a file: where all of them are alike, these.
func (f form) fit(text string) string {
	switch f.ends {
	case "\n":
		return plainEnds(text)
	case "\r\n":
		return strings.ReplaceAll(plainEnds(text), "\n", "\r\n")
	}
	return text
}

func plainEnds(text string) string {
	if !strings.Contains(text, "\r\n") {
		return text
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}

func (f form) String() string {
	var words []string
	switch f.mark {
	case markUTF8:
		words = append(words, "UTF-8 with a byte order mark")
	case markLess:
		words = append(words, "UTF-16LE")
	case markGreat:
		words = append(words, "UTF-16BE")
	}
	switch f.ends {
	case "\r\n":
		words = append(words, "CRLF line ends")
	case "mixed":
		words = append(words, "mixed line ends")
	}
	if f.loose {
		words = append(words, "not all of it is text in its encoding: such bytes are shown as \uFFFD")
	}
	return strings.Join(words, ", ")
}
