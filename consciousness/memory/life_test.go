package memory

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func days(n float64) time.Time { return noon.Add(time.Duration(n * float64(day))) }

func TestEffective(t *testing.T) {
	for kind, half := range map[string]float64{Correction: 365, Preference: 90, Procedure: 60, Entity: 60, Finding: 45, Fact: 30, "opinion": 30} {
		m := New(kind, "x", noon)
		for now, want := range map[float64]float64{-1: 1, 0: 1, half: 0.5, 2 * half: 0.25} {
			if got := Effective(m, days(now)); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s after %v days: %v, want %v", kind, now, got, want)
			}
		}
		m.Trust = Low
		if got := Effective(m, days(7)); math.Abs(got-0.5) > 1e-9 {
			t.Errorf("%s, inferred, after 7 days: %v", kind, got)
		}
	}
	old := New(Fact, "x", noon)
	for name, m := range map[string]Memory{
		"used":       Use(old, Crumb{At: days(30)}),
		"reinforced": Reinforce(old, Crumb{At: days(30)}),
		"checked":    Verify(old, days(30)),
		"rejected":   Reject(old),
	} {
		want := 0.5
		if name == "rejected" {
			want = 0.245
		}
		if got := Effective(m, days(60)); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := Effective(Memory{Kind: Fact, Confidence: 0.4}, noon); got != 0.4 {
		t.Errorf("of unknown age: %v", got)
	}
}

