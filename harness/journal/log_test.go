package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// story makes a short history and gives its hashes, oldest first.
func story(t *testing.T, r *Repo) (hashes []string) {
	start := time.Date(2026, 11, 21, 5, 0, 0, 0, time.UTC)
	for i, c := range []Commit{
		{Subject: Subject("INIT", "a new home"), Paths: []string{"a.org"}},
		{Subject: TickSubject(1, "rust", "focused", "Borrow checker"), Paths: []string{"a.org", "m/b.org"}, Trailers: []Trailer{{"Tick", "1"}, {"Mood", "focused"}}},
		{Subject: Subject("EDIT", "m/b.org"), Paths: []string{"m/b.org"}, Author: Ident{"Ann", "ann@x"}},
		{Subject: TickSubject(2, "", "Calm", "idle"), Body: "said ÜBER things", Paths: []string{"a.org"}},
	} {
		c.When, c.Contents = start.Add(time.Duration(i)*time.Hour), map[string][]byte{}
		for _, p := range c.Paths {
			c.Contents[p] = fmt.Appendf(nil, "%d\n", i)
		}
		hashes = append(hashes, record(t, r, c))
	}
	return hashes
}

func TestLog(t *testing.T) {
	isolate(t)
	r := emptyRepo(t)
	h := story(t, r)
	at := func(hour int) time.Time { return time.Date(2026, 11, 21, hour, 0, 0, 0, time.UTC) }
	for _, c := range []struct {
		q    Query
		want string // indexes into h
	}{
		{Query{}, "3210"},
		{Query{Max: 2}, "32"},
		{Query{After: h[2]}, "10"},
		{Query{After: h[3][:10]}, "210"},
		{Query{After: "HEAD~1", Max: 1}, "1"},
		{Query{After: h[0]}, ""},
		{Query{Tick: 1, HasTick: true}, "1"},
		{Query{HasTick: true}, ""},
		{Query{Thread: "rust"}, "1"},
		{Query{Mood: "calm"}, "3"},
		{Query{Kind: "TICK"}, "31"},
		{Query{Kind: "EDIT"}, "2"},
		{Query{Text: "über"}, "3"},
		{Query{Text: "BORROW"}, "1"},
		{Query{Path: "m/b.org"}, "21"},
		{Query{Path: "m"}, "21"},
		{Query{Path: "m/"}, "21"},
		{Query{Path: "a.org", Kind: "TICK"}, "31"},
		{Query{Path: "none"}, ""},
		{Query{Since: at(6), Until: at(7)}, "21"},
	} {
		got := ""
		for e, err := range r.Log(t.Context(), c.q) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range h {
				if h[i] == e.Hash {
					got += fmt.Sprint(i)
				}
			}
		}
		if got != c.want {
			t.Errorf("Log(%+v) = %s, want %s", c.q, got, c.want)
		}
	}
	for e, err := range r.Log(t.Context(), Query{Kind: "EDIT"}) {
		if err != nil || e.Author != (Ident{"Ann", "ann@x"}) || e.Text != "m/b.org" || !e.When.Equal(at(7)) {
			t.Errorf("%+v, %v", e, err)
		}
	}
	for _, err := range r.Log(t.Context(), Query{After: "nonsense"}) {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("After an unknown revision: %v", err)
		}
	}
}

func TestLastTick(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	expect := func(want int) {
		t.Helper()
		if n, err := r.LastTick(t.Context()); n != want || err != nil {
			t.Errorf("LastTick = %d, %v, want %d", n, err, want)
		}
	}
	expect(-1)
	for i := 1; i <= 4; i++ {
		record(t, r, Commit{Subject: TickSubject(i, "", "m", ""), Trailers: []Trailer{{"Tick", fmt.Sprint(i)}}, AllowEmpty: true})
	}
	commitAll := func(args ...string) { runGit(t, r, append([]string{"commit", "-q", "--allow-empty"}, args...)...) }
	commitAll("-m", "a human's")
	expect(4)
	runGit(t, r, "reset", "-q", "--hard", "HEAD~4")
	expect(4)
	os.RemoveAll(filepath.Join(r.git, "logs"))
	expect(1)
	commitAll("-m", "Tick 7 ‖ t ‖ m ‖ 0.5 ‖ text")
	expect(7)
	commitAll("-m", "reworded\n\nTick: 9")
	os.RemoveAll(filepath.Join(r.git, "logs"))
	expect(9)
}

