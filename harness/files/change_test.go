package files_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"amacs/harness/files"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, before, text, after string }{
		{"plain", "a\n", "b\nc\n", "b\nc\n"},
		{"no final newline", "a\n", "b", "b"},
		{"to nothing", "a\n", "", ""},
		{"from nothing", "", "a\r\nb\n", "a\r\nb\n"},
		{"CRLF", "a\r\nb\r\n", "b\nc\n", "b\r\nc\r\n"},
		{"CRLF given for LF", "a\nb\n", "b\r\nc\r\n", "b\nc\n"},
		{"mixed", "a\r\nb\n", "b\nc\r\n", "b\nc\r\n"},
		{"mark", "\xEF\xBB\xBFa\n", "ä\n", "\xEF\xBB\xBFä\n"},
		{"mark given", "\xEF\xBB\xBFa\n", "\uFEFFä\n", "\xEF\xBB\xBFä\n"},
		{"UTF-16LE, CRLF", "\xFF\xFEa\x00\r\x00\n\x00", "b\n😀", "\xFF\xFEb\x00\r\x00\n\x00\x3D\xD8\x00\xDE"},
		{"UTF-16BE", "\xFE\xFF\x00a", "ä", "\xFE\xFF\x00\xE4"},
		{"Latin-1", "Stra\xDFe und Weg\n", "Straße\n", "Straße\n"},
	} {
		dir := folder(t)
		at := filepath.Join(dir, "f")
		put(t, dir, "f", tc.before)
		must(t, os.Chmod(at, 0o750))
		c, err := files.PlanWrite(at, tc.text)
		must(t, err)
		if get(t, at) != tc.before || string(c.Before) != tc.before || c.New || c.Names != 1 {
			t.Errorf("%s: planned %+v, there is %q", tc.name, c, get(t, at))
		}
		must(t, c.Apply())
		if got := get(t, at); got != tc.after {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.after)
		}
		info, err := os.Stat(at)
		must(t, err)
		if info.Mode() != 0o750 || len(entries(t, dir)) != 1 {
			t.Errorf("%s: mode %v, folder %v", tc.name, info.Mode(), entries(t, dir))
		}
	}
}

func TestWriteNew(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	at := filepath.Join(dir, "a/b/ünï code.txt")
	c, err := files.PlanWrite(at, "x\r\ny\n")
	must(t, err)
	if !c.New || c.Names != 0 || isDir(dir+"/a") {
		t.Errorf("planned %+v", c)
	}
	must(t, c.Apply())
	info, err := os.Stat(at)
	must(t, err)
	above, err := os.Stat(filepath.Dir(at))
	must(t, err)
	if get(t, at) != "x\r\ny\n" || info.Mode() != 0o644 || above.Mode().Perm() != 0o755 {
		t.Errorf("%q, mode %v in %v", get(t, at), info.Mode(), above.Mode())
	}
	err = c.Apply()
	if wantError(t, err, "there is a file now"); !errors.Is(err, files.ErrMoved) {
		t.Error("not ErrMoved")
	}
	for _, text := range []string{"a\x00b", "\xff"} {
		if _, err := files.PlanWrite(dir+"/new", text); err == nil {
			t.Errorf("%q is planned", text)
		}
	}
	if len(entries(t, filepath.Dir(at))) != 1 {
		t.Error(entries(t, filepath.Dir(at)))
	}
}

// What changed between plan and apply stops the change, and nothing is left.
func TestSwapped(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		swap  func(dir string) error
		moved bool
	}{
		{"text", func(dir string) error { return os.WriteFile(dir+"/in/f", []byte("other\n"), 0o644) }, true},
		{"longer", func(dir string) error { return os.WriteFile(dir+"/in/f", []byte("a\nb\n"), 0o644) }, true},
		{"shorter", func(dir string) error { return os.Truncate(dir+"/in/f", 1) }, true},
		{"gone", func(dir string) error { return os.Remove(dir + "/in/f") }, true},
		{"folder", func(dir string) error { return errors.Join(os.Remove(dir+"/in/f"), os.Mkdir(dir+"/in/f", 0o755)) }, true},
		{"pipe", func(dir string) error { return errors.Join(os.Remove(dir+"/in/f"), unix.Mkfifo(dir+"/in/f", 0o600)) }, true},
		{"link", func(dir string) error {
			return errors.Join(os.Remove(dir+"/in/f"), os.Symlink("../outside/f", dir+"/in/f"))
		}, true},
		{"folder is a link", func(dir string) error {
			return errors.Join(os.Rename(dir+"/in", dir+"/was"), os.Symlink("outside", dir+"/in"))
		}, true},
		{"folder is gone", func(dir string) error { return os.RemoveAll(dir + "/in") }, true},
	} {
		for _, what := range []string{"write", "remove"} {
			dir := folder(t)
			put(t, dir, "in/f", "a\n", "outside/f", "a\n")
			at := dir + "/in/f"
			c, err := files.PlanWrite(at, "mine\n")
			if what == "remove" {
				c, err = files.PlanRemove(at)
			}
			must(t, err)
			must(t, tc.swap(dir))
			err = c.Apply()
			if errors.Is(err, files.ErrMoved) != tc.moved {
				t.Errorf("%s, %s: %v", what, tc.name, err)
			}
			if got := get(t, dir+"/outside/f"); got != "a\n" {
				t.Errorf("%s, %s: outside is now %q", what, tc.name, got)
			}
			filepath.WalkDir(dir, func(p string, _ os.DirEntry, _ error) error {
				if strings.Contains(p, ".amacs-") {
					t.Errorf("%s, %s: %s is left", what, tc.name, p)
				}
				return nil
			})
		}
	}
	// A new file does not follow a link that came into being on its way, and
	// folders made for nothing are taken back.
	dir := folder(t)
	put(t, dir, "outside/", "")
	c, err := files.PlanWrite(dir+"/a/b/f", "mine\n")
	must(t, err)
	must(t, os.Mkdir(dir+"/a", 0o755))
	must(t, os.Symlink("../outside", dir+"/a/b"))
	if err := c.Apply(); !errors.Is(err, files.ErrMoved) {
		t.Error(err)
	}
	if len(entries(t, dir+"/outside")) != 0 {
		t.Error("written outside")
	}
	c.Path = dir + "/x/y/" + strings.Repeat("n", 300)
	wantError(t, c.Apply(), "name too long")
	if isDir(dir + "/x") {
		t.Error("empty folders are left")
	}
}

