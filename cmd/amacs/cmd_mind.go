package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"amacs/cmd/amacs/repl/console"
	"amacs/consciousness"
	"amacs/consciousness/sexp"
	"amacs/harness"
	"amacs/harness/home"
	"amacs/harness/nearest"
	"amacs/org"
	"amacs/skills"
)

func timeNow() time.Time { return time.Now() }

// absolute makes a path absolute, meant from the folder of this run.
func (a *app) absolute(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		dir, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(dir, rest), nil
	}
	return filepath.Abs(path)
}

func (a *app) skillsCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "skills [NAME]", GroupID: "mind", Args: cobra.MaximumNArgs(1),
		Short: "The skills of this home; with a name, that skill's text",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			fsys := os.DirFS(h.Home().Path(home.Skills))
			out := cmd.OutOrStdout()
			if len(args) == 1 {
				s, err := skills.Load(fsys, args[0])
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(out, map[string]any{"name": s.Name, "description": s.Description, "body": s.Body, "files": append([]string{}, s.Files...)})
				}
				fmt.Fprintln(out, console.Clean(s.Body))
				return nil
			}
			ok, broken := skills.List(fsys)
			if a.json {
				list := []map[string]string{}
				for _, s := range ok {
					list = append(list, map[string]string{"name": s.Name, "description": s.Description})
				}
				for _, b := range broken {
					list = append(list, map[string]string{"name": b.Name, "broken": b.Err.Error()})
				}
				return a.printJSON(out, list)
			}
			if len(ok)+len(broken) == 0 {
				fmt.Fprintf(out, "no skills beside the core; a skill is a folder %s/NAME with a SKILL.md\n", h.Home().Path(home.Skills))
			}
			for _, s := range ok {
				fmt.Fprintf(out, "%-20s %s\n", s.Name, console.Clean(s.Description))
			}
			for _, b := range broken {
				fmt.Fprintf(out, "%-20s broken: %s\n", b.Name, console.Clean(b.Err.Error()))
			}
			return nil
		},
	})
}

func (a *app) notesCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "notes [WORDS]", GroupID: "mind", Args: cobra.ArbitraryArgs,
		Short: "The agent's notes; with words, the notes that hold them, whole",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			src, err := h.Home().Draft().Bytes(home.Scratchpad)
			if err != nil {
				return err
			}
			want := strings.ToLower(strings.Join(args, " "))
			found := []home.Note{}
			for _, n := range home.Notes(src) {
				if strings.Contains(strings.ToLower(n.Heading+"\n"+n.Text), want) {
					found = append(found, n)
				}
			}
			out := cmd.OutOrStdout()
			if a.json {
				return a.printJSON(out, found)
			}
			if len(found) == 0 {
				fmt.Fprintln(out, "no such notes")
			}
			for _, n := range found {
				of := ""
				if n.Thread != "" {
					of = " [" + n.Thread + "]"
				}
				fmt.Fprintf(out, "%s%s (tick %d)\n", console.Clean(n.Heading), of, n.Tick)
				if want != "" {
					fmt.Fprintf(out, "%s\n\n", console.Clean(strings.TrimRight(org.Text([]byte(n.Text)), "\n")))
				}
			}
			return nil
		},
	})
}

func (a *app) buffersCommand() *cobra.Command {
	return &cobra.Command{
		Use: "buffers [N]", GroupID: "mind", Args: cobra.MaximumNArgs(1),
		Short: "The files of the active thread; with a number, that file's text",
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, m, err := a.buffers(cmd)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if len(args) == 1 {
				path, err := nth(paths, args[0])
				if err != nil {
					return err
				}
				b := harness.ReadBuffer(path, 1<<20, m.Clean)
				fmt.Fprintf(out, "=== %s (%s) ===\n%s\n", b.Name, b.Mode, console.Clean(strings.TrimRight(b.Text, "\n")))
				return nil
			}
			if len(paths) == 0 {
				fmt.Fprintln(out, "the active thread has no buffers; `thread add ID PATH` adds one")
			}
			for i, path := range paths {
				b := harness.ReadBuffer(path, m.State.BufferLimit, m.Clean)
				fmt.Fprintf(out, "%d  %s (%s, %d characters)\n", i+1, path, b.Mode, len([]rune(b.Text)))
			}
			return nil
		},
	}
}

func (a *app) buffers(cmd *cobra.Command) ([]string, *harness.Mind, error) {
	_, m, err := a.peek(cmd)
	if err != nil {
		return nil, nil, err
	}
	t, _ := m.State.Threads.Find(m.State.Threads.Active)
	return t.Buffers, m, nil
}

