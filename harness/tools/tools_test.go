package tools

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func call(t *testing.T, s *Set, tool string, args map[string]any) Reply {
	t.Helper()
	r, err := s.Call(t.Context(), "it", tool, args)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func want(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%q\nis not in: %v", w, err)
		}
	}
}

func TestCall(t *testing.T) {
	t.Parallel()
	s := open(t, entry(t, "good"))
	if r := call(t, s, "add", map[string]any{"a": "2", "b": 40, "x": "true"}); r.Text != "42 true" || r.Failed || r.Cut || r.Other != nil {
		t.Errorf("%+v", r)
	}
	if r := call(t, s, "fail", nil); !r.Failed || r.Text != "the disk is full" {
		t.Errorf("%+v", r)
	}
	if r := call(t, s, "big", nil); !r.Cut || len(r.Text) > mostText || len(r.Text) < mostText-4 || strings.ContainsRune(r.Text, '\uFFFD') {
		t.Errorf("%d bytes, cut %v", len(r.Text), r.Cut)
	}
	if r := call(t, s, "structured", nil); !strings.Contains(r.Text, `"a"`) {
		t.Errorf("%+v", r)
	}
	r := call(t, s, "mixed", nil)
	if r.Text != "one\n[notes: file:///notes.txt]\n[file:///a.txt]\ninside" ||
		strings.Join(r.Other, "; ") != "image/png, 3 KB; audio/wav, 10 bytes; application/zip, 5 bytes" {
		t.Errorf("%+v", r)
	}
	if one, two := call(t, s, "pid", nil), call(t, s, "pid", nil); one.Text != two.Text {
		t.Errorf("processes %s and %s: started twice", one.Text, two.Text)
	}
	_, err := s.Call(t.Context(), "it", "ad", nil)
	want(t, err, "MCP server it", `no tool "ad"`, "did you mean add?", "there are: add, big, block, crash")
	_, err = s.Call(t.Context(), "is", "add", nil)
	want(t, err, `no MCP server "is"`, "did you mean it?")
	_, err = s.Call(t.Context(), "it", "add", map[string]any{"a": 1, "bb": 2})
	want(t, err, `add: there is no argument "bb" (did you mean b?)`, "it takes a (integer), b (integer, optional), x (boolean, optional)")
	_, err = s.Call(t.Context(), "it", "add", nil)
	want(t, err, `add: "a" is missing`)
	call(t, s, "grow", nil)
	if r := call(t, s, "grown", nil); r.Text != "here I am" {
		t.Errorf("%+v", r)
	}
}

// Nothing is offered to a server, and what it asks all the same is declined.
func TestAsked(t *testing.T) {
	t.Parallel()
	r := call(t, open(t, entry(t, "asks")), "t", nil)
	for _, part := range []string{
		`"capabilities":{}`, `"version":"1.2.3"`,
		"client does not support CreateMessage", "client does not support elicitation", `"roots":[]`, `"result":{}`, "method not found",
	} {
		if !strings.Contains(r.Text, part) {
			t.Errorf("no %s in %s", part, r.Text)
		}
	}
}

func TestBannerAndNewest(t *testing.T) {
	t.Parallel()
	if r := call(t, open(t, entry(t, "banner")), "add", map[string]any{"a": 1}); r.Text != "1 false" {
		t.Errorf("%+v", r)
	}
	if r := call(t, open(t, entry(t, "newest")), "hello", nil); r.Text != "new hello" {
		t.Errorf("%+v", r)
	}
}

