package eval

import (
	"context"
	"time"
)

// clock ends a run when its time is over. It can be paused.
type clock struct {
	around  context.Context // what the run was started with
	ctx     context.Context // ends with the time, too
	cancel  context.CancelCauseFunc
	timer   *time.Timer
	left    time.Duration
	started time.Time
}

func startClock(around context.Context, time time.Duration) *clock {
	c := &clock{around: around, left: time}
	c.ctx, c.cancel = context.WithCancelCause(around)
	c.resume()
	return c
}

func (c *clock) pause() {
	c.timer.Stop()
	c.left -= time.Since(c.started)
}

func (c *clock) resume() {
	c.started = time.Now()
	c.timer = time.AfterFunc(c.left, func() { c.cancel(context.DeadlineExceeded) })
}

// over says that the time was used up, and not that somebody cancelled.
func (c *clock) over() bool { return context.Cause(c.ctx) == context.DeadlineExceeded }

func (c *clock) end() {
	c.timer.Stop()
	c.cancel(nil)
}
