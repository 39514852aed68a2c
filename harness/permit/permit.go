// Package permit decides whether the agent may do something: unasked, after a
// question, or never. It touches nothing: a decision is a function of the
// action, of what is known of the surroundings, of the user's rules and of the
// answers given so far.
//
//	v := permit.Decide(permit.Action{Op: permit.Run, Shell: "git push -f"}, world, rules, history)
//	v.Tier // never
//	v.Why  // a forced push replaces what others have
//	v.Kind // run:git push --force
//
// What is looked at is what an action touches, not how it is called: paths after
// `~`, variables, `..`, globs and symbolic links, hosts, refs. A command is read
// with a shell's parser; each simple command in it is judged, also behind
// wrappers (sudo, xargs, find -exec, sh -c, eval), in substitutions, functions
// and here-documents, and the worst of them counts. Where looking in fails, the
// answer is ask.
//
// What is decided, in the order of the files:
//
//	path.go    where a path leads; what must not be removed or overwritten
//	file.go    reading, writing and removing
//	word.go    what a word of a shell may expand to
//	shell.go   the shell's grammar
//	call.go    one simple command: its name, its wrappers, its options
//	readers.go programs that only read
//	tools.go   programs with subcommands; tests
//	git.go destroy.go network.go code.go find.go
//	rules.go   the user's rules and answers
//
// Three limits. A hard link has the path that it has: what else it names can
// not be seen here. Between the decision and the deed a folder may become a
// link: whoever acts must open what was judged. A program is known by its name:
// who can put another `ls` on the PATH is past this gate.
//
// Begin reading at Decide.
package permit

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
)

// Tier says who decides.
type Tier uint8

const (
	Auto  Tier = iota // done unasked
	Ask               // a human is asked
	Never             // refused; no rule and no answer changes it
)

func (t Tier) String() string { return [...]string{"auto", "ask", "never"}[t] }

// Op is what an action does.
type Op string

const (
	ReadFile   Op = "read"   // Path
	ListDir    Op = "list"   // Path
	Search     Op = "search" // Path, with all below it
	WriteFile  Op = "write"  // Path
	EditFile   Op = "edit"   // Path
	RemoveFile Op = "remove" // Path, with all below it
	Run        Op = "run"    // Argv or Shell, Dir, Env
	Fetch      Op = "fetch"  // Method, URL
	CallTool   Op = "tool"   // Server, Tool
	SetSkill   Op = "skill"  // Name of the skill that is written
	Share      Op = "share"  // Name of whom it is shared with
)

// Action is what the agent wants to do. Op says which fields count.
type Action struct {
	Op           Op
	Path         string   // absolute, or relative to World.Cwd
	Argv         []string // a program and its arguments, run without a shell
	Shell        string   // a text for bash or sh; not both Argv and Shell
	Dir          string   // where it runs; "" is World.Cwd
	Env          []string // NAME=value, set besides the usual environment
	Stdin        string   // what it reads from its standard input; "" is nothing
	Method, URL  string
	Server, Tool string
	Name         string
	Because      string // why it is asked whatever rules and answers say; "" is not
}

// World is what is known of the surroundings.
type World struct {
	Project   string            // root of the project; "" is none
	Home      string            // the agent's home
	Workspace string            // the agent's own projects; "" is workspace in Home
	User      string            // the user's home
	Cwd       string            // where relative paths begin
	Readable  []string          // more folders that may be read unasked, as a module cache
	Vars      map[string]string // variables with the values that a command will see
	GitRuns   bool              // the project's git is set up to run programs when it reads
	Confined  bool              // commands can write only what they were granted, and reach no network

	// Resolve follows every symbolic link on the way of a clean absolute path,
	// also one that leads nowhere; of a path that is not there, the part that
	// is. It may be called many times in one decision; nil follows nothing.
	Resolve func(path string) (real string, exists bool)
}

// Verdict is the decision.
type Verdict struct {
	Tier Tier
	Why  string // one line for the human
	// Kind names what an answer "always" or "never" speaks of: "run:git push",
	// "write:/home/me/x". Several, with " + " between, for a command with
	// several parts that ask. What could not be looked into is a kind of its own.
	Kind     string
	Touches  []Touch
	Silenced bool // Tier is Never because this kind was denied three times
	Lifted   bool // something would be asked, but for an answer or a rule of the user
}

// How an action touches something.
type How string

const (
	Reads    How = "reads"    // a path
	Writes   How = "writes"   // a path
	Removes  How = "removes"  // a path
	Contacts How = "contacts" // a host
	Moves    How = "moves"    // a ref of git
	Runs     How = "runs"     // a program
)

// Touch is one thing that an action touches. A path may hold `*` for what a glob
// may match and `?` for what is not known.
type Touch struct {
	How  How
	What string
}

// finding is one reason not to go on unasked.
type finding struct {
	tier  Tier
	why   string
	kind  string
	words []string // the command that it is about
	dir   string   // where that runs, if known
	path  string   // the path that it is about
	host  string   // the host that is only read from
	tool  string   // server/tool
	firm  bool     // a rule on commands, folders or hosts does not lift it
}

// command is one simple command that may run.
type command struct {
	words []string
	dir   string
}

// judge gathers what is known of one action.
type judge struct {
	World
	found    []finding
	touches  []Touch
	ran      []command
	fetched  []string // hosts
	funcs    map[string]*function
	steps    int
	depth    int
	probing  bool // only what is never counts
	file     bool // a file function acts, no command
	secret   bool // credentials are read
	network  bool // another machine is reached
	stopped  bool // too much to look into
	resolved map[string]string
	stdin    string // what the command is given
}

