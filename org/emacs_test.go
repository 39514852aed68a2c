package org

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// seen is what testdata/check.el prints of a file.
type seen struct {
	File, Coding string
	Locals       bool
	Headings     []struct {
		Line, Level                 int
		State, Priority, Title      string
		Comment                     bool
		Tags                        []string
		Scheduled, Deadline, Closed string
		Props                       [][2]string
		Kinds                       []string
	}
	Lint []struct {
		Line int
		Text string
	}
}

// emacs runs a function of check.el on files and reads its JSON.
func emacs(t *testing.T, into any, function string, args ...string) {
	t.Helper()
	path, err := exec.LookPath("emacs")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("emacs is missing, and CI=true")
		}
		t.Skip("emacs is missing")
	}
	cmd := exec.Command(path, append([]string{"-Q", "--batch", "-l", "testdata/check.el", "-f", function}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("emacs: %v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("reading emacs' answer: %v\n%s\n%s", err, out, stderr.String())
	}
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// agree compares what Emacs saw of a file with what Parse sees.
func agree(t *testing.T, d *Doc, got seen) {
	t.Helper()
	if len(d.Headings) != len(got.Headings) {
		t.Errorf("%s: Parse sees %d headings, Emacs %d", got.File, len(d.Headings), len(got.Headings))
	}
	for i, h := range d.Headings {
		if i >= len(got.Headings) {
			return
		}
		g := got.Headings[i]
		props := make([][2]string, len(h.Props))
		for k, p := range h.Props {
			props[k] = [2]string{p.Key, p.Value}
		}
		ours := fmt.Sprintf("%d %q %q %v %q %q %q %q %q %q", h.Level, h.State, h.Priority, h.Comment, h.Title, h.Tags, h.Scheduled, h.Deadline, h.Closed, props)
		theirs := fmt.Sprintf("%d %q %q %v %q %q %q %q %q %q", g.Level, g.State, g.Priority, g.Comment, g.Title, g.Tags, g.Scheduled, g.Deadline, g.Closed, g.Props)
		if ours != theirs {
			t.Errorf("%s: line %d\nParse %s\nEmacs %s", filepath.Base(got.File), g.Line, ours, theirs)
		}
	}
}

// TestEmacsAgreesOnStructure: hand-written outlines, odd ones included.
func TestEmacsAgreesOnStructure(t *testing.T) {
	var files []string
	for i, src := range outlines {
		src = strings.ToValidUTF8(strings.ReplaceAll(src, "\ufeff", ""), "?") // Emacs decodes these before Org sees them
		if src != "" {
			files = append(files, write(t, fmt.Sprintf("%02d.org", i), src))
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 12 {
		files = append(files, write(t, "random.org", randomOutline(r, 300)))
	}
	var all []seen
	emacs(t, &all, "amacs-check", files...)
	for _, s := range all {
		src, err := os.ReadFile(s.File)
		if err != nil {
			t.Fatal(err)
		}
		agree(t, Parse(src), s)
	}
}

// dead are the kinds of elements that escaped text may consist of.
var dead = []string{
	"bold", "code", "entity", "example-block", "export-snippet", "horizontal-rule", "italic", "item", "latex-fragment", "line-break", "link:bbdb", "link:doi", "link:http", "link:https",
	"link:mailto", "node-property", "paragraph", "plain-list", "property-drawer", "strike-through", "subscript", "superscript", "timestamp", "underline", "verbatim",
}

// TestEmacsSeesOnlyWhatWasWritten: titles and bodies of foreign text, every one under its own heading.
func TestEmacsSeesOnlyWhatWasWritten(t *testing.T) {
	texts := slices.Clone(nasty)
	r := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		texts = append(texts, scribble(r, 8))
	}
	keys := []string{"a b", ":", "end", "B+", "", "é:x", "::", "[fn:1]", "\u200b", "x\u3000y", "PROPERTIES"}
	var files []string
	var docs []*Doc
	const each = 60
	for from := 0; from < len(texts); from += each {
		src := []byte("# -*- coding: utf-8 -*-\n#+TODO: TODO ASK | DONE\n")
		for i, x := range texts[from:min(from+each, len(texts))] {
			e := Entry{Title: EscapeTitle(x), Body: Escape(x)}
			if i%3 == 1 {
				e.State, e.Priority, e.Tags = "ASK", "B", []string{"a-b", "é"}
				e.Scheduled = "<2026-11-20 Fri>"
				e.Props = []Prop{{"THREAD", EscapeTitle(x)}, {"TICK", "42"}, {keys[i%len(keys)], "v"}}
			} else if i%3 == 2 {
				e.Children = []Entry{{Title: EscapeTitle(x), Body: Escape(x)}}
			}
			src = Append(src, e)
		}
		d := Parse(src)
		k := 0
		for i, x := range texts[from:min(from+each, len(texts))] {
			for range 1 + i%3/2 {
				if h := d.Headings[k]; UnescapeTitle(h.Title) != oneLine(x) || Unescape(d.BodyText(h)) != x {
					t.Errorf("entry %q reads back as title %q, body %q", x, h.Title, d.BodyText(h))
				}
				k++
			}
		}
		docs = append(docs, d)
		files = append(files, write(t, "x.org", string(src)))
	}
	var all []seen
	emacs(t, &all, "amacs-check", files...)
	for i, s := range all {
		agree(t, docs[i], s)
		if !strings.HasPrefix(s.Coding, "utf-8") || s.Locals {
			t.Errorf("%s: coding %s, local variables %v", s.File, s.Coding, s.Locals)
		}
		lines := strings.Split(string(docs[i].Src), "\n")
		for _, l := range s.Lint {
			t.Errorf("org-lint: %s\n%s", l.Text, strings.Join(lines[max(l.Line-3, 0):min(l.Line+3, len(lines))], "\n"))
		}
		for _, h := range s.Headings {
			for _, k := range h.Kinds {
				if kind, inTitle := strings.CutPrefix(k, "title:"); !slices.Contains(dead, kind) && (inTitle || k != "planning" && k != "statistics-cookie") {
					t.Errorf("line %d, %q: Emacs sees a %s", h.Line, h.Title, k)
				}
			}
		}
	}
	checkAgenda(t, files)
}

// checkAgenda: nothing of all that foreign text reaches the agenda or the clock, and none of it is run.
func checkAgenda(t *testing.T, files []string) {
	var got struct {
		Agenda []string
		Clock  int
		Ran    int
	}
	emacs(t, &got, "amacs-check-agenda", append([]string{"2026-11-21"}, files...)...)
	for _, line := range got.Agenda {
		if !strings.Contains(line, "Sched.") { // the entries that we scheduled ourselves
			t.Errorf("the agenda shows %q", line)
		}
	}
	if got.Clock != 0 || got.Ran != 0 {
		t.Errorf("clocked %d minutes, ran %d expressions", got.Clock, got.Ran)
	}
}

// TestOracle: check.el sees what is alive, so that its silence above means something.
func TestOracle(t *testing.T) {
	path := write(t, "x.org", "* x\n#+foo\n[[file:nowhere]]\n<2026-11-21 Sat>\n%%(amacs-ran)\nCLOCK: [2026-11-21 Sat 10:00]--[2026-11-21 Sat 11:00] =>  1:00\n# Local Variables:\n# mode: org\n# End:\n")
	var all []seen
	emacs(t, &all, "amacs-check", path)
	if len(all) != 1 || !all[0].Locals || len(all[0].Lint) < 2 || !slices.Contains(all[0].Headings[0].Kinds, "link:file") {
		t.Errorf("check.el saw %+v", all)
	}
	var got struct {
		Agenda     []string
		Clock, Ran int
	}
	emacs(t, &got, "amacs-check-agenda", "2026-11-21", path)
	if len(got.Agenda) == 0 || got.Clock != 60 || got.Ran == 0 {
		t.Errorf("check.el saw %+v", got)
	}
}
