package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"amacs/cmd/amacs/repl/console"
	"amacs/consciousness"
	"amacs/harness/home"
)

func (a *app) modelCommand() *cobra.Command {
	return &cobra.Command{
		Use: "model [NAME]", GroupID: "upkeep", Args: cobra.MaximumNArgs(1),
		Short: "Who answers, or switch to another model of the provider",
		Long: `Without a name says who answers. With one it changes ` + "`model`" + ` in config.yaml, from
the next tick on. PROVIDER/NAME changes the provider as well: anthropic, openai,
ollama, agent or script; not where openai has a base-url, whose names may hold a
slash. ` + "`amacs config provider NAME`" + ` takes a provider with its default model, also
offline and auto. Anthropic and OpenAI bill what is asked from then on, at most
cap-day. amacs models lists the names.`,
		Example: "  amacs model claude-haiku-5-5\n  amacs model ollama/qwen3",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 1 {
				settings := [][2]string{{"model", args[0]}}
				own := h.Config().Provider == "openai" && h.Config().BaseURL != "" // names there may have a slash: openai/gpt-oss-20b
				if p, name, ok := strings.Cut(args[0], "/"); ok && home.IsProvider(p) && !own {
					settings = [][2]string{{"provider", p}, {"model", name}}
				}
				if err := h.Configure(cmd.Context(), settings...); err != nil {
					return err
				}
			}
			if _, err := h.Ready(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), console.Clean(h.ModelName()))
			if len(args) == 1 && !answersAs(h.Config(), args[0]) {
				fmt.Fprintf(cmd.OutOrStdout(), "(config.yaml names %s now; what --provider, --model or an AMACS_ variable says comes before it in this run)\n", console.Clean(args[0]))
			}
			return nil
		},
	}
}

// answersAs reports whether the settings in force are those that `model NAME` set.
func answersAs(c home.Config, name string) bool {
	return c.Model == name || c.Provider+"/"+c.Model == name
}

func (a *app) thinkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "think [on|off]", GroupID: "mind", Args: cobra.MaximumNArgs(1),
		Short: "Whether the model thinks before it answers, or switch that",
		Long: `Changes "thinking" in the agent's api-settings, as the agent itself may. What a
model thinks is not shown; it is billed as output.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 1 {
				if args[0] != "on" && args[0] != "off" {
					return usagef("think takes on or off, not %q", args[0])
				}
				err := h.Change(cmd.Context(), "CONFIG", "thinking is "+args[0], home.Edit{What: "setting api-settings", Apply: func(d *home.Draft) error {
					return d.Mind(func(s *consciousness.State) error { s.API.Thinking = args[0] == "on"; return nil })
				}})
				if err != nil {
					return err
				}
			}
			m, err := h.Peek(cmd.Context(), a.cwd)
			if err != nil {
				return err
			}
			word := "off"
			if m.State.API.Thinking {
				word = "on"
			}
			fmt.Fprintln(cmd.OutOrStdout(), "thinking is "+word)
			return nil
		},
	}
}

func (a *app) modelsCommand() *cobra.Command {
	c := a.jsonFlag(&cobra.Command{
		Use: "models", GroupID: "upkeep", Args: cobra.NoArgs,
		Short: "The models that the provider has, with their prices",
		Long: `Reads the list of the provider's server, which costs nothing. * marks the model
that answers; prices are in USD per million tokens. ` + "`amacs model NAME`" + ` switches to
one of them, ` + "`amacs models check`" + ` sees whether it answers.`,
		Example: "  amacs models\n  amacs models --provider ollama",
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			list, err := h.Models(cmd.Context())
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if a.json {
				return a.printJSON(out, list)
			}
			if len(list) == 0 {
				fmt.Fprintf(out, "%s has no list of models\n", h.ModelName())
			}
			name, price := 0, 0
			for _, m := range list {
				name, price = max(name, len(m.Name)), max(price, len(m.PriceText()))
			}
			for _, m := range list {
				mark := " "
				if m.Answers {
					mark = "*"
				}
				fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%s %-*s  %-*s  %s", mark, name, console.Clean(m.Name), price, m.PriceText(), console.Clean(m.Note)), " "))
			}
			return nil
		},
	})
	c.AddCommand(a.jsonFlag(&cobra.Command{
		Use: "check", Args: cobra.NoArgs,
		Short: "Ask the model one small question, to see that key, name and server are right",
		Long: `Asks the fast model (fast-model in config.yaml, else model) for one word, outside
any tick. It costs what some hundred tokens cost and is booked as "assist".`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			c, err := h.Check(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(cmd.OutOrStdout(), c)
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s answered %q in %s: %s\n", console.Clean(c.Model), console.Clean(c.Text), c.Took, c.Spent())
			return nil
		},
	}))
	return c
}

func (a *app) agentsCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "agents", GroupID: "upkeep", Args: cobra.NoArgs,
		Short: "The agent CLIs that amacs knows: which are here, their versions, what they can do",
		Long: `Lists the agent CLIs on the PATH, claude, codex and others, and those that
` + "`agents`" + ` in config.yaml describes. Each is asked for its version only; whether it is
logged in is seen when it answers: amacs models check --provider agent --model claude`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			list := []cli{}
			for _, f := range h.Agents(cmd.Context()) {
				list = append(list, cli{f.Entry.Name, f.Path, f.Version, f.Can, f.Entry.MaxCost(), f.Problem})
			}
			out := cmd.OutOrStdout()
			if a.json {
				return a.printJSON(out, list)
			}
			if len(list) == 0 {
				fmt.Fprintln(out, "no agent CLI is on the PATH; `agents` in config.yaml describes others")
			}
			for _, c := range list {
				text := strings.TrimSpace(c.Version + "  " + c.Path)
				if c.Path == "" {
					text = c.Problem
				} else if c.Problem != "" {
					text += ", " + c.Problem
				}
				fmt.Fprintf(out, "%-10s %s\n", c.Name, console.Clean(text))
				if len(c.Can) > 0 {
					fmt.Fprintf(out, "%-10s %s\n", "", strings.Join(c.Can, ", "))
				}
			}
			return nil
		},
	})
}

// cli is an agent CLI in JSON.
type cli struct {
	Name    string   `json:"name"`
	Path    string   `json:"path,omitempty"`
	Version string   `json:"version,omitempty"`
	Can     []string `json:"can,omitempty"`
	MaxUSD  float64  `json:"max_usd"` // the most that one call is booked at
	Problem string   `json:"problem,omitempty"`
}
