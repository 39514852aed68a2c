package fake

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"
)

// Answer is what one request gets.
type Answer struct {
	Text     string            // of the reply; "" with no Tool = [Default]. Where no text is asked for, the body whole
	Thinking string            // comes before the text
	Tool     *Tool             // a call after the text
	Usage    Usage             // zero = counted, as the package comment says
	Model    string            // that answered; "" = the one asked for
	Stop     string            // the vendor's word; "max_tokens" and "refusal" are put into each vendor's; "" = it came to its end
	Cost     *float64          // USD, as OpenRouter tells it
	Headers  map[string]string // of the answer, or of the fault
	Pieces   int               // characters streamed at a time; 0 = a few
	Cut      []int             // byte positions in Text where the wire is cut too, be it in a character
	Delay    time.Duration     // between what is sent

	Fault   Fault
	Message string // of the error, in place of the vendor's words
	Times   int    // how often the fault comes before the answer itself; 0 = once, with no answer after it; -1 = always

	When string // only for requests whose body holds this, as JSON has it
	Path string // only for requests whose path holds this; "" = those that ask for text
}

// Tool is a call of a tool.
type Tool struct {
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// Usage counts tokens. In holds those read from a cache and written to it too;
// Cached and Written are its parts.
type Usage struct {
	In      int `json:"in"`
	Cached  int `json:"cached"`
	Written int `json:"written"`
	Out     int `json:"out"`
}

// Default is the text of an answer that has none.
const Default = `{"mood":"calm","confidence":0.9,"monologue":"Said hello.","reply":"Hello."}`

// Fault is what goes wrong. A number from 400 to 599 is that status.
type Fault string

// The faults that have names of their own. Those that say "mid-stream" come
// when half of the text is out; in an answer that does not stream, when half of
// its body is.
const (
	RetryAfter  Fault = "429-retry-after" // 429 that says when: in a second
	TooLong     Fault = "400-context"     // the prompt is longer than the window
	NoSchema    Fault = "400-schema"      // structured output is not to be had
	Quota       Fault = "quota"           // no money left
	Reset       Fault = "reset"           // the connection is reset in mid-stream
	Stall       Fault = "stall"           // silence in mid-stream, until the client hangs up
	HalfJSON    Fault = "half-json"       // ends within an object
	Empty       Fault = "empty"           // status 200 and no body
	HTML        Fault = "html"            // status 200 and a page
	ContentType Fault = "content-type"    // the answer, called text/plain
	NoStop      Fault = "no-stop"         // ends with the text, without what marks the end
	ErrorEvent  Fault = "error-event"     // an error in mid-stream; without a stream, status 500
	Huge        Fault = "huge"            // 30 MB more of text
	SlowHeaders Fault = "slow-headers"    // nothing for Delay, then the answer; with no Delay, nothing until the client hangs up
	Gzip        Fault = "gzip"            // the answer, compressed
	Noise       Fault = "noise"           // the answer, amid comments and events that nobody knows
	NoUsage     Fault = "no-usage"        // the answer, uncounted (OpenAI's chat, Ollama)
)

// hugeSize is how much [Huge] adds, in bytes.
const hugeSize = 30 << 20

func (a *Answer) meant(path string, body []byte, generates bool) bool {
	if a.Path == "" && !generates || !strings.Contains(path, a.Path) {
		return false
	}
	return bytes.Contains(body, []byte(a.When))
}

// filled is the answer with nothing left to default but its usage.
func (a Answer) filled(model string) Answer {
	if a.Model == "" {
		a.Model = model
	}
	if a.Pieces == 0 {
		a.Pieces = 6
	}
	if a.Fault == Huge {
		a.Pieces = 64 << 10
		filler := strings.Repeat("0123456789abcdef", hugeSize/16)
		if a.Text == "" {
			a.Text = strings.Replace(Default, "Hello.", filler, 1)
		} else {
			a.Text += filler
		}
	}
	if a.Text == "" && a.Tool == nil {
		a.Text = Default
	}
	if a.Tool != nil && len(a.Tool.Input) == 0 {
		a.Tool = &Tool{Name: a.Tool.Name, Input: json.RawMessage("{}")}
	}
	return a
}

// counted is the answer with its usage: in is what the request holds.
func (a Answer) counted(in Usage) Answer {
	if a.Usage == (Usage{}) {
		a.Usage = in
		a.Usage.Out = tokens(len(a.Text) + len(a.Thinking))
		if a.Tool != nil {
			a.Usage.Out += tokens(len(a.Tool.Name) + len(a.Tool.Input))
		}
	}
	return a
}

// tokens is about how many a text of n bytes is.
func tokens(n int) int { return (n + 3) / 4 }

// pieces cuts text into runs of n characters.
func pieces(text string, n int) []string {
	var out []string
	for len(text) > 0 {
		end := 0
		for i := 0; i < n && end < len(text); i++ {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
		out = append(out, text[:end])
		text = text[end:]
	}
	return out
}
