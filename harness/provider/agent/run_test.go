package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestMain: with AGENT_TEST_HANG set this binary is an amacs that waits for a CLI.
func TestMain(m *testing.M) {
	if os.Getenv("AGENT_TEST_HANG") != "" {
		_, err := Run(context.Background(), shell("sleep 61 & echo begun; sleep 60"), Job{Prompt: "hi"}, func(s string) { fmt.Print(s) })
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// shell is an entry that runs a script and takes what it prints as text.
func shell(script string) Entry {
	return Entry{Name: "stub", Command: []string{"sh", "-c", script}}
}

// played is a built-in entry whose program prints a file of testdata, then
// does the rest of a script.
func played(t *testing.T, name, file, then string) Entry {
	t.Helper()
	e := builtin(t, name)
	path, err := filepath.Abs(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	e.Command = []string{"sh", "-c", "cat '" + path + "'; " + then}
	return e
}

func builtin(t *testing.T, name string) Entry {
	t.Helper()
	all := Builtin()
	at := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
	if at < 0 {
		t.Fatalf("no entry %s", name)
	}
	return all[at]
}

// marked is an environment that processes of a test can be told by.
func marked() (env []string, mark string) {
	mark = "AGENT_TEST_MARK=" + rand.Text()
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=/nowhere", mark}, mark
}

// survivors are the processes that carry the mark, zombies apart.
func survivors(t *testing.T, mark string) (pids []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		// A process that has just ended has no environment to read.
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte(mark)) {
			pids = append(pids, f)
		}
	}
	return pids
}

// gone waits until no process carries the mark.
func gone(t *testing.T, mark string, within time.Duration) {
	t.Helper()
	for end := time.Now().Add(within); ; time.Sleep(20 * time.Millisecond) {
		left := survivors(t, mark)
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("still there after %v: %v", within, left)
		}
	}
}

func kind(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("not an *Error: %v", err)
	}
	return e
}

