package process

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The test binary is its own helper, and whatever else a test needs a process for.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "confined":
			fmt.Fprintln(os.Stderr, Confined(os.Args[2:]))
			os.Exit(1)
		case "run": // until it is killed
			c := shell(os.Args[4])
			switch os.Args[2] {
			case "helped":
				c = helped(c)
			case "confined":
				c = confined(c, os.Args[3])
			}
			fmt.Println(Run(context.Background(), c))
			os.Exit(0)
		}
		if part, ok := parts[os.Args[1]]; ok {
			part(os.Args[2:])
			syscall.Exit(0) // os.Exit waits for a second under -race
		}
	}
	os.Exit(m.Run())
}

// parts are more that the test binary can be, by its first argument.
var parts = map[string]func([]string){}

var self = func() string {
	path, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return path
}()

var path = "PATH=/usr/local/bin:/usr/bin:/bin"

func shell(text string) Command {
	return Command{Argv: []string{"bash", "-c", text}, Env: []string{path}, Tail: 10_000, Time: time.Minute}
}

func helped(c Command) Command {
	c.Helper = []string{self, "confined"}
	return c
}

// confined grants what programs need, this one too, and a folder to write.
func confined(c Command, write string) Command {
	if c.Dir == "" {
		c.Dir = write
	}
	c.Grant = &Grant{Read: []string{"/usr", "/bin", "/lib", "/lib64", self}, Write: []string{write}}
	return helped(c)
}

// ways are the ways to run a command that this machine has.
func ways(t *testing.T, write string) map[string]func(Command) Command {
	all := map[string]func(Command) Command{"alone": func(c Command) Command { return c }}
	if runtime.GOOS == "linux" {
		all["helped"] = helped
	}
	if Supported().Files {
		all["confined"] = func(c Command) Command { return confined(c, write) }
	} else {
		t.Logf("not tried confined: %s", Supported())
	}
	return all
}

func TestRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "noexec"), []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := func(c Command, dir string) Command { c.Dir = dir; return c }
	with := func(c Command, f func(*Command)) Command { f(&c); return c }
	argv := func(words ...string) Command { return with(shell(""), func(c *Command) { c.Argv = words }) }
	for name, c := range map[string]struct {
		Command
		code         int
		signal, out  string
		fails        string
		left, atMost int
	}{
		"exit code":        {Command: shell("echo out; echo err >&2; exit 3"), code: 3, out: "out\nerr\n"},
		"signal":           {Command: shell("kill -SEGV $$"), code: 139, signal: "SIGSEGV"},
		"term itself":      {Command: shell("kill -TERM $$; sleep 60"), code: 143, signal: "SIGTERM"},
		"term its group":   {Command: shell("kill -TERM 0; sleep 60"), code: 143, signal: "SIGTERM"},
		"stdin is empty":   {Command: shell("cat"), out: ""},
		"stdin":            {Command: with(shell("tr a-z A-Z"), func(c *Command) { c.Stdin = []byte("words") }), out: "WORDS"},
		"stdin not read":   {Command: with(shell("true"), func(c *Command) { c.Stdin = make([]byte, 1<<20) })},
		"large stdin":      {Command: with(shell("wc -c"), func(c *Command) { c.Stdin = make([]byte, 1<<20) }), out: "1048576\n"},
		"folder":           {Command: at(shell("pwd"), dir), out: dir + "\n"},
		"program by path":  {Command: at(argv("../../"+strings.Repeat("../", strings.Count(dir, "/"))+"bin/echo", "x"), dir), out: "x\n"},
		"environment":      {Command: with(argv("env"), func(c *Command) { c.Env = append(c.Env, "A=b c") }), out: path + "\nA=b c\n"},
		"no terminal":      {Command: shell("(exec 3</dev/tty) 2>/dev/null || echo none"), out: "none\n"},
		"bytes in argv":    {Command: argv("printf", "%s", "caf\xe9"), out: "caf\uFFFD"},
		"long argv":        {Command: argv("bash", "-c", "echo ${#1}", "-", strings.Repeat("x", 100_000)), out: "100000\n"},
		"too long argv":    {Command: argv("echo", strings.Repeat("x", 3<<20)), fails: "argument list too long"},
		"no program":       {Command: argv("no-such-program"), fails: "cannot run no-such-program: there is no such program on the PATH"},
		"no path":          {Command: Command{Argv: []string{"ls"}}, fails: "no such program"},
		"no argv":          {Command: Command{}, fails: "no command"},
		"no program there": {Command: argv("/no/such"), fails: "cannot run /no/such: file does not exist"},
		"not executable":   {Command: at(argv("./noexec"), dir), fails: "cannot run ./noexec: it is not executable"},
		"a folder":         {Command: argv("/usr"), fails: "cannot run /usr: it is a folder"},
		"no folder":        {Command: at(shell("pwd"), dir+"/gone"), fails: "there is no such folder"},
		"left behind":      {Command: shell("sleep 1000 & sleep 1000 & echo x"), out: "x\n", left: 2},
		"job control":      {Command: shell("set -m; sleep 1000 & echo x"), out: "x\n", left: 1},
		"nothing left":     {Command: shell("sleep 0 & wait; echo x"), out: "x\n"},
	} {
		for way, make := range ways(t, dir) {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				r, err := Run(t.Context(), make(c.Command))
				if c.fails != "" {
					if err == nil || !strings.Contains(err.Error(), c.fails) {
						t.Fatalf("%v, not %q", err, c.fails)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if r.Code != c.code || r.Signal != c.signal || r.Out != c.out || r.Left != c.left {
					t.Errorf("%+v", r)
				}
				if r.TimedOut || r.Cancelled || r.Cut || r.Bytes < int64(len(strings.ReplaceAll(c.out, "\uFFFD", "x"))) || r.Took <= 0 {
					t.Errorf("%+v", r)
				}
			})
		}
	}
}

