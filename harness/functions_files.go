package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"amacs/consciousness/sexp"
	"amacs/harness/eval"
	"amacs/harness/files"
	"amacs/harness/home"
	"amacs/harness/permit"
	"amacs/threads"
)

func fileFunctions(m *Mind) []eval.Func {
	why := []string{":why"}
	return []eval.Func{
		{Name: "agent-read-file", Args: "PATH &key :from LINE :lines N :why TEXT", Doc: "The text of a file, whole or some lines of it.",
			Min: 1, Max: 1, Keys: []string{":from", ":lines", ":why"}, Waits: true, Call: m.readFile},
		{Name: "agent-list-directory", Args: "PATH &key :depth N :why TEXT", Doc: "What a folder holds.",
			Min: 1, Max: 1, Keys: []string{":depth", ":why"}, Waits: true, Call: m.listDirectory},
		{Name: "agent-search-files", Args: "PATTERN &key :in PATH :glob TEXT :literal BOOL :ignore-case BOOL :context N :max N :hidden BOOL :ignored BOOL :why TEXT",
			Doc: "Lines that match a regular expression, in the project; files that git ignores are left out.",
			Min: 1, Max: 1, Keys: []string{":in", ":glob", ":literal", ":ignore-case", ":context", ":max", ":hidden", ":ignored", ":why"}, Waits: true, Call: m.searchFiles},
		{Name: "agent-write-file", Args: "PATH TEXT &key :why TEXT", Doc: "Write a file whole; asks, but in the workspace.",
			Min: 2, Max: 2, Keys: why, Waits: true, Call: m.writeFile},
		{Name: "agent-edit-file", Args: "PATH OLD NEW &key :all BOOL :why TEXT", Doc: "Replace a text that occurs just once in a file (all of them with :all t); asks, but in the workspace.",
			Min: 3, Max: 3, Keys: []string{":all", ":why"}, Waits: true, Call: m.editFile},
	}
}

// place is a path of an argument: absolute, and where it really leads.
func (m *Mind) place(path string) (string, error) {
	if strings.TrimSpace(path) == "" {
		return "", fmt.Errorf("a path is empty")
	}
	if strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("a path holds a NUL")
	}
	rest, inWork := strings.CutPrefix(path, "workspace")
	if inWork && (rest == "" || rest[0] == '/') && m.gate != nil {
		if _, err := os.Lstat(m.absolute(path)); err != nil { // the project has none of its own
			path = filepath.Join(m.gate.home.Path(home.Workspace), rest)
		}
	}
	real, _ := resolve(m.absolute(path))
	return real, nil
}

// shortPath is a path as a human reads it: within the project without it.
func (m *Mind) shortPath(path string) string {
	if rel, err := filepath.Rel(m.project, path); m.project != "" && err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
		return rel
	}
	return path
}

// look passes the gate for reading, and gives the place.
func (m *Mind) look(ctx context.Context, op permit.Op, a eval.Args, path, verb, call string) (place string, err error) {
	if place, err = m.place(path); err != nil {
		return "", err
	}
	d := deal{summary: verb + " " + m.shortPath(place), call: call, dir: m.Cwd, files: []string{place}}
	if d.why, err = a.Text(":why"); err != nil {
		return "", err
	}
	done, err := m.gate.pass(ctx, permit.Action{Op: op, Path: place}, d)
	if err != nil {
		return "", err
	}
	done("", nil)
	return place, nil
}

func (m *Mind) readFile(ctx context.Context, a eval.Args) (sexp.Value, error) {
	path, err := a.String(0)
	if err != nil {
		return nil, err
	}
	from, err := a.Count(":from", 1)
	if err != nil {
		return nil, err
	}
	count, err := a.Count(":lines", 0)
	if err != nil {
		return nil, err
	}
	call := form("agent-read-file", a, ":from", ":lines")
	place, err := m.look(ctx, permit.ReadFile, a, path, "read", call)
	if err != nil {
		return nil, err
	}
	t, err := files.Read(place, from, count)
	if err != nil {
		return nil, err
	}
	if t.Names > 1 && !m.gate.ours(place) {
		d := deal{summary: "read " + m.shortPath(place), call: call, dir: m.Cwd, files: []string{place},
			firm: fmt.Sprintf("the file has %d names, and may be one that is kept elsewhere", t.Names)}
		done, err := m.gate.pass(ctx, permit.Action{Op: permit.ReadFile, Path: place}, d)
		if err != nil {
			return nil, err
		}
		done("", nil)
	}
	m.heard("file " + m.shortPath(place))
	text := m.gate.Clean(t.Text)
	if t.Cut || t.From > 1 {
		text += fmt.Sprintf("\n[lines %d to %d of %d]", t.From, t.To, t.Lines)
	}
	return text, nil
}

