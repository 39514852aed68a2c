package home

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"sort"
	"strconv"
	"strings"
	"time"

	"amacs/consciousness"
	"amacs/org"
	"amacs/threads"
)

// Draft is the home's texts in memory, read when first asked for. Edits change
// the draft; a transaction saves it. The same edit therefore serves twice: on
// the draft of a tick that is thinking, so that the agent sees its own changes,
// and again on the files as they are when it commits.
type Draft struct {
	disk  fs.FS
	guard *guard
	files map[string]*text
}

// text is a file of a draft; nil bytes mean that there is no file.
type text struct {
	was, now []byte
	damage   error
}

// Edit is one change of the home. What names it for messages.
type Edit struct {
	What  string
	Apply func(*Draft) error
}

// Damaged says that a file can not be understood and is therefore not written.
type Damaged struct {
	Path string
	Err  error
}

func (e *Damaged) Error() string {
	return fmt.Sprintf("%s is damaged and left alone: %v", e.Path, e.Err)
}

func (e *Damaged) Unwrap() error { return e.Err }

// Draft reads the home's files as they are now.
func (h *Home) Draft() *Draft { return newDraft(h.FS(), h.guard) }

// NewDraft makes a draft over a home's files, of whose secrets none is kept.
func NewDraft(disk fs.FS) *Draft { return newDraft(disk, &guard{}) }

func newDraft(disk fs.FS, g *guard) *Draft {
	return &Draft{disk: disk, guard: g, files: map[string]*text{}}
}

func (d *Draft) file(path string) *text {
	t, ok := d.files[path]
	if !ok {
		t = load(d.disk, path)
		d.files[path] = t
	}
	return t
}

// load reads a file. One that is there and can not be read is damaged, like one
// that can not be parsed.
func load(disk fs.FS, path string) *text {
	b, err := fs.ReadFile(disk, path)
	if errors.Is(err, fs.ErrNotExist) {
		if to, err := fs.ReadLink(disk, path); err == nil {
			return &text{damage: fmt.Errorf("it is a link to %s, which does not exist", to)}
		}
		return &text{}
	}
	if err != nil {
		return &text{damage: err}
	}
	t := &text{was: append([]byte{}, b...)}
	t.now = t.was
	switch {
	case path == Consciousness:
		_, _, t.damage = consciousness.Parse(b)
	case strings.HasSuffix(path, ".org"):
		t.damage = org.Damage(b)
	}
	return t
}

// Bytes is a file's text, nil if there is no such file. A damaged file is
// returned with a *Damaged error.
func (d *Draft) Bytes(path string) ([]byte, error) {
	t := d.file(path)
	if t.damage != nil {
		return t.now, &Damaged{path, t.damage}
	}
	return t.now, nil
}

// Put replaces a file's text; nil removes the file. A damaged file is refused.
// Secrets that come into the file by it are taken out, but a secret in the
// settings or in the name of a new file is an error.
func (d *Draft) Put(path string, b []byte) error {
	t := d.file(path)
	if t.damage != nil {
		return &Damaged{path, t.damage}
	}
	if b != nil && t.now == nil {
		if found := d.guard.look(path, never); len(found) > 0 {
			return fmt.Errorf("a file's name would hold what looks like a %s; give it another", found[0].Kind)
		}
	}
	if b != nil {
		stored := d.guard.file(path, t.was, t.now, b)
		if path == ConfigFile && !bytes.Equal(stored, b) {
			return &BadSetting{fmt.Errorf("%s takes no secret: name a command that prints it, or a variable that holds it", ConfigFile)}
		}
		b = stored
	}
	t.now = b
	return nil
}

// Clean is text without secrets, as a draft stores it.
func (d *Draft) Clean(text string) string { return d.guard.clean(text) }

