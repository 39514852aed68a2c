package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
	"amacs/harness/home"
)

func (a *app) undoCommand() *cobra.Command {
	return a.moveCommand(&cobra.Command{
		Use: "undo [N]", GroupID: "undo", Args: cobra.MaximumNArgs(1),
		Short: "Take the whole mind back by N ticks (1)",
		Long: `Makes every file of the home what it was before the last N ticks, by a new commit:
no history is lost, and redo brings all of it back. What you edited meanwhile goes
back too. config.yaml and permissions.org stay, and no tick number comes twice.
What the agent did outside its home is listed; revert puts files back.`,
		Example: "  amacs undo --dry-run 3\n  amacs undo 3\n  amacs redo",
	}, "took back", "would take back", (*harness.Harness).Undo, (*harness.Harness).WouldUndo)
}

func (a *app) redoCommand() *cobra.Command {
	return a.moveCommand(&cobra.Command{
		Use: "redo [N]", GroupID: "undo", Args: cobra.MaximumNArgs(1),
		Short: "Take the last N undos back (1)",
		Long:  "Puts back what the last N undos took, as long as nothing else was committed since.",
	}, "put back", "would put back", (*harness.Harness).Redo, (*harness.Harness).WouldRedo)
}

// mover is one of the harness' Undo, Redo, WouldUndo, WouldRedo.
type mover func(h *harness.Harness, ctx context.Context, n int) (harness.Moved, error)

func (a *app) moveCommand(c *cobra.Command, did, does string, move, would mover) *cobra.Command {
	var dry bool
	c.Flags().BoolVar(&dry, "dry-run", false, "only say what would change")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		n := 1
		if len(args) == 1 {
			var err error
			if n, err = strconv.Atoi(args[0]); err != nil || n < 1 {
				return usagef("%s %s: by how many? give a number from 1", c.Name(), args[0])
			}
		}
		h, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		if dry {
			m, err := would(h, cmd.Context(), n)
			if err != nil {
				return err
			}
			a.printMoved(out, does, m)
			for _, f := range m.Files {
				fmt.Fprintf(out, "  %-8s %s\n", f.Kind, console.Clean(f.Path))
			}
			return nil
		}
		m, err := move(h, cmd.Context(), n)
		if err != nil {
			return err
		}
		a.printMoved(out, did, m)
		if c.Name() == "undo" {
			fmt.Fprintf(out, "%s puts it back\n", a.word("redo"))
		}
		return nil
	}
	return c
}

// word is a command as the human would write it here.
func (a *app) word(command string) string {
	if a.repl {
		return "/" + command
	}
	return "amacs " + command
}

func (a *app) printMoved(out io.Writer, did string, m harness.Moved) {
	for _, n := range m.Notices {
		fmt.Fprintln(out, console.Clean(n))
	}
	s := "s"
	if len(m.Files) == 1 {
		s = ""
	}
	fmt.Fprintf(out, "%s %s: %d file%s\n", did, harness.TickWords(m.Ticks), len(m.Files), s)
	for _, e := range m.Edits {
		fmt.Fprintf(out, "  with it: what you edited in %s\n", console.Clean(e))
	}
	for _, l := range m.Left {
		fmt.Fprintf(out, "  %s\n", console.Clean(l))
	}
	for _, d := range m.Deeds {
		fmt.Fprintf(out, "  not undone: %s\n", console.Clean(a.deedWords(d)))
	}
}

// deedWords says what was done outside the home.
func (a *app) deedWords(d home.Deed) string {
	switch d.What {
	case "edit", "write":
		return fmt.Sprintf("edited %s (%s puts it back)", d.Path, a.word("revert "+strconv.Itoa(d.Tick)))
	case "run":
		if d.Exit != 0 {
			return fmt.Sprintf("ran: %s (in %s, exit %d)", d.Command, d.Dir, d.Exit)
		}
		return fmt.Sprintf("ran: %s (in %s)", d.Command, d.Dir)
	}
	return d.What + ": " + d.Command
}

func (a *app) revertCommand() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use: "revert TICK [PATH...]", GroupID: "undo", Args: cobra.MinimumNArgs(1),
		Short: "Put files back that the agent edited in a tick",
		Long: `Makes files outside the home what they were before the agent edited them in that
tick; one that it made is removed. A file that was changed since is left alone and
shown, unless you say --force. Of several ticks' edits of a file the last one is
put back first. What is replaced is kept for 90 days in .amacs/state/before.`,
		Example: "  amacs revert 43\n  amacs revert 43 src/main.go",
		RunE: func(cmd *cobra.Command, args []string) error {
			tick, err := strconv.Atoi(args[0])
			if err != nil {
				return usagef("revert %s: of which tick? give its number", args[0])
			}
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			var paths []string
			for _, p := range args[1:] {
				if p, err = a.absolute(p); err != nil {
					return err
				}
				if dir, err := filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
					p = filepath.Join(dir, filepath.Base(p))
				}
				paths = append(paths, p)
			}
			done, err := h.Revert(cmd.Context(), tick, paths, force)
			left := 0
			for _, r := range done {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", console.Clean(r.Path), r.Say)
				if !r.Done {
					left++
					fmt.Fprint(cmd.OutOrStdout(), console.Clean(r.Diff))
				}
			}
			if err == nil && left > 0 {
				err = fmt.Errorf("not everything of tick %d was put back; --force puts files back that were changed since", tick)
			}
			return err
		},
	}
	c.Flags().BoolVar(&force, "force", false, "also files that were changed since")
	return c
}
