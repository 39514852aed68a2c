package memory

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"amacs/org"
)

// around is a file of a hand, with a line of states of its own and no end.
const around = "# mine\n#+TODO: LATER | GONE\n\n* LATER mine [1/2]  :x:\n:PROPERTIES:\n:ID: hand-1\n:MINE: kept\n:END:\n\n  body\n\n\n* group\n** child\nof mine"

// sample is the file of the package comment.
func sample(t testing.TB) []byte {
	t.Helper()
	doc := must[[]byte](t)(os.ReadFile("doc.go"))
	from, to := bytes.Index(doc, []byte("//\t# -*-")), bytes.Index(doc, []byte("//\n// A short text"))
	src := strings.ReplaceAll(string(doc[from:to]), "//\n", "\n")
	return []byte(strings.ReplaceAll(src, "//\t", ""))
}

func TestSample(t *testing.T) {
	ms := Read(sample(t))
	at := func(s string) time.Time { return readStamp("[" + s + "]") }
	want := []Memory{
		{ID: "k3f", Content: "The build needs Go 1.26", Tags: []string{"go", "build"}, Kind: Fact, Scope: Scope{Level: Project, Project: "amacs-w5d3kq8nt2"},
			Importance: Medium, Trust: High, Confidence: 0.95, Strength: 2, Created: at("2026-11-21 05:42"), Source: "agent", Tick: 42,
			Relates: []Link{{"m7w", 0.6}}, Crumbs: []Crumb{{Reinforced, at("2026-11-22 10:00"), 57, "r-8"}}},
		{ID: "m7w", Content: "The release is cut from main on Thursdays, after the nightly tests\nwere green. Who cuts it tells the others.",
			Tags: []string{"pinned"}, Kind: Fact, Importance: Medium, Trust: Medium, Confidence: 1, Strength: 1},
	}
	if !reflect.DeepEqual(ms, want) {
		t.Fatalf("got  %+v\nwant %+v", ms, want)
	}
	if got := ms[1].Title(); got != "The release is cut from main on Thursdays, after the nightly tests were green. …" {
		t.Errorf("its title is %q", got)
	}
	// What is read from the sample is written as the sample.
	src := must[[]byte](t)(Add(Preamble(ms[0].Scope), ms[0]))
	if !bytes.HasPrefix(sample(t), src) {
		t.Errorf("written:\n%s", src)
	}
}

// added checks the laws of a memory that is added to src and then changed.
func added(t *testing.T, src []byte, m Memory) {
	t.Helper()
	was := Read(src)
	got, err := Add(src, m)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(got, src) {
		t.Fatalf("adding changed what was there:\n%s", got)
	}
	same := func(src []byte, want Memory) {
		t.Helper()
		ms := Read(src)
		if len(ms) != len(was)+1 || len(was) > 0 && !reflect.DeepEqual(ms[:len(was)], was) {
			t.Fatalf("the others changed: %d of %d in\n%s", len(ms), len(was), src)
		}
		if !reflect.DeepEqual(ms[len(was)], want) {
			t.Fatalf("got  %+v\nwant %+v\nin\n%q", ms[len(was)], want, src)
		}
	}
	same(got, m)
	still, err := Set(got, m)
	if err != nil || !bytes.Equal(still, got) {
		t.Fatalf("writing it as it is changed the file (%v):\n%s\n\n%s", err, got, still)
	}
	changed := Use(m, Crumb{At: later, Tick: 99, Session: "z"})
	changed.Tags, changed.Relates, changed.SupersededBy, changed.Trust = nil, nil, "", High
	changed.Content = "TODO other\n* " + m.Content[:min(len(m.Content), 500)]
	for _, c := range []Memory{changed, m} { // and back again
		if got, err = Set(got, c); err != nil {
			t.Fatal(err)
		}
		same(got, c)
	}
	rest, block, err := Remove(got, m.ID)
	if err != nil || !bytes.HasPrefix(rest, src) || len(bytes.TrimSpace(rest[len(src):])) > 0 {
		t.Fatalf("taking it out left (%v)\n%s", err, rest)
	}
	same(Paste(rest, block), m)
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for i, text := range nasty {
		m := full(fmt.Sprint("n", i), text)
		for _, src := range []string{"", string(Preamble(m.Scope)), around, strings.ReplaceAll(around, "\n", "\r\n")} {
			added(t, []byte(src), m)
		}
		plain := New(Fact, text, noon)
		plain.ID = m.ID
		added(t, Preamble(plain.Scope), plain)
	}
}

