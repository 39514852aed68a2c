package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"amacs/harness/provider/fake"
)

// peer is a real agent CLI, told to ask the fake server.
type peer struct {
	name   string
	model  string
	config func(url string) string // its entry under `agents:`
	env    func(url string) []string
	files  func(url string) map[string]string // of the user's folder
}

var peers = []peer{
	{
		name: "claude", model: "claude:opus",
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=" + peerKey, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		},
	},
	{
		name: "codex", model: "codex:fake-1",
		config: func(url string) string { // without tools it reads no settings of its own
			return `, command: [codex, exec, --json, --skip-git-repo-check, -c, model_provider=fake, -c, model_providers.fake.name=fake, -c, "model_providers.fake.base_url=` + url +
				`/v1", -c, model_providers.fake.env_key=FAKE_KEY, -c, model_providers.fake.wire_api=responses]`
		},
		env: func(string) []string { return []string{"FAKE_KEY=" + peerKey} },
	},
	{
		name: "gemini", model: "gemini:gemini-2.5-flash",
		env: func(url string) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=" + peerKey}
		},
		files: func(string) map[string]string {
			return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}`}
		},
	},
	{
		name: "opencode", model: "opencode:fake/fake-1",
		env: func(string) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
		},
		files: func(url string) map[string]string {
			return map[string]string{".config/opencode/opencode.json": `{"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"` + url +
				`/v1","apiKey":"` + peerKey + `"},"models":{"fake-1":{"name":"fake-1","cost":{"input":1,"output":2}}}}},"model":"fake/fake-1","small_model":"fake/fake-1"}`}
		},
	},
}

const peerKey = "sk-fake-000000000000000000000000"

// lair is a home whose model is a CLI. What is started from there carries a mark,
// and can go nowhere but loopback.
type lair struct {
	*world
	*fake.Server
	mark string
	tmp  string // TMPDIR
}

func newLair(t testing.TB) *lair {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	l := &lair{world: newWorld(t), Server: fake.New(t), mark: "AMACS_TEST_MARK=" + rand.Text()}
	l.tmp = filepath.Join(l.temp, "tmp")
	if err := os.Mkdir(l.tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	const nowhere = "http://127.0.0.1:9"
	l.env = []string{"PATH=" + os.Getenv("PATH"), "GORACE=" + os.Getenv("GORACE"), "HOME=" + filepath.Join(l.temp, "home"), "AMACS_HOME=" + l.dir,
		"TMPDIR=" + l.tmp, "TERM=dumb", "TZ=UTC", "LC_ALL=C.UTF-8", l.mark,
		"NO_PROXY=127.0.0.1,localhost", "HTTPS_PROXY=" + nowhere, "HTTP_PROXY=" + nowhere}
	l.must("", "init")
	return l
}

// home is one in which the CLI answers; billing is "key" or "login".
func (p peer) home(t testing.TB, billing string, more ...string) *lair {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real CLIs")
	}
	path := fake.Peer(t, p.name)
	l := newLair(t)
	entry := "name: " + p.name + ", billing: " + billing
	if p.config != nil {
		entry += p.config(l.URL)
	}
	l.write("config.yaml", "provider: agent\nmodel: "+p.model+"\nagents:\n  - {"+strings.Join(append([]string{entry}, more...), ", ")+"}\n")
	l.env = append(l.env, "PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"))
	l.env = append(l.env, p.env(l.URL)...)
	if p.files != nil {
		for name, text := range p.files(l.URL) {
			file := filepath.Join(l.temp, "home", name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return l
}

// left are the processes that were started from here, zombies apart.
func (l *lair) left() (commands []string) {
	l.t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		l.t.Fatal(err)
	}
	for _, f := range files {
		// A process that has just ended has nothing to read.
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(l.mark)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(f), "cmdline"))
			commands = append(commands, filepath.Base(filepath.Dir(f))+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return commands
}

// clean waits until nothing that was started is left, and wants no file of a run
// in the folder for temporary ones.
func (l *lair) clean(within time.Duration) {
	l.t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(10 * time.Millisecond) {
		left := l.left()
		folders, err := filepath.Glob(filepath.Join(l.tmp, "amacs-agent-*"))
		if err != nil {
			l.t.Fatal(err)
		}
		if left = append(left, folders...); len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			l.t.Fatalf("still there after %v: %q", within, left)
		}
	}
}

