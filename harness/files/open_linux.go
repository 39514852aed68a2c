package files

import "golang.org/x/sys/unix"

// onTheWay opens a folder to go through it; that needs no right to list it.
const onTheWay = unix.O_PATH
