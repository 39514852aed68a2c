package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// leftovers are files in which git keeps the last message, or the name of a
// commit, for convenience.
var leftovers = []string{"COMMIT_EDITMSG", "MERGE_MSG", "SQUASH_MSG", "TAG_EDITMSG", "NOTES_EDITMSG", "ORIG_HEAD", "FETCH_HEAD", "AUTO_MERGE", "gitk.cache"}

// Drop removes the old history of a rewriting for good: its refs, the reflogs (but
// that of the stash, which was rewritten) and every object that nothing refers to,
// with the git binary, or else itself, as far as they are loose. It may be called
// again after a crash. No other writer may be at work on the repository.
func (r *Repo) Drop(ctx context.Context, w *Rewriting) error {
	if err := r.drop(ctx, w); err != nil {
		return fmt.Errorf("drop the old history of %s: %w", r.root, err)
	}
	return nil
}

func (r *Repo) drop(ctx context.Context, w *Rewriting) error {
	packing, err := r.lock(ctx, packLock, time.Now().Add(packWait))
	if err != nil {
		return err
	}
	defer packing.release()
	if err := r.dropRefs(ctx, w); err != nil {
		return err
	}
	lock, err := r.lock(ctx, lockName, time.Now().Add(lockWait)) // no commit of ours now
	if err != nil {
		return err
	}
	defer lock.release()
	if _, err := r.sweep(); err != nil {
		return err
	}
	cmd := gitCommand(ctx, r.root, "-c", "gc.bigPackThreshold=0", "-c", "gc.autoDetach=false", "-c", "core.hooksPath=/dev/null", "gc", "--prune=now", "--quiet")
	if out, err := runNice(ctx, cmd); errors.Is(err, exec.ErrNotFound) {
		return r.prune(ctx)
	} else if err != nil {
		return fmt.Errorf("git gc: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

func (r *Repo) dropRefs(ctx context.Context, w *Rewriting) error {
	lock, err := r.lockAll(ctx, w)
	if err != nil {
		return err
	}
	defer lock.release()
	packed, err := r.packedRefs()
	if err != nil {
		return err
	}
	before := len(packed)
	maps.DeleteFunc(packed, func(name string, _ plumbing.Hash) bool { return strings.HasPrefix(name, beforePurge) })
	if len(packed) != before {
		if err := r.writePackedRefs(packed); err != nil {
			return err
		}
	}
	for _, name := range leftovers {
		if err := os.Remove(filepath.Join(r.git, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	logs := filepath.Join(r.git, "logs")
	return filepath.WalkDir(logs, func(path string, d fs.DirEntry, err error) error {
		if gone(err) || err == nil && (d.IsDir() || path == filepath.Join(logs, "refs", "stash")) {
			return nil
		}
		if err != nil {
			return err
		}
		return os.Truncate(path, 0)
	})
}

// prune removes the loose objects that nothing refers to, where there is no git.
func (r *Repo) prune(ctx context.Context) error {
	live, err := r.reachable(ctx)
	if err != nil {
		return err
	}
	folders, err := filepath.Glob(filepath.Join(r.git, "objects", "[0-9a-f][0-9a-f]"))
	if err != nil {
		return err
	}
	for _, dir := range folders {
		list, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, d := range list {
			name := filepath.Base(dir) + d.Name()
			if !plumbing.IsHash(name) || live[plumbing.NewHash(name)] {
				continue
			}
			if err := os.Remove(filepath.Join(dir, d.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// reachable are the objects that refs, index and stashes lead to.
func (r *Repo) reachable(ctx context.Context) (map[plumbing.Hash]bool, error) {
	s := r.store()
	defer s.Close()
	live := map[plumbing.Hash]bool{}
	refs, err := r.refs()
	if err != nil {
		return nil, err
	}
	todo := slices.Collect(maps.Values(refs))
	index, err := r.readIndex()
	if err != nil {
		return nil, err
	}
	for _, e := range index.entries {
		live[e.hash] = true
	}
	index.trees.walk(func(h plumbing.Hash) { todo = append(todo, h) })
	log, err := os.ReadFile(filepath.Join(r.git, "logs", "refs", "stash"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, h := range hashForm.FindAllString(string(log), -1) {
		if c := plumbing.NewHash(h); s.HasEncodedObject(c) == nil {
			todo = append(todo, c)
		}
	}
	for len(todo) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if live[h] {
			continue
		}
		live[h] = true
		o, err := s.EncodedObject(plumbing.AnyObject, h)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", h, err)
		}
		switch o.Type() {
		case plumbing.CommitObject:
			c, err := object.DecodeCommit(s, o)
			if err != nil {
				return nil, err
			}
			todo = append(append(todo, c.TreeHash), c.ParentHashes...)
		case plumbing.TagObject:
			t, err := object.DecodeTag(s, o)
			if err != nil {
				return nil, err
			}
			todo = append(todo, t.Target)
		case plumbing.TreeObject:
			nodes, err := s.tree(h)
			if err != nil {
				return nil, err
			}
			for _, n := range nodes {
				if n.mode == modeDir {
					todo = append(todo, n.hash)
				} else {
					live[n.hash] = true
				}
			}
		}
	}
	return live, nil
}

// walk calls f for every tree that is known.
func (t *cacheTree) walk(f func(plumbing.Hash)) {
	if t.count >= 0 {
		f(t.hash)
	}
	for _, s := range t.subs {
		s.walk(f)
	}
}

// Left reads every object of the repository, whether anything refers to it or not,
// and the other files of .git, and names those that text would change. objects
// is how many there are.
func (r *Repo) Left(ctx context.Context, text func([]byte) []byte) (objects int, found []string, err error) {
	objects, found, err = r.leftObjects(ctx, text)
	if err == nil {
		found, err = r.leftFiles(text, found)
	}
	if err != nil {
		return objects, found, fmt.Errorf("look for what is left in %s: %w", r.git, err)
	}
	return objects, found, nil
}

func (r *Repo) leftObjects(ctx context.Context, text func([]byte) []byte) (objects int, found []string, err error) {
	s := r.store()
	defer s.Close()
	iter, err := s.IterEncodedObjects(plumbing.AnyObject)
	if err != nil {
		return 0, nil, err
	}
	defer iter.Close()
	err = iter.ForEach(func(o plumbing.EncodedObject) error {
		objects++
		data, err := whole(o)
		if err := errors.Join(err, ctx.Err()); err != nil {
			return fmt.Errorf("read %s %s: %w", o.Type(), o.Hash(), err)
		}
		parts := [][]byte{data}
		if o.Type() == plumbing.TreeObject {
			nodes, err := parseTree(data)
			if err != nil {
				return fmt.Errorf("read tree %s: %w", o.Hash(), err)
			}
			parts = nil
			for _, n := range nodes {
				parts = append(parts, []byte(n.name))
			}
		}
		if slices.ContainsFunc(parts, func(p []byte) bool { return !bytes.Equal(text(p), p) }) {
			found = append(found, o.Type().String()+" "+o.Hash().String())
		}
		return nil
	})
	return objects, found, err
}

// Holds names the paths that some commit still has.
func (r *Repo) Holds(ctx context.Context, paths []string) (found []string, err error) {
	s := r.store()
	defer s.Close()
	refs, err := r.refs()
	if err != nil {
		return nil, err
	}
	seen := map[plumbing.Hash]bool{}
	todo := slices.Collect(maps.Values(refs))
	for len(paths) > 0 && len(todo) > 0 && ctx.Err() == nil {
		h := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[h] {
			continue
		}
		seen[h] = true
		c, err := object.GetCommit(s, h)
		if err != nil {
			continue // a tag of something else
		}
		todo = append(todo, c.ParentHashes...)
		for _, p := range paths {
			n, err := s.find(c.TreeHash, p)
			if err != nil {
				return nil, fmt.Errorf("look for %s in %s: %w", p, h, err)
			}
			if n.mode != 0 {
				found = append(found, p+" in "+h.String())
			}
		}
	}
	return found, ctx.Err()
}

func whole(o plumbing.EncodedObject) ([]byte, error) {
	r, err := o.Reader()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, errors.Join(err, r.Close())
}

func (r *Repo) leftFiles(text func([]byte) []byte, found []string) ([]string, error) {
	err := filepath.WalkDir(r.git, func(path string, d fs.DirEntry, err error) error {
		switch {
		case gone(err):
			return nil
		case err != nil:
			return err
		case d.IsDir() && path == filepath.Join(r.git, "objects"):
			return filepath.SkipDir
		case d.IsDir() || !d.Type().IsRegular():
			return nil
		}
		data, err := os.ReadFile(path)
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		name := []byte(d.Name())
		if !bytes.Equal(text(data), data) || !bytes.Equal(text(name), name) {
			found = append(found, r.short(path))
		}
		return nil
	})
	return found, err
}
