package tools

import "syscall"

// attributes make a program the leader of a session without terminal, and let
// the kernel kill it when amacs dies (PR_SET_PDEATHSIG, prctl(2)).
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}
