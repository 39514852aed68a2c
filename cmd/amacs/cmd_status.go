package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
	"amacs/harness/ledger"
)

// status is the state of the mind in JSON.
type status struct {
	Home       string    `json:"home"`
	Provider   string    `json:"provider"`
	Tick       int       `json:"tick"`
	Time       time.Time `json:"time"`
	Mood       string    `json:"mood"`
	Confidence float64   `json:"confidence"`
	Thread     string    `json:"thread,omitempty"`
	Threads    []string  `json:"threads"`
	Pending    int       `json:"pending"`
	Waiting    int       `json:"waiting"`
	Notices    []string  `json:"notices,omitempty"`

	TodayUSD float64                   `json:"today_usd"`
	Pressure ledger.Pressure           `json:"pressure"`
	Limits   map[string][]ledger.Limit `json:"rate_limits,omitempty"`
}

func (a *app) statusCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "status", GroupID: "look", Args: cobra.NoArgs,
		Short: "How the agent is: tick, mood, threads, what waits, what was spent",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, m, err := a.peek(cmd)
			if err != nil {
				return err
			}
			waiting, err := h.Waiting()
			if err != nil {
				return err
			}
			s := status{
				Home: h.Home().Root(), Provider: h.ModelName(), Tick: m.Before, Time: m.State.Time, Mood: m.State.Mood,
				Confidence: m.State.Confidence, Thread: string(m.State.Threads.Active), Threads: []string{},
				Pending: len(m.Pending), Waiting: waiting, Notices: m.Notices,
			}
			held, err := h.Held(cmd.Context())
			if errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrPermission) {
				held, err = nil, nil // where nothing can be written, nothing is held back
			}
			if err != nil {
				return err
			}
			for _, f := range held {
				words := fmt.Sprintf("%s: it is not committed; %s", f, f.Do())
				s.Notices = append(s.Notices, words)
				fmt.Fprintln(cmd.ErrOrStderr(), console.Clean(words))
			}
			if words, err := h.Unconfirmed(); err != nil {
				return err
			} else if words != "" {
				s.Notices = append(s.Notices, words)
				fmt.Fprintln(cmd.ErrOrStderr(), words)
			}
			for _, t := range m.State.Threads.Open {
				s.Threads = append(s.Threads, string(t.ID))
			}
			b, err := h.Budget(cmd.Context())
			if err != nil {
				return err
			}
			s.TodayUSD, s.Pressure = b.Day.USD, b.Pressure
			if s.Limits, err = h.Ledger().Limits(); err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if a.json {
				return a.printJSON(out, s)
			}
			fmt.Fprintf(out, "home      %s\nmodel     %s\n", s.Home, s.Provider)
			fmt.Fprintf(out, "tick      %d\nmood      %s (confidence %.2f)\n", s.Tick, console.Clean(s.Mood), s.Confidence)
			fmt.Fprintf(out, "threads   %s\n", threadLine(s))
			if s.Pending+s.Waiting > 0 {
				fmt.Fprintf(out, "waiting   %s without an answer\n", harness.Count(s.Pending+s.Waiting, "line"))
			}
			fmt.Fprintf(out, "today     %s\npressure  %s\n", b.Day, b.Pressure)
			for _, name := range slices.Sorted(maps.Keys(s.Limits)) {
				for _, l := range s.Limits[name] {
					if text := limitText(name, l, timeNow()); text != "" {
						fmt.Fprintln(out, "limit     "+text)
					}
				}
			}
			return nil
		},
	})
}

// limitText is "anthropic: 42 of 50 requests left, whole again at 15:00:00"; ""
// for one that is over.
func limitText(provider string, l ledger.Limit, now time.Time) string {
	at := l.Reset.Local().Format("15:04:05")
	if l.Reset.Local().Format(time.DateOnly) != now.Local().Format(time.DateOnly) {
		at = l.Reset.Local().Format("2006-01-02 15:04:05")
	}
	switch {
	case !l.Reset.IsZero() && !l.Reset.After(now):
		return ""
	case l.Kind == ledger.RetryAfter:
		return provider + ": asked for no more calls until " + at
	}
	of := fmt.Sprint(l.Remaining)
	if l.Limit > 0 {
		of += fmt.Sprintf(" of %d", l.Limit)
	}
	text := fmt.Sprintf("%s: %s %s left", provider, of, l.Kind)
	if l.Reset.IsZero() {
		return text + " at " + l.Seen.Local().Format("2006-01-02 15:04:05")
	}
	return text + ", whole again at " + at
}

func threadLine(s status) string {
	if len(s.Threads) == 0 {
		return "none open"
	}
	line := ""
	for i, id := range s.Threads {
		if i > 0 {
			line += ", "
		}
		line += id
		if id == s.Thread {
			line += " (active)"
		}
	}
	return line
}

func (a *app) moodCommand() *cobra.Command {
	return &cobra.Command{
		Use: "mood", GroupID: "mind", Args: cobra.NoArgs,
		Short: "The agent's moods of late",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, m, err := a.peek(cmd)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "%s (confidence %.2f)\n", console.Clean(m.State.Mood), m.State.Confidence)
			for e, err := range h.Journal().Log(cmd.Context(), tickQuery(10)) {
				if err != nil {
					return err
				}
				fmt.Fprintf(out, "  tick %-5d %-20s %s\n", e.Tick, console.Clean(e.Mood), console.Clean(e.Text))
			}
			return nil
		},
	}
}
