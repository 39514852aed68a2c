package journal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Entry is a commit read back.
type Entry struct {
	Hash          string
	When          time.Time // of the author
	Author        Ident
	Subject, Body string
	Trailers      map[string]string

	// Parsed from the subject. A tick whose subject was reworded by hand keeps
	// its number, from the Tick trailer, but has no Kind.
	Kind         Kind
	Tick         int
	HasTick      bool
	Thread, Mood string // "" for none
	Text         string // the subject without its labels
}

// Query chooses entries; each field that is not zero must match.
type Query struct {
	Tick         int
	HasTick      bool // look for Tick, which may be 0
	Thread, Mood string
	Text         string // in the message, in upper or lower case
	Path         string // a file or folder that the commit changed
	Kind         Kind
	Since, Until time.Time // inclusive
	Max          int       // at most so many
	After        string    // begin below this revision
}

// Log yields the commits that match, newest first. An error ends it.
func (r *Repo) Log(ctx context.Context, q Query) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s := r.store()
		defer s.Close()
		n := 0
		for c, err := range r.history(ctx, s, q.After) {
			var e Entry
			ok := false
			if err == nil {
				e = entryOf(c)
				ok, err = q.match(s, c, e)
			}
			if err != nil {
				yield(Entry{}, fmt.Errorf("read the history of %s: %w", r.root, err))
				return
			}
			if !ok {
				continue
			}
			if n++; !yield(e, nil) || n == q.Max {
				return
			}
		}
	}
}

// history yields commits by time, newest first, a parent never before its child.
func (r *Repo) history(ctx context.Context, s *store, after string) iter.Seq2[*object.Commit, error] {
	return func(yield func(*object.Commit, error) bool) {
		todo, err := r.heads(s, after)
		if err != nil {
			yield(nil, err)
			return
		}
		shallow, err := s.Shallow()
		seen := map[plumbing.Hash]bool{}
		for len(todo) > 0 && err == nil && ctx.Err() == nil {
			c := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			if !yield(c, nil) {
				return
			}
			if slices.Contains(shallow, c.Hash) {
				continue
			}
			for _, h := range c.ParentHashes {
				if seen[h] {
					continue
				}
				seen[h] = true
				var p *object.Commit
				if p, err = object.GetCommit(s, h); err != nil {
					err = fmt.Errorf("commit %s: %w", h, err)
					break
				}
				at, _ := slices.BinarySearchFunc(todo, p, func(a, b *object.Commit) int { return a.Committer.When.Compare(b.Committer.When) })
				todo = slices.Insert(todo, at, p)
			}
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			yield(nil, err)
		}
	}
}

// heads is where history begins: HEAD, or the parents of a revision.
func (r *Repo) heads(s *store, after string) ([]*object.Commit, error) {
	rev := after
	if rev == "" {
		rev = "HEAD"
	}
	hash, err := r.revision(s, rev)
	if errors.Is(err, fs.ErrNotExist) && after == "" {
		return nil, nil // no commit yet
	}
	if err != nil {
		return nil, err
	}
	c, err := object.GetCommit(s, hash)
	if err != nil {
		return nil, fmt.Errorf("commit %s: %w", hash, err)
	}
	if after == "" {
		return []*object.Commit{c}, nil
	}
	var list []*object.Commit
	for _, h := range c.ParentHashes {
		p, err := object.GetCommit(s, h)
		if err != nil {
			return nil, fmt.Errorf("commit %s: %w", h, err)
		}
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *object.Commit) int { return a.Committer.When.Compare(b.Committer.When) })
	return list, nil
}

// revision finds a commit by hash, abbreviated hash or git's names. An unknown
// one gives fs.ErrNotExist.
func (r *Repo) revision(s *store, rev string) (plumbing.Hash, error) {
	if len(rev) == 40 && plumbing.IsHash(rev) {
		return plumbing.NewHash(rev), nil
	}
	_, head, err := r.head()
	if err != nil {
		return head, err
	}
	if head.IsZero() {
		return head, fmt.Errorf("revision %q: no commit yet: %w", rev, fs.ErrNotExist)
	}
	if rev == "HEAD" {
		return head, nil
	}
	repo, err := git.Open(s, nil)
	if err != nil {
		return head, fmt.Errorf("open %s: %w", r.git, err)
	}
	hash, err := repo.ResolveRevision(plumbing.Revision(rev))
	if err != nil {
		return head, fmt.Errorf("revision %q: %w (%v)", rev, fs.ErrNotExist, err)
	}
	return *hash, nil
}

func entryOf(c *object.Commit) Entry {
	e := parseMessage(c.Message)
	e.Hash, e.When, e.Author = c.Hash.String(), c.Author.When, Ident{c.Author.Name, c.Author.Email}
	return e
}

