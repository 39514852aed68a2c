package secret

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"
)

const (
	commandWait = 15 * time.Second
	outputMost  = 64 << 10 // bytes kept of what the command prints
)

// ask runs the command, or remembers what it gave. A failure is not remembered:
// the store may be unlocked by the next time.
func (f *Finder) ask(ctx context.Context, host string) (string, error) {
	f.once.Do(func() { f.turn, f.given = make(chan struct{}, 1), map[string]string{} })
	select {
	case f.turn <- struct{}{}:
		defer func() { <-f.turn }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if text := f.given[host]; text != "" {
		return text, nil
	}
	text, err := f.run(ctx, host)
	if err != nil {
		return "", fmt.Errorf("api-key-cmd for %s: %w", host, err)
	}
	f.given[host] = text
	return text, nil
}

// run runs the command in a session of its own: it has no terminal, so that one
// that asks there fails at once and does not stop, waiting for ever. Stores that
// ask through an agent or a window of their own (gpg-agent, a keychain) still can.
func (f *Finder) run(ctx context.Context, host string) (string, error) {
	limit := f.wait
	if limit == 0 {
		limit = commandWait
	}
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(within, "/bin/sh", "-c", f.Command)
	cmd.Env = append(cmd.Environ(), "AMACS_INSIDE=1", "AMACS_KEY_HOST="+host)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 500 * time.Millisecond // an agent that it started may keep the pipes
	var stdout, stderr capped
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case within.Err() != nil:
		return "", fmt.Errorf("no answer in %v; it has no terminal to ask at: unlock the store beforehand%s", limit, f.said(&stdout, &stderr))
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		return "", fmt.Errorf("%w%s", err, f.said(&stdout, &stderr))
	}
	text, _, _ := strings.Cut(stdout.String(), "\n")
	text = strings.TrimSuffix(text, "\r")
	if text == "" {
		return "", fmt.Errorf("its first line of output is empty%s", f.said(&stdout, &stderr))
	}
	if why := wrong(text); why != "" {
		return "", fmt.Errorf("the key that it printed %s; it was not used", why)
	}
	return text, nil
}

// What may be a key, among the words of a command line and of its output.
var (
	secretInCommand = regexp.MustCompile(`[A-Za-z0-9_+=-]{16,}`)
	secretInOutput  = regexp.MustCompile(`\S{6,}`)
)

// said is the end of what the command complained of, for an error: one line,
// without what it printed and without words of the command that may be keys.
func (f *Finder) said(stdout, stderr *capped) string {
	hide := append(secretInOutput.FindAllString(stdout.String(), -1), secretInCommand.FindAllString(f.Command, -1)...)
	words := strings.Fields(Shapes(Hide(strings.ToValidUTF8(stderr.String(), "�"), hide...)))
	text := strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 {
			return -1
		}
		return c
	}, strings.Join(words, " "))
	if text == "" {
		return ""
	}
	if r := []rune(text); len(r) > 200 {
		text = "…" + string(r[len(r)-200:])
	}
	return ": " + text
}

// capped keeps the first bytes that are written to it.
type capped struct{ bytes.Buffer }

func (c *capped) Write(b []byte) (int, error) {
	if room := outputMost - c.Len(); room > 0 {
		c.Buffer.Write(b[:min(room, len(b))])
	}
	return len(b), nil
}
