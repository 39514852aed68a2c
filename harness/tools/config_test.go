package tools

import (
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ yaml, says string }{
		"fine": {`
- name: files
  command: [npx, -y, "@modelcontextprotocol/server-filesystem@1.2.3", --key, $HOME, /srv/data]
  env: {API_KEY: $THEIR_KEY, TOKEN_LIMIT: "12345678", SSH_KEY: /home/me/.ssh/id_ed25519, DEBUG: "1", AUTH: none}
  dir: ~/work
  about: reads files
- name: tracker
  url: https://tracker.example/mcp?key=${TRACKER_KEY}&v=20250618
  headers: {Authorization: Bearer $TRACKER_TOKEN, X-Api-Key: "${OTHER}", Accept-Language: de}
  timeout: 20`, ""},
		"no name":        {`[{command: [x]}]`, `entry 1: the name "" should be`},
		"odd name":       {`[{name: a/b, command: [x]}]`, `the name "a/b" should be`},
		"twice":          {`[{name: a, command: [x]}, {name: A, command: [y]}]`, "A is there twice"},
		"neither":        {`[{name: a}]`, "a: it needs a command or a url"},
		"both":           {`[{name: a, command: [x], url: "http://h/"}]`, "both a command and a url"},
		"url":            {`[{name: a, url: "file:///etc"}]`, "the url should be http"},
		"user":           {`[{name: a, url: "https://me:hunter22@h/"}]`, "the url has a password"},
		"query":          {`[{name: a, url: "https://h/?api_key=hunter2222"}]`, "the url's api_key looks like a key"},
		"env":            {`[{name: a, command: [x], env: {GITHUB_TOKEN: hunter2222}}]`, "env: GITHUB_TOKEN looks like a key"},
		"env, by value":  {`[{name: a, command: [x], env: {STUFF: ghp_0123456789abcdefghij}}]`, "env: STUFF looks like a key"},
		"env name":       {`[{name: a, command: [x], env: {"A=B": x}}]`, `"A=B" is no name of a variable`},
		"header":         {`[{name: a, url: "https://h/", headers: {Authorization: Bearer hunter2222}}]`, "headers: Authorization looks like a key"},
		"header name":    {`[{name: a, url: "https://h/", headers: {"A B": x}}]`, `"A B" is no name of a header`},
		"header lines":   {`[{name: a, url: "https://h/", headers: {A: "x\r\nB: y"}}]`, "A has more than one line"},
		"argument":       {`[{name: a, command: [x, --api-key=hunter2222]}]`, "argument 1 looks like a key"},
		"next argument":  {`[{name: a, command: [x, --token, hunter2222]}]`, "argument 2 looks like a key"},
		"plain argument": {`[{name: a, command: [x, sk-0123456789abcdef0123]}]`, "argument 1 looks like a key"},
		"timeout":        {`[{name: a, command: [x], timeout: -1}]`, "timeout should be"},
		"lost env":       {`[{name: a, url: "https://h/", env: {A: b}}]`, "env and dir are for a command"},
		"lost header":    {`[{name: a, command: [x], headers: {A: b}}]`, "headers are for a url"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var servers []Server
			if err := yaml.Unmarshal([]byte(c.yaml), &servers); err != nil {
				t.Fatal(err)
			}
			err := Check(servers)
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			want(t, err, c.says)
			for _, key := range []string{"hunter2", "0123456789"} {
				if strings.Contains(err.Error(), key) {
					t.Errorf("it shows the key: %v", err)
				}
			}
		})
	}
}

func TestOneLine(t *testing.T) {
	t.Parallel()
	for in, out := range map[string]string{
		"":                             "",
		" a\n\tb ":                     "a b",
		"\x1b[31mred\x1b[0m\x1b]0;t\a": "red",
		"a\u202eb\x00c\xff":            "abc\uFFFD",
		"1234567890ab":                 "123456789…",
		"éééééééééé":                   "éééééééééé",
	} {
		if got := oneLine(in, 10); got != out {
			t.Errorf("%q: %q, not %q", in, got, out)
		}
	}
}