func FuzzAdd(f *testing.F) {
	for i, text := range nasty {
		f.Add(around, text, nasty[(i+3)%len(nasty)])
	}
	f.Add(":ID: n", "x", "y")
	f.Fuzz(func(t *testing.T, src, content, word string) {
		m := full("n", content)
		m.Source, m.Group, m.Why = word, word, word
		m.Session, m.DerivedFrom = word, []string{word, "n"}
		if m.Check() != nil {
			m.Source, m.Group, m.Why, m.Session, m.DerivedFrom = "", "", "", "", nil
		}
		if m.Check() != nil {
			t.Skip("no memory")
		}
		if _, err := Add([]byte(src), m); err != nil {
			t.Skip("the id is taken")
		}
		if opensBlock(src) {
			t.Skip("an unfinished block")
		}
		added(t, []byte(src), m)
	})
}

// opensBlock: TODO lines of an unfinished block count as soon as a heading
// follows, so that one added changes how those before are read.
func opensBlock(src string) bool {
	low := strings.ToLower(src)
	return strings.Contains(low, "#+begin") && strings.Contains(low, "todo:")
}

// FuzzEdit: whatever a file holds, an edit changes only its heading.
func FuzzEdit(f *testing.F) {
	f.Add(around, "new")
	f.Add("* a\n:PROPERTIES:\n:ID: 1\n:CONFIDENCE: much\n:END:\n:LOGBOOK:\n- mine\n- used [2026-11-21] tick 2\n:END:\ntext\n\n** note\n* b", "two\nlines")
	f.Add("* a\r\n:PROPERTIES:\r\n:ID: 1\r\n:END:\r\n:logbook:\r\n:end:", "x")
	f.Fuzz(func(t *testing.T, src, text string) {
		doc := org.Parse([]byte(src))
		at := byID(doc)
		for _, m := range Read([]byte(src)) {
			h, err := find(at, m.ID)
			if err != nil {
				continue
			}
			same, err := Set([]byte(src), m)
			if err != nil || string(same) != src {
				t.Fatalf("%s as it is (%v):\n%q\n%q", m.ID, err, src, same)
			}
			changed := Reinforce(m, Crumb{At: later})
			if checkContent(text) == nil {
				changed.Content = text
			}
			changed.Contradicts, changed.Tags = []string{"x"}, []string{"new"}
			got, err := Set([]byte(src), changed)
			if err != nil {
				t.Fatal(err)
			}
			if string(got[:h.Start]) != src[:h.Start] || !strings.HasSuffix(string(got), src[h.Next:]) {
				t.Fatalf("%q became %q", src, got)
			}
			if now := one(t, got, m.ID); !reflect.DeepEqual(now, changed) {
				t.Fatalf("got  %+v\nwant %+v\nin\n%q\nfrom\n%q", now, changed, got, src)
			}
		}
	})
}

