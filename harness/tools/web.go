package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// web is a server over HTTP. Everything goes through its RoundTrip: headers go
// to the entry's own host, and no other host is asked at all.
type web struct {
	address string
	base    *url.URL
	headers http.Header
	client  *http.Client
	via     http.RoundTripper
	secrets *secrets

	session *mcp.ClientSession
	end     context.CancelCauseFunc

	mu     sync.Mutex
	status int    // of the last answer that was none of MCP
	wrong  string // what is to be said of the last failure
}

func newWeb(e Server, env environment, secrets *secrets) (*web, error) {
	keep := func(_, value string) { secrets.add(value) }
	address, err := env.expand(e.URL, keep)
	if err != nil {
		return nil, err
	}
	w := &web{address: address, headers: http.Header{}, via: http.DefaultTransport, secrets: secrets}
	if w.base, err = url.Parse(address); err != nil {
		return nil, errors.New("its url can not be read; `url` of its entry in config.yaml")
	}
	for name, text := range e.Headers {
		value, err := env.expand(text, keep)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(value, "\r\n\x00") {
			return nil, fmt.Errorf("its header %s has more than one line; look at the variable that it names", name)
		}
		secrets.add(value)
		w.headers.Set(name, value)
	}
	w.client = &http.Client{Transport: w}
	return w, nil
}

// hold keeps the session, to end it.
func (w *web) hold(session *mcp.ClientSession, end context.CancelCauseFunc) {
	w.session, w.end = session, end
}

// RoundTrip is for [http.RoundTripper].
func (w *web) RoundTrip(req *http.Request) (*http.Response, error) {
	w.clear()
	if req.URL.Scheme != w.base.Scheme || req.URL.Host != w.base.Host {
		return nil, w.fail(0, fmt.Sprintf("it points to another server, %s, which is not asked; if that is right, change `url` of its entry in config.yaml", req.URL.Host))
	}
	sent := req.Clone(req.Context())
	for name, values := range w.headers {
		sent.Header[name] = values
	}
	resp, err := w.via.RoundTrip(sent)
	if err != nil {
		if req.Context().Err() == nil {
			w.fail(0, fmt.Sprintf("%s can not be reached: %s", w.base.Host, err))
		}
		return nil, err
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // an odd one is none
	if kind != "text/event-stream" {
		resp.Body = &bounded{ReadCloser: resp.Body, left: longest, w: w}
	}
	switch {
	case resp.StatusCode >= 400:
		w.refused(resp, kind)
	case resp.StatusCode >= 300:
		to, err := resp.Location()
		keepsMethod := resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect
		if err == nil && keepsMethod && to.Scheme == w.base.Scheme && to.Host == w.base.Host {
			break // followed
		}
		resp.Body.Close()
		where := "nowhere"
		if err == nil {
			where = (&url.URL{Scheme: to.Scheme, Host: to.Host, Path: to.Path}).String()
		}
		return nil, w.fail(resp.StatusCode, fmt.Sprintf("it has moved to %s, which is not followed; if that is right, change `url` of its entry in config.yaml", where))
	case req.Method == http.MethodPost && kind != "application/json" && kind != "text/event-stream" && resp.StatusCode == http.StatusOK:
		what := kind
		if what == "" {
			what = "text of no kind"
		}
		w.fail(resp.StatusCode, fmt.Sprintf("it answers with %s, and not with MCP; is `url` of its entry in config.yaml right?", what))
	}
	return resp, nil
}

// refused notes an answer with an error, and leaves its body as it was.
func (w *web) refused(resp *http.Response, kind string) {
	const shown = 2 << 10
	head, _ := io.ReadAll(io.LimitReader(resp.Body, shown)) // what can not be read is not shown
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
	why := fmt.Sprintf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	switch resp.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		why += "; it wants a key or another one: `headers` of its entry in config.yaml"
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		why += "; is `url` of its entry in config.yaml right?"
	}
	if kind != "text/html" {
		if text := oneLine(w.secrets.hide(string(head)), 200); text != "" {
			why += "; it said: " + text
		}
	}
	w.fail(resp.StatusCode, why)
}

// bounded is a body that may not be longer than a message.
type bounded struct {
	io.ReadCloser
	left int
	w    *web
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, b.w.fail(0, "it sent a message of more than "+size(longest))
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func (w *web) clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status, w.wrong = 0, ""
}

func (w *web) fail(status int, why string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.status, w.wrong = status, why
	return errors.New(why)
}

// note says what went wrong at first, before another way was tried.
func (w *web) note(why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = why
}

// unknown reports whether the server does not know the way that was tried.
func (w *web) unknown() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch w.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		return true
	}
	return false
}

// passing reports whether the server only has no time, and the session goes on.
func (w *web) passing() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.status == http.StatusTooManyRequests || w.status >= 500
}

// alive is for [link]: whether the session goes on shows when it is used.
func (w *web) alive() bool { return true }

func (w *web) said() string { return "" }

func (w *web) trouble() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrong
}

// stop says goodbye, if the server takes it in time.
func (w *web) stop() {
	if w.session == nil {
		return
	}
	bye := make(chan struct{})
	go func() {
		defer close(bye)
		w.session.Close() // nobody is left who could use its error
	}()
	wait(bye, grace)
	w.end(nil)
}
