package memory

import (
	"math"
	"slices"
	"time"
)

const (
	day = 24 * time.Hour

	boost    = 0.05 // confidence gained when a memory was used or stated again
	reject   = 0.02 // confidence lost when it was recalled and did not help
	faded    = 0.05 // below this confidence a memory may fade
	youth    = 30 * day
	maxCrumb = 10 // kept of each memory
)

// HalfLife is the time in which the confidence in a memory halves. What was
// inferred, of low trust, has seven days whatever its kind.
func HalfLife(m Memory) time.Duration {
	if m.Trust == Low {
		return 7 * day
	}
	switch m.Kind {
	case Correction:
		return 365 * day
	case Preference, Decision, Negative:
		return 90 * day
	case Procedure, Entity, ErrorResolution:
		return 60 * day
	case Finding, SessionSummary:
		return 45 * day
	case TaskUpdate:
		return 7 * day
	}
	return 30 * day
}

// Refreshed is when a memory was last found to hold: the latest of its creation,
// its last edit, its last check and its crumbs. Zero: not known.
func Refreshed(m Memory) time.Time {
	last := m.Created
	times := []time.Time{m.Updated, m.Verified}
	for _, c := range m.Crumbs {
		times = append(times, c.At)
	}
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// Effective is the confidence in a memory at now, from 0 to 1: what it was when
// it was last found to hold, halved with each half-life since. A memory of
// unknown age does not fade.
func Effective(m Memory, now time.Time) float64 {
	last := Refreshed(m)
	if last.IsZero() || !now.After(last) {
		return m.Confidence
	}
	return m.Confidence * math.Exp2(-float64(now.Sub(last))/float64(HalfLife(m)))
}

// Fades reports whether a memory should become inactive: hardly any confidence
// is left, it was stated only once, and it is a month old. What is important or
// pinned never fades.
func Fades(m Memory, now time.Time) bool {
	return Active(m, now) && m.Importance != High && !m.Pinned() && m.Strength <= 1 &&
		!m.Created.IsZero() && now.Sub(m.Created) >= youth && Effective(m, now) < faded
}

// Use is m after it helped; c says where, its What is set here.
func Use(m Memory, c Crumb) Memory {
	c.What = Used
	return crumbed(m, c)
}

// Reinforce is m after it was stated again.
func Reinforce(m Memory, c Crumb) Memory {
	c.What = Reinforced
	m.Strength++
	return crumbed(m, c)
}

func crumbed(m Memory, c Crumb) Memory {
	c.At = c.At.Local().Truncate(time.Minute)
	m.Confidence = round(min(m.Confidence+boost, 1))
	m.Crumbs = append(slices.Clone(m.Crumbs), c)
	m.Crumbs = m.Crumbs[max(len(m.Crumbs)-maxCrumb, 0):]
	return m
}

// Reject is m after it was recalled and did not help. Its age goes on.
func Reject(m Memory) Memory {
	m.Confidence = round(max(m.Confidence-reject, 0))
	return m
}

// Verify is m after it was found to hold.
func Verify(m Memory, at time.Time) Memory {
	m.Verified = at.Local().Truncate(time.Minute)
	return m
}

// Forget is m from at on inactive, for a reason in one line. It stays readable.
func Forget(m Memory, at time.Time, why string) Memory {
	m.InvalidAt, m.Why = at.Local().Truncate(time.Minute), why
	return m
}

// Restore takes [Forget] back.
func Restore(m Memory) Memory {
	m.InvalidAt, m.Why = time.Time{}, ""
	return m
}
