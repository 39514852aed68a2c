package provider

import (
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// Class says what may be done about an error.
type Class int

const (
	Permanent Class = iota // asking again gives the same
	Transient              // asking again may help
	Cancelled              // the caller ended it
	TooLong                // the prompt is longer than the model can read
)

func (c Class) String() string {
	switch c {
	case Transient:
		return "transient"
	case Cancelled:
		return "cancelled"
	case TooLong:
		return "too long"
	}
	return "permanent"
}

// Error is a call that gave no response.
type Error struct {
	Class      Class
	Provider   string        // "script"
	Op         string        // what was being done: "opening", "asking"
	Hint       string        // what the human can do; may be empty
	RetryAfter time.Duration // what the provider asked for; 0 = nothing
	Partial    string        // the text that had arrived
	Began      bool          // the model had begun to answer: the call may be billed
	Usage      Usage         // what the provider had counted by then
	Cost       *float64      // what it cost in USD, where the provider says
	Limits     []Limit       // rate limits that came with it
	Err        error
}

// Error is "provider script: asking: why (hint)".
func (e *Error) Error() string {
	s := "provider " + e.Provider + ": " + e.Op + ": " + e.Err.Error()
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Classify tells what an error of a [Model] is: its own class if it has one,
// else by what it wraps; what is unknown is permanent.
func Classify(err error) Class {
	var e *Error
	var network net.Error
	switch {
	case errors.As(err, &e):
		return e.Class
	case errors.Is(err, context.Canceled):
		return Cancelled
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &network):
		return Transient
	}
	return Permanent
}

// ended is the error of a call whose context has ended: a cancel is the
// caller's wish, a deadline that passed may be tried again.
func ended(ctx context.Context, provider, partial string) *Error {
	err := ctx.Err()
	return &Error{Class: Classify(err), Provider: provider, Op: "asking", Partial: partial, Err: err}
}