// Time is over or the context ends, for a command that listens to SIGTERM and for
// one that does not.
func TestEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for way, make := range ways(t, dir) {
		polite := make(shell(`trap 'echo bye; exit 7' TERM; echo up; sleep 1000 & wait`))
		deaf := make(shell(`trap '' TERM; setsid sleep 1000 & echo up; setsid -w sleep 1000; sleep 1000`))
		if way == "alone" { // from which a session of its own gets away
			deaf = shell(`trap '' TERM; echo up; while :; do sleep 1000; done`)
		}
		t.Run("time over, "+way, func(t *testing.T) {
			t.Parallel()
			polite := polite
			polite.Time = 300 * time.Millisecond
			r, err := Run(t.Context(), polite)
			if err != nil || !r.TimedOut || r.Cancelled || r.Code == 0 || r.Took >= 10*time.Second {
				t.Errorf("%+v, %v", r, err)
			}
		})
		t.Run("cancelled, "+way, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			polite := polite
			polite.Time, polite.Watch = 0, func([]byte) { cancel() }
			r, err := Run(ctx, polite)
			if err != nil || !r.Cancelled || r.TimedOut || r.Code != 7 || r.Out != "up\nbye\n" {
				t.Errorf("%+v, %v", r, err)
			}
		})
		t.Run("deaf, "+way, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			deaf.Watch = func([]byte) { cancel() }
			r, err := Run(ctx, deaf)
			if err != nil || !r.Cancelled || r.Code != 137 || r.Signal != "SIGKILL" || r.Took < grace {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestCancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file := filepath.Join(t.TempDir(), "x")
	r, err := Run(ctx, shell("touch "+file))
	if err != nil || !r.Cancelled {
		t.Errorf("%+v, %v", r, err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("it ran")
	}
}

// What holds the pipe and got away is not waited for, and what was written until
// then is there.
func TestPipeHeld(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := mkfifo(t, dir)
	c := shell("setsid bash -c 'read < fifo' & head -c 50000 /dev/zero | tr '\\0' x")
	c.Dir, c.Tail = dir, 100_000
	r, err := Run(t.Context(), c)
	w, openErr := os.OpenFile(fifo, os.O_RDWR, 0)
	if openErr != nil {
		t.Fatal(openErr)
	}
	defer w.Close()
	if _, err := w.WriteString("end\n"); err != nil {
		t.Fatal(err)
	}
	if err != nil || r.Code != 0 || r.Out != strings.Repeat("x", 50000) {
		t.Errorf("%d bytes, %v", r.Bytes, err)
	}
}

// An open file of whoever started amacs is no way out.
func TestDescriptors(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	for way, make := range ways(t, t.TempDir()) {
		if way == "alone" {
			continue
		}
		fd, err := unix.Open("/etc", unix.O_RDONLY, 0) // without O_CLOEXEC
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		r, err := Run(t.Context(), make(shell("ls /proc/self/fd/")))
		if err != nil || r.Out != "0\n1\n2\n3\n" { // 3 is what ls reads
			t.Errorf("%s: %q, %v", way, r.Out, err)
		}
	}
}

func mkfifo(t *testing.T, dir string) string {
	t.Helper()
	fifo := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	return fifo
}

// When amacs is killed, so is the command; with the helper also all that it
// started.
func TestKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	t.Parallel()
	for way := range ways(t, "") {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fifo, err := os.OpenFile(mkfifo(t, dir), os.O_RDONLY|unix.O_NONBLOCK, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer fifo.Close()
			text := "exec 9>" + fifo.Name() + "; echo up >&9; "
			if way == "alone" {
				text += "exec sleep 1000"
			} else {
				text += "trap '' TERM HUP; sleep 1000 & setsid sleep 1000 & setsid -w sleep 1000"
			}
			amacs := exec.Command(self, "run", way, dir, text)
			if err := amacs.Start(); err != nil {
				t.Fatal(err)
			}
			defer amacs.Wait()
			if err := waitFor(fifo, "up\n"); err != nil {
				amacs.Process.Kill()
				t.Fatal(err)
			}
			amacs.Process.Kill()
			if err := waitFor(fifo, ""); err != nil {
				t.Fatal("something lives on: ", err)
			}
		})
	}
}

