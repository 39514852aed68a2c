package fake_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"amacs/harness/provider/fake"
)

// dialect is how a test asks a vendor, and what the answer's parts look like.
type dialect struct {
	name   string
	path   string
	whole  string   // body that asks for an answer in one piece
	stream string   // body that asks for a stream; "" = the path says it
	spath  string   // path of a stream, where it is another
	piece  []string // where in an event of the stream the text is
	text   []string // where in the whole answer
	stop   string   // in the last part of a stream
}

var dialects = []dialect{
	{name: "anthropic", path: "/v1/messages?beta=true", whole: `{"model":"m","max_tokens":100,"messages":[{"role":"user","content":"kettle?"}]}`,
		stream: `{"model":"m","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"kettle?"}]}`,
		piece:  []string{"delta", "text"}, text: []string{"content", "text"}, stop: "message_stop"},
	{name: "chat", path: "/v1/chat/completions", whole: `{"model":"m","messages":[{"role":"user","content":"kettle?"}]}`,
		stream: `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"user","content":"kettle?"}]}`,
		piece:  []string{"choices", "delta", "content"}, text: []string{"choices", "message", "content"}, stop: "[DONE]"},
	{name: "responses", path: "/v1/responses", whole: `{"model":"m","input":"kettle?"}`, stream: `{"model":"m","stream":true,"input":"kettle?"}`,
		piece: []string{"delta"}, text: []string{"output", "content", "text"}, stop: "response.completed"},
	{name: "ollama", path: "/api/chat", whole: `{"model":"m","stream":false,"messages":[{"role":"user","content":"kettle?"}]}`,
		stream: `{"model":"m","messages":[{"role":"user","content":"kettle?"}]}`,
		piece:  []string{"message", "content"}, text: []string{"message", "content"}, stop: `"done":true`},
	{name: "gemini", path: "/v1beta/models/m:generateContent", spath: "/v1beta/models/m:streamGenerateContent?alt=sse",
		whole: `{"contents":[{"role":"user","parts":[{"text":"kettle?"}]}]}`, stream: `{"contents":[{"role":"user","parts":[{"text":"kettle?"}]}]}`,
		piece: []string{"candidates", "content", "parts", "text"}, text: []string{"candidates", "content", "parts", "text"}, stop: `"finishReason":"STOP"`},
}

func (d dialect) ask(t testing.TB, ctx context.Context, s *fake.Server, stream bool) *http.Response {
	t.Helper()
	path, body := d.path, d.whole
	if stream {
		body = d.stream
		if d.spath != "" {
			path = d.spath
		}
	}
	return post(t, ctx, s.URL+path, body)
}

// post asks with a key, on a connection of its own.
func post(t testing.TB, ctx context.Context, url, body string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("x-api-key", "sk-fake-0123456789abcdef")
	r.Header.Set("anthropic-version", "2023-06-01")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func read(t testing.TB, r *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("after %q: %v", data, err)
	}
	return string(data)
}

// texts collects the strings at a place in an object; lists are looked through.
func texts(v any, at []string) string {
	switch v := v.(type) {
	case []any:
		out := ""
		for _, one := range v {
			out += texts(one, at)
		}
		return out
	case map[string]any:
		if len(at) > 0 {
			return texts(v[at[0]], at[1:])
		}
	case string:
		if len(at) == 0 {
			return v
		}
	}
	return ""
}

// events are the objects of a stream, server-sent events or lines.
func events(t testing.TB, body string) (out []map[string]any) {
	t.Helper()
	for _, line := range strings.Split(body, "\n") {
		line = strings.TrimPrefix(line, "data: ")
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		out = append(out, v)
	}
	return out
}

func (d dialect) said(t testing.TB, body string, stream bool) string {
	t.Helper()
	if !stream {
		var v any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			t.Fatalf("%v in %q", err, body)
		}
		return texts(v, d.text)
	}
	out := ""
	for _, v := range events(t, body) {
		if v["type"] == "response.output_text.delta" || d.name != "responses" {
			out += texts(v, d.piece)
		}
	}
	return out
}

