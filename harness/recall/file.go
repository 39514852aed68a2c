package recall

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const (
	magic     = "amacs-ix"
	version   = 1
	headerLen = 8 + 4 + 8 + 8 + 4 + 4
)

// Open reads the cache file that was saved with this stamp. Little of it is read
// before it is asked for; Close lets it go. A file that is missing or that does
// not fit is [ErrStale].
func Open(path, stamp string) (*Index, error) {
	ix, was, err := open(path)
	if err != nil {
		return nil, err
	}
	if was != stamp {
		ix.Close()
		return nil, fmt.Errorf("%w: %s is of another state of the texts", ErrStale, path)
	}
	return ix, nil
}

// OpenAny reads the cache file whatever its stamp is, and tells the stamp: for
// one who then brings the index up to date.
func OpenAny(path string) (ix *Index, stamp string, err error) { return open(path) }

func open(path string) (*Index, string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("%w: there is no %s", ErrStale, path)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the search index: %w", err)
	}
	ix, stamp, err := read(f)
	if err != nil {
		f.Close()
		return nil, "", fmt.Errorf("%s: %w", path, err)
	}
	ix.path = path
	return ix, stamp, nil
}

// Close lets the cache file go. An index that was opened can not be searched
// after.
func (ix *Index) Close() error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.file == nil {
		return nil
	}
	err := ix.file.Close()
	ix.file = nil
	return err
}

func read(f *os.File) (*Index, string, error) {
	header := make([]byte, headerLen)
	if _, err := f.ReadAt(header, 0); err != nil {
		return nil, "", damaged("its header")
	}
	le := binary.LittleEndian
	if string(header[:8]) != magic || le.Uint32(header[headerLen-4:]) != sum32(header[:headerLen-4]) {
		return nil, "", damaged("its header")
	}
	if v := le.Uint32(header[8:]); v != version {
		return nil, "", fmt.Errorf("%w: it has version %d, not %d", ErrStale, v, version)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	off, n := int64(le.Uint64(header[12:])), int64(le.Uint64(header[20:]))
	if off < headerLen || n < 0 || off > info.Size() || n > info.Size()-off {
		return nil, "", fmt.Errorf("%w: it is cut short", ErrStale)
	}
	manifest := make([]byte, n)
	if _, err := f.ReadAt(manifest, off); err != nil || sum32(manifest) != le.Uint32(header[28:]) {
		return nil, "", damaged("its manifest")
	}
	ix := New()
	ix.file, ix.header, ix.end = f, header, off+n
	c := cursor{b: manifest}
	stamp := c.text()
	for len(c.b) > 0 {
		at, size, dead := int64(c.uvarint()), int64(c.uvarint()), c.uvarint()
		if c.bad || at < headerLen || size < 0 || at > off || size > off-at {
			return nil, "", damaged("its manifest")
		}
		s, err := openSegment(f, at, size)
		if err != nil {
			return nil, "", err
		}
		p := &part{segment: s, inFile: true}
		doc := uint64(0)
		for range min(dead, uint64(s.n)) {
			if doc += c.uvarint(); c.bad || doc >= uint64(s.n) {
				return nil, "", damaged("its manifest")
			}
			p.kill(int(doc))
		}
		ix.parts = append(ix.parts, p)
	}
	if c.bad {
		return nil, "", damaged("its manifest")
	}
	return ix, stamp, nil
}

// Save writes what changed behind what the cache file has, or the whole file
// where that is new or mostly waste. The stamp says of what state of the texts
// it is. One process may save at a time; it fails with [ErrStale] if another
// has saved to the file since this index was opened.
func (ix *Index) Save(path, stamp string) error {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if err := ix.settle(); err != nil {
		return err
	}
	var err error
	if ix.file != nil && ix.path == path && !ix.wasteful() {
		err = ix.extend(path, stamp)
	} else {
		err = ix.rewrite(path, stamp)
	}
	if err != nil {
		return fmt.Errorf("save the search index %s: %w", path, err)
	}
	return nil
}

// spare is the waste that nobody minds, in bytes.
const spare = 1 << 20

func (ix *Index) wasteful() bool {
	used := int64(headerLen)
	for _, p := range ix.parts {
		if p.inFile {
			used += p.size
		}
	}
	return ix.end-used > used/2+spare
}

// manifest is the stamp and the segments; at says where each is.
func (ix *Index) manifest(stamp string, at []int64) []byte {
	m := appendText(nil, stamp)
	for i, p := range ix.parts {
		m = binary.AppendUvarint(m, uint64(at[i]))
		m = binary.AppendUvarint(m, uint64(p.size))
		m = binary.AppendUvarint(m, uint64(p.gone))
		last := 0
		for doc := range p.n {
			if p.dead.has(doc) {
				m = binary.AppendUvarint(m, uint64(doc-last))
				last = doc
			}
		}
	}
	return m
}

// write puts the segments that are not in the file at the end, then the
// manifest, then the header.
func (ix *Index) write(f *os.File, end int64, stamp string) error {
	at := make([]int64, len(ix.parts))
	for i, p := range ix.parts {
		if p.inFile {
			at[i] = p.base
			continue
		}
		at[i] = end
		if _, err := io.Copy(io.NewOffsetWriter(f, end), io.NewSectionReader(p.src, p.base, p.size)); err != nil {
			return err
		}
		end += p.size
	}
	m := ix.manifest(stamp, at)
	if _, err := f.WriteAt(m, end); err != nil {
		return err
	}
	le := binary.LittleEndian
	h := le.AppendUint32([]byte(magic), version)
	h = le.AppendUint64(h, uint64(end))
	h = le.AppendUint64(h, uint64(len(m)))
	h = le.AppendUint32(h, sum32(m))
	h = le.AppendUint32(h, sum32(h))
	if _, err := f.WriteAt(h, 0); err != nil {
		return err
	}
	for i, p := range ix.parts {
		if !p.inFile {
			p.segment.src, p.segment.base, p.inFile = f, at[i], true
		}
	}
	ix.header, ix.end = h, end+int64(len(m))
	return nil
}

func (ix *Index) extend(path, stamp string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	now := make([]byte, headerLen)
	if _, err := f.ReadAt(now, 0); err != nil || string(now) != string(ix.header) {
		f.Close()
		return fmt.Errorf("%w: another process has saved it", ErrStale)
	}
	if err := ix.write(f, ix.end, stamp); err != nil {
		f.Close()
		return err
	}
	ix.moveTo(f)
	return nil
}

// moveTo makes f the file that is read from.
func (ix *Index) moveTo(f *os.File) {
	for _, p := range ix.parts {
		p.src = f
	}
	if ix.file != nil {
		ix.file.Close()
	}
	ix.file = f
}

func (ix *Index) rewrite(path, stamp string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	for _, p := range ix.parts {
		p.inFile = false
	}
	if err := ix.write(tmp, headerLen, stamp); err != nil {
		tmp.Close()
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		ix.path = "" // the parts are read from the removed file, which is of no use to others
		ix.moveTo(tmp)
		return err
	}
	ix.path = path
	ix.moveTo(tmp)
	return nil
}
