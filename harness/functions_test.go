package harness

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"amacs/consciousness/sexp"
	"amacs/harness/eval"
	"amacs/harness/home"
	"amacs/threads"
)

// run evaluates a form as the next tick would, and holds the edits it left,
// applied to a fresh draft, against the draft that the form itself saw.
func (r *rig) run(form string) (eval.Result, *home.Draft) {
	r.t.Helper()
	m, err := r.Peek(r.t.Context(), r.cwd)
	r.must(err)
	res := eval.Run(r.t.Context(), form, functions(m), nil, eval.DefaultLimits())
	fresh := r.home.Draft()
	for _, e := range m.edits {
		if err := e.Apply(fresh); err != nil {
			r.t.Errorf("%s: the edit %q: %v", form, e.What, err)
		}
	}
	if !maps.EqualFunc(m.draft.Contents(), fresh.Contents(), slices.Equal) {
		r.t.Errorf("%s: the edits do not give what the form saw:\n%s\nand\n%s", form, m.draft.Contents(), fresh.Contents())
	}
	return res, fresh
}

// settled has a thread "work" that is active, with a buffer, a skill and notes.
func settled(t *testing.T) *rig {
	r := newRig(t, `{"mood":"keen","confidence":0.5,"monologue":"Began","reply":"Yes.","eval":"(agent-create-skill \"tidy\" :description \"How to tidy. Use it when it is a mess.\" :body \"Begin at the top.\") (agent-create-thread \"work\" :concern \"Do it\" :buffers '(\"a.txt\") :skills '(\"tidy\")) (agent-switch-thread \"work\") (agent-add-note \"List\" \"milk\") (agent-add-note \"List\" \"rust\" :thread \"work\")"}`)
	if got := r.say("begin"); got.Eval == nil || !got.Eval.Success {
		t.Fatalf("%+v", got.Eval)
	}
	r.write("skills/tidy/references/how.md", "with a broom\n")
	r.write("skills/mess/SKILL.md", "no front matter\n")
	r.write(home.ConfigFile, "rules: {allow: [{folder: ~/q.md}, {folder: /s.md}]}\n") // shown unasked
	_, err := r.Ready(context.Background())
	r.must(err)
	return r
}