// Diff can be applied, and gives the tree of the commit.
func TestDiff(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	write(t, r.root, "a.org", "one\ntwo\nno newline")
	write(t, r.root, "dir/ü b.org", "new\n")
	write(t, r.root, "run", "#!/bin/sh\n")
	os.Chmod(r.abs("run"), 0o755)
	os.Symlink("a.org", r.abs("link"))
	commit(t, r, "a.org", "dir/ü b.org", "run", "link")
	os.Remove(r.abs("link"))
	write(t, r.root, "a.org", "one\n2\nno newline")
	os.Chmod(r.abs("run"), 0o644)
	commit(t, r, "a.org", "link", "run")
	var hashes []string
	for e, err := range r.Log(t.Context(), Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, e.Hash)
	}
	other := emptyRepo(t)
	for i := len(hashes) - 1; i >= 0; i-- {
		diff, err := r.Diff(t.Context(), hashes[i])
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "--index", "-")
		cmd.Dir, cmd.Stdin = other.root, strings.NewReader(diff)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git apply: %s\n%s", out, diff)
		}
		same(t, "tree", runGit(t, other, "write-tree"), runGit(t, r, "rev-parse", hashes[i]+"^{tree}"))
	}
	if d, err := r.Diff(t.Context(), "HEAD"); err != nil || !strings.Contains(d, "-two\n+2\n") {
		t.Errorf("Diff(HEAD): %v\n%s", err, d)
	}
	for _, rev := range []string{"nonsense", strings.Repeat("0", 39) + "1", ""} {
		if _, err := r.Diff(t.Context(), rev); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("Diff(%q): %v", rev, err)
		}
	}
}

func TestFile(t *testing.T) {
	isolate(t)
	r := emptyRepo(t)
	if _, err := r.File(t.Context(), "HEAD", "a.org"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("File before the first commit: %v", err)
	}
	h := story(t, r)
	for _, c := range []struct{ rev, path, want string }{{"HEAD", "a.org", "3\n"}, {h[0], "a.org", "0\n"}, {"HEAD~1", "m/b.org", "2\n"}, {h[1][:8], "a.org", "1\n"}} {
		got, err := r.File(t.Context(), c.rev, c.path)
		if err != nil || string(got) != c.want {
			t.Errorf("File(%s, %s) = %q, %v", c.rev, c.path, got, err)
		}
	}
	for _, c := range [][2]string{{"HEAD", "none"}, {"HEAD", "m"}, {"HEAD", "a.org/x"}, {h[0], "m/b.org"}, {"nonsense", "a.org"}} {
		if _, err := r.File(t.Context(), c[0], c[1]); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("File(%s, %s): %v", c[0], c[1], err)
		}
	}
}

// An object that a `git gc` moved away since the store was opened is found.
func TestGcWhileReading(t *testing.T) {
	needGit(t)
	isolate(t)
	r := emptyRepo(t)
	old := story(t, r)[0]
	runGit(t, r, "gc", "-q")
	s := r.store()
	defer s.Close()
	read := func(hash string) {
		t.Helper()
		if _, err := s.bytes(plumbing.CommitObject, plumbing.NewHash(hash)); err != nil {
			t.Error(err)
		}
	}
	read(old)
	hashes := story(t, r)
	runGit(t, r, "repack", "-q", "-a", "-d")
	for _, h := range hashes {
		read(h)
	}
	read(old)
}

