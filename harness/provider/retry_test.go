package provider

import (
	"errors"
	"syscall"
	"testing"
	"time"
)

func TestAgain(t *testing.T) {
	over := func(class Class, after time.Duration) error {
		return &Error{Class: class, RetryAfter: after, Err: errors.New("x")}
	}
	for _, tc := range []struct {
		err      error
		n        int
		from, to time.Duration
		ok       bool
	}{
		{over(Transient, 0), 1, time.Second, 1500 * time.Millisecond, true},
		{over(Transient, 0), 3, 4 * time.Second, 6 * time.Second, true},
		{over(Transient, 0), Attempts, 0, 0, false},
		{over(Transient, 7*time.Second), 1, 7 * time.Second, 7 * time.Second, true},
		{over(Transient, time.Hour), 1, time.Hour, time.Hour, false},
		{over(Permanent, time.Second), 1, 0, 0, false},
		{over(TooLong, 0), 1, 0, 0, false},
		{over(Cancelled, 0), 1, 0, 0, false},
		{errors.New("x"), 1, 0, 0, false},
		{&Error{Class: Transient, Err: syscall.ECONNREFUSED}, 1, time.Second, 1500 * time.Millisecond, true},
		{&Error{Class: Transient, Err: syscall.ECONNREFUSED}, 2, 0, 0, false},
	} {
		for range 20 {
			if wait, ok := Again(tc.err, tc.n); ok != tc.ok || wait < tc.from || wait > tc.to {
				t.Errorf("Again(%v, %d) = %v, %v", tc.err, tc.n, wait, ok)
			}
		}
	}
}
