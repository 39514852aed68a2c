package provider

import (
	"errors"
	"math/rand/v2"
	"syscall"
	"time"
)

// Attempts is how often a call is made in all, where asking again may help.
const Attempts = 5

// patience is the longest wait that a human is asked for. A provider that wants
// a longer one has refused.
const patience = time.Minute

// Again tells how long to wait before a call is made anew that failed for the
// n-th time, counted from 1: what the provider asked for, else 1 s, 2 s, 4 s… and
// up to half as much again, so that many do not come back at once. ok is false
// where it would not help.
func Again(err error, n int) (wait time.Duration, ok bool) {
	var e *Error
	if !errors.As(err, &e) || e.Class != Transient || n >= Attempts {
		return 0, false
	}
	if errors.Is(err, syscall.ECONNREFUSED) && n >= 2 {
		return 0, false // nobody is there; once more for a server that is just starting
	}
	if e.RetryAfter > 0 {
		return e.RetryAfter, e.RetryAfter <= patience
	}
	wait = time.Second << (n - 1)
	return wait + rand.N(wait/2), true
}
