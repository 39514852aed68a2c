package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"amacs/harness/disk"
)

// A purge takes something out of every commit. It goes
//
//	Rewrite   the new history as one pack that nothing refers to; moves nothing
//	Store     the pack gets its name
//	Switch    every ref moves at once: one rename of .git/packed-refs
//	Drop      the old history goes, for good      (or Switch back)
//	Left      reads everything that is left
//
// Until Drop the old history is kept under refs/amacs/before-purge/ID. Whoever
// calls writes the Rewriting down between Store and Switch, and calls Switch again
// after a crash: it does what is still to do.
//
// Commits keep authors, dates, order, parents and the objects that hold none of
// it; those that change lose their signatures. Names of commits in messages
// follow the commits. Remote-tracking branches, stashes and notes are rewritten
// too; a note stays filed under its commit's old name.

// Forget is what a purge takes out.
type Forget struct {
	Text     func([]byte) []byte // a text without it, which Text then leaves alone
	Paths    []string            // files and folders to take out of every commit
	Last     func(*Rewriting) Commit
	Progress func(done, all int) // commits; may be nil
}

// Rewriting is a history made anew, and how to get to it and back.
type Rewriting struct {
	ID    string            `json:"id"`
	Refs  []Move            `json:"refs"`            // all, those that stay among them
	Blobs map[string]string `json:"blobs,omitempty"` // of the index, that change
	Paths []string          `json:"paths,omitempty"` // of the index, that go: Paths of Forget
	Names map[string]string `json:"names,omitempty"` // of the index, that change
	Index []byte            `json:"index,omitempty"` // as it was
	Stash []byte            `json:"stash,omitempty"` // the stash's log as it was, and as it is to be
	After []byte            `json:"after,omitempty"`

	Commits int    `json:"commits"` // in all
	Changed int    `json:"changed"` // that get another hash
	With    int    `json:"with"`    // that hold it
	Texts   int    `json:"texts"`   // versions of files, messages and names that hold it
	Signed  int    `json:"signed"`  // that lose a signature
	First   string `json:"first"`   // the oldest that changes; "" for none

	pack   *packing
	unlock func()
}

// Move is a ref with the commit that it is at and the one that it is to be at.
type Move struct {
	Ref string `json:"ref"`
	Old string `json:"old"`
	New string `json:"new"`
}

const beforePurge = "refs/amacs/before-purge/"

var (
	// ErrMoved is wrapped where a ref is not where a Rewriting left it.
	ErrMoved = errors.New("the history has moved since")
	// ErrFrame is wrapped where what is to be forgotten is not all text.
	ErrFrame = errors.New("it is a part of how a commit is marked, not of a text: choose a longer one")
)

// Discard lets go of a rewriting that is not wanted.
func (w *Rewriting) Discard() {
	if w.pack != nil {
		w.pack.discard()
	}
	w.free()
}

func (w *Rewriting) free() {
	if w.unlock != nil {
		w.unlock()
	}
	w.pack, w.unlock = nil, nil
}

// Store puts the new objects into the repository, for good. Nothing refers to
// them yet.
func (w *Rewriting) Store() error {
	defer w.free()
	if err := w.pack.store(); err != nil {
		return fmt.Errorf("store the new history: %w", err)
	}
	return nil
}

// Switch moves every ref to the new history, or back to the old one, and the
// index with them. It may be called again after a crash: what is done stays done.
// Where a ref is at neither, nothing is changed and the error wraps ErrMoved.
func (r *Repo) Switch(ctx context.Context, w *Rewriting, back bool) error {
	if err := r.switchTo(ctx, w, back); err != nil {
		return fmt.Errorf("move to the new history of %s: %w", r.root, err)
	}
	return nil
}

