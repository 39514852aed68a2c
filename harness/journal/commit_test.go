package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestCommit(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	write(t, r.root, "dir/b.org", "b")
	write(t, r.root, "not-asked.org", "n")
	when := time.Date(2026, 11, 21, 5, 42, 0, 0, time.FixedZone("", 3600))
	h := record(t, r, Commit{Subject: TickSubject(1, "", "calm", "hi"), Body: "body", Trailers: []Trailer{{"Tick", "1"}},
		Author: Ident{"An<n", "a@b"}, When: when, Paths: []string{"dir/b.org"}})
	same(t, "show", runGit(t, r, "show", "-s", "--format=%an <%ae> %ai|%cn <%ce>|%B", h),
		"Ann <a@b> 2026-11-21 05:42:00 +0100|amacs <amacs@localhost>|[TICK 1][no-thread][calm] hi\n\nbody\n\nTick: 1\n\n")
	same(t, "tree", runGit(t, r, "ls-tree", "-r", "--name-only", "HEAD"), "a.org\ndir/b.org\n")
	same(t, "status", runGit(t, r, "status", "--porcelain"), "?? not-asked.org\n")
	same(t, "reflog", runGit(t, r, "reflog", "-1", "--format=%gs"), "commit: [TICK 1][no-thread][calm] hi\n")
	same(t, "branch reflog", runGit(t, r, "reflog", "show", "main", "-1", "--format=%gs"), "commit: [TICK 1][no-thread][calm] hi\n")

	if h := commit(t, r, "dir/b.org"); h != "" {
		t.Errorf("nothing differs, yet commit %s", h)
	}
	if h := record(t, r, Commit{Paths: []string{"dir/b.org"}, AllowEmpty: true}); h == "" {
		t.Error("AllowEmpty made no commit")
	}
	if err := os.RemoveAll(r.abs("dir")); err != nil {
		t.Fatal(err)
	}
	commit(t, r, "dir/b.org", "a.org")
	same(t, "tree", runGit(t, r, "ls-tree", "-r", "--name-only", "HEAD"), "a.org\n")
	os.Remove(r.abs("a.org"))
	commit(t, r, "a.org")
	same(t, "tree", runGit(t, r, "ls-tree", "-r", "--name-only", "HEAD"), "")
	same(t, "index", runGit(t, r, "ls-files"), "")
}

// File and folder may take each other's place.
func TestCommitFileAndFolder(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	os.Remove(r.abs("a.org"))
	write(t, r.root, "a.org/x", "x")
	same(t, "changes", changes(t, r), "deleted a.org\nadded a.org/x")
	commit(t, r, "a.org/x", "a.org")
	same(t, "tree", runGit(t, r, "ls-tree", "-r", "--name-only", "HEAD"), "a.org/x\n")
	os.RemoveAll(r.abs("a.org"))
	write(t, r.root, "a.org", "again")
	same(t, "changes", changes(t, r), "added a.org\ndeleted a.org/x")
	commit(t, r, "a.org", "a.org/x")
	same(t, "tree", runGit(t, r, "ls-tree", "-r", "--name-only", "HEAD"), "a.org\n")
	same(t, "status", runGit(t, r, "status", "--porcelain"), "")
}

// What the user staged is neither committed nor unstaged.
func TestCommitKeepsStaged(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	write(t, r.root, "d/kept.org", "1")
	commit(t, r, "d/kept.org")
	write(t, r.root, "d/kept.org", "2")
	write(t, r.root, "staged.org", "s")
	write(t, r.root, "intent.org", "i")
	write(t, r.root, "d/mine.org", "m")
	runGit(t, r, "add", "staged.org", "d/kept.org")
	runGit(t, r, "add", "-N", "intent.org")
	runGit(t, r, "update-index", "--assume-unchanged", "a.org")
	commit(t, r, "d/mine.org")
	same(t, "committed", runGit(t, r, "show", "--name-only", "--format=", "HEAD"), "d/mine.org\n")
	same(t, "status", runGit(t, r, "status", "--porcelain"), "M  d/kept.org\n A intent.org\nA  staged.org\n")
	same(t, "flags", runGit(t, r, "ls-files", "-v", "a.org"), "h a.org\n")
	same(t, "changes", changes(t, r), "modified d/kept.org\nadded intent.org\nadded staged.org")
	commit(t, r, "intent.org")
	same(t, "intent", runGit(t, r, "show", "HEAD:intent.org"), "i")
	runGit(t, r, "commit", "-qm", "theirs")
	same(t, "status", runGit(t, r, "status", "--porcelain"), "")
	same(t, "changes", changes(t, r), "")
}