func TestShallow(t *testing.T) {
	needGit(t)
	isolate(t)
	r := emptyRepo(t)
	story(t, r)
	root := filepath.Join(t.TempDir(), "clone")
	if out, err := exec.Command("git", "clone", "-q", "--depth", "2", "file://"+r.root, root).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	clone, err := Open(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range clone.Log(t.Context(), Query{Path: "a.org"}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 2 {
		t.Errorf("a shallow clone shows %d commits, want 2", n)
	}
}

// die leaves locks as a killed process does.
func die(t *testing.T, r *Repo, names ...string) {
	t.Helper()
	l, err := r.lock(t.Context(), lockName, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if err := l.acquire(t.Context(), filepath.Join(r.git, n), time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	l.f.Close()
}

func TestSettle(t *testing.T) {
	r := newRepo(t)
	die(t, r, "index", "refs/heads/main")
	write(t, r.git, "refs/heads/other.lock", "0123\n") // git's
	write(t, r.git, "amacs-tmp-1", "x")
	write(t, r.git, "objects/tmp_obj_amacs_1", "x")
	write(t, r.git, "objects/12/tmp_obj_git", "x")
	words, err := r.Settle(t.Context())
	if err != nil || len(words) != 3 || !strings.Contains(words[0], fmt.Sprintf("index.lock, left by amacs, process %d, which", os.Getpid())) {
		t.Errorf("Settle: %q, %v", words, err)
	}
	live, err := r.lock(t.Context(), lockName, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := live.acquire(t.Context(), filepath.Join(r.git, "index"), time.Now()); err != nil {
		t.Fatal(err)
	}
	if again, err := r.Settle(t.Context()); len(again) != 0 || err != nil {
		t.Errorf("Settle beside a living one: %q, %v", again, err)
	}
	for p, want := range map[string]bool{"index.lock": true, "refs/heads/main.lock": false, "refs/heads/other.lock": true,
		"amacs-tmp-1": false, "objects/tmp_obj_amacs_1": false, "objects/12/tmp_obj_git": true} {
		if _, err := os.Lstat(filepath.Join(r.git, p)); (err == nil) != want {
			t.Errorf("%s: there %v, want %v", p, err == nil, want)
		}
	}
	live.release()
	os.Remove(filepath.Join(r.git, "refs/heads/other.lock"))
}

func TestBusy(t *testing.T) {
	r := newRepo(t)
	write(t, r.root, "a.org", "x")
	lock := filepath.Join(r.git, "index.lock")
	write(t, r.git, "index.lock", "")
	start := time.Now()
	_, err := r.Commit(t.Context(), Commit{Subject: "[EDIT] x", Paths: []string{"a.org"}})
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), lock) || time.Since(start) < lockWait || time.Since(start) > 2*lockWait {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
	time.AfterFunc(100*time.Millisecond, func() { os.Remove(lock) })
	commit(t, r, "a.org")
	die(t, r, "index", "refs/heads/main")
	write(t, r.root, "a.org", "y")
	commit(t, r, "a.org") // a dead one of ours is no obstacle
	if _, err := os.Lstat(lock); err == nil {
		t.Error("the dead lock is still there")
	}
}

func TestStatsAndPack(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	if ok, err := r.Pack(t.Context()); ok || err != nil {
		t.Errorf("Pack of nothing: %v, %v", ok, err)
	}
	st, err := r.Stats(t.Context())
	if err != nil || st.Loose != 3 || st.Packs != 0 || st.Bytes < 300 {
		t.Errorf("Stats: %+v, %v", st, err)
	}
	r.nosync = true
	for i := range 1000 {
		record(t, r, Commit{Subject: TickSubject(i, "", "m", ""), Paths: []string{"a.org"}, Contents: map[string][]byte{"a.org": fmt.Append(nil, i)}})
	}
	t.Run("no git", func(t *testing.T) {
		t.Setenv("PATH", "")
		if ok, err := r.Pack(t.Context()); ok || err != nil {
			t.Errorf("Pack without git: %v, %v", ok, err)
		}
	})
	if ok, err := r.Pack(t.Context()); !ok || err != nil {
		t.Errorf("Pack: %v, %v", ok, err)
	}
	if st, err = r.Stats(t.Context()); err != nil || st.Loose > 0 || st.Packs != 1 {
		t.Errorf("Stats: %+v, %v", st, err)
	}
	if data, err := r.File(t.Context(), "HEAD~500", "a.org"); err != nil || !bytes.Equal(data, []byte("499")) {
		t.Errorf("File from a pack: %q, %v", data, err)
	}
}
