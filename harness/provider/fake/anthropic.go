package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// anthropic answers errors as {"type":"error","error":{"type":…,"message":…}}.
var anthropic = vendor{
	streamType: "text/event-stream; charset=utf-8",
	failures: map[Fault]failure{
		"401":      {401, "authentication_error", "", "", "invalid x-api-key"},
		"402":      {402, "billing_error", "", "", "There is a problem with your billing or payment information."},
		"403":      {403, "permission_error", "", "", "Your API key does not have permission to use the specified resource."},
		"404":      {404, "not_found_error", "", "", "model: {model}"},
		"413":      {413, "request_too_large", "", "", "Request exceeds the maximum size"},
		"429":      {429, "rate_limit_error", "", "", "This request would exceed your organization's rate limit of 50 requests per minute."},
		"500":      {500, "api_error", "", "", "Internal server error"},
		"529":      {529, "overloaded_error", "", "", "Overloaded"},
		TooLong:    {400, "invalid_request_error", "", "", "prompt is too long: 214327 tokens > 200000 maximum"},
		NoSchema:   {400, "invalid_request_error", "", "", "output_config.format: Extra inputs are not permitted"},
		Quota:      {400, "invalid_request_error", "", "", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."},
		ErrorEvent: {529, "overloaded_error", "", "", "Overloaded"},
	},
	body: anthropicError,
	inStream: func(f failure) []byte {
		return event("error", encode(anthropicError(f)))
	},
}

func anthropicError(f failure) any {
	return obj{"type": "error", "error": obj{"type": f.kind, "message": f.message}, "request_id": "req_011fake"}
}

// messagesRequest is the part of a request that is looked at.
type messagesRequest struct {
	Model        string            `json:"model"`
	MaxTokens    *int              `json:"max_tokens"`
	Stream       bool              `json:"stream"`
	System       json.RawMessage   `json:"system"`
	Tools        []json.RawMessage `json:"tools"`
	Messages     []message         `json:"messages"`
	CacheControl any               `json:"cache_control"`
	Temperature  *float64          `json:"temperature"`
	TopP         *float64          `json:"top_p"`
	TopK         *int              `json:"top_k"`
	Thinking     struct {
		Type   string `json:"type"`
		Budget int    `json:"budget_tokens"`
	} `json:"thinking"`
	OutputConfig struct {
		Format *struct {
			Type   string `json:"type"`
			Schema any    `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
}

type message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

var messages = endpoint{vendor: &anthropic, text: true, stream: messagesStream, whole: messagesWhole,
	read: func(s *Server, r *http.Request, body []byte) (ask, *failure) {
		m, blocks, f := readMessages(r, body)
		if f != nil {
			return ask{}, f
		}
		if f := m.refused(blocks); f != nil {
			return ask{}, f
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		return ask{model: m.Model, stream: m.Stream, usage: s.prefixes.use(m.Model, blocks)}, nil
	}}

var countTokens = endpoint{vendor: &anthropic, own: func(r *http.Request, body []byte) (any, *failure) {
	_, blocks, f := readMessages(r, body)
	if f != nil {
		return nil, f
	}
	n := 0
	for _, b := range blocks {
		n += b.bytes
	}
	return obj{"input_tokens": tokens(n)}, nil
}}

var anthropicModels = endpoint{vendor: &anthropic, own: func(r *http.Request, _ []byte) (any, *failure) {
	if f := anthropicKey(r); f != nil {
		return nil, f
	}
	model := func(id, name, line string, window int) obj {
		return obj{"type": "model", "id": id, "display_name": name, "created_at": moment, "line": line, "lifecycle": "active",
			"max_input_tokens": window, "max_tokens": 64000}
	}
	data := []obj{model("claude-opus-5-5", "Claude Opus 5.5", "opus", 1000000), model("claude-sonnet-5-5", "Claude Sonnet 5.5", "sonnet", 1000000),
		model("claude-haiku-5-5", "Claude Haiku 5.5", "haiku", 200000)}
	// Two pages, so that a client has to turn one.
	more := true
	if r.URL.Query().Get("after_id") == "claude-sonnet-5-5" {
		data, more = data[2:], false
	} else {
		data = data[:2]
	}
	return obj{"data": data, "first_id": data[0]["id"], "last_id": data[len(data)-1]["id"], "has_more": more}, nil
}}

func anthropicKey(r *http.Request) *failure {
	if key(r) == "" {
		return &failure{status: 401, kind: "authentication_error", message: "x-api-key header is required"}
	}
	if r.Header.Get("Anthropic-Version") == "" {
		return &failure{status: 400, kind: "invalid_request_error", message: "anthropic-version: header is required"}
	}
	return nil
}

// readMessages cuts a request into the blocks that the cache knows: tools,
// system, messages.
func readMessages(r *http.Request, body []byte) (m messagesRequest, blocks []block, f *failure) {
	if f := anthropicKey(r); f != nil {
		return m, nil, f
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return m, nil, refusal("The request body is not valid JSON: " + err.Error())
	}
	for _, t := range m.Tools {
		blocks = append(blocks, contentBlock("tool", t))
	}
	system, ok := content("system", m.System)
	if !ok {
		return m, nil, refusal("system: Input should be a string or a list of blocks")
	}
	blocks = append(blocks, system...)
	for i, one := range m.Messages {
		inner, ok := content(one.Role, one.Content)
		if !ok {
			return m, nil, refusal(fmt.Sprintf("messages.%d.content: Input should be a string or a list of blocks", i))
		}
		blocks = append(blocks, inner...)
	}
	if m.CacheControl != nil && len(blocks) > 0 {
		blocks[len(blocks)-1].mark = true
	}
	return m, blocks, nil
}

func refusal(why string) *failure {
	return &failure{status: 400, kind: "invalid_request_error", message: why}
}

// content reads a string or a list of blocks.
func content(role string, raw json.RawMessage) ([]block, bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, true
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return []block{{key: role + "\n" + text, bytes: len(text)}}, true
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil, false
	}
	var out []block
	for _, one := range list {
		out = append(out, contentBlock(role, one))
	}
	return out, true
}

func contentBlock(role string, raw json.RawMessage) block {
	var fields obj
	if json.Unmarshal(raw, &fields) != nil {
		return block{key: role + "\n" + string(raw), bytes: len(raw)}
	}
	_, mark := fields["cache_control"]
	delete(fields, "cache_control")
	if text, ok := fields["text"].(string); ok && fields["type"] == "text" {
		return block{key: role + "\n" + text, bytes: len(text), mark: mark}
	}
	plain := encode(fields)
	return block{key: role + "\n" + string(plain), bytes: len(plain), mark: mark}
}

// refused says what the API would not take.
func (m messagesRequest) refused(blocks []block) *failure {
	marks := 0
	for _, b := range blocks {
		if b.mark {
			marks++
		}
		if b.mark && b.bytes == 0 {
			return refusal("cache_control cannot be set for empty text blocks")
		}
		if _, text, _ := strings.Cut(b.key, "\n"); strings.TrimSpace(text) == "" {
			return refusal("text content blocks must contain non-whitespace text")
		}
	}
	switch {
	case m.Model == "":
		return refusal("model: Field required")
	case m.MaxTokens == nil:
		return refusal("max_tokens: Field required")
	case *m.MaxTokens < 1:
		return refusal("max_tokens: Input should be greater than or equal to 1")
	case len(m.Messages) == 0:
		return refusal("messages: at least one message is required")
	case m.Messages[len(m.Messages)-1].Role == "assistant":
		return refusal("This model does not support assistant message prefill. The conversation must end with a user message.")
	case marks > 4:
		return refusal(fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", marks))
	case m.Temperature != nil && (*m.Temperature < 0 || *m.Temperature > 1):
		return refusal("temperature: range: 0..1")
	case m.Temperature != nil && m.TopP != nil:
		return refusal("`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
	}
	if t := m.Thinking; t.Type == "enabled" || t.Type == "adaptive" {
		switch {
		case t.Type == "enabled" && t.Budget < 1024:
			return refusal("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
		case t.Budget >= *m.MaxTokens:
			return refusal("`max_tokens` must be greater than `thinking.budget_tokens`.")
		case m.Temperature != nil && *m.Temperature != 1:
			return refusal("`temperature` may only be set to 1 when thinking is enabled.")
		case m.TopK != nil:
			return refusal("`top_k` must be unset when thinking is enabled.")
		}
	}
	if format := m.OutputConfig.Format; format != nil {
		return strictAnthropic(format.Schema)
	}
	return nil
}

func anthropicUsage(u Usage, out int) obj {
	return obj{"input_tokens": u.In - u.Cached - u.Written, "cache_read_input_tokens": u.Cached, "cache_creation_input_tokens": u.Written,
		"cache_creation": obj{"ephemeral_5m_input_tokens": u.Written, "ephemeral_1h_input_tokens": 0},
		"output_tokens":  out, "service_tier": "standard"}
}

func (a Answer) anthropicStop() string {
	switch {
	case a.Stop != "":
		return a.Stop
	case a.Tool != nil:
		return "tool_use"
	}
	return "end_turn"
}

func anthropicMessage(a Answer, content []obj, stop any, out int) obj {
	m := obj{"id": "msg_01fake", "type": "message", "role": "assistant", "model": a.Model, "content": content,
		"stop_reason": stop, "stop_sequence": nil, "usage": anthropicUsage(a.Usage, out)}
	if stop == "refusal" {
		m["stop_details"] = obj{"type": "refusal", "category": nil, "explanation": nil}
	}
	return m
}

func messagesWhole(a Answer, _ ask) []frame {
	print := func(text string) []byte {
		content := []obj{}
		if a.Thinking != "" {
			content = append(content, obj{"type": "thinking", "thinking": a.Thinking, "signature": "c2lnbmVk"})
		}
		if a.Text != "" {
			content = append(content, obj{"type": "text", "text": text})
		}
		if a.Tool != nil {
			content = append(content, obj{"type": "tool_use", "id": "toolu_01fake", "name": a.Tool.Name, "input": a.Tool.Input})
		}
		var stop any = a.anthropicStop()
		if a.Fault == NoStop {
			stop = nil
		}
		return encode(anthropicMessage(a, content, stop, a.Usage.Out))
	}
	return []frame{{data: print(a.Text), cuts: a.cuts(0, a.Text, print)}}
}

func messagesStream(a Answer, _ ask) []frame {
	typed := func(v obj) []byte { return event(v["type"].(string), encode(v)) }
	var out []frame
	add := func(v obj) { out = append(out, frame{data: typed(v)}) }
	index := 0
	begin := func(b obj) { add(obj{"type": "content_block_start", "index": index, "content_block": b}) }
	delta := func(d obj) obj { return obj{"type": "content_block_delta", "index": index, "delta": d} }
	end := func() {
		out = append(out, frame{data: typed(obj{"type": "content_block_stop", "index": index}), last: true})
		index++
	}
	add(obj{"type": "message_start", "message": anthropicMessage(a, []obj{}, nil, 1)})
	if a.Thinking != "" {
		begin(obj{"type": "thinking", "thinking": "", "signature": ""})
		for _, piece := range pieces(a.Thinking, a.Pieces) {
			add(delta(obj{"type": "thinking_delta", "thinking": piece}))
		}
		add(delta(obj{"type": "signature_delta", "signature": "c2lnbmVk"}))
		end()
		out[len(out)-1].last = false // the text comes after it
	}
	if a.Text != "" {
		begin(obj{"type": "text", "text": ""})
		add(obj{"type": "ping"})
		out = append(out, a.textFrames(func(_ int, piece string) []byte {
			return typed(delta(obj{"type": "text_delta", "text": piece}))
		})...)
		end()
	}
	if a.Tool != nil {
		begin(obj{"type": "tool_use", "id": "toolu_01fake", "name": a.Tool.Name, "input": obj{}})
		add(delta(obj{"type": "input_json_delta", "partial_json": ""}))
		for _, piece := range pieces(string(a.Tool.Input), a.Pieces) {
			add(delta(obj{"type": "input_json_delta", "partial_json": piece}))
		}
		end()
	}
	ending := obj{"stop_reason": a.anthropicStop(), "stop_sequence": nil}
	if a.Stop == "refusal" {
		ending["stop_details"] = obj{"type": "refusal", "category": nil, "explanation": nil}
	}
	out = append(out,
		frame{data: typed(obj{"type": "message_delta", "delta": ending, "usage": anthropicUsage(a.Usage, a.Usage.Out)}), last: true},
		frame{data: typed(obj{"type": "message_stop"}), last: true})
	return out
}
