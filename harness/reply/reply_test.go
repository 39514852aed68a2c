package reply

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write testdata/golden.json anew")

// outcome is what testdata/golden.json says of one text in testdata.
type outcome struct {
	Reply   *Reply   `json:",omitempty"`
	Problem *Problem `json:",omitempty"`
	Stream  string   `json:",omitempty"` // what was streamed, if it is not Reply.Text
}

func read(raw string) outcome {
	var o outcome
	r, err := Parse(raw)
	if err != nil {
		o.Problem = err.(*Problem)
	} else {
		o.Reply = &r
	}
	var s Stream
	if text := s.Write(raw); text != r.Text {
		o.Stream = text
	}
	return o
}

func corpus(t testing.TB) map[string]string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(names) < 60 {
		t.Fatalf("%d texts in testdata, %v", len(names), err)
	}
	texts := map[string]string{}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts[strings.TrimSuffix(filepath.Base(name), ".txt")] = string(raw)
	}
	return texts
}

func TestCorpus(t *testing.T) {
	const golden = "testdata/golden.json"
	texts := corpus(t)
	if *update {
		got := map[string]outcome{}
		for name, raw := range texts {
			got[name] = read(raw)
		}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(got); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]outcome
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != len(texts) {
		t.Errorf("%d texts, but %d outcomes in %s", len(texts), len(want), golden)
	}
	for name, raw := range texts {
		if got := read(raw); !reflect.DeepEqual(got, want[name]) {
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(want[name])
			t.Errorf("%s:\n%s\ngot  %s\nwant %s", name, raw, g, w)
		}
	}
}

func TestStreamPieces(t *testing.T) {
	const raw = `Well. <think>{"reply":"no"}</think> {"a":{"reply":"no"},"reply":"é\u00e9\ud83d\ude00 \"q\" \\ 😀\n","mood":"m"}`
	want := "éé😀 \"q\" \\ 😀"
	for size := 1; size <= len(raw); size++ {
		var s Stream
		var got strings.Builder
		for i := 0; i < len(raw); i += size {
			piece := s.Write(raw[i:min(i+size, len(raw))])
			if !utf8.ValidString(piece) {
				t.Fatalf("size %d: piece %q cuts a rune", size, piece)
			}
			got.WriteString(piece)
		}
		if got.String() != want {
			t.Errorf("size %d: got %q, want %q", size, got.String(), want)
		}
	}
}

// Text comes out as soon as it is known, not at the end of the string.
func TestStreamIsPrompt(t *testing.T) {
	var s Stream
	for _, step := range []struct{ in, out string }{
		{`{"reply": "He`, "He"}, {`llo \`, "llo"}, {`n`, ""}, {`wor`, " \nwor"},
		{`\ud83d`, ""}, {`\ude00`, "😀"}, {"\xc3", ""}, {"\xa9", "é"}, {`"`, ""}, {`, "x": "reply"}`, ""},
	} {
		if got := s.Write(step.in); got != step.out {
			t.Errorf("after %q: got %q, want %q", step.in, got, step.out)
		}
	}
}

func TestRetryMessage(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, c := range []struct{ reason, raw, want string }{
		{"missing required key: monologue", `{"mood":"x"}`, "missing required key: monologue.\n"},
		{"no JSON object found", long, "\n" + strings.Repeat("é", 200) + "…\n"},
		{"no JSON object found", "bad \xff byte", "bad \uFFFD byte"},
	} {
		got := RetryMessage(&Problem{Reason: c.reason}, c.raw)
		if !strings.HasPrefix(got, "Your response was not valid JSON. Please retry.\n") || !strings.Contains(got, c.want) || !utf8.ValidString(got) {
			t.Errorf("%.20q: got %q", c.raw, got)
		}
	}
	if got := RetryMessage(&Problem{Reason: "the response was empty"}, " "); strings.Contains(got, "began") {
		t.Errorf("an empty response has no beginning: %q", got)
	}
}

// Hostile texts are read in a time that grows gently with their length.
func TestLargeTexts(t *testing.T) {
	for _, unit := range []string{
		"{", "{\"", "{'\"", "<think>", "</think>", "<think></think>", `{"":0,`, `"",`, "{//", `{"a":"//"`, `{"a":[`, `{"a":"",'`, `{"a":"x"b`,
	} {
		start := time.Now()
		raw := strings.Repeat(unit, 200_000/len(unit))
		Parse(raw)
		Parse(`{"mood":"` + raw)
		new(Stream).Write(raw)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("200 KB of %q took %v", unit, d)
		}
	}
}

func ExampleParse() {
	r, err := Parse("Sure:\n```json\n{\"mood\": \"calm\", \"confidence\": \"0.8\", \"monologue\": \"Said hello.\", \"reply\": \"Hello.\",}\n```")
	printReply(r, err)
	_, err = Parse(`{"mood": "calm", "confidence": 0.8}`)
	printReply(Reply{}, err)
	// Output:
	// calm 0.8 "Said hello." "Hello."
	// - trailing comma
	// - text around the object was ignored
	// - confidence given as text
	// missing required key: monologue
}
