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
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"amacs/harness/disk"
)

// Ident is who wrote something.
type Ident struct{ Name, Email string }

var amacs = Ident{"amacs", "amacs@localhost"}

func (i Ident) String() string {
	clean := func(s string) string {
		return strings.TrimSpace(strings.NewReplacer("<", "", ">", "").Replace(fold(s)))
	}
	return fmt.Sprintf("%s <%s>", clean(i.Name), strings.ReplaceAll(clean(i.Email), " ", ""))
}

// Commit is what to record.
type Commit struct {
	Subject  string // by TickSubject or Subject
	Body     string
	Trailers []Trailer
	Author   Ident     // zero: amacs, which is always the committer
	When     time.Time // zero: now
	Paths    []string  // exact, relative, with slashes; what is missing on disk is deleted

	// Contents gives the bytes to record for a path, whatever the disk holds by
	// then. A file that differs shows as modified, in git as in Changes.
	Contents   map[string][]byte
	AllowEmpty bool // commit even if nothing differs
}

// ErrBeyondLink is wrapped where a path lies behind a symbolic link to a
// folder: git keeps the link, never what is behind it.
var ErrBeyondLink = errors.New("lies behind a symbolic link")

// lockWait is how long a commit waits for a user's git.
const lockWait = time.Second

// Commit records c.Paths, and nothing else that changed or was staged, on the
// branch, and gives the hash; "" where nothing differs from the last commit and
// AllowEmpty is not set. When it returns, the commit is on disk. An error
// means that no commit was made, unless it comes with a hash: then only the
// last sync failed. Errors wrap ErrBusy, ErrBeyondLink or *Refusal.
func (r *Repo) Commit(ctx context.Context, c Commit) (string, error) {
	hash, err := r.commit(ctx, c)
	if err != nil {
		err = fmt.Errorf("commit %.60q: %w", c.Subject, err)
	}
	if hash.IsZero() {
		return "", err
	}
	return hash.String(), err
}

func (r *Repo) commit(ctx context.Context, c Commit) (none plumbing.Hash, err error) {
	message, err := formatMessage(c.Subject, c.Body, c.Trailers)
	if err != nil {
		return none, err
	}
	if err := c.check(); err != nil {
		return none, err
	}
	deadline := time.Now().Add(lockWait)
	lock, err := r.lock(ctx, lockName, deadline)
	if err != nil {
		return none, err
	}
	defer lock.release()
	if err := lock.acquire(ctx, filepath.Join(r.git, "index"), deadline); err != nil {
		return none, err
	}
	branch, err := r.idle()
	if err != nil {
		return none, err
	}
	refPath := filepath.Join(r.git, filepath.FromSlash(branch))
	if err := os.MkdirAll(filepath.Dir(refPath), 0o755); err != nil {
		return none, err
	}
	if err := lock.acquire(ctx, refPath, deadline); err != nil {
		return none, err
	}
	if lock.dead {
		if _, err := r.sweep(); err != nil {
			return none, err
		}
	}
	parent, err := r.ref(branch) // under its lock: nobody can move it now
	if err != nil {
		return none, err
	}

	s := r.store()
	defer s.Close()
	j := &job{r: r, s: s, c: c, branch: branch, parent: parent, batch: batch{has: map[plumbing.Hash]bool{}}, touched: map[string]*entry{}}
	if err := j.prepare(message); err != nil {
		return none, err
	}
	return j.write()
}

// check looks at the paths alone.
func (c *Commit) check() error {
	for _, p := range c.Paths {
		for part := range strings.SplitSeq(p, "/") {
			if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") || strings.ContainsRune(part, 0) {
				return fmt.Errorf("path %q: want one relative to the home, outside .git", p)
			}
		}
	}
	for p := range c.Contents {
		if !slices.Contains(c.Paths, p) {
			return fmt.Errorf("path %q: has contents but is not among the paths", p)
		}
	}
	return nil
}

// job is one commit being made, with both locks held.
type job struct {
	r              *Repo
	s              *store
	c              Commit
	branch         string
	parent, commit plumbing.Hash // commit is zero where nothing differs
	tree, oldTree  plumbing.Hash
	batch          batch
	index          *index
	newIndex       bool
	touched        map[string]*entry // what the index is to hold; nil: nothing
	edits          []node
	when           time.Time
}

