package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"amacs/harness/home"
	"amacs/harness/journal"
	"amacs/harness/redact"
)

// Forget says what a purge takes out of the home and its whole history.
type Forget struct {
	Secrets []string // by the ids, or their beginnings, that `amacs scan` shows
	All     bool     // every secret that is not kept
	Texts   []string // exact
	Paths   []string // files and folders of the home, at every commit
}

// Cost is what a purge takes out, and what it changes.
type Cost struct {
	Kinds     map[string]int `json:"kinds"`           // what is taken out: "text", "path", a secret's kind
	Texts     int            `json:"texts"`           // versions in the history
	With      int            `json:"commits_with"`    // commits that hold it
	Changed   int            `json:"commits_changed"` // commits that get another hash
	Commits   int            `json:"commits"`         // in all
	First     string         `json:"first,omitempty"` // the oldest that changes
	Signed    int            `json:"signed"`          // signatures that go
	Files     []string       `json:"files"`           // of the home, that are written
	Elsewhere []string       `json:"elsewhere"`       // of the workspace, that are left alone
	Remotes   []string       `json:"remotes"`         // that may have a copy
}

func (c Cost) nothing() bool { return c.Texts == 0 && len(c.Files) == 0 }

// What names what is taken out: "1 github-token, 2 texts".
func (c Cost) What() string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(c.Kinds)) {
		n, s := c.Kinds[kind], ""
		if n != 1 {
			s = "s"
		}
		parts = append(parts, fmt.Sprintf("%d %s%s", n, kind, s))
	}
	return strings.Join(parts, ", ")
}

// Asking is how a purge speaks with the human.
type Asking struct {
	Cost     func(Cost) (yes bool, err error) // before anything is changed
	Progress func(what string, done, all int)
}

var (
	// ErrThinking says that a purge has to wait for a tick.
	ErrThinking = errors.New("a tick is at work on this home; purge when it has ended")
	// ErrNowhere says that what is to be forgotten is found nowhere.
	ErrNowhere = errors.New("it is found nowhere in the home or its history; nothing was changed")
	// ErrUnconfirmed says that a purge is not ended.
	ErrUnconfirmed = errors.New("a purge is not confirmed: the old history is still there. `amacs purge --confirm` drops it for good, `amacs purge --back` brings it back")
	// ErrNoPurge says that there is no purge to confirm or take back.
	ErrNoPurge = errors.New("no purge waits to be confirmed")
)

// purge is a purge under way: .amacs/state/purge.json. It holds what is to be
// forgotten, as the old history does, and goes with it.
type purge struct {
	State   purgeState         `json:"state"`
	What    string             `json:"what"`
	Words   []word             `json:"words"`
	History *journal.Rewriting `json:"history"`
	Files   map[string]was     `json:"files"` // as they were
}

// was is a file before a purge; nil Text: there was none.
type was struct {
	Text []byte      `json:"text"`
	Mode fs.FileMode `json:"mode"`
}

// purgeState says what the next start, or command, is to do.
type purgeState string

const (
	purgeMoving   purgeState = "moving"   // to the new history: go on
	purgeDone     purgeState = "purged"   // wait for the human
	purgeBacking  purgeState = "backing"  // to the old history: go on
	purgeDropping purgeState = "dropping" // the old history may be gone in part: confirm again
)

const purgeFile = "purge.json"

// Purge makes the home and its history anew without what is to be forgotten. The
// old history stays until ConfirmPurge. Errors may be ErrThinking, ErrNowhere,
// ErrUnconfirmed, or wrap journal.ErrFrame, journal.ErrBusy or *journal.Refusal.
func (h *Harness) Purge(ctx context.Context, f Forget, ask Asking) error {
	release, err := h.purgeLease()
	if err != nil {
		return err
	}
	defer release()
	if err := h.settled(ctx); err != nil {
		return err
	}
	if p, err := h.readPurge(); err != nil {
		return err
	} else if p != nil {
		return ErrUnconfirmed
	}
	words, kinds, err := h.words(ctx, f, ask.Progress)
	if err != nil {
		return err
	}
	paths, err := h.purgePaths(f.Paths)
	if err != nil {
		return err
	}
	if len(paths) > 0 {
		kinds["path"] = len(paths)
	}
	agreed := false
	for try := 1; ; try++ {
		err := h.purgeOnce(ctx, words, paths, kinds, ask, &agreed)
		if try == 3 || !errors.Is(err, journal.ErrMoved) {
			return err
		}
	}
}

