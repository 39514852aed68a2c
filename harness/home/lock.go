package home

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// Two advisory locks, released by the kernel when their process ends. Their
// files are never removed: a second process could lock the name of a file that
// is already gone.
const (
	writeLock = stateDir + "/write.lock"
	tickLock  = stateDir + "/tick.lock"
)

// ErrBusy says that another process holds a lock.
var ErrBusy = errors.New("another process is at work on this home")

// Lock takes the write lock, waiting until ctx is done.
func (h *Home) Lock(ctx context.Context) (unlock func(), err error) {
	return h.acquire(ctx, writeLock, 2*time.Millisecond)
}

// Lease takes the tick lease, which one tick holds from wake to commit. waiting
// is called once, with who holds it, if it is not free at once.
func (h *Home) Lease(ctx context.Context, waiting func(holder string)) (release func(), err error) {
	release, err = h.TryLease()
	if errors.Is(err, ErrBusy) {
		if waiting != nil {
			waiting(h.holder())
		}
		if release, err = h.acquire(ctx, tickLock, 10*time.Millisecond); err == nil {
			h.signLease()
		}
	}
	return release, err
}

// TryLease takes the tick lease if it is free, else returns ErrBusy.
func (h *Home) TryLease() (release func(), err error) {
	l := flock.New(h.Path(tickLock), flock.SetPermissions(0o600))
	ok, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", tickLock, err)
	}
	if !ok {
		l.Close()
		return nil, ErrBusy
	}
	h.signLease()
	return func() { l.Close() }, nil
}

func (h *Home) acquire(ctx context.Context, name string, poll time.Duration) (func(), error) {
	l := flock.New(h.Path(name), flock.SetPermissions(0o600))
	ok, err := l.TryLockContext(ctx, poll)
	if ok {
		return func() { l.Close() }, nil
	}
	l.Close()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("locking %s: %w", name, err)
}

// signLease leaves the holder's process id where those who wait can name it.
func (h *Home) signLease() {
	// Only a courtesy for messages: a failure costs nothing.
	_ = os.WriteFile(h.Path(stateDir+"/tick.pid"), []byte(strconv.Itoa(os.Getpid())), 0o600)
}

func (h *Home) holder() string {
	b, err := os.ReadFile(h.Path(stateDir + "/tick.pid"))
	if err != nil || len(b) == 0 {
		return "another process"
	}
	if pid := strings.TrimSpace(string(b)); pid != strconv.Itoa(os.Getpid()) {
		return "process " + pid
	}
	return "this process"
}
