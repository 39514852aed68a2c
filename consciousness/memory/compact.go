package memory

import (
	"cmp"
	"slices"
	"time"
)

// How many active memories a project and a branch have before the oldest are
// summed up.
const (
	ProjectLimit = 40
	BranchLimit  = 80
)

// Compact chooses what is summed up in one memory: nothing while at most limit
// are active, else the oldest, by when they were last found to hold, so that
// three quarters of the limit are left. Never what is highly important, pinned,
// or written by a hand. The choice is oldest first, and at least two or none.
func Compact(ms []Memory, limit int, now time.Time) []Memory {
	active := 0
	var may []Memory
	for _, m := range ms {
		if !Active(m, now) {
			continue
		}
		active++
		if m.Importance != High && !m.Pinned() && m.Source != Hand {
			may = append(may, m)
		}
	}
	if active <= limit {
		return nil
	}
	slices.SortStableFunc(may, func(a, b Memory) int {
		return cmp.Or(Refreshed(a).Compare(Refreshed(b)), cmp.Compare(a.ID, b.ID))
	})
	take := min(active-limit*3/4+1, len(may)) // one more: the summary takes a place
	if take < 2 {
		return nil
	}
	return may[:take]
}

// Unimportant are those of low importance: all that goes where nobody can sum
// up.
func Unimportant(ms []Memory) (low []Memory) {
	for _, m := range ms {
		if m.Importance == Low {
			low = append(low, m)
		}
	}
	return low
}

// Promote chooses what of a merged branch goes to its project, with its new
// scope: what is active and highly important, and does not tell of work or
// files as they were. The rest is archived with the branch.
func Promote(ms []Memory, now time.Time) (out []Memory) {
	for _, m := range ms {
		passing := m.Kind == TaskUpdate || m.Kind == FileContext || m.Kind == SessionSummary
		if m.Scope.Level == Branch && m.Importance == High && !passing && Active(m, now) {
			m.Scope = m.Scope.For(m.Importance)
			out = append(out, m)
		}
	}
	return out
}
