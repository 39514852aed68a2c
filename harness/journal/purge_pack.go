package journal

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"

	"amacs/harness/disk"
)

// packPrefix begins the names of our unfinished packs; `git prune` knows tmp_.
const packPrefix = "tmp_pack_amacs_"

// packing is a pack being written under another name (gitformat-pack(5)): whole
// objects, none as a difference to another. `git gc` packs them closer.
type packing struct {
	f   *os.File
	out *bufio.Writer
	dir string // .git/objects/pack
	at  int64
	idx idxfile.Writer
	has map[plumbing.Hash]bool
	zip *zlib.Writer
	buf bytes.Buffer
}

// newPacking clears what the dead left. The caller holds packLock.
func (r *Repo) newPacking() (*packing, error) {
	p := &packing{dir: filepath.Join(r.git, "objects", "pack"), has: map[plumbing.Hash]bool{}}
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return nil, err
	}
	if _, err := removeAll(p.dir, packPrefix); err != nil {
		return nil, err
	}
	var err error
	if p.f, err = os.CreateTemp(p.dir, packPrefix); err != nil {
		return nil, err
	}
	p.out = bufio.NewWriterSize(p.f, 1<<20)
	p.zip, _ = zlib.NewWriterLevel(nil, zlib.BestSpeed) // the level is valid
	p.at = 12
	_, err = p.out.WriteString("PACK\x00\x00\x00\x02\x00\x00\x00\x00") // the count follows
	return p, err
}

// add puts an object into the pack, once.
func (p *packing) add(kind plumbing.ObjectType, data []byte) (plumbing.Hash, error) {
	h := hashObject(kind.String(), data)
	if p.has[h] {
		return h, nil
	}
	p.has[h] = true
	p.buf.Reset()
	size := uint64(len(data))
	first := byte(kind)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		p.buf.WriteByte(first | 0x80)
		first = byte(size & 0x7f)
	}
	p.buf.WriteByte(first)
	p.zip.Reset(&p.buf)
	p.zip.Write(data)
	p.zip.Close() // into memory: can not fail
	p.idx.Add(h, uint64(p.at), crc32.ChecksumIEEE(p.buf.Bytes()))
	p.at += int64(p.buf.Len())
	_, err := p.out.Write(p.buf.Bytes())
	return h, err
}

// store ends the pack, writes its index and gives both their names: the index
// last, since git looks for indexes.
func (p *packing) store() error {
	defer p.discard()
	if len(p.has) == 0 {
		return nil
	}
	sum, err := p.finish()
	if err != nil {
		return err
	}
	if err := p.idx.OnFooter(sum); err != nil {
		return err
	}
	index, err := p.idx.Index()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(p.dir, packPrefix)
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing, once it has its name
	_, err = idxfile.NewEncoder(f).Encode(index)
	if err := errors.Join(err, f.Chmod(0o444), p.f.Chmod(0o444), f.Close(), p.f.Close()); err != nil {
		return err
	}
	if err := disk.Stage(p.f.Name(), f.Name()); err != nil {
		return err
	}
	name := filepath.Join(p.dir, fmt.Sprintf("pack-%s", sum))
	if err := os.Rename(p.f.Name(), name+".pack"); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name+".idx"); err != nil {
		return err
	}
	return disk.Sync(p.dir)
}

// finish writes the number of objects and the checksum.
func (p *packing) finish() (sum plumbing.Hash, err error) {
	if err := p.out.Flush(); err != nil {
		return sum, err
	}
	count := binary.BigEndian.AppendUint32(nil, uint32(len(p.has)))
	if _, err := p.f.WriteAt(count, 8); err != nil {
		return sum, err
	}
	if _, err := p.f.Seek(0, io.SeekStart); err != nil {
		return sum, err
	}
	s := sha1.New()
	if _, err := io.Copy(s, p.f); err != nil {
		return sum, err
	}
	copy(sum[:], s.Sum(nil))
	_, err = p.f.Write(sum[:])
	return sum, err
}

func (p *packing) discard() {
	p.f.Close()
	os.Remove(p.f.Name()) // nothing, once it has its name
}
