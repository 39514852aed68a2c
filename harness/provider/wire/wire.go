// Package wire asks a server over HTTP and reads what it answers: one JSON value,
// server-sent events, or JSON lines. What every vendor needs is done here once:
// time limits, the size of an answer, what is no answer at all, and keeping the
// key out of sight.
//
//	POST /v1/messages                          POST /api/chat
//	content-type: text/event-stream            content-type: application/x-ndjson
//
//	event: content_block_delta                 {"message":{"content":"Hel"}}
//	data: {"delta":{"text":"Hel"}}             {"message":{"content":"lo"},"done":true}
//
// An answer is refused, as a [*Fault], when its status is not 2xx, when it is of
// another content type than was asked for (a web page with status 200), when it
// is empty, when it falls silent, or when it does not end. No redirect is
// followed: the key stays with the host that it was given for. Whether the
// content is whole only the caller knows, by the vendor's stop marker.
//
// Begin reading at [Server].
package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tmaxmax/go-sse"
)

// The limits of an answer. A stream takes some 300 bytes for one token.
const (
	maxBody  = 64 << 20
	maxEvent = 4 << 20 // one event or line
	maxError = 64 << 10
)

// How much of a server's words is shown, in characters.
const (
	maxMessage = 500 // of an error's message
	maxExcerpt = 100 // of what is no error's JSON
)

// The types of content that can be asked for.
const (
	typeJSON   = "application/json"
	typeEvents = "text/event-stream"
	typeLines  = "application/x-ndjson"
)

// connectTime is how long it may take to reach a server.
const connectTime = 10 * time.Second

// firstByte is how many times Idle the first byte may take: a model on this
// machine is loaded and reads the prompt before it says anything.
const firstByte = 5

// The faults of an answer, as a [Fault] wraps them.
var (
	ErrEmpty  = errors.New("the answer is empty")
	ErrType   = errors.New("the answer is of another type")
	ErrSilent = errors.New("the server fell silent")
	ErrSize   = errors.New("the answer is too long")
	ErrMoved  = errors.New("the server has moved")
)

// Server is where requests go. It is safe for concurrent use.
type Server struct {
	base   *url.URL
	agent  string
	idle   time.Duration
	debug  io.Writer
	client *http.Client

	mu sync.Mutex // over debug
}

