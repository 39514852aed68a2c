package files

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// folder is an open folder.
type folder struct {
	fd   int
	path string
}

func (d folder) close() { unix.Close(d.fd) }

func (d folder) join(name string) string { return path.Join(d.path, name) }

// again calls a system call until no signal comes between.
func again[T any](call func() (T, error)) (T, error) {
	for {
		v, err := call()
		if !errors.Is(err, unix.EINTR) {
			return v, err
		}
	}
}

func openat(fd int, name string, flags int, mode uint32) (int, error) {
	return again(func() (int, error) { return unix.Openat(fd, name, flags|unix.O_CLOEXEC, mode) })
}

// parted is a path as its folder and the name in it.
func parted(p string) (dir, name string, err error) {
	switch {
	case !path.IsAbs(p) || path.Clean(p) != p:
		return "", "", fmt.Errorf("%q is not an absolute path without dots", p)
	case strings.Contains(p, "\x00"):
		return "", "", fmt.Errorf("%q holds a NUL", p)
	case p == "/":
		return "/", ".", nil
	}
	return path.Dir(p), path.Base(p), nil
}

// openFolder opens a folder link by link; visit, if any, is handed every folder
// above it.
func openFolder(p string, visit func(folder)) (folder, error) {
	d, _, err := openMade(p, visit, false)
	return d, err
}

// openMade is openFolder; with create, folders that are missing are made, and
// the paths of those are told, also with an error.
func openMade(p string, visit func(folder), create bool) (d folder, made []string, err error) {
	fd, err := openat(unix.AT_FDCWD, "/", onTheWay|unix.O_DIRECTORY, 0)
	if err != nil {
		return d, nil, err
	}
	d = folder{fd, "/"}
	for name := range strings.SplitSeq(strings.Trim(p, "/"), "/") {
		if name == "" {
			break // the root
		}
		if visit != nil {
			visit(d)
		}
		next, err := d.sub(name, onTheWay)
		if create && errors.Is(err, unix.ENOENT) {
			if err = unix.Mkdirat(d.fd, name, 0o755); err == nil {
				made = append(made, d.join(name))
			}
			if err == nil || errors.Is(err, unix.EEXIST) {
				next, err = d.sub(name, onTheWay)
			}
		}
		d.close()
		if err != nil {
			return folder{}, made, err
		}
		d = next
	}
	return d, made, nil
}

// sub opens a folder in d that is no link.
func (d folder) sub(name string, flags int) (folder, error) {
	fd, err := openat(d.fd, name, flags|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	switch {
	case err == nil:
		return folder{fd, d.join(name)}, nil
	case errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP):
		if st, serr := d.stat(name); serr == nil && kind(st) == unix.S_IFLNK {
			return folder{}, fmt.Errorf("%s is a symbolic link: %w", d.join(name), ErrMoved)
		}
		return folder{}, fmt.Errorf("%s is not a folder", d.join(name))
	}
	return folder{}, fmt.Errorf("%s: %w", d.join(name), err)
}

// stat tells of a name in d, of a link itself if it is one.
func (d folder) stat(name string) (unix.Stat_t, error) {
	return again(func() (st unix.Stat_t, err error) {
		err = unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
		return st, err
	})
}

func kind(st unix.Stat_t) uint32 { return uint32(st.Mode) & unix.S_IFMT }

var errFolder = errors.New("it is a folder; list it with agent-list-directory")

// regular is nil for a regular file, else it says what is there instead.
func regular(st unix.Stat_t) error {
	what := ""
	switch kind(st) {
	case unix.S_IFREG:
		return nil
	case unix.S_IFLNK:
		return fmt.Errorf("it is a symbolic link: %w", ErrMoved)
	case unix.S_IFDIR:
		return errFolder
	case unix.S_IFIFO:
		what = "a pipe"
	case unix.S_IFSOCK:
		what = "a socket"
	default:
		what = "a device"
	}
	return fmt.Errorf("it is %s; only regular files are read and written", what)
}

// file opens a regular file in d for reading. What is something else is not
// opened: that alone may wait or have effects.
func (d folder) file(name string) (fd int, st unix.Stat_t, err error) {
	if st, err = d.stat(name); err == nil {
		err = regular(st)
	}
	if err != nil {
		return -1, st, err
	}
	fd, err = openat(d.fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if errors.Is(err, unix.ELOOP) {
		err = fmt.Errorf("it is a symbolic link: %w", ErrMoved)
	}
	if err != nil {
		return -1, st, err
	}
	if err = unix.Fstat(fd, &st); err == nil {
		err = regular(st)
	}
	if err != nil {
		unix.Close(fd)
	}
	return fd, st, err
}

// read reads a file in d, at most limit bytes, into buf if that is large enough;
// more says that the file goes on.
func (d folder) read(name string, limit int, buf []byte) (b []byte, st unix.Stat_t, more bool, err error) {
	fd, st, err := d.file(name)
	if err != nil {
		return nil, st, false, err
	}
	defer unix.Close(fd)
	b, more, err = slurp(fd, st, limit, buf)
	return b, st, more, err
}

func slurp(fd int, st unix.Stat_t, limit int, buf []byte) (b []byte, more bool, err error) {
	b = buf[:0]
	// One byte more than there should be shows the end; what has no size is in /proc.
	if want := min(max(int(min(st.Size, int64(limit))), 4096), limit) + 1; cap(b) < want {
		b = make([]byte, 0, want)
	}
	for len(b) <= limit {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := again(func() (int, error) { return unix.Read(fd, b[len(b):min(cap(b), limit+1)]) })
		if err != nil {
			return nil, false, err
		}
		if n == 0 {
			return b, false, nil
		}
		b = b[:len(b)+n]
	}
	return b[:limit], true, nil
}
