package console

import (
	"os"
	"os/signal"
	"syscall"
)

// watchSignals turns SIGINT into an Interrupt and keeps a terminal whole: its
// size, its mode after a stop, and its restoration before the process ends.
func (c *Console) watchSignals() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt)
	if c.kind == terminal {
		signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGWINCH, syscall.SIGCONT)
	}
	c.wg.Go(func() {
		defer signal.Stop(signals)
		for {
			select {
			case <-c.done:
				return
			case s := <-signals:
				if s == syscall.SIGTERM || s == syscall.SIGHUP {
					c.mu.Lock()
					_ = c.show.close() // the process ends: nobody to tell
					c.mu.Unlock()
					signal.Stop(signals)
					_ = syscall.Kill(os.Getpid(), s.(syscall.Signal))
					return
				}
				c.signalled(s)
			}
		}
	})
}

// signalled handles a signal that the process survives. While a child has the
// terminal, Ctrl-C is meant for the child.
func (c *Console) signalled(s os.Signal) {
	c.mu.Lock()
	suspended := c.suspended
	if screen, ok := c.show.(*screen); ok && !suspended {
		switch s {
		case syscall.SIGWINCH:
			screen.resize()
		case syscall.SIGCONT:
			if !c.stopped {
				screen.continued()
			}
			c.stopped = false
		}
	}
	c.mu.Unlock()
	if s == os.Interrupt && !suspended {
		c.deliver(Interrupt{})
	}
}
