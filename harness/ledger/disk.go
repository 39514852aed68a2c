package ledger

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/renameio/v2"

	"amacs/harness/disk"
)

// lock takes the ledger's lock and makes its folder if need be.
func (l *Ledger) lock(ctx context.Context) (unlock func(), err error) {
	if _, err := os.Stat(l.dir); err != nil {
		if err := os.MkdirAll(l.dir, 0o700); err != nil {
			return nil, err
		}
		if err := disk.Sync(filepath.Dir(l.dir)); err != nil {
			return nil, err
		}
	}
	f := flock.New(filepath.Join(l.dir, "lock"), flock.SetPermissions(0o600))
	ok, err := f.TryLockContext(ctx, 2*time.Millisecond)
	if ok {
		return func() { f.Close() }, nil
	}
	f.Close()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the ledger was not free in time: %w", ctx.Err())
	}
	return nil, fmt.Errorf("locking the ledger: %w", err)
}

// append writes lines at the end of their months and waits for the disk, but for
// lines of which none is paid for: those may be lost with the power. The lock is
// held and the months are fresh. When it fails, the month that it failed at is as
// it was.
func (l *Ledger) append(lines ...line) error {
	free := !slices.ContainsFunc(lines, func(x line) bool { return x.USD == nil || *x.USD > 0 })
	texts := map[string][]byte{}
	for _, x := range lines {
		b, err := x.print()
		if err != nil {
			return err
		}
		name := monthOf(x.day())
		texts[name] = append(texts[name], b...)
	}
	for name, text := range texts {
		if err := l.appendTo(name, text, !free); err != nil {
			return fmt.Errorf("writing the ledger: %w", err)
		}
	}
	return nil
}

func (l *Ledger) appendTo(name string, text []byte, wait bool) (err error) {
	f, err := os.OpenFile(l.pathOf(name), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	var read int64
	if m := l.months[name]; m != nil {
		read = m.Offset
	}
	if size > read { // what is left was not ended
		rest := make([]byte, size-read)
		if _, err := f.ReadAt(rest, read); err != nil {
			return err
		}
		text = append(ending(rest), text...)
	}
	_, err = f.Write(text)
	if err == nil && size == 0 {
		err = disk.Sync(f.Name(), l.dir)
	} else if err == nil && wait {
		err = f.Sync()
	}
	if err != nil {
		return errors.Join(err, f.Truncate(size))
	}
	return nil
}

// ending completes a line that was cut short: a whole one lacks its newline
// only.
func ending(rest []byte) []byte {
	if json.Valid(rest) {
		return []byte("\n")
	}
	return append(bytes.Clone(torn), '\n')
}

// sumsFile remembers what the months come to. It is only a shortcut.
const sumsFile = "sums.json"

// sumsVersion is raised when the sums are made in another way: what an earlier
// program stored is then made anew.
const sumsVersion = 1

type sums struct {
	Version int               `json:"version"`
	Months  map[string]*month `json:"months"`
}

// load begins with the sums that were stored. Any that do not fit are made
// again.
func (l *Ledger) load() {
	l.months, l.stored = map[string]*month{}, 0
	b, err := os.ReadFile(filepath.Join(l.dir, sumsFile))
	var s sums
	if err != nil || json.Unmarshal(b, &s) != nil || s.Version != sumsVersion {
		return
	}
	for name, m := range s.Months {
		if m == nil {
			continue
		}
		whole := newMonth()
		whole.Offset, whole.Lines, whole.Print, whole.Pending, whole.Broken = m.Offset, m.Lines, m.Print, m.Pending, m.Broken
		whole.Days, whole.Carried = orEmpty(m.Days), orEmpty(m.Carried)
		whole.Open, whole.Warned = orEmpty(m.Open), orEmpty(m.Warned)
		l.months[name] = whole
		l.stored += m.Offset
	}
}

func orEmpty[K comparable, V any](m map[K]V) map[K]V {
	if m == nil {
		return map[K]V{}
	}
	return m
}

// storeAfter is Ledger.storeAfter outside of tests.
const storeAfter = 256 << 10

// store writes the sums when enough was read that they do not cover. The lock
// is held.
func (l *Ledger) store() error {
	var read int64
	for _, m := range l.months {
		read += m.Offset
	}
	if d := read - l.stored; -l.storeAfter < d && d < l.storeAfter {
		return nil
	}
	b, err := json.Marshal(sums{sumsVersion, l.months})
	if err == nil {
		err = renameio.WriteFile(filepath.Join(l.dir, sumsFile), b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", sumsFile, err)
	}
	l.stored = read
	return nil
}
