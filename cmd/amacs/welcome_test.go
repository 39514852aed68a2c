package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"amacs/harness/provider/fake"
)

// newBare is a world in which nothing is found that could answer: no key, no CLI on
// the PATH, no server. Only git and the program are there.
func newBare(t *testing.T) *world {
	t.Helper()
	for _, port := range []string{"1234", "8080", "8000"} {
		if c, err := net.DialTimeout("tcp", "127.0.0.1:"+port, time.Second); err == nil {
			c.Close()
			t.Skip("something listens on port " + port + ", where model servers are looked for")
		}
	}
	w := newWorld(t)
	bin := filepath.Join(w.temp, "bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"git", "sh", "cat"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.env = append(w.env, "PATH="+bin, "OLLAMA_HOST=127.0.0.1:9")
	return w
}

// cli puts a stub of a CLI on the PATH of a bare world. It answers as claude does.
func (w *world) cli(name, reply string) {
	w.t.Helper()
	text := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *--version*) echo 2.1.0; exit;; esac\ncat >/dev/null\ncat <<'END'\n%s\nEND\n",
		play(map[string]any{"type": "result", "subtype": "success", "is_error": false, "result": said(reply), "total_cost_usd": 0.01, "session_id": "s"}))
	if err := os.WriteFile(filepath.Join(w.temp, "bin", name), []byte(text), 0o700); err != nil {
		w.t.Fatal(err)
	}
}

// settings are the lines of config.yaml that set something.
func (w *world) settings() []string {
	var out []string
	for l := range strings.Lines(w.read("config.yaml")) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "#") {
			out = append(out, l)
		}
	}
	return out
}

const question = `Who shall answer\? This was found here: `

func TestWelcome(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		keys    []string // typed at the question
		prepare func(w *world, s *fake.Server)
		menu    string   // of what was found
		said    string   // what follows the answer
		config  []string // what config.yaml sets then; nil = nothing, and it is asked again
		reply   string   // to the first line
		asked   int      // how many requests for text reached the server
	}{
		{"a key", []string{"1"}, func(w *world, s *fake.Server) {
			w.env = append(w.env, "ANTHROPIC_API_KEY=sk-ant-planted", "ANTHROPIC_BASE_URL="+s.URL)
		}, `1 anthropic: ANTHROPIC_API_KEY is set, and ANTHROPIC_BASE_URL names 127.0.0.1:\d+; billed by the token, at most 5 USD a day \(cap-day\) `,
			"anthropic answers from now on; `/config provider` changes it", []string{"provider: anthropic", "base-url: URL"}, "Hello.", 1},
		{"a CLI", []string{"1"}, func(w *world, _ *fake.Server) { w.cli("claude", "I am a stub.") },
			`1 agent:claude: claude is in /.*; uses your own login there `,
			"agent:claude answers from now on", []string{"provider: agent", "model: claude"}, "I am a stub.", 0},
		{"a local server", []string{"7", "1"}, func(w *world, s *fake.Server) { w.env = append(w.env, "OLLAMA_HOST="+s.URL) },
			`1 ollama:fake:1b: Ollama answers on 127.0.0.1:\d+ with 1 model; free `,
			"ollama:fake:1b answers from now on", []string{"provider: ollama", `model: "?fake:1b"?`, "base-url: URL"}, "Hello.", 1},
		{"nobody", []string{"", "0"}, all, allMenu, "offline answers from now on", []string{"provider: offline"}, "offline responder", 0},
		{"later", []string{"yes", "\x03"}, all, allMenu, "the offline responder answers until then", nil, "offline responder", 0},
		{"the end", []string{"hello", "\x04"}, all, allMenu, "", nil, "", 0},
	} {
		for _, term := range []string{"xterm", "dumb"} {
			t.Run(c.name+" "+term, func(t *testing.T) {
				t.Parallel()
				w, s := newBare(t), fake.New(t)
				c.prepare(w, s)
				w.must("", "init")
				p := w.terminal(t, []string{"TERM=" + term})
				ask := `A number and Enter \(Ctrl-C to decide later\):`
				p.says(question + c.menu + `0 nobody: the built-in offline responder, no model ` + ask)
				for i, key := range c.keys {
					if i > 0 {
						p.says(fmt.Sprintf(`(none of the numbers.*){%d}\(0/`, i))
					}
					if key < " " && key != "" {
						p.typed(key)
					} else {
						p.typed(key + "\r")
					}
				}
				if c.said != "" {
					p.says(regexp.QuoteMeta(c.said) + `.*amacs>$`) // a dumb terminal echoes what comes sooner before the prompt
					p.typed("hello\r")
					p.says(`> hello .*` + regexp.QuoteMeta(c.reply))
					p.says(`amacs>$`)
					p.typed("\x04")
				}
				if code := p.ended(); code != 0 {
					t.Errorf("exit %d:\n%s", code, p.text())
				}
				if n := len(asks(s)); n != c.asked {
					t.Errorf("the server was asked %d times, want %d", n, c.asked)
				}
				got, want := strings.Join(w.settings(), "\n"), strings.ReplaceAll(strings.Join(c.config, "\n"), "URL", s.URL)
				if !regexp.MustCompile("^" + want + "$").MatchString(got) {
					t.Errorf("config.yaml says %q, want %q", got, want)
				}
				heard := w.heard()
				if c.said == "" && len(heard) > 0 || c.said != "" && (len(heard) != 1 || heard["hello"] != 1) {
					t.Errorf("what was heard: %v", heard)
				}
				p = w.terminal(t, []string{"TERM=" + term})
				if c.config == nil {
					p.says(`later\):`) // what is typed before that may overtake the question
				}
				p.typed("/version\r")
				p.says(`none of the numbers|amacs development \(`)
				if again := strings.Contains(p.text(), "Who shall answer"); again != (c.config == nil) {
					t.Errorf("it is asked again: %v", again)
				}
				if strings.Contains(w.git("log", "-p"), "sk-ant-planted") {
					t.Error("the key is in the history")
				}
				w.settled(0)
			})
		}
	}
}

