package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"amacs/harness/home"
	"amacs/harness/journal"
	"amacs/harness/nearest"
)

// Cause is one commit that wrote a note or changed it, and what led to it.
type Cause struct {
	Did     string    `json:"did"` // written, added to, rewritten, taken out, edited by hand…
	Commit  string    `json:"commit"`
	Time    time.Time `json:"time"`
	Tick    int       `json:"tick,omitempty"` // 0 for what was no tick
	Subject string    `json:"subject"`
	Thought string    `json:"monologue,omitempty"`
	Human   []string  `json:"human,omitempty"` // the lines that waited for an answer
	Eval    string    `json:"eval,omitempty"`
}

// Unknown says that nothing is known by a name.
type Unknown struct {
	What string
	Near []string // what may have been meant
}

func (e *Unknown) Error() string {
	s := fmt.Sprintf("there is and was no note %q", e.What)
	if len(e.Near) > 0 {
		s += "; there are " + strings.Join(e.Near, ", ")
	}
	return s
}

// Why tells where a note comes from, named by its heading or a part of it: the
// commits that wrote and changed it, oldest first, from git alone. A note that is
// there comes before one that was taken out. The error is *Unknown where there
// was none.
func (h *Harness) Why(ctx context.Context, what string) (home.Note, []Cause, error) {
	notes, err := h.notesAt(ctx, "HEAD")
	if err != nil {
		return home.Note{}, nil, err
	}
	found, ok, err := choose(notes, what)
	if err != nil {
		return found, nil, err
	}
	var causes []Cause
	for e, err := range h.journal.Log(ctx, journal.Query{Path: home.Scratchpad}) {
		if err != nil {
			return found, nil, err
		}
		now, err := h.notesAt(ctx, e.Hash)
		if err != nil {
			return found, nil, err
		}
		was, err := h.notesAt(ctx, e.Hash+"^")
		if err != nil {
			return found, nil, err
		}
		if !ok { // not there any more: perhaps this is where it was taken out
			if found, ok, err = choose(was, what); err != nil {
				return found, nil, err
			}
		}
		did := ""
		if ok {
			did = changed(pick(was, found), pick(now, found), e.Kind)
		}
		if did == "" {
			continue
		}
		c, err := h.cause(ctx, e, did)
		if err != nil {
			return found, nil, err
		}
		causes = append(causes, c)
		if pick(was, found) == nil && e.Kind != "UNDO" {
			break // what was of that name before is another note
		}
	}
	if len(causes) == 0 {
		var headings []string
		for _, n := range notes {
			headings = append(headings, n.Heading)
		}
		return found, nil, &Unknown{what, nearest.Names(what, headings, 3)}
	}
	slices.Reverse(causes)
	return found, causes, nil
}

// notesAt reads the notes of a commit; before the first one there are none.
func (h *Harness) notesAt(ctx context.Context, rev string) ([]home.Note, error) {
	src, err := h.journal.File(ctx, rev, home.Scratchpad)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return home.Notes(src), err
}

// choose finds the one note that is named so, or whose heading holds the words.
func choose(notes []home.Note, what string) (n home.Note, ok bool, err error) {
	var part []home.Note
	for _, n := range notes {
		if strings.EqualFold(n.Heading, what) {
			return n, true, nil
		}
		if strings.Contains(strings.ToLower(n.Heading), strings.ToLower(what)) {
			part = append(part, n)
		}
	}
	if len(part) == 0 {
		return n, false, nil
	}
	for _, other := range part[1:] {
		if other.Heading != part[0].Heading {
			var names []string
			for _, n := range part {
				names = append(names, fmt.Sprintf("%q", n.Heading))
			}
			return n, false, fmt.Errorf("several notes are called so: %s", strings.Join(names, ", "))
		}
	}
	return part[0], true, nil
}

func pick(notes []home.Note, like home.Note) *home.Note {
	for i, n := range notes {
		if n.Heading == like.Heading && n.Thread == like.Thread {
			return &notes[i]
		}
	}
	return nil
}

// changed says what became of a note from one commit to the next, "" if nothing.
func changed(was, now *home.Note, kind journal.Kind) string {
	by := ""
	switch kind {
	case "EDIT":
		by = " by hand"
	case "UNDO":
		by = " by an undo or a redo"
	}
	switch {
	case was == nil && now == nil, was != nil && now != nil && was.Text == now.Text:
		return ""
	case was == nil:
		return "written" + by
	case now == nil:
		return "taken out" + by
	case strings.HasPrefix(now.Text, was.Text):
		return "added to" + by
	}
	return "rewritten" + by
}

// cause reads what led to a commit.
func (h *Harness) cause(ctx context.Context, e journal.Entry, did string) (Cause, error) {
	c := Cause{Did: did, Commit: e.Hash, Time: e.When, Subject: e.Subject}
	if !e.HasTick {
		return c, nil
	}
	c.Tick, c.Thought = e.Tick, e.Text
	if form, ok := strings.CutPrefix(e.Body, "eval: "); ok {
		for _, end := range []string{"\nresult: ", "\nerror: "} {
			form, _, _ = strings.Cut(form, end)
		}
		c.Eval = form
	}
	chat, err := h.journal.File(ctx, e.Hash, home.Chat)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	for _, x := range home.Exchanges(chat) {
		if x.HasHuman && (x.Tick == e.Tick || x.ReplyTick == e.Tick || x.Pending()) {
			c.Human = append(c.Human, x.Human)
		}
	}
	return c, err
}
