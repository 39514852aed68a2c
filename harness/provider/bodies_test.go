package provider

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// The request bodies, as they are sent.
func TestBodies(t *testing.T) {
	at1 := Settings{Temperature: 1, TopP: 1}
	all := Settings{Temperature: 1.5, TopP: 0.5, TopK: 7, MaxTokens: 4000}
	schema := json.RawMessage(`{"type":"object"}`)
	short := Request{System: "S", Blocks: []Block{{Text: "<a>\n", Cache: true}, {Text: "b"}}, Settings: at1}
	with := func(s Settings, change func(*Request)) Request {
		r := short
		r.Settings = s
		if change != nil {
			change(&r)
		}
		return r
	}
	full := func(r *Request) { r.Schema, r.Retry = schema, []Turn{{"assistant", "bad"}, {"user", "again"}} }
	thinking := func(max int) Settings { return Settings{Temperature: 0.5, TopK: 3, MaxTokens: max, Thinking: true} }
	const (
		claudeTail = `"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],` +
			`"messages":[{"role":"user","content":[{"type":"text","text":"<a>\n","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}]}]}`
		openaiHead = `"messages":[{"role":"system","content":"S"},{"role":"user","content":"<a>\nb"}],"stream":true,"stream_options":{"include_usage":true}`
	)
	for name, c := range map[string]struct {
		provider, model, base string
		request               Request
		want                  string
		words                 []string
	}{
		"anthropic": {"anthropic", "claude-haiku-4-5", "", short, `{"model":"claude-haiku-4-5","max_tokens":8192,"stream":true,` + claudeTail, nil},
		"anthropic, all": {"anthropic", "claude-sonnet-4-5-20250929", "", with(all, full),
			`{"model":"claude-sonnet-4-5-20250929","max_tokens":4000,"stream":true,"top_p":0.5,"top_k":7,"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}},` +
				strings.TrimSuffix(claudeTail, "]}") + `,{"role":"assistant","content":[{"type":"text","text":"bad"}]},{"role":"user","content":[{"type":"text","text":"again"}]}]}`,
			[]string{"temperature 1.5 is sent as 1: Anthropic takes 0 to 1"}},
		"anthropic, temperature wins": {"anthropic", "claude-haiku-4-5", "", with(Settings{Temperature: 0, TopP: 0.9}, nil),
			`{"model":"claude-haiku-4-5","max_tokens":8192,"stream":true,"temperature":0,` + claudeTail, []string{"top-p is left out: Anthropic takes temperature or top-p, not both"}},
		"anthropic, thinking with a budget": {"anthropic", "claude-haiku-4-5", "", with(thinking(4000), nil),
			`{"model":"claude-haiku-4-5","max_tokens":4000,"stream":true,"thinking":{"type":"enabled","budget_tokens":2000},` + claudeTail,
			[]string{"anthropic:claude-haiku-4-5 takes no temperature, top-p or top-k while it thinks: they are left out"}},
		"anthropic, no room to think": {"anthropic", "claude-haiku-4-5", "", with(Settings{Temperature: 1, MaxTokens: 1000, Thinking: true}, nil),
			`{"model":"claude-haiku-4-5","max_tokens":1000,"stream":true,` + claudeTail, []string{"max-tokens 1000 leaves no room for thinking: it needs 2048"}},
		"anthropic, adaptive": {"anthropic", "claude-sonnet-5-5", "", with(thinking(0), nil),
			`{"model":"claude-sonnet-5-5","max_tokens":16384,"stream":true,"thinking":{"type":"adaptive"},` + claudeTail,
			[]string{"anthropic:claude-sonnet-5-5 takes no temperature, top-p or top-k: they are left out"}},
		"anthropic, default": {"anthropic", "", "", short, `{"model":"claude-sonnet-5-5","max_tokens":8192,"stream":true,"thinking":{"type":"between_tools"},` + claudeTail, nil},
		"anthropic, opus 5":  {"anthropic", "claude-opus-5", "", short, `{"model":"claude-opus-5","max_tokens":8192,"stream":true,"thinking":{"type":"disabled"},` + claudeTail, nil},
		"anthropic, always thinking": {"anthropic", "claude-opus-5-5", "", with(at1, full),
			`{"model":"claude-opus-5-5","max_tokens":8192,"stream":true,"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}},` +
				strings.TrimSuffix(claudeTail, "]}") + `,{"role":"assistant","content":[{"type":"text","text":"bad"}]},{"role":"user","content":[{"type":"text","text":"again"}]}]}`, nil},
		"anthropic, blank and many blocks": {"anthropic", "claude-haiku-4-5", "", Request{Settings: at1, Retry: []Turn{{"assistant", " "}, {"user", "again"}}, Blocks: []Block{{Text: "\n"}, {Text: "1", Cache: true}, {Text: "2", Cache: true},
			{Text: " ", Cache: true}, {Text: "3"}, {Text: "\t", Cache: true}, {Text: "4", Cache: true}, {Text: "5", Cache: true}, {Text: "6"}}},
			`{"model":"claude-haiku-4-5","max_tokens":8192,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"\n1"},` +
				`{"type":"text","text":"2 ","cache_control":{"type":"ephemeral"}},{"type":"text","text":"3\t","cache_control":{"type":"ephemeral"}},` +
				`{"type":"text","text":"4","cache_control":{"type":"ephemeral"}},{"type":"text","text":"5","cache_control":{"type":"ephemeral"}},{"type":"text","text":"6"}]},` +
				`{"role":"assistant","content":[{"type":"text","text":"(nothing)"}]},{"role":"user","content":[{"type":"text","text":"again"}]}]}`, nil},

		"openai": {"openai", "", "", short, `{"model":"gpt-6.1-terra",` + openaiHead + `}`, nil},
		"openai, all": {"openai", "gpt-x", "", with(Settings{Temperature: 0, TopP: 0.5, TopK: 7, MaxTokens: 4000, Thinking: true}, full),
			`{"model":"gpt-x","messages":[{"role":"system","content":"S"},{"role":"user","content":"<a>\nb"},{"role":"assistant","content":"bad"},{"role":"user","content":"again"}],` +
				`"stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":4000,"temperature":0,"top_p":0.5,"reasoning_effort":"medium",` +
				`"response_format":{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":{"type":"object"}}}}`, []string{"OpenAI takes no top-k: it is left out"}},
		"a server of one's own": {"openai", "local", "http://127.0.0.1:8080", with(Settings{Temperature: 1.5, TopK: 7, MaxTokens: 4000, Thinking: true}, nil),
			`{"model":"local",` + openaiHead + `,"max_tokens":4000,"temperature":1.5,"top_k":7}`, []string{"127.0.0.1:8080 is not told to think: there is no common way to ask for it"}},
		"OpenRouter": {"openai", "meta/llama", "https://openrouter.ai/api/v1", with(Settings{Temperature: 1, Thinking: true}, nil),
			`{"model":"meta/llama",` + openaiHead + `,"reasoning":{"enabled":true},"usage":{"include":true}}`, nil},
		"OpenRouter, Anthropic": {"openai", "anthropic/claude-sonnet-5.5", "https://openrouter.ai/api/v1/", short,
			`{"model":"anthropic/claude-sonnet-5.5","messages":[{"role":"system","content":"S"},{"role":"user","content":[{"type":"text","text":"<a>\n","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}]}],` +
				`"stream":true,"stream_options":{"include_usage":true},"usage":{"include":true}}`, nil},

		"ollama": {"ollama", "qwen3", "", short,
			`{"model":"qwen3","messages":[{"role":"system","content":"S"},{"role":"user","content":"<a>\nb"}],"stream":true,"think":false,"truncate":false,"shift":false,"options":{"num_ctx":8192}}`, nil},
		"ollama, all": {"ollama", "qwen3", "", with(Settings{Temperature: 0, TopP: 0.5, TopK: 7, MaxTokens: 4000, Thinking: true}, full),
			`{"model":"qwen3","messages":[{"role":"system","content":"S"},{"role":"user","content":"<a>\nb"},{"role":"assistant","content":"bad"},{"role":"user","content":"again"}],` +
				`"stream":true,"think":true,"format":{"type":"object"},"truncate":false,"shift":false,"options":{"num_ctx":8192,"num_predict":4000,"temperature":0,"top_p":0.5,"top_k":7}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			o := dialed(c.provider, c.model, c.base)
			m, err := Open(o)
			if err != nil {
				t.Fatal(err)
			}
			var d *draft
			var body any
			switch m := m.(type) {
			case *anthropic:
				d = m.draft()
				body = m.body(c.request, d)
			case *openai:
				d = m.draft()
				body = m.body(c.request, d)
			case *ollama:
				d = m.draft()
				body = m.body(c.request, 8192, d)
			}
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(body); err != nil {
				t.Fatal(err)
			}
			if strings.TrimSpace(got.String()) != c.want {
				t.Errorf("got  %swant %s", got.String(), c.want)
			}
			if strings.Join(d.words, "|") != strings.Join(c.words, "|") {
				t.Errorf("words %q", d.words)
			}
		})
	}
}

func TestReadClaude(t *testing.T) {
	for model, want := range map[string]struct {
		c      claude
		window int
	}{
		"claude-haiku-4-5-20251001":         {claude{"haiku", 45}, 200_000},
		"claude-sonnet-5":                   {claude{"sonnet", 50}, 1_000_000},
		"claude-fable-5-1":                  {claude{"fable", 51}, 1_000_000},
		"anthropic.claude-opus-4-8":         {claude{"opus", 48}, 0},
		"claude-sonnet-4-20250514":          {claude{"sonnet", 40}, 200_000},
		"anthropic/claude-sonnet-5.5":       {claude{"sonnet", 55}, 1_000_000},
		"claude-3-5-haiku-latest":           {claude{"", 30}, 200_000},
		"claude-opus-4-6@20260101":          {claude{"opus", 46}, 0},
		"my-proxy-model":                    {claude{}, 0},
		"us.anthropic.claude-opus-5-5-v1:0": {claude{"opus", 55}, 1_000_000},
	} {
		if got := readClaude(model); got != want.c || got.window() != want.window {
			t.Errorf("%s: %+v, window %d", model, got, got.window())
		}
	}
}

func TestFacts(t *testing.T) {
	for _, c := range []struct {
		provider, model, base string
		want                  Facts
		name                  string
	}{
		{"anthropic", "", "", Facts{"anthropic", "claude-sonnet-5-5", PerToken, 1_000_000, 0}, "anthropic:claude-sonnet-5-5"},
		{"openai", "", "", Facts{"openai", "gpt-6.1-terra", PerToken, 1_050_000, 0}, "openai:gpt-6.1-terra"},
		{"openai", "x", "https://openrouter.ai/api/v1", Facts{"openai", "x", PerToken, 0, 0}, "openai:x"},
		{"openai", "", "http://localhost:1234/v1", Facts{"openai", "", Free, 0, 0}, "openai"},
		{"openai", "", "http://192.168.0.9:8000", Facts{"openai", "", Free, 0, 0}, "openai"},
		{"ollama", "", "", Facts{"ollama", "", Free, 0, 0}, "ollama"},
		{"ollama", "qwen3", "https://ollama.com", Facts{"ollama", "qwen3", Subscription, 0, 0}, "ollama:qwen3"},
		{"ollama", "gpt-oss:120b-cloud", "", Facts{"ollama", "gpt-oss:120b-cloud", Subscription, 0, 0}, "ollama:gpt-oss:120b-cloud"},
	} {
		m := dial(t, c.provider, c.model, c.base)
		if m.Facts() != c.want || m.Name() != c.name {
			t.Errorf("%+v, %q", m.Facts(), m.Name())
		}
	}
	for _, base := range []string{"ftp://x", "localhost:1234", "http://"} {
		if _, err := Open(dialed("openai", "x", base)); Classify(err) != Permanent || err == nil || !strings.Contains(err.Error(), "--base-url") {
			t.Errorf("%s: %v", base, err)
		}
	}
}