// ours says that a path lies in the agent's own folder of projects.
func (g *gate) ours(path string) bool {
	work, _ := resolve(g.home.Path(home.Workspace))
	return strings.HasPrefix(path, work+"/")
}

func (m *Mind) listDirectory(ctx context.Context, a eval.Args) (sexp.Value, error) {
	path, err := a.String(0)
	if err != nil {
		return nil, err
	}
	depth, err := a.Count(":depth", 1)
	if err != nil {
		return nil, err
	}
	place, err := m.look(ctx, permit.ListDir, a, path, "list", form("agent-list-directory", a, ":depth"))
	if err != nil {
		return nil, err
	}
	l, err := files.List(place, depth)
	if err != nil {
		return nil, err
	}
	m.heard("folder " + m.shortPath(place))
	return m.gate.Clean(listingText(l)), nil
}

func (m *Mind) searchFiles(ctx context.Context, a eval.Args) (sexp.Value, error) {
	q := files.Query{}
	var err error
	if q.Pattern, err = a.String(0); err != nil {
		return nil, err
	}
	if q.Glob, err = a.Text(":glob"); err != nil {
		return nil, err
	}
	q.Literal, q.Hidden, q.Ignored = isTrue(a, ":literal"), isTrue(a, ":hidden"), isTrue(a, ":ignored")
	q.IgnoreCase = isTrue(a, ":ignore-case")
	if q.Context, err = a.Count(":context", 0); err != nil {
		return nil, err
	}
	if q.Max, err = a.Count(":max", 0); err != nil {
		return nil, err
	}
	in, err := a.Text(":in")
	if err != nil {
		return nil, err
	}
	if in == "" {
		in = m.Cwd
	}
	place, err := m.look(ctx, permit.Search, a, in, "search", form("agent-search-files", a, ":in", ":glob", ":literal", ":ignore-case", ":context", ":max", ":hidden", ":ignored"))
	if err != nil {
		return nil, err
	}
	user, _ := os.UserHomeDir()
	q.Sensitive = func(path string) bool { return permit.Secret(path, user) }
	found, err := files.Search(ctx, place, q)
	if err != nil {
		return nil, err
	}
	m.heard("files below " + m.shortPath(place))
	return m.gate.Clean(foundText(found)), nil
}

func (m *Mind) writeFile(ctx context.Context, a eval.Args) (sexp.Value, error) {
	text, err := a.String(1)
	if err != nil {
		return nil, err
	}
	return m.changeFile(ctx, a, permit.WriteFile, "write", form("agent-write-file", a), func(place string) (files.Change, error) {
		return files.PlanWrite(place, text)
	})
}

func (m *Mind) editFile(ctx context.Context, a eval.Args) (sexp.Value, error) {
	was, err := a.String(1)
	if err != nil {
		return nil, err
	}
	now, err := a.String(2)
	if err != nil {
		return nil, err
	}
	return m.changeFile(ctx, a, permit.EditFile, "edit", form("agent-edit-file", a, ":all"), func(place string) (files.Change, error) {
		return files.PlanEdit(place, was, now, isTrue(a, ":all"))
	})
}

// listingText is a listing as the agent reads it.
func listingText(l files.Listing) string {
	var b strings.Builder
	for _, e := range l.Entries {
		switch e.Kind {
		case "link":
			fmt.Fprintf(&b, "%s -> %s\n", e.Path, e.Link)
		case "file":
			fmt.Fprintf(&b, "%s  %d bytes\n", e.Path, e.Size)
		case "special":
			fmt.Fprintf(&b, "%s  (no regular file)\n", e.Path)
		default:
			b.WriteString(e.Path + "\n")
		}
	}
	if len(l.Entries) == 0 {
		b.WriteString("(empty folder)\n")
	}
	if l.Left > 0 {
		fmt.Fprintf(&b, "[... and %d more]\n", l.Left)
	}
	for _, c := range l.Closed {
		fmt.Fprintf(&b, "[%s can not be read]\n", c)
	}
	return b.String()
}

// foundText is what a search found as the agent reads it, path:line: text, with
// path-line- before the lines around.
func foundText(f files.Found) string {
	var b strings.Builder
	for _, h := range f.Hits {
		for i, text := range h.Before {
			fmt.Fprintf(&b, "%s-%d- %s\n", h.Path, h.Line-len(h.Before)+i, text)
		}
		fmt.Fprintf(&b, "%s:%d: %s\n", h.Path, h.Line, h.Text)
		for i, text := range h.After {
			fmt.Fprintf(&b, "%s-%d- %s\n", h.Path, h.Line+1+i, text)
		}
	}
	fmt.Fprintf(&b, "%s in %s", Count(len(f.Hits), "line"), Count(f.Files, "file"))
	if f.Cut {
		b.WriteString(", and there are more")
	}
	if len(f.Skipped) > 0 {
		b.WriteString("; not looked into: " + strings.Join(f.Skipped, ", "))
	}
	return b.String()
}

