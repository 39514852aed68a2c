package harness

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"amacs/consciousness"
	"amacs/consciousness/sexp"
	"amacs/harness/home"
	"amacs/harness/provider"
	"amacs/harness/reply"
	"amacs/skills"
)

// View is what the model is shown: the system prompt and the sections of the
// prompt (RFC v4 §4), those first that change least, so that as many leading
// bytes as can be are the same from tick to tick: a cache matches prefixes.
//
// Whatever grows or comes and goes does so in steps, see [step]. In between, what
// is new stands behind what is old: notes, thoughts and edited buffers in a
// second section of the same name, exchanges at the end of the chat. The state
// is parted so, too: first what stays, then what moves at every tick.
type View struct {
	System   string
	Sections []Section
	settings provider.Settings
}

// Section is one tagged part of the prompt.
type Section struct {
	Name   string
	Text   string // with its tags
	Stable bool   // a cache serves it, until the next step, but for what has grown
	cuts   []int  // where the text may grow, in bytes
	cache  bool   // a breakpoint stands at the last cut, or at its end
}

// see lays out a mind as what fits the model's window. It reads nothing but its
// argument.
func see(m *Mind) View {
	// A reply's room may not take more than half of what a small model can read.
	room := min(m.State.API.MaxTokens, m.Window/2)
	return fit(m, (m.Window-room)*bytesPerToken)
}

// layout puts all that is loaded into its sections.
func layout(m *Mind) View {
	api := m.State.API
	v := View{System: m.Core, settings: provider.Settings{
		Temperature: api.Temperature, TopP: api.TopP, TopK: api.TopK, Thinking: api.Thinking, MaxTokens: api.MaxTokens,
	}}
	steady, edited := m.buffers()
	oldNotes, notes := m.notes()
	oldThoughts, thoughts := m.thoughts()
	oldPast, past := m.past()

	// Three breakpoints; with that after the system prompt they are the four that
	// Anthropic takes. Each is where the prompt breaks off when what is behind it
	// changes: with a step of notes or thoughts, with one of the chat, with a tick.
	v.add(true, "skills", skillText(m.Skills))
	v.add(true, "tools", toolText(m.Tools), untrusted("MCP servers"))
	v.add(true, "buffers", m.bufferText(steady, false), untrusted("files"))
	v.add(true, "agent-consciousness", stateText(m.State, false))
	v.add(true, "threads", threadText(m.State))
	v.breakpoint()
	v.add(true, "scratchpad", noteText(oldNotes))
	v.add(true, "monologue", thoughtText(oldThoughts))
	v.breakpoint()
	v.addChat(oldPast, past)
	v.breakpoint()
	v.add(false, "scratchpad", noteText(notes))
	v.add(false, "monologue", thoughtText(thoughts))
	v.add(false, "buffers", m.bufferText(edited, true), untrusted("files"))
	v.add(false, "inbox", listText(m.Inbox), untrusted(m.inboxSources))
	v.add(false, "last-eval", evalText(m.State.LastEval), fmt.Sprintf("tick=\"%d\"", m.State.LastEval.Tick), untrusted(m.State.LastEval.Sources))
	v.add(false, "agent-consciousness", stateText(m.State, true))
	v.put(false, "pending", pendingText(m.Pending))
	return v
}

// moving are the fields of the state that a tick changes as a rule.
var moving = []sexp.Symbol{"current-tick", "current-time", "long-gap", "mood", "confidence", "budget"}

// stateText shows the fields that move, or those that stay; last-eval-result has
// a section of its own.
func stateText(s consciousness.State, moves bool) string {
	skip := []sexp.Symbol{"last-eval-result"}
	for _, f := range consciousness.Fields() {
		if slices.Contains(moving, f.Key) != moves {
			skip = append(skip, f.Key)
		}
	}
	return s.Text(skip...)
}

func (m *Mind) thoughts() (closed, open []home.Thought) {
	return blocks(m.Thoughts, m.State.MonologueDepth, m.Tick, func(t home.Thought) int { return t.Tick })
}

func (m *Mind) past() (closed, open []home.Exchange) {
	return blocks(m.Past, m.State.ChatDepth, m.Tick, func(e home.Exchange) int { return max(e.Tick, e.ReplyTick) })
}

// notes are the global ones and those of the active thread, by the tick that
// wrote them last.
func (m *Mind) notes() (closed, open []home.Note) {
	of := func(thread string, depth int) {
		var ns []home.Note
		for _, n := range m.Notes {
			if n.Thread == thread {
				ns = append(ns, n)
			}
		}
		slices.SortStableFunc(ns, func(a, b home.Note) int { return cmp.Compare(a.Tick, b.Tick) })
		c, o := blocks(ns, depth, m.Tick, func(n home.Note) int { return n.Tick })
		closed, open = append(closed, c...), append(open, o...)
	}
	of("", m.State.GlobalNotes)
	if id := m.State.Threads.Active; id != "" {
		of(string(id), m.State.ThreadNotes)
	}
	return closed, open
}

