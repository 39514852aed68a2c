package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// rewriter makes objects anew. Its maps go from old to new; what is not in them
// was not met yet.
type rewriter struct {
	ctx     context.Context
	s       *store
	f       Forget
	out     *Rewriting
	commits map[plumbing.Hash]plumbing.Hash
	blobs   map[plumbing.Hash]plumbing.Hash
	trees   map[treeKey]plumbing.Hash
}

// treeKey tells trees apart: by where they are only if something is cut there.
type treeKey struct {
	hash plumbing.Hash
	at   string
}

// Rewrite makes the history without what is to be forgotten. It moves nothing and
// needs no lock of the home; nothing that holds it is left out, stashes and what
// is staged included. The caller ends it with Store or Discard. An error may wrap
// ErrFrame, ErrBusy or a *Refusal.
func (r *Repo) Rewrite(ctx context.Context, f Forget) (*Rewriting, error) {
	w, err := r.rewrite(ctx, f)
	if err != nil {
		return nil, fmt.Errorf("rewrite the history of %s: %w", r.root, err)
	}
	return w, nil
}

func (r *Repo) rewrite(ctx context.Context, f Forget) (w *Rewriting, err error) {
	if _, err := r.idle(); err != nil {
		return nil, err
	}
	if err := r.rewritable(); err != nil {
		return nil, err
	}
	lock, err := r.lock(ctx, packLock, time.Now().Add(packWait))
	if err != nil {
		return nil, err
	}
	w = &Rewriting{ID: time.Now().UTC().Format("20060102T150405.000Z"), Blobs: map[string]string{}, Names: map[string]string{}, Paths: f.Paths, unlock: lock.release}
	w.ID = strings.Replace(w.ID, ".", "", 1)
	defer func() {
		if err != nil {
			w.Discard()
		}
	}()
	if w.pack, err = r.newPacking(); err != nil {
		return nil, err
	}
	s := r.store()
	defer s.Close()
	x := &rewriter{ctx, s, f, w, map[plumbing.Hash]plumbing.Hash{}, map[plumbing.Hash]plumbing.Hash{}, map[treeKey]plumbing.Hash{}}
	return w, x.all(r)
}

// packWait is how long a purge waits for a packing that is under way.
const packWait = time.Minute

// rewritable refuses repositories of which a part would be missed.
func (r *Repo) rewritable() error {
	for _, no := range []struct{ file, what, do string }{
		{"shallow", "is a shallow clone", "run `git fetch --unshallow`"},
		{"objects/info/alternates", "borrows objects from another repository", "run `git repack -a -d` and remove that file"},
		{"info/grafts", "has grafts", "remove that file"},
	} {
		path := filepath.Join(r.git, filepath.FromSlash(no.file))
		if info, err := os.Stat(path); err == nil && info.Size() > 0 {
			return &Refusal{path, no.what, no.do}
		}
	}
	if list, err := os.ReadDir(filepath.Join(r.git, "worktrees")); err == nil && len(list) > 0 {
		return &Refusal{r.root, "has linked worktrees, whose files and indexes a purge does not reach", "run `git worktree remove` for each (`git worktree list`)"}
	}
	return nil
}

func (x *rewriter) all(r *Repo) error {
	refs, err := r.refs()
	if err != nil {
		return err
	}
	roots, err := x.roots(r, refs)
	if err != nil {
		return err
	}
	order, err := x.order(roots)
	if err != nil {
		return err
	}
	x.out.Commits = len(order)
	for i, h := range order {
		if err := x.ctx.Err(); err != nil {
			return err
		}
		if err := x.commit(h); err != nil {
			return fmt.Errorf("commit %.10s: %w", h, err)
		}
		if x.f.Progress != nil {
			x.f.Progress(i+1, len(order))
		}
	}
	if err := x.index(r); err != nil {
		return err
	}
	x.stash(r)
	return x.moves(r, refs)
}