func (r *Repo) switchTo(ctx context.Context, w *Rewriting, back bool) error {
	lock, err := r.lockAll(ctx, w)
	if err != nil {
		return err
	}
	defer lock.release()
	branch, err := r.idle()
	if err != nil {
		return err
	}
	now, err := r.refs()
	if err != nil {
		return err
	}
	kept := slices.ContainsFunc(w.Refs, func(m Move) bool { _, ok := now[w.backup(m.Ref)]; return ok })
	if kept == back { // the backups come and go in the same rename
		if err := w.here(now, back); err != nil {
			return err
		}
		if err := r.moveRefs(w, back); err != nil {
			return err
		}
		if err := r.logMove(w, branch, back); err != nil {
			return err
		}
	}
	if err := r.switchIndex(w, back); err != nil {
		return err
	}
	return r.switchStash(w, back)
}

// lockAll takes the index's lock, that of HEAD, of the packed refs and of each ref.
func (r *Repo) lockAll(ctx context.Context, w *Rewriting) (*lockFile, error) {
	deadline := time.Now().Add(lockWait)
	lock, err := r.lock(ctx, lockName, deadline)
	if err != nil {
		return nil, err
	}
	names := []string{"index", "HEAD", "packed-refs"}
	for _, m := range w.Refs {
		names = append(names, filepath.FromSlash(m.Ref))
	}
	for _, name := range names {
		path := filepath.Join(r.git, name)
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = lock.acquire(ctx, path, deadline)
		}
		if err != nil {
			lock.release()
			return nil, err
		}
	}
	return lock, nil
}

// here checks that the refs are those that w leads away from.
func (w *Rewriting) here(now map[string]plumbing.Hash, back bool) error {
	want := map[string]string{}
	for _, m := range w.Refs {
		if want[m.Ref] = m.Old; back {
			want[m.Ref] = m.New
		}
	}
	for name, h := range now {
		if strings.HasPrefix(name, beforePurge) {
			continue
		}
		if want[name] != h.String() {
			return fmt.Errorf("%s: %w", name, ErrMoved)
		}
		delete(want, name)
	}
	for name := range want {
		return fmt.Errorf("%s is gone: %w", name, ErrMoved)
	}
	return nil
}

// At checks that every ref is where w leads, so that Switch can lead back: else the
// error wraps ErrMoved.
func (r *Repo) At(w *Rewriting) error {
	now, err := r.refs()
	if err != nil {
		return fmt.Errorf("read the refs of %s: %w", r.root, err)
	}
	return w.here(now, true)
}

// Backup is the ref under which the old history of the branch is kept.
func (w *Rewriting) Backup() string { return beforePurge + w.ID }

// Tracks tells whether the last commit has a regular file at path.
func (r *Repo) Tracks(path string) bool {
	s := r.store()
	defer s.Close()
	_, head, err := r.head()
	if err != nil {
		return false
	}
	tree, err := s.treeOf(head)
	if err != nil {
		return false
	}
	n, err := s.find(tree, path)
	return err == nil && isFile(n.mode)
}

// backup is where the old place of a ref is kept.
func (w *Rewriting) backup(ref string) string {
	return beforePurge + w.ID + "/" + strings.TrimPrefix(ref, "refs/")
}

// moveRefs first writes into packed-refs what the refs are, and takes their own
// files away, so that then one rename moves them all.
func (r *Repo) moveRefs(w *Rewriting, back bool) error {
	packed, err := r.packedRefs()
	if err != nil {
		return err
	}
	moved := false
	for _, m := range w.Refs {
		if m.Old == m.New {
			continue
		}
		at := m.Old
		if back {
			at = m.New
		}
		if packed[m.Ref] != plumbing.NewHash(at) {
			packed[m.Ref], moved = plumbing.NewHash(at), true
		}
	}
	if moved {
		if err := r.writePackedRefs(packed); err != nil {
			return err
		}
	}
	dirs := map[string]bool{}
	for _, m := range w.Refs {
		if m.Old == m.New {
			continue
		}
		path := filepath.Join(r.git, filepath.FromSlash(m.Ref))
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		dirs[filepath.Dir(path)] = true
	}
	if err := r.settle(disk.Stage, dirs); err != nil {
		return err
	}
	for _, m := range w.Refs {
		switch {
		case m.Old == m.New:
		case back:
			packed[m.Ref] = plumbing.NewHash(m.Old)
			delete(packed, w.backup(m.Ref))
		default:
			packed[m.Ref] = plumbing.NewHash(m.New)
			packed[w.backup(m.Ref)] = plumbing.NewHash(m.Old)
		}
	}
	return r.writePackedRefs(packed)
}

