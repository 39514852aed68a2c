package process

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Descriptors that the helper is started with.
const (
	orderFD  = 3 // an order, then nothing; its end says that amacs is gone
	answerFD = 4 // gets one answer
)

// Confined is the main of the helper that [Run] starts: it makes the walls,
// starts the command behind them, and ends with it and all that it left. It
// returns only where it was not Run that started it: nothing was run then.
func Confined(args []string) error {
	// What is laid down for this thread holds for what it starts, and not for
	// the helper's own threads: the command can not reach its keeper.
	runtime.LockOSThread()
	if !ordered() || len(args) > 0 {
		return errors.New("this is started by amacs itself, to run a command")
	}
	a, err := keep()
	if err != nil {
		a.Err = err.Error()
	}
	gob.NewEncoder(os.NewFile(answerFD, "answer")).Encode(a) // nobody hears it when amacs is gone
	syscall.Exit(0)                                          // at once: nothing is to be written any more
	return nil
}

// ordered says whether this process has the pipes of a helper.
func ordered() bool {
	for _, fd := range []int{orderFD, answerFD} {
		var s unix.Stat_t
		if err := unix.Fstat(fd, &s); err != nil || s.Mode&unix.S_IFMT != unix.S_IFIFO {
			return false
		}
	}
	return true
}

func keep() (answer, error) {
	if err := closeOnExec(); err != nil {
		return answer{}, err
	}
	// Caught, not ignored: the command must not inherit that.
	signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	from := os.NewFile(orderFD, "order")
	var o order
	if err := gob.NewDecoder(from).Decode(&o); err != nil {
		return answer{}, fmt.Errorf("the helper got no order: %w", err)
	}
	if o.Private != (os.Getpid() == 1) {
		return answer{}, errors.New("the helper was not started in namespaces of its own")
	}
	if !o.Private {
		// What loses its parent becomes this process's child.
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			return answer{}, fmt.Errorf("cannot keep watch over the command: %w", err)
		}
	}
	go func() {
		io.Copy(io.Discard, from)
		for { // amacs is gone, or wants an end: until the last one is reaped below
			killOffspring(o.Private)
			time.Sleep(10 * time.Millisecond)
		}
	}()
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return answer{}, fmt.Errorf("cannot switch core dumps off: %w", err)
	}
	if o.Grant != nil {
		if err := confine(*o.Grant, o.Private); err != nil {
			return answer{}, err
		}
	}
	if _, err := os.Stat(o.Dir); err != nil {
		return answer{}, fmt.Errorf("its folder %s is not among those granted", o.Dir)
	}
	pid, err := syscall.ForkExec(o.Path, o.Argv, &syscall.ProcAttr{Dir: o.Dir, Env: o.Env, Files: []uintptr{0, 1, 2}})
	if err != nil {
		if o.Grant != nil && (err == syscall.ENOENT || err == syscall.EACCES) {
			err = fmt.Errorf("%s or its interpreter or its folder is not among what was granted (%w)", o.Path, err)
		}
		return answer{}, err
	}
	return watch(pid, o.Private), nil
}

// closeOnExec keeps the helper's descriptors from the command, and those that
// amacs inherited itself: an open folder would be a way out.
func closeOnExec() error {
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return fmt.Errorf("cannot close what is open: %w", err)
	}
	for _, f := range open {
		if fd, err := strconv.Atoi(f.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// watch reaps until the command has ended, and then kills and reaps the rest.
func watch(pid int, private bool) answer {
	var a answer
	for {
		var s syscall.WaitStatus
		got, err := syscall.Wait4(-1, &s, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if got == pid || err != nil {
			a.Status = s
			break
		}
	}
	for { // what has ended before is not left over
		got, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		if err == syscall.ECHILD {
			return a
		}
		if err == nil && got == 0 {
			break
		}
	}
	for {
		killOffspring(private)
		var s syscall.WaitStatus
		_, err := syscall.Wait4(-1, &s, 0, nil)
		if err == syscall.ECHILD {
			return a
		}
		if err == nil && s.Signaled() && s.Signal() == syscall.SIGKILL {
			a.Left++
		}
	}
}

// killOffspring kills all that came from this process.
func killOffspring(private bool) {
	if private {
		unix.Kill(-1, unix.SIGKILL) // all but the first process of the namespace, which is this one
		return
	}
	all, err := processes()
	if err != nil {
		return
	}
	ours := map[int]bool{os.Getpid(): true}
	for more := true; more; {
		more = false
		for _, q := range all {
			if ours[q.parent] && !ours[q.pid] {
				ours[q.pid], more = true, true
			}
		}
	}
	delete(ours, os.Getpid())
	for pid := range ours {
		unix.Kill(pid, unix.SIGKILL)
	}
}

// confine makes the walls around this thread and what it starts.
func confine(g Grant, private bool) error {
	abi := landlockABI()
	if !holdsFiles(abi, private) {
		return fmt.Errorf("files can not be confined here (Landlock ABI %d)", abi)
	}
	if !g.Network && !private && abi < 4 {
		return fmt.Errorf("the network can not be taken away here (Landlock ABI %d, no namespaces)", abi)
	}
	if private {
		if err := furnish(g); err != nil {
			return err
		}
		if !g.Network {
			if err := loopback(); err != nil {
				return err
			}
		}
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	return landlock(g, abi, private)
}

// loopback brings up the only network that a new namespace has.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("cannot bring up the loopback: %w", err)
	}
	defer unix.Close(s)
	req, err := unix.NewIfreq("lo")
	if err == nil {
		req.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
		err = unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, req)
	}
	if err != nil {
		return fmt.Errorf("cannot bring up the loopback: %w", err)
	}
	return nil
}

// dropCapabilities leaves root the right to open what belongs to others, which
// Landlock bounds, and nothing else; no program gives more back.
// capabilities(7), PR_SET_NO_NEW_PRIVS(2const)
func dropCapabilities() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&head, &have[0]); err != nil {
		return fmt.Errorf("cannot read the capabilities: %w", err)
	}
	left := [2]unix.CapUserData{}
	left[0].Permitted = have[0].Permitted & (1 << unix.CAP_DAC_OVERRIDE)
	left[0].Effective = left[0].Permitted
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	if err == nil {
		err = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
	}
	if err == nil {
		err = unix.Capset(&head, &left[0])
	}
	if err != nil {
		return fmt.Errorf("cannot drop the capabilities: %w", err)
	}
	return nil
}
