package console

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// session is the program of TestMain on a pseudo-terminal.
type session struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File // our side
	side *os.File // the program's side, kept open to look at its modes
	log  string

	modes string // before the program came

	mu  sync.Mutex
	out bytes.Buffer
}

func start(t *testing.T, termName string, env ...string) *session {
	t.Helper()
	tty, side, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	s := &session{t: t, tty: tty, side: side, log: filepath.Join(t.TempDir(), "log")}
	s.modes = modes(t, side)
	s.cmd = exec.Command(os.Args[0])
	s.cmd.Env = append(os.Environ(), "TERM="+termName, "CONSOLE_LOG="+s.log)
	s.cmd.Env = append(s.cmd.Env, env...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = side, side, side
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.read()
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		if strings.Contains(s.output(), "DATA RACE") || strings.Contains(s.output(), "panic:") {
			t.Errorf("the program said %s", s.output())
		}
		tty.Close()
		side.Close()
	})
	s.wait(kindIs("open"))
	return s
}

func (s *session) read() {
	b := make([]byte, 1<<16)
	for {
		n, err := s.tty.Read(b)
		s.mu.Lock()
		s.out.Write(b[:n])
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *session) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

func (s *session) send(text string) {
	s.t.Helper()
	if _, err := s.tty.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) wait(want func(record) bool) []record {
	s.t.Helper()
	return records(s.t, s.log, want)
}

func (s *session) see(text string) {
	s.t.Helper()
	s.sees(1, text)
}

// sees waits until a text was shown n times.
func (s *session) sees(n int, text string) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if strings.Count(s.output(), text) >= n {
			return
		}
	}
	s.t.Fatalf("%q was not shown %d times in %.3000q", text, n, s.output())
}

func (s *session) exits() {
	s.t.Helper()
	done := make(chan error, 1)
	go func() { done <- s.cmd.Wait() }()
	select {
	case err := <-done:
		if err != nil {
			s.t.Errorf("the program ended with %v: %.2000q", err, s.output())
		}
	case <-time.After(20 * time.Second):
		s.t.Fatal("the program did not end")
	}
}

func paste(text string) string { return "\x1b[200~" + text + "\x1b[201~" }

func TestKeyboard(t *testing.T) {
	forty := strings.TrimSuffix(strings.Repeat("\tfunc (größe 漢字) \\ \"\"\"\x01\n", 40), "\n")
	for name, test := range map[string]struct{ typed, want string }{
		"plain":               {"hello\r", "hello"},
		"accents":             {"grüße 漢字 👍🏽\r", "grüße 漢字 👍🏽"},
		"backspace":           {"漢字x\x7f\x7f漢\r", "漢漢"},
		"home and end":        {"b\x1b[1~a\x1b[4~c\x1b[7~0\x1b[8~1\x1bOH<\x1bOF>\r", "<0abc1>"},
		"arrows":              {"ac\x1b[Db\x1b[Cd\r", "abcd"},
		"words":               {"größe zwei\x1b[1;5D\x1b[1;5Dx\x1b[1;5C y\r", "xgröße y zwei"},
		"alt words":           {"größe zwei\x1bb\x1bbx\x1bf y\r", "xgröße y zwei"},
		"cut a word":          {"привет мир\x17людям\r", "привет людям"},
		"cut and bring back":  {"привет мир\x15<\x19>\r", "<привет мир>"},
		"delete":              {"abc\x1b[1~\x1b[3~\r", "bc"},
		"delete at the end":   {"\x1b[3~abc\x1b[3~\r", "abc"},
		"ctrl-d deletes":      {"abc\x01\x04\r", "bc"},
		"nul and others":      {"a\x00b\x1c\x1d\x1e\x1fc\r", "abc"},
		"stray escape":        {"\x1bhello\r", "hello"},
		"unknown sequences":   {"a\x1b[15~b\x1b[[Ac\x1b[1;2Pd\x1b[I\x1b[Oe\r", "abcde"},
		"backslash":           {"one\\\rtwo\r", "one\ntwo"},
		"two backslashes":     {"one\\\\\r", "one\\\\"},
		"block":               {"\"\"\"\rone\\\r\rtwo\r\"\"\"\r", "one\\\n\ntwo"},
		"escape, enter":       {"one\x1b\r", "one"},
		"tab completes":       {"/q\t\r", "/quit "},
		"tab completes part":  {"a gr\te\t\r", "a grün-eins "},
		"forty lines":         {paste(strings.ReplaceAll(forty, "\n", "\r")) + "\r", forty},
		"around pastes":       {"a" + paste("1\r2\t") + "b" + paste(strings.Repeat("x\r\n", 50)) + "c\r", "a1\n2\tb" + strings.Repeat("x\n", 50) + "c"},
		"pasted backslash":    {"a" + paste("\\") + "\r", "a\\"},
		"pasted quotes":       {paste("\"\"\"") + " a\\\rb\r", "\"\"\" a\nb"},
		"no bytes lost":       {paste("\xff\x00\x9b") + "\xfe\u2028\U00100001\U0010ff03\r", "\xff\x00\x9b\xfe\u2028\U00100001\U0010ff03"},
		"typed picture":       {"␊␉\ue00a\r", "␊␉\ue00a"},
		"token is one":        {"a" + paste(strings.Repeat("x\r", 50)) + "\x7fb\r", "ab"},
		"search":              {"needle one\rother\r\x12need\r", "needle one"},
		"search, then edit":   {"needle one\rother\r\x12need\x05 more\r", "needle one more"},
		"search taken back":   {"needle one\rtyped\x12need\x07 on\r", "typed on"},
		"history":             {"first\rsecond\r\x1b[A\x1b[A\x1b[A!\r", "first!"},
		"history keeps draft": {"first\rdraft\x1b[A\x1b[B!\r", "draft!"},
		"ctrl-c, then yank":   {"lost\x03\x19 and found\r", "lost and found"},
		"long without marks":  {strings.Repeat("x", 20_000) + "\r", strings.Repeat("x", 20_000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, "xterm")
			s.send(test.typed)
			pasted := strings.Contains(test.typed, pasteBegins)
			s.wait(is(record{"line", test.want, pasted}))
		})
	}
}

