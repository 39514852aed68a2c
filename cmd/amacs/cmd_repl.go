package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"golang.org/x/term"

	"amacs/cmd/amacs/repl"
	"amacs/cmd/amacs/repl/console"
	"amacs/harness/home"
	"amacs/skills"
)

// runREPL opens the prompt, on a new home if there is none.
func (a *app) runREPL(ctx context.Context) error {
	if a.repl {
		return usagef("this is the prompt already")
	}
	h, err := a.openOrInit(ctx)
	if err != nil {
		return err
	}
	words, err := h.Ready(ctx)
	if err != nil {
		return err
	}
	for _, w := range words {
		fmt.Fprintln(a.err, console.Clean(w))
	}
	// From here on the console takes the signals.
	a.unsignal()
	err = repl.Run(context.WithoutCancel(ctx), repl.Options{
		Harness: h, In: a.in, Out: a.out, Cwd: a.cwd, Color: a.colors(a.out), Lines: a.lines,
		Banner:   fmt.Sprintf("amacs %s in %s, answered by %s; /help lists the commands", version(), h.Home().Root(), h.ModelName()),
		Commands: append(names((&app{}).command()), "help"),
		Words:    a.completions,
		Execute:  a.verb,
	})
	if errors.Is(err, repl.ErrInterrupted) {
		return context.Canceled
	}
	return err
}

// completions are what may follow some words of a command at the prompt. What
// can not be had is left out.
func (a *app) completions(before []string) (out []string) {
	switch {
	case before[0] == "help":
		return names((&app{}).command())
	case before[0] == "skills":
		list, _ := skills.List(os.DirFS(a.h.Home().Path(home.Skills)))
		for _, s := range list {
			out = append(out, s.Name)
		}
	case before[0] == "thread" && len(before) == 1:
		return []string{"new", "switch", "done", "add", "remove"}
	case before[0] == "thread" && before[1] != "new" && len(before) == 2, slices.Contains(before, "--thread"):
		if s, _, err := a.h.Home().Draft().State(); err == nil {
			for _, t := range s.Threads.Open {
				out = append(out, string(t.ID))
			}
		}
	case before[0] == "config" && len(before) == 1:
		for _, k := range home.ConfigKeys() {
			out = append(out, k.Key)
		}
	case slices.Contains([]string{"approve", "deny", "review"}, before[0]):
		if src, err := a.h.Home().Read(home.Permissions); err == nil {
			for _, r := range home.Requests(src) {
				if r.Waits() {
					out = append(out, r.ID)
				}
			}
		}
	case before[0] == "tools" && len(before) == 1:
		for _, s := range a.h.Tools().Known() {
			out = append(out, s.Server)
		}
	case before[0] == "think" && len(before) == 1:
		return []string{"on", "off"}
	case before[0] == "model" && len(before) == 1:
		return strings.Fields(strings.ReplaceAll(a.h.Config().Models, ",", " "))
	case before[0] == "restore", before[0] == "edit":
		return []string{home.Chat, home.Monologue, home.Scratchpad}
	}
	return out
}

// verb runs a command of the prompt. What is longer than the screen is paged.
func (a *app) verb(ctx context.Context, words []string, suspend func(func() error) error) (string, error) {
	b := *a
	b.suspend = suspend
	var out strings.Builder
	err := b.execute(ctx, words, &out)
	text := console.Clean(out.String())
	pager := b.pager(text)
	if pager == nil || err != nil {
		return text, err
	}
	return "", suspend(func() error {
		c := exec.CommandContext(ctx, pager[0], pager[1:]...)
		c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), a.out, a.err
		if err := c.Run(); err != nil && ctx.Err() == nil {
			return fmt.Errorf("paging with %s: %w", pager[0], err)
		}
		return nil
	})
}

// pager is the command that shows a text longer than the screen, nil where
// there is none to use.
func (a *app) pager(text string) []string {
	in, out := int(a.in.Fd()), int(a.out.Fd())
	_, rows, err := term.GetSize(out)
	if err != nil || !term.IsTerminal(in) || bare() || strings.Count(text, "\n") < rows {
		return nil
	}
	words := strings.Fields(first(os.Getenv("PAGER"), "less"))
	if len(words) == 0 || words[0] == "cat" {
		return nil
	}
	if _, err := exec.LookPath(words[0]); err != nil {
		return nil
	}
	return words
}
