package journal

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// store is go-git's storage, opened for one call. An object that is not found
// is looked for again in a storage opened anew: a `git gc` may have moved it into
// a pack meanwhile.
type store struct {
	*filesystem.Storage
	dot   billy.Filesystem
	trees map[plumbing.Hash][]node // those read already
}

func newStore(dot billy.Filesystem) *store {
	return &store{openStorage(dot), dot, map[plumbing.Hash][]node{}}
}

func openStorage(dot billy.Filesystem) *filesystem.Storage {
	return filesystem.NewStorageWithOptions(dot, cache.NewObjectLRU(16*cache.MiByte), filesystem.Options{KeepDescriptors: true})
}

// EncodedObject finds an object, loose or packed.
func (s *store) EncodedObject(t plumbing.ObjectType, h plumbing.Hash) (plumbing.EncodedObject, error) {
	o, err := s.Storage.EncodedObject(t, h)
	missing := 0
	for pause := time.Millisecond; err != nil && missing < 2 && pause < time.Second; pause *= 4 {
		s.Storage.Close() // its packs may be gone; the next error tells
		s.Storage = openStorage(s.dot)
		o, err = s.Storage.EncodedObject(t, h)
		if errors.Is(err, plumbing.ErrObjectNotFound) {
			missing++
		} else if err != nil { // a pack went between being listed and being opened
			time.Sleep(pause)
		}
	}
	return o, err
}

// bytes reads a whole object of a known type.
func (s *store) bytes(t plumbing.ObjectType, h plumbing.Hash) ([]byte, error) {
	o, err := s.EncodedObject(t, h)
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", t, h, err)
	}
	r, err := o.Reader()
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", t, h, err)
	}
	data, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("read %s %s: %w", t, h, err)
	}
	return data, nil
}

// treeOf is the root tree of a commit, zero for the zero commit.
func (s *store) treeOf(commit plumbing.Hash) (plumbing.Hash, error) {
	if commit.IsZero() {
		return plumbing.ZeroHash, nil
	}
	c, err := object.GetCommit(s, commit)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read commit %s: %w", commit, err)
	}
	return c.TreeHash, nil
}
