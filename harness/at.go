package harness

import (
	"context"
	"time"

	"amacs/harness/home"
	"amacs/harness/journal"
	"amacs/threads"
)

// Moment is the mind as it was after a tick.
type Moment struct {
	Tick       int
	Commit     string
	Time       time.Time
	Mood       string
	Confidence float64
	Threads    threads.Set
	Exchanges  []home.Exchange // the last ones, oldest first
	Notes      []home.Note
	Damaged    []string // what can not be read of it
}

// At is the mind as it was after a tick.
func (h *Harness) At(ctx context.Context, tick, exchanges int) (Moment, error) {
	then, err := h.Snapshot(ctx, tick)
	if err != nil {
		return Moment{}, err
	}
	m := Moment{Tick: tick, Commit: then.Hash, Time: then.When}
	d := home.NewDraft(then)
	damaged := func(err error) {
		if err != nil {
			m.Damaged = append(m.Damaged, err.Error())
		}
	}
	s, _, err := d.State()
	damaged(err)
	m.Mood, m.Confidence, m.Threads = s.Mood, s.Confidence, s.Threads
	all, err := d.Conversation(exchanges)
	damaged(err)
	m.Exchanges = all[max(0, len(all)-exchanges):]
	notes, err := d.Bytes(home.Scratchpad)
	damaged(err)
	m.Notes = home.Notes(notes)
	return m, nil
}

// Snapshot is the files of the home as they were after a tick.
func (h *Harness) Snapshot(ctx context.Context, tick int) (*journal.Snapshot, error) {
	e, err := findTick(ctx, h.journal, tick)
	if err != nil {
		return nil, err
	}
	return h.journal.Snapshot(ctx, e.Hash)
}
