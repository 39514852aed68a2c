package fake

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Wherever the wire is cut, it carries the same bytes, and one part ends with
// the very byte of the text that was named.
func FuzzCut(f *testing.F) {
	f.Add("¡así! 水 \"q\" \n", 1, 3)
	f.Add("👩‍👩‍👧", 6, 5)
	f.Add("plain", 2, 4)
	f.Fuzz(func(t *testing.T, text string, at, pieces int) {
		text = strings.ToValidUTF8(text, "")
		if pieces < 1 || pieces > 100 || text == "" {
			t.Skip()
		}
		for name, e := range map[string]endpoint{"anthropic": messages, "chat": chat, "responses": responses, "ollama": ollamaChat, "gemini": generate} {
			for _, form := range []func(Answer, ask) []frame{e.stream, e.whole} {
				plain := form(Answer{Text: text, Pieces: pieces}, ask{})
				cut := form(Answer{Text: text, Pieces: pieces, Cut: []int{at}}, ask{})
				if len(plain) != len(cut) {
					t.Fatalf("%s: %d frames, cut %d", name, len(plain), len(cut))
				}
				cuts := 0
				for i := range cut {
					if !bytes.Equal(plain[i].data, cut[i].data) {
						t.Fatalf("%s: cut, the frame is %q instead of %q", name, cut[i].data, plain[i].data)
					}
					for _, c := range cut[i].cuts {
						cuts++
						if c <= 0 || c >= len(cut[i].data) {
							t.Fatalf("%s: cut at %d of %q", name, c, cut[i].data)
						}
						if text[at-1] >= 0x80 && text[at-1] != cut[i].data[c-1] || text[at] >= 0x80 && text[at] != cut[i].data[c] {
							// The line separators are escaped in JSON.
							if !strings.ContainsAny(text, "\u2028\u2029") {
								t.Fatalf("%s: %q is cut before %q", name, cut[i].data[:c], cut[i].data[c:])
							}
						}
					}
				}
				if cuts > 1 {
					t.Fatalf("%s: cut %d times", name, cuts)
				}
			}
		}
	})
}

func TestCutWithinACharacter(t *testing.T) {
	frames := messages.stream(Answer{Text: "a水b", Pieces: 9, Cut: []int{2}}, ask{})
	for _, f := range frames {
		if !f.text {
			continue
		}
		if len(f.cuts) != 1 || !bytes.HasSuffix(f.data[:f.cuts[0]], []byte("a\xe6")) || !bytes.HasPrefix(f.data[f.cuts[0]:], []byte("\xb0\xb4b")) {
			t.Errorf("cuts %v of %q", f.cuts, f.data)
		}
	}
}

func TestParse(t *testing.T) {
	got, err := Parse([]byte(`# a queue

{"text":{"mood":"calm","reply":"Hello."},"thinking":"hm","usage":{"in":9,"cached":4,"written":2,"out":1},"model":"m","stop":"max_tokens","cost":0.5}
{"text":"a \"b\"","fault":"429-retry-after","times":2,"message":"slowly","headers":{"retry-after":"3"},"pieces":2,"cut":[1,3],"delay_ms":20}
{"when":"weather","path":"/chat","tool":{"name":"Bash","input":{"command":"date"}}}
`))
	cost := 0.5
	want := []Answer{
		{Text: `{"mood":"calm","reply":"Hello."}`, Thinking: "hm", Usage: Usage{9, 4, 2, 1}, Model: "m", Stop: "max_tokens", Cost: &cost},
		{Text: `a "b"`, Fault: RetryAfter, Times: 2, Message: "slowly", Headers: map[string]string{"retry-after": "3"}, Pieces: 2, Cut: []int{1, 3}, Delay: 20 * time.Millisecond},
		{When: "weather", Path: "/chat", Tool: &Tool{"Bash", json.RawMessage(`{"command":"date"}`)}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\n%+v\nwant\n%+v", err, got, want)
	}
	for text, says := range map[string]string{
		"\n{\"txt\":\"a\"}":         `2: json: unknown field "txt"`,
		`{"usage":{"input":1}}`:     "unknown field",
		`{"text":7}`:                "a string or an object",
		`{"fault":"explodes"}`:      `no fault is called "explodes"`,
		`{"fault":"200"}`:           `no fault is called "200"`,
		`{"text":"a"} {"text":"b"}`: "something follows",
		`{"text":"a"`:               "unexpected EOF",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
}

func TestLoadFile(t *testing.T) {
	s := New(t)
	file := filepath.Join(t.TempDir(), "queue.jsonl")
	if err := os.WriteFile(file, []byte("{\"text\":\"a\"}\n{\"text\":\"b\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.LoadFile(file); err != nil || s.Left() != 2 {
		t.Errorf("%v, %d answers", err, s.Left())
	}
	if err := os.WriteFile(file, []byte("{\"text\":\"c\"}\nnonsense\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.LoadFile(file); err == nil || !strings.HasPrefix(err.Error(), file+":2: ") || s.Left() != 2 {
		t.Errorf("%v, %d answers", err, s.Left())
	}
}

func TestVectors(t *testing.T) {
	near := func(a, b string) (dot float64) {
		x, y := vector(a, dimensions), vector(b, dimensions)
		for i := range x {
			dot += float64(x[i]) * float64(y[i])
		}
		return dot
	}
	if got := near("the kettle is on", "The kettle is on"); math.Abs(got-1) > 1e-5 {
		t.Errorf("the same words are %v near", got)
	}
	if a, b := near("the kettle is on", "the kettle is off"), near("the kettle is on", "rust borrow checker"); a <= b {
		t.Errorf("shared words are %v near, others %v", a, b)
	}
	if got := near("", ""); math.Abs(got-1) > 1e-5 {
		t.Errorf("no words are %v near", got)
	}
}
