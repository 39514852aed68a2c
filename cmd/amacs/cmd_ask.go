package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"amacs/cmd/amacs/repl"
	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
)

func (a *app) askCommand() *cobra.Command {
	keep := false
	c := a.jsonFlag(&cobra.Command{
		Use: "ask TEXT... | ask -", GroupID: "talk", Args: cobra.MinimumNArgs(1),
		Short: "Say one thing and print the reply",
		Long: `Runs one tick (and those that the agent adds with continue) and prints the reply.
With "-" the whole standard input is one message. What looks like a key or a
password is taken out before the message is stored; --keep says it as it is, and
keeps those secrets from now on.`,
		Example: "  amacs ask what did we decide about the parser\n  git diff | amacs ask -",
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.repl {
				return usagef("just type it; no /ask is needed here")
			}
			text := strings.Join(args, " ")
			if len(args) == 1 && args[0] == "-" {
				b, err := io.ReadAll(a.in)
				if err != nil {
					return fmt.Errorf("reading standard input: %w", err)
				}
				text = string(b)
			}
			if strings.TrimSpace(text) == "" {
				return usagef("nothing to say: the message is empty")
			}
			h, err := a.openOrInit(cmd.Context())
			if err != nil {
				return err
			}
			if found := h.Secrets(text); len(found) > 0 && keep {
				if err := h.Keep(cmd.Context(), found...); err != nil {
					return err
				}
			} else if len(found) > 0 {
				fmt.Fprintln(a.err, repl.TakenOut(found, false))
			}
			var reports []harness.Report
			spin := a.spinner()
			defer spin.stop()
			watched := term.IsTerminal(int(a.err.Fd()))
			show := func(e harness.Event) {
				defer spin.event(e)()
				switch {
				case a.json, e.Kind == harness.Running && !watched:
				case e.Kind == harness.Notice || e.Kind == harness.Withdrawn:
					fmt.Fprintln(a.err, console.Clean(e.Text))
				case e.Kind == harness.Running:
					fmt.Fprintln(a.err, console.Clean("· running "+e.Text))
				}
			}
			began := time.Now()
			in := harness.Input{Source: harness.Human, Text: text, Cwd: a.cwd, Ask: a.asker(spin)}
			err = h.Converse(cmd.Context(), in, show,
				func(r harness.Report) {
					reports = append(reports, r)
					spin.stop()
					if r.Reply != "" && !a.json {
						fmt.Fprintln(cmd.OutOrStdout(), console.Clean(r.Reply))
					} else if r.Continue && watched && !a.json {
						fmt.Fprintln(a.err, console.Clean(fmt.Sprintf("· tick %d: %s", r.Tick, r.Monologue)))
					}
				})
			if s := harness.Summary(reports, time.Since(began)); s != "" && watched && !a.json {
				fmt.Fprintln(a.err, console.Clean("· "+s))
			}
			if a.json && len(reports) > 0 {
				if err := a.printJSON(cmd.OutOrStdout(), map[string]any{"ticks": reports, "reply": lastReply(reports)}); err != nil {
					return err
				}
			}
			if err != nil {
				return err
			}
			// Rarely anything to do; where there is, it may take a second.
			if err := h.Pack(cmd.Context()); err != nil {
				fmt.Fprintln(a.err, "packing the history:", err)
			}
			return verdict(reports[len(reports)-1])
		},
	})
	c.Flags().BoolVar(&keep, "keep", false, "store what looks like a secret in this message as it is, from now on")
	return c
}

func lastReply(reports []harness.Report) string {
	for i := len(reports) - 1; i >= 0; i-- {
		if reports[i].Reply != "" {
			return reports[i].Reply
		}
	}
	return ""
}

// verdict turns the outcome of the last tick into the command's.
func verdict(r harness.Report) error {
	switch r.Outcome {
	case "failed":
		kept := ""
		if r.Waiting > 0 {
			kept = "\n  your line is kept; it is answered with your next one, or by /retry at the prompt"
		}
		return fmt.Errorf("tick %d: %w%s", r.Tick, r.Failure, kept)
	case "interrupted":
		return context.Canceled
	case "unparsed":
		return fmt.Errorf("tick %d: the model's reply could not be read; it is kept in agent-chat.org", r.Tick)
	}
	return nil
}
