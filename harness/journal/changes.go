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

	"github.com/go-git/go-git/v5/plumbing"
)

// ChangeKind says how a file differs from the last commit.
type ChangeKind string

// The kinds of change.
const (
	Added    ChangeKind = "added"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
)

// Change is a file of the home that differs from the last commit.
type Change struct {
	Path string // relative, with slashes
	Kind ChangeKind
	Link string // where the file is a symbolic link: its target
}

// Changes lists what was edited by hand: the files of the home against the
// last commit, untracked ones included, by path. It honours .gitignore at every
// level, .git/info/exclude and the user's global excludes; what is tracked, or
// was, is compared even if ignored. The index's skip-worktree and
// assume-unchanged marks hide nothing. Content is read only where size, times
// or inode differ from what the index remembers.
func (r *Repo) Changes(ctx context.Context) ([]Change, error) {
	w, err := r.newWalk(ctx)
	if err != nil {
		return nil, fmt.Errorf("compare %s with its last commit: %w", r.root, err)
	}
	if err := w.run(); err != nil {
		return nil, fmt.Errorf("compare %s with its last commit: %w", r.root, err)
	}
	slices.SortFunc(w.out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	if len(w.fresh) >= worthRefresh {
		if err := r.refresh(ctx, w.fresh); err != nil && !errors.Is(err, ErrBusy) {
			return w.out, err
		}
	}
	return w.out, nil
}

// worthRefresh is the number of files that were read in vain, as after a copy
// of the home, from which on the index is told their new times: more than the
// few that every tick writes.
const worthRefresh = 8

// tracked is a file of the last commit.
type tracked struct {
	mode  uint32
	hash  plumbing.Hash
	entry *entry // the index's, where it has the same content
	seen  bool
}

type walk struct {
	ctx   context.Context
	r     *Repo
	cfg   settings
	index *index
	files map[string]*tracked
	fresh map[string]fs.FileInfo
	out   []Change
}

func (r *Repo) newWalk(ctx context.Context) (*walk, error) {
	_, head, err := r.head()
	if err != nil {
		return nil, err
	}
	cfg, err := r.settings()
	if err != nil {
		return nil, err
	}
	w := &walk{ctx: ctx, r: r, cfg: cfg, fresh: map[string]fs.FileInfo{}}
	if w.index, err = r.readIndex(); err != nil {
		return nil, err
	}
	s := r.store()
	defer s.Close()
	tree, err := s.treeOf(head)
	if err != nil {
		return nil, err
	}
	w.files = make(map[string]*tracked, len(w.index.entries))
	if w.index.trees.count < 0 || w.index.trees.hash != tree {
		if err := s.flatten(tree, "", func(n node) { w.files[n.name] = &tracked{mode: n.mode, hash: n.hash} }); err != nil {
			return nil, err
		}
		for i := range w.index.entries {
			e := &w.index.entries[i]
			if f := w.files[e.path]; f != nil && f.hash == e.hash && f.mode == e.mode && e.stage() == 0 && e.more&moreIntent == 0 {
				f.entry = e
			}
		}
		return w, nil
	}
	all := make([]tracked, len(w.index.entries))
	for i := range w.index.entries {
		e := &w.index.entries[i]
		all[i] = tracked{mode: e.mode, hash: e.hash, entry: e}
		w.files[e.path] = &all[i]
	}
	return w, nil
}

func (w *walk) run() error {
	var rs *rules
	for _, name := range []string{w.r.excludes(), filepath.Join(w.r.git, "info", "exclude")} {
		text, err := os.ReadFile(name)
		if err != nil && !gone(err) && name != "" {
			return err
		}
		rs = newRules(rs, "", string(text), w.cfg.ignoreCase)
	}
	if err := w.dir("", rs); err != nil {
		return err
	}
	for path, f := range w.files {
		if f.seen || f.mode == modeRepo {
			continue
		}
		info, err := os.Lstat(w.r.abs(path))
		if err != nil && !gone(err) {
			return err
		}
		if err != nil || w.r.beyondLink(path) != "" {
			w.out = append(w.out, Change{Path: path, Kind: Deleted})
		} else if err := w.compare(path, f, info); err != nil {
			return err
		}
	}
	return nil
}

// dir walks one folder that is not ignored.
func (w *walk) dir(rel string, rs *rules) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	list, err := os.ReadDir(w.r.abs(rel))
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, d := range list {
		switch {
		case d.Name() == ".git" && rel != "":
			return nil // a repository of its own
		case d.Name() == ".gitignore" && !d.IsDir():
			text, err := os.ReadFile(w.r.abs(join(rel, d.Name())))
			if err != nil && !gone(err) {
				return err // unread, it might let a secret through
			}
			rs = newRules(rs, rel, string(text), w.cfg.ignoreCase)
		}
	}
	for _, d := range list {
		if strings.EqualFold(d.Name(), ".git") {
			continue
		}
		if err := w.item(join(rel, d.Name()), d, rs); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) item(path string, d fs.DirEntry, rs *rules) error {
	if d.IsDir() {
		if rs.ignored(path, true) {
			return nil
		}
		return w.dir(path, rs)
	}
	f := w.files[path]
	if f == nil {
		if link := d.Type() == fs.ModeSymlink; (link || d.Type().IsRegular()) && !rs.ignored(path, false) {
			w.add(path, Added, link)
		}
		return nil
	}
	info, err := d.Info()
	if gone(err) {
		return nil // the sweep over what was not seen reports it
	}
	if err != nil {
		return err
	}
	return w.compare(path, f, info)
}

func (w *walk) add(path string, kind ChangeKind, link bool) {
	c := Change{Path: path, Kind: kind}
	if link {
		c.Link, _ = os.Readlink(w.r.abs(path))
	}
	w.out = append(w.out, c)
}

// compare reports the file at path if it differs from f; info is its lstat.
func (w *walk) compare(path string, f *tracked, info fs.FileInfo) error {
	f.seen = true
	if f.mode == modeRepo {
		return nil
	}
	d, err := w.r.look(path, info, f.mode, w.cfg)
	if err != nil {
		return err
	}
	link := info.Mode().Type() == fs.ModeSymlink
	switch {
	case d.mode == 0:
		w.add(path, Deleted, link)
		return nil
	case d.mode != f.mode:
		w.add(path, Modified, link)
		return nil
	}
	if e := f.entry; e != nil {
		var now entry
		now.fill(d.info)
		if now.stat == e.stat && now.size == e.size {
			return nil
		}
		if e.size != 0 && e.size != now.size {
			w.add(path, Modified, link)
			return nil
		}
	}
	data, err := w.r.content(path, d)
	if err != nil || hashObject("blob", data) != f.hash {
		w.add(path, Modified, link) // one that can not be read: committing it will say why
		return nil
	}
	if f.entry != nil {
		w.fresh[path] = d.info
	}
	return nil
}

// refresh tells the index the new times of files whose content is what it says.
func (r *Repo) refresh(ctx context.Context, fresh map[string]fs.FileInfo) error {
	path := filepath.Join(r.git, "index")
	lock, err := r.lock(ctx, lockName, time.Now())
	if err != nil {
		return err
	}
	defer lock.release()
	if err := lock.acquire(ctx, path, time.Now()); err != nil {
		return err
	}
	x, err := r.readIndex()
	if err != nil {
		return err
	}
	for i := range x.entries {
		e := &x.entries[i]
		if info := fresh[e.path]; info != nil && settled(info) && e.stage() == 0 {
			e.fill(info)
		}
	}
	f := []newFile{{to: path, mode: 0o644, data: x.encode()}}
	err = r.stage(f)
	if err == nil {
		err = os.Rename(f[0].temp, path)
	}
	if err != nil {
		os.Remove(f[0].temp)
		return fmt.Errorf("refresh the index: %w", err)
	}
	return nil
}

// settled tells whether a later write to the file must show in its times: file
// systems count them in steps of some milliseconds.
func settled(info fs.FileInfo) bool { return time.Since(info.ModTime()) > 20*time.Millisecond }

// onDisk is what a commit would record of a path.
type onDisk struct {
	mode    uint32 // 0: nothing
	info    fs.FileInfo
	through bool // a regular file's content behind a symbolic link
}

// look tells what is at path, of which info is the lstat; committed is its mode
// in history, 0 for none. It holds the rule on symbolic links.
func (r *Repo) look(path string, info fs.FileInfo, committed uint32, cfg settings) (onDisk, error) {
	d := onDisk{info: info}
	switch info.Mode().Type() {
	case 0:
	case fs.ModeSymlink:
		d.mode = modeLink
		if !isFile(committed) {
			return d, nil
		}
		target, err := os.Stat(r.abs(path))
		if gone(err) || errors.Is(err, syscall.ELOOP) {
			return onDisk{}, nil
		}
		if err != nil {
			return onDisk{}, err
		}
		if !target.Mode().IsRegular() {
			return d, nil
		}
		d.info, d.through = target, true
	default:
		return onDisk{}, nil // a folder, pipe or device
	}
	switch {
	case !cfg.fileMode && isFile(committed):
		d.mode = committed
	case cfg.fileMode && d.info.Mode()&0o100 != 0:
		d.mode = modeExec
	default:
		d.mode = modeFile
	}
	return d, nil
}

// content reads what is at path: a link's target, or a file's bytes.
func (r *Repo) content(path string, d onDisk) ([]byte, error) {
	if d.mode == modeLink {
		target, err := os.Readlink(r.abs(path))
		return []byte(target), err
	}
	return os.ReadFile(r.abs(path))
}

// beyondLink gives the folder of path that is a symbolic link, if any.
func (r *Repo) beyondLink(path string) string {
	for dir := range parents(path) {
		if info, err := os.Lstat(r.abs(dir)); err == nil && info.Mode().Type() == fs.ModeSymlink {
			return dir
		}
	}
	return ""
}

// settings are the parts of the repository's config that matter to files.
type settings struct{ fileMode, ignoreCase bool }

func (r *Repo) settings() (settings, error) {
	path := filepath.Join(r.git, "config")
	cfg, err := readConfig(path)
	if err != nil {
		return settings{}, fmt.Errorf("read %s: %w", path, err)
	}
	core := cfg.Raw.Section("core")
	mode := core.Option("filemode")
	return settings{mode == "" || isTrue(mode), isTrue(core.Option("ignorecase"))}, nil
}

func (r *Repo) abs(path string) string { return filepath.Join(r.root, filepath.FromSlash(path)) }

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// gone tells whether err says that there is no such file.
func gone(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) }
