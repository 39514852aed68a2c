package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"amacs/harness/provider/fake"
)

// peer is a real CLI, told to ask the fake server.
type peer struct {
	name  string
	model string
	slow  bool
	args  func(url string) []string
	env   func(url string) []string
	files func(url string) map[string]string // of its home
}

var peers = []peer{
	{
		name: "claude", model: "opus",
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-ant-fake-0000000000", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		},
	},
	{
		name: "codex", model: "fake-1",
		args: func(url string) []string { // no config.toml: a job without tools ignores it
			return []string{"-c", "model_provider=fake", "-c", "model_providers.fake.name=fake", "-c", "model_providers.fake.base_url=" + url + "/v1",
				"-c", "model_providers.fake.env_key=FAKE_KEY", "-c", "model_providers.fake.wire_api=responses",
				"-c", "model_providers.fake.request_max_retries=1", "-c", "model_providers.fake.stream_max_retries=1"}
		},
		env: func(string) []string { return []string{"FAKE_KEY=sk-fake-0000000000000000"} },
	},
	{
		name: "gemini", model: "gemini-2.5-flash", slow: true,
		env: func(url string) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=fake-0000000000000000"}
		},
		files: func(string) map[string]string {
			return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}`}
		},
	},
	{
		name: "opencode", model: "fake/fake-1", slow: true,
		env: func(string) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
		},
		files: func(url string) map[string]string {
			return map[string]string{".config/opencode/opencode.json": `{"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"` + url +
				`/v1","apiKey":"sk-fake-0000000000000000"},"models":{"fake-1":{"name":"fake-1","cost":{"input":1,"output":2}}}}},"model":"fake/fake-1","small_model":"fake/fake-1"}`}
		},
	},
}

// here is the entry for the CLI that is installed, and a job with a home of its
// own, nothing of this environment, and nowhere to go but loopback.
func (p peer) here(t *testing.T, url string) (e Entry, j Job, mark string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real CLIs")
	}
	if p.slow && os.Getenv("AMACS_NEED_PEERS") == "" {
		t.Skip("takes long; AMACS_NEED_PEERS=1 runs it")
	}
	e = builtin(t, p.name)
	e.Command = append([]string{fake.Peer(t, p.name)}, e.Command[1:]...)
	e.Billing = "key" // there is no login here
	if p.args != nil {
		e.Command = append(e.Command, p.args(url)...)
	}
	home := t.TempDir()
	if p.files != nil {
		for name, text := range p.files(url) {
			file := filepath.Join(home, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	const nowhere = "http://127.0.0.1:9"
	env, mark := marked()
	j.Env = append(env, "HOME="+home, "NO_PROXY=127.0.0.1,localhost", "HTTPS_PROXY="+nowhere, "HTTP_PROXY="+nowhere)
	j.Env = append(j.Env, p.env(url)...)
	j.Model, j.Dir = p.model, t.TempDir()
	return e, j, mark
}

// asked are the requests whose body holds text.
func asked(s *fake.Server, text string) (bodies []string) {
	for _, r := range s.Requests() {
		if bytes.Contains(r.Body, []byte(text)) {
			bodies = append(bodies, string(r.Body))
		}
	}
	return bodies
}

// A tick: the system text and the prompt arrive, no tool does, and the answer
// comes back to the byte, with what it cost.
func TestPeers(t *testing.T) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := fake.New(t)
			e, j, mark := p.here(t, s.URL)
			text := `{"reply":"The kettle is on; ¡así es! 水","mood":"calm"}`
			s.Queue(fake.Answer{When: "is the kettle on", Text: text, Usage: fake.Usage{In: 1000, Cached: 600, Out: 70}})
			j.System, j.Prompt = "---\nYou mind a kettle.\n", "is the kettle on?\n"+strings.Repeat("It is cold.\n", 20_000)
			j.Schema = json.RawMessage(`{"type":"object","properties":{"reply":{"type":"string"},"mood":{"type":"string"}},"required":["reply","mood"],"additionalProperties":false}`)
			streamed := ""
			began := time.Now()
			r, err := Run(t.Context(), e, j, func(piece string) { streamed += piece })
			t.Logf("%v: %+v", time.Since(began), r)
			if err != nil {
				t.Fatal(err)
			}
			if r.Text != text || e.Output.Delta != "" && streamed != text {
				t.Errorf("text %q\nstreamed %q", r.Text, streamed)
			}
			if r.In != 1000 || r.Cached != 600 || r.Out != 70 || r.Session == "" {
				t.Errorf("%+v", r)
			}
			if (r.CostUSD != nil && *r.CostUSD > 0) != (e.Output.Cost != "") {
				t.Errorf("cost %v", r.CostUSD)
			}
			bodies := asked(s, "is the kettle on")
			if len(bodies) != 1 {
				t.Fatalf("%d requests", len(bodies))
			}
			if !strings.Contains(bodies[0], "You mind a kettle.") || strings.Count(bodies[0], "It is cold.") != 20_000 {
				t.Errorf("the texts did not arrive: %.2000s", bodies[0])
			}
			var request struct {
				Tools []struct {
					Name, Type           string
					Function             struct{ Name string }
					FunctionDeclarations []any `json:"functionDeclarations"`
				}
				Text struct{ Format struct{ Type string } }
			}
			if err := json.Unmarshal([]byte(bodies[0]), &request); err != nil {
				t.Fatal(err)
			}
			for _, tool := range request.Tools {
				if tool.Name != "request_user_input" && tool.Name+tool.Type+tool.Function.Name != "" || len(tool.FunctionDeclarations) > 0 {
					t.Errorf("it has the tool %+v", tool)
				}
			}
			if len(e.Schema) > 0 && request.Text.Format.Type != "json_schema" {
				t.Errorf("no schema: %+v", request.Text)
			}
			if left, err := os.ReadDir(j.Dir); err != nil || len(left) > 0 {
				t.Errorf("it wrote %v, %v", left, err)
			}
			gone(t, mark, 5*time.Second)
		})
	}
}

