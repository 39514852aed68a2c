package journal

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestChanges(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	write(t, r.root, "b/c.org", "c")
	write(t, r.root, "b/d.org", "d")
	commit(t, r, "b/c.org", "b/d.org")
	same(t, "clean", changes(t, r), "")
	write(t, r.root, "b/c.org", "C")
	os.Remove(r.abs("b/d.org"))
	write(t, r.root, "b/new/e.org", "e")
	os.Chmod(r.abs("a.org"), 0o755)
	write(t, r.root, "nested/.git/HEAD", "x")
	write(t, r.root, "nested/file", "x")
	want := "modified a.org\nmodified b/c.org\ndeleted b/d.org\nadded b/new/e.org"
	for range 2 {
		same(t, "changes", changes(t, r), want)
	}
	runGit(t, r, "add", "a.org", "b")
	same(t, "changes, staged", changes(t, r), want)
	commit(t, r, "a.org", "b/c.org", "b/d.org", "b/new/e.org")
	same(t, "committed", changes(t, r), "")
	same(t, "mode", runGit(t, r, "ls-tree", "HEAD", "a.org")[:6], "100755")
	runGit(t, r, "config", "core.fileMode", "false")
	os.Chmod(r.abs("a.org"), 0o644)
	same(t, "core.fileMode", changes(t, r), "")

	fresh := emptyRepo(t)
	same(t, "no commit yet", changes(t, fresh), "")
	write(t, fresh.root, "x", "x")
	same(t, "no commit yet", changes(t, fresh), "added x")
}

// Every source of excludes is honoured; what is tracked is compared even so.
func TestExcludes(t *testing.T) {
	needGit(t)
	home := isolate(t)
	r := emptyRepo(t)
	write(t, r.root, "tracked.log", "1")
	write(t, r.root, "ignored-dir/tracked", "1")
	commit(t, r, "tracked.log", "ignored-dir/tracked")
	write(t, home, ".config/git/ignore", "*.global\n")
	write(t, r.root, ".git/info/exclude", "*.private\n")
	write(t, r.root, ".gitignore", "*.log\nignored-dir/\n!keep.log\n")
	write(t, r.root, "sub/.gitignore", "!*.private\n/only-here\n")
	for _, p := range []string{"a.log", "keep.log", "x.global", "x.private", "sub/x.private", "sub/only-here", "sub/deep/only-here", "ignored-dir/new"} {
		write(t, r.root, p, "x")
	}
	write(t, r.root, "tracked.log", "2!")
	write(t, r.root, "ignored-dir/tracked", "2!")
	want := "added .gitignore\nmodified ignored-dir/tracked\nadded keep.log\nadded sub/.gitignore\nadded sub/deep/only-here\nadded sub/x.private\nmodified tracked.log"
	same(t, "changes", changes(t, r), want)

	write(t, home, "mine", "*.global\nkeep.log\n")
	runGit(t, r, "config", "--global", "core.excludesFile", "~/mine")
	again, err := Open(t.Context(), r.root)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "changes with core.excludesFile", changes(t, again), want) // keep.log: .gitignore is stronger
	t.Setenv("PATH", "")
	bare, err := Open(t.Context(), r.root)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "changes without a git binary", changes(t, bare), want)
}

// After a copy all times differ: content decides, and the index learns.
func TestRefresh(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	var paths []string
	for i := range worthRefresh + 8 {
		p := "f/" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		write(t, r.root, p, p)
		paths = append(paths, p)
	}
	commit(t, r, paths...)
	for _, p := range paths {
		age(t, r, p)
	}
	same(t, "changes", changes(t, r), "")
	x, err := r.readIndex()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range x.entries {
		if slices.Contains(paths, e.path) && (e.size == 0 || e.stat == (stat{})) {
			t.Errorf("%s was not refreshed", e.path)
		}
	}
	same(t, "status", runGit(t, r, "status", "--porcelain"), "")
}

// What the index remembers of a file is believed only if the index was written
// after the file.
func TestRacyIndex(t *testing.T) {
	r := newRepo(t)
	write(t, r.root, "a.org", "* TWO\n")
	write(t, r.root, "b.org", "b")
	age(t, r, "a.org")
	info, err := os.Lstat(r.abs("a.org"))
	if err != nil {
		t.Fatal(err)
	}
	x, err := r.readIndex()
	if err != nil {
		t.Fatal(err)
	}
	x.entries[0].fill(info) // a lie: the entry's content is "* one"
	path := filepath.Join(r.git, "index")
	if err := os.WriteFile(path, x.encode(), 0o644); err != nil {
		t.Fatal(err)
	}
	same(t, "index written later", changes(t, r), "added b.org")
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	same(t, "index written at the same time", changes(t, r), "modified a.org\nadded b.org")

	needGit(t)
	commit(t, r, "b.org") // writes the index anew, later than the file
	same(t, "after a commit of another file", changes(t, r), "modified a.org")
	same(t, "git's own view", runGit(t, r, "status", "--porcelain", "a.org"), " M a.org\n")
}

