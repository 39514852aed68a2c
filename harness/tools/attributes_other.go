//go:build !linux

package tools

import "syscall"

// attributes make a program the leader of a session without terminal.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