// changeFile plans a change, asks with its diff, records what was there and makes
// the change.
func (m *Mind) changeFile(ctx context.Context, a eval.Args, op permit.Op, verb, call string, plan func(place string) (files.Change, error)) (sexp.Value, error) {
	path, err := a.String(0)
	if err != nil {
		return nil, err
	}
	place, err := m.place(path)
	if err != nil {
		return nil, err
	}
	d := deal{summary: verb + " " + m.shortPath(place), call: call, dir: m.Cwd, files: []string{place}}
	if d.why, err = a.Text(":why"); err != nil {
		return nil, err
	}
	v, err := m.gate.verdict(permit.Action{Op: op, Path: place}, d)
	if err != nil {
		return nil, err
	}
	if v.Tier == permit.Never { // before anything of the file is told
		_, err := m.gate.abide(ctx, v, d)
		return nil, err
	}
	c, err := plan(place)
	if err != nil {
		return nil, m.gate.veil(place, err)
	}
	d.diff = m.shortDiff(c)
	done, err := m.gate.abide(ctx, v, d)
	if err != nil {
		return nil, err
	}
	err = m.gate.apply(ctx, c, verb)
	done(d.diff, err)
	if err != nil {
		return nil, err
	}
	if !m.gate.asked { // else it was shown with the question
		m.gate.show(Event{Notice, m.gate.Clean(d.diff)})
	}
	m.follow(place)
	if !slices.Contains(m.edited, m.shortPath(place)) {
		m.edited = append(m.edited, m.shortPath(place))
	}
	return fmt.Sprintf("%s: %s", map[bool]string{true: "written", false: "changed"}[c.New || verb == "write"], m.shortPath(place)), nil
}

// veil is why a change can not be made, without what is in a file that may not be
// read unasked.
func (g *gate) veil(place string, err error) error {
	if v, verr := g.verdict(permit.Action{Op: permit.ReadFile, Path: place}, deal{}); verr == nil && v.Tier != permit.Auto {
		return &refusal{"it does not fit the file, which may not be read unasked; ask for that first"}
	}
	if t, rerr := files.Read(place, 1, 1); rerr == nil && t.Names > 1 && !g.ours(place) {
		return &refusal{"it does not fit the file, which has several names and may not be read unasked; ask for that first"}
	}
	return err
}

// shortDiff is a change's diff with the path that the human reads.
func (m *Mind) shortDiff(c files.Change) string {
	diff, short := c.Diff(), m.shortPath(c.Path)
	if short == c.Path {
		return diff
	}
	for _, side := range []string{"--- a", "+++ b"} {
		diff = strings.Replace(diff, side+c.Path+"\n", side+"/"+short+"\n", 1)
	}
	return diff
}

// apply makes a change of a file, with what undoes it on disk first.
func (g *gate) apply(ctx context.Context, c files.Change, verb string) error {
	deed := home.Deed{Tick: g.m.Tick, At: g.now(), What: verb, Path: c.Path, New: c.New, After: home.Sum(c.After)}
	if err := g.home.Record(context.WithoutCancel(ctx), deed, c.Before); err != nil {
		return fmt.Errorf("keeping what %s held, so it is not changed: %w", c.Path, err)
	}
	return c.Apply()
}

// follow makes a file that was changed a buffer of the active thread, unless one
// shows it already.
func (m *Mind) follow(path string) {
	t, ok := m.State.Threads.Find(m.State.Threads.Active)
	if !ok || slices.Contains(t.Buffers, path) {
		return
	}
	err := m.changeThreads("following an edit", func(s threads.Set) (threads.Set, error) { return s.AddBuffer(t.ID, path) })
	if err != nil { // as many as a thread may have
		m.gate.show(Event{Notice, "(" + err.Error() + ")"})
	}
}

func isTrue(a eval.Args, key string) bool {
	v, ok := a.Key(key)
	return ok && v != sexp.Nil
}

// form is a call as it can be evaluated again, with the keywords that were given.
func form(name string, a eval.Args, keys ...string) string {
	list := []sexp.Value{sexp.Symbol(name)}
	for i := range a.Len() {
		list = append(list, quoted(a.Value(i)))
	}
	for _, k := range keys {
		if v, ok := a.Key(k); ok {
			list = append(list, sexp.Symbol(k), quoted(v))
		}
	}
	return sexp.Print(sexp.List(list...))
}

// quoted is a value as a form that gives it.
func quoted(v sexp.Value) sexp.Value {
	switch x := v.(type) {
	case sexp.Symbol:
		if x == sexp.Nil || x == sexp.T || strings.HasPrefix(string(x), ":") {
			return v
		}
	case *sexp.Cons:
	default:
		return v
	}
	return sexp.List(sexp.Symbol("quote"), v)
}
