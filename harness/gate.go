package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"amacs/harness/files"
	"amacs/harness/home"
	"amacs/harness/permit"
)

// gate stands before everything that leaves the home. Package permit decides;
// here the human is asked, and what was asked and answered is written down: a
// request before the action, its result after it (permissions.org).
type gate struct {
	*Harness
	m     *Mind
	why   string // what the agent thinks it is doing
	show  Show
	held  *home.Request // what was approved before, and is being done now
	runs  int           // commands of this tick
	asked bool          // the human was asked for what passed last
}

// Asker puts a question to a human who is there.
type Asker func(ctx context.Context, q Question) (Given, error)

// Question is what the human is asked, with all that a decision needs.
type Question struct {
	Text string
	Diff string // of a file that would be written
	Kind string // what "always" and "never" speak of
}

// Given is an answer: yes, no, always or never, perhaps with words for the agent.
type Given struct {
	Answer permit.Given
	Words  string
}

// ErrNoAnswer is returned by an Asker whose human left the question.
var ErrNoAnswer = errors.New("no answer")

// deal is one action as a human reads it, and as it can be done again.
type deal struct {
	summary  string
	call     string // the form that does it
	why      string // the agent's own words
	dir      string
	diff     string
	files    []string
	commands []string
	confined string          // how it runs, for a command
	firm     string          // why it is asked whatever the rules say
	also     []permit.Action // what is done with the action
	risks    string
	rollback string
	expected string
}

// refusal is a decision against an action, for the agent to read.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

// verdict decides on an action.
func (g *gate) verdict(a permit.Action, d deal) (permit.Verdict, error) {
	past, err := g.answers()
	if err != nil {
		return permit.Verdict{}, err
	}
	a.Because = d.firm
	w, rules := g.world(), g.rules()
	v := permit.Decide(a, w, rules, past)
	for _, b := range d.also {
		v = worse(v, permit.Decide(b, w, rules, past))
	}
	return v, nil
}

// worse is the verdict on two actions that are done together.
func worse(a, b permit.Verdict) permit.Verdict {
	if b.Tier > a.Tier {
		a, b = b, a
	}
	if a.Tier == b.Tier && a.Tier != permit.Auto && a.Kind != b.Kind {
		a.Why, a.Kind = a.Why+"; "+b.Why, a.Kind+" + "+b.Kind
	}
	a.Touches = slices.Concat(a.Touches, b.Touches)
	return a
}

// pass returns when a may be done now, and an error otherwise. done is to be told
// what came of it.
func (g *gate) pass(ctx context.Context, a permit.Action, d deal) (done func(result string, err error), err error) {
	v, err := g.verdict(a, d)
	if err != nil {
		return nil, err
	}
	return g.abide(ctx, v, d)
}

// abide is pass for an action that was decided on.
func (g *gate) abide(ctx context.Context, v permit.Verdict, d deal) (done func(result string, err error), err error) {
	g.asked = false
	nothing := func(string, error) {}
	switch {
	case v.Tier == permit.Never && v.Silenced:
		return nil, &refusal{fmt.Sprintf("not asked: %s. Do without it, or ask the human in your reply", v.Why)}
	case v.Tier == permit.Never:
		return nil, &refusal{fmt.Sprintf("refused: %s. No answer of the human changes this; do without it", v.Why)}
	case v.Tier == permit.Auto:
		return nothing, nil
	case g.held != nil:
		return nothing, g.holds(v, d)
	}
	if err := d.legible(d.summary); err != nil {
		return nil, err
	}
	r := g.request(v, d)
	if g.m.Ask == nil && r.Call != d.call {
		return nil, &refusal{"not asked: it holds a secret, which is not written down, so it could not be done later. Ask when the human is at the prompt"}
	}
	if g.m.Ask == nil {
		return nil, g.queue(r)
	}
	return g.ask(ctx, r)
}

const (
	longestText = 4000     // bytes of a command or a form that a human is asked about
	longestDiff = 64 << 10 // bytes of a diff
)

// legible refuses what a human who is asked could not read whole: text is what
// the question says of it.
func (d deal) legible(text string) error {
	const parts = "Do it in smaller parts"
	switch {
	case len(text) > longestText:
		return &refusal{fmt.Sprintf("not asked: it is too long for the human to read (the most is %d bytes). %s", longestText, parts)}
	case strings.Count(d.diff, "\n") > files.MaxDiff || len(d.diff) > longestDiff:
		return &refusal{fmt.Sprintf("not asked: the diff is too long for the human to read (the most is %d lines and %d KB). %s", files.MaxDiff, longestDiff>>10, parts)}
	}
	return nil
}

