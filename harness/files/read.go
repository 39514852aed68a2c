package files

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text is what Read found.
type Text struct {
	Text     string // valid UTF-8, line ends as "\n"
	From, To int    // the lines that it holds, counted from 1
	Lines    int    // of the file; of its first 16 MB if it is larger
	Size     int64  // bytes of the file
	Cut      bool   // a cap left out a part of what was asked for
	Form     string // what is special on disk: "UTF-16LE, CRLF line ends"; "" is nothing
	Names    uint64 // hard links: with more than one, the file is also somewhere else
}

// Read reads count lines of a text file from line from on; from 0 is the first,
// count 0 is all up to the caps (MaxLines, MaxText).
func Read(path string, from, count int) (Text, error) {
	t, err := read(path, max(from, 1), count)
	if err != nil {
		return Text{}, fmt.Errorf("reading %s: %w", path, err)
	}
	return t, nil
}

func read(path string, from, count int) (t Text, err error) {
	dir, name, err := parted(path)
	if err != nil {
		return t, err
	}
	if count < 0 {
		return t, fmt.Errorf("%d lines can not be read", count)
	}
	d, err := openFolder(dir, nil)
	if err != nil {
		return t, err
	}
	defer d.close()
	b, st, more, err := d.read(name, scanned, nil)
	if err != nil {
		return t, err
	}
	if more {
		b = wholeRunes(b)
	}
	text, f, err := decode(b)
	if err != nil {
		return t, err
	}
	t = Text{From: from, Size: st.Size, Form: f.String(), Names: uint64(st.Nlink)}
	text = plainEnds(text)
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	t.Lines = len(lines)
	if from > max(t.Lines, 1) {
		if more {
			return t, fmt.Errorf("line %d is not in its first %d MB (%d lines); use a command for what follows", from, scanned>>20, t.Lines)
		}
		return t, fmt.Errorf("it has %d lines, and line %d was asked for", t.Lines, from)
	}
	lines = lines[from-1:]
	if count > 0 && len(lines) >= count {
		lines, more = lines[:count], false
	}
	if len(lines) > MaxLines {
		lines, more = lines[:MaxLines], true
	}
	var out strings.Builder
	t.To = from - 1
	for _, line := range lines {
		line = strings.ToValidUTF8(line, "\uFFFD")
		if out.Len()+len(line) > MaxText {
			more = true
			if out.Len() == 0 {
				out.WriteString(headOf(line, MaxText))
				t.To++
			}
			break
		}
		out.WriteString(line)
		t.To++
	}
	t.Text, t.Cut = out.String(), more
	return t, nil
}

// headOf is the beginning of s, at most n bytes and no half character.
func headOf(s string, n int) string {
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// wholeRunes is b without the beginning of a UTF-8 character at its end.
func wholeRunes(b []byte) []byte {
	for i := 1; i < utf8.UTFMax && i <= len(b); i++ {
		if tail := b[len(b)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return b[:len(b)-i]
			}
			break
		}
	}
	return b
}