func TestRemoveAndBytes(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	raw := "\x00\xff\r\n\n"
	put(t, dir, "f", raw)
	at := dir + "/f"
	c, err := files.PlanRemove(at)
	must(t, err)
	wantError(t, errors.New(c.Diff()), "not text, 5 bytes, then 0")
	must(t, c.Apply())
	if len(entries(t, dir)) != 0 {
		t.Error("not removed")
	}
	_, err = files.PlanRemove(at)
	wantError(t, err, "does not exist")
	if err == nil || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	c, err = files.PlanBytes(at, []byte(raw))
	must(t, err)
	must(t, c.Apply())
	if get(t, at) != raw {
		t.Errorf("%q", get(t, at))
	}
}

// Of several names, only the one that is written changes.
func TestHardLink(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	put(t, dir, "outside", "a\n")
	must(t, os.Link(dir+"/outside", dir+"/f"))
	c, err := files.PlanEdit(dir+"/f", "a", "b", false)
	must(t, err)
	if c.Names != 2 {
		t.Errorf("%d names", c.Names)
	}
	must(t, c.Apply())
	if get(t, dir+"/f") != "b\n" || get(t, dir+"/outside") != "a\n" {
		t.Errorf("%q, outside %q", get(t, dir+"/f"), get(t, dir+"/outside"))
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	at := dir + "/f"
	put(t, dir, "f", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
	c, err := files.PlanEdit(at, "5\n", "five\n", false)
	must(t, err)
	want := "--- a" + at + "\n+++ b" + at + "\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
	if got := c.Diff(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	c, err = files.PlanWrite(dir+"/new", "a\nb")
	must(t, err)
	want = "new file, 3 bytes\n--- /dev/null\n+++ b" + dir + "/new\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
	if got := c.Diff(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	c, err = files.PlanWrite(at, strings.Repeat("x\n", 1000))
	must(t, err)
	if got := c.Diff(); strings.Count(got, "\n") != files.MaxDiff+1 || !strings.HasSuffix(got, "\n[612 more lines of this diff are not shown]\n") {
		t.Errorf("%d lines, ends %q", strings.Count(got, "\n"), got[len(got)-100:])
	}
	c, err = files.PlanWrite(at, get(t, at))
	must(t, err)
	if got := c.Diff(); got != "" {
		t.Errorf("nothing changes, and the diff is %q", got)
	}
	c, err = files.PlanRemove(at)
	must(t, err)
	wantError(t, errors.New(c.Diff()), "the file is removed\n--- a"+at+"\n+++ /dev/null\n@@ -1,9 +0,0 @@\n-1\n")
	put(t, dir, "ends", "a\r\nb\n")
	c, err = files.PlanWrite(dir+"/ends", "a\nb\n")
	must(t, err)
	if got := c.Diff(); got != "line ends: \"mixed\", then \"\\n\"\n" {
		t.Errorf("%q", got)
	}
}

// Readers see the old text or the new one, never a part.
func TestWhole(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	a, b := strings.Repeat("a", 1<<20), strings.Repeat("b", 1<<20)
	put(t, dir, "f", a)
	done := make(chan error)
	go func() {
		var err error
		for i := 0; i < 20 && err == nil; i++ {
			err = files.Change{Path: dir + "/f", Before: []byte(a), After: []byte(b)}.Apply()
			a, b = b, a
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			must(t, err)
			return
		default:
		}
		got, err := os.ReadFile(dir + "/f")
		must(t, err)
		if len(got) != 1<<20 || bytes.Count(got, got[:1]) != 1<<20 {
			t.Fatal("a part of a file was seen")
		}
	}
}

// A disk that is full leaves the file as it was, and nothing beside it.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	put(t, dir, "f", "old\n")
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe, dir+"/f")
	cmd.Env = append(os.Environ(), "FILES_TEST_CHILD=full")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), "file too large") {
		t.Errorf("it says %q", out)
	}
	if get(t, dir+"/f") != "old\n" || len(entries(t, dir)) != 1 {
		t.Errorf("%q, %v", get(t, dir+"/f"), entries(t, dir))
	}
}

// child is the test's other process.
func child(what string) int {
	switch what {
	case "full":
		signal.Ignore(unix.SIGXFSZ)
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 10000, Max: 10000}); err != nil {
			fmt.Println(err)
			return 1
		}
		c, err := files.PlanWrite(os.Args[1], strings.Repeat("x", 1<<20))
		if err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(c.Apply())
		return 0
	}
	return 2
}

// A large file in which everything changes has a diff, too.
func TestDiffLarge(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var a, b strings.Builder
	for a.Len() < 1<<20 {
		fmt.Fprintln(&a, r.Uint64())
		fmt.Fprintln(&b, r.Uint64())
	}
	c := files.Change{Path: "/f", Before: []byte(a.String()), After: []byte(b.String())}
	if got := strings.Count(c.Diff(), "\n"); got != files.MaxDiff+1 {
		t.Errorf("%d lines", got)
	}
}