// each runs a test for every vendor, streaming and not.
func each(t *testing.T, f func(t *testing.T, d dialect, stream bool)) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) { f(t, d, false) })
		t.Run(d.name+" stream", func(t *testing.T) { f(t, d, true) })
	}
}

const kettle = `{"reply":"The kettle <b>&</b> \"the\" cup; ¡así! 水 👩‍👩‍👧"}`

func TestAnswers(t *testing.T) {
	each(t, func(t *testing.T, d dialect, stream bool) {
		s := fake.New(t)
		s.Queue(fake.Answer{Text: kettle, Thinking: "a cup first", Headers: map[string]string{"X-Limit": "7"}})
		r := d.ask(t, t.Context(), s, stream)
		body := read(t, r)
		if r.StatusCode != 200 || r.Header.Get("X-Limit") != "7" {
			t.Errorf("status %d, header %v", r.StatusCode, r.Header)
		}
		if got := strings.TrimPrefix(d.said(t, body, stream), "a cup first"); got != kettle {
			t.Errorf("said %q\nin %s", got, body)
		}
		if stream && !strings.Contains(body[strings.LastIndex(strings.TrimSpace(body), "\n"):], d.stop) {
			t.Errorf("no %q at the end of\n%s", d.stop, body)
		}
		if got := d.said(t, read(t, d.ask(t, t.Context(), s, stream)), stream); got != fake.Default {
			t.Errorf("an empty queue says %q", got)
		}
	})
}

// The order of events is a part of the format.
func TestOrder(t *testing.T) {
	s := fake.New(t)
	for _, one := range []struct {
		vendor, field, want string
	}{
		{"anthropic", "type", "message_start content_block_start content_block_delta content_block_delta content_block_stop " +
			"content_block_start ping content_block_delta content_block_stop " +
			"content_block_start content_block_delta content_block_delta content_block_stop message_delta message_stop"},
		{"responses", "type", "response.created response.in_progress " +
			"response.output_item.added response.reasoning_summary_part.added response.reasoning_summary_text.delta response.reasoning_summary_text.done " +
			"response.reasoning_summary_part.done response.output_item.done " +
			"response.output_item.added response.content_part.added response.output_text.delta response.output_text.done response.content_part.done response.output_item.done " +
			"response.output_item.added response.function_call_arguments.delta response.function_call_arguments.done response.output_item.done response.completed"},
	} {
		d := dialects[slices.IndexFunc(dialects, func(d dialect) bool { return d.name == one.vendor })]
		s.Queue(fake.Answer{Text: "Yes.", Thinking: "Hm.", Tool: &fake.Tool{Name: "look", Input: json.RawMessage(`{"a":1}`)}, Pieces: 99})
		var got []string
		for i, v := range events(t, read(t, d.ask(t, t.Context(), s, true))) {
			got = append(got, v[one.field].(string))
			if n, ok := v["sequence_number"]; ok && n != float64(i) {
				t.Errorf("event %d has the number %v", i, n)
			}
		}
		if strings.Join(got, " ") != one.want {
			t.Errorf("%s:\n%s\nwant\n%s", one.vendor, strings.Join(got, " "), one.want)
		}
	}
}

