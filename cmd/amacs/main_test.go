package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"

	"amacs/harness/process"
	"amacs/harness/provider/fake"
)

// The test binary is the program: scripts and tests run it as `amacs`. With
// AMACS_TEST_KILL=STEP[:N] it kills itself, as kill -9 would, at the N-th time
// that a tick comes to STEP.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"amacs": func() {
			os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, killer(os.Getenv("AMACS_TEST_KILL"))))
		},
		"sample-mcp": sampleServer,
	})
}

// sampleServer is an MCP server on standard input and output with two tools.
func sampleServer() {
	type sum struct {
		A int `json:"a"`
		B int `json:"b"`
	}
	type text struct {
		Text string `json:"text"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "sample", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "add", Description: "Adds two numbers"},
		func(_ context.Context, _ *mcp.CallToolRequest, in sum) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strconv.Itoa(in.A + in.B)}}}, nil, nil
		})
	mcp.AddTool(s, &mcp.Tool{Name: "shout", Description: "Gives a text back in capitals"},
		func(_ context.Context, _ *mcp.CallToolRequest, in text) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: strings.ToUpper(in.Text)}}}, nil, nil
		})
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
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
	env.Values[service{}] = new(service)
	return nil
}

// service is the model service of a script, once it has started one.
type service struct{ *fake.Server }

// serve [FILE] starts a model service on loopback, whose address is $URL, with
// the answers that the file holds, and again: puts those of another file behind.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(service{}).(*service)
	if s.Server == nil {
		server, stop, err := fake.Start()
		ts.Check(err)
		s.Server = server
		ts.Defer(stop)
		ts.Setenv("URL", server.URL)
	}
	for _, file := range args {
		ts.Check(s.LoadFile(ts.MkAbs(file)))
	}
}

// asked N says how many questions the model service was asked.
// Their headers and bodies are in the file asked.txt from then on.
func asked(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(service{}).(*service)
	if len(args) != 1 || s.Server == nil {
		ts.Fatalf("usage: serve [FILE], then: asked N")
	}
	var text strings.Builder
	n := 0
	for _, r := range s.Requests() {
		if r.Method != "POST" || r.URL.Path == "/api/show" {
			continue
		}
		n++
		fmt.Fprintf(&text, "%s %s\n", r.Method, r.URL)
		ts.Check(r.Header.Write(&text))
		fmt.Fprintf(&text, "%s\n\n", r.Body)
	}
	ts.Check(os.WriteFile(ts.MkAbs("asked.txt"), []byte(text.String()), 0o600))
	if (strconv.Itoa(n) == args[0]) == neg {
		ts.Fatalf("the service was asked %d times, want %s", n, args[0])
	}
}

// With -short the scripts of the settings are left out, one each and many.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		files = slices.DeleteFunc(files, func(f string) bool { return strings.HasPrefix(filepath.Base(f), "config_") })
	}
	testscript.Run(t, testscript.Params{
		Files:         files,
		Setup:         newHome,
		Condition:     condition,
		UpdateScripts: os.Getenv("UPDATE") != "",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"lines": lines,
			"exits": exits,
			"serve": serve,
			"asked": asked,
		},
	})
}

// condition knows [emacs], [zsh]…: whether that program is here. In CI all are.
// [confines]: whether commands can be confined on this system.
func condition(cond string) (bool, error) {
	if cond == "confines" {
		s := process.Supported()
		return s.Files && (s.Network || s.TCP), nil
	}
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
