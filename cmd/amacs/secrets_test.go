package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"amacs/harness/provider/fake"
)

// planted is a key that looks otherwise in a URL, in JSON and in HTML.
const planted = `sk-or/pl+an=te%d&"5f83<c0a97`

// traces are what must be found nowhere: any twelve bytes of the key in a row,
// and the key as it is written in URLs, JSON and base64.
func traces(key string) (out []string) {
	for i := range len(key) - 11 {
		out = append(out, key[i:i+12])
	}
	quoted, _ := json.Marshal(key) // a string can not fail
	out = append(out, url.QueryEscape(key), url.PathEscape(key), strings.Trim(string(quoted), `"`))
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 { // of a longer text: without what the neighbours take part in
			text := e.EncodeToString([]byte(strings.Repeat("x", before) + key))
			out = append(out, text[4:len(text)-2])
		}
	}
	return out
}

func leak(text []byte, traces []string) string {
	for _, s := range traces {
		if i := bytes.Index(text, []byte(s)); i >= 0 {
			return fmt.Sprintf("%q in …%s…", s, text[max(0, i-100):min(len(text), i+100)])
		}
	}
	return ""
}

func TestTraces(t *testing.T) {
	for _, text := range []string{planted, "a" + planted, planted[4:20], url.QueryEscape(planted), "x " + url.PathEscape(planted),
		base64.StdEncoding.EncodeToString([]byte(planted)), base64.URLEncoding.EncodeToString([]byte("user:" + planted)),
		base64.StdEncoding.EncodeToString([]byte("u:" + planted + "\n"))} {
		if leak([]byte(text), traces(planted)) == "" {
			t.Errorf("%s is not found", text)
		}
	}
	if found := leak([]byte("a key such as sk-or/pl*******a97 is hidden"), traces(planted)); found != "" {
		t.Error(found)
	}
}

// spill is a run whose output is searched for the key.
func (w *world) spill(key []string, in string, args ...string) ended {
	w.t.Helper()
	r := w.amacs(in, args...)
	if found := leak([]byte(r.out+r.errs), key); found != "" {
		w.t.Errorf("%q prints the key: %s", args, found)
	}
	return r
}

// searched looks through every byte of the home: its files, git's own, and what
// is in git's objects.
func (w *world) searched(key []string) {
	w.t.Helper()
	files := 0
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if found := leak(append([]byte(path+"\n"), b...), key); found != "" {
			w.t.Errorf("%s holds the key: %s", path, found)
		}
		files++
		return err
	})
	if err != nil || files < 20 {
		w.t.Fatalf("%d files searched: %v", files, err)
	}
	objects := w.git("cat-file", "--batch-all-objects", "--batch")
	if !strings.Contains(objects, "[TICK 1]") {
		w.t.Error("git's objects were not searched")
	}
	if found := leak([]byte(objects), key); found != "" {
		w.t.Errorf("git holds the key: %s", found)
	}
}

// faultsOfAll are the faults that end by themselves and soon.
var faultsOfAll = []fake.Fault{"", "400", "401", "403", "404", "408", "413", "429", "500", "529", fake.RetryAfter, fake.TooLong, fake.NoSchema, fake.Quota,
	fake.Reset, fake.HalfJSON, fake.Empty, fake.HTML, fake.ContentType, fake.NoStop, fake.ErrorEvent, fake.Gzip, fake.Noise, fake.NoUsage}

