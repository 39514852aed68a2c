package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/harness/journal"
	"amacs/harness/ledger"
)

// commit applies the tick's edits to the home as it is now and commits them:
// one transaction, one git commit. What was edited by hand while the model was
// thinking is committed first, under the human's name.
func (h *Harness) commit(ctx context.Context, m *Mind, a Answer, out Outcome) (Report, error) {
	h.step("commit")
	r := report(m, a, out)
	var named ledger.Report
	err := h.home.Update(ctx, func(tx *home.Tx) error {
		if !m.asLeft(tx) {
			what, err := h.edited(ctx, tx, m)
			r.Notices = append(r.Notices, what...)
			if err != nil && !errors.Is(err, journal.ErrBusy) { // busy: the files are saved, the commits follow
				return err
			}
		}
		for _, e := range m.edits {
			var damaged *home.Damaged
			if err := e.Apply(tx.Draft); errors.As(err, &damaged) {
				if !slices.Contains(r.Notices, err.Error()) { // when the tick woke it was whole
					r.Notices = append(r.Notices, err.Error())
				}
			} else if err != nil {
				r.Notices = append(r.Notices, fmt.Sprintf("%s could not be written: %v", e.What, err))
			}
		}
		s, _, err := tx.State()
		if err == nil {
			r.Thread = string(s.Threads.Active)
		}
		c := h.message(m, h.cleanAnswer(a), h.cleanOutcome(out), r)
		if m.claim != "" {
			c.Paths = []string{home.Chat} // changed by the waking, even if not since
		}
		if named, err = h.name(&c); err != nil {
			r.Notices = append(r.Notices, "what was spent beside the ticks could not be read: "+err.Error())
		}
		return h.save(ctx, tx, m.Tick, c, m.claim)
	})
	if err != nil {
		return r, fmt.Errorf("tick %d: %w", m.Tick, err)
	}
	if err := h.Ledger().Reported(ctx, named); err != nil {
		r.Notices = append(r.Notices, err.Error())
	}
	if err := h.archive(ctx, m); err != nil {
		r.Notices = append(r.Notices, "the tick is committed, but the archive could not be written: "+err.Error())
	}
	return r, nil
}

// edited commits what was edited by hand while the model was thinking. The chat
// holds the tick's lines, which are not the hand's: where it was edited, they are
// committed before, and entered again if an editor saved an older chat over them.
func (h *Harness) edited(ctx context.Context, tx *home.Tx, m *Mind) ([]string, error) {
	if m.claim == "" {
		return h.handEdits(ctx, tx)
	}
	if now, err := tx.Bytes(home.Chat); err == nil && bytes.Equal(now, m.claimed) {
		return h.handEdits(ctx, tx, home.Chat)
	}
	if _, err := h.commitHeard(ctx, m.Tick, m.claimed); err != nil {
		return nil, err
	}
	notices, err := h.handEdits(ctx, tx)
	if err != nil {
		return notices, err
	}
	if _, err := enter(tx.Draft, m.lines); err != nil && !errors.As(err, new(*home.Damaged)) {
		return notices, err
	}
	return notices, nil
}

// asLeft reports whether the texts that every tick writes are as the waking left
// them and the tick writes no others: then no hand can have edited what it is
// about to write, and the home need not be searched.
func (m *Mind) asLeft(tx *home.Tx) bool {
	for _, path := range m.draft.Changed() {
		if !slices.Contains(everyTick, path) {
			return false
		}
	}
	for _, path := range everyTick {
		if now, err := tx.Bytes(path); err != nil || !bytes.Equal(now, m.left[path]) {
			return false
		}
	}
	return true
}

// everyTick are the texts that a tick may write without an eval.
var everyTick = []string{home.Chat, home.Consciousness, home.Monologue, home.Scratchpad}