// roots are the commits that history is reached from.
func (x *rewriter) roots(r *Repo, refs map[string]plumbing.Hash) (roots []plumbing.Hash, err error) {
	for name, h := range refs {
		switch {
		case strings.HasPrefix(name, beforePurge):
			return nil, &Refusal{r.root, "a purge is not confirmed yet", "run `amacs purge --confirm` or `amacs purge --back`"}
		case strings.HasPrefix(name, "refs/replace/"):
			return nil, &Refusal{r.root, "has replaced objects", "remove them with `git replace -d`"}
		case strings.HasPrefix(name, "refs/bisect/"), strings.HasPrefix(name, "refs/worktree/"), strings.HasPrefix(name, "refs/rewritten/"):
			return nil, &Refusal{r.root, "has the ref " + name + " of an unfinished git command", "run `git bisect reset`, or remove it with `git update-ref -d`"}
		}
		if hid := string(x.f.Text([]byte(name))); hid != name {
			return nil, &Refusal{r.root, "the name of " + hid + " (a branch, a tag or the like) holds it", "rename that one first (`git branch -m`)"}
		}
		c, err := x.peel(h)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if !c.IsZero() {
			roots = append(roots, c)
		}
	}
	log, err := os.ReadFile(filepath.Join(r.git, "logs", "refs", "stash"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	x.out.Stash = log
	for _, h := range hashForm.FindAllString(string(log), -1) {
		if c := plumbing.NewHash(h); !c.IsZero() && x.s.HasEncodedObject(c) == nil {
			roots = append(roots, c)
		}
	}
	// What is reached first decides the order of equals: let it be the same each time.
	slices.SortFunc(roots, func(a, b plumbing.Hash) int { return bytes.Compare(a[:], b[:]) })
	return roots, nil
}

// peel is the commit that a ref leads to, zero where it leads to a tree or blob.
func (x *rewriter) peel(h plumbing.Hash) (plumbing.Hash, error) {
	for {
		o, err := x.s.EncodedObject(plumbing.AnyObject, h)
		if err != nil {
			return h, fmt.Errorf("read %s: %w", h, err)
		}
		switch o.Type() {
		case plumbing.CommitObject:
			return h, nil
		case plumbing.TagObject:
			text, err := x.s.bytes(plumbing.TagObject, h)
			if err != nil {
				return h, err
			}
			to, _ := header(text, "object")
			h = plumbing.NewHash(to)
		default:
			return plumbing.ZeroHash, nil
		}
	}
}

// order lists the commits, parents before children.
func (x *rewriter) order(roots []plumbing.Hash) (order []plumbing.Hash, err error) {
	const opened, done = 1, 2
	state := map[plumbing.Hash]int{}
	for _, root := range roots {
		for todo := []plumbing.Hash{root}; len(todo) > 0; {
			h := todo[len(todo)-1]
			if state[h] != 0 {
				todo = todo[:len(todo)-1]
				if state[h] == opened {
					state[h] = done
					order = append(order, h)
				}
				continue
			}
			state[h] = opened
			text, err := x.s.bytes(plumbing.CommitObject, h)
			if err != nil {
				return nil, err
			}
			for _, p := range parentsOf(text) {
				if state[p] == 0 {
					todo = append(todo, p)
				}
			}
			if len(order)%1000 == 0 && x.ctx.Err() != nil {
				return nil, x.ctx.Err()
			}
		}
	}
	return order, nil
}

// commit makes one commit anew. Its parents are done.
func (x *rewriter) commit(h plumbing.Hash) error {
	old, err := x.s.bytes(plumbing.CommitObject, h)
	if err != nil {
		return err
	}
	head, message, _ := bytes.Cut(old, []byte("\n\n"))
	lines := unfold(string(head))
	holds, signed := false, false
	for i, line := range lines {
		key, value, _ := strings.Cut(line, " ")
		was := value
		switch key {
		case "tree":
			tree, err := x.tree(plumbing.NewHash(value), "")
			if err != nil {
				return err
			}
			value = tree.String()
			holds = holds || value != was
		case "parent":
			value = x.commits[plumbing.NewHash(value)].String()
		case "author", "committer":
			value = x.person(value)
			holds = holds || value != was
		case "gpgsig", "gpgsig-sha256", "mergetag":
			signed = true
		default:
			value = string(x.f.Text([]byte(value)))
			holds = holds || value != was
		}
		lines[i] = key + " " + value
	}
	text, err := x.message(string(message))
	if err != nil {
		return err
	}
	if hid := x.f.Text(message); !bytes.Equal(hid, message) {
		x.out.Texts++
		holds = true
	}
	if holds {
		x.out.With++
	}
	if strings.Join(lines, "\n")+"\n\n"+text == string(old) {
		x.commits[h] = h
		return nil
	}
	if signed {
		x.out.Signed++
		lines = slices.DeleteFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, "gpgsig ") || strings.HasPrefix(l, "gpgsig-sha256 ") || strings.HasPrefix(l, "mergetag ")
		})
	}
	if x.out.Changed++; x.out.First == "" {
		x.out.First = h.String()
	}
	x.commits[h], err = x.out.pack.add(plumbing.CommitObject, []byte(strings.Join(lines, "\n")+"\n\n"+text))
	return err
}

