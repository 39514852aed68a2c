package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
	"amacs/harness/home"
	"amacs/harness/nearest"
)

// app is one run of the program: its flags, its ends, and the harness once a
// command has asked for it.
type app struct {
	in, out, err *os.File

	home, provider, model, baseURL string // flags
	debugHTTP, lines               bool
	json                           bool // set by a command whose output is JSON

	h      *harness.Harness
	cwd    string
	step   func(string)
	inside bool // started by amacs itself, perhaps by a command of the agent
	repl   bool // the commands run as verbs of the prompt

	unsignal func()                   // gives signals back to whoever asks for them next
	suspend  func(func() error) error // lends the terminal to a child, at the prompt
}

// The groups of `amacs help`, in its order.
var groups = []*cobra.Group{
	{ID: "talk", Title: "Talk:"},
	{ID: "look", Title: "Look:"},
	{ID: "mind", Title: "Mind:"},
	{ID: "undo", Title: "Undo:"},
	{ID: "upkeep", Title: "Upkeep:"},
	{ID: "join", Title: "Join:"},
}

// command builds the tree of commands.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "amacs",
		Short: "An agent whose whole mind is a git repository of plain text",
		Long: `amacs is an agent whose whole mind is a git repository of plain text.

Without a command it opens the prompt. On a pipe, every line is one message:
  printf 'hello\nnote: buy milk\n' | amacs

The home is ~/.agent, AMACS_HOME or --home; it is made when there is none yet.
Until you choose who answers, the built-in offline responder does. It is no
language model and costs nothing; amacs help model tells how another is chosen.`,
		Args:          cobra.ArbitraryArgs,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if a.inside && slices.Contains(humans, cmd.Name()) {
				return errInside
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return a.unknown(cmd, args)
			}
			return a.runREPL(cmd.Context())
		},
	}
	flags := root.PersistentFlags()
	flags.StringVar(&a.home, "home", "", "the agent's home `folder` (AMACS_HOME; default ~/.agent)")
	flags.StringVar(&a.provider, "provider", "", "the `name` of what answers: offline, anthropic, openai, ollama, agent, script or auto (AMACS_PROVIDER)")
	flags.StringVar(&a.model, "model", "", "the provider's model, by `name`; for agent the CLI, for script its file (AMACS_MODEL)")
	flags.StringVar(&a.baseURL, "base-url", "", "the `address` of the server to ask, as http://127.0.0.1:8080/v1 (AMACS_BASE_URL)")
	flags.BoolVar(&a.debugHTTP, "debug-http", false, "write what is said to and by a server to .amacs/cache/http.log, without keys")
	root.Flags().BoolVar(&a.lines, "lines", false, "allow more than 20 lines on a pipe to a provider that bills them")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return usageError{errors.New(parseNoise.ReplaceAllString(err.Error(), "not a whole number"))}
	})
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.AddGroup(groups...)
	root.AddCommand(
		a.askCommand(),
		a.logCommand(), a.diffCommand(), a.statusCommand(), a.contextCommand(), a.promptCommand(), a.costCommand(),
		a.threadsCommand(), a.threadCommand(), a.skillsCommand(), a.notesCommand(), a.buffersCommand(),
		a.moodCommand(), a.depthCommand(), a.thinkCommand(), a.editCommand(),
		a.reviewCommand(), a.approveCommand(), a.denyCommand(),
		a.undoCommand(), a.redoCommand(), a.atCommand(), a.whyCommand(), a.revertCommand(),
		a.initCommand(), a.doctorCommand(), a.configCommand(), a.modelCommand(), a.modelsCommand(), a.agentsCommand(), a.restoreCommand(), a.scanCommand(), a.keepCommand(), a.purgeCommand(), a.toolsCommand(), a.confinedCommand(),
		a.versionCommand(),
	)
	root.SetHelpCommand(a.helpCommand())
	root.SetCompletionCommandGroupID("join")
	for _, c := range root.Commands() {
		wrapArgs(c)
	}
	return root
}

// humans are the commands that are the human's alone: what amacs starts, a command
// of the agent above all, is refused them. Others guard themselves by what they are told.
var humans = []string{"undo", "redo", "revert", "config", "model", "edit", "restore"}

// errInside refuses a command to what amacs has started.
var errInside = errors.New("this is for you alone, not for a command of the agent, and it runs inside amacs; use a shell of your own, or the prompt")

// wrapArgs makes complaints about a command's arguments usage errors.
func wrapArgs(c *cobra.Command) {
	if check := c.Args; check != nil {
		c.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return usagef("%w\n  usage: %s", err, cmd.UseLine())
			}
			return nil
		}
	}
	for _, sub := range c.Commands() {
		wrapArgs(sub)
	}
}

