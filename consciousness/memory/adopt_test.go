package memory

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"amacs/org"
)

var here = Scope{Level: Project, Project: "amacs-w5d3kq8nt2"}

func TestAdopt(t *testing.T) {
	t.Parallel()
	m := New(Fact, "Tabs, not spaces", noon)
	m.ID, m.Scope, m.Confidence = "k3f", here, 0.3
	src := string(must[[]byte](t)(Add([]byte("# mine\n"), m)))
	was := byIDs(m)
	for name, c := range map[string]struct {
		src   string
		taken []string
		want  []func(m *Memory) // changes, beside a memory of the hand
	}{
		"nothing": {src, nil, nil},
		"new": {src + "\n\n* New thing\nwords\n\n\n* TODO other :x:", nil, []func(m *Memory){
			func(m *Memory) { m.Content = "New thing\nwords" }, func(m *Memory) { m.Content, m.Tags = "other", []string{"x"} }}},
		"new with some": {src + "* x\n:PROPERTIES:\n:KIND: decision\n:TRUST: low\n:MINE: y\n:END:\n", nil, []func(m *Memory){
			func(m *Memory) { m.Content, m.Kind, m.Trust = "x", Decision, Low }}},
		"a copy": {src + src[strings.Index(src, "* "):], nil, []func(m *Memory){
			func(m *Memory) {
				m.Content, m.Trust, m.Confidence, m.Created = "Tabs, not spaces", Medium, 0.3, noon
			}}},
		"in another file": {src, []string{"k3f"}, []func(m *Memory){
			func(m *Memory) {
				m.Content, m.Trust, m.Confidence, m.Created = "Tabs, not spaces", Medium, 0.3, noon
			}}},
		"edited": {strings.Replace(src, "Tabs", "Blanks", 1), nil, []func(n *Memory){
			func(n *Memory) {
				n.ID, n.Content, n.Created, n.Updated, n.Verified = "k3f", "Blanks, not spaces", noon, later, later
			}}},
		"moved": {strings.Replace(src, ":SCOPE: "+here.String(), ":SCOPE: global", 1), nil, []func(n *Memory){
			func(n *Memory) { *n = m }}},
		"its place lost": {strings.Replace(src, ":SCOPE: "+here.String(), ":SCOPE: moon", 1), nil, []func(n *Memory){
			func(n *Memory) { *n = m }}},
		"from a branch of it": {strings.Replace(src, here.String(), here.String()+" feat/x", 1), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, src := range []string{c.src, strings.ReplaceAll(c.src, "\n", "\r\n")} {
				taken := map[string]bool{}
				for _, id := range c.taken {
					taken[id] = true
				}
				got, changed := Adopt([]byte(src), here, was, taken, later)
				if len(changed) != len(c.want) {
					t.Fatalf("%d changed, want %d:\n%s", len(changed), len(c.want), got)
				}
				for i, m := range changed {
					want := New(Fact, "", later)
					want.ID, want.Scope, want.Source, want.Trust = m.ID, here, Hand, High
					c.want[i](&want)
					if !reflect.DeepEqual(m, want) {
						t.Errorf("got  %+v\nwant %+v", m, want)
					}
					if m.ID == "" || !taken[m.ID] || !reflect.DeepEqual(one(t, got, m.ID), m) {
						t.Errorf("%q is not in\n%s", m.ID, got)
					}
				}
				if len(c.want) == 0 && string(got) != src {
					t.Errorf("changed:\n%s", got)
				}
				// Adopted is adopted.
				again, changed := Adopt(got, here, byIDs(Read(got)...), map[string]bool{}, later)
				if len(changed) > 0 || !bytes.Equal(again, got) {
					t.Errorf("a second time changes %v", ids(changed))
				}
			}
		})
	}
}

// A new heading gets all properties, so that a human sees what can be said.
func TestAdoptedLooks(t *testing.T) {
	got, _ := Adopt([]byte("* Tea at four\n:PROPERTIES:\n:MINE: x\n:END:\nor five"), Scope{Level: Global}, nil, map[string]bool{}, noon)
	want := "* Tea at four\n:PROPERTIES:\n:MINE: x\n:ID: " + Read(got)[0].ID + "\n:KIND: fact\n:SCOPE: global\n:IMPORTANCE: medium\n:TRUST: high\n:CONFIDENCE: 1\n:STRENGTH: 1\n" +
		":CREATED: [2026-11-21 Sat 12:00]\n:SOURCE: hand\n:END:\nor five"
	if string(got) != want {
		t.Errorf("got\n%s", got)
	}
}

