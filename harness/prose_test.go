package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	hometemplate "amacs/agent-home-template"
	"amacs/consciousness"
	"amacs/consciousness/sexp"
	"amacs/harness/eval"
	"amacs/harness/permit"
	"amacs/harness/reply"
	"amacs/skills"
	"amacs/threads"
)

// The prose that the agent is told by: what it says, the program does, and what
// the program does, it says.

func page(t *testing.T, name string) string {
	t.Helper()
	b, err := fs.ReadFile(hometemplate.Files(), "skills/core/"+name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var pages = []string{"SKILL.md", "references/consciousness-schema.md", "references/creating-skills.md", "references/eval-patterns.md", "references/tick.md"}

func prose(t *testing.T) (all string) {
	for _, name := range pages {
		all += page(t, name)
	}
	return all
}

// forms are the Lisp examples of a text: blocks, spans of code that begin with a
// parenthesis, and evals.
func forms(t *testing.T, text string) (out []string) {
	t.Helper()
	for _, m := range regexp.MustCompile("(?s)```elisp\n(.*?)```").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	for _, m := range regexp.MustCompile("`('?\\([^`\n]*)`").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	for _, m := range regexp.MustCompile(`"eval": ("(?:[^"\\]|\\.)*")`).FindAllStringSubmatch(text, -1) {
		var form string
		if err := json.Unmarshal([]byte(m[1]), &form); err != nil {
			t.Fatal(err)
		}
		out = append(out, form)
	}
	return out
}

// calls walks the calls of functions of ours in a text's examples, those in
// quoted lists apart.
func calls(t *testing.T, text string, see func(form, name string, args []sexp.Value)) {
	t.Helper()
	var walk func(form string, v sexp.Value)
	walk = func(form string, v sexp.Value) {
		list, err := sexp.Slice(v)
		if err != nil || len(list) == 0 || list[0] == sexp.Symbol("quote") {
			return
		}
		if name, ok := list[0].(sexp.Symbol); ok && strings.HasPrefix(string(name), "agent-") {
			see(form, string(name), list[1:])
		}
		for _, x := range list {
			walk(form, x)
		}
	}
	for _, form := range forms(t, text) {
		values, err := sexp.ReadAll(form)
		if err != nil {
			t.Errorf("%s can not be read: %v", form, err)
		}
		for _, v := range values {
			walk(form, v)
		}
	}
}

func TestProseFunctions(t *testing.T) {
	known := map[string]eval.Func{}
	for _, f := range Functions() {
		known[f.Name] = f
	}
	calls(t, prose(t), func(form, name string, args []sexp.Value) {
		f, ok := known[name]
		if !ok {
			t.Errorf("%s: there is no %s", form, name)
			return
		}
		n := 0
		for n < len(args) && (len(f.Keys) == 0 || !isKey(args[n])) {
			n++
		}
		if n < f.Min || f.Max >= 0 && n > f.Max {
			t.Errorf("%s: %d arguments, %s takes %d to %d", form, n, name, f.Min, f.Max)
		}
		for i := n; i < len(args); i += 2 {
			if !slices.Contains(f.Keys, sexp.Print(args[i])) {
				t.Errorf("%s: %s has no %s", form, name, sexp.Print(args[i]))
			}
		}
		if name == "agent-get" || name == "agent-set" {
			field := strings.TrimPrefix(sexp.Print(args[0]), "'")
			if f, err := consciousness.Lookup(sexp.Symbol(field)); err != nil || name == "agent-set" && f.Kind != consciousness.Chosen {
				t.Errorf("%s: %s can not be used so (%v)", form, field, err)
			}
		}
	})
	shown := map[string]map[string]bool{}
	calls(t, page(t, "SKILL.md"), func(_, name string, args []sexp.Value) {
		if shown[name] == nil {
			shown[name] = map[string]bool{}
		}
		for _, a := range args {
			shown[name][sexp.Print(a)] = true
		}
	})
	for _, f := range Functions() {
		if !regexp.MustCompile("(?m)^\\| `\\(" + f.Name + "[ )].*` \\| .+ \\|$").MatchString(page(t, "SKILL.md")) {
			t.Errorf("the core skill has no line with an example of %s", f.Name)
		}
		for _, key := range f.Keys {
			if !shown[f.Name][key] {
				t.Errorf("no example of %s in the core skill shows %s", f.Name, key)
			}
		}
	}
	for _, name := range regexp.MustCompile(`agent-[a-z][a-z-]*[a-z]`).FindAllString(prose(t), -1) {
		if _, ok := known[name]; !ok && name != "agent-consciousness" && name != "agent-chat" { // a section, a file
			t.Errorf("the prose names %s, which does not exist", name)
		}
	}
}

func isKey(v sexp.Value) bool {
	s, ok := v.(sexp.Symbol)
	return ok && strings.HasPrefix(string(s), ":")
}

// Each Lisp example does what it says, or fails for what is in no test home.
func TestProseExamplesRun(t *testing.T) {
	r := settled(t)
	r.write(filepath.Join(r.cwd, "main.go"), strings.Repeat("// a line\n", 120)+"func f() int { retrun x }\n")
	r.write(filepath.Join(r.cwd, "src/parse.go"), "func Parse() {}\n")
	outside := regexp.MustCompile(`^\(agent-(run|list-tools|tool-schema|call-tool) `) // programs and servers that are in no test home
	foreign := regexp.MustCompile(`no open thread|no thread is open|no skill|no tick 42|has no note|no global note|has no buffer|references/errors.md|depends`)
	for _, form := range forms(t, prose(t)) {
		if strings.HasPrefix(form, "((") || strings.HasPrefix(form, "'(") {
			continue // data
		}
		m, err := r.Peek(r.t.Context(), r.cwd)
		r.must(err)
		m.Ask = func(context.Context, Question) (Given, error) { return Given{Answer: permit.Yes}, nil }
		if outside.MatchString(form) {
			continue
		}
		res := eval.Run(t.Context(), form, functions(m), nil, eval.DefaultLimits())
		if res.Err != nil && !foreign.MatchString(res.Err.Error()) && form != "(agent-get mood)" {
			t.Errorf("%s: %v", form, res.Err)
		}
	}
}

func TestProseFields(t *testing.T) {
	kinds := map[consciousness.Kind]string{consciousness.Chosen: "chosen", consciousness.Derived: "derived", consciousness.Set: "set"}
	var want, got []string
	for _, f := range consciousness.Fields() {
		want = append(want, string(f.Key)+" "+kinds[f.Kind])
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| ([a-z]+) \\| (?:`(.*?)` )?\\|").FindAllStringSubmatch(page(t, "references/consciousness-schema.md"), -1) {
		got = append(got, m[1]+" "+m[2])
		v, err := consciousness.New().Get(sexp.Symbol(m[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		if first := strings.ReplaceAll(m[3], "()", "nil"); first != "" && first != sexp.Print(v) {
			t.Errorf("%s is %s at first, the schema says %s", m[1], sexp.Print(v), m[3])
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the schema has\n%q, want\n%q", got, want)
	}
	core := page(t, "SKILL.md")
	state := core[strings.Index(core, "# Your state"):]
	lines := map[string]string{}
	for _, m := range regexp.MustCompile(`(?s)\* \*([a-z]+)\*, (.*?)\n(?:\* |\n)`).FindAllStringSubmatch(strings.ReplaceAll(state, "\n* *", "\n\n* *"), -1) {
		lines[strings.TrimSuffix(m[1], "s")] = m[2]
	}
	for _, f := range consciousness.Fields() {
		if !strings.Contains(core, "`"+string(f.Key)+"`") {
			t.Errorf("the core skill does not name %s", f.Key)
		}
		depth := strings.HasSuffix(string(f.Key), "-depth") // "the four depths"
		if !depth && !strings.Contains(lines[kinds[f.Kind]], "`"+string(f.Key)+"`") {
			t.Errorf("the core skill does not call %s %s:\n%s", f.Key, kinds[f.Kind], lines[kinds[f.Kind]])
		}
	}
	for _, m := range regexp.MustCompile("`([a-z-]+-(?:depth|limit))` \\((\\d+)").FindAllStringSubmatch(prose(t), -1) {
		if v, err := consciousness.New().Get(sexp.Symbol(m[1])); err != nil || sexp.Print(v) != m[2] {
			t.Errorf("the prose says %s (%s), it is %v %v", m[1], m[2], v, err)
		}
	}
	// The example of last-eval-result has the keys of a real one.
	s := consciousness.New()
	s.LastEval = consciousness.LastEval{Tick: 42, Form: "(f)", Success: true, Result: "1"}
	v, err := s.Get("last-eval-result")
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := sexp.Slice(v)
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)## last-eval-result\n\n```elisp\n(.*?)```").FindStringSubmatch(page(t, "references/consciousness-schema.md"))
	example, _, err := sexp.Read(block[1])
	if err != nil {
		t.Fatal(err)
	}
	shown, err := sexp.Slice(example)
	if err != nil || len(shown) != len(pairs) {
		t.Fatalf("the example of last-eval-result has %d entries, want %d (%v)", len(shown), len(pairs), err)
	}
	for i := range pairs {
		if a, b := shown[i].(*sexp.Cons).Car, pairs[i].(*sexp.Cons).Car; a != b {
			t.Errorf("last-eval-result: the example has %v, want %v", a, b)
		}
	}
}

// A new home's state is the one that the program begins with.
func TestTemplateState(t *testing.T) {
	b, err := fs.ReadFile(hometemplate.Files(), "consciousness.el")
	if err != nil {
		t.Fatal(err)
	}
	s, notes, err := consciousness.Parse(b)
	if err != nil || len(notes) > 0 || s.Text() != consciousness.New().Text() {
		t.Errorf("%v %q\n%s", err, notes, s.Text())
	}
	var want, got []string
	for _, f := range consciousness.Fields() {
		want = append(want, string(f.Key))
	}
	for _, m := range regexp.MustCompile(`(?m)^(?:'\(|  )\(([a-z-]+) \.`).FindAllStringSubmatch(string(b), -1) {
		got = append(got, m[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("fields %q, want %q", got, want)
	}
}

func TestProseLanguage(t *testing.T) {
	names := eval.Names()
	there := page(t, "references/eval-patterns.md")
	there = there[strings.Index(there, "## What there is"):strings.Index(there, "## How it runs")]
	there = strings.ReplaceAll(there, "`` ` ``", "")
	spans := regexp.MustCompile("`([^`\n]+)`").FindAllStringSubmatch(there, -1)
	spans = append(spans, regexp.MustCompile("with the usual forms \\(`([^`]+)`").FindStringSubmatch(page(t, "SKILL.md")))
	n := 0
	for _, m := range spans {
		for name := range strings.FieldsSeq(m[1]) {
			n++
			if !slices.Contains(names, name) && !strings.HasPrefix(name, ",") {
				t.Errorf("the prose names %s, which the language does not have", name)
			}
		}
	}
	if n < 80 {
		t.Errorf("only %d names were found", n)
	}
}

// Numbers that the prose tells are the program's.
func TestProseNumbers(t *testing.T) {
	lim := eval.DefaultLimits()
	words := map[int]string{2: "twice", 3: "three", 10: "ten"}
	s := consciousness.New()
	for _, c := range []struct{ page, says string }{
		{"references/eval-patterns.md", fmt.Sprintf("%d steps, %d forms within each other, %.0f seconds, %d MB of values made", lim.Steps, lim.Depth, lim.Time.Seconds(), lim.Memory>>20)},
		{"references/eval-patterns.md", fmt.Sprintf("the first %d KB are kept, then `[...truncated...]`", lim.Output>>10)},
		{"SKILL.md", fmt.Sprintf("at most %s open, one active", words[threads.MaxOpen])},
		{"SKILL.md", fmt.Sprintf("you are asked again, at most %s", words[maxRetries])},
		{"SKILL.md", fmt.Sprintf("the last %s with evidence", words[consciousness.KeepCompleted])},
		{"SKILL.md", fmt.Sprintf("`chat-context-depth` (%d exchanges), `monologue-context-depth` (%d lines), `global-scratchpad-depth` (%d notes)", s.ChatDepth, s.MonologueDepth, s.GlobalNotes)},
		{"SKILL.md", fmt.Sprintf("`thread-scratchpad-depth` (%d notes)", s.ThreadNotes)},
		{"references/tick.md", fmt.Sprintf("At most `autonomous-tick-limit` in a row, %d unless changed", s.ContinueLimit)},
		{"references/creating-skills.md", fmt.Sprintf("SKILL.md may have at most %d KB", skills.MaxSize>>10)},
		{"references/consciousness-schema.md", fmt.Sprintf("`max-tokens` %d (1 to 32768)", s.API.MaxTokens)},
	} {
		if !strings.Contains(page(t, c.page), c.says) {
			t.Errorf("%s does not say: %s", c.page, c.says)
		}
	}
	for _, c := range []struct {
		form string
		ok   bool
	}{ // the ranges of the schema
		{"(agent-set 'chat-context-depth 1)", true}, {"(agent-set 'chat-context-depth 0)", false}, {"(agent-set 'monologue-context-depth 0)", true},
		{"(agent-set 'confidence 1.01)", false},
	} {
		r := &Mind{State: consciousness.New()}
		v, err := sexp.ReadAll(c.form)
		if err != nil {
			t.Fatal(err)
		}
		list, err := sexp.Slice(v[0])
		if err != nil {
			t.Fatal(err)
		}
		quoted := func(v sexp.Value) sexp.Value {
			if l, err := sexp.Slice(v); err == nil && len(l) == 2 && l[0] == sexp.Symbol("quote") {
				return l[1]
			}
			return v
		}
		if err := r.State.Set(quoted(list[1]).(sexp.Symbol), quoted(list[2])); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.form, err)
		}
	}
}

// The settings of api-settings, at first and in their ranges, are the program's,
// in the core skill and in the schema.
func TestProseSettings(t *testing.T) {
	first, err := consciousness.New().Get("api-settings")
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := sexp.Slice(first)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (\\S+) \\| ([^|]+) \\| .+ \\|$").FindAllStringSubmatch(page(t, "SKILL.md"), -1)
	if len(rows) != len(pairs) {
		t.Fatalf("the core skill has %d settings, want %d", len(rows), len(pairs))
	}
	for i, m := range rows {
		name, at, says := m[1], m[2], m[3]
		pair := pairs[i].(*sexp.Cons)
		if pair.Car != sexp.Symbol(name) || sexp.Print(pair.Cdr) != at {
			t.Errorf("the core skill has %s %s, want %s", name, at, sexp.Print(pair))
		}
		if short := fmt.Sprintf("`%s` %s (%s)", name, at, says); !strings.Contains(page(t, "references/consciousness-schema.md"), short) {
			t.Errorf("the schema does not say %s", short)
		}
		m := regexp.MustCompile(`^(\d+) to (\d+)`).FindStringSubmatch(says)
		if m == nil {
			continue
		}
		for _, edge := range m[1:] {
			for beyond, clamped := range map[string]bool{edge: false, "-1": true, "1000000": true} {
				s := consciousness.New()
				v, _, err := sexp.Read("((" + name + " . " + beyond + "))")
				if err != nil {
					t.Fatal(err)
				}
				told := s.Clamps("api-settings", v)
				if err := s.Set("api-settings", v); err != nil || (len(told) > 0) != clamped {
					t.Errorf("%s %s: %q %v", name, beyond, told, err)
				}
				if clamped && beyond != "-1" && !strings.Contains(told[0], "than "+m[2]) {
					t.Errorf("%s goes to %s, the program says %q", name, m[2], told)
				}
			}
		}
	}
}

// The table of the reply is the schema's, and examples keep its order.
func TestProseReply(t *testing.T) {
	want := "| key | required | what it is |\n|---|---|---|\n"
	var order []string
	var table func(within string, keys []reply.Key)
	table = func(within string, keys []reply.Key) {
		for _, k := range keys {
			required := map[bool]string{false: "yes", true: "no"}[k.Optional]
			want += fmt.Sprintf("| `%s` | %s | %s |\n", within+k.Name, required, k.Does)
			order = append(order, k.Name)
			table(k.Name+".", k.Keys)
		}
	}
	table("", reply.Keys())
	if core := page(t, "SKILL.md"); !strings.Contains(core, "\n\n"+want+"\n") {
		t.Errorf("the core skill does not have the table\n%s", want)
	}
	examples := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(prose(t), -1)
	if len(examples) < 5 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, m := range examples {
		at := 0
		for _, key := range regexp.MustCompile(`"([a-z]+)":`).FindAllStringSubmatch(m[1], -1) {
			for at < len(order) && order[at] != key[1] {
				at++
			}
		}
		if at == len(order) {
			t.Errorf("keys not in the order %q:\n%s", order, m[1])
		}
		if r, err := reply.Parse(m[1]); err != nil || len(r.Warnings) > 0 {
			t.Errorf("%v %q:\n%s", err, r.Warnings, m[1])
		}
	}
}

// The sections that the core skill explains are those that there are.
func TestProseSections(t *testing.T) {
	var want []string
	for _, s := range layout(heavy()).Sections {
		if !slices.Contains(want, s.Name) {
			want = append(want, s.Name)
		}
	}
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `<([a-z-]+)>` \\|").FindAllStringSubmatch(page(t, "SKILL.md"), -1) {
		got = append(got, m[1])
	}
	if slices.Sort(want); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("the core skill explains %q, want %q", got, want)
	}
	for _, m := range regexp.MustCompile(`<\\?/?([a-z][a-z-]*)>`).FindAllStringSubmatch(prose(t), -1) {
		if !slices.Contains(want, m[1]) {
			t.Errorf("the prose names the section <%s>", m[1])
		}
	}
}
