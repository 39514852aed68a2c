package wire

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"sort"
	"strings"
)

// exchange writes down one request and its answer. What can not be written is
// lost: a full disk must not end a call that is paid for.
type exchange struct {
	server *Server
	hide   *veil
	rest   string // of the body: it may be the beginning of a key
}

func (s *Server) open(hide *veil) *exchange { return &exchange{server: s, hide: hide} }

func (x *exchange) print(text string) {
	if x.server.debug == nil || text == "" {
		return
	}
	x.server.mu.Lock()
	defer x.server.mu.Unlock()
	_, _ = io.WriteString(x.server.debug, text)
}

func (x *exchange) request(req *http.Request, a Ask) {
	if x.server.debug == nil {
		return
	}
	text := fmt.Sprintf("> %s %s\n", req.Method, x.hide.text(req.URL.Redacted())) + x.header("> ", req.Header)
	if a.Body != nil {
		data, _ := encode(a.Body) // it was sent
		text += x.hide.text(string(data)) + "\n"
	}
	x.print(text)
}

func (x *exchange) response(resp *http.Response) {
	if x.server.debug == nil {
		return
	}
	x.print(fmt.Sprintf("< %s %s\n", resp.Proto, resp.Status) + x.header("< ", resp.Header))
}

// Write shows the answer as it arrives.
func (x *exchange) Write(p []byte) (int, error) {
	if x.server.debug != nil {
		// A whole key is masked before the end is looked at, so that its tail
		// is not taken for the beginning of another.
		show, keep := x.hide.open(x.hide.text(x.rest + string(p)))
		x.rest = keep
		x.print(show)
	}
	return len(p), nil
}

func (x *exchange) close() { x.print(x.rest + "\n\n") }

// private are the headers whose values are shown to nobody.
var private = []string{"Authorization", "X-Api-Key", "Api-Key", "Cookie", "Set-Cookie", "Proxy-Authorization"}

func (x *exchange) header(mark string, h http.Header) string {
	var lines []string
	for k, vs := range h {
		for _, v := range vs {
			if slices.Contains(private, http.CanonicalHeaderKey(k)) {
				v = masked
			}
			lines = append(lines, mark+strings.ToLower(k)+": "+x.hide.text(v)+"\n")
		}
	}
	sort.Strings(lines)
	return strings.Join(lines, "") + "\n"
}
