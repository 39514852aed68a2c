package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// ErrBusy is wrapped by errors that say another process holds a lock of the
// repository: try again later.
var ErrBusy = errors.New("the repository is in use")

const (
	lockName = "amacs-lock"
	packLock = "amacs-pack"
	lockPoll = 4 * time.Millisecond
)

// lockFile is the one file .git/amacs-lock, flocked, and linked to each
// "X.lock" that it holds. Who has the flock knows that a lock which is this
// file was left by the dead, since the kernel lets go of a flock with its
// process.
type lockFile struct {
	f     *os.File
	owner string   // who had it before, in words
	names []string // the locks
	dead  bool     // one of them was left by the dead
}

// lock takes the flock of a file in .git, waiting until the deadline.
func (r *Repo) lock(ctx context.Context, name string, deadline time.Time) (*lockFile, error) {
	path := filepath.Join(r.git, name)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			break
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		if err := pause(ctx, deadline); err != nil {
			f.Close()
			return nil, fmt.Errorf("%w: %s is held by amacs, %s", err, path, ownerOf(path))
		}
	}
	l := &lockFile{f: f, owner: ownerOf(path)}
	if !sameFile(f, path) {
		l.release()
		return nil, fmt.Errorf("%w: %s was removed meanwhile", ErrBusy, path)
	}
	if err = f.Truncate(0); err == nil {
		_, err = fmt.Fprintf(f, "process %d\n", os.Getpid())
	}
	if err != nil {
		l.release()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return l, nil
}

// acquire takes path + ".lock" as git does, waiting until the deadline.
func (l *lockFile) acquire(ctx context.Context, path string, deadline time.Time) error {
	path += ".lock"
	for {
		err := os.Link(l.f.Name(), path)
		if left := err != nil && sameFile(l.f, path); err == nil || left {
			l.names, l.dead = append(l.names, path), l.dead || left
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("lock %s: %w", path, err)
		}
		if err := pause(ctx, deadline); err != nil {
			return fmt.Errorf("%w: %s is held by another program, such as git; if none runs, remove that file", err, path)
		}
	}
}

// pause waits a moment, or gives ErrBusy after the deadline.
func pause(ctx context.Context, deadline time.Time) error {
	if time.Now().After(deadline) {
		return ErrBusy
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(lockPoll):
		return nil
	}
}

// release removes the locks, last first, but for one that somebody replaced.
func (l *lockFile) release() {
	for _, name := range slices.Backward(l.names) {
		if sameFile(l.f, name) {
			os.Remove(name)
		}
	}
	l.f.Close()
}

func sameFile(f *os.File, path string) bool {
	a, err1 := f.Stat()
	b, err2 := os.Lstat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// ownerOf says who wrote the lock at path last.
func ownerOf(path string) string {
	text, err := os.ReadFile(path)
	if err != nil || len(text) == 0 {
		return "an unknown process"
	}
	return strings.TrimSpace(string(text))
}

// These begin the names of our temporary files in .git and in objects/xx, where
// `git prune` knows them too.
const (
	tempPrefix   = "amacs-tmp-"
	objectPrefix = "tmp_obj_amacs_"
)

// Settle removes what a killed amacs left behind: its locks and its temporary
// files. It says in words what it removed. Locks of git or of a living process
// are left alone.
func (r *Repo) Settle(ctx context.Context) ([]string, error) {
	words, err := r.clearDead(ctx)
	if err != nil {
		return words, fmt.Errorf("settle %s: %w", r.git, err)
	}
	// What an Init left that was killed before its repository had its name.
	aside, err := filepath.Glob(filepath.Join(r.root, ".git-"+tempPrefix+"*"))
	for _, dir := range aside {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	if err != nil {
		return words, fmt.Errorf("settle %s: %w", r.root, err)
	}
	return words, nil
}

func (r *Repo) clearDead(ctx context.Context) (words []string, err error) {
	l, err := r.lock(ctx, lockName, time.Now())
	if errors.Is(err, ErrBusy) {
		return nil, nil // in use, and so alive
	}
	if err != nil {
		return nil, err
	}
	defer l.release()
	var paths []string
	for _, name := range []string{"index", "HEAD", "packed-refs"} {
		paths = append(paths, filepath.Join(r.git, name+".lock"))
	}
	err = filepath.WalkDir(filepath.Join(r.git, "refs"), func(p string, d fs.DirEntry, err error) error {
		if gone(err) {
			return nil
		}
		if err == nil && strings.HasSuffix(p, ".lock") {
			paths = append(paths, p)
		}
		return errors.Join(err, ctx.Err())
	})
	for _, p := range paths {
		if sameFile(l.f, p) {
			err = errors.Join(err, os.Remove(p))
			words = append(words, fmt.Sprintf("removed %s, left by amacs, %s, which is gone", r.short(p), l.owner))
		}
	}
	if err != nil || len(words) == 0 {
		return words, err
	}
	n, err := r.sweep()
	if n > 0 {
		words = append(words, fmt.Sprintf("removed %d temporary files of an unfinished commit", n))
	}
	return words, err
}

// sweep removes our temporary files. The caller holds the lock under which
// they are made, so they are nobody's.
func (r *Repo) sweep() (n int, err error) {
	if n, err = removeAll(r.git, tempPrefix); err != nil {
		return n, err
	}
	m, err := removeAll(filepath.Join(r.git, "objects"), objectPrefix)
	return n + m, err
}

func removeAll(dir, prefix string) (n int, err error) {
	list, err := os.ReadDir(dir)
	if err != nil && !gone(err) {
		return 0, err
	}
	for _, d := range list {
		if !strings.HasPrefix(d.Name(), prefix) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, d.Name())); err != nil && !gone(err) {
			return n, err
		}
		n++
	}
	return n, nil
}

func (r *Repo) short(p string) string {
	if rel, err := filepath.Rel(r.root, p); err == nil {
		return rel
	}
	return p
}
