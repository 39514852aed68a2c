package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
)

func TestDumbTerminal(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"TERM=dumb", "TERM="} {
		w := newWorld(t)
		w.must("", "init")
		w.must("", "config", "color", "always")
		p := w.terminal(t, []string{name}, w.script(slow(400, begun, "to \\u001b[31m", "one\"}"), said("to two"), hangs(begun+"half"))...)
		p.see(`lists\sthe\scommands\namacs> $`)
		p.typed("one\n")
		p.see(`\namacs> one\n\nto ␛\[31m$`)
		p.typed("two\n")
		p.see(`heard when this tick has ended\)\none\n\n\n?to two\n\namacs> $`)
		p.typed("/mood\n")
		p.see(`amacs> /mood\ncalm .*\n(.*\n)*amacs> $`)
		p.typed("three\n")
		p.see(`half$`)
		p.typed("\x03")
		p.see(`\(interrupted, tick 3\)\namacs> $`)
		p.typed("\x04")
		if code := p.ended(); code != 0 {
			t.Errorf("exit %d", code)
		}
		if strings.Contains(p.text(), "\x1b") {
			t.Errorf("%s: an escape sequence in %q", name, p.text())
		}
		w.settled(0)
		w.once("one", "two", "three")
	}
}

const comint = `
(require 'comint)
(defun wait-for (regexp)
  (with-timeout (20 (princ (buffer-string)) (error "%s did not come" regexp))
    (while (not (save-excursion (goto-char (point-min)) (re-search-forward regexp nil t)))
      (accept-process-output (get-buffer-process (current-buffer)) 0.1))))
(defun type (line) (goto-char (point-max)) (insert line) (comint-send-input))
(with-current-buffer (apply #'make-comint "amacs" "amacs" nil command-line-args-left)
  (setq command-line-args-left nil)
  (wait-for "^amacs> \\'")
  (type "one")
  (wait-for "^to ")
  (type "two")
  (wait-for "to two\n\namacs> \\'")
  (type "/mood")
  (wait-for "/mood\ncalm .*\n\\(.*\n\\)*amacs> \\'")
  (comint-send-eof)
  (with-timeout (20 (error "amacs did not end"))
    (while (process-live-p (get-buffer-process (current-buffer))) (accept-process-output nil 0.1)))
  (princ (buffer-substring-no-properties (point-min) (point-max))))
`

func TestComint(t *testing.T) {
	t.Parallel()
	needs(t, "emacs")
	w := newWorld(t)
	w.must("", "init")
	w.must("", "config", "color", "always")
	file := filepath.Join(w.temp, "comint.el")
	if err := os.WriteFile(file, []byte(comint), 0o600); err != nil {
		t.Fatal(err)
	}
	flags := w.script(slow(400, begun, "to \\u001b[31m", "grüße 漢字\"}"), said("to two"))
	c := exec.Command("emacs", append([]string{"-Q", "--batch", "-l", file}, flags...)...)
	c.Env, c.Dir = append(w.env, "TERM=xterm", "LC_ALL=C.UTF-8"), w.temp
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	contains(t, "the buffer", string(out), "amacs> one\n\nto ", "two\n(kept; it is heard when this tick has ended)\n", "grüße 漢字\n", "\nto two\n\namacs> /mood\n")
	if bytes.ContainsRune(out, 0x1b) {
		t.Errorf("an escape sequence in %q", out)
	}
	w.settled(0)
	w.once("one", "two")
}

func TestColours(t *testing.T) {
	t.Parallel()
	const dim = "\x1b[2m"
	silent := object(map[string]any{"reply": nil})
	for _, c := range []struct {
		color, env string
		want       bool
	}{
		{"auto", "X=", true}, {"never", "X=", false}, {"always", "X=", true},
		{"auto", "NO_COLOR=1", false}, {"always", "NO_COLOR=1", false},
	} {
		w := newWorld(t)
		w.must("", "init")
		w.must("", "config", "color", c.color)
		bad := `no \u001b[5m JSON`
		p := w.terminal(t, []string{"TERM=xterm", c.env}, w.script(silent, slow(0, begun+bad+"\"}"), play(map[string]any{"error": "\x1b[5mboom"}))...)
		p.see(`amacs> `)
		p.typed("one\r")
		p.see(`no reply yet`)
		p.typed("two\r")
		p.see(`JSON`)
		p.typed("three\r")
		p.see(`boom`)
		p.typed("/thread switch \x1b[200~\x1b]0;x\x07\x1b[201~\r/quit\r")
		p.ended()
		if got := strings.Contains(p.text(), dim+"· tick 1"); got != c.want {
			t.Errorf("color %s, %s: coloured %v, want %v: %q", c.color, c.env, got, c.want, p.text())
		}
		for _, foreign := range []string{"\x1b[5m", "\x1b]0;"} {
			if strings.Contains(p.text(), foreign) {
				t.Errorf("%q reached the terminal: %q", foreign, p.text())
			}
		}
	}
	w := newWorld(t)
	in := w.terminal(t, []string{"TERM=xterm"}, "init")
	in.ended()
	r := w.must("one\n", w.script(silent)...)
	if strings.Contains(r.out+r.errs, "\x1b") {
		t.Errorf("coloured on a pipe: %q", r.out)
	}
}

