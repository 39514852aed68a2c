package home

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"amacs/org"
)

const resultSize = 4 << 10 // bytes of a Result; of a longer one the end is kept

// Request finds a request by its id, or the beginning of one, with or without
// "p-". The error names those there are.
func (d *Draft) Request(id string) (Request, error) {
	src, err := d.Bytes(Permissions)
	if err != nil {
		return Request{}, err
	}
	doc := requestDoc(src)
	h, err := findRequest(doc, id)
	if err != nil {
		return Request{}, err
	}
	return request(doc, h), nil
}

func findRequest(doc *org.Doc, id string) (*org.Heading, error) {
	want := "p-" + strings.TrimPrefix(strings.TrimSpace(id), "p-")
	var same, begin []*org.Heading
	for _, h := range doc.Headings {
		switch is := requestID(h); {
		case is == want:
			same = append(same, h)
		case want != "p-" && strings.HasPrefix(is, want):
			begin = append(begin, h)
		}
	}
	switch {
	case len(same) == 1:
		return same[0], nil
	case len(same) > 1:
		return nil, fmt.Errorf("%d requests of %s have the id %s; take all but one out", len(same), Permissions, want)
	case len(begin) == 1:
		return begin[0], nil
	case len(begin) > 1:
		var ids []string
		for _, h := range begin {
			ids = append(ids, requestID(h))
		}
		return nil, fmt.Errorf("%q may be any of %s; give more of the id", id, strings.Join(ids, ", "))
	}
	return nil, noRequest(Requests(doc.Src), id)
}

func noRequest(all []Request, id string) error {
	var waiting []string
	for _, r := range all {
		if r.Waits() {
			waiting = append(waiting, r.ID)
		}
	}
	switch {
	case len(waiting) > 0:
		return fmt.Errorf("no request %q; waiting for an answer: %s", id, strings.Join(waiting, ", "))
	case len(all) > 0:
		return fmt.Errorf("no request %q; none waits, the last one was %s", id, all[len(all)-1].ID)
	}
	return fmt.Errorf("no request %q; nothing was asked yet", id)
}

// requests passes permissions.org through fn, with its head made where it is
// missing.
func (d *Draft) requests(fn func(*org.Doc) ([]byte, error)) error {
	return d.edit(Permissions, func(src []byte) ([]byte, error) {
		if string(src) == orgHead {
			src = []byte(orgHead + "#+TITLE: What the agent asked, and what was answered\n" + requestStates + requestHelp)
		}
		return fn(requestDoc(src))
	})
}

// change passes one request through a list of splices, each given the text as
// the one before left it.
func (d *Draft) change(id string, fn func(Request) ([]splice, error)) error {
	return d.requests(func(doc *org.Doc) ([]byte, error) {
		h, err := findRequest(doc, id)
		if err != nil {
			return nil, err
		}
		r := request(doc, h)
		splices, err := fn(r)
		if err != nil {
			return nil, err
		}
		for _, s := range splices {
			out := s(doc, h)
			doc = requestDoc(out)
			if h, err = findRequest(doc, r.ID); err != nil {
				return nil, err
			}
		}
		return doc.Src, nil
	})
}

type splice func(*org.Doc, *org.Heading) []byte

func toState(state string) splice {
	return func(doc *org.Doc, h *org.Heading) []byte { return doc.SetState(h, state) }
}

func withProp(key, value string) splice {
	return func(doc *org.Doc, h *org.Heading) []byte { return doc.SetProp(h, key, value) }
}

func withChild(title, text string) splice {
	return func(doc *org.Doc, h *org.Heading) []byte {
		return doc.AppendChild(h, org.Entry{Title: title, Body: org.Escape(text)})
	}
}

// Ask appends a request that waits for an answer, and gives its id. One that r
// has already is kept; else it is made of what is asked, so that the same
// request gets the same id when an edit is applied again. State, answer and
// result of r do not count.
func (d *Draft) Ask(r Request) (id string, err error) {
	r.State, r.Answer, r.Result = Asking, "", ""
	r.Answered, r.Started, r.Ended = time.Time{}, time.Time{}, time.Time{}
	err = d.requests(func(doc *org.Doc) ([]byte, error) {
		taken := map[string]bool{}
		for _, h := range doc.Headings {
			taken[requestID(h)] = true
		}
		if r.ID == "" {
			r.ID = freeID(r, taken)
		} else if !strings.HasPrefix(r.ID, "p-") || taken[r.ID] {
			return nil, fmt.Errorf("%s is no id for a new request in %s: it is taken, or does not begin with p-", r.ID, Permissions)
		}
		return org.Append(doc.Src, r.entry()), nil
	})
	return r.ID, err
}

