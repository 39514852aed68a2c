package agent

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// leash is a shell that waits for the end of amacs: when amacs is gone without
// a word, be it by kill -9, the shell kills the process group that it was told
// of and removes the run's folder. A node script, as many CLIs are, has the CLI
// itself as a child, which no signal of the kernel would reach.
type leash struct{ words *os.File }

const leashScript = `read -r group
read -r end || kill -s KILL -- "-$group"
[ ! -e "$1" ] || rm -rf -- "$1"`

// newLeash starts one for the run whose folder is dir.
func newLeash(dir string) (*leash, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command("/bin/sh", "-c", leashScript, "amacs-leash", dir)
	cmd.Stdin, cmd.Dir = theirs, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		ours.Close()
		return nil, err
	}
	go cmd.Wait() // it ends when let go; how does not matter
	return &leash{ours}, nil
}

// hold names the group to kill. A leash that somebody has ended holds nothing.
func (l *leash) hold(group int) { fmt.Fprintln(l.words, group) }

// letGo ends it: what is left of the run's folder is removed, and nothing killed.
func (l *leash) letGo() {
	fmt.Fprint(l.words, "\nend\n")
	l.words.Close()
}
