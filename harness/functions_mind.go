package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"amacs/consciousness"
	"amacs/consciousness/sexp"
	"amacs/harness/eval"
	"amacs/harness/home"
	"amacs/harness/permit"
	"amacs/skills"
	"amacs/threads"
)

// change edits the working state, on the draft now and in the home at the
// commit, and reads it back.
func (m *Mind) change(what string, fn func(*consciousness.State) error) error {
	err := m.edit(what, func(d *home.Draft) error {
		return d.Mind(func(s *consciousness.State) error {
			s.Tick = m.Tick
			return fn(s)
		})
	})
	if err != nil {
		return err
	}
	return m.reread()
}

// reread takes the working state from the draft again.
func (m *Mind) reread() error {
	s, _, err := m.draft.State()
	if err != nil {
		return err
	}
	gap := m.State.LongGap
	m.State = stamp(s, m.Tick, m.Now)
	m.State.LongGap = gap
	return nil
}

// changeThreads edits the set of threads.
func (m *Mind) changeThreads(what string, fn func(threads.Set) (threads.Set, error)) error {
	return m.change(what, func(s *consciousness.State) (err error) {
		s.Threads, err = fn(s.Threads)
		return err
	})
}

func threadFunctions(m *Mind) []eval.Func {
	return []eval.Func{
		{Name: "agent-create-thread", Args: "ID :concern TEXT &key :goal TEXT :buffers LIST :skills LIST",
			Doc: "Open a line of work; at most three are open. Does not switch to it.",
			Min: 1, Max: 1, Keys: []string{":concern", ":goal", ":buffers", ":skills"}, Waits: true, Call: m.createThread},
		{Name: "agent-switch-thread", Args: "ID", Doc: "Make a thread the active one.", Min: 1, Max: 1,
			Call: func(_ context.Context, a eval.Args) (sexp.Value, error) {
				id, err := a.String(0)
				if err != nil {
					return nil, err
				}
				err = m.changeThreads("switching threads", func(s threads.Set) (threads.Set, error) {
					return s.Switch(threads.ID(id))
				})
				return id, err
			}},
		{Name: "agent-complete-thread", Args: "ID :evidence TEXT &key :learned TEXT",
			Doc: "Close a thread, with what shows that it is done and what was learnt.",
			Min: 1, Max: 1, Keys: []string{":evidence", ":learned"}, Call: m.completeThread},
		{Name: "agent-list-threads", Doc: "The ids of the open threads.", Min: 0, Max: 0,
			Call: func(context.Context, eval.Args) (sexp.Value, error) {
				var ids []sexp.Value
				for _, t := range m.State.Threads.Open {
					ids = append(ids, string(t.ID))
				}
				return sexp.List(ids...), nil
			}},
		{Name: "agent-thread-add-buffer", Args: "ID PATH", Doc: "Show a file or folder while the thread is active.", Min: 2, Max: 2,
			Waits: true, Call: m.addBuffer},
		{Name: "agent-thread-remove-buffer", Args: "ID PATH", Doc: "Stop showing a file or folder.", Min: 2, Max: 2,
			Call: m.dropBuffer},
	}
}

func (m *Mind) createThread(ctx context.Context, a eval.Args) (sexp.Value, error) {
	name, err := a.String(0)
	if err != nil {
		return nil, err
	}
	id, err := threads.ParseID(name)
	if err != nil {
		if _, ok := a.Key(":concern"); !ok {
			return nil, fmt.Errorf("%w; the form is (agent-create-thread \"id\" :concern \"what it is about\")", err)
		}
		return nil, err
	}
	t := threads.Thread{ID: id, Started: m.Tick}
	for key, at := range map[string]*string{":concern": &t.Concern, ":goal": &t.Goal} {
		if *at, err = a.Text(key); err != nil {
			return nil, err
		}
	}
	if t.Concern == "" {
		return nil, fmt.Errorf("a thread needs a concern: (agent-create-thread %q :concern \"what it is about\")", id)
	}
	if t.Buffers, err = a.Texts(":buffers"); err != nil {
		return nil, err
	}
	for i, path := range t.Buffers {
		if t.Buffers[i], err = m.place(path); err != nil {
			return nil, err
		}
	}
	if err := m.show(ctx, form("agent-create-thread", a, ":concern", ":goal", ":buffers", ":skills"), t.Buffers...); err != nil {
		return nil, err
	}
	if t.Skills, err = a.Texts(":skills"); err != nil {
		return nil, err
	}
	for _, s := range t.Skills {
		if _, err := skills.Load(m.skillFS, s); err != nil {
			return nil, err
		}
	}
	err = m.changeThreads("creating a thread", func(s threads.Set) (threads.Set, error) { return s.Create(t) })
	return string(id), err
}

