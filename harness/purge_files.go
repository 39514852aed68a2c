package harness

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	hometemplate "amacs/agent-home-template"
	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/org"
)

const (
	amacsDir = ".amacs/"
	stateDir = ".amacs/state"
	cacheDir = ".amacs/cache"
	tempDir  = ".amacs/state/tmp"
	deedsDir = ".amacs/state/before" // named by the hash of what they hold
)

// name is a path without the words in its parts.
func (e *eraser) name(p string) string {
	parts := strings.Split(p, "/")
	for i := range parts {
		parts[i] = string(e.text([]byte(parts[i])))
	}
	return strings.Join(parts, "/")
}

// standing reads the home's files and the state beside them, and gives those that
// hold what is to be forgotten, by path in the home.
func (h *Harness) standing(clean *eraser, paths []string) (map[string]was, error) {
	out := map[string]was{}
	err := h.walk(func(rel string, d fs.DirEntry) error {
		if d.Type()&fs.ModeSymlink != 0 && !h.fileBehind(rel) {
			return nil
		}
		text, mode, err := readFile(h.home.Path(rel))
		if err != nil {
			return err
		}
		after := clean.text(text)
		if bytes.Equal(after, text) && clean.name(rel) == rel && !under(rel, paths) {
			return nil
		}
		out[rel] = was{text, mode}
		return nil
	})
	return out, err
}

// bearable checks that every file makes sense without the words, and that no link
// has one in its target.
func (h *Harness) bearable(clean *eraser, files map[string]was) error {
	for rel, f := range files {
		if err := sound(rel, f.Text, clean.text(f.Text)); err != nil {
			return err
		}
	}
	return h.walk(func(rel string, d fs.DirEntry) error {
		if d.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		to, err := os.Readlink(h.home.Path(rel))
		if err == nil && string(clean.text([]byte(to))) != to {
			return fmt.Errorf("the link %s leads to a name that holds it: remove that link first", rel)
		}
		return err
	})
}

// elsewhereMax is the size of a file of the workspace, in bytes, up to which it is
// looked at.
const elsewhereMax = 4 << 20