func TestKnown(t *testing.T) {
	t.Parallel()
	cache := filepath.Join(t.TempDir(), "mcp")
	e := entry(t, "good")
	other := Server{Name: "an-other", URL: "http://localhost:1/mcp", About: "the\nother"}
	o := Options{Dir: t.TempDir(), Cache: cache}
	s := New([]Server{e, other}, o)
	known := s.Known()
	if len(known) != 2 || known[0].Server != "an-other" || known[0].About != "the other" || known[1].Tools != nil || known[1].Fresh {
		t.Fatalf("%+v", known)
	}
	list, err := s.Tools(t.Context(), "it")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(list, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) }) || list[0].Name != "add" {
		t.Errorf("%+v", list)
	}
	if about := []rune(list[0].About); !strings.HasPrefix(string(about), "Adds two numbers and more") || len(about) > 100 {
		t.Errorf("%d characters: %s", len(about), string(about))
	}
	again := New([]Server{e, other}, o)
	if k := again.Known()[1]; k.About != "The good one" || !slices.Equal(k.Tools, list) || k.Fresh {
		t.Errorf("%+v", k)
	}
	e.Timeout = 5
	if k := New([]Server{e}, o).Known()[0]; k.Tools != nil {
		t.Errorf("a changed entry remembers: %+v", k)
	}
	if err := os.WriteFile(filepath.Join(cache, "it.json"), []byte(`{"entry":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if k := again.Known()[1]; k.Tools != nil {
		t.Errorf("a broken file is remembered: %+v", k)
	}
	if rest, err := filepath.Glob(filepath.Join(cache, ".*")); err != nil || rest != nil {
		t.Errorf("left behind: %v %v", rest, err)
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	s := open(t, entry(t, "good"))
	text, err := s.Schema(t.Context(), "it", "add")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`"name": "add"`, `"description": "Adds\n two`, `"required": [`, `"type": "boolean"`} {
		if !strings.Contains(text, part) {
			t.Errorf("%s is not in\n%s", part, text)
		}
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	e := entry(t, "good")
	e.Env["GIVEN"], e.Env["KEY"], e.Env["PRICE"] = "a $EDITOR", "${SOME_API_KEY}", "$$5"
	s := open(t, e)
	r := call(t, s, "env", nil)
	lines := strings.Split(r.Text, "\n")
	for _, line := range []string{"GIVEN=a ed", "KEY=[hidden]", "PRICE=$5", "HOME=/nowhere", "LC_ALL=C"} {
		if !slices.Contains(lines, line) {
			t.Errorf("no %s in %s", line, lines)
		}
	}
	if strings.Contains(r.Text, "SOME_API_KEY") || strings.Contains(r.Text, "EDITOR") || strings.Contains(r.Text, "abcdefgh12345678") {
		t.Errorf("%s", lines)
	}
	_, err := s.Call(t.Context(), "it", "crash", nil)
	want(t, err, "it ended (exit status 3)", "out of luck with [hidden]")

	e.Env["TOKEN"] = "$NOT_THERE"
	_, err = open(t, e).Call(t.Context(), "it", "env", nil)
	want(t, err, "MCP server it", "needs the variable NOT_THERE, which is not set")
}

func TestFolder(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	e := entry(t, "good")
	e.Dir = "sub"
	if r := call(t, open(t, e, func(o *Options) { o.Dir = dir }), "folder", nil); r.Text != filepath.Join(dir, "sub") {
		t.Errorf("%+v", r)
	}
	e.Dir = "none"
	_, err = open(t, e).Call(t.Context(), "it", "folder", nil)
	want(t, err, "the folder to run in", "none", "config.yaml")
	e.Dir, e.Command = "", []string{"no-such-program-here"}
	_, err = open(t, e).Call(t.Context(), "it", "folder", nil)
	want(t, err, `no program "no-such-program-here" on the PATH`)
	e.Command = []string{"./server"}
	_, err = open(t, e).Call(t.Context(), "it", "folder", nil)
	want(t, err, "can not be started", "no such file")
}

// A server that does what it should not gives an error that says so, in time.
func TestFaults(t *testing.T) {
	t.Parallel()
	for part, words := range map[string][]string{
		"exits":   {"it ended (exit status 7)", "reading the settings · no database here"},
		"garbage": {"writes to stdout what are no MCP messages", "some output, again and again"},
		"flood":   {"a message of more than 16.0 MB"},
		"dies":    {"it ended (exit status 9)", "I can not go on"},
		"closes":  {"it closed its output"},
		"hangs":   {"no answer within 50ms", "`timeout`"},
		"wrong":   {"MCP server it: "},
	} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			s := open(t, entry(t, part))
			if part == "hangs" {
				s.servers["it"].callTime = 50 * time.Millisecond
			}
			_, err := s.Call(t.Context(), "it", "t", nil)
			want(t, err, append(words, "MCP server it: ")...)
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%q", err)
			}
		})
	}
	if r := call(t, open(t, entry(t, "null")), "t", nil); r.Text != "" || r.Failed {
		t.Errorf("%+v", r)
	}
	_, err := open(t, entry(t, "blob")).Call(t.Context(), "it", "t", nil)
	want(t, err, "MCP server it: unrecognized content type")
	if list, err := open(t, entry(t, "ring")).Tools(t.Context(), "it"); err != nil || len(list) != 100 || list[0].Name != "t" {
		t.Errorf("%d tools, %v", len(list), err)
	}
}

func TestSlowStart(t *testing.T) {
	t.Parallel()
	s := open(t, entry(t, "silent"))
	s.servers["it"].startTime = 100 * time.Millisecond
	_, err := s.Call(t.Context(), "it", "t", nil)
	want(t, err, "not ready within 100ms of its start", "by hand")
}

