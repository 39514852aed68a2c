package secret

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

const host = "api.anthropic.com"

// home makes a home folder of these files: name, text, name, text…
func home(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestKeyOrder(t *testing.T) {
	both := home(t, ".authinfo", "machine api.anthropic.com password from-authinfo", ".netrc", "machine api.anthropic.com password from-netrc")
	netrc := home(t, ".authinfo", "machine elsewhere.test password no", ".netrc", "\nmachine api.anthropic.com password from-netrc")
	set := env("FIRST", "from-first", "SECOND", "from-second")
	for _, c := range []struct {
		name       string
		f          *Finder
		vars       []string
		text, from string
	}{
		{"the first variable", &Finder{Getenv: set, Command: "echo no", Home: both}, []string{"FIRST", "SECOND"}, "from-first", "FIRST"},
		{"the first that is set", &Finder{Getenv: set, Home: both}, []string{"NONE", "SECOND"}, "from-second", "SECOND"},
		{"then the command", &Finder{Getenv: set, Command: "echo from-command; echo more", Home: both}, []string{"NONE"}, "from-command", "api-key-cmd"},
		{"then .authinfo", &Finder{Getenv: set, Home: both}, []string{"NONE"}, "from-authinfo", "~/.authinfo line 1"},
		{"then .netrc", &Finder{Getenv: set, Home: netrc}, nil, "from-netrc", "~/.netrc line 2"},
		{"nothing", &Finder{Getenv: set, Home: t.TempDir()}, nil, "", ""},
		{"no home", &Finder{Getenv: set}, nil, "", ""},
	} {
		k, err := c.f.Key(context.Background(), host, c.vars...)
		if err != nil || k.Text != c.text || k.From != c.from {
			t.Errorf("%s: got %q from %q, %v", c.name, k.Text, k.From, err)
		}
		if (k.Text == "") != (k.Hint != "") {
			t.Errorf("%s: hint %q", c.name, k.Hint)
		}
	}
}

func TestStoredRunsNoCommand(t *testing.T) {
	marker := filepath.Join(t.TempDir(), "ran")
	f := &Finder{Getenv: env(), Command: "touch " + marker + "; echo key", Home: home(t, ".netrc", "machine api.anthropic.com password stored")}
	if k, err := f.Stored(host); err != nil || k.Text != "stored" {
		t.Errorf("got %q, %v", k.Text, err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the command ran")
	}
}

func TestHints(t *testing.T) {
	for _, c := range []struct {
		home  string
		words []string
	}{
		{"", []string{"set ANTHROPIC_API_KEY", "set api-key-cmd"}},
		{home(t), []string{"set ANTHROPIC_API_KEY", "set api-key-cmd", "machine api.anthropic.com login apikey password KEY", "~/.authinfo"}},
		{home(t, ".authinfo.gpg", "x"), []string{"set ANTHROPIC_API_KEY", "~/.authinfo.gpg", "api-key-cmd: gpg -dq"}},
	} {
		k, err := (&Finder{Getenv: env(), Home: c.home}).Key(context.Background(), host, "ANTHROPIC_API_KEY")
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range c.words {
			if !strings.Contains(k.Hint, w) {
				t.Errorf("%q does not say %q", k.Hint, w)
			}
		}
	}
}

// The command of the hint, with cat for gpg.
func TestHintedCommand(t *testing.T) {
	if _, err := exec.LookPath("awk"); err != nil {
		t.Skip("no awk")
	}
	dir := home(t, ".authinfo.gpg", "machine a.test login x password no\nmachine api.anthropic.com login apikey password yes\n")
	f := &Finder{Getenv: env(), Command: strings.Replace(decrypt, "gpg -dq ~/", "cat "+dir+"/", 1)}
	if k, err := f.Key(context.Background(), host); err != nil || k.Text != "yes" {
		t.Errorf("got %q, %v", k.Text, err)
	}
}

func TestRefusedKeys(t *testing.T) {
	for text, why := range map[string]string{
		"hunter-2-secret\nmore":  "line break",
		"hunter-2-secret\r":      "line break",
		" hunter-2-secret":       "blank",
		"hunter-2-secret\t":      "blank",
		"hunter-2-\x1b[31m":      "control",
		"hunter-2-sécret":        "not ASCII",
		"\"hunter-2-secret\"":    "quotation mark",
		"   ":                    "empty",
		"Bearer hunter-2-secret": "blank",
	} {
		_, err := (&Finder{Getenv: env("KEY", text)}).Key(context.Background(), host, "KEY")
		if err == nil || !strings.Contains(err.Error(), why) || !strings.Contains(err.Error(), "in KEY") || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%q in the environment: %v", text, err)
		}
	}
	in := home(t, ".authinfo", "\nmachine api.anthropic.com password \"hunter 2\"")
	if _, err := (&Finder{Getenv: env(), Home: in}).Key(context.Background(), host); err == nil || !strings.Contains(err.Error(), "~/.authinfo line 2") || strings.Contains(err.Error(), "hunter") {
		t.Errorf("in a file: %v", err)
	}
}

func TestFiles(t *testing.T) {
	open := home(t, ".netrc", "machine api.anthropic.com password key")
	if err := os.Chmod(filepath.Join(open, ".netrc"), 0o644); err != nil {
		t.Fatal(err)
	}
	if k, err := (&Finder{Getenv: env(), Home: open}).Key(context.Background(), host); err != nil || !strings.Contains(k.From, "chmod 600 ~/.netrc") {
		t.Errorf("a file that others can read: from %q, %v", k.From, err)
	}
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, ".netrc"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, dir := range map[string]string{
		"no file":   folder,
		"larger":    home(t, ".netrc", strings.Repeat("# much\n", 200_000)),
		"line 2":    home(t, ".netrc", "machine api.anthropic.com login\nmachine b.test password hunter-2"),
		"encrypted": home(t, ".netrc", "machine api.anthropic.com password gpg:aHVudGVyLTI="),
	} {
		_, err := (&Finder{Getenv: env(), Home: dir}).Key(context.Background(), host)
		if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "~/.netrc") || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCommand(t *testing.T) {
	for _, c := range []struct{ name, command, text, says string }{
		{"what it is told", `echo "$AMACS_INSIDE-$AMACS_KEY_HOST"`, "1-" + host, ""},
		{"no end of line", "printf key", "key", ""},
		{"carriage return", `printf 'key\r\n'`, "key", ""},
		{"no input", "cat; echo key", "key", ""},
		{"much output", "echo key; head -c 3000000 /dev/zero", "key", ""},
		{"it complains and gives a key", "echo warning >&2; echo key", "key", ""},
		{"it fails", "echo locked >&2; exit 3", "", "exit status 3: locked"},
		{"it fails with a key", "echo key; exit 3", "", "exit status 3"},
		{"not to be found", "no-such-command-here", "", "exit status 127"},
		{"nothing", "true", "", "empty"},
		{"an empty line first", "echo; echo key", "", "empty"},
		{"two words", "echo my key", "", "blank"},
		{"killed", "kill -9 $$", "", "killed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k, err := (&Finder{Getenv: env(), Command: c.command}).Key(context.Background(), host)
			if c.says == "" && (err != nil || k.Text != c.text) {
				t.Errorf("got %q, %v", k.Text, err)
			}
			if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "api-key-cmd for "+host+": ") || k.Text != "") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestCommandErrorsShowNoKey(t *testing.T) {
	for _, command := range []string{
		"hunter2hunter2hunter2", // the key itself, in the wrong place
		"KEY=hunter2hunter2hunter2 false; set -x; echo hunter2hunter2hunter2; exit 1",
		"echo hunter2; echo hunter2 >&2; exit 1",
		"echo sk-" + "ant-hunter2hunter2hunter2 >&2; exit 1",
		"echo hunter2 hunter2",
		"echo hunter2; echo hunter2 >&2; sleep 30",
	} {
		_, err := (&Finder{Getenv: env(), Command: command, wait: 300 * time.Millisecond}).Key(context.Background(), host)
		if err == nil || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v", command, err)
		}
	}
}

func TestCommandIsAskedOnce(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	f := &Finder{Getenv: env(), Command: `echo $AMACS_KEY_HOST >>` + log + `; echo key-of-$AMACS_KEY_HOST`}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			host := fmt.Sprintf("h%d.test", i%2)
			if k, err := f.Key(context.Background(), host); err != nil || k.Text != "key-of-"+host {
				t.Errorf("got %q, %v", k.Text, err)
			}
		})
	}
	all.Wait()
	if b, _ := os.ReadFile(log); len(strings.Fields(string(b))) != 2 {
		t.Errorf("it was asked for %q", b)
	}
}

