// Package ledger knows what calls of models cost and may cost. A call is
// reserved at its worst case before it is made and settled with what it cost
// after; the caps are checked in the same breath as the reservation is written,
// under one lock, so that two processes can not both spend the last dollar.
//
// On disk it is a folder, .amacs/state/ledger. Calls are lines of JSON in a file
// a month, which only grows:
//
//	2026-11.jsonl
//	{"kind":"reserve","id":"9f2c61e07ab35d48","at":"2026-11-21T14:30:02.51+01:00","source":"human","provider":"anthropic","model":"claude-sonnet-5-5","in":21000,"out":4096,"usd":0.09346}
//	{"kind":"settle","id":"9f2c61e07ab35d48","at":"2026-11-21T14:30:02.51+01:00","source":"human","provider":"anthropic","model":"claude-sonnet-5-5","in":10112,"cached":8200,"out":311,"usd":0.007754,"ms":4180,"outcome":"ok"}
//	{"kind":"carry","at":"2026-11-20T00:00:00+01:00","source":"human","model":"anthropic:claude-sonnet-5-5","in":90211,"cached":80010,"out":4020,"usd":0.0836,"calls":9}
//	{"kind":"reported","at":"2026-11-01T00:00:00+01:00","through":1802}
//
// A line without usd is a call of unknown price: it counts in tokens only. A
// reservation that is never settled counts at its worst case for ever: nobody
// knows what became of the call. A carry is what another history, that of the
// commits, tells of a day. Reported says which lines a commit has named.
//
// A line that a crash cut short is marked with #torn by the next writer and
// skipped. Another line that can not be read is skipped, too, and named by
// [Ledger.Totals] and in the warnings of [Ledger.Reserve].
//
// Beside the months there are lock (a flock, never removed), limits.json (the
// rate limits that the providers told) and sums.json, the sums of the months up
// to some line of each, which saves reading them again and may be deleted.
//
// Days and months are those of the clock's own zone when the call was made. What
// is dated later than today counts as today's, so that a clock that is set back
// frees no cap.
//
// Begin reading at [Ledger.Reserve]; the caps are in cap.go, the prices in
// prices.go, the format in line.go.
package ledger

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// Source says what a call was made for.
type Source string

// The sources. Those after Explore are calls beside the ticks, which no commit
// names by itself.
const (
	Human    Source = "human"    // a line of the human
	Continue Source = "continue" // the agent asked for another tick
	Ambient  Source = "ambient"  // unattended work
	Explore  Source = "explore"  // a curiosity
	Assist   Source = "assist"
	Suggest  Source = "suggest"
	Extract  Source = "extract"
	Compact  Source = "compact"
	Judge    Source = "judge"
	Embed    Source = "embed"
	Agent    Source = "agent" // another agent's run
)

var sources = []Source{Human, Continue, Ambient, Explore, Assist, Suggest, Extract, Compact, Judge, Embed, Agent}

// Tick says whether calls of a source are named by the commit of their tick.
func (s Source) Tick() bool { return s == Human || s == Continue || s == Ambient || s == Explore }

// Ledger is one home's. It may be used by several goroutines.
type Ledger struct {
	dir    string
	caps   Caps
	prices Prices
	now    func() time.Time

	mu         sync.Mutex
	months     map[string]*month // by name, "2026-11"; nil = nothing was read yet
	stored     int64             // bytes of all months that sums.json covers
	storeAfter int64             // bytes that may have to be read again before sums.json is made anew
	told       map[Broken]bool   // broken lines that a warning has named
}

// Options for Open. None is needed.
type Options struct {
	Caps   Caps             // nil = no caps; see DefaultCaps
	Prices Prices           // the user's, before the built-in ones
	Now    func() time.Time // the clock; time.Now if nil
}

// Open is the ledger in a folder, which need not be there. It touches no file.
func Open(dir string, o Options) *Ledger {
	l := &Ledger{dir: dir, caps: o.Caps, prices: o.Prices, now: o.Now, storeAfter: storeAfter, told: map[Broken]bool{}}
	if l.now == nil {
		l.now = time.Now
	}
	return l
}

// Worst is a call at its worst.
type Worst struct {
	Source          Source
	Provider, Model string
	In, Out         int      // tokens
	USD             *float64 // nil = by the prices
	Free            bool     // nobody is billed for it
}

// Call is a call that was made. At [Reservation.Settle] the fields that the
// reservation knows may be left empty.
type Call struct {
	At              time.Time // when it was reserved
	Source          Source
	Provider, Model string
	In              int      // tokens; Cached and Written are parts of them
	Cached, Written int      // read from a cache, written to it
	Out             int      // tokens
	USD             *float64 // nil = by the prices; in what a Ledger returns: not known
	Took            time.Duration
	Outcome         string // "ok", "failed", "interrupted", …
}