// TestKeyIsNowhere: a server that repeats the key in its errors and headers, and
// fails in every way. Wherever the key came from, it is in no file of the home, no
// object of git, and nothing that is printed. What the model itself writes is not
// looked at here.
func TestKeyIsNowhere(t *testing.T) {
	t.Parallel()
	type place struct {
		provider string
		base     func(s *shop) string
		plant    func(s *shop)
	}
	vendor := func(s *shop) string { return s.URL }
	inFile := func(s *shop, name, text string) {
		path := filepath.Join(s.temp, "home", name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
	set := func(name string) func(*shop) {
		return func(s *shop) { s.env = append(s.env, name+"="+planted) }
	}
	for name, p := range map[string]place{
		"ANTHROPIC_API_KEY":    {"anthropic", vendor, set("ANTHROPIC_API_KEY")},
		"ANTHROPIC_AUTH_TOKEN": {"anthropic", vendor, set("ANTHROPIC_AUTH_TOKEN")},
		"OPENAI_API_KEY":       {"openai", vendor, set("OPENAI_API_KEY")},
		"OPENROUTER_API_KEY": {"openai", func(s *shop) string { return "http://openrouter.ai/api/v1" }, func(s *shop) {
			s.env = append(s.env, "HTTP_PROXY="+s.URL, "OPENROUTER_API_KEY="+planted)
		}},
		"authinfo": {"anthropic", vendor, func(s *shop) {
			u, _ := url.Parse(s.URL) // the server's own
			inFile(s, ".authinfo", fmt.Sprintf("machine 127.0.0.1 port %s login apikey password %s\n", u.Port(), planted))
		}},
		"api-key-cmd": {"openai", vendor, func(s *shop) {
			inFile(s, "key", planted+"\n")
			s.write("config.yaml", s.read("config.yaml")+"api-key-cmd: cat ~/key\n")
		}},
	} {
		if testing.Short() && name != "api-key-cmd" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, key := newShop(t), traces(planted)
			s.write("config.yaml", fmt.Sprintf("provider: %s\nmodel: priced\nbase-url: %s\nprices: {priced: {in: 1, out: 2}}\n", p.provider, p.base(s)))
			p.plant(s)
			echo := fmt.Sprintf("the key %s (%s, %s, %s) is not welcome", planted, url.QueryEscape(planted), url.PathEscape(planted),
				base64.StdEncoding.EncodeToString([]byte("user:"+planted)))
			header := map[string]string{"X-Echo": planted, "Www-Authenticate": "Bearer " + planted, "Set-Cookie": "k=" + planted,
				"X-Url": url.QueryEscape(planted), "X-Request-Id": "req-" + planted, "Anthropic-Ratelimit-Requests-Limit": planted,
				"Retry-After": planted, "Retry-After-Ms": "1", "Location": "http://127.0.0.1/" + planted}
			for _, fault := range faultsOfAll {
				s.Queue(fake.Answer{Fault: fault, Message: echo, Headers: header, Text: said("a word")})
				if r := s.spill(key, "", "--debug-http", "models", "check"); fault == "" && r.code != 0 {
					t.Fatalf("exit %d\n%s", r.code, r.errs)
				}
			}
			s.sent(planted)
			s.Queue(fake.Answer{Fault: "429", Times: 1, Message: echo, Headers: header}, fake.Answer{Fault: "401", Message: echo, Headers: header})
			r := s.spill(key, "", "--debug-http", "ask", "line one")
			contains(t, "the tick", r.errs, "is not welcome")
			s.Queue(fake.Answer{Fault: "403", Message: echo, Headers: header}, fake.Answer{Headers: header, Model: "model " + planted, Text: said("at last")})
			s.spill(key, "line two\n/models check\n/status\n/cost\n/context\n/doctor\nline three\n")
			s.crash(key)
			for _, args := range [][]string{{"ask", "--json", "line four"}, {"cost", "--json"}, {"status", "--json"}, {"doctor", "--json"}, {"models", "--json"},
				{"agents"}, {"config"}, {"log", "-p"}, {"prompt"}} {
				s.Queue(fake.Answer{Fault: "400", Message: echo, Headers: header})
				s.spill(key, "", args...)
			}
			log := s.read(".amacs/cache/http.log")
			contains(t, "http.log", log, "x-request-id: req-[key]", "is not welcome", "[key]")
			s.searched(key)
		})
	}
}

// sent checks that the key did go to the server.
func (s *shop) sent(key string) {
	s.t.Helper()
	for _, r := range s.Requests() {
		if r.Header.Get("X-Api-Key") == key || r.Header.Get("Authorization") == "Bearer "+key {
			return
		}
	}
	s.t.Fatal("the server was not shown the key")
}

// crash has the runtime print what every goroutine does while an answer stalls.
func (s *shop) crash(key []string) {
	s.t.Helper()
	s.Queue(fake.Answer{Fault: fake.Stall, When: "line last"})
	c := s.command("", "--debug-http", "ask", "line last")
	c.Env = append(c.Env, "GOTRACEBACK=all")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	before := s.Live()
	if !s.Await(20*time.Second, func() bool { return s.Live() > before }) {
		s.t.Error("the server was not asked")
	}
	_ = c.Process.Signal(syscall.SIGQUIT)
	_ = c.Wait() // it fails
	if !strings.Contains(out.String(), "goroutine ") {
		s.t.Errorf("no crash:\n%s", out.String())
	}
	if found := leak(out.Bytes(), key); found != "" {
		s.t.Errorf("a crash shows the key: %s", found)
	}
}

// TestKeyOnScreen: a key that was refused, on a terminal.
func TestKeyOnScreen(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 100, 40)
	server := fake.New(t)
	s.env = append(s.env, noKeys...)
	s.must("", "init")
	s.write("config.yaml", "provider: openai\nmodel: small\nbase-url: "+server.URL+"/v1\n")
	echo := "no key is " + planted + " or " + url.QueryEscape(planted)
	server.Queue(fake.Answer{Fault: "401", Message: echo}, fake.Answer{Fault: fake.ErrorEvent, Message: echo, Times: 1, Text: said("at last")})
	s.sh(`OPENAI_API_KEY="$1" amacs; echo "exit $?"; sleep 1000`, "sh", planted)
	s.see(`amacs> $`)
	s.enter("line one")
	s.see(`401(.*\n)*amacs> $`)
	s.enter("/doctor")
	s.see(`provider(.*\n)*amacs> $`)
	s.enter("/retry")
	s.see(`at last\n\namacs> $`)
	if found := leak([]byte(s.all()), traces(planted)); found != "" {
		t.Errorf("on the screen: %s", found)
	}
	s.searched(traces(planted))
}
