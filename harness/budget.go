package harness

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"amacs/harness/journal"
	"amacs/harness/ledger"
)

// Budget is what was spent, and what the caps leave.
type Budget struct {
	ledger.Totals
	Caps     []ledger.Standing `json:"caps"`
	Pressure ledger.Pressure   `json:"pressure"`
	Prices   string            `json:"prices_of"` // when the built-in prices were compared with their sources
}

// Budget reads the ledger.
func (h *Harness) Budget(ctx context.Context) (b Budget, err error) {
	if err = h.carry(ctx); err == nil {
		b, err = budget(h.Ledger(), h.now())
	}
	if err != nil {
		return b, fmt.Errorf("%w\n  no call is made without the ledger; mend it, or move %s away: what the commits tell is added up anew", err, h.home.State("ledger"))
	}
	return b, nil
}

func budget(l *ledger.Ledger, now time.Time) (b Budget, err error) {
	b.Prices = ledger.PricesDate
	if b.Totals, err = l.Totals(now); err != nil {
		return b, err
	}
	if b.Caps, err = l.Standings(now); err != nil {
		return b, err
	}
	b.Pressure, err = l.Pressure(now)
	return b, err
}

// Ledger is the home's, for what reads it call by call.
func (h *Harness) Ledger() *ledger.Ledger { return h.settings.Load().ledger }

// weigh puts the budget into the mind's working state. Where the pressure is
// critical, the agent is told what that means.
func (h *Harness) weigh(ctx context.Context, m *Mind) error {
	b, err := h.Budget(ctx)
	if err != nil {
		if len(m.lines) > 0 {
			err = fmt.Errorf("%w\n  what you said is kept and will be answered by the next tick that can wake", err)
		}
		return fmt.Errorf("reading what was spent: %w", err)
	}
	s := &m.State.Budget
	s.Cost, s.Limit, s.Pressure = b.Lifetime.USD, 0, b.Pressure.Level
	for _, bound := range h.settings.Load().caps["lifetime"] {
		s.Limit = bound.USD
	}
	m.critical = ""
	if b.Pressure.Level == "critical" {
		m.critical = fmt.Sprintf("the budget's pressure is critical: %.0f%% of cap-%s is spent", 100*b.Pressure.Ratio, b.Pressure.Cap)
		m.Inbox = append(m.Inbox, m.critical+"; until it resets or the human raises it only the human's own lines set off ticks, and continue is refused")
	}
	return nil
}

// carry fills a new ledger from the commits: a clone has the history and no
// ledger. It is done once a home; the file ledger/carried says so.
func (h *Harness) carry(ctx context.Context) error {
	if h.carried.Load() {
		return nil
	}
	mark := h.home.State("ledger/carried")
	if _, err := os.Stat(mark); err == nil {
		h.carried.Store(true)
		return nil
	}
	days := daySums{}
	for e, err := range h.journal.Log(ctx, journal.Query{}) {
		if err != nil {
			return fmt.Errorf("adding up what the commits say was spent: %w", err)
		}
		if d, ok := spentIn(e); ok {
			days.add(d)
		}
		for text := range strings.SplitSeq(e.Trailers[besideTrailer], "; ") {
			if d, ok := beside(text); ok {
				days.add(d)
			}
		}
	}
	if err := h.Ledger().Carry(ctx, days.list()); err != nil {
		return err
	}
	err := os.MkdirAll(filepath.Dir(mark), 0o700)
	if err == nil {
		err = os.WriteFile(mark, []byte("The commits' costs were added up here.\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("noting that the commits' costs are added up: %w", err)
	}
	h.carried.Store(true)
	return nil
}

// daySums adds up calls by day, source and model.
type daySums map[[3]string]ledger.DaySum

// add leaves out what makes a day cost more than any day can: a hand wrote it.
func (d daySums) add(s ledger.DaySum) {
	k := [3]string{s.Date, string(s.Source), s.Model}
	sum := d[k]
	sum.Date, sum.Source, sum.Model = s.Date, s.Source, s.Model
	sum.USD, sum.In, sum.Cached, sum.Out = sum.USD+s.USD, sum.In+s.In, sum.Cached+s.Cached, sum.Out+s.Out
	sum.Calls, sum.Unpriced = sum.Calls+s.Calls, sum.Unpriced+s.Unpriced
	if sum.Check() == nil {
		d[k] = sum
	}
}

// list is in the order of days.
func (d daySums) list() (out []ledger.DaySum) {
	for _, sum := range d {
		out = append(out, sum)
	}
	slices.SortFunc(out, func(a, b ledger.DaySum) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Model, b.Model))
	})
	return out
}

