package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	clis "amacs/harness/provider/agent"
	"amacs/harness/provider/secret"
)

// place is a made-up machine.
type place struct {
	env     map[string]string
	command string            // api-key-cmd
	home    map[string]string // files
	path    map[string]string // commands
	servers map[string]http.HandlerFunc
	wait    time.Duration
}

// find looks around in a place. Nothing listens where no server is named.
func (p place) find(t *testing.T) []Candidate {
	t.Helper()
	home := t.TempDir()
	for name, text := range p.home {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := map[string]string{}
	for address, handler := range p.servers {
		s := httptest.NewServer(handler)
		t.Cleanup(s.Close)
		at[address] = s.Listener.Addr().String()
	}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if at[address] == "" {
			return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
		}
		return new(net.Dialer).DialContext(ctx, network, at[address])
	}}
	t.Cleanup(transport.CloseIdleConnections)
	if p.wait == 0 {
		p.wait = time.Minute
	}
	entries := []clis.Entry{{Name: "claude", Command: []string{"claude", "-p"}}, {Name: "codex", Command: []string{"codex"}},
		{Name: "aider", Command: []string{"aider"}, Billing: "key"}, {Name: "gemini", Command: []string{"gemini"}}, {Name: "none"}}
	return Find(context.Background(), FindOptions{
		Keys:   &secret.Finder{Getenv: func(name string) string { return p.env[name] }, Command: p.command, Home: home},
		Lookup: func(name string) (string, bool) { v, ok := p.env[name]; return v, ok },
		Agents: entries, HTTP: transport, wait: p.wait,
		LookPath: func(name string) (string, error) {
			switch dir := p.path[name]; dir {
			case "":
				return "", exec.ErrNotFound
			case ".":
				return name, exec.ErrDot
			default:
				return filepath.Join(strings.Replace(dir, "~", home, 1), name), nil
			}
		},
	})
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

const (
	ollamaAt   = "127.0.0.1:11434"
	lmStudioAt = "127.0.0.1:1234"
	llamaAt    = "127.0.0.1:8080"
	vllmAt     = "127.0.0.1:8000"
)

// by returns the candidate whose text of whole holds a word.
func by(t *testing.T, cs []Candidate, word string) Candidate {
	t.Helper()
	for _, c := range cs {
		if strings.Contains(fmt.Sprintf("%+v", c), word) {
			return c
		}
	}
	t.Fatalf("no candidate says %q: %+v", word, cs)
	return Candidate{}
}

