package wire

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

const theKey = "sk-test/0123456789+abcdef=="

// served starts a server and returns it as a client sees it.
func served(t testing.TB, idle time.Duration, debug io.Writer, h http.HandlerFunc) *Server {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	s, err := New(server.URL, "amacs/test", idle, debug)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

func ask(path string) Ask {
	return Ask{Path: path, Body: map[string]string{"prompt": "<chat> & " + theKey}, Header: map[string]string{"X-Api-Key": theKey}, Secrets: []string{theKey}}
}

// text collects the data of the events up to a "stop".
func text(s *Server, a Ask) (string, error) {
	var b strings.Builder
	_, err := s.Events(context.Background(), a, func(e Event) error {
		if e.Data == "stop" {
			return io.EOF
		}
		b.WriteString(e.Data)
		return nil
	})
	return b.String(), err
}

func TestRequest(t *testing.T) {
	s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprintf(w, `{"got":%q}`, r.Method+" "+r.URL.String()+" "+r.Header.Get("User-Agent")+" "+r.Header.Get("X-Api-Key")+" "+string(body))
	})
	var into struct{ Got string }
	if _, err := s.JSON(context.Background(), ask("/v1/x?a=b"), &into); err != nil || into.Got != `POST /v1/x?a=b amacs/test `+theKey+` {"prompt":"<chat> & `+theKey+`"}` {
		t.Errorf("%q, %v", into.Got, err)
	}
	if _, err := s.JSON(context.Background(), Ask{Path: "/v1/models"}, &into); err != nil || into.Got != "GET /v1/models amacs/test  " {
		t.Errorf("%q, %v", into.Got, err)
	}
}