// A session goes on by its id.
func TestPeersContinue(t *testing.T) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := fake.New(t)
			e, j, _ := p.here(t, s.URL)
			j.Prompt, j.Keep = "remember the kettle", true
			first, err := Run(t.Context(), e, j, nil)
			if err != nil {
				t.Fatal(err)
			}
			j.Prompt, j.Keep = "between them", true // the newest is another one then
			if _, err := Run(t.Context(), e, j, nil); err != nil {
				t.Fatal(err)
			}
			j.Prompt, j.Session = "what was it again", first.Session
			if _, err := Run(t.Context(), e, j, nil); err != nil {
				t.Fatal(err)
			}
			last := ""
			for _, body := range asked(s, "what was it again") {
				last += body
			}
			if !strings.Contains(last, "remember the kettle") || strings.Contains(last, "between them") {
				t.Errorf("it asked %.3000s", last)
			}
		})
	}
}

func TestPeersFail(t *testing.T) {
	for _, c := range []struct {
		peer  int
		fault fake.Fault
		kind  Kind
		says  string
	}{
		{0, fake.TooLong, TooLong, "too long"},
		{0, "529", Unreachable, "529"},
		{0, fake.Stall, Deadline, "nothing came for 4s"},
		{0, fake.Quota, Limit, "balance"},
		{1, "401", NotLoggedIn, "codex login"},
		{1, "500", Unreachable, "errors"},
		{1, fake.Quota, Limit, "uota"},
	} {
		p := peers[c.peer]
		t.Run(p.name+" "+string(c.fault), func(t *testing.T) {
			t.Parallel()
			s := fake.New(t)
			s.Queue(fake.Answer{Fault: c.fault, Times: -1})
			e, j, mark := p.here(t, s.URL)
			j.Prompt = "is the kettle on?"
			if c.kind == Deadline {
				e.Idle = 4 * time.Second
			}
			_, err := Run(t.Context(), e, j, nil)
			if f := kind(t, err); f.Kind != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("kind %d: %v\n%s", f.Kind, err, f.Result.Stderr)
			}
			gone(t, mark, 5*time.Second)
		})
	}
}

// No login, and the key is taken away: an error that says how to log in.
func TestPeersLogin(t *testing.T) {
	for _, p := range peers {
		if p.name != "claude" && p.name != "gemini" {
			continue // codex has to ask its server, opencode has models for nothing
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := fake.New(t)
			e, j, _ := p.here(t, s.URL)
			e.Billing, j.Prompt = "login", "is the kettle on?"
			_, err := Run(t.Context(), e, j, nil)
			if f := kind(t, err); f.Kind != NotLoggedIn || !strings.Contains(f.Hint, "run `"+p.name+"`") || f.Billed() {
				t.Errorf("kind %d: %v", f.Kind, err)
			}
			if n := len(s.Requests()); n > 0 {
				t.Errorf("%d requests without a key", n)
			}
		})
	}
}

// Ctrl-C while the model is silent: back at once, the connection closed, the
// process gone.
func TestPeersCancel(t *testing.T) {
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			s := fake.New(t)
			s.Queue(fake.Answer{Fault: fake.Stall, Times: -1, Text: strings.Repeat("half ", 100)})
			e, j, mark := p.here(t, s.URL)
			j.Prompt = "is the kettle on?"
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var cancelled time.Time
			go func() {
				s.Await(time.Minute, func() bool { return len(asked(s, "is the kettle on")) > 0 })
				cancelled = time.Now()
				cancel()
			}()
			_, err := Run(ctx, e, j, nil)
			if took := time.Since(cancelled); !errors.Is(err, context.Canceled) || took > time.Second {
				t.Errorf("%v after %v", err, took)
			}
			gone(t, mark, 8*time.Second)
			if !s.Await(5*time.Second, func() bool { return s.Live() == 0 }) {
				t.Error("the connection is still open")
			}
		})
	}
}
