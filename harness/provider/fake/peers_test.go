package fake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"amacs/harness/provider/fake"
)

// peer is a CLI that asks a vendor, and how it is told to ask the fake.
type peer struct {
	command string
	path    string // what it asks
	args    func(prompt string) []string
	env     func(url string) []string
	files   func(url string) map[string]string // of its home
	said    func(t *testing.T, out []byte) string
}

var peers = []peer{
	{
		command: "claude", path: "/v1/messages",
		args: func(p string) []string { return []string{"-p", p, "--output-format", "json"} },
		env: func(url string) []string {
			return []string{"ANTHROPIC_BASE_URL=" + url, "ANTHROPIC_API_KEY=sk-ant-fake-0000000000", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"}
		},
		said: func(t *testing.T, out []byte) string {
			var v struct {
				Result  string `json:"result"`
				IsError bool   `json:"is_error"`
			}
			decode(t, out, &v)
			if v.IsError {
				t.Errorf("claude reports an error: %s", out)
			}
			return v.Result
		},
	},
	{
		command: "codex", path: "/responses",
		args: func(p string) []string {
			return []string{"exec", "--json", "--skip-git-repo-check", "--sandbox", "read-only", p}
		},
		env: func(string) []string { return []string{"FAKE_KEY=sk-fake-0000000000000000"} },
		files: func(url string) map[string]string {
			return map[string]string{".codex/config.toml": "model = \"fake-1\"\nmodel_provider = \"fake\"\n\n[model_providers.fake]\nname = \"fake\"\n" +
				"base_url = \"" + url + "/v1\"\nenv_key = \"FAKE_KEY\"\nwire_api = \"responses\"\nrequest_max_retries = 1\nstream_max_retries = 1\n"}
		},
		said: func(t *testing.T, out []byte) (text string) {
			for _, line := range lines(out) {
				var v struct {
					Type string
					Item struct{ Type, Text string }
				}
				decode(t, line, &v)
				if v.Type == "item.completed" && v.Item.Type == "agent_message" {
					text += v.Item.Text
				}
			}
			return text
		},
	},
	{
		command: "gemini", path: ":streamGenerateContent",
		args: func(p string) []string { return []string{"-p", p, "--output-format", "json", "-m", "fake-1"} },
		env: func(url string) []string {
			return []string{"GOOGLE_GEMINI_BASE_URL=" + url, "GEMINI_API_KEY=fake-0000000000000000", "GEMINI_CLI_TRUST_WORKSPACE=true"}
		},
		files: func(string) map[string]string {
			return map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false},"general":{"disableAutoUpdate":true}}`}
		},
		said: func(t *testing.T, out []byte) string {
			var v struct{ Response string }
			decode(t, out, &v)
			return v.Response
		},
	},
	{
		command: "opencode", path: "/chat/completions",
		args: func(p string) []string { return []string{"run", "--format", "json", "--model", "fake/fake-1", p} },
		env: func(string) []string {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}
		},
		files: func(url string) map[string]string {
			return map[string]string{".config/opencode/opencode.json": `{"provider":{"fake":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"` + url +
				`/v1","apiKey":"sk-fake-0000000000000000"},"models":{"fake-1":{"name":"fake-1"}}}},"model":"fake/fake-1","small_model":"fake/fake-1"}`}
		},
		said: func(t *testing.T, out []byte) (text string) {
			for _, line := range lines(out) {
				var v struct {
					Type string
					Part struct{ Text string }
				}
				decode(t, line, &v)
				if v.Type == "text" {
					text += v.Part.Text
				}
			}
			return text
		},
	},
}

func lines(out []byte) [][]byte { return bytes.Split(bytes.TrimSpace(out), []byte("\n")) }

func decode(t *testing.T, data []byte, v any) {
	t.Helper()
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatalf("%v in %q", err, data)
	}
}

// run starts the CLI with a home of its own, nothing of this environment, and
// nowhere to go but loopback.
func (p peer) run(t *testing.T, url, prompt string) ([]byte, error) {
	t.Helper()
	path := fake.Peer(t, p.command)
	home, work := t.TempDir(), t.TempDir()
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
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, p.args(prompt)...)
	cmd.Dir, cmd.WaitDelay = work, 5*time.Second
	const nowhere = "http://127.0.0.1:9"
	cmd.Env = append(p.env(url), "HOME="+home, "PATH="+os.Getenv("PATH"), "TMPDIR="+t.TempDir(), "NO_PROXY=127.0.0.1,localhost",
		"HTTPS_PROXY="+nowhere, "HTTP_PROXY="+nowhere)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	t.Logf("%s: %v\n%s\n%s", p.command, err, out, &stderr)
	return out, err
}