// FuzzLife: confidence stays within its bounds, never grows by waiting, and
// what is written of a life is read back.
func FuzzLife(f *testing.F) {
	f.Add("uurjvf", int64(40))
	f.Fuzz(func(t *testing.T, deeds string, wait int64) {
		m := New(Fact, "x", noon)
		m.ID, m.Source = "k3f", "agent"
		now := noon
		step := time.Duration(max(wait, -wait, 0)%1000) * time.Hour
		for i, d := range deeds[:min(len(deeds), 40)] {
			now = now.Add(step)
			was := Effective(m, now)
			switch d % 5 {
			case 0:
				m = Use(m, Crumb{At: now, Tick: i})
			case 1:
				m = Reinforce(m, Crumb{At: now, Session: "s"})
			case 2:
				m = Reject(m)
			case 3:
				m = Verify(m, now)
			case 4:
				m = Forget(m, now, "why")
				if Active(m, now) || Fades(m, now) || !Active(Restore(m), now) {
					t.Fatalf("forgotten: %+v", m)
				}
			}
			is := Effective(m, now)
			if !(is >= 0 && is <= 1) || d%5 != 2 && is < was-1e-9 || d%5 == 2 && is > was+1e-9 || Effective(m, now.Add(step)) > is {
				t.Fatalf("%v became %v by %d: %+v", was, is, d%5, m)
			}
		}
		src, err := Add(nil, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := one(t, src, "k3f"); !reflect.DeepEqual(got, m) {
			t.Fatalf("got  %+v\nwant %+v", got, m)
		}
	})
}

func TestUse(t *testing.T) {
	m := New(Fact, "x", noon)
	m.Confidence = 0.5
	u := Use(m, Crumb{At: later, Tick: 7, Session: "r-8"})
	if u.Confidence != 0.55 || u.Strength != 1 || !reflect.DeepEqual(u.Crumbs, []Crumb{{Used, later, 7, "r-8"}}) || m.Crumbs != nil {
		t.Errorf("used: %+v", u)
	}
	r := Reinforce(u, Crumb{At: later})
	if r.Confidence != 0.6 || r.Strength != 2 || len(r.Crumbs) != 2 || len(u.Crumbs) != 1 {
		t.Errorf("reinforced: %+v", r)
	}
	for i := range 30 {
		r = Use(r, Crumb{At: later, Tick: i})
	}
	if len(r.Crumbs) != 10 || r.Crumbs[9].Tick != 29 || r.Confidence != 1 {
		t.Errorf("thirty times: %+v", r)
	}
	if j := Reject(m); j.Confidence != 0.48 || Reject(Memory{Confidence: 0.01}).Confidence != 0 {
		t.Errorf("rejected: %+v", j)
	}
}

func TestFades(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m *Memory)
		after  float64
		want   bool
	}{
		"in time":          {nil, 129, false},
		"old":              {nil, 131, true},
		"stated twice":     {func(m *Memory) { m.Strength = 2 }, 1000, false},
		"used since":       {func(m *Memory) { *m = Use(*m, Crumb{At: days(100)}) }, 131, false},
		"used once":        {func(m *Memory) { *m = Use(*m, Crumb{At: days(100)}) }, 1000, true},
		"important":        {func(m *Memory) { m.Importance = High }, 10000, false},
		"pinned":           {func(m *Memory) { *m = m.Pin(true) }, 10000, false},
		"of unknown age":   {func(m *Memory) { m.Created = time.Time{} }, 10000, false},
		"already inactive": {func(m *Memory) { m.SupersededBy = "x" }, 10000, false},
		"doubtful, young":  {func(m *Memory) { m.Confidence = 0 }, 29, false},
		"doubtful":         {func(m *Memory) { m.Confidence = 0 }, 30, true},
		"inferred":         {func(m *Memory) { m.Trust = Low }, 31, true},
	} {
		m := New(Fact, "x", noon)
		if c.change != nil {
			c.change(&m)
		}
		if got := Fades(m, days(c.after)); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestPin(t *testing.T) {
	m := Memory{Tags: []string{"pinned", "x"}}
	if p := m.Pin(true); !p.Pinned() || len(p.Tags) != 2 {
		t.Errorf("%v", p.Tags)
	}
	if p := m.Pin(false); p.Pinned() || !m.Pinned() || len(p.Tags) != 1 {
		t.Errorf("%v of %v", p.Tags, m.Tags)
	}
	for from, want := range map[string]string{"rust": "rust", " a b-c ": "a_b_c", "é#1": "é#1", "": "", " ": ""} {
		if got := Tag(from); got != want {
			t.Errorf("%q is the tag %q", from, got)
		}
	}
}

func chainOf(names string) map[string]Memory {
	all := map[string]Memory{}
	for i, id := range strings.Split(names, "") {
		m := New(Fact, id, noon.Add(time.Duration(i)*time.Hour))
		m.ID = id
		all[id] = m
	}
	return all
}

// set puts what changed into all.
func set(t *testing.T, all map[string]Memory) func(ms []Memory, err error) []string {
	return func(ms []Memory, err error) []string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ms {
			all[m.ID] = m
		}
		return ids(ms)
	}
}

func TestSupersede(t *testing.T) {
	all := chainOf("abcde")
	do := set(t, all)
	do(Supersede(all, "a", "b"))
	if got := do(Supersede(all, "a", "c")); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("changed %v", got) // the chain is followed
	}
	do(Supersede(all, "d", "a")) // by what stands in a's place
	if got := do(Supersede(all, "a", "c")); got != nil {
		t.Errorf("already so, and %v change", got)
	}
	for id, want := range map[string]string{"a": "b", "b": "c", "c": "", "d": "c", "e": ""} {
		if all[id].SupersededBy != want || Active(all[id], noon) != (want == "") {
			t.Errorf("%s by %q", id, all[id].SupersededBy)
		}
		if want != "" && !slices.Contains(all[want].Supersedes, id) {
			t.Errorf("%s does not know that it supersedes %s", want, id)
		}
	}
	for _, circle := range [][2]string{{"c", "a"}, {"b", "a"}, {"e", "e"}, {"a", "d"}} {
		_, err := Supersede(all, circle[0], circle[1])
		refused(t, err, "can not supersede")
	}
	_, err := Supersede(all, "a", "z")
	refused(t, err, "no memory with the id z")
	for id, want := range map[string]string{"a": "abc", "b": "abc", "c": "abdc", "d": "dc", "e": "e"} {
		got, err := Chain(all, id)
		if err != nil || strings.Join(ids(got), "") != want {
			t.Errorf("the chain of %s: %v, %v", id, ids(got), err)
		}
	}
	_, err = Chain(all, "z")
	refused(t, err, "z")
}