func TestPipes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("", "init")
	broken := play(map[string]any{"error": "no line", "class": "permanent"})
	for _, c := range []struct {
		in, out string
		code    int
		script  []string
	}{
		{"", "", 0, nil},
		{"\n\n", "", 0, nil},
		{"a\nb", "first\n\nsecond\n\n", 0, []string{said("first"), said("second")}},
		{"a\n/mood\n", "first\n\ncalm (confidence 0.70)\n", 0, []string{said("first")}},
		{"\"\"\"\na\n\nb\n\"\"\"\n", "first\n\n", 0, []string{said("first")}},
		{"a\n", "tick ", 4, []string{broken}},
		{"a\nb\n", "", 0, []string{broken, said("both")}},
		{"a\n", "(not valid JSON", 1, []string{`"x"`, `"y"`, `"z"`}},
		{"/quit\na\n", "", 0, nil},
		{"/nonsense\n", "no command /nonsense", 0, nil},
	} {
		r := w.amacs(c.in, w.script(append(c.script, said("end"))...)...)
		if r.code != c.code || !strings.HasPrefix(r.out, c.out) {
			t.Errorf("%q: exit %d, want %d:\n%s%s", c.in, r.code, c.code, r.out, r.errs)
		}
		if n := strings.Count(r.out+r.errs, "no line"); c.code == 4 && n != 1 {
			t.Errorf("%q: the failure is told %d times:\n%s%s", c.in, n, r.out, r.errs)
		}
	}
	w.settled(0)

	var many []string
	for i := range 50 {
		many = append(many, said(fmt.Sprintf("reply %d", i+1)))
	}
	r := w.must(strings.Repeat("y\n", 50), w.script(many...)...)
	if n := strings.Count(r.out, "reply "); n != 50 {
		t.Errorf("%d replies to 50 lines", n)
	}

	// The reader goes away: the program ends, and the next one finds a whole home.
	c := exec.Command("sh", "-c", `yes | head -50 | amacs "$@" | head -1`, "sh")
	c.Args, c.Env, c.Dir = append(c.Args, w.script(many...)...), w.env, w.temp
	out, err := c.CombinedOutput()
	if err != nil || string(out) != "reply 1\n" {
		t.Errorf("| head -1: %v %q", err, out)
	}
	w.must("", append(w.script(said("well")), "ask", "how are you")...)
	w.settled(0)
}

func TestHalfTerminals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := filepath.Join(w.temp, "lines")
	if err := os.WriteFile(file, []byte("one\ntwo\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ redirect, typed string }{{"<" + file, ""}, {">" + file + ".out", "one\ntwo\n\x04"}} {
		shell := exec.Command("sh", "-c", `exec amacs "$@" `+c.redirect, "sh")
		shell.Args = append(shell.Args, w.script(said("first"), said("second"))...)
		shell.Env, shell.Dir = append(w.env, "TERM=xterm"), w.temp
		tty, err := pty.Start(shell)
		if err != nil {
			t.Fatal(err)
		}
		defer tty.Close()
		if _, err := tty.WriteString(c.typed); err != nil {
			t.Fatal(err)
		}
		seen, _ := io.ReadAll(tty) // ends with an error when the program has
		if err := shell.Wait(); err != nil {
			t.Errorf("%s: %v", c.redirect, err)
		}
		if c.typed != "" {
			if seen, err = os.ReadFile(file + ".out"); err != nil {
				t.Fatal(err)
			}
		}
		contains(t, c.redirect, strings.ReplaceAll(string(seen), "\r", ""), "first\n\nsecond\n\n")
	}
	w.settled(0)
}
