package files_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"amacs/harness/files"
)

// asNobody runs what without the rights of root, in files.
func asNobody(t *testing.T, what func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		what()
		return
	}
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		err := unix.Setfsuid(65534)
		if err == nil {
			what()
		}
		done <- err
	}()
	must(t, <-done)
}

// public is a folder that everybody may read.
func public(t *testing.T) string {
	dir := folder(t)
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	must(t, os.Chmod(dir, 0o755))
	return dir
}

func TestRights(t *testing.T) {
	dir := public(t)
	put(t, dir, "open/closed", "x\n", "open/fixed", "x\n", "fixed/f", "x\n", "closed/f", "x\n", "through/f", "x\n", "open/.gitignore", "x\n", "open/.git/HEAD", "")
	for name, mode := range map[string]os.FileMode{"open": 0o777, "open/closed": 0, "open/fixed": 0o444, "fixed": 0o555, "fixed/f": 0o666, "closed": 0, "through": 0o711,
		"through/f": 0o644, "open/.gitignore": 0} {
		must(t, os.Chmod(dir+"/"+name, mode))
	}
	t.Cleanup(func() { os.Chmod(dir+"/closed", 0o700) })
	denied := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, os.ErrPermission) || errors.Is(err, files.ErrMoved) {
			t.Errorf("%s: %v", what, err)
		}
	}
	asNobody(t, func() {
		_, err := files.Read(dir+"/open/closed", 0, 0)
		denied("reading a closed file", err)
		_, err = files.Read(dir+"/closed/f", 0, 0)
		denied("reading in a closed folder", err)
		_, err = files.List(dir+"/closed", 1)
		denied("listing a closed folder", err)
		if text, err := files.Read(dir+"/through/f", 0, 0); err != nil || text.Text != "x\n" {
			t.Errorf("below a folder that can not be listed: %v", err)
		}
		for _, at := range []string{"/open/fixed", "/fixed/f"} {
			c, err := files.PlanEdit(dir+at, "x", "y", false)
			if err != nil {
				t.Error(err)
			}
			denied("writing "+at, c.Apply())
		}
		c, err := files.PlanWrite(dir+"/fixed/a/b/new", "x")
		if err != nil {
			t.Error(err)
		}
		denied("writing in a fixed folder", c.Apply())
		found, err := files.Search(context.Background(), dir, files.Query{Pattern: "x"})
		if err != nil || len(found.Hits) != 2 || len(found.Skipped) != 1 || found.Skipped[0] != "4 not readable" {
			t.Errorf("%+v, %v", found, err)
		}
		l, err := files.List(dir, 2)
		if err != nil || len(l.Closed) == 0 || l.Closed[0] != "closed/" {
			t.Errorf("%+v, %v", l, err)
		}
	})
	for _, at := range []string{"/open/fixed", "/fixed/f"} {
		if get(t, dir+at) != "x\n" {
			t.Errorf("%s is %q", at, get(t, dir+at))
		}
	}
}

// Who may write a file of somebody else does not make it their own.
func TestOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir := public(t)
	put(t, dir, "f", "x\n")
	must(t, os.Chown(dir+"/f", 1234, 5678))
	must(t, os.Chmod(dir+"/f", 0o666))
	c, err := files.PlanEdit(dir+"/f", "x", "y", false)
	must(t, err)
	must(t, c.Apply())
	var st unix.Stat_t
	must(t, unix.Stat(dir+"/f", &st))
	if st.Uid != 1234 || st.Gid != 5678 || st.Mode&0o777 != 0o666 {
		t.Errorf("%d:%d %o", st.Uid, st.Gid, st.Mode)
	}
	must(t, os.Chmod(dir, 0o777))
	c, err = files.PlanEdit(dir+"/f", "y", "z", false)
	must(t, err)
	asNobody(t, func() { wantError(t, c.Apply(), "its owner or group is another (1234:5678)") })
	if len(entries(t, dir)) != 1 || get(t, dir+"/f") != "y\n" {
		t.Errorf("%q, %v", get(t, dir+"/f"), entries(t, dir))
	}
}