// names lists the commands that a human may use.
func names(root *cobra.Command) (out []string) {
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() || c.Name() == "help" {
			out = append(out, c.Name())
		}
	}
	return out
}

// parseNoise is how flags complain of a number.
var parseNoise = regexp.MustCompile(`strconv\.\w+: parsing .*`)

func (a *app) unknown(root *cobra.Command, words []string) error {
	hint := ""
	if near := nearest.Names(words[0], names(root), 1); len(near) > 0 {
		hint = fmt.Sprintf("; did you mean %q?", near[0])
	}
	return usagef("no command %q%s\n  to say it to the agent: amacs ask %q", words[0], hint, strings.Join(words, " "))
}

// helpCommand is cobra's own but for words that are no command.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]", GroupID: "upkeep", Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return a.unknown(cmd.Root(), args)
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// root is the home's path: flag, environment, default.
func (a *app) root() (string, error) {
	if a.home != "" {
		return filepath.Abs(a.home)
	}
	if dir := os.Getenv("AMACS_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("finding the home folder: %w; name one with --home DIR", err)
	}
	return filepath.Join(dir, ".agent"), nil
}

// open gives the harness of an existing home.
func (a *app) open(ctx context.Context) (*harness.Harness, error) {
	if a.h != nil {
		return a.h, nil
	}
	root, err := a.root()
	if err != nil {
		return nil, err
	}
	if a.cwd, err = os.Getwd(); err != nil {
		return nil, fmt.Errorf("finding the current folder: %w", err)
	}
	a.h, err = harness.Open(ctx, harness.Options{
		Root:     root,
		Provider: first(a.provider, os.Getenv("AMACS_PROVIDER")),
		Model:    first(a.model, os.Getenv("AMACS_MODEL")),
		BaseURL:  first(a.baseURL, os.Getenv("AMACS_BASE_URL")),
		Debug:    a.debugHTTP,
		Step:     a.step,
		Helper:   helper(),
	})
	return a.h, err
}

// helper starts this very program as the one that confines itself.
func helper() []string {
	path, err := os.Executable()
	if err != nil {
		return nil // then nothing is confined, and doctor says so
	}
	return []string{path, confined}
}

// close ends what was started.
func (a *app) close() {
	if a.h != nil {
		if err := a.h.Close(); err != nil {
			fmt.Fprintln(a.err, "amacs: "+console.Clean(err.Error()))
		}
	}
}

// openOrInit is open, on a home that is made if there is none.
func (a *app) openOrInit(ctx context.Context) (*harness.Harness, error) {
	root, err := a.root()
	if err != nil {
		return nil, err
	}
	if !home.Exists(root) {
		created, err := harness.Init(ctx, root)
		if err != nil {
			return nil, err
		}
		if len(created) > 0 {
			fmt.Fprintf(a.err, "made a new home in %s\n", root)
		}
	}
	return a.open(ctx)
}

// peek reads the mind for a command that only looks. What is wrong with the home
// is said beside the command's output.
func (a *app) peek(cmd *cobra.Command) (*harness.Harness, *harness.Mind, error) {
	h, err := a.open(cmd.Context())
	if err != nil {
		return nil, nil, err
	}
	m, err := h.Peek(cmd.Context(), a.cwd)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range m.Notices {
		fmt.Fprintln(cmd.ErrOrStderr(), console.Clean(n))
	}
	return h, m, nil
}

func first(xs ...string) string {
	for _, x := range xs {
		if x != "" {
			return x
		}
	}
	return ""
}

// printJSON writes v as the command's whole output.
func (a *app) printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// jsonFlag gives a command --json.
func (a *app) jsonFlag(c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&a.json, "json", false, "print JSON, for programs")
	return c
}

// colors says whether to colour what goes to f. NO_COLOR and a terminal that
// knows no colours count for more than the setting.
func (a *app) colors(f *os.File) bool {
	mode := "auto"
	if a.h != nil {
		mode = a.h.Config().Color
	}
	if mode == "never" || os.Getenv("NO_COLOR") != "" || bare() {
		return false
	}
	return mode == "always" || term.IsTerminal(int(f.Fd()))
}

// bare says that the terminal, if there is one, knows no escape sequences.
func bare() bool {
	t := os.Getenv("TERM")
	return t == "dumb" || t == ""
}

// execute runs one line of the prompt, without its slash, as a command.
func (a *app) execute(ctx context.Context, words []string, out io.Writer) error {
	b := *a
	b.repl, b.json = true, false
	root := b.command()
	root.SetArgs(words)
	root.SetOut(out)
	root.SetErr(out)
	err := root.ExecuteContext(ctx)
	var usage usageError
	if errors.As(err, &usage) {
		return errors.New(strings.ReplaceAll(usage.Error(), "amacs ", "/"))
	}
	return err
}
