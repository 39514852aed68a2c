package fake

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// line is an answer as a file has it: the names of [Answer] in snake case.
type line struct {
	Text     json.RawMessage   `json:"text"` // a string, or an object that is sent as it stands
	Thinking string            `json:"thinking"`
	Tool     *Tool             `json:"tool"`
	Usage    Usage             `json:"usage"`
	Model    string            `json:"model"`
	Stop     string            `json:"stop"`
	Cost     *float64          `json:"cost"`
	Headers  map[string]string `json:"headers"`
	Pieces   int               `json:"pieces"`
	Cut      []int             `json:"cut"`
	DelayMS  int               `json:"delay_ms"`
	Fault    Fault             `json:"fault"`
	Message  string            `json:"message"`
	Times    int               `json:"times"`
	When     string            `json:"when"`
	Path     string            `json:"path"`
}

// LoadFile appends the answers of a file to the queue.
func (s *Server) LoadFile(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	answers, err := Parse(data)
	if err != nil {
		return fmt.Errorf("%s:%w", path, err)
	}
	s.Queue(answers...)
	return nil
}

// Parse reads answers, one a line. Its error begins with the number of the line.
func Parse(data []byte) ([]Answer, error) {
	var out []Answer
	for i, text := range bytes.Split(data, []byte("\n")) {
		text = bytes.TrimSpace(text)
		if len(text) == 0 || text[0] == '#' {
			continue
		}
		a, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i+1, err)
		}
		out = append(out, a)
	}
	return out, nil
}

func parse(text []byte) (Answer, error) {
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return Answer{}, err
	}
	if _, err := d.Token(); err != io.EOF {
		return Answer{}, errors.New("something follows the object")
	}
	if !l.Fault.known() {
		return Answer{}, fmt.Errorf("no fault is called %q", l.Fault)
	}
	a := Answer{Thinking: l.Thinking, Tool: l.Tool, Usage: l.Usage, Model: l.Model, Stop: l.Stop, Cost: l.Cost, Headers: l.Headers,
		Pieces: l.Pieces, Cut: l.Cut, Delay: time.Duration(l.DelayMS) * time.Millisecond,
		Fault: l.Fault, Message: l.Message, Times: l.Times, When: l.When, Path: l.Path}
	switch {
	case len(l.Text) == 0:
	case l.Text[0] == '"':
		if err := json.Unmarshal(l.Text, &a.Text); err != nil {
			return Answer{}, err
		}
	case l.Text[0] == '{':
		a.Text = string(l.Text)
	default:
		return Answer{}, errors.New("text is a string or an object")
	}
	return a, nil
}
