package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// Offline is no model: it knows a dozen plain requests ("help" lists them) and
// says so. It sees the request's text and answers in the real reply format, so
// that amacs runs whole without key or network.
//
// What may fail is done in two ticks: the first sends the eval with continue and
// without reply, the second tells the human what <last-eval> says of it.
func Offline() Model { return offline{} }

type offline struct{}

func (offline) Name() string { return "offline" }

func (offline) Facts() Facts { return Facts{Provider: "offline", Model: "offline"} }

func (offline) Complete(ctx context.Context, r Request, stream func(string)) (Response, error) {
	if ctx.Err() != nil {
		return Response{}, ended(ctx, "offline", "")
	}
	text, whole := send(ctx, pieces(respond(r.Text())), 0, stream)
	if !whole {
		return Response{}, ended(ctx, "offline", text)
	}
	return Response{Text: text, Model: "offline", Stop: "end"}, nil
}

// answer is the reply format of RFC v4 §2.3, as far as it is needed here.
type answer struct {
	Eval       string  `json:"eval,omitempty"`
	Reply      string  `json:"reply,omitempty"`
	Mood       string  `json:"mood"`
	Confidence float64 `json:"confidence"`
	Monologue  string  `json:"monologue"`
	Continue   bool    `json:"continue,omitempty"`
}

// act is what is done about a line.
type act struct {
	thought string // the monologue, once it is done
	say     string // the reply
	eval    string // a form; "" = none
	// report makes the reply from the eval's printed result; nil = the reply
	// does not wait for it.
	report func(result string) string
	begins string // how the form begins that was sent for this; "" = it is eval
	mood   string // a new mood
	lost   bool   // the line was not understood
	whole  bool   // says itself what this responder is
}

// respond is the whole of the responder: prompt in, JSON out.
func respond(prompt string) string {
	s := look(prompt)
	a := answer{Mood: s.mood, Confidence: 0.9, Monologue: "Nothing is pending."}
	if len(s.lines) > 0 {
		a = s.answer(a)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a); err != nil { // can not happen: strings and numbers only
		return ""
	}
	return strings.TrimSpace(b.String())
}

// answer answers the last pending line.
func (s scene) answer(a answer) answer {
	last := s.lines[len(s.lines)-1]
	do := s.understand(last.text)
	a.Monologue = clip(do.thought)
	if do.mood != "" {
		a.Mood = do.mood
	}
	if do.lost {
		a.Confidence = 0.2
	}
	switch {
	case do.report == nil:
		a.Eval, a.Reply = do.eval, do.say
	case !s.ran(do, last):
		a.Eval, a.Continue, a.Monologue = do.eval, true, clip(tryingText+last.text)
		return a
	case s.last.success:
		a.Reply = do.report(s.last.result)
	default:
		a.Reply, a.Monologue = "That did not work: "+s.last.err, clip("It did not work: "+s.last.err)
		a.Confidence = 0.5
	}
	a.Reply = strings.TrimSpace(s.before(do, last) + a.Reply + s.after())
	return a
}

// ran reports whether <last-eval> is about the form that was sent for l.
func (s scene) ran(do act, l line) bool {
	if s.last.tick > 0 && s.last.tick < l.tick {
		return false
	}
	if do.begins != "" {
		return strings.HasPrefix(s.last.form, do.begins)
	}
	return s.last.form == do.eval
}

// before is what is said ahead of the reply: who speaks, at the first meeting,
// and that the eval which went with the reply before this line has failed.
func (s scene) before(do act, l line) string {
	text := ""
	if !s.met && !do.whole {
		text = introduction + "\n\n"
	}
	if e := s.last; do.report == nil && e.form != "" && !e.success && (e.tick == 0 || e.tick == l.tick-1) {
		text += "Before this, " + clip(e.form) + " did not work: " + e.err + "\n\n"
	}
	return text
}

