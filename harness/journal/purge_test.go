package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const word = "zebracrossing"

// without takes the word out.
func without(text []byte) []byte {
	if !bytes.Contains(text, []byte(word)) {
		return text
	}
	return bytes.ReplaceAll(text, []byte(word), []byte("[purged]"))
}

func forget(paths ...string) Forget {
	return Forget{Text: without, Paths: paths, Last: func(w *Rewriting) Commit {
		return Commit{Subject: Subject("PURGE", "something"), When: time.Unix(1_800_000_000, 0)}
	}}
}

// purge rewrites and moves; drop also takes the old history away.
func purge(t testing.TB, r *Repo, f Forget) *Rewriting {
	t.Helper()
	w, err := r.Rewrite(t.Context(), f)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Store(); err != nil {
		t.Fatal(err)
	}
	if err := r.Switch(t.Context(), w, false); err != nil {
		t.Fatal(err)
	}
	return w
}

// objects is every object that git has, whole, but for trees' hashes.
func objects(t testing.TB, r *Repo) string {
	t.Helper()
	return runGit(t, r, "cat-file", "--batch-all-objects", "--unordered", "--batch")
}

// branchy is a history with everything that a purge has to follow.
func branchy(t *testing.T) *Repo {
	needGit(t)
	r := newRepo(t)
	write(t, r.root, "archive/old.org", "never\n")
	commit(t, r, "archive/old.org")
	runGit(t, r, "tag", "clean")
	record(t, r, Commit{Subject: TickSubject(1, "the "+word, word, "Said "+word), Paths: []string{"a.org"}, AllowEmpty: true,
		Body: "eval: (f \"" + word + "\")", Trailers: []Trailer{{"Tick", "1"}, {"Thread", "the " + word}}})
	write(t, r.root, "a.org", "* one\n"+word+"\n")
	one := commit(t, r, "a.org")
	record(t, r, Commit{Subject: Subject("UNDO", "Took back tick 1"), AllowEmpty: true, Trailers: []Trailer{{"Undo-From", one}, {"Undo-Ticks", "1"}}})
	runGit(t, r, "switch", "-q", "-c", "side")
	write(t, r.root, word+"/"+word+".txt", "x")
	write(t, r.root, "b.org", "side "+word+"\n")
	runGit(t, r, "add", "-A")
	runGit(t, r, "commit", "-qm", "by hand: "+word)
	runGit(t, r, "switch", "-q", "main")
	write(t, r.root, "a.org", "* one\nclean\n")
	commit(t, r, "a.org")
	runGit(t, r, "merge", "-q", "--no-ff", "-m", "merged "+word, "side")
	runGit(t, r, "tag", "-a", "-m", "tag of "+word, "v1", "side")
	runGit(t, r, "tag", "-a", "-m", "a tag of a tag", "v2", "v1")
	runGit(t, r, "tag", "blob", "HEAD:b.org")
	runGit(t, r, "notes", "add", "-m", "noted "+word, "HEAD")
	runGit(t, r, "update-ref", "refs/remotes/origin/main", "HEAD~1")
	runGit(t, r, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	for i := range 2 {
		write(t, r.root, "a.org", fmt.Sprint("stashed ", i, word, "\n"))
		runGit(t, r, "stash", "-q", "-m", fmt.Sprint("stash ", i, " ", word))
	}
	head, body, _ := strings.Cut(runGit(t, r, "cat-file", "commit", "HEAD"), "\n\n")
	write(t, r.root, ".git/signed", head+"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\nsigned "+body)
	runGit(t, r, "update-ref", "refs/heads/signed", strings.TrimSpace(runGit(t, r, "hash-object", "-t", "commit", "-w", ".git/signed")))
	os.Remove(filepath.Join(r.git, "signed"))
	write(t, r.root, "staged.txt", "staged "+word)
	runGit(t, r, "add", "staged.txt")
	return r
}

func TestPurge(t *testing.T) {
	for _, packed := range []bool{false, true} {
		t.Run(fmt.Sprint("packed=", packed), func(t *testing.T) {
			r := branchy(t)
			if packed {
				runGit(t, r, "gc", "-q")
			}
			merges, stashes := runGit(t, r, "rev-list", "--all", "--merges", "--count"), runGit(t, r, "stash", "list")
			refs, tree, staged := runGit(t, r, "for-each-ref", "--format=%(refname)"), runGit(t, r, "ls-tree", "-r", "--name-only", "HEAD"), runGit(t, r, "diff", "--cached", "--name-status")
			clean := runGit(t, r, "rev-parse", "clean")
			count := runGit(t, r, "rev-list", "--all", "--count")
			w := purge(t, r, forget())
			if w.Texts < 10 || w.Signed != 1 || w.With < 5 || w.Changed < w.With {
				t.Errorf("cost: %+v", *w)
			}
			fsck(t, r.root)
			if !strings.Contains(objects(t, r), word) {
				t.Error("the old history is gone before Drop")
			}
			if err := r.Drop(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(objects(t, r), word) {
				t.Error("an object holds the word")
			}
			n, found, err := r.Left(t.Context(), without)
			if err != nil || len(found) > 0 || n < 30 {
				t.Errorf("left of %d: %q %v", n, found, err)
			}
			fsck(t, r.root)

			same(t, "refs", runGit(t, r, "for-each-ref", "--format=%(refname)"), refs)
			same(t, "a commit before it", runGit(t, r, "rev-parse", "clean"), clean)
			same(t, "names", runGit(t, r, "ls-tree", "-r", "--name-only", "HEAD"), "[purged]/[purged].txt\n"+strings.ReplaceAll(tree, word+"/"+word+".txt\n", ""))
			same(t, "merges", runGit(t, r, "rev-list", "--all", "--merges", "--count"), merges)
			same(t, "stashes", stashNames(runGit(t, r, "stash", "list")), stashNames(strings.ReplaceAll(stashes, word, "[purged]")))
			same(t, "staged", runGit(t, r, "diff", "--cached", "--name-status"), staged)
			same(t, "staged text", runGit(t, r, "show", ":staged.txt"), "staged [purged]")
			same(t, "stash", runGit(t, r, "show", "stash@{1}:a.org"), "stashed 0[purged]\n")
			var a, b int
			fmt.Sscan(count, &a)
			fmt.Sscan(runGit(t, r, "rev-list", "--all", "--count"), &b)
			if b != a+1 {
				t.Errorf("%d commits, then %d", a, b)
			}
			for e, err := range r.Log(t.Context(), Query{Kind: "UNDO"}) {
				if err != nil {
					t.Fatal(err)
				}
				if out, err := tryGit(r, "merge-base", "--is-ancestor", e.Trailers["Undo-From"], "HEAD"); err != nil {
					t.Errorf("Undo-From does not follow: %s", out)
				}
			}
			e := tick(t, r, 1)
			if e.Subject != "[TICK 1][the (purged)]["+"(purged)] Said [purged]" || e.Trailers["Thread"] != "the [purged]" {
				t.Errorf("%+v", e)
			}
		})
	}
}

func stashNames(stashes string) string {
	var out []string
	for line := range strings.Lines(stashes) {
		_, message, _ := strings.Cut(line, ": ")
		out = append(out, message)
	}
	return strings.Join(out, "")
}

func tick(t *testing.T, r *Repo, n int) Entry {
	t.Helper()
	for e, err := range r.Log(t.Context(), Query{Tick: n, HasTick: true}) {
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	t.Fatalf("no tick %d", n)
	return Entry{}
}

// What is not the word stays: the log, the dates, the parents' number and order.
func TestPurgeKeepsTheRest(t *testing.T) {
	r := branchy(t)
	format := []string{"log", "--topo-order", "--format=%an|%ae|%ad|%cn|%ce|%cd|%B", "--date=raw"}
	tidy := func(s string) string {
		s = strings.NewReplacer(word, "[purged]", "[the (purged)][(purged)]", "[the [purged]][[purged]]").Replace(s)
		return hashForm.ReplaceAllString(s, "HASH")
	}
	was := tidy(runGit(t, r, append(format, "main")...))
	graph := runGit(t, r, "log", "--topo-order", "--graph", "--format=", "main")
	purge(t, r, forget())
	same(t, "log", tidy(runGit(t, r, append(format, "main~1")...)), was)
	same(t, "graph", runGit(t, r, "log", "--topo-order", "--graph", "--format=", "main~1"), graph)
}

// Back is as before: refs, index, stashes, and nothing of the new history stays
// where a ref leads to it.
func TestPurgeBack(t *testing.T) {
	r := branchy(t)
	state := func() string {
		return runGit(t, r, "for-each-ref") + runGit(t, r, "ls-files", "--stage") + runGit(t, r, "stash", "list") + runGit(t, r, "status", "--porcelain")
	}
	was := state()
	w := purge(t, r, forget())
	if state() == was {
		t.Fatal("nothing changed")
	}
	for range 2 { // a second time, as after a crash
		if err := r.Switch(t.Context(), w, true); err != nil {
			t.Fatal(err)
		}
		same(t, "state", state(), was)
	}
}

// Switch may be called again, and does nothing where the history has moved.
func TestPurgeOvertaken(t *testing.T) {
	r := branchy(t)
	w, err := r.Rewrite(t.Context(), forget())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Store(); err != nil {
		t.Fatal(err)
	}
	runGit(t, r, "tag", "late")
	was := runGit(t, r, "for-each-ref")
	if err := r.Switch(t.Context(), w, false); !errors.Is(err, ErrMoved) {
		t.Errorf("a new tag: %v", err)
	}
	same(t, "refs", runGit(t, r, "for-each-ref"), was)
	runGit(t, r, "tag", "-d", "late")
	for range 2 {
		if err := r.Switch(t.Context(), w, false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := r.Rewrite(t.Context(), forget()); !errors.As(err, new(*Refusal)) {
		t.Errorf("a second purge: %v", err)
	}
	runGit(t, r, "restore", "--staged", "staged.txt")
	write(t, r.root, "a.org", "after")
	commit(t, r, "a.org")
	if err := r.At(w); !errors.Is(err, ErrMoved) {
		t.Errorf("a commit since: %v", err)
	}
	if err := r.Switch(t.Context(), w, true); !errors.Is(err, ErrMoved) {
		t.Errorf("back, over a commit: %v", err)
	}
}

func TestPurgePath(t *testing.T) {
	r := branchy(t)
	write(t, r.root, "d/e/f.txt", "f")
	commit(t, r, "d/e/f.txt")
	w := purge(t, r, forget("d/e", "b.org"))
	if err := r.Drop(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if names := runGit(t, r, "log", "--all", "--format=", "--name-only"); strings.Contains(names, "d/e") || strings.Contains(names, "b.org") {
		t.Error("the path is still in the history")
	}
	if found, err := r.Holds(t.Context(), []string{"d/e", "b.org"}); err != nil || len(found) > 0 {
		t.Errorf("%q %v", found, err)
	}
	if found, err := r.Holds(t.Context(), []string{"a.org"}); err != nil || len(found) == 0 {
		t.Errorf("a.org: %q %v", found, err)
	}
	fsck(t, r.root)
	os.RemoveAll(filepath.Join(r.root, "d"))
	os.Remove(filepath.Join(r.root, "b.org"))
}

// Without the git binary, loose objects are pruned by our own code.
func TestPurgeWithoutGit(t *testing.T) {
	r := branchy(t)
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	w := purge(t, r, forget())
	if err := r.Drop(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if _, found, err := r.Left(t.Context(), without); err != nil || len(found) > 0 {
		t.Errorf("%q %v", found, err)
	}
	t.Setenv("PATH", path)
	if strings.Contains(objects(t, r), word) {
		t.Error("an object holds the word")
	}
	fsck(t, r.root)
	same(t, "stashes", fmt.Sprint(strings.Count(runGit(t, r, "stash", "list"), "\n")), "2")
}

// In packs there is nothing that can be pruned without git: then Left says so.
func TestPurgeWithoutGitPacked(t *testing.T) {
	r := branchy(t)
	runGit(t, r, "gc", "-q")
	path := os.Getenv("PATH")
	t.Setenv("PATH", t.TempDir())
	w := purge(t, r, forget())
	if err := r.Drop(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if _, found, err := r.Left(t.Context(), without); err != nil || len(found) == 0 {
		t.Errorf("the packs still hold it: %q %v", found, err)
	}
	t.Setenv("PATH", path)
	if err := r.Drop(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	if _, found, err := r.Left(t.Context(), without); err != nil || len(found) > 0 {
		t.Errorf("%q %v", found, err)
	}
}

func TestPurgeRefuses(t *testing.T) {
	for name, prepare := range map[string]func(r *Repo){
		"merge":    func(r *Repo) { write(t, r.root, ".git/MERGE_HEAD", "x") },
		"shallow":  func(r *Repo) { write(t, r.root, ".git/shallow", "x") },
		"borrowed": func(r *Repo) { write(t, r.root, ".git/objects/info/alternates", "/x") },
		"worktree": func(r *Repo) { runGit(t, r, "worktree", "add", "-q", "--detach", filepath.Join(t.TempDir(), "w")) },
		"branch":   func(r *Repo) { runGit(t, r, "branch", "my-"+word) },
		"replaced": func(r *Repo) { runGit(t, r, "replace", "--graft", "HEAD") },
	} {
		t.Run(name, func(t *testing.T) {
			needGit(t)
			isolate(t)
			root := t.TempDir()
			if err := Init(t.Context(), root); err != nil {
				t.Fatal(err)
			}
			r, err := Open(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			write(t, root, "a.org", word)
			commit(t, r, "a.org")
			write(t, root, "a.org", "more "+word)
			commit(t, r, "a.org")
			prepare(r)
			if _, err := r.Rewrite(t.Context(), forget()); !errors.As(err, new(*Refusal)) {
				t.Errorf("%v", err)
			}
			if left, _ := filepath.Glob(filepath.Join(r.git, "objects", "pack", "*")); len(left) > 0 {
				t.Errorf("left %q", left)
			}
		})
	}
}

// What marks a commit is no text.
func TestPurgeFrame(t *testing.T) {
	r := newRepo(t)
	record(t, r, Commit{Subject: TickSubject(7, "", "calm", "x"), AllowEmpty: true, Trailers: []Trailer{{"Tick", "7"}}})
	for _, text := range []string{"[TICK 7]", "TICK", "Tick: 7", "no-thread]["} {
		f := forget()
		f.Text = func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(text), []byte("[purged]")) }
		if _, err := r.Rewrite(t.Context(), f); !errors.Is(err, ErrFrame) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// purgeForEver goes there and back, as a process that is to be killed.
func purgeForEver(ctx context.Context, r *Repo) int {
	for {
		w, err := r.Rewrite(ctx, forget())
		if err == nil {
			err = w.Store()
		}
		for _, back := range []bool{false, true} {
			if err == nil {
				err = r.Switch(ctx, w, back)
			}
		}
		if err != nil {
			fmt.Println("error", err)
			return 1
		}
	}
}

// Killed in the middle of a rewriting or a move: git finds nothing wrong, and the
// history is the old or the new one, all refs of it.
func TestPurgeKilled(t *testing.T) {
	rounds := 12
	if testing.Short() {
		rounds = 5
	}
	base := branchy(t)
	refs := runGit(t, base, "for-each-ref")
	met := map[string]int{}
	for i := range rounds {
		r := &Repo{root: filepath.Join(t.TempDir(), "copy"), excludes: func() string { return "" }}
		r.git = filepath.Join(r.root, ".git")
		if out, err := exec.Command("cp", "-a", base.root, r.root).CombinedOutput(); err != nil {
			t.Fatalf("%v %s", err, out)
		}
		cmd := child(t, r, "purge")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(20+i*16)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		_ = cmd.Wait()
		timer.Stop()
		if cmd.ProcessState.ExitCode() >= 0 {
			t.Fatal("it ended by itself")
		}
		fsck(t, r.root)
		now, kept := map[string]string{}, 0
		for line := range strings.Lines(runGit(t, r, "for-each-ref", "--format=%(refname) %(objectname)")) {
			name, hash, _ := strings.Cut(strings.TrimSpace(line), " ")
			if now[name] = hash; strings.HasPrefix(name, beforePurge) {
				kept++
			}
		}
		at := "old"
		if kept > 0 {
			at = "new"
		}
		met[at]++
		if at == "old" {
			same(t, "refs", runGit(t, r, "for-each-ref"), refs)
		}
		for name, hash := range now {
			if kept > 0 && !strings.HasPrefix(name, beforePurge) && name != "refs/tags/clean" && strings.Contains(refs, hash+" ") {
				t.Errorf("round %d: %s is still at the old history", i, name)
			}
		}
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Log(met)
}

// BenchmarkPurge takes a word out of a history of 5,000 ticks in which a tenth of
// the commits hold it.
func BenchmarkPurge(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		r := spilt(b, 5000)
		b.StartTimer()
		w := purge(b, r, forget())
		b.StopTimer()
		b.Logf("%d texts in %d of %d commits, %d changed", w.Texts, w.With, w.Commits, w.Changed)
		start := time.Now()
		if err := r.Drop(b.Context(), w); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(start).Seconds(), "s-drop")
		start = time.Now()
		if _, found, err := r.Left(b.Context(), without); err != nil || len(found) > 0 {
			b.Fatalf("%q %v", found, err)
		}
		b.ReportMetric(time.Since(start).Seconds(), "s-proof")
		b.StartTimer()
	}
}

// BenchmarkFastExport is the same by `git fast-export | sed | git fast-import`,
// which loses signatures, stashes and staged files, and miscounts lengths where
// the replacement has another one than the word: here both have the same.
func BenchmarkFastExport(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		r := spilt(b, 5000)
		b.StartTimer()
		cmd := exec.Command("sh", "-c", "git fast-export --all --signed-tags=strip | sed s/"+word+"/[purged-....]/g | git fast-import --quiet --force")
		cmd.Dir = r.root
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v %s", err, out)
		}
	}
}

// spilt is a packed history of n ticks, in the first tenth of which a file holds
// the word, each time anew: every commit gets another hash.
func spilt(b testing.TB, n int) *Repo {
	r := grown(b, 0)
	r.nosync = true
	for i := range n {
		paths := append(turn(b, r, i), "secret.org")
		text := "clean"
		if i < n/10 {
			text = fmt.Sprint(word, i)
		}
		write(b, r.root, "secret.org", text)
		slices.Sort(paths)
		record(b, r, Commit{Subject: TickSubject(i, "", "calm", "x"), Paths: paths})
		if i%500 == 499 {
			runGit(b, r, "repack", "-dlq", "--geometric=2")
		}
	}
	r.nosync = false
	return r
}
