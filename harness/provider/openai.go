package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"amacs/harness/provider/wire"
)

// The defaults of OpenAI.
const (
	openaiBase  = "https://api.openai.com/v1"
	openaiModel = "gpt-6.1-terra"
)

// openai speaks Chat Completions (POST /v1/chat/completions), streaming, which
// OpenRouter, llama.cpp, vLLM, LM Studio and many others speak too.
//
//	{"model":"gpt-6.1-terra","messages":[{"role":"system","content":"…"},{"role":"user","content":"…"}],
//	 "stream":true,"stream_options":{"include_usage":true}}
//
// What only OpenAI or OpenRouter understand is sent to them only.
type openai struct {
	*remote
	official, router bool
}

func newOpenAI(o Options) (*openai, error) {
	base := strings.TrimRight(first(o.BaseURL, o.Getenv("OPENAI_BASE_URL"), openaiBase), "/")
	u, err := url.Parse(base)
	if err == nil && u.Path == "" {
		base += "/v1"
	}
	host := ""
	if err == nil {
		host = u.Hostname()
	}
	official, router := host == "api.openai.com", host == "openrouter.ai"
	key := bearer("OPENAI_API_KEY")
	if router {
		key = bearer("OPENROUTER_API_KEY")
	}
	if o.Model == "" && official {
		o.Model = openaiModel
	}
	m, err := newRemote(o, PerToken, base, key)
	if err != nil {
		return nil, err
	}
	if m.local {
		m.facts.Billing = Free
	}
	m.facts.Window = openaiWindow(o.Model)
	return &openai{m, official, router}, nil
}

// openaiWindow is how many tokens one of OpenAI's models can read, where that is
// sure.
func openaiWindow(model string) int {
	for _, w := range []struct {
		prefix string
		tokens int
	}{{"gpt-6.1-terra", 1_050_000}, {"gpt-5.6-terra", 1_050_000}, {"gpt-4.1", 1_047_576}, {"gpt-4o", 128_000}} {
		if strings.HasPrefix(model, w.prefix) {
			return w.tokens
		}
	}
	return 0
}

type openaiBody struct {
	Model         string           `json:"model"`
	Messages      []openaiMessage  `json:"messages"`
	Stream        bool             `json:"stream"`
	Counts        *openaiCounts    `json:"stream_options,omitempty"`
	MaxCompletion int              `json:"max_completion_tokens,omitempty"`
	MaxTokens     int              `json:"max_tokens,omitempty"`
	Temperature   *float64         `json:"temperature,omitempty"`
	TopP          float64          `json:"top_p,omitempty"`
	TopK          int              `json:"top_k,omitempty"`
	Effort        string           `json:"reasoning_effort,omitempty"`
	Reasoning     *routerReasoning `json:"reasoning,omitempty"`
	Format        *openaiFormat    `json:"response_format,omitempty"`
	Usage         *routerUsage     `json:"usage,omitempty"`
}

type openaiMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // text, or blocks
}

type openaiCounts struct {
	Include bool `json:"include_usage"`
}

type openaiFormat struct {
	Type   string       `json:"type"`
	Schema openaiSchema `json:"json_schema"`
}

