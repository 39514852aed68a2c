package harness

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"amacs/harness/home"
)

// edit changes a file as the agent's functions do: what was there is recorded
// first. With no text it only records.
func (r *rig) edit(tick int, path, text string) {
	r.t.Helper()
	before, err := os.ReadFile(path)
	r.at = r.at.Add(1)
	d := home.Deed{Tick: tick, At: r.at, What: "edit", Path: path, New: errors.Is(err, fs.ErrNotExist), After: home.Sum([]byte(text))}
	r.must(r.home.Record(context.Background(), d, before))
	if text != "" {
		r.must(os.WriteFile(path, []byte(text), 0o640))
	}
}

func (r *rig) revertAll(tick int, force bool, paths ...string) (say []string) {
	r.t.Helper()
	done, err := r.Revert(context.Background(), tick, paths, force)
	r.must(err)
	for _, d := range done {
		say = append(say, filepath.Base(d.Path)+": "+d.Say)
	}
	return say
}

func TestRevert(t *testing.T) {
	r := newRig(t)
	dir, err := filepath.EvalSymlinks(r.cwd)
	r.must(err)
	at := func(name string) string { return filepath.Join(dir, name) }
	old := "\x00\xffold\r\n" // any bytes
	r.write(at("a"), old)
	r.must(os.Chmod(at("a"), 0o750))
	r.write(at("b"), "b\n")
	r.edit(3, at("a"), "one\n")
	r.edit(3, at("a"), "two\n")
	r.edit(3, at("new"), "made\n")
	r.edit(4, at("b"), "b by the agent\n")
	r.edit(5, at("b"), "b again\n")

	// both edits of the tick at once; the mode stays
	for _, want := range []string{"a: put back new: removed, the agent had made it", "a: it is as it was before tick 3 new: it is as it was before tick 3"} {
		if got := strings.Join(r.revertAll(3, false), " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if got := r.text(at("a")); got != old {
			t.Errorf("a is %q", got)
		}
		if _, err := os.Lstat(at("new")); err == nil {
			t.Error("new is still there")
		}
	}
	if info, err := os.Stat(at("a")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}

	// a later tick's edit stands in the way
	if got := r.revertAll(4, false); !slices.Equal(got, []string{"b: tick 5 edited it since; `amacs revert 5` comes first"}) {
		t.Errorf("%q", got)
	}
	r.revertAll(5, false)
	r.revertAll(4, false, at("b"))
	if got := r.text(at("b")); got != "b\n" {
		t.Errorf("b is %q", got)
	}

	// a hand edit is shown and left, --force keeps it before it goes
	r.edit(6, at("b"), "b of the agent\n")
	r.write(at("b"), "b of a hand\n")
	done, err := r.Revert(context.Background(), 6, nil, false)
	r.must(err)
	if d := done[0]; d.Done || !strings.Contains(d.Diff, "-b of a hand\n+b\n") {
		t.Errorf("%+v", d)
	}
	if got := r.text(at("b")); got != "b of a hand\n" {
		t.Errorf("b is %q", got)
	}
	r.revertAll(6, true)
	if got := r.text(at("b")); got != "b\n" {
		t.Errorf("b is %q", got)
	}
	if b, err := r.home.Preimage(home.Sum([]byte("b of a hand\n"))); err != nil || string(b) != "b of a hand\n" {
		t.Errorf("what --force replaced: %q, %v", b, err)
	}

	for _, c := range []struct {
		tick  int
		paths []string
		want  string
	}{{99, nil, "edited no files"}, {3, []string{at("b")}, "it edited " + at("a")}} {
		if _, err := r.Revert(context.Background(), c.tick, c.paths, false); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("tick %d %v: %v", c.tick, c.paths, err)
		}
	}
}

func (r *rig) text(path string) string {
	r.t.Helper()
	b, err := os.ReadFile(path)
	r.must(err)
	return string(b)
}

// A link that has taken the file's place, or that of its folder, is not followed.
func TestRevertFollowsNoLink(t *testing.T) {
	r := newRig(t)
	dir, err := filepath.EvalSymlinks(r.cwd)
	r.must(err)
	victim := filepath.Join(dir, "victim")
	for _, name := range []string{"file", "folder"} {
		path := filepath.Join(dir, name, "f")
		r.write(path, "before\n")
		r.edit(1, path, "after\n")
		r.write(filepath.Join(victim, "f"), "after\n")
		switch name {
		case "file":
			r.must(os.Remove(path))
			r.must(os.Symlink(filepath.Join(victim, "f"), path))
		case "folder":
			r.must(os.RemoveAll(filepath.Dir(path)))
			r.must(os.Symlink(victim, filepath.Dir(path)))
		}
		for _, force := range []bool{false, true} {
			done, err := r.Revert(context.Background(), 1, []string{path}, force)
			if err == nil {
				t.Errorf("%s: %+v", name, done)
			}
		}
		if got := r.text(filepath.Join(victim, "f")); got != "after\n" {
			t.Errorf("%s: the link was followed: %q", name, got)
		}
	}
}

// What undo does not undo is listed, but for edits that were put back.
func TestUndoNamesDeeds(t *testing.T) {
	const said = `{"mood":"m","confidence":1,"monologue":"m","reply":"r"}`
	r := newRig(t, said, said, said)
	dir, err := filepath.EvalSymlinks(r.cwd)
	r.must(err)
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	r.write(a, "a\n")
	r.write(b, "b\n")
	r.say("one")
	r.edit(1, a, "a1\n")
	r.say("two")
	r.edit(2, a, "a2\n")
	r.edit(2, a, "a3\n")
	r.edit(2, b, "b2\n")
	r.edit(2, b, "b3\n")
	run := home.Deed{Tick: 2, At: r.at, What: "run", Command: "make", Dir: dir, Exit: -1}
	r.must(r.home.Record(context.Background(), run, nil))
	run.Exit = 2
	r.must(r.home.Record(context.Background(), run, nil))
	r.revertAll(2, false, b)
	var got []string
	for _, d := range r.undo(1).Deeds {
		got = append(got, d.What+" "+filepath.Base(d.Path)+d.Command)
		if d.What == "run" && d.Exit != 2 {
			t.Errorf("the command ended with %d", d.Exit)
		}
	}
	if !slices.Equal(got, []string{"edit a", "run .make"}) {
		t.Errorf("%q", got)
	}
}
