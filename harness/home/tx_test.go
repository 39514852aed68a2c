package home

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestFinish: each state that a file may be in when a writer has died.
func TestFinish(t *testing.T) {
	h := newHome(t)
	paths := []string{"before.org", "after.org", "edited.org", "missing.org", "a/new.org", "b/new.org", "gone.org", "gone-edited.org", "empty.org"}
	for _, p := range []string{"before.org", "after.org", "edited.org", "missing.org", "gone.org", "gone-edited.org", "empty.org"} {
		put(t, h, p, "was "+p)
	}
	type deed struct{ Subject string }
	must(t, h.Update(ctx, func(tx *Tx) error {
		for _, p := range paths {
			text := []byte("meant " + p)
			if strings.HasPrefix(p, "gone") {
				text = nil
			} else if p == "empty.org" {
				text = []byte{}
			}
			must(t, tx.Put(p, text))
		}
		_, err := tx.Intend(7, deed{"a commit"})
		return err
	}))
	put(t, h, "after.org", "meant after.org")
	put(t, h, "edited.org", "by hand")
	put(t, h, "gone-edited.org", "by hand")
	put(t, h, "b/new.org", "by hand")
	must(t, os.Remove(h.Path("missing.org")))

	must(t, h.Update(ctx, func(tx *Tx) error {
		ins := tx.Intents()
		if len(ins) != 1 || ins[0].Tick != 7 || string(ins[0].Commit) != `{"Subject":"a commit"}` || len(ins[0].Files) != len(paths) {
			t.Fatalf("%+v", ins)
		}
		kept, err := tx.Finish(ins[0])
		must(t, err)
		for path, meant := range map[string]string{"edited.org": "meant edited.org", "missing.org": "meant missing.org",
			"b/new.org": "meant b/new.org", "gone-edited.org": "this file was to be removed\n"} {
			if got := read(t, h, kept[path]); got != meant {
				t.Errorf("%s: put aside in %q: %q", path, kept[path], got)
			}
			delete(kept, path)
		}
		if len(kept) > 0 {
			t.Errorf("kept too: %v", kept)
		}
		return tx.Done(ins[0].ID)
	}))
	for path, want := range map[string]string{"before.org": "meant before.org", "after.org": "meant after.org", "edited.org": "by hand", "missing.org": "(none)",
		"a/new.org": "meant a/new.org", "b/new.org": "by hand", "gone.org": "(none)", "gone-edited.org": "by hand", "empty.org": "", intentLog: ""} {
		if got := read(t, h, path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}

func TestIntentLog(t *testing.T) {
	h := newHome(t)
	var first, second string
	must(t, h.Update(ctx, func(tx *Tx) (err error) {
		first, err = tx.Claim(3, []Line{{Text: "a\xffb", At: noon, Tick: 3}})
		return err
	}))
	// A record that was cut short, then one behind it.
	f, err := os.OpenFile(h.Path(intentLog), os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString(`{"id":"torn","tick":4,"files":[{"pa`)
	must(t, err, f.Close())
	must(t, h.Update(ctx, func(tx *Tx) (err error) {
		if ins := tx.Intents(); len(ins) != 1 || ins[0].Lines[0].Text != "a\xffb" {
			t.Errorf("%+v", ins)
		}
		must(t, tx.Put("x.org", []byte("x")))
		second, err = tx.Intend(5, nil)
		return err
	}))
	must(t, h.Update(ctx, func(tx *Tx) error {
		if ins := tx.Intents(); len(ins) != 2 || ins[0].ID != first || ins[1].ID != second {
			t.Errorf("%+v", ins)
		}
		return tx.Done(second)
	}))
	must(t, h.Update(ctx, func(tx *Tx) error {
		if ins := tx.Intents(); len(ins) != 1 || ins[0].ID != first {
			t.Errorf("%+v", ins)
		}
		return tx.Done(first)
	}))
	if got := read(t, h, intentLog); got != "" {
		t.Errorf("left %q", got)
	}
}

// TestHandEditDuringATransaction: what a hand saves while fn is at work is kept,
// and fn's work is done on it.
func TestHandEditDuringATransaction(t *testing.T) {
	h := newHome(t)
	tries := 0
	must(t, h.Update(ctx, func(tx *Tx) error {
		must(t, tx.AddNote(Note{Heading: "a", Tick: 1, Text: "b"}))
		if tries++; tries == 1 {
			put(t, h, Scratchpad, orgHead+"* by hand\n")
		}
		id, err := tx.Intend(1, nil)
		if err != nil {
			return fmt.Errorf("wrapped: %w", err)
		}
		return errors.Join(tx.Write(), tx.Done(id))
	}))
	if got := read(t, h, Scratchpad); tries != 2 || !strings.HasPrefix(got, orgHead+"* by hand\n\n* a\n") {
		t.Errorf("%d tries:\n%s", tries, got)
	}
	err := h.Update(ctx, func(tx *Tx) error {
		must(t, tx.AddNote(Note{Heading: "a", Tick: 1, Text: "b"}))
		tries++
		put(t, h, Scratchpad, fmt.Sprint("* try ", tries))
		_, err := tx.Claim(1, nil)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "saving scratchpad.org: it was changed by hand") || read(t, h, intentLog) != "" {
		t.Errorf("%v", err)
	}
}

func TestUpdatesOfManyAtOnce(t *testing.T) {
	h := newHome(t)
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			if err := child(fmt.Sprint("think:", 1+i*25), h.root); err != nil {
				t.Error(err)
			}
		})
		wg.Go(func() {
			if err := command(fmt.Sprint("think:", 51+i*25), h.root).Run(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var got []int
	for _, th := range Thoughts([]byte(read(t, h, Monologue))) {
		got = append(got, th.Tick)
	}
	slices.Sort(got)
	if len(got) != 100 || got[0] != 1 || got[99] != 100 || len(slices.Compact(got)) != 100 {
		t.Errorf("%d lines: %v", len(got), got)
	}
}

// mend finishes what is in the log.
func mend(t testing.TB, h *Home) {
	t.Helper()
	must(t, h.Update(ctx, func(tx *Tx) error {
		for _, in := range tx.Intents() {
			kept, err := tx.Finish(in)
			if err != nil || len(kept) > 0 {
				t.Errorf("finishing: %v, kept %v", err, kept)
			}
			must(t, tx.Done(in.ID))
		}
		return nil
	}))
}

func TestKilledAfterIntend(t *testing.T) {
	h := newHome(t)
	must(t, change(h, func(d *Draft) error { return everything(d, 1) }))
	if err := command("intend", h.root).Run(); err == nil {
		t.Fatal("the child was not killed")
	}
	if got := ticks(t, h); got != [4]int{1, 1, 1, 1} {
		t.Errorf("before mending: %v", got)
	}
	mend(t, h)
	if got := ticks(t, h); got != [4]int{2, 2, 2, 2} {
		t.Errorf("after mending: %v", got)
	}
}

// TestKilledAnywhere: kill -9 at random instants of a stream of transactions.
// Each file is whole at once, and all of them are of one tick once mended.
func TestKilledAnywhere(t *testing.T) {
	halves := 0
	h := newHome(t)
	must(t, change(h, func(d *Draft) error { return everything(d, 1) }))
	start := h.Draft()
	var texts [4]string
	files := []string{Chat, Scratchpad, Monologue, Consciousness}
	for i, p := range files {
		texts[i] = start.text(t, p)
	}
	for i := range 30 {
		for i, p := range files {
			put(t, h, p, texts[i])
		}
		cmd := command("forever", h.root)
		out, err := cmd.StdoutPipe()
		must(t, err, cmd.Start())
		_, err = out.Read(make([]byte, 1)) // it is at work
		must(t, err)
		time.Sleep(time.Duration(i) * 700 * time.Microsecond)
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()
		if got := ticks(t, h); slices.Max(got[:])-slices.Min(got[:]) > 1 {
			t.Errorf("ticks %v", got)
		} else if slices.Max(got[:]) != slices.Min(got[:]) {
			halves++
		}
		mend(t, h)
		if got := ticks(t, h); slices.Max(got[:]) != slices.Min(got[:]) || got[0] < 2 {
			t.Errorf("after mending: ticks %v", got)
		}
	}
	t.Logf("%d of 30 kills left half a transaction", halves)
}

func TestLinksAreWrittenThrough(t *testing.T) {
	h := newHome(t)
	away := t.TempDir()
	must(t, os.WriteFile(away+"/abs.org", []byte("* abs\n"), 0o640), os.WriteFile(away+"/rel.org", []byte("* rel\n"), 0o604), os.Chmod(away+"/rel.org", 0o604),
		os.MkdirAll(away+"/folder", 0o700))
	rel, err := filepath.Rel(h.root, away+"/rel.org")
	must(t, err)
	must(t, os.Remove(h.Path(Scratchpad)), os.Symlink(away+"/abs.org", h.Path(Scratchpad)),
		os.Remove(h.Path(Monologue)), os.Symlink(rel, h.Path(Monologue)), os.Symlink(away+"/folder", h.Path("archive")))
	// On another disk, where there is one.
	if other, err := os.MkdirTemp("/dev/shm", "amacs"); err == nil {
		defer os.RemoveAll(other)
		must(t, os.Rename(h.Path(Chat), h.Path(Chat)), os.Remove(h.Path(Chat)), os.WriteFile(other+"/chat.org", []byte("* x\n"), 0o600), os.Symlink(other+"/chat.org", h.Path(Chat)))
	}
	must(t, change(h, func(d *Draft) error {
		return errors.Join(everything(d, 3), d.Put("archive/threads.org", []byte("* new\n")))
	}))
	for _, p := range []string{Scratchpad, Monologue, "archive"} {
		if info, err := os.Lstat(h.Path(p)); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s is no link any more", p)
		}
	}
	if got := ticks(t, h); got != [4]int{3, 3, 3, 3} {
		t.Errorf("ticks %v", got)
	}
	for p, mode := range map[string]os.FileMode{"abs.org": 0o640, "rel.org": 0o604, "folder/threads.org": 0o600} {
		if info, err := os.Stat(filepath.Join(away, p)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", p, info, err)
		}
	}
	if left, _ := os.ReadDir(away); len(left) != 3 {
		t.Errorf("left beside the targets: %v", left)
	}
}

func TestLinkedRootAndModes(t *testing.T) {
	real := newHome(t)
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(real.root, link))
	h, err := Open(link)
	must(t, err, os.Chmod(h.Path(Chat), 0o644), change(h, func(d *Draft) error { return everything(d, 3) }))
	if got := ticks(t, real); got != [4]int{3, 3, 3, 3} {
		t.Errorf("ticks %v", got)
	}
	for p, mode := range map[string]os.FileMode{Chat: 0o644, Scratchpad: 0o600, ".": 0o700, ".amacs": 0o700, stateDir: 0o700, intentLog: 0o600} {
		if info, err := os.Stat(h.Path(p)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
}

// TestFullDisk: an error, no file changed, and the next transaction works.
func TestFullDisk(t *testing.T) {
	h := newHome(t)
	must(t, change(h, func(d *Draft) error { return everything(d, 1) }))
	was := ticks(t, h)
	for _, limit := range []int{100, 2000, 3000, 9000} { // the log is refused, cut short; files are refused
		cmd := command(fmt.Sprint("full:", limit), h.root)
		var errs strings.Builder
		cmd.Stderr = &errs
		if err := cmd.Run(); err == nil || !strings.Contains(errs.String(), "file too large") {
			if limit < 9000 {
				t.Errorf("limit %d: %v %s", limit, err, errs.String())
			}
			continue
		}
		if got := ticks(t, h); got != was {
			t.Errorf("limit %d: ticks %v", limit, got)
		}
	}
	mend(t, h)
	must(t, change(h, func(d *Draft) error { return everything(d, 9) }))
	if got := ticks(t, h); got != [4]int{9, 9, 9, 9} {
		t.Errorf("ticks %v", got)
	}
}

// BenchmarkTransaction is a tick's share of this package: four files, 30 KB.
func BenchmarkTransaction(b *testing.B) {
	h := newHome(b)
	base := strings.Repeat("a line of text, of some length\n", 300)
	tick := 0
	for b.Loop() {
		tick++
		err := h.Update(ctx, func(tx *Tx) error {
			for _, p := range []string{Chat, Scratchpad, Monologue} {
				if err := tx.Put(p, []byte(fmt.Sprint(base, tick))); err != nil {
					return err
				}
			}
			if err := tx.Put(Consciousness, []byte(fmt.Sprintf("((current-tick . %d))", tick))); err != nil {
				return err
			}
			id, err := tx.Intend(tick, "commit")
			return errors.Join(err, tx.Write(), tx.Done(id), tx.Count(tick))
		})
		must(b, err)
	}
}