func freeID(r Request, taken map[string]bool) string {
	for n := 0; ; n++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %d %q %q %q", n, r.Tick, r.Asked.Unix(), r.Kind, r.Call, r.Summary))
		if id := "p-" + fmt.Sprintf("%x", sum)[:4+n/4]; !taken[id] {
			return id
		}
	}
}

// Give answers a request that waits: given is yes, no, always or never, by says
// where it was answered (prompt, command), words are for the agent.
func (d *Draft) Give(id, given, by, words string, at time.Time) error {
	state := Approved
	switch given {
	case "yes", "always":
	case "no", "never":
		state = Denied
	default:
		return fmt.Errorf("%q is no answer; yes, no, always and never are", given)
	}
	return d.change(id, func(r Request) ([]splice, error) {
		if !r.Waits() {
			return nil, r.settled()
		}
		splices := []splice{toState(state), withProp("ANSWER", given), withProp("ANSWERED", writeStamp(at)), withProp("BY", by)}
		if !r.Ended.IsZero() { // a hand has asked again
			splices = append(splices, func(doc *org.Doc, h *org.Heading) []byte { return doc.DeleteProp(h, "ENDED") })
		}
		if words = strings.TrimSpace(words); words != "" {
			splices = append(splices, answer(words))
		}
		return splices, nil
	})
}

// settled says why a request takes no answer.
func (r Request) settled() error {
	switch {
	case r.State == Expired:
		return fmt.Errorf("%s has expired; the agent may ask again", r.ID)
	case r.Given == "":
		return fmt.Errorf("%s is %s already", r.ID, r.State)
	}
	how := fmt.Sprintf("%s was answered already: %s", r.ID, r.Given)
	if r.By != "" {
		how += ", by " + r.By
	}
	if !r.Answered.IsZero() {
		how += ", " + r.Answered.Format("2006-01-02 15:04")
	}
	switch {
	case r.State == Finished || r.State == Failed:
		how += "; it is " + strings.ToLower(r.State)
	case !r.Started.IsZero():
		how += "; it has begun"
	}
	return errors.New(how)
}

// answer writes the human's words: into the empty item where there is one and
// they fit, else below a heading.
func answer(words string) splice {
	return func(doc *org.Doc, h *org.Heading) []byte {
		at := h.Body
		for line := range strings.Lines(doc.BodyText(h)) {
			text := strings.TrimRight(line, " \t\r\n")
			m := requestItem.FindStringSubmatch(text)
			next := doc.Src[at+len(line) : h.Next]
			if m != nil && strings.EqualFold(m[1], "answer") && m[2] == "" && fits(words) && !bytes.HasPrefix(next, []byte(" ")) {
				return slices.Concat(doc.Src[:at], []byte(text+" "+org.EscapeTitle(words)), doc.Src[at+len(text):at+len(line)], next, doc.Src[h.Next:])
			}
			at += len(line)
		}
		return withChild("Answer", words)(doc, h)
	}
}

// Begin marks an approved request as begun, which can be done once.
func (d *Draft) Begin(id string, at time.Time) error {
	return d.change(id, func(r Request) ([]splice, error) {
		switch {
		case r.State != Approved && r.Waits():
			return nil, fmt.Errorf("%s is not answered yet", r.ID)
		case r.State != Approved:
			return nil, fmt.Errorf("%s is not approved: it is %s", r.ID, r.State)
		case !r.Started.IsZero():
			return nil, fmt.Errorf("%s was begun already, %s", r.ID, r.Started.Format("2006-01-02 15:04"))
		}
		return append(r.keep(at), withProp("STARTED", writeStamp(at))), nil
	})
}