var globs = [][2]string{ // pattern, path
	{"*.log", "a.log"}, {"*.log", "d/a.log"}, {"/a", "a"}, {"/a", "d/a"}, {"d/", "d/x"}, {"a/", "a"}, {"[!a]b", "xb"}, {"[!a]b", "ab"}, {"[^a]b", "xb"},
	{"a**b", "axxb"}, {"a**b", "a/b"}, {"**/b", "b"}, {"**/b", "x/y/b"}, {"a/**", "a/x"}, {"a/**", "a"}, {"a/**/b", "a/b"}, {"a/**/b", "a/x/y/b"}, {"d/*.x", "d/e/a.x"},
	{"*-key*", "my-key.txt"}, {"\\!x", "!x"}, {"\\#x", "#x"}, {"#x", "#x"}, {"x ", "x"}, {"x\\ ", "x "}, {"[[:digit:]]x", "1x"}, {"[[:digit:]]x", "ax"}, {"[a-c]", "b"}, {"[]a]", "]"},
	{"[a", "[a"}, {"a\\", "a\\"}, {"?", "a"}, {"?", "é"}, {"d/?", "d/a"}, {"d?a", "d/a"}, {"*", "x/y"}, {"x/*/z", "x/y/z"}, {"**", "x"}, {"a/b/", "a/b/c"}, {"*/b", "x/b"}, {"*/b", "x/y/b"},
	{"**/", "x/y"}, {"[-a]", "-"}, {"[a-]", "-"}, {"[\\]]", "]"}, {"[!-c]", "x"}, {"[[:foo:]]", "f"}, {"[[:alpha:][:digit:]]", "9"}, {"[[:]", "["}, {"/", "x"}, {"//a", "a"}, {"a//", "a/x"}, {"x\t", "x"}, {"\r", "x"},
	{"***/b", "q/b"}, {"a***", "ab"}, {"a/***/b", "a/b"}, {"[a-\\z]", "q"}, {"[z-a]", "q"}, {" x", " x"}, {"x \\ ", "x   "},
	{"!a", "a"}, {"!!a", "!a"}, {"a/./b", "a/b"}, {"[a/]x", "ax"}, {"x[/]y", "x/y"}, {"**a", "x/a"}, {"/**", "x/y"}, {"/*", "x"}, {"/*/", "x/y"},
}

// Our matcher agrees with `git check-ignore`.
func TestIgnoreAgreesWithGit(t *testing.T) {
	needGit(t)
	isolate(t)
	r := emptyRepo(t)
	for _, g := range globs {
		agree(t, r, g[0], g[1])
	}
}

func agree(t *testing.T, r *Repo, pattern, path string) {
	t.Helper()
	write(t, r.root, ".gitignore", pattern+"\n")
	_, err := tryGit(r, "check-ignore", "--no-index", "-q", "--", path)
	rs := newRules(nil, "", pattern+"\n", false)
	got := false
	for i := 0; i <= len(path) && !got; i++ { // as a walk meets its folders
		if i == len(path) || path[i] == '/' {
			got = rs.ignored(path[:i], i < len(path))
		}
	}
	if want := err == nil; got != want {
		t.Errorf("pattern %q, path %q: ours says %v, git %v", pattern, path, got, want)
	}
}

func FuzzIgnoreAgreesWithGit(f *testing.F) {
	needGit(f)
	isolate(f)
	root := f.TempDir()
	if err := Init(f.Context(), root); err != nil {
		f.Fatal(err)
	}
	for _, g := range globs {
		f.Add(g[0], g[1])
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		clean := filepath.Clean(path)
		if clean != path || !filepath.IsLocal(path) || path == "." || len(path) > 50 || len(pattern) > 50 ||
			strings.ContainsAny(pattern+path, "\x00\n") || strings.HasPrefix(path, ":") || strings.Contains(strings.ToLower(path), "git") {
			t.Skip()
		}
		agree(t, &Repo{root: root, git: filepath.Join(root, ".git")}, pattern, path)
	})
}

// The index survives its codec, and no input panics it.
func FuzzIndex(f *testing.F) {
	needGit(f)
	isolate(f)
	r := emptyRepo(f)
	write(f, r.root, "a", "1")
	write(f, r.root, "d/e/b", "2")
	commit(f, r, "a", "d/e/b")
	write(f, r.root, "i", "2")
	runGit(f, r, "add", "-N", "i")
	for _, v := range []string{"2", "3", "4"} {
		runGit(f, r, "update-index", "--index-version", v)
		data, err := os.ReadFile(filepath.Join(r.git, "index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		f.Add(append(data[:len(data)-20:len(data)-20], make([]byte, 20)...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 20 {
			copy(data[len(data)-20:], make([]byte, 20)) // else nothing passes the checksum
		}
		x, err := parseIndex(data)
		if err != nil {
			return
		}
		once := x.encode()
		y, err := parseIndex(once)
		if err != nil {
			t.Fatalf("what was written can not be read: %v", err)
		}
		if again := y.encode(); string(again) != string(once) {
			t.Fatal("second writing differs")
		}
	})
}
