package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"amacs/harness/home"
	"amacs/harness/journal"
)

// Secret is something in a text that looks like a key, a token or a password.
// The secret itself is not in it.
type Secret struct {
	Kind string `json:"kind"` // github-token, password, private-key, …
	ID   string `json:"id"`   // the same for the same secret, as `amacs scan` shows it
	Line int    `json:"line"` // of the text, from 1
}

func (s Secret) String() string { return fmt.Sprintf("%s (#%s)", s.Article(), s.ID) }

// Article is the kind with its article: "a github-token", "an api-key".
func (s Secret) Article() string {
	if strings.ContainsAny(s.Kind[:1], "aeio") {
		return "an " + s.Kind
	}
	return "a " + s.Kind
}

// Clean is a text of the world without its secrets, but for those that the human
// keeps: what a model is shown and what is written down goes through it.
func (h *Harness) Clean(text string) string { return h.home.Clean(text) }

// Clean is Harness.Clean, as the mind's own texts are written.
func (m *Mind) Clean(text string) string { return m.draft.Clean(text) }

// Secrets lists those of a text, each once, but for those that are kept.
func (h *Harness) Secrets(text string) []Secret {
	return secrets(text, h.home.Secrets(text))
}

func secrets(text string, found []home.Secret) (out []Secret) {
	for _, f := range found {
		if !slices.ContainsFunc(out, func(s Secret) bool { return s.ID == f.Sum }) {
			out = append(out, Secret{f.Kind, f.Sum, 1 + strings.Count(text[:f.Start], "\n")})
		}
	}
	return out
}

// Keep stores and shows secrets as they are from now on.
func (h *Harness) Keep(ctx context.Context, list ...Secret) error {
	kept := make([]home.Kept, len(list))
	for i, s := range list {
		kept[i] = home.Kept{ID: s.ID, Kind: s.Kind, At: h.now().UTC()}
	}
	return h.home.Keep(ctx, kept...)
}

// cleanAnswer is an answer as it is written down. What is found in one of its
// texts is taken out of all.
func (h *Harness) cleanAnswer(a Answer) Answer {
	if a.Note != nil {
		n := *a.Note
		a.Note = &n
	}
	for range 2 {
		for _, text := range []*string{&a.Text, &a.Mood, &a.Monologue, &a.Eval, &a.Raw, &a.Partial} {
			*text = h.Clean(*text)
		}
		if n := a.Note; n != nil {
			n.Heading, n.Thread, n.Content = h.Clean(n.Heading), h.Clean(n.Thread), h.Clean(n.Content)
		}
	}
	if a.Err != nil {
		if text := a.Err.Error(); h.Clean(text) != text {
			a.Err = errors.New(h.Clean(text))
		}
	}
	return a
}

// cleanOutcome is the outcome of an eval as it is written down.
func (h *Harness) cleanOutcome(o Outcome) Outcome {
	for _, text := range []*string{&o.Eval.Form, &o.Eval.Result, &o.Eval.Error} {
		*text = h.Clean(*text)
	}
	return o
}

// veiled is the view without the secrets that a hand wrote into the home, or that
// came there before secrets were taken out.
func (v View) veiled(clean func(string) string) View {
	v.System = clean(v.System)
	v.Sections = slices.Clone(v.Sections)
	for i, s := range v.Sections {
		var text strings.Builder
		var cuts []int
		from := 0
		for _, to := range s.cuts {
			text.WriteString(clean(s.Text[from:to]))
			cuts, from = append(cuts, text.Len()), to
		}
		text.WriteString(clean(s.Text[from:]))
		v.Sections[i].Text, v.Sections[i].cuts = text.String(), cuts
	}
	return v
}

// Held is a file of the home that is not committed, for it holds secrets that
// the last commit has not.
type Held struct {
	Path    string   `json:"path"`
	Secrets []Secret `json:"secrets"`
}

// String is "scratchpad.org line 12 holds what looks like a github-token (#9f…)".
func (f Held) String() string {
	s := f.Secrets[0]
	where := fmt.Sprintf("%s line %d holds", f.Path, s.Line)
	if s.Line == 0 {
		where = "the name of a new file holds"
	}
	more := ""
	if n := len(f.Secrets) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("%s what looks like %s%s", where, s, more)
}