func TestNew(t *testing.T) {
	for base, want := range map[string]string{
		"ftp://host":                   "must be like",
		"localhost:8080":               "must be like",
		"":                             "must be like",
		"http://":                      "must be like",
		"http://user:pass%zz@host/":    "not a URL",
		"ftp://user:hunter2hunter2@ho": "xxxxx",
	} {
		_, err := New(base, "", 0, nil)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "pass%") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// What is no answer is a fault that says so.
func TestNoAnswer(t *testing.T) {
	type answer struct {
		status int
		kind   string
		header string // one more, "name: value"
		body   string
	}
	for name, c := range map[string]struct {
		answer
		says         string
		again, began bool
		message      string
		wait         time.Duration
	}{
		"anthropic":       {answer: answer{529, "application/json", "", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}, says: "says 529: Overloaded", again: true, message: "Overloaded"},
		"openai":          {answer: answer{400, "application/json", "", `{"error":{"message":"Bad","type":"invalid_request_error","param":"x","code":null}}`}, says: "says 400 Bad Request: Bad", message: "Bad"},
		"ollama":          {answer: answer{404, "application/json", "", `{"error":"model 'x' not found"}`}, says: "model 'x' not found", message: "model 'x' not found"},
		"fastapi":         {answer: answer{404, "application/json", "", `{"detail":"Not Found"}`}, says: "Not Found", message: "Not Found"},
		"no body":         {answer: answer{503, "text/plain", "", ""}, says: "says 503 Service Unavailable", again: true},
		"a page":          {answer: answer{502, "text/html", "", "<html><head><style>p{}</style><title>Bad gateway</title></head>\n<body>nginx</body></html>"}, says: "says 502 Bad Gateway: Bad gateway nginx", again: true},
		"not built":       {answer: answer{501, "text/plain", "", "no"}, says: "501"},
		"seconds":         {answer: answer{429, "text/plain", "Retry-After: 7", "x"}, says: "429", again: true, wait: 7 * time.Second},
		"half seconds":    {answer: answer{429, "text/plain", "Retry-After: 0.5", "x"}, says: "429", again: true, wait: time.Second / 2},
		"milliseconds":    {answer: answer{429, "text/plain", "Retry-After-Ms: 120", "x"}, says: "429", again: true, wait: 120 * time.Millisecond},
		"an old date":     {answer: answer{429, "text/plain", "Retry-After: Sat, 01 Jan 2000 00:00:00 GMT", "x"}, says: "429", again: true},
		"nonsense":        {answer: answer{429, "text/plain", "Retry-After: soon", "x"}, says: "429", again: true},
		"key in the body": {answer: answer{401, "application/json", "", `{"error":{"message":"Incorrect API key: ` + theKey + `"}}`}, says: "Incorrect API key: [key]", message: "Incorrect API key: [key]"},
		"key in the page": {answer: answer{401, "text/plain", "", "no such key " + theKey}, says: "no such key [key]"},
		"moved":           {answer: answer{308, "text/html", "Location: https://elsewhere.example/v1?k=" + theKey, "x"}, says: "has moved to https://elsewhere.example/v1?k=[key]"},

		"page with 200":    {answer: answer{200, "text/html", "", "<!DOCTYPE html><title>Log in</title><p>to the hotel's network"}, says: "text/html instead of text/event-stream: Log in to the hotel's network", began: true},
		"other type":       {answer: answer{200, "application/octet-stream", "", "data: x\n\n"}, says: "application/octet-stream instead of text/event-stream: data: x", began: true},
		"JSON with 200":    {answer: answer{200, "application/json", "", `{"id":"1"}`}, says: `application/json instead of text/event-stream: {"id":"1"}`, began: true},
		"error with 200":   {answer: answer{200, "application/json", "", `{"error":"no slot"}`}, says: "no slot", began: true, message: "no slot"},
		"empty":            {answer: answer{200, "text/event-stream", "", ""}, says: "the answer is empty", again: true, began: true},
		"empty, no stream": {answer: answer{200, "application/json", "", ""}, says: "the answer is empty", again: true, began: true},
		"escapes":          {answer: answer{500, "text/plain", "", "\x1b[31mred\x00\xff" + strings.Repeat("ü", 200)}, says: "[31mred", again: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				if k, v, ok := strings.Cut(c.header, ": "); ok {
					w.Header().Set(k, v)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			_, err := text(s, ask("/"))
			var f *Fault
			if !errors.As(err, &f) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), theKey) {
				t.Fatalf("%v, want %q", err, c.says)
			}
			if f.Status != c.status || f.Again != c.again || f.Began != c.began || f.RetryAfter != c.wait || f.Message != c.message || f.Header == nil {
				t.Errorf("%+v", f)
			}
			if !utf8.ValidString(err.Error()) || strings.ContainsAny(err.Error(), "\x1b\n\x00") || len([]rune(err.Error())) > 300 {
				t.Errorf("not one plain line: %q", err)
			}
		})
	}
}

// What goes on slowly is not silent.
func TestSlow(t *testing.T) {
	t.Parallel()
	const idle = 300 * time.Millisecond
	s := served(t, idle, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for start := time.Now(); time.Since(start) < (firstByte+1)*idle; time.Sleep(idle / 10) {
			fmt.Fprint(w, ": still here\n\n")
			_ = http.NewResponseController(w).Flush()
		}
		fmt.Fprint(w, "data: a\n\ndata: stop\n\n")
	})
	if got, err := text(s, ask("/")); err != nil || got != "a" {
		t.Errorf("%q, %v", got, err)
	}
}

// An answer that breaks off is told from one that ends.
func TestBroken(t *testing.T) {
	for name, c := range map[string]struct {
		serve http.HandlerFunc
		err   error
	}{
		"hang up in mid-stream": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: a\n\ndata: b")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, io.ErrUnexpectedEOF},
		"hang up at once": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, io.ErrUnexpectedEOF},
		"silent in mid-stream": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: a\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, ErrSilent},
		"silent from the first": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}, ErrSilent},
		"silent error": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(500)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, ErrSilent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			idle := time.Minute
			if c.err == ErrSilent {
				idle = 60 * time.Millisecond
			}
			s := served(t, idle, nil, c.serve)
			_, err := text(s, ask("/"))
			var f *Fault
			if !errors.As(err, &f) || !errors.Is(err, c.err) || !f.Again || f.Began != !strings.Contains(name, "error") {
				t.Errorf("%#v: %v", f, err)
			}
		})
	}
}

