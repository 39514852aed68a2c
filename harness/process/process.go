// Package process runs a command: bounded in time and output, ended with all
// that it started, and on Linux confined to the folders and the network that it
// was granted.
//
//	r, err := process.Run(ctx, process.Command{
//		Argv:   []string{"go", "test", "./..."},
//		Dir:    "/home/u/proj",
//		Env:    process.Scrub(os.Environ()),
//		Time:   5 * time.Minute,
//		Tail:   4000,
//		Grant:  &process.Grant{Read: []string{"/usr", "/etc"}, Write: []string{"/home/u/proj", tmp}},
//		Helper: []string{"/usr/bin/amacs", "confined"},
//	})
//	r.Code, r.Out // 1, "--- FAIL: TestX …"
//
// A command has a session of its own and no terminal. At its end what it left
// running is killed. On Linux a helper keeps watch over it: this very program,
// started once more, whose main calls [Confined]. The helper gets its [Command]
// through a pipe (nothing of it shows in ps), makes the walls, starts the
// command, and kills all that comes from it when the command ends or when amacs
// dies, also of kill -9. Without a helper only the command itself dies with amacs
// (PR_SET_PDEATHSIG), and what moves to a session of its own gets away; outside
// Linux there is no helper, and nothing dies with amacs.
//
// Confinement has two layers; [Supported] says which of them this machine has.
//
//   - Namespaces: a root folder made of the granted folders alone, those to read
//     mounted read-only; no other processes in sight; without Network, no network
//     but a loopback of its own. A new user namespace makes this possible for
//     everybody; some systems and most containers forbid it.
//   - Landlock, on top of them or alone: files by path, TCP, signals and abstract
//     sockets outside. Alone it does not stop changes of a file's mode, times or
//     attributes, nor UDP, nor connecting to unix sockets by path (docker.sock)
//     before its ABI 9.
//
// In both, all capabilities are dropped but root's right to open what belongs to
// others, and set-user-ID programs gain nothing. Granted unasked: reading /proc
// (its own; where a new one can not be mounted, that of the machine, with other
// processes' command lines), /dev/null, zero, full, random and urandom, and with
// namespaces an empty /dev/shm and the names in /. A temporary folder is the
// caller's to make, grant and name in TMPDIR.
//
// Memory, the number of processes and the disk are not limited. With the helper,
// core dumps are off.
//
// Begin reading at [Run]; the helper's side begins at [Confined].
package process

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// Command is what to run and within which bounds. A zero bound of Time is none;
// of Output and Tail it is nothing kept.
type Command struct {
	Argv   []string      // a program and its arguments
	Dir    string        // "" = the current folder
	Env    []string      // the whole environment; its PATH finds the program
	Stdin  []byte        // none: /dev/null
	Time   time.Duration // then SIGTERM to its process group, SIGKILL 2 s later
	Output int64         // bytes written to Raw; the command goes on, the rest is dropped
	Tail   int           // bytes of the end kept in Result.Out
	Raw    string        // file that gets stdout and stderr as they came, mode 0600; "" = none
	Grant  *Grant        // what a confined command may touch; nil: not confined
	Helper []string      // how this program is started as the helper, by its absolute path; needed for a Grant
	Watch  func([]byte)  // is told output as it comes; must not keep the bytes; may be nil
}

// Grant is what a confined command may touch: files, and folders with all below
// them, as absolute paths. What does not exist or can not be reached is left out;
// links are followed: grant the path that was judged. Write implies read, both
// imply execution.
//
// Guard are files and folders below Write that are only read all the same, but
// for what of Write lies deeper. Landlock alone knows no such thing: there the
// folders around a guard take no new names.
type Grant struct {
	Read, Write []string
	Guard       []string
	Network     bool
}

// Result says how a command ended.
type Result struct {
	Code      int           // its exit code; 128 + the signal's number when one ended it
	Signal    string        // "SIGTERM"; "" when it ended by itself
	Out       string        // the end of its output, made valid UTF-8; control sequences are left in
	Bytes     int64         // of output in all
	Cut       bool          // Out is less than all of it
	TimedOut  bool          // Command.Time was over
	Cancelled bool          // the context ended first
	Took      time.Duration // from its start to its end
	Left      int           // processes that outlived it and were killed
}

// grace is how long a command may take to end after SIGTERM.
const grace = 2 * time.Second

// Run runs a command and waits for its end. An exit code or a signal is a
// Result; an error says that the command could not be started, could not be
// confined as it was to be, or that Raw could not be written.
func Run(ctx context.Context, c Command) (Result, error) {
	if len(c.Argv) == 0 {
		return Result{}, errors.New("no command to run")
	}
	if err := c.granted(); err != nil {
		return Result{}, fmt.Errorf("cannot run %s confined: %w", c.Argv[0], err)
	}
	path, err := find(c)
	if err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{Cancelled: true}, nil
	}
	keep, err := openOutput(c)
	if err != nil {
		return Result{}, err
	}
	r, err := run(ctx, c, path, keep)
	r.Bytes = keep.bytes
	r.Out, r.Cut = keep.text()
	return r, errors.Join(err, keep.close())
}

// granted says what is wrong with the grant itself.
func (c Command) granted() error {
	switch {
	case c.Grant == nil:
		return nil
	case runtime.GOOS != "linux":
		return errors.New("this needs Linux")
	case len(c.Helper) == 0:
		return errors.New("no helper is known")
	}
	for _, path := range slices.Concat(c.Grant.Read, c.Grant.Write, c.Grant.Guard) {
		if !filepath.IsAbs(path) {
			return fmt.Errorf("the granted path %q is not absolute", path)
		}
	}
	return nil
}

func run(ctx context.Context, c Command, path string, keep *output) (r Result, err error) {
	from := time.Now()
	defer func() { r.Took = time.Since(from) }()
	p, err := start(c, path)
	if err != nil {
		return r, err
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		keep.copy(p.out)
	}()

	var over <-chan time.Time
	if c.Time > 0 {
		t := time.NewTimer(c.Time)
		defer t.Stop()
		over = t.C
	}
	done, harder := ctx.Done(), (<-chan time.Time)(nil)
	for running := true; running; {
		select {
		case <-p.ended:
			running = false
			continue
		case <-over:
			r.TimedOut = true
		case <-done:
			r.Cancelled = true
		case <-harder:
			p.kill()
			harder = time.After(grace)
			continue
		}
		over, done, harder = nil, nil, time.After(grace)
		p.terminate()
	}
	a, heard := p.hear()
	if !heard {
		r.Left = p.sweep()
	}
	state, err := p.close()
	if err != nil {
		return r, fmt.Errorf("cannot wait for %s: %w", c.Argv[0], err)
	}
	keep.finish(p.out)
	<-read
	p.out.Close()

	switch {
	case heard && a.Err == "":
		r.end(a.Status)
		r.Left = a.Left
	case p.answer == nil || r.TimedOut || r.Cancelled: // no helper, or it was ended too
		r.end(state.Sys().(syscall.WaitStatus))
	case heard:
		return r, fmt.Errorf("cannot run %s: %s", c.Argv[0], a.Err)
	default:
		return r, fmt.Errorf("cannot run %s: the helper %s ended (%s) without a word", c.Argv[0], c.Helper[0], state)
	}
	return r, nil
}
