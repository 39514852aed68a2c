package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	hometemplate "amacs/agent-home-template"
	"amacs/harness"
	"amacs/harness/home"
	"amacs/harness/journal"
	"amacs/harness/process"
	"amacs/harness/provider"
	"amacs/skills"
)

// finding is one thing that doctor looked at.
type finding struct {
	What  string `json:"what"`
	State string `json:"state"` // ok, note, bad, fixed
	Text  string `json:"text"`
	Do    string `json:"do,omitempty"`
}

// examination collects findings.
type examination struct {
	fix      bool
	findings []finding
}

func (x *examination) add(what, state, text, do string) {
	x.findings = append(x.findings, finding{what, state, text, do})
}

func (a *app) doctorCommand() *cobra.Command {
	var x examination
	c := a.jsonFlag(&cobra.Command{
		Use: "doctor", GroupID: "upkeep", Args: cobra.NoArgs,
		Short: "Look the home over; with --fix mend what can be mended safely",
		Long: `Checks the home's files, its git repository, the settings, the ledger and what an
interrupted run may have left. Tells who answers, and of everybody who could
whether a key, a program or a server is there; no model is asked. --fix writes files that are missing, tightens permissions, ends
interrupted writes, commits hand edits and packs the repository. It overwrites
nothing.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			root, err := a.root()
			if err != nil {
				return err
			}
			a.examine(cmd.Context(), &x, root)
			bad := 0
			for _, f := range x.findings {
				if f.State == "bad" {
					bad++
				}
			}
			out := cmd.OutOrStdout()
			if a.json {
				if err := a.printJSON(out, map[string]any{"home": root, "findings": x.findings, "bad": bad}); err != nil {
					return err
				}
			} else {
				for _, f := range x.findings {
					fmt.Fprintf(out, "%-5s  %-17s %s\n", f.State, f.What, f.Text)
					if f.Do != "" {
						fmt.Fprintf(out, "%26s%s\n", "", f.Do)
					}
				}
			}
			if bad > 0 {
				return &home.Damaged{Path: root, Err: fmt.Errorf("%d of %d checks found something", bad, len(x.findings))}
			}
			return nil
		},
	})
	c.Flags().BoolVar(&x.fix, "fix", false, "mend what can be mended safely")
	return c
}

func (a *app) examine(ctx context.Context, x *examination, root string) {
	if _, err := exec.LookPath("git"); err != nil {
		x.add("git", "note", "no git command on the PATH", "amacs works without it, but can not keep its storage packed")
	}
	hm, err := home.Open(root)
	if err != nil {
		x.add("home", "bad", oneLine(err), "")
		return
	}
	x.add("home", "ok", root, "")
	x.permissions(hm)
	x.template(ctx, hm)
	config, err := hm.Config()
	if err != nil {
		x.add("config.yaml", "bad", oneLine(err), "mend that line; until then nothing runs")
		return
	}
	x.add("config.yaml", "ok", "provider "+config.Provider, "")
	x.texts(hm)
	x.skills(hm)
	if _, err := journal.Open(ctx, root); err != nil {
		x.add("history", "bad", oneLine(err), "")
		return
	}
	h, err := a.open(ctx)
	if err != nil {
		x.add("home", "bad", oneLine(err), "")
		return
	}
	x.models(ctx, h)
	x.confinement(h.Config().Confine)
	x.unended(h)
	x.history(ctx, h)
}

// confinement tells what the agent's commands are kept from.
func (x *examination) confinement(wanted bool) {
	s := process.Supported()
	switch {
	case !wanted:
		x.add("confinement", "note", "commands run unconfined: confine is false", "`amacs config confine true`")
	case s.Files && s.Network:
		x.add("confinement", "ok", s.String(), "")
	default:
		x.add("confinement", "note", s.String(), "what can not be confined is asked about")
	}
}

// models tells who answers, and for each that could whether it is ready.
func (x *examination) models(ctx context.Context, h *harness.Harness) {
	if words, err := h.Ready(ctx); err != nil {
		x.add("model", "bad", oneLine(err), hint(err))
	} else {
		x.add("model", "ok", strings.Join(append([]string{h.ModelName()}, words...), "; "), "")
	}
	for _, c := range h.Candidates(ctx) {
		if c.Ready {
			x.add("provider", "ok", c.Name()+": "+c.Why, "")
		} else {
			x.add("provider", "note", c.Name()+": "+c.Problem, "")
		}
	}
	x.add("unattended", "ok", h.Unattended(ctx), "")
	b, err := h.Budget(ctx)
	if err != nil {
		x.add("ledger", "bad", oneLine(err), "")
		return
	}
	x.add("ledger", "ok", "today "+b.Day.String()+"; pressure "+b.Pressure.String(), "")
	for _, line := range b.Broken {
		x.add("ledger", "bad", oneLine(line), "it is not in the sums; mend or remove the line")
	}
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

func hint(err error) string {
	var pe *provider.Error
	if errors.As(err, &pe) {
		return pe.Hint
	}
	return ""
}

func (x *examination) permissions(hm *home.Home) {
	info, err := os.Stat(hm.Root())
	if err != nil {
		x.add("permissions", "bad", oneLine(err), "")
		return
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		if !x.fix {
			x.add("permissions", "note", fmt.Sprintf("others can read the home (%04o)", mode), "`amacs doctor --fix` makes it 0700")
			return
		}
		if err := os.Chmod(hm.Root(), 0o700); err != nil {
			x.add("permissions", "bad", oneLine(err), "")
			return
		}
		x.add("permissions", "fixed", "the home is 0700 now", "")
		return
	}
	x.add("permissions", "ok", "only you can read the home", "")
}

func (x *examination) template(ctx context.Context, hm *home.Home) {
	var missing []string
	_ = fs.WalkDir(hometemplate.Files(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if _, err := os.Stat(hm.Path(path)); errors.Is(err, fs.ErrNotExist) {
				missing = append(missing, path)
			}
		}
		return nil
	})
	switch {
	case len(missing) == 0:
		x.add("files", "ok", "all there", "")
	case x.fix:
		if _, err := harness.Init(ctx, hm.Root()); err != nil {
			x.add("files", "bad", oneLine(err), "")
			return
		}
		x.add("files", "fixed", "wrote "+strings.Join(missing, ", "), "")
	default:
		x.add("files", "note", "missing: "+strings.Join(missing, ", "), "`amacs doctor --fix` writes them anew; `git -C "+hm.Root()+" log -- FILE` tells what became of yours")
	}
}

func (x *examination) texts(hm *home.Home) {
	d := hm.Draft()
	_, notes, err := d.State()
	switch {
	case err != nil:
		x.add(home.Consciousness, "bad", oneLine(err), "mend it in an editor; `amacs log --all -p --path "+home.Consciousness+"` shows how it was")
	case len(notes) > 0:
		for _, n := range notes {
			x.add(home.Consciousness, "note", n, "")
		}
	default:
		x.add(home.Consciousness, "ok", "readable", "")
	}
	for _, path := range []string{home.Chat, home.Scratchpad, home.Monologue} {
		b, err := d.Bytes(path)
		switch {
		case err != nil:
			x.add(path, "bad", oneLine(err), "mend it in an editor; it is not written until then")
		case len(b) > home.AskSize:
			x.add(path, "note", fmt.Sprintf("%d KB", len(b)>>10), "every tick that writes it stores it whole; move old parts to another file")
		default:
			x.add(path, "ok", fmt.Sprintf("%d KB", (len(b)+1023)>>10), "")
		}
	}
}

func (x *examination) skills(hm *home.Home) {
	fsys := os.DirFS(hm.Path(home.Skills))
	if _, err := skills.Core(fsys); err != nil {
		x.add("core skill", "bad", oneLine(err), "the built-in one stands in until it is mended")
	} else {
		x.add("core skill", "ok", "readable", "")
	}
	_, broken := skills.List(fsys)
	for _, b := range broken {
		x.add("skill "+b.Name, "note", oneLine(b.Err), "it is passed over until it is mended")
	}
}

func (x *examination) history(ctx context.Context, h *harness.Harness) {
	stats, err := h.Journal().Stats(ctx)
	if err != nil {
		x.add("history", "bad", oneLine(err), "")
		return
	}
	x.add("history", "ok", fmt.Sprintf("%d loose objects, %d packs, %d KB", stats.Loose, stats.Packs, stats.Bytes>>10), "")
	if waiting, err := h.Waiting(); err == nil && waiting > 0 {
		x.add("inbox", "note", fmt.Sprintf("%d lines wait for the next tick", waiting), "")
	}
	changes, err := h.Journal().Changes(ctx)
	if err != nil {
		x.add("changes", "bad", oneLine(err), "")
		return
	}
	held, err := h.Held(ctx)
	if err != nil {
		x.add("changes", "bad", oneLine(err), "")
		return
	}
	for _, f := range held {
		x.add("secret", "note", f.String()+", and is not committed", f.Do())
	}
	if !x.fix {
		if len(changes) > len(held) {
			x.add("changes", "note", fmt.Sprintf("%d files differ from the last commit", len(changes)), "the next tick commits them under your name")
		}
		return
	}
	notices, err := h.Mend(ctx)
	if err != nil {
		x.add("changes", "bad", oneLine(err), "")
		return
	}
	for _, n := range notices {
		x.add("changes", "fixed", n, "")
	}
	if err := h.Pack(ctx); err != nil {
		x.add("packing", "bad", oneLine(err), "")
	}
}