func TestShapes(t *testing.T) {
	const text = `{"reply":"Hällo."}`
	usd := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		name     string
		streamed string
		want     Result
	}{
		{"claude", text, Result{Session: "38ee9396-7479-42cd-853a-00d5bd889a0f", Model: "claude-opus-4-8", Stop: "end_turn", In: 18, Cached: 5, Written: 3, Out: 20, CostUSD: usd(0.00057125)}},
		{"codex", "", Result{Session: "01a1ffa2-4992-7863-aaf7-f41f00a6e47b", In: 18, Cached: 5, Written: 3, Out: 20}},
		{"gemini", text, Result{Session: "435181ab-2f0c-4aa8-91ff-a0fbc5c55076", Model: "gemini-2.5-flash", In: 18, Cached: 5, Out: 20}},
		{"opencode", text, Result{Session: "ses_e005cf0faffer70ZXzp82CKrJ7", Stop: "stop", In: 18, Cached: 5, Written: 3, Out: 20, CostUSD: usd(0.000053)}},
		{"qwen", text, Result{Session: "babb8f8e-8686-4604-8f91-dc75465f4a59", Model: "qwen3-coder", In: 18, Cached: 5, Out: 20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			env, _ := marked()
			streamed := ""
			r, err := Run(t.Context(), played(t, c.name, c.name+".jsonl", "echo warned >&2"), Job{Prompt: "say hello", Env: env},
				func(s string) { streamed += s })
			if err != nil {
				t.Fatal(err)
			}
			if r.Text != text || streamed != c.streamed {
				t.Errorf("text %q, streamed %q", r.Text, streamed)
			}
			if (r.CostUSD == nil) != (c.want.CostUSD == nil) || r.CostUSD != nil && *r.CostUSD != *c.want.CostUSD {
				t.Errorf("cost %v", r.CostUSD)
			}
			c.want.Text, c.want.Stderr, c.want.CostUSD = text, "warned\n", r.CostUSD
			if r != c.want {
				t.Errorf("got  %+v\nwant %+v", r, c.want)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	for name, c := range map[string]struct {
		entry Entry
		job   Job
		kind  Kind
		says  string // part of the error
	}{
		"claude not logged in": {played(t, "claude", "claude-login.jsonl", "exit 1"), Job{}, NotLoggedIn, "log in with /login"},
		"is_error with exit 0": {played(t, "claude", "claude-login.jsonl", ""), Job{}, NotLoggedIn, "Not logged in"},
		"claude limit":         {played(t, "claude", "claude-limit.jsonl", "exit 1"), Job{}, Limit, "resets at " + time.Unix(1795302000, 0).Format("2006-01-02")},
		"claude long prompt":   {played(t, "claude", "claude-long.jsonl", "exit 1"), Job{}, TooLong, "too long"},
		"claude budget":        {played(t, "claude", "claude-budget.jsonl", "exit 1"), Job{}, Limit, "maximum budget"},
		"codex failed":         {played(t, "codex", "codex-failed.jsonl", "exit 1"), Job{}, NotLoggedIn, "codex login"},
		"opencode failed":      {played(t, "opencode", "opencode-failed.jsonl", "exit 1"), Job{}, NotLoggedIn, "opencode auth login"},
		"gemini on stderr":     {played(t, "gemini", "gemini-login.json", "cat testdata/gemini-login.json >&2; exit 41"), Job{Dir: "."}, NotLoggedIn, "Auth method"},
		"claude half an event": {played(t, "claude", "claude.jsonl", "printf '{\"type\":\"result\",\"resu'; exit 0"), Job{}, -1, ""},
		"gemini cut off":       {played(t, "gemini", "gemini-cut.jsonl", ""), Job{}, Unreachable, "cut off"},
		"gemini in a loop":     {played(t, "gemini", "gemini-loop.jsonl", ""), Job{}, Failed, "Loop detected"},
		"an error as answer":   {shell("echo '[API Error: Connection error. (cause: fetch failed)]'"), Job{}, Unreachable, "fetch failed"},
		"half JSON":            {Entry{Name: "stub", Command: []string{"sh", "-c", `printf '{"response": "Hel'`}, Output: Output{Format: "json", Text: "response"}}, Job{}, Failed, `no answer: {"response"`},
		"nothing":              {shell("exit 0"), Job{}, Failed, "without an answer"},
		"only white space":     {shell("echo; echo"), Job{}, Failed, "without an answer"},
		"exit 3":               {shell("echo half; echo broken >&2; exit 3"), Job{}, Failed, "broken"},
		"exit 3 without words": {shell("exit 3"), Job{}, Failed, "exit status 3"},
		"killed":               {shell("kill -9 $$"), Job{}, Crashed, "killed"},
		"unknown option":       {shell(`case "$0" in --version) echo "stub 1.0.3 (old)";; *) echo "error: unknown option '--tools'" >&2; exit 1;; esac`), Job{}, OldVersion, "unknown option"},
		"overloaded":           {shell("echo 'API Error: 529 overloaded_error' >&2; exit 1"), Job{}, Unreachable, "529"},
		"no program":           {Entry{Name: "stub", Command: []string{"/nowhere/stub"}}, Job{}, Missing, "install it"},
		"no folder":            {shell("echo x"), Job{Dir: "/nowhere"}, Refused, "stat /nowhere"},
		"too much":             {shell("head -c 100000000 /dev/zero"), Job{}, Failed, "more than 32 MB"},
		"one long line":        {Entry{Name: "stub", Command: []string{"sh", "-c", "head -c 100000000 /dev/zero"}, Output: Output{Format: "lines", Text: "x"}}, Job{}, Failed, "more than 32 MB"},
		"deadline":             {shell("echo begun; echo why >&2; sleep 60"), Job{Timeout: 300 * time.Millisecond}, Deadline, "after 300ms; it said: why"},
		"long argument":        {Entry{Name: "stub", Command: []string{"sh", "-c", "echo $1", "--"}, Prompt: []string{"{prompt}"}}, Job{Prompt: strings.Repeat("x", 128<<10)}, Refused, "128 KB"},
		"bad entry":            {Entry{Name: "stub", Command: []string{"sh", "{what}"}}, Job{}, Refused, "{what}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, mark := marked()
			c.job.Env = env
			if c.job.Prompt == "" {
				c.job.Prompt = "hi"
			}
			r, err := Run(t.Context(), c.entry, c.job, nil)
			if c.kind == -1 {
				if err != nil || r.Text == "" {
					t.Fatalf("%+v, %v", r, err)
				}
				return
			}
			e := kind(t, err)
			if e.Kind != c.kind || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), c.entry.Name+": ") {
				t.Errorf("kind %d, %v", e.Kind, err)
			}
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			gone(t, mark, 3*time.Second)
		})
	}
}

