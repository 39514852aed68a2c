package recall

import (
	"encoding/binary"
)

// block is where a block is.
type block struct {
	first    string
	off, len int64
	check    uint32
}

func (s *segment) heads(sec int) ([]block, error) {
	b, err := s.section(sec)
	if err != nil {
		return nil, err
	}
	var out []block
	off := int64(0)
	for c := (cursor{b: b}); len(c.b) > 0; {
		h := block{first: c.text(), off: off, len: int64(c.uvarint())}
		check := c.bytes(4)
		if c.bad {
			return nil, damaged("a segment")
		}
		h.check = binary.LittleEndian.Uint32(check)
		off += h.len
		out = append(out, h)
	}
	return out, nil
}

func (s *segment) block(sec int, h block) ([]byte, error) {
	b, err := s.at(sec, h.off, h.len)
	if err != nil {
		return nil, err
	}
	if sum32(b) != h.check {
		return nil, damaged("a segment")
	}
	return b, nil
}

// blockWriter collects blocks, each with its checksum in the head, so that one
// can be read without the others.
type blockWriter struct {
	out, head, block []byte
	first            string
	begun            bool
}

func (w *blockWriter) next(first string) {
	w.close()
	w.first, w.begun = first, true
}

func (w *blockWriter) add(e []byte) { w.block = append(w.block, e...) }

func (w *blockWriter) close() {
	if !w.begun {
		return
	}
	w.head = appendText(w.head, w.first)
	w.head = binary.AppendUvarint(w.head, uint64(len(w.block)))
	w.head = binary.LittleEndian.AppendUint32(w.head, sum32(w.block))
	w.out = append(w.out, w.block...)
	w.block = w.block[:0]
}

func (w *blockWriter) bytes() (out, head []byte) {
	w.close()
	return w.out, w.head
}
