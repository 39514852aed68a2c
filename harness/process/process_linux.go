package process

import (
	"bytes"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// alone starts a process in a session of its own, which dies with amacs.
func alone() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// private starts a process as the first one of new namespaces, with the rights
// to furnish them. Users and groups are the same within.
func private(network bool) *syscall.SysProcAttr {
	flags := unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWIPC
	if !network {
		flags |= unix.CLONE_NEWNET
	}
	return &syscall.SysProcAttr{
		Setsid:       true,
		Cloneflags:   uintptr(flags),
		Unshareflags: unix.CLONE_NEWNS, // with it, Go makes the mounts private: nothing mounted here shows outside
		UidMappings:  []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}},
		GidMappings:  []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}},
		AmbientCaps:  []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_RESOURCE},
	}
}

// await waits for the end of a child without reaping it.
func await(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// Supported asks the kernel what confinement holds. It starts a process that
// ends at once: about a millisecond.
func Supported() Support {
	// Whether namespaces may be made, and mounts in them, is known before the
	// program is looked for, which is not there.
	sys := private(false)
	_, err := os.StartProcess("/proc/self/no such program", []string{""}, &os.ProcAttr{Env: []string{}, Sys: sys})
	if e, ok := err.(*os.PathError); ok {
		err = e.Err
	}
	if err == unix.ENOENT {
		err = nil
	}
	return judge(landlockABI(), err)
}

// sweep kills what is left of the command's session, and says how many there
// were.
func (p *running) sweep() int {
	me := p.process.Pid
	return killAll(func(q entry) bool { return q.session == me && q.pid != me })
}

// entry is a line of the table of processes.
type entry struct{ pid, parent, session int }

// processes lists those that are alive. One that ends meanwhile is left out.
func processes() ([]entry, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var all []entry
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue
		}
		if e, ok := readStat(pid, stat); ok {
			all = append(all, e)
		}
	}
	return all, nil
}

// readStat reads "12 (a name) S 1 12 12 …": the name may hold anything.
// A process that has ended but was not reaped is none. proc_pid_stat(5)
func readStat(pid int, stat []byte) (entry, bool) {
	f := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(f) < 4 || f[0][0] == 'Z' || f[0][0] == 'X' {
		return entry{}, false
	}
	parent, err1 := strconv.Atoi(string(f[1]))
	session, err2 := strconv.Atoi(string(f[3]))
	return entry{pid, parent, session}, err1 == nil && err2 == nil
}

// killAll kills until none is left, since what is killed may have started more,
// and counts.
func killAll(who func(entry) bool) int {
	killed := map[int]bool{}
	for {
		all, err := processes()
		if err != nil {
			return len(killed)
		}
		found := false
		for _, q := range all {
			if who(q) && unix.Kill(q.pid, unix.SIGKILL) == nil {
				found, killed[q.pid] = true, true
			}
		}
		if !found {
			return len(killed)
		}
	}
}
