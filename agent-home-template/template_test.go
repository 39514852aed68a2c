package hometemplate

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"amacs/skills"
)

func TestFiles(t *testing.T) {
	var got []string
	err := fs.WalkDir(Files(), ".", func(p string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			got = append(got, p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{".gitignore", "agent-chat.org", "config.yaml", "consciousness.el", "monologue.org", "scratchpad.org",
		"skills/core/SKILL.md", "skills/core/references/consciousness-schema.md", "skills/core/references/creating-skills.md",
		"skills/core/references/eval-patterns.md", "skills/core/references/tick.md"}
	if !slices.Equal(got, want) {
		t.Errorf("files\n%q, want\n%q", got, want)
	}
	for _, p := range got {
		text := read(t, p)
		if !utf8.ValidString(text) || !strings.HasSuffix(text, "\n") || strings.ContainsAny(text, "\r\t\x00") {
			t.Errorf("%s: not clean text with a final newline", p)
		}
		if strings.HasSuffix(p, ".org") && !strings.HasPrefix(text, "# -*- coding: utf-8 -*-\n#+TITLE: ") {
			t.Errorf("%s begins %.60q", p, text)
		}
	}
}

func read(t *testing.T, p string) string {
	t.Helper()
	data, err := fs.ReadFile(Files(), p)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestCoreSkill(t *testing.T) {
	below, err := fs.Sub(Files(), "skills")
	if err != nil {
		t.Fatal(err)
	}
	text, err := skills.Core(below)
	if err != nil {
		t.Fatal(err)
	}
	if Core() != text {
		t.Error("Core() is not what package skills reads")
	}
	if len(text) > 18<<10 {
		t.Errorf("the system prompt has %d bytes, more than 18 KB", len(text))
	}
	core, err := skills.Load(below, "core")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range core.Files {
		if !strings.Contains(text, file) {
			t.Errorf("the system prompt does not point at %s", file)
		}
	}
	if ok, broken := skills.List(below); len(ok)+len(broken) != 0 {
		t.Errorf("other skills: %v %v", ok, broken)
	}
}

// prose is the text of the core skill and its references.
func prose(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	paths, err := fs.Glob(Files(), "skills/core/references/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range append(paths, "skills/core/SKILL.md") {
		b.WriteString(read(t, p))
	}
	return b.String()
}

// fields are those of consciousness.el, in file order.
func fields(t *testing.T) (keys []string) {
	t.Helper()
	for _, m := range regexp.MustCompile(`(?m)^(?:'\(|  )\(([a-z-]+) \.`).FindAllStringSubmatch(read(t, "consciousness.el"), -1) {
		keys = append(keys, m[1])
	}
	return keys
}

func TestConfigIsAllComments(t *testing.T) {
	for _, line := range strings.Split(read(t, "config.yaml"), "\n") {
		if line != "" && !strings.HasPrefix(line, "# ") {
			t.Errorf("not a comment: %q", line)
		}
	}
}

// TestExamples: each JSON example is an answer that could be sent.
func TestExamples(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(prose(t), -1)
	if len(blocks) < 5 {
		t.Fatalf("%d JSON examples", len(blocks))
	}
	known := strings.Fields("mood confidence monologue reply eval continue scratchpad")
	for _, block := range blocks {
		var answer map[string]any
		if err := json.Unmarshal([]byte(block[1]), &answer); err != nil {
			t.Errorf("%v in\n%s", err, block[1])
			continue
		}
		for _, key := range known[:3] {
			if answer[key] == nil {
				t.Errorf("%s is missing in\n%s", key, block[1])
			}
		}
		for key := range answer {
			if !slices.Contains(known, key) {
				t.Errorf("%s is unknown in\n%s", key, block[1])
			}
		}
	}
}

// forms are the Lisp examples of the prose: blocks, spans of code that begin with a parenthesis, and evals.
func forms(t *testing.T) []string {
	t.Helper()
	text := prose(t)
	var out []string
	for _, m := range regexp.MustCompile("(?s)```elisp\n(.*?)```").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	for _, m := range regexp.MustCompile("`('?\\([^`\n]*)`").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	for _, m := range regexp.MustCompile(`"eval": ("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(text, -1) {
		var form string
		if err := json.Unmarshal([]byte(m[1]), &form); err != nil {
			t.Fatal(err)
		}
		out = append(out, form)
	}
	return out
}

// TestEmacs asks the real Emacs: it reads consciousness.el and each Lisp example, finds nothing wrong with the org files, and sees no heading in them.
// That the prose tells the truth is tested in package harness, which is above this one.
func TestEmacs(t *testing.T) {
	emacs, err := exec.LookPath("emacs")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("emacs is missing")
		}
		t.Skip("emacs is missing")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, Files()); err != nil {
		t.Fatal(err)
	}
	examples := forms(t)
	if len(examples) < 40 {
		t.Errorf("only %d Lisp examples found", len(examples))
	}
	for i, form := range examples {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("form-%02d", i)), []byte(form+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(emacs, "-Q", "--batch", "-l", "testdata/check.el", "--eval", "(check-home \""+dir+"\")").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if got := strings.TrimPrefix(lines[len(lines)-1], "fields: "); got != strings.Join(fields(t), " ") {
		t.Errorf("Emacs read the fields %q", got)
	}
	for _, line := range lines[:len(lines)-1] {
		t.Errorf("Emacs says: %s", line)
	}
}
