package home

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"amacs/harness/disk"
)

// Intent is one record of the intent log, .amacs/state/intents.jsonl: what a
// writer is about to do to the home, written down first so that whoever finds
// the home after a crash knows what is whose.
//
//	{"id":"9f…","tick":42,"lines":[{"tick":42,"text":"hello"}]}
//	{"id":"a1…","tick":42,"files":[{"path":"monologue.org","before":"e3…","after":"77…","content":"Li4u"}],"commit":{…}}
//
// The first form holds lines of the human that a tick has put into the chat and
// not committed yet; it stays in force until the tick ends. The second holds a
// whole transaction, and is gone when the write lock is released.
type Intent struct {
	ID     string          `json:"id"`
	Tick   int             `json:"tick,omitempty"`
	Lines  []Line          `json:"lines,omitempty"`
	Files  []IntentFile    `json:"files,omitempty"`
	Commit json.RawMessage `json:"commit,omitempty"` // as the committer wants it back
}

// IntentFile is one file of a transaction: hashes of its bytes before and after,
// and the bytes that are meant. Hash "" means that there is no file.
type IntentFile struct {
	Path    string `json:"path"`
	Before  string `json:"before"`
	After   string `json:"after"`
	Content []byte `json:"content,omitempty"`
}

const intentLog = stateDir + "/intents.jsonl"

// Tx is a transaction: it exists while the write lock is held.
type Tx struct {
	*Draft
	h       *Home
	intents []Intent
}

// errMoved says that an editor saved a file between its reading and its writing.
var errMoved = errors.New("it was changed by hand at this very moment; try again")

// Update runs fn in a transaction. Nothing is saved but by Write. If a hand
// changes a file while fn is at work, fn runs again on the files as they are
// then: Intend and Claim find out, before anything is written.
func (h *Home) Update(ctx context.Context, fn func(*Tx) error) error {
	unlock, err := h.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := h.clearTemp(); err != nil {
		return err
	}
	for try := 1; ; try++ {
		intents, err := h.intents()
		if err != nil {
			return err
		}
		if err = fn(&Tx{Draft: h.Draft(), h: h, intents: intents}); try == 3 || !errors.Is(err, errMoved) {
			return err
		}
	}
}

// Intents are the records found in the log: what an interrupted writer, or the
// tick that is thinking now, had begun.
func (tx *Tx) Intents() []Intent { return tx.intents }

// Intend writes a transaction into the intent log, before any file is touched: what the draft changed, and commit, for whoever would have to
// finish the work. The entry stays in force until Done.
func (tx *Tx) Intend(tick int, commit any) (id string, err error) {
	in := Intent{ID: NewID(), Tick: tick, Files: tx.meant()}
	if in.Commit, err = json.Marshal(commit); err != nil {
		return "", fmt.Errorf("writing the intent: %w", err)
	}
	return in.ID, tx.log(in, disk.Stage)
}

// Claim writes down that lines of the human are about to enter the chat as
// pending exchanges of a tick. It is there after a kill; a power failure may
// take it, and then the lines, which Write puts on the disk, count as the
// human's own edit of the chat.
func (tx *Tx) Claim(tick int, lines []Line) (id string, err error) {
	in := Intent{ID: NewID(), Tick: tick, Lines: lines}
	return in.ID, tx.log(in, nil)
}

func (tx *Tx) log(in Intent, settle func(...string) error) error {
	for _, path := range tx.Changed() {
		now, err := fs.ReadFile(tx.disk, path)
		if !bytes.Equal(tx.files[path].was, now) || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("saving %s: %w", path, errMoved)
		}
	}
	line, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("writing the intent: %w", err)
	}
	if err := tx.h.appendState(intentLog, append(line, '\n'), settle); err != nil {
		return err
	}
	tx.intents = append(tx.intents, in)
	return nil
}

// Write saves what the draft changed: each file by temporary file and rename,
// through symlinks. Nothing is renamed before everything is written; the commit
// that follows waits for the disk.
func (tx *Tx) Write() error { return tx.h.saveAll(tx.meant()) }

func (tx *Tx) meant() (files []IntentFile) {
	for _, path := range tx.Changed() {
		f := tx.files[path]
		files = append(files, IntentFile{Path: path, Before: hash(f.was), After: hash(f.now), Content: f.now})
	}
	return files
}

// Reread drops what the transaction has read and changed so far.
func (tx *Tx) Reread() { tx.Draft = tx.h.Draft() }

// Done removes intents whose work is committed.
func (tx *Tx) Done(ids ...string) error {
	var left []Intent
next:
	for _, in := range tx.intents {
		for _, id := range ids {
			if in.ID == id {
				continue next
			}
		}
		left = append(left, in)
	}
	lines := make([]any, len(left))
	for i, in := range left {
		lines[i] = in
	}
	tx.intents = left
	return tx.h.rewriteState(intentLog, lines)
}

// Finish saves the files of an intent that an interrupted writer left: those
// that are still as they were before. Files that are neither as before nor as
// meant were edited by hand since; they are left alone and what was meant is put
// aside. It returns those paths and where the meant text now is.
func (tx *Tx) Finish(in Intent) (kept map[string]string, err error) {
	kept = map[string]string{}
	var redo []IntentFile
	for _, f := range in.Files {
		now, err := tx.h.Read(f.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		switch {
		case hash(now) == f.After:
		case hash(now) == f.Before, len(now) == 0 && now != nil:
			redo = append(redo, f) // empty: a power failure came before the bytes
		default:
			aside := fmt.Sprintf("%s/meant-%s-%s", stateDir, in.ID, strings.ReplaceAll(f.Path, "/", "-"))
			if f.After == "" {
				f.Content = []byte("this file was to be removed\n")
			}
			if err := tx.h.saveAll([]IntentFile{written(aside, f.Content)}); err != nil {
				return nil, fmt.Errorf("putting aside what was meant for %s: %w", f.Path, err)
			}
			kept[f.Path] = aside
		}
	}
	return kept, tx.h.saveAll(redo)
}

func (h *Home) intents() (ins []Intent, err error) {
	b, err := os.ReadFile(h.Path(intentLog))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the intent log: %w", err)
	}
	for line := range bytes.Lines(b) {
		var in Intent
		// What was cut short is passed over: its writer had not begun to write files.
		if bytes.HasSuffix(line, []byte("\n")) && json.Unmarshal(line, &in) == nil {
			ins = append(ins, in)
		}
	}
	return ins, nil
}

// NewID makes an id that no other machine makes too: 16 hexadecimal digits.
func NewID() string {
	b := make([]byte, 8)
	rand.Read(b) // never fails: crypto/rand aborts the program instead
	return hex.EncodeToString(b)
}

// hash tells contents apart; "" is for no file.
func hash(b []byte) string {
	if b == nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
