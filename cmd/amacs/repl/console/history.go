package console

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const (
	historyEntries = 1000    // kept when the file is trimmed
	historyBytes   = 1 << 20 // a larger file is trimmed, down to half of it
	entryBytes     = 64 << 10
)

var (
	toHistory = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`)
	ofHistory = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\r`, "\r")
)

// history is what was sent, oldest first. An entry above 64 KB is known until
// the console closes, but not written.
type history struct {
	path    string                   // "" for none
	stored  func(text string) string // what the file gets of an entry; nil: all of it
	entries []string
}

// openHistory reads the file at path, makes it private, and trims it if it has
// grown. The history can be used even if there is an error.
func openHistory(path string) (*history, error) {
	h := &history{path: path}
	if path == "" {
		return h, nil
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("reading the history: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			h.entries = append(h.entries, ofHistory.Replace(line))
		}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return h, fmt.Errorf("making the history private: %w", err)
	}
	torn := len(data) > 0 && !bytes.HasSuffix(data, []byte("\n"))
	if torn || len(data) > historyBytes || len(h.entries) > 2*historyEntries {
		return h, h.trim()
	}
	return h, nil
}

// trim writes the newest entries anew.
func (h *history) trim() error {
	first, size := len(h.entries), 0
	for first > max(0, len(h.entries)-historyEntries) && size+len(h.entries[first-1]) < historyBytes/2 {
		first--
		size += len(h.entries[first])
	}
	h.entries = h.entries[first:]
	var b strings.Builder
	for _, e := range h.entries {
		b.WriteString(toHistory.Replace(e) + "\n")
	}
	next := h.path + ".new"
	if err := os.WriteFile(next, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("trimming the history: %w", err)
	}
	if err := os.Rename(next, h.path); err != nil {
		return fmt.Errorf("trimming the history: %w", err)
	}
	return nil
}

// add appends an entry, in the file as it is to be stored, unless it is blank or the same as the last.
func (h *history) add(text string) error {
	n := len(h.entries)
	if strings.TrimSpace(text) == "" || n > 0 && h.entries[n-1] == text {
		return nil
	}
	h.entries = append(h.entries, text)
	if h.path == "" || len(text) > entryBytes {
		return nil
	}
	written := text
	if h.stored != nil {
		written = h.stored(text)
	}
	f, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	_, err = f.WriteString(toHistory.Replace(written) + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("writing the history: %w", err)
	}
	return nil
}

// find returns the nearest entry that contains text, looking from index i on
// in steps of step (-1 for older, 1 for newer); -1 if there is none.
func (h *history) find(text string, i, step int) int {
	for ; 0 <= i && i < len(h.entries); i += step {
		if strings.Contains(h.entries[i], text) {
			return i
		}
	}
	return -1
}