// What is committed is what was meant, even if a human saves in between; the
// human's save shows.
func TestContents(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	for _, disk := range []string{"* two\n", "* TWO\n"} { // same size: only content tells
		write(t, r.root, "a.org", disk)
		age(t, r, "a.org")
		record(t, r, Commit{Paths: []string{"a.org", "new.org"}, Contents: map[string][]byte{"a.org": []byte("* two\n"), "new.org": nil}, AllowEmpty: true})
		same(t, "content", runGit(t, r, "show", "HEAD:a.org"), "* two\n")
		wantStatus, wantChanges := " D new.org\n", "deleted new.org"
		if disk != "* two\n" {
			wantStatus, wantChanges = " M a.org\n"+wantStatus, "modified a.org\n"+wantChanges
		}
		same(t, "changes", changes(t, r), wantChanges)
		same(t, "status", runGit(t, r, "status", "--porcelain"), wantStatus)
	}
	if _, err := r.Commit(t.Context(), Commit{Subject: "[EDIT] x", Contents: map[string][]byte{"b": nil}}); err == nil {
		t.Error("contents without a path were accepted")
	}
}

// A file saved at once after a commit, with size and times kept, is seen.
func TestRacyEdit(t *testing.T) {
	r := newRepo(t)
	for i := range 20 {
		text := "* " + string(rune('a'+i)) + "\n"
		write(t, r.root, "a.org", text)
		commit(t, r, "a.org")
		write(t, r.root, "a.org", strings.ToUpper(text))
		same(t, "changes", changes(t, r), "modified a.org")
	}
}

func TestCommitRefuses(t *testing.T) {
	r := newRepo(t)
	for _, p := range []string{"", "/etc/passwd", "../x", "a/../b", "a//b", "./a", ".git/config", "x/.GIT/y", "a\x00b", "a/"} {
		if _, err := r.Commit(t.Context(), Commit{Subject: "[EDIT] x", Paths: []string{p}}); err == nil {
			t.Errorf("path %q was accepted", p)
		}
	}
	write(t, r.root, "a.org", "changed")
	for _, s := range []string{"", "Tick 42 ‖ a ‖ b ‖ 0.85 ‖ c", "wip", "[FOO] x", "[EDIT] a\n\nb"} {
		if _, err := r.Commit(t.Context(), Commit{Subject: s, Paths: []string{"a.org"}}); err == nil {
			t.Errorf("subject %q was accepted", s)
		}
	}
}