func TestErrorKnowsTheRest(t *testing.T) {
	env, _ := marked()
	_, err := Run(t.Context(), played(t, "claude", "claude-budget.jsonl", "exit 1"), Job{Prompt: "hi", Env: env}, nil)
	e := kind(t, err)
	if e.Result.In != 10000 || e.Result.Cached != 1000 || e.Result.CostUSD == nil || *e.Result.CostUSD != 0.51 || !e.Billed() {
		t.Errorf("%+v", e.Result)
	}
	_, err = Run(t.Context(), played(t, "claude", "claude-limit.jsonl", "exit 1"), Job{Prompt: "hi", Env: env}, nil)
	if e = kind(t, err); e.Reset.Unix() != 1795302000 || e.Billed() {
		t.Errorf("reset %v, billed %v", e.Reset, e.Billed())
	}
	old := shell(`case "$1" in --version) echo "stub 1.0.3 (old)";; *) echo "error: unknown option '--tools'" >&2; exit 1;; esac`)
	old.Command = append(old.Command, "--")
	old.Version = []string{"-c", old.Command[2], "--", "--version"}
	_, err = Run(t.Context(), old, Job{Prompt: "hi", Env: env}, nil)
	if e = kind(t, err); e.Hint != "update stub, this is 1.0.3; or change its entry under `agents:` in config.yaml" {
		t.Error(e.Hint)
	}
}

// A key of the environment is in no error and in no result.
func TestNoSecretIsShown(t *testing.T) {
	env, _ := marked()
	const key = "sk-planted-0123456789"
	job := Job{Prompt: "hi", Env: append(env, "SOME_API_KEY="+key)}
	_, err := Run(t.Context(), shell("echo bad key $SOME_API_KEY >&2; exit 1"), job, nil)
	if e := kind(t, err); strings.Contains(err.Error()+e.Result.Stderr, key) || !strings.Contains(err.Error(), "bad key [hidden]") {
		t.Error(err)
	}
	r, err := Run(t.Context(), shell("echo using $SOME_API_KEY >&2; echo fine"), job, nil)
	if err != nil || r.Stderr != "using [hidden]\n" {
		t.Errorf("%q, %v", r.Stderr, err)
	}
}

