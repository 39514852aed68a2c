package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"amacs/harness"
	"amacs/harness/home"
)

func (a *app) keepCommand() *cobra.Command {
	drop := false
	c := a.jsonFlag(&cobra.Command{
		Use: "keep [ID...]", GroupID: "upkeep",
		Short: "List the secrets that are stored as they are, or keep more of them",
		Long: `What looks like a key, a token or a password is taken out of a text before it is
stored. keep stores and shows the secrets of these ids as they are from now on:
for what only looks like one, or does no harm. An id is what amacs scan and the
notices show after #; its beginning is enough for a secret that stands in the
home. --drop takes them out again from now on; what is stored already stays.`,
		Example: "  amacs keep 9f86d081884c\n  amacs keep --drop 9f86",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			kept, err := h.Home().Kept()
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			switch {
			case len(args) == 0 && drop:
				return usagef("keep --drop: which one? `amacs keep` lists them")
			case len(args) == 0 && a.json:
				return a.printJSON(out, append([]home.Kept{}, kept...))
			case len(args) == 0:
				if len(kept) == 0 {
					fmt.Fprintln(out, "no secrets are kept")
				}
				for _, k := range kept {
					fmt.Fprintf(out, "%-22s #%s  since %s\n", kindOf(k.Kind), k.ID, k.At.Local().Format(time.DateTime))
				}
				return nil
			case a.inside:
				return errInside
			}
			known := func() ([]harness.Secret, error) { return a.standing(cmd.Context(), h) }
			if drop {
				known = func() (all []harness.Secret, err error) {
					for _, k := range kept {
						all = append(all, harness.Secret{Kind: k.Kind, ID: k.ID})
					}
					return all, nil
				}
			}
			named, err := byID(args, drop, known)
			if err != nil {
				return err
			}
			if !drop {
				if err := h.Keep(cmd.Context(), named...); err != nil {
					return err
				}
				for _, s := range named {
					fmt.Fprintf(out, "%s #%s is stored and shown as it is from now on\n", kindOf(s.Kind), s.ID)
				}
				return nil
			}
			for _, s := range named {
				if err := h.Home().Unkeep(cmd.Context(), s.ID); err != nil {
					return err
				}
				fmt.Fprintf(out, "%s #%s is taken out from now on; what is stored already stays\n", kindOf(s.Kind), s.ID)
			}
			return nil
		},
	})
	c.Flags().BoolVar(&drop, "drop", false, "keep these no longer")
	return c
}

func kindOf(kind string) string {
	if kind == "" {
		return "secret"
	}
	return kind
}

// secretID is an id, or its beginning.
var secretID = regexp.MustCompile(`^[0-9a-f]{4,12}$`)

// wholeID is the length of an id.
const wholeID = 12

// byID finds the secrets that ids name among those that are known. A whole id
// needs not be known, unless all must be.
func byID(ids []string, must bool, known func() ([]harness.Secret, error)) (named []harness.Secret, err error) {
	all, err := known()
	if err != nil {
		return nil, err
	}
	for _, arg := range ids {
		id := strings.TrimPrefix(arg, "#")
		if !secretID.MatchString(id) {
			return nil, usagef("%q is no id of a secret: 12 hexadecimal digits, or the first four or more of them", arg)
		}
		var fit []harness.Secret
		for _, s := range all {
			if strings.HasPrefix(s.ID, id) {
				fit = append(fit, s)
			}
		}
		switch {
		case len(fit) == 1:
			named = append(named, fit[0])
		case len(fit) > 1:
			return nil, usagef("#%s names %d secrets; give more of its digits", id, len(fit))
		case must:
			return nil, usagef("no secret #%s is kept; `amacs keep` lists them", id)
		case len(id) == wholeID:
			named = append(named, harness.Secret{ID: id})
		default:
			return nil, usagef("no secret of the home begins with #%s; give the whole id", id)
		}
	}
	return named, nil
}

// standing are the secrets that stand in the home and are not kept.
func (a *app) standing(ctx context.Context, h *harness.Harness) (all []harness.Secret, err error) {
	s, err := scan(ctx, h)
	if err != nil {
		return nil, err
	}
	for _, f := range s.found {
		all = append(all, harness.Secret{Kind: f.Kind, ID: f.ID})
	}
	return all, nil
}
