package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// packAt is the number of loose objects, some 300 ticks, from which on packing
// pays.
const packAt = 2000

// Pack puts loose objects into packs with the git binary, at low priority, when
// there are some 2,000 of them; ok is false where there was nothing to do, no
// git, or somebody else at it. Packs grow geometrically, so that the work per
// tick stays the same; nothing is ever pruned. A cancelled ctx ends git.
func (r *Repo) Pack(ctx context.Context) (ok bool, err error) {
	if n, err := r.guessLoose(); err != nil || n < packAt {
		return false, err
	}
	lock, err := r.lock(ctx, packLock, time.Now())
	if errors.Is(err, ErrBusy) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer lock.release()
	for _, args := range [][]string{
		{"repack", "-d", "-l", "-q", "--geometric=2", "--window=20"},
		{"-c", "gc.auto=" + strconv.Itoa(packAt), "-c", "gc.autoDetach=false", "gc", "--auto", "--quiet"}, // git < 2.32
	} {
		out, err := runNice(ctx, gitCommand(ctx, r.root, args...))
		if errors.Is(err, exec.ErrNotFound) {
			return false, nil
		}
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 129 {
			continue // an option that this git does not know
		}
		if err != nil {
			return false, fmt.Errorf("pack %s: %w: %s", r.git, err, bytes.TrimSpace(out))
		}
		return true, nil
	}
	return false, nil
}

// guessLoose estimates the loose objects from four of the 256 folders.
func (r *Repo) guessLoose() (int, error) {
	n := 0
	for _, dir := range []string{"17", "5a", "a3", "e8"} {
		list, err := os.ReadDir(filepath.Join(r.git, "objects", dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, fmt.Errorf("count loose objects: %w", err)
		}
		n += len(list)
	}
	return n * 64, nil
}

// runNice runs cmd in a process group of its own, at low priority, and ends
// the whole group with ctx, gently first: git then removes its own files.
func runNice(ctx context.Context, cmd *exec.Cmd) ([]byte, error) {
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	// Best effort: at the usual priority it is right too.
	_ = syscall.Setpriority(syscall.PRIO_PGRP, cmd.Process.Pid, 15)
	err := cmd.Wait()
	return out.Bytes(), errors.Join(err, ctx.Err())
}

// local are the variables by which a caller's git, such as a hook, would point
// ours at another repository (`git rev-parse --local-env-vars`).
var local = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT",
	"GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE", "GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE",
	"GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS", "GIT_REPLACE_REF_BASE", "GIT_PREFIX",
	"GIT_SHALLOW_FILE", "GIT_COMMON_DIR", "GIT_NAMESPACE",
}

func gitCommand(ctx context.Context, root string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = root
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(local, name) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	return cmd
}

// Stats is the state of git's storage.
type Stats struct {
	Loose int   // loose objects
	Packs int   // pack files
	Bytes int64 // all of .git, as file sizes
}

// Stats counts what is in .git.
func (r *Repo) Stats(ctx context.Context) (Stats, error) {
	var st Stats
	objects := filepath.Join(r.git, "objects")
	err := filepath.WalkDir(r.git, func(p string, d fs.DirEntry, err error) error {
		if gone(err) {
			return nil // packed meanwhile
		}
		if err != nil || d.IsDir() {
			return errors.Join(err, ctx.Err())
		}
		info, err := d.Info()
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		st.Bytes += info.Size()
		rel, _ := filepath.Rel(objects, p)
		switch {
		case strings.HasSuffix(rel, ".pack"):
			st.Packs++
		case len(rel) == 41 && rel[2] == filepath.Separator:
			st.Loose++
		}
		return nil
	})
	if err != nil {
		return st, fmt.Errorf("measure %s: %w", r.git, err)
	}
	return st, nil
}
