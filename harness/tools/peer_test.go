package tools

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The reference server of the protocol's authors, as it is.
func TestEverything(t *testing.T) {
	t.Parallel()
	index := filepath.Join(os.Getenv("AMACS_PEERS"), "everything", "node_modules", "@modelcontextprotocol", "server-everything", "dist", "index.js")
	if _, err := os.Stat(index); err != nil || os.Getenv("AMACS_PEERS") == "" {
		if os.Getenv("AMACS_NEED_PEERS") != "" {
			t.Fatal("AMACS_PEERS has no everything: ", err)
		}
		t.Skip("server-everything is not installed under AMACS_PEERS")
	}
	e := Server{Name: "it", Command: []string{"node", index, "stdio"}, About: "tries everything"}
	s := open(t, e, func(o *Options) { o.Environ = os.Environ })
	list, err := s.Tools(t.Context(), "it")
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 10 {
		t.Errorf("%+v", list)
	}
	if r := call(t, s, "get-sum", map[string]any{"a": "2", "b": "40"}); !strings.Contains(r.Text, "42") {
		t.Errorf("%+v", r)
	}
	if r := call(t, s, "echo", map[string]any{"message": 7}); r.Text != "Echo: 7" {
		t.Errorf("%+v", r)
	}
	if r := call(t, s, "get-tiny-image", nil); len(r.Other) != 1 || !strings.HasPrefix(r.Other[0], "image/png, ") {
		t.Errorf("%+v", r)
	}
	_, err = s.Call(t.Context(), "it", "get-sum", map[string]any{"a": 1})
	want(t, err, `get-sum: "b" is missing; it takes a (number), b (number)`)
	if text, err := s.Schema(t.Context(), "it", "echo"); err != nil || !strings.Contains(text, `"message"`) {
		t.Errorf("%s %v", text, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