// questions are the requests whose body holds text.
func (l *lair) questions(text string) (bodies []string) {
	for _, r := range l.Requests() {
		if bytes.Contains(r.Body, []byte(text)) {
			bodies = append(bodies, string(r.Body))
		}
	}
	return bodies
}

// remembered are the files of the user's folder that hold a text.
func (l *lair) remembered(text string) (files []string) {
	l.t.Helper()
	err := filepath.WalkDir(filepath.Join(l.temp, "home"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && bytes.Contains(b, []byte(text)) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return files
}

// eachPeer runs a test with each CLI.
func eachPeer(t *testing.T, test func(t *testing.T, p peer)) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			test(t, p)
		})
	}
}

// A tick: prompt and system text arrive, no tool does; the reply, its tokens and
// its cost are in the commit and in the ledger.
func TestPeersAnswer(t *testing.T) {
	eachPeer(t, func(t *testing.T, p peer) {
		l := p.home(t, "key")
		for range 2 {
			l.Queue(fake.Answer{When: "is the kettle on", Text: said("The kettle is on; ¡así es! 水"), Usage: fake.Usage{In: 1000, Cached: 600, Out: 70}})
		}
		for range 2 {
			if r := l.must("", "ask", "is the kettle on?"); r.out != "The kettle is on; ¡así es! 水\n" || r.errs != "" {
				t.Errorf("%q\n%s", r.out, r.errs)
			}
		}
		l.clean(5 * time.Second)
		l.settled(1) // the settings

		calls := l.entries("settle")
		if len(calls) != 2 {
			t.Fatalf("the ledger has %+v", calls)
		}
		cost := "unknown"
		if p.name == "claude" || p.name == "opencode" {
			if calls[0].USD == nil || *calls[0].USD <= 0 {
				t.Fatalf("no cost: %+v", calls[0])
			}
			cost = strconv.FormatFloat(*calls[0].USD, 'f', -1, 64)
		} else if calls[0].USD != nil {
			t.Errorf("where does the cost come from? %+v", calls[0])
		}
		if c := calls[0]; c.In != 1000 || c.Cached != 600 || c.Out != 70 || c.Outcome != "ok" || c.Source != "human" {
			t.Errorf("%+v", c)
		}
		if before := l.entries("reserve")[0]; before.USD == nil || *before.USD != 0.5 {
			t.Errorf("what was booked before: %+v", before)
		}
		contains(t, "the commit", l.git("log", "-1", "--format=%B"), "\nModel: agent:"+p.name+":",
			"\nTokens: 1000 in, 600 cached, 70 out\n", "\nCost-USD: "+cost+"\n", "\nOutcome: replied\n")

		asked := l.questions("is the kettle on")
		if len(asked) != 2 {
			t.Fatalf("%d questions", len(asked))
		}
		contains(t, "the question", asked[0], "# You are amacs")
		var request struct {
			Tools []struct {
				Name, Type           string
				Function             struct{ Name string }
				FunctionDeclarations []any `json:"functionDeclarations"`
			}
		}
		if err := json.Unmarshal([]byte(asked[0]), &request); err != nil {
			t.Fatal(err)
		}
		for _, tool := range request.Tools {
			// The one that codex keeps asks the human, and is refused where there is none.
			if tool.Name != "request_user_input" && tool.Name+tool.Type+tool.Function.Name != "" || len(tool.FunctionDeclarations) > 0 {
				t.Errorf("it has the tool %+v", tool)
			}
		}
		// The folder of a run would change with each, and end a cache of prompts.
		for _, body := range asked {
			if strings.Contains(body, "amacs-agent-") {
				t.Errorf("it tells of the folder of this run: %s", body)
			}
		}
		if files := l.remembered("is the kettle on"); (len(files) > 0) != (p.name == "gemini" || p.name == "opencode") {
			t.Errorf("it keeps the conversation in %q", files)
		}
	})
}