func TestHandEdits(t *testing.T) {
	t.Parallel()
	m := New(Fact, "Tabs, not spaces", noon)
	m.ID, m.Confidence = "k3f", 0.5
	long := m
	long.Content = strings.Repeat("long ", 40) + "text"
	file := func(m Memory) string { return string(must[[]byte](t)(Add(Preamble(m.Scope), m))) }
	for name, c := range map[string]struct {
		of       Memory
		from, to string
		want     func(m *Memory)
	}{
		"title":               {m, "Tabs", "Spaces", func(m *Memory) { m.Content = "Spaces, not spaces" }},
		"a line below":        {m, ":END:\n", ":END:\n\nalways\n\n", func(m *Memory) { m.Content += "\nalways" }},
		"tags":                {m, "spaces\n", "spaces  :style:pinned:\n", func(m *Memory) { m.Tags = []string{"style", "pinned"} }},
		"below a group":       {m, "* Tabs", "* Style\n** Tabs", nil},
		"a note below":        {m, ":END:\n", ":END:\n** why\nbecause\n*** more\n", nil},
		"a state":             {m, "* Tabs", "* TODO [#A] Tabs", nil},
		"scheduled":           {m, "spaces\n", "spaces\nSCHEDULED: <2026-11-22 Sun>\n", nil},
		"an unknown property": {m, ":END:", ":MINE: x\n:END:", nil},
		"degrees":             {m, ":IMPORTANCE: medium\n:TRUST: medium", ":importance: HIGH\n:TRUST: much", func(m *Memory) { m.Importance = High }},
		"numbers":             {m, ":CONFIDENCE: 0.5\n:STRENGTH: 1", ":CONFIDENCE: 7\n:STRENGTH: -4", func(m *Memory) { m.Confidence = 1 }},
		"a kind of his own":   {m, ":KIND: fact", ":KIND: opinion", func(m *Memory) { m.Kind = "opinion" }},
		"a day":               {m, "[2026-11-21 Sat 12:00]", "<2026-11-21 Sa 12:00 +1w>", nil},
		"no day":              {m, "[2026-11-21 Sat 12:00]", "yesterday", func(m *Memory) { m.Created = time.Time{} }},
		"links": {m, ":END:", ":RELATES: a b=0.5 c=9 d=\n:CONTRADICTS:   x   y \n:END:", func(m *Memory) {
			m.Relates, m.Contradicts = []Link{{"a", 0.6}, {"b", 0.5}, {"c=9", 0.6}, {"d=", 0.6}}, []string{"x", "y"}
		}},
		"a log of Emacs":      {m, ":END:\n", ":END:\n:LOGBOOK:\n- Note taken on [2026-11-22 Sun 10:00] \\\\\n  hm\n:END:\n", nil},
		"only his property":   {m, m.file(), "* Tabs, not spaces\n:PROPERTIES:\n:ID: k3f\n:END:\n", func(m *Memory) { m.Confidence, m.Created = 1, time.Time{} }},
		"the body of a long":  {long, "text", "words", func(m *Memory) { m.Content = strings.Repeat("long ", 40) + "words" }},
		"both of a long":      {long, excerpt(long.Content), "Mine", func(m *Memory) { m.Content = "Mine\n" + m.Content }},
		"the title of a long": {long, "* long long", "* Much is …", func(m *Memory) {}},
	} {
		t.Run(name, func(t *testing.T) {
			src := file(c.of)
			if !strings.Contains(src, c.from) {
				t.Fatalf("%q is not in\n%s", c.from, src)
			}
			src = strings.Replace(src, c.from, c.to, 1)
			want := c.of
			if c.want != nil {
				c.want(&want)
			}
			for _, src := range []string{src, strings.ReplaceAll(src, "\n", "\r\n")} {
				if got := one(t, []byte(src), "k3f"); !reflect.DeepEqual(got, want) {
					t.Errorf("got  %+v\nwant %+v", got, want)
				}
				// All that it does not mean is there after it was changed.
				changed := Reinforce(want, Crumb{At: later, Tick: 5})
				got := must[[]byte](t)(Set([]byte(src), changed))
				lines := func(b string) []string {
					return slices.DeleteFunc(strings.SplitAfter(b, "\n"), func(l string) bool {
						return strings.Contains(l, "STRENGTH") || strings.Contains(l, "CONFIDENCE") || strings.Contains(l, "reinforced") ||
							strings.Contains(l, ":LOGBOOK:") || strings.Contains(l, ":END:")
					})
				}
				if g, w := lines(string(got)), lines(src); !slices.Equal(g, w) {
					t.Errorf("got\n%s\nfrom\n%s", got, src)
				}
				if now := one(t, got, "k3f"); !reflect.DeepEqual(now, changed) {
					t.Errorf("got  %+v\nwant %+v", now, changed)
				}
			}
		})
	}
}

// file is m as it stands in a file, without the preamble.
func (m Memory) file() string { return m.entry(nil).String() }