// buffers are those that nobody has changed since the chat's latest step, the
// longest unchanged first, and the others.
func (m *Mind) buffers() (steady, edited []Buffer) {
	var began time.Time
	for _, t := range m.Thoughts {
		if t.Tick < m.Tick-m.Tick%step(m.State.ChatDepth) {
			began = t.Time
		}
	}
	for _, b := range m.Buffers {
		if !began.IsZero() && b.Changed.After(began) {
			edited = append(edited, b)
		} else {
			steady = append(steady, b)
		}
	}
	slices.SortStableFunc(steady, func(a, b Buffer) int { return a.Changed.Compare(b.Changed) })
	return steady, edited
}

// window says how far a depth may reach beyond itself.
func window(depth int) int { return max(4, depth/2) }

// step is how many ticks the window of a depth stays where it is: as many as it
// may, of 4, 8, 16…, so that a long step ends where a short one does.
func step(depth int) int {
	n := 4
	for 2*n <= window(depth) {
		n *= 2
	}
	return n
}

// reach is how many entries must be read to fill the window of a depth.
func reach(depth int) int { return depth + window(depth) }

// blocks cuts the entries that a depth shows, at least depth and fewer than
// reach(depth): as many as the depth from before the latest step, which stay the
// same until the next, and those since. at is the tick that ended an entry.
func blocks[T any](all []T, depth, tick int, at func(T) int) (closed, open []T) {
	if depth == 0 {
		return nil, nil
	}
	edge := len(all)
	for edge > 0 && at(all[edge-1]) >= tick-tick%step(depth) {
		edge--
	}
	// A tick that answers many lines ends many entries at once.
	start := max(0, edge-depth, len(all)-reach(depth)+1)
	return all[min(start, edge):edge], all[max(start, edge):]
}

// add puts foreign text into a section; without text there is none.
func (v *View) add(stable bool, name, text string, attrs ...string) {
	v.put(stable, name, quote(text), attrs...)
}

// put is add for text whose foreign parts are quoted.
func (v *View) put(stable bool, name, text string, attrs ...string) {
	if text == "" {
		return
	}
	head := strings.TrimRight(strings.Join(append([]string{name}, attrs...), " "), " ")
	v.Sections = append(v.Sections, Section{Name: name, Text: "<" + head + ">\n" + strings.TrimRight(text, "\n") + "\n</" + name + ">\n", Stable: stable})
}

// addChat puts the exchanges into a section that grows by one at a time.
func (v *View) addChat(closed, open []home.Exchange) {
	if len(closed)+len(open) == 0 {
		return
	}
	var b strings.Builder
	var cuts []int
	b.WriteString("<chat>\n")
	for i, e := range slices.Concat(closed, open) {
		b.WriteString(strings.TrimRight(quote(chatText(e)), "\n") + "\n")
		if i >= len(closed)-1 {
			cuts = append(cuts, b.Len())
		}
	}
	b.WriteString("</chat>\n")
	v.Sections = append(v.Sections, Section{Name: "chat", Text: b.String(), Stable: true, cuts: cuts})
}

// breakpoint marks the end of the last section, or where it will grow.
func (v *View) breakpoint() {
	if n := len(v.Sections); n > 0 {
		v.Sections[n-1].cache = true
	}
}

// request is the view as a model is asked. A cache finds only what ends where a
// block does: a section that grows has a block for each piece.
func (v View) request() provider.Request {
	req := provider.Request{System: v.System, Settings: v.settings, Schema: reply.Schema()}
	for _, s := range v.Sections {
		from := 0
		for _, to := range s.cuts {
			req.Blocks = append(req.Blocks, provider.Block{Text: s.Text[from:to]})
			from = to
		}
		if from > 0 {
			req.Blocks[len(req.Blocks)-1].Cache = s.cache
			req.Blocks = append(req.Blocks, provider.Block{Text: s.Text[from:]})
		} else {
			req.Blocks = append(req.Blocks, provider.Block{Text: s.Text, Cache: s.cache})
		}
	}
	return req
}

// Size is the view's length in characters.
func (v View) Size() int {
	n := utf8.RuneCountInString(v.System)
	for _, s := range v.Sections {
		n += utf8.RuneCountInString(s.Text)
	}
	return n
}

var ourTags = regexp.MustCompile(`(?i)<(\\*\s*/?\s*(?:skills|buffers|threads|scratchpad|monologue|chat|inbox|last-eval|agent-consciousness|pending|line|human|memory|findings|tools|shell|ambient)\b)`)

