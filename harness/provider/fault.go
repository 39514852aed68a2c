package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"amacs/harness/provider/wire"
)

// failure is the error of a call, with its class and what can be done.
func (m *remote) failure(ctx context.Context, err error, a incoming) *Error {
	e := &Error{Provider: m.provider, Op: "asking", Partial: a.text.String(), Usage: a.usage, Cost: a.cost, Err: err, Class: Transient}
	var f *wire.Fault
	if errors.As(err, &f) {
		e.Began, e.RetryAfter, e.Class = f.Began, f.RetryAfter, classOf(f)
	}
	if ctx.Err() != nil {
		e.Class, e.Err = Classify(ctx.Err()), ctx.Err()
		return e
	}
	if f != nil {
		e.Hint = m.hint(f, e.Class)
		if statusOf(f) == http.StatusUnauthorized {
			m.forgetKey() // it may have been changed
		}
	}
	return e
}

// How servers say that a prompt is too long: Anthropic, OpenAI, llama.cpp, vLLM,
// LM Studio, Ollama, OpenRouter; and OpenAI's word for a prompt that is larger
// than a minute's allowance.
var tooLong = regexp.MustCompile(`(?i)prompt is too long|request_too_large|exceed context limit|context_length_exceeded|maximum context length|` +
	`exceed_context_size|exceeds the available context size|context size has been exceeded|greater than the context length|when context the overflows|` +
	`exceeds the context length|exceeds? (the )?(model'?s? )?(maximum )?(context|number of input tokens|input token)|longer than the (maximum )?(model|context)|` +
	`too many input tokens|string_above_max_length|request too large for`)

// How they say that there is nothing left to spend: no retry brings that back.
var noCredit = regexp.MustCompile(`(?i)insufficient_quota|credit balance is too low|billing_error|billing_hard_limit|exceeded your current quota|` +
	`insufficient credits|insufficient balance|spend(ing)? limit|api usage limits|payment required`)

// Anthropic's and OpenAI's types of error, for those that come in mid-stream
// and so have no status.
var statusOfType = map[string]int{
	"invalid_request_error": 400, "authentication_error": 401, "billing_error": 402, "permission_error": 403, "not_found_error": 404,
	"request_too_large": 413, "rate_limit_error": 429, "rate_limit_exceeded": 429, "api_error": 500, "server_error": 500,
	"timeout_error": 504, "overloaded_error": 529,
}

// statusOf is the status of a fault, or what it would be of an error that came
// with status 200; below 400 = there is none.
func statusOf(f *wire.Fault) int {
	if f.Status >= 300 || f.Message == "" {
		return f.Status
	}
	if n, err := strconv.Atoi(f.Code); err == nil && n >= 400 && n < 600 {
		return n
	}
	return cmp.Or(statusOfType[f.Type], statusOfType[f.Code])
}

// classOf says what may be done about a fault.
func classOf(f *wire.Fault) Class {
	status, text := statusOf(f), f.Type+" "+f.Code+" "+f.Message
	again := f.Again
	if status >= 400 {
		again = wire.Again(status)
	}
	switch {
	case errors.Is(f, errWindow):
		return TooLong
	case spent(f):
		return Permanent
	case status == http.StatusRequestEntityTooLarge || tooLong.MatchString(text):
		return TooLong
	case again:
		return Transient
	}
	return Permanent
}

// spent reports whether there is no money left for the call.
func spent(f *wire.Fault) bool {
	return statusOf(f) == http.StatusPaymentRequired || noCredit.MatchString(f.Type+" "+f.Code+" "+f.Message)
}

// hint is what the human can do.
func (m *remote) hint(f *wire.Fault, class Class) string {
	status := statusOf(f)
	var dns *net.DNSError
	switch {
	case class == TooLong:
		return "the prompt must be shorter, or the model's window larger: see /context"
	case errors.Is(f, wire.ErrMoved):
		return "if that is right, set base-url to it"
	case errors.Is(f, wire.ErrType), errors.Is(f, http.ErrSchemeMismatch):
		return "is base-url the address of an API? " + m.server.Host() + " does not answer like one"
	case errors.Is(f, wire.ErrSilent):
		return ""
	case spent(f):
		return "add credit or raise the limit in the vendor's console, or choose another provider with --provider"
	case errors.As(f, &dns):
		return "is the network up, and base-url right?"
	case status == 0 && !f.Began && class == Transient && m.local:
		return "is the server running?"
	case class == Transient && f.RetryAfter > patience:
		return fmt.Sprintf("it asks to wait for %s, and amacs does not wait for longer than %s: /retry after that", f.RetryAfter.Round(time.Second), patience)
	case class == Transient:
		return ""
	}
	switch status {
	case http.StatusUnauthorized:
		return "the key was refused" + m.whence()
	case http.StatusForbidden:
		return "the key has no right to this; `amacs models` lists what it may use"
	case http.StatusNotFound:
		if m.provider == "ollama" {
			return "`amacs models` lists what is there; `ollama pull " + m.Facts().Model + "` fetches it"
		}
		return "`amacs models` lists the names that the server knows; is base-url right?"
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return "`amacs models` lists the models; --debug-http keeps the request to look at"
	}
	return ""
}

// whence says where the key should have come from.
func (m *remote) whence() string {
	var vars []string
	for _, w := range m.ways {
		vars = append(vars, w.vars...)
	}
	if len(vars) == 0 {
		return ""
	}
	return fmt.Sprintf(": look at %s, `api-key-cmd:` and ~/.authinfo", strings.Join(vars, ", "))
}
