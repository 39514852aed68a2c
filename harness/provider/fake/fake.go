// Package fake is a server on loopback that speaks the wire formats of the
// vendors, for tests: what goes over the wire is as it would be from them, and
// what goes wrong on it is chosen by the test. It imports nothing of amacs.
//
// It answers, streaming where the request asks for it:
//
//   - Anthropic: /v1/messages, /v1/messages/count_tokens, /v1/models
//   - OpenAI: /v1/chat/completions, /v1/responses, /v1/embeddings, /v1/models
//   - Ollama: /api/chat, /api/embed, /api/tags, /api/show, /api/version
//   - Gemini: /v1beta/models/M:generateContent, :streamGenerateContent, :countTokens
//
// What it answers is a queue of [Answer]. A file of them has one JSON object a
// line; blank lines and lines that begin with # are skipped:
//
//	{"text":{"mood":"calm","confidence":0.9,"monologue":"Said hello.","reply":"Hello."}}
//	{"text":"half a sen","fault":"no-stop"}
//	{"fault":"429-retry-after","times":2,"headers":{"retry-after":"3"},"text":"at last"}
//	{"when":"the weather","tool":{"name":"Bash","input":{"command":"date"}}}
//
// A request that a vendor would refuse is refused here in about its words: no
// key, no version, five cache breakpoints, an empty block, a schema that its
// grammar can not hold. What a request costs is counted as bytes / 4, and what
// of it a cache would serve is simulated: see [prefixes].
//
// Begin reading at [Answer], then at [Server.ServeHTTP].
package fake

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Server answers on loopback. [New] and [Start] make one.
type Server struct {
	URL string // "http://127.0.0.1:PORT"

	mu       sync.Mutex
	queue    []*Answer
	requests []*Request
	live     int
	changed  chan struct{} // closed and replaced when requests or live change
	prefixes prefixes
	prompts  prompts
}

// Request is one that arrived.
type Request struct {
	Method string
	URL    *url.URL
	Header http.Header
	Body   []byte
	At     time.Time // arrived, body and all
	Done   time.Time // the answer ended; zero = in work
	Gone   time.Time // the client hung up before the answer ended; zero = it did not
}

// New starts a server that is closed when the test ends.
func New(t testing.TB) *Server {
	t.Helper()
	s, stop, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return s
}

// Start starts a server. stop hangs up on every client and returns when no
// request is in work.
func Start() (s *Server, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	s = &Server{URL: "http://" + l.Addr().String(), changed: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	server := &http.Server{
		Handler:     s,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0), // it would only say which clients hung up
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(l) // ends with stop
	}()
	return s, func() {
		cancel()
		_ = server.Close()
		<-served
		s.Await(10*time.Second, func() bool { return s.Live() == 0 })
	}, nil
}

// Queue appends answers. A request takes the first that is meant for it
// ([Answer.When], [Answer.Path]); when there is none, the answer is [Default].
func (s *Server) Queue(answers ...Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range answers {
		s.queue = append(s.queue, &a)
	}
}

// Left is the number of answers still in the queue.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue)
}

// Requests are those that arrived so far, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Request, len(s.requests))
	for i, r := range s.requests {
		out[i] = *r
	}
	return out
}

// Live is the number of requests in work now.
func (s *Server) Live() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live
}

// Await waits until ok is true of the server, and reports whether it became so
// in time. ok is asked again whenever a request arrives or ends, or a client
// hangs up.
func (s *Server) Await(atMost time.Duration, ok func() bool) bool {
	timer := time.NewTimer(atMost)
	defer timer.Stop()
	for {
		s.mu.Lock()
		changed := s.changed
		s.mu.Unlock()
		if ok() {
			return true
		}
		select {
		case <-changed:
		case <-timer.C:
			return ok()
		}
	}
}

// arrived notes a request. Call the result when its answer has ended.
func (s *Server) arrived(r *http.Request, body []byte) (done func()) {
	noted := &Request{Method: r.Method, URL: r.URL, Header: r.Header.Clone(), Body: body, At: time.Now()}
	s.change(func() {
		s.requests = append(s.requests, noted)
		s.live++
	})
	unhook := context.AfterFunc(r.Context(), func() {
		s.change(func() {
			if noted.Done.IsZero() {
				noted.Gone = time.Now()
			}
		})
	})
	return func() {
		unhook()
		s.change(func() {
			noted.Done = time.Now()
			if noted.Gone.IsZero() && r.Context().Err() != nil {
				noted.Gone = noted.Done
			}
			s.live--
		})
	}
}

func (s *Server) change(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	close(s.changed)
	s.changed = make(chan struct{})
}

// take is the answer to a request: generates says whether it asks for text. It
// is nil where the endpoint's own answer is due.
func (s *Server) take(path string, body []byte, generates bool) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, a := range s.queue {
		if !a.meant(path, body, generates) {
			continue
		}
		out := *a
		switch {
		case a.Fault == "" || a.Times == 0: // used up
			s.queue = append(s.queue[:i:i], s.queue[i+1:]...)
		case a.Times > 1:
			a.Times--
		case a.Times == 1:
			a.Fault, a.Times = "", 0
		}
		return &out
	}
	if generates {
		return &Answer{}
	}
	return nil
}
