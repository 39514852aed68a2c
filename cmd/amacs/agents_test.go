package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"amacs/harness/provider/fake"
)

// stub makes a CLI of a script, and has it answer.
func (l *lair) stub(script string) {
	l.t.Helper()
	l.tool("mine", script)
	l.write("config.yaml", "provider: agent\nmodel: mine\nagents:\n  - {name: mine, command: [mine], billing: login}\n")
}

// tool puts a script on the PATH.
func (l *lair) tool(name, script string) {
	l.t.Helper()
	bin := filepath.Join(l.temp, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		l.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		l.t.Fatal(err)
	}
	l.env = append(l.env, "PATH="+bin+":"+os.Getenv("PATH"))
}

// children are the processes that pid has started and not taken leave of, those
// that have ended among them.
func children(t testing.TB, pid int) (out []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		b, _ := os.ReadFile(f) // one that has just ended has none
		_, rest, ok := strings.Cut(string(b), ") ")
		if fields := strings.Fields(rest); ok && len(fields) > 1 && fields[1] == fmt.Sprint(pid) {
			out = append(out, string(b))
		}
	}
	return out
}

// A hundred ticks of a CLI that leaves a process behind each time: none of them
// is there afterwards, no dead one either, and no folder.
func TestAgentManyTicks(t *testing.T) {
	t.Parallel()
	ticks := 100
	if testing.Short() {
		ticks = 10
	}
	l := newLair(t)
	l.stub("cat >/dev/null\nsleep 1000 &\necho '" + said("The kettle is on.") + "'")
	p := l.start(nil)
	for range ticks {
		p.say("is the kettle on?")
		if !p.until("The kettle is on.") {
			t.Fatal("no reply")
		}
	}
	pid := p.cmd.Process.Pid
	l.await("what was started to end", func() bool { return len(children(t, pid)) == 0 && len(l.left()) == 1 })
	if code := p.quit(); code != 0 {
		t.Errorf("exit %d", code)
	}
	l.clean(5 * time.Second)
	if n := len(l.entries("settle")); n != ticks {
		t.Errorf("%d calls are in the ledger", n)
	}
}

// kill -9 of amacs in mid-call: a CLI that heeds no signal and what it started are
// gone, and so is the folder of the run. The call stays counted.
func TestAgentKilled(t *testing.T) {
	t.Parallel()
	l := newLair(t)
	l.stub("trap '' TERM HUP\nsleep 1000 &\ncat >/dev/null\nsleep 1001")
	p := l.start(nil, "ask", "is the kettle on?")
	l.await("the CLI", func() bool { return strings.Contains(strings.Join(l.left(), "\n"), "sleep 1001") })
	p.kill()
	l.clean(5 * time.Second)
	if day := l.cost().Day; day.Unsettled != 1 || day.USD != 0.5 {
		t.Errorf("counted: %+v", day)
	}
	l.stub("cat >/dev/null\necho '" + said("It is on.") + "'")
	if r := l.must("", "ask", "still there?"); !strings.HasSuffix(r.out, "It is on.\n") {
		t.Errorf("%q", r.out)
	}
	l.once("is the kettle on?", "still there?")
}

// What amacs starts can tell that it is inside.
func TestAgentInside(t *testing.T) {
	t.Parallel()
	l := newLair(t)
	note := func(name string) string { return `echo "inside=$AMACS_INSIDE" >"` + filepath.Join(l.temp, name) + `"` }
	check := func(name string) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(l.temp, name))
		if err != nil || string(b) != "inside=1\n" {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	l.stub(note("cli") + "\ncat >/dev/null\necho '" + said("It is on.") + "'")
	l.must("", "ask", "is the kettle on?")
	check("cli")

	l.tool("edit", note("editor"))
	l.tool("page", note("pager")+"\ncat >/dev/null\necho PAGED")
	l.env = append(l.env, "EDITOR=edit", "PAGER=page")
	l.must("", "edit", "scratchpad.org")
	check("editor")
	s := l.terminal(t, []string{"TERM=xterm"})
	s.see(`lists the\scommands\s`)
	s.typed("/prompt\r")
	s.see(`PAGED\s`)
	check("pager")
	s.typed("\x04")
	s.ended()

	l.tool("key", note("key")+"\necho "+peerKey)
	l.write("config.yaml", "provider: anthropic\nmodel: claude-sonnet-5-5\napi-key-cmd: key\n")
	l.env = append(l.env, "ANTHROPIC_BASE_URL="+l.URL)
	l.Queue(fake.Answer{Text: said("Warm.")})
	l.must("", "ask", "is it warm?")
	check("key")
}
