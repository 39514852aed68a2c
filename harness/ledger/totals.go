package ledger

import (
	"time"
)

// Sum is what some calls cost.
type Sum struct {
	USD       float64 `json:"usd"`
	In        int     `json:"tokens_in"` // Cached and Written are parts of it
	Cached    int     `json:"tokens_cached"`
	Written   int     `json:"tokens_written"`
	Out       int     `json:"tokens_out"`
	Calls     int     `json:"calls"`
	Unpriced  int     `json:"unpriced_calls"`  // of unknown price: in the tokens, not in USD
	Unsettled int     `json:"unsettled_calls"` // under way or broken off: counted at their worst case
}

func (t tally) sum() Sum {
	return Sum{USD: t.usd(), In: t.In, Cached: t.Cached, Written: t.Written, Out: t.Out, Calls: t.Calls, Unpriced: t.Unpriced, Unsettled: t.Unsettled}
}

// Spans are the sums of the spans that the caps know.
type Spans struct {
	Lifetime Sum `json:"lifetime"`
	Month    Sum `json:"month"`
	Day      Sum `json:"day"`
}

// Totals are what was spent.
type Totals struct {
	Spans
	Sources map[Source]Spans `json:"sources"`
	Broken  []Broken         `json:"broken,omitempty"` // lines that are not in the sums, since they can not be read
}

// Totals sums what was spent in the day and the month of now, and ever.
func (l *Ledger) Totals(now time.Time) (Totals, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return Totals{}, err
	}
	out := Totals{Sources: map[Source]Spans{}, Broken: l.broken()}
	sum := func(p Period, at func(*Spans) *Sum) {
		var all tally
		for s, t := range l.since(p.since(now)) {
			of := out.Sources[s]
			*at(&of) = t.sum()
			out.Sources[s] = of
			all = all.plus(t)
		}
		*at(&out.Spans) = all.sum()
	}
	sum(Ever, func(s *Spans) *Sum { return &s.Lifetime })
	sum(Month, func(s *Spans) *Sum { return &s.Month })
	sum(Day, func(s *Spans) *Sum { return &s.Day })
	return out, nil
}

// Standing is how much of a bound is spent.
type Standing struct {
	Name   string    `json:"name"`  // of the cap: "day"
	Limit  string    `json:"limit"` // "5 USD a day"
	Used   string    `json:"used"`  // "0.42 USD"
	Ratio  float64   `json:"ratio"` // of used to limit; more than 1 where a call cost more than its worst case
	Resets time.Time `json:"resets,omitzero"`
}

// Standings are those of all caps, in the order of [CapNames].
func (l *Ledger) Standings(now time.Time) ([]Standing, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return nil, err
	}
	var out []Standing
	for _, r := range l.rules() {
		used := r.of(l.spent(r, now))
		out = append(out, Standing{r.cap, r.Bound.String(), r.amount(used), float64(used) / float64(r.limit()), r.Period.ends(now)})
	}
	return out, nil
}

// Pressure is how near the nearest of the caps lifetime, month and day is.
type Pressure struct {
	Level string  `json:"level"` // low up to 50%, moderate up to 75%, high up to 90%, critical
	Ratio float64 `json:"ratio"` // of the cap that is nearest
	Cap   string  `json:"cap"`   // its name; "" = none of them is set
}

// Pressure is the worst of the caps that hold for all calls. Those of one source
// do not count: a used-up cap-explore ends explorations, and must not stop what
// the human asked for.
func (l *Ledger) Pressure(now time.Time) (Pressure, error) {
	all, err := l.Standings(now)
	p := Pressure{Level: "low"}
	for _, s := range all {
		if coversAll(s.Name) && (p.Cap == "" || s.Ratio > p.Ratio) {
			p.Cap, p.Ratio = s.Name, s.Ratio
		}
	}
	switch {
	case p.Ratio > 0.9:
		p.Level = "critical"
	case p.Ratio > 0.75:
		p.Level = "high"
	case p.Ratio > 0.5:
		p.Level = "moderate"
	}
	return p, err
}
