package process

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestOutput(t *testing.T) {
	t.Parallel()
	raw := filepath.Join(t.TempDir(), "raw")
	if err := os.WriteFile(raw, []byte("older and longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	var seen bytes.Buffer
	c := shell("for i in 1 2 3 4; do echo line $i; echo err $i >&2; done")
	c.Raw, c.Output, c.Tail, c.Watch = raw, 20, 10, func(b []byte) { seen.Write(b) }
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	const all = "line 1\nerr 1\nline 2\nerr 2\nline 3\nerr 3\nline 4\nerr 4\n"
	kept, err := os.ReadFile(raw)
	if err != nil {
		t.Fatal(err)
	}
	if seen.String() != all || string(kept) != all[:20] || r.Out != all[len(all)-10:] || !r.Cut || r.Bytes != int64(len(all)) {
		t.Errorf("%q %q %+v", seen.String(), kept, r)
	}
	if i, err := os.Stat(raw); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", i.Mode(), err)
	}
}

// What is written without end is neither kept nor waited for.
func TestFlood(t *testing.T) {
	t.Parallel()
	raw := filepath.Join(t.TempDir(), "raw")
	var got, largest int
	c := shell("yes")
	c.Raw, c.Output, c.Tail, c.Time = raw, 1<<20, 1000, 2*time.Second
	c.Watch = func(b []byte) { got, largest = got+len(b), max(largest, len(b)) }
	r, err := Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	i, err := os.Stat(raw)
	if err != nil {
		t.Fatal(err)
	}
	if !r.TimedOut || r.Bytes != int64(got) || r.Bytes <= 1<<20 || i.Size() != 1<<20 || len(r.Out) != 1000 || largest > 32<<10 {
		t.Errorf("%d bytes, %d kept, largest %d: %+v", got, i.Size(), largest, r)
	}
}

func TestRawFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := shell("echo x")
	c.Raw, c.Output = filepath.Join(dir, "gone", "raw"), 100
	if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "gone/raw") {
		t.Error(err)
	}
	c.Raw = filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "victim"), c.Raw); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), c); err == nil {
		t.Error("a link was followed")
	}
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	full := &output{raw: must(os.OpenFile("/dev/full", os.O_WRONLY, 0)), room: 100}
	full.take([]byte("x"))
	full.take([]byte("y"))
	if err := full.close(); err == nil || full.bytes != 2 {
		t.Error(err, full.bytes)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// However output arrives, its end is kept, and a letter is not cut in two.
func FuzzTail(f *testing.F) {
	f.Add([]byte("h\u00e9llo w\u00f6rld\n"), 3, 4)
	f.Add([]byte("\xff\xfe\u20ac"), 1, 2)
	f.Add([]byte("short"), 2, 100)
	f.Fuzz(func(t *testing.T, all []byte, piece, size int) {
		piece, size = 1+abs(piece)%50, abs(size)%100
		o := &output{ring: make([]byte, size)}
		for b := range slices.Chunk(all, piece) {
			o.take(b)
		}
		got, cut := o.text()
		if cut != (len(all) > size) || o.bytes != int64(len(all)) || !utf8.ValidString(got) {
			t.Fatalf("%q: %q, cut %v", all, got, cut)
		}
		end := all[max(0, len(all)-size):]
		for skipped := range utf8.UTFMax {
			if skipped <= len(end) && got == strings.ToValidUTF8(string(end[skipped:]), "\uFFFD") && (skipped == 0 || cut && !utf8.RuneStart(end[skipped-1])) {
				return
			}
		}
		t.Fatalf("%q, the last %d: %q", all, size, got)
	})
}

func abs(n int) int {
	if n < 0 {
		return -(n + 1)
	}
	return n
}
