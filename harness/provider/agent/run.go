package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Run asks a CLI. stream (nil = nobody listens) is called with pieces of the
// answer as they are written, where the CLI shows them, from the calling
// goroutine. When ctx ends, Run returns within 100 ms, and what is left of the
// CLI ends within two seconds. Its error is an [*Error].
func Run(ctx context.Context, e Entry, j Job, stream func(string)) (Result, error) {
	if err := e.check(); err != nil {
		return Result{}, &Error{Agent: e.Name, Kind: Refused, Err: err, Hint: "see `agents:` in config.yaml"}
	}
	if ctx.Err() != nil {
		return Result{}, &Error{Agent: e.Name, Kind: Cancelled, Err: ctx.Err()}
	}
	if j.Env == nil {
		j.Env = os.Environ()
	}
	path, err := exec.LookPath(e.Command[0])
	if err != nil {
		return Result{}, &Error{Agent: e.Name, Kind: Missing, Err: err, Hint: "install it, or name its path as the command of its entry"}
	}
	return e.run(ctx, path, j, stream)
}

func (e Entry) run(ctx context.Context, path string, j Job, stream func(string)) (Result, error) {
	fail := func(kind Kind, err error) (Result, error) {
		return Result{}, &Error{Agent: e.Name, Kind: kind, Err: err}
	}
	path, err := filepath.Abs(path) // it runs in another folder
	if err != nil {
		return fail(Missing, err)
	}
	tmp, err := os.MkdirTemp("", "amacs-agent-")
	if err != nil {
		return fail(Failed, err)
	}
	defer os.RemoveAll(tmp)
	p, err := e.plan(j, tmp)
	if err != nil {
		return fail(Refused, err)
	}
	for file, content := range p.files {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return fail(Failed, err)
		}
	}
	stdin, err := unnamed(tmp, p.stdin)
	if err != nil {
		return fail(Failed, err)
	}
	dir := j.Dir
	switch {
	case dir != "":
		_, err = os.Stat(dir)
	case j.Tools:
		dir, err = somewhere(tmp)
	default:
		dir, err = nowhere(tmp)
	}
	if err != nil {
		return fail(Refused, fmt.Errorf("the folder to run in: %w", err))
	}
	l, err := newLeash(tmp)
	if err != nil {
		return fail(Failed, err)
	}
	pr, err := start(path, p, dir, stdin, e.TTY)
	if stdin != nil {
		stdin.Close()
	}
	if err != nil {
		l.letGo()
		return fail(Missing, err)
	}
	l.hold(pr.cmd.Process.Pid)
	pr.ended = l.letGo
	r, err := e.attend(ctx, pr, path, j, stream)
	r.Stderr = hide(r.Stderr, j.Env)
	var failed *Error
	if errors.As(err, &failed) {
		failed.Result.Stderr = hide(failed.Result.Stderr, j.Env)
		if why := failed.Err.Error(); why != hide(why, j.Env) {
			failed.Err = errors.New(hide(why, j.Env))
		}
	}
	return r, err
}

