package harness

import (
	"context"
	"fmt"
	"slices"

	"amacs/consciousness/sexp"
	"amacs/harness/eval"
	"amacs/harness/home"
	"amacs/skills"
	"amacs/threads"
)

func skillFunctions(m *Mind) []eval.Func {
	bind := func(apply func(threads.Set, threads.ID, string) (threads.Set, error), known bool) func(context.Context, eval.Args) (sexp.Value, error) {
		return func(_ context.Context, a eval.Args) (sexp.Value, error) {
			name, err := a.String(0)
			if err != nil {
				return nil, err
			}
			id, err := m.threadArg(a, 1)
			if err != nil {
				return nil, err
			}
			if known {
				if _, err := skills.Load(m.skillFS, name); err != nil {
					return nil, err
				}
			}
			err = m.changeThreads("binding a skill", func(s threads.Set) (threads.Set, error) { return apply(s, id, name) })
			if err != nil {
				return nil, err
			}
			t, _ := m.State.Threads.Find(id)
			return fmt.Sprintf("skills of %s: %s", id, orNone(t.Skills)), nil
		}
	}
	return []eval.Func{
		{Name: "agent-list-available-skills", Doc: "Each skill's name and what it is for.", Min: 0, Max: 0,
			Call: func(context.Context, eval.Args) (sexp.Value, error) {
				ok, broken := skills.List(m.skillFS)
				var out []sexp.Value
				for _, s := range ok {
					out = append(out, &sexp.Cons{Car: s.Name, Cdr: s.Description})
				}
				for _, b := range broken {
					out = append(out, &sexp.Cons{Car: b.Name, Cdr: "broken: " + b.Err.Error()})
				}
				return sexp.List(out...), nil
			}},
		{Name: "agent-bind-skill-to-thread", Args: "NAME &optional THREAD", Doc: "Show a skill while the thread (the active one) is active.",
			Min: 1, Max: 2, Call: bind(threads.Set.BindSkill, true)},
		{Name: "agent-unbind-skill", Args: "NAME &optional THREAD", Doc: "Stop showing a skill.", Min: 1, Max: 2,
			Call: bind(unbindSkill, false)},
		{Name: "agent-read-skill", Args: "NAME &optional FILE", Doc: "The text of a skill, or of a file beside it such as references/x.md.", Min: 1, Max: 2,
			Call: func(_ context.Context, a eval.Args) (sexp.Value, error) {
				name, err := a.String(0)
				if err != nil {
					return nil, err
				}
				file := "SKILL.md"
				if a.Len() > 1 && a.Value(1) != sexp.Nil {
					if file, err = a.String(1); err != nil {
						return nil, err
					}
				}
				text, err := skills.ReadFile(m.skillFS, name, file)
				return string(text), err
			}},
		{Name: "agent-create-skill", Args: "NAME :description TEXT :body TEXT", Doc: "Write a new skill of your own.",
			Min: 1, Max: 1, Keys: []string{":description", ":body"}, Call: m.createSkill},
	}
}

func (m *Mind) createSkill(_ context.Context, a eval.Args) (sexp.Value, error) {
	name, err := a.String(0)
	if err != nil {
		return nil, err
	}
	description, err := a.Text(":description")
	if err != nil {
		return nil, err
	}
	body, err := a.Text(":body")
	if err != nil {
		return nil, err
	}
	description, body = m.draft.Clean(description), m.draft.Clean(body)
	files, err := skills.New(name, description, body)
	if err != nil {
		return nil, err
	}
	err = m.edit("creating a skill", func(d *home.Draft) error {
		for path, text := range files {
			path = home.Skills + "/" + path
			if have, err := d.Bytes(path); err != nil {
				return err
			} else if have != nil {
				return fmt.Errorf("there is a skill %q already; read it with (agent-read-skill %q)", name, name)
			}
			if err := d.Put(path, text); err != nil {
				return err
			}
		}
		return nil
	})
	return name, err
}

// unbindSkill takes a skill from a thread that has it.
func unbindSkill(s threads.Set, id threads.ID, name string) (threads.Set, error) {
	if t, ok := s.Find(id); ok && !slices.Contains(t.Skills, name) {
		return s, fmt.Errorf("thread %q has no skill %q; it has %s", id, name, orNone(t.Skills))
	}
	return s.UnbindSkill(id, name)
}

// threadArg is the thread that an optional argument names, else the active one.
func (m *Mind) threadArg(a eval.Args, i int) (threads.ID, error) {
	if a.Len() > i && a.Value(i) != sexp.Nil {
		id, err := a.String(i)
		return threads.ID(id), err
	}
	if m.State.Threads.Active == "" {
		return "", fmt.Errorf("no thread is active; name one, or (agent-switch-thread ID) first")
	}
	return m.State.Threads.Active, nil
}