// What a CLI is given: its folder, its stdin, its environment, no terminal.
func TestSurroundings(t *testing.T) {
	env, _ := marked()
	for name, c := range map[string]struct {
		script string
		want   string
	}{
		"prompt by stdin":       {"cat", "the system\n\nthe prompt"},
		"an empty folder":       {"ls -A . | wc -l | tr -d ' '; pwd | grep -c /amacs-", "0\n1"},
		"no terminal":           {"(echo x >/dev/tty) 2>/dev/null && echo has one || echo has none", "has none"},
		"stdin is no terminal":  {"test -t 0 && echo tty || echo none", "none"},
		"leader of its group":   {`test "$(ps -o pgid= -p $$ | tr -d ' ')" = $$ && echo leads`, "leads"},
		"told where it is":      {"echo $AMACS_INSIDE $NO_COLOR $TERM", "1 1 dumb"},
		"keys are gone":         {"echo [$ANTHROPIC_API_KEY] [$CLAUDECODE] [$OTHER]", "[] [] [kept]"},
		"not a byte is missing": {"i=0; while [ $i -lt 2000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done | tee /dev/null", strings.TrimSpace(strings.Repeat("0123456789012345678901234567890123456789\n", 2000))},
		"colours are taken out": {`printf '\033[1;31mred\033[0m \033]0;title\007plain\r\n'`, "red plain"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := shell(c.script)
			e.Scrub = []string{"ANTHROPIC_API_KEY"}
			r, err := Run(t.Context(), e, Job{System: "the system", Prompt: "the prompt",
				Env: append(env[:len(env):len(env)], "ANTHROPIC_API_KEY=sk-ant-planted", "CLAUDECODE=1", "OTHER=kept", "TERM=xterm")}, nil)
			if err != nil || r.Text != c.want {
				t.Errorf("got %q, %v", r.Text, err)
			}
		})
	}
	t.Run("empty stdin", func(t *testing.T) {
		e := Entry{Name: "stub", Command: []string{"sh", "-c", `echo "$1"; cat; echo end`, "--"}, Prompt: []string{"{prompt}"}}
		r, err := Run(t.Context(), e, Job{Prompt: "the prompt", Env: env}, nil)
		if err != nil || r.Text != "the prompt\nend" {
			t.Errorf("got %q, %v", r.Text, err)
		}
	})
	t.Run("a key that is meant", func(t *testing.T) {
		e := shell("echo [$ANTHROPIC_API_KEY]")
		e.Scrub, e.Billing = []string{"ANTHROPIC_API_KEY"}, "key"
		r, err := Run(t.Context(), e, Job{Prompt: "x", Env: append(env, "ANTHROPIC_API_KEY=sk-ant-planted")}, nil)
		if err != nil || r.Text != "[sk-ant-planted]" {
			t.Errorf("got %q, %v", r.Text, err)
		}
	})
	t.Run("a megabyte by stdin that nobody reads", func(t *testing.T) {
		r, err := Run(t.Context(), shell("echo fine"), Job{Prompt: strings.Repeat("x", 1<<20), Env: env}, nil)
		if err != nil || r.Text != "fine" {
			t.Errorf("got %q, %v", r.Text, err)
		}
	})
	t.Run("a file with the prompt", func(t *testing.T) {
		e := Entry{Name: "stub", Command: []string{"cat"}, Prompt: []string{"{prompt-file}"}}
		long := strings.Repeat("long ", 100_000)
		r, err := Run(t.Context(), e, Job{Prompt: long, Env: env}, nil)
		if err != nil || r.Text != strings.TrimSpace(long) {
			t.Errorf("%d bytes, %v", len(r.Text), err)
		}
	})
	t.Run("a terminal of its own", func(t *testing.T) {
		e := Entry{Name: "stub", Command: []string{"sh", "-c", `test -t 0 && test -t 1 && echo "$1" >/dev/tty`, "--"}, Prompt: []string{"{prompt}"}, TTY: true}
		r, err := Run(t.Context(), e, Job{Prompt: "ask\nme", Env: env}, nil)
		if err != nil || r.Text != "ask\nme" {
			t.Errorf("got %q, %v", r.Text, err)
		}
	})
}