// unfold gives the lines of an object's head, each with those that go on with it.
func unfold(head string) (out []string) {
	for line := range strings.SplitSeq(head, "\n") {
		if strings.HasPrefix(line, " ") && len(out) > 0 {
			out[len(out)-1] += "\n" + line
		} else {
			out = append(out, line)
		}
	}
	return out
}

func header(object []byte, key string) (string, bool) {
	head, _, _ := bytes.Cut(object, []byte("\n\n"))
	for _, line := range unfold(string(head)) {
		if k, v, _ := strings.Cut(line, " "); k == key {
			return v, true
		}
	}
	return "", false
}

func parentsOf(commit []byte) (out []plumbing.Hash) {
	head, _, _ := bytes.Cut(commit, []byte("\n\n"))
	for line := range strings.SplitSeq(string(head), "\n") {
		if p, ok := strings.CutPrefix(line, "parent "); ok {
			out = append(out, plumbing.NewHash(p))
		}
	}
	return out
}

var personForm = regexp.MustCompile(`^([^<>\n]*)<([^<>\n]*)>( -?[0-9]+ [-+][0-9]+)$`)

// person is a line of author or committer: the time stays.
func (x *rewriter) person(line string) string {
	m := personForm.FindStringSubmatch(line)
	if m == nil {
		return string(x.f.Text([]byte(line)))
	}
	return string(x.f.Text([]byte(m[1]))) + "<" + string(x.f.Text([]byte(m[2]))) + ">" + m[3]
}

var hashForm = regexp.MustCompile(`\b[0-9a-f]{40}\b`)

// message is a message without what is forgotten, with the new names of older
// commits. What amacs reads in it stays readable.
func (x *rewriter) message(old string) (string, error) {
	text := old
	if hid := string(x.f.Text([]byte(old))); hid != old {
		subject, rest, _ := strings.Cut(old, "\n")
		text = x.subject(subject)
		if len(old) > len(subject) {
			text += "\n" + string(x.f.Text([]byte(rest)))
		}
		text = string(x.f.Text([]byte(text)))
		a, b := parseMessage(old), parseMessage(text)
		if a.Kind != b.Kind || a.HasTick != b.HasTick || a.Tick != b.Tick || len(a.Trailers) != len(b.Trailers) {
			return "", ErrFrame
		}
	}
	return hashForm.ReplaceAllStringFunc(text, func(h string) string {
		if to, ok := x.commits[plumbing.NewHash(h)]; ok {
			return to.String()
		}
		return h
	}), nil
}