// Unsettled is the outcome of a call that is under way or whose process died.
// Its numbers are the worst case.
const Unsettled = "unsettled"

// Reservation is a call that may be made. It must be settled, however the call
// ended.
type Reservation struct {
	Warnings []string // for the human: a cap of which 80% is spent, told once; lines that can not be read

	ledger *Ledger
	line   line
	free   bool
	mu     sync.Mutex
	done   bool
}

// Reserve asks whether a call may be made, and books it at its worst case. When
// it returns, the booking is on the disk. An [*Exceeded] names the cap that
// forbids the call; with any error the call must not be made.
func (l *Ledger) Reserve(ctx context.Context, w Worst) (*Reservation, error) {
	if !slices.Contains(sources, w.Source) {
		return nil, fmt.Errorf("booking a call: %q is no source; they are %v", w.Source, sources)
	}
	now := l.now()
	booked := line{Kind: reserve, ID: newID(), At: now, Source: w.Source, Provider: w.Provider, Model: w.Model,
		In: w.In, Out: w.Out, USD: l.worst(w)}
	if err := booked.check(); err != nil {
		return nil, fmt.Errorf("booking a call of %s: %w", w.Model, err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	unlock, err := l.lock(ctx)
	if err != nil {
		return nil, fmt.Errorf("booking a call: %w", err)
	}
	defer unlock()
	if err := l.refresh(); err != nil {
		return nil, fmt.Errorf("booking a call: %w", err)
	}
	if err := l.store(); err != nil {
		return nil, fmt.Errorf("booking a call: %w", err)
	}
	warnings, err := l.allow(now, &booked)
	if err != nil {
		return nil, err
	}
	if err := l.append(booked); err != nil {
		return nil, fmt.Errorf("booking a call: %w", err)
	}
	return &Reservation{Warnings: append(warnings, l.newlyBroken()...), ledger: l, line: booked, free: w.Free}, nil
}

// settleWait is how long a settlement waits for the lock, which others hold for
// milliseconds.
const settleWait = 10 * time.Second

// Settle writes down what the call cost and returns it, with its price. On an
// error the call counts at its worst case, and that is returned.
func (r *Reservation) Settle(c Call) (Call, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return c, fmt.Errorf("settling a call of %s: it is settled already", r.line.Model)
	}
	c.At, c.Source, c.Provider = r.line.At, r.line.Source, r.line.Provider
	c.USD = r.cost(c)
	if c.Model == "" {
		c.Model = r.line.Model
	}
	paid := line{Kind: settle, ID: r.line.ID, At: c.At, Source: c.Source, Provider: c.Provider, Model: c.Model,
		In: c.In, Cached: c.Cached, Written: c.Written, Out: c.Out, USD: c.USD, MS: c.Took.Milliseconds(), Outcome: c.Outcome}
	if err := paid.check(); err != nil {
		return r.worst(), fmt.Errorf("settling a call of %s: %w", c.Model, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), settleWait)
	defer cancel()
	l := r.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	unlock, err := l.lock(ctx)
	if err != nil {
		return r.worst(), fmt.Errorf("settling a call: %w", err)
	}
	defer unlock()
	if err := l.refresh(); err != nil {
		return r.worst(), fmt.Errorf("settling a call: %w", err)
	}
	if err := l.append(paid); err != nil {
		return r.worst(), fmt.Errorf("settling a call: %w", err)
	}
	r.done = true
	return c, nil
}

// worst is the call as it is booked.
func (r *Reservation) worst() Call {
	return Call{At: r.line.At, Source: r.line.Source, Provider: r.line.Provider, Model: r.line.Model, In: r.line.In, Out: r.line.Out, USD: r.line.USD, Outcome: Unsettled}
}

// cost is what a call cost in USD; nil = not known.
func (r *Reservation) cost(c Call) *float64 {
	switch {
	case c.USD != nil:
		return c.USD
	case r.free, c.In == 0 && c.Out == 0:
		return new(float64)
	}
	for _, model := range []string{c.Model, r.line.Model} {
		if p, ok := r.ledger.prices.Of(model); ok {
			usd := round(p.Cost(c.In, c.Cached, c.Written, c.Out))
			return &usd
		}
	}
	return nil
}

// worst is the most that a call can cost in USD; nil = not known.
func (l *Ledger) worst(w Worst) *float64 {
	switch {
	case w.Free:
		return new(float64)
	case w.USD != nil:
		return w.USD
	}
	if p, ok := l.prices.Of(w.Model); ok {
		usd := round(p.Worst(w.In, w.Out))
		return &usd
	}
	return nil
}

// round is to the nano-dollar, the unit that is summed.
func round(usd float64) float64 { return float64(nano(usd)) / 1e9 }

func nano(usd float64) int64 { return int64(math.Round(usd * 1e9)) }

func newID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}
