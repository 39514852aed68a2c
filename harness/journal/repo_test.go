package journal

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestInit(t *testing.T) {
	needGit(t)
	isolate(t)
	root := filepath.Join(t.TempDir(), "new", "home")
	for range 2 {
		if err := Init(t.Context(), root); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{root, filepath.Join(root, ".git")} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
	r, err := Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "status", runGit(t, r, "status", "--porcelain", "-b"), "## No commits yet on main\n")
	if head, err := r.Head(t.Context()); head != "" || err != nil {
		t.Errorf("Head before the first commit: %q, %v", head, err)
	}
	if n, err := r.LastTick(t.Context()); n != -1 || err != nil {
		t.Errorf("LastTick before the first commit: %d, %v", n, err)
	}
	list, _ := os.ReadDir(root)
	if len(list) != 1 {
		t.Errorf("init left %v", list)
	}
	var refused *Refusal
	for _, inside := range []string{".git", ".git/x/y"} {
		if err := Init(t.Context(), filepath.Join(root, inside)); !errors.As(err, &refused) {
			t.Errorf("Init in %s: %v", inside, err)
		}
	}
	// A home inside another repository gets its own.
	if err := Init(t.Context(), filepath.Join(root, "inner")); err != nil {
		t.Error(err)
	}
}

// Each state that amacs does not work in has an answer of its own.
func TestRefusals(t *testing.T) {
	needGit(t)
	sh := func(script string) func(*testing.T, *Repo) {
		return func(t *testing.T, r *Repo) {
			cmd := exec.Command("sh", "-c", script)
			cmd.Dir = r.root
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Logf("%s", out) // a conflict is what some want
			}
		}
	}
	conflict := "git switch -qc side && echo side >a.org && git commit -qam '[EDIT] side' && git switch -q main && echo main >a.org && git commit -qam '[EDIT] main'; "
	for name, c := range map[string]struct {
		break_ func(*testing.T, *Repo)
		want   string
	}{
		"none":           {sh("rm -rf .git"), "holds no git repository"},
		"ancestor":       {sh("mkdir home && mv .git ../.git"), "lies inside"},
		"file":           {sh("mv .git ../g && echo gitdir: ../g >.git"), "not a folder"},
		"bare":           {sh("mv .git/* . && rm -rf .git"), "bare repository"},
		"bare config":    {sh("git config core.bare true"), "bare repository"},
		"no HEAD":        {sh("rm .git/HEAD"), "broken repository"},
		"garbled HEAD":   {sh("echo garbage >.git/HEAD"), "does not name a branch"},
		"empty ref":      {sh(": >.git/refs/heads/main"), "holds no commit"},
		"config":         {sh("echo '[core' >.git/config"), "can not be read"},
		"cut index":      {sh("head -c 50 .git/index >i && mv i .git/index"), "can not be used"},
		"empty index":    {sh(": >.git/index"), "can not be used"},
		"detached":       {sh("git checkout -q --detach"), "HEAD is detached"},
		"merge":          {sh(conflict + "git merge side"), "a merge is in progress"},
		"rebase":         {sh(conflict + "git rebase side"), "a rebase is in progress"},
		"rebase apply":   {sh(conflict + "git rebase --apply side"), "`git am` is in progress"},
		"cherry-pick":    {sh(conflict + "git cherry-pick side"), "a cherry-pick is in progress"},
		"revert":         {sh("for i in 1 2; do echo $i >a.org; git commit -qam $i; done; git revert HEAD~1"), "a revert is in progress"},
		"bisect":         {sh("git bisect start"), "a bisect is in progress"},
		"sha256":         {sh("rm -rf .git && git init -q --object-format=sha256"), "uses sha256"},
		"split index":    {sh("git update-index --split-index"), "split index"},
		"sparse":         {sh("mkdir d && git sparse-checkout set d"), "refused"},
		"worktreeConfig": {sh("git config core.repositoryFormatVersion 1; git config extensions.worktreeConfig true"), "worktreeConfig"},
		"reftable":       {sh("git config core.repositoryFormatVersion 1; git config extensions.refStorage reftable"), "refStorage"},
		"core.worktree":  {sh("git config core.worktree /tmp"), "core.worktree"},
	} {
		t.Run(name, func(t *testing.T) {
			isolate(t)
			root := filepath.Join(t.TempDir(), "home")
			if err := Init(t.Context(), root); err != nil {
				t.Fatal(err)
			}
			r, err := Open(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			write(t, root, "a.org", "* one\n")
			commit(t, r, "a.org")
			c.break_(t, r)
			_, err = Open(t.Context(), root)
			var refused *Refusal
			if !errors.As(err, &refused) || refused.Do == "" || refused.Path == "" {
				t.Fatalf("Open: %v", err)
			}
			if c.want != "refused" && !strings.Contains(err.Error(), c.want) {
				t.Errorf("Open says %q, want %q in it", err, c.want)
			}
		})
	}
}

// A repository that goes into such a state later is not written to either.
func TestCommitDuringRebase(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	runGit(t, r, "checkout", "-q", "--detach")
	write(t, r.root, "a.org", "x")
	var refused *Refusal
	if _, err := r.Commit(t.Context(), Commit{Subject: "[EDIT] x", Paths: []string{"a.org"}}); !errors.As(err, &refused) {
		t.Errorf("Commit on a detached HEAD: %v", err)
	}
}

func TestHuman(t *testing.T) {
	needGit(t)
	home := isolate(t)
	r := emptyRepo(t)
	ask := func() string { return Human(t.Context(), r.root).String() }
	same(t, "global", ask(), "Ann Human <ann@example.org>")
	write(t, home, "inc", "[user]\n\tname = Included\n")
	runGit(t, r, "config", "--global", "include.path", "inc")
	same(t, "included", ask(), "Included <ann@example.org>")
	t.Setenv("GIT_AUTHOR_NAME", "Env")
	t.Setenv("GIT_DIR", "/nowhere")
	same(t, "environment", ask(), "Env <ann@example.org>")
	t.Setenv("PATH", "")
	same(t, "no git", ask(), "Ann Human <ann@example.org>")
	os.Remove(filepath.Join(home, ".gitconfig"))
	same(t, "nothing", ask(), "human <human@localhost>")
}
