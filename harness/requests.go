package harness

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"amacs/consciousness/sexp"
	"amacs/harness/eval"
	"amacs/harness/home"
	"amacs/harness/permit"
)

func requestFunctions(m *Mind) []eval.Func {
	return []eval.Func{
		{Name: "agent-request-permission", Args: "SUMMARY &key :why TEXT :call FORM :files LIST :commands LIST :risks TEXT :rollback TEXT :expected TEXT",
			Doc: "Ask the human before something that needs their word; a :call is done once when they approve.",
			Min: 1, Max: 1, Keys: []string{":why", ":call", ":files", ":commands", ":risks", ":rollback", ":expected"}, Waits: true, Call: m.requestPermission},
	}
}

// asksFor begins the kind of what agent-request-permission asks.
const asksFor = "request:"

func (m *Mind) requestPermission(ctx context.Context, a eval.Args) (sexp.Value, error) {
	d := deal{dir: m.Cwd}
	var err error
	if d.summary, err = a.String(0); err != nil {
		return nil, err
	}
	if d.summary = oneLine(d.summary); d.summary == "" {
		return nil, fmt.Errorf("say in a line what you ask for")
	}
	for key, at := range map[string]*string{":why": &d.why, ":risks": &d.risks, ":rollback": &d.rollback, ":expected": &d.expected} {
		if *at, err = a.Text(key); err != nil {
			return nil, err
		}
	}
	for key, at := range map[string]*[]string{":files": &d.files, ":commands": &d.commands} {
		if *at, err = a.Texts(key); err != nil {
			return nil, err
		}
	}
	if call, ok := a.Key(":call"); ok && call != sexp.Nil {
		forms := []sexp.Value{call}
		if text, is := call.(string); is {
			if forms, err = sexp.ReadAll(text); err != nil {
				return nil, fmt.Errorf(":call can not be read: %w", err)
			}
		}
		for _, f := range forms {
			if !literal(f) {
				return nil, fmt.Errorf("a :call is calls of agent functions with plain arguments, so that the human reads what will be done: %s", sexp.Print(f))
			}
			d.call += sexp.Print(f) + " "
		}
		d.call = strings.TrimSpace(d.call)
		d.commands = []string{d.call} // what is done is what the human sees first
	}
	if err := d.legible(d.summary + d.call); err != nil {
		return nil, err
	}
	kind := permit.Plain(asksFor + clipLine(d.summary))
	past, err := m.gate.answers()
	if err != nil {
		return nil, err
	}
	if past.Silent(kind, m.project) {
		return nil, &refusal{"not asked: the human has said never, or no three times"}
	}
	r := m.gate.request(permit.Verdict{Kind: kind, Why: "the agent asks"}, d)
	if r.Call != d.call {
		return nil, &refusal{"the :call holds a secret, which is not written down; do it without one"}
	}
	if m.Ask == nil {
		var queued *refusal
		if err := m.gate.queue(r); !errors.As(err, &queued) {
			return nil, err
		} else {
			return queued.text, nil
		}
	}
	done, err := m.gate.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	if d.call == "" {
		done("the agent was told", nil)
		return "the human said yes", nil
	}
	return m.gate.errand(ctx, home.Request{Kind: kind, Call: d.call, Dir: d.dir, Project: m.project}, done)
}

// literal says that a form calls agent functions with arguments that stand there:
// nothing of what it does is found out later.
func literal(form sexp.Value) bool {
	list, err := sexp.Slice(form)
	if err != nil || len(list) == 0 {
		return false
	}
	head, _ := list[0].(sexp.Symbol)
	if head != "progn" && !strings.HasPrefix(string(head), "agent-") {
		return false
	}
	for _, v := range list[1:] {
		switch x := v.(type) {
		case sexp.Symbol:
			if head == "progn" || x != sexp.Nil && x != sexp.T && !strings.HasPrefix(string(x), ":") {
				return false
			}
		case *sexp.Cons:
			if x.Car != sexp.Symbol("quote") && (head != "progn" || !literal(x)) || x.Car == sexp.Symbol("quote") && head == "progn" {
				return false
			}
		}
	}
	return true
}

