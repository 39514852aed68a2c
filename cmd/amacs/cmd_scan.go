package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

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
var errSpilled = errors.New("there are secrets in the home: change them where they are used, whoever has a copy of the home has them. Taking them out of a file does not take them out of the history. For what is no secret, `amacs keep ID`")

func (a *app) scanCommand() *cobra.Command {
	return a.jsonFlag(&cobra.Command{
		Use: "scan", GroupID: "upkeep", Args: cobra.NoArgs,
		Short: "Look for keys and passwords in the home, its whole history included",
		Long: `Reads every version of every file and every commit message, and what is not
committed yet, and lists what looks like a key, a token or a password: its kind
and where it stands, never the secret itself. What amacs keep allows is left out.
Exit code 1 if there is any.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			spin := a.spinner()
			spin.event(harness.Event{Kind: harness.Thinking})()
			s, err := scan(cmd.Context(), h)
			spin.stop()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if a.json {
				err = a.printJSON(out, map[string]any{"found": s.found, "texts": s.texts, "kept": len(s.kept)})
			} else {
				for _, f := range s.found {
					fmt.Fprintln(out, console.Clean(f.String()))
				}
				fmt.Fprintf(out, "%s read, %s found%s\n", harness.Count(s.texts, "text"), harness.Count(len(s.found), "secret"), s.left())
			}
			if err == nil && len(s.found) > 0 {
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
	return fmt.Sprintf("%-22s %s line %d %s, %s (#%s)", s.Kind, where, s.Line, in, harness.Count(s.Versions, "version"), s.ID)
}

// scanned is what a look through a home found.
type scanned struct {
	found []spill
	texts int
	kept  map[string]bool // ids that are left out
}

// left is ", 2 kept ones left out", or nothing.
func (s scanned) left() string {
	if len(s.kept) == 0 {
		return ""
	}
	return fmt.Sprintf(", %d kept left out", len(s.kept))
}

// scan looks through all texts of a home, the newest first.
func scan(ctx context.Context, h *harness.Harness) (s scanned, err error) {
	s = scanned{found: []spill{}, kept: map[string]bool{}}
	keep := map[string]bool{}
	list, err := h.Home().Kept()
	if err != nil {
		return s, err
	}
	for _, k := range list {
		keep[k.ID] = true
	}
	allowed := func(id string) bool {
		if keep[id] {
			s.kept[id] = true
		}
		return keep[id]
	}
	at := map[string]int{} // by id
	look := func(v journal.Version) {
		s.texts++
		in := map[string]bool{}
		_, list := redact.Text(string(v.Text), redact.Options{Keep: allowed})
		for _, f := range list {
			if in[f.Sum] {
				continue
			}
			in[f.Sum] = true
			if i, ok := at[f.Sum]; ok {
				s.found[i].Versions++
				continue
			}
			at[f.Sum] = len(s.found)
			s.found = append(s.found, spill{f.Kind, f.Sum, v.Path, 1 + bytes.Count(v.Text[:f.Start], []byte("\n")), v.Commit, 1})
		}
	}
	changes, err := h.Journal().Changes(ctx)
	if err != nil {
		return s, err
	}
	for _, c := range changes {
		text, err := h.Home().Read(c.Path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return s, err
		}
		look(journal.Version{Path: c.Path, Text: text})
	}
	for v, err := range h.Journal().Texts(ctx) {
		if err != nil {
			return s, err
		}
		look(v)
	}
	return s, nil
}
