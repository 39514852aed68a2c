package journal

import (
	"bytes"
	"cmp"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// stat is what the index remembers of a file, to see later that it is unchanged.
// The zero stat matches no file, so that its content is compared.
type stat struct {
	Ctime, CtimeNano, Mtime, MtimeNano, Dev, Ino uint32
}

// entry is one line of the index.
type entry struct {
	stat
	mode     uint32
	uid, gid uint32
	size     uint32 // 0 also for "compare the content"
	hash     plumbing.Hash
	flags    uint16 // without the length of the name
	more     uint16 // the extended flags
	path     string
}

const (
	flagStage    = 0x3000
	flagExtended = 0x4000
	flagName     = 0x0fff // the length of the name
	moreSkip     = 0x4000 // skip-worktree
	moreIntent   = 0x2000 // git add -N
)

func (e *entry) stage() uint16 { return e.flags & flagStage }

// index is .git/index. Of the optional extensions only the cached trees are
// kept; git makes the others again.
type index struct {
	entries []entry // by path, then stage
	trees   *cacheTree
}

var errIndex = errors.New("malformed")

// readIndex reads the index; a missing one is empty.
func (r *Repo) readIndex() (*index, error) {
	path := filepath.Join(r.git, "index")
	broken := func(why string) error {
		return &Refusal{path, "can not be used: " + why, "move it away and run `git reset`, which makes it again"}
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &index{trees: &cacheTree{count: -1}}, nil
	}
	if err != nil {
		return nil, broken(err.Error())
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	info, err2 := f.Stat() // of the file read, not of one that took its name since
	if err := errors.Join(err, err2); err != nil {
		return nil, broken(err.Error())
	}
	x, err := parseIndex(data)
	switch {
	case errors.Is(err, errSplit):
		return nil, splitIndex(path)
	case errors.Is(err, errSparse):
		return nil, &Refusal{path, "is a sparse index", "run `git sparse-checkout disable`"}
	case err != nil:
		return nil, broken(err.Error())
	}
	x.distrust(info.ModTime())
	return x, nil
}

// distrust forgets the times of files that were no older than the index when it
// was written: one that was written again in the same moment looks the same.
func (x *index) distrust(written time.Time) {
	for i := range x.entries {
		e := &x.entries[i]
		if !time.Unix(int64(e.Mtime), int64(e.MtimeNano)).Before(written) {
			e.stat = stat{}
		}
	}
}

// errSplit and errSparse: extensions that change the meaning of the entries.
var (
	errSplit  = errors.New("split index")
	errSparse = errors.New("sparse index")
)

func parseIndex(data []byte) (*index, error) {
	if len(data) < 12+sha1.Size || string(data[:4]) != "DIRC" {
		return nil, errIndex
	}
	body, sum := data[:len(data)-sha1.Size], data[len(data)-sha1.Size:]
	if want := sha1.Sum(body); !bytes.Equal(sum, want[:]) && !bytes.Equal(sum, make([]byte, sha1.Size)) {
		return nil, errors.New("wrong checksum") // all zeros: index.skipHash
	}
	version, n := binary.BigEndian.Uint32(body[4:]), binary.BigEndian.Uint32(body[8:])
	if version < 2 || version > 4 {
		return nil, fmt.Errorf("unknown version %d", version)
	}
	if uint64(n) > uint64(len(body)/62) {
		return nil, errIndex
	}
	x := &index{entries: make([]entry, n), trees: &cacheTree{count: -1}}
	rest, prev := body[12:], ""
	for i := range x.entries {
		var err error
		if rest, err = x.entries[i].parse(rest, version, prev); err != nil {
			return nil, err
		}
		prev = x.entries[i].path
	}
	return x, x.parseExtensions(rest)
}

func (e *entry) parse(b []byte, version uint32, prev string) ([]byte, error) {
	const fixed = 62
	if len(b) < fixed {
		return nil, errIndex
	}
	u := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	e.stat = stat{u(0), u(1), u(2), u(3), u(4), u(5)}
	e.mode, e.uid, e.gid, e.size = u(6), u(7), u(8), u(9)
	e.hash = plumbing.Hash(b[40:60])
	flags := binary.BigEndian.Uint16(b[60:])
	e.flags = flags &^ (flagName | flagExtended)
	at := fixed
	if flags&flagExtended != 0 {
		if len(b) < fixed+2 || version < 3 {
			return nil, errIndex
		}
		e.more, at = binary.BigEndian.Uint16(b[62:]), fixed+2
	}
	if version == 4 {
		strip, used := offsetVarint(b[at:])
		if used == 0 || strip > len(prev) {
			return nil, errIndex
		}
		at, prev = at+used, prev[:len(prev)-strip]
	} else {
		prev = ""
	}
	end := bytes.IndexByte(b[at:], 0)
	if end < 0 {
		return nil, errIndex
	}
	e.path = prev + string(b[at:at+end])
	if at += end + 1; version != 4 {
		at = (at + 7) &^ 7
	}
	if at > len(b) || e.path == "" {
		return nil, errIndex
	}
	return b[at:], nil
}

// offsetVarint reads git's offset encoding; used is 0 on bad input.
func offsetVarint(b []byte) (n, used int) {
	for i, c := range b {
		n |= int(c & 0x7f)
		if c&0x80 == 0 {
			return n, i + 1
		}
		if n > 1<<24 {
			break
		}
		n = (n + 1) << 7
	}
	return 0, 0
}

func (x *index) parseExtensions(b []byte) error {
	for len(b) > 0 {
		if len(b) < 8 {
			return errIndex
		}
		name, n := string(b[:4]), binary.BigEndian.Uint32(b[4:])
		if uint64(n) > uint64(len(b)-8) {
			return errIndex
		}
		body := b[8 : 8+n]
		b = b[8+n:]
		switch {
		case name == "TREE":
			t, rest, err := parseCacheTree(body)
			if err != nil || len(rest) != 0 {
				return errIndex
			}
			x.trees = t
		case name == "link":
			return errSplit
		case name == "sdir":
			return errSparse
		case name[0] < 'A' || name[0] > 'Z':
			return fmt.Errorf("unknown extension %q", name)
		}
	}
	return nil
}

// encode writes version 2, or 3 where an entry has extended flags.
func (x *index) encode() []byte {
	version := uint32(2)
	if slices.ContainsFunc(x.entries, func(e entry) bool { return e.more != 0 }) {
		version = 3
	}
	be := binary.BigEndian
	out := append(make([]byte, 0, 100*len(x.entries)+64), "DIRC"...)
	out = be.AppendUint32(be.AppendUint32(out, version), uint32(len(x.entries)))
	for i := range x.entries {
		e, start := &x.entries[i], len(out)
		for _, u := range []uint32{e.Ctime, e.CtimeNano, e.Mtime, e.MtimeNano, e.Dev, e.Ino, e.mode, e.uid, e.gid, e.size} {
			out = be.AppendUint32(out, u)
		}
		out = append(out, e.hash[:]...)
		flags := e.flags | uint16(min(len(e.path), flagName))
		if e.more != 0 {
			out = be.AppendUint16(be.AppendUint16(out, flags|flagExtended), e.more)
		} else {
			out = be.AppendUint16(out, flags)
		}
		out = append(out, e.path...)
		out = append(out, make([]byte, 8-(len(out)-start)%8)...)
	}
	if t := x.trees.encode(nil); x.trees.count >= 0 || len(x.trees.subs) > 0 {
		out = be.AppendUint32(append(out, "TREE"...), uint32(len(t)))
		out = append(out, t...)
	}
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

// put replaces what the index holds of the touched paths: by the entries
// given, or by nothing. A file that takes a folder's place, or a folder a
// file's, takes the other's entries away.
func (x *index) put(touched map[string]*entry) {
	folders := map[string]bool{}
	for p, e := range touched {
		for dir := range parents(p) {
			if e != nil {
				folders[dir] = true
			}
		}
	}
	gone := func(e entry) bool {
		if _, ok := touched[e.path]; ok || folders[e.path] {
			return true
		}
		for dir := range parents(e.path) {
			if touched[dir] != nil {
				return true
			}
		}
		return false
	}
	kept := x.entries[:0:0]
	for _, e := range x.entries {
		if gone(e) {
			x.trees.invalidate(e.path)
		} else {
			kept = append(kept, e)
		}
	}
	for p, e := range touched {
		if x.trees.invalidate(p); e != nil {
			kept = append(kept, *e)
		}
	}
	slices.SortFunc(kept, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.stage(), b.stage()))
	})
	x.entries = kept
}

// parents yields the folders that path lies in, nearest first.
func parents(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := strings.LastIndexByte(path, '/'); i > 0; i = strings.LastIndexByte(path[:i], '/') {
			if !yield(path[:i]) {
				return
			}
		}
	}
}
