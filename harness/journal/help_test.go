package journal

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if child := os.Getenv("JOURNAL_CHILD"); child != "" {
		os.Exit(runChild(child))
	}
	os.Exit(m.Run())
}

// needGit skips a test where there is no git, except on CI.
func needGit(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no git")
		}
		t.Skip("no git")
	}
}

// isolate keeps the user's git config away.
func isolate(t testing.TB) string {
	home := t.TempDir()
	for k, v := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "", "GIT_AUTHOR_EMAIL": ""} {
		if v == "" {
			t.Setenv(k, "x")
			os.Unsetenv(k)
			continue
		}
		t.Setenv(k, v)
	}
	write(t, home, ".gitconfig", "[user]\n\tname = Ann Human\n\temail = ann@example.org\n[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n[gc]\n\tautoDetach = false\n")
	return home
}

// newRepo makes a home with a first commit of a.org; the test's end checks it.
func newRepo(t testing.TB) *Repo {
	t.Helper()
	isolate(t)
	r := emptyRepo(t)
	write(t, r.root, "a.org", "* one\n")
	commit(t, r, "a.org")
	return r
}

func emptyRepo(t testing.TB) *Repo {
	t.Helper()
	root := t.TempDir()
	if err := Init(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := exec.LookPath("git"); err != nil || t.Failed() {
			return
		}
		fsck(t, root)
	})
	return r
}

func fsck(t testing.TB, root string) {
	t.Helper()
	cmd := exec.Command("git", "fsck", "--full", "--strict", "--no-dangling")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Contains(out, []byte("error")) || bytes.Contains(out, []byte("warning")) {
		t.Errorf("git fsck: %v\n%s", err, out)
	}
}

func write(t testing.TB, root, path, text string) {
	t.Helper()
	full := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func commit(t testing.TB, r *Repo, paths ...string) string {
	t.Helper()
	return record(t, r, Commit{Paths: paths})
}

func record(t testing.TB, r *Repo, c Commit) string {
	t.Helper()
	if c.Subject == "" {
		c.Subject = Subject("EDIT", strings.Join(c.Paths, ", "))
	}
	hash, err := r.Commit(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func runGit(t testing.TB, r *Repo, args ...string) string {
	t.Helper()
	out, err := tryGit(r, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func tryGit(r *Repo, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = r.root
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// changes lists "kind path" of each change.
func changes(t testing.TB, r *Repo) string {
	t.Helper()
	list, err := r.Changes(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range list {
		out = append(out, string(c.Kind)+" "+c.Path)
	}
	return strings.Join(out, "\n")
}

// age makes a file look as if written long ago.
func age(t testing.TB, r *Repo, path string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(r.abs(path), old, old); err != nil {
		t.Fatal(err)
	}
}

func same(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}
