package console

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestComint(t *testing.T) {
	need(t, "emacs")
	log := filepath.Join(t.TempDir(), "log")
	cmd := exec.Command("emacs", "-Q", "--batch", "-l", "testdata/comint.el", os.Args[0])
	cmd.Env = append(os.Environ(), "CONSOLE_LOG="+log, "TERM=xterm", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("emacs: %v\n%s", err, out)
	}
	records(t, log, line("/reply \x1b[31mgrüße\x1b[0m 漢字"))
	records(t, log, line("one\ntwo"))
	records(t, log, is(record{Kind: "answer", Text: "y <nil>"}))
	records(t, log, kindIs("eof"))

	// The buffer holds ESC where it was typed, and nowhere else.
	text := string(out)
	for _, want := range []string{
		"amacs> /reply \x1b[31mgrüße\x1b[0m 漢字\n\n␛[31mgrüße␛[0m 漢字\n\namacs> one\\\n...> two\namacs> /ask\n",
		"\nMay I?\n(y/n/always) y\namacs> ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the buffer has no %q but is\n%q", want, text)
		}
	}
	if n := strings.Count(text, "\x1b"); n != 2 {
		t.Errorf("the buffer holds ESC %d times:\n%q", n, text)
	}
}
