package agent

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

const (
	grace     = 2 * time.Second        // from SIGTERM to SIGKILL
	leftovers = 100 * time.Millisecond // the same, for what an ended CLI left behind
	patience  = 80 * time.Millisecond  // how long a caller who gave up waits for the end
	linger    = 500 * time.Millisecond // how long an ended CLI's pipes may stay open without a byte
)

// process is a running CLI: the leader of a session and a process group.
type process struct {
	cmd    *exec.Cmd
	chunks chan []byte   // stdout; closed at its end
	exited chan struct{} // closed when the leader has ended and err is set
	err    error
	quit   chan struct{} // closed when nobody reads chunks any more
	pipes  []*os.File    // our ends
	stderr excerpt
	drains sync.WaitGroup // those who read the pipes
	ended  func()         // called when nothing of it is left
}

// start runs the program at path. stdin may be nil.
func start(path string, p plan, dir string, stdin *os.File, tty bool) (*process, error) {
	cmd := &exec.Cmd{Path: path, Args: p.args, Env: p.env, Dir: dir, SysProcAttr: attributes()}
	pr := &process{cmd: cmd, chunks: make(chan []byte), exited: make(chan struct{}), quit: make(chan struct{})}
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
	}()
	if stdin != nil {
		cmd.Stdin = stdin
	}
	var stdout *os.File
	if tty {
		ours, other, err := pty.Open()
		if err != nil {
			return nil, err
		}
		stdout, theirs, pr.pipes = ours, []*os.File{other}, []*os.File{ours}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = other, other, other
		cmd.SysProcAttr.Setctty = true
	} else {
		out, outW, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		widen(outW)
		pr.pipes, theirs = []*os.File{out}, []*os.File{outW}
		fail, failW, err := os.Pipe()
		if err != nil {
			out.Close()
			return nil, err
		}
		pr.pipes, theirs = append(pr.pipes, fail), append(theirs, failW)
		stdout, cmd.Stdout, cmd.Stderr = out, outW, failW
	}
	if err := cmd.Start(); err != nil {
		pr.close()
		return nil, err
	}
	pr.drains.Add(1)
	go pr.read(stdout)
	if !tty {
		pr.drains.Add(1)
		go func() {
			defer pr.drains.Done()
			io.Copy(&pr.stderr, pr.pipes[1]) // an error is the end of what it says
		}()
	}
	go func() {
		pr.err = cmd.Wait()
		close(pr.exited)
	}()
	return pr, nil
}

// read passes on stdout.
func (p *process) read(stdout *os.File) {
	defer p.drains.Done()
	defer close(p.chunks)
	for {
		buf := make([]byte, 32<<10)
		n, err := stdout.Read(buf)
		if n > 0 {
			select {
			case p.chunks <- buf[:n]:
			case <-p.quit:
				return
			}
		}
		if err != nil { // the end: EOF, our own close, EIO of a terminal
			return
		}
	}
}

// stop ends the CLI. It returns when it has ended, at the latest after patience;
// then the rest happens by itself.
func (p *process) stop() {
	close(p.quit)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.endGroup(grace)
		<-p.exited
		p.close()
		p.ended()
	}()
	select {
	case <-ended:
	case <-time.After(patience):
	}
}

// endGroup sends SIGTERM to the group and, if some of it lives on after a
// while, SIGKILL.
func (p *process) endGroup(while time.Duration) {
	p.signal(syscall.SIGTERM)
	for end := time.Now().Add(while); p.lives(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			p.signal(syscall.SIGKILL)
			return
		}
	}
}

// lives reports whether a process of the group is there.
func (p *process) lives() bool { return !errors.Is(p.signal(0), syscall.ESRCH) }

func (p *process) signal(s syscall.Signal) error { return syscall.Kill(-p.cmd.Process.Pid, s) }

// release waits until the pipes have ended, or for a moment where someone who
// is out of reach still holds them, and lets go of them.
func (p *process) release() {
	read := make(chan struct{})
	go func() {
		p.drains.Wait()
		close(read)
	}()
	select {
	case <-read:
	case <-time.After(linger):
	}
	p.close()
	p.ended()
}

func (p *process) close() {
	for _, f := range p.pipes {
		f.Close()
	}
}

// excerpt keeps the beginning and the end of what is written to it.
type excerpt struct {
	mu         sync.Mutex
	head, tail []byte
	cut        bool
}

func (x *excerpt) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n := len(b)
	room := min(n, tailSize-len(x.head))
	x.head = append(x.head, b[:room]...)
	x.tail = append(x.tail, b[room:]...)
	if len(x.tail) > tailSize {
		x.tail, x.cut = tail(x.tail), true
	}
	return n, nil
}

func (x *excerpt) String() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.cut {
		return string(x.head) + "\n[...]\n" + string(x.tail)
	}
	return string(x.head) + string(x.tail)
}
