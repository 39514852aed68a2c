package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"

	"amacs/harness/home"
)

// What the gate, undo, redaction and purge show, for the documents: sessions of
// the real program, with the names, times and numbers of one day.

const sampleToken = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"

// sampler plays commands and keeps them with what they print, a person's view.
type sampler struct {
	*world
	shop  string // a project
	shown strings.Builder
}

func newSampler(t *testing.T) *sampler {
	s := &sampler{world: newWorld(t)}
	dir := s.project(map[string]string{
		"price.go": "package shop\n\n// Gross adds a tax of rate percent.\nfunc Gross(net, rate int) int {\n\treturn net + net*rate\n}\n",
	})
	s.shop = filepath.Join(s.temp, "shop")
	if err := os.Rename(dir, s.shop); err != nil {
		t.Fatal(err)
	}
	s.cwd = s.shop
	for _, args := range [][]string{{"add", "."}, {"commit", "-qm", "Prices"}} {
		c := exec.Command("git", append([]string{"-C", s.shop}, args...)...)
		c.Env = s.env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	s.must("", "init")
	return s
}

// run runs a command, which is shown as a person would type it.
func (s *sampler) run(shown, in string, args ...string) {
	r := s.must(in, args...)
	s.shown.WriteString("$ " + shown + "\n" + r.errs + r.out)
}

// taken is what was shown since the last time, as a block of the documents.
func (s *sampler) taken(lang string) string {
	text := s.shown.String()
	s.shown.Reset()
	return s.fixed(lang, text)
}

// fixed is a text without what differs from run to run.
func (s *sampler) fixed(lang, text string) string {
	if real, err := filepath.EvalSymlinks(s.temp); err == nil {
		text = strings.ReplaceAll(text, real, "/home/you")
	}
	text = strings.NewReplacer(s.temp, "/home/you", sampleToken, "ghp_…").Replace(text)
	for _, f := range [][2]string{
		{`p-[0-9a-f]{4}`, "p-3f2a"},
		{`asked \d{4}-\d\d-\d\d \d\d:\d\d`, "asked 2026-11-21 15:30"},
		{`until \d{4}-\d\d-\d\d \d\d:\d\d`, "until 2026-11-28 15:30"},
		{`(?m)^:ASKED: .*$`, ":ASKED: [2026-11-21 Sat 15:30]"},
		{`(?m)^:EXPIRES: .*$`, ":EXPIRES: [2026-11-28 Sat 15:30]"},
		{`ticks in \d+s`, "ticks in 12s"},
		{`(?m)^(  confined +|- confined :: ).*$`, "${1}confined to writing in the agent's workspace, the project; without network"}, // not so on every machine
		{`from [0-9a-f]{7} on`, "from 1f436a2 on"},
		{`All \d+ git objects`, "All 60 git objects"},
	} {
		text = regexp.MustCompile(f[0]).ReplaceAllString(text, f[1])
	}
	return "```" + lang + "\n" + strings.TrimRight(text, "\n") + "\n```\n"
}

func handsSamples(t *testing.T) map[string]string {
	out := map[string]string{}
	s := newSampler(t)

	p := s.terminal(t, []string{"TERM=dumb"}, s.script(
		does(`(agent-read-file "price.go" :why "the sum is made there")`, "Reading price.go"),
		does(`(agent-edit-file "price.go" "net*rate" "net*rate/100" :why "rate is in percent")`, "Mending Gross"),
		does(`(agent-run "git status --short")`, "Looking at what changed"),
		said("Mended: Gross took a percentage for a fraction."))...)
	if err := pty.Setsize(p.tty, &pty.Winsize{Rows: 24, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	p.says(`amacs>$`)
	p.typed("100 with 19% tax is 2000, please mend that\r")
	p.says(`\(y/n/always/never\)$`)
	p.typed("y\r")
	p.says(`4 ticks in.*amacs>$`)
	_, session, _ := strings.Cut(p.text(), "/help lists the commands\n")
	out["sample question"] = s.fixed("", strings.TrimSuffix(strings.TrimRight(session, " \n"), "amacs>"))
	p.typed("\x04")
	p.ended()

	s.run("amacs ask commit that", "", append(s.script(does(`(agent-run "git commit -qam 'Rate is in percent'" :why "you asked for it")`, "Committing"),
		said("I asked to commit it.")), "ask", "commit that")...)
	s.run("amacs review", "", "review")
	asked, err := os.ReadFile(s.path(home.Permissions))
	if err != nil {
		t.Fatal(err)
	}
	_, last, _ := strings.Cut(string(asked), "* ASK ")
	head, _, _ := strings.Cut(string(asked), "\n* ")
	out["sample "+home.Permissions] = s.fixed("org", head+"\n* ASK "+last)
	id := s.requests()[1].ID
	s.run("amacs review 3f2a", "", "review", id)
	s.run(`amacs approve 3f2a -m "but do not push"`, "", "approve", id, "-m", "but do not push")
	s.run("amacs ask go on", "", append(s.script(`{"expect":"but do not push","reply":`+said("It is committed, and not pushed.")+`}`), "ask", "go on")...)
	out["sample review"] = s.taken("")

	s.run("amacs undo 6", "", "undo", "6")
	s.run("amacs revert 2", "", "revert", "2")
	out["sample undo"] = s.taken("")

	s.run("amacs ask deploy with ghp_…", "", append(s.script(`{"expect":"deploy with [redacted:github-token]","reply":`+said("With which token?")+`}`), "ask", "deploy with "+sampleToken)...)
	out["sample secret"] = s.taken("")

	s = newSampler(t)
	s.must("", "ask", "note: the key is under the flowerpot")
	s.must("", "ask", "note: buy milk")
	s.run("printf 'under the flowerpot' | amacs purge --yes --text -", "under the flowerpot", "purge", "--yes", "--text", "-")
	s.run("amacs purge --confirm", "", "purge", "--confirm")
	out["sample purge"] = s.taken("")
	return out
}
