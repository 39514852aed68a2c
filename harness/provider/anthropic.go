package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"amacs/harness/provider/wire"
)

// The defaults of Anthropic.
const (
	anthropicBase    = "https://api.anthropic.com"
	anthropicModel   = "claude-sonnet-5-5"
	anthropicVersion = "2023-06-01"

	anthropicMax         = 8192  // max_tokens, which must be sent
	anthropicMaxThinking = 16384 // the same with thinking, which is a part of it
)

// anthropic speaks the Messages API (POST /v1/messages), streaming.
//
//	{"model":"claude-sonnet-5-5","max_tokens":8192,"stream":true,
//	 "system":[{"type":"text","text":"…","cache_control":{"type":"ephemeral"}}],
//	 "messages":[{"role":"user","content":[{"type":"text","text":"…"}]}]}
type anthropic struct {
	*remote
	line claude
}

func newAnthropic(o Options) (*anthropic, error) {
	if o.Model == "" {
		o.Model = anthropicModel
	}
	base := first(o.BaseURL, o.Getenv("ANTHROPIC_BASE_URL"), anthropicBase)
	base = strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1")
	m, err := newRemote(o, PerToken, base, way{[]string{"ANTHROPIC_API_KEY"}, "x-api-key", ""}, bearer("ANTHROPIC_AUTH_TOKEN"))
	if err != nil {
		return nil, err
	}
	m.header = map[string]string{"anthropic-version": anthropicVersion}
	line := readClaude(o.Model)
	m.facts.Window = line.window()
	return &anthropic{m, line}, nil
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

type anthropicBody struct {
	Model        string            `json:"model"`
	MaxTokens    int               `json:"max_tokens"`
	Stream       bool              `json:"stream"`
	Temperature  *float64          `json:"temperature,omitempty"`
	TopP         float64           `json:"top_p,omitempty"`
	TopK         int               `json:"top_k,omitempty"`
	Thinking     *anthropicThink   `json:"thinking,omitempty"`
	OutputConfig *anthropicOutput  `json:"output_config,omitempty"`
	System       []anthropicBlock  `json:"system,omitempty"`
	Messages     []anthropicSaying `json:"messages"`
}

type anthropicThink struct {
	Type   string `json:"type"`
	Budget int    `json:"budget_tokens,omitempty"`
}

type anthropicOutput struct {
	Effort string           `json:"effort,omitempty"`
	Format *anthropicFormat `json:"format,omitempty"`
}

type anthropicFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

type anthropicSaying struct {
	Role    string           `json:"role"`
	Content []anthropicBlock `json:"content"`
}

type anthropicBlock struct {
	Type  string          `json:"type"`
	Text  string          `json:"text"`
	Cache *anthropicCache `json:"cache_control,omitempty"`
}

type anthropicCache struct {
	Type string `json:"type"`
}

// maxBreakpoints is how many cache breakpoints a request may have.
const maxBreakpoints = 4

func (m *anthropic) Complete(ctx context.Context, r Request, stream func(string)) (Response, error) {
	return m.complete(ctx, call{
		path: "/v1/messages",
		body: func(d *draft) any { return m.body(r, d) },
		send: m.events,
		hear: hearAnthropic,
	}, stream)
}

func (m *anthropic) body(r Request, d *draft) anthropicBody {
	s := r.Settings
	b := anthropicBody{Model: m.Facts().Model, MaxTokens: s.MaxTokens, Stream: true}
	if b.MaxTokens == 0 {
		b.MaxTokens = anthropicMax
		if s.Thinking {
			b.MaxTokens = anthropicMaxThinking
		}
	}
	m.think(&b, s, d)
	m.sample(&b, s, d)
	if len(r.Schema) > 0 && d.takes(optSchema) {
		b.output().Format = &anthropicFormat{"json_schema", r.Schema}
	}
	left := maxBreakpoints
	if strings.TrimSpace(r.System) != "" {
		b.System = []anthropicBlock{{"text", r.System, &anthropicCache{"ephemeral"}}}
		left--
	}
	b.Messages = []anthropicSaying{{"user", anthropicBlocks(r.Blocks, left)}}
	for _, turn := range r.Retry {
		if strings.TrimSpace(turn.Text) == "" {
			turn.Text = "(nothing)" // blank text is refused
		}
		b.Messages = append(b.Messages, anthropicSaying{turn.Role, []anthropicBlock{{Type: "text", Text: turn.Text}}})
	}
	return b
}

func (b *anthropicBody) output() *anthropicOutput {
	if b.OutputConfig == nil {
		b.OutputConfig = &anthropicOutput{}
	}
	return b.OutputConfig
}

// anthropicBlocks keeps the last breakpoints of those that are wished for. Blank
// blocks are refused by the API: they join the one before.
func anthropicBlocks(blocks []Block, breakpoints int) (out []anthropicBlock) {
	var wished []bool
	lead := ""
	for _, b := range blocks {
		switch n := len(out) - 1; {
		case strings.TrimSpace(b.Text) != "":
			out, wished = append(out, anthropicBlock{Type: "text", Text: lead + b.Text}), append(wished, b.Cache)
			lead = ""
		case n < 0:
			lead += b.Text
		default:
			out[n].Text += b.Text
			wished[n] = wished[n] || b.Cache
		}
	}
	for i := len(out) - 1; i >= 0 && breakpoints > 0; i-- {
		if wished[i] {
			out[i].Cache = &anthropicCache{"ephemeral"}
			breakpoints--
		}
	}
	return out
}

// think asks for thinking, or for none, in the way that the model knows.
func (m *anthropic) think(b *anthropicBody, s Settings, d *draft) {
	if s.Thinking {
		if !d.takes(optThinking) {
			return
		}
		if m.line.adaptive() {
			b.Thinking = &anthropicThink{Type: "adaptive"}
			return
		}
		if b.MaxTokens < 2*minBudget {
			d.say("max-tokens %d leaves no room for thinking: it needs %d", b.MaxTokens, 2*minBudget)
			return
		}
		b.Thinking = &anthropicThink{"enabled", b.MaxTokens / 2}
		return
	}
	for _, o := range m.line.quiet() {
		if d.takes(o) {
			b.Thinking = &anthropicThink{Type: o.name}
			return
		}
	}
	if m.line.thinksUnasked() && d.takes(optEffort) {
		b.output().Effort = "low"
	}
}

// minBudget is the least that budget_tokens may be.
const minBudget = 1024

// sample sets the sampling. Temperature and top-p exclude each other, thinking
// excludes all of it.
func (m *anthropic) sample(b *anthropicBody, s Settings, d *draft) {
	temperature, topP, topK := s.Temperature != 1, s.TopP > 0 && s.TopP < 1, s.TopK > 0
	if !temperature && !topP && !topK {
		return
	}
	if s.Thinking || m.line.fixedSampling() {
		d.say("%s takes no temperature, top-p or top-k%s: they are left out", m.Name(), map[bool]string{true: " while it thinks"}[s.Thinking && !m.line.fixedSampling()])
		return
	}
	if temperature && d.takes(optTemperature) {
		t := min(max(s.Temperature, 0), 1)
		if t != s.Temperature {
			d.say("temperature %g is sent as %g: Anthropic takes 0 to 1", s.Temperature, t)
		}
		if t != 1 {
			b.Temperature = &t
		}
	}
	if topP {
		if b.Temperature != nil {
			d.say("top-p is left out: Anthropic takes temperature or top-p, not both")
		} else if d.takes(optTopP) {
			b.TopP = s.TopP
		}
	}
	if topK && d.takes(optTopK) {
		b.TopK = s.TopK
	}
}

func hearAnthropic(a *incoming, data []byte) error {
	var e struct{ Type string }
	if err := json.Unmarshal(data, &e); err != nil {
		return fmt.Errorf("an event is not whole: %w", err)
	}
	var err error
	switch e.Type {
	case "message_start":
		var v struct {
			Message struct {
				Model string
				Usage anthropicUsage
			}
		}
		err = json.Unmarshal(data, &v)
		a.model = v.Message.Model
		v.Message.Usage.count(&a.usage)
	case "content_block_start":
		var v struct {
			Block anthropicBlock `json:"content_block"`
		}
		if err = json.Unmarshal(data, &v); err == nil && v.Block.Type == "text" {
			err = a.add(v.Block.Text)
		}
	case "content_block_delta":
		var v struct{ Delta anthropicBlock }
		if err = json.Unmarshal(data, &v); err == nil && v.Delta.Type == "text_delta" {
			err = a.add(v.Delta.Text)
		}
	case "message_delta":
		var v struct {
			Delta struct {
				Reason  string                                 `json:"stop_reason"`
				Details struct{ Category, Explanation string } `json:"stop_details"`
			}
			Usage anthropicUsage
		}
		err = json.Unmarshal(data, &v)
		v.Usage.count(&a.usage)
		if a.reason = v.Delta.Reason; a.reason == "refusal" {
			a.refusal = first(v.Delta.Details.Explanation, v.Delta.Details.Category, "stop_reason is refusal")
		}
	case "message_stop":
		if a.stop = a.reason; a.stop == "end_turn" || a.stop == "" {
			a.stop = stopEnd
		}
		return io.EOF
	case "error":
		if f := wire.ReadFault(data); f != nil {
			return f
		}
	}
	if err != nil && !errors.Is(err, wire.ErrSize) {
		err = fmt.Errorf("a %s event is not understood: %w", e.Type, err)
	}
	return err
}

// anthropicUsage counts; what an event does not say is nil.
type anthropicUsage struct {
	Input   *int `json:"input_tokens"`
	Read    *int `json:"cache_read_input_tokens"`
	Created *int `json:"cache_creation_input_tokens"`
	Output  *int `json:"output_tokens"`
}

// count takes the latest counts over: each event tells the whole so far. Their
// input is what no cache had a part in.
func (u anthropicUsage) count(to *Usage) {
	fresh := to.In - to.Cached - to.Written
	for _, c := range []struct {
		said *int
		to   *int
	}{{u.Input, &fresh}, {u.Read, &to.Cached}, {u.Created, &to.Written}, {u.Output, &to.Out}} {
		if c.said != nil {
			*c.to = *c.said
		}
	}
	to.In = fresh + to.Cached + to.Written
}

// claude is what a model's name tells of it; version 0 = nothing.
type claude struct {
	family  string
	version int // 45 for claude-haiku-4-5
}

var claudeName = regexp.MustCompile(`claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?:[-@:\[]|$)`)

func readClaude(model string) claude {
	part := claudeName.FindStringSubmatch(model)
	if part == nil {
		if strings.Contains(model, "claude-3") {
			return claude{"", 30}
		}
		return claude{}
	}
	major, _ := strconv.Atoi(part[2])
	minor, _ := strconv.Atoi(part[3]) // "" = 0
	return claude{part[1], 10*major + minor}
}

// adaptive: it takes no budget for thinking (from 4.6 on).
func (c claude) adaptive() bool { return c.version == 0 || c.version >= 46 }

// fixedSampling: a temperature other than the default is refused (from 4.7 on).
func (c claude) fixedSampling() bool { return c.version >= 47 }

// thinksUnasked: without a word about it, it thinks (from 5 on).
func (c claude) thinksUnasked() bool { return c.version >= 50 }

// The ways to ask for no thinking. Not every model takes one; what is then left
// is to ask for little effort.
var (
	optDisabled     = optional{"disabled", "", regexp.MustCompile(`(?i)thinking`)}
	optBetweenTools = optional{"between_tools", "", regexp.MustCompile(`(?i)thinking`)}
)

// quiet are the ways to keep it from thinking.
func (c claude) quiet() []optional {
	switch {
	case !c.thinksUnasked(), c.family == "fable", c.family == "mythos", c.family == "opus" && c.version >= 55:
		return nil
	case c.family == "sonnet" && c.version >= 55:
		return []optional{optBetweenTools, optDisabled}
	}
	return []optional{optDisabled, optBetweenTools}
}

// window is how many tokens it can read, where that is sure.
func (c claude) window() int {
	switch {
	case c.version >= 50:
		return 1_000_000
	case c.version > 0 && c.version <= 45:
		return 200_000
	}
	return 0
}
