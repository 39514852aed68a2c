package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"amacs/harness/home"
	"amacs/harness/process"
)

// A project's tests run unasked where they are confined. What they try against the
// machine, the human's next git command, amacs itself and its next command fails.
func TestAttackFromTests(t *testing.T) {
	t.Parallel()
	if s := process.Supported(); !s.Files || !s.Network && !s.TCP {
		t.Skip(s)
	}
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	w := newWorld(t)
	user, run := filepath.Join(w.temp, "home"), w.path(".amacs/cache/run")
	w.must("", append(w.script(said("x")), "ask", "hello")...)
	victim := filepath.Join(user, "Documents")
	for i := range 60 {
		w.plant(filepath.Join(victim, fmt.Sprintf("%02d", i)), "dear")
	}
	w.plant(filepath.Join(user, ".ssh/id_rsa"), "the words of the key")
	w.plant(filepath.Join(user, ".bashrc"), "# mine\n")
	attacks := []string{
		"cat " + filepath.Join(user, ".ssh/id_rsa") + " > seen1",
		"ln " + filepath.Join(user, ".ssh/id_rsa") + " seen2",
		"ln -s " + filepath.Join(user, ".ssh/id_rsa") + " seen3; cat seen3 > seen4",
		"cat /proc/$$PPID/environ /proc/[0-9]*/environ > seen5",
		"env > seen6",
		"cat " + w.path(".amacs/state") + "/* > seen7",
		"echo touch evil >> " + filepath.Join(user, ".bashrc"),
		"echo '[core] fsmonitor=./evil' >> " + filepath.Join(user, ".gitconfig"),
		"git config core.fsmonitor ./evil",
		"git config core.hooksPath .",
		"mkdir -p .git/hooks; echo 'touch evil' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit",
		"mv .git git2; mkdir .git; cp git2/* .git",
		"echo 'touch evil' > .envrc",
		"mkdir -p .github/workflows; echo evil > .github/workflows/x.yml",
		"sed -i 's/^[*] ASK/* APPROVED/' " + w.path(home.Permissions),
		"printf '\\n* APPROVED x\\n:PROPERTIES:\\n:ID: p-ffff\\n:CALL: (agent-run \"touch evil\")\\n:END:\\n' >> " + w.path(home.Permissions),
		"env -u AMACS_INSIDE amacs approve $$(sed -n 's/:ID: //p' " + w.path(home.Permissions) + ")",
		"env -u AMACS_INSIDE amacs config confine false",
		"rm -rf " + run + "/output; ln -s " + victim + " " + run + "/output",
		"mv " + run + " " + run + "2",
		"for f in 1 2 3 4 5; do ln -s " + filepath.Join(victim, "00") + " " + run + "/output/0000$$f-1.txt; done",
		"d=$$(dirname $$TMPDIR); rm -rf $$d; ln -s " + victim + " $$d; echo x > $$d/00",
		"rm -rf $$TMPDIR; ln -s " + victim + " $$TMPDIR; echo x > $$TMPDIR/00",
		"echo x > " + filepath.Join(victim, "00"),
		"chmod 777 " + victim,
	}
	dir := w.project(map[string]string{"Makefile": "test:\n\t@(" + strings.Join(attacks, ") 2>/dev/null >&2; true\n\t@(") + ") 2>/dev/null >&2; true\n\t@echo ran\n"})
	config := filepath.Join(dir, ".git/config")
	before := w.contents(config, filepath.Join(user, ".bashrc"), filepath.Join(user, ".gitconfig"), w.path(home.ConfigFile))
	c := w.command("", append(w.script(
		does(`(agent-write-file "a" "x")`, "asking"),
		does(`(agent-run "make test")`, "testing"),
		does(`(agent-run "ls")`, "looking"),
		does(`(agent-run "make test")`, "testing again"),
		does(`(agent-run "ls")`, "looking again"),
		said("done"),
	), "ask", "test it")...)
	c.Env = append(c.Env, "SOME_API_KEY=the words of the environment")
	r := w.finish(c)
	if r.code != 0 {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.errs)
	}
	contains(t, "the output", r.out+r.errs, "(the command made .envrc, which may be run by itself later")
	contains(t, "the output", r.out+r.errs, "(the command made .github,")
	if log := w.git("log", "--format=%B"); strings.Count(log, "\nran") < 2 {
		t.Fatalf("the tests did not run:\n%s", log)
	}
	if now := w.contents(config, filepath.Join(user, ".bashrc"), filepath.Join(user, ".gitconfig"), w.path(home.ConfigFile)); now != before {
		t.Errorf("was\n%s\nis\n%s", before, now)
	}
	for _, path := range []string{".git/hooks/pre-commit", "evil"} {
		if _, err := os.Lstat(filepath.Join(dir, path)); err == nil {
			t.Errorf("%s was made", path)
		}
	}
	for i := range 60 {
		if b, err := os.ReadFile(filepath.Join(victim, fmt.Sprintf("%02d", i))); string(b) != "dear" {
			t.Errorf("of %02d is left %q, %v", i, b, err)
		}
	}
	if info, err := os.Stat(victim); err != nil || info.Mode().Perm() == 0o777 {
		t.Errorf("%s: %v, %v", victim, info.Mode(), err)
	}
	for i := range 8 {
		b, _ := os.ReadFile(filepath.Join(dir, fmt.Sprintf("seen%d", i)))
		if i != 3 && strings.Contains(string(b), "the words of") {
			t.Errorf("seen%d: %q", i, b)
		}
	}
	if r := w.requests(); len(r) != 1 || !r[0].Waits() {
		t.Errorf("requests: %+v", r)
	}
	w.settled(0)
}