func TestNobodyThere(t *testing.T) {
	server := httptest.NewServer(nil)
	server.Close()
	s, err := New(server.URL, "", time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = text(s, ask("/"))
	var f *Fault
	if !errors.As(err, &f) || !f.Again || f.Began || !strings.Contains(err.Error(), "connection refused") {
		t.Errorf("%+v", f)
	}
}

// A plain server behind an https address is no fault of the moment.
func TestNoTLS(t *testing.T) {
	server := httptest.NewServer(nil)
	defer server.Close()
	s, err := New("https"+strings.TrimPrefix(server.URL, "http"), "", time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = text(s, ask("/"))
	if f, ok := errors.AsType[*Fault](err); !ok || f.Again || !errors.Is(err, http.ErrSchemeMismatch) {
		t.Errorf("%v", err)
	}
	unknown := httptest.NewUnstartedServer(nil)
	unknown.Config.ErrorLog = log.New(io.Discard, "", 0)
	unknown.StartTLS()
	defer unknown.Close()
	if s, err = New(unknown.URL, "", time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	_, err = text(s, ask("/"))
	if f, ok := errors.AsType[*Fault](err); !ok || f.Again {
		t.Errorf("a certificate that nobody knows: %v", err)
	}
}

// An error with status 200 is one, whatever was asked for.
func TestErrorWith200(t *testing.T) {
	s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"error":"Unexpected endpoint or method. (GET /models)"}`)
	})
	var into struct{}
	_, err := s.JSON(context.Background(), Ask{Path: "/models"}, &into)
	if err == nil || !strings.HasSuffix(err.Error(), ": Unexpected endpoint or method. (GET /models)") {
		t.Errorf("%v", err)
	}
}

const proxied = "AMACS_TEST_BEHIND_PROXY"

// A proxy of the environment is used; the environment is read once, so this is a
// process of its own.
func TestProxy(t *testing.T) {
	if base := os.Getenv(proxied); base != "" {
		s, err := New(base, "", time.Minute, nil)
		if err != nil {
			t.Fatal(err)
		}
		var into struct{ OK bool }
		if _, err := s.JSON(context.Background(), Ask{Path: "/models"}, &into); err != nil || !into.OK {
			t.Fatal(err)
		}
		return
	}
	asked := make(chan string, 1)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.URL.String()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"ok":true}`)
	}))
	defer proxy.Close()
	cmd := exec.Command(os.Args[0], "-test.run=^TestProxy$")
	cmd.Env = []string{proxied + "=http://models.invalid/v1", "HTTP_PROXY=" + proxy.URL}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := <-asked; got != "http://models.invalid/v1/models" {
		t.Errorf("asked for %s", got)
	}
}

// Cancelling ends the call and the connection at once, whenever it comes.
func TestCancel(t *testing.T) {
	for _, stage := range []string{"before the header", "in mid-stream"} {
		t.Run(stage, func(t *testing.T) {
			reached, gone := make(chan bool, 1), make(chan time.Time, 1)
			s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if stage == "in mid-stream" {
					w.Header().Set("Content-Type", "text/event-stream")
					fmt.Fprint(w, "data: a\n\n")
					_ = http.NewResponseController(w).Flush()
				}
				reached <- true
				<-r.Context().Done()
				gone <- time.Now()
			})
			var late time.Duration
			for range 5 { // the machine may have other things to do
				ctx, cancel := context.WithCancel(context.Background())
				cancelled := make(chan time.Time, 1)
				go func() {
					<-reached
					cancelled <- time.Now()
					cancel()
				}()
				_, err := s.Events(ctx, ask("/"), func(Event) error { return nil })
				returned, f := time.Now(), (*Fault)(nil)
				if !errors.As(err, &f) || !errors.Is(err, context.Canceled) || !f.Began {
					t.Fatalf("%v", err)
				}
				at := <-cancelled
				if late = max(returned.Sub(at), (<-gone).Sub(at)); late < 100*time.Millisecond {
					return
				}
			}
			t.Errorf("over after %v", late)
		})
	}
}