// subject keeps the labels of a tick labels: no brackets in them.
func (x *rewriter) subject(old string) string {
	m := tickForm.FindStringSubmatch(old)
	if m == nil {
		return string(x.f.Text([]byte(old)))
	}
	clean := func(s string) string {
		if hid := string(x.f.Text([]byte(s))); hid != s {
			return strings.NewReplacer("[", "(", "]", ")").Replace(hid)
		}
		return s
	}
	out := fmt.Sprintf("[TICK %s][%s][%s]", m[1], clean(m[2]), clean(m[3]))
	if m[4] != "" {
		out += " " + string(x.f.Text([]byte(m[4])))
	}
	return out
}

// tree makes a tree anew, at the folder prefix ("" or "a/b/").
func (x *rewriter) tree(h plumbing.Hash, prefix string) (plumbing.Hash, error) {
	key := treeKey{hash: h}
	if slices.ContainsFunc(x.f.Paths, func(p string) bool { return strings.HasPrefix(p, prefix) }) {
		key.at = prefix + "/"
	}
	if to, ok := x.trees[key]; ok {
		return to, nil
	}
	nodes, err := x.s.tree(h)
	if err != nil {
		return h, err
	}
	var out []node
	changed := false
	for _, n := range nodes {
		was := n
		if slices.Contains(x.f.Paths, prefix+n.name) {
			x.out.Texts++
			changed = true
			continue
		}
		switch {
		case n.mode == modeDir:
			n.hash, err = x.tree(n.hash, prefix+n.name+"/")
		case isFile(n.mode), n.mode == modeLink:
			n.hash, err = x.blob(n.hash)
		}
		if err != nil {
			return h, err
		}
		if n.name = string(x.f.Text([]byte(n.name))); n.name != was.name {
			x.out.Texts++
			if slices.ContainsFunc(nodes, func(o node) bool { return o.name == n.name }) || slices.ContainsFunc(out, func(o node) bool { return o.name == n.name }) {
				return h, fmt.Errorf("two files in the folder %q would have one name, %s: rename one of them first", prefix, n.name)
			}
		}
		changed = changed || n != was
		if n.mode != modeDir || n.hash != emptyTree || was.hash == emptyTree {
			out = append(out, n)
		}
	}
	to := h
	if changed {
		if to, err = x.out.pack.add(plumbing.TreeObject, encodeTree(out)); err != nil {
			return h, err
		}
	}
	x.trees[key] = to
	return to, nil
}

var emptyTree = hashObject("tree", nil)

func (x *rewriter) blob(h plumbing.Hash) (plumbing.Hash, error) {
	if to, ok := x.blobs[h]; ok {
		return to, nil
	}
	old, err := x.s.bytes(plumbing.BlobObject, h)
	if err != nil {
		return h, err
	}
	to := h
	if text := x.f.Text(old); !bytes.Equal(text, old) {
		x.out.Texts++
		if to, err = x.out.pack.add(plumbing.BlobObject, text); err != nil {
			return h, err
		}
	}
	x.blobs[h] = to
	return to, nil
}

