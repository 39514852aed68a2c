package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"amacs/harness/home"
)

const (
	letters   = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	base62    = letters + "0123456789"
	hexDigits = "0123456789abcdef"
)

// secretForms are kinds of secrets: what stands before one, its alphabet and
// length, and the text that carries it, where its shape alone does not tell.
var secretForms = []struct {
	before, alphabet string
	length           int
	text             string
}{
	{"ghp_", base62, 36, ""}, {"gho_", base62, 36, ""}, {"github_pat_", base62, 60, ""}, {"glpat-", base62, 20, ""}, {"sk-ant-api03-", base62, 80, ""},
	{"sk-proj-", base62, 48, ""}, {"sk-or-v1-", hexDigits, 64, ""}, {"AIza", base62, 35, ""}, {"ya29.", base62, 60, ""}, {"GOCSPX-", base62, 28, ""},
	{"gsk_", base62, 52, ""}, {"xai-", base62, 60, ""}, {"hf_", letters, 34, ""}, {"r8_", base62, 37, ""}, {"pplx-", base62, 48, ""},
	{"npm_", base62, 36, ""}, {"dckr_pat_", base62, 27, ""}, {"pypi-Ag", base62, 90, ""}, {"AKIA", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16, ""},
	{"dop_v1_", hexDigits, 64, ""}, {"hvs.", base62, 30, ""}, {"nfp_", base62, 40, ""}, {"sbp_", hexDigits, 40, ""}, {"tvly-", base62, 32, ""},
	{"", base62, 12, "DB_PASSWORD=SECRET"}, {"", base62, 14, "password: \"SECRET\""}, {"", base62, 12, "postgres://app:SECRET@db.internal:5432/main"},
	{"", hexDigits, 40, "Authorization: Bearer SECRET"}, {"", base62, 32, "curl -H 'x-api-key: SECRET' https://api.example.com"},
	{"", base62, 40, "aws_secret_access_key = SECRET"}, {"", base62, 24, "export API_TOKEN=SECRET"}, {"", base62, 12, "machine api.example.com login me password SECRET"},
	{"", base62, 12, "sshpass -p SECRET ssh me@host"}, {"", base62, 24, "(setq my-api-token \"SECRET\")"}, {"", base62, 12, "mysql -u root -pSECRET app"},
	{"", base62, 30, "https://api.example.com/x?access_token=SECRET&n=1"}, {"", base62, 32, "{\"client_secret\": \"SECRET\"}"}, {"", hexDigits, 32, "DD_API_KEY=SECRET"},
	{"", base62, 12, "redis://:SECRET@cache:6379/0"}, {"", base62, 12, "my password is SECRET, do not tell"},
}

// drawn is the n-th secret of a test, and a line that carries it.
func drawn(n int) (secret, line string) {
	r := rand.New(rand.NewPCG(uint64(n), 11))
	f := secretForms[n%len(secretForms)]
	for {
		b := []byte(f.before)
		for range f.length {
			b = append(b, f.alphabet[r.IntN(len(f.alphabet))])
		}
		secret = string(b)
		if f.before != "" || strings.ContainsAny(secret[:8], "0123456789") && strings.ContainsAny(secret, letters) {
			break
		}
	}
	if f.text == "" {
		return secret, "the key " + secret + " it is"
	}
	return secret, strings.ReplaceAll(f.text, "SECRET", secret)
}

// planter hands out lines with secrets, and remembers them.
type planter struct {
	next    int
	secrets []string
}

func (p *planter) line() string {
	secret, line := drawn(p.next)
	p.next++
	p.secrets = append(p.secrets, secret)
	return line
}

// absent looks for every secret in all objects of git and every byte of the home,
// as it is and as base64, but for the files that a hand holds.
func (w *world) absent(p *planter, but ...string) {
	w.t.Helper()
	look := func(where string, b []byte) {
		for i, s := range p.secrets {
			for _, trace := range []string{s, base64.StdEncoding.EncodeToString([]byte(s))[:12]} {
				if at := bytes.Index(b, []byte(trace)); at >= 0 {
					w.t.Errorf("secret %d (%s…) stands in %s: …%q…", i, s[:4], where, b[max(0, at-60):min(len(b), at+20)])
				}
			}
		}
	}
	look("git's objects", []byte(w.git("cat-file", "--batch-all-objects", "--batch")))
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.dir, path)
		if err != nil || !d.Type().IsRegular() || slices.Contains(but, rel) {
			return err
		}
		b, err := os.ReadFile(path)
		look(rel, append([]byte(rel+"\n"), b...))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// TestNoSecretEnters says, answers, notes, evaluates and edits secrets of forty
