package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	clis "amacs/harness/provider/agent"
)

// cli is an agent CLI that the user has, as a model: without tools, one turn,
// within its own budget where it has one. Its worst case is that budget, else
// its entry's estimate, because a CLI adds its own prompt and may call its model
// more than once. It is not asked for temperature, top-p, top-k or a number of
// tokens: no CLI takes them.
type cli struct {
	entry clis.Entry
	model string // "" = the CLI's own choice

	mu       sync.Mutex
	noSchema bool // its model refused a schema
	said     bool // the human was told that settings do not reach it
}

// newCLI opens "claude" or "claude:opus".
func newCLI(o Options) (*cli, error) {
	fail := func(hint, format string, args ...any) (*cli, error) {
		return nil, &Error{Provider: "agent", Op: "opening", Err: fmt.Errorf(format, args...), Hint: hint}
	}
	all := o.Agents
	if all == nil {
		all = clis.Builtin()
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	name, model, _ := strings.Cut(o.Model, ":")
	at := slices.Index(names, name)
	switch {
	case name == "":
		return fail("name it: --provider agent --model claude", "no CLI named; known are: %s", strings.Join(names, ", "))
	case at < 0:
		return fail("describe it under `agents:` in config.yaml", "no CLI %q; known are: %s", name, strings.Join(names, ", "))
	case model != "" && len(all[at].Model) == 0:
		return fail("leave it out: --model "+name, "%s takes no name of a model", name)
	}
	return &cli{entry: all[at], model: model}, nil
}

func (m *cli) Name() string { return "agent:" + m.Facts().Model }

func (m *cli) Facts() Facts {
	f := Facts{Provider: "agent", Model: m.entry.Name, Billing: Subscription, MaxUSD: m.entry.MaxCost()}
	if m.model != "" {
		f.Model += ":" + m.model
	}
	if m.entry.Keyed() {
		f.Billing = PerToken
	}
	return f
}

func (m *cli) Complete(ctx context.Context, r Request, stream func(string)) (Response, error) {
	job := clis.Job{Prompt: asOneText(r), System: r.System, Model: m.model, MaxUSD: m.entry.MaxCost()}
	m.mu.Lock()
	if !m.noSchema {
		job.Schema = r.Schema
	}
	m.mu.Unlock()

	var words []string
	got, err := clis.Run(ctx, m.entry, job, stream)
	var failed *clis.Error
	if errors.As(err, &failed) && len(job.Schema) > 0 && failed.Kind == clis.Failed && refusedSchema.MatchString(failed.Err.Error()) {
		// Nothing was answered, so this is no second attempt.
		words = append(words, fmt.Sprintf("%s does not take a JSON schema, so it is left out: %s", m.Name(), failed.Err))
		m.mu.Lock()
		m.noSchema = true
		m.mu.Unlock()
		job.Schema = nil
		got, err = clis.Run(ctx, m.entry, job, stream)
	}
	if err != nil {
		return Response{}, m.failure(err)
	}
	if s := r.Settings; (s.Temperature != 1 && s.Temperature != 0 || s.TopP != 1 && s.TopP != 0 || s.TopK != 0) && m.unsaid() {
		words = append(words, fmt.Sprintf("%s is a program: temperature, top-p and top-k do not reach its model", m.Name()))
	}
	return Response{Text: got.Text, Model: cmp.Or(got.Model, m.Facts().Model), Stop: cmp.Or(got.Stop, "end"),
		Usage: usageOf(got), Cost: got.CostUSD, Words: words}, nil
}

// unsaid reports, once, that the settings do not reach it.
func (m *cli) unsaid() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.said
	m.said = true
	return !before
}

var refusedSchema = regexp.MustCompile(`(?i)schema|response_format|text\.format`)

// asOneText is a request as one text, which is what a CLI takes.
func asOneText(r Request) string {
	var b strings.Builder
	b.WriteString(r.Text())
	for _, t := range r.Retry {
		if t.Role == "assistant" {
			fmt.Fprintf(&b, "\n\n<your-last-reply>\n%s\n</your-last-reply>", t.Text)
		} else {
			fmt.Fprintf(&b, "\n\n%s", t.Text)
		}
	}
	return b.String()
}

func usageOf(r clis.Result) Usage {
	return Usage{In: r.In, Cached: r.Cached, Written: r.Written, Out: r.Out}
}

// failure is the error of a run. CLIs ask their server again themselves, codex
// some thirty times: one that gave up, or was silent until its deadline, is not
// asked again.
func (m *cli) failure(err error) error {
	var e *clis.Error
	if !errors.As(err, &e) { // can not happen: Run returns no other
		return &Error{Provider: "agent", Op: "asking", Err: err}
	}
	out := &Error{Provider: "agent", Op: "asking", Hint: e.Hint, Partial: e.Result.Text, Began: e.Billed(),
		Usage: usageOf(e.Result), Cost: e.Result.CostUSD, Err: fmt.Errorf("%s: %w", e.Agent, e.Err)}
	switch e.Kind {
	case clis.Cancelled:
		out.Class = Classify(e.Err)
	case clis.TooLong:
		out.Class = TooLong
	case clis.Limit:
		if wait := time.Until(e.Reset); wait > 0 {
			out.Class, out.RetryAfter = Transient, wait
		}
	}
	return out
}
