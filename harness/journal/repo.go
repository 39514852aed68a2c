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
	"sync"

	"github.com/go-git/go-billy/v5/osfs"
	git "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	format "github.com/go-git/go-git/v5/plumbing/format/config"

	"amacs/harness/disk"
)

// Repo is the repository of a home. It keeps no open file between calls, since
// a user's `git gc` may replace any of them, and is safe for concurrent use by
// goroutines and by processes.
type Repo struct {
	root string // absolute, links resolved
	git  string // root/.git

	excludes func() string // the user's global excludes file, asked once
	zips     zips
	nosync   bool // tests that build long histories
}

// Refusal says why amacs does not use a repository, and what to do about it.
type Refusal struct {
	Path string // the file or folder it is about
	What string // what is wrong with it
	Do   string // what the human can do
}

func (r *Refusal) Error() string { return r.Path + ": " + r.What + "; " + r.Do }

// Init makes root, with mode 0700, a repository with branch main. It does
// nothing where Open would succeed, and gives a *Refusal where root lies inside
// some repository's .git or holds a repository that Open refuses.
func Init(ctx context.Context, root string) error {
	if err := os.MkdirAll(root, 0o700); err != nil {
		return fmt.Errorf("init %s: %w", root, err)
	}
	root, err := resolve(root)
	if err != nil {
		return err
	}
	for dir := root; ; dir = filepath.Dir(dir) {
		if isGitDir(dir) {
			return &Refusal{dir, "is the inside of a git repository", "choose another folder for the home"}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
		_, err := Open(ctx, root)
		return err
	}
	// Made aside and renamed, so that no half of a repository can remain.
	aside, err := os.MkdirTemp(root, ".git-"+tempPrefix)
	if err != nil {
		return fmt.Errorf("init %s: %w", root, err)
	}
	defer os.RemoveAll(aside)
	if _, err := git.PlainInitWithOptions(aside, &git.PlainInitOptions{
		InitOptions: git.InitOptions{DefaultBranch: plumbing.Main},
	}); err != nil {
		return fmt.Errorf("init %s: %w", root, err)
	}
	made := filepath.Join(aside, ".git")
	if err := errors.Join(os.Chmod(made, 0o700), syncTree(made)); err != nil {
		return fmt.Errorf("init %s: %w", root, err)
	}
	if err := os.Rename(made, filepath.Join(root, ".git")); err != nil {
		if _, again := Open(ctx, root); again == nil {
			return nil // another process was quicker
		}
		return fmt.Errorf("init %s: %w", root, err)
	}
	return disk.Sync(root)
}

// Open checks that root is a repository that amacs can write to, and gives a
// *Refusal where it is not.
func Open(ctx context.Context, root string) (*Repo, error) {
	r, err := OpenToRead(ctx, root)
	if err != nil {
		return nil, err
	}
	if _, err := r.idle(); err != nil {
		return nil, err
	}
	return r, nil
}

// OpenToRead is Open for one who only looks: it does not mind a merge or rebase
// in progress, nor a detached HEAD.
func OpenToRead(ctx context.Context, root string) (*Repo, error) {
	root, err := resolve(root)
	if err != nil {
		return nil, err
	}
	r := &Repo{root: root, git: filepath.Join(root, ".git")}
	r.excludes = sync.OnceValue(func() string { return globalExcludes(root) })
	if err := r.there(); err != nil {
		return nil, err
	}
	if err := r.supported(); err != nil {
		return nil, err
	}
	if _, err := r.readIndex(); err != nil {
		return nil, err
	}
	return r, ctx.Err()
}

func resolve(root string) (string, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return "", fmt.Errorf("open %s: %w", root, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &Refusal{abs, "there is no such folder", "run `amacs init`"}
	}
	if err != nil {
		return "", fmt.Errorf("open %s: %w", root, err)
	}
	return real, nil
}

// isGitDir tells whether dir is what a .git folder or a bare repository is.
func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// there checks that root has a .git folder of its own.
func (r *Repo) there() error {
	info, err := os.Lstat(r.git)
	switch {
	case err == nil && info.IsDir():
		if !isGitDir(r.git) {
			return &Refusal{r.git, "is a broken repository (no HEAD, objects or refs)", "restore it from a copy, or move it away and run `amacs init`"}
		}
		return nil
	case err == nil:
		return &Refusal{r.git, "is not a folder (a linked worktree or a submodule?)", "use a repository of its own for the home"}
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("open %s: %w", r.git, err)
	case isGitDir(r.root):
		return &Refusal{r.root, "is a bare repository", "choose another folder for the home"}
	}
	for dir := filepath.Dir(r.root); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return &Refusal{r.root, "has no repository of its own; it lies inside " + dir, "run `amacs init`, which makes its own"}
		}
		if dir == filepath.Dir(dir) {
			return &Refusal{r.root, "holds no git repository", "run `amacs init`"}
		}
	}
}

