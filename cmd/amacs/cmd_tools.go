package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness/process"
)

func (a *app) toolsCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "tools [SERVER [TOOL]]", GroupID: "mind", Args: cobra.MaximumNArgs(2),
		Short: "The MCP servers that the agent may call, and their tools",
		Long: `Lists the servers of mcp-servers in config.yaml with the tools that are known.
With a server it is started and asked anew; with a tool its arguments are shown.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			out, servers := cmd.OutOrStdout(), h.Tools()
			switch len(args) {
			case 2:
				text, err := servers.Schema(cmd.Context(), args[0], args[1])
				if err == nil {
					fmt.Fprintln(out, console.Clean(text))
				}
				return err
			case 1:
				tools, err := servers.Tools(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(out, tools)
				}
				for _, t := range tools {
					fmt.Fprintf(out, "%-24s %s\n", console.Clean(t.Name), console.Clean(t.About))
				}
				return nil
			}
			known := servers.Known()
			if a.json {
				return a.printJSON(out, known)
			}
			for _, s := range known {
				fmt.Fprintf(out, "%-16s %d tools known  %s\n", s.Server, len(s.Tools), console.Clean(s.About))
			}
			if len(known) == 0 {
				fmt.Fprintln(cmd.ErrOrStderr(), "no MCP servers; mcp-servers in config.yaml names them (`amacs edit config.yaml`)")
			}
			return nil
		},
	})
}

// confined is the command that amacs starts itself by, to confine itself before
// it runs something.
const confined = "confined"

func (a *app) confinedCommand() *cobra.Command {
	return &cobra.Command{
		Use: confined, Hidden: true, DisableFlagParsing: true,
		Short: "Run a command confined (amacs' own)",
		RunE:  func(_ *cobra.Command, args []string) error { return process.Confined(args) },
	}
}
