package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"amacs/consciousness/sexp"
	"amacs/harness/eval"
	"amacs/harness/home"
	"amacs/harness/permit"
	"amacs/harness/process"
)

const (
	runTail   = 8 << 10  // bytes of a command's output that the agent is shown
	runOutput = 16 << 20 // bytes that are kept in a file
	runFiles  = 50       // such files
	runMost   = time.Hour
)

func runFunctions(m *Mind) []eval.Func {
	return []eval.Func{
		{Name: "agent-run", Args: "COMMAND &rest ARGS &key :shell BOOL :dir PATH :time SECONDS :input TEXT :free BOOL :why TEXT",
			Doc: "Run a program in the project: one string, or the program and its arguments; with :shell t a text for the shell. Confined, unless :free t, which asks.",
			Min: 1, Max: -1, Keys: []string{":shell", ":dir", ":time", ":input", ":free", ":why"}, Waits: true, Call: m.run},
	}
}

// command is what a call of agent-run asks for.
type command struct {
	action permit.Action
	argv   []string
	text   string // as a human writes it
	time   time.Duration
	free   bool
}

func (m *Mind) command(a eval.Args) (c command, err error) {
	var words []string
	for i := range a.Len() {
		w, err := a.String(i)
		if err != nil {
			return c, err
		}
		words = append(words, w)
	}
	c.free, c.text = isTrue(a, ":free"), words[0]
	switch {
	case isTrue(a, ":shell") && len(words) > 1:
		return c, fmt.Errorf("with :shell t the command is one text")
	case isTrue(a, ":shell"):
		c.action.Shell = words[0]
		c.argv = []string{shellName(), "-c", words[0]}
	case len(words) > 1:
		c.argv, c.text = words, permit.Line(words)
	default:
		var plain bool
		if c.argv, plain = permit.Words(words[0]); !plain {
			return c, fmt.Errorf("this needs a shell (a pipe, a variable, a glob, a redirection or several commands); add :shell t: %s", words[0])
		}
	}
	if c.action.Shell == "" {
		c.action.Argv = c.argv
	}
	c.action.Op = permit.Run
	dir, err := a.Text(":dir")
	if err != nil {
		return c, err
	}
	if dir == "" {
		dir = m.Cwd
	}
	if c.action.Dir, err = m.place(dir); err != nil {
		return c, err
	}
	if c.action.Stdin, err = a.Text(":input"); err != nil {
		return c, err
	}
	seconds, err := a.Count(":time", m.gate.Config().RunTime)
	c.time = time.Duration(seconds) * time.Second
	if err == nil && (c.time <= 0 || c.time > runMost) {
		err = fmt.Errorf(":time %d is not within 1 and %d seconds", seconds, int(runMost.Seconds()))
	}
	return c, err
}

func shellName() string {
	if _, err := os.Stat("/bin/bash"); err == nil {
		return "/bin/bash"
	}
	return "/bin/sh"
}

func (m *Mind) run(ctx context.Context, a eval.Args) (sexp.Value, error) {
	c, err := m.command(a)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(c.action.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no folder %s to run it in", c.action.Dir)
	}
	d := deal{summary: "run " + c.text, commands: []string{c.text}, dir: c.action.Dir,
		call: form("agent-run", a, ":shell", ":time", ":input", ":free")} // its folder is where the call runs again
	if in := c.action.Stdin; in != "" {
		d.summary += " < " + in
		d.commands = append(d.commands, "< "+in)
	}
	if d.why, err = a.Text(":why"); err != nil {
		return nil, err
	}
	if c.free && m.gate.confines() {
		d.firm = "it would run unconfined: it could write wherever you can, and reach the network"
	}
	v, err := m.gate.verdict(c.action, d)
	if err != nil {
		return nil, err
	}
	grant := m.gate.grant(c, v)
	d.confined = grantText(grant, m)
	done, err := m.gate.abide(ctx, v, d)
	if err != nil {
		return nil, err
	}
	result, err := m.gate.run(ctx, c, grant)
	done(result, err)
	m.heard("command " + oneLine(c.text))
	return result, err
}

