package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// DaySum is what the calls of a source with a model cost on a day.
type DaySum struct {
	Date   string // "2026-11-21"
	Source Source
	Model  string // as in a commit's Model trailer: "anthropic:claude-sonnet-5-5"
	Sum
}

// Check refuses what [Ledger.Carry] would: a day, a source or numbers that can
// not be.
func (d DaySum) Check() error {
	_, err := d.line(time.UTC)
	return err
}

func (d DaySum) line(zone *time.Location) (line, error) {
	at, err := time.ParseInLocation(time.DateOnly, d.Date, zone)
	if err != nil || !slices.Contains(sources, d.Source) {
		return line{}, fmt.Errorf("%q of %q is no day of a source", d.Source, d.Date)
	}
	l := line{Kind: carry, At: at, Source: d.Source, Model: d.Model, In: d.In, Cached: d.Cached, Written: d.Written, Out: d.Out,
		USD: &d.USD, Calls: d.Calls, Unpriced: d.Unpriced}
	return l, l.check()
}

// dayKey says which days are the same.
type dayKey struct {
	day    string
	source Source
	model  string
}

// Carry takes over what another history, that of the commits, tells of days: a
// new clone has no ledger yet. The history may tell of calls made here, too: what
// the ledger has of a day and source by then is taken off. What is told again
// never lowers what was told, for it may lack the newest calls of this ledger, and
// is written only where it adds something.
func (l *Ledger) Carry(ctx context.Context, days []DaySum) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	unlock, err := l.lock(ctx)
	if err != nil {
		return fmt.Errorf("carrying totals over: %w", err)
	}
	defer unlock()
	if err := l.refresh(); err != nil {
		return fmt.Errorf("carrying totals over: %w", err)
	}
	told, here, lines := map[dayKey]bool{}, map[dayKey]tally{}, []line(nil)
	for _, d := range days {
		x, err := d.line(l.now().Location())
		if err != nil {
			return fmt.Errorf("carrying over the total of %s: %w", d.Date, err)
		}
		key, whole := dayKey{d.Date, d.Source, d.Model}, dayKey{day: d.Date, source: d.Source}
		if told[key] {
			return fmt.Errorf("carrying totals over: %s %s %s is there twice", d.Date, d.Source, d.Model)
		}
		told[key] = true
		var was tally
		if m := l.months[monthOf(d.Date)]; m != nil {
			if _, ok := here[whole]; !ok {
				here[whole] = m.Days[d.Date][d.Source]
			}
			was = m.Carried[d.Date][carryKey(d.Source, d.Model)]
		}
		t := x.tally()
		ours := t.least(here[whole])
		here[whole], t = here[whole].minus(ours), t.minus(ours).or(was)
		if t != was {
			usd := t.usd()
			x.In, x.Cached, x.Written, x.Out, x.USD, x.Calls, x.Unpriced = t.In, t.Cached, t.Written, t.Out, &usd, t.Calls, t.Unpriced
			lines = append(lines, x)
		}
	}
	return l.append(lines...)
}

// Carried is what another history told from a day on ("2026-11-21"), in no
// order: with those of [Ledger.Calls] it makes the whole.
func (l *Ledger) Carried(since string) ([]DaySum, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return nil, err
	}
	var out []DaySum
	for _, m := range l.months {
		for day, of := range m.Carried {
			for key, t := range of {
				if source, model, _ := strings.Cut(key, " "); day >= since && t != (tally{}) {
					out = append(out, DaySum{day, Source(source), model, t.sum()})
				}
			}
		}
	}
	return out, nil
}

// Report is what was spent beside the ticks and that no commit has named.
type Report struct {
	Days    []DaySum
	through map[string]int64 // by month: the lines before this byte
}

// Unreported sums the settled calls beside the ticks that [Ledger.Reported] has
// not been told of. A call that was never settled is not among them.
func (l *Ledger) Unreported() (Report, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refresh(); err != nil {
		return Report{}, err
	}
	sums, r := map[dayKey]tally{}, Report{through: map[string]int64{}}
	for name, m := range l.months {
		for _, p := range m.Pending {
			k := dayKey{p.Day, p.Source, p.Model}
			sums[k] = sums[k].plus(p.Tally)
			r.through[name] = max(r.through[name], p.End)
		}
	}
	for k, t := range sums {
		r.Days = append(r.Days, DaySum{k.day, k.source, k.model, t.sum()})
	}
	slices.SortFunc(r.Days, func(a, b DaySum) int {
		return strings.Compare(a.Date+" "+carryKey(a.Source, a.Model), b.Date+" "+carryKey(b.Source, b.Model))
	})
	return r, nil
}

// Reported says that a commit names the report. It is called after the commit: a
// crash between the two has the next commit name the same calls once more, and
// none is ever lost.
func (l *Ledger) Reported(ctx context.Context, r Report) error {
	if len(r.through) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	unlock, err := l.lock(ctx)
	if err != nil {
		return fmt.Errorf("marking calls as reported: %w", err)
	}
	defer unlock()
	if err := l.refresh(); err != nil {
		return fmt.Errorf("marking calls as reported: %w", err)
	}
	var lines []line
	for name, through := range r.through {
		at, err := time.ParseInLocation("2006-01", name, l.now().Location())
		if err != nil {
			return fmt.Errorf("marking calls as reported: %w", err)
		}
		lines = append(lines, line{Kind: reported, At: at, Through: through})
	}
	return l.append(lines...)
}