// supported refuses the kinds of repository that we would damage.
func (r *Repo) supported() error {
	path := filepath.Join(r.git, "config")
	cfg, err := readConfig(path)
	if err != nil {
		return &Refusal{path, "can not be read: " + err.Error(), "correct that file"}
	}
	core, ext := cfg.Raw.Section("core"), cfg.Raw.Section("extensions")
	refuse := func(what, do string) error { return &Refusal{r.root, what, do} }
	for _, o := range ext.Options {
		switch name := strings.ToLower(o.Key); {
		case name == "objectformat" && o.Value == "sha1", name == "refstorage" && o.Value == "files":
		case name == "noop", name == "preciousobjects", name == "relativeworktrees":
		case name == "objectformat":
			return refuse("uses "+o.Value+" object names, which amacs can not read", "use a repository made with `git init --object-format=sha1`")
		case name == "worktreeconfig":
			if isTrue(o.Value) {
				return refuse("uses extensions.worktreeConfig", "run `git config --unset extensions.worktreeConfig`")
			}
		default:
			return refuse("uses the git extension "+o.Key+", which amacs does not know", "use a plain repository")
		}
	}
	switch {
	case isTrue(core.Option("bare")):
		return refuse("is a bare repository", "run `git config core.bare false` if its files are here")
	case core.Option("worktree") != "":
		return refuse("keeps its files elsewhere (core.worktree)", "run `git config --unset core.worktree`")
	case isTrue(core.Option("sparseCheckout")):
		return refuse("is a sparse checkout", "run `git sparse-checkout disable`")
	case isTrue(core.Option("splitIndex")):
		return splitIndex(r.root)
	}
	return nil
}

func splitIndex(path string) error {
	return &Refusal{path, "uses a split index", "run `git config core.splitIndex false` and `git update-index --no-split-index`"}
}

// readConfig reads one git config file; one that is missing is empty.
func readConfig(path string) (*config.Config, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	cfg := config.NewConfig()
	return cfg, format.NewDecoder(strings.NewReader(string(data))).Decode(cfg.Raw)
}

func isTrue(v string) bool {
	return slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(v))
}

// idle gives the branch, and refuses while the human is in the middle of
// something, or on no branch.
func (r *Repo) idle() (branch string, err error) {
	for _, state := range []struct{ file, what, do string }{
		{"rebase-merge", "a rebase is in progress", "finish it with `git rebase --continue` or `--abort`"},
		{"rebase-apply", "a rebase or `git am` is in progress", "finish it with `git rebase --continue`, `git am --continue` or `--abort`"},
		{"MERGE_HEAD", "a merge is in progress", "finish it with `git merge --continue` or `--abort`"},
		{"CHERRY_PICK_HEAD", "a cherry-pick is in progress", "finish it with `git cherry-pick --continue` or `--abort`"},
		{"REVERT_HEAD", "a revert is in progress", "finish it with `git revert --continue` or `--abort`"},
		{"BISECT_LOG", "a bisect is in progress", "finish it with `git bisect reset`"},
	} {
		if _, err := os.Lstat(filepath.Join(r.git, state.file)); err == nil {
			return "", &Refusal{r.root, state.what, state.do}
		}
	}
	branch, hash, err := r.head()
	if err == nil && branch == "" {
		err = &Refusal{r.root, "HEAD is detached at " + hash.String()[:10], "run `git switch main` (or `git switch -c NAME` to keep what is there)"}
	}
	return branch, err
}

// head reads HEAD: the branch (refs/heads/…; "" when detached) and the commit
// it is at, zero before the first one.
func (r *Repo) head() (branch string, hash plumbing.Hash, err error) {
	path := filepath.Join(r.git, "HEAD")
	text, err := os.ReadFile(path)
	if err != nil {
		return "", hash, &Refusal{path, "can not be read: " + err.Error(), "restore it: it holds `ref: refs/heads/main`"}
	}
	line := strings.TrimSpace(string(text))
	if plumbing.IsHash(line) {
		return "", plumbing.NewHash(line), nil
	}
	branch, ok := strings.CutPrefix(line, "ref: ")
	if !ok || !strings.HasPrefix(branch, "refs/heads/") || plumbing.ReferenceName(branch).Validate() != nil {
		return "", hash, &Refusal{path, "does not name a branch", "restore it: it holds `ref: refs/heads/main`"}
	}
	hash, err = r.ref(branch)
	return branch, hash, err
}

// ref reads a branch, zero where it does not exist. A ref file that is there
// but holds no hash is broken, never "no commit yet".
func (r *Repo) ref(name string) (plumbing.Hash, error) {
	path := filepath.Join(r.git, filepath.FromSlash(name))
	text, err := os.ReadFile(path)
	if err == nil {
		if line := strings.TrimSpace(string(text)); plumbing.IsHash(line) {
			return plumbing.NewHash(line), nil
		}
		return plumbing.ZeroHash, &Refusal{path, "holds no commit", "look for the last good one in " + filepath.Join(r.git, "logs", name) + " and run `git update-ref " + name + " HASH`"}
	}
	if info, dirErr := os.Stat(path); !errors.Is(err, fs.ErrNotExist) && (dirErr != nil || !info.IsDir()) {
		return plumbing.ZeroHash, fmt.Errorf("read the branch %s: %w", name, err)
	}
	s := r.store()
	defer s.Close()
	found, err := s.Reference(plumbing.ReferenceName(name))
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return plumbing.ZeroHash, nil
	}
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read the branch %s: %w", name, err)
	}
	return found.Hash(), nil
}

// Head is the hash of the last commit, "" before the first one.
func (r *Repo) Head(ctx context.Context) (string, error) {
	_, hash, err := r.head()
	if err != nil || hash.IsZero() {
		return "", errors.Join(err, ctx.Err())
	}
	return hash.String(), ctx.Err()
}

func (r *Repo) store() *store {
	return newStore(osfs.New(r.git, osfs.WithBoundOS()))
}