// holds compares what is about to be done with what was approved.
func (g *gate) holds(v permit.Verdict, d deal) error {
	r := *g.held
	if strings.HasPrefix(r.Kind, asksFor) { // the human has read the whole form
		return g.named(v, d)
	}
	g.held = nil // once
	switch {
	case r.Dir != d.dir || !slices.Equal(r.Files, d.files):
		return &refusal{"what was approved leads elsewhere now; ask again"}
	case r.Kind != v.Kind:
		return &refusal{fmt.Sprintf("what was approved as %s is %s now; ask again", r.Kind, v.Kind)}
	case r.Diff != g.Clean(d.diff):
		return &refusal{"the file has changed since this was approved; ask again"}
	}
	return nil
}

// request is an action as permissions.org holds it.
func (g *gate) request(v permit.Verdict, d deal) home.Request {
	r := home.Request{
		Kind: v.Kind, Project: g.m.project, Call: d.call, Dir: d.dir, Tick: g.m.Tick,
		Asked: g.now(), Expires: g.now().AddDate(0, 0, g.Config().AskExpires),
		Summary: d.summary, Why: d.why, Because: v.Why, Files: d.files, Commands: d.commands,
		Risks: d.risks, Rollback: d.rollback, Expected: d.expected, Confined: d.confined, Diff: d.diff,
	}
	if r.Why == "" {
		r.Why = g.why
	}
	for _, t := range v.Touches {
		if len(r.Touches) < 20 {
			r.Touches = append(r.Touches, string(t.How)+" "+t.What)
		}
	}
	for _, text := range []*string{&r.Summary, &r.Why, &r.Call, &r.Diff, &r.Risks, &r.Rollback, &r.Expected} {
		*text = g.Clean(*text)
	}
	return r
}

// queue leaves a request for the human to answer later.
func (g *gate) queue(r home.Request) error {
	all, err := g.requests()
	if err != nil {
		return err
	}
	for _, old := range all {
		if old.Waits() && old.Call == r.Call && old.Dir == r.Dir && old.Project == r.Project {
			return &refusal{fmt.Sprintf("asked already: %s waits for the human's answer. Go on with something else", old.ID)}
		}
	}
	r.ID = freeID(all)
	if err := g.m.edit("asking", entering(r)); err != nil {
		return err
	}
	g.show(Event{Notice, fmt.Sprintf("(%s asks: %s. `amacs review` answers)", r.ID, marked(r.Summary))})
	return &refusal{fmt.Sprintf("not done yet: %s asks the human (%s). Nobody is there to answer now; the answer, and what came of it, reach your inbox. Go on with something else", r.ID, r.Because)}
}

// entering writes a request down.
func entering(r home.Request) func(*home.Draft) error {
	return func(d *home.Draft) error {
		_, err := d.Ask(r)
		return err
	}
}

// freeID is one that no request has.
func freeID(all []home.Request) string {
	for {
		id := "p-" + home.NewID()[:4]
		if !slices.ContainsFunc(all, func(r home.Request) bool { return r.ID == id }) {
			return id
		}
	}
}

