package provider

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"amacs/harness/provider/fake"
)

func TestOllamaBase(t *testing.T) {
	for host, want := range map[string]string{
		"":                           "http://127.0.0.1:11434",
		"localhost":                  "http://localhost:11434",
		":1234":                      "http://127.0.0.1:1234",
		"0.0.0.0":                    "http://127.0.0.1:11434",
		"0.0.0.0:8080":               "http://127.0.0.1:8080",
		"[::]:8080":                  "http://127.0.0.1:8080",
		"[::1]":                      "http://[::1]:11434",
		"::1":                        "http://[::1]:11434",
		" 'box:99' ":                 "http://box:99",
		"http://box":                 "http://box:80",
		"https://box/":               "https://box:443",
		"https://box/ollama/":        "https://box:443/ollama",
		"http://127.0.0.1:11434/v1/": "http://127.0.0.1:11434",
		"ollama.com":                 "https://ollama.com:443",
		"ftp://box":                  "ftp://box",
	} {
		if got := ollamaBase(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	}
}

// The window holds the request, grows with it, never shrinks, and ends where the
// model's does.
func TestOllamaWindow(t *testing.T) {
	s := fake.New(t)
	m := dial(t, "ollama", "", s.URL)
	last := func() int {
		var b struct {
			Model   string
			Options struct {
				Window int `json:"num_ctx"`
			}
		}
		all := bodies(s)
		if err := json.Unmarshal([]byte(all[len(all)-1]), &b); err != nil || b.Model == "" {
			t.Fatalf("%+v, %v", b, err)
		}
		return b.Options.Window
	}
	for _, c := range []struct{ size, max, want int }{
		{100, 0, 4096},
		{3 * 3000, 1096, 4096},
		{3 * 3001, 1096, 8192},
		{100, 0, 8192},
	} {
		r := Request{Blocks: []Block{{Text: strings.Repeat("x", c.size)}}, Settings: Settings{Temperature: 1, MaxTokens: c.max}}
		if _, err := m.Complete(context.Background(), r, nil); err != nil || last() != c.want {
			t.Errorf("%+v: %d, %v", c, last(), err)
		}
	}
	window := m.Facts().Window
	if window == 0 || m.Facts().Model == "" {
		t.Fatalf("facts %+v", m.Facts())
	}
	r := Request{Blocks: []Block{{Text: strings.Repeat("x", 4*window)}}, Settings: Settings{Temperature: 1}}
	if _, err := m.Complete(context.Background(), r, nil); last() != window {
		t.Errorf("%d, %v", last(), err)
	}
	shows := 0
	for _, r := range s.Requests() {
		if r.URL.Path == "/api/show" {
			shows++
		}
	}
	if shows != 1 {
		t.Errorf("looked %d times", shows)
	}
}