func (m *Mind) completeThread(_ context.Context, a eval.Args) (sexp.Value, error) {
	id, err := a.String(0)
	if err != nil {
		return nil, err
	}
	evidence := ""
	if v, ok := a.Key(":evidence"); ok && v != sexp.Nil {
		if evidence, ok = v.(string); !ok {
			evidence = sexp.Print(v)
		}
	}
	learned, err := a.Text(":learned")
	if err != nil {
		return nil, err
	}
	err = m.edit("completing a thread", func(d *home.Draft) error {
		return d.Complete(threads.ID(id), evidence, learned, m.Tick, m.Now)
	})
	if err != nil {
		return nil, err
	}
	return "completed " + id, m.reread()
}

// show passes the gate for what will be shown: as files that are read.
func (m *Mind) show(ctx context.Context, call string, paths ...string) error {
	var all []permit.Action
	d := deal{summary: "see", call: call, dir: m.Cwd}
	for _, path := range paths {
		place, err := m.place(path)
		if err != nil {
			return err
		}
		all = append(all, permit.Action{Op: readingOf(place), Path: place})
		d.files = append(d.files, place)
		d.summary += " " + m.shortPath(place)
	}
	if len(all) == 0 {
		return nil
	}
	d.also = all[1:]
	done, err := m.gate.pass(ctx, all[0], d)
	if err == nil {
		done("", nil)
	}
	return err
}

// readingOf is how a buffer reads a place.
func readingOf(place string) permit.Op {
	if info, err := os.Stat(place); err == nil && info.IsDir() {
		return permit.ListDir
	}
	return permit.ReadFile
}

// addBuffer shows a file or folder with a thread. The path is kept absolute and
// without links.
func (m *Mind) addBuffer(ctx context.Context, a eval.Args) (sexp.Value, error) {
	id, path, err := bufferArgs(a)
	if err != nil {
		return nil, err
	}
	if path, err = m.place(path); err != nil {
		return nil, err
	}
	if err := m.show(ctx, form("agent-thread-add-buffer", a), path); err != nil {
		return nil, err
	}
	return path, m.changeThreads("adding a buffer", func(s threads.Set) (threads.Set, error) { return s.AddBuffer(id, path) })
}

// dropBuffer is the reverse.
func (m *Mind) dropBuffer(_ context.Context, a eval.Args) (sexp.Value, error) {
	id, path, err := bufferArgs(a)
	if err != nil {
		return nil, err
	}
	t, _ := m.State.Threads.Find(id)
	if path = m.absolute(path); !slices.Contains(t.Buffers, path) {
		if path, err = m.place(path); err != nil {
			return nil, err
		}
	}
	return path, m.changeThreads("removing a buffer", func(s threads.Set) (threads.Set, error) { return removeBuffer(s, id, path) })
}

func bufferArgs(a eval.Args) (id threads.ID, path string, err error) {
	name, err := a.String(0)
	if err == nil {
		path, err = a.String(1)
	}
	return threads.ID(name), path, err
}

// removeBuffer takes a path from a thread that has it.
func removeBuffer(s threads.Set, id threads.ID, path string) (threads.Set, error) {
	if t, ok := s.Find(id); ok && !slices.Contains(t.Buffers, path) {
		return s, fmt.Errorf("thread %q has no buffer %s; it has %s", id, path, orNone(t.Buffers))
	}
	return s.RemoveBuffer(id, path)
}

// absolute is the path that is meant, from the folder of the face or the human's
// own; "" stays.
func (m *Mind) absolute(path string) string {
	if path == "" {
		return ""
	}
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		if dir, err := os.UserHomeDir(); err == nil {
			return filepath.Join(dir, rest)
		}
	}
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(m.Cwd, path)
}

