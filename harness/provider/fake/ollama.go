package fake

import (
	"encoding/json"
	"net/http"
)

// ollama answers errors as {"error":"…"}.
var ollama = vendor{
	streamType: "application/x-ndjson",
	failures: map[Fault]failure{
		"401":      {status: 401, message: "unauthorized"},
		"403":      {status: 403, message: "this model requires a subscription, upgrade for access"},
		"404":      {status: 404, message: "model '{model}' not found"},
		"429":      {status: 429, message: "you've reached your usage limit, please upgrade to continue"},
		"500":      {status: 500, message: "llama runner process has terminated: exit status 2"},
		"503":      {status: 503, message: "server busy, please try again. maximum pending requests exceeded"},
		TooLong:    {status: 400, message: "the input length exceeds the context length"},
		NoSchema:   {status: 400, message: "invalid JSON schema in format"},
		Quota:      {status: 402, message: "you've reached your usage limit, please upgrade to continue"},
		ErrorEvent: {status: 500, message: "an error was encountered while running the model"},
	},
	body: func(f failure) any { return obj{"error": f.message} },
	inStream: func(f failure) []byte {
		return append(encode(obj{"error": f.message}), '\n')
	},
}

// window is what the one model of this server can read, and usualContext what
// it is given to read where the request asks for no other num_ctx. In tokens.
const (
	window       = 32768
	usualContext = 4096
)

var ollamaChat = endpoint{vendor: &ollama, text: true, stream: ollamaStream, whole: ollamaWhole,
	read: func(s *Server, _ *http.Request, body []byte) (ask, *failure) {
		var c struct {
			Model    string            `json:"model"`
			Stream   *bool             `json:"stream"`
			Messages []json.RawMessage `json:"messages"`
			Tools    json.RawMessage   `json:"tools"`
			Truncate *bool             `json:"truncate"`
			Options  struct {
				Context int `json:"num_ctx"`
			} `json:"options"`
		}
		if err := json.Unmarshal(body, &c); err != nil {
			return ask{}, &failure{status: 400, message: err.Error()}
		}
		if c.Model == "" {
			return ask{}, &failure{status: 400, message: "model is required"}
		}
		texts := []string{string(c.Tools)}
		for _, m := range c.Messages {
			texts = append(texts, texted(m))
		}
		if c.Options.Context == 0 {
			c.Options.Context = usualContext
		}
		in, room := tokens(len(join(texts))), min(c.Options.Context, window)
		if in > room && c.Truncate != nil && !*c.Truncate {
			f := ollama.failures[TooLong]
			return ask{}, &f
		}
		// What does not fit is cut off without a word.
		return ask{model: c.Model, stream: c.Stream == nil || *c.Stream, usage: Usage{In: min(in, room)}}, nil
	}}

func (a Answer) ollamaStop() string {
	if a.Stop == "max_tokens" {
		return "length"
	}
	if a.Stop != "" {
		return a.Stop
	}
	return "stop"
}

// ollamaLine is one object of the answer. The last one has the counts.
func (a Answer) ollamaLine(m obj, done bool) obj {
	m["role"] = "assistant"
	v := obj{"model": a.Model, "created_at": moment, "message": m, "done": done}
	if done {
		v["done_reason"] = a.ollamaStop()
		v["total_duration"], v["load_duration"] = 900000000, 100000000
		if a.Fault != NoUsage {
			v["prompt_eval_count"], v["prompt_eval_duration"] = a.Usage.In, 300000000
			v["eval_count"], v["eval_duration"] = a.Usage.Out, 500000000
		}
	}
	return v
}

func (a Answer) ollamaCalls() []obj {
	return []obj{{"id": "call_fake", "function": obj{"index": 0, "name": a.Tool.Name, "arguments": a.Tool.Input}}}
}

func ollamaWhole(a Answer, _ ask) []frame {
	print := func(text string) []byte {
		m := obj{"content": text}
		if a.Thinking != "" {
			m["thinking"] = a.Thinking
		}
		if a.Tool != nil {
			m["tool_calls"] = a.ollamaCalls()
		}
		return encode(a.ollamaLine(m, a.Fault != NoStop))
	}
	return []frame{{data: print(a.Text), cuts: a.cuts(0, a.Text, print)}}
}

func ollamaStream(a Answer, _ ask) []frame {
	print := func(m obj, done bool) []byte { return append(encode(a.ollamaLine(m, done)), '\n') }
	var out []frame
	for _, piece := range pieces(a.Thinking, a.Pieces) {
		out = append(out, frame{data: print(obj{"content": "", "thinking": piece}, false)})
	}
	out = append(out, a.textFrames(func(_ int, piece string) []byte { return print(obj{"content": piece}, false) })...)
	if a.Tool != nil {
		out = append(out, frame{data: print(obj{"content": "", "tool_calls": a.ollamaCalls()}, false)})
	}
	return append(out, frame{data: print(obj{"content": ""}, true), last: true})
}

func ollamaDetails() obj {
	return obj{"parent_model": "", "format": "gguf", "family": "fake", "families": []string{"fake"}, "parameter_size": "1.2B", "quantization_level": "Q4_K_M"}
}

var ollamaTags = endpoint{vendor: &ollama, own: func(*http.Request, []byte) (any, *failure) {
	return obj{"models": []obj{{"name": "fake:1b", "model": "fake:1b", "modified_at": moment, "size": 815319791, "digest": "8648f39daa8f", "details": ollamaDetails()}}}, nil
}}

var ollamaShow = endpoint{vendor: &ollama, own: func(_ *http.Request, body []byte) (any, *failure) {
	var q struct {
		Model string `json:"model"`
		Name  string `json:"name"` // its old name
	}
	if err := json.Unmarshal(body, &q); err != nil || q.Model+q.Name == "" {
		return nil, &failure{status: 400, message: "model is required"}
	}
	return obj{"details": ollamaDetails(), "modified_at": moment, "capabilities": []string{"completion", "tools", "thinking"},
		"parameters": "temperature 1", "template": "{{ .Prompt }}",
		"model_info": obj{"general.architecture": "fake", "general.parameter_count": 1200000000, "fake.context_length": window, "fake.embedding_length": dimensions}}, nil
}}

var ollamaVersion = endpoint{vendor: &ollama, own: func(*http.Request, []byte) (any, *failure) {
	return obj{"version": "0.17.4"}, nil
}}
