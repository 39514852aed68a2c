package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
	"amacs/harness/home"
)

func (a *app) reviewCommand() *cobra.Command {
	all := false
	c := a.jsonFlag(&cobra.Command{
		Use: "review [ID]", GroupID: "mind", Args: cobra.MaximumNArgs(1),
		Short: "What the agent asks leave for; at a terminal, answer it",
		Long: `Goes through the requests that wait for an answer, one by one. Each is shown whole,
with its diff; a key and Enter answers it, and words after the key reach the agent:

  a approve   d deny    A always (this kind, in this project)   N never
  v view the whole diff   s skip   q quit

  d not on Fridays

On a pipe, inside a command of the agent, with --all and with --json they are
listed. With an ID, or the beginning of one, that request is shown whole. The
requests stand in permissions.org, where changing ASK to APPROVED or DENIED
answers them as well.`,
		Example: "  amacs review\n  amacs review --all\n  amacs review 3f2a",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			d, out := h.Home().Draft(), cmd.OutOrStdout()
			src, err := d.Bytes(home.Permissions)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				r, err := d.Request(args[0])
				if err != nil {
					return usageError{err}
				}
				if a.json {
					return a.printJSON(out, jsonRequest(r))
				}
				fmt.Fprint(out, console.Bare(wholeRequest(r, timeNow(), -1)))
				return nil
			}
			var list []home.Request
			for _, r := range home.Requests(src) {
				if all || r.Waits() {
					list = append(list, r)
				}
			}
			if !all && !a.json && !a.inside && len(list) > 0 && a.atTerminal() {
				return a.lend(func() error { return a.judge(cmd.Context(), list) })
			}
			return a.printRequests(out, list, all)
		},
	})
	c.Flags().BoolVar(&all, "all", false, "also what was answered")
	return c
}

// atTerminal reports whether a person reads and types here.
func (a *app) atTerminal() bool {
	return term.IsTerminal(int(a.in.Fd())) && term.IsTerminal(int(a.out.Fd()))
}

// lend runs fn with the terminal its own.
func (a *app) lend(fn func() error) error {
	if a.suspend != nil {
		return a.suspend(fn)
	}
	return fn()
}

func (a *app) printRequests(out io.Writer, list []home.Request, all bool) error {
	if a.json {
		rows := []request{}
		for _, r := range list {
			rows = append(rows, jsonRequest(r))
		}
		return a.printJSON(out, rows)
	}
	waiting := 0
	for _, r := range list {
		state := ""
		if all {
			state = fmt.Sprintf("%-9s%-7s", r.State, r.Given)
		}
		if r.Waits() {
			waiting++
		}
		fmt.Fprintf(out, "%-7s %-8s %s%s\n", console.Clean(r.ID), age(r, timeNow()), state, console.Clean(listed(r)))
	}
	switch {
	case waiting > 0:
		fmt.Fprintf(out, "%s for an answer: %s or %s answers, %s shows one whole\n",
			waits(waiting), a.word("approve ID"), a.word("deny ID"), a.word("review ID"))
	case all && len(list) == 0:
		fmt.Fprintln(out, "the agent has asked for nothing yet")
	default:
		fmt.Fprintln(out, "nothing waits for an answer")
	}
	return nil
}

func waits(n int) string {
	if n == 1 {
		return "1 request waits"
	}
	return fmt.Sprintf("%d requests wait", n)
}

// listed is a request in one line: what is to be done, and what it is called.
func listed(r home.Request) string {
	title := r.Title()
	if s := strings.Join(strings.Fields(r.Summary), " "); s != "" && s != title && s != "run "+title {
		title += " · " + s
	}
	return title
}

// age says how long ago a request was made, in one number.
func age(r home.Request, now time.Time) string {
	switch d := now.Sub(r.Asked); {
	case r.Asked.IsZero():
		return "-"
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	}
}

// wholeRequest is all that a decision needs. Of the diff so many lines are
// shown, all for a negative number.
func wholeRequest(r home.Request, now time.Time, diff int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s  %s\n", r.ID, r.Title())
	row := func(name, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			fmt.Fprintf(&b, "  %-14s %s\n", name, strings.ReplaceAll(text, "\n", "\n"+strings.Repeat(" ", 17)))
		}
	}
	row("state", stateWords(r, now))
	row("summary", r.Summary)
	row("why", r.Why)
	row("asked because", r.Because)
	row("call", r.Call)
	row("folder", r.Dir)
	row("commands", strings.Join(r.Commands, "\n"))
	row("files", strings.Join(r.Files, "\n"))
	row("touches", strings.Join(r.Touches, "\n"))
	row("confined", r.Confined)
	row("risks", r.Risks)
	row("way back", r.Rollback)
	row("expected", r.Expected)
	kind := r.Kind
	if r.Project != "" && kind != "" {
		kind += ", in " + r.Project
	}
	row("kind", kind)
	row("your words", r.Answer)
	row("result", r.Result)
	lines := strings.SplitAfter(strings.TrimRight(r.Diff, "\n"), "\n")
	left := 0
	if diff >= 0 && len(lines) > diff {
		left = len(lines) - diff
		lines = lines[:diff]
	}
	if r.Diff != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(strings.Join(lines, ""), "\n"))
	}
	if left > 0 {
		fmt.Fprintf(&b, "(%s of the diff left out; v shows all)\n", harness.Count(left, "line"))
	}
	return b.String()
}