// index finds what the index is to hold instead of what it holds.
func (x *rewriter) index(r *Repo) error {
	text, err := os.ReadFile(filepath.Join(r.git, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	x.out.Index = text
	index, err := r.readIndex()
	if err != nil {
		return err
	}
	for _, e := range index.entries {
		if isFile(e.mode) || e.mode == modeLink {
			to, err := x.blob(e.hash)
			if err != nil {
				return fmt.Errorf("%s, as it is staged: %w", e.path, err)
			}
			if to != e.hash {
				x.out.Blobs[e.hash.String()] = to.String()
			}
		}
		parts := strings.Split(e.path, "/")
		for i := range parts {
			parts[i] = string(x.f.Text([]byte(parts[i])))
		}
		if name := strings.Join(parts, "/"); name != e.path {
			x.out.Names[e.path] = name
		}
	}
	return nil
}

// stash makes the log anew that all stashes but the newest live in.
func (x *rewriter) stash(r *Repo) {
	if x.out.Stash == nil {
		return
	}
	text := hashForm.ReplaceAllStringFunc(string(x.f.Text(x.out.Stash)), func(h string) string {
		if to, ok := x.commits[plumbing.NewHash(h)]; ok {
			return to.String()
		}
		return h
	})
	x.out.After = []byte(text)
}

// moves finds where the refs go; the branch gets one more commit.
func (x *rewriter) moves(r *Repo, refs map[string]plumbing.Hash) error {
	branch, _, err := r.head()
	if err != nil {
		return err
	}
	for name, h := range refs {
		to, err := x.object(h)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if name == branch {
			if to, err = x.last(to); err != nil {
				return err
			}
		}
		x.out.Refs = append(x.out.Refs, Move{name, h.String(), to.String()})
	}
	slices.SortFunc(x.out.Refs, func(a, b Move) int { return strings.Compare(a.Ref, b.Ref) })
	return nil
}

// object is what a ref's object becomes: nearly always a commit.
func (x *rewriter) object(h plumbing.Hash) (plumbing.Hash, error) {
	if to, ok := x.commits[h]; ok {
		return to, nil
	}
	o, err := x.s.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		return h, fmt.Errorf("read %s: %w", h, err)
	}
	switch o.Type() {
	case plumbing.TreeObject:
		return x.tree(h, "")
	case plumbing.BlobObject:
		return x.blob(h)
	}
	return x.tag(h)
}

// tag makes an annotated tag anew; one that changes loses its signature.
func (x *rewriter) tag(h plumbing.Hash) (plumbing.Hash, error) {
	old, err := x.s.bytes(plumbing.TagObject, h)
	if err != nil {
		return h, err
	}
	head, message, _ := strings.Cut(string(old), "\n\n")
	lines := unfold(head)
	for i, line := range lines {
		key, value, _ := strings.Cut(line, " ")
		switch key {
		case "object":
			to, err := x.object(plumbing.NewHash(value))
			if err != nil {
				return h, err
			}
			value = to.String()
		case "tagger":
			value = x.person(value)
		case "tag":
			value = string(x.f.Text([]byte(value)))
		}
		lines[i] = key + " " + value
	}
	text := string(x.f.Text([]byte(message)))
	if text != message {
		x.out.Texts++
	}
	if strings.Join(lines, "\n")+"\n\n"+text == string(old) {
		return h, nil
	}
	for _, begin := range []string{"-----BEGIN PGP SIGNATURE-----", "-----BEGIN SSH SIGNATURE-----", "-----BEGIN SIGNED MESSAGE-----"} {
		if i := strings.Index(text, begin); i >= 0 {
			text = text[:i]
			x.out.Signed++
		}
	}
	return x.out.pack.add(plumbing.TagObject, []byte(strings.Join(lines, "\n")+"\n\n"+text))
}

// last puts the commit on top that says that something was forgotten.
func (x *rewriter) last(parent plumbing.Hash) (plumbing.Hash, error) {
	c := x.f.Last(x.out)
	message, err := formatMessage(c.Subject, c.Body, c.Trailers)
	if err != nil {
		return parent, err
	}
	tree, err := x.treeNow(parent)
	if err != nil {
		return parent, err
	}
	j := &job{c: c, parent: parent, tree: tree}
	return x.out.pack.add(plumbing.CommitObject, j.commitObject(message))
}

// treeNow is the tree of a commit that was made anew.
func (x *rewriter) treeNow(commit plumbing.Hash) (plumbing.Hash, error) {
	for old, to := range x.commits {
		if to == commit {
			tree, err := x.s.treeOf(old)
			if err != nil {
				return tree, err
			}
			return x.tree(tree, "")
		}
	}
	return plumbing.ZeroHash, fmt.Errorf("commit %s was not met", commit)
}
