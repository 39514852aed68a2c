package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sort"
	"strings"

	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/harness/journal"
)

// settle brings the home to a state in which every byte is accounted for: it
// ends what an interrupted writer began, and commits hand edits under the
// human's name. leased says that the caller holds the tick lease, so that a tick
// found half done is a dead one. The notices say what was done.
func (h *Harness) settle(ctx context.Context, tx *home.Tx, leased bool) (notices []string, err error) {
	h.step("settle")
	// While a prompt is open the human may begin a rebase, or leave the branch.
	repo, err := journal.Open(ctx, h.home.Root())
	if err != nil {
		return nil, err
	}
	if head, err := repo.Head(ctx); err == nil && head == "" { // a first start was cut short
		if err := commitInit(ctx, repo, h.home, nil); err != nil {
			return nil, err
		}
	}
	notices, err = h.journal.Settle(ctx)
	if err != nil {
		return nil, err
	}
	forgot, err := h.purgeAfterCrash(ctx, tx)
	notices = append(notices, forgot...)
	if err != nil {
		return notices, err
	}
	// Transactions first: one of them may hold the answer to the lines.
	found := tx.Intents()
	for _, in := range found {
		if in.Commit == nil {
			continue
		}
		what, err := h.finish(ctx, tx, in)
		notices = append(notices, what...)
		if err != nil {
			return notices, err
		}
	}
	thinking := false
	for _, in := range found {
		if in.Commit != nil {
			continue
		}
		if !leased {
			thinking = true
			continue
		}
		what, err := h.revive(ctx, tx, in)
		notices = append(notices, what...)
		if err != nil {
			return notices, err
		}
	}
	var but []string
	if thinking {
		but = append(but, home.Chat)
	}
	what, err := h.handEdits(ctx, tx, but...)
	return append(notices, what...), err
}

// finish ends a transaction whose writer was interrupted after it had written
// down what it meant.
func (h *Harness) finish(ctx context.Context, tx *home.Tx, in home.Intent) (notices []string, err error) {
	var c journal.Commit
	if err := json.Unmarshal(in.Commit, &c); err != nil {
		return nil, fmt.Errorf("reading the intent log: %w", err)
	}
	aside, err := tx.Finish(in)
	if err != nil {
		return nil, err
	}
	// What was meant is committed also where a hand has edited since: that edit
	// stays on disk and follows in a commit of its own.
	c.Contents = map[string][]byte{}
	for _, f := range in.Files {
		if f.After != "" {
			c.Contents[f.Path] = f.Content
		}
	}
	if err := h.cleanContents(ctx, c.Contents); err != nil {
		return nil, err
	}
	made, err := h.made(ctx, c)
	if err != nil {
		return nil, err
	}
	hash := ""
	if !made {
		hash, err = h.journal.Commit(ctx, c)
	}
	if err != nil {
		return notices, fmt.Errorf("committing what an interrupted run left: %w", err)
	}
	if hash != "" {
		notices = append(notices, "finished an interrupted write: "+c.Subject)
		for _, path := range slices.Sorted(maps.Keys(aside)) {
			notices = append(notices, fmt.Sprintf("%s was edited by hand after an interrupted write; your version stays, what was meant is in %s", path, aside[path]))
		}
	}
	tx.Reread()
	return notices, tx.Done(in.ID)
}

// made reports whether a commit is in the history already: its maker was
// interrupted after it, and others may have come since.
func (h *Harness) made(ctx context.Context, c journal.Commit) (bool, error) {
	const recent = 100
	for e, err := range h.journal.Log(ctx, journal.Query{Max: recent}) {
		if err != nil {
			return false, err
		}
		same := e.Subject == c.Subject && e.When.Unix() == c.When.Unix()
		for _, t := range c.Trailers { // two undos of one second differ in these alone
			same = same && (!strings.HasPrefix(t.Key, "Undo-") || e.Trailers[t.Key] == t.Value)
		}
		if same {
			return true, nil
		}
	}
	return false, nil
}

// revive keeps the human's lines of a tick that died before it could end.
func (h *Harness) revive(ctx context.Context, tx *home.Tx, in home.Intent) (notices []string, err error) {
	entered, err := enter(tx.Draft, in.Lines)
	if errors.As(err, new(*home.Damaged)) {
		return nil, nil // named where it is read; the intent waits until it is mended
	}
	if err != nil {
		return nil, err
	}
	if err := tx.Write(); err != nil {
		return nil, err
	}
	if err := tx.Drop(entered); err != nil {
		return nil, err
	}
	chat, err := h.heard(ctx, in.Lines)
	if err != nil {
		return nil, err
	}
	hash, err := h.commitHeard(ctx, in.Tick, chat)
	if err != nil {
		return nil, err
	}
	if hash != "" {
		notices = append(notices, fmt.Sprintf("tick %d was interrupted before it could end; what you said is kept and waits for an answer", in.Tick))
	}
	tx.Reread()
	if err := tx.Count(in.Tick); err != nil {
		return notices, err
	}
	return notices, tx.Done(in.ID)
}

// enter says the lines that the chat does not hold yet. It returns those that it
// holds then: one whose number was overtaken is not among them.
func enter(d *home.Draft, lines []home.Line) (entered []home.Line, err error) {
	src, err := d.Bytes(home.Chat)
	if err != nil {
		return nil, err
	}
	there := map[int]bool{}
	for _, e := range home.Exchanges(src) {
		there[e.Tick] = true
	}
	last := home.LastExchange(src)
	for _, l := range lines {
		if !there[l.Tick] {
			if l.Tick <= last {
				continue
			}
			if err := d.Say(l); err != nil {
				return nil, err
			}
		}
		entered = append(entered, l)
	}
	return entered, nil
}

