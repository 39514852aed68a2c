package home

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// asNobody runs a command as a user with no rights.
func asNobody(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

func texts(lines []Line) string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return strings.Join(out, "|")
}

func TestInbox(t *testing.T) {
	h := newHome(t)
	dead := exec.Command("true")
	must(t, dead.Run())
	at := time.Now()
	for i, l := range []Line{
		{Face: "a", PID: os.Getpid(), Text: "one"},
		{Face: "b", PID: os.Getpid(), Text: "theirs"},
		{Face: "c", PID: dead.Process.Pid, Text: "of the dead"},
		{Face: "a", PID: os.Getpid(), Text: "bad \xff byte\n* and more\r"},
		{Text: "of nobody"},
	} {
		l.At = at.Add(time.Duration(i))
		must(t, h.Post(ctx, l))
		if !strings.HasSuffix(read(t, h, inbox), "\n") {
			t.Error("not on disk")
		}
	}
	mine, err := h.Inbox("a")
	must(t, err)
	if got := texts(mine); got != "one|of the dead|bad \xff byte\n* and more\r|of nobody" {
		t.Errorf("%q", got)
	}
	// A line that was cut short, then one behind it.
	put(t, h, inbox, read(t, h, inbox)+`{"at":"2026`)
	must(t, h.Post(ctx, Line{Face: "a", At: at.Add(time.Second), Text: "last"}))
	must(t, h.Update(ctx, func(tx *Tx) error { return tx.Drop(mine) }))
	if mine, _ = h.Inbox("a"); texts(mine) != "last" {
		t.Errorf("%q", texts(mine))
	}
	if theirs, _ := h.Inbox("b"); texts(theirs) != "theirs|last" {
		t.Errorf("%q", texts(theirs))
	}
	// Dropped twice, and the last one.
	must(t, h.Update(ctx, func(tx *Tx) error { return tx.Drop(mine) }))
	must(t, h.Update(ctx, func(tx *Tx) error { return tx.Drop(mine) }))
	theirs, _ := h.Inbox("b")
	must(t, h.Update(ctx, func(tx *Tx) error { return tx.Drop(theirs) }))
	if got := read(t, h, inbox); got != "" {
		t.Errorf("left %q", got)
	}
}

func FuzzLine(f *testing.F) {
	for _, s := range nasty {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b, err := Line{Text: s, At: noon, Tick: 3}.MarshalJSON()
		must(t, err)
		var l Line
		must(t, l.UnmarshalJSON(b))
		if l.Text != s || !l.At.Equal(noon) || l.Tick != 3 || strings.Contains(string(b), "\n") {
			t.Errorf("%q came back as %q by %s", s, l.Text, b)
		}
	})
}

func TestLease(t *testing.T) {
	h := newHome(t)
	release, err := h.TryLease()
	must(t, err)
	if _, err := h.TryLease(); !errors.Is(err, ErrBusy) {
		t.Errorf("leased twice: %v", err)
	}
	// The write lock is free meanwhile, and one write waits for the other.
	start := time.Now()
	unlock, err := h.Lock(ctx)
	must(t, err)
	if d := time.Since(start); d > 50*time.Millisecond {
		t.Errorf("locked after %v", d)
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if _, err := h.Lock(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("locked twice: %v", err)
	}
	unlock()
	var holder string
	if _, err := h.Lease(short, func(who string) { holder = who }); !errors.Is(err, context.DeadlineExceeded) || holder != "this process" {
		t.Errorf("%v, held by %q", err, holder)
	}
	time.AfterFunc(20*time.Millisecond, release)
	again, err := h.Lease(ctx, nil)
	must(t, err)
	again()
}

func TestLeaseDiesWithItsProcess(t *testing.T) {
	h := newHome(t)
	cmd := command("lease", h.root)
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "leased\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := h.TryLease(); !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
	var holder string
	short, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	if _, err := h.Lease(short, func(who string) { holder = who }); err == nil || holder != fmt.Sprint("process ", cmd.Process.Pid) {
		t.Errorf("%v, held by %q", err, holder)
	}
	must(t, cmd.Process.Kill())
	_ = cmd.Wait()
	release, err := h.TryLease()
	must(t, err)
	release()
}