// purgeOnce rewrites, asks, and moves to the new history if the old one is still
// what was rewritten.
func (h *Harness) purgeOnce(ctx context.Context, words []word, paths []string, kinds map[string]int, ask Asking, agreed *bool) error {
	clean := newEraser(words)
	cost := Cost{Kinds: kinds}
	history, err := h.journal.Rewrite(ctx, journal.Forget{
		Text: clean.text, Paths: paths,
		Progress: func(done, all int) { ask.Progress("reading commits", done, all) },
		Last: func(r *journal.Rewriting) journal.Commit {
			return journal.Commit{
				Subject: journal.Subject("PURGE", "Forgot "+cost.What()), When: h.now(),
				Trailers: []journal.Trailer{{Key: "Purge-Versions", Value: strconv.Itoa(r.Texts)}, {Key: "Purge-Commits", Value: strconv.Itoa(r.With)}},
			}
		},
	})
	if err != nil {
		return err
	}
	defer history.Discard()
	files, err := h.standing(clean, paths)
	if err != nil {
		return err
	}
	if cost, err = h.purgeCost(history, clean, files, kinds); err != nil {
		return err
	}
	if cost.nothing() {
		return ErrNowhere
	}
	if err := h.bearable(clean, files); err != nil {
		return err
	}
	if !*agreed {
		if *agreed, err = ask.Cost(cost); err != nil || !*agreed {
			return err
		}
	}
	// From here on it is the home's: a Ctrl-C must not stop it half-way.
	ctx = context.WithoutCancel(ctx)
	return h.home.Update(ctx, func(tx *home.Tx) error {
		if _, err := h.settle(ctx, tx, true); err != nil {
			return err
		}
		if files, err = h.standing(clean, paths); err != nil {
			return err
		}
		p := &purge{State: purgeMoving, What: cost.What(), Words: words, History: history, Files: files}
		h.step("forget")
		if err := history.Store(); err != nil {
			return err
		}
		h.step("stored")
		if err := h.writePurge(p); err != nil {
			return err
		}
		h.step("planned")
		if err := h.goOn(ctx, p); err != nil {
			return err
		}
		tx.Reread()
		return tx.Count(0)
	})
}

func (h *Harness) purgeLease() (func(), error) {
	release, err := h.home.TryLease()
	if errors.Is(err, home.ErrBusy) {
		return nil, fmt.Errorf("%w: %w", ErrThinking, err)
	}
	return release, err
}

// settled settles the home in a transaction of its own.
func (h *Harness) settled(ctx context.Context) error {
	return h.home.Update(ctx, func(tx *home.Tx) error {
		_, err := h.settle(ctx, tx, true)
		return err
	})
}

// goOn moves to the new history. What is done stays done, so that it serves also
// after a crash. Where nothing was moved and nothing can be, the purge is taken
// back and the error wraps journal.ErrMoved.
func (h *Harness) goOn(ctx context.Context, p *purge) error {
	err := h.journal.Switch(ctx, p.History, false)
	if errors.Is(err, journal.ErrMoved) {
		return errors.Join(err, h.endPurge())
	}
	if err != nil {
		return err
	}
	h.step("moved")
	if err := h.erase(newEraser(p.Words), p.History.Paths); err != nil {
		return err
	}
	h.step("erased")
	p.State = purgeDone
	return h.writePurge(p)
}

