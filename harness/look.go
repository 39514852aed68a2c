package harness

import (
	"context"

	"amacs/harness/home"
	"amacs/harness/journal"
)

// Peek reads the mind as it is, without waking it: nothing is written and no
// lock is taken. Its tick is the next one.
func (h *Harness) Peek(ctx context.Context, cwd string) (*Mind, error) {
	m := h.mind(Input{Source: Human, Cwd: cwd})
	m.draft = h.home.Draft()
	c, err := h.home.Counters()
	if err != nil {
		return nil, err
	}
	m.Before = c.Tick
	if s, _, err := h.home.Draft().State(); err == nil {
		m.Before = max(m.Before, s.Tick)
	}
	m.Tick = m.Before + 1
	if err := m.load(h.home); err != nil {
		return nil, err
	}
	m.Window = h.Config().ContextWindow
	if s := h.settings.Load(); s.config.Provider != "auto" || s.why != "" { // looking does not go looking for servers
		words, err := h.Ready(ctx)
		m.Notices = append(words, m.Notices...)
		if err == nil { // else the tick will say so
			if err := h.pick(m); err != nil {
				return nil, err
			}
		}
	}
	return m, h.weigh(ctx, m)
}

// View is what a model would be shown of the mind.
func (m *Mind) View() View { return see(m).veiled(m.Clean) }

// Mend settles the home, as every tick does first. A tick that is thinking
// elsewhere keeps what is its own.
func (h *Harness) Mend(ctx context.Context) (notices []string, err error) {
	release, leaseErr := h.home.TryLease()
	if leaseErr == nil {
		defer release()
	}
	err = h.home.Update(ctx, func(tx *home.Tx) error {
		notices, err = h.settle(ctx, tx, leaseErr == nil)
		return err
	})
	return notices, err
}

// Pack keeps git's storage small, if the configuration allows it. It may take
// seconds and is meant to run beside the ticks.
func (h *Harness) Pack(ctx context.Context) error {
	if !h.Config().Pack {
		return nil
	}
	_, err := h.journal.Pack(ctx)
	return err
}

// FindTick is the commit of a tick.
func (h *Harness) FindTick(ctx context.Context, tick int) (journal.Entry, error) {
	return findTick(ctx, h.journal, tick)
}