func TestFunctions(t *testing.T) {
	r := settled(t)
	work := func(name string) string { return filepath.Join(r.cwd, name) }
	dir, err := os.UserHomeDir()
	r.must(err)
	open := func(d *home.Draft) string {
		s, _, err := d.State()
		r.must(err)
		out := string(s.Threads.Active) + ":"
		for _, t := range s.Threads.Open {
			out += " " + string(t.ID)
		}
		return out
	}
	thread := func(id string) func(*home.Draft) string {
		return func(d *home.Draft) string {
			s, _, err := d.State()
			r.must(err)
			t, _ := s.Threads.Find(threads.ID(id))
			return fmt.Sprintf("%s|%s|%q|%q", t.Concern, t.Goal, t.Buffers, t.Skills)
		}
	}
	notes := func(d *home.Draft) (out string) {
		src, err := d.Bytes(home.Scratchpad)
		r.must(err)
		for _, n := range home.Notes(src) {
			out += fmt.Sprintf("%s/%s@%d=%q ", n.Heading, n.Thread, n.Tick, n.Text)
		}
		return out
	}
	const before = `List/@1="milk" List/work@1="rust" `
	for _, c := range []struct {
		form   string
		result string // printed, or after … a part of that; "" where err is
		err    string
		look   func(*home.Draft) string
		see    string
	}{
		// threads
		{`(agent-create-thread "blog" :concern "Write  it\nup" :goal "Read" :buffers '("p.md" "~/q.md" "/r/../s.md" "p.md") :skills '("tidy"))`, `"blog"`, "",
			thread("blog"), fmt.Sprintf("Write it up|Read|%q|%q", []string{work("p.md"), filepath.Join(dir, "q.md"), "/s.md"}, []string{"tidy"})},
		{`(agent-create-thread 'blog :concern 'write :buffers "p.md")`, `"blog"`, "", thread("blog"), fmt.Sprintf("write||%q|[]", []string{work("p.md")})},
		{`(agent-create-thread "blog" :concern "x")`, `"blog"`, "", open, "work: work blog"},
		{`(agent-create-thread "Write a Blog")`, "", `try "write-a-blog"; the form is (agent-create-thread "id" :concern "what it is about")`, open, "work: work"},
		{`(agent-create-thread "blog")`, "", `a thread needs a concern: (agent-create-thread "blog" :concern "what it is about")`, nil, ""},
		{`(agent-create-thread "null" :concern "x")`, "", `thread id "null" means that there is no thread`, nil, ""},
		{`(agent-create-thread "no-thread" :concern "x")`, "", `means that there is no thread`, nil, ""},
		{`(agent-create-thread "work" :concern "x")`, "", `it is open already; (agent-switch-thread "work") goes on with it`, nil, ""},
		{`(agent-create-thread "blog" "x")`, "", `the form is (agent-create-thread ID :concern TEXT`, nil, ""},
		{`(agent-create-thread "blog" :about "x")`, "", `unknown keyword :about; known: :concern, :goal, :buffers, :skills`, nil, ""},
		{`(agent-create-thread "blog" :concern "x" :skills '("none"))`, "", `no skill "none"; there is tidy`, nil, ""},
		{`(agent-create-thread "b" :concern "x") (agent-create-thread "c" :concern "x") (agent-create-thread "d" :concern "x")`, "",
			`work (active), b, c are open, and 3 is the most; complete one first: (agent-complete-thread "work" :evidence "…" :learned "…")`, open, "work: work b c"},
		{`(agent-create-thread "b" :concern "x") (agent-switch-thread "b") (agent-complete-thread "b" :evidence '(:output "ok" :n 3) :learned "much")`, `"completed b"`, "", open, ": work"},
		{`(agent-switch-thread "blog")`, "", `no open thread "blog"; open: work (active)`, nil, ""},
		{`(agent-switch-thread 5)`, "", `no open thread "5"`, nil, ""},
		{`(agent-switch-thread nil)`, "", `Wrong type argument: stringp, nil`, nil, ""},
		{`(agent-complete-thread "work" :learned "x")`, "", `it needs evidence`, open, "work: work"},
		{`(agent-complete-thread "blog" :evidence "x")`, "", `no open thread "blog"`, nil, ""},
		{`(agent-thread-add-buffer "work" "~/q.md")`, fmt.Sprintf("%q", filepath.Join(dir, "q.md")), "", nil, ""},
		{`(agent-list-threads)`, `("work")`, "", nil, ""},
		{`(agent-thread-add-buffer "work" "src/../b.txt")`, fmt.Sprintf("%q", work("b.txt")), "", thread("work"), fmt.Sprintf("Do it||%q|[%q]", []string{work("a.txt"), work("b.txt")}, "tidy")},
		{`(agent-thread-add-buffer "work" "")`, "", "a path is empty", nil, ""},
		{`(agent-thread-add-buffer "blog" "b.txt")`, "", `no open thread "blog"`, nil, ""},
		{`(agent-thread-remove-buffer "work" "a.txt")`, fmt.Sprintf("%q", work("a.txt")), "", thread("work"), `Do it||[]|["tidy"]`},
		{`(agent-thread-remove-buffer "work" "b.txt")`, "", fmt.Sprintf(`thread "work" has no buffer %s; it has %s`, work("b.txt"), work("a.txt")), nil, ""},
		{`(agent-thread-remove-buffer "blog" "b.txt")`, "", `no open thread "blog"`, nil, ""},
		// skills
		{`(agent-list-available-skills)`, `…("mess" . "broken: `, "", nil, ""},
		{`(agent-unbind-skill "tidy")`, `"skills of work: none"`, "", thread("work"), fmt.Sprintf("Do it||%q|[]", []string{work("a.txt")})},
		{`(agent-unbind-skill "none")`, "", `thread "work" has no skill "none"; it has tidy`, nil, ""},
		{`(agent-unbind-skill "tidy") (agent-bind-skill-to-thread 'tidy 'work)`, `"skills of work: tidy"`, "", nil, ""},
		{`(agent-bind-skill-to-thread "none")`, "", `no skill "none"; there is tidy`, nil, ""},
		{`(agent-bind-skill-to-thread "mess")`, "", `skill "mess"`, nil, ""},
		{`(agent-bind-skill-to-thread "tidy" "blog")`, "", `no open thread "blog"`, nil, ""},
		{`(agent-set 'active-thread nil) (agent-bind-skill-to-thread "tidy")`, "", `no thread is active; name one, or (agent-switch-thread ID) first`, nil, ""},
		{`(agent-read-skill "tidy" "references/how.md")`, `"with a broom\n"`, "", nil, ""},
		{`(agent-read-skill "tidy" nil)`, `…name: tidy`, "", nil, ""},
		{`(agent-read-skill "tidy" "../core/SKILL.md")`, "", `does not stay inside the skill`, nil, ""},
		{`(agent-read-skill "core" "references/tick.md")`, `…# What happens in a tick`, "", nil, ""},
		{`(agent-create-skill "new" :description "A new one. Use it now." :body "Do so.") (agent-bind-skill-to-thread "new") (agent-read-skill "new")`, `…Do so.`, "",
			thread("work"), fmt.Sprintf("Do it||%q|%q", []string{work("a.txt")}, []string{"tidy", "new"})},
		{`(agent-create-skill "new" :description "A new one. Use it now." :body "Do so.") (length (agent-list-available-skills))`, `3`, "", nil, ""},
		{`(agent-create-skill "new" :description "d" :body "b") (agent-create-skill "new" :description "d" :body "c")`, "", `there is a skill "new" already; read it with (agent-read-skill "new")`, nil, ""},
		{`(agent-create-skill "tidy" :description "d" :body "b")`, "", `there is a skill "tidy" already`, nil, ""},
		{`(agent-create-skill "core" :description "d" :body "b")`, "", `the name "core" is taken by the system prompt`, nil, ""},
		{`(agent-create-skill "Bad Name" :description "d" :body "b")`, "", `Bad Name`, nil, ""},
		{`(agent-create-skill "new" :description "d")`, "", `its body is empty`, nil, ""},
		// state
		{`(agent-get 'mood)`, `"keen"`, "", nil, ""},
		{`(agent-get "chat-context-depth")`, `5`, "", nil, ""},
		{`(agent-get 'moodd)`, "", `no field "moodd"; the fields are identity, current-tick`, nil, ""},
		{`(agent-set 'chat-context-depth 8) (agent-get 'chat-context-depth)`, `8`, "", nil, ""},
		{`(agent-set 'chat-context-depth 8.0)`, `8`, "", nil, ""},
		{`(agent-set 'chat-context-depth 0)`, "", `chat-context-depth: 0 is not a whole number from 1 to 1000`, nil, ""},
		{`(agent-set 'api-settings '((temperature . 0.4)))`, `((temperature . 0.4) (top-p . 1.0) (top-k) (thinking) (max-tokens . 8192) (model))`, "", nil, ""},
		{`(agent-set 'api-settings '((temperature . 7) (top-k . 40)))`, `"((temperature . 2.0) (top-p . 1.0) (top-k . 40) (thinking) (max-tokens . 8192) (model)) (temperature: 7 is more than 2.0, using 2.0)"`, "", nil, ""},
		{`(agent-set 'api-settings '((temperature . 7))) (alist-get 'temperature (agent-get 'api-settings))`, `2.0`, "", nil, ""},
		{`(agent-set 'api-settings '((temperature . "hot")))`, "", `api-settings: temperature: "hot" is not a number from 0 to 2`, nil, ""},
		{`(agent-set 'current-tick 3)`, "", `current-tick is derived: it is recomputed at every tick and can not be set`, nil, ""},
		{`(agent-set 'budget nil)`, "", `budget is derived`, nil, ""},
		{`(agent-set 'open-threads nil)`, "", `open-threads is a set: use agent-create-thread, agent-switch-thread or agent-complete-thread`, nil, ""},
		{`(agent-set 'completed-threads nil)`, "", `is a set`, nil, ""},
		{`(agent-set 'active-thread "blog")`, "", `no open thread "blog"`, nil, ""},
		{`(agent-set 'active-thread nil)`, "nil", "", open, ": work"},
		{`(agent-get 'current-tick)`, "2", "", nil, ""},
		// notes
		{`(agent-add-note "List" "bread")`, `"List"`, "", notes, `List/@2="milk\n\nbread" List/work@1="rust" `},
		{`(agent-add-note 'List 5 :thread 'work)`, `"List"`, "", notes, `List/@1="milk" List/work@2="rust\n\n5" `},
		{`(agent-add-note "List" "bread" :thread nil) (agent-add-note "List" "jam" :thread "null")`, `"List"`, "", notes, `List/@2="milk\n\nbread\n\njam" List/work@1="rust" `},
		{`(agent-add-note "New" "x" :thread "later")`, `"New (stored; thread \"later\" is not open)"`, "", notes, before + `New/later@2="x" `},
		{`(agent-add-note "New" "x" :thread "a\n:END:\n* Tick 9")`, `…not open)"`, "", notes, before + `New/a :END: * Tick 9@2="x" `},
		{`(agent-add-note "" "x")`, "", `a note needs a heading and a text`, notes, before},
		{`(agent-edit-note "List" "only bread")`, `"List"`, "", notes, `List/@2="only bread" List/work@1="rust" `},
		{`(agent-edit-note "List" "" :thread "work")`, `"List"`, "", notes, `List/@1="milk" `},
		{`(agent-edit-note "Lost" "x")`, "", `no global note "Lost"; the notes are "List", "List" :thread "work"`, nil, ""},
		{`(agent-list-notes)`, `(("List" nil 1) ("List" "work" 1))`, "", nil, ""},
		{`(agent-read-note "List" :thread "work")`, `"rust"`, "", nil, ""},
		{`(agent-read-note "List")`, `"milk"`, "", nil, ""},
		{`(agent-read-note "List" :thread "blog")`, "", `thread "blog" has no note "List"`, nil, ""},
		{`(agent-add-note "Mine" "line\n* Tick 9\n:END:") (agent-read-note "Mine")`, `"line\n* Tick 9\n:END:"`, "", nil, ""},
	} {
		res, after := r.run(c.form)
		got := strings.ReplaceAll(res.Text, "\n", `\n`)
		switch {
		case c.err == "" && res.Err != nil:
			t.Errorf("%s: %v", c.form, res.Err)
		case c.err == "" && got != c.result && !(strings.HasPrefix(c.result, "…") && strings.Contains(got, c.result[len("…"):])):
			t.Errorf("%s = %s, want %s", c.form, got, c.result)
		case c.err != "" && (res.Err == nil || !strings.Contains(res.Err.Error(), c.err)):
			t.Errorf("%s: error %v, want %s", c.form, res.Err, c.err)
		}
		if c.look != nil && c.look(after) != c.see {
			t.Errorf("%s leaves\n%s, want\n%s", c.form, c.look(after), c.see)
		}
	}
}

