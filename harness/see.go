package harness

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/harness/provider"
	"amacs/skills"
)

// View is what the model is shown: the system prompt and the sections of the
// prompt in order of stability, so that as many leading bytes as can be are the
// same from tick to tick (RFC v4 §4, reordered for caches that match prefixes).
type View struct {
	System   string
	Sections []Section
	settings provider.Settings
}

// Section is one tagged part of the prompt.
type Section struct {
	Name   string
	Text   string // with its tags
	Stable bool   // belongs to the prefix that a cache may serve
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
	v := View{System: m.Core, settings: provider.Settings{
		Temperature: m.State.API.Temperature, TopP: m.State.API.TopP,
		Thinking: m.State.API.Thinking, MaxTokens: m.State.API.MaxTokens,
	}}
	var edited, steady []Buffer
	for _, b := range m.Buffers {
		if b.Fresh {
			edited = append(edited, b)
		} else {
			steady = append(steady, b)
		}
	}
	oldThoughts, thoughts := m.thoughts()
	oldPast, past := m.past()

	v.add(true, "skills", skillText(m.Skills))
	v.add(true, "buffers", bufferText(steady))
	v.add(true, "threads", threadText(m.State))
	v.add(true, "scratchpad", noteText(shownNotes(m.Notes, m.State)))
	v.add(true, "monologue", thoughtText(oldThoughts))
	v.add(true, "chat", chatText(oldPast))
	v.add(false, "monologue", thoughtText(thoughts))
	v.add(false, "chat", chatText(past))
	v.add(false, "buffers", bufferText(edited))
	v.add(false, "inbox", listText(m.Inbox))
	v.add(false, "last-eval", evalText(m.State.LastEval), fmt.Sprintf("tick=\"%d\"", m.State.LastEval.Tick))
	v.add(false, "agent-consciousness", m.State.Text("last-eval-result"))
	v.put(false, "pending", pendingText(m.Pending))
	return v
}

func (m *Mind) thoughts() (closed, open []home.Thought) {
	return blocks(m.Thoughts, m.State.MonologueDepth, m.Tick, func(t home.Thought) int { return t.Tick })
}

func (m *Mind) past() (closed, open []home.Exchange) {
	return blocks(m.Past, m.State.ChatDepth, m.Tick, func(e home.Exchange) int { return max(e.Tick, e.ReplyTick) })
}

// window says how far a depth may reach beyond itself: windows move in steps of
// this many ticks, so that the text before the last step stays the same.
func window(depth int) int { return max(4, depth/2) }

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
	for edge > 0 && at(all[edge-1]) >= tick-tick%window(depth) {
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
	head := strings.Join(append([]string{name}, attrs...), " ")
	v.Sections = append(v.Sections, Section{name, "<" + head + ">\n" + strings.TrimRight(text, "\n") + "\n</" + name + ">\n", stable})
}

// request is the view as a model is asked.
func (v View) request() provider.Request {
	req := provider.Request{System: v.System, Settings: v.settings}
	for i, s := range v.Sections {
		last := s.Stable && (i+1 == len(v.Sections) || !v.Sections[i+1].Stable)
		req.Blocks = append(req.Blocks, provider.Block{Text: s.Text, Cache: last})
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

var ourTags = regexp.MustCompile(`<(\\*/?(?:skills|buffers|threads|scratchpad|monologue|chat|inbox|last-eval|agent-consciousness|pending|line|human|memory|findings|shell|ambient)\b)`)

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

func bufferText(bs []Buffer) string {
	var b strings.Builder
	for _, x := range bs {
		fmt.Fprintf(&b, "=== %s (%s) ===\n%s\n", x.Name, x.Mode, strings.TrimRight(x.Text, "\n"))
	}
	return b.String()
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

// shownNotes are the global notes and those of the active thread that were
// written last, within their depths, in file order.
func shownNotes(notes []home.Note, s consciousness.State) []home.Note {
	pick := func(thread string, depth int) (out []home.Note) {
		var of []home.Note
		for _, n := range notes {
			if n.Thread == thread {
				of = append(of, n)
			}
		}
		for _, n := range of {
			newer := 0
			for _, o := range of {
				if o.Tick > n.Tick {
					newer++
				}
			}
			if newer < depth {
				out = append(out, n)
			}
		}
		return out[max(0, len(out)-depth):]
	}
	shown := pick("", s.GlobalNotes)
	if s.Threads.Active != "" {
		shown = append(shown, pick(string(s.Threads.Active), s.ThreadNotes)...)
	}
	return shown
}

func thoughtText(ts []home.Thought) string {
	var b strings.Builder
	for _, t := range ts {
		fmt.Fprintf(&b, "[%s][TICK %d] %s\n", t.Time.Format("2006-01-02 Mon 15:04"), t.Tick, t.Text)
	}
	return b.String()
}

func chatText(es []home.Exchange) string {
	var b strings.Builder
	for _, e := range es {
		if e.HasHuman {
			fmt.Fprintf(&b, "Human: %s\n", e.Human)
		}
		if e.HasAgent {
			mark := ""
			if e.Outcome != "" {
				mark = "(" + e.Outcome + ") "
			}
			fmt.Fprintf(&b, "Agent: %s%s\n", mark, e.Agent)
		}
	}
	return b.String()
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
