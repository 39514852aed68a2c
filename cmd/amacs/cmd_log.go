package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness/journal"
)

func (a *app) logCommand() *cobra.Command {
	var q journal.Query
	var patch, all bool
	c := a.jsonFlag(&cobra.Command{
		Use: "log", GroupID: "look", Args: cobra.NoArgs,
		Short: "The agent's history, newest first",
		Long: `Lists ticks, newest first. --all shows every commit: hand edits, archives, repairs.
The history is git's own: ` + "`git -C ~/.agent log`" + ` works as well.`,
		Example: "  amacs log -n 3\n  amacs log --tick 42 -p\n  amacs log --thread rust-debugging --text borrow",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			q.HasTick = cmd.Flags().Changed("tick")
			if !all && q.Kind == "" {
				q.Kind = "TICK"
			}
			n, err := a.printLog(cmd.Context(), h.Journal(), q, patch, cmd.OutOrStdout())
			if err == nil && n == 0 && !a.json {
				fmt.Fprintln(cmd.ErrOrStderr(), "no such ticks; `amacs log --all` lists every commit")
			}
			return err
		},
	})
	f := c.Flags()
	f.IntVarP(&q.Max, "number", "n", 10, "at most this many; 0 for all")
	f.IntVar(&q.Tick, "tick", 0, "only this tick")
	f.StringVar(&q.Thread, "thread", "", "only ticks of this thread")
	f.StringVar(&q.Mood, "mood", "", "only ticks in this mood")
	f.StringVar(&q.Text, "text", "", "only where this text occurs")
	f.StringVar(&q.Path, "path", "", "only commits that touch this file")
	f.BoolVar(&all, "all", false, "not only ticks, every commit")
	f.BoolVarP(&patch, "patch", "p", false, "with what each commit changed")
	return c
}

// logLine is a commit in JSON.
type logLine struct {
	Hash     string            `json:"hash"`
	Time     time.Time         `json:"time"`
	Author   string            `json:"author"`
	Kind     string            `json:"kind"`
	Tick     int               `json:"tick,omitempty"`
	Thread   string            `json:"thread,omitempty"`
	Mood     string            `json:"mood,omitempty"`
	Text     string            `json:"text"`
	Body     string            `json:"body,omitempty"`
	Trailers map[string]string `json:"trailers,omitempty"`
	Diff     string            `json:"diff,omitempty"`
}

func (a *app) printLog(ctx context.Context, repo *journal.Repo, q journal.Query, patch bool, out io.Writer) (n int, err error) {
	lines := []logLine{}
	for e, err := range repo.Log(ctx, q) {
		if err != nil {
			return n, err
		}
		n++
		l := logLine{Hash: e.Hash, Time: e.When, Author: e.Author.String(), Kind: string(e.Kind), Tick: e.Tick,
			Thread: e.Thread, Mood: e.Mood, Text: e.Text, Body: e.Body, Trailers: e.Trailers}
		if l.Text == "" {
			l.Text = e.Subject
		}
		if patch {
			if l.Diff, err = repo.Diff(ctx, e.Hash); err != nil {
				return n, err
			}
		}
		if a.json {
			lines = append(lines, l)
			continue
		}
		fmt.Fprintf(out, "%s %s %s\n", e.Hash[:min(7, len(e.Hash))], e.When.Local().Format("2006-01-02 15:04"), console.Clean(e.Subject))
		if patch {
			if e.Body != "" {
				fmt.Fprintf(out, "\n%s\n", console.Clean(e.Body))
			}
			fmt.Fprintf(out, "\n%s\n", console.Clean(l.Diff))
		}
	}
	if a.json {
		return n, a.printJSON(out, lines)
	}
	return n, nil
}

func (a *app) diffCommand() *cobra.Command {
	return &cobra.Command{
		Use: "diff [TICK | COMMIT] [TICK | COMMIT]", GroupID: "look", Args: cobra.MaximumNArgs(2),
		Short: "What a tick changed (the last commit, if none is named), or how two differ",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			revs := append([]string{}, args...)
			for i, rev := range revs {
				if n, err := strconv.Atoi(rev); err == nil {
					e, err := h.FindTick(cmd.Context(), n)
					if err != nil {
						return err
					}
					revs[i] = e.Hash
				}
			}
			var text string
			switch len(revs) {
			case 0:
				text, err = h.Journal().Diff(cmd.Context(), "HEAD")
			case 1:
				text, err = h.Journal().Diff(cmd.Context(), revs[0])
			default:
				text, err = h.Journal().DiffBetween(cmd.Context(), revs[0], revs[1])
			}
			if errors.Is(err, fs.ErrNotExist) {
				return usagef("no tick or commit %q; `amacs log` lists them", strings.Join(args, " "))
			}
			if err != nil {
				return err
			}
			fmt.Fprint(cmd.OutOrStdout(), console.Clean(text))
			return nil
		},
	}
}
