package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"amacs/harness/provider/fake"
	"amacs/harness/provider/secret"
)

const testKey = "sk-test-0123456789abcdef"

// vendors are the three, each with a model's name.
var vendors = []struct{ provider, model string }{{"anthropic", "claude-haiku-4-5"}, {"openai", "gpt-4.1"}, {"ollama", "qwen3"}}

// dial opens a model on a server of the test.
func dial(t testing.TB, provider, model, base string) Model {
	t.Helper()
	m, err := Open(dialed(provider, model, base))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func dialed(provider, model, base string) Options {
	return Options{Provider: provider, Model: model, BaseURL: base, Idle: 5 * time.Second, Getenv: func(name string) string {
		if strings.HasSuffix(name, "_API_KEY") {
			return testKey
		}
		return ""
	}}
}

// plain is a request with every setting at its default.
var plain = Request{System: "You are amacs.", Blocks: []Block{{Text: "<chat>\n", Cache: true}, {Text: "Hällo 😀"}}, Settings: Settings{Temperature: 1, TopP: 1}}

// bodies are the requests that asked for a text.
func bodies(s *fake.Server) (out []string) {
	for _, r := range s.Requests() {
		if strings.HasSuffix(r.URL.Path, "/messages") || strings.HasSuffix(r.URL.Path, "/completions") || strings.HasSuffix(r.URL.Path, "/api/chat") {
			out = append(out, string(r.Body))
		}
	}
	return out
}

// Each vendor's answer arrives whole, streamed, counted.
func TestComplete(t *testing.T) {
	const text = "naïve 日本語 😀 and the rest"
	for _, v := range vendors {
		t.Run(v.provider, func(t *testing.T) {
			s := fake.New(t)
			s.Queue(fake.Answer{Text: text, Thinking: "hmm, let me see", Cut: []int{3, 4, 9, 18}, Usage: fake.Usage{In: 100, Cached: 60, Written: 30, Out: 9}},
				fake.Answer{Text: text, Stop: "max_tokens"}, fake.Answer{Text: text, Fault: fake.Gzip, Times: 0}, fake.Answer{Text: text, Fault: fake.Noise})
			m := dial(t, v.provider, v.model, s.URL)
			if m.Name() != v.provider+":"+v.model {
				t.Errorf("name %q", m.Name())
			}
			for i, stop := range []string{"end", "max_tokens", "end", "end"} {
				var streamed []string
				r, err := m.Complete(context.Background(), plain, func(p string) { streamed = append(streamed, p) })
				if err != nil || r.Text != text || strings.Join(streamed, "") != text || len(streamed) < 2 || r.Stop != stop || r.Model != v.model || r.Words != nil {
					t.Fatalf("%d: %+v, %v, streamed %q", i, r, err, streamed)
				}
				want := Usage{In: 100, Cached: 60, Written: 30, Out: 9}
				if v.provider == "openai" {
					r.Usage.Written = want.Written // not every server tells it
				}
				if v.provider == "ollama" {
					want = Usage{In: r.Usage.In, Out: 9}
				}
				if i == 0 && r.Usage != want || r.Usage.In == 0 || r.Usage.Out == 0 {
					t.Errorf("usage %+v", r.Usage)
				}
			}
			if _, err := m.Complete(context.Background(), plain, nil); err != nil {
				t.Errorf("nobody listens: %v", err)
			}
		})
	}
}

// Each fault is an error of its class, with what is known of it.
func TestFaults(t *testing.T) {
	const text = "one two three four five six seven eight"
	for _, c := range []struct {
		fault  fake.Fault
		class  Class
		began  bool
		broken bool   // after half of the text
		hint   string // is a part of it; "" = there is none
	}{
		{"400", Permanent, false, false, "amacs models"},
		{"401", Permanent, false, false, "the key was refused"},
		{"402", Permanent, false, false, "add credit"},
		{"403", Permanent, false, false, "no right"},
		{"404", Permanent, false, false, "amacs models"},
		{"408", Transient, false, false, ""},
		{"409", Transient, false, false, ""},
		{"413", TooLong, false, false, "shorter"},
		{"422", Permanent, false, false, "amacs models"},
		{"425", Transient, false, false, ""},
		{"429", Transient, false, false, ""},
		{fake.RetryAfter, Transient, false, false, ""},
		{"500", Transient, false, false, ""},
		{"503", Transient, false, false, ""},
		{"529", Transient, false, false, ""},
		{fake.TooLong, TooLong, false, false, "shorter"},
		{fake.Quota, Permanent, false, false, "add credit"},
		{fake.Reset, Transient, true, true, ""},
		{fake.Stall, Transient, true, true, ""},
		{fake.HalfJSON, Transient, true, true, "?"},
		{fake.Empty, Transient, true, false, "?"},
		{fake.HTML, Permanent, true, false, "is base-url the address of an API?"},
		{fake.ContentType, Permanent, true, false, "is base-url the address of an API?"},
		{fake.NoStop, Transient, true, true, "?"},
		{fake.ErrorEvent, Transient, true, true, ""},
		{fake.Huge, Permanent, true, true, ""},
	} {
		for _, v := range vendors {
			t.Run(string(c.fault)+" "+v.provider, func(t *testing.T) {
				t.Parallel()
				if v.provider == "ollama" && c.fault == fake.Quota {
					t.Skip("Ollama has nothing to pay")
				}
				if v.provider != "openai" && c.fault == fake.Huge {
					t.Skip("30 MB once are enough: the limit is not the vendor's")
				}
				s := fake.New(t)
				s.Queue(fake.Answer{Text: text, Pieces: 3, Fault: c.fault, Times: -1, Headers: map[string]string{"x-ratelimit-remaining-requests": "3"}})
				o := dialed(v.provider, v.model, s.URL)
				if c.fault == fake.Stall {
					o.Idle = 400 * time.Millisecond
				}
				m, err := Open(o)
				if err != nil {
					t.Fatal(err)
				}
				streamed := 0
				_, err = m.Complete(context.Background(), plain, func(p string) { streamed += len(p) })
				var e *Error
				if !errors.As(err, &e) {
					t.Fatalf("no error: %v", err)
				}
				if e.Class != c.class || e.Began != c.began {
					t.Errorf("%v, began %v: %v", e.Class, e.Began, err)
				}
				if c.hint != "?" && (c.hint == "") != (e.Hint == "") || c.hint != "?" && !strings.Contains(e.Hint, c.hint) {
					t.Errorf("hint %q", e.Hint)
				}
				if (e.Partial != "") != c.broken || len(e.Partial) != streamed || c.fault != fake.Huge && !strings.HasPrefix(text, e.Partial) {
					t.Errorf("partial %.100q, streamed %d", e.Partial, streamed)
				}
				if (e.RetryAfter == time.Second) != (c.fault == fake.RetryAfter) {
					t.Errorf("retry after %v", e.RetryAfter)
				}
				if c.fault == "429" && (len(e.Limits) != 1 || e.Limits[0].Remaining != 3) {
					t.Errorf("limits %+v", e.Limits)
				}
				if strings.Contains(err.Error(), testKey) || strings.Contains(err.Error(), "\n") || len(err.Error()) > 700 {
					t.Errorf("%v", err)
				}
				if v.provider == "anthropic" && c.broken && c.fault != fake.HalfJSON && e.Usage.In == 0 {
					t.Errorf("what was counted is lost: %+v", e.Usage)
				}
				if n := len(bodies(s)); n != 1 {
					t.Errorf("asked %d times", n)
				}
			})
		}
	}
}

// What a cancel ends is over within 100 ms.
func TestCancelled(t *testing.T) {
	for _, v := range vendors {
		for _, fault := range []fake.Fault{fake.Stall, fake.SlowHeaders} {
			t.Run(v.provider+" "+string(fault), func(t *testing.T) {
				var took time.Duration
				for range 5 { // the machine may have other things to do
					if took = cancelled(t, v.provider, v.model, fault); took < 100*time.Millisecond {
						return
					}
				}
				t.Errorf("took %v", took)
			})
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	<-ctx.Done()
	if _, err := dial(t, "openai", "x", "http://127.0.0.1:9").Complete(ctx, plain, nil); Classify(err) != Transient || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a deadline that passed: %v", err)
	}
}

// cancelled cancels a call that hangs, and returns how long that took.
func cancelled(t *testing.T, provider, model string, fault fake.Fault) time.Duration {
	s := fake.New(t)
	s.Queue(fake.Answer{Fault: fault, Times: -1})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	began, at := make(chan bool, 1), make(chan time.Time, 1)
	if fault == fake.SlowHeaders {
		go func() { began <- s.Await(5*time.Second, func() bool { return len(bodies(s)) == 1 }) }()
	}
	go func() {
		<-began
		at <- time.Now()
		cancel()
	}()
	_, err := dial(t, provider, model, s.URL).Complete(ctx, plain, func(string) {
		select {
		case began <- true:
		default:
		}
	})
	returned := time.Now()
	var e *Error
	if !errors.As(err, &e) || e.Class != Cancelled || !e.Began || !errors.Is(err, context.Canceled) {
		t.Fatalf("%v", err)
	}
	if !s.Await(5*time.Second, func() bool { return s.Live() == 0 }) {
		t.Error("the connection is open")
	}
	return returned.Sub(<-at)
}

func TestNobodyThere(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	for _, v := range vendors {
		_, err := dial(t, v.provider, v.model, server.URL).Complete(context.Background(), plain, nil)
		var e *Error
		if !errors.As(err, &e) || e.Class != Transient || e.Began || !strings.Contains(e.Hint, "is the server running?") {
			t.Errorf("%v", err)
		}
	}
}

// refusing is a server that refuses a request which holds the first text, with
// the second as the reason, and answers the rest.
type refusing struct {
	rules  [][2]string // the reason may begin with "PARAM| "
	status int
	asked  []string
}

func (f *refusing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	_, _ = b.ReadFrom(r.Body)
	f.asked = append(f.asked, b.String())
	for _, rule := range f.rules {
		if strings.Contains(b.String(), rule[0]) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(f.status)
			param, why, ok := strings.Cut(rule[1], "| ")
			if !ok {
				param, why = "", rule[1]
			}
			text, _ := json.Marshal(map[string]string{"type": "invalid_request_error", "param": param, "message": why})
			fmt.Fprintf(w, `{"error":%s}`, text)
			return
		}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	if r.URL.Path == "/v1/messages" {
		fmt.Fprint(w, `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"ok"}}`+"\n\n"+`data: {"type":"message_stop"}`+"\n\n")
		return
	}
	fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
}

// A setting that a server refuses is left out, for good, and the human is told
// once.
func TestRefusedSettings(t *testing.T) {
	schema := json.RawMessage(`{"type":"object"}`)
	busy := Settings{Temperature: 0.3, TopP: 0.5, TopK: 7, MaxTokens: 4000}
	for name, c := range map[string]struct {
		provider, model string
		settings        Settings
		rules           [][2]string
		status          int
		asked           int
		words           []string // parts of them; nil = the call fails
		gone            string   // is not in the last request
	}{
		"schema": {"anthropic", "claude-haiku-4-5", Settings{Temperature: 1}, [][2]string{{"json_schema", "output_config.format: Extra inputs are not permitted"}}, 400, 2,
			[]string{"anthropic:claude-haiku-4-5 does not take a JSON schema, so it is left out: output_config.format: Extra"}, "output_config"},
		"thinking is always on": {"anthropic", "claude-haiku-9", Settings{Temperature: 1}, [][2]string{
			{"disabled", `"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`},
			{"between_tools", `"thinking.type.between_tools" is not supported for this model.`}}, 400, 3, []string{}, "thinking"},
		"all at once": {"openai", "local", busy, [][2]string{{"top_k", "Unrecognized request argument: top_k"}, {"response_format", "response_format is not supported"},
			{"temperature", "Unsupported value: 'temperature'"}, {"max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."}}, 422, 5,
			[]string{"top-k", "a JSON schema", "a temperature"}, "temperature"},
		"one too many": {"openai", "local", busy, [][2]string{{"top_k", "top_k"}, {"response_format", "response_format"}, {"temperature", "temperature"}, {"top_p", "top_p"},
			{"stream_options", "stream_options: no"}}, 400, 5, nil, "temperature"},
		"named apart": {"openai", "local", Settings{Temperature: 0.3}, [][2]string{{"temperature", "temperature| only the default is supported"}}, 400, 2,
			[]string{"openai:local does not take a temperature, so it is left out: only the default"}, "temperature"},
		"system role":       {"openai", "local", Settings{Temperature: 1}, [][2]string{{`"role":"system"`, "System role not supported"}}, 400, 2, []string{}, `"role":"system"`},
		"too long":          {"openai", "local", busy, [][2]string{{"messages", "this exceeds the maximum context length: shorten the messages or the schema"}}, 400, 1, nil, "nothing"},
		"not one of ours":   {"openai", "local", busy, [][2]string{{"messages", "messages: too many roles"}}, 400, 1, nil, "nothing"},
		"not at fault":      {"openai", "local", busy, [][2]string{{"messages", "temperature of the machine"}}, 500, 1, nil, "nothing"},
		"the limit is kept": {"openai", "local", busy, [][2]string{{"max_", "max_tokens is too large: 4000"}}, 400, 1, nil, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &refusing{rules: c.rules, status: c.status}
			server := httptest.NewServer(f)
			defer server.Close()
			m := dial(t, c.provider, c.model, server.URL)
			r := plain
			r.Settings, r.Schema = c.settings, schema
			resp, err := m.Complete(context.Background(), r, nil)
			if (err == nil) != (c.words != nil) || len(f.asked) != c.asked || len(resp.Words) != len(c.words) {
				t.Fatalf("%v, asked %d times, words %q", err, len(f.asked), resp.Words)
			}
			for i, w := range c.words {
				if !strings.Contains(resp.Words[i], w) {
					t.Errorf("words %q", resp.Words)
				}
			}
			last := f.asked[len(f.asked)-1]
			if !strings.Contains(last, "You are amacs.") || strings.Contains(last, c.gone) || c.settings.MaxTokens > 0 && !strings.Contains(last, "tokens\":4000") {
				t.Errorf("last asked %s", last)
			}
			if err != nil {
				return
			}
			if resp, err = m.Complete(context.Background(), r, nil); err != nil || len(f.asked) != c.asked+1 || len(resp.Words) != 0 {
				t.Errorf("not remembered: %v, asked %d times, words %q", err, len(f.asked), resp.Words)
			}
		})
	}
}

// One model may be asked by many at once.
func TestAtOnce(t *testing.T) {
	s := fake.New(t)
	for _, v := range vendors {
		m := dial(t, v.provider, "", s.URL)
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				r := plain
				r.Settings.Temperature = 1.5
				if got, err := m.Complete(context.Background(), r, func(string) { m.Facts() }); err != nil || got.Text != fake.Default || m.Name() == v.provider {
					t.Errorf("%+v, %v", got, err)
				}
			})
		}
		all.Wait()
	}
}

