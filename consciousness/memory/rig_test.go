package memory

import (
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	noon  = time.Date(2026, 11, 21, 12, 0, 0, 0, time.Local)
	later = noon.Add(26 * time.Hour)
)

// nasty are texts that could come alive in a file.
var nasty = []string{
	"hello", "two\nlines", " a ", "a\n", "\na", "a\r\nb\r\n", "* Heading", "* H\n:PROPERTIES:\n:ID: x\n:END:", ":LOGBOOK:\n- used [2026-11-21 Sat 12:00]\n:END:\nx",
	":END:", "- used [2026-11-21 Sat 12:00] tick 3", "TODO x", "LATER x", "LATER", "x :tag:", ":tag:", "[#A] x", "COMMENT x", "ends in …", "…", "a …\nb",
	"#+begin_example\n:LOGBOOK:\n:END:\n#+end_example", "#+TODO: x | y", "SCHEDULED: <2026-11-21 Sat>", "\xff bytes", "a\x00b", "é 😀 \u200b \u202e", "| a |", "# c", ",* a",
	"[[file:x]] [fn:1] %%(f)", "Local Variables:\nmode: x\nEnd:", strings.Repeat("word ", 199) + "end", strings.Repeat("x", 1000), strings.Repeat("\u200b", 130),
}

// full is a memory that has all it can have.
func full(id, content string) Memory {
	return Memory{ID: id, Content: content, Kind: Decision, Scope: Scope{Level: Project, Project: "amacs-w5d3kq8nt2", Branch: "feat/x"},
		Tags: []string{"go", "pinned"}, Importance: High, Trust: Low, Confidence: 0.125, Strength: 3,
		Created: noon, Updated: later, Verified: later, Source: "agent", Tick: 42, Session: "r-8", Group: "a talk of May",
		SupersededBy: "k3f", Supersedes: []string{"m7w", "D1:3"}, Contradicts: []string{"q2"}, DerivedFrom: []string{"x", ":y:"},
		Relates: []Link{{"k3f", 0.6}, {"a=b", 1}}, InvalidAt: later, Why: "the file is gone",
		Crumbs: []Crumb{{Used, noon, 43, "r-8"}, {Reinforced, later, 0, ""}}}
}

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func refused(t testing.TB, err error, says ...string) {
	t.Helper()
	for _, s := range says {
		if err == nil || !strings.Contains(err.Error(), s) {
			t.Errorf("got %v, want an error that says %q", err, s)
		}
	}
}

func byIDs(ms ...Memory) map[string]Memory {
	all := map[string]Memory{}
	for _, m := range ms {
		all[m.ID] = m
	}
	return all
}

func ids(ms []Memory) (out []string) {
	for _, m := range ms {
		out = append(out, m.ID)
	}
	return out
}

func one(t testing.TB, src []byte, id string) Memory {
	t.Helper()
	ms := Read(src)
	i := slices.IndexFunc(ms, func(m Memory) bool { return m.ID == id })
	if i < 0 {
		t.Fatalf("no %s in\n%s", id, src)
	}
	return ms[i]
}