// logMove says in the reflogs what happened to the branch.
func (r *Repo) logMove(w *Rewriting, branch string, back bool) error {
	i := slices.IndexFunc(w.Refs, func(m Move) bool { return m.Ref == branch })
	if i < 0 {
		return nil
	}
	from, to, what := w.Refs[i].Old, w.Refs[i].New, "purge"
	if back {
		from, to, what = to, from, "purge taken back"
	}
	line := fmt.Sprintf("%s %s %s %s\t%s\n", from, to, amacs, gitTime(time.Now()), what)
	for _, name := range []string{"HEAD", branch} {
		f, _, err := appendLine(filepath.Join(r.git, "logs", filepath.FromSlash(name)), line)
		if err != nil {
			return fmt.Errorf("write the reflog: %w", err)
		}
		if err := f.Close(); err != nil {
			return fmt.Errorf("write the reflog: %w", err)
		}
	}
	return nil
}

// switchIndex changes what the index says of files that changed; what was staged
// stays staged. Back, it is as it was.
func (r *Repo) switchIndex(w *Rewriting, back bool) error {
	if back {
		if w.Index == nil {
			return nil
		}
		return r.replace(filepath.Join(r.git, "index"), w.Index)
	}
	x, err := r.readIndex()
	if err != nil {
		return err
	}
	touched := map[string]*entry{}
	for i := range x.entries {
		e := x.entries[i]
		hash, changes := w.Blobs[e.hash.String()]
		name, renamed := w.Names[e.path]
		cut := beneath(e.path, w.Paths)
		if !changes && !renamed && !cut {
			continue
		}
		touched[e.path] = nil
		if cut {
			continue
		}
		if changes {
			e.hash, e.size, e.stat = plumbing.NewHash(hash), 0, stat{}
		}
		if renamed {
			e.path = name
		}
		touched[e.path] = &e
	}
	if len(touched) == 0 {
		return nil
	}
	x.put(touched)
	s := r.store()
	defer s.Close()
	x.trees.rebuild(x.entries, "", func(h plumbing.Hash) bool { return s.HasEncodedObject(h) == nil })
	return r.replace(filepath.Join(r.git, "index"), x.encode())
}

func (r *Repo) switchStash(w *Rewriting, back bool) error {
	text := w.After
	if back {
		text = w.Stash
	}
	if w.Stash == nil {
		return nil
	}
	return r.replace(filepath.Join(r.git, "logs", "refs", "stash"), text)
}

// replace writes a file of .git whole: under another name, synced, renamed.
func (r *Repo) replace(path string, data []byte) error {
	files := []newFile{{to: path, mode: 0o644, data: data}}
	defer func() { os.Remove(files[0].temp) }() // nothing, where it was renamed
	if err := r.stage(files); err != nil {
		return err
	}
	if err := os.Rename(files[0].temp, path); err != nil {
		return err
	}
	return r.settle(disk.Sync, map[string]bool{filepath.Dir(path): true})
}

// Remotes lists where copies of the history may be, "NAME URL" without a
// password.
func (r *Repo) Remotes() ([]string, error) {
	cfg, err := readConfig(filepath.Join(r.git, "config"))
	if err != nil {
		return nil, fmt.Errorf("read the remotes of %s: %w", r.root, err)
	}
	var out []string
	for _, s := range cfg.Raw.Section("remote").Subsections {
		at := s.Option("url")
		if u, err := url.Parse(at); err == nil && u.User != nil {
			u.User = nil
			at = u.String()
		}
		out = append(out, strings.TrimSpace(s.Name+" "+at))
	}
	return out, nil
}

// beneath tells whether path is one of list or lies in one of them.
func beneath(path string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}
