package fake

import (
	"encoding/json"
	"net/http"
)

// openai answers errors as {"error":{"message":…,"type":…,"param":…,"code":…}}.
var openai = vendor{
	streamType: "text/event-stream; charset=utf-8",
	failures: map[Fault]failure{
		"401":      {401, "invalid_request_error", "invalid_api_key", "", "Incorrect API key provided: {key}. You can find your API key at https://platform.openai.com/account/api-keys."},
		"402":      {402, "insufficient_quota", "402", "", "Insufficient credits. Add more and retry the request."},
		"403":      {403, "invalid_request_error", "unsupported_country_region_territory", "", "Country, region, or territory not supported"},
		"404":      {404, "invalid_request_error", "model_not_found", "", "The model `{model}` does not exist or you do not have access to it."},
		"429":      {429, "requests", "rate_limit_exceeded", "", "Rate limit reached for {model} on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 1s."},
		"500":      {500, "server_error", "", "", "The server had an error while processing your request. Sorry about that!"},
		"503":      {503, "server_error", "", "", "The server is currently overloaded. Please try again later."},
		TooLong:    {400, "invalid_request_error", "context_length_exceeded", "messages", "This model's maximum context length is 128000 tokens. However, your messages resulted in 214327 tokens. Please reduce the length of the messages."},
		NoSchema:   {400, "invalid_request_error", "", "response_format", "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."},
		Quota:      {429, "insufficient_quota", "insufficient_quota", "", "You exceeded your current quota, please check your plan and billing details."},
		ErrorEvent: {500, "server_error", "", "", "The server had an error while processing your request. Sorry about that!"},
	},
	body: openaiError,
	inStream: func(f failure) []byte {
		return event("", encode(openaiError(f)))
	},
}

