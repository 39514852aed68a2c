package home

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"amacs/org"
)

// Request is what the agent asked leave for, a heading of permissions.org:
//
//	# -*- coding: utf-8 -*-
//	#+TODO: ASK(a) APPROVED(p) | DENIED(d) EXPIRED(e) DONE(o) FAILED(f)
//
//	* APPROVED git push origin main
//	:PROPERTIES:
//	:ID: p-3f2a
//	:KIND: run:git push
//	:PROJECT: /home/me/code/x
//	:DIR: /home/me/code/x
//	:CALL: (agent-run "git push origin main")
//	:TICK: 42
//	:ASKED: [2026-11-21 Sat 05:42]
//	:EXPIRES: [2026-11-28 Sat 05:42]
//	:ANSWER: always
//	:ANSWERED: [2026-11-21 Sat 06:00]
//	:BY: prompt
//	:END:
//	- summary :: Publish the fix
//	- why :: The build server tests what is pushed
//	- because :: it reaches another machine
//	- command :: git push origin main
//	- touches :: contacts github.com
//	- answer :: not on Fridays
//
//	** Diff
//	…
//
// Its state goes from ASK to APPROVED, DENIED or EXPIRED, and from APPROVED to
// DONE or FAILED. A hand that changes the state has answered: what ANSWER says
// against the state does not count. A text that is one line of up to 200 bytes
// stands in its property or its list item, any other whole below a child heading
// of that name; a list has an item or a child for each of its members. Headings
// without an ID that begins with "p-" are the human's own.
type Request struct {
	ID       string
	State    string // ASK where the heading has none
	Kind     string // what "always" and "never" speak of, as permit.Verdict has it
	Project  string // folder
	Call     string // the form that asked, which runs when it is approved
	Dir      string
	Tick     int // that asked
	Asked    time.Time
	Expires  time.Time // zero: never
	Answered time.Time
	Started  time.Time // zero: not begun
	Ended    time.Time
	Given    string // yes, no, always or never; "" where nobody answered
	By       string // prompt, command or hand

	Summary, Why              string
	Because                   string // why it is asked, as permit.Verdict has it
	Files, Commands, Touches  []string
	Risks, Rollback, Expected string
	Confined                  string
	Diff                      string
	Answer                    string // the human's words
	Result                    string
}

// Permissions is the file of requests and answers.
const Permissions = "permissions.org"

const permissionArchive = "archive/permissions.org"

// The states of a request.
const (
	Asking   = "ASK"
	Approved = "APPROVED"
	Denied   = "DENIED"
	Expired  = "EXPIRED"
	Finished = "DONE"
	Failed   = "FAILED"
)

const (
	requestStates = "#+TODO: ASK(a) APPROVED(p) | DENIED(d) EXPIRED(e) DONE(o) FAILED(f)\n"
	requestHelp   = "# Change ASK to APPROVED or DENIED to answer; words after \"answer ::\" reach the agent.\n"
	itemSize      = 200 // bytes; a longer text has a heading of its own
)

// requestPart is one text or list of a request, by its name in the file.
type requestPart struct {
	name string
	prop bool // in the drawer, else an item
	text func(*Request) *string
	list func(*Request) *[]string
}

// child is the name of the heading that a part stands under when it is no line.
func (p requestPart) child() string { return strings.ToUpper(p.name[:1]) + p.name[1:] }

var requestParts = []requestPart{
	{name: "kind", prop: true, text: func(r *Request) *string { return &r.Kind }},
	{name: "project", prop: true, text: func(r *Request) *string { return &r.Project }},
	{name: "call", prop: true, text: func(r *Request) *string { return &r.Call }},
	{name: "dir", prop: true, text: func(r *Request) *string { return &r.Dir }},
	{name: "summary", text: func(r *Request) *string { return &r.Summary }},
	{name: "why", text: func(r *Request) *string { return &r.Why }},
	{name: "because", text: func(r *Request) *string { return &r.Because }},
	{name: "file", list: func(r *Request) *[]string { return &r.Files }},
	{name: "command", list: func(r *Request) *[]string { return &r.Commands }},
	{name: "touches", list: func(r *Request) *[]string { return &r.Touches }},
	{name: "confined", text: func(r *Request) *string { return &r.Confined }},
	{name: "risks", text: func(r *Request) *string { return &r.Risks }},
	{name: "rollback", text: func(r *Request) *string { return &r.Rollback }},
	{name: "expected", text: func(r *Request) *string { return &r.Expected }},
	{name: "answer", text: func(r *Request) *string { return &r.Answer }},
}

