// Package disk makes files outlast a power failure, with as few waits for the
// disk as the file system allows.
//
// An fsync for each of a dozen files is most of what a commit costs. Where the
// file system keeps one journal for all of its files (ext4, xfs), changes of
// names and sizes reach the disk in the order in which they were made, and one
// fsync makes everything durable that was done before it, if the files' bytes
// have been handed to the disk by then; git's own core.fsyncMethod=batch rests on
// this too. Elsewhere every file is synced, side by side.
//
//	disk.Stage(temporary...)   // the bytes before the names
//	rename …
//	disk.Stage(folders...)     // these names before those that follow
//	rename …
//	disk.Sync(folders...)      // all of it is there for good
package disk

import (
	"errors"
	"io/fs"
	"os"
	"sync"
)

// Stage sees to it that what was done to files and folders so far reaches the
// disk before anything that is done after it.
func Stage(paths ...string) error { return each(paths, false) }

// Sync waits until files and folders, and what was staged or renamed before on
// the same file systems, are on the disk. A path that is gone is nobody's to
// wait for.
func Sync(paths ...string) error { return each(paths, true) }

func each(paths []string, wait bool) error {
	var open []*os.File
	defer func() {
		for _, f := range open {
			f.Close()
		}
	}()
	for _, path := range paths {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		open = append(open, f)
	}
	var all []*os.File // to be synced each
	last := map[uint64]*os.File{}
	for _, f := range open {
		journal, ok := sharedJournal(f)
		if !ok {
			all = append(all, f)
			continue
		}
		if err := writeOut(f); err != nil {
			return err
		}
		last[journal] = f
	}
	if wait {
		for _, f := range last {
			all = append(all, f)
		}
	}
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	for i, f := range all {
		wg.Go(func() { errs[i] = f.Sync() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