// heard is the chat of the last commit with lines in it: what amacs wrote there,
// whatever a hand has done to the file since.
func (h *Harness) heard(ctx context.Context, lines []home.Line) ([]byte, error) {
	was, err := h.journal.File(ctx, "HEAD", home.Chat)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	d := h.home.Draft()
	if err := d.Put(home.Chat, was); err != nil {
		return nil, err
	}
	if _, err := enter(d, lines); err != nil {
		return nil, err
	}
	return d.Bytes(home.Chat)
}

// commitHeard commits the chat with the human's lines of a tick that could not
// end undisturbed. A hand edit of it is not in that commit.
func (h *Harness) commitHeard(ctx context.Context, tick int, chat []byte) (hash string, err error) {
	hash, err = h.record(ctx, journal.Commit{
		Subject: journal.Subject("RECOVERED", fmt.Sprintf("Kept what the human said in tick %d", tick)),
		When:    h.now(), Paths: []string{home.Chat}, Contents: map[string][]byte{home.Chat: chat},
	})
	if err != nil {
		return "", fmt.Errorf("committing what you said: %w", err)
	}
	return hash, nil
}

// handEdits commits what was changed in the home by hand, but for some files:
// while a tick thinks, the chat holds its pending line, which is the tick's to
// commit. A file that holds a new secret is named and left as it is.
func (h *Harness) handEdits(ctx context.Context, tx *home.Tx, but ...string) (notices []string, err error) {
	changes, err := h.journal.Changes(ctx)
	if err != nil {
		return nil, err
	}
	var paths []string
	held, contents := map[string]Held{}, map[string][]byte{}
	for _, c := range changes {
		text, spilt, err := h.inspect(ctx, c)
		if err != nil {
			return nil, err
		}
		if len(spilt.Secrets) > 0 {
			held[c.Path] = spilt
			continue
		}
		if slices.Contains(but, c.Path) {
			continue
		}
		paths = append(paths, c.Path)
		if text != nil {
			contents[c.Path] = text // what was looked at is what is committed
		}
		lost, err := h.lost(ctx, c.Path)
		if err != nil {
			return nil, err
		}
		notices = append(notices, lost...)
	}
	told, err := h.hold(tx, held)
	notices = append(notices, told...)
	if err != nil || len(paths) == 0 {
		return notices, err
	}
	sort.Strings(paths)
	return notices, h.commitEdits(ctx, paths, contents)
}

// commitEdits commits hand edits under the human's name.
func (h *Harness) commitEdits(ctx context.Context, paths []string, contents map[string][]byte) error {
	names := strings.Join(paths, ", ")
	if len(paths) > 6 {
		names = strings.Join(paths[:5], ", ") + fmt.Sprintf(" and %d more", len(paths)-5)
	}
	_, err := h.journal.Commit(ctx, journal.Commit{
		Subject: journal.Subject("EDIT", h.Clean(names)), Author: h.human, When: h.now(), Paths: paths, Contents: contents,
	})
	if err != nil {
		return fmt.Errorf("committing hand edits: %w", err)
	}
	h.step("edits")
	return nil
}

// lost tells of entries that a hand-saved file lacks although ticks wrote them,
// as happens when an editor saves over a file that it had not read again. It
// also tells of hand edits to fields that no hand can set.
func (h *Harness) lost(ctx context.Context, path string) ([]string, error) {
	switch path {
	case home.Chat, home.Monologue, home.Scratchpad, home.Consciousness:
	default:
		return nil, nil
	}
	was, err := h.journal.File(ctx, "HEAD", path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	now, err := h.home.Read(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if path == home.Consciousness {
		if keys := consciousness.Overruled(was, now); len(keys) > 0 {
			return []string{fmt.Sprintf("%s: %s derived, the hand edit has no effect", path, isAre(keys))}, nil
		}
		return nil, nil
	}
	names := home.Lost(path, was, now)
	if len(names) == 0 {
		return nil, nil
	}
	return []string{fmt.Sprintf("%s was saved without %s; if that was not meant, `amacs restore %s` puts it back",
		path, strings.Join(names, ", "), path)}, nil
}

func isAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// Restore puts entries back that the latest hand edit of a file took out. It
// returns their names.
func (h *Harness) Restore(ctx context.Context, path string) (names []string, err error) {
	err = h.home.Update(ctx, func(tx *home.Tx) error {
		if _, err := h.settle(ctx, tx, false); err != nil {
			return err
		}
		for e, err := range h.journal.Log(ctx, journal.Query{Kind: "EDIT", Path: path, Max: 1}) {
			if err != nil {
				return err
			}
			old, err := h.journal.File(ctx, e.Hash+"^", path)
			if err != nil {
				return fmt.Errorf("reading %s as it was: %w", path, err)
			}
			if names, err = tx.Restore(path, old); err != nil {
				return err
			}
		}
		if len(names) == 0 {
			return nil
		}
		return h.save(ctx, tx, 0, journal.Commit{
			Subject: journal.Subject("UNDO", "Put back into "+path+": "+strings.Join(names, ", ")), When: h.now(),
		})
	})
	return names, err
}