func TestLargePastes(t *testing.T) {
	for _, size := range []int{200 << 10, 1 << 20} {
		s := start(t, "xterm")
		text := strings.Repeat("0123456789 漢字 abcdefgh\n", size/25)
		begin := time.Now()
		s.send("<" + paste(strings.ReplaceAll(text, "\n", "\r")) + ">\r")
		s.wait(is(record{"line", "<" + text + ">", true}))
		if d := time.Since(begin); d > 5*time.Second {
			t.Errorf("%d bytes took %v", size, d)
		}
		if n := len(s.output()); n > 10_000 {
			t.Errorf("a paste of %d bytes wrote %d to the screen", size, n)
		}
	}
}

func TestHistorySurvivesRestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	env := "CONSOLE_HISTORY=" + path
	s := start(t, "xterm", env)
	long := strings.Repeat("a long line\n", 300)
	s.send("first\r" + paste("two\rlines\\") + "\r\"\"\"\rin a\rblock\r\"\"\"\r" + paste(strings.ReplaceAll(long, "\n", "\r")) + "\r\x04")
	s.wait(kindIs("eof"))
	s.exits()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history is %v, %v", info, err)
	}

	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{long, "in a\nblock", "two\nlines\\", "first"} {
		again := filepath.Join(t.TempDir(), "history")
		if err := os.WriteFile(again, written, 0o644); err != nil {
			t.Fatal(err)
		}
		s := start(t, "xterm", "CONSOLE_HISTORY="+again)
		s.send(strings.Repeat("\x1b[A", i+1) + "\r")
		s.wait(line(want))
		if info, err := os.Stat(again); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the history is %v, %v", info, err)
		}
	}
}

func TestInterruptAndEnd(t *testing.T) {
	s := start(t, "xterm")
	s.send("half\x03")
	s.wait(is(record{Kind: "interrupt", Text: "half"}))
	s.see("half^C")
	s.send("one\\\rtwo\x03")
	s.wait(is(record{Kind: "interrupt", Text: "one\\\ntwo"}))
	s.send("\x03")
	s.wait(is(record{Kind: "interrupt"}))
	s.send("/stream\r")
	s.see("word3")
	s.send("typed\x03")
	time.Sleep(50 * time.Millisecond)
	s.send(" on\r")
	s.wait(line("typed on")) // the tick was meant, not the line
	s.send("\x04")
	s.wait(kindIs("eof"))
	s.exits()
}

func TestTypingWhileStreaming(t *testing.T) {
	s := start(t, "xterm")
	s.send("/stream\r")
	s.see("word1 ")
	text := "ein längerer Satz mit 漢字, getippt während etwas geschrieben wird, und noch länger als eine Zeile breit ist"
	for _, r := range text {
		s.send(string(r))
		time.Sleep(5 * time.Millisecond)
	}
	s.send("\r")
	s.wait(line(text))
	s.send("\x04")
	s.exits()
}

func TestSignalsRestoreTheTerminal(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		s := start(t, "xterm")
		s.send("half")
		s.see("half")
		if err := s.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		_ = s.cmd.Wait()
		if status := s.cmd.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != sig {
			t.Errorf("after %v the program ended with %v", sig, s.cmd.ProcessState)
		}
		if now := modes(t, s.side); now != s.modes {
			t.Errorf("after %v the modes are\n%snot\n%s", sig, now, s.modes)
		}
		s.see("\x1b[?2004l")
	}
}