// kinds in every way there is.
func TestNoSecretEnters(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t), &planter{}
	w.must("", "init")
	offline := []string{"--provider", "offline"}

	// Typed as an argument, read whole, and line by line.
	w.must("", append(offline, "ask", p.line())...)
	for range 3 {
		lines := ""
		for range len(secretForms) {
			lines += p.line() + "\nand a line\n"
		}
		w.must(lines, append(offline, "ask", "-")...)
	}
	lines := ""
	for range len(secretForms) {
		lines += p.line() + "\n"
	}
	w.must(lines, append(offline, "--lines")...)

	// The model's words, in each field of its reply, and what it evaluates.
	var replies []string
	add := func(fields map[string]any) { replies = append(replies, object(fields)) }
	for range 12 {
		add(map[string]any{"reply": p.line()})
		add(map[string]any{"mood": p.line(), "monologue": p.line()})
		add(map[string]any{"scratchpad": map[string]any{"heading": p.line(), "thread": nil, "content": p.line()}})
		add(map[string]any{"eval": fmt.Sprintf("(agent-add-note %q %q)", p.line(), p.line()), "reply": "noted"})
		add(map[string]any{"eval": fmt.Sprintf("(progn (agent-create-thread \"t\" :concern %q :goal %q) (agent-complete-thread \"t\" :evidence %q :learned %q))",
			p.line(), p.line(), p.line(), p.line())})
		add(map[string]any{"eval": fmt.Sprintf("(error %q)", p.line())})
		add(map[string]any{"eval": fmt.Sprintf("(concat %q \"x\")", p.line()+"\x1b[31m "), "monologue": p.line()})
	}
	secret, _ := drawn(5)
	p.secrets = append(p.secrets, secret, strings.ToLower(secret))
	add(map[string]any{"eval": fmt.Sprintf("(agent-create-thread %q :concern \"x\")", strings.ToLower(secret)[:40])})
	add(map[string]any{"eval": fmt.Sprintf("(agent-create-skill \"deploy\" :description %q :body %q)", p.line(), p.line())})
	w.must(strings.Repeat("go on\n", len(replies)), append(w.script(replies...), "--lines")...)
	unparsed := "no JSON, but " + p.line()
	w.amacs("", append(w.script(unparsed, unparsed, unparsed), "ask", "go on")...)
	w.must("", "skills", "deploy")

	// What a human sets by a command.
	w.must("", "thread", "new", "shell", p.line())
	if r := w.amacs("", "config", "base-url", p.line()); r.code == 0 {
		t.Errorf("a setting with a secret: %s", r.out)
	}

	w.settled(0)
	w.absent(p)
	if p.next < 300 {
		t.Errorf("%d secrets are few", p.next)
	}
}

// TestKeepAtThePrompt types and pastes secrets at a terminal, which keeps a
// history of its own, also while a tick runs.
func TestKeepAtThePrompt(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t), &planter{next: 2000}
	w.must("", "init")
	script := w.script(said("to one"), said("to two"), slow(2000, begun+"to ", "three\"}"), said("to four"), said("to five"), said("to six"))
	s := w.terminal(t, []string{"TERM=xterm"}, script...)
	s.see(`amacs> `)
	s.typed(p.line() + "\r")
	s.see(`\(an? [a-z-]+ was taken out of your line before it was stored; /keep says it\s+as it was\)(.|\n)*to one`)
	s.says(`to one.*amacs>$`) // the tick has ended: what comes now begins another
	s.typed("\x1b[200~first\n" + p.line() + "\n" + p.line() + "\x1b[201~\r")
	s.see(`\(an? [a-z-]+ and an?\s[a-z-]+\swere\staken\sout(.|\n)*to two`)
	s.says(`to two.*amacs>$`)
	s.typed("wait\r")
	s.see(`to $|to three`)
	s.typed(p.line() + "\r")
	s.see(`taken out(.|\n)*taken out(.|\n)*taken out(.|\n)*to three(.|\n)*to four`)
	s.says(`to four.*amacs>$`)
	s.typed("/thread new a " + p.line() + "\r")
	s.see(`\* a  (.|\n)*\[redacted:`)
	w.absent(p)

	// It stays out until the human says so; then it is said again as it was.
	secret, line := drawn(2040)
	for n, way := range []string{line, "/keep"} {
		s.typed(way + "\r")
		s.says([]string{`to five`, `to six`}[n] + `.*amacs>$`)
	}
	s.typed("/keep\r")
	s.see(`github-token +#[0-9a-f]{12}  since`)
	s.typed("/quit\r")
	if code := s.ended(); code != 0 {
		t.Errorf("exit %d", code)
	}
	w.settled(0)
	w.absent(p)
	n := w.heard()
	if n[line] != 1 || n[strings.ReplaceAll(line, secret, "[redacted:github-token]")] != 2 { // this one, and the first
		t.Errorf("heard: %v", n)
	}
	if h := w.read(".amacs/state/history"); strings.Count(h, "[redacted:") < 5 || strings.Contains(h, "\nfirst\n") {
		t.Errorf("the history of the prompt:\n%s", h)
	}
}