func TestNothingIsLeftInTheSystemsFolder(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	env, mark := marked()
	e := Entry{Name: "stub", Command: []string{"sh", "-c", "cat; sleep 0.01", "--"}, System: []string{"{system-file}"}}
	if _, err := Run(t.Context(), e, Job{Prompt: "x", System: "y", Env: env}, nil); err != nil {
		t.Fatal(err)
	}
	e.Command[2] = "sleep 60"
	if _, err := Run(t.Context(), e, Job{Prompt: "x", System: "y", Env: env, Timeout: 50 * time.Millisecond}, nil); err == nil {
		t.Fatal("no deadline")
	}
	gone(t, mark, 3*time.Second)
	if left, err := filepath.Glob(filepath.Join(tmp, "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 1 || left[0].Name() != fmt.Sprintf("amacs-%d", os.Getuid()) {
		t.Errorf("%v, %v; want the empty folder alone", left, err)
	}
}

// hangs are CLIs that do not end when they should. Each prints "begun" first.
var hangs = map[string]string{
	"hangs":                       "echo begun; sleep 60",
	"ignores SIGTERM":             "trap '' TERM; echo begun; while :; do sleep 0.05; done",
	"its child ignores SIGTERM":   "sh -c \"trap '' TERM; echo begun; while :; do sleep 0.05; done\"; echo never",
	"reads stdin for ever":        "echo begun; while :; do cat; sleep 0.01; done",
	"closed its outputs":          "echo begun; exec >&- 2>&-; sleep 60",
	"prints for ever":             "while :; do echo begun; sleep 0.001; done",
	"says on stderr that it does": "echo begun; while :; do echo busy >&2; sleep 0.01; done",
}

func TestCancel(t *testing.T) {
	for name, script := range hangs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, mark := marked()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var cancelled time.Time
			once := sync.OnceFunc(func() {
				cancelled = time.Now()
				cancel()
			})
			_, err := Run(ctx, shell(script), Job{Prompt: "hi", Env: env}, func(string) { once() })
			took := time.Since(cancelled)
			if e := kind(t, err); e.Kind != Cancelled || !errors.Is(err, context.Canceled) || !strings.HasPrefix(e.Result.Text, "begun") || !e.Billed() {
				t.Errorf("%v, %+v", err, e)
			}
			if took > 500*time.Millisecond { // 100 ms is meant; a loaded machine may need more
				t.Errorf("took %v", took)
			}
			gone(t, mark, 8*time.Second)
		})
	}
	env, _ := marked()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	marker := filepath.Join(t.TempDir(), "ran")
	if _, err := Run(ctx, shell("touch "+marker), Job{Prompt: "hi", Env: env}, nil); kind(t, err).Kind != Cancelled {
		t.Error(err)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("it was started")
	}
}

// What a CLI leaves behind ends with it, and does not keep it from ending.
func TestLeftovers(t *testing.T) {
	for name, script := range map[string]string{
		"a grandchild holds stdout":  "sleep 60 & echo answer",
		"one that ignores SIGTERM":   "sh -c \"trap '' TERM; while :; do sleep 0.05; done\" & echo answer",
		"a grandchild keeps writing": "sh -c \"while :; do echo more >&2; sleep 0.01; done\" & echo answer",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env, mark := marked()
			r, err := Run(t.Context(), shell(script), Job{Prompt: "hi", Env: env}, nil)
			if err != nil || r.Text != "answer" {
				t.Errorf("%q, %v", r.Text, err)
			}
			gone(t, mark, 2*time.Second)
		})
	}
	t.Run("one that went its own way", func(t *testing.T) {
		t.Parallel()
		if _, err := os.Stat("/usr/bin/setsid"); err != nil {
			t.Skip("needs setsid(1)")
		}
		env, mark := marked()
		r, err := Run(t.Context(), shell("setsid sleep 60 & echo answer; sleep 0.2"), Job{Prompt: "hi", Env: env}, nil)
		if err != nil || r.Text != "answer" {
			t.Errorf("%q, %v", r.Text, err)
		}
		for _, f := range survivors(t, mark) { // ours to end
			var pid int
			for _, digit := range strings.Split(f, "/")[2] {
				pid = pid*10 + int(digit-'0')
			}
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}
	})
}

// A CLI does not go on, and on paying, when amacs is killed, nor does what it
// started, and no folder is left.
func TestDiesWithItsCaller(t *testing.T) {
	t.Parallel()
	tmp := t.TempDir()
	env, mark := marked()
	amacs := exec.Command(os.Args[0])
	amacs.Env = append(env, "AGENT_TEST_HANG=1", "TMPDIR="+tmp)
	out, err := amacs.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := amacs.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, len("begun"))); err != nil {
		t.Fatal(err)
	}
	if n := len(survivors(t, mark)); n < 4 {
		t.Errorf("%d processes, want amacs, its leash, the CLI and what that started", n)
	}
	if err := amacs.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := amacs.Wait(); err == nil {
		t.Error("it was not killed")
	}
	gone(t, mark, 5*time.Second)
	if left, err := filepath.Glob(filepath.Join(tmp, "amacs-agent-*")); err != nil || len(left) > 0 {
		t.Errorf("left: %q, %v", left, err)
	}
}

func TestProgramInAFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("#!/bin/sh\necho fine\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	env, _ := marked()
	r, err := Run(t.Context(), Entry{Name: "mine", Command: []string{"./mine"}}, Job{Prompt: "hi", Env: env}, nil)
	if err != nil || r.Text != "fine" {
		t.Errorf("%q, %v", r.Text, err)
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	env, mark := marked()
	e := builtin(t, "claude")
	e.Idle = 300 * time.Millisecond
	e.Command = []string{"sh", "-c", `echo '{"type":"system","subtype":"init"}'; while :; do echo '{"type":"system","subtype":"api_retry","error":"overloaded"}'; sleep 0.05; done`}
	_, err := Run(t.Context(), e, Job{Prompt: "hi", Env: env}, nil)
	if e := kind(t, err); e.Kind != Deadline || !strings.Contains(err.Error(), "nothing came for 300ms; it said: overloaded") {
		t.Error(err)
	}
	gone(t, mark, 3*time.Second)

	busy := shell("for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.2; done")
	busy.Idle = time.Second
	if _, err := Run(t.Context(), busy, Job{Prompt: "hi", Env: env}, nil); err != nil {
		t.Errorf("a slow one: %v", err)
	}
}

// A listener that is slow loses nothing, though the CLI has long ended.
func TestSlowListener(t *testing.T) {
	t.Parallel()
	env, _ := marked()
	line := strings.Repeat("x", 99) + "\n"
	n := 0
	r, err := Run(t.Context(), shell("i=0; while [ $i -lt 3000 ]; do printf '"+strings.TrimSpace(line)+"\\n'; i=$((i+1)); done"), Job{Prompt: "hi", Env: env},
		func(s string) {
			if n += len(s); n < 100_000 {
				time.Sleep(linger / 4)
			}
		})
	if err != nil || len(r.Text) != 3000*len(line)-1 || n != 3000*len(line) {
		t.Errorf("%d bytes, %d streamed, %v", len(r.Text), n, err)
	}
}

func TestManyRunsLeaveNothing(t *testing.T) {
	t.Parallel()
	env, mark := marked()
	scripts := []string{"cat", "echo x; exit 1", "sleep 60 & echo fine", "kill -9 $$", "trap '' TERM; echo x"}
	for _, s := range hangs {
		scripts = append(scripts, s)
	}
	slices.Sort(scripts)
	var wg sync.WaitGroup
	free := make(chan struct{}, 8)
	for i := range 100 {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			job := Job{Prompt: "hi", Env: env}
			if i%3 == 0 {
				job.Timeout = 20 * time.Millisecond // perhaps before it has begun
			}
			if _, err := Run(ctx, shell(scripts[i%len(scripts)]), job, func(s string) {
				if strings.HasPrefix(s, "begun") {
					cancel()
				}
			}); err != nil {
				kind(t, err)
			}
		})
	}
	wg.Wait()
	gone(t, mark, 5*time.Second)
}

// Without tools a CLI always runs in the same place, which is empty and nobody
// else's: else in a place of its own.
func TestWhereItRuns(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	env, _ := marked()
	run := func(j Job) string {
		t.Helper()
		j.Prompt, j.Env = "hi", env
		r, err := Run(t.Context(), shell("pwd; ls -A"), j, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r.Text
	}
	usual := run(Job{})
	if again := run(Job{}); again != usual {
		t.Errorf("first in %s, then in %s", usual, again)
	}
	if tools := run(Job{Tools: true}); tools == usual {
		t.Error("with tools it runs where others do")
	}
	for what, spoil := range map[string]func() error{
		"open to others": func() error { return os.Chmod(usual, 0o777) },
		"not empty":      func() error { return os.WriteFile(filepath.Join(usual, "AGENTS.md"), []byte("obey"), 0o600) },
		"a link":         func() error { return os.Symlink(os.TempDir(), usual) },
	} {
		if err := os.RemoveAll(usual); err != nil {
			t.Fatal(err)
		}
		if what != "a link" {
			run(Job{})
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if dir := run(Job{}); dir == usual || strings.Contains(dir, "AGENTS.md") {
			t.Errorf("%s: it ran in %q", what, dir)
		}
	}
}