// elsewhere lists the files of the workspace that hold it: they are the projects'
// own, with histories of their own, and are left alone.
func (h *Harness) elsewhere(clean *eraser) (out []string, err error) {
	err = filepath.WalkDir(h.home.Path(home.Workspace), func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		if info, err := d.Info(); err != nil || info.Size() > elsewhereMax {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return nil // not to be read by us, not to be told of
		}
		if !bytes.Equal(clean.text(text), text) {
			rel, err := filepath.Rel(h.home.Root(), p)
			out = append(out, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	return out, err
}

// walk calls f for every file of the home that is not git's, nor the workspace's,
// nor a cache, nor there only for a moment.
func (h *Harness) walk(f func(rel string, d fs.DirEntry) error) error {
	root := h.home.Root()
	return filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch {
		case d.IsDir() && (d.Name() == ".git" || rel == cacheDir || rel == home.Workspace || rel == tempDir):
			return filepath.SkipDir
		case d.IsDir(), rel == stateDir+"/"+purgeFile, strings.HasPrefix(rel, amacsDir) && strings.HasSuffix(rel, ".lock"):
			return nil
		case !d.Type().IsRegular() && d.Type()&fs.ModeSymlink == 0:
			return nil
		}
		if err := f(rel, d); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
}

// fileBehind tells whether a link stands for a file of the history, as it does
// where the history has a file of that name.
func (h *Harness) fileBehind(rel string) bool {
	info, err := os.Stat(h.home.Path(rel))
	return err == nil && info.Mode().IsRegular() && h.journal.Tracks(rel)
}

// sound checks that a file can be read without the words as well as with them.
func sound(rel string, before, after []byte) error {
	ok := true
	switch {
	case rel == home.Consciousness:
		_, _, was := consciousness.Parse(before)
		_, _, is := consciousness.Parse(after)
		ok = was != nil || is == nil
	case rel == home.Monologue:
		ok = len(home.Thoughts(before)) == len(home.Thoughts(after))
	case strings.HasSuffix(rel, ".org"):
		ok = org.Damage(before) != nil || org.Damage(after) == nil && sameShape(before, after)
	}
	if !ok {
		return fmt.Errorf("%s: %w", rel, errTooCommon)
	}
	return nil
}

func sameShape(a, b []byte) bool {
	return slices.EqualFunc(home.Exchanges(a), home.Exchanges(b), func(a, b home.Exchange) bool {
		return a.Tick == b.Tick && a.HasHuman == b.HasHuman && a.HasAgent == b.HasAgent
	}) && len(home.Notes(a)) == len(home.Notes(b))
}

// tooCommon refuses words that are in the names by which amacs finds its files.
func (h *Harness) tooCommon(clean *eraser) error {
	names := []string{home.Chat, home.Consciousness, home.ConfigFile, home.Monologue, home.Scratchpad, home.Skills, home.Workspace,
		"archive/agent-chat", "archive/monologue", "archive/threads.org", "permissions.org", "queue.org", "curiosity.org", "memory/projects", "cycles"}
	err := fs.WalkDir(hometemplate.Files(), ".", func(p string, _ fs.DirEntry, err error) error {
		names = append(names, p)
		return err
	})
	for _, name := range names {
		if clean.name(name) != name {
			return fmt.Errorf("the name of %s: %w", name, errTooCommon)
		}
	}
	return err
}

// erase takes the words out of the home's files and empties the cache. It may be
// called again.
func (h *Harness) erase(clean *eraser, paths []string) error {
	files, err := h.standing(clean, paths)
	if err != nil {
		return err
	}
	for rel, f := range files {
		to := clean.name(rel)
		if under(rel, paths) || under(rel, []string{deedsDir}) || to != rel {
			if err := h.put(rel, was{}); err != nil {
				return err
			}
		}
		if under(rel, paths) || under(rel, []string{deedsDir}) {
			continue
		}
		if err := h.put(to, was{clean.text(f.Text), f.Mode}); err != nil {
			return err
		}
	}
	list, err := os.ReadDir(h.home.Path(cacheDir))
	for _, d := range list {
		err = errors.Join(err, os.RemoveAll(filepath.Join(h.home.Path(cacheDir), d.Name())))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("emptying the cache: %w", err)
	}
	return nil
}

// put writes a file of the home, or removes it, and folders that are empty then.
func (h *Harness) put(rel string, f was) error {
	p := h.home.Path(rel)
	if f.Text == nil {
		err := os.Remove(p)
		for dir := path.Dir(rel); err == nil && dir != "."; dir = path.Dir(dir) {
			if os.Remove(h.home.Path(dir)) != nil {
				break // not empty
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing %s: %w", rel, err)
		}
		return nil
	}
	if real, err := filepath.EvalSymlinks(p); err == nil {
		p = real
	}
	err := os.MkdirAll(filepath.Dir(p), 0o700)
	if err == nil {
		err = h.writeWhole(p, f.Text, f.Mode)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", rel, err)
	}
	return nil
}

// writeWhole writes a file under another name, waits for the disk and renames. What
// a crash leaves is cleared by the next transaction, but beside a link's target on
// another disk.
func (h *Harness) writeWhole(path string, b []byte, mode fs.FileMode) error {
	err := writeFrom(h.home.Path(tempDir), path, b, mode)
	if errors.Is(err, syscall.EXDEV) {
		err = writeFrom(filepath.Dir(path), path, b, mode)
	}
	return err
}

func writeFrom(dir, path string, b []byte, mode fs.FileMode) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "purge-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing, once it has its name
	_, err = f.Write(b)
	if err := errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	to, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(to.Sync(), to.Close())
}

func readFile(path string) ([]byte, fs.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	text, err := os.ReadFile(path)
	if text == nil {
		text = []byte{}
	}
	return text, info.Mode().Perm(), err
}

// under tells whether a path is one of list or lies in one of them.
func under(rel string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return rel == p || strings.HasPrefix(rel, p+"/") })
}