func TestRedirectKeepsTheKey(t *testing.T) {
	asked := false
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked = true }))
	defer other.Close()
	s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	_, err := text(s, ask("/"))
	if !errors.Is(err, ErrMoved) || asked {
		t.Errorf("%v, asked %v", err, asked)
	}
}

// Most vendors answer by HTTP/2.
func TestHTTP2(t *testing.T) {
	gone := make(chan bool, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: ", r.Proto, "\n\n")
		_ = http.NewResponseController(w).Flush()
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
			gone <- true
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	s, err := New(server.URL, "", time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.client.Transport.(*http.Transport).TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig
	if got, err := text(s, ask("/")); err != nil || got != "HTTP/2.0" {
		t.Errorf("%q, %v", got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if _, err := s.Events(ctx, ask("/hang"), func(Event) error { cancel(); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-gone
}

func TestTooMuch(t *testing.T) {
	for name, c := range map[string]struct{ event, times int }{
		"one event":   {maxEvent + 1000, 1},
		"many events": {1 << 20, maxBody>>20 + 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				for range c.times {
					if _, err := fmt.Fprintf(w, "data: %s\n\n", strings.Repeat("x", c.event)); err != nil {
						return // the client hung up
					}
				}
			})
			_, err := s.Events(context.Background(), ask("/"), func(Event) error { return nil })
			if f, ok := errors.AsType[*Fault](err); !ok || !errors.Is(err, ErrSize) || f.Again {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestGzip(t *testing.T) {
	s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("accepts %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, "data: né\n\n")
		z.Close()
	})
	if got, err := text(s, ask("/")); err != nil || got != "né" {
		t.Errorf("%q, %v", got, err)
	}
}

// The last event counts, with or without the blank line after it.
func TestLastEvent(t *testing.T) {
	for _, end := range []string{"", "\n", "\n\n", "\r\n"} {
		s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: a\n\ndata: b", end)
		})
		if got, err := text(s, ask("/")); err != nil || got != "ab" {
			t.Errorf("%q: %q, %v", end, got, err)
		}
	}
}

// stream is an answer with what may stand in one.
const stream = "\ufeff: ping\n\nevent: ping\ndata: naïve \r\n\r\nid: 7\nretry: 10\ndata: 日本\n\n: x\n: x\n\ndata:語 😀\n\nunknown: y\n\ndata: one\ndata: two\n\ndata: stop\n\ndata: after\n\n"

const streamText = "naïve 日本語 😀one\ntwo"

// cut sends a text in stretches that end at the given places.
func cut(w http.ResponseWriter, text string, at ...int) {
	c := http.NewResponseController(w)
	last := 0
	for _, i := range at {
		if i = min(max(i, last), len(text)); i > last {
			_, _ = io.WriteString(w, text[last:i])
			_ = c.Flush()
			last = i
		}
	}
	_, _ = io.WriteString(w, text[last:])
}

// Wherever the network cuts a stream, the text is the same.
func TestCut(t *testing.T) {
	var mu sync.Mutex
	at := 0
	s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		mu.Lock()
		defer mu.Unlock()
		cut(w, stream, at, at+1)
	})
	for i := range len(stream) {
		mu.Lock()
		at = i
		mu.Unlock()
		if got, err := text(s, ask("/")); err != nil || got != streamText {
			t.Fatalf("cut at %d: %q, %v", i, got, err)
		}
	}
}

// pieces is a body that arrives in the given stretches.
type pieces struct{ left []string }

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.left[0])
	if p.left[0] = p.left[0][n:]; p.left[0] == "" {
		p.left = p.left[1:]
	}
	return n, nil
}

// trip answers each request with a body that is cut so.
type trip struct {
	kind string
	body string
	cuts []byte
}

func (c trip) RoundTrip(r *http.Request) (*http.Response, error) {
	var parts []string
	rest := c.body
	for i := 0; rest != ""; i++ {
		n := len(rest)
		if len(c.cuts) > 0 {
			n = min(n, int(c.cuts[i%len(c.cuts)])+1)
		}
		parts, rest = append(parts, rest[:n]), rest[n:]
	}
	return &http.Response{StatusCode: 200, Proto: "HTTP/1.1", Status: "200 OK", Header: http.Header{"Content-Type": {c.kind}}, Body: io.NopCloser(&pieces{parts}), Request: r}, nil
}

func FuzzCut(f *testing.F) {
	f.Add([]byte{0})
	f.Add([]byte{2, 0, 7})
	f.Add([]byte{200})
	f.Fuzz(func(t *testing.T, cuts []byte) {
		var shown bytes.Buffer
		s, err := New("http://127.0.0.1", "", time.Minute, &shown)
		if err != nil {
			t.Fatal(err)
		}
		s.client.Transport = trip{"text/event-stream", stream, cuts}
		if got, err := text(s, ask("/")); err != nil || got != streamText {
			t.Errorf("events: %q, %v", got, err)
		}
		s.client.Transport = trip{"application/x-ndjson", `{"a":"é"}` + "\r\n\n" + `{"b":"😀` + theKey + `"}`, cuts}
		var lines string
		if _, err := s.Lines(context.Background(), ask("/"), func(line []byte) error { lines += string(line) + ";"; return nil }); err != nil || lines != `{"a":"é"};{"b":"😀`+theKey+`"};` {
			t.Errorf("lines: %q, %v", lines, err)
		}
		if strings.Contains(shown.String(), theKey) || strings.Count(shown.String(), masked) != 2+2+1 {
			t.Errorf("shown: %s", shown.String())
		}
	})
}

// A key at the place where a server's words are cut is not shown in part.
func TestCutKey(t *testing.T) {
	for _, at := range []int{maxExcerpt - 10, maxMessage - 10} {
		for _, answer := range []string{"text/plain %s", `application/json {"error":"%s"}`, "text/event-stream data: {\"error\":\"%s\"}\n\n"} {
			kind, body, _ := strings.Cut(answer, " ")
			s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
				if w.Header().Set("Content-Type", kind); kind != "text/event-stream" {
					w.WriteHeader(401)
				}
				fmt.Fprintf(w, body, strings.Repeat("x", at)+theKey+" and more")
			})
			_, err := s.Events(context.Background(), ask("/"), func(e Event) error {
				if f := ReadFault([]byte(e.Data)); f != nil {
					return f
				}
				return nil
			})
			if err == nil || strings.Contains(err.Error(), theKey[:5]) || !strings.Contains(err.Error(), "xxx") {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
}

// A server that goes on after the stop marker holds nobody up.
func TestLeave(t *testing.T) {
	s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: a\n\ndata: stop\n\n")
		for r.Context().Err() == nil {
			fmt.Fprint(w, ": ping\n\n")
			_ = http.NewResponseController(w).Flush()
			time.Sleep(time.Millisecond)
		}
	})
	start := time.Now()
	if got, err := text(s, ask("/")); err != nil || got != "a" || time.Since(start) > 4*time.Second {
		t.Errorf("%q, %v, after %v", got, err, time.Since(start))
	}
}

