package agent

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// plan is how a job becomes a process.
type plan struct {
	args  []string          // the program first
	env   []string          // whole
	stdin string            // "" = none
	files map[string]string // to be written before: path to contents
}

// placeholder is {name} or {file:name} in an argument or a variable.
var placeholder = regexp.MustCompile(`\{(?:file:[^{}]+|[a-z]+(?:-file)?)\}`)

// known are the names of placeholders, apart from {file:…}.
var known = []string{"prompt", "system", "model", "usd", "session", "schema"}

// maxArg is the length from which an argument or a variable is refused by Linux
// (MAX_ARG_STRLEN, execve(2)), in bytes.
const maxArg = 128 << 10

// plan lays out a job; files will lie in dir.
func (e Entry) plan(j Job, dir string) (plan, error) {
	usd := j.MaxUSD
	if usd <= 0 {
		usd = e.MaxCost()
	}
	words := map[string]string{"prompt": j.Prompt, "system": j.System, "model": j.Model, "session": j.Session,
		"schema": string(j.Schema), "usd": strconv.FormatFloat(usd, 'f', -1, 64)}
	if !e.takesSystem() && j.System != "" {
		words["prompt"] = j.System + "\n\n" + j.Prompt
	}
	p := plan{files: map[string]string{}}

	// fill replaces the placeholders; ok = all of them have a text.
	fill := func(s string) (filled string, ok bool) {
		ok = true
		filled = placeholder.ReplaceAllStringFunc(s, func(name string) string {
			name = name[1 : len(name)-1]
			if file, is := strings.CutPrefix(name, "file:"); is {
				content, ok := e.Files[file]
				if !ok {
					return "{" + name + "}"
				}
				at := filepath.Join(dir, file)
				p.files[at] = content
				return at
			}
			word, asFile := strings.CutSuffix(name, "-file")
			if !slices.Contains(known, word) {
				return "{" + name + "}"
			}
			if words[word] == "" {
				ok = false
				return ""
			}
			if !asFile {
				return words[word]
			}
			at := filepath.Join(dir, word)
			p.files[at] = words[word]
			return at
		})
		return filled, ok
	}

	parts := []struct {
		used bool
		args []string
	}{
		{true, e.Command},
		{!j.Tools, e.NoTools},
		{j.Model != "", e.Model},
		{j.System != "", e.System},
		{true, e.Budget},
		{len(j.Schema) > 0, e.Schema},
		{!j.Keep && j.Session == "", e.Forget},
		{j.Session != "", e.Continue},
		{true, e.Prompt},
	}
	for _, part := range parts {
		if !part.used {
			continue
		}
		for _, arg := range part.args {
			filled, _ := fill(arg)
			p.args = append(p.args, filled)
		}
	}
	if !mentions(e.Prompt, "prompt") {
		p.stdin = words["prompt"]
	}
	p.env = e.environ(j.Env)
	vars := maps.Clone(e.Env)
	if !j.Tools {
		vars = merged(vars, e.NoToolsEnv)
	}
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		if value, ok := fill(vars[name]); ok {
			p.env = append(p.env, name+"="+value)
		}
	}
	for _, word := range slices.Concat(p.args, p.env) {
		if len(word) >= maxArg {
			return plan{}, fmt.Errorf("%s takes this text as an argument, and it is too long: %d KB, %d is the most", e.Name, len(word)>>10, maxArg>>10)
		}
		if strings.Contains(word, "\x00") {
			return plan{}, fmt.Errorf("%s takes this text as an argument, and there is a NUL byte in it", e.Name)
		}
	}
	return p, nil
}

// inherited are variables that tell a CLI it is run from within another.
var inherited = []string{"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"}

