package console

import "golang.org/x/sys/unix"

// flush drops what was typed on a terminal and not read yet. tcflush(3)
func flush(fd int) { _ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) } // no terminal, nothing typed