// grant is what a command may touch; nil is all.
func (g *gate) grant(c command, v permit.Verdict) *process.Grant {
	if !g.confines() || c.free {
		return nil
	}
	gr := &process.Grant{Read: g.common(), Write: []string{g.scratch(false), g.home.Path(home.Workspace)}}
	root, _ := resolve(g.home.Root())
	gr.Guard = []string{root}
	if p := g.m.project; p != "" && p != root && (!strings.HasPrefix(p, root+"/") || g.ours(p)) {
		gr.Write = append(gr.Write, p)
		gr.Guard = append(gr.Guard, runByItself(p)...)
	}
	asked := v.Tier == permit.Ask || v.Lifted
	touches := func(how permit.How, git bool) bool {
		return slices.ContainsFunc(v.Touches, func(t permit.Touch) bool { return t.How == how && (how != permit.Runs || (t.What == "git") == git) })
	}
	if asked && touches(permit.Runs, true) || touches(permit.Moves, true) && !touches(permit.Runs, false) {
		gr.Guard = []string{root} // what git does to itself was asked for, or is a branch
	}
	if !asked {
		return gr
	}
	for _, t := range v.Touches {
		switch {
		case t.How == permit.Contacts:
			gr.Network = true
		case strings.ContainsAny(t.What, "*?"):
		case t.How == permit.Reads:
			gr.Read = append(gr.Read, withoutSecrets(t.What)...)
		case t.How == permit.Writes || t.How == permit.Removes:
			for _, path := range []string{t.What, filepath.Dir(t.What)} {
				if !slices.Contains(gr.Write, path) && !g.wide(path) {
					gr.Write = append(gr.Write, path)
				}
			}
			gr.Guard = slices.DeleteFunc(gr.Guard, func(guard string) bool {
				return guard != root && (t.What == guard || strings.HasPrefix(t.What, guard+"/"))
			})
		}
	}
	return gr
}

// withoutSecrets is what may be read where a folder was asked for: all in it but
// where credentials are kept. A file that is one was asked for by its name.
func withoutSecrets(path string) (paths []string) {
	user, _ := os.UserHomeDir()
	if !permit.HoldsSecrets(path, user) {
		return []string{path}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return []string{path} // no folder
	}
	for _, e := range entries {
		if below := filepath.Join(path, e.Name()); !permit.Secret(below, user) && e.Type()&os.ModeSymlink == 0 {
			paths = append(paths, withoutSecrets(below)...)
		}
	}
	return paths
}

// runByItself are the files of a project that are run later, outside of any
// confinement, when the human uses git or enters the folder.
func runByItself(project string) []string {
	var out []string
	for _, name := range []string{".git", ".envrc", ".gitmodules", ".gitattributes", ".husky", ".githooks", ".vscode", ".idea", ".github"} {
		out = append(out, filepath.Join(project, name))
	}
	return out
}

// wide says of a folder that it holds too much to be granted for the sake of one
// file in it.
func (g *gate) wide(path string) bool {
	user, _ := os.UserHomeDir()
	for _, dear := range []string{user, g.home.Root()} {
		if real, _ := resolve(dear); dear != "" && (path == "/" || real == path || strings.HasPrefix(real, path+"/")) {
			return true
		}
	}
	return strings.Count(path, "/") < 2 || strings.HasPrefix(path, "/etc") || strings.HasPrefix(path, "/usr")
}

