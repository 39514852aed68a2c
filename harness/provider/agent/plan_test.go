package agent

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// The command line of each built-in entry; UPDATE=1 writes the file anew.
func TestPlans(t *testing.T) {
	const golden = "testdata/plans.txt"
	tick := Job{Prompt: "PROMPT", System: "SYSTEM", Model: "MODEL", Schema: []byte(`{"type":"object"}`), MaxUSD: 0.25}
	next := Job{Prompt: "PROMPT", Session: "SESSION", Keep: true, Tools: true}
	var b strings.Builder
	for _, e := range Builtin() {
		if err := e.check(); err != nil {
			t.Errorf("%s: %v", e.Name, err)
		}
		for _, job := range []Job{tick, next} {
			if job.Session != "" && len(e.Continue) == 0 {
				continue
			}
			p, err := e.plan(job, "/DIR")
			if err != nil {
				t.Fatal(err)
			}
			var words []string
			for _, v := range p.env {
				if !slices.Contains(e.environ(nil), v) {
					words = append(words, v)
				}
			}
			for _, a := range p.args {
				if a == "" || strings.ContainsAny(a, " \"{") {
					a = "'" + a + "'"
				}
				words = append(words, a)
			}
			fmt.Fprintf(&b, "%s\n", strings.Join(words, " "))
			if p.stdin != "" {
				fmt.Fprintf(&b, "  stdin: %q\n", p.stdin)
			}
			for _, path := range slices.Sorted(maps.Keys(p.files)) {
				fmt.Fprintf(&b, "  %s: %q\n", path, p.files[path])
			}
		}
	}
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("not as in %s:\n%s", golden, b.String())
	}
}

func TestCheck(t *testing.T) {
	for want, e := range map[string]Entry{
		"can not be a name":          {Name: "a:b", Command: []string{"x"}},
		"command: it is missing":     {Name: "a"},
		"model: {modell}":            {Name: "a", Command: []string{"x"}, Model: []string{"-m", "{modell}"}},
		"no-tools-env: {what}":       {Name: "a", Command: []string{"x"}, NoToolsEnv: map[string]string{"A": "{what}"}},
		`files has no "x.toml"`:      {Name: "a", Command: []string{"x", "{file:x.toml}"}},
		"the name of a file":         {Name: "a", Command: []string{"x"}, Files: map[string]string{"../x": ""}},
		"{session} is missing":       {Name: "a", Command: []string{"x"}, Continue: []string{"--continue"}},
		"{usd} is missing":           {Name: "a", Command: []string{"x"}, Budget: []string{"--cheap"}},
		"neither login nor key":      {Name: "a", Command: []string{"x"}, Billing: "free"},
		"must not be negative":       {Name: "a", Command: []string{"x"}, Idle: -1},
		"tty: the prompt":            {Name: "a", Command: []string{"x"}, TTY: true},
		"one of text, lines, json":   {Name: "a", Command: []string{"x"}, Output: Output{Format: "xml"}},
		"output: text: it is":        {Name: "a", Command: []string{"x"}, Output: Output{Format: "lines", In: "a"}},
		`output: in: "a b" is not a`: {Name: "a", Command: []string{"x"}, Output: Output{In: "a b"}},
	} {
		if err := e.check(); err == nil || !strings.Contains(strings.Join(strings.Fields(err.Error()), " "), want) {
			if err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "output: in: ")) {
				t.Errorf("want %q, got %v", want, err)
			}
		}
	}
}

func TestMerge(t *testing.T) {
	all, err := Merge(Builtin(), []Entry{
		{Name: "claude", MaxUSD: 2, Billing: "key", Output: Output{Stop: "stop"}},
		{Name: "mine", Command: []string{"mine", "{prompt}"}},
	})
	if err != nil || len(all) != len(Builtin())+1 {
		t.Fatalf("%d entries, %v", len(all), err)
	}
	c, was := all[0], Builtin()[0]
	if c.MaxCost() != 2 || !c.Keyed() || c.Output.Stop != "stop" || c.Output.Text != was.Output.Text || !slices.Equal(c.Command, was.Command) {
		t.Errorf("%+v", c)
	}
	if mine := all[len(all)-1]; mine.Name != "mine" || mine.MaxCost() != 0.5 || mine.Keyed() {
		t.Errorf("%+v", mine)
	}
	_, err = Merge(Builtin(), []Entry{{Name: "claude", Model: []string{"{x}"}}, {Name: "new"}, {Name: "fine", Command: []string{"fine"}}})
	if err == nil || !strings.Contains(err.Error(), "agents: claude: model: {x}") || !strings.Contains(err.Error(), "agents: new: command") || strings.Contains(err.Error(), "fine") {
		t.Error(err)
	}
}

func TestMentionsOfForeignBraces(t *testing.T) {
	e := Entry{Name: "a", Command: []string{"x", `{"a":{}}`, "{file:/etc/{model}}"}, Env: map[string]string{"A": "[{model}]", "B": "{session}"}}
	if err := e.check(); err != nil {
		t.Error(err)
	}
	p, err := e.plan(Job{Prompt: "p {model}", Model: "{session}"}, "/DIR")
	if err != nil || !slices.Equal(p.args, []string{"x", `{"a":{}}`, "{file:/etc/{session}}"}) || p.stdin != "p {model}" {
		t.Errorf("%q, %q, %v", p.args, p.stdin, err)
	}
	if env := strings.Join(p.env, " "); env != "AMACS_INSIDE=1 NO_COLOR=1 TERM=dumb A=[{session}]" {
		t.Error(env)
	}
}