// Numbers as the trailers have them. What does not look so, or has more digits,
// was written by a hand and is passed over.
const (
	usdText    = `(\d{1,4}(?:\.\d{1,20})?)`
	tokensText = `(\d{1,9}) in, (\d{1,9}) cached, (\d{1,9}) out`
)

var (
	costForm   = regexp.MustCompile(`^(?:` + usdText + `|unknown)$`)
	tokensForm = regexp.MustCompile(`^` + tokensText + `$`)
	besideForm = regexp.MustCompile(`^(\S+) (\S+) ` + usdText + ` USD, ` + tokensText + `, (\d{1,6}) calls(?:, (\d{1,6}) of unknown price)?$`)
)

// spentIn reads the trailers of a tick's commit. ok is false where they tell of
// no call.
func spentIn(e journal.Entry) (d ledger.DaySum, ok bool) {
	tokens, cost := tokensForm.FindStringSubmatch(e.Trailers["Tokens"]), costForm.FindStringSubmatch(e.Trailers["Cost-USD"])
	if tokens == nil || cost == nil {
		return d, false
	}
	d = ledger.DaySum{Date: e.When.Format(time.DateOnly), Source: ledger.Source(e.Trailers["Source"]), Model: e.Trailers["Model"]}
	d.In, d.Cached, d.Out, d.USD, d.Calls = number(tokens[1]), number(tokens[2]), number(tokens[3]), usd(cost[1]), 1
	if cost[1] == "" {
		d.Unpriced = 1
	}
	return d, d.Source.Tick() && (d.In+d.Out > 0 || d.USD > 0)
}

// number and usd read what a pattern has let through; "" is 0.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}

func usd(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64)
	return n
}

// besideTrailer names what calls outside the ticks cost, by day and source:
// "2026-11-21 assist 0.0021 USD, 310 in, 0 cached, 45 out, 2 calls; …", and how
// many of them have no known price: "…, 2 calls, 1 of unknown price".
const besideTrailer = "Beside"

// name adds to a tick's commit what was spent beside the ticks since the one
// before. It returns what to tell the ledger when the commit is made.
func (h *Harness) name(c *journal.Commit) (ledger.Report, error) {
	spent, err := h.Ledger().Unreported()
	sums := daySums{}
	for _, d := range spent.Days {
		d.Model = ""
		sums.add(d)
	}
	var days []string
	for _, d := range sums.list() {
		days = append(days, besideText(d))
	}
	if len(days) > 0 {
		c.Trailers = append(c.Trailers, journal.Trailer{Key: besideTrailer, Value: strings.Join(days, "; ")})
	}
	return spent, err
}

// besideText is one day of that trailer, beside reads it.
func besideText(d ledger.DaySum) string {
	text := fmt.Sprintf("%s %s %s USD, %d in, %d cached, %d out, %d calls", d.Date, d.Source,
		strconv.FormatFloat(d.USD, 'f', -1, 64), d.In, d.Cached, d.Out, d.Calls)
	if d.Unpriced > 0 {
		text += fmt.Sprintf(", %d of unknown price", d.Unpriced)
	}
	return text
}

func beside(text string) (d ledger.DaySum, ok bool) {
	m := besideForm.FindStringSubmatch(text)
	if m == nil {
		return d, false
	}
	d = ledger.DaySum{Date: m[1], Source: ledger.Source(m[2])}
	d.USD, d.In, d.Cached, d.Out, d.Calls, d.Unpriced = usd(m[3]), number(m[4]), number(m[5]), number(m[6]), number(m[7]), number(m[8])
	return d, !d.Source.Tick() && d.Unpriced <= d.Calls
}

// StatusLine is what a tick cost, as "tick 42 · 3,120 tokens in (84% cached),
// 210 out · $0.0123 · today $0.52".
func (r Report) StatusLine(b Budget) string {
	cost := "price not known"
	if r.CostUSD != nil {
		cost = ledger.Dollars(*r.CostUSD)
	}
	parts := []string{fmt.Sprintf("tick %d", r.Tick), ledger.Tokens(r.In, r.Cached, r.Out), cost, "today " + ledger.Dollars(b.Day.USD)}
	return strings.Join(parts, " · ")
}