// keep writes down what a hand answered by changing the state.
func (r Request) keep(at time.Time) []splice {
	if r.By != "hand" {
		return nil
	}
	splices := []splice{withProp("ANSWER", r.Given), withProp("BY", r.By)}
	if r.Answered.IsZero() {
		splices = append(splices, withProp("ANSWERED", writeStamp(at)))
	}
	return splices
}

// End says what came of a request: DONE or FAILED once it has begun, DENIED
// where it was refused after all. Of a result over 4 KB the end is kept.
func (d *Draft) End(id, state, result string, at time.Time) error {
	switch state {
	case Finished, Failed, Denied:
	default:
		return fmt.Errorf("a request does not end %s; %s, %s and %s are ends", state, Finished, Failed, Denied)
	}
	return d.change(id, func(r Request) ([]splice, error) {
		switch {
		case r.State != Approved:
			return nil, fmt.Errorf("%s is not approved: it is %s", r.ID, r.State)
		case r.Started.IsZero() && state != Denied:
			return nil, fmt.Errorf("%s was not begun", r.ID)
		}
		splices := append(r.keep(at), toState(state), withProp("ENDED", writeStamp(at)))
		if result != "" {
			splices = append(splices, withChild("Result", tail(result)))
		}
		return splices, nil
	})
}

// tail is the end of a text, as much as a result may have.
func tail(s string) string {
	if len(s) <= resultSize {
		return s
	}
	at := len(s) - resultSize
	for at < len(s) && at < len(s)-resultSize+utf8.UTFMax && !utf8.RuneStart(s[at]) {
		at++
	}
	return fmt.Sprintf("[...%d bytes left out...]\n%s", at, s[at:])
}

// Expire ends what has waited past its time: "no, for now", which is no denial.
func (d *Draft) Expire(now time.Time) (ids []string, err error) {
	src, err := d.Bytes(Permissions)
	if err != nil || src == nil {
		return nil, err
	}
	late := func(r Request) bool { return r.Late(now) }
	if !slices.ContainsFunc(Requests(src), late) {
		return nil, nil
	}
	err = d.requests(func(doc *org.Doc) ([]byte, error) {
		for i := 0; i < len(doc.Headings); i++ {
			if h := doc.Headings[i]; requestID(h) != "" && late(request(doc, h)) {
				ids = append(ids, requestID(h))
				doc = requestDoc(doc.SetState(h, Expired))
			}
		}
		return doc.Src, nil
	})
	return ids, err
}

// ArchiveRequests moves the oldest requests that have ended to
// archive/permissions.org when the file has grown past 64 KB, until it is small
// again. What the agent has not learnt of stays, and so does what was answered "always" or
// "never", since it still counts.
func (d *Draft) ArchiveRequests() (moved int, err error) {
	src, err := d.Bytes(Permissions)
	if err != nil || len(src) <= fullSize {
		return 0, err
	}
	doc := requestDoc(src)
	var left, taken []byte
	at, size := 0, len(doc.Src)
	for _, h := range doc.Top() {
		if size <= restSize || !ended(doc, h) {
			continue
		}
		left = append(left, doc.Src[at:h.Start]...)
		taken = append(taken, doc.Src[h.Start:h.End]...)
		at, size, moved = h.End, size-(h.End-h.Start), moved+1
	}
	if moved == 0 {
		return 0, nil
	}
	err = d.edit(permissionArchive, func(old []byte) ([]byte, error) {
		if string(old) == orgHead {
			old = addStates(old)
		}
		if len(old) > 0 && old[len(old)-1] != '\n' {
			old = append(slices.Clone(old), '\n')
		}
		return slices.Concat(old, []byte("\n"), taken), nil
	})
	if err != nil {
		return 0, err
	}
	return moved, d.Put(Permissions, append(left, doc.Src[at:]...))
}

// ended reports whether a heading is a request with nothing left to come of it,
// and all that stand below it too.
func ended(doc *org.Doc, h *org.Heading) bool {
	if requestID(h) == "" {
		return false
	}
	for _, in := range doc.Headings {
		if in.Start < h.Start || in.Start >= h.End || requestID(in) == "" {
			continue
		}
		r := request(doc, in)
		if r.Waits() || r.Ended.IsZero() {
			return false
		}
		if r.Given == "always" || r.Given == "never" {
			return false
		}
	}
	return true
}