// common is what every command may read: the system, what is installed, the
// agent's home. Folders with credentials are not in it.
func (g *gate) common() (dirs []string) {
	user, _ := os.UserHomeDir()
	add := func(parent string) {
		entries, _ := os.ReadDir(parent) // what can not be listed can not be granted
		for _, e := range entries {
			if path := filepath.Join(parent, e.Name()); !permit.Secret(path, user) {
				dirs = append(dirs, path)
			}
		}
	}
	dirs = append(dirs, "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/sys", "/nix", "/snap",
		"/var/lib/dpkg", "/var/cache", "/System", "/Library", "/Applications", "/private/etc")
	if os.Geteuid() == 0 { // who else may not read the secrets there
		add("/etc")
	} else {
		dirs = append(dirs, "/etc")
	}
	if user != "" {
		for _, d := range []string{"go", "sdk", ".cargo", ".rustup", ".npm", ".nvm", ".pyenv", ".rbenv", ".asdf", ".deno", ".bun", ".volta", ".m2", ".gradle",
			".local/bin", ".local/lib", ".local/share/mise", ".gitconfig", ".config/git", ".tool-versions"} {
			dirs = append(dirs, filepath.Join(user, d))
		}
	}
	dirs = append(dirs, filepath.SplitList(os.Getenv("PATH"))...)
	add(g.home.Root())
	hidden := []string{g.home.Path(".amacs"), g.home.Path(".git")}
	return slices.DeleteFunc(dirs, func(d string) bool { return !filepath.IsAbs(d) || slices.Contains(hidden, d) })
}

// grantText says how a command would run.
func grantText(gr *process.Grant, m *Mind) string {
	if gr == nil {
		return "unconfined: it can write wherever you can, and reach the network"
	}
	var where []string
	for _, w := range gr.Write {
		switch name := m.shortPath(w); {
		case w == m.gate.scratch(false) || strings.HasPrefix(w, m.project+"/") && m.project != "":
		case w == m.gate.home.Path(home.Workspace):
			where = append(where, "the agent's workspace")
		case w == m.project:
			where = append(where, "the project")
		case !slices.Contains(where, name):
			where = append(where, name)
		}
	}
	net := "without network"
	if gr.Network {
		net = "with network"
	}
	return "confined to writing in " + strings.Join(where, ", ") + "; " + net
}

// run runs a command that may run.
func (g *gate) run(ctx context.Context, c command, grant *process.Grant) (string, error) {
	scratch, outputs := g.scratch(grant == nil), filepath.Join(g.home.Cache("run"), "output")
	for _, d := range []string{outputs, filepath.Join(scratch, "tmp"), filepath.Join(scratch, "cache")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return "", err
		}
	}
	g.runs++
	raw := filepath.Join(outputs, fmt.Sprintf("%05d-%d.txt", g.m.Tick, g.runs))
	deed := home.Deed{Tick: g.m.Tick, At: g.now(), What: "run", Command: g.Clean(c.text), Dir: c.action.Dir, Exit: -1}
	if err := g.home.Record(context.WithoutCancel(ctx), deed, nil); err != nil {
		return "", fmt.Errorf("writing down what is run, so it is not run: %w", err)
	}
	g.show(Event{Running, oneLine(c.text)})
	approved, err := g.approved(grant)
	if err != nil {
		return "", err
	}
	missing := missing(grant)
	g.step("running")
	r, err := process.Run(ctx, process.Command{
		Argv: c.argv, Dir: c.action.Dir, Env: environment(scratch), Stdin: []byte(c.action.Stdin),
		Time: c.time, Output: runOutput, Tail: runTail, Raw: raw, Grant: grant, Helper: g.helper,
	})
	if err := errors.Join(err, g.reopen(ctx, approved)); err != nil {
		return "", err
	}
	for _, path := range missing {
		if _, err := os.Lstat(path); err == nil {
			g.show(Event{Notice, fmt.Sprintf("(the command made %s, which may be run by itself later: look at it)", g.m.shortPath(path))})
		}
	}
	deed.Exit = r.Code
	if err := g.home.Record(context.WithoutCancel(ctx), deed, nil); err != nil {
		return "", err
	}
	g.keepOutputs(outputs)
	if r.Cancelled {
		return "", errors.New("interrupted by the human after " + r.Took.Round(time.Millisecond).String() + "; its output: " + g.Clean(r.Out))
	}
	return g.told(r, raw, grant), nil
}

