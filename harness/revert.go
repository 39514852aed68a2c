package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"amacs/harness/files"
	"amacs/harness/home"
)

// Reverted is what became of one file that a tick had edited.
type Reverted struct {
	Path string
	Done bool   // it is as it was before the tick
	Say  string // what was done, or why not
	Diff string // what putting it back would change, where a hand changed it since
}

// Revert makes files outside the home what they were before a tick edited them:
// those of paths, or all of them. Without force only files that are still as the
// agent left them. It gives home.ErrBusy while a tick runs.
func (h *Harness) Revert(ctx context.Context, tick int, paths []string, force bool) ([]Reverted, error) {
	release, err := h.home.TryLease()
	if err != nil {
		return nil, fmt.Errorf("a tick is running, try again when it has ended: %w", err)
	}
	defer release()
	all, err := h.home.Deeds()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(d home.Deed) bool { return d.What != "edit" && d.What != "write" })
	var edited []string
	for _, d := range all {
		if d.Tick == tick && !slices.Contains(edited, d.Path) {
			edited = append(edited, d.Path)
		}
	}
	if len(edited) == 0 {
		return nil, fmt.Errorf("tick %d edited no files outside of the home", tick)
	}
	if len(paths) == 0 {
		paths = edited
	}
	for _, p := range paths {
		if !slices.Contains(edited, p) {
			return nil, fmt.Errorf("tick %d did not edit %s; it edited %s", tick, p, strings.Join(edited, ", "))
		}
	}
	var out []Reverted
	for _, p := range paths {
		of := slices.DeleteFunc(slices.Clone(all), func(d home.Deed) bool { return d.Path != p })
		r, err := h.revert(ctx, tick, of, force)
		if err != nil {
			return out, fmt.Errorf("putting back %s: %w", p, err)
		}
		out = append(out, r)
	}
	return out, nil
}

// revert puts one file back. edits are those of it, oldest first.
func (h *Harness) revert(ctx context.Context, tick int, edits []home.Deed, force bool) (r Reverted, err error) {
	first := slices.IndexFunc(edits, func(d home.Deed) bool { return d.Tick == tick })
	was := edits[first]
	r.Path = was.Path
	c := files.Change{Path: was.Path, Gone: was.New}
	c.Before, err = read(was.Path)
	if c.New = errors.Is(err, fs.ErrNotExist); err != nil && !c.New {
		return r, err
	}
	sum := ""
	if !c.New {
		sum = home.Sum(c.Before)
	}
	if c.New && c.Gone || !c.New && sum == was.Before {
		r.Done, r.Say = true, fmt.Sprintf("it is as it was before tick %d", tick)
		return r, nil
	}
	if !c.Gone {
		if c.After, err = h.home.Preimage(was.Before); errors.Is(err, fs.ErrNotExist) {
			r.Say = "what was there before is not kept any more, or was larger than 4 MB"
			return r, nil
		} else if err != nil {
			return r, err
		}
	}
	left := slices.ContainsFunc(edits, func(d home.Deed) bool { return d.Tick == tick && d.After == sum }) // as the agent did
	if !left {
		r.Say = "it was changed since"
		for _, d := range edits {
			if d.Tick > tick && d.After == sum {
				r.Say = fmt.Sprintf("tick %d edited it since; `amacs revert %d` comes first", d.Tick, d.Tick)
			}
		}
		if !force {
			r.Diff = c.Diff()
			return r, nil
		}
	}
	after := ""
	if !c.Gone {
		after = home.Sum(c.After)
	}
	// What is overwritten is kept too.
	d := home.Deed{Tick: tick, At: h.now(), What: "revert", Path: c.Path, New: c.New, After: after}
	if err := h.home.Record(ctx, d, c.Before); err != nil {
		return r, err
	}
	if err := c.Apply(); err != nil {
		return r, err
	}
	r.Done, r.Say = true, "put back"
	if c.Gone {
		r.Say = "removed, the agent had made it"
	}
	return r, nil
}

// read reads a regular file.
func read(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file any more")
	}
	return os.ReadFile(path)
}
