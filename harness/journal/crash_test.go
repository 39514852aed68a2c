package journal

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runChild is what the test binary does as a process that is to be killed.
func runChild(what string) int {
	ctx, root := context.Background(), os.Getenv("JOURNAL_ROOT")
	r, err := Open(ctx, root)
	if err != nil {
		fmt.Println("error", err)
		return 1
	}
	switch what {
	case "loop": // commit for ever, saying each hash
		for i := 0; ; i++ {
			for _, p := range []string{"a.org", "b.org", "skills/x/SKILL.md"} {
				if err := os.WriteFile(r.abs(p), fmt.Appendf(nil, "%d %d %s\n", os.Getpid(), i, strings.Repeat(p, 200)), 0o644); err != nil {
					fmt.Println("error", err)
					return 1
				}
			}
			h, err := r.Commit(ctx, Commit{Subject: TickSubject(i, "", "calm", "loop"), Paths: []string{"a.org", "b.org", "skills/x/SKILL.md"}})
			if err != nil {
				fmt.Println("error", err)
				return 1
			}
			fmt.Println("done", h)
		}
	case "purge": // there and back, for ever
		return purgeForEver(ctx, r)
	case "full": // no file may grow past 4 KB
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: 4096}); err != nil {
			fmt.Println("skip", err)
			return 0
		}
		h, err := r.Commit(ctx, Commit{Subject: "[EDIT] big.bin", Paths: []string{"big.bin"}})
		fmt.Printf("commit %q %v\n", h, err)
	}
	return 0
}

func child(t testing.TB, r *Repo, what string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), "JOURNAL_CHILD="+what, "JOURNAL_ROOT="+r.root)
	return cmd
}

// A process killed at any instant loses no acknowledged commit and leaves
// nothing that stops git or the next commit.
func TestKill(t *testing.T) {
	needGit(t)
	rounds := 100
	if testing.Short() {
		rounds = 5
	}
	r := newRepo(t)
	write(t, r.root, "skills/x/SKILL.md", "x")
	commit(t, r, "skills/x/SKILL.md")
	stale := 0
	for round := range rounds {
		acked := killOnce(t, r)
		runGit(t, r, "rev-parse", "HEAD")
		for _, h := range acked {
			if out, err := tryGit(r, "merge-base", "--is-ancestor", h, "HEAD"); err != nil {
				t.Fatalf("round %d: the acknowledged commit %s is lost: %s", round, h, out)
			}
		}
		words, err := r.Settle(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stale += len(words)
		runGit(t, r, "status", "--porcelain")
		if round%10 == 0 {
			fsck(t, r.root)
		}
		write(t, r.root, "a.org", fmt.Sprint("after ", round))
		commit(t, r, "a.org", "b.org", "skills/x/SKILL.md")
		same(t, "changes after the next commit", changes(t, r), "")
		same(t, "git status after the next commit", runGit(t, r, "status", "--porcelain"), "")
		if t.Failed() {
			t.FailNow()
		}
	}
	fsck(t, r.root)
	t.Logf("%d kills left %d locks", rounds, stale)
}

// killOnce runs a committing child for a random while and kills it.
func killOnce(t *testing.T, r *Repo) (acked []string) {
	cmd := child(t, r, "loop")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		if word != "done" {
			t.Errorf("child: %s", lines.Text())
		}
		if acked = append(acked, rest); len(acked) == 1 {
			time.AfterFunc(time.Duration(rand.IntN(25_000))*time.Microsecond, func() { cmd.Process.Kill() })
		}
	}
	cmd.Wait()
	return acked
}

// A full disk is an error, and nothing is half-written.
func TestFull(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	noise := make([]byte, 60_000)
	for i := range noise {
		noise[i] = byte(rand.Uint32())
	}
	write(t, r.root, "big.bin", string(noise))
	head := runGit(t, r, "rev-parse", "HEAD")
	before := runGit(t, r, "status", "--porcelain")
	out, err := child(t, r, "full").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if strings.HasPrefix(string(out), "skip") {
		t.Skip(string(out))
	}
	if !strings.Contains(string(out), `commit "" commit "[EDIT] big.bin": store objects: `) {
		t.Errorf("child says %s", out)
	}
	same(t, "HEAD", runGit(t, r, "rev-parse", "HEAD"), head)
	same(t, "status", runGit(t, r, "status", "--porcelain"), before)
	left, _ := exec.Command("find", r.git, "-name", "*amacs?tmp*", "-o", "-name", "tmp_obj*", "-o", "-name", "*.lock").Output()
	same(t, "files left", string(left), "")
	commit(t, r, "big.bin")
}

// The same on a real small file system, where one can be mounted.
func TestFullDisk(t *testing.T) {
	needGit(t)
	isolate(t)
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=512k", "amacs-test", dir).CombinedOutput(); err != nil {
		t.Skipf("can not mount: %s", out)
	}
	t.Cleanup(func() { exec.Command("umount", dir).Run() })
	if err := Init(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	noise := make([]byte, 30_000)
	failed := 0
	for i := range 40 {
		for k := range noise {
			noise[k] = byte(rand.Uint32())
		}
		head, _ := r.Head(t.Context())
		h, err := r.Commit(t.Context(), Commit{Subject: "[EDIT] x", Paths: []string{"x"}, Contents: map[string][]byte{"x": noise}})
		if err == nil {
			continue
		}
		failed++
		if now, herr := r.Head(t.Context()); herr != nil || now != head || h != "" {
			t.Fatalf("commit %d failed (%v), yet HEAD went from %s to %s (%v)", i, err, head, now, herr)
		}
	}
	if failed == 0 {
		t.Error("the disk never filled up")
	}
	fsck(t, dir)
}
