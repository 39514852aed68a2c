package agent

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// collect feeds output cut into pieces of a size.
func collect(t testing.TB, o Output, output string, size int) (c *collector, streamed string) {
	t.Helper()
	p, err := o.picks()
	if err != nil {
		t.Fatal(err)
	}
	c = &collector{format: o.Format, picks: p}
	stream := func(s string) { streamed += s }
	for at := 0; at < len(output); at += size {
		if _, err := c.feed([]byte(output[at:min(at+size, len(output))]), stream); err != nil {
			t.Fatal(err)
		}
	}
	c.end(stream)
	return c, streamed
}

func TestFormats(t *testing.T) {
	for name, c := range map[string]struct {
		o      Output
		output string
		text   string
		noise  string
	}{
		"text":               {Output{}, "  Hällo\n\n", "Hällo", ""},
		"text with colours":  {Output{}, "\x1b[1mHällo\x1b[0m\r\nyou\x1b]8;;http://x\x1b\\\x1b=", "Hällo\nyou\x1b=", ""},
		"half an escape":     {Output{}, "Hällo\x1b[3", "Hällo\x1b[3", ""},
		"json":               {Output{Format: "json", Text: "response"}, "Loaded.\n{\n \"response\": \"Hällo\"\n}\nbye", "Hällo", ""},
		"json, an array":     {Output{Format: "json", Text: "result if type=result"}, `[{"type":"system"},{"type":"result","result":"Hällo"}]`, "Hällo", ""},
		"json after a brace": {Output{Format: "json", Text: "a"}, "[no json\n{broken\n{\"a\":\"Hällo\"}", "Hällo", ""},
		"no json":            {Output{Format: "json", Text: "a"}, "Sorry.", "", "Sorry."},
		"lines":              {Output{Format: "lines", Text: "a"}, "warned\n\n{\"a\":\"one\"}\r\n{\"b\":2}\n[1]\n{\"a\":\"two\"}", "two", "warned\n[1]\n"},
		"lines, joined":      {Output{Format: "lines", Delta: "d"}, "{\"d\":\"Hä\"}\n{\"d\":\" llo \"}\n{\"d\":\"\"}\n", "Hä llo", ""},
		"a broken line":      {Output{Format: "lines", Delta: "d"}, "{\"d\":\"Hä\"}\n{\"d\":\"llo", "Hä", "{\"d\":\"llo\n"},
	} {
		for size := 1; size <= len(c.output); size++ {
			got, streamed := collect(t, c.o, c.output, size)
			if got.result.Text != c.text || string(got.noise) != c.noise {
				t.Errorf("%s in pieces of %d: %q, noise %q", name, size, got.result.Text, got.noise)
			}
			if (c.o.Format == "" || c.o.Delta != "") && strings.TrimSpace(streamed) != c.text {
				t.Errorf("%s in pieces of %d: streamed %q", name, size, streamed)
			}
		}
	}
}

// Wherever the output is cut, the same comes out.
func FuzzCut(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json*")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b), 7)
	}
	f.Add("\x1b[1mred\x1b[0m\r\n\x1b]0;title\x07text", 1)
	f.Fuzz(func(t *testing.T, output string, size int) {
		if size < 1 || len(output) == 0 {
			return
		}
		for _, o := range []Output{{}, {Format: "json", Text: "result | error.message"}, builtinOutput("claude"), builtinOutput("gemini")} {
			whole, all := collect(t, o, output, len(output))
			cut, pieces := collect(t, o, output, size)
			if !reflect.DeepEqual(whole.result, cut.result) || whole.fail != cut.fail || whole.done != cut.done || whole.note != cut.note || string(whole.noise) != string(cut.noise) || all != pieces {
				t.Errorf("%s: %+v, in pieces of %d %+v", o.Format, whole.result, size, cut.result)
			}
		}
	})
}

func builtinOutput(name string) Output {
	for _, e := range Builtin() {
		if e.Name == name {
			return e.Output
		}
	}
	return Output{}
}