type openaiSchema struct {
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

// OpenRouter's own.
type (
	routerReasoning struct {
		Enabled bool `json:"enabled"`
	}
	routerUsage struct {
		Include bool `json:"include"`
	}
)

func (m *openai) Complete(ctx context.Context, r Request, stream func(string)) (Response, error) {
	if err := m.pick(ctx, m.list); err != nil {
		return Response{}, err
	}
	return m.complete(ctx, call{
		path: "/chat/completions",
		body: func(d *draft) any { return m.body(r, d) },
		send: m.events,
		hear: hearOpenAI,
	}, stream)
}

// pick takes the first model of a local server that can talk and runs there, where
// none is configured. Elsewhere the first may cost anything.
func (m *remote) pick(ctx context.Context, list func(context.Context) ([]Listed, error)) error {
	if m.Facts().Model != "" {
		return nil
	}
	if !m.local {
		return &Error{Provider: m.provider, Op: "choosing a model", Err: fmt.Errorf("none is named for %s", m.server.Host()),
			Hint: "choose one with --model or `model:` in config.yaml; `amacs models` lists them"}
	}
	models, err := list(ctx)
	if err != nil {
		return err
	}
	for _, l := range models {
		if !strings.Contains(strings.ToLower(l.Name), "embed") && !inCloud(l.Name) {
			m.learn(func(f *Facts) { f.Model, f.Window = l.Name, l.Window })
			return nil
		}
	}
	return &Error{Provider: m.provider, Op: "choosing a model", Err: fmt.Errorf("%s has none", m.server.Host()), Hint: "load one there"}
}

func (m *openai) body(r Request, d *draft) openaiBody {
	s := r.Settings
	b := openaiBody{Model: m.Facts().Model, Stream: true}
	if r.System != "" {
		if d.takes(optSystem) {
			b.Messages = append(b.Messages, openaiMessage{"system", r.System})
		} else { // some models' templates know no such role
			r.Blocks = append([]Block{{Text: r.System + "\n\n", Cache: true}}, r.Blocks...)
		}
	}
	b.Messages = append(b.Messages, openaiMessage{"user", m.content(r)})
	for _, t := range r.Retry {
		b.Messages = append(b.Messages, openaiMessage{t.Role, t.Text})
	}
	if d.takes(optCounts) {
		b.Counts = &openaiCounts{true}
	}
	if m.router {
		b.Usage = &routerUsage{true}
	}
	if s.MaxTokens > 0 {
		// The two names of one limit: it is swapped and never left out.
		if d.takes(optMaxTokens) == m.official {
			b.MaxCompletion = s.MaxTokens
		} else {
			b.MaxTokens = s.MaxTokens
		}
	}
	if s.Temperature != 1 && d.takes(optTemperature) {
		b.Temperature = &s.Temperature
	}
	if s.TopP > 0 && s.TopP < 1 && d.takes(optTopP) {
		b.TopP = s.TopP
	}
	switch {
	case s.TopK == 0:
	case m.official:
		d.say("OpenAI takes no top-k: it is left out")
	case d.takes(optTopK):
		b.TopK = s.TopK
	}
	switch {
	case !s.Thinking:
	case m.official && d.takes(optThinking):
		b.Effort = "medium"
	case m.router && d.takes(optThinking):
		b.Reasoning = &routerReasoning{true}
	case !m.official && !m.router:
		d.say("%s is not told to think: there is no common way to ask for it", m.server.Host())
	}
	if len(r.Schema) > 0 && d.takes(optSchema) {
		b.Format = &openaiFormat{"json_schema", openaiSchema{"reply", true, r.Schema}}
	}
	return b
}

// content is the user message: text, or blocks where OpenRouter hands Anthropic's
// cache breakpoints on.
func (m *openai) content(r Request) any {
	if m.router && strings.HasPrefix(m.Facts().Model, "anthropic/") {
		return anthropicBlocks(r.Blocks, maxBreakpoints)
	}
	return r.Text()
}

func hearOpenAI(a *incoming, data []byte) error {
	if text := strings.TrimSpace(string(data)); text == "" {
		return nil
	} else if text == "[DONE]" {
		if a.stop == "" {
			a.stop = stopEnd
		}
		return io.EOF
	}
	var e struct {
		Error   json.RawMessage
		Object  string
		Model   string
		Choices []struct {
			Index  int
			Delta  struct{ Content, Refusal string }
			Reason string `json:"finish_reason"`
		}
		Usage *openaiUsage
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("an event is not whole: %w", err)
	}
	if len(e.Error) > 0 || e.Object == "error" {
		if f := wire.ReadFault(data); f != nil {
			return f
		}
	}
	if e.Model != "" {
		a.model = e.Model
	}
	if e.Usage != nil {
		a.usage, a.cost = e.Usage.count(), e.Usage.Cost
	}
	for _, c := range e.Choices {
		if c.Index != 0 {
			continue
		}
		if err := a.add(c.Delta.Content); err != nil {
			return err
		}
		a.refusal += c.Delta.Refusal
		switch c.Reason {
		case "":
		case "stop":
			a.stop = stopEnd
		case "length":
			a.stop = stopMax
		default:
			a.stop = c.Reason
			if c.Reason == "content_filter" {
				a.refusal = strings.TrimSpace(a.refusal + " a content filter cut it off")
			}
		}
	}
	return nil
}

type openaiUsage struct {
	Prompt     int      `json:"prompt_tokens"`
	Completion int      `json:"completion_tokens"` // reasoning included
	Cost       *float64 // OpenRouter's, in USD
	Details    struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

func (u openaiUsage) count() Usage {
	return Usage{In: u.Prompt, Cached: u.Details.Cached, Written: u.Details.Written, Out: u.Completion}
}
