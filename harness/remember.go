package harness

import (
	"fmt"
	"slices"
	"strings"

	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/threads"
)

// remember turns what was thought and done into edits: the state, the scratchpad,
// the monologue, the chat. It follows the edits that the eval made.
func remember(m *Mind, a Answer, out Outcome) {
	spoke := a.Outcome == "replied" || a.Outcome == "silent"
	m.note("the scratchpad", func(d *home.Draft) error {
		if n := a.Note; spoke && n != nil {
			return d.AddNote(home.Note{Heading: n.Heading, Thread: oneLine(n.Thread), Text: n.Content, Tick: m.Tick})
		}
		return nil
	})
	if n := a.Note; spoke && n != nil && n.Thread != "" {
		if _, ok := m.State.Threads.Find(threads.ID(n.Thread)); !ok {
			out.warn(fmt.Sprintf("the note %q was stored under thread %q, which is not open", n.Heading, n.Thread))
		}
	}
	thought := monologue(m, a)
	m.note("the monologue", func(d *home.Draft) error {
		return d.Think(home.Thought{Tick: m.Tick, Time: m.Now, Text: thought})
	})
	m.note("the chat", func(d *home.Draft) error { return record(d, m, a) })
	m.note("the working state", func(d *home.Draft) error {
		return d.Mind(func(s *consciousness.State) error {
			*s = stamp(*s, m.Tick, m.Now)
			if spoke {
				s.Mood, s.Confidence, s.LastEval = a.Mood, a.Confidence, out.Eval
			} // else the last result was not read yet
			s.Budget = m.State.Budget
			return nil
		})
	})
}

// note keeps an edit for the commit, where it is applied to the files as they
// are then.
func (m *Mind) note(what string, apply func(*home.Draft) error) {
	m.edits = append(m.edits, home.Edit{What: what, Apply: apply})
}

// warn adds a sentence to what the agent sees of its eval on the next tick.
func (o *Outcome) warn(s string) {
	o.Eval.Skipped = false
	if o.Eval.Form == "" {
		o.Eval.Form, o.Eval.Success = "nil", true
	}
	if o.Eval.Error == "" && o.Eval.Success {
		o.Eval.Result = strings.TrimSpace(o.Eval.Result + "\n" + s)
	} else {
		o.Eval.Error += "\n" + s
	}
}

// monologue is the tick's one line.
func monologue(m *Mind, a Answer) string {
	switch a.Outcome {
	case "interrupted":
		return "(interrupted by the human)"
	case "unparsed":
		return "(a reply that could not be read)"
	case "failed":
		return "(no reply: " + oneLine(a.Err.Error()) + ")"
	}
	if a.Continue && m.Chain >= m.State.ContinueLimit {
		return fmt.Sprintf("%s (continue refused: %d ticks in a row)", a.Monologue, m.Chain)
	}
	return a.Monologue
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// record writes the agent's half of the conversation.
func record(d *home.Draft, m *Mind, a Answer) error {
	var pending []int
	for _, e := range m.Pending {
		pending = append(pending, e.Tick)
	}
	switch a.Outcome {
	case "replied":
		return d.Answer(m.Tick, m.Now, pending, a.Text, "")
	case "interrupted":
		return d.Answer(m.Tick, m.Now, pending, a.Partial, "interrupted")
	case "unparsed":
		return d.Unparsed(m.Tick, m.Now, newest(pending), a.Raw)
	case "failed": // what had come of the reply is kept, and the lines wait
		if a.Partial != "" {
			return d.Unparsed(m.Tick, m.Now, newest(pending), a.Partial+"\n(the reply broke off here)")
		}
	}
	return nil
}

// newest is the largest tick, 0 if there is none.
func newest(ticks []int) int { return slices.Max(append(ticks, 0)) }