// Words about a setting are said once.
func TestWordsOnce(t *testing.T) {
	s := fake.New(t)
	m := dial(t, "anthropic", "claude-haiku-4-5", s.URL+"/v1/")
	for i := range 2 {
		r := plain
		r.Settings.Temperature = 1.5
		if got, err := m.Complete(context.Background(), r, nil); err != nil || len(got.Words) != 1-i {
			t.Errorf("%q, %v", got.Words, err)
		}
	}
	if path := s.Requests()[0].URL.Path; path != "/v1/messages" {
		t.Errorf("asked at %s", path)
	}
}

// What a call had cost by the time it broke is not lost.
func TestCostOfAFailure(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("there is no key to send")
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, `data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":7,"cost":0.5}}`+"\n\n"+`data: {"error":{"code":502,"message":"lost"}}`+"\n\n")
	}))
	defer server.Close()
	o := dialed("openai", "x", server.URL)
	o.Getenv = func(string) string { return "" } // a local server needs no key
	m, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Complete(context.Background(), plain, nil)
	var e *Error
	if !errors.As(err, &e) || e.Class != Transient || e.Cost == nil || *e.Cost != 0.5 || e.Usage.In != 7 || e.Partial != "a" {
		t.Errorf("%+v", e)
	}
}

// No key, no call; a key that was refused is looked up anew.
func TestKey(t *testing.T) {
	for provider, says := range map[string]string{"anthropic": "no key for api.anthropic.com (set ANTHROPIC_API_KEY, or set api-key-cmd)", "openai": "set OPENAI_API_KEY"} {
		m, err := Open(Options{Provider: provider, Getenv: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Complete(context.Background(), plain, nil)
		if e, ok := errors.AsType[*Error](err); !ok || e.Class != Permanent || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", provider, err)
		}
	}
	s := fake.New(t)
	s.Queue(fake.Answer{Fault: "401"})
	o := dialed("anthropic", "claude-haiku-4-5", s.URL)
	keys := []string{"first-key-1234", "second-key-1234"}
	var hosts []string
	o.Key = func(_ context.Context, host string, vars ...string) (secret.Key, error) {
		hosts = append(hosts, host+" "+strings.Join(vars, ","))
		k := keys[0]
		keys = keys[1:]
		return secret.Key{Text: k, From: "api-key-cmd"}, nil
	}
	m, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if _, err := m.Complete(context.Background(), plain, nil); (err == nil) != (i > 0) {
			t.Fatalf("%d: %v", i, err)
		}
	}
	rs := s.Requests()
	if rs[0].Header.Get("X-Api-Key") != "first-key-1234" || rs[2].Header.Get("X-Api-Key") != "second-key-1234" || len(hosts) != 2 || hosts[0] != strings.TrimPrefix(s.URL, "http://")+" ANTHROPIC_API_KEY,ANTHROPIC_AUTH_TOKEN" {
		t.Errorf("asked for %q", hosts)
	}
	o.Key = func(context.Context, string, ...string) (secret.Key, error) {
		return secret.Key{Text: "token-1234", From: "ANTHROPIC_AUTH_TOKEN"}, nil
	}
	if m, err = Open(o); err != nil {
		t.Fatal(err)
	}
	_, err = m.Complete(context.Background(), plain, nil)
	if last := s.Requests()[3].Header; err != nil || last.Get("Authorization") != "Bearer token-1234" || last.Get("X-Api-Key") != "" {
		t.Errorf("%v, %v", err, last)
	}
	o.Key = func(context.Context, string, ...string) (secret.Key, error) {
		return secret.Key{}, errors.New("pass: not unlocked")
	}
	if m, err = Open(o); err != nil {
		t.Fatal(err)
	}
	if _, err = m.Complete(context.Background(), plain, nil); Classify(err) != Permanent || !strings.Contains(err.Error(), "looking for the key: pass: not unlocked") {
		t.Errorf("%v", err)
	}
}

