// Package home knows the files of an agent's home: where they are, how they are
// locked, saved and read, and the four texts that every tick touches.
//
//	~/.agent/
//	├── consciousness.el    the working state (package consciousness)
//	├── agent-chat.org      the conversation         chat.go
//	├── scratchpad.org      notes                    notes.go
//	├── monologue.org       one line a tick          monologue.go
//	├── archive/            write-once older parts   archive.go
//	├── skills/             SKILL.md folders (package skills)
//	├── config.yaml         settings                 config.go
//	├── workspace/          the agent's own projects, ignored by git
//	└── .amacs/state/       locks, intents, inbox, counters, what secrets are kept: ignored by git, 0700
//
// A change of the home is a transaction (tx.go): take the write lock, read the
// files again, apply edits to a Draft (draft.go), which takes secrets out of what
// it stores (guard.go, kept.go), write down what is meant,
// save (save.go, which says what survives a crash). The lock is held for milliseconds, never across a model call; a second
// lock, the tick lease, lets one tick think at a time (lock.go). Git is not
// known here: whoever runs the transaction commits.
//
// Begin reading at Draft, the home's texts as values that edits change.
package home

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"amacs/harness/disk"
)

// The files that a tick reads and writes, relative to the root.
const (
	Consciousness = "consciousness.el"
	Chat          = "agent-chat.org"
	Scratchpad    = "scratchpad.org"
	Monologue     = "monologue.org"
	ConfigFile    = "config.yaml"
	Skills        = "skills"
	Workspace     = "workspace"
	stateDir      = ".amacs/state"
	cacheDir      = ".amacs/cache"
)

// Home is an agent's home folder. It holds no open files and may be used by
// several goroutines.
type Home struct {
	root  string
	guard *guard
}

func at(root string) *Home {
	return &Home{root: root, guard: &guard{keptPath: filepath.Join(root, filepath.FromSlash(keptFile))}}
}

// NotHome says that a path can not serve as a home, and what to do about it.
type NotHome struct {
	Path, What, Do string
}

func (e *NotHome) Error() string { return fmt.Sprintf("%s %s\n  %s", e.Path, e.What, e.Do) }

// Exists reports whether root holds an agent, whole or damaged.
func Exists(root string) bool {
	_, err := os.Stat(filepath.Join(root, Consciousness))
	return err == nil
}

// Open finds an existing home.
func Open(root string) (*Home, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("opening home %s: %w", root, err)
	}
	info, err := os.Stat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &NotHome{root, "does not exist", "run `amacs init` to make a home there"}
	case err != nil:
		return nil, fmt.Errorf("opening home: %w", err)
	case !info.IsDir():
		return nil, &NotHome{root, "is a file, not a folder", "move it away, or name another home with --home DIR"}
	}
	if !Exists(root) {
		if _, err := os.Stat(filepath.Join(root, ".git")); err == nil {
			return nil, beheaded(root)
		}
		return nil, &NotHome{root, "is not an agent's home: it has no " + Consciousness,
			"run `amacs init` in an empty folder, or name another home with --home DIR"}
	}
	h := at(root)
	if err := h.makeDirs(); err != nil {
		return nil, fmt.Errorf("opening home: %w", err)
	}
	return h, nil
}

// Init makes root a home, or completes one: files (a tree as the home has it)
// that are not there yet are written, others are left as they are. It returns
// the paths it wrote. A folder that holds something else is refused.
func Init(root string, files fs.FS) (h *Home, created []string, err error) {
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, nil, fmt.Errorf("making home %s: %w", root, err)
	}
	if err := roomFor(root); err != nil {
		return nil, nil, err
	}
	h = at(root)
	if err := h.makeDirs(); err != nil {
		return nil, nil, fmt.Errorf("making home: %w", err)
	}
	// Two first starts at once: the second finds the files of the first.
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	unlock, err := h.Lock(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("making home: %w", err)
	}
	defer unlock()
	if created, err = h.complete(files); err != nil {
		return nil, nil, fmt.Errorf("making home: %w", err)
	}
	h, err = Open(root)
	return h, created, err
}

// complete writes the files that are missing. consciousness.el comes last: its
// presence says that the rest is there.
func (h *Home) complete(files fs.FS) (created []string, err error) {
	if err := os.MkdirAll(h.Path(Workspace), 0o700); err != nil {
		return nil, err
	}
	var texts, last []IntentFile
	err = fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if _, err := os.Lstat(h.Path(path)); err == nil {
			return nil
		}
		b, err := fs.ReadFile(files, path)
		if path == Consciousness {
			last = append(last, written(path, b))
		} else {
			texts = append(texts, written(path, b))
		}
		created = append(created, path)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the template: %w", err)
	}
	if err := h.saveAll(texts); err != nil {
		return nil, err
	}
	if err := h.saveAll(last); err != nil {
		return nil, err
	}
	return created, disk.Sync(h.root)
}

// roomFor refuses a path that is taken by something that is no home.
func roomFor(root string) error {
	info, err := os.Stat(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("making home: %w", err)
	}
	if !info.IsDir() {
		return &NotHome{root, "is a file, not a folder", "move it away, or name another home with --home DIR"}
	}
	if Exists(root) {
		return nil
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return fmt.Errorf("making home: %w", err)
	}
	_, err = os.Stat(filepath.Join(root, ".amacs"))
	ours := err == nil
	for _, e := range entries {
		switch e.Name() {
		case ".amacs", Workspace, Skills, ".gitignore", Chat, Scratchpad, Monologue, ConfigFile:
			if ours {
				continue // left by a first start that was cut short
			}
		case ".git":
			if ours {
				return beheaded(root)
			}
		}
		return &NotHome{root, "exists and is something else (it holds " + e.Name() + " and no " + Consciousness + ")",
			"nothing was changed; move it away, or name another home with --home DIR or AMACS_HOME"}
	}
	return nil
}

// beheaded is a home that has lost its consciousness.el. A new one must not be
// put in its place unasked.
func beheaded(root string) error {
	return &NotHome{root, "has no " + Consciousness,
		"if an agent lived here, bring it back with `git -C " + root + " checkout -- " + Consciousness + "`; else name another home with --home DIR"}
}

func (h *Home) makeDirs() error {
	for _, dir := range []string{tempDir, cacheDir} {
		if err := os.MkdirAll(h.Path(dir), 0o700); err != nil {
			return err
		}
	}
	return nil
}

// Root is the home's absolute path.
func (h *Home) Root() string { return h.root }

// Path is the absolute path of a file of the home.
func (h *Home) Path(rel string) string { return filepath.Join(h.root, filepath.FromSlash(rel)) }

// Cache is a file below .amacs/cache, which may be deleted at any time.
func (h *Home) Cache(name string) string { return h.Path(cacheDir + "/" + name) }

// State is a file below .amacs/state, the machine's own memory of this home.
func (h *Home) State(name string) string { return h.Path(stateDir + "/" + name) }

// Read reads a file of the home. The error wraps fs.ErrNotExist.
func (h *Home) Read(rel string) ([]byte, error) {
	b, err := os.ReadFile(h.Path(rel))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", rel, err)
	}
	return b, nil
}

// FS is the home as a read-only file system.
func (h *Home) FS() fs.FS { return os.DirFS(h.root) }
