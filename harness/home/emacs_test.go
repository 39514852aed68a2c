package home

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	hometemplate "amacs/agent-home-template"
	"amacs/org"
	"amacs/threads"
)

// TestEmacsSeesWhatWasMeant: real Emacs finds in each file of a home the headings
// and properties that we wrote, and nothing else; org-lint has nothing to say
// but on the RFC's own :TIMESTAMP:.
func TestEmacsSeesWhatWasMeant(t *testing.T) {
	emacs, err := exec.LookPath("emacs")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs emacs: ", err)
		}
		t.Skip("no emacs")
	}
	m, want := nastyHome(t)
	want[Monologue] = nil
	dir := t.TempDir()
	var files []string
	for path := range want {
		file := filepath.Join(dir, filepath.Base(path))
		must(t, os.WriteFile(file, m[path].Data, 0o600))
		files = append(files, file)
	}
	var seen []seenFile
	out, err := exec.Command(emacs, append([]string{"-Q", "--batch", "-l", "../../org/testdata/check.el", "-f", "amacs-check"}, files...)...).Output()
	must(t, err, json.Unmarshal(out, &seen))
	for _, f := range seen {
		path := filepath.Base(f.File)
		if path == "threads.org" {
			path = threadArchive
		}
		f.check(t, want[path])
	}
	if len(seen) != 4 {
		t.Errorf("%d files were checked", len(seen))
	}
}

// nastyHome is a home whose every text is nasty, and the headings that its files
// are meant to have, each with its level.
func nastyHome(t *testing.T) (m fstest.MapFS, want map[string][]string) {
	t.Helper()
	m = fstest.MapFS{Consciousness: {Data: []byte("((mood . \"x\"))")}}
	for _, path := range []string{Chat, Scratchpad, Monologue} {
		b, err := fs.ReadFile(hometemplate.Files(), path)
		must(t, err)
		m[path] = &fstest.MapFile{Data: b}
	}
	want = map[string][]string{}
	tick := 0
	for round := range 3 {
		for i, s := range nasty {
			if len(s) > 5000 {
				s = s[:3000]
			}
			tick++
			d := NewDraft(m)
			other := nasty[(i+round)%len(nasty)]
			if len(other) > 5000 {
				other = other[:3000]
			}
			must(t, d.Say(Line{Tick: tick, At: noon, Text: s}), d.Unparsed(tick, noon, tick, other+"raw"), d.Answer(tick, noon, []int{tick, tick - 1}, other, ""), d.Think(Thought{tick, noon, s}))
			want[Chat] = append(want[Chat], fmt.Sprintf("1 Tick %d", tick), "2 Human", "2 Unparsed", "2 Agent")
			n := Note{Heading: fmt.Sprint(titles[i%len(titles)], tick), Thread: s, Tick: tick, Text: s + "x"}
			must(t, d.AddNote(n), d.AddNote(Note{Heading: n.Heading, Thread: s, Tick: tick, Text: other + "y"}))
			want[Scratchpad] = append(want[Scratchpad], "1 "+n.named().Heading)
			id := fmt.Sprint("t", tick)
			must(t, d.Put(Consciousness, []byte(fmt.Sprintf(`((open-threads . (((id . %q) (concern . "c") (goal . "g")))))`, id))))
			must(t, d.Complete(threads.ID(id), s+"seen", "l"+other, tick, noon))
			want[threadArchive] = append(want[threadArchive], "1 "+id+": c", "2 Goal", "2 Evidence", "2 Learned")
			for _, path := range d.Changed() {
				m[path] = &fstest.MapFile{Data: d.files[path].now}
			}
		}
	}
	return m, want
}

// seenFile is what Emacs sees of a file.
type seenFile struct {
	File, Coding string
	Locals       bool
	Headings     []struct {
		Line, Level                       int
		State, Priority, Title, Scheduled string
		Comment                           bool
		Tags                              []string
		Props                             [][2]string
	}
	Lint []struct {
		Line int
		Text string
	}
}

func (f seenFile) check(t *testing.T, want []string) {
	t.Helper()
	name := filepath.Base(f.File)
	var got []string
	src, err := os.ReadFile(f.File)
	must(t, err)
	ours := org.Parse(src).Headings
	for i, h := range f.Headings {
		got = append(got, fmt.Sprintf("%d %s", h.Level, org.UnescapeTitle(h.Title)))
		if h.State != "" || h.Priority != "" || h.Comment || len(h.Tags) > 0 || h.Scheduled != "" {
			t.Errorf("%s line %d: %+v", name, h.Line, h)
		}
		if i < len(ours) && len(ours[i].Props) != len(h.Props) {
			t.Errorf("%s line %d: properties %q, we see %q", name, h.Line, h.Props, ours[i].Props)
		}
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%s: Emacs sees\n%s\nwant\n%s", name, g, w)
	}
	if !strings.HasPrefix(f.Coding, "utf-8") || f.Locals {
		t.Errorf("%s: coding %s, local variables %v", name, f.Coding, f.Locals)
	}
	lines := strings.Split(string(src), "\n")
	for _, l := range f.Lint {
		if !strings.Contains(l.Text, "TIMESTAMP") {
			t.Errorf("%s line %d: org-lint: %s\n%s", name, l.Line, l.Text, strings.Join(lines[max(l.Line-4, 0):min(l.Line+3, len(lines))], "\n"))
		}
	}
}
