package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// TestPurgeAsks: at a terminal it says what it costs and asks; what is typed is
// the answer.
func TestPurgeAsks(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{"n", "y"} {
		w := newWorld(t)
		spoken(w)
		c := w.command("", "purge", "--text", "zebracrossing")
		c.Stdin = nil
		tty, err := pty.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		var mu sync.Mutex
		var seen bytes.Buffer
		done := make(chan struct{})
		go func() {
			defer close(done)
			buf := make([]byte, 4096)
			for {
				n, err := tty.Read(buf)
				mu.Lock()
				seen.Write(buf[:n])
				mu.Unlock()
				if err != nil {
					return
				}
			}
		}()
		text := func() string {
			mu.Lock()
			defer mu.Unlock()
			return seen.String()
		}
		w.await("the question", func() bool { return strings.Contains(text(), "Forget it? (y/n): ") })
		if _, err := io.WriteString(tty, "perhaps\n"+answer+"\n"); err != nil {
			t.Fatal(err)
		}
		<-done
		_ = c.Wait()
		tty.Close()
		contains(t, "the screen", text(), "To forget: 1 text.", "agent-chat.org", "a new hash for ")
		if n := strings.Count(text(), "Forget it?"); n != 2 {
			t.Errorf("asked %d times", n)
		}
		if gone := !strings.Contains(w.read("agent-chat.org"), "zebracrossing"); gone != (answer == "y") {
			t.Errorf("%s: gone is %v\n%s", answer, gone, text())
		}
	}
}

// TestPurgeKilledAtRandom: killed at any instant, git finds nothing wrong; after
// the next start the text stands in the history and the files, or in neither, and
// a purge can be ended.
func TestPurgeKilledAtRandom(t *testing.T) {
	t.Parallel()
	runs := 6
	if os.Getenv("AMACS_LONG") != "" {
		runs = 100
	}
	base := newWorld(t)
	spoken(base)
	flags := base.script(said("one"), said("two"), said("three"))
	for i := range 3 {
		base.must("", append(flags, "ask", fmt.Sprint("line ", i))...)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 1))
	ended := map[string]int{}
	for run := range runs {
		w := base.copyOf(t)
		c := w.command("", "purge", "--yes", "--now", "--text", "zebracrossing")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(time.Duration(rnd.IntN(400))*time.Millisecond, func() { _ = c.Process.Kill() })
		_ = c.Wait()
		timer.Stop()
		w.whole()
		w.must("", append(w.script(said("here")), "ask", "line after")...)
		w.settled(0)
		inFiles := strings.Contains(w.read("agent-chat.org"), "zebracrossing")
		inLog := strings.Contains(w.git("log", "-p", "main"), "zebracrossing")
		if inFiles != inLog {
			t.Errorf("run %d: in the files %v, in the history %v", run, inFiles, inLog)
		}
		waits := w.amacs("", "purge").code == 1 // it says that one is not confirmed; else: purge what?
		switch {
		case inFiles:
			ended["before"]++
			w.must("", "purge", "--yes", "--now", "--text", "zebracrossing")
		case waits:
			ended["between"]++
			w.must("", "purge", "--confirm")
		default:
			ended["after"]++
		}
		if strings.Contains(w.git("cat-file", "--batch-all-objects", "--batch"), "zebracrossing") {
			t.Errorf("run %d: an object holds it", run)
		}
		w.once("line 0", "line 1", "line 2", "line after")
		if t.Failed() {
			t.FailNow()
		}
	}
	t.Log(ended)
}