// Do says how to mend it.
func (f Held) Do() string {
	ids := make([]string, len(f.Secrets))
	for i, s := range f.Secrets {
		ids[i] = s.ID
	}
	return "take it out, or `amacs keep " + strings.Join(ids, " ") + "`"
}

// Held lists the files that a hand put secrets into, and that are therefore not
// committed.
func (h *Harness) Held(ctx context.Context) ([]Held, error) {
	changes, err := h.journal.Changes(ctx)
	if err != nil {
		return nil, err
	}
	var held []Held
	for _, c := range changes {
		_, found, err := h.inspect(ctx, c)
		if err != nil {
			return nil, err
		}
		if len(found.Secrets) > 0 {
			held = append(held, found)
		}
	}
	return held, nil
}

// inspect reads a file that was edited by hand and looks for secrets that the
// last commit has not. There is no text for what is no file.
func (h *Harness) inspect(ctx context.Context, c journal.Change) (text []byte, held Held, err error) {
	held.Path = h.Clean(c.Path)
	if c.Kind == journal.Deleted {
		return nil, held, nil
	}
	if c.Kind == journal.Added {
		for _, s := range h.Secrets(c.Path) {
			held.Secrets = append(held.Secrets, Secret{Kind: s.Kind, ID: s.ID})
		}
	}
	now, err := h.home.Read(c.Path)
	if err != nil && (c.Link != "" || errors.Is(err, fs.ErrNotExist)) {
		return nil, held, nil
	}
	if err != nil {
		return nil, held, err
	}
	was, err := h.committed(ctx, c.Path)
	if err != nil {
		return nil, held, err
	}
	held.Secrets = append(held.Secrets, secrets(string(now), h.home.NewSecrets(c.Path, was, now))...)
	if c.Link != "" {
		return nil, held, nil
	}
	return now, held, nil
}

// committed is a file of the last commit, nil if it is not there.
func (h *Harness) committed(ctx context.Context, path string) ([]byte, error) {
	was, err := h.journal.File(ctx, "HEAD", path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return was, err
}

// hold remembers which files are held, and gives a sentence for each of which
// the human was not told yet.
func (h *Harness) hold(tx *home.Tx, held map[string]Held) (notices []string, err error) {
	h.holding.Store(&held)
	ids := map[string][]string{}
	for path, f := range held {
		for _, s := range f.Secrets {
			ids[path] = append(ids[path], s.ID)
		}
	}
	news, err := tx.Held(ids)
	for _, path := range news {
		if f, ok := held[path]; ok {
			notices = append(notices, fmt.Sprintf("%s: it is not committed; %s", f, f.Do()))
		}
	}
	return notices, err
}

// record commits. A file that is held is committed without its secrets, whatever
// the disk has; it shows as changed until it is mended.
func (h *Harness) record(ctx context.Context, c journal.Commit) (string, error) {
	held := h.holding.Load()
	if held == nil || len(*held) == 0 {
		return h.journal.Commit(ctx, c)
	}
	c.Contents = maps.Clone(c.Contents)
	for _, path := range c.Paths {
		if _, ok := (*held)[path]; !ok {
			continue
		}
		now, ok := c.Contents[path]
		if !ok {
			var err error
			if now, err = h.home.Read(path); errors.Is(err, fs.ErrNotExist) {
				continue
			} else if err != nil {
				return "", err
			}
		}
		was, err := h.committed(ctx, path)
		if err != nil {
			return "", err
		}
		if c.Contents == nil {
			c.Contents = map[string][]byte{}
		}
		c.Contents[path] = h.home.CleanFile(path, was, now)
	}
	return h.journal.Commit(ctx, c)
}

// cleanContents is what an interrupted run meant to commit, without secrets that
// a hand had put into the files.
func (h *Harness) cleanContents(ctx context.Context, files map[string][]byte) error {
	for path, now := range files {
		was, err := h.committed(ctx, path)
		if err != nil {
			return err
		}
		if clean := h.home.CleanFile(path, was, now); !bytes.Equal(clean, now) {
			files[path] = clean
		}
	}
	return nil
}