// A hand can write circles and edges to nowhere.
func TestBrokenChains(t *testing.T) {
	all := chainOf("abc")
	for _, e := range []string{"ab", "ba", "cz"} {
		m := all[e[:1]]
		m.SupersededBy = e[1:]
		all[m.ID] = m
	}
	_, err := Latest(all, "a")
	refused(t, err, "circle", "SUPERSEDED_BY")
	_, err = Supersede(all, "c", "a")
	refused(t, err, "circle")
	if got, err := Chain(all, "a"); err != nil || strings.Join(ids(got), "") != "ba" {
		t.Errorf("%v, %v", ids(got), err)
	}
	if m, err := Latest(all, "c"); err != nil || m.ID != "c" {
		t.Errorf("%+v, %v", m, err)
	}
}

// FuzzSupersede: whatever is asked for, there are no circles, and both sides of
// an edge say the same.
func FuzzSupersede(f *testing.F) {
	f.Add("abbccdda")
	f.Fuzz(func(t *testing.T, asked string) {
		all := chainOf("abcdef")
		for i := 0; i+1 < len(asked); i += 2 {
			ms, err := Supersede(all, string('a'+asked[i]%6), string('a'+asked[i+1]%6))
			if err == nil {
				for _, m := range ms {
					all[m.ID] = m
				}
			}
		}
		for id, m := range all {
			last, err := Latest(all, id)
			chain, err2 := Chain(all, id)
			if err != nil || err2 != nil || chain[len(chain)-1].ID != last.ID || last.SupersededBy != "" {
				t.Fatalf("%s: %v, %v, %v", id, err, err2, ids(chain))
			}
			if m.SupersededBy != "" && !slices.Contains(all[m.SupersededBy].Supersedes, id) {
				t.Fatalf("%s and %s disagree", id, m.SupersededBy)
			}
			for _, o := range m.Supersedes {
				if all[o].SupersededBy != id {
					t.Fatalf("%s and %s disagree", id, o)
				}
			}
		}
	})
}

func TestLinks(t *testing.T) {
	all := chainOf("abc")
	do := set(t, all)
	do(Contradict(all, "a", "b"))
	do(Relate(all, "a", "b", 0.5))
	do(Relate(all, "c", "a", 1))
	do(Relate(all, "b", "a", 0.7))
	if a, b := all["a"], all["b"]; !slices.Equal(a.Contradicts, []string{"b"}) || !slices.Equal(b.Contradicts, []string{"a"}) ||
		!slices.Equal(a.Relates, []Link{{"b", 0.7}, {"c", 1}}) || !slices.Equal(b.Relates, []Link{{"a", 0.7}}) {
		t.Errorf("%+v, %+v", a, b)
	}
	for _, again := range [][]string{do(Contradict(all, "b", "a")), do(Relate(all, "a", "b", 0.7)), do(Settle(all, "a", "c"))} {
		if again != nil {
			t.Errorf("already so, and %v change", again)
		}
	}
	do(Settle(all, "b", "a"))
	do(Relate(all, "a", "b", 0))
	if a := all["a"]; a.Contradicts != nil || !slices.Equal(a.Relates, []Link{{"c", 1}}) || all["b"].Relates != nil {
		t.Errorf("%+v", a)
	}
	_, err := Relate(all, "a", "b", math.NaN())
	refused(t, err, "from 0 to 1")
	_, err = Contradict(all, "a", "a")
	refused(t, err, "itself")
	_, err = Settle(all, "x", "a")
	refused(t, err, "no memory with the id x")
	_, err = Contradict(all, "a", "y")
	refused(t, err, "y")
}