// quote keeps foreign text from ending or opening a section: `</chat>` in it is
// shown as `<\/chat>`, and `<\/chat>` as `<\\/chat>`.
func quote(text string) string { return ourTags.ReplaceAllString(text, `<\$1`) }

func skillText(bound []skills.Skill) string {
	var b strings.Builder
	for _, s := range bound {
		fmt.Fprintf(&b, "### %s\n%s\n\n", s.Name, strings.TrimSpace(s.Body))
	}
	return b.String()
}

// untrusted is the attribute of a section with words that are neither the
// human's nor the agent's.
func untrusted(whose string) string {
	if whose == "" {
		return ""
	}
	if whose = strings.NewReplacer(`"`, "'", "<", "‹", ">", "›").Replace(oneLine(whose)); whose == "" {
		whose = "unnamed"
	}
	return `untrusted="` + clipLine(whose) + `"`
}

// bufferText shows buffers, those that were changed lately marked.
func (m *Mind) bufferText(bs []Buffer, edited bool) string {
	var b strings.Builder
	for _, x := range bs {
		mode, text := x.Mode, strings.TrimRight(x.Text, "\n")
		switch {
		case x.Edited > 0:
			mode += fmt.Sprintf(", changed by you in tick %d", x.Edited)
		case edited:
			mode += ", changed"
		}
		if m.State.LineNumbers && x.Mode != "dired-mode" {
			text = numbered(text)
		}
		fmt.Fprintf(&b, "=== %s (%s) ===\n%s\n", x.Name, mode, text)
	}
	return b.String()
}

// numbered puts a line's number before it.
func numbered(text string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		fmt.Fprintf(&b, "%5d  %s\n", i+1, line)
	}
	return strings.TrimRight(b.String(), "\n")
}

func threadText(s consciousness.State) string {
	if len(s.Threads.Open) == 0 {
		return "No open threads."
	}
	var b strings.Builder
	t, ok := s.Threads.Find(s.Threads.Active)
	if ok {
		fmt.Fprintf(&b, "Active: %s\n  concern: %s\n", t.ID, t.Concern)
		if t.Goal != "" {
			fmt.Fprintf(&b, "  goal: %s\n", t.Goal)
		}
		fmt.Fprintf(&b, "  buffers: %s\n  skills: %s\n", orNone(t.Buffers), orNone(t.Skills))
	} else {
		b.WriteString("Active: none\n")
	}
	if pending := s.Threads.Pending(); len(pending) > 0 {
		b.WriteString("Pending:\n")
		for _, t := range pending {
			fmt.Fprintf(&b, "  - %s (%s) buffers: %s\n", t.ID, t.Concern, orNone(t.Buffers))
		}
	}
	return b.String()
}

func orNone(xs []string) string {
	if len(xs) == 0 {
		return "none"
	}
	return strings.Join(xs, ", ")
}

func noteText(notes []home.Note) string {
	var b strings.Builder
	for _, n := range notes {
		title := n.Heading
		if n.Thread != "" {
			title = "[" + n.Thread + "] " + title
		}
		fmt.Fprintf(&b, "* %s\n%s\n\n", title, n.Text)
	}
	return b.String()
}

func thoughtText(ts []home.Thought) string {
	var b strings.Builder
	for _, t := range ts {
		fmt.Fprintf(&b, "[%s][TICK %d] %s\n", t.Time.Format("2006-01-02 Mon 15:04"), t.Tick, t.Text)
	}
	return b.String()
}

func chatText(e home.Exchange) string {
	text := ""
	if e.HasHuman {
		text = "Human: " + e.Human + "\n"
	}
	if e.HasAgent {
		mark := ""
		if e.Outcome != "" {
			mark = "(" + e.Outcome + ") "
		}
		text += "Agent: " + mark + e.Agent + "\n"
	}
	return text
}

func listText(xs []string) string {
	var b strings.Builder
	for _, x := range xs {
		fmt.Fprintf(&b, "- %s\n", x)
	}
	return b.String()
}

func evalText(e consciousness.LastEval) string {
	if e == (consciousness.LastEval{}) || e.Skipped {
		return ""
	}
	if e.Success {
		return fmt.Sprintf("form: %s\nsuccess: t\nresult: %s\n", e.Form, e.Result)
	}
	return fmt.Sprintf("form: %s\nsuccess: nil\nerror: %s\n", e.Form, e.Error)
}

func pendingText(lines []home.Exchange) string {
	if len(lines) == 0 {
		return "(the human has said nothing new; this tick is the one you asked for with continue)"
	}
	var b strings.Builder
	for _, e := range lines {
		fmt.Fprintf(&b, "<line tick=\"%d\">\n%s\n</line>\n", e.Tick, quote(e.Human))
	}
	return b.String()
}