// FuzzAdopt: afterwards each memory has an id of its own, the same content, and
// what is not a memory is as it was.
func FuzzAdopt(f *testing.F) {
	f.Add(around)
	f.Add("* b\r")
	f.Add("* a\n* b\r\n:PROPERTIES:\n:ID:\n:END:\n* b\n:PROPERTIES:\n:ID: x\n:END:\n:LOGBOOK:\n:END:\n** c\n:PROPERTIES:\n:ID: x\n:END:\n\n* d")
	f.Fuzz(func(t *testing.T, src string) {
		got, changed := Adopt([]byte(src), here, nil, map[string]bool{}, later)
		before, after := Read([]byte(src)), Read(got)
		if len(before) != len(after) || len(changed) > len(after) {
			t.Fatalf("%d of %d in %q from %q", len(after), len(before), got, src)
		}
		seen := map[string]bool{}
		for i, m := range after {
			if m.ID == "" || seen[m.ID] || m.Content != before[i].Content || m.Scope.File() != here.File() {
				t.Fatalf("%+v from %+v in %q from %q", m, before[i], got, src)
			}
			seen[m.ID] = true
		}
		rest := func(src []byte) (text []string) {
			doc := org.Parse(src)
			known := headings(doc)
			text = []string{string(src[:doc.Preamble])}
			for _, h := range doc.Headings {
				if !slices.Contains(known, h) {
					text = append(text, string(src[h.Start:h.Next]))
				} else if h.Next > h.Body {
					text = append(text, string(src[h.Body:h.Next]))
				}
			}
			return text
		}
		if g, w := rest(got), rest([]byte(src)); !slices.Equal(g, w) {
			t.Fatalf("got %q, want %q", g, w)
		}
		again, changed := Adopt(got, here, nil, map[string]bool{}, later)
		if len(changed) > 0 || !bytes.Equal(again, got) {
			t.Fatalf("a second time changes %v", ids(changed))
		}
	})
}

func TestNewID(t *testing.T) {
	seen := map[string]bool{}
	taken := func(id string) bool { return seen[id] }
	most := func(n int) int { // characters of the n-th id
		switch {
		case n < 3:
			return 3
		case n < 1000:
			return 4
		}
		return 6
	}
	for i := range 15000 {
		content := fmt.Sprint("memory ", i)
		if i%1000 == 0 {
			content = "the same"
		}
		id := NewID(content, noon, taken)
		if id != NewID(content, noon, taken) {
			t.Fatal("not the same twice")
		}
		if seen[id] || len(id) < 3 || len(id) > most(i) || strings.Trim(id, signs) != "" || !strings.Contains(letters, id[:1]) {
			t.Fatalf("id %d is %q", i, id)
		}
		seen[id] = true
	}
	free := func(string) bool { return false }
	if NewID("a", noon, free) == NewID("a", later, free) || NewID("a", noon, free) == NewID("b", noon, free) {
		t.Error("time or content does not count")
	}
}

func TestFind(t *testing.T) {
	all := []string{"k3f", "k3fb", "k3c", "m7w", "D1:3"}
	for i := range 12 {
		all = append(all, fmt.Sprint("zz", i))
	}
	for prefix, want := range map[string]string{"k3f": "k3f", "k3fb": "k3fb", "m": "m7w", " [M7W] ": "m7w", "d1": "D1:3", "K3F": "k3f"} {
		if got, err := Find(all, prefix); err != nil || got != want {
			t.Errorf("%q is %q, %v", prefix, got, err)
		}
	}
	for prefix, want := range map[string]string{"": "no memory was named", "[]": "named", "x": "`amacs memory list`", "k3": "3 ids: k3c, k3f, k3fb; give more", "zz": "and 4 more", "ü": "begins with"} {
		_, err := Find(all, prefix)
		refused(t, err, want)
	}
}
