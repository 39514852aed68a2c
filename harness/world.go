package harness

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"amacs/harness/permit"
	"amacs/harness/process"
)

// world is what is known of the surroundings of a tick.
func (g *gate) world() permit.World {
	user, _ := os.UserHomeDir() // "" is unknown
	root, _ := resolve(g.home.Root())
	w := permit.World{
		Project: g.m.project, Home: root, User: user, Cwd: g.m.Cwd,
		Readable: libraries(user), Vars: map[string]string{}, Confined: g.confines(), Resolve: resolve,
		GitRuns: gitRuns(g.m.project),
	}
	for _, e := range environment(g.scratch(false)) {
		if name, value, ok := strings.Cut(e, "="); ok {
			w.Vars[name] = value
		}
	}
	return w
}

// confines says that a command can be kept from writing elsewhere and from the
// network.
func (g *gate) confines() bool {
	if !g.Config().Confine || len(g.helper) == 0 {
		return false
	}
	s := g.confinement()
	return s.Files && (s.Network || s.TCP)
}

// projectOf is the project that a folder belongs to: the git work tree around it,
// else the folder itself, but for one that holds more than a project: the user's
// home and what is above it.
func projectOf(cwd string) string {
	real, ok := resolve(cwd)
	if !ok || !filepath.IsAbs(cwd) {
		return ""
	}
	user, _ := os.UserHomeDir()
	user, _ = resolve(user)
	for dir := real; ; dir = filepath.Dir(dir) {
		if dir == user || dir == filepath.Dir(dir) {
			break
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	if real == "/" || real == user || strings.HasPrefix(user+"/", real+"/") {
		return ""
	}
	return real
}

// gitPrograms are the settings by which git starts a program, or reads settings from
// elsewhere, when it only looks at a repository. core.fsmonitor is switched off for
// every command. git-config(1)
var gitPrograms = regexp.MustCompile(`(?im)(^|\])\s*(external|textconv|clean|smudge|process|program|command|path|alternaterefscommand|worktreeconfig)\s*=`)

// gitRuns says whether a project's own git settings start programs. A worktree's
// settings are those of its repository.
func gitRuns(project string) bool {
	if project == "" {
		return false
	}
	git := filepath.Join(project, ".git")
	if b, err := os.ReadFile(git); err == nil { // gitdir: …/.git/worktrees/x
		dir, ok := strings.CutPrefix(strings.TrimSpace(string(b)), "gitdir: ")
		if !ok {
			return true
		}
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(project, dir)
		}
		git = dir
		if common, err := os.ReadFile(filepath.Join(dir, "commondir")); err == nil {
			git = filepath.Join(dir, strings.TrimSpace(string(common)))
		}
	}
	b, err := os.ReadFile(filepath.Join(git, "config"))
	return gitPrograms.Match(b) || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// libraries are folders beside the project that hold no secret of anybody's:
// what programs and libraries are made of.
func libraries(user string) []string {
	dirs := []string{"/usr/share", "/usr/lib", "/usr/include", "/usr/local/go", "/usr/local/lib", "/usr/local/share"}
	if user != "" {
		for _, d := range []string{"go/pkg/mod", "sdk", ".cargo/registry", ".rustup/toolchains"} {
			dirs = append(dirs, filepath.Join(user, d))
		}
	}
	return dirs
}

// resolve follows every link on the way of a clean absolute path, as
// permit.World wants it.
func resolve(path string) (real string, exists bool) {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real, true
	}
	at, rest := "/", strings.Split(strings.Trim(filepath.Clean(path), "/"), "/")
	for hops := 0; len(rest) > 0; {
		next := filepath.Join(at, rest[0])
		rest = rest[1:]
		to, err := os.Readlink(next)
		if err != nil {
			if _, err := os.Lstat(next); err != nil {
				return filepath.Join(append([]string{next}, rest...)...), false
			}
			at = next
			continue
		}
		if hops++; hops > 100 {
			return path, false
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(strings.Trim(filepath.Clean(to), "/"), "/"), rest...)
	}
	return at, true
}

// rules are the user's, with ~ read.
func (g *gate) rules() permit.Rules {
	r := g.Config().Rules
	user, _ := os.UserHomeDir()
	expand := func(rules []permit.Rule) []permit.Rule {
		out := make([]permit.Rule, len(rules))
		for i, x := range rules {
			if x.Folder == "~" || strings.HasPrefix(x.Folder, "~/") {
				x.Folder = filepath.Join(user, x.Folder[1:])
			}
			if x.Folder != "" {
				if real, ok := resolve(filepath.Clean(x.Folder)); ok {
					x.Folder = real
				}
			}
			out[i] = x
		}
		return out
	}
	return permit.Rules{Allow: expand(r.Allow), Ask: expand(r.Ask), Deny: expand(r.Deny)}
}

// scratch is the folder with the caches and the temporary files of a project's
// commands. No project's commands find what those of another left behind, and
// unconfined ones not what confined ones did: what is in a cache may be run.
func (g *gate) scratch(free bool) string {
	name := "none"
	if g.m.project != "" {
		sum := sha256.Sum256([]byte(g.m.project))
		name = fmt.Sprintf("%x", sum[:6])
	}
	if free {
		name += "-free"
	}
	return filepath.Join(g.home.Cache("run"), name)
}

// environment is what a command gets: nothing that holds a key, no folder of the
// PATH that depends on where it runs, no monitor that the project's git would
// start, and caches and temporary files in the folder scratch.
func environment(scratch string) []string {
	var env []string
	for _, e := range process.Scrub(os.Environ()) {
		name, value, _ := strings.Cut(e, "=")
		switch name {
		case "TMPDIR", "XDG_CACHE_HOME", "GOCACHE":
			continue
		case "PATH":
			dirs := slices.DeleteFunc(filepath.SplitList(value), func(d string) bool { return !filepath.IsAbs(d) })
			e = "PATH=" + strings.Join(dirs, string(filepath.ListSeparator))
		}
		env = append(env, e)
	}
	return append(env, "TMPDIR="+filepath.Join(scratch, "tmp"), "XDG_CACHE_HOME="+filepath.Join(scratch, "cache"),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false")
}
