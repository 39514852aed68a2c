package fake

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/fnv"
	"math"
	"net/http"
	"strings"
)

// dimensions of an embedding, where the request asks for no other number.
const dimensions = 64

// vector is an embedding of length 1 that knows words and nothing else: the
// same words give the same vector, shared words a near one.
func vector(text string, n int) []float32 {
	sums := make([]float64, n)
	for _, word := range strings.Fields(strings.ToLower(text)) {
		h := fnv.New64a()
		h.Write([]byte(word))
		sum := h.Sum64()
		sums[sum%uint64(n)] += 1
		sums[(sum>>32)%uint64(n)] += 0.5
	}
	square := 0.0
	for _, x := range sums {
		square += x * x
	}
	if square == 0 {
		sums[0], square = 1, 1
	}
	out := make([]float32, n)
	for i, x := range sums {
		out[i] = float32(x / math.Sqrt(square))
	}
	return out
}

// texts reads a string or a list of them.
func texts(raw json.RawMessage) ([]string, bool) {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}, true
	}
	var many []string
	return many, json.Unmarshal(raw, &many) == nil && len(many) > 0
}

var embeddings = endpoint{vendor: &openai, own: func(_ *http.Request, body []byte) (any, *failure) {
	var q struct {
		Model      string          `json:"model"`
		Input      json.RawMessage `json:"input"`
		Dimensions int             `json:"dimensions"`
		Format     string          `json:"encoding_format"`
	}
	refuse := func(why string) (any, *failure) {
		return nil, &failure{400, "invalid_request_error", "", "input", why}
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return refuse("We could not parse the JSON body of your request: " + err.Error())
	}
	inputs, ok := texts(q.Input)
	if !ok {
		return refuse("'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.")
	}
	if q.Dimensions == 0 {
		q.Dimensions = dimensions
	}
	data, n := []obj{}, 0
	for i, text := range inputs {
		n += len(text)
		if text == "" {
			return refuse("'$.input' is invalid: an input is empty.")
		}
		v := vector(text, q.Dimensions)
		var printed any = v
		if q.Format == "base64" {
			var b []byte
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			printed = base64.StdEncoding.EncodeToString(b)
		}
		data = append(data, obj{"object": "embedding", "index": i, "embedding": printed})
	}
	return obj{"object": "list", "model": q.Model, "data": data, "usage": obj{"prompt_tokens": tokens(n), "total_tokens": tokens(n)}}, nil
}}

var ollamaEmbed = endpoint{vendor: &ollama, own: func(_ *http.Request, body []byte) (any, *failure) {
	var q struct {
		Model      string          `json:"model"`
		Input      json.RawMessage `json:"input"`
		Dimensions int             `json:"dimensions"`
	}
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, &failure{status: 400, message: err.Error()}
	}
	inputs, ok := texts(q.Input)
	if !ok {
		return nil, &failure{status: 400, message: "invalid input type"}
	}
	if q.Dimensions == 0 {
		q.Dimensions = dimensions
	}
	vectors, n := [][]float32{}, 0
	for _, text := range inputs {
		n += len(text)
		vectors = append(vectors, vector(text, q.Dimensions))
	}
	return obj{"model": q.Model, "embeddings": vectors, "total_duration": 14000000, "load_duration": 1000000, "prompt_eval_count": tokens(n)}, nil
}}
