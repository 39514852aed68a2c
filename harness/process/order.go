package process

import "syscall"

// order is what the helper is to do, as gob (whose strings are bytes).
type order struct {
	Path    string // of the program
	Argv    []string
	Dir     string
	Env     []string
	Grant   *Grant
	Private bool // it was started in new namespaces
}

// answer is what the helper says at the end.
type answer struct {
	Err    string // the command was not started, and why
	Status syscall.WaitStatus
	Left   int
}
