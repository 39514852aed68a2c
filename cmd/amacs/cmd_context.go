package main

import (
	"fmt"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
	"amacs/harness/ledger"
)

// section is a part of the prompt in JSON.
type section struct {
	Name       string `json:"name"`
	Characters int    `json:"characters"`
	Stable     bool   `json:"stable"`
}

func (a *app) contextCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "context", GroupID: "look", Args: cobra.NoArgs,
		Short: "What the model would be shown now: each section and its size",
		Long: `Lists the sections of the prompt in their order, with their size in characters.
The stable ones come first: a model service that caches prompts can serve them,
for they stay as they are from tick to tick, but for the latest exchange at the
end of the chat. At every fourth tick, when a thread is switched or a shown file
has changed, some of them are laid out anew. Whether the service did serve them
is told by its own count of tokens.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, m, err := a.peek(cmd)
			if err != nil {
				return err
			}
			v := m.View()
			last, called, err := h.LastCall()
			if err != nil {
				return err
			}
			parts := []section{{"system (core skill)", utf8.RuneCountInString(v.System), true}}
			stable := parts[0].Characters
			for _, s := range v.Sections {
				n := utf8.RuneCountInString(s.Text)
				parts = append(parts, section{s.Name, n, s.Stable})
				if s.Stable {
					stable += n
				}
			}
			out := cmd.OutOrStdout()
			if a.json {
				all := map[string]any{"sections": parts, "characters": v.Size(), "stable": stable}
				if called {
					all["last_call"] = map[string]int{"tokens_in": last.In, "tokens_cached": last.Cached, "tokens_out": last.Out}
				}
				return a.printJSON(out, all)
			}
			for _, p := range parts {
				mark := ""
				if p.Stable {
					mark = "  stable"
				}
				fmt.Fprintf(out, "%-22s %8d%s\n", p.Name, p.Characters, mark)
			}
			fmt.Fprintf(out, "%-22s %8d  characters, %d%% of them in the stable part\n", "total", v.Size(), 100*stable/max(1, v.Size()))
			if called && last.In > 0 {
				fmt.Fprintf(out, "%-22s %s\n", "last call", ledger.Tokens(last.In, last.Cached, last.Out))
			}
			return nil
		},
	})
}

func (a *app) promptCommand() *cobra.Command {
	return &cobra.Command{
		Use: "prompt", GroupID: "look", Args: cobra.NoArgs,
		Short: "The very text that the model would be shown now",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := a.view(cmd)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			fmt.Fprintf(out, "--- system ---\n%s\n--- user ---\n", console.Clean(v.System))
			for _, s := range v.Sections {
				fmt.Fprint(out, console.Clean(s.Text))
			}
			return nil
		},
	}
}

func (a *app) view(cmd *cobra.Command) (harness.View, error) {
	_, m, err := a.peek(cmd)
	if err != nil {
		return harness.View{}, err
	}
	return m.View(), nil
}
