package org

import (
	"bytes"
	"fmt"
)

// Damage says why a file must not be written to: an unfinished merge, or bytes that are not text. The error names the
// line. Nil means that the file is fine.
func Damage(src []byte) error {
	if bytes.HasPrefix(src, []byte{0xFF, 0xFE}) || bytes.HasPrefix(src, []byte{0xFE, 0xFF}) {
		return fmt.Errorf("reading line 1: the file is UTF-16; save it as UTF-8")
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return fmt.Errorf("reading line %d: a NUL byte; the file is not text", lineNumber(src, i))
	}
	for _, mark := range []string{"<<<<<<<", "|||||||", ">>>>>>>"} {
		if at := markerLine(src, mark); at >= 0 {
			return fmt.Errorf("reading line %d: a merge marker %s; finish the merge first", lineNumber(src, at), mark)
		}
	}
	return nil
}

// markerLine finds a line that git leaves between two versions, -1 if there is none. A lone ======= is not looked for:
// people underline with it.
func markerLine(src []byte, mark string) int {
	for from := 0; ; {
		i := bytes.Index(src[from:], []byte(mark))
		if i < 0 {
			return -1
		}
		at, end := from+i, from+i+len(mark)
		if (at == 0 || src[at-1] == '\n') && (end == len(src) || bytes.IndexByte([]byte(" \t\r\n"), src[end]) >= 0) {
			return at
		}
		from = at + 1
	}
}

func lineNumber(src []byte, at int) int { return 1 + bytes.Count(src[:at], []byte("\n")) }