// missing are the guarded paths that are not there yet: what is missing can not be
// guarded, so the human is told when a command makes it.
func missing(grant *process.Grant) (paths []string) {
	if grant == nil {
		return nil
	}
	for _, path := range grant.Guard {
		if _, err := os.Lstat(path); err != nil {
			paths = append(paths, path)
		}
	}
	return paths
}

// told is what a command came to.
func (g *gate) told(r process.Result, raw string, grant *process.Grant) string {
	how := fmt.Sprintf("exit %d", r.Code)
	switch {
	case r.TimedOut:
		how = "ended because its time was over"
	case r.Signal != "":
		how = "ended by " + r.Signal
	}
	how += fmt.Sprintf(", %s", r.Took.Round(10*time.Millisecond))
	if r.Left > 0 {
		how += fmt.Sprintf(", %d processes that it left behind were ended", r.Left)
	}
	if grant != nil && r.Code != 0 {
		how += " (" + grantText(grant, g.m) + ")"
	}
	if r.Bytes > int64(len(r.Out)) {
		how += fmt.Sprintf("; the last of %d bytes, all in %s", r.Bytes, raw)
	}
	if r.Out == "" {
		return how + ", no output"
	}
	return how + "\n" + g.Clean(r.Out)
}

// keepOutputs keeps the newest files of output.
func (g *gate) keepOutputs(dir string) {
	entries, _ := os.ReadDir(dir) // sorted by tick
	for len(entries) > runFiles {
		os.Remove(filepath.Join(dir, entries[0].Name())) // a cache
		entries = entries[1:]
	}
}

// approved are the calls of the requests that are approved and not begun, by id,
// where a command could approve one itself: it runs unconfined.
func (g *gate) approved(grant *process.Grant) (calls map[string]string, err error) {
	if grant != nil {
		return nil, nil
	}
	src, err := g.home.Draft().Bytes(home.Permissions)
	return approvedCalls(src), err
}

func approvedCalls(src []byte) map[string]string {
	calls := map[string]string{}
	for _, r := range home.Requests(src) {
		if r.State == home.Approved && r.Started.IsZero() {
			calls[r.ID] = r.Call
		}
	}
	return calls
}

// reopen takes back what was approved in permissions.org, not through amacs, while
// an unconfined command ran: an answer by hand is asked again, what else came to
// stand there is denied.
func (g *gate) reopen(ctx context.Context, before map[string]string) error {
	if before == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	src, err := g.home.Draft().Bytes(home.Permissions)
	if err != nil {
		return err
	}
	var through map[string]string // amacs, which commits its answers
	for _, r := range home.Requests(src) {
		if call, ok := before[r.ID]; r.State != home.Approved || !r.Started.IsZero() || ok && call == r.Call {
			continue
		}
		if through == nil {
			last, err := g.journal.Snapshot(ctx, "HEAD")
			if err != nil {
				return err
			}
			b, err := last.ReadFile(home.Permissions)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			through = approvedCalls(b)
		}
		if call, ok := through[r.ID]; ok && call == r.Call {
			continue
		}
		what, take := "asked again", func(d *home.Draft) error { return d.Reopen(r.ID) }
		if r.By != "hand" {
			what = "denied"
			take = func(d *home.Draft) error {
				return d.End(r.ID, home.Denied, "approved while an unconfined command ran, and not through amacs", g.now())
			}
		}
		if err := g.Change(ctx, "REVIEW", r.ID+" is "+what, home.Edit{What: what, Apply: take}); err != nil {
			return err
		}
		g.show(Event{Notice, fmt.Sprintf("%s was approved in %s while an unconfined command ran, so it may not have been you: it is %s", r.ID, home.Permissions, what)})
	}
	return nil
}
