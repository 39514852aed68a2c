package console

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// input reads a file descriptor so that a waiting Read can be ended: by close
// for good, or by pause for as long as a child has the terminal. It waits in
// select(2), which, unlike poll(2), knows terminals on macOS too.
type input struct {
	fd     int
	wake   *os.File // written to end a wait
	woken  *os.File
	closed atomic.Bool

	mu      sync.Mutex
	change  *sync.Cond
	paused  bool
	waiting bool // a Read is in select or read
}

func openInput(f *os.File) (*input, error) {
	woken, wake, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	in := &input{fd: int(f.Fd()), wake: wake, woken: woken}
	in.change = sync.NewCond(&in.mu)
	if in.fd >= unix.FD_SETSIZE || int(woken.Fd()) >= unix.FD_SETSIZE {
		in.release()
		return nil, fmt.Errorf("reading %s: more than %d files are open", f.Name(), unix.FD_SETSIZE)
	}
	return in, nil
}

// Read returns what there is to read, waiting for it. It returns io.EOF at the
// end, on a hang-up, and once closed.
func (in *input) Read(p []byte) (int, error) {
	for !in.closed.Load() {
		in.mu.Lock()
		for in.paused {
			in.change.Wait()
		}
		in.waiting = true
		in.mu.Unlock()

		n, err := in.readOnce(p)

		in.mu.Lock()
		in.waiting = false
		in.change.Broadcast()
		in.mu.Unlock()
		if n > 0 || err != nil {
			return n, err
		}
	}
	return 0, io.EOF
}

// readOnce returns 0, nil if it was woken or must try again.
func (in *input) readOnce(p []byte) (int, error) {
	var ready unix.FdSet
	woken := int(in.woken.Fd())
	ready.Set(in.fd)
	ready.Set(woken)
	if _, err := unix.Select(max(in.fd, woken)+1, &ready, nil, nil, nil); err != nil {
		if errors.Is(err, unix.EINTR) {
			return 0, nil
		}
		return 0, fmt.Errorf("waiting for input: %w", err)
	}
	if ready.IsSet(woken) {
		var one [1]byte
		_, err := unix.Read(woken, one[:])
		return 0, err
	}
	n, err := unix.Read(in.fd, p)
	switch {
	case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
		return 0, nil
	case errors.Is(err, unix.EIO): // the terminal has gone
		return 0, io.EOF
	case err != nil:
		return 0, fmt.Errorf("reading input: %w", err)
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// pause returns when nothing reads and nothing will before resume.
func (in *input) pause() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.paused = true
	if in.waiting {
		in.interrupt()
	}
	for in.waiting {
		in.change.Wait()
	}
}

func (in *input) resume() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.paused = false
	in.change.Broadcast()
}

func (in *input) close() {
	in.closed.Store(true)
	in.resume()
	in.interrupt()
}

// interrupt can not block: a pipe holds far more than the few bytes ever sent.
func (in *input) interrupt() { _, _ = in.wake.Write([]byte{0}) }

// release frees the descriptors; nothing may read any more.
func (in *input) release() {
	in.wake.Close()
	in.woken.Close()
}