// Links: the content is in history, git is content, and the link survives.
func TestLinkedFile(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	target := filepath.Join(t.TempDir(), "elsewhere.org")
	if err := os.Rename(r.abs("a.org"), target); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, r.abs("a.org")); err != nil {
		t.Fatal(err)
	}
	same(t, "changes: same content", changes(t, r), "")
	if err := os.WriteFile(target, []byte("* edited\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := r.Changes(t.Context())
	if err != nil || len(list) != 1 || list[0] != (Change{"a.org", Modified, target}) {
		t.Fatalf("changes: %+v, %v", list, err)
	}
	commit(t, r, "a.org")
	same(t, "content", runGit(t, r, "show", "HEAD:a.org"), "* edited\n")
	same(t, "mode", runGit(t, r, "ls-tree", "HEAD", "a.org")[:6], "100644")
	for range 2 {
		same(t, "changes", changes(t, r), "")
		same(t, "status", runGit(t, r, "status", "--porcelain"), "")
	}
	for _, args := range [][]string{{"checkout", "--", "a.org"}, {"checkout", "--", "."}, {"reset", "--hard"}, {"checkout", "-f"}, {"reset", "--hard", "HEAD~1"}, {"stash"}, {"switch", "-c", "side"}, {"switch", "main"}} {
		out, err := tryGit(r, args...)
		if info, lerr := os.Lstat(r.abs("a.org")); lerr != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Fatalf("git %v destroyed the link: %s %v", args, out, err)
		}
	}
	same(t, "HEAD after a refused reset", runGit(t, r, "log", "--oneline", "-1", "--format=%s"), "[EDIT] a.org\n")
	commit(t, r, "a.org") // rewrites the entry

	os.Remove(target)
	same(t, "changes: dangling", changes(t, r), "deleted a.org")
	os.Remove(r.abs("a.org"))
	write(t, r.root, "a.org", "a real file again")
	same(t, "changes: real again", changes(t, r), "modified a.org")
	commit(t, r, "a.org")
	same(t, "flags", runGit(t, r, "ls-files", "-v", "a.org"), "H a.org\n")
}

// Links that history knows as links, or not at all, stay links.
func TestPlainLinks(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	for name, target := range map[string]string{"rel": "a.org", "dir": "..", "broken": "nowhere"} {
		if err := os.Symlink(target, r.abs(name)); err != nil {
			t.Fatal(err)
		}
	}
	same(t, "changes", changes(t, r), "added broken\nadded dir\nadded rel")
	commit(t, r, "broken", "dir", "rel")
	same(t, "mode", runGit(t, r, "ls-tree", "HEAD", "rel")[:6], "120000")
	same(t, "changes", changes(t, r), "")
	same(t, "status", runGit(t, r, "status", "--porcelain"), "")
	if got, err := r.File(t.Context(), "HEAD", "rel"); err != nil || string(got) != "a.org" {
		t.Errorf("File of a link: %q, %v", got, err)
	}
	os.Remove(r.abs("rel"))
	os.Symlink("broken", r.abs("rel"))
	same(t, "changes", changes(t, r), "modified rel")
	commit(t, r, "rel")
	// Contents make history know it as a file.
	record(t, r, Commit{Paths: []string{"rel"}, Contents: map[string][]byte{"rel": []byte("text")}})
	same(t, "mode", runGit(t, r, "ls-tree", "HEAD", "rel")[:6], "100644")
}

func TestLinkedFolder(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	write(t, r.root, "memory/global.org", "g")
	commit(t, r, "memory/global.org")
	away := filepath.Join(t.TempDir(), "memory")
	if err := os.Rename(r.abs("memory"), away); err != nil {
		t.Fatal(err)
	}
	os.Symlink(away, r.abs("memory"))
	same(t, "changes", changes(t, r), "added memory\ndeleted memory/global.org")
	_, err := r.Commit(t.Context(), Commit{Subject: "[EDIT] x", Paths: []string{"memory/global.org"}})
	if !errors.Is(err, ErrBeyondLink) {
		t.Errorf("commit beyond a link: %v", err)
	}
	commit(t, r, "memory", "memory/global.org")
	same(t, "changes", changes(t, r), "")
	same(t, "status", runGit(t, r, "status", "--porcelain"), "")
}

// The index may remember a file's times only if they can tell a later write.
func TestUnchanged(t *testing.T) {
	r := newRepo(t)
	seen := func() onDisk {
		info, err := os.Lstat(r.abs("a.org"))
		if err != nil {
			t.Fatal(err)
		}
		return onDisk{mode: modeFile, info: info}
	}
	write(t, r.root, "a.org", "* new\n")
	if r.unchanged("a.org", seen()) {
		t.Error("a file written this instant counts as settled")
	}
	age(t, r, "a.org")
	d := seen()
	if !r.unchanged("a.org", d) {
		t.Error("an old file counts as changed")
	}
	write(t, r.root, "a.org", "* NEW\n")
	age(t, r, "a.org")
	if r.unchanged("a.org", d) {
		t.Error("a file saved since counts as unchanged")
	}
}
