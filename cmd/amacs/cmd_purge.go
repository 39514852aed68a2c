package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
)

var (
	// errStill is the verdict on a home that still holds what was purged.
	errStill = errors.New("it is not forgotten: it still stands where the list says. Take it away there, then `amacs purge --confirm` again")
	// errUnasked says that there was nobody to ask.
	errUnasked = usageError{errors.New("nothing was changed: nobody is at the terminal to say yes; --yes says it")}
)

// purging is what the flags of purge say.
type purging struct {
	harness.Forget
	confirm, back, now, yes bool
}

func (a *app) purgeCommand() *cobra.Command {
	var p purging
	c := a.jsonFlag(&cobra.Command{
		Use: "purge", GroupID: "upkeep", Args: cobra.NoArgs,
		Short: "Really forget: take a secret, a text or a file out of the whole history",
		Long: `Takes what you name out of every file, every version and every commit message, and
makes the history anew without it: [redacted:kind] stands for a secret, [purged] for
a text. Names of files are changed too, names of branches and tags are not. A text is
found as it is, also with quotes and line ends as the home's files write them, and
where only its beginning is left before a sign that the rest was cut off; not in
other encodings or spellings.

It says first what it changes, and asks. The old history stays until
  amacs purge --confirm   drops it and reads everything that is left, to be sure
  amacs purge --back      brings it back, if nothing was committed since
Copies of the home, as clones, backups and what was pushed, keep what they have.
Whoever saw a secret still knows it: change it where it is used.`,
		Example: `  amacs purge --secret 9f86
  printf 'my old address' | amacs purge --yes --text -`,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.purge(cmd, p) },
	})
	f := c.Flags()
	f.StringSliceVar(&p.Secrets, "secret", nil, "forget the secret with this `ID`, as amacs scan shows it; may be given again")
	f.BoolVar(&p.All, "secrets", false, "forget all that amacs scan finds")
	f.StringArrayVar(&p.Texts, "text", nil, "forget this `text`; - reads it from standard input, so that no shell history has it")
	f.StringArrayVar(&p.Paths, "path", nil, "forget this `file` or folder of the home, at every commit")
	f.BoolVar(&p.yes, "yes", false, "do not ask")
	f.BoolVar(&p.now, "now", false, "confirm at once: nothing can be brought back")
	f.BoolVar(&p.confirm, "confirm", false, "drop the old history for good")
	f.BoolVar(&p.back, "back", false, "bring the old history back")
	return c
}

func (a *app) purge(cmd *cobra.Command, p purging) error {
	named := p.All || len(p.Secrets)+len(p.Texts)+len(p.Paths) > 0
	switch {
	case a.inside:
		return errInside
	case a.repl:
		return errors.New("purge: leave the prompt first, it remembers what was typed; then run `amacs purge`")
	case p.confirm && p.back, (p.confirm || p.back) && (named || p.now):
		return usagef("--confirm and --back stand alone")
	}
	ctx := cmd.Context()
	h, err := a.open(ctx)
	if err != nil {
		return err
	}
	switch {
	case p.confirm:
		return a.confirmPurge(cmd, h, nil)
	case p.back:
		if err := h.BackFromPurge(ctx); err != nil {
			return err
		}
		return a.purged(cmd, map[string]any{"back": true}, "the old history is back, with all that was to be forgotten\n")
	case !named:
		if words, err := h.Unconfirmed(); err != nil || words != "" {
			return errors.Join(err, errors.New(words))
		}
		return usagef("purge what? --secret ID, --secrets, --text TEXT or --path FILE")
	}
	for i, text := range p.Texts {
		if text != "-" {
			continue
		}
		b, err := io.ReadAll(a.in)
		if err != nil {
			return fmt.Errorf("reading the text: %w", err)
		}
		p.Texts[i] = strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r")
	}
	return a.forget(cmd, h, p)
}

// forget shows the cost, asks, and purges.
func (a *app) forget(cmd *cobra.Command, h *harness.Harness, p purging) error {
	var cost harness.Cost
	yes := false
	line := a.progress()
	err := h.Purge(cmd.Context(), p.Forget, harness.Asking{
		Progress: line.show,
		Cost: func(c harness.Cost) (bool, error) {
			line.end()
			c.Files, c.Elsewhere, c.Remotes = append([]string{}, c.Files...), append([]string{}, c.Elsewhere...), append([]string{}, c.Remotes...) // JSON: [], not null
			if cost = c; !a.json {
				fmt.Fprint(cmd.OutOrStdout(), console.Clean(costText(c, p.now)))
			}
			if yes = p.yes; yes {
				return true, nil
			}
			var err error
			yes, err = a.sure(cmd.Context())
			return yes, err
		},
	})
	line.end()
	if err != nil {
		return err
	}
	if !yes {
		return a.purged(cmd, map[string]any{"cost": cost, "purged": false}, "nothing was changed\n")
	}
	if p.now {
		return a.confirmPurge(cmd, h, &cost)
	}
	return a.purged(cmd, map[string]any{"cost": cost, "purged": true, "confirmed": false},
		"purged, but not for good yet: the old history is still there under refs/amacs/before-purge.\n"+
			"`amacs purge --confirm` drops it, `amacs purge --back` brings it back.\n")
}