func (q *Query) match(s *store, c *object.Commit, e Entry) (bool, error) {
	if q.HasTick && (!e.HasTick || e.Tick != q.Tick) ||
		q.Thread != "" && e.Thread != q.Thread ||
		q.Mood != "" && !strings.EqualFold(e.Mood, q.Mood) ||
		q.Kind != "" && e.Kind != q.Kind ||
		!q.Since.IsZero() && e.When.Before(q.Since) ||
		!q.Until.IsZero() && e.When.After(q.Until) ||
		q.Text != "" && !strings.Contains(strings.ToLower(c.Message), strings.ToLower(q.Text)) {
		return false, nil
	}
	if q.Path == "" {
		return true, nil
	}
	return s.changed(c, strings.Trim(q.Path, "/"))
}

// changed tells whether path differs between a commit and its first parent.
func (s *store) changed(c *object.Commit, path string) (bool, error) {
	now, err := s.find(c.TreeHash, path)
	if err != nil {
		return false, err
	}
	var old node
	if len(c.ParentHashes) > 0 {
		parent, err := s.treeOf(c.ParentHashes[0])
		if err == nil {
			old, err = s.find(parent, path)
		}
		if err != nil && !errors.Is(err, plumbing.ErrObjectNotFound) { // a shallow clone's edge
			return false, err
		}
	}
	return now != old, nil
}

// reflogTail is how much of the reflog LastTick reads: ticks only grow, so the
// largest is near the end.
const reflogTail = 1 << 20

// LastTick is the largest tick number that history knows, -1 for none: that of
// the newest tick below HEAD, or a larger one that HEAD's reflog remembers, as
// after `git reset --hard`.
func (r *Repo) LastTick(ctx context.Context) (int, error) {
	last := -1
	s := r.store()
	defer s.Close()
	for c, err := range r.history(ctx, s, "") {
		if err != nil {
			return 0, fmt.Errorf("look for the last tick in %s: %w", r.root, err)
		}
		if e := entryOf(c); e.HasTick {
			last = e.Tick
			break
		}
	}
	path := filepath.Join(r.git, "logs", "HEAD")
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for the last tick: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > reflogTail {
		if _, err := f.Seek(-reflogTail, io.SeekEnd); err != nil {
			return 0, fmt.Errorf("look for the last tick in %s: %w", path, err)
		}
	}
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadString('\n')
		_, what, _ := strings.Cut(line, "\t")
		_, subject, _ := strings.Cut(strings.TrimRight(what, "\n"), ": ")
		if e, ok := ParseSubject(subject); ok && e.HasTick {
			last = max(last, e.Tick)
		}
		if err == io.EOF {
			return last, nil
		}
		if err != nil {
			return 0, fmt.Errorf("look for the last tick in %s: %w", path, err)
		}
	}
}

// Diff is the unified diff of a commit against its first parent, as `git show`
// prints it. An unknown revision gives fs.ErrNotExist.
func (r *Repo) Diff(ctx context.Context, rev string) (string, error) {
	s := r.store()
	defer s.Close()
	text, err := r.diff(ctx, s, rev)
	if err != nil {
		return "", fmt.Errorf("diff of %s: %w", rev, missing(err))
	}
	return text, nil
}

func (r *Repo) diff(ctx context.Context, s *store, rev string) (string, error) {
	hash, err := r.revision(s, rev)
	if err != nil {
		return "", err
	}
	c, err := object.GetCommit(s, hash)
	if err != nil {
		return "", err
	}
	var parent plumbing.Hash
	if len(c.ParentHashes) > 0 {
		if parent, err = s.treeOf(c.ParentHashes[0]); err != nil {
			return "", err
		}
	}
	return patch(ctx, s, parent, c.TreeHash)
}

// missing makes go-git's "not found" one that callers know.
func missing(err error) error {
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return err
}

// File reads a file as a revision has it ("HEAD", a hash, "HEAD~3"). One that
// is not there gives fs.ErrNotExist; a symbolic link gives its target.
func (r *Repo) File(ctx context.Context, rev, path string) ([]byte, error) {
	s := r.store()
	defer s.Close()
	data, err := r.file(s, rev, path)
	if err := errors.Join(err, ctx.Err()); err != nil {
		return nil, fmt.Errorf("read %s as of %s: %w", path, rev, missing(err))
	}
	return data, nil
}

func (r *Repo) file(s *store, rev, path string) ([]byte, error) {
	hash, err := r.revision(s, rev)
	if err != nil {
		return nil, err
	}
	tree, err := s.treeOf(hash)
	if err != nil {
		return nil, err
	}
	n, err := s.find(tree, path)
	if err != nil {
		return nil, err
	}
	if !isFile(n.mode) && n.mode != modeLink {
		return nil, fs.ErrNotExist
	}
	return s.bytes(plumbing.BlobObject, n.hash)
}