// all is a world with a key, a CLI and a local server.
func all(w *world, s *fake.Server) {
	w.env = append(w.env, "ANTHROPIC_API_KEY=sk-ant-planted", "ANTHROPIC_BASE_URL="+s.URL, "OLLAMA_HOST="+s.URL)
	w.cli("claude", "never")
}

const allMenu = `1 anthropic: .* 2 agent:claude: .* 3 ollama:fake:1b: .*`

// escapes are what a terminal does not show.
var escapes = regexp.MustCompile(`\x1b\[[0-9;?]*[A-Za-z]`)

// words are those that were written: without escape sequences, and wherever a line
// was folded.
func (p *terminal) words() string {
	return strings.Join(strings.Fields(escapes.ReplaceAllString(p.text(), " ")), " ")
}

// says waits for a pattern in the words.
func (p *terminal) says(pattern string) {
	p.t.Helper()
	re := regexp.MustCompile(pattern)
	for end := time.Now().Add(15 * time.Second); !re.MatchString(p.words()); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatalf("%s did not come:\n%s", pattern, p.words())
		}
	}
}

// Whoever is no person at a terminal, or has said who answers, is not asked, and
// nobody is billed.
func TestNotAsked(t *testing.T) {
	t.Parallel()
	w, s := newBare(t), fake.New(t)
	all(w, s)
	r := w.must("hello\n")
	contains(t, "a pipe", r.out, "offline responder")
	r = w.must("", "ask", "hello")
	contains(t, "ask", r.out, "offline responder")
	for _, how := range [][]string{{"TERM=xterm", "--provider", "offline"}, {"TERM=dumb", "--provider", "offline"}, {"AMACS_PROVIDER=offline"}} {
		p := w.terminal(t, how[:1], how[1:]...)
		p.says(`amacs>$`)
		p.typed("hello\r")
		p.says(`responder.*amacs>$`)
		p.typed("\x04")
		if p.ended(); strings.Contains(p.text(), "Who shall") {
			t.Errorf("%v: it is asked:\n%s", how, p.text())
		}
	}
	if n := len(asks(s)); n > 0 {
		t.Errorf("the server was asked %d times", n)
	}
	if got := w.settings(); len(got) > 0 {
		t.Errorf("config.yaml says %q", got)
	}

	w = newBare(t)
	w.must("", "init")
	p := w.terminal(t, []string{"TERM=xterm"})
	p.says(`No key with a default model, no agent CLI and no local model server was found, so.*/doctor.*amacs>$`)
	if slices.ContainsFunc(w.log(), func(c commit) bool { return strings.Contains(c.subject, "CONFIG") }) || strings.Contains(p.text(), "Who shall") {
		t.Errorf("it is asked, or settled:\n%s", p.text())
	}
}

// The question on a screen.
func TestWelcomeScreen(t *testing.T) {
	t.Parallel()
	bare, server := newBare(t), fake.New(t)
	all(bare, server)
	s := newScreen(t, 60, 24)
	for _, v := range bare.env {
		name, value, _ := strings.Cut(v, "=")
		if slices.Contains([]string{"OLLAMA_HOST", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"}, name) {
			s.tmux("set-environment", "-g", name, value)
		}
	}
	program, err := exec.LookPath("amacs")
	if err != nil {
		t.Fatal(err)
	}
	s.sh(`PATH="$1" "$0"; echo "exit $?"; sleep 1000`, program, filepath.Join(bare.temp, "bin"))
	s.see(`amacs \(0/1/2/3\)> $`)
	s.enter("claude")
	s.see(`amacs> claude\nthat is none of the numbers, .*\n(.*\n)*amacs \(0/1/2/3\)> $`)
	s.typed("12")
	s.keys("C-c")
	s.see(`amacs> $`)
	s.enter("/quit")
	s.see(`exit 0$`)
	contains(t, "the screen", strings.Join(strings.Fields(s.all()), " "), // no row broken within a word
		" 1 anthropic: ANTHROPIC_API_KEY is set, and ANTHROPIC_BASE_URL names "+strings.TrimPrefix(server.URL, "http://")+"; billed by the token, at most 5 USD a day (cap-day) 2 agent:claude: ",
		" uses your own login there 3 ollama:fake:1b: ", "the offline responder answers until then; this is asked again at the next start amacs> /quit")
	if n := len(asks(server)); n > 0 {
		t.Errorf("the server was asked %d times", n)
	}
}