// edit passes a file's text through fn. A missing or blank file is given as an
// empty org file with its head.
func (d *Draft) edit(path string, fn func(src []byte) ([]byte, error)) error {
	src, err := d.Bytes(path)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(src)) == 0 {
		src = []byte(orgHead)
	}
	out, err := fn(src)
	if err != nil {
		return err
	}
	return d.Put(path, out)
}

// orgHead begins every org file: without it one invalid byte makes Emacs read
// the whole file as Latin-1.
const orgHead = "# -*- coding: utf-8 -*-\n"

// Changed lists the files whose text differs from what was read, sorted.
func (d *Draft) Changed() []string {
	var paths []string
	for path, t := range d.files {
		if !bytes.Equal(t.was, t.now) || (t.was == nil) != (t.now == nil) {
			paths = append(paths, path)
		}
	}
	sort.Strings(paths)
	return paths
}

// Contents are the changed files' texts. A file that was taken out is not among
// them.
func (d *Draft) Contents() map[string][]byte {
	out := map[string][]byte{}
	for _, path := range d.Changed() {
		if now := d.files[path].now; now != nil {
			out[path] = now
		}
	}
	return out
}

// State is the working state. notes are sentences on fields that did not fit.
// For a damaged or missing file it is the default state, with the error.
func (d *Draft) State() (s consciousness.State, notes []string, err error) {
	src, err := d.Bytes(Consciousness)
	if err != nil {
		return consciousness.New(), nil, err
	}
	if src == nil {
		return consciousness.New(), nil, &Damaged{Consciousness, errors.New("the file is missing; `git checkout -- " + Consciousness + "` brings it back")}
	}
	return consciousness.Parse(src)
}

// Mind changes the working state: fn is given the state as the file has it, and
// only the fields it changed are written.
func (d *Draft) Mind(fn func(*consciousness.State) error) error {
	s, _, err := d.State()
	if err != nil {
		return err
	}
	if err := fn(&s); err != nil {
		return err
	}
	for _, t := range s.Threads.Open {
		if found := d.guard.look(string(t.ID), in(d.files[Consciousness].was)); len(found) > 0 {
			return fmt.Errorf("a thread's id would hold what looks like a %s; choose another", found[0].Kind)
		}
	}
	out, err := consciousness.Splice(d.files[Consciousness].now, s)
	if err != nil {
		return err
	}
	return d.Put(Consciousness, out)
}

// Complete closes a thread: it leaves the open ones and is kept, with evidence
// and what was learnt, in archive/threads.org.
func (d *Draft) Complete(id threads.ID, evidence, learned string, tick int, at time.Time) error {
	if _, err := d.Bytes(threadArchive); err != nil {
		return err // before anything is changed
	}
	var done threads.Thread
	err := d.Mind(func(s *consciousness.State) error {
		s.Tick = tick
		if err := s.Complete(id, evidence, learned); err != nil {
			return err
		}
		done = s.Completed[len(s.Completed)-1]
		return nil
	})
	if err != nil {
		return err
	}
	return d.edit(threadArchive, func(src []byte) ([]byte, error) {
		e := org.Entry{
			Title: org.EscapeTitle(d.Clean(string(done.ID) + ": " + done.Concern)),
			Props: []org.Prop{
				{Key: "STARTED_TICK", Value: strconv.Itoa(done.Started)},
				{Key: "COMPLETED_TICK", Value: strconv.Itoa(done.Completed)},
				{Key: "COMPLETED_AT", Value: at.UTC().Format(time.RFC3339)},
			},
		}
		for _, part := range []struct{ name, text string }{
			{"Goal", done.Goal}, {"Evidence", done.Evidence}, {"Learned", done.Learned},
			{"Buffers", strings.Join(done.Buffers, "\n")}, {"Skills", strings.Join(done.Skills, "\n")},
		} {
			if part.text != "" {
				e.Children = append(e.Children, org.Entry{Title: part.name, Body: org.Escape(d.Clean(part.text))})
			}
		}
		return org.Append(src, e), nil
	})
}
