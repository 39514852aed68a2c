package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Fault is a request that gave no whole answer.
type Fault struct {
	Status     int         // of the answer; 0 = none came
	Header     http.Header // of the answer; nil = none came
	Type       string      // the server's own words, as far as it says them
	Code       string
	Param      string // the part of the request that is at fault
	Message    string
	RetryAfter time.Duration // what the server asks for; 0 = nothing
	Began      bool          // the server had all of the request and did not refuse it: it may be billed
	Again      bool          // asking again may help
	Err        error         // what happened; it names the host
}

func (f *Fault) Error() string { return f.Err.Error() }

func (f *Fault) Unwrap() error { return f.Err }

// Again reports whether asking again may help after a status (RFC 9110 §15,
// RFC 6585 §4).
func Again(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return false
	}
	return status >= 500
}

// ReadFault reads the error that a vendor writes as JSON, in an answer or as an
// event of a stream; nil = it is none. The three ways:
//
//	{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}
//	{"error":{"message":"…","type":"server_error","param":null,"code":"…"}}
//	{"error":"model 'x' not found"}
func ReadFault(data []byte) *Fault {
	var outer struct {
		Error   json.RawMessage
		Object  string
		Message string
		Detail  json.RawMessage // FastAPI's
	}
	if json.Unmarshal(data, &outer) != nil {
		return nil
	}
	var inner struct {
		Type, Message string
		Code, Param   any
	}
	f := &Fault{}
	switch {
	case json.Unmarshal(outer.Error, &f.Message) == nil && f.Message != "":
	case json.Unmarshal(outer.Error, &inner) == nil && (inner.Message != "" || inner.Type != ""):
		f.Type, f.Message, f.Code, f.Param = inner.Type, inner.Message, word(inner.Code), word(inner.Param)
	case outer.Object == "error":
		f.Message = outer.Message
	case json.Unmarshal(outer.Detail, &f.Message) == nil:
	case len(outer.Detail) > 4: // a list of objects
		f.Message = string(outer.Detail)
	default:
		return nil
	}
	if f.Message = strings.TrimSpace(cmp.Or(f.Message, f.Type)); f.Message == "" {
		return nil
	}
	f.Err = errors.New(f.Message)
	return f
}

// word is a code, which some write as a number.
func word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.Itoa(int(v))
	}
	return ""
}

// retryAfter is what a header asks to wait: seconds or a date (RFC 9110
// §10.2.3), or milliseconds in retry-after-ms.
func retryAfter(h http.Header, now time.Time) time.Duration {
	seconds := func(text string, unit time.Duration) (time.Duration, bool) {
		n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		return time.Duration(min(max(n, 0), 1e6) * float64(unit)), err == nil && n == n
	}
	if d, ok := seconds(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	text := h.Get("Retry-After")
	if d, ok := seconds(text, time.Second); ok {
		return d
	}
	if t, err := http.ParseTime(text); err == nil {
		return max(0, t.Sub(now))
	}
	return 0
}

var markup = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>|<!--.*?-->|<[^>]*>`)

// excerpt is the beginning of a server's words on one line: at most n characters,
// without markup and control characters.
func excerpt(text string, n int) string {
	text = strings.ToValidUTF8(text, "�")
	if strings.HasPrefix(strings.TrimSpace(text), "<") {
		text = markup.ReplaceAllString(text, " ")
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

func colon(text string) string {
	if text == "" {
		return ""
	}
	return ": " + text
}