// stateWords say where a request stands.
func stateWords(r home.Request, now time.Time) string {
	s := r.State
	if r.Given != "" {
		s += ": " + r.Given
	}
	if r.By != "" {
		s += ", by " + r.By
	}
	if !r.Asked.IsZero() {
		s += ", asked " + r.Asked.Format("2006-01-02 15:04")
		if d := age(r, now); r.Waits() && d != "now" {
			s += " (" + d + " ago)"
		}
	}
	if r.Tick > 0 {
		s += fmt.Sprintf(" in tick %d", r.Tick)
	}
	if r.Waits() && !r.Expires.IsZero() {
		s += ", until " + r.Expires.Format("2006-01-02 15:04")
	}
	return s
}

func (a *app) approveCommand() *cobra.Command {
	return a.answerCommand(&cobra.Command{
		Use: "approve ID...", Short: "Allow what the agent asked for",
		Long:    "Answers requests with yes. ID is the beginning of a request's id, with or without p-.\nWhat was approved runs once, at the next tick.",
		Example: "  amacs approve 3f2a\n  amacs approve --always 3f2a\n  amacs approve 3f2a -m \"but not on Fridays\"",
	}, "yes", "always", "allow this kind of action in this project from now on")
}

func (a *app) denyCommand() *cobra.Command {
	return a.answerCommand(&cobra.Command{
		Use: "deny ID...", Short: "Refuse what the agent asked for",
		Long:    "Answers requests with no. ID is the beginning of a request's id, with or without p-.",
		Example: "  amacs deny 3f2a -m \"use the branch\"\n  amacs deny --never 3f2a",
	}, "no", "never", "refuse this kind of action in this project from now on, unasked")
}

// answerCommand makes a command that answers requests: once, or for good with
// the flag that is called as the lasting answer.
func (a *app) answerCommand(c *cobra.Command, once, lasting, meaning string) *cobra.Command {
	c.GroupID, c.Args = "mind", cobra.ArbitraryArgs
	var forGood bool
	var words string
	c.Flags().BoolVar(&forGood, lasting, false, meaning)
	c.Flags().StringVarP(&words, "message", "m", "", "`words` for the agent")
	c.RunE = func(cmd *cobra.Command, ids []string) error {
		h, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		d := h.Home().Draft()
		src, err := d.Bytes(home.Permissions)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return usagef("%s what?\n%s", c.Name(), a.waiting(src))
		}
		given := once
		if forGood {
			given = lasting
		}
		var rs []home.Request
		for _, id := range ids {
			r, err := d.Request(id)
			if err != nil {
				return usageError{err}
			}
			rs = append(rs, r)
		}
		if err := a.give(cmd.Context(), given, words, rs...); err != nil {
			return err
		}
		for _, r := range rs {
			fmt.Fprintln(cmd.OutOrStdout(), console.Clean(r.ID+" "+givenWords(r, given)))
		}
		return nil
	}
	return c
}

// waiting lists the requests that wait, for an error.
func (a *app) waiting(src []byte) string {
	var lines []string
	for _, r := range home.Requests(src) {
		if r.Waits() {
			lines = append(lines, "  "+r.ID+"  "+listed(r))
		}
	}
	if len(lines) == 0 {
		return "  nothing waits for an answer"
	}
	return strings.Join(lines, "\n")
}

// give answers requests, all of them or none.
func (a *app) give(ctx context.Context, given, words string, rs ...home.Request) error {
	if a.inside {
		return errInside
	}
	var edits []home.Edit
	what := map[string]string{"yes": "Approved", "always": "Approved for good", "no": "Denied", "never": "Denied for good"}[given]
	for _, r := range rs {
		edits = append(edits, home.Edit{What: "answering " + r.ID, Apply: func(d *home.Draft) error {
			return d.Give(r.ID, given, "command", a.h.Clean(words), timeNow())
		}})
		what += " " + r.ID
	}
	if len(rs) == 1 {
		what += ": " + rs[0].Title()
	}
	return a.h.Change(ctx, "REVIEW", what, edits...)
}

// givenWords say what follows an answer.
func givenWords(r home.Request, given string) string {
	of := r.Kind
	if r.Project != "" {
		of += " in " + r.Project
	}
	switch given {
	case "yes":
		return "approved; it runs at the next tick"
	case "always":
		return "approved; it runs at the next tick, and from now on unasked: " + of
	case "never":
		return "denied; the agent learns it at its next tick. Refused from now on, unasked: " + of
	}
	return "denied; the agent learns it at its next tick"
}

// shownDiff is how many lines of a diff are shown before they are asked for.
const shownDiff = 40

const reviewKeys = "a approve · d deny · A always · N never · v view the diff · s skip · q quit; words may follow"