// Decide says whether a may be done.
func Decide(a Action, w World, r Rules, h History) Verdict {
	if w.Workspace == "" && w.Home != "" {
		w.Workspace = w.Home + "/workspace"
	}
	for _, p := range []*string{&w.Project, &w.Home, &w.Workspace, &w.User} {
		if *p != "" {
			*p = clean(*p)
		}
	}
	if w.Cwd == "" {
		w.Cwd = unknown
	}
	j := &judge{World: w, funcs: map[string]*function{}, resolved: map[string]string{}}
	j.action(a)
	if j.stopped {
		j.find(finding{tier: Ask, why: "it is too much to look into", kind: exactly(append(slices.Clone(a.Argv), a.Shell)), firm: true})
	}
	if j.secret && j.network {
		j.find(finding{tier: Never, why: "credentials are read and another machine is reached", kind: "send:credentials"})
	}
	return j.verdict(a, r, h)
}

func (j *judge) action(a Action) {
	at := &scope{cwd: []string{j.Cwd}}
	c := call{at: at}
	j.file = a.Op != Run
	switch a.Op {
	case ReadFile:
		j.reads(c, a.Path, false)
	case ListDir, Search:
		j.reads(c, a.Path, true)
	case WriteFile, EditFile:
		j.writes(c, a.Path, false)
	case RemoveFile:
		j.removes(c, a.Path, true)
	case Run:
		j.run(a, at)
	case Fetch:
		j.fetch(a)
	case CallTool:
		tool := a.Server + "/" + a.Tool
		j.touch(Runs, tool)
		j.find(finding{tier: Ask, why: "a tool of another program: " + tool, kind: "tool:" + tool, tool: tool})
	case SetSkill:
		if fold(a.Name) == "core" || a.Name != strings.TrimSpace(a.Name) || strings.ContainsAny(a.Name, "/\\\x00") || a.Name == "" || a.Name[0] == '.' {
			j.find(finding{tier: Ask, why: "the skill " + a.Name + " says how the agent works", kind: "skill:" + a.Name, firm: true})
		}
	case Share:
		j.find(finding{tier: Ask, why: "it speaks to others: " + a.Name, kind: "share:" + a.Name, firm: true})
	default:
		j.find(finding{tier: Ask, why: "unknown action " + string(a.Op), kind: string(a.Op) + ":", firm: true})
	}
}

func (j *judge) run(a Action, at *scope) {
	j.stdin = a.Stdin
	if a.Dir != "" {
		at.cwd = nil
		for _, p := range j.places(a.Dir, []string{j.Cwd}) {
			at.cwd = append(at.cwd, p.path)
		}
	}
	for _, e := range a.Env {
		name, value, ok := strings.Cut(e, "=")
		if !ok || !plain(e) {
			j.blind(call{at: at}, "an environment that is not NAME=value")
			continue
		}
		j.exported(call{at: at}, at, name, value)
	}
	switch {
	case a.Shell != "" && a.Argv != nil || a.Shell == "" && len(a.Argv) == 0:
		j.blind(call{at: at}, "it is either a program with arguments or a text for a shell")
	case a.Shell != "":
		at.sure = true // it has no arguments
		j.text(a.Shell, at, flow{text: a.Stdin, known: true}, true)
	case !plain(strings.Join(a.Argv, "")):
		j.blind(call{at: at, argv: []string{"?"}}, "an argument holds a NUL or a character of no meaning")
	default:
		j.call(call{argv: a.Argv, at: at, in: flow{text: a.Stdin, known: true}})
	}
	for _, name := range j.uncalled() {
		j.callFunction(name, call{at: at}, nil, false)
	}
}

// plain says that s has none of our marks and nothing that no argument can hold.
func plain(s string) bool { return !strings.ContainsAny(s, "\x00"+star+unknown) }

// find keeps a reason.
func (j *judge) find(f finding) {
	if j.probing && f.tier != Never {
		return
	}
	if own := inside(f.dir, j.Project) || inside(f.dir, j.Workspace); f.tier == Ask && strings.HasPrefix(f.kind, "run:") && j.Project != "" && !own {
		f.kind += " in " + f.dir // an answer that counts in the project counts there
	}
	f.why, f.kind, f.path = shown(f.why), Plain(shown(f.kind)), shown(f.path)
	if j.stdin != "" && f.tier == Ask && strings.HasPrefix(f.kind, "run:") { // what it is given counts as an argument does
		sum := sha256.Sum256([]byte(j.stdin))
		f.kind += fmt.Sprintf(" < #%x", sum[:10])
	}
	for _, g := range j.found {
		if g.tier == f.tier && g.kind == f.kind && g.why == f.why && g.path == f.path && g.host == f.host && g.firm == f.firm &&
			g.dir == f.dir && slices.Equal(g.words, f.words) {
			return
		}
	}
	j.found = append(j.found, f)
}

// blind asks because looking into c failed: nobody's general word covers it.
func (j *judge) blind(c call, why string) {
	j.find(finding{tier: Ask, why: why, kind: exactly(c.argv), words: c.argv, dir: c.dir(), firm: true})
}

func (j *judge) touch(how How, what string) {
	if j.probing {
		return
	}
	t := Touch{how, shown(what)}
	if !slices.Contains(j.touches, t) && len(j.touches) < 1000 {
		j.touches = append(j.touches, t)
	}
}

// shown is s with our marks as a reader knows them.
func shown(s string) string {
	return strings.NewReplacer(star, "*", unknown, "?").Replace(s)
}