func openaiError(f failure) any {
	return obj{"error": obj{"message": f.message, "type": f.kind, "param": orNull(f.param), "code": orNull(f.code)}}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

type chatRequest struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Messages []json.RawMessage `json:"messages"`
	Tools    json.RawMessage   `json:"tools"`
	Options  *struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	ResponseFormat struct {
		Type   string `json:"type"`
		Schema struct {
			Name   string `json:"name"`
			Strict bool   `json:"strict"`
			Schema any    `json:"schema"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

var chat = endpoint{vendor: &openai, text: true, stream: chatStream, whole: chatWhole,
	read: func(s *Server, _ *http.Request, body []byte) (ask, *failure) {
		var c chatRequest
		refuse := func(param, why string) (ask, *failure) {
			return ask{}, &failure{400, "invalid_request_error", "", param, why}
		}
		if err := json.Unmarshal(body, &c); err != nil {
			return refuse("", "We could not parse the JSON body of your request: "+err.Error())
		}
		switch {
		case c.Model == "":
			return refuse("", "you must provide a model parameter")
		case len(c.Messages) == 0:
			return refuse("messages", "Missing required parameter: 'messages'.")
		case c.Options != nil && !c.Stream:
			return refuse("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
		}
		if f := c.ResponseFormat; f.Type == "json_schema" && f.Schema.Strict {
			if f := strictOpenAI("response_format", f.Schema.Name, f.Schema.Schema); f != nil {
				return ask{}, f
			}
		}
		texts := []string{string(c.Tools)}
		for _, m := range c.Messages {
			texts = append(texts, texted(m))
		}
		return ask{model: c.Model, stream: c.Stream, counts: c.Options != nil && c.Options.IncludeUsage, usage: s.counted(c.Model, join(texts))}, nil
	}}

// counted counts a prompt and what a cache would serve of it.
func (s *Server) counted(model, prompt string) Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.prompts.use(model, prompt)
}

// texted is the text of a message, or the message as it stands.
func texted(raw json.RawMessage) string {
	var m struct {
		Content json.RawMessage `json:"content"`
	}
	var text string
	if json.Unmarshal(raw, &m) == nil && json.Unmarshal(m.Content, &text) == nil {
		return text
	}
	return string(raw)
}

func chatUsage(a Answer) obj {
	u := obj{"prompt_tokens": a.Usage.In, "completion_tokens": a.Usage.Out, "total_tokens": a.Usage.In + a.Usage.Out,
		"prompt_tokens_details":     obj{"cached_tokens": a.Usage.Cached, "audio_tokens": 0},
		"completion_tokens_details": obj{"reasoning_tokens": min(a.Usage.Out, tokens(len(a.Thinking))), "audio_tokens": 0}}
	if a.Cost != nil {
		u["cost"] = *a.Cost
	}
	return u
}

func (a Answer) chatStop() string {
	switch {
	case a.Stop == "max_tokens":
		return "length"
	case a.Stop == "refusal":
		return "content_filter"
	case a.Stop != "":
		return a.Stop
	case a.Tool != nil:
		return "tool_calls"
	}
	return "stop"
}

func chatWhole(a Answer, _ ask) []frame {
	print := func(text string) []byte {
		m := obj{"role": "assistant", "content": text, "refusal": nil}
		if a.Thinking != "" {
			m["reasoning_content"] = a.Thinking
		}
		if a.Tool != nil {
			m["tool_calls"] = []obj{{"id": "call_fake", "type": "function", "function": obj{"name": a.Tool.Name, "arguments": string(a.Tool.Input)}}}
		}
		var stop any = a.chatStop()
		if a.Fault == NoStop {
			stop = nil
		}
		v := obj{"id": "chatcmpl-fake", "object": "chat.completion", "created": moment.Unix(), "model": a.Model, "service_tier": "default",
			"choices": []obj{{"index": 0, "message": m, "logprobs": nil, "finish_reason": stop}}}
		if a.Fault != NoUsage {
			v["usage"] = chatUsage(a)
		}
		return encode(v)
	}
	return []frame{{data: print(a.Text), cuts: a.cuts(0, a.Text, print)}}
}

func chatStream(a Answer, q ask) []frame {
	counted := q.counts && a.Fault != NoUsage
	chunk := func(choices []obj, usage any) []byte {
		v := obj{"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": moment.Unix(), "model": a.Model, "service_tier": "default", "choices": choices}
		if counted {
			v["usage"] = usage
		}
		return event("", encode(v))
	}
	delta := func(d obj, stop any) []byte {
		return chunk([]obj{{"index": 0, "delta": d, "logprobs": nil, "finish_reason": stop}}, nil)
	}
	out := []frame{{data: delta(obj{"role": "assistant", "content": "", "refusal": nil}, nil)}}
	for _, piece := range pieces(a.Thinking, a.Pieces) {
		out = append(out, frame{data: delta(obj{"reasoning_content": piece}, nil)})
	}
	out = append(out, a.textFrames(func(_ int, piece string) []byte { return delta(obj{"content": piece}, nil) })...)
	if a.Tool != nil {
		call := func(f obj, more obj) []byte {
			c := obj{"index": 0, "function": f}
			for k, v := range more {
				c[k] = v
			}
			return delta(obj{"tool_calls": []obj{c}}, nil)
		}
		out = append(out, frame{data: call(obj{"name": a.Tool.Name, "arguments": ""}, obj{"id": "call_fake", "type": "function"})})
		for _, piece := range pieces(string(a.Tool.Input), a.Pieces) {
			out = append(out, frame{data: call(obj{"arguments": piece}, nil)})
		}
	}
	out = append(out, frame{data: delta(obj{}, a.chatStop()), last: true})
	if counted {
		out = append(out, frame{data: chunk([]obj{}, chatUsage(a)), last: true})
	}
	return append(out, frame{data: event("", []byte("[DONE]")), last: true})
}

var openaiModels = endpoint{vendor: &openai, own: func(*http.Request, []byte) (any, *failure) {
	model := func(id string) obj {
		return obj{"id": id, "object": "model", "created": moment.Unix(), "owned_by": "fake"}
	}
	return obj{"object": "list", "data": []obj{model("fake-1"), model("fake-1-mini"), model("fake-embed")}}, nil
}}
