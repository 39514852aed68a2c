package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
	"amacs/harness/ledger"
)

// spending is what some calls cost, in JSON.
type spending struct {
	Name string `json:"name"`
	ledger.Sum
}

// breakdown is what `cost --by` tells, in JSON.
type breakdown struct {
	By     string          `json:"by"`
	Days   int             `json:"days"`
	Spent  []spending      `json:"spent"`
	Broken []ledger.Broken `json:"broken,omitempty"`
}

func (s *spending) add(more ledger.Sum) {
	s.Calls, s.Unpriced, s.Unsettled = s.Calls+more.Calls, s.Unpriced+more.Unpriced, s.Unsettled+more.Unsettled
	s.In, s.Cached, s.Written, s.Out = s.In+more.In, s.Cached+more.Cached, s.Written+more.Written, s.Out+more.Out
	s.USD += more.USD
}

// sumOf is one call as a sum.
func sumOf(c ledger.Call) ledger.Sum {
	s := ledger.Sum{Calls: 1, In: c.In, Cached: c.Cached, Written: c.Written, Out: c.Out}
	if c.USD != nil {
		s.USD = *c.USD
	} else {
		s.Unpriced = 1
	}
	if c.Outcome == ledger.Unsettled {
		s.Unsettled = 1
	}
	return s
}

func (a *app) costCommand() *cobra.Command {
	var by string
	c := a.jsonFlag(&cobra.Command{
		Use: "cost", GroupID: "look", Args: cobra.NoArgs,
		Short: "What the model's calls cost, and what the caps leave",
		Long: `Shows what was spent today, this month and in all, and how much of each cap is
used; ` + "`amacs config cap-day 'LIMIT'`" + ` changes one. With --by it lists the calls of the
last 31 days by day, source or model. Unsettled calls are under way or broke off,
and count at their worst. In a clone, what its commits told when it was made is
counted as well.`,
		Example: "  amacs cost --by model\n  amacs config cap-day '2 USD'",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			key, ok := map[string]func(day, source, model string) string{
				"":       nil,
				"day":    func(day, _, _ string) string { return day },
				"source": func(_, source, _ string) string { return source },
				"model":  func(_, _, model string) string { return model },
			}[by]
			if !ok {
				return usagef("cost --by %s: it is day, source or model", by)
			}
			if key == nil {
				return a.printBudget(cmd, h)
			}
			list, broken, err := group(cmd.Context(), h, key)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(cmd.OutOrStdout(), breakdown{by, costDays, list, broken})
			}
			out, widest := cmd.OutOrStdout(), 0
			for i := range list {
				list[i].Name = console.Clean(strings.Join(strings.Fields(list[i].Name), " ")) // a server may name its model anyhow
				widest = max(widest, len(list[i].Name))
			}
			for _, s := range list {
				fmt.Fprintf(out, "%-*s  %s\n", widest, s.Name, s.Sum)
			}
			if len(list) == 0 {
				fmt.Fprintf(out, "no calls in the last %d days\n", costDays)
			}
			for _, line := range broken {
				fmt.Fprintln(out, line)
			}
			return nil
		},
	})
	c.Flags().StringVar(&by, "by", "", "list by `WHAT`: day, source or model")
	return c
}

const costDays = 31

// group sums the last days under their keys: the calls made here, and what the
// commits of a clone tell.
func group(ctx context.Context, h *harness.Harness, key func(day, source, model string) string) ([]spending, []ledger.Broken, error) {
	b, err := h.Budget(ctx) // it fills the ledger of a new clone
	if err != nil {
		return nil, nil, err
	}
	y, m, d := time.Now().Date()
	since := time.Date(y, m, d-costDays+1, 0, 0, 0, 0, time.Local)
	sums := map[string]*spending{}
	add := func(name string, s ledger.Sum) {
		if sums[name] == nil {
			sums[name] = &spending{Name: name}
		}
		sums[name].add(s)
	}
	for c, err := range h.Ledger().Calls(since, time.Time{}) {
		if errors.As(err, new(ledger.Broken)) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		add(key(c.At.Format(time.DateOnly), string(c.Source), c.Provider+":"+c.Model), sumOf(c))
	}
	carried, err := h.Ledger().Carried(since.Format(time.DateOnly))
	if err != nil {
		return nil, nil, err
	}
	for _, d := range carried {
		add(key(d.Date, string(d.Source), cmp.Or(d.Model, "not told")), d.Sum)
	}
	list := []spending{}
	for _, s := range sums {
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b spending) int { return cmp.Compare(a.Name, b.Name) })
	return list, b.Broken, nil
}

// printBudget shows what was spent and what the caps leave.
func (a *app) printBudget(cmd *cobra.Command, h *harness.Harness) error {
	b, err := h.Budget(cmd.Context())
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(cmd.OutOrStdout(), b)
	}
	out := cmd.OutOrStdout()
	writeBudget(out, b)
	return nil
}

func writeBudget(out io.Writer, b harness.Budget) {
	row := func(name, text string) { fmt.Fprintf(out, "%-12s  %s\n", name, text) }
	row("today", b.Day.String())
	row("this month", b.Month.String())
	row("in all", b.Lifetime.String())
	for _, c := range b.Caps {
		text := c.Used + " of " + c.Limit + " used"
		if !c.Resets.IsZero() {
			text += "; it resets on " + c.Resets.Format("2006-01-02 15:04")
		}
		row("cap-"+c.Name, text)
	}
	row("pressure", b.Pressure.String())
	if b.Lifetime.Unpriced > 0 {
		row("", "calls of unknown price count in tokens only; `prices` in config.yaml can tell")
	}
	for _, line := range b.Broken {
		row("", line.Error())
	}
}
