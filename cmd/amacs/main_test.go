package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary is the program: scripts and tests run it as `amacs`. With
// AMACS_TEST_KILL=STEP[:N] it kills itself, as kill -9 would, at the N-th time
// that a tick comes to STEP.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"amacs": func() {
			os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, killer(os.Getenv("AMACS_TEST_KILL"))))
		},
	})
}

func killer(at string) func(string) {
	if at == "" {
		return nil
	}
	name, count, _ := strings.Cut(at, ":")
	n, err := strconv.Atoi(count)
	if err != nil {
		n = 1
	}
	return func(step string) {
		if step != name {
			return
		}
		if n--; n == 0 {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
}

const gitconfig = "[user]\n\tname = The Human\n\temail = human@example.org\n[init]\n\tdefaultBranch = main\n"

// newHome is what every script starts from: a folder of its own, a git identity,
// no terminal, no keys.
func newHome(env *testscript.Env) error {
	dir := filepath.Join(env.WorkDir, "home")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, ".gitconfig"), []byte(gitconfig), 0o600); err != nil {
		return err
	}
	env.Setenv("HOME", dir)
	env.Setenv("AMACS_HOME", filepath.Join(env.WorkDir, "agent"))
	env.Setenv("TERM", "dumb")
	env.Setenv("TZ", "UTC")
	return nil
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		Setup:         newHome,
		Condition:     condition,
		UpdateScripts: os.Getenv("UPDATE") != "",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"lines": lines,
			"exits": exits,
		},
	})
}

// condition knows [emacs], [zsh]…: whether that program is here. In CI all are.
func condition(cond string) (bool, error) {
	_, err := exec.LookPath(cond)
	return err == nil || os.Getenv("CI") == "true", nil
}

// exits CODE PROGRAM ARGS... runs a program that must end with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit %d, want %s", code, args[0])
	}
}

// lines N FILE checks how many lines a file, or stdout, has.
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: lines N FILE")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := strings.Count(ts.ReadFile(args[1]), "\n")
	if (got == want) == neg {
		ts.Fatalf("%s has %d lines, want %s", args[1], got, args[0])
	}
}