func TestCompact(t *testing.T) {
	some := func(n int) (ms []Memory) {
		for i := range n {
			m := New(TaskUpdate, fmt.Sprint(i), days(float64(100-i))) // the last are the oldest
			m.ID = fmt.Sprint("n", i)
			ms = append(ms, m)
		}
		return ms
	}
	if got := Compact(some(40), ProjectLimit, noon); got != nil {
		t.Errorf("at the limit: %v", ids(got))
	}
	ms := some(41)
	ms[40].Importance, ms[39].Importance, ms[38].Source, ms[37] = High, Low, Hand, ms[37].Pin(true)
	got := Compact(ms, ProjectLimit, noon)
	want := []string{"n39", "n36", "n35", "n34", "n33", "n32", "n31", "n30", "n29", "n28", "n27", "n26"}
	if !slices.Equal(ids(got), want) { // 41 - 12 + 1 = 30
		t.Errorf("got %v, want %v", ids(got), want)
	}
	if low := Unimportant(got); !slices.Equal(ids(low), []string{"n39"}) {
		t.Errorf("unimportant: %v", ids(low))
	}
	for i := range ms {
		ms[i].Importance = High
	}
	if got := Compact(ms, ProjectLimit, noon); got != nil {
		t.Errorf("of important ones: %v", ids(got))
	}
	ms = some(100)
	for i := range 20 {
		ms[i] = Forget(ms[i], noon, "x")
	}
	if got := Compact(ms, BranchLimit, noon); got != nil {
		t.Errorf("inactive ones count: %v", ids(got))
	}
}

func TestPromote(t *testing.T) {
	branch := Scope{Level: Branch, Project: "p", Branch: "feat/x"}
	var ms []Memory
	for i, kind := range Kinds() {
		for _, importance := range []string{High, Medium, Low} {
			m := New(kind, "x", noon)
			m.ID, m.Importance, m.Scope = fmt.Sprint(importance, i), importance, branch
			ms = append(ms, m)
		}
	}
	got := Promote(ms, noon)
	if len(got) != len(Kinds())-3 {
		t.Errorf("%v", ids(got))
	}
	for _, m := range got {
		if m.Importance != High || m.Scope != (Scope{Level: Project, Project: "p", Branch: "feat/x"}) || m.Kind == TaskUpdate {
			t.Errorf("%+v", m)
		}
	}
	for i := range ms {
		ms[i].SupersededBy = "x"
	}
	if got := Promote(ms, noon); got != nil {
		t.Errorf("inactive: %v", ids(got))
	}
}

func TestNormalise(t *testing.T) {
	for _, same := range [][2]string{
		{"Use tabs, not spaces.", "use  TABS not\nspaces"}, {"“Quoted” (twice)!", "quoted twice"}, {"a — b", "a b"},
		{"- an item", "an item"}, {"it is\u200bso", "it isso"}, {"", "…"}, {"Ärger: groß", "ärger groß"},
	} {
		if a, b := Normalise(same[0]), Normalise(same[1]); a != b {
			t.Errorf("%q and %q", a, b)
		}
	}
	for _, other := range [][2]string{
		{"C++", "C"}, {"C#", "C"}, {"v1.2", "v12"}, {"1.5", "15"}, {"-5", "5"}, {"--force", "force"}, {".env", "env"}, {"a > b", "a < b"},
		{"don't", "dont"}, {"5%", "5"}, {"a/b", "a b"}, {"may it?", "may it"}, {"!x", "x"}, {"a_b", "ab"}, {"e\u0301", "e"},
	} {
		if a, b := Normalise(other[0]), Normalise(other[1]); a == b {
			t.Errorf("%q and %q are both %q", other[0], other[1], a)
		}
	}
}

// FuzzNormalise: what is normal stays so.
func FuzzNormalise(f *testing.F) {
	f.Add("'(a).' “b")
	f.Fuzz(func(t *testing.T, s string) {
		once := Normalise(s)
		if twice := Normalise(once); twice != once {
			t.Fatalf("%q, then %q", once, twice)
		}
	})
}