// No function loses its head over odd arguments, and each says its own form when
// there are too few or too many.
func TestFunctionsArguments(t *testing.T) {
	r := settled(t)
	m := r.wakeUp("")
	for _, f := range functions(m) {
		for _, args := range []string{"", " nil", " 1 2 3 4 5", ` "\000" '(1 . 2)`, " 'x [1] :thread", ` "x" 1.5 :last -1`, " -9223372036854775808", ` (lambda (x) x)`} {
			res := eval.Run(t.Context(), "("+f.Name+args+")", functions(m), nil, eval.DefaultLimits())
			if res.Err == nil {
				continue
			}
			if res.Err.Symbol == "internal-error" {
				t.Errorf("(%s%s): %v", f.Name, args, res.Err)
			}
			if res.Err.Symbol == "wrong-number-of-arguments" && !strings.Contains(res.Err.Error(), "the form is ("+f.Name) {
				t.Errorf("(%s%s) does not show its form: %v", f.Name, args, res.Err)
			}
		}
	}
	if res := eval.Run(t.Context(), `(agent-add-notes "x" "y")`, functions(m), nil, eval.DefaultLimits()); !strings.Contains(res.Err.Error(), "agent-add-note") {
		t.Errorf("no nearest name: %v", res.Err)
	}
}

