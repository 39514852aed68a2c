package main

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"amacs/cmd/amacs/repl/console"
	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/harness/journal"
	"amacs/threads"
)

func tickQuery(n int) journal.Query { return journal.Query{Kind: "TICK", Max: n} }

// thread is a line of work in JSON.
type thread struct {
	ID      string   `json:"id"`
	Concern string   `json:"concern"`
	Goal    string   `json:"goal,omitempty"`
	Active  bool     `json:"active"`
	Started int      `json:"started"`
	Buffers []string `json:"buffers"`
	Skills  []string `json:"skills"`
}

func (a *app) threadsCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "threads", GroupID: "mind", Args: cobra.NoArgs,
		Short: "The open lines of work, and the last that were completed",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, m, err := a.peek(cmd)
			if err != nil {
				return err
			}
			return a.printThreads(cmd.OutOrStdout(), m.State)
		},
	})
}

func (a *app) printThreads(out io.Writer, s consciousness.State) error {
	open := []thread{}
	for _, t := range s.Threads.Open {
		open = append(open, thread{string(t.ID), t.Concern, t.Goal, t.ID == s.Threads.Active, t.Started,
			append([]string{}, t.Buffers...), append([]string{}, t.Skills...)})
	}
	if a.json {
		return a.printJSON(out, open)
	}
	if len(open) == 0 {
		fmt.Fprintln(out, "no open threads; `thread new ID what it is about` opens one")
	}
	for _, t := range open {
		mark := " "
		if t.Active {
			mark = "*"
		}
		fmt.Fprintf(out, "%s %s  %s\n", mark, t.ID, console.Clean(t.Concern))
		for _, part := range []struct {
			name string
			xs   []string
		}{{"buffers", t.Buffers}, {"skills", t.Skills}} {
			if len(part.xs) > 0 {
				fmt.Fprintf(out, "    %s: %s\n", part.name, console.Clean(strings.Join(part.xs, ", ")))
			}
		}
	}
	for _, t := range s.Completed {
		fmt.Fprintf(out, "  done in tick %d: %s  %s\n", t.Completed, t.ID, console.Clean(t.Learned))
	}
	return nil
}

func (a *app) threadCommand() *cobra.Command {
	c := &cobra.Command{
		Use: "thread", GroupID: "mind", Args: cobra.NoArgs,
		Short: "Open, switch, complete a line of work, or change what it shows",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("thread what? new, switch, done, add or remove; `threads` lists them")
		},
	}
	var evidence, learned string
	done := &cobra.Command{
		Use: "done ID --evidence TEXT", Args: cobra.ExactArgs(1), Short: "Complete a thread",
		RunE: func(cmd *cobra.Command, args []string) error {
			id := threads.ID(args[0])
			return a.changeThread(cmd, "Completed "+args[0], home.Edit{What: "completing the thread", Apply: func(d *home.Draft) error {
				s, _, err := d.State()
				if err != nil {
					return err
				}
				return d.Complete(id, evidence, learned, s.Tick, timeNow())
			}})
		},
	}
	done.Flags().StringVar(&evidence, "evidence", "", "what shows that it is done")
	done.Flags().StringVar(&learned, "learned", "", "what was learnt")
	var goal string
	create := &cobra.Command{
		Use: "new ID CONCERN...", Args: cobra.MinimumNArgs(2), Short: "Open a thread and switch to it",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := threads.ParseID(args[0])
			if err != nil {
				return usageError{err}
			}
			return a.changeThread(cmd, "Opened "+args[0], threadEdit(func(s threads.Set, tick int) (threads.Set, error) {
				s, err := s.Create(threads.Thread{ID: id, Concern: strings.Join(args[1:], " "), Goal: goal, Started: tick})
				if err != nil {
					return s, err
				}
				return s.Switch(id)
			}))
		},
	}
	create.Flags().StringVar(&goal, "goal", "", "what it should lead to")
	one := func(use, short, said string, apply func(threads.Set, []string) (threads.Set, error), n int) *cobra.Command {
		return &cobra.Command{Use: use, Short: short, Args: cobra.ExactArgs(n),
			RunE: func(cmd *cobra.Command, args []string) error {
				if n == 2 {
					path, err := a.absolute(args[1])
					if err != nil {
						return err
					}
					if real, err := filepath.EvalSymlinks(path); err == nil {
						path = real // as it is shown
					}
					args[1] = path
				}
				return a.changeThread(cmd, said+" "+strings.Join(args, " "), threadEdit(func(s threads.Set, _ int) (threads.Set, error) {
					return apply(s, args)
				}))
			}}
	}
	c.AddCommand(create, done,
		one("switch ID", "Make a thread the active one", "Switched to",
			func(s threads.Set, args []string) (threads.Set, error) { return s.Switch(threads.ID(args[0])) }, 1),
		one("add ID PATH", "Show a file or folder while the thread is active", "Show in",
			func(s threads.Set, args []string) (threads.Set, error) {
				return s.AddBuffer(threads.ID(args[0]), args[1])
			}, 2),
		one("remove ID PATH", "Stop showing a file or folder", "Stopped showing in",
			func(s threads.Set, args []string) (threads.Set, error) {
				return s.RemoveBuffer(threads.ID(args[0]), args[1])
			}, 2))
	return c
}

// threadEdit is an edit of the set of threads; fn is told the last tick.
func threadEdit(fn func(s threads.Set, tick int) (threads.Set, error)) home.Edit {
	return home.Edit{What: "changing the threads", Apply: func(d *home.Draft) error {
		return d.Mind(func(s *consciousness.State) (err error) {
			s.Threads, err = fn(s.Threads, s.Tick)
			return err
		})
	}}
}

func (a *app) changeThread(cmd *cobra.Command, what string, edit home.Edit) error {
	h, err := a.open(cmd.Context())
	if err != nil {
		return err
	}
	if err := h.Change(cmd.Context(), "THREAD", what, edit); err != nil {
		return err
	}
	m, err := h.Peek(cmd.Context(), a.cwd)
	if err != nil {
		return err
	}
	return a.printThreads(cmd.OutOrStdout(), m.State)
}
