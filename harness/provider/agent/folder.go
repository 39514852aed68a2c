package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// nowhere is the empty folder in which jobs without tools run. It is always the
// same one: CLIs tell their model where they are, before the prompt, and a cache
// of prompts ends at the first byte that changes; and some keep a folder of their
// own for each place where they ever ran. Where it is not the user's alone or no
// longer empty, it is a new one in tmp.
func nowhere(tmp string) (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("amacs-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); (err == nil || os.IsExist(err)) && own(dir) && empty(dir) {
		return dir, nil
	}
	return somewhere(tmp)
}

// somewhere is an empty folder in tmp.
func somewhere(tmp string) (string, error) {
	dir := filepath.Join(tmp, "empty")
	return dir, os.Mkdir(dir, 0o700)
}

// own reports whether dir is a folder that nobody else can write to.
func own(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm() != 0o700 {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid()
}

func empty(dir string) bool {
	left, err := os.ReadDir(dir)
	return err == nil && len(left) == 0
}
