package agent

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestFind(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, script := range map[string]string{
		"claude": `echo "$1 2.1.197 (Claude Code) $ANTHROPIC_API_KEY"`,
		"codex":  "echo WARNING: odd >&2; echo codex-cli 0.169.0-beta.1",
		"gemini": "sleep 60",
		"goose":  "echo broken >&2; exit 1",
		"aider":  "echo unreleased; echo more",
		"qwen":   "exit 0",
		"pi":     "echo 0.73.1 >&2",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	lookPath := func(name string) (string, error) {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err != nil {
			return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
		}
		if name == "aider" {
			return "", fmt.Errorf("exec: %q: %w", name, exec.ErrDot)
		}
		return path, nil
	}
	env, mark := marked()
	begin := time.Now()
	entries := append(Builtin(), Entry{Name: "odd"})
	found := Find(t.Context(), entries, append(env, "ANTHROPIC_API_KEY=sk-planted-0123456789"), lookPath)
	if took := time.Since(begin); took > versionTime+3*time.Second {
		t.Errorf("took %v", took)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s", f.Entry.Name, strings.TrimPrefix(f.Path, dir), f.Version, f.Problem))
	}
	want := []string{
		"claude|/claude|2.1.197|",
		"codex|/codex|0.169.0-beta.1|",
		"gemini|/gemini||it did not say its version: no answer within 6s",
		"goose|/goose||it did not say its version: broken",
		"aider|||exec: \"aider\": " + exec.ErrDot.Error(),
		"qwen|/qwen||it did not say its version: it ended without an answer",
		"pi|/pi|0.73.1|",
		"odd|||command: it is missing",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if can := strings.Join(found[0].Can, ", "); can != "stream, continue, system prompt, model, no tools, budget, cost, tokens" {
		t.Error(can)
	}
	gone(t, mark, 5*time.Second)
}

func TestResetIn(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here")
	}
	now := time.Date(2026, 11, 21, 14, 30, 0, 0, berlin)
	for text, want := range map[string]time.Time{
		"Claude AI usage limit reached|1795302000":                                            time.Unix(1795302000, 0),
		"You've hit your session limit · resets 3pm (Europe/Berlin)":                          now.Add(30 * time.Minute),
		"You've hit your limit · resets 3:45pm":                                               now.Add(75 * time.Minute),
		"limit reached ∙ resets at 2am (Europe/Berlin)":                                       now.Add(11*time.Hour + 30*time.Minute),
		"resets 12am (Europe/Berlin)":                                                         now.Add(9*time.Hour + 30*time.Minute),
		"resets 2pm (UTC)":                                                                    now.Add(30 * time.Minute),
		"resets 3pm (Nowhere/Land)":                                                           now.Add(30 * time.Minute),
		"You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.":                 now.Add(76*time.Hour + 5*time.Minute),
		"or try again in 2 hours and 5 minutes":                                               now.Add(125 * time.Minute),
		"You have exhausted your capacity on this model. Your quota will reset after 1h2m3s.": now.Add(time.Hour + 2*time.Minute + 3*time.Second),
		"Please retry in 12.5s.":                                                              now.Add(12500 * time.Millisecond),
		"rate limit reached":                                                                  {},
		"resets 25pm":                                                                         {},
		"try again in 99999999999999 seconds":                                                 {},
	} {
		if got := resetIn(text, now); !got.Equal(want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	var x excerpt
	for i := range 3000 {
		fmt.Fprintf(&x, "line %d\n", i)
	}
	if s := x.String(); len(s) > 2*tailSize+20 || !strings.HasPrefix(s, "line 0\n") || !strings.HasSuffix(s, "line 2999\n") || !strings.Contains(s, "\n[...]\n") {
		t.Errorf("%d bytes: %q", len(s), s)
	}
}