func TestCommandIsAskedAgainAfterAFailure(t *testing.T) {
	unlocked := filepath.Join(t.TempDir(), "unlocked")
	f := &Finder{Getenv: env(), Command: "cat " + unlocked}
	if _, err := f.Key(context.Background(), host); err == nil {
		t.Fatal("no error")
	}
	if err := os.WriteFile(unlocked, []byte("key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if k, err := f.Key(context.Background(), host); err != nil || k.Text != "key" {
		t.Errorf("got %q, %v", k.Text, err)
	}
}

const underTerminal = "AMACS_TEST_UNDER_TERMINAL"

// A command that would ask at the terminal finds none, though amacs has one.
func TestCommandHasNoTerminal(t *testing.T) {
	if os.Getenv(underTerminal) != "" {
		tty, err := os.Open("/dev/tty")
		if err != nil {
			t.Fatal("the test has no terminal: ", err)
		}
		defer tty.Close()
		f := &Finder{Getenv: env(), Command: "(: </dev/tty) 2>/dev/null && echo terminal || echo none"}
		k, err := f.Key(context.Background(), host)
		fmt.Println("found:", k.Text, err)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestCommandHasNoTerminal$")
	cmd.Env = append(cmd.Environ(), underTerminal+"=1")
	terminal, err := pty.Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()
	out, _ := io.ReadAll(terminal) // ends with an error when the child has gone
	if err := cmd.Wait(); err != nil || !strings.Contains(string(out), "found: none <nil>") {
		t.Errorf("%v: %s", err, out)
	}
}

// A command that hangs is ended with all that it has started, at the deadline
// and when the caller has had enough.
func TestCommandEnds(t *testing.T) {
	for name, wait := range map[string]time.Duration{"deadline": 300 * time.Millisecond, "cancel": time.Minute} {
		t.Run(name, func(t *testing.T) {
			pids := filepath.Join(t.TempDir(), "pids")
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			f := &Finder{Getenv: env(), Command: `trap "" TERM INT HUP; sleep 60 & echo $! $$ >` + pids + `; wait`, wait: wait}
			done := make(chan error, 1)
			go func() {
				_, err := f.Key(ctx, host)
				done <- err
			}()
			if name == "cancel" {
				await(t, func() bool { b, _ := os.ReadFile(pids); return len(strings.Fields(string(b))) == 2 })
				cancel()
			}
			err := <-done
			if name == "cancel" != errors.Is(err, context.Canceled) || err == nil {
				t.Errorf("error %v", err)
			}
			b, err := os.ReadFile(pids)
			if err != nil {
				t.Skip("the machine is too slow: ", err)
			}
			for _, pid := range strings.Fields(string(b)) {
				await(t, func() bool { return gone(pid) })
			}
		})
	}
}

// gone reports that a process has ended, reaped or not.
func gone(pid string) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}

func await(t *testing.T, happens func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !happens(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not happen within 10 s")
		}
	}
}

// An agent that the command leaves behind, holding its output, delays nothing.
func TestCommandLeavesAnAgent(t *testing.T) {
	f := &Finder{Getenv: env(), Command: "sleep 5 & echo key"}
	start := time.Now()
	k, err := f.Key(context.Background(), host)
	if err != nil || k.Text != "key" {
		t.Errorf("got %q, %v", k.Text, err)
	}
	if took := time.Since(start); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestKeyDoesNotShowItself(t *testing.T) {
	k := Key{Text: "hunter-2", From: "KEY"}
	b, err := json.Marshal(map[string]any{"key": k})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(k), fmt.Sprintf("%v %+v %#v %s %q %x %d", k, k, k, k, k, k, &k), fmt.Sprintf("%+v", struct{ K Key }{k}), string(b)} {
		if strings.Contains(text, "hunter") || strings.Contains(text, fmt.Sprintf("%x", "hunter")) {
			t.Errorf("%s", text)
		}
		if !strings.Contains(text, "[key] from KEY") {
			t.Errorf("%s does not say where it is from", text)
		}
	}
}
