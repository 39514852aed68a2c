package tools

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	grace    = time.Second            // for a program to end by itself, and then by SIGTERM
	settling = 500 * time.Millisecond // from the end of its output to its end
	kept     = 4 << 10                // bytes of stderr
)

// program is a server on this machine: the leader of a session and a process
// group. It speaks one JSON message a line (see pipe.go).
type program struct {
	cmd    *exec.Cmd
	pipe   pipe
	stderr tail
	heard  chan struct{} // closed when stderr has ended
	exited chan struct{} // closed when the leader has ended and err is set
	err    error
	leash  *os.File
}

// start runs the program of an entry. dir is where it runs if the entry does
// not say; an entry's folder is relative to it.
func start(e Server, dir string, env environment, secrets *secrets) (*program, error) {
	given, err := env.child(e.Env, secrets)
	if err != nil {
		return nil, err
	}
	if dir, err = folder(e.Dir, dir, env["HOME"]); err != nil {
		return nil, err
	}
	path, err := find(e.Command[0], dir, newEnvironment(given)["PATH"])
	if err != nil {
		return nil, err
	}
	p := &program{
		cmd:   &exec.Cmd{Path: path, Args: e.Command, Env: given, Dir: dir, SysProcAttr: attributes()},
		heard: make(chan struct{}), exited: make(chan struct{}),
	}
	var pipes []*os.File
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return nil, cmp.Or(err, closeAll(pipes))
		}
		pipes = append(pipes, r, w)
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = pipes[0], pipes[3], pipes[5]
	p.pipe.open(pipes[1], pipes[2])
	if err = p.cmd.Start(); err == nil {
		p.leash, err = leash(p.cmd.Process.Pid)
		go func() {
			p.err = p.cmd.Wait()
			close(p.exited)
		}()
		if err != nil {
			p.signal(syscall.SIGKILL)
		}
	}
	if err != nil {
		return nil, cmp.Or(fmt.Errorf("can not be started: %w", err), closeAll(pipes))
	}
	go func() {
		defer close(p.heard)
		defer pipes[4].Close()
		io.Copy(&p.stderr, pipes[4]) // an error is the end of what it says
	}()
	return p, closeAll([]*os.File{pipes[0], pipes[3], pipes[5]})
}

func closeAll(files []*os.File) (err error) {
	for _, f := range files {
		err = cmp.Or(err, f.Close())
	}
	return err
}

// folder is where a program runs: an absolute path that is there.
func folder(entry, dir, home string) (string, error) {
	if rest, ok := strings.CutPrefix(entry, "~/"); ok {
		entry = filepath.Join(home, rest)
	}
	if entry != "" && filepath.IsAbs(entry) {
		dir = entry
	} else {
		dir = filepath.Join(dir, entry)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("the folder to run in: %w; `dir` of its entry in config.yaml says where", err)
	} else if !info.IsDir() {
		return "", fmt.Errorf("the folder to run in: %s is a file; `dir` of its entry in config.yaml says where", dir)
	}
	return dir, nil
}

// find looks a program up: a name in the folders of path, anything else from dir.
func find(name, dir, path string) (string, error) {
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		found, err := exec.LookPath(name)
		if err != nil {
			return "", fmt.Errorf("can not be started: %w; `command` of its entry in config.yaml names it", err)
		}
		return found, nil
	}
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(folder, name)); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("can not be started: there is no program %q on the PATH; install it, or name its path as `command` of its entry in config.yaml", name)
}

// leash starts a shell that kills the process group when amacs is gone without
// a word, be it by kill -9: a launcher like npx has the server as a child, which
// no signal of the kernel would reach. Closing the file after a line lets go.
func leash(group int) (*os.File, error) {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd := exec.Command("/bin/sh", "-c", `read -r end || kill -s KILL -- "-$1"`, "amacs-leash", fmt.Sprint(group))
	cmd.Stdin, cmd.Dir, cmd.Env = theirs, "/", []string{}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, cmp.Or(err, ours.Close())
	}
	go cmd.Wait() // it ends when let go; how does not matter
	return ours, nil
}

func (p *program) signal(s syscall.Signal) error { return syscall.Kill(-p.cmd.Process.Pid, s) }

// stop ends the program as MCP says (2025-11-25, Lifecycle, § Shutdown): its
// input ends, then SIGTERM, then SIGKILL; the last two go to the whole group.
func (p *program) stop() {
	p.pipe.in.Close() // twice is no harm
	if !p.gone(grace) {
		p.signal(syscall.SIGTERM)
		if !p.gone(grace) {
			p.signal(syscall.SIGKILL)
			p.gone(settling)
		}
	}
	p.pipe.Close()
	fmt.Fprintln(p.leash, "end")
	p.leash.Close()
}

// gone waits until nothing of the group is left.
func (p *program) gone(within time.Duration) bool {
	for end := time.Now().Add(within); ; time.Sleep(2 * time.Millisecond) {
		select {
		case <-p.exited:
			if errors.Is(p.signal(0), syscall.ESRCH) {
				return true
			}
		default:
		}
		if time.Now().After(end) {
			return false
		}
	}
}

func (p *program) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return !p.pipe.broken()
	}
}

func (p *program) trouble() string {
	wrong, ours := p.pipe.fault()
	if wrong != "" || ours || p.alive() {
		return wrong
	}
	select {
	case <-p.exited:
		wait(p.heard, settling) // somebody else may hold it open
		if p.err != nil {
			return fmt.Sprintf("it ended (%s)", p.err)
		}
		return "it ended"
	case <-time.After(settling):
		return "it closed its output"
	}
}

func (p *program) said() string {
	if noise := p.pipe.noise(); noise != "" {
		return p.stderr.String() + "\non stdout, where only messages should be: " + noise
	}
	return p.stderr.String()
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-kept):]...)
	t.text = append(t.text[:0], t.text[max(0, len(t.text)-kept):]...)
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}

// wait waits for c, and no longer than that.
func wait(c <-chan struct{}, most time.Duration) {
	select {
	case <-c:
	case <-time.After(most):
	}
}
