package home

import (
	"fmt"
	"time"
)

// Told marks a denied or expired request as one that the agent has learnt of.
func (d *Draft) Told(id string, at time.Time) error {
	return d.change(id, func(r Request) ([]splice, error) {
		if r.State != Denied && r.State != Expired {
			return nil, fmt.Errorf("%s is %s, not %s or %s", r.ID, r.State, Denied, Expired)
		}
		return append(r.keep(at), withProp("ENDED", writeStamp(at))), nil
	})
}

// Reopen takes the answer of a hand back: it may not have been a human's.
func (d *Draft) Reopen(id string) error {
	return d.change(id, func(r Request) ([]splice, error) {
		if r.State != Approved || r.By != "hand" || !r.Started.IsZero() {
			return nil, fmt.Errorf("%s is not approved by hand", r.ID)
		}
		return []splice{toState(Asking)}, nil
	})
}