func TestUsageAndStop(t *testing.T) {
	cost := 0.25
	a := fake.Answer{Text: "Yes.", Usage: fake.Usage{In: 100, Cached: 60, Written: 30, Out: 7}, Stop: "max_tokens", Model: "m-2026", Cost: &cost}
	want := map[string][]string{
		"anthropic": {`"input_tokens":10,`, `"cache_read_input_tokens":60`, `"cache_creation_input_tokens":30`, `"output_tokens":7`, `"stop_reason":"max_tokens"`},
		"chat":      {`"prompt_tokens":100`, `"cached_tokens":60`, `"completion_tokens":7`, `"finish_reason":"length"`, `"cost":0.25`},
		"responses": {`"input_tokens":100`, `"cached_tokens":60`, `"output_tokens":7`, `"reason":"max_output_tokens"`},
		"ollama":    {`"prompt_eval_count":100`, `"eval_count":7`, `"done_reason":"length"`},
		"gemini":    {`"promptTokenCount":100`, `"cachedContentTokenCount":60`, `"candidatesTokenCount":7`, `"finishReason":"MAX_TOKENS"`},
	}
	each(t, func(t *testing.T, d dialect, stream bool) {
		s := fake.New(t)
		s.Queue(a)
		body := read(t, d.ask(t, t.Context(), s, stream))
		for _, part := range append(want[d.name], `"m-2026"`) {
			if !strings.Contains(body, part) {
				t.Errorf("no %s in\n%s", part, body)
			}
		}
	})
}