// stamps are the times of a request by their property.
func (r *Request) stamps() []struct {
	key string
	at  *time.Time
} {
	return []struct {
		key string
		at  *time.Time
	}{{"ASKED", &r.Asked}, {"EXPIRES", &r.Expires}, {"ANSWERED", &r.Answered}, {"STARTED", &r.Started}, {"ENDED", &r.Ended}}
}

// Title says in one line what is to be done: the commands, else the summary,
// else the call. Where there are commands the agent's own words are no title:
// what runs is what the human sees first.
func (r Request) Title() string {
	s := oneLine(strings.Join(r.Commands, "; "))
	for _, or := range []string{r.Summary, r.Call} {
		if s == "" {
			s = oneLine(or)
		}
	}
	if runes := []rune(s); len(runes) > 100 {
		s = string(runes[:99]) + "…"
	}
	return s
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Waits reports whether nobody has answered yet.
func (r Request) Waits() bool { return r.State == Asking }

// Late reports whether it has waited past its time.
func (r Request) Late(now time.Time) bool {
	return r.Waits() && !r.Expires.IsZero() && !now.Before(r.Expires)
}

// Requests reads permissions.org, in file order.
func Requests(src []byte) []Request {
	doc := requestDoc(src)
	var out []Request
	for _, h := range doc.Headings {
		if requestID(h) != "" {
			out = append(out, request(doc, h))
		}
	}
	return out
}

// requestDoc parses src with the states of requests known, also where a hand
// took their line out.
func requestDoc(src []byte) *org.Doc {
	doc := org.Parse(src)
	known := append(slices.Clone(doc.Open), doc.Done...)
	for _, s := range []string{Asking, Approved, Denied, Expired, Finished, Failed} {
		if !slices.Contains(known, s) {
			return org.Parse(addStates(src))
		}
	}
	return doc
}

// addStates puts the line of states below the file's first comment line.
func addStates(src []byte) []byte {
	at, end := 0, eol(src)
	if bytes.HasPrefix(src, []byte("# ")) {
		if at = bytes.IndexByte(src, '\n') + 1; at == 0 {
			src, at = append(slices.Clone(src), end...), len(src)+len(end)
		}
	}
	return slices.Concat(src[:at], []byte(strings.ReplaceAll(requestStates, "\n", end)), src[at:])
}

func requestID(h *org.Heading) string {
	if id, ok := h.Prop("ID"); ok && strings.HasPrefix(id, "p-") {
		return id
	}
	return ""
}

func request(doc *org.Doc, h *org.Heading) Request {
	r := Request{ID: requestID(h), State: h.State}
	if r.State == "" {
		r.State = Asking
	}
	items := requestItems(doc.BodyText(h))
	kids := map[string][]string{}
	for _, kid := range doc.Children(h) {
		name := strings.ToLower(kid.Title)
		kids[name] = append(kids[name], org.Unescape(string(doc.Src[kid.Body:kid.End])))
	}
	for _, p := range requestParts {
		var lines []string
		if v, ok := h.Prop(p.name); ok && p.prop {
			lines = []string{org.UnescapeTitle(v)}
		} else if !p.prop {
			lines = items[p.name]
		}
		lines = append(lines, kids[p.name]...)
		switch {
		case p.list != nil:
			*p.list(&r) = lines
		case p.name == "answer": // a hand may use both places
			r.Answer = joined(lines...)
		case len(lines) > 0:
			*p.text(&r) = lines[len(lines)-1]
		case p.name == "summary":
			r.Summary = org.UnescapeTitle(h.Title)
		}
	}
	r.Diff, r.Result = joined(kids["diff"]...), joined(kids["result"]...)
	if v, ok := h.Prop("TICK"); ok {
		r.Tick, _ = strconv.Atoi(v)
	}
	for _, s := range r.stamps() {
		if v, ok := h.Prop(s.key); ok {
			*s.at = readStamp(v)
		}
	}
	r.Given, _ = h.Prop("ANSWER")
	r.By, _ = h.Prop("BY")
	r.byState()
	return r
}

// joined puts texts that are not empty below each other.
func joined(texts ...string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" }), "\n")
}

// byState lets the state say what was answered where ANSWER says nothing or
// something else. What has begun, or is denied and over, was settled then.
func (r *Request) byState() {
	switch r.State {
	case Approved, Finished, Failed:
		r.agree(!r.Started.IsZero(), "yes", "always")
	case Denied:
		r.agree(!r.Ended.IsZero(), "no", "never")
	default:
		r.Given, r.By = "", ""
	}
}

func (r *Request) agree(settled bool, plain, lasting string) {
	switch r.Given {
	case plain, lasting:
		return
	case "yes", "no", "always", "never":
		if settled {
			return
		}
		r.Answered = time.Time{} // of the other answer
	}
	r.Given, r.By = plain, "hand"
}

var (
	requestItem = regexp.MustCompile(`^[ \t]*[-+] +(\w+) +::(?:[ \t]+(.*))?$`)
	anyItem     = regexp.MustCompile(`^[ \t]*[-+*][ \t]`)
	orgStamp    = regexp.MustCompile(`(\d{4}-\d\d-\d\d)(?:[^\d\]>]*(\d?\d:\d\d))?`)
)

// requestItems reads `- name :: text` lines. Indented lines below one, as a hand
// may write them, belong to it.
func requestItems(body string) map[string][]string {
	items := map[string][]string{}
	last := ""
	for line := range strings.Lines(body) {
		line = strings.TrimRight(line, " \t\r\n")
		if m := requestItem.FindStringSubmatch(line); m != nil {
			last = strings.ToLower(m[1])
			items[last] = append(items[last], org.UnescapeTitle(m[2]))
			continue
		}
		if line == "" || anyItem.MatchString(line) || strings.TrimLeft(line, " \t") == line {
			last = ""
			continue
		}
		if xs := items[last]; last != "" {
			xs[len(xs)-1] = joined(xs[len(xs)-1], strings.TrimLeft(line, " \t"))
		}
	}
	return items
}

// readStamp reads an Org stamp as local time, zero if it is none.
func readStamp(s string) time.Time {
	m := orgStamp.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}
	}
	if m[2] == "" {
		m[2] = "00:00"
	}
	t, _ := time.ParseInLocation("2006-01-02 15:04", m[1]+" "+m[2], time.Local)
	return t
}

