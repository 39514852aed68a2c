package provider

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"amacs/harness/provider/wire"
)

// maxText is how much text a response may have, in bytes: ten times what the
// longest answers of today have.
const maxText = 8 << 20

// incoming is a response as it grows.
type incoming struct {
	stream  func(string)
	text    strings.Builder
	model   string
	reason  string // why it stops, as the server says before the stop marker
	stop    string // "" = the stop marker was not seen
	usage   Usage
	cost    *float64
	refusal string // the model or the vendor would not answer, and why
}

// add takes the next piece of the text.
func (a *incoming) add(piece string) error {
	if piece == "" {
		return nil
	}
	if a.text.Len()+len(piece) > maxText {
		return fmt.Errorf("%w: more than %d MB of text", wire.ErrSize, maxText>>20)
	}
	a.text.WriteString(piece)
	if a.stream != nil {
		a.stream(piece)
	}
	return nil
}

// missing is what makes an answer that came without an error none.
func (a *incoming) missing() error {
	switch {
	case a.refusal != "":
		return &wire.Fault{Began: true, Err: fmt.Errorf("the model refused to answer: %s", a.refusal)}
	case a.stop == "":
		return &wire.Fault{Began: true, Again: true, Err: fmt.Errorf("the stream ended before its stop marker: %w", io.ErrUnexpectedEOF)}
	case a.stop == windowFull:
		return &wire.Fault{Began: true, Err: errWindow}
	}
	return nil
}

// The words of stop that are the same for all vendors.
const (
	stopEnd    = "end"
	stopMax    = "max_tokens"
	windowFull = "model_context_window_exceeded" // Anthropic's
)

var errWindow = errors.New("the prompt and the answer do not fit into the model's window")
