package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"amacs/harness/provider"
)

// steady is a model that answers at once, in turn with a note, an eval, or a
// reply only.
type steady struct{ n int }

func (*steady) Name() string { return "steady" }

func (*steady) Facts() provider.Facts { return provider.Facts{} }

func (s *steady) Complete(context.Context, provider.Request, func(string)) (provider.Response, error) {
	s.n++
	extra := ""
	switch s.n % 4 {
	case 1:
		extra = fmt.Sprintf(`,"scratchpad":{"heading":"Notes on part %d","thread":null,"content":"What was found out in step %d, in a sentence or two."}`, s.n%12, s.n)
	case 3: // notes are taken out again, so that the scratchpad keeps its size
		extra = fmt.Sprintf(`,"eval":"(condition-case nil (agent-edit-note \"Notes on part %d\" \"\") (error nil))"`, (s.n-2)%12)
	case 2:
		extra = `,"eval":"(agent-list-threads)"`
	}
	text := fmt.Sprintf(`{"mood":"steady","confidence":0.8,"monologue":"Step %d of the work, one line as ever","reply":%q%s}`,
		s.n, strings.Repeat(fmt.Sprintf("This is sentence %d of the answer. ", s.n), 9), extra)
	return provider.Response{Text: text, Model: "steady"}, nil
}

// newBench makes a home whose model is steady.
func newBench(tb testing.TB) (*Harness, context.Context) {
	tb.Helper()
	ctx := context.Background()
	root := filepath.Join(tb.TempDir(), "agent")
	if _, err := Init(ctx, root); err != nil {
		tb.Fatal(err)
	}
	h, err := Open(ctx, Options{Root: root})
	if err != nil {
		tb.Fatal(err)
	}
	h.settings.Load().models.open[offline] = &steady{}
	return h, ctx
}

func benchTick(tb testing.TB, h *Harness, ctx context.Context) {
	tb.Helper()
	in := Input{Source: Human, Text: "What do you make of the next part of this work, and what would you do about it?", Cwd: "/"}
	r, err := h.Tick(ctx, in, func(Event) {})
	if err != nil || r.Outcome != "replied" {
		tb.Fatalf("tick: %+v, %v", r, err)
	}
}

// BenchmarkTick is everything of a tick but the model, fsync included, beside
// what the git binary needs for `git add -A && git commit` in a home of the same
// size over changes of the same size: as git comes, which waits for the disk
// hardly at all, and told to wait for it as a tick does (core.fsync=all). They
// take turns, so that what else the machine does falls on all.
//
//	go test ./harness -run '^$' -bench Tick -benchtime 300x
func BenchmarkTick(b *testing.B) {
	h, ctx := newBench(b)
	yard, _ := newBench(b)
	for range 20 {
		benchTick(b, h, ctx)
		benchTick(b, yard, ctx)
	}
	var ours, gits, synced time.Duration
	for b.Loop() {
		start := time.Now()
		benchTick(b, h, ctx)
		ours += time.Since(start)
		scribble(b, yard.home.Root())
		start = time.Now()
		gitCommit(b, yard.home.Root())
		gits += time.Since(start)
		scribble(b, yard.home.Root())
		start = time.Now()
		gitCommit(b, yard.home.Root(), "-c", "core.fsync=all")
		synced += time.Since(start)
	}
	b.ReportMetric(ours.Seconds()*1e3/float64(b.N), "ms/tick")
	b.ReportMetric(gits.Seconds()*1e3/float64(b.N), "ms/git")
	b.ReportMetric(synced.Seconds()*1e3/float64(b.N), "ms/git-fsync")
	b.ReportMetric(float64(ours)/float64(gits), "tick/git")
	b.ReportMetric(float64(ours)/float64(synced), "tick/git-fsync")
}

// scribble changes the files that a tick changes, by as much.
func scribble(tb testing.TB, root string) {
	for file, text := range map[string]string{
		"agent-chat.org":   "\n* Tick 1\n** Human\n" + strings.Repeat("what was asked ", 6) + "\n\n** Agent\n" + strings.Repeat("what was said ", 22) + "\n",
		"monologue.org":    "[2026-11-21 Sat 05:42][TICK 9] Step of the work, one line as ever\n",
		"consciousness.el": ";\n",
	} {
		f, err := os.OpenFile(filepath.Join(root, file), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			tb.Fatal(err)
		}
		f.WriteString(text)
		f.Close()
	}
}

func gitCommit(tb testing.TB, root string, config ...string) {
	for _, args := range [][]string{{"add", "-A"}, {"-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "x"}} {
		if out, err := exec.Command("git", slices.Concat([]string{"-C", root}, config, args)...).CombinedOutput(); err != nil {
			tb.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
}

// BenchmarkGrowth shows what a tick costs in a young home and an old one, and
// how large the history gets against the same after `git gc`. It takes minutes:
//
//	AMACS_LONG=1 go test ./harness -run '^$' -bench Growth -benchtime 1x -timeout 60m
func BenchmarkGrowth(b *testing.B) {
	if os.Getenv("AMACS_LONG") == "" {
		b.Skip("set AMACS_LONG=1")
	}
	for b.Loop() {
		h, ctx := newBench(b)
		run := func(n int) time.Duration {
			var spent time.Duration
			for i := range n {
				start := time.Now()
				benchTick(b, h, ctx)
				spent += time.Since(start)
				if i%50 == 49 {
					if err := h.Pack(ctx); err != nil {
						b.Fatal(err)
					}
				}
			}
			return spent / time.Duration(n)
		}
		run(10)
		young := run(100)
		b.ReportMetric(young.Seconds()*1e3, "ms/tick@10")
		run(1000 - 110)
		b.ReportMetric(run(100).Seconds()*1e3, "ms/tick@1000")
		run(10000 - 1200)
		old := run(100)
		b.ReportMetric(old.Seconds()*1e3, "ms/tick@10000")
		b.ReportMetric(float64(old)/float64(young), "growth")
		before := size(b, h)
		if out, err := exec.Command("git", "-C", h.home.Root(), "gc", "-q").CombinedOutput(); err != nil {
			b.Fatalf("git gc: %v: %s", err, out)
		}
		after := size(b, h)
		b.ReportMetric(float64(before)/1e6, "MB")
		b.ReportMetric(float64(before)/float64(after), "MB/gc-MB")
	}
}

func size(tb testing.TB, h *Harness) int64 {
	s, err := h.journal.Stats(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return s.Bytes
}
