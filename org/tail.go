package org

import (
	"fmt"
	"io"
)

const chunk = 64 << 10

// Tail reads the last n top-level subtrees, those of headings with one star, of a text of size bytes, and says at which
// byte they begin. It reads backwards and no further than it must. If there are fewer, b begins at the first heading.
func Tail(r io.ReaderAt, size int64, n int) (b []byte, offset int64, err error) {
	offset = size
	first := size // the earliest heading of any level seen so far
	for end := size; end > 0 && n > 0; {
		start := max(end-chunk, 0)
		// One byte more in front tells whether a line begins at start, and stars may run on behind end.
		lead := start - max(start-1, 0)
		buf := make([]byte, end-start+lead)
		if err := readAt(r, buf, start-lead); err != nil {
			return nil, 0, err
		}
		for i := len(buf) - 1; i >= int(lead) && n > 0; i-- {
			if buf[i] != '*' || i > 0 && buf[i-1] != '\n' {
				continue
			}
			at := start - lead + int64(i)
			level, err := starsAt(r, buf[i:], at, size)
			if err != nil {
				return nil, 0, err
			}
			if level > 0 {
				first = at
			}
			if level == 1 {
				offset = at
				n--
			}
		}
		end = start
	}
	if n > 0 {
		offset = first
	}
	b = make([]byte, size-offset)
	return b, offset, readAt(r, b, offset)
}

// starsAt counts the stars of a heading at offset at; line is what is at hand of it, the rest is read.
func starsAt(r io.ReaderAt, line []byte, at, size int64) (int, error) {
	line = line[:len(line):len(line)]
	for n := 0; ; {
		for n < len(line) && line[n] == '*' {
			n++
		}
		end := at + int64(len(line))
		if n < len(line) || end == size {
			return stars(line), nil
		}
		more := make([]byte, min(chunk, size-end))
		if err := readAt(r, more, end); err != nil {
			return 0, err
		}
		line = append(line, more...)
	}
}

func readAt(r io.ReaderAt, b []byte, at int64) error {
	if n, err := r.ReadAt(b, at); n < len(b) {
		return fmt.Errorf("reading %d bytes at %d: %w", len(b), at, err)
	}
	return nil
}
