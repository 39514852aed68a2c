package provider

import (
	"regexp"
	"strconv"
	"strings"

	"amacs/consciousness/sexp"
)

// scene is what the offline responder sees: it reads the same prompt as any model.
type scene struct {
	lines   []line // pending, oldest first
	last    evaluated
	threads []thread // open, the active one first
	active  string   // "" = none
	met     bool     // there is an earlier answer in the conversation
	mood    string
	tick    string
	sure    string // confidence, as printed
}

type line struct {
	tick int // under which it was entered
	text string
}

type thread struct{ id, concern string }

// evaluated is the <last-eval> section.
type evaluated struct {
	tick    int // 0 = not told
	form    string
	success bool
	result  string // as Lisp prints it
	err     string
}

func look(prompt string) scene {
	s := scene{mood: "ready"}
	for _, sec := range sections(prompt) {
		switch sec.name {
		case "pending":
			s.lines = nil
			for _, l := range sections(sec.body) {
				if l.name == "line" {
					s.lines = append(s.lines, line{l.tick, unquote(l.body)})
				}
			}
		case "last-eval":
			s.last = readEvaluated(sec)
		case "threads":
			s.readThreads(unquote(sec.body))
		case "chat":
			s.met = s.met || strings.HasPrefix(sec.body, "Agent:") || strings.Contains(sec.body, "\nAgent:")
		case "agent-consciousness":
			s.readMind(sec.body)
		}
	}
	return s
}

// section is a tagged part of the prompt:
//
//	<last-eval tick="41">
//	body
//	</last-eval>
type section struct {
	name string
	tick int
	body string
}

var opening = regexp.MustCompile(`(?m)^<([a-z-]+)(?: tick="(\d+)")?>\n`)

// sections lists the parts of a text from its start to its end. What is foreign
// in a part holds no closing tag, so that a part ends at the first one.
func sections(text string) []section {
	var out []section
	for {
		m := opening.FindStringSubmatchIndex(text)
		if m == nil {
			return out
		}
		s := section{name: text[m[2]:m[3]]}
		if m[4] >= 0 {
			s.tick, _ = strconv.Atoi(text[m[4]:m[5]])
		}
		text = text[m[1]:]
		closing := "\n</" + s.name + ">"
		if strings.HasPrefix(text, closing[1:]) {
			text = text[len(closing)-1:]
		} else {
			s.body, text, _ = strings.Cut(text, closing)
		}
		out = append(out, s)
	}
}

var quoted = regexp.MustCompile(`<\\(\\*/?(?:skills|buffers|threads|scratchpad|monologue|chat|inbox|last-eval|agent-consciousness|pending|line|human|memory|findings|shell|ambient)\b)`)

// unquote undoes what keeps foreign text from holding tags: <\/chat> was </chat>.
func unquote(text string) string { return quoted.ReplaceAllString(text, "<$1") }

func readEvaluated(s section) evaluated {
	e := evaluated{tick: s.tick}
	form, rest, _ := strings.Cut(s.body, "\nsuccess: ")
	e.form = unquote(strings.TrimPrefix(form, "form: "))
	success, rest, _ := strings.Cut(rest, "\n")
	e.success = strings.TrimSpace(success) == "t"
	rest = "\n" + unquote(rest)
	if e.success {
		_, e.result, _ = strings.Cut(rest, "\nresult: ")
		e.result = strings.TrimSuffix(strings.TrimSuffix(e.result, "\nerror:"), "\nerror: nil")
	} else {
		_, e.err, _ = strings.Cut(rest, "\nerror: ")
	}
	return e
}

var (
	activeThread  = regexp.MustCompile(`(?m)^Active: ([a-z0-9][a-z0-9-]*)\n(?:  concern: (.*))?`)
	pendingThread = regexp.MustCompile(`(?m)^  - ([a-z0-9][a-z0-9-]*) \((.*?)\)(?: buffers: .*)?$`)
)

func (s *scene) readThreads(body string) {
	if m := activeThread.FindStringSubmatch(body + "\n"); m != nil && m[1] != "none" {
		s.active = m[1]
		s.threads = append(s.threads, thread{m[1], m[2]})
	}
	for _, m := range pendingThread.FindAllStringSubmatch(body, -1) {
		s.threads = append(s.threads, thread{m[1], m[2]})
	}
}

func (s *scene) readMind(body string) {
	alist, _, err := sexp.Read(body)
	if err != nil {
		return
	}
	show := func(key sexp.Symbol) string {
		v, _ := sexp.Get(alist, key)
		if v == nil || v == sexp.Nil {
			return ""
		}
		return strings.TrimSpace(sexp.Display(v))
	}
	s.tick, s.sure = show("current-tick"), show("confidence")
	if mood := show("mood"); mood != "" && mood != "awakening" {
		s.mood = mood
	}
}

// resolve finds the thread that a human means by name: by id, else the only one
// whose id or concern holds it, else the id that name would make.
func (s scene) resolve(name string) string {
	id := slug(name)
	var found []string
	for _, t := range s.threads {
		if t.id == id {
			return id
		}
		if strings.Contains(t.id, id) || strings.Contains(strings.ToLower(t.concern), strings.ToLower(name)) {
			found = append(found, t.id)
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return id
}

// rows reads a printed list, an element a row; a list in it is a row of several
// columns. ok is false for what is no list.
func rows(printed string) (table [][]string, ok bool) {
	v, _, err := sexp.Read(printed)
	if err != nil {
		return nil, false
	}
	list, err := sexp.Slice(v)
	if err != nil {
		return nil, false
	}
	for _, e := range list {
		columns, err := sexp.Slice(e)
		if err != nil || len(columns) == 0 {
			columns = []sexp.Value{e}
		}
		var row []string
		for _, c := range columns {
			if c == sexp.Nil {
				row = append(row, "")
			} else {
				row = append(row, sexp.Display(c))
			}
		}
		table = append(table, row)
	}
	return table, true
}

// words is a printed string without its quotes, or the text as it is.
func words(printed string) string {
	if v, _, err := sexp.Read(printed); err == nil {
		if s, ok := v.(string); ok {
			return s
		}
	}
	return printed
}

// lisp quotes a text as a Lisp string on one line.
func lisp(text string) string { return strings.ReplaceAll(sexp.Print(text), "\n", `\n`) }

var (
	notInID  = regexp.MustCompile(`[^a-z0-9]+`)
	articles = regexp.MustCompile(`^(?:(?:the|a|an|my|our|this)-)+`)
)

const maxID = 40

// slug makes a thread id of words: [a-z0-9][a-z0-9-]{0,39}.
func slug(text string) string {
	id := strings.Trim(notInID.ReplaceAllString(strings.ToLower(text), "-"), "-")
	id = articles.ReplaceAllString(id, "")
	if len(id) > maxID {
		if i := strings.LastIndexByte(id[:maxID+1], '-'); i > 0 {
			id = id[:i]
		}
		id = id[:min(len(id), maxID)]
	}
	switch id {
	case "":
		return "thread"
	case "null", "none", "no-thread":
		return "on-" + id
	}
	return id
}

// title is the start of a text, fit for a heading: at most 50 characters.
func title(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	out := ""
	for i, w := range strings.Fields(text) {
		next := strings.TrimSpace(out + " " + w)
		if i > 0 && len([]rune(next)) > 50 {
			break
		}
		out = next
	}
	if r := []rune(out); len(r) > 50 {
		out = string(r[:50])
	}
	if out = strings.TrimRight(out, " .,;:!?"); out == "" {
		return "Note"
	}
	return out
}
