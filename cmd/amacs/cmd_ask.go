package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
)

func (a *app) askCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "ask TEXT... | ask -", GroupID: "talk", Args: cobra.MinimumNArgs(1),
		Short: "Say one thing and print the reply",
		Long: `Runs one tick (and those that the agent adds with continue) and prints the reply.
With "-" the whole standard input is one message.`,
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
			var reports []harness.Report
			spin := a.spinner()
			defer spin.stop()
			show := func(e harness.Event) {
				defer spin.event(e)()
				if (e.Kind == harness.Notice || e.Kind == harness.Withdrawn) && !a.json {
					fmt.Fprintln(a.err, console.Clean(e.Text))
				}
			}
			err = h.Converse(cmd.Context(), harness.Input{Source: harness.Human, Text: text, Cwd: a.cwd}, show,
				func(r harness.Report) {
					reports = append(reports, r)
					spin.stop()
					if r.Reply != "" && !a.json {
						fmt.Fprintln(cmd.OutOrStdout(), console.Clean(r.Reply))
					}
				})
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
