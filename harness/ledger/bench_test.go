package ledger

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// old fills a ledger with lines of earlier calls in two months.
func old(b *testing.B, dir string, lines int) {
	b.Helper()
	for _, at := range []time.Time{noon.AddDate(0, -1, 0), noon} {
		var text []byte
		for i := range lines / 4 {
			for _, l := range []line{
				{Kind: reserve, ID: fmt.Sprintf("%016x", i), At: at, Source: Human, Provider: "p", Model: "m", In: 21000, Out: 4096, USD: usd(0.09346)},
				{Kind: settle, ID: fmt.Sprintf("%016x", i), At: at, Source: Human, Provider: "p", Model: "m", In: 10112, Cached: 8200, Out: 311, USD: usd(0.007754), MS: 4180, Outcome: "ok"},
			} {
				x, err := l.print()
				must(b, err)
				text = append(text, x...)
			}
		}
		must(b, os.WriteFile(filepath.Join(dir, at.Format("2006-01")+".jsonl"), text, 0o600))
	}
}

// A call's booking and settlement in a ledger with so many earlier lines, against
// appending two such lines and waiting for the disk after each.
func BenchmarkCall(b *testing.B) {
	b.Run("two lines", func(b *testing.B) {
		l := line{Kind: settle, ID: newID(), At: noon, Source: Human, Provider: "p", Model: "m", In: 10112, Cached: 8200, Out: 311, USD: usd(0.007754), MS: 4180, Outcome: "ok"}
		text, err := l.print()
		must(b, err)
		path := filepath.Join(b.TempDir(), "lines")
		for b.Loop() {
			for range 2 {
				f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
				must(b, err)
				_, err = f.Write(text)
				must(b, err, f.Sync(), f.Close())
			}
		}
	})
	for _, lines := range []int{0, 10_000, 100_000} {
		b.Run(fmt.Sprintf("after %d", lines), func(b *testing.B) {
			dir := b.TempDir()
			old(b, dir, lines)
			l := Open(dir, Options{Caps: DefaultCaps(), Now: (&clock{noon.AddDate(0, 0, 1)}).now})
			call(b, l, Human, 1e-6)
			for b.Loop() {
				call(b, l, Human, 1e-8)
			}
		})
	}
}

// The first look of a new process.
func BenchmarkOpen(b *testing.B) {
	for _, stored := range []bool{false, true} {
		b.Run(fmt.Sprintf("after 100000, sums stored %v", stored), func(b *testing.B) {
			dir := b.TempDir()
			old(b, dir, 100_000)
			if stored {
				call(b, Open(dir, Options{Now: (&clock{noon}).now}), Human, 0)
			}
			for b.Loop() {
				totals(b, Open(dir, Options{Now: (&clock{noon}).now}))
			}
		})
	}
}
