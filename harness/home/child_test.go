package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"
)

var ctx = context.Background()

// TestMain: with AMACS_HOME_TEST set this binary is another process.
func TestMain(m *testing.M) {
	if act := os.Getenv("AMACS_HOME_TEST"); act != "" {
		if err := child(act, os.Getenv("AMACS_HOME_ROOT")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child does one deed on a home, in a process of its own.
func child(act, root string) error {
	h, err := Open(root)
	if err != nil {
		return err
	}
	name, arg, _ := strings.Cut(act, ":")
	switch name {
	case "think": // some transactions, each a line of the monologue
		from, err := strconv.Atoi(arg)
		if err != nil {
			return err
		}
		for i := range 25 {
			if err := change(h, func(d *Draft) error { return d.Think(Thought{Tick: from + i, Time: noon, Text: "x"}) }); err != nil {
				return err
			}
		}
		return nil
	case "intend": // dies between the intent and the write
		return h.Update(ctx, func(tx *Tx) error {
			if err := everything(tx.Draft, 2); err != nil {
				return err
			}
			if _, err := tx.Intend(2, "commit 2"); err != nil {
				return err
			}
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		})
	case "forever": // transactions of four files until it is killed
		for tick := 2; ; tick++ {
			if err := change(h, func(d *Draft) error { return everything(d, tick) }); err != nil {
				return err
			}
			fmt.Println(tick)
		}
	case "lease":
		_, err := h.TryLease()
		if err != nil {
			return err
		}
		fmt.Println("leased")
		time.Sleep(time.Minute)
		return nil
	case "change":
		return change(h, func(d *Draft) error { return everything(d, 2) })
	case "full": // no file may grow beyond so many bytes
		limit, err := strconv.ParseUint(arg, 10, 64)
		if err != nil {
			return err
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
		return change(h, func(d *Draft) error { return everything(d, 2) })
	}
	return errors.New("unknown deed " + act)
}

func command(act, root string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "AMACS_HOME_TEST="+act, "AMACS_HOME_ROOT="+root)
	cmd.Stderr = os.Stderr
	return cmd
}

// change is a whole transaction.
func change(h *Home, edit func(*Draft) error) error {
	return h.Update(ctx, func(tx *Tx) error {
		if err := edit(tx.Draft); err != nil {
			return err
		}
		id, err := tx.Intend(0, nil)
		if err != nil {
			return err
		}
		if err := tx.Write(); err != nil {
			return err
		}
		return tx.Done(id)
	})
}

// everything edits the four files of a tick.
func everything(d *Draft, tick int) error {
	text := fmt.Sprintf("tick %d %s", tick, strings.Repeat("word ", 300))
	return errors.Join(
		d.Say(Line{Tick: tick, At: noon, Text: text}),
		d.AddNote(Note{Heading: fmt.Sprint("note ", tick), Tick: tick, Text: text}),
		d.Think(Thought{tick, noon, text}),
		d.Put(Consciousness, []byte(fmt.Sprintf("((current-tick . %d) (mood . %q))\n", tick, text))))
}

// ticks are the last ticks that the four files know.
func ticks(t testing.TB, h *Home) [4]int {
	t.Helper()
	d := h.Draft()
	s, _, err := d.State()
	must(t, err)
	ns, ts := Notes([]byte(d.text(t, Scratchpad))), Thoughts([]byte(d.text(t, Monologue)))
	out := [4]int{LastExchange([]byte(d.text(t, Chat))), 0, 0, s.Tick}
	if len(ns) > 0 {
		out[1] = ns[len(ns)-1].Tick
	}
	if len(ts) > 0 {
		out[2] = ts[len(ts)-1].Tick
	}
	return out
}

var template = fstest.MapFS{
	Consciousness: {Data: []byte("((mood . \"calm\"))\n")}, Chat: {Data: []byte(orgHead)}, Scratchpad: {Data: []byte(orgHead)},
	Monologue: {Data: []byte(orgHead)}, "skills/core/SKILL.md": {Data: []byte("core")}, ".gitignore": {Data: []byte(".amacs/\n")},
}

// newHome is a home; afterwards nothing of half-written files may be left.
func newHome(t testing.TB) *Home {
	t.Helper()
	h, _, err := Init(filepath.Join(t.TempDir(), "agent"), template)
	must(t, err)
	t.Cleanup(func() {
		if left, _ := filepath.Glob(h.Path(tempDir) + "/.*"); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
		if left, _ := filepath.Glob(h.root + "/.*.org*"); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
	return h
}

func put(t testing.TB, h *Home, path, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(h.Path(path)), 0o700), os.WriteFile(h.Path(path), []byte(text), 0o600))
}

func read(t testing.TB, h *Home, path string) string {
	t.Helper()
	b, err := h.Read(path)
	if errors.Is(err, os.ErrNotExist) {
		return "(none)"
	}
	must(t, err)
	return string(b)
}
