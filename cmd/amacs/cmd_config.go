package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"amacs/harness/home"
	"amacs/harness/provider"
)

func (a *app) configCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "config [KEY [VALUE]]", GroupID: "upkeep", Args: cobra.MaximumNArgs(2),
		Short: "Show the settings, or change one in config.yaml",
		Long: `Without arguments lists the settings in force. With a key and a value changes
that line of config.yaml, and nothing else in it. The file may be edited by hand
as well. Flags and environment variables come before the file.

` + configHelp(),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 2 {
				err := h.Configure(cmd.Context(), [2]string{args[0], args[1]})
				if err != nil {
					return err
				}
			}
			config := h.Config()
			if len(args) == 2 { // as the file has it now
				if config, err = h.Home().Config(); err != nil {
					return err
				}
			}
			if err := a.printConfig(cmd, config, args); err != nil {
				return err
			}
			if len(args) == 1 && args[0] == "provider" && !a.json {
				c := provider.Choose(h.Candidates(cmd.Context()))
				fmt.Fprintf(cmd.OutOrStdout(), "auto would choose %s: %s\n", c.Name(), c.Why)
			}
			return nil
		},
	})
}

// printConfig shows the settings, or that of args; of a new provider also those
// that changed with it.
func (a *app) printConfig(cmd *cobra.Command, config home.Config, args []string) error {
	values, known := map[string]string{}, []string{}
	for _, k := range home.ConfigKeys() {
		known = append(known, k.Key)
		if len(args) == 0 || args[0] == k.Key || len(args) == 2 && args[0] == "provider" && slices.Contains([]string{"model", "base-url"}, k.Key) {
			values[k.Key] = k.Value(config)
		}
	}
	if len(values) == 0 {
		return usagef("no setting %q; the settings are %s", args[0], strings.Join(known, ", "))
	}
	if a.json {
		return a.printJSON(cmd.OutOrStdout(), values)
	}
	for _, k := range home.ConfigKeys() {
		if v, ok := values[k.Key]; ok {
			fmt.Fprintf(cmd.OutOrStdout(), "%-16s %s\n", k.Key, v)
		}
	}
	return nil
}

func configHelp() string {
	var b strings.Builder
	for _, k := range home.ConfigKeys() {
		fmt.Fprintf(&b, "  %-16s %s (default %q)\n", k.Key, k.Doc, k.Value(home.DefaultConfig()))
	}
	return b.String()
}