// A hand writes a secret into each file of the home.
func TestSecretByHand(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t), &planter{next: 1000}
	w.must("", "init")
	w.must("", append(w.script(said("welcome")), "ask", "hello")...)
	files := []string{"agent-chat.org", "scratchpad.org", "monologue.org", "skills/core/SKILL.md", ".gitignore", "mine.txt"}
	for _, f := range files {
		b, _ := os.ReadFile(w.path(f)) // some are new
		w.write(f, string(b)+"\n# "+p.line()+"\n")
	}
	state := w.read(home.Consciousness)
	w.write(home.Consciousness, "; "+p.line()+"\n"+strings.Replace(state, `(mood . "`, `(mood . "`+strings.ReplaceAll(p.line(), `"`, ``)+` `, 1))
	files = append(files, home.Consciousness)
	for i := range 3 {
		r := w.must("", append(w.script(object(map[string]any{"reply": "yes", "mood": "calm", "eval": `(agent-add-note "a" "b")`})), "ask", "and now")...)
		for _, f := range files {
			if told := strings.Count(r.errs, f+" line "); (i == 0) != (told == 1) {
				t.Errorf("run %d: %s was named %d times:\n%s", i, f, told, r.errs)
			}
		}
	}
	if out := w.git("fsck", "--full", "--strict", "--no-dangling", "--no-progress"); strings.TrimSpace(out) != "" {
		t.Errorf("git fsck: %s", out)
	}
	w.absent(p, files...)
	for _, f := range files {
		if b := w.read(f); !slices.ContainsFunc(p.secrets, func(s string) bool { return strings.Contains(b, s) }) {
			t.Errorf("%s has lost what the hand wrote", f)
		}
		if !strings.Contains(w.git("status", "--porcelain"), f) {
			t.Errorf("%s was committed", f)
		}
	}
	if out := w.git("show", "HEAD:agent-chat.org"); strings.Count(out, "and now") != 3 || !strings.Contains(out, "[redacted:") {
		t.Errorf("the chat as it is committed:\n%s", out)
	}
}

// Five thousand lines of programs and prose go in and come out as they are.
func TestOrdinaryTextEnters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must("", "init")
	files, err := filepath.Glob("../../*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("../../*/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for _, f := range append([]string{"../../harness/redact/testdata/ordinary.txt"}, append(files, more...)...) {
		if strings.HasSuffix(f, "_test.go") || lines > 5000 {
			continue
		}
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines += bytes.Count(b, []byte("\n"))
		r := w.must(string(b), "--provider", "offline", "ask", "-")
		if strings.Contains(r.errs, "taken out") {
			t.Errorf("%s: %s", f, r.errs)
		}
		all := w.chat()
		if got := all[len(all)-1].Human; got != strings.TrimRight(string(b), "\n") && got != string(b) {
			t.Errorf("%s is not stored as it is", f)
		}
	}
	if lines < 5000 {
		t.Errorf("%d lines are few", lines)
	}
}

// TestNoSecretIsRead reads secrets of forty kinds from a file, and has commands and
// tools print them: the agent sees them taken out, and git has none. The whole output
// of a command, what an edit replaced and the workspace are kept as they are, outside
// of git.
func TestNoSecretIsRead(t *testing.T) {
	t.Parallel()
	w, p := newWorld(t), &planter{next: 3000}
	text := "the first line\n"
	for range len(secretForms) {
		text += p.line() + "\nand a line\n"
	}
	dir := w.project(map[string]string{"notes.txt": text})
	w.must("", "init")
	w.write("config.yaml", w.read("config.yaml")+"mcp-servers: [{name: sample, command: [sample-mcp]}]\nrules: {allow: [{tool: sample}, {folder: "+dir+"}]}\n")
	clean := func(form string, holds ...string) string {
		expect := "and a line"
		if len(holds) > 0 {
			expect = holds[0]
		}
		return fmt.Sprintf(`{"expect":%q,"reply":%s}`, expect, object(map[string]any{"reply": "ok", "eval": form}))
	}
	out := w.must(strings.Repeat("go on\n", 9), w.script(
		object(map[string]any{"reply": "ok", "eval": `(agent-read-file "notes.txt")`}),
		clean(`(agent-search-files "it is|and")`, "[redacted:"),
		clean(`(agent-run "cat notes.txt")`, "[redacted:"),
		clean(`(agent-run "cat notes.txt | tail -40; false" :shell t)`, "[redacted:"),
		clean(fmt.Sprintf(`(agent-call-tool "sample" "shout" '((text . %q)))`, p.line()), "exit 1"),
		clean(fmt.Sprintf(`(agent-write-file "workspace/x.txt" %q)`, p.line()), `untrusted="tool sample/shout"`),
		clean(`(agent-edit-file "notes.txt" "the first line" "a first line")`, "written: "),
		clean(fmt.Sprintf(`(progn (agent-create-thread "t" :concern "c" :buffers '("notes.txt")) (agent-switch-thread "t") (agent-request-permission "May I?" :why %q))`, p.line()), "changed: "),
		clean(`nil`, "=== "+dir+"/notes.txt"),
	)...)
	if n := strings.Count("\n"+out.out, "\nok\n"); n != 9 {
		t.Fatalf("%d replies:\n%s%s", n, out.out, out.errs)
	}
	kept := []string{}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(w.dir, path)
		for _, place := range []string{".amacs/cache/run/", ".amacs/state/before/", "workspace/"} {
			if strings.HasPrefix(rel, place) {
				kept = append(kept, rel)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.absent(p, kept...)
	w.git("fsck", "--strict")
}