// confirmPurge drops the old history and says what was proved.
func (a *app) confirmPurge(cmd *cobra.Command, h *harness.Harness, cost *harness.Cost) error {
	line := a.progress()
	line.show("packing what is left, and reading it", 0, 0)
	proof, err := h.ConfirmPurge(cmd.Context())
	line.end()
	if err != nil {
		return err
	}
	proof.Found, proof.Elsewhere = append([]string{}, proof.Found...), append([]string{}, proof.Elsewhere...)
	text := fmt.Sprintf("forgotten: %s. All %s that are left were read, and the home's files: nothing of it was found.\n", proof.What, harness.Count(proof.Objects, "git object"))
	if len(proof.Found) > 0 {
		text = strings.Join(proof.Found, "\n") + "\n"
	}
	for _, f := range proof.Elsewhere {
		text += "not touched, for it is a project's: " + f + "\n"
	}
	all := map[string]any{"purged": true, "confirmed": len(proof.Found) == 0, "proof": proof}
	if cost != nil {
		all["cost"] = cost
	}
	if err := a.purged(cmd, all, text); err != nil || len(proof.Found) == 0 {
		return err
	}
	return errStill
}

func (a *app) purged(cmd *cobra.Command, all map[string]any, text string) error {
	if a.json {
		return a.printJSON(cmd.OutOrStdout(), all)
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), console.Clean(text))
	return err
}

// costText says what a purge takes out and changes.
func costText(c harness.Cost, now bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "To forget: %s. It stands in %s in %d of %s, and in %s of the home as it is.\n", c.What(),
		harness.Count(c.Texts, "version"), c.With, harness.Count(c.Commits, "commit"), harness.Count(len(c.Files), "file"))
	for i, f := range c.Files {
		if i == 10 {
			fmt.Fprintf(&b, "  and %d more\n", len(c.Files)-i)
			break
		}
		fmt.Fprintln(&b, "  "+f)
	}
	if c.Changed > 0 {
		fmt.Fprintf(&b, "a new hash for %s, from %s on; hashes in messages, as those of Undo-From, follow.\n", harness.Count(c.Changed, "commit"), c.First[:7])
	}
	if c.Signed > 0 {
		fmt.Fprintf(&b, "%s are lost.\n", harness.Count(c.Signed, "signature"))
	}
	for _, f := range c.Elsewhere {
		fmt.Fprintf(&b, "Not touched, for it is a project's: %s\n", f)
	}
	for _, r := range c.Remotes {
		fmt.Fprintf(&b, "Not reached: %s. What was pushed there stays there, and a fetch would bring it back.\n", r)
	}
	b.WriteString("Copies of the home, such as clones and backups, keep it. The cache is emptied. Leave open prompts first: they remember what was typed.\n")
	if now {
		b.WriteString("With --now nothing can be brought back.\n")
	}
	return b.String()
}

// sure asks the human at the terminal.
func (a *app) sure(ctx context.Context) (bool, error) {
	if !term.IsTerminal(int(a.in.Fd())) || !term.IsTerminal(int(a.err.Fd())) {
		return false, errUnasked
	}
	next := a.answering()
	for first := true; ; first = false {
		line, err := next(ctx, "Forget it? (y/n): ", first)
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
		if errors.Is(err, harness.ErrNoAnswer) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// progressLine says on a terminal how far something is.
type progressLine struct {
	out  *os.File // nil: nothing is shown
	last time.Time
	wide int
}

func (a *app) progress() *progressLine {
	p := &progressLine{}
	if term.IsTerminal(int(a.err.Fd())) && !bare() && !a.json {
		p.out = a.err
	}
	return p
}

func (p *progressLine) show(what string, done, all int) {
	if p.out == nil || done != all && time.Since(p.last) < time.Second/10 {
		return
	}
	p.last = time.Now()
	switch {
	case all > 0:
		what = fmt.Sprintf("%s %d/%d", what, done, all)
	case done > 0:
		what = fmt.Sprintf("%s %d", what, done)
	}
	fmt.Fprintf(p.out, "\r%-*s", p.wide, what)
	p.wide = len(what)
}

// end takes the line away.
func (p *progressLine) end() {
	if p.out != nil && p.wide > 0 {
		fmt.Fprintf(p.out, "\r%*s\r", p.wide, "")
		p.wide = 0
	}
}

// unended says of a home that a purge is not confirmed there.
func (x *examination) unended(h *harness.Harness) {
	words, err := h.Unconfirmed()
	if err != nil {
		x.add("purge", "bad", oneLine(err), "")
	} else if words != "" {
		x.add("purge", "bad", words, "")
	}
}