func TestNotMemories(t *testing.T) {
	src := "* group\nwords\n** new\n** COMMENT hidden\n*** hidden too\n** :tag:\n* known\n:PROPERTIES:\n:ID: a\n:END:\n** note\n*** deeper\n**** moved\n:PROPERTIES:\n:ID: b\n:END:\n" +
		"* old :ARCHIVE:\n:PROPERTIES:\n:ID: c\n:END:\n* title\nbody\n* \n"
	var got []string
	for _, m := range Read([]byte(src)) {
		got = append(got, m.ID+"|"+m.Content)
	}
	want := []string{"|new", "a|known", "b|moved", "|title\nbody"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	rest, block, err := Remove([]byte(src), "a")
	if err != nil || string(block) != "* known\n:PROPERTIES:\n:ID: a\n:END:\n** note\n*** deeper\n" || !strings.Contains(string(rest), "**** moved") {
		t.Errorf("%v, took out\n%s", err, block)
	}
	_, block, err = Remove([]byte(src), "b")
	if err != nil || string(Paste([]byte("* x"), block)) != "* x\n\n* moved\n:PROPERTIES:\n:ID: b\n:END:\n" {
		t.Errorf("%v, pasted\n%s", err, Paste([]byte("* x"), block))
	}
}

func TestRefused(t *testing.T) {
	ok := full("k3f", "x")
	for says, change := range map[string]func(m *Memory){
		"no text":        func(m *Memory) { m.Content = " \n" },
		"1001 char":      func(m *Memory) { m.Content = strings.Repeat("ü", 1001) },
		"one word":       func(m *Memory) { m.ID = "a b" },
		"kinds are fact": func(m *Memory) { m.Kind = "opinion" },
		"importance":     func(m *Memory) { m.Importance = "" },
		"trust":          func(m *Memory) { m.Trust = "HIGH" },
		"confidence":     func(m *Memory) { m.Confidence = 1.01 },
		"negative":       func(m *Memory) { m.Strength = -1 },
		"scope":          func(m *Memory) { m.Scope.Project = "" },
		"a tag":          func(m *Memory) { m.Tags = []string{"a b"} },
		"one line":       func(m *Memory) { m.Group = "a\nb" },
		"be an id":       func(m *Memory) { m.Contradicts = []string{""} },
		"above 0":        func(m *Memory) { m.Relates = []Link{{"x", 0}} },
		"has no time":    func(m *Memory) { m.Crumbs = []Crumb{{What: Used}} },
	} {
		m := full("k3f", "x")
		change(&m)
		_, err := Add(nil, m)
		refused(t, err, says)
		if m.ID == ok.ID {
			_, err = Set(must[[]byte](t)(Add(nil, ok)), m)
			refused(t, err, says, "k3f")
		}
	}
	_, err := Add(nil, ok, ok)
	refused(t, err, "k3f is taken")
	src := []byte(ok.file() + ok.file())
	_, err = Set(src, ok)
	refused(t, err, "two memories")
	_, _, err = Remove(src, "zzz")
	refused(t, err, `"zzz"`)
	if got, err := Add([]byte(around)); err != nil || string(got) != around {
		t.Errorf("adding nothing: %v", err)
	}
}

// TestSetMany: several at once, each in its heading.
func TestSetMany(t *testing.T) {
	var ms []Memory
	for i := range 5 {
		ms = append(ms, full(fmt.Sprint("n", i), nasty[i]))
	}
	src := must[[]byte](t)(Add([]byte(around), ms...))
	for i := range ms {
		ms[i] = Reinforce(ms[i], Crumb{At: later})
	}
	got := must[[]byte](t)(Set(src, ms[4], ms[0], ms[2]))
	for i, m := range ms {
		if now := one(t, got, m.ID); reflect.DeepEqual(now, m) != (i%2 == 0) {
			t.Errorf("%d: %+v", i, now)
		}
	}
	_, err := Set(src, ms[0], ms[0])
	refused(t, err, "n0")
}

// TestEmacs: real Emacs sees the headings, properties and tags that were meant.
func TestEmacs(t *testing.T) {
	t.Parallel()
	emacs, err := exec.LookPath("emacs")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs emacs: ", err)
		}
		t.Skip("no emacs")
	}
	var ms []Memory
	for i, text := range nasty {
		m := full(fmt.Sprint("n", i), text)
		m.Why, m.Group = "<<x>> %%(f) :a:", "[[file:x]]"
		ms = append(ms, m)
	}
	src := must[[]byte](t)(Add(Preamble(ms[0].Scope), ms...))
	for i := range ms {
		ms[i] = Reinforce(ms[i], Crumb{At: later, Tick: 9})
	}
	src = must[[]byte](t)(Set(src, ms...))
	file := filepath.Join(t.TempDir(), "global.org")
	if err := os.WriteFile(file, src, 0o600); err != nil {
		t.Fatal(err)
	}
	var seen []struct {
		Headings []struct {
			Level           int
			State, Priority string
			Comment         bool
			Title           string
			Tags            []string
			Props           [][2]string
		}
		Lint []struct {
			Line int
			Text string
		}
	}
	out := must[[]byte](t)(exec.Command(emacs, "-Q", "--batch", "-l", "../../org/testdata/check.el", "-f", "amacs-check", file).Output())
	if err := json.Unmarshal(out, &seen); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || len(seen[0].Headings) != len(ms) {
		t.Fatalf("%d headings, want %d", len(seen[0].Headings), len(ms))
	}
	for i, h := range seen[0].Headings {
		var props [][2]string
		for _, p := range ms[i].entry(nil).Props {
			props = append(props, [2]string{p.Key, p.Value})
		}
		title, _ := ms[i].heading(nil)
		if h.Level != 1 || h.State+h.Priority != "" || h.Comment || h.Title != title || !slices.Equal(h.Tags, ms[i].Tags) || !slices.Equal(h.Props, props) {
			t.Errorf("Emacs sees %+v\nof %+v", h, ms[i])
		}
	}
	for _, l := range seen[0].Lint {
		t.Errorf("org-lint: line %d: %s", l.Line, l.Text)
	}
}

func BenchmarkRead(b *testing.B) {
	var ms []Memory
	for i := range 1000 {
		ms = append(ms, full(fmt.Sprint("n", i), fmt.Sprintf("Memory %d says that %s", i, strings.Repeat("this is so ", i%20))))
	}
	src := must[[]byte](b)(Add(nil, ms...))
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		if len(Read(src)) != 1000 {
			b.Fatal("some are lost")
		}
	}
}
