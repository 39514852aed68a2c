package provider

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// Script reads a file of replies, one JSON value a line and one line a call.
// The file is read once; the position belongs to the returned Model. Blank lines
// and lines that begin with # or // are skipped. A line is
//
//   - a string: played as raw text;
//   - a direction: an object with any of the keys error, class, chunks, delay_ms,
//     text, hang, expect, usage, cost and model, or whose "reply" is an object;
//   - any other object: played as the reply's JSON, as it stands in the file.
//
// The keys of a direction (others are refused, with file and line):
//
//	text      raw text to play
//	chunks    the same, cut as given
//	reply     an object: its JSON is the text
//	delay_ms  a wait before the text, or before each of the chunks
//	error     the call fails so, after the text if there is one
//	class     of the error: "permanent" (default), "transient" or "too long"
//	hang      true: after the text, wait until the caller gives up
//	expect    text that the prompt must hold, else a permanent error shows it
//	usage     {"in": 1200, "cached": 1000, "out": 80}, in tokens
//	cost      what the call costs, in USD
//	model     the name that the response gives its model
//
// After the last line each call is a permanent error.
func Script(path string) (Model, error) {
	fail := func(err error) (Model, error) {
		return nil, &Error{Provider: "script", Op: "opening", Err: err, Hint: "a script is a JSONL file, one reply a line"}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fail(err)
	}
	s := &script{path: path}
	n := 0
	for line := range bytes.Lines(bytes.TrimPrefix(data, []byte("\ufeff"))) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' || bytes.HasPrefix(line, []byte("//")) {
			continue
		}
		d, err := readDirection(line)
		if err != nil {
			return fail(fmt.Errorf("%s:%d: %w", path, n, err))
		}
		d.line = n
		s.lines = append(s.lines, d)
	}
	return s, nil
}

// direction is a line of a script.
type direction struct {
	Error  string          `json:"error"`
	Class  string          `json:"class"`
	Chunks []string        `json:"chunks"`
	Delay  int             `json:"delay_ms"`
	Text   *string         `json:"text"`
	Reply  json.RawMessage `json:"reply"`
	Hang   bool            `json:"hang"`
	Expect string          `json:"expect"`
	Usage  Usage           `json:"usage"`
	Cost   *float64        `json:"cost"`
	Model  string          `json:"model"`

	line int // in the file
}

var directionKeys = []string{"error", "class", "chunks", "delay_ms", "text", "hang", "expect", "usage", "cost", "model"}

func readDirection(line []byte) (d direction, err error) {
	switch line[0] {
	case '"':
		var text string
		if err := json.Unmarshal(line, &text); err != nil {
			return d, err
		}
		return direction{Text: &text}, nil
	case '{':
	default:
		return d, errors.New("an object or a string expected")
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(line, &keys); err != nil {
		return d, err
	}
	directs := bytes.HasPrefix(keys["reply"], []byte("{"))
	for _, k := range directionKeys {
		_, has := keys[k]
		directs = directs || has
	}
	if !directs {
		return direction{Reply: line}, nil
	}
	for k := range keys {
		if k != "reply" && !slices.Contains(directionKeys, k) {
			return d, fmt.Errorf("unknown key %q in a direction; the keys of a reply belong into \"reply\": {…}", k)
		}
	}
	if err := json.Unmarshal(line, &d); err != nil {
		return d, err
	}
	return d, d.check()
}

// check refuses what can not be played.
func (d direction) check() error {
	texts := 0
	for _, given := range []bool{d.Chunks != nil, d.Text != nil, d.Reply != nil} {
		if given {
			texts++
		}
	}
	switch {
	case d.Reply != nil && d.Reply[0] != '{':
		return errors.New(`"reply" in a direction must be an object; for raw text use "text"`)
	case texts > 1:
		return errors.New("only one of text, chunks and reply can be played")
	case texts == 0 && d.Error == "" && !d.Hang:
		return errors.New("nothing to play: text, chunks, reply, error or hang is needed")
	case d.Class != "" && d.Error == "":
		return errors.New(`"class" needs "error"`)
	case d.Class != "" && !slices.Contains(classes, d.class()):
		return fmt.Errorf("class must be permanent, transient or \"too long\", not %q", d.Class)
	case d.Delay < 0:
		return errors.New("delay_ms must not be negative")
	case d.Cost != nil && *d.Cost < 0:
		return errors.New("cost must not be negative")
	case d.Hang && d.Error != "":
		return errors.New("a call that hangs has no other error")
	}
	return nil
}

var classes = []Class{Permanent, Transient, TooLong}

// class is that of the line's error; Cancelled for a word that names none.
func (d direction) class() Class {
	if d.Class == "" {
		return Permanent
	}
	for _, c := range classes {
		if c.String() == d.Class {
			return c
		}
	}
	return Cancelled
}

// pieces are the stretches in which the text is streamed.
func (d direction) pieces() []string {
	switch {
	case d.Text != nil:
		return pieces(*d.Text)
	case d.Reply != nil:
		return pieces(string(d.Reply))
	}
	return d.Chunks
}

// script plays the lines of a file.
type script struct {
	path  string
	lines []direction

	mu   sync.Mutex
	next int
}

func (s *script) Name() string { return "script:" + filepath.Base(s.path) }

func (s *script) Facts() Facts { return Facts{Provider: "script", Model: filepath.Base(s.path)} }

func (s *script) Complete(ctx context.Context, r Request, stream func(string)) (Response, error) {
	fail := func(class Class, partial, format string, args ...any) (Response, error) {
		return Response{}, &Error{Class: class, Provider: "script", Op: "asking", Partial: partial, Err: fmt.Errorf(format, args...)}
	}
	if ctx.Err() != nil {
		return Response{}, ended(ctx, "script", "")
	}
	d, ok := s.take()
	if !ok {
		return fail(Permanent, "", "script exhausted: %s has %d lines", s.path, len(s.lines))
	}
	if !r.holds(d.Expect) {
		return fail(Permanent, "", "%s:%d: the prompt does not hold %q", s.path, d.line, d.Expect)
	}
	text, err := d.play(ctx, stream)
	switch {
	case err != nil:
		return Response{}, err
	case d.Error != "":
		return fail(d.class(), text, "%s", d.Error)
	}
	return Response{Text: text, Model: cmp.Or(d.Model, s.Name()), Stop: "end", Usage: d.Usage, Cost: d.Cost}, nil
}

// take steps to the next line.
func (s *script) take() (direction, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next >= len(s.lines) {
		return direction{}, false
	}
	s.next++
	return s.lines[s.next-1], true
}

// holds reports whether text stands in any part of the request.
func (r Request) holds(text string) bool {
	if strings.Contains(r.System, text) || strings.Contains(r.Text(), text) {
		return true
	}
	return slices.ContainsFunc(r.Retry, func(t Turn) bool { return strings.Contains(t.Text, text) })
}

// play streams the text of a line and returns it whole.
func (d direction) play(ctx context.Context, stream func(string)) (string, error) {
	pause := time.Duration(d.Delay) * time.Millisecond
	if !wait(ctx, pause) {
		return "", ended(ctx, "script", "")
	}
	between := pause
	if d.Chunks == nil {
		between = 0
	}
	text, whole := send(ctx, d.pieces(), between, stream)
	if d.Hang {
		<-ctx.Done()
		whole = false
	}
	if !whole {
		return "", ended(ctx, "script", text)
	}
	return text, nil
}
