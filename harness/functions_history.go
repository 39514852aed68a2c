package harness

import (
	"context"
	"fmt"
	"strings"
	"time"

	"amacs/consciousness/sexp"
	"amacs/harness/eval"
	"amacs/harness/home"
	"amacs/harness/journal"
)

// historyMax is how many entries a look into the history gives at most.
const historyMax = 200

func historyFunctions(m *Mind) []eval.Func {
	return []eval.Func{
		{Name: "agent-log", Args: "&key :last N :thread ID :mood TEXT :text TEXT :path FILE",
			Doc: "Your latest ticks (10), newest first, as (TICK TIME THREAD MOOD TEXT).",
			Min: 0, Max: 0, Keys: []string{":last", ":thread", ":mood", ":text", ":path"}, Call: m.log},
		{Name: "agent-show-tick", Args: "N", Doc: "One tick whole: its commit, what was said, what changed.", Min: 1, Max: 1,
			Call: func(ctx context.Context, a eval.Args) (sexp.Value, error) {
				e, err := m.tickArg(ctx, a)
				if err != nil {
					return nil, err
				}
				return m.showTick(ctx, e)
			}},
		{Name: "agent-diff", Args: "N", Doc: "What a tick changed in your home, as a diff.", Min: 1, Max: 1,
			Call: func(ctx context.Context, a eval.Args) (sexp.Value, error) {
				e, err := m.tickArg(ctx, a)
				if err != nil {
					return nil, err
				}
				return m.journal.Diff(ctx, e.Hash)
			}},
		{Name: "agent-search-history", Args: "TEXT &key :last N",
			Doc: "Where a text occurs in the conversation, the monologue, the notes and the commits, newest first.",
			Min: 1, Max: 1, Keys: []string{":last"}, Call: m.search},
	}
}

func (m *Mind) log(ctx context.Context, a eval.Args) (sexp.Value, error) {
	last, err := lastArg(a)
	if err != nil {
		return nil, err
	}
	q := journal.Query{Kind: "TICK", Max: last}
	for key, at := range map[string]*string{":thread": &q.Thread, ":mood": &q.Mood, ":text": &q.Text, ":path": &q.Path} {
		if *at, err = a.Text(key); err != nil {
			return nil, err
		}
	}
	var out []sexp.Value
	for e, err := range m.journal.Log(ctx, q) {
		if err != nil {
			return nil, err
		}
		out = append(out, sexp.List(int64(e.Tick), e.When.UTC().Format(time.RFC3339), e.Thread, e.Mood, e.Text))
	}
	return sexp.List(out...), nil
}

// lastArg is how many entries are asked for.
func lastArg(a eval.Args) (int, error) {
	n, err := a.Count(":last", 10)
	if err == nil && n == 0 {
		err = fmt.Errorf(":last 0 asks for nothing; give 1 to %d", historyMax)
	}
	return min(n, historyMax), err
}

func (m *Mind) tickArg(ctx context.Context, a eval.Args) (journal.Entry, error) {
	n, err := a.Int(0)
	if err != nil {
		return journal.Entry{}, err
	}
	return findTick(ctx, m.journal, int(n))
}

func findTick(ctx context.Context, repo *journal.Repo, n int) (journal.Entry, error) {
	for e, err := range repo.Log(ctx, journal.Query{Tick: n, HasTick: true, Max: 1}) {
		return e, err
	}
	return journal.Entry{}, fmt.Errorf("no tick %d in the history", n)
}

func (m *Mind) showTick(ctx context.Context, e journal.Entry) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s\n", e.Subject, e.When.UTC().Format(time.RFC3339))
	if e.Body != "" {
		fmt.Fprintf(&b, "%s\n", e.Body)
	}
	said, err := m.draft.Conversation(m.Tick) // an exchange a tick at most: all of them
	if err != nil {
		return "", err
	}
	for _, x := range said {
		if x.Tick != e.Tick && x.ReplyTick != e.Tick {
			continue
		}
		if x.HasHuman {
			fmt.Fprintf(&b, "Human: %s\n", x.Human)
		}
		if x.HasAgent {
			fmt.Fprintf(&b, "Agent: %s\n", x.Agent)
		}
	}
	diff, err := m.journal.Diff(ctx, e.Hash)
	if err != nil {
		return "", err
	}
	return b.String() + "\n" + diff, nil
}

// search looks for a text in everything that was written.
func (m *Mind) search(ctx context.Context, a eval.Args) (sexp.Value, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	last, err := lastArg(a)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(text) == "" {
		return nil, fmt.Errorf("nothing to search for")
	}
	found := finder{needle: strings.ToLower(text), max: last}
	src, err := m.draft.Bytes(home.Scratchpad)
	if err == nil {
		for _, n := range home.Notes(src) {
			found.look("note "+n.Heading, n.Heading+"\n"+n.Text)
		}
	}
	past, err := m.draft.Conversation(m.Tick)
	if err != nil {
		return nil, err
	}
	for i := len(past) - 1; i >= 0; i-- {
		x := past[i]
		if x.Pending() {
			continue
		}
		found.look(fmt.Sprintf("tick %d, human", x.Tick), x.Human)
		found.look(fmt.Sprintf("tick %d, you", x.Tick), x.Agent)
	}
	for e, err := range m.journal.Log(ctx, journal.Query{Text: text, Max: last}) {
		if err != nil {
			return nil, err
		}
		found.look("commit", e.Subject+"\n"+e.Body)
	}
	return sexp.List(found.out...), nil
}

// finder collects the lines that hold a text, each with where it stands.
type finder struct {
	needle string
	max    int
	out    []sexp.Value
}

func (f *finder) look(where, text string) {
	for line := range strings.Lines(text) {
		if len(f.out) >= f.max {
			return
		}
		if strings.Contains(strings.ToLower(line), f.needle) {
			f.out = append(f.out, sexp.List(where, clipLine(strings.TrimSpace(line))))
			return
		}
	}
}

func clipLine(s string) string {
	if r := []rune(s); len(r) > 300 {
		return string(r[:300]) + "…"
	}
	return s
}
