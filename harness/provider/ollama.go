package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/bits"
	"net"
	"net/url"
	"strings"

	"amacs/harness/provider/wire"
)

// ollama speaks Ollama's own API (POST /api/chat), streaming JSON lines.
//
//	{"model":"qwen3","messages":[…],"stream":true,"think":false,
//	 "truncate":false,"shift":false,"options":{"num_ctx":16384}}
//
// A window is asked for that holds the request: by itself Ollama takes a small
// one and drops the beginning of what does not fit, without a word.
type ollama struct {
	*remote
	looked bool // at the model
	most   int  // the largest window that it has; 0 = it does not say
	window int  // the largest that was asked for: another one loads the model anew
}

func newOllama(o Options) (*ollama, error) {
	base := ollamaBase(first(o.BaseURL, o.Getenv("OLLAMA_HOST")))
	var ways []way
	billing := Free
	if u, err := url.Parse(base); err == nil && u.Hostname() == "ollama.com" {
		ways, billing = []way{bearer("OLLAMA_API_KEY")}, Subscription
	}
	m, err := newRemote(o, billing, base, ways...)
	if err != nil {
		return nil, err
	}
	return &ollama{remote: m}, nil
}

// Facts are Ollama's own, with the models that it only hands on to its cloud.
func (m *ollama) Facts() Facts {
	f := m.remote.Facts()
	if inCloud(f.Model) {
		f.Billing = Subscription
	}
	return f
}

// inCloud tells by its name that a model runs at Ollama's service.
func inCloud(model string) bool {
	return strings.HasSuffix(model, "-cloud") || strings.HasSuffix(model, ":cloud")
}

// ollamaBase reads an address as Ollama reads OLLAMA_HOST: scheme, host and port
// may each be absent, and the address that a server listens on everywhere is
// this machine.
func ollamaBase(host string) string {
	host = strings.Trim(strings.TrimSpace(host), `"'`)
	scheme, rest, ok := strings.Cut(host, "://")
	port := map[string]string{"http": "80", "https": "443"}[scheme]
	switch {
	case ok && port == "":
		return host // not an address that can be asked; wire says so
	case !ok && host == "ollama.com":
		scheme, rest, port = "https", host, "443"
	case !ok:
		scheme, rest, port = "http", host, "11434"
	}
	rest, path, _ := strings.Cut(rest, "/")
	name, given, err := net.SplitHostPort(rest)
	if err != nil {
		name = strings.Trim(rest, "[]")
	} else if given != "" {
		port = given
	}
	if name == "" || name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1"
	}
	path = strings.TrimRight(path, "/")
	if path == "v1" || path == "api" {
		path = ""
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(name, port), Path: path}
	return u.String()
}

type ollamaBody struct {
	Model    string          `json:"model"`
	Messages []openaiMessage `json:"messages"`
	Stream   bool            `json:"stream"`
	Think    *bool           `json:"think,omitempty"`
	Format   json.RawMessage `json:"format,omitempty"`
	Truncate bool            `json:"truncate"`
	Shift    bool            `json:"shift"`
	Options  ollamaOptions   `json:"options"`
}

type ollamaOptions struct {
	Window      int      `json:"num_ctx"`
	MaxTokens   int      `json:"num_predict,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        float64  `json:"top_p,omitempty"`
	TopK        int      `json:"top_k,omitempty"`
}

func (m *ollama) Complete(ctx context.Context, r Request, stream func(string)) (Response, error) {
	if err := m.pick(ctx, m.list); err != nil {
		return Response{}, err
	}
	if err := m.look(ctx); err != nil {
		return Response{}, err
	}
	window := m.fit(r)
	return m.complete(ctx, call{
		path: "/api/chat",
		body: func(d *draft) any { return m.body(r, window, d) },
		send: m.lines,
		hear: hearOllama,
	}, stream)
}

// look asks once how much the model can read.
func (m *ollama) look(ctx context.Context) error {
	m.mu.Lock()
	looked := m.looked
	m.mu.Unlock()
	if looked {
		return nil
	}
	most, err := m.show(ctx, m.Facts().Model)
	if err != nil {
		return err
	}
	m.learn(func(f *Facts) { m.looked, m.most, f.Window = true, most, most })
	return nil
}

// fit chooses the window for a request: a power of two that holds the prompt, at
// three bytes a token, and the answer, and at most what the model has.
func (m *ollama) fit(r Request) int {
	size := len(r.System) + len(r.Text()) + len(r.Schema)
	for _, t := range r.Retry {
		size += len(t.Text)
	}
	answer := r.Settings.MaxTokens
	if answer == 0 {
		answer = 2048
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.window = max(m.window, 1<<bits.Len(uint(size/3+answer-1)), 4096)
	if m.most > 0 {
		m.window = min(m.window, m.most)
	}
	return m.window
}

func (m *ollama) body(r Request, window int, d *draft) ollamaBody {
	s := r.Settings
	b := ollamaBody{Model: m.Facts().Model, Stream: true, Options: ollamaOptions{Window: window, MaxTokens: s.MaxTokens}}
	if r.System != "" {
		b.Messages = append(b.Messages, openaiMessage{"system", r.System})
	}
	b.Messages = append(b.Messages, openaiMessage{"user", r.Text()})
	for _, t := range r.Retry {
		b.Messages = append(b.Messages, openaiMessage{t.Role, t.Text})
	}
	if d.takes(optThinking) {
		b.Think = &s.Thinking // a model that can think does, unless it is told not to
	}
	if s.Temperature != 1 && d.takes(optTemperature) {
		b.Options.Temperature = &s.Temperature
	}
	if s.TopP > 0 && s.TopP < 1 && d.takes(optTopP) {
		b.Options.TopP = s.TopP
	}
	if s.TopK > 0 && d.takes(optTopK) {
		b.Options.TopK = s.TopK
	}
	if len(r.Schema) > 0 && d.takes(optSchema) {
		b.Format = r.Schema
	}
	return b
}

func hearOllama(a *incoming, data []byte) error {
	var e struct {
		Model   string
		Message struct{ Content string }
		Done    bool
		Reason  string `json:"done_reason"`
		In      int    `json:"prompt_eval_count"`
		Out     int    `json:"eval_count"`
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("a line is not whole: %w", err)
	}
	if f := wire.ReadFault(data); f != nil {
		return f
	}
	if e.Model != "" {
		a.model = e.Model
	}
	if err := a.add(e.Message.Content); err != nil || !e.Done {
		return err
	}
	a.usage = Usage{In: e.In, Out: e.Out}
	switch a.stop = e.Reason; e.Reason {
	case "", "stop":
		a.stop = stopEnd
	case "length":
		a.stop = stopMax
	}
	return io.EOF
}