// A hand edit of buffers may be relative: it is meant from the folder of the face.
func TestBuffersOfAHand(t *testing.T) {
	r := settled(t)
	r.write(filepath.Join(r.cwd, "rel.txt"), "relative\n")
	r.write(home.Consciousness, strings.Replace(r.read(home.Consciousness), filepath.Join(r.cwd, "a.txt"), "rel.txt", 1))
	if m := r.wakeUp(""); len(m.Buffers) != 1 || m.Buffers[0].Text != "relative\n" || m.Buffers[0].Name != filepath.Join(r.cwd, "rel.txt") {
		t.Errorf("%+v", m.Buffers)
	}
}

func TestHistoryFunctions(t *testing.T) {
	r := newRig(t)
	var script []string
	for n := 1; n <= 12; n++ {
		script = append(script, fmt.Sprintf(`{"mood":"mood %d","confidence":0.5,"monologue":"Thought of plum %d","reply":"Answer %d, about cherries.","scratchpad":{"heading":"Fruit","thread":null,"content":"apple %d"}}`, n%2, n, n, n))
	}
	r.script(script...)
	for n := 1; n <= 12; n++ {
		r.say(fmt.Sprintf("question %d of pears", n))
	}
	r.must(r.home.Update(t.Context(), func(tx *home.Tx) error { // what is oldest goes to the archive
		src, err := tx.Bytes(home.Chat)
		if err != nil {
			return err
		}
		at := strings.Index(string(src), "* Tick 6\n")
		segment := append([]byte("# -*- coding: utf-8 -*-\n"), src[strings.Index(string(src), "* Tick 1\n"):at]...)
		if err := tx.Put("archive/agent-chat/00001-00005.org", segment); err != nil {
			return err
		}
		if err := tx.Put(home.Chat, append([]byte("# -*- coding: utf-8 -*-\n\n"), src[at:]...)); err != nil {
			return err
		}
		return tx.Write()
	}))
	for _, c := range []struct {
		form  string
		holds []string
		lacks []string
	}{
		{`(agent-log :last 3)`, []string{`((12 "2026-11-21T14:42:00Z" `, `"mood 0" "Thought of plum 12")`, `(11 "`, `(10 "`}, []string{`(9 "`}},
		{`(agent-log)`, []string{`(12 "`, `(3 "`}, []string{`(2 "`}},
		{`(agent-log :mood "mood 1" :last "2")`, []string{`((11 "`, `(9 "`}, []string{"(12", "(7"}},
		{`(agent-log :text "plum 7")`, []string{`((7 "`}, []string{"(8"}},
		{`(agent-log :thread "none")`, []string{"nil"}, nil},
		{`(agent-log :path "scratchpad.org" :last 1)`, []string{`((12 "`}, nil},
		{`(agent-log :last 0)`, []string{":last 0 asks for nothing; give 1 to 200"}, nil},
		{`(agent-show-tick 2)`, []string{"[TICK 2][no-thread][mood 0] Thought of plum 2", "Human: question 2 of pears\n", "Agent: Answer 2, about cherries.\n", "+** Agent", "+apple 2"}, []string{"question 3"}},
		{`(agent-show-tick "12")`, []string{"Human: question 12 of pears\n"}, nil},
		{`(agent-show-tick 99)`, []string{"no tick 99 in the history"}, nil},
		{`(agent-diff 4)`, []string{"+++ b/scratchpad.org", "+apple 4", "+question 4 of pears"}, []string{"+apple 3"}},
		{`(agent-diff 'x)`, []string{"Wrong type argument: integerp, x"}, nil},
		{`(agent-search-history "PEARS" :last 20)`, []string{`("tick 12, human" "question 12 of pears")`, `("tick 1, human" "question 1 of pears")`}, nil},
		{`(agent-search-history "answer 2,")`, []string{`(("tick 2, you" "Answer 2, about cherries."))`}, nil},
		{`(agent-search-history "plum 3")`, []string{`(("commit" "[TICK 3][no-thread][mood 1] Thought of plum 3"))`}, nil},
		{`(agent-search-history "apple 11")`, []string{`("note Fruit" "apple 11")`}, nil},
		{`(agent-search-history "pears" :last 2)`, []string{`(("tick 12, human"`, `("tick 11, human"`}, []string{"tick 10"}},
		{`(agent-search-history " ")`, []string{"nothing to search for"}, nil},
		{`(agent-search-history "quince")`, []string{"nil"}, nil},
	} {
		res, _ := r.run(c.form)
		got := res.Text
		if s, ok := res.Value.(string); ok {
			got = s
		}
		if res.Err != nil {
			got = res.Err.Error()
		}
		for _, w := range c.holds {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %q:\n%s", c.form, w, got)
			}
		}
		for _, w := range c.lacks {
			if strings.Contains(got, w) {
				t.Errorf("%s holds %q:\n%s", c.form, w, got)
			}
		}
	}
}