func TestStatusFaults(t *testing.T) {
	for _, one := range []struct {
		vendor string
		fault  fake.Fault
		status int
		says   string
	}{
		{"anthropic", "429", 429, `"type":"rate_limit_error"`},
		{"anthropic", "529", 529, `"type":"overloaded_error"`},
		{"anthropic", "401", 401, "invalid x-api-key"},
		{"anthropic", "404", 404, `"message":"model: m"`},
		{"anthropic", fake.TooLong, 400, "prompt is too long"},
		{"anthropic", fake.NoSchema, 400, "output_config"},
		{"anthropic", fake.Quota, 400, "credit balance is too low"},
		{"chat", "401", 401, "sk-fake-************cdef"},
		{"chat", "429", 429, `"code":"rate_limit_exceeded"`},
		{"chat", fake.TooLong, 400, `"code":"context_length_exceeded"`},
		{"chat", fake.NoSchema, 400, `"param":"response_format"`},
		{"chat", fake.Quota, 429, `"code":"insufficient_quota"`},
		{"chat", "418", 418, "I'm a teapot"},
		{"responses", "500", 500, "server_error"},
		{"ollama", "404", 404, `{"error":"model 'm' not found"}`},
		{"ollama", fake.TooLong, 400, "exceeds the context length"},
		{"gemini", "429", 429, `"status":"RESOURCE_EXHAUSTED"`},
	} {
		d := dialects[slices.IndexFunc(dialects, func(d dialect) bool { return d.name == one.vendor })]
		s := fake.New(t)
		s.Queue(fake.Answer{Fault: one.fault}, fake.Answer{Fault: one.fault, Message: "in other words"})
		r := d.ask(t, t.Context(), s, true)
		if body := read(t, r); r.StatusCode != one.status || !strings.Contains(body, one.says) || !strings.Contains(r.Header.Get("Content-Type"), "json") {
			t.Errorf("%s %s: status %d, %s", one.vendor, one.fault, r.StatusCode, body)
		}
		if body := read(t, d.ask(t, t.Context(), s, true)); !strings.Contains(body, "in other words") {
			t.Errorf("%s %s: its message is not told: %s", one.vendor, one.fault, body)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	s := fake.New(t)
	s.Queue(fake.Answer{Fault: fake.RetryAfter, Times: 2, Text: "at last"}, fake.Answer{Fault: "429"})
	for i, want := range []string{"1", "1", "", ""} {
		r := dialects[0].ask(t, t.Context(), s, true)
		if got := r.Header.Get("Retry-After"); got != want || (r.StatusCode == 200) != (i == 2) {
			t.Errorf("request %d: status %d, retry-after %q", i, r.StatusCode, got)
		}
		if body := read(t, r); i == 2 && dialects[0].said(t, body, true) != "at last" {
			t.Errorf("after the fault: %s", body)
		}
	}
	if s.Left() != 0 {
		t.Errorf("%d answers left", s.Left())
	}
}

// What arrives of an answer that breaks is a true beginning of it, and no more.
func TestBrokenAnswers(t *testing.T) {
	each(t, func(t *testing.T, d dialect, stream bool) {
		s := fake.New(t)
		s.Queue(fake.Answer{Text: kettle})
		whole := read(t, d.ask(t, t.Context(), s, stream))
		for _, fault := range []fake.Fault{fake.Reset, fake.HalfJSON, fake.NoStop, fake.ErrorEvent, fake.Empty, fake.HTML, fake.ContentType} {
			s.Queue(fake.Answer{Text: kettle, Fault: fault})
			r := d.ask(t, t.Context(), s, stream)
			data, err := io.ReadAll(r.Body)
			body, kind := string(data), r.Header.Get("Content-Type")
			if (err != nil) != (fault == fake.Reset) {
				t.Errorf("%s: %v", fault, err)
			}
			part := body != "" && len(body) < len(whole) && strings.HasPrefix(whole, body)
			switch fault {
			case fake.Reset:
				if !errors.Is(err, syscall.ECONNRESET) || !part {
					t.Errorf("reset: %v after %q", err, body)
				}
			case fake.HalfJSON:
				if !part || strings.HasSuffix(body, "\n") {
					t.Errorf("half: %q", body)
				}
			case fake.NoStop:
				if strings.Contains(body, d.stop) || d.said(t, body, stream) != kettle {
					t.Errorf("no stop: %q", body)
				}
			case fake.ErrorEvent:
				if stream != (r.StatusCode == 200) || !strings.Contains(body, `"error"`) || strings.Contains(body, d.stop) {
					t.Errorf("error event: %d, %q", r.StatusCode, body)
				}
			case fake.Empty:
				if r.StatusCode != 200 || body != "" {
					t.Errorf("empty: %d, %q", r.StatusCode, body)
				}
			case fake.HTML:
				if r.StatusCode != 200 || !strings.HasPrefix(kind, "text/html") || !strings.HasPrefix(body, "<!DOCTYPE") {
					t.Errorf("html: %d, %s, %q", r.StatusCode, kind, body)
				}
			case fake.ContentType:
				if !strings.HasPrefix(kind, "text/plain") || body != whole {
					t.Errorf("content type: %s, %q", kind, body)
				}
			}
		}
	})
}

// Oddities that a client has to live with.
func TestWholeAnswersAllTheSame(t *testing.T) {
	each(t, func(t *testing.T, d dialect, stream bool) {
		s := fake.New(t)
		for _, fault := range []fake.Fault{fake.Noise, fake.NoUsage, fake.SlowHeaders} {
			s.Queue(fake.Answer{Text: kettle, Fault: fault, Delay: time.Microsecond})
			body := read(t, d.ask(t, t.Context(), s, stream))
			if got := d.said(t, body, stream); got != kettle {
				t.Errorf("%s: %q", fault, got)
			}
			if fault == fake.Noise && stream && d.name != "ollama" && (!strings.Contains(body, "\n: PROCESSING\n") || !strings.Contains(body, "event: weather")) {
				t.Errorf("no noise in %s", body)
			}
			if fault == fake.NoUsage && (d.name == "chat" && strings.Contains(body, "prompt_tokens") || d.name == "ollama" && strings.Contains(body, "eval_count")) {
				t.Errorf("counted: %s", body)
			}
		}
	})
	t.Run("gzip", func(t *testing.T) {
		s := fake.New(t)
		s.Queue(fake.Answer{Text: kettle, Fault: fake.Gzip})
		r, _ := http.NewRequest("POST", s.URL+"/api/chat", strings.NewReader(dialects[3].stream))
		r.Header.Set("Accept-Encoding", "gzip") // asked for by hand: net/http leaves it as it is
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		zip, err := gzip.NewReader(answer.Body)
		if err != nil || answer.Header.Get("Content-Encoding") != "gzip" {
			t.Fatal(err, answer.Header)
		}
		if body, err := io.ReadAll(zip); err != nil || dialects[3].said(t, string(body), true) != kettle {
			t.Errorf("%v: %s", err, body)
		}
	})
}

func TestHuge(t *testing.T) {
	s := fake.New(t)
	s.Queue(fake.Answer{Fault: fake.Huge})
	r := dialects[1].ask(t, t.Context(), s, true)
	n, err := io.Copy(io.Discard, r.Body)
	if err != nil || n < 30<<20 {
		t.Errorf("%d bytes, %v", n, err)
	}
}

// A client that hangs up is noted, whatever the answer was waiting for.
func TestHangUp(t *testing.T) {
	for _, a := range []fake.Answer{{Fault: fake.Stall}, {Fault: fake.SlowHeaders}, {Text: kettle, Delay: time.Hour}} {
		s := fake.New(t)
		s.Queue(a)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			r, err := http.NewRequestWithContext(ctx, "POST", s.URL+dialects[1].path, strings.NewReader(dialects[1].stream))
			if err == nil {
				var answer *http.Response
				if answer, err = http.DefaultClient.Do(r); err == nil {
					_, err = io.ReadAll(answer.Body)
					answer.Body.Close()
				}
			}
			ended <- err
		}()
		if !s.Await(10*time.Second, func() bool { return s.Live() == 1 }) {
			t.Fatal("no request arrived")
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%q: the client got %v", a.Fault, err)
		}
		if !s.Await(10*time.Second, func() bool { return s.Live() == 0 }) {
			t.Fatalf("%q: still in work", a.Fault)
		}
		if r := s.Requests()[0]; r.Gone.IsZero() || r.Gone.Before(r.At) || r.Done.Before(r.Gone) {
			t.Errorf("%q: arrived %v, gone %v, done %v", a.Fault, r.At, r.Gone, r.Done)
		}
	}
}

// A server that is stopped lets nobody wait.
func TestStop(t *testing.T) {
	s, stop, err := fake.Start()
	if err != nil {
		t.Fatal(err)
	}
	s.Queue(fake.Answer{Fault: fake.Stall})
	r := dialects[1].ask(t, t.Context(), s, true)
	stop()
	if _, err := io.ReadAll(r.Body); err == nil {
		t.Error("the stalled answer ended well")
	}
	if s.Live() != 0 {
		t.Errorf("%d requests in work", s.Live())
	}
}

func TestQueue(t *testing.T) {
	s := fake.New(t)
	s.Queue(
		fake.Answer{Text: "cups", When: "cup"},
		fake.Answer{Text: "first"},
		fake.Answer{Fault: "500", Path: "/models"},
		fake.Answer{Text: `{"data":[]}`, Path: "/models"},
		fake.Answer{Text: "second"},
		fake.Answer{Fault: "503", Times: -1},
	)
	get := func() (int, string) {
		r, err := http.Get(s.URL + "/v1/models")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		return r.StatusCode, read(t, r)
	}
	if status, _ := get(); status != 500 {
		t.Errorf("/models: %d", status)
	}
	if _, body := get(); body != `{"data":[]}` {
		t.Errorf("/models: %s", body)
	}
	if status, body := get(); status != 200 || !strings.Contains(body, "fake-1") {
		t.Errorf("/models: %d %s", status, body)
	}
	d := dialects[3]
	for _, one := range []struct{ prompt, want string }{{"kettle", "first"}, {"cup", "cups"}, {"cup", "second"}} {
		if got := d.said(t, read(t, post(t, t.Context(), s.URL+d.path, strings.Replace(d.whole, "kettle", one.prompt, 1))), false); got != one.want {
			t.Errorf("%s: %q, want %q", one.prompt, got, one.want)
		}
	}
	for range 3 {
		if r := d.ask(t, t.Context(), s, false); r.StatusCode != 503 {
			t.Errorf("status %d", r.StatusCode)
		}
	}
	requests := s.Requests()
	if len(requests) != 9 || requests[3].Method != "POST" || requests[3].URL.Path != d.path || !bytes.Contains(requests[4].Body, []byte("cup")) ||
		requests[4].Header.Get("X-Api-Key") == "" || !requests[4].Gone.IsZero() {
		t.Errorf("requests: %+v", requests)
	}
}
