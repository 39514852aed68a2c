package fake

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"
)

// gemini answers errors as {"error":{"code":429,"message":…,"status":…}}.
var gemini = vendor{
	streamType: "text/event-stream",
	failures: map[Fault]failure{
		"401":      {401, "UNAUTHENTICATED", "", "", "Request had invalid authentication credentials."},
		"403":      {403, "PERMISSION_DENIED", "", "", "The caller does not have permission"},
		"404":      {404, "NOT_FOUND", "", "", "models/{model} is not found for API version v1beta, or is not supported for generateContent."},
		"429":      {429, "RESOURCE_EXHAUSTED", "", "", "Resource has been exhausted (e.g. check quota)."},
		"500":      {500, "INTERNAL", "", "", "An internal error has occurred. Please retry."},
		"503":      {503, "UNAVAILABLE", "", "", "The model is overloaded. Please try again later."},
		TooLong:    {400, "INVALID_ARGUMENT", "", "", "The input token count (1214327) exceeds the maximum number of tokens allowed (1048576)."},
		NoSchema:   {400, "INVALID_ARGUMENT", "", "", "Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field."},
		Quota:      {429, "RESOURCE_EXHAUSTED", "", "", "You exceeded your current quota, please check your plan and billing details."},
		ErrorEvent: {503, "UNAVAILABLE", "", "", "The model is overloaded. Please try again later."},
	},
	body: geminiError,
	inStream: func(f failure) []byte {
		return event("", encode(geminiError(f)))
	},
}

func geminiError(f failure) any {
	return obj{"error": obj{"code": f.status, "message": f.message, "status": f.kind}}
}

var generate = endpoint{vendor: &gemini, text: true, stream: geminiStream, whole: geminiWhole,
	read: func(s *Server, r *http.Request, body []byte) (ask, *failure) {
		u, f := geminiPrompt(r, body)
		if f != nil {
			return ask{}, f
		}
		model, verb, _ := strings.Cut(path.Base(r.URL.Path), ":")
		if verb == "streamGenerateContent" && r.URL.Query().Get("alt") != "sse" {
			return ask{}, &failure{status: 400, kind: "INVALID_ARGUMENT", message: "this server streams with alt=sse only"}
		}
		return ask{model: model, stream: verb == "streamGenerateContent", usage: u}, nil
	}}

var geminiCount = endpoint{vendor: &gemini, own: func(r *http.Request, body []byte) (any, *failure) {
	u, f := geminiPrompt(r, body)
	return obj{"totalTokens": u.In}, f
}}

// geminiPrompt counts the text of a request.
func geminiPrompt(r *http.Request, body []byte) (Usage, *failure) {
	if key(r) == "" {
		return Usage{}, &failure{status: 403, kind: "PERMISSION_DENIED", message: "Method doesn't allow unregistered callers. Please use API Key or other form of API consumer identity to call this API."}
	}
	type content struct {
		Parts []struct {
			Text string `json:"text"`
		} `json:"parts"`
	}
	var q struct {
		System   content         `json:"systemInstruction"`
		Contents []content       `json:"contents"`
		Tools    json.RawMessage `json:"tools"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return Usage{}, &failure{status: 400, kind: "INVALID_ARGUMENT", message: "Invalid JSON payload received. " + err.Error()}
	}
	n := len(q.Tools)
	for _, c := range append(q.Contents, q.System) {
		for _, p := range c.Parts {
			n += len(p.Text)
		}
	}
	return Usage{In: tokens(n)}, nil
}

func (a Answer) geminiStop() string {
	switch a.Stop {
	case "":
		return "STOP"
	case "max_tokens":
		return "MAX_TOKENS"
	case "refusal":
		return "SAFETY"
	}
	return a.Stop
}

// geminiObject is one answer or part of one; stop is nil before the end.
func (a Answer) geminiObject(parts []obj, stop any) obj {
	candidate := obj{"index": 0, "content": obj{"role": "model", "parts": parts}}
	usage := obj{"promptTokenCount": a.Usage.In, "totalTokenCount": a.Usage.In,
		"promptTokensDetails": []obj{{"modality": "TEXT", "tokenCount": a.Usage.In}}}
	if a.Usage.Cached > 0 {
		usage["cachedContentTokenCount"] = a.Usage.Cached
	}
	if stop != nil {
		candidate["finishReason"] = stop
		thoughts := min(a.Usage.Out, tokens(len(a.Thinking)))
		usage["thoughtsTokenCount"], usage["candidatesTokenCount"], usage["totalTokenCount"] = thoughts, a.Usage.Out-thoughts, a.Usage.In+a.Usage.Out
	}
	return obj{"candidates": []obj{candidate}, "usageMetadata": usage, "modelVersion": a.Model, "responseId": "fake"}
}

func (a Answer) geminiCall() obj {
	return obj{"functionCall": obj{"name": a.Tool.Name, "args": a.Tool.Input}}
}

func geminiWhole(a Answer, _ ask) []frame {
	print := func(text string) []byte {
		parts := []obj{}
		if a.Thinking != "" {
			parts = append(parts, obj{"text": a.Thinking, "thought": true})
		}
		if a.Text != "" {
			parts = append(parts, obj{"text": text})
		}
		if a.Tool != nil {
			parts = append(parts, a.geminiCall())
		}
		var stop any = a.geminiStop()
		if a.Fault == NoStop {
			stop = nil
		}
		return encode(a.geminiObject(parts, stop))
	}
	return []frame{{data: print(a.Text), cuts: a.cuts(0, a.Text, print)}}
}

func geminiStream(a Answer, _ ask) []frame {
	print := func(part obj, stop any) []byte { return event("", encode(a.geminiObject([]obj{part}, stop))) }
	var out []frame
	for _, piece := range pieces(a.Thinking, a.Pieces) {
		out = append(out, frame{data: print(obj{"text": piece, "thought": true}, nil)})
	}
	out = append(out, a.textFrames(func(_ int, piece string) []byte { return print(obj{"text": piece}, nil) })...)
	if a.Tool != nil {
		out = append(out, frame{data: print(a.geminiCall(), nil)})
	}
	return append(out, frame{data: print(obj{"text": ""}, a.geminiStop()), last: true})
}