// goBack moves to the old history, and the files back to what they were.
func (h *Harness) goBack(ctx context.Context, p *purge) error {
	if err := h.journal.Switch(ctx, p.History, true); err != nil {
		return err
	}
	h.step("movedback")
	clean := newEraser(p.Words)
	for _, path := range slices.Sorted(maps.Keys(p.Files)) {
		to := clean.name(path)
		if to != path {
			if err := os.Remove(h.home.Path(to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("bringing %s back: %w", path, err)
			}
		}
		if err := h.put(path, p.Files[path]); err != nil {
			return err
		}
	}
	return h.endPurge()
}

// purgeAfterCrash goes on with a purge that was interrupted. The write lock is
// standing.
func (h *Harness) purgeAfterCrash(ctx context.Context, tx *home.Tx) (notices []string, err error) {
	p, err := h.readPurge()
	if err != nil || p == nil {
		return nil, err
	}
	switch p.State {
	case purgeMoving:
		err = h.goOn(ctx, p)
		if errors.Is(err, journal.ErrMoved) {
			notices, err = []string{"a purge was interrupted before it had changed anything; purge again"}, nil
		} else {
			notices = []string{"finished an interrupted purge; " + ErrUnconfirmed.Error()}
		}
	case purgeBacking:
		err = h.goBack(ctx, p)
		notices = []string{"finished taking back an interrupted purge: the old history is there again"}
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("going on with an interrupted purge: %w", err)
	}
	tx.Reread()
	return notices, nil
}

// Unconfirmed says in a sentence that a purge is not ended; "" if none is under
// way.
func (h *Harness) Unconfirmed() (string, error) {
	p, err := h.readPurge()
	switch {
	case err != nil || p == nil:
		return "", err
	case p.State == purgeDropping:
		return "a purge is confirmed but not ended: `amacs purge --confirm` ends it", nil
	}
	return ErrUnconfirmed.Error(), nil
}

// BackFromPurge brings the old history and the files back, as long as nothing was
// committed since: else the error wraps journal.ErrMoved.
func (h *Harness) BackFromPurge(ctx context.Context) error {
	release, err := h.purgeLease()
	if err != nil {
		return err
	}
	defer release()
	ctx = context.WithoutCancel(ctx)
	return h.home.Update(ctx, func(tx *home.Tx) error {
		if _, err := h.settle(ctx, tx, true); err != nil {
			return err
		}
		p, err := h.readPurge()
		switch {
		case err != nil:
			return err
		case p == nil:
			return ErrNoPurge
		case p.State == purgeDropping:
			return errors.New("the old history is dropped in part already: `amacs purge --confirm` ends it")
		}
		if err := h.journal.At(p.History); err != nil {
			return fmt.Errorf("%w: going back would lose what came after the purge. `git log %s` shows the old history", err, p.History.Backup())
		}
		p.State = purgeBacking
		if err := h.writePurge(p); err != nil {
			return err
		}
		h.step("backing")
		if err := h.goBack(ctx, p); err != nil {
			return err
		}
		tx.Reread()
		return tx.Count(0)
	})
}

// Proof is what was read after a purge was confirmed.
type Proof struct {
	What      string   `json:"what"`
	Objects   int      `json:"objects"`   // of git, all that are left
	Found     []string `json:"found"`     // where it still stands
	Elsewhere []string `json:"elsewhere"` // in the workspace, which no purge touches
}

// ConfirmPurge drops the old history for good and reads everything that is left.
// Where something is found the purge stays unconfirmed.
func (h *Harness) ConfirmPurge(ctx context.Context) (proof Proof, err error) {
	release, err := h.purgeLease()
	if err != nil {
		return proof, err
	}
	defer release()
	err = h.home.Update(ctx, func(tx *home.Tx) error {
		if _, err := h.settle(ctx, tx, true); err != nil {
			return err
		}
		p, err := h.readPurge()
		switch {
		case err != nil:
			return err
		case p == nil:
			return ErrNoPurge
		}
		p.State, p.Files = purgeDropping, nil
		if err := h.writePurge(p); err != nil {
			return err
		}
		h.step("dropping")
		if err := h.journal.Drop(ctx, p.History); err != nil {
			return err
		}
		h.step("dropped")
		clean := newEraser(p.Words)
		if proof.Objects, proof.Found, err = h.journal.Left(ctx, clean.text); err != nil {
			return err
		}
		paths, err := h.journal.Holds(ctx, p.History.Paths)
		if err != nil {
			return err
		}
		files, err := h.standing(clean, nil)
		if err != nil {
			return err
		}
		if proof.Elsewhere, err = h.elsewhere(clean); err != nil {
			return err
		}
		proof.What = p.What
		proof.Found = slices.Concat(proof.Found, paths, slices.Sorted(maps.Keys(files)))
		if len(proof.Found) > 0 {
			return nil
		}
		return h.endPurge()
	})
	return proof, err
}

// words finds the texts that are to be forgotten, and how many there are of each
// kind.
func (h *Harness) words(ctx context.Context, f Forget, progress func(string, int, int)) ([]word, map[string]int, error) {
	kinds := map[string]int{}
	var words []word
	for _, text := range f.Texts {
		words = append(words, word{[]byte(text), purged})
		kinds["text"]++
	}
	if f.All || len(f.Secrets) > 0 {
		found, err := h.spilt(ctx, f, progress)
		if err != nil {
			return nil, nil, err
		}
		for _, w := range found {
			words = append(words, w)
			kinds[strings.TrimSuffix(strings.TrimPrefix(w.Mark, "[redacted:"), "]")]++
		}
	}
	for _, w := range words {
		if err := w.check(); err != nil {
			return nil, nil, err
		}
	}
	return words, kinds, h.tooCommon(newEraser(words))
}

// spilt finds the secrets of the home and its history that f names.
func (h *Harness) spilt(ctx context.Context, f Forget, progress func(string, int, int)) ([]word, error) {
	var ids []string
	for _, id := range f.Secrets {
		if id = strings.TrimPrefix(id, "#"); len(id) < wordLeast {
			return nil, fmt.Errorf("the id %q is too short: give at least %d of its characters, as `amacs scan` shows it", id, wordLeast)
		}
		ids = append(ids, id)
	}
	kept := map[string]bool{}
	list, err := h.home.Kept()
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		kept[k.ID] = true
	}
	var words []word
	have, met := map[string]bool{}, map[string]bool{}
	look := func(text []byte) {
		_, found := redact.Text(string(text), redact.Options{})
		for _, s := range found {
			named := f.All && !kept[s.Sum]
			for _, id := range ids {
				if strings.HasPrefix(s.Sum, id) {
					named, met[id] = true, true
				}
			}
			if secret := string(text[s.Start:s.End]); named && !have[secret] {
				have[secret] = true
				words = append(words, word{[]byte(secret), "[redacted:" + s.Kind + "]"})
			}
		}
	}
	changes, err := h.journal.Changes(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if text, err := h.home.Read(c.Path); err == nil {
			look(text)
		}
	}
	n := 0
	for v, err := range h.journal.Texts(ctx) {
		if err != nil {
			return nil, err
		}
		look(v.Text)
		if n++; n%100 == 0 {
			progress("looking for secrets, texts", n, 0)
		}
	}
	for _, id := range ids {
		if !met[id] {
			return nil, fmt.Errorf("no secret #%s in the home or its history; `amacs scan` lists them", id)
		}
	}
	if len(words) == 0 {
		return nil, ErrNowhere
	}
	return words, nil
}

