package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"amacs/harness/provider/fake"
)

func TestModels(t *testing.T) {
	answers := map[string]string{
		"/v1/models?limit=1000":              `{"data":[{"id":"a","display_name":"Model A","max_input_tokens":1000,"lifecycle":"active"}],"has_more":true,"last_id":"a b"}`,
		"/v1/models?limit=1000&after_id=a+b": `{"data":[{"id":"b","display_name":"Model B","lifecycle":"deprecated"}],"has_more":false,"last_id":"b"}`,
		"/v1/models":                         `{"object":"list","data":[{"id":"r","name":"Router's","context_length":7},{"id":"v","max_model_len":8},{"id":"l","meta":{"n_ctx":9,"n_ctx_train":99}},{"id":"gpt-4.1"}]}`,
		"/api/tags":                          `{"models":[{"name":"qwen3:8b","details":{"parameter_size":"8.2B","quantization_level":"Q4_K_M"}},{"name":"c-cloud","remote_host":"https://ollama.com:443","details":{}}]}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, answers[r.URL.String()])
	}))
	defer server.Close()
	for provider, want := range map[string][]Listed{
		"anthropic": {{"a", 1000, "Model A"}, {"b", 0, "Model B, deprecated"}},
		"openai":    {{"r", 7, "Router's"}, {"v", 8, ""}, {"l", 9, ""}, {"gpt-4.1", 1_047_576, ""}},
		"ollama":    {{"qwen3:8b", 0, "8.2B Q4_K_M"}, {"c-cloud", 0, "runs at https://ollama.com:443"}},
		"offline":   nil, "script": nil, "agent": nil,
	} {
		got, err := Models(context.Background(), dialed(provider, "", server.URL))
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %+v, %v", provider, got, err)
		}
	}
	if _, err := Models(context.Background(), dialed("oracle", "", "")); err == nil {
		t.Error("an unknown provider has models")
	}
	s := fake.New(t)
	for _, v := range vendors {
		got, err := Models(context.Background(), dialed(v.provider, "", s.URL))
		if err != nil || len(got) == 0 || got[0].Name == "" {
			t.Errorf("%s: %+v, %v", v.provider, got, err)
		}
	}
	_, err := Models(context.Background(), dialed("openai", "", server.URL+"/elsewhere"))
	if err == nil || !strings.Contains(err.Error(), "provider openai: listing the models: ") {
		t.Errorf("%v", err)
	}
}

// Where no model is configured, a local server's first is asked.
func TestFirstModel(t *testing.T) {
	s := fake.New(t)
	for _, provider := range []string{"openai", "ollama"} {
		listed, err := Models(context.Background(), dialed(provider, "", s.URL))
		if err != nil {
			t.Fatal(err)
		}
		m := dial(t, provider, "", s.URL)
		for range 2 {
			if r, err := m.Complete(context.Background(), plain, nil); err != nil || r.Model != listed[0].Name || m.Name() != provider+":"+listed[0].Name {
				t.Errorf("%s: %+v, %v", provider, r, err)
			}
		}
	}
	list := `[{"id":"text-embedding-x","name":"nomic-embed-text"},{"id":"x:cloud","name":"x-cloud"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch w.Header().Set("Content-Type", "application/json"); r.Method {
		case http.MethodGet:
			fmt.Fprintf(w, `{"data":%s],"models":%s]}`, list, list)
		default: // the models are listed, no more
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	for _, provider := range []string{"openai", "ollama"} {
		m := dial(t, provider, "", server.URL)
		if _, err := m.Complete(context.Background(), plain, nil); !strings.Contains(fmt.Sprint(err), "has none") {
			t.Errorf("%s took a model that can not talk, or runs elsewhere: %v", list, err)
		}
	}
	list += `,{"id":"talks","name":"talks"}`
	for _, provider := range []string{"openai", "ollama"} {
		m := dial(t, provider, "", server.URL)
		if _, err := m.Complete(context.Background(), plain, nil); m.Name() != provider+":talks" || err == nil {
			t.Errorf("%s: %v", m.Name(), err)
		}
	}
	list = `[`
	for _, provider := range []string{"openai", "ollama"} {
		if _, err := dial(t, provider, "", server.URL).Complete(context.Background(), plain, nil); Classify(err) != Permanent || !strings.Contains(err.Error(), "has none") {
			t.Errorf("%v", err)
		}
	}
}

// Nobody is billed for a model that they did not choose.
func TestNoModelElsewhere(t *testing.T) {
	for provider, base := range map[string]string{"openai": "https://openrouter.ai/api/v1", "ollama": "https://ollama.com"} {
		_, err := dial(t, provider, "", base).Complete(context.Background(), plain, nil)
		if Classify(err) != Permanent || err == nil || !strings.Contains(err.Error(), "--model") {
			t.Errorf("%v", err)
		}
	}
}

func TestEmbed(t *testing.T) {
	s := fake.New(t)
	var texts []string
	for i := range embedBatch + 7 {
		texts = append(texts, fmt.Sprintf("text number %d", i))
	}
	for _, provider := range []string{"openai", "ollama"} {
		e, err := OpenEmbedder(dialed(provider, "embed-1", s.URL))
		if err != nil {
			t.Fatal(err)
		}
		if e.Name() != provider+":embed-1" || e.Facts().Billing != Free {
			t.Errorf("%s, %+v", e.Name(), e.Facts())
		}
		all, usage, err := e.Embed(context.Background(), texts)
		if err != nil || len(all) != len(texts) || usage.In == 0 {
			t.Fatalf("%d vectors, %+v, %v", len(all), usage, err)
		}
		one, _, err := e.Embed(context.Background(), texts[embedBatch+3:embedBatch+4])
		if err != nil || !slices.Equal(one[0], all[embedBatch+3]) || slices.Equal(all[0], all[1]) {
			t.Errorf("another order: %v", err)
		}
		if none, _, err := e.Embed(context.Background(), nil); len(none) != 0 || err != nil {
			t.Errorf("%v, %v", none, err)
		}
	}
	for provider, name := range map[string]string{"openai": "openai:text-embedding-3-small", "ollama": "ollama:nomic-embed-text"} {
		if e, err := OpenEmbedder(dialed(provider, "", "")); err != nil || e.Name() != name {
			t.Errorf("%v, %v", e, err)
		}
	}
	for _, o := range []Options{dialed("anthropic", "", ""), dialed("openai", "", "http://localhost"), dialed("ollama", "x", "ftp://x")} {
		if _, err := OpenEmbedder(o); Classify(err) != Permanent || err == nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// What is not one vector a text, all of one length, is an error.
func TestEmbedBad(t *testing.T) {
	for body, says := range map[string]string{
		`{"data":[{"index":1,"embedding":[1,2]}]}`:                                "the vector of text 1 has 0 numbers",
		`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[1]}]}`:    "the vector of text 2 has 1 numbers, the first has 2",
		`{"data":[{"index":-1,"embedding":[1,2]},{"index":9,"embedding":[1,2]}]}`: "has 0 numbers",
		`{"data":"none"}`: "not the JSON that was expected",
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var q struct{ Input []string }
			if err := json.NewDecoder(r.Body).Decode(&q); err != nil || len(q.Input) != 2 {
				t.Errorf("%+v, %v", q, err)
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, body)
		}))
		e, err := OpenEmbedder(dialed("openai", "x", server.URL))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = e.Embed(context.Background(), []string{"a", "b"})
		server.Close()
		if e, ok := err.(*Error); !ok || !strings.Contains(err.Error(), says) || !e.Began {
			t.Errorf("%s: %v", body, err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"embeddings":[[1,2]]}`)
	}))
	defer server.Close()
	e, err := OpenEmbedder(dialed("ollama", "x", server.URL))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Embed(context.Background(), []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "1 vectors for 2 texts") {
		t.Errorf("%v", err)
	}
}
