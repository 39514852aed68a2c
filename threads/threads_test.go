package threads

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

var idCases = []struct {
	in   string
	ok   bool
	says string // what the error must contain
}{
	{in: "rust-debugging", ok: true},
	{in: "0", ok: true},
	{in: "a--b-", ok: true},
	{in: strings.Repeat("a", 40), ok: true},
	{in: strings.Repeat("a", 41), says: strings.Repeat("a", 40) + `"`},
	{in: "Rust Debugging", says: `try "rust-debugging"`},
	{in: "-lead", says: `try "lead"`},
	{in: "under_score", says: `try "under-score"`},
	{in: "line\n", says: `try "line"`},
	{in: "a\nb", says: `try "a-b"`},
	{in: "../etc", says: `try "etc"`},
	{in: "", says: "at most 40 long"},
	{in: "日本", says: "at most 40 long"},
	{in: "\xff\xfe", says: "at most 40 long"},
	{in: "null", says: "no thread"},
	{in: "nil", says: "no thread"},
	{in: "no-thread", says: "no thread"},
	{in: "Null", says: "lower-case"},
	{in: strings.Repeat("a", 39) + " b", says: strings.Repeat("a", 39) + `"`},
}

func TestParseID(t *testing.T) {
	for _, c := range idCases {
		id, err := ParseID(c.in)
		switch {
		case c.ok && (err != nil || string(id) != c.in):
			t.Errorf("ParseID(%q) = %q, %v; want it accepted", c.in, id, err)
		case !c.ok && (err == nil || id != "" || !strings.Contains(err.Error(), c.says)):
			t.Errorf("ParseID(%q) = %q, %v; want an error with %q", c.in, id, err, c.says)
		}
	}
}

// FuzzParseID: what is accepted comes back unchanged, and what is suggested is accepted.
func FuzzParseID(f *testing.F) {
	for _, c := range idCases {
		f.Add(c.in)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := ParseID(s)
		if err == nil {
			if string(id) != s || len(s) > 40 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
				t.Fatalf("ParseID(%q) = %q", s, id)
			}
			return
		}
		fixed := suggestion(s)
		if fixed == "" {
			return
		}
		fixed = strings.TrimSuffix(strings.TrimPrefix(fixed, `; try "`), `"`)
		if _, err := ParseID(fixed); err != nil {
			t.Fatalf("ParseID(%q) suggests %q: %v", s, fixed, err)
		}
	})
}

// two is a Set of a (active) and b.
func two(t *testing.T) Set {
	t.Helper()
	var s Set
	for _, id := range []ID{"a", "b"} {
		s = must(s.Create(Thread{ID: id, Concern: "about " + string(id), Buffers: []string{"x.go"}, Started: 1}))
	}
	return must(s.Switch("a"))
}

func must(s Set, err error) Set {
	if err != nil {
		panic(err)
	}
	return s
}

func TestCreate(t *testing.T) {
	full := must(two(t).Create(Thread{ID: "c", Concern: "about c"}))
	cases := []struct {
		name string
		set  Set
		in   Thread
		says []string // the error contains each; none: accepted
	}{
		{"first", Set{}, Thread{ID: "a", Concern: "x"}, nil},
		{"third", two(t), Thread{ID: "c", Concern: "x"}, nil},
		{"fourth", full, Thread{ID: "d", Concern: "x"}, []string{"a (active), b, c", "complete one first", `(agent-complete-thread "a" :evidence`}},
		{"open already", two(t), Thread{ID: "b", Concern: "x"}, []string{`"b"`, `(agent-switch-thread "b")`}},
		{"open already, and full", full, Thread{ID: "b", Concern: "x"}, []string{"open already"}},
		{"no concern", Set{}, Thread{ID: "a", Concern: " \n"}, []string{":concern"}},
		{"bad id", Set{}, Thread{ID: "A b", Concern: "x"}, []string{`try "a-b"`}},
		{"no id", Set{}, Thread{Concern: "x"}, []string{"thread id"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.set.Create(c.in)
			if len(c.says) == 0 {
				if err != nil || len(got.Open) != len(c.set.Open)+1 || got.Active != c.set.Active {
					t.Fatalf("got %+v, %v", got, err)
				}
				return
			}
			if err == nil {
				t.Fatalf("accepted: %+v", got)
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error %q lacks %q", err, s)
				}
			}
			if !reflect.DeepEqual(got, c.set) {
				t.Errorf("the set changed beside an error: %+v", got)
			}
		})
	}
}

func TestCreateNormalises(t *testing.T) {
	s := must(Set{}.Create(Thread{
		ID: "a", Concern: " two\n lines ", Goal: "\tg ", Buffers: []string{"x", "", "y", "x"}, Skills: []string{"s", "s"},
		Started: 7, Evidence: "none yet", Learned: "nothing", Completed: 3,
	}))
	want := Thread{ID: "a", Concern: "two lines", Goal: "g", Buffers: []string{"x", "y"}, Skills: []string{"s"}, Started: 7}
	if !reflect.DeepEqual(s.Open[0], want) {
		t.Errorf("got  %+v\nwant %+v", s.Open[0], want)
	}
}

