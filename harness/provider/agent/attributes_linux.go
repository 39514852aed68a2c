package agent

import (
	"os"
	"syscall"
)

// attributes make the child leader of a session without terminal, and let the
// kernel kill it when amacs dies (PR_SET_PDEATHSIG, prctl(2)).
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// widen lets a pipe hold as much as it may (F_SETPIPE_SZ, fcntl(2)): node
// programs end without waiting until what they wrote is read, and gemini repeats
// the whole prompt before its answer.
func widen(pipe *os.File) {
	const setPipeSize, most = 1031, 1 << 20 // bytes; more needs a privilege
	syscall.Syscall(syscall.SYS_FCNTL, pipe.Fd(), setPipeSize, most)
}