func stateFunctions(m *Mind) []eval.Func {
	return []eval.Func{
		{Name: "agent-get", Args: "'FIELD", Doc: "The value of a field of your consciousness.", Min: 1, Max: 1,
			Call: func(_ context.Context, a eval.Args) (sexp.Value, error) {
				key, err := a.String(0)
				if err != nil {
					return nil, err
				}
				return m.State.Get(sexp.Symbol(key))
			}},
		{Name: "agent-set", Args: "'FIELD VALUE", Doc: "Set a field that is yours to choose; derived ones refuse.", Min: 2, Max: 2,
			Call: func(_ context.Context, a eval.Args) (sexp.Value, error) {
				key, err := a.String(0)
				if err != nil {
					return nil, err
				}
				v := a.Value(1)
				clamped := m.State.Clamps(sexp.Symbol(key), v)
				err = m.change("setting "+key, func(s *consciousness.State) error { return s.Set(sexp.Symbol(key), v) })
				if err != nil {
					return nil, err
				}
				now, err := m.State.Get(sexp.Symbol(key))
				if err != nil || len(clamped) == 0 {
					return now, err
				}
				return fmt.Sprintf("%s (%s)", sexp.Print(now), strings.Join(clamped, "; ")), nil
			}},
	}
}

// noteThread is the thread that a note belongs to, one line; "" for all.
func noteThread(a eval.Args) (string, error) {
	id, err := a.Text(":thread")
	if id = oneLine(id); id == "null" || id == "nil" || id == "no-thread" {
		id = "" // as in the file and in commit subjects
	}
	return id, err
}

func noteFunctions(m *Mind) []eval.Func {
	write := func(what string, apply func(*home.Draft, home.Note) error) func(context.Context, eval.Args) (sexp.Value, error) {
		return func(_ context.Context, a eval.Args) (sexp.Value, error) {
			n := home.Note{Tick: m.Tick}
			var err error
			if n.Heading, err = a.String(0); err != nil {
				return nil, err
			}
			if n.Text, err = a.String(1); err != nil {
				return nil, err
			}
			if n.Thread, err = noteThread(a); err != nil {
				return nil, err
			}
			if err := m.edit(what, func(d *home.Draft) error { return apply(d, n) }); err != nil {
				return nil, err
			}
			if _, ok := m.State.Threads.Find(threads.ID(n.Thread)); !ok && n.Thread != "" {
				return fmt.Sprintf("%s (stored; thread %q is not open)", n.Heading, n.Thread), nil
			}
			return n.Heading, nil
		}
	}
	thread := []string{":thread"}
	return []eval.Func{
		{Name: "agent-add-note", Args: "HEADING TEXT &key :thread ID", Doc: "Write a note; a heading used again in the same thread is added to.",
			Min: 2, Max: 2, Keys: thread, Call: write("adding a note", (*home.Draft).AddNote)},
		{Name: "agent-edit-note", Args: "HEADING TEXT &key :thread ID", Doc: "Replace a note's text; an empty text takes the note out.",
			Min: 2, Max: 2, Keys: thread, Call: write("editing a note", (*home.Draft).EditNote)},
		{Name: "agent-list-notes", Doc: "Heading, thread and tick of every note.", Min: 0, Max: 0,
			Call: func(context.Context, eval.Args) (sexp.Value, error) {
				src, err := m.draft.Bytes(home.Scratchpad)
				if err != nil {
					return nil, err
				}
				var out []sexp.Value
				for _, n := range home.Notes(src) {
					thread := sexp.Value(sexp.Nil)
					if n.Thread != "" {
						thread = n.Thread
					}
					out = append(out, sexp.List(n.Heading, thread, int64(n.Tick)))
				}
				return sexp.List(out...), nil
			}},
		{Name: "agent-read-note", Args: "HEADING &key :thread ID", Doc: "A note's whole text.", Min: 1, Max: 1, Keys: thread,
			Call: func(_ context.Context, a eval.Args) (sexp.Value, error) {
				heading, err := a.String(0)
				if err != nil {
					return nil, err
				}
				of, err := noteThread(a)
				if err != nil {
					return nil, err
				}
				n, err := m.draft.Note(heading, of)
				return n.Text, err
			}},
	}
}