// waitFor reads until a text came, or with "" until nobody holds the fifo.
func waitFor(fifo *os.File, text string) error {
	if err := fifo.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return err
	}
	var got bytes.Buffer
	for b := make([]byte, 100); ; {
		n, err := fifo.Read(b)
		got.Write(b[:n])
		if text != "" && strings.Contains(got.String(), text) {
			return nil
		}
		if n == 0 && err != nil {
			if text == "" && !os.IsTimeout(err) {
				return nil
			}
			if text != "" && !os.IsTimeout(err) { // nobody has opened it yet
				time.Sleep(time.Millisecond)
				continue
			}
			return err
		}
	}
}

// A helper that is no helper.
func TestNoHelper(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	for _, h := range []struct{ helper, says string }{
		{"/bin/true", "the helper /bin/true ended (exit status 0) without a word"},
		{"/no/such", "no such file"},
		{"", "no helper is known"},
	} {
		c := confined(shell("true"), t.TempDir())
		c.Helper = strings.Fields(h.helper)
		if _, err := Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), h.says) {
			t.Errorf("%q: %v", h.helper, err)
		}
	}
	out, err := exec.Command(self, "confined").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "started by amacs itself") {
		t.Errorf("%s, %v", out, err)
	}
}

func BenchmarkRun(b *testing.B) {
	dir := b.TempDir()
	c := Command{Argv: []string{"/bin/true"}, Env: []string{}}
	b.Run("os-exec", func(b *testing.B) {
		for b.Loop() {
			if err := exec.Command("/bin/true").Run(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, way := range []struct {
		name string
		Command
	}{{"alone", c}, {"helped", helped(c)}, {"confined", confined(c, dir)}} {
		b.Run(way.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Run(b.Context(), way.Command); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("supported", func(b *testing.B) {
		for b.Loop() {
			Supported()
		}
	})
}
