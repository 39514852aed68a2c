package home

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/google/renameio/v2"

	"amacs/harness/disk"
)

// What lasts. A kill at any instant loses nothing that a system call has
// returned from. A power failure also takes what was not synced, hence:
//
//   - waited for: lines of the human, and the commit that ends a transaction;
//   - in order (disk.Stage): the intent log before the files that it speaks of
//     (with it every file can be made again), a file's bytes before its name, and
//     the files before the commit;
//   - not synced: counters (found again in the history), claims (see Claim), the
//     end of an intent (found again, it turns out to be done), locks.

// tempDir holds files being written. It is ours, so that what a crash leaves
// there is neither committed nor in anybody's way.
const tempDir = stateDir + "/tmp"

// written is a file to be saved with no thought of what it was.
func written(path string, b []byte) IntentFile {
	return IntentFile{Path: path, After: "new", Content: b}
}

// saveAll saves files; those with After "" are removed. First all are written,
// so that a full disk leaves all of them as they were; then they get their
// names, before anything that is done later.
func (h *Home) saveAll(files []IntentFile) error {
	dirs := map[string]bool{} // to be synced
	name := make([]func() error, len(files))
	var temps []string
	for i, f := range files {
		path := h.Path(f.Path)
		if f.After == "" {
			name[i] = func() error { return removed(os.Remove(path)) }
			dirs[filepath.Dir(path)] = true
			continue
		}
		real, err := followed(path)
		if err == nil {
			err = makeDir(filepath.Dir(real), dirs)
		}
		if err != nil {
			return fmt.Errorf("saving %s: %w", f.Path, err)
		}
		t, err := h.stage(real, f.Content)
		if err != nil {
			return fmt.Errorf("saving %s: %w", f.Path, err)
		}
		defer os.Remove(t) // nothing, once it has its name
		temps = append(temps, t)
		name[i] = func() error { return publish(t, real, f.Content) }
	}
	if err := disk.Stage(temps...); err != nil {
		return fmt.Errorf("saving: %w", err)
	}
	for i := range name {
		if err := name[i](); err != nil {
			return fmt.Errorf("saving %s: %w", files[i].Path, err)
		}
	}
	if err := disk.Stage(slices.Collect(maps.Keys(dirs))...); err != nil {
		return fmt.Errorf("saving: %w", err)
	}
	return nil
}

// stage writes b to a temporary file with the mode of path, 0600 if it is new.
func (h *Home) stage(path string, b []byte) (temp string, err error) {
	t, err := os.CreateTemp(h.Path(tempDir), "")
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.Mkdir(h.Path(tempDir), 0o700); err == nil {
			t, err = os.CreateTemp(h.Path(tempDir), "")
		}
	}
	if err != nil {
		return "", err
	}
	_, err = t.Write(b)
	if info, serr := os.Stat(path); err == nil && serr == nil {
		err = t.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, t.Close()); err != nil {
		os.Remove(t.Name())
		return "", err
	}
	return t.Name(), nil
}

// publish gives a temporary file its name. Where a link leads to another disk,
// it is written once more beside its target.
func publish(temp, path string, b []byte) error {
	err := os.Rename(temp, path)
	if errors.Is(err, syscall.EXDEV) {
		return renameio.WriteFile(path, b, 0o600, renameio.WithTempDir(filepath.Dir(path)), renameio.WithExistingPermissions())
	}
	return err
}

// followed is where a path leads through symlinks; it need not exist.
func followed(path string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, nil
	}
	if target, err := os.Readlink(path); err == nil {
		return "", fmt.Errorf("it is a link to %s, which does not exist", target)
	}
	return path, nil
}

// makeDir makes a folder and notes which ones are to be synced when it has got
// an entry.
func makeDir(dir string, sync map[string]bool) error {
	for d := dir; !sync[d]; d = filepath.Dir(d) {
		sync[d] = true
		if _, err := os.Stat(d); err == nil {
			break
		}
	}
	return os.MkdirAll(dir, 0o700)
}

func removed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// clearTemp removes what interrupted writers left.
func (h *Home) clearTemp() error {
	old, err := os.ReadDir(h.Path(tempDir))
	for _, f := range old {
		err = errors.Join(err, os.Remove(h.Path(tempDir+"/"+f.Name())))
	}
	if err = removed(err); err != nil {
		return fmt.Errorf("clearing %s: %w", tempDir, err)
	}
	return nil
}

// appendState adds a line to a file of .amacs/state. settle, if not nil, is
// disk.Stage or disk.Sync.
func (h *Home) appendState(name string, line []byte, settle func(...string) error) error {
	_, missing := os.Stat(h.Path(name))
	f, err := os.OpenFile(h.Path(name), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	// A line that was cut short by a crash or a full disk must not swallow this one.
	last := []byte{'\n'}
	if end := info.Size(); end > 0 {
		if _, err := f.ReadAt(last, end-1); err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
	}
	if last[0] != '\n' {
		line = append([]byte{'\n'}, line...)
	}
	if _, err := f.Write(line); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	if settle == nil {
		return nil
	}
	paths := []string{h.Path(name)}
	if missing != nil {
		paths = append(paths, h.Path(stateDir))
	}
	if err := settle(paths...); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

// rewriteState replaces the lines of a file of .amacs/state, each by its JSON.
func (h *Home) rewriteState(name string, lines []any) error {
	if len(lines) == 0 {
		if err := removed(os.Truncate(h.Path(name), 0)); err != nil {
			return fmt.Errorf("clearing %s: %w", name, err)
		}
		return nil
	}
	var b bytes.Buffer
	for _, l := range lines {
		line, err := json.Marshal(l)
		if err != nil {
			return fmt.Errorf("writing %s: %w", name, err)
		}
		b.Write(append(line, '\n'))
	}
	return h.saveAll([]IntentFile{written(name, b.Bytes())})
}