// modes is what stty has to say of a terminal.
func modes(t *testing.T, tty *os.File) string {
	t.Helper()
	cmd := exec.Command("stty", "-a")
	cmd.Stdin = tty
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestSuspend(t *testing.T) {
	s := start(t, "xterm")
	s.send("/suspend\r")
	s.see("icanon")
	if strings.Contains(s.output(), "-icanon") {
		t.Error("the child found the terminal raw")
	}
	s.send("for the child\n")
	s.wait(is(record{Kind: "resumed", Text: "<nil>"}))
	s.see("child for the child")
	s.send("for us\t" + paste("x\ry") + "\r")
	s.wait(is(record{"line", "for usx\ny", true}))
	s.send("\x04")
	s.exits()
}

func TestAsk(t *testing.T) {
	s := start(t, "xterm")
	s.send("/ask\r")
	s.see("May I?")
	s.send("you should not\ra\ralways\r")
	s.wait(line("you should not"))
	s.wait(line("a")) // not by a slip
	s.wait(is(record{Kind: "answer", Text: "A <nil>"}))
	s.send("/ask\r")
	s.sees(2, "May I?")
	s.send("\x03")
	s.wait(is(record{Kind: "answer", Text: `0 asking "May I?": no answer`}))
	s.send("y\r")
	s.wait(line("y"))
}

func TestDumbTerminal(t *testing.T) {
	for _, name := range []string{"dumb", ""} {
		s := start(t, name)
		s.see("welcome\r\namacs> ")
		s.send("hello\n")
		s.wait(line("hello"))
		s.send("/status thinking\n/stream\n")
		s.see("word5 ")
		s.send("while it streams\n")
		s.wait(line("while it streams"))
		s.send("\x03")
		s.wait(kindIs("interrupt"))
		s.send("/reply \x1b[31mred\x07\n")
		s.see("␛[31mred␇\r\n\r\namacs> ")
		s.send("one\\\ntwo\n\"\"\"\nthree\n\"\"\"\n/ask\n")
		s.wait(line("one\ntwo"))
		s.wait(line("three"))
		s.see("(y/n/always) ")
		s.send("y\n")
		s.wait(is(record{Kind: "answer", Text: "y <nil>"}))
		s.send("\x04")
		s.wait(kindIs("eof"))
		s.exits()
		if i := strings.IndexByte(s.output(), 0x1b); i >= 0 {
			t.Errorf("TERM=%q: an escape sequence was written: %q", name, s.output()[max(0, i-20):])
		}
	}
}

func TestPipe(t *testing.T) {
	big := strings.Repeat("x", 3<<20)
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "TERM=xterm", "CONSOLE_LOG="+log)
	cmd.Stdin = strings.NewReader("hello\r\n\n" + big + "\none\\\ntwo\n\"\"\"a\nb\n\"\"\"\n/reply hi\n\nlast\r")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if string(out) != "hi\n\n" {
		t.Errorf("wrote %q", out)
	}
	var got []string
	for _, r := range records(t, log, kindIs("eof")) {
		got = append(got, r.Kind+" "+r.Text)
	}
	want := []string{"open false true", "line hello", "line ", "line " + big, "line one\ntwo", "line a\nb", "line /reply hi", "line ", "line last\r", "eof "}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("got %.300q", got)
	}
}

// Close ends whatever waits: for input, for the REPL to take an event, or for
// the answer to a question.
func TestCloseNeverWaits(t *testing.T) {
	for _, name := range []string{"xterm", "dumb", "pipe"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TERM", name)
			in, out, typed := ends(t, name == "pipe")
			c, err := Open(Options{In: in, Out: out, Prompt: "> "})
			if err != nil {
				t.Fatal(err)
			}
			go typed.WriteString(strings.Repeat("line\n", 3000)) // more than anybody takes
			c.Next()
			if e := <-c.Events(); e != (Line{Text: "line"}) {
				t.Errorf("got %#v", e)
			}
			asked := make(chan error, 1)
			go func() {
				_, err := c.Ask(t.Context(), "May I?", "yn")
				asked <- err
			}()
			time.Sleep(50 * time.Millisecond)
			closed := make(chan error, 1)
			go func() { closed <- errors.Join(c.Close(), c.Close()) }()
			for _, done := range []chan error{closed, asked} {
				select {
				case err := <-done:
					if done == closed && err != nil || done == asked && !errors.Is(err, ErrNoAnswer) {
						t.Error(err)
					}
				case <-time.After(20 * time.Second):
					t.Fatal("it hangs")
				}
			}
			c.Print("after the end")
		})
	}
}

// ends gives a console's two ends and where to type, a terminal's or a pipe's.
func ends(t *testing.T, pipe bool) (in, out, typed *os.File) {
	t.Helper()
	if !pipe {
		s := &session{t: t}
		tty, side, err := pty.Open()
		if err != nil {
			t.Fatal(err)
		}
		s.tty = tty
		go s.read()
		t.Cleanup(func() { side.Close(); tty.Close() })
		return side, side, tty
	}
	in, typed, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); typed.Close(); null.Close() })
	return in, null, typed
}
