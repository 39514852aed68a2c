package process

import (
	"errors"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supported says what confinement holds here: none.
func Supported() Support { return Support{Why: "this needs Linux"} }

// Confined is the helper's main; here there is none.
func Confined([]string) error { return errors.New("commands are confined on Linux only") }

func alone() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func private(bool) *syscall.SysProcAttr { return alone() }

// await waits for the end of a child without reaping it.
func await(pid int) {
	const one = 1            // P_PID
	var info [128 / 8]uint64 // siginfo_t
	for {
		_, _, err := syscall.Syscall6(syscall.SYS_WAITID, one, uintptr(pid), uintptr(unsafe.Pointer(&info)),
			syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if err != syscall.EINTR {
			return
		}
	}
}

// sweep kills what is left of the command's process group. How many there were
// is not told: one stands for all.
func (p *running) sweep() int {
	if unix.Kill(-p.process.Pid, unix.SIGKILL) != nil {
		return 0
	}
	return 1
}