func writeStamp(t time.Time) string { return "[" + t.Local().Format(stampLayout) + "]" }

// fits reports whether a text can stand in a line of its own.
func fits(s string) bool {
	return len(s) <= itemSize && org.UnescapeTitle(org.EscapeTitle(s)) == s
}

func item(name, text string) string {
	return strings.TrimRight("- "+name+" :: "+text, " ") + "\n"
}

// entry is the request as it is first written.
func (r Request) entry() org.Entry {
	e := org.Entry{State: r.State, Title: org.EscapeTitle(r.Title()), Props: []org.Prop{{Key: "ID", Value: r.ID}}}
	var body strings.Builder
	for _, p := range requestParts {
		var texts []string
		if p.list != nil {
			texts = *p.list(&r)
		} else if s := *p.text(&r); s != "" {
			texts = []string{s}
		}
		if len(texts) == 0 && (p.name == "summary" || p.name == "answer") {
			body.WriteString(item(p.name, ""))
		}
		line := !slices.ContainsFunc(texts, func(s string) bool { return !fits(s) })
		for _, s := range texts {
			switch {
			case line && p.prop:
				e.Props = append(e.Props, org.Prop{Key: strings.ToUpper(p.name), Value: org.EscapeTitle(s)})
			case line:
				body.WriteString(item(p.name, org.EscapeTitle(s)))
			default:
				e.Children = append(e.Children, org.Entry{Title: p.child(), Body: org.Escape(s)})
			}
		}
	}
	e.Props = append(e.Props, org.Prop{Key: "TICK", Value: strconv.Itoa(r.Tick)})
	for _, s := range r.stamps() {
		if !s.at.IsZero() {
			e.Props = append(e.Props, org.Prop{Key: s.key, Value: writeStamp(*s.at)})
		}
	}
	if r.Diff != "" {
		e.Children = append(e.Children, org.Entry{Title: "Diff", Body: org.Escape(r.Diff)})
	}
	e.Body = body.String()
	return e
}
