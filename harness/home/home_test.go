package home

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	hometemplate "amacs/agent-home-template"
)

func TestInit(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "agent")
	h, created, err := Init(root, hometemplate.Files())
	must(t, err)
	if len(created) < 8 || !slices.Contains(created, "skills/core/SKILL.md") || !slices.Contains(created, ".gitignore") {
		t.Errorf("created %q", created)
	}
	put(t, h, Scratchpad, "mine")
	must(t, os.Remove(h.Path(Monologue)), os.Chmod(root, 0o755))
	_, created, err = Init(root, hometemplate.Files())
	if err != nil || !slices.Equal(created, []string{Monologue}) || read(t, h, Scratchpad) != "mine" {
		t.Errorf("a second time: %q, %v", created, err)
	}
	if _, created, err = Init(root, hometemplate.Files()); err != nil || len(created) > 0 {
		t.Errorf("a third time: %q, %v", created, err)
	}
	if info, _ := os.Stat(root); info.Mode().Perm() != 0o755 {
		t.Error("the folder's mode was changed")
	}
}

func TestInitCutShort(t *testing.T) {
	all := 0
	for path := range template {
		all += min(len(path), 1)
	}
	for n := range all {
		root := t.TempDir()
		h := &Home{root: root}
		must(t, os.MkdirAll(h.Path(".amacs"), 0o700)) // cut short between two folders
		left := n
		for path, f := range template {
			if path != Consciousness && left > 0 {
				put(t, h, path, string(f.Data))
				left--
			}
		}
		if _, created, err := Init(root, template); err != nil || len(created)+min(n, all-1) != all {
			t.Errorf("after %d files: created %q, %v", n, created, err)
		}
	}
}

func TestInitRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		make func(root string) error
		says string
	}{
		"a file":           {func(root string) error { return os.WriteFile(root, nil, 0o600) }, "is a file"},
		"a project":        {func(root string) error { return os.MkdirAll(root+"/src", 0o700) }, "holds src"},
		"a git repository": {func(root string) error { return os.MkdirAll(root+"/.git", 0o700) }, "holds .git"},
		"another agent":    {func(root string) error { return os.MkdirAll(root+"/skills", 0o700) }, "holds skills"},
		"a home that lost its consciousness": {func(root string) error {
			return errors.Join(os.MkdirAll(root+"/.amacs/state", 0o700), os.MkdirAll(root+"/.git", 0o700))
		}, "checkout -- consciousness.el"},
	} {
		root := filepath.Join(t.TempDir(), "agent")
		must(t, tc.make(root))
		_, created, err := Init(root, template)
		var not *NotHome
		if !errors.As(err, &not) || !strings.Contains(err.Error(), tc.says) || len(created) > 0 {
			t.Errorf("%s: %v, created %q", name, err, created)
		}
		if _, err := os.Stat(filepath.Join(root, Chat)); err == nil {
			t.Errorf("%s: something was written", name)
		}
		if _, err := Open(root); !errors.As(err, &not) {
			t.Errorf("%s: opened, %v", name, err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "amacs init") {
		t.Errorf("%v", err)
	}
}

func TestTwoFirstStarts(t *testing.T) {
	root := filepath.Join(t.TempDir(), "agent")
	var wg sync.WaitGroup
	var counts [4]int
	for i := range counts {
		wg.Go(func() {
			_, created, err := Init(root, template)
			counts[i] = len(created)
			if err != nil && !errors.As(err, new(*NotHome)) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	sum := 0
	for _, n := range counts {
		sum += n
	}
	if sum != len(template) {
		t.Errorf("created %v", counts)
	}
}

func TestCounters(t *testing.T) {
	h := newHome(t)
	for i, tick := range []int{5, 3, 0, 9} {
		must(t, h.Update(ctx, func(tx *Tx) error { return tx.Count(tick) }))
		c, err := h.Counters()
		if want := (Counters{[]int{5, 5, 5, 9}[i], i + 1}); err != nil || c != want {
			t.Errorf("%+v, %v; want %+v", c, err, want)
		}
	}
	put(t, h, counters, `{"ti`)
	if c, err := h.Counters(); err != nil || c != (Counters{}) {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestUnreadableFileIsDamage(t *testing.T) {
	h := newHome(t)
	must(t, os.Remove(h.Path(Scratchpad)), os.Mkdir(h.Path(Scratchpad), 0o700))
	var damaged *Damaged
	if _, err := h.Draft().Bytes(Scratchpad); !errors.As(err, &damaged) {
		t.Errorf("%v", err)
	}
	must(t, os.Remove(h.Path(Consciousness)))
	s, _, err := h.Draft().State()
	if !errors.As(err, &damaged) || s.Mood != "awakening" {
		t.Errorf("%v", err)
	}
}

func TestBlankFileGetsItsHead(t *testing.T) {
	for _, src := range []string{"", "\n \n"} {
		d := draft(map[string]string{Chat: src})
		must(t, d.Say(Line{Tick: 1, At: noon, Text: "x"}))
		if got := d.text(t, Chat); !strings.HasPrefix(got, orgHead+"\n* Tick 1\n") {
			t.Errorf("%q became %q", src, got)
		}
	}
}

// TestReadOnlyFolder: an error, and all is done once it may be.
func TestReadOnlyFolder(t *testing.T) {
	dir, err := os.MkdirTemp("", "amacs")
	must(t, err, os.Chmod(dir, 0o755))
	defer os.RemoveAll(dir)
	h, _, err := Init(filepath.Join(dir, "agent"), template)
	must(t, err)
	bin, err := os.ReadFile(os.Args[0])
	must(t, err, os.WriteFile(dir+"/bin", bin, 0o755))
	cmd := command("change", h.root)
	cmd.Path = dir + "/bin"
	if os.Getuid() == 0 { // root may write everywhere
		asNobody(cmd)
		must(t, filepath.WalkDir(h.root, func(path string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chown(path, 65534, 65534))
		}))
	}
	must(t, os.Chmod(h.root, 0o500))
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Run(); err == nil || !strings.Contains(errs.String(), "permission denied") || !strings.Contains(errs.String(), "saving ") {
		t.Errorf("%v %s", err, errs.String())
	}
	must(t, os.Chmod(h.root, 0o700))
	if left, _ := filepath.Glob(h.Path(tempDir) + "/.*"); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	mend(t, h)
	if got := ticks(t, h); got != [4]int{2, 2, 2, 2} {
		t.Errorf("ticks %v", got)
	}
}

func ExampleDraft() {
	d := NewDraft(fstest.MapFS{})
	_ = d.AddNote(Note{Heading: "Parser", Thread: "rust-debugging", Tick: 45, Text: "It is the lifetime."})
	b, _ := d.Bytes(Scratchpad)
	fmt.Printf("%s", b)
	// Output:
	// # -*- coding: utf-8 -*-
	//
	// * Parser
	// :PROPERTIES:
	// :THREAD: rust-debugging
	// :TICK: 45
	// :END:
	// It is the lifetime.
}