// Two CLIs show the reply as it is written; Ctrl-C at the prompt ends the run,
// and amacs goes on.
func TestPeersStream(t *testing.T) {
	for _, p := range []peer{peers[0], peers[2]} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			l := p.home(t, "key")
			words := make([]string, 60)
			for i := range words {
				words[i] = fmt.Sprintf("word%d", i)
			}
			l.Queue(fake.Answer{When: "is the kettle on", Text: said(strings.Join(words, " ")), Pieces: 10, Delay: 30 * time.Millisecond},
				fake.Answer{When: "and now", Text: said(strings.Join(words, " ")), Fault: fake.Stall})
			s := l.terminal(t, []string{"TERM=xterm"})
			s.see(`lists the\scommands\s`)
			s.typed("is the kettle on?\r")
			s.see(`word2 `)
			if l.Live() == 0 || strings.Contains(s.text(), "word59") {
				t.Error("it was not shown while it was written")
			}
			s.see(`word59\s`)
			s.typed("and now?\r")
			s.see(`(?s)word59\s.*word2 `)
			s.typed("\x03")
			s.see(`\(interrupted, tick 2\)`)
			if !l.Await(5*time.Second, func() bool { return l.Live() == 0 }) {
				t.Error("the connection is still open")
			}
			l.await("the CLI to end", func() bool { return len(l.left()) == 1 })
			s.typed("\x04")
			if code := s.ended(); code != 0 {
				t.Errorf("exit %d", code)
			}
			l.clean(5 * time.Second)
			contains(t, "the commit", l.git("log", "-1", "--format=%B"), "Outcome: interrupted")
		})
	}
}

// Ctrl-C, and kill -9 of amacs, while the model is silent: the CLI, what it
// started and its folder are gone, and the connection closed.
func TestPeersEnd(t *testing.T) {
	eachPeer(t, func(t *testing.T, p peer) {
		l := p.home(t, "key")
		l.Queue(fake.Answer{Fault: fake.Stall, Times: -1, Text: said(strings.Repeat("half ", 100))})
		for i, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			r := l.start(nil, "ask", "is the kettle on?")
			if !l.Await(time.Minute, func() bool { return len(l.questions("is the kettle on")) > i }) {
				t.Fatal("nothing was asked")
			}
			began := time.Now()
			if err := r.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			code := r.quit()
			if took := time.Since(began); s == syscall.SIGINT && (code != 130 || took > 2*time.Second) {
				t.Errorf("exit %d after %v", code, took)
			}
			l.clean(5 * time.Second)
			if !l.Await(5*time.Second, func() bool { return l.Live() == 0 }) {
				t.Error("the connection is still open")
			}
		}
		if got := l.entries("settle"); len(got) != 1 || got[0].Outcome != "cancelled" {
			t.Errorf("settled %+v", got)
		}
		if spent := l.cost().Day; spent.Unsettled != 1 || spent.USD < 0.5 {
			t.Errorf("the call that was killed is not counted: %+v", spent)
		}
	})
}

