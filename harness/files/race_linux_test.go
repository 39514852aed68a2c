package files_test

import (
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"amacs/harness/files"
)

// Somebody swaps a folder, and a file in it, for links to outside all the time:
// what is outside is never read and never written.
func TestRace(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	const secret, plain, mine = "secret\n", "plain\n", "mine\n"
	put(t, dir, "p/a/f", plain, "out/f", secret, "out/g", secret)
	must(t, os.Symlink("../out", dir+"/p/link"))
	must(t, os.Symlink("../../out/g", dir+"/p/a/to"))
	exchange := func(a, b string) {
		if err := unix.Renameat2(unix.AT_FDCWD, dir+a, unix.AT_FDCWD, dir+b, unix.RENAME_EXCHANGE); err != nil {
			t.Error(err)
		}
	}
	stop := make(chan struct{})
	var rounds atomic.Int64 // of whoever reads and writes
	var swapping sync.WaitGroup
	swapping.Go(func() {
		for {
			for range rand.N(300) {
				exchange("/p/a", "/p/link")
				exchange("/p/a", "/p/link")
				exchange("/p/a/f", "/p/a/to")
				exchange("/p/a/f", "/p/a/to")
			}
			// A write that came between has put a file in the link's place.
			if info, err := os.Lstat(dir + "/p/a/f"); err == nil && !info.Mode().IsRegular() {
				exchange("/p/a/f", "/p/a/to")
			}
			os.Remove(dir + "/p/a/to")
			os.Symlink("../../out/g", dir+"/p/a/to")
			// One whole round undisturbed.
			for quiet := rounds.Load() + 2; rounds.Load() < quiet; runtime.Gosched() {
				select {
				case <-stop:
					return
				default:
				}
			}
		}
	})
	end := sync.OnceFunc(func() {
		close(stop)
		swapping.Wait()
	})
	defer end()
	at := dir + "/p/a/f"
	reads, writes := 0, 0
	for until := time.Now().Add(time.Second); time.Now().Before(until) || reads < 3 || writes < 3; rounds.Add(1) {
		text, err := files.Read(at, 0, 0)
		if err == nil {
			reads++
		}
		if strings.Contains(text.Text, "secret") {
			t.Fatal("read what is outside")
		}
		c := files.Change{Path: at, Before: []byte(secret), After: []byte(mine)}
		if err := c.Apply(); err == nil {
			t.Fatal("wrote what is outside")
		}
		c = files.Change{Path: at, Before: []byte(plain), After: []byte(plain)}
		if c.Apply() == nil {
			writes++
		}
		c = files.Change{Path: dir + "/p/a/new", New: true, After: []byte(mine)}
		if c.Apply() == nil {
			os.Remove(dir + "/p/a/new")
			os.Remove(dir + "/p/link/new")
		}
		if l, err := files.List(dir+"/p/a", 1); err == nil {
			for _, e := range l.Entries {
				if e.Path == "g" {
					t.Fatal("listed what is outside")
				}
			}
		}
		if found, err := files.Search(t.Context(), dir+"/p", files.Query{Pattern: "secret"}); err == nil && len(found.Hits) > 0 {
			t.Fatal("searched what is outside")
		}
	}
	end()
	if get(t, dir+"/out/f") != secret || get(t, dir+"/out/g") != secret || len(entries(t, dir+"/out")) != 2 {
		t.Errorf("outside: %v", entries(t, dir+"/out"))
	}
}