func report(m *Mind, a Answer, out Outcome) Report {
	r := Report{
		Tick: m.Tick, Outcome: a.Outcome, Reply: a.Text, Mood: a.Mood, Heard: len(m.lines), Waiting: len(m.Pending),
		Thread: string(m.State.Threads.Active), Continue: a.Continue, Failure: a.Err,
		Notices: append([]string(nil), m.Notices...), Monologue: a.Monologue, Edited: m.edited, Ran: m.gate.runs,
		Model: a.Model, In: a.Spent.In, Cached: a.Spent.Cached, Out: a.Spent.Out,
	}
	if !a.Spent.Unpriced {
		r.CostUSD = &a.Spent.USD
	}
	if a.Outcome == "interrupted" {
		r.Reply, r.Mood = a.Partial, m.State.Mood
	}
	if a.Outcome == "unparsed" {
		r.Raw = a.Raw
	}
	if r.Mood == "" {
		r.Mood = m.State.Mood
	}
	if a.Continue && m.Chain >= m.State.ContinueLimit {
		r.Continue = false
		r.Notices = append(r.Notices, fmt.Sprintf("stopped after %d ticks in a row (autonomous-tick-limit); say something to go on", m.Chain))
	}
	if r.Continue && m.critical != "" {
		r.Continue = false
		r.Notices = append(r.Notices, "stopped: "+m.critical+"; say something to go on")
	}
	if r.Continue && m.looping {
		r.Continue = false
		r.Notices = append(r.Notices, fmt.Sprintf("stopped: the same eval gave the same result %d times in a row; say something to go on", loopMax))
	}
	if e := out.Eval; !e.Skipped {
		r.Eval = &EvalDone{Form: e.Form, Success: e.Success, Result: e.Result, Error: e.Error}
	}
	return r
}

// bodyMax is the most characters of a form or its result in a commit's body.
const bodyMax = 2000

// message is what is recorded of a tick: what it holds of the answer and of the
// outcome is clean already, and cut to its length after that.
func (h *Harness) message(m *Mind, a Answer, out Outcome, r Report) journal.Commit {
	var body strings.Builder
	body.WriteString(evalBody(out.Eval))
	if a.Err != nil {
		fmt.Fprintf(&body, "failure: %s\n", clip(a.Err.Error()))
	}
	confidence := a.Confidence
	if a.Mood == "" {
		confidence = m.State.Confidence
	}
	thread, mood := h.Clean(r.Thread), h.Clean(r.Mood)
	if thread == "" {
		thread = "no-thread"
	}
	return journal.Commit{
		Subject: journal.TickSubject(m.Tick, thread, mood, h.Clean(monologue(m, a))),
		Body:    strings.TrimRight(body.String(), "\n"),
		When:    h.now(),
		Trailers: []journal.Trailer{
			{Key: "Tick", Value: strconv.Itoa(m.Tick)},
			{Key: "Tick-Id", Value: m.ID},
			{Key: "Thread", Value: thread},
			{Key: "Mood", Value: mood},
			{Key: "Confidence", Value: strconv.FormatFloat(confidence, 'f', 2, 64)},
			{Key: "Source", Value: string(m.Source)},
			{Key: "Model", Value: a.Model},
			{Key: "Tokens", Value: a.Spent.tokens()},
			{Key: "Cost-USD", Value: a.Spent.cost()},
			{Key: "Outcome", Value: a.Outcome},
		},
	}
}

// evalBody is an eval and what came of it, for a commit's body.
func evalBody(e consciousness.LastEval) string {
	switch {
	case e.Form == "":
		return ""
	case e.Success:
		return fmt.Sprintf("eval: %s\nresult: %s\n", clip(e.Form), clip(e.Result))
	}
	return fmt.Sprintf("eval: %s\nerror: %s\n", clip(e.Form), clip(e.Error))
}

func clip(s string) string {
	if utf8.RuneCountInString(s) <= bodyMax {
		return s
	}
	return string([]rune(s)[:bodyMax]) + " [...]"
}

// archive keeps the files that change at every tick small, in a commit of its
// own.
func (h *Harness) archive(ctx context.Context, m *Mind) error {
	if !h.home.Grown() {
		return nil
	}
	chat, thoughts := reach(m.State.ChatDepth), reach(m.State.MonologueDepth)
	return h.home.Update(ctx, func(tx *home.Tx) error {
		moved, err := tx.Archive(chat, thoughts)
		if err != nil {
			return err
		}
		requests, err := tx.ArchiveRequests()
		if err != nil {
			return err
		}
		if requests > 0 {
			moved = strings.TrimPrefix(moved+", "+Count(requests, "request"), ", ")
		}
		if moved == "" {
			return nil
		}
		return h.save(ctx, tx, m.Tick, journal.Commit{Subject: journal.Subject("ARCHIVE", moved), When: h.now()})
	})
}
