package journal

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"amacs/harness/disk"
)

// batch collects the objects of one commit, to be stored in one go.
type batch struct {
	list []looseObject
	has  map[plumbing.Hash]bool
}

type looseObject struct {
	hash plumbing.Hash
	kind string
	data []byte
}

func (b *batch) add(kind string, data []byte) plumbing.Hash {
	h := hashObject(kind, data)
	if !b.has[h] {
		b.has[h] = true
		b.list = append(b.list, looseObject{h, kind, data})
	}
	return h
}

func hashObject(kind string, data []byte) (h plumbing.Hash) {
	s := sha1.New()
	fmt.Fprintf(s, "%s %d\x00", kind, len(data))
	s.Write(data)
	return plumbing.Hash(s.Sum(nil))
}

// newFile is a file of .git to be made: synced under another name, then
// renamed.
type newFile struct {
	to     string
	mode   fs.FileMode
	data   []byte
	object *looseObject // to be compressed into data
	temp   string       // its name until then
}

func (r *Repo) loose(b *batch) []newFile {
	files := make([]newFile, len(b.list))
	for i := range b.list {
		name := b.list[i].hash.String()
		files[i] = newFile{to: filepath.Join(r.git, "objects", name[:2], name[2:]), mode: 0o444, object: &b.list[i]}
	}
	return files
}

// stage writes every file under a temporary name, one after the other in one
// folder, which is cheaper than side by side in many.
func (r *Repo) stage(files []newFile) error {
	z := r.zips.get()
	defer r.zips.put(z)
	var temps []string
	for i := range files {
		f := &files[i]
		if f.object != nil {
			f.data = z.bytes(f.object)
		}
		err := f.write(r)
		f.data = nil
		if err != nil {
			return fmt.Errorf("store objects: %w", err)
		}
		temps = append(temps, f.temp)
	}
	if r.nosync {
		return nil
	}
	if err := disk.Stage(temps...); err != nil {
		return fmt.Errorf("store objects: %w", err)
	}
	return nil
}

func (f *newFile) write(r *Repo) error {
	dir, prefix := r.git, tempPrefix
	if f.object != nil {
		dir, prefix = filepath.Join(r.git, "objects"), objectPrefix
	}
	file, err := os.CreateTemp(dir, prefix)
	if err != nil {
		return err
	}
	f.temp = file.Name()
	if _, err = file.Write(f.data); err == nil {
		err = file.Chmod(f.mode)
	}
	return errors.Join(err, file.Close())
}

// zip compresses objects. Level 1 takes a third of the default's time for a
// tenth more bytes, and `git repack` compresses again.
type zip struct{ w *zlib.Writer }

// zips keeps a compressor between commits: a new one is a megabyte to clear.
type zips struct{ pool sync.Pool }

func (p *zips) get() *zip {
	if z, ok := p.pool.Get().(*zip); ok {
		return z
	}
	w, _ := zlib.NewWriterLevel(nil, zlib.BestSpeed) // the level is valid
	return &zip{w}
}

func (p *zips) put(z *zip) { p.pool.Put(z) }

func (z *zip) bytes(o *looseObject) []byte {
	var buf bytes.Buffer
	z.w.Reset(&buf)
	fmt.Fprintf(z.w, "%s %d\x00", o.kind, len(o.data))
	z.w.Write(o.data)
	z.w.Close() // into memory: can not fail
	return buf.Bytes()
}

// place renames staged objects to their names, before anything that is done
// later. A folder is made where need be, more than once, because a `git gc`
// removes empty ones.
func (r *Repo) place(staged []newFile) error {
	dirs := map[string]bool{}
	for _, f := range staged {
		dir := filepath.Dir(f.to)
		err := os.Rename(f.temp, f.to)
		for range 10 {
			if !errors.Is(err, fs.ErrNotExist) {
				break
			}
			if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
				return fmt.Errorf("store objects: %w", err)
			}
			dirs[filepath.Dir(dir)] = true
			err = os.Rename(f.temp, f.to)
		}
		if err != nil {
			return fmt.Errorf("store objects: %w", err)
		}
		dirs[dir] = true
	}
	return r.settle(disk.Stage, dirs)
}

// settle is disk.Stage or disk.Sync of files and folders.
func (r *Repo) settle(how func(...string) error, paths map[string]bool) error {
	if r.nosync {
		return nil
	}
	return how(slices.Collect(maps.Keys(paths))...)
}

func syncTree(root string) error {
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return disk.Sync(p)
	})
}
