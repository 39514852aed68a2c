package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// outputFormats are the values of [Output.Format]; "" is text.
var outputFormats = []string{"", "text", "lines", "json"}

// maxOutput is how much a CLI may print, in bytes.
const maxOutput = 32 << 20

// errTooMuch: the CLI printed more than maxOutput.
var errTooMuch = fmt.Errorf("it printed more than %d MB", maxOutput>>20)

// picks are the picks of an [Output].
type picks struct {
	text, delta, session, model, stop, in, cached, written, out, cost, done, fail, note, reset pick
}

func (o Output) picks() (p picks, err error) {
	var all []error
	for _, f := range []struct {
		name, from string
		to         *pick
	}{
		{"text", o.Text, &p.text}, {"delta", o.Delta, &p.delta}, {"session", o.Session, &p.session}, {"model", o.Model, &p.model},
		{"stop", o.Stop, &p.stop}, {"in", o.In, &p.in}, {"cached", o.Cached, &p.cached}, {"written", o.Written, &p.written},
		{"out", o.Out, &p.out}, {"cost", o.Cost, &p.cost}, {"done", o.Done, &p.done}, {"error", o.Error, &p.fail}, {"note", o.Note, &p.note}, {"reset", o.Reset, &p.reset},
	} {
		var err error
		if *f.to, err = parsePick(f.from); err != nil {
			all = append(all, fmt.Errorf("output: %s: %w", f.name, err))
		}
	}
	return p, errors.Join(all...)
}

// collector reads what a CLI prints, as it is printed.
type collector struct {
	format string
	picks  picks
	size   int    // bytes so far
	rest   []byte // lines: the one that has not ended; text: a tail that may be half an escape; json: all
	text   strings.Builder
	last   string // what the text pick found
	noise  []byte // the end of the lines that are no JSON

	result Result
	done   bool      // the done pick found something
	fail   string    // what the error pick found
	note   string    // the last passing trouble
	reset  time.Time // what the reset pick found
}

// feed takes the next stretch of stdout and hands what is text to stream. It
// reports whether the CLI made progress.
func (c *collector) feed(chunk []byte, stream func(string)) (progress bool, err error) {
	if c.size += len(chunk); c.size > maxOutput {
		return false, errTooMuch
	}
	switch c.format {
	case "json":
		c.rest = append(c.rest, chunk...)
		return true, nil
	case "lines":
		for {
			end := bytes.IndexByte(chunk, '\n')
			if end < 0 {
				c.rest = append(c.rest, chunk...)
				return progress, nil
			}
			progress = c.line(append(c.rest, chunk[:end]...), stream) || progress
			c.rest, chunk = c.rest[:0], chunk[end+1:]
		}
	}
	text := plain(append(c.rest, chunk...))
	whole := len(text)
	if at := strings.IndexAny(text, "\x1b\r"); at >= 0 && whole-at < tailSize {
		whole = at // it may be half a sequence
	}
	c.write(text[:whole], stream)
	c.rest = append(c.rest[:0], text[whole:]...)
	return true, nil
}

// end takes what is left when stdout has ended.
func (c *collector) end(stream func(string)) {
	switch c.format {
	case "json":
		for _, v := range values(c.rest) {
			c.value(v, stream)
		}
		if c.noise == nil && c.last == "" {
			c.noise = tail(c.rest)
		}
	case "lines":
		c.line(c.rest, stream)
	default:
		c.write(plain(c.rest), stream)
	}
	if c.result.Text = c.last; c.last == "" {
		c.result.Text = strings.TrimSpace(c.text.String())
	}
}

func (c *collector) line(line []byte, stream func(string)) (progress bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return false
	}
	var v any
	if line[0] != '{' || json.Unmarshal(line, &v) != nil {
		c.noise = tail(append(append(c.noise, line...), '\n'))
		return false
	}
	return c.value(v, stream)
}

// value takes one JSON value.
func (c *collector) value(v any, stream func(string)) (progress bool) {
	p, r := &c.picks, &c.result
	for _, f := range []struct {
		from pick
		to   *string
	}{{p.text, &c.last}, {p.session, &r.Session}, {p.model, &r.Model}, {p.stop, &r.Stop}, {p.fail, &c.fail}} {
		if text := f.from.text(v); text != "" {
			*f.to = text
		}
	}
	for _, f := range []struct {
		from pick
		to   *int
	}{{p.in, &r.In}, {p.cached, &r.Cached}, {p.written, &r.Written}, {p.out, &r.Out}} {
		if n, ok := f.from.number(v); ok {
			*f.to += int(n)
		}
	}
	if usd, ok := p.cost.number(v); ok {
		if r.CostUSD != nil {
			usd += *r.CostUSD
		}
		r.CostUSD = &usd
	}
	if at, ok := p.reset.number(v); ok {
		c.reset = time.Unix(int64(at), 0)
	}
	c.done = c.done || p.done.text(v) != ""
	if delta := p.delta.text(v); delta != "" {
		c.write(delta, stream)
	}
	if note := p.note.text(v); note != "" {
		c.note = note
		return false
	}
	return true
}

func (c *collector) write(text string, stream func(string)) {
	if text == "" {
		return
	}
	c.text.WriteString(text)
	if stream != nil {
		stream(text)
	}
}

// values finds the JSON value in text that may begin with noise; an array is
// its elements.
func values(text []byte) []any {
	for at := 0; at < len(text); at++ {
		if text[at] != '{' && text[at] != '[' || at > 0 && text[at-1] != '\n' {
			continue
		}
		var v any
		if json.NewDecoder(bytes.NewReader(text[at:])).Decode(&v) != nil {
			continue
		}
		if array, ok := v.([]any); ok {
			return array
		}
		return []any{v}
	}
	return nil
}

// escape is a whole control sequence of a terminal (ECMA-48 §5.4, §8.3.89 and
// two-character escapes).
var escape = regexp.MustCompile(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])`)

// plain is text without control sequences and carriage returns.
func plain(b []byte) string {
	if bytes.IndexByte(b, '\x1b') < 0 && bytes.IndexByte(b, '\r') < 0 {
		return string(b)
	}
	return strings.ReplaceAll(string(escape.ReplaceAll(b, nil)), "\r\n", "\n")
}

// tailSize is how much is kept of what is only told in an error, in bytes.
const tailSize = 4096

func tail(b []byte) []byte {
	if len(b) > tailSize {
		return append([]byte(nil), b[len(b)-tailSize:]...)
	}
	return b
}
