package process

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// running is a command that was started, or its helper.
type running struct {
	process *os.Process
	out     *os.File      // what it writes
	ended   chan struct{} // closed when it has ended, and before it is reaped: its number is its own until then
	line    *os.File      // to the helper; nil without one
	answer  *os.File      // from the helper
}

// find says where the program is. A name without a slash is looked up in the
// PATH of the command's environment.
func find(c Command) (string, error) {
	name := c.Argv[0]
	if c.Dir != "" {
		if i, err := os.Stat(c.Dir); err != nil || !i.IsDir() {
			return "", fmt.Errorf("cannot run %s in %s: there is no such folder", name, c.Dir)
		}
	}
	if strings.Contains(name, "/") {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		if err := runnable(path); err != nil {
			return "", fmt.Errorf("cannot run %s: %w", name, err)
		}
		return filepath.Abs(path)
	}
	list := ""
	for _, v := range c.Env {
		if p, ok := strings.CutPrefix(v, "PATH="); ok {
			list = p
		}
	}
	var first error
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			continue // a program of the current folder is called by its path
		}
		path := filepath.Join(dir, name)
		err := runnable(path)
		if err == nil {
			return path, nil
		}
		if first == nil && !errors.Is(err, fs.ErrNotExist) {
			first = fmt.Errorf("%s: %w", path, err)
		}
	}
	if first != nil {
		return "", fmt.Errorf("cannot run %s: %w", name, first)
	}
	return "", fmt.Errorf("cannot run %s: there is no such program on the PATH", name)
}

func runnable(path string) error {
	i, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return fs.ErrNotExist
	case err != nil:
		return err
	case i.IsDir():
		return errors.New("it is a folder")
	case i.Mode()&0o111 == 0:
		return errors.New("it is not executable")
	}
	return nil
}

// start starts the command, or the helper that is to run it.
func start(c Command, path string) (*running, error) {
	p := &running{ended: make(chan struct{})}
	var ends ends
	err := p.start(c, path, &ends)
	for _, f := range ends.theirs {
		f.Close()
	}
	if err != nil {
		for _, f := range ends.ours {
			f.Close()
		}
		return nil, fmt.Errorf("cannot run %s: %w", c.Argv[0], err)
	}
	return p, nil
}

func (p *running) start(c Command, path string, ends *ends) (err error) {
	var out, stdin, feed *os.File
	if p.out, out, err = ends.toRead(); err != nil {
		return err
	}
	if len(c.Stdin) > 0 {
		feed, stdin, err = ends.toWrite()
	} else if stdin, err = os.Open(os.DevNull); err == nil {
		ends.theirs = append(ends.theirs, stdin)
	}
	if err != nil {
		return err
	}
	files := []*os.File{stdin, out, out}
	if len(c.Helper) == 0 || runtime.GOOS != "linux" {
		attr := os.ProcAttr{Dir: c.Dir, Env: append([]string{}, c.Env...), Files: files}
		err = p.launch(path, c.Argv, attr, alone())
	} else {
		err = p.startHelper(c, path, files, ends)
	}
	if err == nil && feed != nil {
		go func() {
			feed.Write(c.Stdin) // who does not read all of it need not
			feed.Close()
		}()
	}
	return err
}

func (p *running) startHelper(c Command, path string, files []*os.File, ends *ends) error {
	dir, err := filepath.Abs(c.Dir)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	var orders, answers *os.File
	if p.line, orders, err = ends.toWrite(); err != nil {
		return err
	}
	if p.answer, answers, err = ends.toRead(); err != nil {
		return err
	}
	o := order{Path: path, Argv: c.Argv, Dir: dir, Env: c.Env, Grant: c.Grant}
	attr := os.ProcAttr{Dir: "/", Env: []string{}, Files: append(files, orders, answers)}
	if c.Grant != nil {
		o.Private = p.launch(c.Helper[0], c.Helper, attr, private(c.Grant.Network)) == nil
	}
	if !o.Private { // where namespaces are forbidden, Landlock alone
		if err := p.launch(c.Helper[0], c.Helper, attr, &syscall.SysProcAttr{Setsid: true}); err != nil {
			return err
		}
	}
	go gob.NewEncoder(p.line).Encode(o) // a helper that does not read it ends without an answer
	return nil
}

// ends are those of the pipes to a process: ours, and its own.
type ends struct{ ours, theirs []*os.File }

func (e *ends) toRead() (ours, theirs *os.File, err error) {
	ours, theirs, err = os.Pipe()
	e.keep(ours, theirs, err)
	return ours, theirs, err
}

func (e *ends) toWrite() (ours, theirs *os.File, err error) {
	theirs, ours, err = os.Pipe()
	e.keep(ours, theirs, err)
	return ours, theirs, err
}

func (e *ends) keep(ours, theirs *os.File, err error) {
	if err == nil {
		e.ours, e.theirs = append(e.ours, ours), append(e.theirs, theirs)
	}
}

// launch starts a process and watches for its end. PR_SET_PDEATHSIG is sent when
// the thread that started the process ends: it is kept for as long.
func (p *running) launch(path string, argv []string, attr os.ProcAttr, sys *syscall.SysProcAttr) error {
	attr.Sys = sys
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		process, err := os.StartProcess(path, argv, &attr)
		p.process = process
		started <- err
		if err == nil {
			await(process.Pid)
			close(p.ended)
		}
	}()
	return <-started
}

func (p *running) terminate() { unix.Kill(-p.process.Pid, unix.SIGTERM) }

// kill ends what did not end when it was told to: by the helper if there is one,
// and when called again the helper too.
func (p *running) kill() {
	if p.line != nil {
		p.line.Close()
		p.line = nil
		return
	}
	unix.Kill(-p.process.Pid, unix.SIGKILL)
}

// hear takes the answer of a helper that has ended, if it gave one.
func (p *running) hear() (a answer, ok bool) {
	if p.answer == nil {
		return a, false
	}
	defer p.answer.Close()
	return a, gob.NewDecoder(p.answer).Decode(&a) == nil
}

// close reaps the process.
func (p *running) close() (*os.ProcessState, error) {
	if p.line != nil {
		p.line.Close()
	}
	return p.process.Wait()
}

// end takes over how a process ended.
func (r *Result) end(s syscall.WaitStatus) {
	r.Code = s.ExitStatus()
	if s.Signaled() {
		r.Code = 128 + int(s.Signal())
		r.Signal = unix.SignalName(s.Signal())
	}
}
