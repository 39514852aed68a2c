package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"amacs/harness/home"
	"amacs/harness/journal"
)

// Undo and redo move the whole mind: all files become what they were at another
// commit, by a new commit. Nothing else remembers them; where the mind stands is
// read from the trailers of those commits:
//
//	[UNDO] Took back tick 43 to 45
//
//	Undo-From: 5b1c…     the commit before this one, with the state that was left
//	Undo-To: 90aa…       the commit where the mind stands now, never an undo itself
//	Undo-Ticks: 43-45
//	Undo-Redo: 77e0…     in a redo only: the undo that it takes back, and those after it
//
// The past of a mind is therefore the line of first parents, but for undos, which
// lead to where they went.
const (
	undoFrom  = "Undo-From"
	undoTo    = "Undo-To"
	undoTicks = "Undo-Ticks"
	undoRedo  = "Undo-Redo"
)

// stays tells the files that no undo touches: settings and answers are the
// human's, and an approved action must not run twice.
func stays(file string) bool {
	switch file {
	case home.ConfigFile, home.Permissions, "archive/permissions.org":
		return true
	}
	return strings.HasPrefix(file, ".amacs/")
}

// Moved is what an undo or a redo did, or would do.
type Moved struct {
	Ticks   []int            // taken back or put back, ascending
	Files   []journal.Change // of the home
	Left    []string         // files that stay as they are, each with the reason
	Edits   []string         // hand edits that went back too: the files that each was of
	Deeds   []home.Deed      // what the ticks did outside the home: an undo does not undo that
	Notices []string         // what was mended before
}

// leap is where an undo or a redo leads.
type leap struct {
	from  string // the last commit
	tree  string // the commit whose files come back
	to    string // the commit where the mind stands then
	redo  string
	ticks []int
	edits []string
}

// Undo takes the last n ticks back that the mind stands on. It gives home.ErrBusy
// while a tick runs.
func (h *Harness) Undo(ctx context.Context, n int) (Moved, error) {
	return h.move(ctx, n, h.back)
}

// Redo takes the last n undos back, which works until something else is
// committed.
func (h *Harness) Redo(ctx context.Context, n int) (Moved, error) {
	return h.move(ctx, n, h.forth)
}

// WouldUndo says what Undo would do.
func (h *Harness) WouldUndo(ctx context.Context, n int) (Moved, error) {
	return h.would(ctx, n, h.back)
}

// WouldRedo says what Redo would do.
func (h *Harness) WouldRedo(ctx context.Context, n int) (Moved, error) {
	return h.would(ctx, n, h.forth)
}

type plan func(ctx context.Context, n int) (leap, error)

func (h *Harness) move(ctx context.Context, n int, to plan) (m Moved, err error) {
	release, err := h.home.TryLease()
	if err != nil {
		return m, fmt.Errorf("a tick is running, try again when it has ended: %w", err)
	}
	defer release()
	err = h.home.Update(ctx, func(tx *home.Tx) error {
		notices, err := h.settle(ctx, tx, true)
		if err != nil {
			return err
		}
		l, err := to(ctx, n)
		if err != nil {
			return err
		}
		left, err := h.journal.Changes(ctx)
		if err != nil {
			return err
		}
		if m, err = h.lay(ctx, tx.Draft, l, left); err != nil {
			return err
		}
		m.Notices = notices
		if len(m.Files) == 0 {
			return fmt.Errorf("nothing changes: %s", strings.Join(append(m.Left, "the files are as they were then"), "; "))
		}
		return h.save(ctx, tx, 0, l.commit(h.now(), m))
	})
	if err == nil {
		h.clearFolders(m.Files)
	}
	return m, err
}

func (h *Harness) would(ctx context.Context, n int, to plan) (Moved, error) {
	l, err := to(ctx, n)
	if err != nil {
		return Moved{}, err
	}
	changes, err := h.journal.Changes(ctx)
	if err != nil {
		return Moved{}, err
	}
	m, err := h.lay(ctx, h.home.Draft(), l, nil)
	for _, c := range changes {
		if l.redo != "" {
			return m, fmt.Errorf("%s was edited by hand since the undo, which can not be taken back any more", c.Path)
		}
		m.Notices = append(m.Notices, c.Path+" was edited by hand; that would be committed before")
	}
	return m, err
}

