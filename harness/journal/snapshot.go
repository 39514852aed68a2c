package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Snapshot is the home as one commit has it, a read-only file system. A symbolic
// link is a file that holds its target.
type Snapshot struct {
	Entry
	repo *Repo
	tree plumbing.Hash
}

// Snapshot finds a commit. An unknown revision gives fs.ErrNotExist.
func (r *Repo) Snapshot(ctx context.Context, rev string) (*Snapshot, error) {
	s := r.store()
	defer s.Close()
	c, err := r.commitAt(s, rev)
	if err := errors.Join(err, ctx.Err()); err != nil {
		return nil, err
	}
	return &Snapshot{entryOf(c), r, c.TreeHash}, nil
}

func (r *Repo) commitAt(s *store, rev string) (*object.Commit, error) {
	hash, err := r.revision(s, rev)
	if err != nil {
		return nil, fmt.Errorf("finding the commit %s: %w", rev, err)
	}
	c, err := object.GetCommit(s, hash)
	if err != nil {
		return nil, fmt.Errorf("finding the commit %s: %w", rev, missing(err))
	}
	return c, nil
}

// Line yields a commit, its first parent, that one's first parent and so on. An
// error ends it; the edge of a shallow clone does too.
func (r *Repo) Line(ctx context.Context, rev string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		s := r.store()
		defer s.Close()
		c, err := r.commitAt(s, rev)
		var edge []plumbing.Hash
		if err == nil {
			edge, err = s.Shallow()
		}
		for err == nil && ctx.Err() == nil {
			if !yield(entryOf(c), nil) || len(c.ParentHashes) == 0 || slices.Contains(edge, c.Hash) {
				return
			}
			c, err = r.commitAt(s, c.ParentHashes[0].String())
		}
		yield(Entry{}, errors.Join(err, ctx.Err()))
	}
}