func TestComplete(t *testing.T) {
	s := two(t)
	next, done, err := s.Complete("a", " go test passes\n", "read the error first", 9)
	if err != nil {
		t.Fatal(err)
	}
	if next.Active != "" || len(next.Open) != 1 || next.Open[0].ID != "b" {
		t.Errorf("left %+v", next)
	}
	if done.Evidence != "go test passes" || done.Learned != "read the error first" || done.Completed != 9 || done.Started != 1 {
		t.Errorf("done %+v", done)
	}
	next, _, err = s.Complete("b", "seen", "", 9)
	if err != nil || next.Active != "a" {
		t.Errorf("completing a pending thread: active %q, %v", next.Active, err)
	}
	for _, c := range []struct {
		id       ID
		evidence string
		says     string
	}{
		{"a", " \n", ":evidence"},
		{"z", "seen", `no open thread "z"; open: a (active), b`},
	} {
		got, _, err := s.Complete(c.id, c.evidence, "x", 9)
		if err == nil || !strings.Contains(err.Error(), c.says) || !reflect.DeepEqual(got, s) {
			t.Errorf("Complete(%q, %q): %v; want %q and the set as it was", c.id, c.evidence, err, c.says)
		}
	}
}

func TestUnknown(t *testing.T) {
	calls := map[string]func(Set, ID) (Set, error){
		"Switch":       func(s Set, id ID) (Set, error) { return s.Switch(id) },
		"AddBuffer":    func(s Set, id ID) (Set, error) { return s.AddBuffer(id, "f") },
		"RemoveBuffer": func(s Set, id ID) (Set, error) { return s.RemoveBuffer(id, "f") },
		"BindSkill":    func(s Set, id ID) (Set, error) { return s.BindSkill(id, "k") },
		"UnbindSkill":  func(s Set, id ID) (Set, error) { return s.UnbindSkill(id, "k") },
	}
	for name, call := range calls {
		if _, err := call(two(t), "zz"); err == nil || !strings.Contains(err.Error(), `no open thread "zz"; open: a (active), b`) {
			t.Errorf("%s of an unknown id: %v", name, err)
		}
		if _, err := call(Set{}, "zz"); err == nil || !strings.Contains(err.Error(), "agent-create-thread") {
			t.Errorf("%s with none open: %v", name, err)
		}
	}
	if _, err := two(t).AddBuffer("a", ""); err == nil {
		t.Error("an empty path was added")
	}
}

func TestBuffersAndSkills(t *testing.T) {
	s := two(t)
	s = must(s.AddBuffer("a", "y.go"))
	s = must(s.AddBuffer("a", "y.go"))
	s = must(s.RemoveBuffer("a", "x.go"))
	s = must(s.RemoveBuffer("a", "x.go"))
	s = must(s.BindSkill("a", "rust"))
	s = must(s.BindSkill("a", "rust"))
	s = must(s.BindSkill("a", "org"))
	s = must(s.UnbindSkill("a", "rust"))
	a, _ := s.Find("a")
	if fmt.Sprint(a.Buffers, a.Skills) != "[y.go] [org]" {
		t.Errorf("a has %v %v", a.Buffers, a.Skills)
	}
	if b, _ := s.Find("b"); fmt.Sprint(b.Buffers) != "[x.go]" {
		t.Errorf("b has %v", b.Buffers)
	}
}

func TestPending(t *testing.T) {
	s := two(t)
	if p := s.Pending(); len(p) != 1 || p[0].ID != "b" {
		t.Errorf("pending beside a: %+v", p)
	}
	s.Active = ""
	if p := s.Pending(); len(p) != 2 {
		t.Errorf("pending with none active: %+v", p)
	}
	if _, ok := s.Find("zz"); ok {
		t.Error("found zz")
	}
}

func ExampleSet_Complete() {
	s, _ := Set{}.Create(Thread{ID: "rust-debugging", Concern: "Fix ownership error", Started: 42})
	s, _ = s.Switch("rust-debugging")
	_, _, err := s.Complete("rust-debugging", "", "", 45)
	fmt.Println(err)
	s, done, _ := s.Complete("rust-debugging", "cargo test: 12 passed", "return owned values", 45)
	fmt.Printf("%s: %s; open: %d, active: %q\n", done.ID, done.Evidence, len(s.Open), s.Active)
	// Output:
	// completing thread "rust-debugging": it needs evidence, something that shows it is done: (agent-complete-thread "rust-debugging" :evidence "go test ./... passes" :learned "…")
	// rust-debugging: cargo test: 12 passed; open: 0, active: ""
}