func TestFindOrder(t *testing.T) {
	var names []string
	for _, c := range (place{}).find(t) {
		names = append(names, c.Name())
		if c.Ready != (c.Provider == "offline") || c.Ready == (c.Why == "") || c.Ready == (c.Problem != "") {
			t.Errorf("on a bare machine: %+v", c)
		}
	}
	want := "anthropic openai openai agent:claude agent:codex agent:aider agent:gemini agent:none ollama openai openai openai offline"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFindKeys(t *testing.T) {
	for _, c := range []struct {
		name  string
		place place
		word  string // of the candidate that is meant
		want  Candidate
	}{
		{"in the environment", place{env: map[string]string{"ANTHROPIC_API_KEY": "k"}}, "ANTHROPIC",
			Candidate{Provider: "anthropic", Billing: PerToken, Ready: true, Why: "ANTHROPIC_API_KEY is set"}},
		{"Anthropic's other one", place{env: map[string]string{"ANTHROPIC_AUTH_TOKEN": "k"}}, "ANTHROPIC",
			Candidate{Provider: "anthropic", Billing: PerToken, Ready: true, Why: "ANTHROPIC_AUTH_TOKEN is set"}},
		{"in a file", place{home: map[string]string{".authinfo": "machine api.openai.com login apikey password k"}}, ".authinfo line",
			Candidate{Provider: "openai", Billing: PerToken, Ready: true, Why: "a key is in ~/.authinfo line 1"}},
		{"another server", place{env: map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "https://llm.test/anthropic"}}, "llm.test",
			Candidate{Provider: "anthropic", BaseURL: "https://llm.test/anthropic", Billing: PerToken, Ready: true, Why: "ANTHROPIC_API_KEY is set, and ANTHROPIC_BASE_URL names llm.test"}},
		{"in a file, for a port", place{env: map[string]string{"ANTHROPIC_BASE_URL": "https://llm.test:8443"},
			home: map[string]string{".netrc": "machine llm.test password no port 9443\nmachine llm.test password k port 8443"}}, ".netrc line",
			Candidate{Provider: "anthropic", BaseURL: "https://llm.test:8443", Billing: PerToken, Ready: true, Why: "a key is in ~/.netrc line 2, and ANTHROPIC_BASE_URL names llm.test:8443"}},
		{"empty", place{env: map[string]string{"OPENAI_API_KEY": ""}}, "OPENAI_API_KEY",
			Candidate{Provider: "openai", Billing: PerToken, Problem: "OPENAI_API_KEY is set, but empty"}},
		{"empty, with a file", place{env: map[string]string{"OPENAI_API_KEY": ""}, home: map[string]string{".netrc": "machine api.openai.com password k"}}, "netrc",
			Candidate{Provider: "openai", Billing: PerToken, Ready: true, Why: "a key is in ~/.netrc line 1"}},
		{"malformed", place{env: map[string]string{"OPENAI_API_KEY": "my key"}}, "OPENAI_API_KEY",
			Candidate{Provider: "openai", Billing: PerToken, Problem: "the key in OPENAI_API_KEY has a blank in it; it was not used"}},
		{"perhaps by the command", place{command: "touch ran; echo k"}, "api-key-cmd",
			Candidate{Provider: "anthropic", Billing: PerToken, Problem: "no key for api.anthropic.com is stored, and api-key-cmd is not run only to see whether it has one: choose the provider by name"}},
		{"a bad address", place{env: map[string]string{"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "llm.test"}}, "ANTHROPIC_BASE_URL",
			Candidate{Provider: "anthropic", Billing: PerToken, Problem: "ANTHROPIC_BASE_URL is not an address such as https://llm.example.com/v1"}},
		{"an address with a password", place{env: map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://me:pw@llm.test/v1"}}, "OPENAI_BASE_URL",
			Candidate{Provider: "openai", Billing: PerToken, Problem: "OPENAI_BASE_URL is not an address such as https://llm.example.com/v1"}},
		{"OpenRouter has no default model", place{env: map[string]string{"OPENROUTER_API_KEY": "k"}}, "OPENROUTER",
			Candidate{Provider: "openai", BaseURL: "https://openrouter.ai/api/v1", Billing: PerToken,
				Problem: "OPENROUTER_API_KEY is set, but there is no model by default: set provider: openai, base-url: https://openrouter.ai/api/v1, and model"}},
		{"nor have others", place{env: map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://llm.test/v1"}}, "llm.test",
			Candidate{Provider: "openai", BaseURL: "https://llm.test/v1", Billing: PerToken,
				Problem: "OPENAI_API_KEY is set, and OPENAI_BASE_URL names llm.test, but there is no model by default: set provider: openai, base-url: https://llm.test/v1, and model"}},
		{"OpenRouter by OpenAI's variable", place{env: map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://openrouter.ai/api/v1"}}, "openai",
			Candidate{Provider: "openai", BaseURL: "https://openrouter.ai/api/v1", Billing: PerToken,
				Problem: "no key for openrouter.ai: set OPENROUTER_API_KEY"}},
		{"OpenAI's own by its variable", place{env: map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "https://api.openai.com/v1/"}}, "OPENAI_BASE_URL",
			Candidate{Provider: "openai", BaseURL: "https://api.openai.com/v1/", Billing: PerToken, Ready: true, Why: "OPENAI_API_KEY is set, and OPENAI_BASE_URL names api.openai.com"}},
	} {
		got := by(t, c.place.find(t), c.word)
		if c.want.Problem != "" && strings.HasPrefix(got.Problem, c.want.Problem) {
			got.Problem = c.want.Problem
		}
		if got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("api-key-cmd was run")
	}
	if c := by(t, (place{}).find(t), "anthropic"); !strings.Contains(c.Problem, "set ANTHROPIC_API_KEY") {
		t.Errorf("no way to set a key in %q", c.Problem)
	}
}

func TestFindAgents(t *testing.T) {
	cs := place{path: map[string]string{"claude": "~/bin", "codex": ".", "aider": "/opt/tools"}}.find(t)
	for name, want := range map[string]Candidate{
		"claude": {Provider: "agent", Model: "claude", Billing: Subscription, Ready: true, Why: "claude is in ~/bin"},
		"codex":  {Provider: "agent", Model: "codex", Billing: Subscription, Problem: "codex is in the current folder, from where it is not run"},
		"aider":  {Provider: "agent", Model: "aider", Billing: PerToken, Ready: true, Why: "aider is in /opt/tools"},
		"gemini": {Provider: "agent", Model: "gemini", Billing: Subscription, Problem: "no gemini on the PATH"},
		"none":   {Provider: "agent", Model: "none", Billing: Subscription, Problem: "its entry in config.yaml names no command"},
	} {
		if got := by(t, cs, "Model:"+name); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestFindServers(t *testing.T) {
	for _, c := range []struct {
		name    string
		env     map[string]string
		address string
		serve   http.HandlerFunc
		want    Candidate // Problem may be a part of it
	}{
		{"Ollama", nil, ollamaAt, says(`{"models":[{"name":"nomic-embed-text:latest"},{"name":"minilm","details":{"family":"bert"}},{"name":"big","remote_host":"https://ollama.com:443"},{"name":"big:cloud"},{"name":"qwen3:8b"}]}`),
			Candidate{Provider: "ollama", Model: "qwen3:8b", BaseURL: "http://127.0.0.1:11434", Ready: true, Why: "Ollama answers on 127.0.0.1:11434 with 5 models"}},
		{"Ollama elsewhere", map[string]string{"OLLAMA_HOST": "0.0.0.0:4000"}, "127.0.0.1:4000", says(`{"models":[{"name":"qwen3"}]}`),
			Candidate{Provider: "ollama", Model: "qwen3", BaseURL: "http://127.0.0.1:4000", Ready: true, Why: "Ollama answers on 127.0.0.1:4000 with 1 model"}},
		{"Ollama without models", nil, ollamaAt, says(`{"models":[]}`),
			Candidate{Provider: "ollama", BaseURL: "http://127.0.0.1:11434", Problem: "Ollama answers on 127.0.0.1:11434, but has no model to talk to: fetch one with `ollama pull`"}},
		{"Ollama's service", map[string]string{"OLLAMA_HOST": "ollama.com"}, "", nil,
			Candidate{Provider: "ollama", BaseURL: "https://ollama.com:443", Billing: Subscription, Problem: "OLLAMA_HOST names Ollama's own service"}},
		{"LM Studio", nil, lmStudioAt, says(`{"object":"list","data":[{"id":"text-embedding-nomic"},{"id":"gemma","object":"model","owned_by":"organization_owner"}]}`),
			Candidate{Provider: "openai", Model: "gemma", BaseURL: "http://127.0.0.1:1234/v1", Ready: true, Why: "LM Studio answers on 127.0.0.1:1234 with 2 models"}},
		{"llama.cpp", nil, llamaAt, says(`{"models":[{"name":"x"}],"object":"list","data":[{"id":"x.gguf","object":"model","owned_by":"llamacpp"}]}`),
			Candidate{Provider: "openai", Model: "x.gguf", BaseURL: "http://127.0.0.1:8080/v1", Ready: true, Why: "llama.cpp answers on 127.0.0.1:8080 with 1 model"}},
		{"vLLM on the port of llama.cpp", nil, llamaAt, says(`{"object":"list","data":[{"id":"org/x","owned_by":"vllm"}]}`),
			Candidate{Provider: "openai", Model: "org/x", BaseURL: "http://127.0.0.1:8080/v1", Ready: true, Why: "vLLM answers on 127.0.0.1:8080 with 1 model"}},
		{"the server of OPENAI_BASE_URL", map[string]string{"OPENAI_BASE_URL": "http://localhost:5000/v1/"}, "localhost:5000", says(`{"data":[{"id":"x"}]}`),
			Candidate{Provider: "openai", Model: "x", BaseURL: "http://localhost:5000/v1", Ready: true, Why: "the server of OPENAI_BASE_URL answers on localhost:5000 with 1 model"}},
		{"loading", nil, llamaAt, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) },
			Candidate{Provider: "openai", BaseURL: "http://127.0.0.1:8080/v1", Problem: "not ready yet"}},
		{"it asks for a key", nil, vllmAt, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) },
			Candidate{Provider: "openai", BaseURL: "http://127.0.0.1:8000/v1", Problem: "asks for a key"}},
		{"a web page", nil, vllmAt, says("<html>Hello</html>"),
			Candidate{Provider: "openai", BaseURL: "http://127.0.0.1:8000/v1", Problem: "no model server"}},
		{"other JSON", nil, vllmAt, says(`{"data":{"id":1}}`),
			Candidate{Provider: "openai", BaseURL: "http://127.0.0.1:8000/v1", Problem: "no model server"}},
		{"a list of other things", nil, vllmAt, says(`{"data":[{"id":"x\u001b[31m"}]}`),
			Candidate{Provider: "openai", BaseURL: "http://127.0.0.1:8000/v1", Problem: "no model server"}},
		{"not found", nil, llamaAt, http.NotFound,
			Candidate{Provider: "openai", BaseURL: "http://127.0.0.1:8080/v1", Problem: "no model server"}},
		{"a redirect is not followed", nil, llamaAt, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:8000/v1/models", http.StatusFound)
		},
			Candidate{Provider: "openai", BaseURL: "http://127.0.0.1:8080/v1", Problem: "no model server"}},
		{"without end", nil, llamaAt, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(" ", 1<<16)); err != nil {
					return
				}
			}
		}, Candidate{Provider: "openai", BaseURL: "http://127.0.0.1:8080/v1", Problem: "no model server"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := place{env: c.env}
			if c.serve != nil {
				p.servers = map[string]http.HandlerFunc{c.address: c.serve}
			}
			got := by(t, p.find(t), c.want.BaseURL)
			if strings.Contains(got.Problem, c.want.Problem) && c.want.Problem != "" {
				got.Problem = c.want.Problem
			}
			if got != c.want {
				t.Errorf("\n got %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// Servers that say nothing delay Find for no longer than they may together.
func TestFindDoesNotWait(t *testing.T) {
	silent := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	p := place{wait: 200 * time.Millisecond, servers: map[string]http.HandlerFunc{ollamaAt: silent, lmStudioAt: silent, llamaAt: silent, vllmAt: silent}}
	start := time.Now()
	cs := p.find(t)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if c := by(t, cs, llamaAt); !strings.Contains(c.Problem, "in time") {
		t.Errorf("%+v", c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if cs := Find(ctx, FindOptions{Keys: &secret.Finder{Getenv: func(string) string { return "" }}, Lookup: func(string) (string, bool) { return "", false }}); !Choose(cs).Ready {
		t.Error("nothing is left when the caller has gone")
	}
}

// A key is in no candidate and goes to no server.
func TestFindKeepsKeys(t *testing.T) {
	const key = "hunter2hunter2"
	var asked atomic.Int32
	watch := func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if text := fmt.Sprint(r.URL, r.Header); strings.Contains(text, key) {
			t.Errorf("a server was sent %s", text)
		}
		io.WriteString(w, `{"data":[{"id":"x"}],"models":[{"name":"x"}]}`)
	}
	p := place{
		env: map[string]string{"ANTHROPIC_API_KEY": key, "OPENAI_API_KEY": key, "OPENROUTER_API_KEY": key + " " + key, "OLLAMA_API_KEY": key,
			"OPENAI_BASE_URL": "http://127.0.0.1:5000/v1"},
		home:    map[string]string{".authinfo": "machine openrouter.ai login apikey password " + key},
		servers: map[string]http.HandlerFunc{ollamaAt: watch, lmStudioAt: watch, llamaAt: watch, vllmAt: watch, "127.0.0.1:5000": watch},
	}
	cs := p.find(t)
	asJSON, err := json.Marshal(cs)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", cs) + string(asJSON); strings.Contains(text, key) {
		t.Error(text)
	}
	if asked.Load() != 5 {
		t.Errorf("%d servers were asked", asked.Load())
	}
}

func TestChoose(t *testing.T) {
	if c := Choose(place{env: map[string]string{"OPENAI_API_KEY": "k"}, path: map[string]string{"claude": "/bin"}}.find(t)); c.Name() != "openai" {
		t.Errorf("a key comes first: %+v", c)
	}
	server := map[string]http.HandlerFunc{ollamaAt: says(`{"models":[{"name":"x"}]}`)}
	if c := Choose(place{path: map[string]string{"claude": "/bin"}, servers: server}.find(t)); c.Name() != "agent:claude" {
		t.Errorf("then a CLI: %+v", c)
	}
	if c := Choose(place{servers: server}.find(t)); c.Name() != "ollama:x" {
		t.Errorf("then a local server: %+v", c)
	}
	for _, cs := range [][]Candidate{place{}.find(t), nil} {
		if c := Choose(cs); c.Name() != "offline" || !c.Ready {
			t.Errorf("then the offline responder: %+v", c)
		}
	}
}

func TestChooseUnattended(t *testing.T) {
	all := place{env: map[string]string{"OPENAI_API_KEY": "k"}, path: map[string]string{"claude": "/bin", "codex": "/bin", "aider": "/bin", "gemini": "/bin"},
		servers: map[string]http.HandlerFunc{ollamaAt: says(`{"models":[{"name":"x"}]}`)}}.find(t)
	for _, paid := range []bool{true, false} {
		left, order := slices.Clone(all), ""
		for {
			c, ok := ChooseUnattended(left, paid)
			if !ok {
				break
			}
			order += c.Name() + " "
			left = slices.DeleteFunc(left, func(other Candidate) bool { return other == c })
		}
		want := "agent:codex agent:claude agent:gemini ollama:x "
		if paid {
			want += "openai agent:aider "
		}
		if order != want {
			t.Errorf("paid %v: %s, want %s", paid, order, want)
		}
	}
}