// purgePaths gives paths as the home has them.
func (h *Harness) purgePaths(paths []string) (out []string, err error) {
	for _, p := range paths {
		rel := p
		if filepath.IsAbs(p) {
			if rel, err = filepath.Rel(h.home.Root(), p); err != nil {
				return nil, err
			}
		}
		rel = filepath.ToSlash(filepath.Clean(rel))
		first, _, _ := strings.Cut(rel, "/")
		switch {
		case !filepath.IsLocal(rel) || rel == ".":
			return nil, fmt.Errorf("%s is no file of the home", p)
		case first == ".git" || first == ".amacs" || first == home.Workspace:
			return nil, fmt.Errorf("%s is not in the history; remove it yourself", p)
		case rel == home.Consciousness:
			return nil, fmt.Errorf("%s can not be taken out: a home is none without it; --text takes out a text in it", p)
		}
		out = append(out, rel)
	}
	return out, nil
}

func (h *Harness) purgeCost(r *journal.Rewriting, clean *eraser, files map[string]was, kinds map[string]int) (Cost, error) {
	remotes, err := h.journal.Remotes()
	if err != nil {
		return Cost{}, err
	}
	elsewhere, err := h.elsewhere(clean)
	return Cost{
		Kinds: kinds, Texts: r.Texts, With: r.With, Changed: r.Changed, Commits: r.Commits, First: r.First, Signed: r.Signed,
		Files: slices.Sorted(maps.Keys(files)), Elsewhere: elsewhere, Remotes: remotes,
	}, err
}

func (h *Harness) readPurge() (*purge, error) {
	b, err := os.ReadFile(h.home.State(purgeFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var p purge
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the purge under way: %s: %w", h.home.State(purgeFile), err)
	}
	return &p, nil
}

func (h *Harness) writePurge(p *purge) error {
	b, err := json.Marshal(p)
	if err == nil {
		err = h.writeWhole(h.home.State(purgeFile), b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing down the purge: %w", err)
	}
	return nil
}

// endPurge forgets what was to be forgotten, too.
func (h *Harness) endPurge() error {
	if err := os.Remove(h.home.State(purgeFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("ending the purge: %w", err)
	}
	return nil
}
