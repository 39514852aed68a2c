// Package harness is the tick: one pass of a mind from waking to a commit.
//
//	Input → Mind → View → Reply → Outcome → Report
//	   wake   see   think    act   remember, commit
//
// wake settles the home, writes down what the human said and loads the mind;
// see lays out what the model is shown; think asks the model; act evaluates the
// reply's eval; remember turns all of it into edits; commit saves them and makes
// one git commit. Only wake and commit touch the home, only think the model,
// only act the evaluator; see and remember turn values into values.
//
// What the agent can reach from eval is one table, in functions.go. Begin
// reading at Tick.
package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	hometemplate "amacs/agent-home-template"
	"amacs/harness/home"
	"amacs/harness/journal"
	"amacs/harness/process"
)

// Harness runs the ticks of one home. Several may work on a home at once, in
// one process or in many.
type Harness struct {
	home        *home.Home
	journal     *journal.Repo
	overrides   overrides
	settings    atomic.Pointer[settings]
	choosing    sync.Mutex  // held by Ready
	carried     atomic.Bool // the ledger has what the commits tell
	debug       io.Writer
	human       journal.Ident
	now         func() time.Time
	step        func(name string)
	pause       func(ctx context.Context, d time.Duration) // before a call is made anew
	face        string
	helper      []string                        // starts this program as the one that confines itself
	confinement func() process.Support          // what this system can do; asked once
	holding     atomic.Pointer[map[string]Held] // files that are not committed, by path
	headed      bool                            // the history was looked through for the largest tick
}

// Options for Open. Only Root is needed.
type Options struct {
	Root string
	// What overrides config.yaml.
	Provider, Model, BaseURL string

	// Helper is the command that starts this program as the helper which confines
	// itself before it runs a command: its path and the name of a subcommand.
	// Without one nothing is confined.
	Helper []string

	Debug bool              // keep every exchange with a server in .amacs/cache/http.log, without keys
	Now   func() time.Time  // the clock; time.Now if nil
	Step  func(name string) // is told each step of a tick as it begins
}

// Open opens an existing home.
func Open(ctx context.Context, o Options) (*Harness, error) {
	hm, err := home.Open(o.Root)
	if err != nil {
		return nil, err
	}
	config, err := hm.Config()
	if err != nil {
		return nil, err
	}
	repo, err := journal.OpenToRead(ctx, hm.Root()) // whoever writes asks again: settle
	if err != nil {
		return nil, err
	}
	h := &Harness{
		home: hm, journal: repo, overrides: overrides{o.Provider, o.Model, o.BaseURL},
		human: journal.Human(ctx, hm.Root()),
		now:   o.Now, step: o.Step, face: home.NewID(),
		helper: o.Helper, confinement: sync.OnceValue(process.Supported),
	}
	if o.Debug {
		path := hm.Cache("http.log")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if h.debug, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
			return nil, err
		}
	}
	if h.now == nil {
		h.now = time.Now
	}
	if h.step == nil {
		h.step = func(string) {}
	}
	h.pause = func(ctx context.Context, d time.Duration) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
	}
	_, err = h.adopt(h.overrides.over(config))
	return h, err
}

// Init makes root a home, or completes one, and commits what it wrote. It
// returns the paths it created.
func Init(ctx context.Context, root string) (created []string, err error) {
	hm, created, err := home.Init(root, hometemplate.Files())
	if err != nil {
		return nil, err
	}
	if err := journal.Init(ctx, hm.Root()); err != nil {
		return nil, err
	}
	repo, err := journal.Open(ctx, hm.Root())
	if err != nil {
		return nil, err
	}
	return created, commitInit(ctx, repo, hm, created)
}

// commitInit commits the files of created; before the first commit also those
// that are as the template has them, which a first start that was cut short had
// written already.
func commitInit(ctx context.Context, repo *journal.Repo, hm *home.Home, created []string) error {
	head, err := repo.Head(ctx)
	if err != nil {
		return err
	}
	changes, err := repo.Changes(ctx)
	if err != nil {
		return err
	}
	var paths []string
	for _, c := range changes {
		if slices.Contains(created, c.Path) || head == "" && asTemplate(hm, c.Path) {
			paths = append(paths, c.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	_, err = repo.Commit(ctx, journal.Commit{
		Subject: journal.Subject("INIT", "A home for a new mind"), When: time.Now(), Paths: paths,
	})
	return err
}

func asTemplate(hm *home.Home, path string) bool {
	want, err := fs.ReadFile(hometemplate.Files(), path)
	if err != nil {
		return false
	}
	now, err := hm.Read(path)
	return err == nil && bytes.Equal(now, want)
}

// Home is the home that the harness works on.
func (h *Harness) Home() *home.Home { return h.home }

// Journal is the home's history.
func (h *Harness) Journal() *journal.Repo { return h.journal }

// Config is the configuration in force.
func (h *Harness) Config() home.Config { return h.settings.Load().config }

// Post keeps a line for the next tick of this face and returns when it is on
// disk.
func (h *Harness) Post(ctx context.Context, text string) error {
	return h.home.Post(ctx, home.Line{At: h.now(), Face: h.face, PID: os.Getpid(), Text: text})
}

// Waiting counts the lines that wait for a tick of this face.
func (h *Harness) Waiting() (int, error) {
	lines, err := h.home.Inbox(h.face)
	return len(lines), err
}

// Change applies edits outside a tick and commits them at once, as kind
// ("MEMORY", "CONFIG", …) with what as the text of the subject. Hand edits
// found before are committed apart.
func (h *Harness) Change(ctx context.Context, kind journal.Kind, what string, edits ...home.Edit) error {
	return h.home.Update(ctx, func(tx *home.Tx) error {
		if _, err := h.settle(ctx, tx, false); err != nil {
			return err
		}
		for _, e := range edits {
			if err := e.Apply(tx.Draft); err != nil {
				return err
			}
		}
		return h.save(ctx, tx, 0, journal.Commit{Subject: journal.Subject(kind, h.Clean(what)), When: h.now()})
	})
}

// save writes what the draft changed and commits it, with the paths that c has
// already; intents named in ends are fulfilled by that. Where nothing changed,
// nothing is committed.
func (h *Harness) save(ctx context.Context, tx *home.Tx, tick int, c journal.Commit, ends ...string) error {
	changed := tx.Changed()
	if len(changed) == 0 {
		return nil
	}
	for _, path := range changed {
		if !slices.Contains(c.Paths, path) {
			c.Paths = append(c.Paths, path)
		}
	}
	h.step("intend")
	id, err := tx.Intend(tick, c)
	if err != nil {
		return err
	}
	h.step("write")
	if err := tx.Write(); err != nil {
		return err
	}
	h.step("git")
	c.Contents = tx.Contents()
	_, err = h.record(ctx, c)
	if errors.Is(err, journal.ErrBusy) {
		// A git command of the human holds the index for long. The files are saved
		// and the intent stays, so that the next transaction makes this very commit.
		return tx.Count(tick)
	}
	if err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	h.step("committed")
	if err := tx.Done(append(ends, id)...); err != nil {
		return err
	}
	return tx.Count(tick)
}
