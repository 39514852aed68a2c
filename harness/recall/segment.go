package recall

import (
	"encoding/binary"
	"fmt"
	"io"
)

// segment is some docs and the lists of their words. It never changes; what of
// it was removed or replaced is known beside it. Sections are read when they
// are asked for, and kept.
type segment struct {
	src  io.ReaderAt
	base int64
	size int64
	n    int
	sec  [sections]struct {
		off, len int64
		check    uint32
	}

	loaded  [sections][]byte
	termAt  []block
	idAt    []block
	blocks  map[int][]byte // of terms, as read
	idNames map[int][]string
	order   []int64
	facet   [facets]*column
	tagOf   [][]string
}

func damaged(what string) error { return fmt.Errorf("%w: %s is damaged", ErrStale, what) }

func openSegment(src io.ReaderAt, base, size int64) (*segment, error) {
	if size < footerLen {
		return nil, damaged("a segment")
	}
	foot := make([]byte, footerLen)
	if _, err := src.ReadAt(foot, base+size-footerLen); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrStale, err)
	}
	le := binary.LittleEndian
	if le.Uint32(foot[footerLen-4:]) != sum32(foot[:footerLen-4]) {
		return nil, damaged("a segment's footer")
	}
	s := &segment{src: src, base: base, size: size, n: int(le.Uint32(foot)), blocks: map[int][]byte{}, idNames: map[int][]string{}}
	for i := range s.sec {
		f := foot[4+12*i:]
		s.sec[i].off, s.sec[i].len, s.sec[i].check = int64(le.Uint32(f)), int64(le.Uint32(f[4:])), le.Uint32(f[8:])
		if s.sec[i].off+s.sec[i].len > size {
			return nil, damaged("a segment's footer")
		}
	}
	if s.sec[secLengths].len != 2*int64(s.n) || s.sec[secTimes].len != 8*int64(s.n) || s.sec[secSums].len != 8*int64(s.n) || s.sec[secByID].len != 8*int64(s.n) {
		return nil, damaged("a segment's footer")
	}
	return s, nil
}

// at reads a piece of a section.
func (s *segment) at(sec int, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off+n > s.sec[sec].len {
		return nil, damaged("a segment")
	}
	b := make([]byte, n)
	if _, err := s.src.ReadAt(b, s.base+s.sec[sec].off+off); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrStale, err)
	}
	return b, nil
}

// section reads a whole section.
func (s *segment) section(sec int) ([]byte, error) {
	if s.loaded[sec] != nil || s.sec[sec].len == 0 {
		return s.loaded[sec], nil
	}
	b, err := s.at(sec, 0, s.sec[sec].len)
	if err != nil {
		return nil, err
	}
	if sum32(b) != s.sec[sec].check {
		return nil, damaged("a segment")
	}
	s.loaded[sec] = b
	return b, nil
}