// What goes wrong is said once, with what to do, and the line waits.
func TestPeersFail(t *testing.T) {
	for _, c := range []struct {
		peer  int
		fault fake.Fault
		more  []string // of its entry
		says  string
	}{
		{0, "429", []string{"idle: 3s"}, "claude: nothing came for 3s; it said: rate_limit (ask later"},
		{0, "401", []string{"idle: 3s"}, "it said: authentication_failed (run `claude` once"},
		{0, fake.TooLong, nil, "Prompt is too long"},
		{0, fake.Quota, nil, "claude: Credit balance is too low"},
		{0, fake.HTML, nil, "empty or malformed response"},
		{1, "429", nil, "codex: exceeded retry limit, last status: 429 Too Many Requests"},
		{1, "401", nil, "401 Unauthorized"},
		{1, fake.TooLong, nil, "ran out of room in the model's context window"},
		{2, "401", nil, "invalid authentication credentials"},
		{3, "401", nil, "run `opencode auth login` once in a terminal, or set the key"},
	} {
		p := peers[c.peer]
		t.Run(p.name+" "+string(c.fault), func(t *testing.T) {
			t.Parallel()
			l := p.home(t, "key", c.more...)
			l.Queue(fake.Answer{Fault: c.fault, Times: -1})
			r := l.amacs("", "ask", "is the kettle on?")
			if r.code != 4 || strings.Count(r.errs, c.says) != 1 || !strings.Contains(r.errs, "your line is kept") {
				t.Errorf("exit %d\n%s", r.code, r.errs)
			}
			if strings.Contains(r.errs+l.git("log", "-p"), peerKey) {
				t.Error("the key is told")
			}
			l.once("is the kettle on?")
			l.clean(5 * time.Second)
		})
	}
}

// A login is meant and there is none: the key in the environment is not used.
func TestPeersLogin(t *testing.T) {
	for _, p := range []peer{peers[0], peers[2]} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			l := p.home(t, "login")
			r := l.amacs("", "ask", "is the kettle on?")
			if r.code != 4 || !strings.Contains(r.errs, "(run `"+p.name+"` once in a terminal and log in") {
				t.Errorf("exit %d\n%s", r.code, r.errs)
			}
			if asked := l.questions("kettle"); len(asked) > 0 {
				t.Errorf("the key was used: %q", asked)
			}
			if got := l.entries("settle"); len(got) != 1 || got[0].USD == nil || *got[0].USD != 0 {
				t.Errorf("settled %+v", got)
			}
		})
	}
}

// `amacs agents` and `amacs doctor` see what is here.
func TestPeersFound(t *testing.T) {
	l := newLair(t)
	path := os.Getenv("PATH")
	for _, p := range peers {
		path = filepath.Dir(fake.Peer(t, p.name)) + ":" + path
	}
	l.env = append(l.env, "PATH="+path)
	var list []cli
	text := ""
	for range 3 { // on a machine that is busy one may not say its version in time
		out := l.must("", "agents", "--json").out
		if err := json.Unmarshal([]byte(out), &list); err != nil {
			t.Fatal(err)
		}
		if text = l.must("", "agents").out; !strings.Contains(out+text, "no answer within") {
			break
		}
	}
	doctor := l.must("", "doctor").out
	for _, p := range peers {
		at := slices.IndexFunc(list, func(c cli) bool { return c.Name == p.name })
		if at < 0 {
			t.Errorf("%s is not found", p.name)
			continue
		}
		c := list[at]
		if c.Path != fake.Peer(t, p.name) || c.Version == "" || c.Problem != "" || c.MaxUSD != 0.5 || !slices.Contains(c.Can, "no tools") {
			t.Errorf("%+v", c)
		}
		contains(t, "agents", text, c.Version+"  "+c.Path)
		contains(t, "doctor", doctor, "agent:"+p.name)
	}
	l.clean(5 * time.Second)
}

// A conversation on a pipe leaves nothing behind.
func TestPeersMany(t *testing.T) {
	t.Parallel()
	l := peers[0].home(t, "key")
	l.must(strings.Repeat("is the kettle on?\n", 5))
	if n := len(l.questions("is the kettle on")); n != 5 {
		t.Errorf("%d questions", n)
	}
	l.clean(5 * time.Second)
	l.settled(1)
}