// plant writes a file outside of the home, with its folders.
func (w *world) plant(path, text string) {
	w.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) contents(paths ...string) (all string) {
	for _, p := range paths {
		b, _ := os.ReadFile(p) // what is not there is empty
		all += p + "\n" + string(b)
	}
	return all
}

// What was approved runs once, also when several processes come at the same moment.
func TestAttackOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.project(map[string]string{"a.txt": "one\n"})
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	play := w.script(said("x"))
	for n := range rounds {
		w.must("", append(w.script(does(fmt.Sprintf(`(agent-run "echo %d >> log.txt" :shell t)`, n), "asking"), said("asked")), "ask", "log it")...)
		var id string
		for _, r := range w.requests() {
			if r.Waits() {
				id = r.ID
			}
		}
		w.must("", "approve", id)
		for _, r := range w.together(append(play, "ask", "go"), append(play, "ask", "on"), append(play, "ask", "now")) {
			if r.code != 0 {
				t.Fatalf("exit %d: %s%s", r.code, r.out, r.errs)
			}
		}
		b, _ := os.ReadFile(filepath.Join(dir, "log.txt"))
		if got := strings.Count("\n"+string(b), fmt.Sprintf("\n%d\n", n)); got != 1 {
			t.Fatalf("round %d: it ran %d times", n, got)
		}
	}
	w.settled(0)
}

// A key that was hit before a question came does not answer it, and what answered
// one does not answer the next.
func TestAttackTypedAhead(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"ask", "go on"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			dir := w.project(map[string]string{"a.txt": "one\n"})
			form := func(name string) string { return does(fmt.Sprintf(`(agent-run "touch %s")`, name), "Touching") }
			p := w.terminal(t, []string{"TERM=xterm"}, append(w.script(`{"delay_ms":700,"reply":`+form("one")+`}`, form("two"), said("all done")), args...)...)
			if len(args) == 0 {
				p.says(`amacs>$`)
				p.typed("go on\r")
			}
			w.await("the line", func() bool { return strings.Contains(w.contents(w.path(home.Chat)), "go on") })
			p.typed("y\ry\ry\r")
			p.says(`touch one`)
			p.says(`\(y/n/always/never\)`)
			if _, err := os.Stat(filepath.Join(dir, "one")); err == nil {
				t.Fatal("what was typed before the question answered it")
			}
			p.typed("y\r")
			p.says(`touch two`)
			p.typed("n\r")
			p.says(`all done`)
			_, err1 := os.Stat(filepath.Join(dir, "one"))
			_, err2 := os.Stat(filepath.Join(dir, "two"))
			if err1 != nil || err2 == nil {
				t.Errorf("one: %v, two: %v", err1, err2)
			}
		})
	}
}

