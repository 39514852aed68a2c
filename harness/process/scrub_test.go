package process

import (
	"slices"
	"testing"
)

func TestScrub(t *testing.T) {
	t.Parallel()
	added := []string{"AMACS_INSIDE=1", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0", "PAGER=cat", "TERM=dumb"}
	kept := []string{
		"PATH=/bin", "HOME=/home/u", "PWD=/x", "OLDPWD=/y", "LANG=C.UTF-8", "CI=true", "GOFLAGS=-mod=vendor", "EMPTY=",
		"HTTP_PROXY=http://proxy:3128", "https_proxy=http://user@proxy:3128", "NO_PROXY=localhost",
		"TOKENIZERS_PARALLELISM=false", "MAX_TOKENS=100", "KEYBOARD=us", "MONKEY=1", "AUTHOR=me", "COMPASS=n", "PASSENGERS=3",
		"DATABASE_URL=postgres://localhost/db", "DISPLAY=:0", "XAUTHORITY=/home/u/.Xauthority", "SSH_CONNECTION=1.2.3.4 22",
		"GIT_AUTHOR_NAME=me", "ODD", "NOTE=a: b@c, not an address", "LEFT_TOKEN=1",
	}
	gone := []string{
		"ANTHROPIC_API_KEY=x", "OPENAI_API_KEY=x", "STRIPE_KEY_LIVE=x", "KEY=x", "GITHUB_TOKEN=x", "GH_TOKEN=x", "NPM_AUTHTOKEN=x", "github_token=x",
		"AWS_ACCESS_KEY_ID=x", "AWS_PROFILE=x", "CLIENT_SECRET=x", "SECRETS=x", "PGPASSWORD=x", "MYSQL_PWD=x", "DB_PASS=x", "DB_PASSWD=x",
		"GOOGLE_APPLICATION_CREDENTIALS=/x.json", "GPG_PASSPHRASE=x", "GITLAB_PAT=x", "NPM_CONFIG__AUTH=x", "TF_VAR_CREDS=x",
		"SSH_AUTH_SOCK=/x", "SSH_AGENT_PID=1", "SSH_ASKPASS=/x", "GIT_ASKPASS=/x", "GPG_AGENT_INFO=/x", "DBUS_SESSION_BUS_ADDRESS=unix:path=/x", "DOCKER_HOST=unix:///x",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraheader", "GIT_CONFIG_VALUE_0=x", "GIT_CONFIG_PARAMETERS='x'",
		"DATABASE_URL=postgres://u:p@localhost/db", "HTTPS_PROXY=http://u:p@proxy:3128", "REDIS=redis://:p@localhost", "DSN=mysql://u:p%%#@host/db",
		"PAGER=less", "TERM=xterm", "GIT_TERMINAL_PROMPT=1", "AMACS_INSIDE=0",
	}
	var env []string
	for i := range max(len(kept), len(gone)) {
		if i < len(kept) {
			env = append(env, kept[i])
		}
		if i < len(gone) {
			env = append(env, gone[i])
		}
	}
	got := Scrub(env, "LEFT_TOKEN")
	want := append(slices.Clone(kept), added...)
	for _, v := range got {
		if !slices.Contains(want, v) {
			t.Errorf("%s was left in", v)
		}
	}
	for _, v := range want {
		if !slices.Contains(got, v) {
			t.Errorf("%s was taken out", v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d, not %d: %q", len(got), len(want), got)
	}
}