// New returns the server at base, an http or https address. Idle is how long an
// answer may be silent between two bytes; debug is shown each exchange, without
// keys (nil = nobody). New does not connect.
func New(base, agent string, idle time.Duration, debug io.Writer) (*Server, error) {
	u, err := url.Parse(base)
	if err != nil {
		var e *url.Error
		if errors.As(err, &e) {
			err = e.Err // without the address, which may hold a password
		}
		return nil, fmt.Errorf("the server's address is not a URL: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("the server's address must be like https://HOST or http://HOST:PORT, not %q", u.Redacted())
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return &Server{base: u, agent: agent, idle: idle, debug: debug, client: &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: connectTime}).DialContext,
			TLSHandshakeTimeout: connectTime,
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 2,
			IdleConnTimeout:     90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Host is the server's name, with its port if one is given.
func (s *Server) Host() string { return s.base.Host }

// Ask is one request.
type Ask struct {
	Path    string // added to the server's address: "/v1/messages"
	Body    any    // made JSON and sent by POST; nil = GET
	Header  map[string]string
	Secrets []string // the keys in Header, in all forms that are not for a URL or JSON: they are shown to nobody
}

// Event is a server-sent event.
type Event struct{ Type, Data string }

// JSON reads an answer that is one JSON value. The header is the answer's. Its
// error, like that of Events and Lines, is a [*Fault].
func (s *Server) JSON(ctx context.Context, a Ask, into any) (http.Header, error) {
	return s.do(ctx, a, typeJSON, func(body io.Reader) error {
		data, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		if f := ReadFault(data); f != nil {
			return f
		}
		if err := json.Unmarshal(data, into); err != nil {
			return fmt.Errorf("the answer is not the JSON that was expected: %w", err)
		}
		return nil
	})
}

// Events passes each event of an answer to each, until that has seen the stop
// marker and returns [io.EOF]. Another error of each is wrapped in the [*Fault],
// or is one: an event that tells of an error.
func (s *Server) Events(ctx context.Context, a Ask, each func(Event) error) (http.Header, error) {
	return s.do(ctx, a, typeEvents, func(body io.Reader) error {
		// The blank line after the last event is not always sent.
		body = io.MultiReader(body, strings.NewReader("\n\n"))
		for e, err := range sse.Read(body, &sse.ReadConfig{MaxEventSize: maxEvent}) {
			if err != nil {
				return sized(err)
			}
			if err := each(Event{e.Type, e.Data}); err != nil {
				return err
			}
		}
		return nil
	})
}

// Lines passes each line of an answer that is not blank to each, which must not
// keep it.
func (s *Server) Lines(ctx context.Context, a Ask, each func(line []byte) error) (http.Header, error) {
	return s.do(ctx, a, typeLines, func(body io.Reader) error {
		lines := bufio.NewScanner(body)
		lines.Buffer(nil, maxEvent)
		for lines.Scan() {
			if line := bytes.TrimSpace(lines.Bytes()); len(line) > 0 {
				if err := each(line); err != nil {
					return err
				}
			}
		}
		return sized(lines.Err())
	})
}

func sized(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("%w: one event has more than %d MB", ErrSize, maxEvent>>20)
	}
	return err
}

// do sends a request and has its answer read.
func (s *Server) do(ctx context.Context, a Ask, accept string, read func(io.Reader) error) (http.Header, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var sent atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(i httptrace.WroteRequestInfo) { sent.Store(i.Err == nil) }})
	hide := newVeil(append(s.password(), a.Secrets...))

	req, err := s.request(ctx, a, accept)
	if err != nil {
		return nil, &Fault{Err: err}
	}
	log := s.open(hide)
	defer log.close()
	log.request(req, a)
	silence := time.AfterFunc(firstByte*s.idle, func() { end(ErrSilent) })
	defer silence.Stop()
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, s.lost(ctx, hide, err, sent.Load())
	}
	defer resp.Body.Close()
	log.response(resp)
	body := &body{from: io.TeeReader(resp.Body, log), heard: func() { silence.Reset(s.idle) }}
	if f := s.refused(resp, body, accept, hide); f != nil {
		if ctx.Err() != nil {
			f = s.lost(ctx, hide, ctx.Err(), false)
		}
		return resp.Header, f
	}
	err = read(body)
	if err == nil && body.size == 0 {
		err = ErrEmpty
	}
	switch {
	case err == nil:
		return resp.Header, nil
	case errors.Is(err, io.EOF):
		body.heard = func() {}
		silence.Reset(leaveTime)
		_, _ = io.CopyN(io.Discard, body, maxError) // the rest of a chunked body frees the connection for the next request
		return resp.Header, nil
	}
	if body.err != nil {
		err = body.err // as it is, before a parser says that an event ended too soon
	}
	var f *Fault
	if errors.As(err, &f) { // an event that is an error
		f.Again, f.Message = accept != typeJSON, excerpt(hide.text(f.Message), maxMessage)
		f.Err = fmt.Errorf("%s: %s", s.Host(), f.Message)
	} else {
		f = s.lost(ctx, hide, err, true)
	}
	f.Status, f.Header, f.Began = resp.StatusCode, resp.Header, true
	return resp.Header, f
}

// leaveTime is how long the end of an answer is waited for after its stop marker.
const leaveTime = 50 * time.Millisecond