// unnamed is a file that holds text and has no name any more: a CLI that does
// not read its stdin, or only some of it, hinders nobody. nil for no text.
func unnamed(dir, text string) (*os.File, error) {
	if text == "" {
		return nil, nil
	}
	f, err := os.CreateTemp(dir, "stdin")
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(text)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err = cmp.Or(err, os.Remove(f.Name())); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// attend reads what the CLI prints until it has ended, or ends it.
func (e Entry) attend(ctx context.Context, pr *process, path string, j Job, stream func(string)) (Result, error) {
	picks, err := e.Output.picks()
	if err != nil { // can not happen: Run has checked
		return Result{}, err
	}
	c := &collector{format: cmp.Or(e.Output.Format, "text"), picks: picks}
	timeout := cmp.Or(j.Timeout, e.Timeout, defaultTimeout)
	deadline := time.NewTimer(timeout)
	defer deadline.Stop()
	idle := newAlarm(e.Idle)
	defer idle.stop()
	hang := newAlarm(0) // set when the CLI has ended: its pipes should, too
	defer hang.stop()

	giveUp := func(kind Kind, err error) (Result, error) {
		pr.stop()
		c.end(nil)
		c.result.Stderr = pr.stderr.String()
		return Result{}, e.failed(c, kind, err)
	}
	take := func(chunk []byte) error {
		progress, err := c.feed(chunk, stream)
		if progress {
			idle.set(e.Idle)
		}
		return err
	}
	chunks, exited := pr.chunks, pr.exited
	for chunks != nil || exited != nil {
		select {
		case <-ctx.Done():
			return giveUp(Cancelled, ctx.Err())
		case <-deadline.C:
			return giveUp(Deadline, fmt.Errorf("it was not done after %s", timeout))
		case <-idle.c():
			return giveUp(Deadline, fmt.Errorf("nothing came for %s", e.Idle))
		case chunk, ok := <-chunks:
			if !ok {
				chunks = nil
				continue
			}
			if err := take(chunk); err != nil {
				return giveUp(Failed, err)
			}
			if exited == nil {
				hang.set(linger)
			}
		case <-exited:
			exited = nil
			pr.endGroup(leftovers)
			hang.set(linger)
		case <-hang.c():
			select {
			case chunk, ok := <-chunks:
				if ok {
					if err := take(chunk); err != nil {
						return giveUp(Failed, err)
					}
					hang.set(linger)
					continue
				}
			default:
			}
			close(pr.quit)
			chunks = nil
		}
	}
	c.end(stream)
	pr.release()
	c.result.Stderr = pr.stderr.String()
	r, why, err := e.judge(c, pr)
	if why == "" {
		return r, err
	}
	return Result{}, e.explain(ctx, c, path, j.Env, why)
}

// apiError begins what gemini and its kin give out as an answer when their
// server failed, with exit code 0 and no sign of an error.
const apiError = "[API Error: "

// noAnswer begins what is said of a run that ended well, but printed nothing
// that is an answer.
const noAnswer = "no answer: "

// judge says what a run was that ended by itself: an answer, an error, or why
// it gave none in its own words.
func (e Entry) judge(c *collector, pr *process) (r Result, why string, err error) {
	var exit *exec.ExitError
	crashed := errors.As(pr.err, &exit) && exit.ExitCode() < 0
	stderr := strings.TrimSpace(c.result.Stderr)
	said := c.fail
	if said == "" && (pr.err != nil || c.result.Text == "") {
		for _, v := range values([]byte(c.result.Stderr)) {
			said = cmp.Or(said, c.picks.fail.text(v))
		}
	}
	noise := strings.TrimSpace(string(c.noise))
	switch {
	case said != "":
		return r, said, nil
	case crashed:
		return r, "", e.failed(c, Crashed, fmt.Errorf("it was ended by a signal: %s", strings.TrimPrefix(pr.err.Error(), "signal: ")))
	case pr.err != nil:
		return r, cmp.Or(c.note, stderr, noise, c.result.Text, "it ended with "+pr.err.Error()), nil
	case strings.HasPrefix(c.result.Text, apiError):
		return r, c.result.Text, nil
	case c.result.Text != "" && e.Output.Done != "" && !c.done:
		return r, "", e.failed(c, Unreachable, errors.New("its answer was cut off"))
	case c.result.Text != "":
		return c.result, "", nil
	case c.note != "" || stderr != "" || noise != "":
		return r, noAnswer + cmp.Or(c.note, stderr, noise), nil
	}
	return r, "", e.failed(c, Failed, errors.New("it ended without an answer"))
}

// alarm is a timer that may be unset.
type alarm struct{ t *time.Timer }

func newAlarm(d time.Duration) *alarm {
	a := &alarm{}
	a.set(d)
	return a
}

// set starts it anew; 0 leaves it unset.
func (a *alarm) set(d time.Duration) {
	switch {
	case d <= 0:
	case a.t == nil:
		a.t = time.NewTimer(d)
	default:
		a.t.Reset(d)
	}
}

func (a *alarm) c() <-chan time.Time {
	if a.t == nil {
		return nil
	}
	return a.t.C
}

func (a *alarm) stop() {
	if a.t != nil {
		a.t.Stop()
	}
}
