package tools

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Server is an entry of mcp-servers in config.yaml: a program (Command) or an
// address (URL). $NAME and ${NAME} in Env, Headers and URL stand for variables
// of the environment, $$ for a dollar: keys are never written into the file.
type Server struct {
	Name    string            `yaml:"name"`    // letters, digits, - and _
	Command []string          `yaml:"command"` // a program and its arguments, no shell
	Env     map[string]string `yaml:"env"`     // beside PATH, HOME, LANG, LC_*, TERM, USER, SHELL and TMPDIR
	Dir     string            `yaml:"dir"`     // where the program runs
	URL     string            `yaml:"url"`     // streamable HTTP, or the HTTP with SSE of 2024-11-05
	Headers map[string]string `yaml:"headers"`
	Timeout int               `yaml:"timeout"` // seconds for a call; 0 = 60
	About   string            `yaml:"about"`   // one line for the agent
}

func (e Server) timeout() time.Duration {
	if e.Timeout == 0 {
		return callTime
	}
	return time.Duration(e.Timeout) * time.Second
}

var (
	serverName   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	headerName   = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$") // RFC 9110 §5.6.2
)

// Check reports what is wrong with the entries, all of it.
func Check(servers []Server) error {
	var errs []error
	seen := map[string]bool{}
	for i, e := range servers {
		name := e.Name
		if !serverName.MatchString(name) {
			errs = append(errs, fmt.Errorf("mcp-servers: entry %d: the name %q should be 1 to 64 letters, digits, - or _", i+1, name))
			continue
		}
		if folded := strings.ToLower(name); seen[folded] {
			errs = append(errs, fmt.Errorf("mcp-servers: %s is there twice", name))
		} else {
			seen[folded] = true
		}
		for _, problem := range e.problems() {
			errs = append(errs, fmt.Errorf("mcp-servers: %s: %s", name, problem))
		}
	}
	return errors.Join(errs...)
}

// problems lists what is wrong with an entry, and never shows a value.
func (e Server) problems() (out []string) {
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	switch {
	case len(e.Command) == 0 && e.URL == "":
		add("it needs a command or a url")
	case len(e.Command) > 0 && e.URL != "":
		add("it has both a command and a url; one is enough")
	case len(e.Command) > 0 && e.Command[0] == "":
		add("the command is empty")
	}
	if e.URL != "" {
		if u, err := url.Parse(e.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			add("the url should be http:// or https:// and a host")
		} else if u.User != nil {
			add("the url has a password; write a header with $NAME")
		} else {
			for name, values := range u.Query() {
				if slices.ContainsFunc(values, func(v string) bool { return keyLike(name, v) }) {
					add("the url's %s looks like a key; write $NAME and set the variable", name)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		switch {
		case !variableName.MatchString(name):
			add("env: %q is no name of a variable", name)
		case keyLike(name, e.Env[name]):
			add("env: %s looks like a key; write $NAME and set the variable", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		switch {
		case !headerName.MatchString(name):
			add("headers: %q is no name of a header", name)
		case strings.ContainsAny(e.Headers[name], "\r\n\x00"):
			add("headers: %s has more than one line", name)
		case keyLike(name, e.Headers[name]):
			add("headers: %s looks like a key; write $NAME and set the variable", name)
		}
	}
	for i, arg := range e.Command {
		name, value, ok := strings.Cut(arg, "=")
		if !ok && i > 0 && strings.HasPrefix(e.Command[i-1], "-") {
			name, value = e.Command[i-1], arg
		}
		if keyLike(name, value) || keyLike("", arg) {
			add("command: argument %d looks like a key; give it to the program by env", i)
		}
	}
	if e.Timeout < 0 || e.Timeout > 3600 {
		add("timeout should be 1 to 3600 seconds, or nothing for 60")
	}
	if (len(e.Env) > 0 || e.Dir != "") && e.URL != "" {
		add("env and dir are for a command, and it has a url")
	}
	if len(e.Headers) > 0 && len(e.Command) > 0 {
		add("headers are for a url, and it has a command")
	}
	return out
}

var (
	secretName = regexp.MustCompile(`(?i)(key|token|secret|passw(or)?d|auth(orization)?|credentials?|cookie)$`)
	secretText = regexp.MustCompile(`\b(sk-|sk_|rk_|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|AIza|ya29\.|eyJ[A-Za-z0-9_-]+\.|npm_|hf_|pypi-)[A-Za-z0-9_-]{12,}|(?i:^(bearer|basic|token)) +\S{8,}`)
	reference  = regexp.MustCompile(`\$(\$|[A-Za-z_][A-Za-z0-9_]*|\{[A-Za-z_][A-Za-z0-9_]*\})`)
)

// keyLike reports whether the value that has this name is a key in clear.
func keyLike(name, value string) bool {
	clear := reference.ReplaceAllString(value, "")
	if secretText.MatchString(clear) {
		return true
	}
	isPath := strings.HasPrefix(value, "/") || strings.HasPrefix(value, "~/") || strings.HasPrefix(value, "./")
	return secretName.MatchString(name) && len(clear) >= 8 && clear == value && !isPath
}

// environment is what programs get of the environment, and what stands for $NAME.
type environment map[string]string

func newEnvironment(environ []string) environment {
	env := environment{}
	for _, v := range environ {
		if name, value, ok := strings.Cut(v, "="); ok {
			env[name] = value
		}
	}
	return env
}

// expand puts in the variables of a text. used is called with each.
func (env environment) expand(text string, used func(name, value string)) (string, error) {
	var missing []string
	out := reference.ReplaceAllStringFunc(text, func(ref string) string {
		name := strings.Trim(ref[1:], "{}")
		if name == "$" {
			return "$"
		}
		value, ok := env[name]
		if !ok || value == "" {
			missing = append(missing, name)
		}
		used(name, value)
		return value
	})
	if missing != nil {
		return "", fmt.Errorf("its entry needs the variable %s, which is not set", strings.Join(missing, ", "))
	}
	return out, nil
}

// child is the environment of a server's program: nothing that holds a key,
// but what its entry gives it.
func (env environment) child(given map[string]string, secrets *secrets) ([]string, error) {
	all := environment{}
	for name, value := range env {
		switch name {
		case "PATH", "HOME", "LANG", "TERM", "USER", "SHELL", "TMPDIR":
			all[name] = value
		default:
			if strings.HasPrefix(name, "LC_") {
				all[name] = value
			}
		}
	}
	for key, text := range given {
		value, err := env.expand(text, func(name, value string) {
			if secretName.MatchString(name) || secretName.MatchString(key) {
				secrets.add(value)
			}
		})
		if err != nil {
			return nil, err
		}
		all[key] = value
	}
	out := make([]string, 0, len(all))
	for name, value := range all {
		out = append(out, name+"="+value)
	}
	slices.Sort(out)
	return out, nil
}