// environ is base without what the CLI should not see, and with what every
// child carries.
func (e Entry) environ(base []string) []string {
	drop := append([]string{"AMACS_INSIDE", "NO_COLOR", "TERM", "FORCE_COLOR"}, inherited...)
	if !e.Keyed() {
		drop = append(drop, e.Scrub...)
	}
	var out []string
	for _, v := range base {
		if name, _, _ := strings.Cut(v, "="); !slices.Contains(drop, name) {
			out = append(out, v)
		}
	}
	return append(out, "AMACS_INSIDE=1", "NO_COLOR=1", "TERM=dumb")
}

// takesSystem reports whether the entry has a place for the system text.
func (e Entry) takesSystem() bool {
	vars := slices.Collect(maps.Values(e.Env))
	return mentions(e.System, "system") || mentions(vars, "system")
}

// mentions reports whether {name} or {name-file} stands in any of texts.
func mentions(texts []string, name string) bool {
	return slices.ContainsFunc(texts, func(s string) bool {
		return strings.Contains(s, "{"+name+"}") || strings.Contains(s, "{"+name+"-file}")
	})
}

func merged(a, b map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, a)
	maps.Copy(out, b)
	return out
}

// check finds what can not work in an entry.
func (e Entry) check() error {
	var all []error
	wrong := func(format string, args ...any) { all = append(all, fmt.Errorf(format, args...)) }
	if e.Name == "" || strings.ContainsAny(e.Name, ": \t\n") {
		wrong("name: %q can not be a name; letters and digits, without colon and space", e.Name)
	}
	if len(e.Command) == 0 {
		wrong("command: it is missing")
	}
	lists := map[string][]string{"command": e.Command, "prompt": e.Prompt, "system": e.System, "model": e.Model, "budget": e.Budget,
		"schema": e.Schema, "continue": e.Continue, "forget": e.Forget, "no-tools": e.NoTools}
	for name, vars := range map[string]map[string]string{"env": e.Env, "no-tools-env": e.NoToolsEnv} {
		lists[name] = slices.Collect(maps.Values(vars))
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		for _, arg := range lists[name] {
			if err := e.checkPlaceholders(arg); err != nil {
				wrong("%s: %w", name, err)
			}
		}
	}
	if len(e.Continue) > 0 && !mentions(e.Continue, "session") {
		wrong("continue: {session} is missing: the newest session may be somebody else's")
	}
	if len(e.Budget) > 0 && !mentions(e.Budget, "usd") {
		wrong("budget: {usd} is missing")
	}
	for name := range e.Files {
		if name != filepath.Base(name) || name == "." || name == ".." || slices.Contains(known, name) {
			wrong("files: %q can not be the name of a file here", name)
		}
	}
	if e.Billing != "" && e.Billing != "login" && e.Billing != "key" {
		wrong("billing: %q is neither login nor key", e.Billing)
	}
	if e.MaxUSD < 0 || e.Timeout < 0 || e.Idle < 0 {
		wrong("max-usd, timeout and idle must not be negative")
	}
	if e.TTY && !mentions(e.Prompt, "prompt") {
		wrong("tty: the prompt can not go by stdin then; use {prompt} or {prompt-file}")
	}
	if !slices.Contains(outputFormats, e.Output.Format) {
		wrong("output: format: %q is not one of text, lines, json", e.Output.Format)
	}
	if _, err := e.Output.picks(); err != nil {
		all = append(all, err)
	}
	if f := e.Output.Format; (f == "lines" || f == "json") && e.Output.Text == "" && e.Output.Delta == "" {
		wrong("output: text: it is missing")
	}
	return errors.Join(all...)
}

func (e Entry) checkPlaceholders(arg string) error {
	for _, found := range placeholder.FindAllString(arg, -1) {
		name := found[1 : len(found)-1]
		if file, ok := strings.CutPrefix(name, "file:"); ok {
			if _, ok := e.Files[file]; !ok && !strings.Contains(file, "/") {
				return fmt.Errorf("%s: files has no %q", found, file)
			}
			continue
		}
		if !slices.Contains(known, strings.TrimSuffix(name, "-file")) {
			return fmt.Errorf("%s is not known; there are {%s}, and -file for each", found, strings.Join(known, "}, {"))
		}
	}
	return nil
}