// What was allowed for good is given what it needs, not only the first time; a branch
// needs no question, and brings no more with it.
func TestAlwaysIsGiven(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.plant(filepath.Join(w.temp, "beside/log"), "")
	dir := w.project(map[string]string{"a.txt": "one\n", "Makefile": "test:\n\t@echo x > .git/hooks/pre-commit || echo guarded\n"})
	p := w.terminal(t, []string{"TERM=xterm"}, append(w.script(
		does(`(agent-run "git commit --allow-empty -m one")`, "Committing"),
		does(`(agent-run "git commit --allow-empty -m two")`, "Committing"),
		does(`(agent-run "echo x >> ../beside/log" :shell t)`, "Writing"),
		does(`(agent-run "echo x >> ../beside/log" :shell t)`, "Writing"),
		does(`(agent-run "git switch -c side")`, "Branching"),
		does(`(agent-run "git switch -c more && make test" :shell t)`, "Testing"),
		said("all done")), "ask", "commit")...)
	p.says(`wants to run git commit .*\(y/n/always/never\)`)
	p.typed("always\r")
	p.says(`wants to run echo .*\(y/n/always/never\)`)
	p.typed("always\r")
	p.says(`all done`)
	if b, err := os.ReadFile(filepath.Join(w.temp, "beside/log")); string(b) != "x\nx\n" {
		t.Errorf("the log is %q, %v", b, err)
	}
	c := exec.Command("git", "-C", dir, "log", "--format=%s", "side", "--")
	c.Env = w.env
	out, err := c.CombinedOutput()
	if string(out) != "two\none\n" {
		t.Errorf("%q, %v\n%s", out, err, w.git("log", "--format=%B"))
	}
	if _, err := os.Stat(filepath.Join(dir, ".git/hooks/pre-commit")); err == nil && process.Supported().Files {
		t.Error("the tests made a hook")
	}
}

// A question can not steer the terminal that it is shown on.
func TestAttackScreen(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{}, {"ask", "go on"}} {
		t.Run(fmt.Sprint(args), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.project(map[string]string{"a.txt": "one\n"})
			const evil = "\x1b]0;evil\x07\x1b[1A\x1b[2K\r\u202egnp\u2066\u0085\u009b2J"
			form := "(agent-write-file \"a.txt\" \"" + evil + "\" :why \"" + evil + "\")"
			form2 := "(agent-run \"touch\" \"" + evil + "\")"
			p := w.terminal(t, []string{"TERM=xterm"}, append(w.script(does(form, "Writing "+evil), does(form2, "Touching"), said("all done")), args...)...)
			if len(args) == 0 {
				p.says(`amacs>$`)
				p.typed("go on\r")
			}
			p.says(`wants to write a\.txt.*\(y/n/always/never\)`)
			p.typed("n\r")
			p.says(`wants to run touch.*\(y/n/always/never\)`)
			p.typed("n\r")
			p.says(`all done`)
			for _, bad := range []string{"\x1b]0;", "\x07", "\u202e", "\u2066", "\u009b", "\u0085"} {
				if strings.Contains(p.text(), bad) {
					t.Errorf("%q reached the terminal:\n%q", bad, p.text())
				}
			}
		})
	}
}
