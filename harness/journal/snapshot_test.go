package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// Git is the judge of what a commit holds.
func TestSnapshot(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	write(t, r.root, "m/deep/b.org", "b\n")
	write(t, r.root, "run.sh", "#!/bin/sh\n")
	if err := os.Chmod(r.abs("run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.org", r.abs("link")); err != nil {
		t.Fatal(err)
	}
	hash := commit(t, r, "m/deep/b.org", "run.sh", "link")
	write(t, r.root, "a.org", "* two\n")
	commit(t, r, "a.org")

	then, err := r.Snapshot(t.Context(), hash)
	if err != nil {
		t.Fatal(err)
	}
	if then.Hash != hash || then.Kind != "EDIT" {
		t.Errorf("the commit is %+v", then.Entry)
	}
	var names, modes []string
	err = fs.WalkDir(then, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		names = append(names, p)
		b, err := fs.ReadFile(then, p)
		if err != nil {
			return err
		}
		same(t, p, string(b), runGit(t, r, "show", hash+":"+p))
		info, err := d.Info()
		if err != nil {
			return err
		}
		if info.Size() != int64(len(b)) || info.Name() != d.Name() {
			t.Errorf("%s: %s of %d bytes", p, info.Name(), info.Size())
		}
		modes = append(modes, info.Mode().String())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "files", strings.Join(names, "\n")+"\n", runGit(t, r, "ls-tree", "-r", "--name-only", hash))
	same(t, "modes", strings.Join(modes, " "), "-r--r--r-- Lr--r--r-- -r--r--r-- -r-xr-xr-x")

	f, err := then.Open("m/deep/b.org")
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(f); err != nil || string(b) != "b\n" {
		t.Errorf("read %q, %v", b, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"gone", "a.org/x", "m/deep/gone"} {
		if _, err := then.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"../x", "/etc/passwd", ""} {
		if _, err := then.Open(name); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := then.ReadFile("m"); err == nil {
		t.Error("a folder was read")
	}
	if _, err := then.ReadDir("a.org"); err == nil {
		t.Error("a file was listed")
	}
	for _, rev := range []string{"nonsense", strings.Repeat("1", 40)} {
		if _, err := r.Snapshot(t.Context(), rev); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", rev, err)
		}
	}
}

func TestBetween(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	first, err := r.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(t, r.root, "m/b.org", "b\n")
	write(t, r.root, "c.org", "c\n")
	commit(t, r, "m/b.org", "c.org")
	write(t, r.root, "c.org", "c again\n")
	if err := os.Remove(r.abs("a.org")); err != nil {
		t.Fatal(err)
	}
	last := commit(t, r, "c.org", "a.org")

	for _, c := range []struct{ from, to string }{{first, last}, {last, first}, {last, last}, {"HEAD~1", "HEAD"}} {
		list, err := r.Between(t.Context(), c.from, c.to)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, ch := range list {
			got += strings.ToUpper(string(ch.Kind[:1])) + "\t" + ch.Path + "\n"
		}
		same(t, "files between "+c.from+" and "+c.to, got, runGit(t, r, "diff", "--no-renames", "--name-status", c.from, c.to))
		text, err := r.DiffBetween(t.Context(), c.from, c.to)
		if err != nil {
			t.Fatal(err)
		}
		plus := func(s string) (out []string) {
			for l := range strings.Lines(s) {
				if strings.HasPrefix(l, "+") || strings.HasPrefix(l, "-") {
					out = append(out, l)
				}
			}
			return out
		}
		same(t, "diff", strings.Join(plus(text), ""), strings.Join(plus(runGit(t, r, "diff", "--no-renames", c.from, c.to)), ""))
	}
	if _, err := r.Between(t.Context(), first, "nonsense"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unknown revision: %v", err)
	}
	if _, err := r.DiffBetween(t.Context(), "nonsense", first); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an unknown revision: %v", err)
	}
}

// The line follows first parents only.
func TestLine(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	runGit(t, r, "switch", "-qc", "side")
	write(t, r.root, "side.org", "s\n")
	side := commit(t, r, "side.org")
	runGit(t, r, "switch", "-q", "main")
	write(t, r.root, "a.org", "* main\n")
	commit(t, r, "a.org")
	runGit(t, r, "merge", "-q", "--no-edit", "side")
	var got []string
	for e, err := range r.Line(t.Context(), "HEAD") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Hash == side {
			t.Error("the line leads over the merged branch")
		}
		got = append(got, e.Hash)
	}
	same(t, "line", strings.Join(got, "\n")+"\n", runGit(t, r, "log", "--first-parent", "--format=%H"))
	for _, err := range r.Line(t.Context(), "nonsense") {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("an unknown revision: %v", err)
		}
	}
}