// A server on this machine is asked without a key where the command has none.
func TestNoKeyHere(t *testing.T) {
	for _, p := range []string{"openai", "ollama"} {
		s := fake.New(t)
		o := dialed(p, "fake-1", s.URL)
		o.Key = func(context.Context, string, ...string) (secret.Key, error) {
			return secret.Key{}, errors.New("keys/127.0.0.1 is not in the password store")
		}
		m, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Complete(context.Background(), plain, nil); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
}

// A wait that nobody is asked for is told.
func TestLongWait(t *testing.T) {
	s := fake.New(t)
	s.Queue(fake.Answer{Fault: "429", Headers: map[string]string{"retry-after": "3600"}})
	_, err := dial(t, "openai", "fake-1", s.URL).Complete(context.Background(), plain, nil)
	if _, again := Again(err, 1); again || !strings.Contains(err.Error(), "(it asks to wait for 1h0m0s, ") {
		t.Errorf("%v", err)
	}
}

// The key is in no exchange that is shown.
func TestDebugHasNoKey(t *testing.T) {
	for _, v := range vendors[:2] {
		s := fake.New(t)
		s.Queue(fake.Answer{Text: "you sent " + testKey}, fake.Answer{Fault: "401", Message: "no such key: " + testKey})
		var shown bytes.Buffer
		o := dialed(v.provider, v.model, s.URL)
		o.Debug = &shown
		m, err := Open(o)
		if err != nil {
			t.Fatal(err)
		}
		_, err1 := m.Complete(context.Background(), plain, nil)
		_, err2 := m.Complete(context.Background(), plain, nil)
		if err1 != nil || err2 == nil || strings.Contains(err2.Error(), testKey) {
			t.Errorf("%v, %v", err1, err2)
		}
		if got := shown.String(); strings.Contains(got, testKey) || !strings.Contains(got, "Hällo 😀") || !strings.Contains(got, "no such key: [key]") || !strings.Contains(got, "content-type: text/event-stream") {
			t.Errorf("%s", got)
		}
	}
}

func TestIsLocal(t *testing.T) {
	for host, want := range map[string]bool{"localhost": true, "LOCALHOST.:8080": true, "127.0.0.1:1": true, "[::1]:80": true, "192.168.1.7": true, "10.0.0.1:8000": true,
		"0.0.0.0:1": true, "box.local": true, "api.openai.com": false, "8.8.8.8": false, "localhost.example.com": false, "[2606:4700::1]:443": false, "mylocal": false} {
		if isLocal(host) != want {
			t.Errorf("%s", host)
		}
	}
}

func TestClassOfWords(t *testing.T) {
	// Met in the wild; the classes of the rest are in TestFaults.
	for text, want := range map[string]Class{
		`400 {"error":{"message":"input length and ` + "`max_tokens`" + ` exceed context limit: 190000 + 20000 > 200000"}}`:                                                TooLong,
		`400 {"error":{"message":"This model's maximum context length is 8192 tokens. However, you requested 9000 tokens","code":400}}`:                                    TooLong,
		`400 {"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_ctx":4096}}`:         TooLong,
		`400 {"error":{"message":"x","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`:                                                 TooLong,
		`400 {"error":"the input length exceeds the context length"}`:                                                                                                      TooLong,
		`200 {"error":{"message":"Context size has been exceeded."}}`:                                                                                                      TooLong,
		`200 {"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}`:            TooLong,
		`429 {"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 50000","type":"tokens","code":"rate_limit_exceeded"}}`:      TooLong,
		`400 {"error":{"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."}}`:                                              Permanent,
		`400 {"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 300000 > 128000, which is the maximum allowed number of output tokens"}}`:      Permanent,
		`429 {"error":{"message":"You exceeded your current quota, please check your plan","type":"insufficient_quota","code":"insufficient_quota"}}`:                      Permanent,
		`400 {"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits. You will regain access on 2026-12-01"}}`: Permanent,
		`200 {"error":{"code":502,"message":"Provider returned error"}}`:                                                                                                   Transient,
		`200 {"error":{"code":402,"message":"Insufficient credits"}}`:                                                                                                      Permanent,
		`200 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`:                                                                                  Transient,
		`200 {"type":"error","error":{"type":"invalid_request_error","message":"no"}}`:                                                                                     Permanent,
		`200 {"error":"the slot was lost"}`: Transient,
		`501 {"error":{"message":"This server does not support embeddings","type":"not_supported_error"}}`: Permanent,
	} {
		var status int
		var body string
		if _, err := fmt.Sscanf(text, "%d", &status); err != nil {
			t.Fatal(err)
		}
		body = text[4:]
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if w.Header().Set("Content-Type", "application/json"); status == 200 {
				w.Header().Set("Content-Type", "text/event-stream")
				body = "event: error\ndata: " + text[4:] + "\n\n"
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}))
		_, err := dial(t, "openai", "x", server.URL).Complete(context.Background(), plain, nil)
		server.Close()
		if Classify(err) != want {
			t.Errorf("%v: %v", Classify(err), err)
		}
	}
}

// BenchmarkComplete is a whole call of some 2,000 tokens, server included.
func BenchmarkComplete(b *testing.B) {
	s := fake.New(b)
	m := dial(b, "openai", "gpt-4.1", s.URL)
	text := strings.Repeat("word ", 2000)
	for b.Loop() {
		s.Queue(fake.Answer{Text: text})
		if _, err := m.Complete(context.Background(), plain, func(string) {}); err != nil {
			b.Fatal(err)
		}
	}
}
