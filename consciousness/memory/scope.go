package memory

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"amacs/org"
)

// The levels of a scope.
const (
	Global  = "global"
	Project = "project"
	Branch  = "branch"
	Thread  = "thread"
)

// Scope is where a memory holds. The zero scope is unknown. Work on no branch,
// as on a detached head, is the project's.
type Scope struct {
	Level   string // Global, Project, Branch or Thread
	Project string // key, see [ProjectKey]
	Branch  string // of a project's memory: the branch that it came from, if any
	Thread  string
}

// String is the scope as a property: `global`, `project KEY`, `project KEY
// BRANCH`, `branch KEY BRANCH` or `thread NAME`.
func (s Scope) String() string {
	text := s.Level
	for _, part := range []string{s.Project, s.Branch, s.Thread} {
		if part != "" {
			text += " " + part
		}
	}
	return text
}

// ParseScope reads what [Scope.String] wrote; anything else is the zero scope.
func ParseScope(text string) Scope {
	level, rest, _ := strings.Cut(text, " ")
	first, second, _ := strings.Cut(rest, " ")
	switch s := (Scope{Level: level, Project: first, Branch: second}); {
	case level == Global && rest == "":
		return s
	case level == Project && first != "" && !strings.Contains(second, " "):
		return s
	case level == Branch && first != "" && second != "" && !strings.Contains(second, " "):
		return s
	case level == Thread && rest != "":
		return Scope{Level: Thread, Thread: rest}
	}
	return Scope{}
}

// For is the scope in which something of this importance is stored: what is
// highly important goes from a branch to its project, which keeps the branch's
// name, so that the branch finds it.
func (s Scope) For(importance string) Scope {
	if s.Level == Branch && importance == High {
		s.Level = Project
	}
	return s
}

// File is the scope's file below the home's memory folder, with slashes; "" for
// the zero scope.
//
//	global.org
//	projects/amacs-w5d3kq8nt2.org
//	projects/amacs-w5d3kq8nt2/feat--login.org
//	threads/rust-debugging.org
func (s Scope) File() string {
	switch s.Level {
	case Global:
		return "global.org"
	case Project:
		return path.Join("projects", s.Project+".org")
	case Branch:
		return path.Join("projects", s.Project, BranchFile(s.Branch)+".org")
	case Thread:
		return path.Join("threads", BranchFile(s.Thread)+".org")
	}
	return ""
}

// ScopeOf is the scope whose file this is, by its name, else, where that is cut
// short, by what the file says of itself; else the zero scope.
func ScopeOf(file string, src []byte) Scope {
	file, _ = CutPart(file)
	dir, name := path.Split(strings.TrimSuffix(file, ".org"))
	dir = path.Clean(dir)
	may := []Scope{{Level: Global}, {Level: Project, Project: name}, {Level: Thread, Thread: name},
		{Level: Branch, Project: path.Base(dir), Branch: strings.ReplaceAll(name, "--", "/")}}
	if m := titleLine.FindSubmatch(src); m != nil {
		may = append(may, ParseScope(org.UnescapeTitle(strings.TrimSpace(string(m[1])))))
	}
	for _, m := range Read(src) {
		may = append(may, m.Scope)
	}
	for _, s := range may {
		if s.File() == file && ParseScope(s.String()) == s {
			return s
		}
	}
	return Scope{}
}

// titleLine is the one that [Preamble] writes.
var titleLine = regexp.MustCompile(`(?m)^#\+TITLE: Memories: (.*)$`)

// Part is the name of a scope's n-th file: a full one is followed by
// `global+2.org`, `global+3.org`. The first is the file itself.
func Part(file string, n int) string {
	if n < 2 {
		return file
	}
	return strings.TrimSuffix(file, ".org") + "+" + strconv.Itoa(n) + ".org"
}

// CutPart is the inverse of [Part].
func CutPart(name string) (file string, n int) {
	stem := strings.TrimSuffix(name, ".org")
	if i := strings.LastIndexByte(stem, '+'); i > 0 && stem != name {
		if n, err := strconv.Atoi(stem[i+1:]); err == nil && n > 1 && Part(stem[:i]+".org", n) == name {
			return stem[:i] + ".org", n
		}
	}
	return name, 1
}
