package fake

import (
	"encoding/json"
	"net/http"
)

type responsesRequest struct {
	Model        string          `json:"model"`
	Stream       bool            `json:"stream"`
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Tools        json.RawMessage `json:"tools"`
	Text         struct {
		Format struct {
			Type   string `json:"type"`
			Name   string `json:"name"`
			Strict bool   `json:"strict"`
			Schema any    `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

// responsesVendor words errors as [openai] does, but in a stream.
var responsesVendor = vendor{streamType: openai.streamType, failures: openai.failures, body: openai.body,
	inStream: func(f failure) []byte {
		return event("error", encode(obj{"type": "error", "sequence_number": 99, "code": orNull(f.code), "message": f.message, "param": nil}))
	}}

var responses = endpoint{vendor: &responsesVendor, text: true, stream: responsesStream, whole: responsesWhole,
	read: func(s *Server, _ *http.Request, body []byte) (ask, *failure) {
		var q responsesRequest
		if err := json.Unmarshal(body, &q); err != nil {
			return ask{}, &failure{400, "invalid_request_error", "", "", "We could not parse the JSON body of your request: " + err.Error()}
		}
		if len(q.Input) == 0 {
			return ask{}, &failure{400, "invalid_request_error", "missing_required_parameter", "input", "Missing required parameter: 'input'."}
		}
		if f := q.Text.Format; f.Type == "json_schema" && f.Strict {
			if f := strictOpenAI("text.format.schema", f.Name, f.Schema); f != nil {
				return ask{}, f
			}
		}
		prompt := join([]string{string(q.Tools), q.Instructions, string(q.Input)})
		return ask{model: q.Model, stream: q.Stream, usage: s.counted(q.Model, prompt)}, nil
	}}

// output is the finished items of an answer.
func (a Answer) output(text string) []obj {
	out := []obj{}
	if a.Thinking != "" {
		out = append(out, obj{"id": "rs_fake", "type": "reasoning", "summary": []obj{{"type": "summary_text", "text": a.Thinking}}})
	}
	if a.Text != "" {
		out = append(out, obj{"id": "msg_fake", "type": "message", "status": "completed", "role": "assistant",
			"content": []obj{{"type": "output_text", "text": text, "annotations": []obj{}, "logprobs": []obj{}}}})
	}
	if a.Tool != nil {
		out = append(out, obj{"id": "fc_fake", "type": "function_call", "status": "completed", "call_id": "call_fake",
			"name": a.Tool.Name, "arguments": string(a.Tool.Input)})
	}
	return out
}

// response is the object that the first and last events carry.
func (a Answer) response(status string, output []obj) obj {
	v := obj{"id": "resp_fake", "object": "response", "created_at": moment.Unix(), "status": status, "model": a.Model, "output": output,
		"error": nil, "incomplete_details": nil, "instructions": nil, "metadata": obj{}, "parallel_tool_calls": true, "temperature": 1,
		"tool_choice": "auto", "tools": []obj{}, "top_p": 1, "usage": nil}
	if status != "in_progress" {
		v["usage"] = obj{"input_tokens": a.Usage.In, "input_tokens_details": obj{"cached_tokens": a.Usage.Cached},
			"output_tokens": a.Usage.Out, "output_tokens_details": obj{"reasoning_tokens": min(a.Usage.Out, tokens(len(a.Thinking)))},
			"total_tokens": a.Usage.In + a.Usage.Out}
	}
	switch {
	case status != "incomplete":
	case a.Stop == "max_tokens":
		v["incomplete_details"] = obj{"reason": "max_output_tokens"}
	default:
		v["incomplete_details"] = obj{"reason": "content_filter"}
	}
	return v
}

func (a Answer) responseStatus() string {
	if a.Stop == "max_tokens" || a.Stop == "refusal" {
		return "incomplete"
	}
	return "completed"
}

func responsesWhole(a Answer, _ ask) []frame {
	status := a.responseStatus()
	if a.Fault == NoStop {
		status = "in_progress"
	}
	print := func(text string) []byte { return encode(a.response(status, a.output(text))) }
	return []frame{{data: print(a.Text), cuts: a.cuts(0, a.Text, print)}}
}

func responsesStream(a Answer, _ ask) []frame {
	var out []frame
	print := func(n int, kind string, v obj) []byte {
		v["type"], v["sequence_number"] = kind, n
		return event(kind, encode(v))
	}
	add := func(kind string, v obj) { out = append(out, frame{data: print(len(out), kind, v)}) }
	add("response.created", obj{"response": a.response("in_progress", []obj{})})
	add("response.in_progress", obj{"response": a.response("in_progress", []obj{})})
	for index, item := range a.output(a.Text) {
		at := func(v obj) obj {
			v["output_index"], v["item_id"] = index, item["id"]
			return v
		}
		switch item["type"] {
		case "reasoning":
			add("response.output_item.added", obj{"output_index": index, "item": obj{"id": item["id"], "type": "reasoning", "summary": []obj{}}})
			add("response.reasoning_summary_part.added", at(obj{"summary_index": 0, "part": obj{"type": "summary_text", "text": ""}}))
			for _, piece := range pieces(a.Thinking, a.Pieces) {
				add("response.reasoning_summary_text.delta", at(obj{"summary_index": 0, "delta": piece}))
			}
			add("response.reasoning_summary_text.done", at(obj{"summary_index": 0, "text": a.Thinking}))
			add("response.reasoning_summary_part.done", at(obj{"summary_index": 0, "part": obj{"type": "summary_text", "text": a.Thinking}}))
			add("response.output_item.done", obj{"output_index": index, "item": item})
			continue
		case "message":
			part := func(text string) obj {
				return obj{"type": "output_text", "text": text, "annotations": []obj{}, "logprobs": []obj{}}
			}
			add("response.output_item.added", obj{"output_index": index, "item": obj{"id": item["id"], "type": "message",
				"status": "in_progress", "role": "assistant", "content": []obj{}}})
			add("response.content_part.added", at(obj{"content_index": 0, "part": part("")}))
			first := len(out)
			out = append(out, a.textFrames(func(n int, piece string) []byte {
				return print(first+n, "response.output_text.delta", at(obj{"content_index": 0, "delta": piece, "logprobs": []obj{}}))
			})...)
			ends := len(out)
			add("response.output_text.done", at(obj{"content_index": 0, "text": a.Text, "logprobs": []obj{}}))
			add("response.content_part.done", at(obj{"content_index": 0, "part": part(a.Text)}))
			add("response.output_item.done", obj{"output_index": index, "item": item})
			for i := range out[ends:] {
				out[ends+i].last = true
			}
		case "function_call":
			add("response.output_item.added", obj{"output_index": index, "item": obj{"id": item["id"], "type": "function_call",
				"status": "in_progress", "call_id": item["call_id"], "name": a.Tool.Name, "arguments": ""}})
			for _, piece := range pieces(string(a.Tool.Input), a.Pieces) {
				add("response.function_call_arguments.delta", at(obj{"delta": piece}))
			}
			add("response.function_call_arguments.done", at(obj{"name": a.Tool.Name, "arguments": string(a.Tool.Input)}))
			add("response.output_item.done", obj{"output_index": index, "item": item})
			out[len(out)-1].last = true
		}
	}
	status := a.responseStatus()
	add("response."+status, obj{"response": a.response(status, a.output(a.Text))})
	out[len(out)-1].last = true
	return out
}