// Between lists the files that differ between two commits, by path.
func (r *Repo) Between(ctx context.Context, from, to string) ([]Change, error) {
	s := r.store()
	defer s.Close()
	var trees [2]map[string]node
	for i, rev := range []string{from, to} {
		c, err := r.commitAt(s, rev)
		if err != nil {
			return nil, err
		}
		files := map[string]node{}
		if err := s.flatten(c.TreeHash, "", func(n node) { files[n.name] = n }); err != nil {
			return nil, fmt.Errorf("comparing %s with %s: %w", from, to, err)
		}
		trees[i] = files
	}
	var out []Change
	for p, old := range trees[0] {
		if now, ok := trees[1][p]; !ok {
			out = append(out, Change{Path: p, Kind: Deleted})
		} else if now != old {
			out = append(out, Change{Path: p, Kind: Modified})
		}
	}
	for p := range trees[1] {
		if _, ok := trees[0][p]; !ok {
			out = append(out, Change{Path: p, Kind: Added})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out, ctx.Err()
}

// DiffBetween is the unified diff of two commits, as `git diff` prints it.
func (r *Repo) DiffBetween(ctx context.Context, from, to string) (string, error) {
	s := r.store()
	defer s.Close()
	a, err := r.commitAt(s, from)
	if err != nil {
		return "", err
	}
	b, err := r.commitAt(s, to)
	if err != nil {
		return "", err
	}
	text, err := patch(ctx, s, a.TreeHash, b.TreeHash)
	if err != nil {
		return "", fmt.Errorf("diff of %s and %s: %w", from, to, missing(err))
	}
	return text, nil
}

func patch(ctx context.Context, s *store, from, to plumbing.Hash) (string, error) {
	var trees [2]*object.Tree
	for i, h := range []plumbing.Hash{from, to} {
		var err error
		if h.IsZero() {
			continue // before the first commit
		}
		if trees[i], err = object.GetTree(s, h); err != nil {
			return "", err
		}
	}
	changes, err := object.DiffTreeWithOptions(ctx, trees[0], trees[1], object.DefaultDiffTreeOptions)
	if err != nil {
		return "", err
	}
	p, err := changes.PatchContext(ctx)
	if err != nil {
		return "", err
	}
	return p.String(), nil
}

// item finds a file or folder; "." is the root.
func (sn *Snapshot) item(s *store, op, name string) (item, error) {
	if !fs.ValidPath(name) {
		return item{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	n := node{name: ".", mode: modeDir, hash: sn.tree}
	if name != "." {
		var err error
		if n, err = s.find(sn.tree, name); err == nil && n.mode == 0 {
			err = fs.ErrNotExist
		}
		if err != nil {
			return item{}, &fs.PathError{Op: op, Path: name, Err: missing(err)}
		}
	}
	it := item{node: n, when: sn.When}
	if isFile(n.mode) || n.mode == modeLink {
		text, err := s.bytes(plumbing.BlobObject, n.hash)
		if err != nil {
			return item{}, &fs.PathError{Op: op, Path: name, Err: missing(err)}
		}
		it.text = text
	}
	return it, nil
}

// Stat implements fs.StatFS.
func (sn *Snapshot) Stat(name string) (fs.FileInfo, error) {
	s := sn.repo.store()
	defer s.Close()
	it, err := sn.item(s, "stat", name)
	if err != nil {
		return nil, err
	}
	return it, nil
}

// Open implements fs.FS. A folder is listed with ReadDir of the Snapshot.
func (sn *Snapshot) Open(name string) (fs.File, error) {
	s := sn.repo.store()
	defer s.Close()
	it, err := sn.item(s, "open", name)
	if err != nil {
		return nil, err
	}
	return &open{it, bytes.NewReader(it.text)}, nil
}

// ReadFile implements fs.ReadFileFS.
func (sn *Snapshot) ReadFile(name string) ([]byte, error) {
	s := sn.repo.store()
	defer s.Close()
	it, err := sn.item(s, "read", name)
	if err == nil && it.IsDir() {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("is a folder")}
	}
	return it.text, err
}

// ReadDir implements fs.ReadDirFS.
func (sn *Snapshot) ReadDir(name string) ([]fs.DirEntry, error) {
	s := sn.repo.store()
	defer s.Close()
	it, err := sn.item(s, "read", name)
	if err == nil && !it.IsDir() {
		err = &fs.PathError{Op: "read", Path: name, Err: errors.New("is no folder")}
	}
	if err != nil {
		return nil, err
	}
	list, err := s.tree(it.hash)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: missing(err)}
	}
	var out []fs.DirEntry
	for _, n := range list {
		out = append(out, listed{item{node: n}, sn, path.Join(name, n.name)})
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

// item is a file or a folder of a snapshot.
type item struct {
	node
	text []byte
	when time.Time
}

func (it item) Name() string       { return path.Base(it.name) }
func (it item) Size() int64        { return int64(len(it.text)) }
func (it item) ModTime() time.Time { return it.when }
func (it item) IsDir() bool        { return it.mode == modeDir }
func (it item) Sys() any           { return nil }
func (it item) Mode() fs.FileMode {
	switch it.mode {
	case modeDir:
		return fs.ModeDir | 0o555
	case modeExec:
		return 0o555
	case modeLink:
		return fs.ModeSymlink | 0o444
	case modeRepo:
		return fs.ModeIrregular
	}
	return 0o444
}

// listed is an entry of a folder.
type listed struct {
	item
	from *Snapshot
	at   string
}

func (l listed) Type() fs.FileMode          { return l.Mode().Type() }
func (l listed) Info() (fs.FileInfo, error) { return l.from.Stat(l.at) }

type open struct {
	item
	r *bytes.Reader
}

func (f *open) Stat() (fs.FileInfo, error) { return f.item, nil }
func (f *open) Close() error               { return nil }
func (f *open) Read(b []byte) (int, error) {
	if f.IsDir() {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: errors.New("is a folder")}
	}
	return f.r.Read(b)
}
