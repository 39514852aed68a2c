package eval

import (
	"context"
	"errors"
	"strings"

	"amacs/consciousness/sexp"
)

// Error is a Lisp error: (Symbol . Data), or what a limit ended.
type Error struct {
	Symbol Symbol
	Data   Value // a list
	Limit  bool  // no handler catches it
	Hint   string

	scope *scope // where a void variable was looked up
}

// Error is the text that Emacs' error-message-string gives, such as
// "Wrong type argument: stringp, 42", and after a semicolon the hint.
func (e *Error) Error() string {
	text := errorText(e.Symbol, e.Data)
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// messages are the texts of the error symbols of Emacs that can occur.
var messages = map[Symbol]string{
	"args-out-of-range":         "Args out of range",
	"arith-error":               "Arithmetic error",
	"circular-list":             "List contains a loop",
	"end-of-file":               "End of file during parsing",
	"internal-error":            "Internal error",
	"depth-limit":               "Depth limit",
	"invalid-function":          "Invalid function",
	"invalid-read-syntax":       "Invalid read syntax",
	"invalid-regexp":            "Invalid regexp",
	"memory-limit":              "Memory limit",
	"no-catch":                  "No catch for tag",
	"overflow-error":            "Arithmetic overflow error",
	"output-limit":              "Output limit",
	"quit":                      "Quit",
	"range-error":               "Arithmetic range error",
	"setting-constant":          "Attempt to set a constant symbol",
	"step-limit":                "Step limit",
	"time-limit":                "Time limit",
	"user-error":                "",
	"void-function":             "Symbol’s function definition is void",
	"void-variable":             "Symbol’s value as variable is void",
	"wrong-length-argument":     "Wrong length argument",
	"wrong-number-of-arguments": "Wrong number of arguments",
	"wrong-type-argument":       "Wrong type argument",
}

// parents are the more general conditions of an error, but for error itself.
var parents = map[Symbol][]Symbol{
	"overflow-error": {"range-error", "arith-error"},
	"range-error":    {"arith-error"},
}

// maxErrorPart bounds each value in an error text, in bytes.
const maxErrorPart = 1000

func errorText(symbol Symbol, data Value) string {
	parts, err := sexp.Slice(data)
	if err != nil {
		parts = nil
	}
	text, known := messages[symbol]
	if symbol == "error" {
		if len(parts) > 0 {
			text, known = parts[0].(string)
			parts = parts[1:]
		}
	}
	if !known {
		text = "peculiar error"
	}
	plain := symbol == "user-error" || symbol == "end-of-file" || symbol == "internal-error" || strings.HasSuffix(string(symbol), "-limit")
	var out strings.Builder
	out.WriteString(text)
	for i, part := range parts {
		switch {
		case i > 0:
			out.WriteString(", ")
		case text != "":
			out.WriteString(": ")
		}
		shown, whole := sexp.PrintWithin(part, plain, maxErrorPart)
		out.WriteString(shown)
		if !whole {
			out.WriteString("…")
		}
	}
	return out.String()
}

// matches reports whether a handler for condition catches e. A symbol that
// nobody defined as an error is one all the same, unlike in Emacs.
func (e *Error) matches(condition Value) bool {
	switch condition {
	case e.Symbol, sexp.T:
		return true
	case Symbol("error"):
		return e.Symbol != "quit"
	}
	for _, parent := range parents[e.Symbol] {
		if condition == parent {
			return true
		}
	}
	return false
}

// value is the error as a handler sees it.
func (e *Error) value() Value { return &sexp.Cons{Car: e.Symbol, Cdr: e.Data} }

func fail(symbol Symbol, data ...Value) *Error {
	return &Error{Symbol: symbol, Data: sexp.List(data...)}
}

func wrongType(predicate Symbol, v Value) *Error { return fail("wrong-type-argument", predicate, v) }

func outOfRange(data ...Value) *Error { return fail("args-out-of-range", data...) }

// plainError is what (error "text") signals.
func plainError(text string) *Error { return fail("error", text) }

func readError(err error) *Error {
	var syntax *sexp.SyntaxError
	if !errors.As(err, &syntax) {
		return plainError(err.Error())
	}
	if syntax.Incomplete {
		return &Error{Symbol: "end-of-file", Data: sexp.Nil, Hint: "a closing parenthesis or quote is missing"}
	}
	return fail("invalid-read-syntax", syntax.Msg, int64(syntax.Line), int64(syntax.Col))
}

// asError makes an Error of what a function returned.
func (m *machine) asError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if m.clock.ctx.Err() != nil && (errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		return m.timeOver()
	}
	return plainError(err.Error())
}

// thrown travels from throw to its catch.
type thrown struct{ tag, value Value }

func (t *thrown) Error() string { return "no catch for tag" }
