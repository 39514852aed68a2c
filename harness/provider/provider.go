// Package provider holds the models that a tick can ask. A [Model] takes a
// [Request], streams text and returns a [Response], or an [*Error] that says
// whether asking again may help. It knows nothing of ticks or files of the home.
//
// Three speak to a server, by package wire: anthropic, openai (OpenAI and whoever
// speaks as it does: OpenRouter, llama.cpp, vLLM, LM Studio) and ollama. What they
// have in common is in remote.go: the key, what a server refused, the class of its
// errors. Each has a file with its request and an ear for its stream.
//
// Two models need no network:
//
//   - offline: no model at all. It knows a few plain requests and answers them
//     through the same prompt, reply format and functions as any other.
//
//   - script: plays replies from a JSONL file, for tests and demos.
//
// A script is one line a call:
//
//	# blank lines and comments are skipped
//	{"mood":"calm","confidence":0.9,"monologue":"Said hello.","reply":"Hello."}
//	"Sorry, this is no JSON at all."
//	{"error":"overloaded","class":"transient","delay_ms":50}
//
// Begin reading at [Model]; the script's lines are told at [Script].
package provider

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// Model is a language model, or what plays one. [Script] and [Offline] are the
// fakes. Complete passes pieces of the response to stream (nil = nobody
// listens) as they arrive, cut anywhere, and returns the whole. It makes one
// attempt: asking again is the caller's. Its error is an [*Error]; when ctx ends,
// it returns at once.
type Model interface {
	Name() string // as in a commit's Model trailer: "offline", "anthropic:claude-sonnet-5-5"
	Facts() Facts
	Complete(ctx context.Context, r Request, stream func(text string)) (Response, error)
}

// Facts are what is known of a model before it is asked.
type Facts struct {
	Provider string // "anthropic", "openai", "ollama", "agent", "offline", "script"
	Model    string // the provider's own name for it, as in a table of prices
	Billing  Billing
	Window   int     // tokens it can read; 0 = not known
	MaxUSD   float64 // the most that one call can cost, where tokens do not bound it: an agent CLI's own budget
}

// Billing is who pays for a call, and how.
type Billing int

// The kinds of billing.
const (
	Free         Billing = iota // built in, or a model on this machine
	Subscription                // a CLI's login
	PerToken                    // a key
)

// Request is one question: the system prompt, one user message, and after it
// the bad replies with what was wrong with each.
type Request struct {
	System   string
	Blocks   []Block // the user message, in order
	Retry    []Turn
	Settings Settings
	Schema   json.RawMessage // a JSON schema that the text should obey, where the provider can see to it; nil = free text
}

// Text is the user message whole.
func (r Request) Text() string {
	var b strings.Builder
	for _, block := range r.Blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}

// Block is a stretch of the user message.
type Block struct {
	Text  string
	Cache bool // a good place for a cache breakpoint after it
}

// Turn is a message after the first.
type Turn struct {
	Role string // "assistant" or "user"
	Text string
}

// Settings are the request settings that the agent may choose (RFC v4 §3.1).
type Settings struct {
	Temperature float64 // 0..2; 1 = the provider's default, not sent
	TopP        float64 // 0..1; 1 = not sent
	TopK        int     // 0 = not sent
	MaxTokens   int     // of the response, thinking included; 0 = the provider's default
	Thinking    bool
}

// Usage counts tokens. In holds those read from a cache or written to it too,
// Cached and Written are its parts.
type Usage struct {
	In      int `json:"in"`
	Cached  int `json:"cached"`
	Written int `json:"written,omitempty"`
	Out     int `json:"out"` // thinking included
}

// Response is what a model answered.
type Response struct {
	Text   string
	Model  string   // which model answered, by its own name
	Stop   string   // why it ended: "end", or the provider's own word
	Usage  Usage    // zero when the provider does not count
	Cost   *float64 // USD, where the provider says; nil = by the table of prices
	Limits []Limit  // rate limits that came with it
	Words  []string // what the human should know: a setting that the model refused and that was left out
}

// Limit is one rate limit, as a provider's headers tell it.
type Limit struct {
	Kind      string    `json:"kind"` // "requests", "tokens", "input-tokens", "output-tokens"
	Limit     int       `json:"limit"`
	Remaining int       `json:"remaining"`
	Reset     time.Time `json:"reset"` // when it is whole again
}

// pieceSize is how much text the built-in models stream at a time, in bytes.
const pieceSize = 16

// pieces cuts text on rune borders.
func pieces(text string) []string {
	var out []string
	start := 0
	for i := range text {
		if i-start >= pieceSize {
			out = append(out, text[start:i])
			start = i
		}
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// send streams the parts with a pause between them, until ctx ends. It returns
// what was sent.
func send(ctx context.Context, parts []string, between time.Duration, stream func(string)) (text string, whole bool) {
	var sent strings.Builder
	for i, part := range parts {
		if i > 0 && !wait(ctx, between) {
			return sent.String(), false
		}
		sent.WriteString(part)
		if stream != nil {
			stream(part)
		}
	}
	return sent.String(), true
}

// wait sleeps; it reports false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
