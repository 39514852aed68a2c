package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// screen is a tmux of its own, in which the program runs on real terminals.
type screen struct {
	*world
	socket string
	pane   string // the pane that is looked at
}

// newScreen is a terminal of a size, and a home that does not exist yet.
func newScreen(t *testing.T, columns, rows int) *screen {
	t.Helper()
	needs(t, "tmux")
	// A socket's path must be short, and what is on the screen always as long.
	dir := fmt.Sprintf("/tmp/a-%06x", rand.Uint32()&0xffffff)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := &screen{world: newWorld(t), socket: filepath.Join(dir, "s")}
	s.world.dir = filepath.Join(dir, "agent")
	s.env = append(s.env, "AMACS_HOME="+s.world.dir, "LC_ALL=C.UTF-8", "SHELL=/bin/sh", "PAGER=", "TERM=xterm")
	t.Cleanup(func() {
		for _, shell := range strings.Fields(s.tmux("list-panes", "-a", "-F", "#{pane_pid}")) {
			_ = exec.Command("pkill", "-KILL", "-P", shell).Run() // else it would write on
		}
		_ = exec.Command("tmux", "-S", s.socket, "kill-server").Run()
		os.RemoveAll(dir)
	})
	s.tmux("-f", "/dev/null", "-u", "new-session", "-d", "-x", strconv.Itoa(columns), "-y", strconv.Itoa(rows), "sleep 1000")
	return s
}

// open runs the program in a new window and waits for its prompt. Its exit code
// is shown when it has ended.
func (s *screen) open(args ...string) {
	s.t.Helper()
	s.sh(`amacs "$@"; echo "exit $?"; sleep 1000`, append([]string{"sh"}, args...)...)
	s.see(`;\s/help\slists\sthe\scommands\n(.*\n)*amacs> $`)
}

func (s *screen) sh(command string, args ...string) {
	s.t.Helper()
	out := s.tmux(append([]string{"new-window", "-P", "-F", "#{pane_id}", "sh", "-c", command}, args...)...)
	s.pane = strings.TrimSpace(out)
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	c := exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
	c.Env, c.Dir = s.env, s.temp
	out, err := c.CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

func (s *screen) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys", "-t", s.pane}, keys...)...)
}

// typed types a text, enter a line.
func (s *screen) typed(text string) { s.t.Helper(); s.keys("-l", text) }

func (s *screen) enter(line string) {
	s.t.Helper()
	s.typed(line)
	s.keys("Enter")
}

// all is everything that the pane has shown, without the spaces at line ends.
func (s *screen) all() string {
	s.t.Helper()
	return strings.TrimRight(s.tmux("capture-pane", "-p", "-S", "-", "-t", s.pane), "\n")
}

// see waits until the pane shows what the pattern says; `$` is its end.
func (s *screen) see(pattern string) {
	s.t.Helper()
	re := regexp.MustCompile(pattern)
	var text string
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		text = s.tmux("capture-pane", "-p", "-N", "-S", "-", "-t", s.pane)
		text = regexp.MustCompile(`(?m) +$`).ReplaceAllStringFunc(text, func(sp string) string { return sp[:1] })
		if text = strings.TrimRight(text, "\n"); re.MatchString(text) {
			return
		}
	}
	s.t.Fatalf("%s is not on the screen:\n%s", pattern, text)
}

// shows wants a text on the screen exactly so many times.
func (s *screen) shows(n int, text string) {
	s.t.Helper()
	if all := s.all(); strings.Count(all, text) != n {
		s.t.Errorf("%q is on the screen %d times, want %d:\n%s", text, strings.Count(all, text), n, all)
	}
}

// pid is the process that runs the program.
func (s *screen) pid() int {
	s.t.Helper()
	parent := strings.TrimSpace(s.tmux("display-message", "-p", "-t", s.pane, "#{pane_pid}"))
	out, err := exec.Command("ps", "-o", "pid=", "--ppid", parent).Output()
	if err != nil {
		s.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		s.t.Fatal(err)
	}
	return pid
}

// play is a direction of a script.
func play(direction map[string]any) string {
	b, err := json.Marshal(direction)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// slow plays a text in pieces, one each delay.
func slow(delay int, pieces ...string) string {
	return play(map[string]any{"delay_ms": delay, "chunks": pieces})
}

// hangs plays a text and then waits until the caller gives up.
func hangs(text string) string { return play(map[string]any{"hang": true, "text": text}) }

// begun is the beginning of a reply's JSON, up to its text.
const begun = `{"mood":"calm","confidence":0.5,"monologue":"m","reply":"`

// inbox reports whether a line is in the inbox on the disk.
func (w *world) inbox(line string) bool {
	b, _ := os.ReadFile(w.path(".amacs/state/inbox.jsonl"))
	return bytes.Contains(b, []byte(`"text":"`+line+`"`))
}

func (s *screen) paste(text string) {
	s.t.Helper()
	file := filepath.Join(s.temp, "paste")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.tmux("load-buffer", file)
	s.tmux("paste-buffer", "-p", "-t", s.pane)
}

// heardExactly wants a line of the human, byte for byte, answered.
func (s *screen) heardExactly(want string) {
	s.t.Helper()
	all := s.chat()
	if last := all[len(all)-1]; last.Human != want || last.Pending() {
		s.t.Errorf("the last line in the chat is %q, pending %v; want %q", last.Human, last.Pending(), want)
	}
}

// terminal is the program on a pseudo-terminal: every byte that it writes.
type terminal struct {
	t   *testing.T
	tty *os.File
	cmd *exec.Cmd

	mu  sync.Mutex
	out bytes.Buffer
}

func (w *world) terminal(t *testing.T, env []string, args ...string) *terminal {
	t.Helper()
	c := w.command("", args...)
	c.Stdin, c.Env = nil, append(c.Env, env...)
	tty, err := pty.StartWithSize(c, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	p := &terminal{t: t, tty: tty, cmd: c}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := tty.Read(b)
			p.mu.Lock()
			p.out.Write(b[:n])
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
		tty.Close()
	})
	return p
}

// text is what was written, with newlines for the terminal's CR LF.
func (p *terminal) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(p.out.String(), "\r\n", "\n")
}

func (p *terminal) see(pattern string) {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if re.MatchString(p.text()) {
			return
		}
	}
	p.t.Fatalf("%s did not come:\n%q", pattern, p.text())
}

func (p *terminal) typed(text string) {
	p.t.Helper()
	if _, err := p.tty.WriteString(text); err != nil {
		p.t.Fatal(err)
	}
}

func (p *terminal) ended() int {
	_ = p.cmd.Wait() // the exit code is the result
	return p.cmd.ProcessState.ExitCode()
}

// tool makes a script of sh that an environment variable names.
func (s *screen) tool(variable, script string) {
	s.t.Helper()
	file := filepath.Join(s.temp, strings.ToLower(variable))
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		s.t.Fatal(err)
	}
	s.tmux("set-environment", "-g", variable, file)
}
