package harness

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/harness/journal"
)

// lay makes the files of a draft what they were. The paths of dirty hold what
// could not be committed; they stay.
func (h *Harness) lay(ctx context.Context, d *home.Draft, l leap, dirty []journal.Change) (m Moved, err error) {
	m = Moved{Ticks: l.ticks, Edits: l.edits}
	changes, err := h.journal.Between(ctx, l.from, l.tree)
	if err != nil {
		return m, err
	}
	now, err := h.journal.Snapshot(ctx, l.from)
	if err != nil {
		return m, err
	}
	then, err := h.journal.Snapshot(ctx, l.tree)
	if err != nil {
		return m, err
	}
	was := home.NewDraft(then)
	kinds := map[string]journal.ChangeKind{}
	for _, c := range changes {
		if stays(c.Path) {
			continue
		}
		kinds[c.Path] = c.Kind
		why := h.obstacle(c, now, then, dirty)
		if why == "" {
			why = bring(d, was, c.Path)
		}
		if why != "" {
			m.Left = append(m.Left, c.Path+" "+why)
		}
	}
	for _, p := range d.Changed() {
		m.Files = append(m.Files, journal.Change{Path: p, Kind: kinds[p]})
	}
	if l.redo == "" {
		m.Deeds, err = h.notUndone(l.ticks)
	}
	return m, err
}

// obstacle says why a file can not become what it was, "" if it can.
func (h *Harness) obstacle(c journal.Change, now, then *journal.Snapshot, dirty []journal.Change) string {
	for _, s := range []*journal.Snapshot{now, then} {
		if info, err := s.Stat(c.Path); err == nil && info.Mode()&(fs.ModeSymlink|fs.ModeIrregular) != 0 {
			return "stays: it is or was a link, not a file"
		}
	}
	if slices.ContainsFunc(dirty, func(d journal.Change) bool { return d.Path == c.Path }) {
		return "stays: it holds edits that are not committed"
	}
	if c.Kind == journal.Added {
		if _, err := os.Lstat(h.home.Path(c.Path)); err == nil {
			return "stays: something that git does not know is in its place"
		}
	}
	for dir := path.Dir(c.Path); dir != "."; dir = path.Dir(dir) {
		if info, err := os.Lstat(h.home.Path(dir)); err == nil && !info.IsDir() {
			return "stays: " + dir + " is no folder now"
		}
	}
	if info, err := then.Stat(c.Path); err == nil && info.Mode()&0o100 != 0 {
		if info, err := os.Stat(h.home.Path(c.Path)); err != nil || info.Mode()&0o100 == 0 {
			return "stays: it was a program then, which only git brings back: git checkout " + then.Hash[:10] + " -- " + c.Path
		}
	}
	return ""
}

// bring gives a file of d the text that it has in was, and says why it could not.
func bring(d, was *home.Draft, file string) (why string) {
	var damaged *home.Damaged
	text, err := was.Bytes(file)
	if errors.As(err, &damaged) {
		return "stays: as it was then it can not be read: " + damaged.Err.Error()
	}
	if err == nil && file == home.Consciousness {
		if text == nil {
			return "stays: no mind can be without it"
		}
		var s consciousness.State
		if s, _, err = d.State(); err == nil {
			text, err = consciousness.WithTick(text, s.Tick)
		}
	}
	if err == nil {
		err = d.Put(file, text)
	}
	if errors.As(err, &damaged) {
		err = damaged.Err
	}
	if err != nil {
		return "stays: " + err.Error()
	}
	return ""
}

// clearFolders removes folders that files were taken out of, if they are empty.
func (h *Harness) clearFolders(changes []journal.Change) {
	for _, c := range changes {
		for dir := path.Dir(c.Path); c.Kind == journal.Deleted && dir != "."; dir = path.Dir(dir) {
			if os.Remove(h.home.Path(dir)) != nil { // it holds something
				break
			}
		}
	}
}

// notUndone lists what ticks did outside the home: edits of a file once a tick,
// and none of those from which on the file is again as it was before.
func (h *Harness) notUndone(ticks []int) (out []home.Deed, err error) {
	all, err := h.home.Deeds()
	if err != nil {
		return nil, err
	}
	type edit struct {
		tick int
		path string
	}
	seen := map[edit]bool{}
	undone := map[string]bool{}
	for _, d := range all {
		if !slices.Contains(ticks, d.Tick) || d.What == "revert" {
			continue
		}
		if e := (edit{d.Tick, d.Path}); d.Path != "" {
			b, err := read(d.Path)
			if err == nil && !d.New && home.Sum(b) == d.Before || d.New && errors.Is(err, fs.ErrNotExist) {
				undone[d.Path] = true
			}
			if undone[d.Path] || seen[e] {
				continue
			}
			seen[e] = true
		}
		out = append(out, d)
	}
	return out, nil
}
