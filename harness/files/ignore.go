package files

import (
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ignoreFiles are read in every folder, the strongest first. Only git's counts
// nowhere but in a repository.
var ignoreFiles = [...]string{".rgignore", ".ignore", ".gitignore"}

const (
	git     = 2 // of ignoreFiles
	exclude = 3 // .git/info/exclude
)

// rules are the ignore files of one folder, with those of the folders above.
type rules struct {
	up       *rules
	repo     *rules // of the root of the repository; nil is outside of any
	base     string // the folder; "" is the root
	patterns [4][]pattern
}

// pattern is a line of an ignore file.
type pattern struct {
	match    func(text string) bool
	negated  bool
	dirOnly  bool
	anchored bool // matched against the path below the folder, not the name
}

// verdict is what rules say of a path.
type verdict int

const (
	silent verdict = iota
	left           // left out
	kept           // not left out, whatever weaker rules say
)

// readRules adds the ignore files of d, of which has tells whether they are
// there. bad is called for each that can not be read.
func readRules(up *rules, d folder, has func(name string) bool, bad func()) *rules {
	r := &rules{up: up, base: strings.TrimSuffix(d.path, "/")}
	any := has(".git")
	if any {
		r.repo = r
	} else if up != nil {
		r.repo = up.repo
	}
	load := func(i int, d folder, name string) {
		b, _, _, err := d.read(name, MaxFile, nil)
		if err != nil {
			bad()
			return
		}
		r.patterns[i] = parseIgnore(string(b))
		any = any || len(r.patterns[i]) > 0
	}
	for i, name := range ignoreFiles {
		if has(name) {
			load(i, d, name)
		}
	}
	if r.repo == r {
		if info, err := infoOf(d); err == nil {
			if _, err := info.stat("exclude"); err == nil {
				load(exclude, info, "exclude")
			}
			info.close()
		}
	}
	if !any {
		return up
	}
	return r
}

// infoOf opens .git/info of a repository, also of a worktree, whose .git is a
// file that names the folder (gitrepository-layout(5)).
func infoOf(d folder) (folder, error) {
	gitDir := d.join(".git")
	if b, _, _, err := d.read(".git", 4096, nil); err == nil {
		named := strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
		gitDir = from(d.path, named)
		if g, err := openFolder(gitDir, nil); err == nil {
			if b, _, _, err := g.read("commondir", 4096, nil); err == nil {
				gitDir = from(gitDir, strings.TrimSpace(string(b)))
			}
			g.close()
		}
	}
	return openFolder(path.Join(gitDir, "info"), nil)
}

// from is p as seen from the folder dir.
func from(dir, p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}

// says judges an absolute path. The caller does not descend into folders that
// are left out, so their contents are not asked about. Global are the rules for
// every repository.
func (r *rules) says(p string, dir bool, global []pattern) verdict {
	if r == nil {
		return silent
	}
	kinds := git // git's own count only in a repository
	if r.repo != nil {
		kinds = len(r.patterns)
	}
	for kind := range kinds {
		for at := r; at != nil; at = at.up {
			if v := judge(at.patterns[kind], p[len(at.base)+1:], dir); v != silent {
				return v
			}
			if at == at.repo && kind >= git {
				break // what lies above is not of this repository
			}
		}
	}
	if r.repo == nil {
		return silent
	}
	return judge(global, p[len(r.repo.base)+1:], dir)
}

// judge lets the last pattern that matches decide.
func judge(ps []pattern, rel string, dir bool) verdict {
	name := rel[strings.LastIndexByte(rel, '/')+1:]
	for i := len(ps) - 1; i >= 0; i-- {
		p := ps[i]
		text := name
		if p.anchored {
			text = rel
		}
		if p.dirOnly && !dir || !p.match(text) {
			continue
		}
		if p.negated {
			return kept
		}
		return left
	}
	return silent
}

// parseIgnore reads an ignore file, gitignore(5).
func parseIgnore(text string) (ps []pattern) {
	for line := range strings.SplitSeq(strings.TrimPrefix(text, "\uFEFF"), "\n") {
		if p, ok := parsePattern(strings.TrimSuffix(line, "\r"), false); ok {
			ps = append(ps, p)
		}
	}
	return ps
}

func parsePattern(line string, braces bool) (p pattern, ok bool) {
	if strings.HasPrefix(line, "#") {
		return p, false
	}
	line, p.negated = strings.CutPrefix(line, "!")
	line = trimSpaces(line)
	line, p.dirOnly = strings.CutSuffix(line, "/")
	p.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	switch tail := strings.TrimPrefix(line, "*"); {
	case line == "":
		return p, false
	case !strings.ContainsAny(line, `*?[\{}`):
		p.match = func(s string) bool { return s == line }
	case !p.anchored && tail != line && !strings.ContainsAny(tail, `*?[\{}`):
		p.match = func(s string) bool { return strings.HasSuffix(s, tail) }
	default:
		re, ok := globbed(line, braces)
		if !ok {
			return p, false
		}
		p.match = re.MatchString
	}
	return p, true
}

// trimSpaces removes spaces at the end that are not escaped.
func trimSpaces(s string) string {
	end := 0
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			end = i + 1
		} else if s[i] != ' ' {
			end = i + 1
		}
	}
	return s[:end]
}

// globalRules are those of git's core.excludesFile, for every repository of the
// user.
func globalRules() []pattern {
	user, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	config := os.Getenv("XDG_CONFIG_HOME")
	if config == "" {
		config = filepath.Join(user, ".config")
	}
	file := filepath.Join(config, "git", "ignore")
	for _, at := range []string{filepath.Join(config, "git", "config"), filepath.Join(user, ".gitconfig")} {
		if b, err := os.ReadFile(at); err == nil {
			if named := excludesFile(string(b)); named != "" {
				file = named
			}
		}
	}
	if below, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(user, below)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil // there is none
	}
	return parseIgnore(string(b))
}

// excludesFile is core.excludesFile of a git configuration, "" if it has none.
func excludesFile(config string) (file string) {
	core := false
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			core = strings.EqualFold(line, "[core]")
			continue
		}
		key, value, _ := strings.Cut(line, "=")
		if core && strings.EqualFold(strings.TrimSpace(key), "excludesFile") {
			file = strings.Trim(strings.TrimSpace(value), `"`)
		}
	}
	return file
}