// An answer that comes too late is not taken for that of the next call.
func TestLateAnswer(t *testing.T) {
	t.Parallel()
	s := open(t, entry(t, "late"))
	s.servers["it"].callTime = 50 * time.Millisecond
	_, err := s.Call(t.Context(), "it", "t", nil)
	want(t, err, "no answer within 50ms")
	s.servers["it"].callTime = callTime
	if r := call(t, s, "t", nil); r.Text != "the second" {
		t.Errorf("%+v", r)
	}
}

// What does not read its input can not hold up a call with a long argument.
func TestLongArgument(t *testing.T) {
	t.Parallel()
	s := open(t, entry(t, "hangs"))
	s.servers["it"].callTime = 300 * time.Millisecond
	_, err := s.Call(t.Context(), "it", "t", map[string]any{"text": "short"})
	want(t, err, "no answer within 300ms")
	s.servers["it"].conn.doubtful = false // or it would be asked whether it lives
	s.servers["it"].callTime = time.Second
	begun := time.Now()
	_, err = s.Call(t.Context(), "it", "t", map[string]any{"text": strings.Repeat("x", 200<<10)})
	want(t, err, "it does not read what it is sent (200 KB)")
	if took := time.Since(begun); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := open(t, entry(t, "good"))
	before := call(t, s, "pid", nil)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	begun := time.Now()
	_, err := s.Call(ctx, "it", "block", nil)
	if want(t, err, "broken off"); !errors.Is(err, context.Canceled) || time.Since(begun) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
	if after := call(t, s, "pid", nil); after.Text != before.Text {
		t.Error("it was started again")
	}
}

// A server that has died is started again, one that hangs too; a call is never
// sent twice.
func TestAgain(t *testing.T) {
	t.Parallel()
	s := open(t, entry(t, "good"))
	pid, err := strconv.Atoi(call(t, s, "pid", nil).Text)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	<-s.servers["it"].conn.link.(*program).exited
	if again := call(t, s, "pid", nil); again.Text == strconv.Itoa(pid) {
		t.Error("still the same")
	}
	_, err = s.Call(t.Context(), "it", "crash", nil)
	want(t, err, "it ended (exit status 3)")
	call(t, s, "pid", nil)

	h := open(t, entry(t, "hangs"))
	h.servers["it"].callTime = 50 * time.Millisecond
	_, err = h.Call(t.Context(), "it", "t", nil)
	want(t, err, "no answer within 50ms")
	first := h.servers["it"].conn
	if _, err = h.Tools(t.Context(), "it"); err != nil || h.servers["it"].conn == first {
		t.Errorf("%v; the one that hangs was asked again", err)
	}
}

// Close ends what a server has started, also where it does not want to end.
func TestClose(t *testing.T) {
	t.Parallel()
	s := open(t, entry(t, "good"))
	pid, err := strconv.Atoi(call(t, s, "family", nil).Text)
	if err != nil {
		t.Fatal(err)
	}
	blocked := make(chan error)
	go func() {
		_, err := s.Call(context.Background(), "it", "block", nil)
		blocked <- err
	}()
	for len(s.servers["it"].turn) == 0 {
		time.Sleep(time.Millisecond)
	}
	begun := time.Now()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if took := time.Since(begun); took > closeTime {
		t.Errorf("it took %s", took)
	}
	want(t, <-blocked, "broken off: amacs is ending")
	gone(t, pid)
	_, err = s.Call(t.Context(), "it", "add", nil)
	want(t, err, "amacs is ending")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseTheDeaf(t *testing.T) {
	if testing.Short() {
		t.Skip("waits until it is killed")
	}
	t.Parallel()
	deaf := open(t, entry(t, "deaf"))
	deaf.servers["it"].startTime = 500 * time.Millisecond
	_, err := deaf.Call(t.Context(), "it", "t", nil)
	want(t, err, "not ready", "it said: ready")
	if err := deaf.Close(); err != nil {
		t.Error(err)
	}
}

// What amacs has started ends with it, also by kill -9, and what that has
// started too.
func TestKilled(t *testing.T) {
	t.Parallel()
	e := entry(t, "host")
	cmd := exec.Command(e.Command[0])
	cmd.Env = append(os.Environ(), "MCP_TEST_PART=host", "GORACE=atexit_sleep_ms=10")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for _, word := range strings.Fields(line) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatalf("%q", line)
		}
		gone(t, pid)
	}
}

// gone waits for the end of a process.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH); time.Sleep(time.Millisecond) {
		if b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil && strings.Contains(string(b), ") Z ") {
			return // it waits for somebody to note its end
		}
		if time.Now().After(end) {
			t.Fatalf("process %d lives", pid)
		}
	}
}
