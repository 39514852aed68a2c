package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// tree is a part of the old root that is to be seen in the new one.
type tree struct {
	path  string // without links
	write bool
	guard bool // read-only within what is written
	fd    int  // a copy of the mounts, not yet anywhere
	dir   bool
}

// link is a symbolic link on the way to one.
type link struct{ path, to string }

// furnish gives this mount namespace a root that holds what was granted and
// nothing else. mount_namespaces(7), open_tree(2), pivot_root(2)
func furnish(g Grant) error {
	trees, links, err := plan(g)
	if err != nil {
		return err
	}
	for i := range trees {
		if err := trees[i].clone(); err != nil {
			return fmt.Errorf("cannot grant %s: %w", trees[i].path, err)
		}
	}
	const base = "/dev" // covered from here on; what is needed of it was cloned
	whole := len(trees) > 0 && trees[0].path == "/"
	if whole {
		err = attach(trees[0].fd, base)
		trees = trees[1:]
	} else {
		err = unix.Mount("amacs", base, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755")
	}
	if err != nil {
		return fmt.Errorf("cannot make a root folder: %w", err)
	}
	for _, t := range trees {
		if err := t.place(base); err != nil {
			return fmt.Errorf("cannot grant %s: %w", t.path, err)
		}
	}
	links = append(links, link{"/dev/fd", "/proc/self/fd"}, link{"/dev/stdin", "fd/0"}, link{"/dev/stdout", "fd/1"}, link{"/dev/stderr", "fd/2"})
	for _, l := range links {
		if err := l.place(base); err != nil {
			return fmt.Errorf("cannot make the link %s: %w", l.path, err)
		}
	}
	if err := shared(base + "/dev/shm"); err != nil {
		return fmt.Errorf("cannot make /dev/shm: %w", err)
	}
	if err := proc(base + "/proc"); err != nil {
		return fmt.Errorf("cannot make /proc: %w", err)
	}
	if !whole {
		if err := readOnly(unix.AT_FDCWD, base, 0); err != nil {
			return fmt.Errorf("cannot make the root folder read-only: %w", err)
		}
	}
	if err := os.Chdir(base); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("cannot change the root folder: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("cannot leave the old root folder: %w", err)
	}
	return os.Chdir("/")
}

// plan says what is to be mounted, outer folders first, and which links lead
// there.
func plan(g Grant) ([]tree, []link, error) {
	var all []tree
	var links []link
	add := func(path string, write, guard bool) error {
		real, via, err := trace(path)
		if unreachable(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot grant %s: %w", path, err)
		}
		links = append(links, via...)
		if !beneath(real, "/proc") { // it is made anew
			all = append(all, tree{path: real, write: write, guard: guard})
		}
		return nil
	}
	for _, p := range slices.Concat(devices[:], g.Write) {
		if err := add(p, true, false); err != nil {
			return nil, nil, err
		}
	}
	for _, p := range g.Read {
		if err := add(p, false, false); err != nil {
			return nil, nil, err
		}
	}
	for _, p := range g.Guard {
		if err := add(p, false, true); err != nil {
			return nil, nil, err
		}
	}
	// The names that lead from the root into /usr on most systems.
	top, err := os.ReadDir("/")
	if err != nil {
		return nil, nil, err
	}
	for _, e := range top {
		if e.Type()&fs.ModeSymlink != 0 {
			if to, err := os.Readlink("/" + e.Name()); err == nil {
				links = append(links, link{"/" + e.Name(), to})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b tree) int { return strings.Compare(a.path, b.path) })
	// What an outer one holds already, with as many rights, is there.
	var kept []tree
	for _, t := range all {
		around := -1 // the innermost one
		for i, o := range kept {
			if beneath(t.path, o.path) {
				around = i
			}
		}
		switch {
		case around < 0 && t.guard: // of nothing
		case around < 0, kept[around].write && t.guard, !kept[around].write && t.write:
			kept = append(kept, t)
		}
	}
	return kept, links, nil
}

func beneath(path, dir string) bool {
	return dir == "/" || path == dir || strings.HasPrefix(path, dir+"/")
}

// trace follows a path and says where it leads, and by which links.
func trace(path string) (real string, links []link, err error) {
	real = "/"
	rest := strings.Split(path, "/")
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, name)
		i, err := os.Lstat(next)
		if err != nil {
			return "", nil, err
		}
		if i.Mode()&fs.ModeSymlink == 0 {
			real = next
			continue
		}
		to, err := os.Readlink(next)
		if err != nil {
			return "", nil, err
		}
		if links = append(links, link{next, to}); len(links) > 40 {
			return "", nil, unix.ELOOP
		}
		if filepath.IsAbs(to) {
			real = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return real, links, nil
}

func (t *tree) clone() error {
	i, err := os.Lstat(t.path)
	if err != nil {
		return err
	}
	t.dir = i.IsDir()
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_SYMLINK_NOFOLLOW)
	if t.dir {
		flags |= unix.AT_RECURSIVE
	}
	if t.fd, err = unix.OpenTree(unix.AT_FDCWD, t.path, flags); err != nil {
		return err
	}
	if t.write {
		return nil
	}
	return readOnly(t.fd, "", unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
}

func readOnly(fd int, path string, flags uint) error {
	return unix.MountSetattr(fd, path, flags, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY})
}

// place puts it where it was, in the new root.
func (t tree) place(base string) error {
	at := base + t.path
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if _, err := os.Lstat(at); errors.Is(err, fs.ErrNotExist) {
		if t.dir {
			err = os.Mkdir(at, 0o755)
		} else {
			err = os.WriteFile(at, nil, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return attach(t.fd, at)
}

func attach(fd int, at string) error {
	defer unix.Close(fd)
	return unix.MoveMount(fd, "", unix.AT_FDCWD, at, unix.MOVE_MOUNT_F_EMPTY_PATH)
}

// place makes the link, unless something of that name was granted.
func (l link) place(base string) error {
	at := base + l.path
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	if _, err := os.Lstat(at); err == nil {
		return nil
	}
	err := os.Symlink(l.to, at)
	if errors.Is(err, unix.EROFS) { // within a granted tree that lost it just now
		return nil
	}
	return err
}

// shared makes the folder of shared memory, which is gone at the end.
func shared(at string) error {
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	return unix.Mount("amacs", at, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777")
}

// proc shows the processes of this namespace. Where parts of /proc are hidden, as
// in containers, no new one can be had: the old one is shown, and the command may
// make namespaces of its own, in which Landlock holds all the same.
func proc(at string) error {
	if err := os.MkdirAll(at, 0o555); err != nil {
		return err
	}
	if unix.Mount("proc", at, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "") == nil {
		f, err := os.OpenFile(at+"/sys/user/max_user_namespaces", os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString("0")
		return err
	}
	old, err := unix.OpenTree(unix.AT_FDCWD, "/proc", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return err
	}
	return attach(old, at)
}