// The exchange is shown whole, without the key in any of its forms.
func TestDebug(t *testing.T) {
	var shown bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Set-Cookie", "session=1234567")
		w.Header().Set("X-Echo", "key "+theKey)
		echo := "data: you sent " + theKey + ", sk-te and no more passw0rd"
		cut(w, echo, 20, 30, 31, 40)
		fmt.Fprint(w, "\n\ndata: stop\n\n")
	}))
	defer server.Close()
	s, err := New(strings.Replace(server.URL, "//", "//user:passw0rd@", 1), "amacs/test", time.Minute, &shown)
	if err != nil {
		t.Fatal(err)
	}
	a := ask("/v1?key=sk-test%2F0123456789%2Babcdef%3D%3D")
	a.Header["Authorization"] = "Bearer " + theKey
	if got, err := text(s, a); err != nil || got != "you sent "+theKey+", sk-te and no more passw0rd" {
		t.Fatalf("%q, %v", got, err)
	}
	got := strings.ReplaceAll(shown.String(), strings.TrimPrefix(server.URL, "http://"), "HOST")
	for _, want := range []string{
		"> POST http://user:xxxxx@HOST/v1?key=[key]\n", "> authorization: [key]\n", "> x-api-key: [key]\n", "> content-type: application/json\n", "\n{\"prompt\":\"<chat> & [key]\"}\n",
		"< HTTP/1.1 200 OK\n", "< set-cookie: [key]\n", "< x-echo: key [key]\n", "\ndata: you sent [key], sk-te and no more [key]\n\ndata: stop\n\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("not shown: %q", want)
		}
	}
	for _, secret := range []string{"0123456789", "passw0rd", "1234567"} {
		if strings.Contains(got, secret) {
			t.Errorf("shown: %q", secret)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
}

// After the stop marker the connection serves the next request.
func TestConnectionIsKept(t *testing.T) {
	var mu sync.Mutex
	remotes := map[string]bool{}
	s := served(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		remotes[r.RemoteAddr] = true
		mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "data: a\n\ndata: stop\n\n")
		_ = http.NewResponseController(w).Flush()
		time.Sleep(2 * time.Millisecond) // the end of the body is a packet of its own
	})
	for range 10 {
		if _, err := text(s, ask("/")); err != nil {
			t.Fatal(err)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if len(remotes) > 5 { // a machine under load may be too late for some
		t.Errorf("%d connections", len(remotes))
	}
}

func FuzzReadFault(f *testing.F) {
	for _, seed := range []string{`{"error":"x"}`, `{"error":{"message":"m","code":502,"param":null}}`, `{"object":"error","message":"m"}`, `{"detail":[{"loc":["body"],"msg":"m"}]}`, `null`, `{"error":null}`, `{"error":" "}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if got := ReadFault(data); got != nil && (got.Message == "" || got.Err == nil) {
			t.Errorf("%+v", got)
		}
		if got := excerpt(string(data), 10); !utf8.ValidString(got) || len([]rune(got)) > 10 || strings.ContainsAny(got, "\n\x00\x1b") {
			t.Errorf("%q", got)
		}
	})
}

// BenchmarkStream compares an answer read here with its bytes read by net/http.
func BenchmarkStream(b *testing.B) {
	const events = 2000
	body := strings.Repeat("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"},\"finish_reason\":null}],\"id\":\"chatcmpl-0123456789\",\"model\":\"some-model\"}\n\n", events) + "data: stop\n\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	b.Run("plain", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			resp, err := http.Post(server.URL, "application/json", strings.NewReader(`{"prompt":"x"}`))
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				b.Fatal(err)
			}
			resp.Body.Close()
		}
	})
	b.Run("wire", func(b *testing.B) {
		s, err := New(server.URL, "", time.Minute, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			n := 0
			if _, err := s.Events(context.Background(), ask("/"), func(e Event) error {
				if n++; e.Data == "stop" {
					return io.EOF
				}
				return nil
			}); err != nil || n != events+1 {
				b.Fatal(n, err)
			}
		}
	})
}
