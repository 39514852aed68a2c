package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// A user's commits and gc beside ours: nobody sees corruption, and no
// commit of either is lost.
func TestBesideGit(t *testing.T) {
	needGit(t)
	r := newRepo(t)
	span := 5 * time.Second
	if testing.Short() {
		span = time.Second
	}
	stop, cancel := context.WithTimeout(t.Context(), span)
	defer cancel()
	var mu sync.Mutex
	made := map[string][]string{} // hashes by writer
	var wg sync.WaitGroup
	loop := func(f func(i int)) {
		wg.Go(func() {
			for i := 0; stop.Err() == nil; i++ {
				f(i)
			}
		})
	}
	note := func(who, hash string) { mu.Lock(); made[who] = append(made[who], hash); mu.Unlock() }
	for w := range 2 {
		loop(func(i int) {
			p := fmt.Sprintf("ours-%d.org", w)
			if err := os.WriteFile(r.abs(p), fmt.Append(nil, i), 0o644); err != nil {
				t.Error(err)
			}
			h, err := r.Commit(context.Background(), Commit{Subject: TickSubject(i, "", "m", p), Paths: []string{p}})
			if err == nil {
				note("ours", h)
			} else if !errors.Is(err, ErrBusy) {
				t.Error(err)
			}
			time.Sleep(15 * time.Millisecond) // git does not wait for index.lock
		})
	}
	loop(func(i int) {
		if err := os.WriteFile(r.abs("theirs.org"), fmt.Append(nil, i), 0o644); err != nil {
			t.Error(err)
		}
		for _, args := range [][]string{{"add", "theirs.org"}, {"commit", "-m", "theirs"}} {
			out, err := tryGit(r, args...)
			if err != nil && !refused(out) {
				t.Errorf("git %v: %s", args, out)
			}
			if err != nil {
				break // after an add that met a lock, a commit finds nothing or our half
			}
			if args[0] == "commit" {
				if found := committed.FindStringSubmatch(out); found != nil {
					note("theirs", found[1])
				} else {
					t.Errorf("git commit says %q", out)
				}
			}
		}
	})
	loop(func(int) {
		if out, err := tryGit(r, "gc", "-q", "--prune=2.weeks.ago"); err != nil && !strings.Contains(out, "cannot lock ref") && !strings.Contains(out, ".lock") {
			t.Errorf("git gc: %s", out)
		}
		time.Sleep(300 * time.Millisecond)
	})
	loop(func(int) {
		for _, err := range r.Log(context.Background(), Query{Max: 50}) {
			if err != nil {
				t.Error(err)
			}
		}
		if _, err := r.Changes(context.Background()); err != nil {
			t.Error(err)
		}
		if words, err := r.Settle(context.Background()); err != nil || len(words) > 0 {
			t.Errorf("Settle while all live: %q, %v", words, err)
		}
		time.Sleep(20 * time.Millisecond)
	})
	wg.Wait()
	for who, hashes := range made {
		if len(hashes) == 0 {
			t.Errorf("no commit of %s", who)
		}
		all := runGit(t, r, "rev-list", "HEAD")
		for _, h := range hashes {
			if !strings.Contains(all, h) {
				t.Errorf("%s' commit %s is lost", who, h)
			}
		}
	}
	t.Logf("ours %d, theirs %d", len(made["ours"]), len(made["theirs"]))
}

// committed finds the new commit in what `git commit` says.
var committed = regexp.MustCompile(`(?m)^\[main ([0-9a-f]+)\]`)

// refused reports whether git declined cleanly: it met a lock, had nothing to
// commit, or its own gc took an empty folder of objects away under its add.
func refused(out string) bool {
	for _, reason := range []string{
		".lock': File exists", "cannot lock ref", "nothing to commit", "no changes added to commit",
		"nothing added to commit", "unable to create temporary file: No such file or directory",
	} {
		if strings.Contains(out, reason) {
			return true
		}
	}
	return false
}
