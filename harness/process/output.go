package process

import (
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// output keeps what a command writes: the end in memory, the beginning in a file.
type output struct {
	bytes int64
	ring  []byte // the last bytes, of which the oldest is at bytes % len once it is full
	raw   *os.File
	room  int64 // bytes that may still be written to raw
	watch func([]byte)
	err   error // of raw
}

func openOutput(c Command) (*output, error) {
	o := &output{ring: make([]byte, c.Tail), room: c.Output, watch: c.Watch}
	if c.Raw == "" {
		return o, nil
	}
	var err error
	if o.raw, err = os.OpenFile(c.Raw, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600); err == nil {
		err = o.raw.Chmod(0o600)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot keep the output of %s: %w", c.Argv[0], err)
	}
	return o, nil
}

func (o *output) take(b []byte) {
	if o.watch != nil {
		o.watch(b)
	}
	if o.raw != nil && o.err == nil {
		n := min(int64(len(b)), o.room)
		_, o.err = o.raw.Write(b[:n])
		o.room -= n
	}
	skip := max(0, len(b)-len(o.ring))
	at := o.bytes + int64(skip)
	o.bytes += int64(len(b))
	for b = b[skip:]; len(b) > 0; {
		n := copy(o.ring[at%int64(len(o.ring)):], b)
		b, at = b[n:], at+int64(n)
	}
}

// copy takes what comes until the end, or until [output.finish].
func (o *output) copy(from *os.File) {
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		o.take(b[:n])
		if err == nil {
			continue
		}
		if os.IsTimeout(err) {
			o.drain(from, b)
		}
		return
	}
}

// finish has copy end with what has been written by now. Who got away with the
// pipe is not waited for.
func (o *output) finish(from *os.File) { from.SetReadDeadline(time.Unix(1, 0)) }

// drain takes what is in the pipe already, at most as much as a pipe can hold.
func (o *output) drain(from *os.File, b []byte) {
	raw, err := from.SyscallConn()
	if err != nil {
		return
	}
	from.SetReadDeadline(time.Time{})
	const most = 1 << 20 // /proc/sys/fs/pipe-max-size
	raw.Read(func(fd uintptr) bool {
		for got := 0; got < most; {
			n, err := unix.Read(int(fd), b)
			if err == unix.EINTR {
				continue
			}
			if n <= 0 {
				break
			}
			o.take(b[:n])
			got += n
		}
		return true
	})
}

// text is the end of the output, and whether something came before it.
func (o *output) text() (string, bool) {
	size := int64(len(o.ring))
	if o.bytes <= size {
		return strings.ToValidUTF8(string(o.ring[:o.bytes]), "\uFFFD"), false
	}
	if size == 0 {
		return "", true
	}
	at := o.bytes % size
	b := append(append(make([]byte, 0, size), o.ring[at:]...), o.ring[:at]...)
	for i := 0; i < utf8.UTFMax-1 && len(b) > 0 && !utf8.RuneStart(b[0]); i++ {
		b = b[1:] // the rest of a letter that was cut
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), true
}

func (o *output) close() error {
	if o.raw == nil {
		return nil
	}
	err := o.err
	if e := o.raw.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("the command ran, but not all of its output could be kept: %w", err)
	}
	return nil
}
