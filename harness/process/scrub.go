package process

import (
	"net/url"
	"slices"
	"strings"
)

// Scrub takes out of an environment ("NAME=value" each) what holds keys, and the
// ways to agents that hold them: by the words in a name (STRIPE_API_KEY,
// PGPASSWORD), AWS_*, addresses with a password in them, sockets of ssh, gpg,
// D-Bus and Docker. The names in keep are left in. It adds what keeps programs
// from asking, paging and colouring, and AMACS_INSIDE=1.
func Scrub(env []string, keep ...string) []string {
	out := make([]string, 0, len(env)+len(quiet))
	for _, v := range env {
		name, value, _ := strings.Cut(v, "=")
		if _, ok := quiet[name]; ok || !slices.Contains(keep, name) && (holdsKey(name) || hasPassword(value)) {
			continue
		}
		out = append(out, v)
	}
	for name, value := range quiet {
		out = append(out, name+"="+value)
	}
	slices.Sort(out[len(out)-len(quiet):])
	return out
}

var quiet = map[string]string{
	"AMACS_INSIDE":        "1",
	"GIT_PAGER":           "cat",
	"GIT_TERMINAL_PROMPT": "0",
	"PAGER":               "cat",
	"TERM":                "dumb",
}

// holdsKey says whether a variable of this name is likely to hold a key or to
// lead to one.
func holdsKey(name string) bool {
	name = strings.ToUpper(name)
	switch name {
	case "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GPG_AGENT_INFO", "DBUS_SESSION_BUS_ADDRESS", "DOCKER_HOST", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT":
		return true
	case "PWD", "OLDPWD":
		return false
	}
	for _, start := range []string{"AWS_", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	for _, part := range []string{"SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "ASKPASS", "PRIVATE_KEY"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	if strings.HasSuffix(name, "TOKEN") {
		return true
	}
	words := strings.Split(name, "_")
	return slices.ContainsFunc(words, func(w string) bool {
		return slices.Contains([]string{"KEY", "TOKEN", "PASS", "PWD", "PAT", "CREDS", "AUTH"}, w)
	})
}

// hasPassword says whether a value is an address with a password:
// postgres://u:p@host/db.
func hasPassword(value string) bool {
	if !strings.Contains(value, "://") {
		return false
	}
	u, err := url.Parse(value)
	if err != nil { // a password with a raw % or #
		_, rest, _ := strings.Cut(value, "://")
		user, _, ok := strings.Cut(rest, "@")
		return ok && strings.Contains(user, ":")
	}
	password, _ := u.User.Password()
	return password != ""
}
