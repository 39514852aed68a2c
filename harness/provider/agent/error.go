package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// Kind says what went wrong.
type Kind int

const (
	Failed      Kind = iota // for a reason of its own
	Missing                 // the program is not there, or can not be started
	Refused                 // the job or the entry does not fit: nothing was started
	NotLoggedIn             //
	Limit                   // a quota, a rate limit, credit or the call's own budget is used up
	Deadline                // too slow, or silent for too long
	Crashed                 // ended by a signal
	OldVersion              // it does not know a flag of the entry
	TooLong                 // the prompt is longer than its model can read
	Unreachable             // its server is overloaded, broken or out of reach, or the answer was cut off
	Cancelled               // the caller's context ended
)

// Error is a run that gave no answer.
type Error struct {
	Agent  string
	Kind   Kind
	Hint   string    // what the human can do; may be empty
	Reset  time.Time // when a limit ends; zero = it does not say
	Result Result    // what was known by then; Text is the partial answer
	Err    error
}

// Error is "claude: why (hint)".
func (e *Error) Error() string {
	s := e.Agent + ": " + e.Err.Error()
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Billed reports whether the call may have cost something.
func (e *Error) Billed() bool {
	r := e.Result
	switch e.Kind {
	case Missing, Refused, NotLoggedIn, OldVersion:
		return false
	case Limit, TooLong: // its server refused, unless something was written by then
		return r.CostUSD != nil && *r.CostUSD > 0 || r.CostUSD == nil && (r.Out > 0 || r.Text != "")
	}
	return r.CostUSD == nil || *r.CostUSD > 0
}

// signs tell the kinds of failures by what CLIs say of them. The first that
// matches decides.
var signs = []struct {
	kind Kind
	says *regexp.Regexp
}{
	{OldVersion, regexp.MustCompile(`(?i)unknown (option|argument|flag)|unrecognized (option|argument)|unexpected argument|no such option|flag provided but not defined`)},
	{TooLong, regexp.MustCompile(`(?i)prompt is too long|context[_ ]length|context window|maximum context|input token count.*exceeds|too many tokens in`)},
	{Limit, regexp.MustCompile(`(?i)usage limit|(hit|reached|exceeded) (your|the|its) .{0,40}(limit|quota)|limit reached|rate.?limit|quota|too many requests|\b429\b|credit balance|insufficient.{0,10}(credit|fund|balance)|\b402\b|payment required|max_budget|maximum budget|resource.?exhausted`)},
	{NotLoggedIn, regexp.MustCompile(`(?i)not (logged|signed) in|not authenticated|(please )?run .?/login|log ?in (again|first|required)|login required|sign in|auth(entication)? (method|type|required|failed|error)|no authentication|no auth |authentication_(error|failed)|unauthori[sz]ed|invalid (x-)?api.?key|incorrect api key|no api key|must specify the \S*(key|token)|api key (not|is missing|found)|token (has )?expired|\b401\b|goose configure`)},
	{Unreachable, regexp.MustCompile(`(?i)overloaded|high demand|temporary error|server[_ ]error|\b5\d\d\b|timed? ?out|connection|disconnected|econn|enotfound|eai_again|fetch failed|network|unavailable|dns|try again`)},
}

// explain makes the error of a run that failed by itself: why is what it said.
func (e Entry) explain(ctx context.Context, c *collector, path string, env []string, why string) error {
	kind := signOf(why)
	err := e.failed(c, kind, errors.New(brief(why)))
	switch kind {
	case NotLoggedIn:
		err.Hint = e.loginHint()
	case Limit:
		if err.Reset = c.reset; err.Reset.IsZero() {
			err.Reset = resetIn(why, time.Now())
		}
		if !err.Reset.IsZero() {
			err.Hint = "it resets at " + err.Reset.Local().Format("2006-01-02 15:04")
		}
	case OldVersion:
		version, _ := e.version(ctx, path, env) // without it the hint is shorter
		if version != "" {
			version = ", this is " + version
		}
		err.Hint = fmt.Sprintf("update %s%s; or change its entry under `agents:` in config.yaml", e.Name, version)
	}
	return err
}

// signOf is the kind of failure that a text tells of.
func signOf(text string) Kind {
	for _, sign := range signs {
		if sign.says.MatchString(text) {
			return sign.kind
		}
	}
	return Failed
}

func (e Entry) loginHint() string {
	hint := cmp.Or(e.Login, fmt.Sprintf("run `%s` once in a terminal and log in", e.Name))
	if e.Keyed() {
		hint += ", or set the key that it needs"
	}
	return hint
}

// failed makes an error with what c holds.
func (e Entry) failed(c *collector, kind Kind, err error) *Error {
	out := &Error{Agent: e.Name, Kind: kind, Result: c.result, Err: err}
	if kind == Deadline {
		said := cmp.Or(c.note, telling(c.result.Stderr))
		if said != "" {
			out.Err = fmt.Errorf("%w; it said: %s", err, brief(said))
		}
		out.Hint = "ask later, or try it by hand; `idle` and `timeout` of its entry in config.yaml say how long it may take"
		if signOf(said) == NotLoggedIn {
			out.Hint = e.loginHint()
		}
	}
	return out
}

// telling is the line of a text that tells of a failure, else all of it.
func telling(text string) string {
	for line := range strings.Lines(text) {
		if signOf(line) != Failed {
			return line
		}
	}
	return text
}

// brief is the first lines of a text, 400 bytes at most.
func brief(text string) string {
	const most = 400
	lines := strings.Split(strings.TrimSpace(text), "\n")
	kept := lines[:0]
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			kept = append(kept, l)
		}
		if len(kept) == 4 {
			break
		}
	}
	text = strings.Join(kept, " · ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// secretName is a variable whose value is not shown.
var secretName = regexp.MustCompile(`(?i)(key|token|secret|password|passwd|auth|credentials?)$`)

// hide takes the values of secret variables of env out of a text.
func hide(text string, env []string) string {
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if len(value) >= 8 && secretName.MatchString(name) {
			text = strings.ReplaceAll(text, value, "[hidden]")
		}
	}
	return text
}
