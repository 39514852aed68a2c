package ledger

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Exceeded says that a cap forbids a call. The call was not made.
type Exceeded struct {
	Cap       string // "day", one of CapNames
	Limit     Bound
	Spent     string // "4.81 USD"
	Worst     string // what this call could come to; "" = its price is not known
	Unsettled int    // calls within Spent that are under way or broke off, at their worst case
	Alone     bool   // the call could be more than the whole cap
	Resets    time.Time
}

// Error names the cap, what is spent, and what can be done.
func (e *Exceeded) Error() string {
	var s strings.Builder
	verb := "is"
	if e.Limit.USD == 0 {
		verb = "are"
	}
	fmt.Fprintf(&s, "cap-%s is %s: %s %s spent", e.Cap, e.Limit, e.Spent, verb)
	if e.Unsettled > 0 {
		fmt.Fprintf(&s, " (%d of the calls unsettled, at their worst)", e.Unsettled)
	}
	if e.Worst == "" {
		s.WriteString(" and the price of this call is not known")
	} else {
		fmt.Fprintf(&s, " and this call could come to %s", e.Worst)
	}
	if e.Alone {
		s.WriteString(", more than the whole cap; a smaller max-tokens may fit, or")
	} else if !e.Resets.IsZero() {
		fmt.Fprintf(&s, "; it resets on %s, or", e.Resets.Format("2006-01-02 15:04"))
	} else {
		s.WriteString(";")
	}
	fmt.Fprintf(&s, " change it: amacs config cap-%s LIMIT", e.Cap)
	return s.String()
}

// rule is one bound of one cap.
type rule struct {
	cap string
	Bound
}

func (r rule) String() string { return "cap-" + r.cap + " " + r.Bound.String() }

// rules are all that hold, those of long periods first: where several forbid a
// call, the one that lasts longest is told.
func (l *Ledger) rules() (out []rule) {
	for _, name := range capNames {
		for _, b := range l.caps[name] {
			out = append(out, rule{name, b})
		}
	}
	return out
}

// spent is what counts against a rule.
func (l *Ledger) spent(r rule, now time.Time) (t tally) {
	for s, of := range l.since(r.Period.since(now)) {
		if covers(r.cap, s) {
			t = t.plus(of)
		}
	}
	return t
}

// warnAt is the part of a cap, in percent, at which a warning is given.
const warnAt = 80

// allow asks the caps whether a call may be made at its worst case, and notes
// in its line which of them it warned of.
func (l *Ledger) allow(now time.Time, call *line) (warnings []string, err error) {
	worst := call.tally()
	for _, r := range l.rules() {
		if !covers(r.cap, call.Source) {
			continue
		}
		t := l.spent(r, now)
		spent, cost, limit := r.of(t), r.of(worst), r.limit()
		unknown := r.USD > 0 && call.USD == nil
		if cost > 0 && spent+cost > limit || unknown && spent >= limit {
			e := &Exceeded{Cap: r.cap, Limit: r.Bound, Spent: r.amount(spent), Worst: r.amount(cost), Unsettled: t.Unsettled,
				Alone: cost > limit, Resets: r.Period.ends(now)}
			if unknown {
				e.Worst = ""
			}
			return nil, e
		}
		if (cost > 0 || unknown) && spent*100 >= limit*warnAt && !l.warned(r, now) {
			call.Warned = append(call.Warned, r.String())
			warnings = append(warnings, fmt.Sprintf("%s of cap-%s is spent (%s)", r.amount(spent), r.cap, r.Bound))
		}
	}
	return warnings, nil
}

// warned says whether a warning of a rule was given in its period.
func (l *Ledger) warned(r rule, now time.Time) bool {
	since := r.Period.since(now)
	for _, m := range l.months {
		for day, rules := range m.Warned {
			if day >= since && slices.Contains(rules, r.String()) {
				return true
			}
		}
	}
	return false
}

// since sums what was spent from a day on, by source; "" = from the beginning.
func (l *Ledger) since(day string) map[Source]tally {
	out := map[Source]tally{}
	for name, m := range l.months {
		switch {
		case day != "" && name < monthOf(day):
			continue
		case day <= name+"-01":
			if m.whole == nil {
				m.whole = m.since("")
			}
			for s, t := range m.whole {
				out[s] = out[s].plus(t)
			}
		default:
			for s, t := range m.since(day) {
				out[s] = out[s].plus(t)
			}
		}
	}
	return out
}

// since sums the days of a month from one on: what was spent here, and what
// another history told.
func (m *month) since(day string) map[Source]tally {
	out := map[Source]tally{}
	for d, of := range m.Days {
		for s, t := range of {
			if d >= day {
				out[s] = out[s].plus(t)
			}
		}
	}
	for d, of := range m.Carried {
		for key, t := range of {
			if s, _, _ := strings.Cut(key, " "); d >= day {
				out[Source(s)] = out[Source(s)].plus(t)
			}
		}
	}
	return out
}

// carryKey is the source and model of a carry.
func carryKey(s Source, model string) string { return string(s) + " " + model }
