// Package agent runs the agent CLIs that the user has: claude, codex, gemini
// and others. An [Entry] says how one is called and where its answer stands in
// what it prints; [Run] gives it a [Job] and returns a [Result], or an [*Error]
// that says what went wrong and what to do.
//
// [Builtin] lists the entries that are known. The user's own stand in
// config.yaml and are laid over them by [Merge]:
//
//	agents:
//	  - name: claude
//	    max-usd: 2                  # only what differs
//	  - name: mine
//	    command: [mine, ask, --json]
//	    model: [--model, "{model}"]
//	    output:
//	      format: lines
//	      text: message.text if type=done
//
// A CLI runs in a session of its own, without a terminal: /dev/tty can not be
// opened, stdin holds the prompt or is empty. It ends at its deadline, when it
// has been silent for too long, or with the caller's context: SIGTERM to the
// whole process group, SIGKILL two seconds later. What it started and left
// behind ends with it, unless it moved to a session of its own. On Linux the
// kernel kills the CLI, if not what it started, when amacs dies. It carries
// AMACS_INSIDE=1, so that amacs does not wake itself from within.
//
// Begin reading at [Entry] and [Run]; how output is read is told at [Output].
package agent

import (
	"encoding/json"
	"time"
)

// Entry describes a CLI. Each list of arguments is used when the job has what
// it is for; {model}, {usd}, {session}, {schema}, {prompt} and {system} in an
// argument or a variable stand for the job's text, {schema-file}, {prompt-file},
// {system-file} for the path of a file that holds it, {file:NAME} for one of
// Files. The command line is Command, NoTools, Model, System, Budget, Schema,
// Forget, Continue, Prompt, in this order.
type Entry struct {
	Name     string   `yaml:"name"`
	Command  []string `yaml:"command"`
	Prompt   []string `yaml:"prompt"` // without {prompt} and {prompt-file} the prompt goes by stdin
	System   []string `yaml:"system"` // none, nor a variable with {system}: the system text goes before the prompt
	Model    []string `yaml:"model"`
	Budget   []string `yaml:"budget"`
	Schema   []string `yaml:"schema"`
	Continue []string `yaml:"continue"`
	Forget   []string `yaml:"forget"`   // when the session will not be continued
	NoTools  []string `yaml:"no-tools"` // when the job allows none

	Env        map[string]string `yaml:"env"` // a variable whose {…} the job lacks is not set
	NoToolsEnv map[string]string `yaml:"no-tools-env"`
	Files      map[string]string `yaml:"files"` // by name: contents
	Scrub      []string          `yaml:"scrub"` // variables with keys, removed so that the login pays

	Billing string   `yaml:"billing"` // "login": a subscription pays; "key": a key does, and Scrub is left alone
	MaxUSD  float64  `yaml:"max-usd"` // the most that one call may cost; an estimate where Budget is empty; 0 = 0.50
	Version []string `yaml:"version"` // arguments; none = --version
	Tags    []string `yaml:"tags"`    // what it is good at
	Login   string   `yaml:"login"`   // how to log in

	Timeout time.Duration `yaml:"timeout"` // of a run; 0 = 10 minutes
	Idle    time.Duration `yaml:"idle"`    // without progress on stdout; 0 = no limit
	TTY     bool          `yaml:"tty"`     // it refuses to run without a terminal: give it one of its own

	Output Output `yaml:"output"`
}

// Output says where the answer stands on stdout. Format is
//
//   - text (the default): all of it is the answer;
//   - lines: JSON lines, others are ignored;
//   - json: one JSON value after any noise; an array counts as its elements.
//
// The others are picks from the JSON values: a path, terms joined by " + " to
// add, " if PATH=VALUE PATH=VALUE" to choose the value, " | " between
// alternatives. * in a path is every element. Texts are taken from the last
// value that has them, numbers added over all, deltas joined.
//
//	item.text if type=item.completed item.type=agent_message
//	usage.input_tokens + usage.cache_read_input_tokens if type=result
//	result if is_error=true | errors.* if is_error=true
type Output struct {
	Format  string `yaml:"format"`
	Text    string `yaml:"text"`
	Delta   string `yaml:"delta"` // text as it is written; the answer, where Text is empty
	Session string `yaml:"session"`
	Model   string `yaml:"model"`
	Stop    string `yaml:"stop"` // why it ended
	In      string `yaml:"in"`   // tokens, cached ones included
	Cached  string `yaml:"cached"`
	Written string `yaml:"written"`
	Out     string `yaml:"out"`
	Cost    string `yaml:"cost"`  // USD
	Done    string `yaml:"done"`  // must be there at the end, else the answer was cut off
	Error   string `yaml:"error"` // its presence means that the run failed, whatever the exit code
	Note    string `yaml:"note"`  // a trouble that may pass: it is no progress, and is told if nothing follows
	Reset   string `yaml:"reset"` // when a limit that was reached ends, as seconds since 1970
}

// Job is one question to a CLI.
type Job struct {
	Prompt  string
	System  string
	Model   string          // "" = the CLI's own choice
	Session string          // a session to continue, as a Result named it
	Schema  json.RawMessage // that the answer should obey, for entries that can say so
	MaxUSD  float64         // 0 = the entry's
	Tools   bool            // the CLI may use its tools
	Keep    bool            // the session will be continued
	Dir     string          // where it runs; "" = an empty folder
	Env     []string        // the environment to start from; nil = this process's
	Timeout time.Duration   // 0 = the entry's
}

// Result is what came out. Usage and cost are as the CLI counts them, zero and
// nil where it does not. Codex counts a continued session from its beginning.
type Result struct {
	Text    string
	Session string // to continue it; "" = the CLI does not say
	Model   string
	Stop    string
	In      int // tokens; Cached and Written are parts of it
	Cached  int
	Written int
	Out     int
	CostUSD *float64
	Stderr  string // its beginning and end
}

const (
	defaultTimeout = 10 * time.Minute
	defaultMaxUSD  = 0.50
)

// MaxCost is the most that a call may cost, in USD: the CLI's own budget where
// it has one, else an estimate.
func (e Entry) MaxCost() float64 {
	if e.MaxUSD > 0 {
		return e.MaxUSD
	}
	return defaultMaxUSD
}

// Keyed reports whether a key pays for the calls and not a login.
func (e Entry) Keyed() bool { return e.Billing == "key" }
