package home

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"amacs/harness/disk"
)

// Kept is a secret that the human allows to be stored and shown as it is, a line
// of .amacs/state/kept.jsonl. The secret itself is not in it.
//
//	{"id":"9f86d081884c","kind":"github-token","at":"2026-11-21T14:30:00Z"}
type Kept struct {
	ID   string    `json:"id"` // as redact.Finding.Sum
	Kind string    `json:"kind,omitempty"`
	At   time.Time `json:"at"`
}

const (
	keptFile = stateDir + "/kept.jsonl"
	heldFile = stateDir + "/held.json"
)

// Kept lists the secrets that are kept, oldest first.
func (h *Home) Kept() (list []Kept, err error) {
	b, err := os.ReadFile(h.Path(keptFile))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, fmt.Errorf("reading what is kept: %w", err)
	}
	return parseKept(b), nil
}

// parseKept passes over what was cut short: less is kept then.
func parseKept(b []byte) (list []Kept) {
	for line := range bytes.Lines(b) {
		var k Kept
		if json.Unmarshal(line, &k) == nil && k.ID != "" {
			list = append(list, k)
		}
	}
	return list
}

// Keep keeps secrets from now on. Those that are kept already stay as they are.
func (h *Home) Keep(ctx context.Context, add ...Kept) error {
	return h.changeKept(ctx, func(have []Kept) error {
		for _, k := range add {
			if slices.ContainsFunc(have, func(x Kept) bool { return x.ID == k.ID }) {
				continue
			}
			line, err := json.Marshal(k)
			if err != nil {
				return fmt.Errorf("keeping #%s: %w", k.ID, err)
			}
			if err := h.appendState(keptFile, append(line, '\n'), disk.Sync); err != nil {
				return err
			}
			have = append(have, k)
		}
		return nil
	})
}

// changeKept hands out what is kept, under the write lock.
func (h *Home) changeKept(ctx context.Context, change func(have []Kept) error) error {
	unlock, err := h.Lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	have, err := h.Kept()
	if err != nil {
		return err
	}
	return change(have)
}

// Unkeep keeps the secrets of these ids no longer.
func (h *Home) Unkeep(ctx context.Context, ids ...string) error {
	return h.changeKept(ctx, func(have []Kept) error {
		var left []any
		for _, k := range have {
			if !slices.Contains(ids, k.ID) {
				left = append(left, k)
			}
		}
		return h.rewriteState(keptFile, left)
	})
}

// Held notes, under the write lock, which files are not committed for the
// secrets in them, by path their ids. It returns the paths with an id that was not
// known yet: the human is told of each once.
func (tx *Tx) Held(files map[string][]string) (news []string, err error) {
	b, err := os.ReadFile(tx.h.Path(heldFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading %s: %w", heldFile, err)
	}
	var known map[string][]string
	if json.Unmarshal(b, &known) != nil {
		known = nil // cut short: told once more
	}
	for path, ids := range files {
		if slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(known[path], id) }) {
			news = append(news, path)
		}
	}
	slices.Sort(news)
	if maps.EqualFunc(files, known, slices.Equal) {
		return news, nil
	}
	if len(files) == 0 {
		return nil, removed(os.Remove(tx.h.Path(heldFile)))
	}
	if b, err = json.Marshal(files); err == nil {
		err = tx.h.saveAll([]IntentFile{written(heldFile, append(b, '\n'))})
	}
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", heldFile, err)
	}
	return news, nil
}
