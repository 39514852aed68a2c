//go:build !linux

package agent

import (
	"os"
	"syscall"
)

// attributes make the child leader of a session without terminal.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// widen does nothing: a pipe has its size here.
func widen(*os.File) {}
