package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Landlock's rights, landlock(7). What a version does not know is not asked of it.
const (
	execute = unix.LANDLOCK_ACCESS_FS_EXECUTE
	readIt  = unix.LANDLOCK_ACCESS_FS_READ_FILE
	listIt  = unix.LANDLOCK_ACCESS_FS_READ_DIR
	reading = execute | readIt | listIt

	writeIt = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	writing = reading | writeIt | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SYM |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX

	device = readIt | writeIt | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV

	// What a rule about something that is no folder may hold.
	ofFile = execute | readIt | writeIt | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_RESOLVE_UNIX
)

// devices may be opened by every command.
var devices = [...]string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

func landlockABI() int {
	v, _, err := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if err != 0 {
		return 0
	}
	return int(v)
}

// rules is all that a version of Landlock can forbid.
func rules(abi int, g Grant, private bool) unix.LandlockRulesetAttr {
	bits := 13
	for _, since := range []int{2, 3, 5, 9} { // refer, truncate, ioctl_dev, resolve_unix
		if abi >= since {
			bits++
		}
	}
	all := unix.LandlockRulesetAttr{Handled_access_fs: 1<<bits - 1}
	if !g.Network && !private { // in a network namespace the loopback is the command's own
		if abi >= 4 {
			all.Handled_access_net |= unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
		}
		if abi >= 10 {
			all.Handled_access_net |= unix.LANDLOCK_ACCESS_NET_BIND_UDP | unix.LANDLOCK_ACCESS_NET_CONNECT_SEND_UDP
		}
	}
	if abi >= 6 {
		all.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return all
}

// landlock restricts this thread, and what it starts, to the grant.
func landlock(g Grant, abi int, private bool) error {
	all := rules(abi, g, private)
	set, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&all)), unsafe.Sizeof(all), 0)
	if errno != 0 {
		return fmt.Errorf("cannot make the rules of Landlock: %w", errno)
	}
	defer unix.Close(int(set))
	allow := func(rights uint64, paths ...string) error {
		for _, path := range paths {
			if err := allow(int(set), path, rights&all.Handled_access_fs); err != nil {
				return fmt.Errorf("cannot grant %s: %w", path, err)
			}
		}
		return nil
	}
	own := []string{}
	if private {
		own = append(own, "/dev/shm")
		if err := allow(listIt, "/"); err != nil { // only what was granted is there
			return err
		}
	}
	if err := errors.Join(
		allow(readIt|listIt, "/proc"),
		allow(device, devices[:]...),
		allow(writing, own...),
		allow(reading, slices.Concat(g.Read, g.Guard, g.Write)...),
		allow(writing, g.open(private)...),
	); err != nil {
		return err
	}
	if _, _, errno := syscall.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, set, 0, 0); errno != 0 {
		return fmt.Errorf("cannot put Landlock in force: %w", errno)
	}
	return nil
}

// open is what may be written as Landlock is told: where mounts do not keep the
// guards, what lies beside them.
func (g Grant) open(private bool) (paths []string) {
	if private {
		return g.Write
	}
	for _, w := range g.Write {
		paths = append(paths, beside(w, g.Guard)...)
	}
	return paths
}

// beside is path, without the guards in it.
func beside(path string, guards []string) (paths []string) {
	holds := false
	for _, guard := range guards {
		if beneath(path, guard) && path != guard {
			continue // granted again, deeper than the guard
		}
		if path == guard {
			return nil
		}
		holds = holds || beneath(guard, path)
	}
	if !holds {
		return []string{path}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		paths = append(paths, beside(filepath.Join(path, e.Name()), guards)...)
	}
	return paths
}

// unreachable says that a granted path leads nowhere for this user: it is left out.
func unreachable(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ELOOP)
}

// allow adds a rule about a file or a folder.
func allow(set int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if unreachable(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var is unix.Stat_t
	if err := unix.Fstat(fd, &is); err != nil {
		return err
	}
	if is.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= ofFile
	}
	if rights == 0 {
		return nil
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	if _, _, errno := syscall.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&rule)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
