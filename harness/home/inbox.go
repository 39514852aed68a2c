package home

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"
	"unicode/utf8"

	"amacs/harness/disk"
)

// Line is one message of the human. In the inbox, .amacs/state/inbox.jsonl, it
// waits for a tick; in the chat it has a tick's number.
//
//	{"at":"2026-11-21T14:30:00Z","face":"4f…","pid":812,"text":"and the tests?"}
type Line struct {
	At   time.Time `json:"at"`
	Face string    `json:"face,omitempty"` // the run of the face that it was typed at
	PID  int       `json:"pid,omitempty"`
	Tick int       `json:"tick,omitempty"`
	Text string    `json:"text"`
}

// MarshalJSON keeps text that is not UTF-8, which JSON can not hold, as base64.
func (l Line) MarshalJSON() ([]byte, error) {
	type plain Line
	out := struct {
		plain
		Bytes []byte `json:"bytes,omitempty"`
	}{plain: plain(l)}
	if !utf8.ValidString(l.Text) {
		out.Text, out.Bytes = "", []byte(l.Text)
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (l *Line) UnmarshalJSON(b []byte) error {
	type plain Line
	var in struct {
		plain
		Bytes []byte `json:"bytes"`
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*l = Line(in.plain)
	if in.Bytes != nil {
		l.Text = string(in.Bytes)
	}
	return nil
}

const inbox = stateDir + "/inbox.jsonl"

// Post puts a line into the inbox, without the secrets in it, and returns when it
// is on disk.
func (h *Home) Post(ctx context.Context, line Line) error {
	line.Text = h.Clean(line.Text)
	unlock, err := h.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	b, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("posting a line: %w", err)
	}
	return h.appendState(inbox, append(b, '\n'), disk.Sync)
}

// Inbox lists the lines that wait for face: its own, and those whose process is
// gone.
func (h *Home) Inbox(face string) ([]Line, error) {
	all, err := h.inbox()
	if err != nil {
		return nil, err
	}
	var mine []Line
	for _, l := range all {
		if l.waitsFor(face) {
			mine = append(mine, l)
		}
	}
	return mine, nil
}

// Drop removes lines from the inbox: those typed at the same face and moment.
func (tx *Tx) Drop(lines []Line) error {
	all, err := tx.h.inbox()
	if err != nil || len(all) == 0 {
		return err
	}
	var left []any
next:
	for _, l := range all {
		for _, gone := range lines {
			if l.Face == gone.Face && l.At.Equal(gone.At) && l.Text == gone.Text {
				continue next
			}
		}
		left = append(left, l)
	}
	return tx.h.rewriteState(inbox, left)
}

// waitsFor: a process that this user may not signal is not one of ours, its
// number was used again.
func (l Line) waitsFor(face string) bool {
	return l.Face == face || l.PID <= 0 || syscall.Kill(l.PID, 0) != nil
}

func (h *Home) inbox() (lines []Line, err error) {
	b, err := os.ReadFile(h.Path(inbox))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the inbox: %w", err)
	}
	for _, raw := range bytes.Split(b, []byte("\n")) {
		var l Line
		if json.Unmarshal(raw, &l) == nil && l.Text != "" {
			lines = append(lines, l)
		}
	}
	return lines, nil
}