// Functions that are called without a mind behind them, for help, are the same.
func TestFunctionsTable(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Functions() {
		if seen[f.Name] || f.Doc == "" || strings.Contains(f.Doc, "\n") || !strings.HasPrefix(f.Name, "agent-") {
			t.Errorf("%s: twice, without a line of doc, or of another name", f.Name)
		}
		seen[f.Name] = true
		for _, key := range f.Keys {
			if !strings.Contains(f.Args, key+" ") {
				t.Errorf("%s: %s is not in its arguments %q", f.Name, key, f.Args)
			}
		}
		named := 0
		for w := range strings.FieldsSeq(strings.ReplaceAll(f.Args, "&optional ", "")) {
			if w == "&rest" {
				named = -1
			}
			if strings.HasPrefix(w, "&") || strings.HasPrefix(w, ":") {
				break
			}
			named++
		}
		if named != f.Max {
			t.Errorf("%s: %q names %d arguments, it takes %d", f.Name, f.Args, named, f.Max)
		}
	}
}

// The draft's files show over those on disk.
func TestDraftFS(t *testing.T) {
	r := settled(t)
	m := r.wakeUp("")
	r.must(m.draft.Put("skills/tidy/SKILL.md", []byte("changed")))
	r.must(m.draft.Put("skills/new/references/deep.md", []byte("deep")))
	for _, c := range []struct{ form, want string }{
		{`(agent-read-skill "core" "references/tick.md")`, "# What happens"},
		{`(agent-list-available-skills)`, `("tidy" . "broken: `},
	} {
		res := eval.Run(context.Background(), c.form, functions(m), nil, eval.DefaultLimits())
		if !strings.Contains(sexp.Display(res.Value), strings.ReplaceAll(c.want, `"`, "")) {
			t.Errorf("%s = %s %v", c.form, res.Text, res.Err)
		}
	}
}