// ask puts the question to the human who is there. A yes is on disk before
// anything is done.
func (g *gate) ask(ctx context.Context, r home.Request) (done func(string, error), err error) {
	all, err := g.requests()
	if err != nil {
		return nil, err
	}
	r.ID = freeID(all)
	wait := time.Duration(g.Config().AskWait) * time.Second
	asking, stop := context.WithTimeout(ctx, wait)
	g.asked = true
	given, err := g.m.Ask(asking, Question{Text: questionText(r), Diff: r.Diff, Kind: r.Kind})
	over := asking.Err() != nil && ctx.Err() == nil
	stop()
	at := g.now()
	give := func(d *home.Draft) error {
		if err := entering(r)(d); err != nil {
			return err
		}
		return d.Give(r.ID, string(given.Answer), "prompt", g.Clean(given.Words), at)
	}
	switch {
	case over || errors.Is(err, ErrNoAnswer):
		r.Expires = at
		expire := func(d *home.Draft) error {
			if err := entering(r)(d); err != nil {
				return err
			}
			if _, err := d.Expire(at); err != nil {
				return err
			}
			return d.Told(r.ID, at)
		}
		if err := g.m.edit("a question without an answer", expire); err != nil {
			return nil, err
		}
		if over {
			return nil, &refusal{fmt.Sprintf("the human did not answer within %s: no, for now", wait)}
		}
		return nil, &refusal{"the human left the question: no, for now"}
	case err != nil:
		return nil, err
	case given.Answer == permit.No || given.Answer == permit.NeverMore:
		deny := func(d *home.Draft) error {
			if err := give(d); err != nil {
				return err
			}
			return d.Told(r.ID, at)
		}
		if err := g.m.edit("the answer", deny); err != nil {
			return nil, err
		}
		return nil, &refusal{said("the human said no", given)}
	}
	allow := func(d *home.Draft) error {
		if err := give(d); err != nil {
			return err
		}
		return d.Begin(r.ID, at)
	}
	if err := g.change(ctx, "Allowed: "+r.Title(), allow); err != nil {
		return nil, fmt.Errorf("writing the answer down, so it is not done: %w", err)
	}
	return func(result string, err error) { g.end(r.ID, result, err) }, nil
}

func said(what string, g Given) string {
	if g.Answer == permit.NeverMore {
		what += ", and never to ask this again"
	}
	if g.Words != "" {
		what += ": " + g.Words
	}
	return what
}

// change writes to permissions.org at once, in the home and in the tick's draft.
func (g *gate) change(ctx context.Context, what string, apply func(*home.Draft) error) error {
	err := g.Change(context.WithoutCancel(ctx), "REVIEW", what, home.Edit{What: what, Apply: apply})
	if err != nil {
		return err
	}
	return apply(g.m.draft)
}

// end writes down what came of an action that was allowed.
func (g *gate) end(id, result string, err error) {
	state := home.Finished
	if err != nil {
		state, result = home.Failed, err.Error()
	}
	at := g.now()
	g.m.note("the result of "+id, func(d *home.Draft) error { return d.End(id, state, g.Clean(result), at) })
}

// requests are those of permissions.org, as the tick sees them.
func (g *gate) requests() ([]home.Request, error) {
	src, err := g.m.draft.Bytes(home.Permissions)
	if err != nil {
		return nil, &refusal{"nothing can be asked: " + err.Error()}
	}
	return home.Requests(src), nil
}

// answers are what the human has said so far, oldest first.
func (g *gate) answers() (h permit.History, err error) {
	all, err := g.requests()
	for _, r := range all {
		if r.Given != "" {
			h = append(h, permit.Answer{Kind: r.Kind, Project: r.Project, Given: permit.Given(r.Given)})
		}
	}
	return h, err
}

// questionText is a request as the human reads it.
func questionText(r home.Request) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The agent wants to %s\n", marked(r.Summary))
	folder, touches := r.Dir, listed(r.Touches)
	if r.Diff != "" { // it shows all of that
		folder, touches = "", ""
	}
	for _, row := range [][2]string{
		{"why", clipLine(r.Why)}, {"asked because", r.Because}, {"does", callOf(r)}, {"folder", folder}, {"touches", touches}, {"it runs", r.Confined},
		{"risks", clipLine(r.Risks)}, {"way back", clipLine(r.Rollback)}, {"expected", clipLine(r.Expected)},
	} {
		if row[1] != "" {
			fmt.Fprintf(&b, "  %-14s %s\n", row[0]+":", marked(row[1]))
		}
	}
	where := "everywhere"
	if r.Project != "" {
		where = "in " + filepath.Base(r.Project)
	}
	fmt.Fprintf(&b, "y yes, once · n no · always · never (always and never: %s, %s)", marked(r.Kind), marked(where))
	return b.String()
}

var lineEnds = regexp.MustCompile(`\s*[\n\r\v\f\x{85}\x{2028}\x{2029}]\s*`)

// marked is a text on one line, on which its line ends are seen: what stands behind
// one is no comment of what stands before.
func marked(s string) string {
	return oneLine(lineEnds.ReplaceAllString(strings.TrimSpace(s), " ⏎ "))
}

// callOf is the form of a request that the agent put into its own words.
func callOf(r home.Request) string {
	if strings.HasPrefix(r.Kind, asksFor) {
		return r.Call
	}
	return ""
}