// named refuses what an approved form does elsewhere than where it says: a path in
// it may have become a link.
func (g *gate) named(v permit.Verdict, d deal) error {
	for _, t := range v.Touches {
		if t.How != permit.Writes && t.How != permit.Removes || len(d.commands) == 0 {
			continue
		}
		if real, _ := resolve(t.What); real != t.What {
			return &refusal{"what was approved leads elsewhere now: " + t.What + " is " + real + "; ask for just this"}
		}
	}
	base, _ := resolve(g.held.Dir)
	work, _ := resolve(g.home.Path(home.Workspace))
	said := []string{base}
	var walk func(v sexp.Value)
	walk = func(v sexp.Value) {
		switch x := v.(type) {
		case string:
			path := g.m.absolute(x)
			if !filepath.IsAbs(x) && !strings.HasPrefix(x, "~") {
				path = filepath.Join(base, x)
			}
			said = append(said, filepath.Clean(path), filepath.Join(filepath.Dir(work), x))
		case *sexp.Cons:
			walk(x.Car)
			walk(x.Cdr)
		}
	}
	forms, _ := sexp.ReadAll(g.held.Call) // it is evaluated
	for _, f := range forms {
		walk(f)
	}
	for _, path := range append(slices.Clone(d.files), d.dir) {
		if real, _ := resolve(path); path != "" && !slices.Contains(said, path) && !slices.Contains(said, real) {
			return &refusal{"what was approved leads elsewhere now, to " + path + "; ask again"}
		}
	}
	return nil
}

// settleRequests brings the requests up to date: what was approved is done, what
// came of others is told.
func (m *Mind) settleRequests(ctx context.Context, show Show) {
	g := m.gate
	g.show, g.why = show, ""
	all, err := g.requests()
	if err != nil {
		return // the file is damaged, and has been named
	}
	if slices.ContainsFunc(all, func(r home.Request) bool { return r.Late(m.Now) }) {
		err := m.edit("requests that waited too long", func(d *home.Draft) error {
			_, err := d.Expire(m.Now)
			return err
		})
		if err != nil {
			m.tellBoth(err.Error())
		}
		all, _ = g.requests() // they were read just now
	}
	for _, r := range all {
		if err := g.settle(ctx, r); err != nil {
			m.tellBoth(fmt.Sprintf("%s: %v", r.ID, err))
			show(Event{Notice, r.ID + ": " + err.Error()})
		}
	}
	m.inboxSources, m.sources = strings.Join(m.sources, "; "), nil
}

// settle brings one request up to date.
func (g *gate) settle(ctx context.Context, r home.Request) error {
	m := g.m
	words := ""
	if r.Answer != "" {
		words = " The human's words: " + r.Answer
	}
	switch {
	case r.State == home.Denied && r.Ended.IsZero(), r.State == home.Expired && r.Ended.IsZero():
		what := "the human said no"
		if r.State == home.Expired {
			what = "nobody answered: no, for now"
		}
		if r.Given == string(permit.NeverMore) {
			what += ", and never to ask this again"
		}
		m.Inbox = append(m.Inbox, fmt.Sprintf("%s (%s): %s.%s", r.ID, r.Title(), what, words))
		return m.edit("an answer", func(d *home.Draft) error { return d.Told(r.ID, m.Now) })
	case r.State != home.Approved:
		return nil
	case !r.Started.IsZero(): // and no result
		const lost = "it was interrupted, so it is not known what was done of it; look before you ask again"
		m.Inbox = append(m.Inbox, fmt.Sprintf("%s (%s): approved, but %s", r.ID, r.Title(), lost))
		g.end(r.ID, "", errors.New(lost))
		return nil
	}
	if err := g.change(ctx, "Began "+r.ID+": "+r.Title(), func(d *home.Draft) error { return d.Begin(r.ID, m.Now) }); err != nil {
		return err
	}
	if r.Call == "" {
		m.Inbox = append(m.Inbox, fmt.Sprintf("%s (%s): the human said yes.%s", r.ID, r.Title(), words))
		g.end(r.ID, "the agent was told", nil)
		return nil
	}
	g.show(Event{Notice, fmt.Sprintf("(%s, approved: %s)", r.ID, r.Title())})
	result, err := g.errand(ctx, r, func(result string, err error) { g.end(r.ID, result, err) })
	if err != nil {
		m.Inbox = append(m.Inbox, fmt.Sprintf("%s (%s): approved, and it failed.%s Its error: %s", r.ID, r.Title(), words, below(clip(err.Error()))))
	} else {
		m.Inbox = append(m.Inbox, fmt.Sprintf("%s (%s): approved and done.%s Its result: %s", r.ID, r.Title(), words, below(clip(fmt.Sprint(result)))))
	}
	return nil
}

// below is a text of several lines, none of which can be taken for an entry of its
// own.
func below(text string) string { return strings.ReplaceAll(text, "\n", "\n  | ") }

// errand does what was approved, where it was asked for.
func (g *gate) errand(ctx context.Context, r home.Request, done func(string, error)) (sexp.Value, error) {
	m := g.m
	cwd, project, held := m.Cwd, m.project, g.held
	defer func() { m.Cwd, m.project, g.held = cwd, project, held }()
	if r.Dir != "" {
		m.Cwd, m.project = r.Dir, r.Project
	}
	g.held = &r
	res := eval.Run(ctx, r.Call, functions(m), nil, eval.DefaultLimits())
	if res.Err != nil {
		done("", res.Err)
		return nil, res.Err
	}
	text, ok := res.Value.(string)
	if !ok {
		text = res.Text
	}
	done(text, nil)
	return text, nil
}