// after names the pending lines that the reply passes over.
func (s scene) after() string {
	over := s.lines[:len(s.lines)-1]
	if len(over) == 0 {
		return ""
	}
	text := "\n\nI answer one line at a time, the last. Before it you wrote, and can type again:"
	for _, l := range over {
		text += "\n  " + clip(l.text)
	}
	return text
}

// clip makes one line of at most 100 characters.
func clip(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 100 {
		return string(r[:99]) + "…"
	}
	return text
}

const introduction = `I am the offline responder built into amacs: no language model is connected, I only know a dozen plain requests. Three that work:
  note: buy milk
  start a thread on the parser
  what do you know about milk
Type help for the others.`

const helpText = `I am the offline responder built into amacs. No language model is connected: I only know these requests, and carry them out with the functions that a model would use.
  note: …  ·  remember …           keep a note (note on TOPIC: … under a heading)
  notes  ·  read note …            list them, show one
  what do you know about …         search notes, conversation and commits
  start a thread on …              open a line of work and switch to it
  threads  ·  switch to …          list them, choose one
  done with …: how you know it     complete a thread (…; learned: … keeps a lesson)
  add buffer PATH                  show a file or folder while the thread is active
  what did you do                  the latest ticks
  status  ·  set mood …            how things stand
Whatever you type, the line is kept: it is in the conversation and in a commit.`

func (s scene) status() string {
	text := "I am the offline responder; no language model is connected. My mood is " + s.mood
	if s.sure != "" {
		text += ", my confidence " + s.sure
	}
	if s.tick != "" {
		text += ", this is tick " + s.tick
	}
	return text + ".\n" + s.threadList()
}

func (s scene) threadList() string {
	if len(s.threads) == 0 {
		return "No thread is open. To open one: start a thread on …"
	}
	text := "Open threads:"
	for _, t := range s.threads {
		text += "\n  " + t.id
		if t.concern != "" {
			text += ": " + t.concern
		}
		if t.id == s.active {
			text += " (active)"
		}
	}
	return text
}

// noteList shows the result of agent-list-notes: (HEADING THREAD TICK) each.
func noteList(result string) string {
	table, ok := rows(result)
	switch {
	case !ok:
		return "The notes:\n" + result
	case len(table) == 0:
		return "There are no notes yet. To write one: note: …"
	}
	text := "The notes (read note … shows one):"
	for _, row := range table {
		text += "\n  " + row[0]
		if len(row) > 1 && row[1] != "" {
			text += " [" + row[1] + "]"
		}
	}
	return text
}

// logList shows the result of agent-log: (TICK TIME THREAD MOOD TEXT) each.
func logList(result string) string {
	table, ok := rows(result)
	switch {
	case !ok:
		return "The latest ticks:\n" + result
	case len(table) == 0:
		return "There is no tick in the history yet."
	}
	text := "The latest ticks, newest first:"
	for _, row := range table {
		text += "\n  tick " + row[0]
		if len(row) > 1 {
			text += ": " + row[len(row)-1]
		}
	}
	return text
}

const foundText = "Here is what I find about "

// findings shows the result of agent-search-history, (WHERE LINE) each, without
// this responder's own looking; commits only when nothing else tells.
func findings(topic, result string) string {
	table, ok := rows(result)
	if !ok {
		return foundText + topic + ":\n" + result
	}
	var texts, commits string
	for _, row := range table {
		where, text := row[0], row[len(row)-1]
		entry := fmt.Sprintf("\n  %s: %s", where, text)
		switch {
		case strings.Contains(text, tryingText), strings.Contains(text, lookedText), strings.Contains(text, foundText), strings.Contains(text, nothingText), asksAbout(text),
			strings.HasSuffix(where, "you") && strings.Contains(introduction+helpText, text):
		case where == "commit":
			commits += entry
		default:
			texts += entry
		}
	}
	if texts == "" {
		texts = commits
	}
	if texts == "" {
		return nothingText + topic + "."
	}
	return foundText + topic + ":" + texts
}

const (
	tryingText  = "Trying: "
	lookedText  = "Looked for "
	nothingText = "I find nothing about "
)
