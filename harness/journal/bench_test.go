package journal

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// tickFiles are the sizes of what a tick changes.
var tickFiles = map[string]int{"agent-chat.org": 20_000, "consciousness.el": 3_000, "monologue.org": 9_000, "scratchpad.org": 6_000}

// turn changes the four files as a tick does: the clock's line, and an entry
// more at the end; a file that is full begins anew.
func turn(tb testing.TB, r *Repo, i int) []string {
	var paths []string
	for p, size := range tickFiles {
		data, _ := os.ReadFile(r.abs(p))
		if len(data) > size {
			data = data[:size/4]
		}
		for range size / 8000 * 200 / 40 {
			data = fmt.Appendf(data, "word%d and %d more\n", rand.IntN(5000), rand.IntN(900))
		}
		data = fmt.Appendf(data, "tick %d\n", i)
		if err := os.WriteFile(r.abs(p), data, 0o644); err != nil {
			tb.Fatal(err)
		}
		paths = append(paths, p)
	}
	return paths
}

// grown is a home with a history of n commits.
func grown(b testing.TB, n int) *Repo {
	needGit(b)
	isolate(b)
	r := emptyRepo(b)
	for p, size := range tickFiles {
		var text strings.Builder
		for text.Len() < size {
			fmt.Fprintf(&text, "an ordinary line %d of %s\n", rand.IntN(99999), p)
		}
		write(b, r.root, p, text.String())
	}
	for i := range 20 {
		write(b, r.root, fmt.Sprintf("skills/s%d/SKILL.md", i), fmt.Sprint("skill ", i))
		commit(b, r, fmt.Sprintf("skills/s%d/SKILL.md", i))
	}
	r.nosync = true
	for i := range n {
		record(b, r, Commit{Subject: TickSubject(i, "thread", "calm", "a line of the history"), Paths: turn(b, r, i), Trailers: []Trailer{{"Tick", fmt.Sprint(i)}}})
		if i%100 == 0 {
			if _, err := r.Pack(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
	r.nosync = false
	return r
}

func BenchmarkCommit(b *testing.B) {
	for _, n := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprintf("history=%d", n), func(b *testing.B) {
			r := grown(b, n)
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				paths := turn(b, r, i)
				b.StartTimer()
				record(b, r, Commit{Subject: TickSubject(i, "", "calm", "x"), Paths: paths})
			}
		})
	}
}

func BenchmarkGitAddCommit(b *testing.B) {
	r := grown(b, 0)
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		turn(b, r, i)
		b.StartTimer()
		runGit(b, r, "add", "-A")
		runGit(b, r, "commit", "-q", "-m", "x")
	}
}

// BenchmarkBesideGit takes turns, so that both meet the same load, and gives the
// ratio of the medians.
func BenchmarkBesideGit(b *testing.B) {
	ours, theirs := grown(b, 300), grown(b, 300)
	var a, g []time.Duration
	timed := func(to *[]time.Duration, f func()) {
		start := time.Now()
		f()
		*to = append(*to, time.Since(start))
	}
	for i := 0; b.Loop(); i++ {
		paths := turn(b, ours, i)
		turn(b, theirs, i)
		timed(&a, func() { record(b, ours, Commit{Subject: TickSubject(i, "", "calm", "x"), Paths: paths}) })
		timed(&g, func() {
			runGit(b, theirs, "add", "-A")
			runGit(b, theirs, "commit", "-q", "-m", "x")
		})
	}
	slices.Sort(a)
	slices.Sort(g)
	b.ReportMetric(a[len(a)/2].Seconds()*1000, "ours-ms")
	b.ReportMetric(g[len(g)/2].Seconds()*1000, "git-ms")
	b.ReportMetric(a[len(a)/2].Seconds()/g[len(g)/2].Seconds(), "ratio")
}

func BenchmarkChanges(b *testing.B) {
	for _, n := range []int{30, 3000} {
		b.Run(fmt.Sprintf("files=%d", n), func(b *testing.B) {
			isolate(b)
			r := emptyRepo(b)
			var paths []string
			for i := range n {
				p := fmt.Sprintf("skills/s%d/f%d.md", i/10, i)
				write(b, r.root, p, p)
				age(b, r, p)
				paths = append(paths, p)
			}
			commit(b, r, paths...)
			time.Sleep(30 * time.Millisecond)
			for b.Loop() {
				if got := changes(b, r); got != "" {
					b.Fatal(got)
				}
			}
		})
	}
}

func BenchmarkLog(b *testing.B) {
	r := grown(b, 10_000)
	for name, q := range map[string]Query{"all": {}, "newest 20": {Max: 20}, "tick": {Tick: 5000, HasTick: true}, "path": {Path: "scratchpad.org", Tick: 17, HasTick: true}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, err := range r.Log(b.Context(), q) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	b.Run("LastTick", func(b *testing.B) {
		for b.Loop() {
			if n, err := r.LastTick(b.Context()); err != nil || n != 9999 {
				b.Fatal(n, err)
			}
		}
	})
}

// Packed as we do it, a long history takes at most twice what `git gc` makes
// of it.
func TestSizeOfLongHistory(t *testing.T) {
	if os.Getenv("JOURNAL_LONG") == "" {
		t.Skip("some minutes; set JOURNAL_LONG")
	}
	start := time.Now()
	r := grown(t, 10_000)
	ours, err := r.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ours after %s: %+v", time.Since(start), ours)
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(copied, os.DirFS(r.root)); err != nil {
		t.Fatal(err)
	}
	other := &Repo{root: copied, git: filepath.Join(copied, ".git")}
	runGit(t, other, "gc", "-q")
	theirs, err := other.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("git gc: %+v", theirs)
	if ours.Bytes > 2*theirs.Bytes {
		t.Errorf("ours %d bytes, git's %d", ours.Bytes, theirs.Bytes)
	}
}
