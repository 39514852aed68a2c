package provider

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func writeScript(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "replies.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func openScript(t testing.TB, text string) Model {
	t.Helper()
	m, err := Open(Options{Provider: "script", Model: writeScript(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var request1 = Request{System: "You are amacs.", Blocks: []Block{{Text: "<chat>\n"}, {Text: "<pending>\n"}},
	Retry: []Turn{{"assistant", "bad"}, {"user", "Please retry."}}}

func TestScriptLines(t *testing.T) {
	for name, c := range map[string]struct {
		line    string
		text    string
		pieces  []string // nil = not looked at
		class   Class
		partial string
		err     string // "" = none
		usage   Usage
		model   string
	}{
		"reply as it stands":     {line: ` {"mood":"calm", "confidence":1,"reply":"Hé"} `, text: `{"mood":"calm", "confidence":1,"reply":"Hé"}`},
		"bad reply as it stands": {line: `{"moood":[1]}`, text: `{"moood":[1]}`},
		"reply null":             {line: `{"mood":"calm","reply":null}`, text: `{"mood":"calm","reply":null}`},
		"raw":                    {line: `"no\n{JSON}"`, text: "no\n{JSON}"},
		"empty raw":              {line: `""`, text: ""},
		"text":                   {line: `{"text":"raw"}`, text: "raw"},
		"reply object":           {line: `{"reply":{"mood":"x"}}`, text: `{"mood":"x"}`},
		"chunks":                 {line: `{"chunks":["a","","b é"],"delay_ms":1}`, text: "ab é", pieces: []string{"a", "", "b é"}},
		"runes stay whole":       {line: `"0123456789abcde😀 and so on"`, text: "0123456789abcde😀 and so on", pieces: []string{"0123456789abcde😀", " and so on"}},
		"usage, model":           {line: `{"text":"x","usage":{"in":7,"cached":5,"out":2},"model":"m-1"}`, text: "x", usage: Usage{In: 7, Cached: 5, Out: 2}, model: "m-1"},
		"error":                  {line: `{"error":"no credit"}`, err: "asking: no credit"},
		"permanent":              {line: `{"error":"x","class":"permanent"}`, err: "x"},
		"transient":              {line: `{"error":"overloaded","class":"transient","delay_ms":1}`, class: Transient, err: "overloaded"},
		"error in mid-stream":    {line: `{"chunks":["{\"reply\":\"Hel"],"error":"broken","class":"transient"}`, class: Transient, partial: `{"reply":"Hel`, err: "broken"},
		"expected in system":     {line: `{"text":"x","expect":"amacs"}`, text: "x"},
		"expected over blocks":   {line: `{"text":"x","expect":"<chat>\n<pending>"}`, text: "x"},
		"expected in retry":      {line: `{"text":"x","expect":"Please retry"}`, text: "x"},
		"not there":              {line: `{"text":"x","expect":"milk"}`, err: `replies.jsonl:3: the prompt does not hold "milk"`},
	} {
		t.Run(name, func(t *testing.T) {
			m := openScript(t, "\ufeff# a comment\r\n\n"+c.line+"\r\n// the end\n")
			var got []string
			resp, err := m.Complete(context.Background(), request1, func(s string) { got = append(got, s) })
			if c.err != "" {
				var e *Error
				if !errors.As(err, &e) || e.Class != c.class || e.Partial != c.partial || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %#v", err)
				}
				if strings.Join(got, "") != c.partial {
					t.Errorf("streamed %q", got)
				}
				return
			}
			if err != nil || resp.Text != c.text || strings.Join(got, "") != c.text || resp.Usage != c.usage {
				t.Fatalf("got %+v, %v, streamed %q", resp, err, got)
			}
			if want := c.model; want != resp.Model && !(want == "" && resp.Model == "script:replies.jsonl") {
				t.Errorf("model %q", resp.Model)
			}
			for _, piece := range got {
				if !utf8.ValidString(piece) {
					t.Errorf("piece %q cuts a rune", piece)
				}
			}
			if c.pieces != nil && strings.Join(got, "|") != strings.Join(c.pieces, "|") {
				t.Errorf("pieces %q, want %q", got, c.pieces)
			}
			_, err = m.Complete(context.Background(), request1, nil)
			if Classify(err) != Permanent || !strings.Contains(err.Error(), "replies.jsonl has 1 lines") || !strings.Contains(err.Error(), "script exhausted") {
				t.Errorf("at the end: %v", err)
			}
		})
	}
}

func TestScriptRefused(t *testing.T) {
	for line, want := range map[string]string{
		`[1]`:                               "an object or a string",
		`12`:                                "an object or a string",
		`{"mood":`:                          "unexpected end",
		`{"mood":1} x`:                      "after top-level value",
		`"open`:                             "unexpected end",
		`{"mood":"x","delay_ms":5}`:         `unknown key "mood"`,
		`{"error":"x","retry":true}`:        `unknown key "retry"`,
		`{"text":"a","reply":"b"}`:          `"reply" in a direction must be an object`,
		`{"text":"a","chunks":["b"]}`:       "only one of",
		`{"text":"a","reply":{"mood":"b"}}`: "only one of",
		`{"delay_ms":5}`:                    "nothing to play",
		`{"usage":{"in":1}}`:                "nothing to play",
		`{"text":"x","class":"transient"}`:  `"class" needs "error"`,
		`{"error":"x","class":"odd"}`:       "permanent, transient or",
		`{"text":"x","delay_ms":-1}`:        "negative",
		`{"hang":true,"error":"x"}`:         "no other error",
		`{"text":3}`:                        "cannot unmarshal",
	} {
		_, err := Script(writeScript(t, "\n\"fine\"\n"+line+"\n"))
		var e *Error
		if !errors.As(err, &e) || e.Class != Permanent || !strings.Contains(err.Error(), "replies.jsonl:3: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", line, err, want)
		}
	}
	if _, err := Script(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestScriptCancelled(t *testing.T) {
	for name, c := range map[string]struct{ line, partial string }{
		"in the delay":   {`{"text":"x","delay_ms":60000}`, ""},
		"between chunks": {`{"chunks":["a","b"],"delay_ms":40}`, "a"},
		"in a hang":      {`{"hang":true}`, ""},
		"after a text":   {`{"text":"half a wo","hang":true}`, "half a wo"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			m := openScript(t, c.line)
			if c.partial == "" {
				time.AfterFunc(10*time.Millisecond, cancel)
			}
			_, err := m.Complete(ctx, Request{}, func(string) { cancel() })
			var e *Error
			if !errors.As(err, &e) || e.Class != Cancelled || e.Partial != c.partial || !errors.Is(err, context.Canceled) {
				t.Errorf("got %#v", err)
			}
		})
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if _, err := openScript(t, `{"hang":true}`).Complete(ctx, Request{}, nil); Classify(err) != Transient {
		t.Errorf("a deadline: %v", err)
	}
	cancel()
	m := openScript(t, `"x"`)
	if _, err := m.Complete(ctx, Request{}, nil); err == nil {
		t.Error("asked with an ended context")
	}
	if r, err := m.Complete(context.Background(), Request{}, nil); err != nil || r.Text != "x" {
		t.Errorf("an ended context took the line: %v", err)
	}
}

// A text that the script did not cut waits once, not at each piece.
func TestScriptDelay(t *testing.T) {
	start := time.Now()
	_, err := openScript(t, `{"text":"`+strings.Repeat("word ", 400)+`","delay_ms":50}`).Complete(context.Background(), Request{}, nil)
	if d := time.Since(start); err != nil || d < 50*time.Millisecond || d > 3*time.Second {
		t.Errorf("took %v, %v", d, err)
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		err  error
		want Class
	}{
		{&Error{Class: Transient, Err: context.Canceled}, Transient},
		{context.Canceled, Cancelled}, {context.DeadlineExceeded, Transient},
		{io.ErrUnexpectedEOF, Transient}, {os.ErrNotExist, Permanent},
	} {
		if got := Classify(c.err); got != c.want {
			t.Errorf("%v: %v, want %v", c.err, got, c.want)
		}
	}
}

func TestOpen(t *testing.T) {
	if m, err := Open(Options{Provider: "offline"}); err != nil || m.Name() != "offline" {
		t.Errorf("%v, %v", m, err)
	}
	for name, want := range map[string]string{"oracle": "offline, script", "": "offline, script", "script": "--model FILE"} {
		if _, err := Open(Options{Provider: name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func FuzzScript(f *testing.F) {
	for _, line := range []string{`"x"`, `{"mood":"x"}`, `{"chunks":["a"],"error":"e","class":"transient"}`, "# x", `{"reply":{}}`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		d, err := readDirection([]byte("{" + strings.TrimSpace(line)))
		if err == nil {
			d.pieces()
		}
		if line = strings.TrimSpace(line); line == "" {
			return
		}
		d, err = readDirection([]byte(line))
		if err != nil {
			return
		}
		if d.Delay, d.Hang = 0, false; d.Error == "" {
			if _, err := d.play(context.Background(), func(string) {}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