func nth(paths []string, arg string) (string, error) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 1 || n > len(paths) {
		return "", usagef("no buffer %s; there are %d, `buffers` lists them", arg, len(paths))
	}
	return paths[n-1], nil
}

func (a *app) editCommand() *cobra.Command {
	return &cobra.Command{
		Use: "edit [N | FILE]", GroupID: "mind", Args: cobra.MaximumNArgs(1),
		Short: "Open a buffer, or a file of the home, in $EDITOR",
		Long: `Opens the N-th buffer of the active thread, or a file of the home such as
scratchpad.org, in $VISUAL or $EDITOR. What you change is committed under your
name at the next tick.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			path := h.Home().Path(home.Scratchpad)
			if len(args) == 1 {
				if _, err := strconv.Atoi(args[0]); err == nil {
					paths, _, err := a.buffers(cmd)
					if err != nil {
						return err
					}
					if path, err = nth(paths, args[0]); err != nil {
						return err
					}
				} else if !filepath.IsLocal(args[0]) {
					return usagef("%s is not inside the home; edit takes a buffer's number or a file of the home", args[0])
				} else {
					path = h.Home().Path(args[0])
				}
			}
			editor := first(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
			if editor == "" {
				return usagef("no editor is set; put one into $EDITOR, or open %s yourself", path)
			}
			words := append(strings.Fields(editor), path)
			run := func() error {
				c := exec.CommandContext(cmd.Context(), words[0], words[1:]...)
				c.Stdin, c.Stdout, c.Stderr = a.in, a.out, a.err
				if err := c.Run(); err != nil {
					return fmt.Errorf("running %s: %w", editor, err)
				}
				return nil
			}
			if a.suspend != nil {
				return a.suspend(run)
			}
			return run()
		},
	}
}

func (a *app) depthCommand() *cobra.Command {
	keys := map[string]sexp.Symbol{
		"chat": "chat-context-depth", "monologue": "monologue-context-depth",
		"notes": "global-scratchpad-depth", "thread-notes": "thread-scratchpad-depth",
		"buffer": "buffer-content-limit", "continue": "autonomous-tick-limit",
	}
	order := []string{"chat", "monologue", "notes", "thread-notes", "buffer", "continue"}
	return &cobra.Command{
		Use: "depth [WHAT N]", GroupID: "mind", Args: cobra.MaximumNArgs(2),
		Short: "How much of its past the agent is shown, or set one of the depths",
		Long: `Without arguments lists the depths. WHAT is chat (exchanges), monologue (lines),
notes and thread-notes (notes), buffer (characters of each) or continue (ticks in
a row without you).`,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return usagef("depth %s: to what? give a number", args[0])
			}
			if len(args) == 2 {
				key, ok := keys[args[0]]
				n, err := strconv.ParseInt(args[1], 10, 64)
				if !ok || err != nil {
					hint := strings.Join(order, ", ")
					if near := nearest.Names(args[0], order, 1); !ok && len(near) > 0 {
						hint = near[0]
					}
					return usagef("depth takes one of %s and a whole number", hint)
				}
				err = h.Change(cmd.Context(), "CONFIG", fmt.Sprintf("%s is %d", key, n), home.Edit{What: "setting a depth", Apply: func(d *home.Draft) error {
					return d.Mind(func(s *consciousness.State) error { return s.Set(key, n) })
				}})
				if err != nil {
					return err
				}
			}
			m, err := h.Peek(cmd.Context(), a.cwd)
			if err != nil {
				return err
			}
			for _, name := range order {
				v, err := m.State.Get(keys[name])
				if err != nil {
					return err
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%-14s %-6s %s\n", name, sexp.Print(v), keys[name])
			}
			return nil
		},
	}
}

func (a *app) restoreCommand() *cobra.Command {
	return &cobra.Command{
		Use: "restore FILE", GroupID: "upkeep", Args: cobra.ExactArgs(1),
		Short: "Put back what a hand-saved file lost: ticks, thoughts or notes",
		Long: `When an editor saves a file that it had not read again, entries that ticks wrote
meanwhile are gone. This puts those that the last hand edit took out of FILE
(agent-chat.org, monologue.org or scratchpad.org) back.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			path := filepath.ToSlash(filepath.Base(args[0]))
			switch path {
			case home.Chat, home.Monologue, home.Scratchpad:
			default:
				return usagef("restore takes %s, %s or %s", home.Chat, home.Monologue, home.Scratchpad)
			}
			names, err := h.Restore(cmd.Context(), path)
			if err != nil {
				return err
			}
			if len(names) == 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "nothing is missing from %s\n", path)
				return nil
			}
			fmt.Fprintf(cmd.OutOrStdout(), "put back into %s: %s\n", path, strings.Join(names, ", "))
			return nil
		},
	}
}
