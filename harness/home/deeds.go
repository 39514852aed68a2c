package home

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"amacs/harness/disk"
)

// Deed is one thing that the agent did outside its home, a line of
// .amacs/state/deeds.jsonl. Undo of the home does not reach it.
//
//	{"tick":42,"at":"2026-11-21T14:30:00Z","what":"edit","path":"/x/main.go","before":"e3…","after":"77…"}
//	{"tick":43,"at":"2026-11-21T14:31:00Z","what":"run","command":"go test ./...","dir":"/x","exit":1}
//
// What an edit replaced is kept in .amacs/state/before, under its Sum: at most
// 4 MB of a file, for 90 days, 200 MB of all files together.
type Deed struct {
	Tick    int       `json:"tick"`
	At      time.Time `json:"at"`
	What    string    `json:"what"`              // edit, write, run, tool, fetch, revert
	Path    string    `json:"path,omitempty"`    // absolute
	New     bool      `json:"new,omitempty"`     // there was no such file
	Before  string    `json:"before,omitempty"`  // Sum of the file before the deed; set by Record
	After   string    `json:"after,omitempty"`   // Sum of what the deed leaves, "" if it removes the file
	Command string    `json:"command,omitempty"` // what was run, called or fetched, without secrets
	Dir     string    `json:"dir,omitempty"`
	Exit    int       `json:"exit,omitempty"` // of a command; -1: not known to have ended
}

const (
	deeds  = stateDir + "/deeds.jsonl"
	before = stateDir + "/before"

	preimageMax = 4 << 20 // bytes of one file
	preimageAge = 90 * 24 * time.Hour
	preimageSum = 200 << 20 // bytes of all
)

// Sum names a content: SHA-256 in hexadecimal.
func Sum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Record writes a deed down before it is done, and returns when that is on disk.
// Of a deed with a path, content is the whole file as it is now; it is kept unless
// the file is New. Recorded again with the same tick, time, path and command, as at
// a command's end, a deed takes the place of the first line.
func (h *Home) Record(ctx context.Context, d Deed, content []byte) error {
	unlock, err := h.Lock(ctx)
	if err != nil {
		return fmt.Errorf("writing down what is about to be done: %w", err)
	}
	defer unlock()
	if d.Path != "" && !d.New {
		d.Before = Sum(content)
		if err := h.keep(d.Before, content); err != nil {
			return fmt.Errorf("keeping %s as it is before it is changed: %w", d.Path, err)
		}
	}
	line, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("writing down what is about to be done: %w", err)
	}
	return h.appendState(deeds, append(line, '\n'), disk.Sync)
}

// keep stores a preimage and makes room for it.
func (h *Home) keep(sum string, content []byte) error {
	if len(content) > preimageMax {
		return nil
	}
	path := before + "/" + sum
	if b, err := os.ReadFile(h.Path(path)); err == nil && Sum(b) == sum {
		now := time.Now()
		return os.Chtimes(h.Path(path), now, now)
	}
	if err := h.saveAll([]IntentFile{written(path, content)}); err != nil {
		return err
	}
	return h.sweep(time.Now(), preimageSum)
}

// sweep removes preimages that are too old, then the oldest until all of them
// together have at most max bytes.
func (h *Home) sweep(now time.Time, max int64) error {
	entries, err := os.ReadDir(h.Path(before))
	if err != nil {
		return removed(err)
	}
	var found []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			found = append(found, info)
		}
	}
	slices.SortFunc(found, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var size int64
	for i, f := range found {
		size += f.Size()
		if i == 0 || size <= max && now.Sub(f.ModTime()) <= preimageAge {
			continue // the newest is the one that is needed now
		}
		if err := removed(os.Remove(h.Path(before + "/" + f.Name()))); err != nil {
			return err
		}
	}
	return nil
}

// Deeds lists what was done, oldest first.
func (h *Home) Deeds() (all []Deed, err error) {
	b, err := os.ReadFile(h.Path(deeds))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was done outside the home: %w", err)
	}
	return readDeeds(b), nil
}

// LatestDeeds lists what was done last, oldest first: some hundred deeds, without
// reading all of them.
func (h *Home) LatestDeeds() ([]Deed, error) {
	const most = 64 << 10
	f, err := os.Open(h.Path(deeds))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was done outside the home: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading what was done outside the home: %w", err)
	}
	from := max(0, info.Size()-most)
	b := make([]byte, info.Size()-from)
	if _, err := f.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading what was done outside the home: %w", err)
	}
	if from > 0 {
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
	return readDeeds(b), nil
}

func readDeeds(b []byte) (all []Deed) {
	type name struct {
		tick                int
		at                  int64
		what, path, command string
	}
	at := map[name]int{}
	for line := range bytes.Lines(b) {
		var d Deed
		if json.Unmarshal(line, &d) != nil || d.What == "" {
			continue // cut short by a crash: its deed was not begun
		}
		n := name{d.Tick, d.At.UnixNano(), d.What, d.Path, d.Command}
		if i, again := at[n]; again {
			all[i] = d
			continue
		}
		at[n] = len(all)
		all = append(all, d)
	}
	return all
}

// Preimage is a content that an edit replaced. The error wraps fs.ErrNotExist
// where it was too large to be kept, or was swept since.
func (h *Home) Preimage(sum string) ([]byte, error) {
	b, err := os.ReadFile(h.Path(before + "/" + sum))
	if err != nil {
		return nil, fmt.Errorf("reading what was there before: %w", err)
	}
	if Sum(b) != sum {
		return nil, fmt.Errorf("reading what was there before: %s/%s is damaged: %w", before, sum, fs.ErrNotExist)
	}
	return b, nil
}
