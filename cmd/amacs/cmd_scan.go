package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"amacs/cmd/amacs/repl"
	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
	"amacs/harness/journal"
	"amacs/harness/redact"
)

// spill is a secret that stands in the home, in JSON. The secret itself is not
// in it.
type spill struct {
	Kind     string `json:"kind"`
	ID       string `json:"id"`               // the same for the same secret
	Path     string `json:"path,omitempty"`   // of the newest text that has it; "" = a commit's message
	Line     int    `json:"line"`             // there
	Commit   string `json:"commit,omitempty"` // the newest that has it; "" = not committed yet
	Versions int    `json:"versions"`         // of files and messages that have it
}

// errSpilled is the verdict on a home that holds secrets.
var errSpilled = errors.New("there are secrets in the home: change them where they are used, whoever has a copy of the home has them. Taking them out of a file does not take them out of the history")

func (a *app) scanCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "scan", GroupID: "upkeep", Args: cobra.NoArgs,
		Short: "Look for keys and passwords in the home, its whole history included",
		Long: `Reads every version of every file and every commit message, and what is not
committed yet, and lists what looks like a key, a token or a password: its kind
and where it stands, never the secret itself. Exit code 1 if there is any.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			spin := a.spinner()
			spin.event(harness.Event{Kind: harness.Thinking})()
			found, read, err := scan(cmd.Context(), h)
			spin.stop()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if a.json {
				err = a.printJSON(out, map[string]any{"found": found, "texts": read})
			} else {
				for _, s := range found {
					fmt.Fprintln(out, console.Clean(s.String()))
				}
				fmt.Fprintf(out, "%s read, %s found\n", repl.Count(read, "text"), repl.Count(len(found), "secret"))
			}
			if err == nil && len(found) > 0 {
				err = errSpilled
			}
			return err
		},
	})
}

// String is "github-token  scratchpad.org line 12 in 3f2a91c, 3 versions (#9f86d081884c)".
func (s spill) String() string {
	where := "a commit's message"
	if s.Path != "" {
		where = s.Path
	}
	in := "not committed yet"
	if s.Commit != "" {
		in = "in " + s.Commit[:7]
	}
	return fmt.Sprintf("%-22s %s line %d %s, %s (#%s)", s.Kind, where, s.Line, in, repl.Count(s.Versions, "version"), s.ID)
}

// scan looks through all texts of a home, the newest first.
func scan(ctx context.Context, h *harness.Harness) (found []spill, texts int, err error) {
	at := map[string]int{} // by id
	look := func(v journal.Version) {
		texts++
		in := map[string]bool{}
		_, list := redact.Text(string(v.Text), redact.Options{})
		for _, f := range list {
			if in[f.Sum] {
				continue
			}
			in[f.Sum] = true
			if i, ok := at[f.Sum]; ok {
				found[i].Versions++
				continue
			}
			at[f.Sum] = len(found)
			found = append(found, spill{f.Kind, f.Sum, v.Path, 1 + bytes.Count(v.Text[:f.Start], []byte("\n")), v.Commit, 1})
		}
	}
	found = []spill{}
	changes, err := h.Journal().Changes(ctx)
	if err != nil {
		return nil, 0, err
	}
	for _, c := range changes {
		text, err := h.Home().Read(c.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		look(journal.Version{Path: c.Path, Text: text})
	}
	for v, err := range h.Journal().Texts(ctx) {
		if err != nil {
			return nil, 0, err
		}
		look(v)
	}
	return found, texts, nil
}
