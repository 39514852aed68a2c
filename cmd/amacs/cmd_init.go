package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"amacs/harness"
)

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use: "init", GroupID: "upkeep", Args: cobra.NoArgs,
		Short: "Make a home, or complete one",
		Long: `Makes the agent's home: a git repository of plain text. In a home that is there
already, only files that are missing are written; no file is ever overwritten.
A folder that holds something else is refused.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := a.root()
			if err != nil {
				return err
			}
			created, err := harness.Init(cmd.Context(), root)
			if err != nil {
				return err
			}
			if len(created) == 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "%s is a home already, nothing is missing\n", root)
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s: wrote %d files\n", root, len(created))
			for _, path := range created {
				fmt.Fprintf(cmd.OutOrStdout(), "  %s\n", path)
			}
			return nil
		},
	}
}
