package fake

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ask is what a request asks for, whichever vendor it is meant for.
type ask struct {
	model  string
	stream bool
	counts bool // usage is wanted at the end of the stream
	usage  Usage
	r      *http.Request
}

// failure is an error as a vendor words it.
type failure struct {
	status  int
	kind    string // the vendor's type or status
	code    string
	param   string
	message string
}

// vendor is how one of them speaks.
type vendor struct {
	streamType string // content type of a stream
	failures   map[Fault]failure
	body       func(failure) any    // of an error
	inStream   func(failure) []byte // an error in mid-stream
}

// endpoint is one path of a vendor.
type endpoint struct {
	vendor *vendor
	text   bool                                                          // it asks for text: the queue answers
	read   func(s *Server, r *http.Request, body []byte) (ask, *failure) // nil = nothing to read
	stream func(a Answer, q ask) []frame
	whole  func(a Answer, q ask) []frame
	own    func(r *http.Request, body []byte) (any, *failure) // the answer where the queue has none
}

// ServeHTTP notes the request, takes its answer from the queue, and sends it in
// the vendor's words with what the fault does to it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	defer s.arrived(r, body)()
	e, ok := find(r)
	if !ok {
		fail(w, Answer{}, &openai, failure{404, "invalid_request_error", "", "", "Invalid URL (" + r.Method + " " + r.URL.Path + ")"})
		return
	}
	var q ask
	if e.read != nil {
		var refused *failure
		if q, refused = e.read(s, r, body); refused != nil {
			fail(w, Answer{}, e.vendor, *refused)
			return
		}
	}
	q.r = r
	answer := s.take(r.URL.Path, body, e.text)
	var a Answer
	if answer != nil {
		a = *answer
	}
	if f, ok := a.Fault.failure(e.vendor, q); ok {
		if a.Message != "" {
			f.message = a.Message
		}
		fail(w, a, e.vendor, f)
		return
	}
	if a.Fault == SlowHeaders {
		if a.Delay == 0 {
			<-r.Context().Done()
		}
		if !pause(r.Context(), a.Delay) {
			hangUp()
		}
	}
	p := reply{contentType: "application/json"}
	switch {
	case !e.text && a.Text != "":
		p.frames = []frame{{data: []byte(a.Text)}}
	case !e.text:
		v, refused := e.own(r, body)
		if refused != nil {
			fail(w, a, e.vendor, *refused)
			return
		}
		p.frames = []frame{{data: encode(v)}}
	case q.stream:
		a = a.filled(q.model).counted(q.usage)
		p.stream, p.contentType = true, e.vendor.streamType
		p.frames = e.stream(a, q)
		f := e.vendor.failures[ErrorEvent]
		if a.Message != "" {
			f.message = a.Message
		}
		p.errorFrame = e.vendor.inStream(f)
	default:
		a = a.filled(q.model).counted(q.usage)
		p.frames = e.whole(a, q)
	}
	send(w, r, a, p)
}

// find is the endpoint of a request. What stands before the last parts of the
// path is not looked at: a base URL may end in /v1 or not.
func find(r *http.Request) (endpoint, bool) {
	path := r.URL.Path
	_, isAnthropic := r.Header["Anthropic-Version"]
	on := func(method string, ends ...string) bool {
		for _, end := range ends {
			if r.Method == method && strings.HasSuffix(path, end) {
				return true
			}
		}
		return false
	}
	switch {
	case on("POST", "/messages"):
		return messages, true
	case on("POST", "/messages/count_tokens"):
		return countTokens, true
	case on("GET", "/models") && isAnthropic:
		return anthropicModels, true
	case on("POST", "/chat/completions"):
		return chat, true
	case on("POST", "/responses"):
		return responses, true
	case on("GET", "/models"):
		return openaiModels, true
	case on("POST", "/embeddings"):
		return embeddings, true
	case on("POST", "/api/chat"):
		return ollamaChat, true
	case on("POST", "/api/embed"):
		return ollamaEmbed, true
	case on("GET", "/api/tags"):
		return ollamaTags, true
	case on("POST", "/api/show"):
		return ollamaShow, true
	case on("GET", "/api/version"):
		return ollamaVersion, true
	case on("POST", ":generateContent", ":streamGenerateContent"):
		return generate, true
	case on("POST", ":countTokens"):
		return geminiCount, true
	}
	return endpoint{}, false
}

// fail sends an error.
func fail(w http.ResponseWriter, a Answer, v *vendor, f failure) {
	header := w.Header()
	header.Set("Content-Type", "application/json")
	if a.Fault == RetryAfter {
		header.Set("Retry-After", "1")
	}
	for k, value := range a.Headers {
		header.Set(k, value)
	}
	w.WriteHeader(f.status)
	_, _ = w.Write(encode(v.body(f))) // a client that is gone misses nothing
}

// failure is the error that a fault is, if it is one with a status.
func (fault Fault) failure(v *vendor, q ask) (failure, bool) {
	if fault == RetryAfter {
		fault = "429"
	}
	if fault == ErrorEvent {
		if q.stream {
			return failure{}, false
		}
		fault = "500"
	}
	if f, ok := v.failures[fault]; ok {
		f.message = strings.ReplaceAll(f.message, "{model}", q.model)
		f.message = strings.ReplaceAll(f.message, "{key}", masked(q.r))
		return f, true
	}
	if status, ok := fault.status(); ok {
		return failure{status: status, kind: "api_error", message: http.StatusText(status)}, true
	}
	return failure{}, false
}

func (fault Fault) status() (int, bool) {
	n, err := strconv.Atoi(string(fault))
	return n, err == nil && n >= 400 && n <= 599
}

// known says whether there is such a fault.
func (fault Fault) known() bool {
	switch fault {
	case "", RetryAfter, TooLong, NoSchema, Quota, Reset, Stall, HalfJSON, Empty, HTML, ContentType, NoStop, ErrorEvent, Huge,
		SlowHeaders, Gzip, Noise, NoUsage:
		return true
	}
	_, ok := fault.status()
	return ok
}

// key is what a request shows to be let in.
func key(r *http.Request) string {
	for _, k := range []string{r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"), r.URL.Query().Get("key"),
		strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")} {
		if k != "" {
			return k
		}
	}
	return ""
}

// masked is the key as OpenAI repeats it in an error.
func masked(r *http.Request) string {
	k := key(r)
	if len(k) < 16 {
		return strings.Repeat("*", len(k))
	}
	return k[:8] + strings.Repeat("*", len(k)-12) + k[len(k)-4:]
}

// moment is a date in answers: always the same, so that they are.
var moment = time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC)