func (s *Server) request(ctx context.Context, a Ask, accept string) (*http.Request, error) {
	method, send := http.MethodGet, io.Reader(nil)
	if a.Body != nil {
		data, err := encode(a.Body)
		if err != nil {
			return nil, err
		}
		method, send = http.MethodPost, bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.base.String()+a.Path, send)
	if err != nil {
		return nil, fmt.Errorf("there can be no request to %s%s", s.Host(), a.Path)
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("User-Agent", s.agent)
	if send != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range a.Header {
		req.Header.Set(k, v)
	}
	return req, nil
}

// encode leaves <, > and & as they are: prompts are full of tags.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// refused is the fault of an answer that is none; nil = it may be read.
func (s *Server) refused(resp *http.Response, body io.Reader, accept string, hide *veil) *Fault {
	f := &Fault{Status: resp.StatusCode, Header: resp.Header, Again: Again(resp.StatusCode)}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	whole := resp.StatusCode/100 == 2
	if whole && fits(kind, accept) {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(body, maxError))
	if ours := ReadFault(data); ours != nil {
		f.Code, f.Type, f.Param, f.Message = ours.Code, ours.Type, ours.Param, excerpt(hide.text(ours.Message), maxMessage)
	}
	shown := excerpt(hide.text(string(data)), maxExcerpt) // half a key is no key to hide: first that, then the cut
	switch {
	case resp.StatusCode/100 == 3:
		to := "nowhere"
		if u, err := resp.Location(); err == nil {
			to = hide.text(u.Redacted())
		}
		f.Err = fmt.Errorf("%s: %w to %s", s.Host(), ErrMoved, to)
	case !whole:
		f.RetryAfter = retryAfter(resp.Header, time.Now())
		f.Err = fmt.Errorf("%s says %s%s", s.Host(), strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", http.StatusText(resp.StatusCode))), colon(cmp.Or(f.Message, shown)))
	case f.Message != "": // an error with status 200
		f.Err = fmt.Errorf("%s: %s", s.Host(), f.Message)
		f.Began = true
	case len(data) == 0:
		f.Err, f.Again, f.Began = fmt.Errorf("%s: %w", s.Host(), cmp.Or(err, ErrEmpty)), true, true
	default:
		f.Err = fmt.Errorf("%s: %w: %s instead of %s%s", s.Host(), ErrType, cmp.Or(kind, "nothing named"), accept, colon(shown))
		f.Began = true
	}
	return f
}

// fits reports whether a content type may be read as the one that was asked for.
func fits(kind, accept string) bool {
	switch accept {
	case typeJSON:
		return kind == accept || strings.HasSuffix(kind, "+json")
	case typeLines:
		return kind == accept || kind == "application/jsonl" || kind == typeJSON
	}
	return kind == accept
}

// lost is the fault of an answer that did not come whole.
func (s *Server) lost(ctx context.Context, hide *veil, err error, began bool) *Fault {
	f := &Fault{Began: began, Again: true}
	var e *url.Error
	if errors.As(err, &e) {
		err = e.Err
	}
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, ErrSilent):
		err = ErrSilent
	case cause != nil:
		err = cause
	case errors.Is(err, ErrSize), errors.Is(err, http.ErrSchemeMismatch), untrusted(err):
		f.Again = false
	case errors.Is(err, io.EOF): // before the header
		err = io.ErrUnexpectedEOF
	}
	f.Err = &shown{fmt.Sprintf("%s: %s", s.Host(), hide.text(bare(err).Error())), err}
	return f
}

// bare is what a system call said, without the addresses around it.
func bare(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return err
}

func untrusted(err error) bool {
	var e *tls.CertificateVerificationError
	return errors.As(err, &e)
}

// shown is an error with another text.
type shown struct {
	text string
	err  error
}

func (e *shown) Error() string { return e.text }
func (e *shown) Unwrap() error { return e.err }

// password is what the server's address holds of secrets.
func (s *Server) password() []string {
	if p, ok := s.base.User.Password(); ok {
		return []string{p}
	}
	return nil
}

// body counts what it passes on.
type body struct {
	from  io.Reader
	heard func()
	size  int64
	err   error // why it broke off
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if n > 0 {
		b.heard()
	}
	if b.size += int64(n); b.size > maxBody {
		err = fmt.Errorf("%w: more than %d MB", ErrSize, maxBody>>20)
	}
	if err != nil && err != io.EOF {
		b.err = err
	}
	return n, err
}