// past yields the commits that the mind went through, newest first.
func (h *Harness) past(ctx context.Context, rev string) iter.Seq2[journal.Entry, error] {
	return func(yield func(journal.Entry, error) bool) {
		for rev != "" {
			next := ""
			for e, err := range h.journal.Line(ctx, rev) {
				if errors.Is(err, fs.ErrNotExist) && rev != "HEAD" {
					err = fmt.Errorf("an undo went back to a commit that is not in the history any more: %w", err)
				}
				if err == nil && moves(e) {
					next = e.Trailers[undoTo]
					break
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
			rev = next
		}
	}
}

// moves tells the commits of undo and redo.
func moves(e journal.Entry) bool { return e.Kind == "UNDO" && e.Trailers[undoTo] != "" }

// back finds the commit before the last n ticks.
func (h *Harness) back(ctx context.Context, n int) (leap, error) {
	head, err := h.journal.Head(ctx)
	if err != nil {
		return leap{}, err
	}
	l := leap{from: head}
	for e, err := range h.past(ctx, "HEAD") {
		if err != nil {
			return l, err
		}
		begun := false
		if len(l.ticks) == n && !e.HasTick {
			if begun, err = h.hadLine(ctx, e.Hash, l.ticks[n-1]); err != nil {
				return l, err
			}
		}
		if len(l.ticks) == n && !begun {
			l.tree, l.to = e.Hash, e.Hash
			slices.Sort(l.ticks)
			return l, nil
		}
		if e.HasTick {
			l.ticks = append(l.ticks, e.Tick)
		} else if e.Kind == "EDIT" {
			l.edits = append(l.edits, e.Text)
		}
	}
	switch len(l.ticks) {
	case 0:
		return l, errors.New("there is no tick to take back")
	case n:
		return l, fmt.Errorf("tick %d is where the history begins, it can not be taken back", l.ticks[n-1])
	}
	return l, fmt.Errorf("only %s can be taken back", Count(len(l.ticks), "tick"))
}

// hadLine tells whether a commit kept the human's line of a tick that had begun
// and not ended then.
func (h *Harness) hadLine(ctx context.Context, commit string, tick int) (bool, error) {
	chat, err := h.journal.File(ctx, commit, home.Chat)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return home.LastExchange(chat) >= tick, err
}

// marks are the undos and redos that nothing came after, newest first.
func (h *Harness) marks(ctx context.Context) (marks []journal.Entry, err error) {
	after := ""
	for e, err := range h.journal.Line(ctx, "HEAD") {
		switch {
		case err != nil:
			return nil, err
		case moves(e) && after != "":
			return nil, fmt.Errorf("the last undo can not be taken back any more, since then came %s", after)
		case moves(e):
			marks = append(marks, e)
		case len(marks) > 0:
			return marks, nil
		case after == "":
			after = e.Subject
		}
	}
	return marks, nil
}

// forth finds the commit from which the n-th last undo went.
func (h *Harness) forth(ctx context.Context, n int) (leap, error) {
	marks, err := h.marks(ctx)
	if err != nil {
		return leap{}, err
	}
	var undone []journal.Entry // not taken back yet, the last one last
	for _, e := range slices.Backward(marks) {
		if first := e.Trailers[undoRedo]; first == "" {
			undone = append(undone, e)
		} else if i := slices.IndexFunc(undone, func(u journal.Entry) bool { return u.Hash == first }); i >= 0 {
			undone = undone[:i]
		}
	}
	switch {
	case len(undone) == 0:
		return leap{}, errors.New("there is no undo to take back")
	case len(undone) < n:
		return leap{}, fmt.Errorf("only %s can be taken back", Count(len(undone), "undo"))
	}
	undone = undone[len(undone)-n:]
	l := leap{from: marks[0].Hash, tree: undone[0].Trailers[undoFrom], redo: undone[0].Hash}
	for _, u := range undone {
		l.ticks = append(l.ticks, readTicks(u.Trailers[undoTicks])...)
	}
	slices.Sort(l.ticks)
	for e, err := range h.past(ctx, l.tree) {
		l.to = e.Hash
		return l, err
	}
	return l, fmt.Errorf("the commit %s has no past", l.tree)
}

func (l leap) commit(at time.Time, m Moved) journal.Commit {
	what := "Took back "
	if l.redo != "" {
		what = "Put back "
	}
	var body []string
	for _, e := range m.Edits {
		body = append(body, "went back too: edits by hand of "+e)
	}
	return journal.Commit{
		Subject: journal.Subject("UNDO", what+TickWords(l.ticks)), When: at,
		Body: strings.Join(append(body, m.Left...), "\n"),
		Trailers: []journal.Trailer{
			{Key: undoFrom, Value: l.from}, {Key: undoTo, Value: l.to},
			{Key: undoTicks, Value: printTicks(l.ticks)}, {Key: undoRedo, Value: l.redo},
		},
	}
}
