package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
)

func (a *app) atCommand() *cobra.Command {
	var list bool
	c := a.jsonFlag(&cobra.Command{
		Use: "at TICK [FILE]", GroupID: "undo", Args: cobra.RangeArgs(1, 2),
		Short:   "The mind as it was after a tick, or one of its files",
		Long:    "Looks at the home as it was after a tick. Nothing is changed.",
		Example: "  amacs at 42\n  amacs at 42 scratchpad.org\n  amacs at 42 --ls",
		RunE: func(cmd *cobra.Command, args []string) error {
			tick, err := strconv.Atoi(args[0])
			if err != nil {
				return usagef("at %s: which tick? give its number", args[0])
			}
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if list || len(args) == 2 {
				then, err := h.Snapshot(cmd.Context(), tick)
				if err != nil {
					return err
				}
				file := "."
				if len(args) == 2 {
					file = path.Clean(filepath.ToSlash(args[1]))
				}
				return a.printThen(out, then, file, tick, list)
			}
			m, err := h.At(cmd.Context(), tick, 3)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(out, momentJSON(m))
			}
			printMoment(out, m)
			return nil
		},
	})
	c.Flags().BoolVar(&list, "ls", false, "list the files instead")
	return c
}

// printThen writes a file as it was, or the names below a folder.
func (a *app) printThen(out io.Writer, then fs.FS, file string, tick int, list bool) error {
	info, err := fs.Stat(then, file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return fmt.Errorf("tick %d left no file %s in the home; `%s` lists them", tick, file, a.word(fmt.Sprintf("at %d --ls", tick)))
	}
	if err != nil {
		return err
	}
	if list || info.IsDir() {
		return fs.WalkDir(then, file, func(p string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				fmt.Fprintln(out, console.Clean(p))
			}
			return err
		})
	}
	b, err := fs.ReadFile(then, file)
	if err != nil {
		return err
	}
	if term.IsTerminal(int(a.out.Fd())) {
		b = []byte(console.Clean(string(b)))
	}
	_, err = out.Write(b)
	return err
}

func printMoment(out io.Writer, m harness.Moment) {
	fmt.Fprintf(out, "after tick %d, %s (commit %.10s)\n", m.Tick, m.Time.Local().Format("2006-01-02 15:04"), m.Commit)
	for _, d := range m.Damaged {
		fmt.Fprintf(out, "%s\n", console.Clean(d))
	}
	fmt.Fprintf(out, "mood        %s, confidence %.2f\n", console.Clean(m.Mood), m.Confidence)
	for _, t := range m.Threads.Open {
		mark := ""
		if t.ID == m.Threads.Active {
			mark = " (active)"
		}
		fmt.Fprintf(out, "thread      %s%s: %s\n", console.Clean(string(t.ID)), mark, console.Clean(t.Concern))
	}
	for _, n := range m.Notes {
		fmt.Fprintf(out, "note        %s (tick %d)\n", console.Clean(n.Heading), n.Tick)
	}
	for _, e := range m.Exchanges {
		fmt.Fprintf(out, "\n[tick %d]\n", e.Tick)
		if e.HasHuman {
			fmt.Fprintf(out, "you: %s\n", console.Clean(strings.TrimSpace(e.Human)))
		}
		if e.HasAgent {
			fmt.Fprintf(out, "agent: %s\n", console.Clean(strings.TrimSpace(e.Agent)))
		}
	}
}

func momentJSON(m harness.Moment) any {
	type thread struct {
		ID      string `json:"id"`
		Concern string `json:"concern"`
	}
	type note struct {
		Heading string `json:"heading"`
		Thread  string `json:"thread,omitempty"`
		Tick    int    `json:"tick"`
	}
	type exchange struct {
		Tick  int    `json:"tick"`
		Human string `json:"human,omitempty"`
		Agent string `json:"agent,omitempty"`
	}
	out := struct {
		Tick       int        `json:"tick"`
		Commit     string     `json:"commit"`
		Time       time.Time  `json:"time"`
		Mood       string     `json:"mood"`
		Confidence float64    `json:"confidence"`
		Thread     string     `json:"thread,omitempty"`
		Threads    []thread   `json:"threads"`
		Notes      []note     `json:"notes"`
		Exchanges  []exchange `json:"exchanges"`
		Damaged    []string   `json:"damaged,omitempty"`
	}{Tick: m.Tick, Commit: m.Commit, Time: m.Time, Mood: m.Mood, Confidence: m.Confidence, Thread: string(m.Threads.Active),
		Threads: []thread{}, Notes: []note{}, Exchanges: []exchange{}, Damaged: m.Damaged}
	for _, t := range m.Threads.Open {
		out.Threads = append(out.Threads, thread{string(t.ID), t.Concern})
	}
	for _, n := range m.Notes {
		out.Notes = append(out.Notes, note{n.Heading, n.Thread, n.Tick})
	}
	for _, e := range m.Exchanges {
		out.Exchanges = append(out.Exchanges, exchange{e.Tick, e.Human, e.Agent})
	}
	return out
}

func (a *app) whyCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "why WHAT...", GroupID: "undo", Args: cobra.MinimumNArgs(1),
		Short:   "Which ticks wrote a note and changed it, and what led to that",
		Long:    "WHAT is the heading of a note, or a part of it. The answer is read from the history alone.",
		Example: "  amacs why lifetimes",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			note, causes, err := h.Why(cmd.Context(), strings.Join(args, " "))
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if a.json {
				return a.printJSON(out, map[string]any{"note": note.Heading, "thread": note.Thread, "causes": causes})
			}
			fmt.Fprintf(out, "note %q", console.Clean(note.Heading))
			if note.Thread != "" {
				fmt.Fprintf(out, " of thread %s", console.Clean(note.Thread))
			}
			fmt.Fprintln(out)
			for _, c := range causes {
				fmt.Fprintf(out, "\n%s: %s %.7s %s\n", c.Did, c.Time.Local().Format("2006-01-02 15:04"), c.Commit, console.Clean(c.Subject))
				for _, line := range c.Human {
					fmt.Fprintf(out, "  you: %s\n", indented(line))
				}
				if c.Thought != "" {
					fmt.Fprintf(out, "  thought: %s\n", indented(c.Thought))
				}
				if c.Eval != "" {
					fmt.Fprintf(out, "  eval: %s\n", indented(c.Eval))
				}
			}
			return nil
		},
	})
}

// indented is a text below a label.
func indented(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(console.Clean(s)), "\n", "\n    ")
}