// prepare reads the files and makes every object, in memory.
func (j *job) prepare(message string) (err error) {
	if j.oldTree, err = j.s.treeOf(j.parent); err != nil {
		return err
	}
	if j.index, err = j.r.readIndex(); err != nil {
		return err
	}
	cfg, err := j.r.settings()
	if err != nil {
		return err
	}
	for _, p := range slices.Compact(slices.Sorted(slices.Values(j.c.Paths))) {
		if err := j.take(p, cfg); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	emit := func(data []byte) plumbing.Hash { return j.batch.add("tree", data) }
	if j.tree, err = (treeEdit{j.s.tree, emit}).apply(j.oldTree, j.edits); err != nil {
		return err
	}
	if j.tree.IsZero() {
		j.tree = emit(nil)
	}
	j.updateIndex()
	if j.tree == j.oldTree && !j.c.AllowEmpty {
		return nil
	}
	j.commit = j.batch.add("commit", j.commitObject(message))
	return nil
}

// take makes the blob, the tree's node and the index entry of one path.
func (j *job) take(p string, cfg settings) error {
	old, err := j.s.find(j.oldTree, p)
	if err != nil {
		return err
	}
	given, isGiven := j.c.Contents[p]
	if isGiven && !isFile(old.mode) {
		old = node{mode: modeFile}
	}
	d, err := j.lookUp(p, old.mode, isGiven, cfg)
	if err != nil {
		return err
	}
	if d.mode == 0 && !isGiven {
		j.touched[p] = nil
		j.edits = append(j.edits, node{name: p})
		return nil
	}
	var found []byte
	if d.mode != 0 {
		found, err = j.r.content(p, d)
		if gone(err) && isGiven {
			d.mode = 0
		} else if err != nil {
			return err
		}
	}
	e := &entry{path: p, mode: d.mode}
	data := found
	if isGiven {
		data = given
		if !isFile(e.mode) {
			e.mode = old.mode
		}
	}
	if e.hash = hashObject("blob", data); e.hash != old.hash {
		j.batch.add("blob", data)
	}
	if d.mode == e.mode && string(found) == string(data) && j.r.unchanged(p, d) {
		e.fill(d.info)
	}
	if d.through {
		e.more = moreSkip
	}
	j.touched[p] = e
	j.edits = append(j.edits, node{p, e.mode, e.hash})
	return nil
}

func (j *job) lookUp(p string, committed uint32, isGiven bool, cfg settings) (onDisk, error) {
	if dir := j.r.beyondLink(p); dir != "" {
		if !isGiven && slices.Contains(j.c.Paths, dir) {
			return onDisk{}, nil // the folder became a link: its files go
		}
		return onDisk{}, fmt.Errorf("%w, %s; make that a real folder", ErrBeyondLink, dir)
	}
	info, err := os.Lstat(j.r.abs(p))
	if gone(err) {
		return onDisk{}, nil
	}
	if err != nil {
		return onDisk{}, err
	}
	return j.r.look(p, info, committed, cfg)
}

// unchanged tells whether the file is still as d saw it, and any later change
// will show in its times. If not, the index must not remember them.
func (r *Repo) unchanged(p string, d onDisk) bool {
	stat := os.Lstat
	if d.through {
		stat = os.Stat
	}
	info, err := stat(r.abs(p))
	if err != nil || !settled(info) {
		return false
	}
	var a, b entry
	a.fill(d.info)
	b.fill(info)
	return a == b
}

// updateIndex puts the touched paths into the index, where they are not there
// as they should be.
func (j *job) updateIndex() {
	wanted := 0
	for _, e := range j.touched {
		if e != nil {
			wanted++
		}
	}
	for i := range j.index.entries {
		have := &j.index.entries[i]
		if e, ok := j.touched[have.path]; !ok {
			continue
		} else if e == nil || e.mode != have.mode || e.hash != have.hash || have.stage() != 0 || e.more != have.more ||
			e.stat == (stat{}) && have.stat != (stat{}) {
			wanted = -1
			break
		}
		wanted--
	}
	if wanted == 0 && j.tree == j.oldTree {
		return
	}
	j.index.put(j.touched)
	j.index.trees.rebuild(j.index.entries, "", func(h plumbing.Hash) bool {
		_, read := j.s.trees[h]
		return read || j.batch.has[h] || j.s.HasEncodedObject(h) == nil
	})
	j.newIndex = true
}

func (j *job) commitObject(message string) []byte {
	author := j.c.Author
	if author == (Ident{}) {
		author = amacs
	}
	if j.when = j.c.When; j.when.IsZero() {
		j.when = time.Now()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", j.tree)
	if !j.parent.IsZero() {
		fmt.Fprintf(&b, "parent %s\n", j.parent)
	}
	fmt.Fprintf(&b, "author %s %s\ncommitter %s %s\n\n%s", author, gitTime(j.when), amacs, gitTime(j.when), message)
	return []byte(b.String())
}

func gitTime(t time.Time) string { return fmt.Sprintf("%d %s", t.Unix(), t.Format("-0700")) }

// write stores what prepare made, in the three waves of the package comment.
func (j *job) write() (none plumbing.Hash, err error) {
	r := j.r
	if j.commit.IsZero() && !j.newIndex {
		return none, nil
	}
	files := r.loose(&j.batch)
	if j.newIndex {
		files = append(files, newFile{to: filepath.Join(r.git, "index"), mode: 0o644, data: j.index.encode()})
	}
	if !j.commit.IsZero() {
		files = append(files, newFile{to: filepath.Join(r.git, filepath.FromSlash(j.branch)), mode: 0o644, data: []byte(j.commit.String() + "\n")})
	}
	defer func() {
		for i := range files {
			os.Remove(files[i].temp) // nothing, where it was renamed
		}
	}()
	if err := r.stage(files); err != nil {
		return none, err
	}
	n := len(j.batch.list)
	if err := r.place(files[:n]); err != nil {
		return none, err
	}
	return j.publish(files[n:])
}

// publish appends to the reflog and renames index and ref into place.
func (j *job) publish(last []newFile) (none plumbing.Hash, err error) {
	dirs := map[string]bool{}
	var logs []*os.File
	if !j.commit.IsZero() {
		if logs, err = j.appendReflogs(dirs); err != nil {
			return none, err
		}
	}
	for _, t := range last {
		dirs[filepath.Dir(t.to)] = true
		if err := os.Rename(t.temp, t.to); err != nil {
			return none, errors.Join(err, closeAll(logs))
		}
	}
	if err := errors.Join(closeAll(logs), j.r.settle(disk.Sync, dirs)); err != nil {
		return j.commit, fmt.Errorf("made, but perhaps not on disk yet: %w", err)
	}
	return j.commit, nil
}

// appendReflogs writes the line that git would write, to the log of HEAD and of
// the branch, and gives the files, to be synced.
func (j *job) appendReflogs(dirs map[string]bool) (logs []*os.File, err error) {
	verb := "commit"
	if j.parent.IsZero() {
		verb = "commit (initial)"
	}
	line := fmt.Sprintf("%s %s %s %s\t%s: %s\n", j.parent, j.commit, amacs, gitTime(j.when), verb, j.c.Subject)
	for _, name := range []string{"HEAD", j.branch} {
		path := filepath.Join(j.r.git, "logs", filepath.FromSlash(name))
		f, first, err := appendLine(path, line)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("write the reflog %s: %w", path, err), closeAll(logs))
		}
		logs, dirs[path] = append(logs, f), true
		if first {
			dirs[filepath.Dir(path)] = true
		}
	}
	return logs, nil
}

// appendLine adds a whole line or nothing, and tells whether it is the first.
func appendLine(path, line string) (f *os.File, first bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, false, err
	}
	f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, false, err
	}
	var info fs.FileInfo
	if info, err = f.Stat(); err == nil {
		if _, err = f.WriteString(line); err != nil {
			err = errors.Join(err, f.Truncate(info.Size()))
		}
	}
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, info.Size() == 0, nil
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
