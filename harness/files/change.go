package files

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"golang.org/x/sys/unix"
)

// Change is one file as it is and as it shall be.
type Change struct {
	Path          string
	Before, After []byte // as on disk
	New           bool   // there is no file yet
	Gone          bool   // the file is removed
	Names         uint64 // hard links of the file: with more than one, the others keep Before
}

// Diff shows the change as a unified diff with three lines around each place,
// at most MaxDiff lines; "" where nothing changes. Line ends are shown plain;
// where they alone change, that is said.
func (c Change) Diff() string {
	old, oldForm, err := decode(c.Before)
	text, newForm, err2 := decode(c.After)
	if err != nil || err2 != nil {
		return fmt.Sprintf("%s: not text, %d bytes, then %d\n", c.Path, len(c.Before), len(c.After))
	}
	a, b, head := "a"+c.Path, "b"+c.Path, ""
	switch {
	case c.New:
		a, head = "/dev/null", fmt.Sprintf("new file, %d bytes\n", len(c.After))
	case c.Gone:
		b, head = "/dev/null", "the file is removed\n"
	case oldForm.ends != newForm.ends && oldForm.ends != "" && newForm.ends != "":
		head = fmt.Sprintf("line ends: %q, then %q\n", oldForm.ends, newForm.ends)
	}
	old, text = shown(old), shown(text)
	u, err := udiff.ToUnified(a, b, old, udiff.Lines(old, text), udiff.DefaultContextLines)
	if err != nil {
		return fmt.Sprintf("%s: no diff: %v\n", c.Path, err)
	}
	lines := strings.SplitAfter(head+u, "\n")
	if len(lines) > MaxDiff+1 {
		lines = append(lines[:MaxDiff:MaxDiff], fmt.Sprintf("[%d more lines of this diff are not shown]\n", len(lines)-1-MaxDiff))
	}
	return strings.Join(lines, "")
}

func shown(text string) string { return strings.ToValidUTF8(plainEnds(text), "\uFFFD") }

// Apply makes the change, whole or not at all: the new text is written beside
// the file, synced, and takes its name. It keeps owner, group and permissions
// of the old file; of several hard links only this one changes. Missing folders
// are made. It is ErrMoved if the file is not byte for byte Before any more.
func (c Change) Apply() error {
	if err := c.apply(); err != nil {
		doing := "writing"
		if c.Gone {
			doing = "removing"
		}
		return fmt.Errorf("%s %s: %w", doing, c.Path, err)
	}
	return nil
}

func (c Change) apply() (err error) {
	dir, name, err := parted(c.Path)
	if err != nil {
		return err
	}
	d, made, err := openMade(dir, nil, c.New)
	defer func() {
		if err != nil {
			unmake(made)
		}
	}()
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its folder is gone: %w", ErrMoved)
	}
	if err != nil {
		return err
	}
	defer d.close()
	if c.Gone {
		if err = c.stands(d, name); err == nil {
			err = unix.Unlinkat(d.fd, name, 0)
		}
		return errors.Join(err, d.sync())
	}
	temp, err := c.stage(d, name)
	if err != nil {
		return err
	}
	defer unix.Unlinkat(d.fd, temp, 0) // nothing, once it has its name
	if err = c.stands(d, name); err != nil {
		return err
	}
	if err = c.publish(d, temp, name); err != nil {
		return err
	}
	return d.sync()
}

// stands checks that the file is Before still.
func (c Change) stands(d folder, name string) error {
	b, _, more, err := d.read(name, len(c.Before), nil)
	switch {
	case c.New && errors.Is(err, fs.ErrNotExist):
		return nil
	case c.New && err == nil:
		return fmt.Errorf("there is a file now: %w", ErrMoved)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the file is gone: %w", ErrMoved)
	case err != nil && !errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", err, ErrMoved)
	case err != nil:
		return err
	case more || !bytes.Equal(b, c.Before):
		return fmt.Errorf("the file has another text now: %w", ErrMoved)
	}
	return nil
}

// stage writes After to a new file in d, with the owner and the permissions
// that the old one has.
func (c Change) stage(d folder, name string) (temp string, err error) {
	mode := uint32(0o666) // less what the umask takes
	var old unix.Stat_t
	if !c.New {
		if old, err = d.stat(name); errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("the file is gone: %w", ErrMoved)
		}
		if err == nil {
			// A name can be taken over without the right to write the file.
			err = unix.Faccessat(d.fd, name, unix.W_OK, unix.AT_EACCESS)
		}
		if err != nil {
			return "", err
		}
		mode = 0o600
	}
	temp = ".amacs-" + rand.Text() + ".tmp"
	fd, err := openat(d.fd, temp, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, mode)
	if err != nil {
		return "", err
	}
	err = writeAll(fd, c.After)
	if err == nil && !c.New {
		err = own(fd, old)
	}
	if err == nil {
		_, err = again(func() (int, error) { return 0, unix.Fsync(fd) })
	}
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		unix.Unlinkat(d.fd, temp, 0)
		return "", err
	}
	return temp, nil
}

func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := again(func() (int, error) { return unix.Write(fd, b) })
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// own gives a new file the owner, the group and the permissions of old.
func own(fd int, old unix.Stat_t) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Uid != old.Uid || st.Gid != old.Gid {
		if err := unix.Fchown(fd, int(old.Uid), int(old.Gid)); err != nil {
			return fmt.Errorf("its owner or group is another (%d:%d) and would be lost: %w", old.Uid, old.Gid, err)
		}
	}
	return unix.Fchmod(fd, uint32(old.Mode)&0o777)
}

// publish gives a staged file its name. A new file takes no name that somebody
// took meanwhile, where the file system can tell.
func (c Change) publish(d folder, temp, name string) error {
	if c.New {
		err := unix.Linkat(d.fd, temp, d.fd, name, 0)
		if errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("there is a file now: %w", ErrMoved)
		}
		if err == nil {
			return nil
		}
	}
	return unix.Renameat(d.fd, temp, d.fd, name)
}

// sync makes the names in a folder outlast a power failure. A folder that can
// be written and not read is left to the file system.
func (d folder) sync() error {
	fd, err := openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = again(func() (int, error) { return 0, unix.Fsync(fd) })
	return err
}

// unmake removes folders that were made for nothing, unless something is in
// them.
func unmake(made []string) {
	for i := len(made) - 1; i >= 0; i-- {
		d, err := openFolder(path.Dir(made[i]), nil)
		if err != nil {
			return
		}
		unix.Unlinkat(d.fd, path.Base(made[i]), unix.AT_REMOVEDIR)
		d.close()
	}
}
