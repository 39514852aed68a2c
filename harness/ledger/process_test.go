package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestMain: with AMACS_LEDGER_TEST set this binary is another process.
func TestMain(m *testing.M) {
	if act := os.Getenv("AMACS_LEDGER_TEST"); act != "" {
		if err := child(act, os.Getenv("AMACS_LEDGER_DIR")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(act, dir string) error {
	l := Open(dir, Options{Caps: Caps{"lifetime": {{USD: 1, Period: Ever}}}})
	worst := Worst{Source: Human, Model: "m", In: 7, USD: usd(0.1)}
	name, arg, _ := strings.Cut(act, ":")
	switch name {
	case "race": // one call for each folder that is named
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			_, err := Open(in.Text(), Options{Caps: Caps{"lifetime": {{USD: 1, Period: Ever}}}}).Reserve(ctx, worst)
			var full *Exceeded
			switch {
			case err == nil:
				fmt.Println("called")
			case errors.As(err, &full):
				fmt.Println("refused")
			default:
				return err
			}
		}
		return nil
	case "die": // between reservation and settlement
		if _, err := l.Reserve(ctx, worst); err != nil {
			return err
		}
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "forever": // cheap calls until it is killed
		for {
			r, err := l.Reserve(ctx, Worst{Source: Human, Model: "m", USD: usd(1e-7)})
			if err != nil {
				return err
			}
			if _, err := r.Settle(Call{USD: usd(1e-8)}); err != nil {
				return err
			}
			fmt.Println("settled")
		}
	case "full": // no file may grow beyond so many bytes
		limit, err := strconv.ParseUint(arg, 10, 64)
		if err != nil {
			return err
		}
		r, err := l.Reserve(ctx, worst)
		if err != nil {
			return err
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return err
		}
		if _, err := l.Reserve(ctx, worst); err == nil {
			return errors.New("booked on a full disk")
		}
		if _, err := r.Settle(Call{USD: usd(0)}); err == nil {
			return errors.New("settled on a full disk")
		}
		return nil
	}
	return errors.New("unknown deed " + act)
}

func command(act, dir string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "AMACS_LEDGER_TEST="+act, "AMACS_LEDGER_DIR="+dir)
	cmd.Stderr = os.Stderr
	return cmd
}

// Two processes that ask at the same moment, with room for one call.
func TestTheLastDollar(t *testing.T) {
	var in [2]io.Writer
	var out [2]*bufio.Scanner
	for i := range in {
		cmd := command("race", "")
		stdin, err := cmd.StdinPipe()
		must(t, err)
		stdout, err := cmd.StdoutPipe()
		must(t, err, cmd.Start())
		in[i], out[i] = stdin, bufio.NewScanner(stdout)
		t.Cleanup(func() {
			if err := errors.Join(stdin.Close(), cmd.Wait()); err != nil {
				t.Error(err)
			}
		})
	}
	root := t.TempDir()
	for round := range 100 {
		dir := filepath.Join(root, strconv.Itoa(round))
		call(t, Open(dir, Options{}), Human, 0.9)
		for i := range in {
			_, err := fmt.Fprintln(in[i], dir)
			must(t, err)
		}
		answers := ""
		for i := range out {
			if !out[i].Scan() {
				t.Fatal("no answer")
			}
			answers += out[i].Text() + " "
		}
		if answers != "called refused " && answers != "refused called " {
			t.Fatalf("round %d: %s", round, answers)
		}
		if got := totals(t, Open(dir, Options{})); got.Lifetime != (Sum{USD: 1, In: 7, Calls: 2, Unsettled: 1}) {
			t.Fatalf("round %d: %+v", round, got)
		}
	}
}

// A process that dies between reservation and settlement has spent its worst.
func TestKilled(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	for range 9 {
		cmd := command("die", dir)
		if err := cmd.Run(); cmd.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatal(err)
		}
	}
	l := Open(dir, Options{Caps: caps(t, "lifetime", "1")})
	if got := totals(t, l).Lifetime; got != (Sum{USD: 0.9, In: 63, Calls: 9, Unsettled: 9}) {
		t.Errorf("%+v", got)
	}
	if got := refused(t, l, Worst{Source: Human, USD: usd(0.11)}); got != "lifetime" {
		t.Errorf("refused by %q", got)
	}
	call(t, l, Human, 0.1)
}

// Killed at any moment, the ledger goes on: no line is lost or broken.
func TestKilledAnywhere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	acknowledged := 0
	const kills = 6
	for i := range kills {
		cmd := command("forever", dir)
		out, err := cmd.StdoutPipe()
		must(t, err, cmd.Start())
		lines := bufio.NewScanner(out)
		for range 3 * (i + 1) {
			if !lines.Scan() {
				t.Fatal("it ended by itself")
			}
			acknowledged++
		}
		must(t, cmd.Process.Kill())
		for lines.Scan() {
			acknowledged++
		}
		if err := cmd.Wait(); err == nil {
			t.Fatal("it was not killed")
		}
	}
	got := totals(t, Open(dir, Options{}))
	settled := got.Lifetime.Calls - got.Lifetime.Unsettled
	if got.Broken != nil || got.Lifetime.Unsettled > kills || settled < acknowledged || settled > acknowledged+kills {
		t.Errorf("%d settlements were told; the ledger has %+v", acknowledged, got)
	}
}

// On a full disk no call is made, and nothing half is left.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ledger")
	must(t, command("full:200", dir).Run()) // room for a line and a half
	l := Open(dir, Options{})
	if got := totals(t, l); got.Lifetime != (Sum{USD: 0.1, In: 7, Calls: 1, Unsettled: 1}) || got.Broken != nil {
		t.Errorf("%+v", got)
	}
	if b := month1(t, dir); !bytes.HasSuffix(b, []byte("}\n")) || bytes.Count(b, []byte("\n")) != 1 {
		t.Errorf("left: %q", b)
	}
	call(t, l, Human, 1)
}

// month1 is the only month's file.
func month1(t *testing.T, dir string) []byte {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.jsonl")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	b, err := os.ReadFile(files[0])
	must(t, err)
	return b
}
