package console

import "golang.org/x/sys/unix"

// flush drops what was typed on a terminal and not read yet. tty(4)
func flush(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, 1) } // no terminal, nothing typed
