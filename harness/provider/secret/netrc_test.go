package secret

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var netrcFiles = []struct{ name, text string }{
	{"one line", "machine api.anthropic.com login apikey password sk-1\n"},
	{"no end of line", "machine api.anthropic.com password sk-1"},
	{"several lines", "machine api.anthropic.com\n\tlogin apikey\n\n  password\n  sk-1\nmachine b.test password two\n"},
	{"any order", "machine a.test password one login me port 8080\n"},
	{"other names", "host a.test user me protocol https secret one\nmachine b.test account you password two\n"},
	{"comments", "# machine a.test password commented\n  # machine a.test password indented\nmachine a.test # password here\n password one # password two\n"},
	{"hash in a word", "machine a.test login me#1 password one#2\n"},
	{"hash begins a word", "machine a.test password #one\nlogin me\n"},
	{"quotes", "machine a.test login \"my name\" password 'it \"is\" so'\nmachine 'b.test' password \"it's\"\n"},
	{"quotes over lines", "machine a.test password \"one\ntwo\" login me\nmachine b.test password x\n"},
	{"quotes without blanks", "machine a.test login \"me\"password'one'\n"},
	{"hash after quotes", "machine a.test login \"me\"#password two\npassword one\n"},
	{"empty quotes", "machine a.test login \"\" password one\n"},
	{"a quote alone", "machine a.test login \"me password o'ne\n"},
	{"no escapes", `machine a.test login "a\" password one` + "\n"},
	{"default", "default login anonymous password me@home\nmachine a.test password one\n"},
	{"default last", "machine a.test password one\ndefault\npassword all\n"},
	{"twice", "machine a.test login me login you password one password two\n"},
	{"same machine", "machine a.test login me password one\nmachine a.test login apikey password two\n"},
	{"other keys", "machine a.test force yes password one key file cert file\n"},
	{"no value", "machine a.test password one login"},
	{"no password", "machine a.test login me\nmachine b.test password two\n"},
	{"carriage returns", "machine a.test login me\r\npassword one\r\n# machine b.test password no\r\n"},
	{"byte order mark", "\ufeffmachine a.test password one\n"},
	{"letters", "machine a.test login ü password ключ\n"},
	{"empty", ""},
	{"blank", " \n\t\n"},
	{"a comment alone", "# machine a.test password one"},
}

var netrcHosts = []string{"api.anthropic.com", "a.test", "b.test"}

// Emacs finds in each file what parse finds, in the same order.
func TestParseAsEmacs(t *testing.T) {
	emacs, err := exec.LookPath("emacs")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs emacs: ", err)
		}
		t.Skip("no emacs")
	}
	dir := t.TempDir()
	args := []string{"-Q", "--batch", "-l", "testdata/authinfo.el", "-f", "amacs-authinfo", strings.Join(netrcHosts, ",")}
	for i, c := range netrcFiles {
		args = append(args, filepath.Join(dir, fmt.Sprint(i)))
		if err := os.WriteFile(args[len(args)-1], []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(emacs, args...)
	cmd.Env = append(cmd.Environ(), "LC_ALL=C.UTF-8")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want [][][]string
	if err := json.Unmarshal(out, &want); err != nil || len(want) != len(netrcFiles) {
		t.Fatalf("%v in %s", err, out)
	}
	for i, c := range netrcFiles {
		entries, err := parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		got := [][]string{}
		for _, host := range netrcHosts {
			for _, e := range entries {
				if e.any || e.machine == host {
					got = append(got, []string{host, e.port, e.login, e.password})
				}
			}
		}
		if !reflect.DeepEqual(got, want[i]) {
			t.Errorf("%s: parse found %q\nEmacs found %q", c.name, got, want[i])
		}
	}
}

func TestParse(t *testing.T) {
	entries, err := parse("\n# one\nmachine a.test\n  password one\nmacdef init\n\tquote machine a.test password two\n\ndefault password three\n")
	if err != nil {
		t.Fatal(err)
	}
	want := []entry{{line: 3, machine: "a.test", password: "one"}, {line: 8, any: true, password: "three"}}
	if !reflect.DeepEqual(entries, want) {
		t.Errorf("got %+v", entries)
	}
	if _, err := parse("machine a.test\nlogin\nmachine b.test\n"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("a login without value: %v", err)
	}
}

func TestChoose(t *testing.T) {
	for _, c := range []struct{ name, text, host, want string }{
		{"the first", "machine a.test login x password one machine a.test login y password two", "a.test", "one"},
		{"apikey before others", "machine a.test login x password one machine a.test login apikey password two", "a.test", "two"},
		{"one without a password is passed over", "machine a.test login apikey machine a.test password two", "a.test", "two"},
		{"letter case", "machine API.a.Test password one", "api.A.test", "one"},
		{"another host", "machine b.test password one", "a.test", ""},
		{"not a part of the name", "machine a.test password one", "x.a.test", ""},
		{"no machine", "login apikey password one", "a.test", ""},
		{"https", "machine a.test port https password one", "a.test", "one"},
		{"443", "machine a.test port 443 password one", "a.test", "one"},
		{"another service", "machine a.test port imap password one machine a.test password two", "a.test", "two"},
		{"a port", "machine a.test port 8080 password one", "a.test:8080", "one"},
		{"another port", "machine a.test port 8081 password one", "a.test:8080", ""},
		{"any port", "machine a.test password one", "a.test:8080", "one"},
		{"a port in the name", "machine a.test:8080 password one", "a.test:8080", "one"},
		{"IPv6", "machine ::1 port 8080 password one", "[::1]:8080", "one"},
		{"a default is mostly for FTP", "default login anonymous password me@home", "a.test", ""},
		{"a default for keys", "default login apikey password one", "a.test", "one"},
		{"a machine before the default", "default login apikey password one machine a.test password two", "a.test", "two"},
	} {
		entries, err := parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := choose(entries, c.host); e.password != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %q, want %q", c.name, e.password, c.want)
		}
	}
}

// FuzzParse: what stands in a comment is no key, and lines are counted right.
func FuzzParse(f *testing.F) {
	for _, c := range netrcFiles {
		f.Add(c.text, "")
		f.Add(c.text[:len(c.text)/2], c.text[len(c.text)/2:])
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		text := before + "\n# machine a.test login apikey password commented\n" + after
		entries, err := parse(text)
		if err != nil {
			return
		}
		lines := strings.Count(text, "\n") + 1
		last := 0
		for _, e := range entries {
			if strings.Contains(e.password, "commented") && wrong(e.password) == "" && !strings.Contains(before+after, "commented") {
				t.Errorf("a key from a comment: %q", e.password)
			}
			if e.line < max(last, 1) || e.line > lines {
				t.Errorf("line %d after %d of %d", e.line, last, lines)
			}
			last = e.line
		}
	})
}