// judge puts the requests to the human, one by one.
func (a *app) judge(ctx context.Context, list []home.Request) error {
	if a.unsignal != nil && a.suspend == nil {
		a.unsignal() // the console takes the signals
	}
	console.Flush(a.in)
	con, err := console.Open(console.Options{In: a.in, Out: a.out, Prompt: "review> "})
	if err != nil {
		return err
	}
	defer con.Close()
	say := func(text string) { con.Print(console.Bare(text)) }
	left := len(list)
	for i, r := range list {
		show := fmt.Sprintf("%d of %d: %s%s", i+1, len(list), wholeRequest(r, timeNow(), shownDiff), reviewKeys)
		say("\n" + show)
		con.Forget()
		for settled := false; !settled; {
			key, words, ok := nextKey(ctx, con)
			if !ok {
				key = "q"
			}
			switch key {
			case "q", "quit":
				say(fmt.Sprintf("%s for an answer", waits(left)))
				return nil
			case "s", "skip":
				settled = true
			case "v", "view":
				err = con.Suspend(func() error { return a.page(ctx, wholeRequest(r, timeNow(), -1)) })
				if err != nil {
					say(err.Error())
				}
			default:
				given, ok := reviewGiven[key]
				if !ok {
					say(reviewKeys)
					continue
				}
				settled = true
				if err := a.give(ctx, given, words, r); err != nil {
					say(err.Error())
					break
				}
				left--
				say(r.ID + " " + givenWords(r, given))
			}
		}
	}
	if left > 0 {
		say(fmt.Sprintf("%s for an answer", waits(left)))
	}
	return nil
}

// reviewGiven are the answers by key and by word.
var reviewGiven = map[string]string{
	"a": "yes", "approve": "yes", "d": "no", "deny": "no",
	"A": "always", "always": "always", "N": "never", "never": "never",
}

// nextKey waits for a line: its first word and the rest. ok is false when the
// human leaves.
func nextKey(ctx context.Context, con *console.Console) (key, words string, ok bool) {
	con.Next()
	select {
	case e := <-con.Events():
		line, is := e.(console.Line)
		if !is {
			return "", "", false
		}
		key, words, _ = strings.Cut(strings.TrimSpace(line.Text), " ")
		return key, strings.TrimSpace(words), true
	case <-ctx.Done():
		return "", "", false
	}
}

// page shows a text with the pager, or as it is where there is none or it fits
// the screen.
func (a *app) page(ctx context.Context, text string) error {
	text = console.Clean(text)
	pager := a.pager(text)
	if pager == nil {
		_, err := io.WriteString(a.out, text)
		return err
	}
	c := exec.CommandContext(ctx, pager[0], pager[1:]...)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), a.out, a.err
	if err := c.Run(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("paging with %s: %w", pager[0], err)
	}
	return nil
}

// request is one in JSON.
type request struct {
	ID       string     `json:"id"`
	State    string     `json:"state"`
	Given    string     `json:"given,omitempty"` // yes, no, always, never
	By       string     `json:"by,omitempty"`
	Title    string     `json:"title"`
	Summary  string     `json:"summary"`
	Why      string     `json:"why,omitempty"`
	Because  string     `json:"because,omitempty"`
	Kind     string     `json:"kind"`
	Project  string     `json:"project,omitempty"`
	Dir      string     `json:"dir,omitempty"`
	Call     string     `json:"call,omitempty"`
	Tick     int        `json:"tick,omitempty"`
	Files    []string   `json:"files,omitempty"`
	Commands []string   `json:"commands,omitempty"`
	Touches  []string   `json:"touches,omitempty"`
	Confined string     `json:"confined,omitempty"`
	Risks    string     `json:"risks,omitempty"`
	Rollback string     `json:"rollback,omitempty"`
	Expected string     `json:"expected,omitempty"`
	Diff     string     `json:"diff,omitempty"`
	Answer   string     `json:"answer,omitempty"`
	Result   string     `json:"result,omitempty"`
	Asked    *time.Time `json:"asked,omitempty"`
	Expires  *time.Time `json:"expires,omitempty"`
	Answered *time.Time `json:"answered,omitempty"`
	Started  *time.Time `json:"started,omitempty"`
	Ended    *time.Time `json:"ended,omitempty"`
}

func jsonRequest(r home.Request) request {
	at := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	return request{
		ID: r.ID, State: r.State, Given: r.Given, By: r.By, Title: r.Title(), Summary: r.Summary, Why: r.Why, Because: r.Because,
		Kind: r.Kind, Project: r.Project, Dir: r.Dir, Call: r.Call, Tick: r.Tick, Files: r.Files, Commands: r.Commands,
		Touches: r.Touches, Confined: r.Confined, Risks: r.Risks, Rollback: r.Rollback, Expected: r.Expected,
		Diff: r.Diff, Answer: r.Answer, Result: r.Result,
		Asked: at(r.Asked), Expires: at(r.Expires), Answered: at(r.Answered), Started: at(r.Started), Ended: at(r.Ended),
	}
}