// The CLIs themselves take what the server sends for what their vendor sends.
func TestPeers(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real CLIs")
	}
	const text = "The kettle is on; ¡así es! 水"
	for _, p := range peers {
		t.Run(p.command, func(t *testing.T) {
			t.Parallel()
			s := fake.New(t)
			// Twice: some ask for a title beside the turn.
			s.Queue(fake.Answer{When: "is the kettle on", Text: text}, fake.Answer{When: "is the kettle on", Text: text})
			out, err := p.run(t, s.URL, "is the kettle on?")
			if err != nil {
				t.Fatal(err)
			}
			if got := p.said(t, out); got != text {
				t.Errorf("it said %q", got)
			}
			asked := false
			for _, r := range s.Requests() {
				t.Logf("%s %s, %d bytes", r.Method, r.URL, len(r.Body))
				asked = asked || strings.HasSuffix(r.URL.Path, p.path)
			}
			if !asked {
				t.Errorf("it asked nothing of %s", p.path)
			}
		})
	}
}

// A call of a tool is one for them too: they run it and send what came of it.
func TestPeersCallTools(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real CLIs")
	}
	for _, one := range []struct {
		command string
		tool    fake.Tool
	}{
		{"claude", fake.Tool{Name: "Bash", Input: json.RawMessage(`{"command":"echo kettle-$((6*7))","description":"look"}`)}},
		{"codex", fake.Tool{Name: "exec_command", Input: json.RawMessage(`{"cmd":"echo kettle-$((6*7))"}`)}},
	} {
		t.Run(one.command, func(t *testing.T) {
			t.Parallel()
			p := peers[slices.IndexFunc(peers, func(p peer) bool { return p.command == one.command })]
			s := fake.New(t)
			s.Queue(fake.Answer{When: "is the kettle on", Tool: &one.tool}, fake.Answer{When: "kettle-42", Text: "It is."})
			out, err := p.run(t, s.URL, "is the kettle on?")
			if err != nil {
				t.Fatal(err)
			}
			if got := p.said(t, out); got != "It is." || s.Left() != 0 {
				t.Errorf("it said %q, with %d answers left", got, s.Left())
			}
		})
	}
}

// An error is an error for them: they ask again after one that passes, and
// claude gives up at a prompt that is too long.
func TestPeersKnowFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real CLIs")
	}
	for _, one := range []struct {
		command string
		fault   fake.Fault
	}{
		{"claude", "529"}, {"claude", fake.NoStop}, {"claude", fake.ErrorEvent}, {"codex", "500"}, {"codex", fake.NoStop}, {"codex", fake.Reset},
	} {
		t.Run(one.command+" "+string(one.fault), func(t *testing.T) {
			t.Parallel()
			p := peers[slices.IndexFunc(peers, func(p peer) bool { return p.command == one.command })]
			s := fake.New(t)
			s.Queue(fake.Answer{When: "is the kettle on", Fault: one.fault, Times: 1, Text: "It is."})
			out, err := p.run(t, s.URL, "is the kettle on?")
			if err != nil {
				t.Fatal(err)
			}
			if got := p.said(t, out); got != "It is." || s.Left() != 0 {
				t.Errorf("it said %q, with %d answers left", got, s.Left())
			}
		})
	}
	t.Run("claude "+string(fake.TooLong), func(t *testing.T) {
		t.Parallel()
		s := fake.New(t)
		s.Queue(fake.Answer{Fault: fake.TooLong, Times: -1})
		out, err := peers[0].run(t, s.URL, "is the kettle on?")
		var v struct {
			IsError bool   `json:"is_error"`
			Status  int    `json:"api_error_status"`
			Result  string `json:"result"`
		}
		decode(t, out, &v)
		if err == nil || !v.IsError || v.Status != 400 || !strings.Contains(v.Result, "too long") {
			t.Errorf("%v: %+v", err, v)
		}
	})
}
