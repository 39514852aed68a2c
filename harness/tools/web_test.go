package tools

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const webToken = "verysecret-0123456789"

// over is an entry for a server on loopback with this handler; what it is asked
// without the right key is refused.
func over(t *testing.T, h http.Handler) Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+webToken {
			http.Error(w, "who are you?", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	return Server{Name: "it", URL: server.URL + "/mcp", Headers: map[string]string{"Authorization": "Bearer $WEB_TOKEN"}}
}

func token(o *Options) {
	o.Environ = func() []string { return []string{"WEB_TOKEN=" + webToken} }
}

func streamable(o *mcp.StreamableHTTPOptions) http.Handler {
	s := goodServer(webToken)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, o)
}

func TestWeb(t *testing.T) {
	t.Parallel()
	sse, slash := goodServer(webToken), streamable(nil)
	for name, h := range map[string]http.Handler{
		"streamable": streamable(nil),
		"json":       streamable(&mcp.StreamableHTTPOptions{JSONResponse: true}),
		"stateless":  streamable(&mcp.StreamableHTTPOptions{Stateless: true}),
		"sse":        mcp.NewSSEHandler(func(*http.Request) *mcp.Server { return sse }, nil),
		"slash": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, "/") {
				http.Redirect(w, r, r.URL.Path+"/", http.StatusTemporaryRedirect)
				return
			}
			slash.ServeHTTP(w, r)
		}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, over(t, h), token)
			if r := call(t, s, "add", map[string]any{"a": "20", "b": "22"}); r.Text != "42 false" {
				t.Errorf("%+v", r)
			}
			if r := call(t, s, "echo-token", nil); r.Text != "token [hidden]" {
				t.Errorf("%+v", r)
			}
			if r := call(t, s, "fail", nil); !r.Failed {
				t.Errorf("%+v", r)
			}
			s.servers["it"].callTime = 50 * time.Millisecond
			_, err := s.Call(t.Context(), "it", "block", nil)
			want(t, err, "no answer within 50ms")
			s.servers["it"].callTime = callTime
			if r := call(t, s, "add", map[string]any{"a": 1}); r.Text != "1 false" {
				t.Errorf("%+v", r)
			}
		})
	}
}

// Where a server refuses or is none, the error says what to do, and shows no key.
func TestWebFaults(t *testing.T) {
	t.Parallel()
	var strangers atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strangers.Add(1) }))
	defer elsewhere.Close()
	status := func(code int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Error(w, text, code) }
	}
	hangs := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	for name, c := range map[string]struct {
		h     http.HandlerFunc
		words []string
	}{
		"401":  {status(401, "bad key "+webToken), []string{"401 Unauthorized", "`headers` of its entry", "bad key [hidden]"}},
		"403":  {status(403, ""), []string{"403 Forbidden", "`headers` of its entry"}},
		"404":  {status(404, "page not found"), []string{"404 Not Found", "is `url` of its entry in config.yaml right?"}},
		"500":  {status(500, "out of order"), []string{"500 Internal Server Error", "out of order"}},
		"429":  {status(429, ""), []string{"429 Too Many Requests"}},
		"page": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<!DOCTYPE html><p>hello") }, []string{"it answers with text/html, and not with MCP"}},
		"moved": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+"/x?y="+webToken, http.StatusTemporaryRedirect)
		}, []string{"it has moved to " + elsewhere.URL + "/x,", "not followed"}},
		"303": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/login", http.StatusSeeOther) }, []string{"it has moved to http://127.0.0.1", "/login"}},
		"no json": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, "{")
		}, []string{"MCP server it: "}},
		"hangs":    {hangs, []string{"not ready within 300ms"}},
		"cut off":  {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/event-stream") }, []string{"MCP server it: "}},
		"100 MB":   {long("application/json"), []string{"a message of more than 16.0 MB"}},
		"100 MB/s": {long("text/event-stream"), []string{"MCP server it: "}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, over(t, c.h), token)
			if name == "hangs" {
				s.servers["it"].startTime = 300 * time.Millisecond
			}
			_, err := s.Call(t.Context(), "it", "add", nil)
			want(t, err, append(c.words, "MCP server it: ")...)
			if strings.Contains(err.Error(), webToken) {
				t.Errorf("the key is in: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		if strangers.Load() != 0 {
			t.Error("another host was asked")
		}
	})
	e := over(t, status(404, ""))
	e.URL = "http://127.0.0.1:1/mcp"
	_, err := open(t, e, token).Call(t.Context(), "it", "add", nil)
	want(t, err, "127.0.0.1:1 can not be reached", "refused")
}

func long(kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, `data: {"x":"`)
		for range 100 {
			if _, err := fmt.Fprint(w, strings.Repeat("x", 1<<20)); err != nil {
				return
			}
		}
	}
}

// A session that the server has forgotten is opened again, and a moment without
// time does not end one.
func TestWebAgain(t *testing.T) {
	t.Parallel()
	var h atomic.Value
	h.Store(streamable(nil))
	var busy atomic.Bool
	s := open(t, over(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if busy.Load() {
			http.Error(w, "", http.StatusServiceUnavailable)
			return
		}
		h.Load().(http.Handler).ServeHTTP(w, r)
	})), token)
	call(t, s, "add", map[string]any{"a": 1})
	h.Store(streamable(nil)) // another one: it knows no session
	if r := call(t, s, "add", map[string]any{"a": 2}); r.Text != "2 false" {
		t.Errorf("%+v", r)
	}
	before := s.servers["it"].conn
	busy.Store(true)
	_, err := s.Call(t.Context(), "it", "add", map[string]any{"a": 3})
	want(t, err, "503 Service Unavailable")
	busy.Store(false)
	if r := call(t, s, "add", map[string]any{"a": 4}); r.Text != "4 false" || s.servers["it"].conn != before {
		t.Errorf("%+v", r)
	}
}
