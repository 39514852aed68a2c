package recall

import (
	"strings"
	"testing"
	"time"
)

func day(d int) time.Time { return time.Date(2026, 11, d, 12, 0, 0, 0, time.UTC) }

var notes = []Doc{
	{ID: "lock", Text: "We decided to lock the write and not the process, as SQLite does.", Kind: "decision", Scope: "project/a", Tags: []string{"storage", "locks"}, Time: day(1), Source: "a.org"},
	{ID: "tabs", Text: "Prefers tabs over spaces in Go code", Kind: "preference", Scope: "global", Time: day(2), Source: "global.org"},
	{ID: "port", Text: "The staging database listens on port 5433", Kind: "fact", Scope: "project/a", Time: day(3), Source: "a.org"},
	{ID: "port2", Text: "The production database listens on port 5432", Kind: "fact", Scope: "project/b", Time: day(4), Source: "b.org"},
	{ID: "fn", Text: "parseHeader in harness/home/lock.go fails on Go 1.26.8", Kind: "error-resolution", Scope: "project/a", Tags: []string{"bug"}, Time: day(5), Source: "a.org"},
	{ID: "ru", Text: "Развёртывание идёт по пятницам", Kind: "fact", Scope: "global", Source: "global.org"},
	{ID: "ja", Text: "東京都に住んでいます", Kind: "fact", Scope: "global", Time: day(7), Source: "global.org"},
	{ID: "auth", Text: "Authentication tokens expire after an hour", Kind: "fact", Scope: "project/b", Time: day(8), Source: "b.org"},
}

func index(t testing.TB, docs ...Doc) *Index {
	t.Helper()
	ix := New()
	if err := ix.Put(docs...); err != nil {
		t.Fatal(err)
	}
	return ix
}

func ids(hits []Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, h.ID)
	}
	return strings.Join(out, " ")
}

func found1(t testing.TB, ix *Index, q Query) string {
	t.Helper()
	hits, err := ix.Search(q)
	if err != nil {
		t.Fatal(err)
	}
	return ids(hits)
}

func TestSearch(t *testing.T) {
	ix := index(t, notes...)
	for _, c := range []struct {
		name string
		q    Query
		want string
	}{
		{"another ending", Query{Text: "what was deciding about locks?"}, "lock fn"},
		{"only question words", Query{Text: "What did you do about it?"}, ""},
		{"nothing like it", Query{Text: "zeppelin"}, ""},
		{"newest first on a tie", Query{Text: "database"}, "port2 port"},
		{"a number", Query{Text: "port 5433"}, "port port2"},
		{"a name as written", Query{Text: "parseHeader"}, "fn"},
		{"a name another way", Query{Text: "parse_header"}, "fn"},
		{"a part of a name", Query{Text: "header"}, "fn"},
		{"a file", Query{Text: "lock.go", Limit: 1}, "fn"},
		{"the beginning of a version", Query{Text: "1.26"}, "fn"},
		{"Cyrillic, its marks folded", Query{Text: "развертывание"}, "ru"},
		{"a pair of ideographs", Query{Text: "京都"}, "ja"},
		{"one ideograph", Query{Text: "東"}, "ja"},
		{"the beginning of a word", Query{Text: "authent*"}, "auth"},
		{"a beginning longer than its stem", Query{Text: "authentication*"}, "auth"},
		{"a phrase", Query{Text: `"production database"`}, "port2"},
		{"a phrase with a stop word in it", Query{Text: `"lock the write"`}, "lock"},
		{"a phrase in another order", Query{Text: `"database production"`}, ""},
		{"an open quote is none", Query{Text: `"production database`}, "port2 port"},
		{"kind", Query{Text: "database port", Filter: Filter{Kinds: []string{"decision"}}}, ""},
		{"scope", Query{Text: "database", Filter: Filter{Scopes: []string{"global", "project/a"}}}, "port"},
		{"tag", Query{Text: "lock", Filter: Filter{Tags: []string{"bug", "other"}}}, "fn"},
		{"since", Query{Text: "database", Filter: Filter{Since: day(4)}}, "port2"},
		{"until", Query{Text: "database", Filter: Filter{Until: day(4)}}, "port"},
		{"no words: newest first", Query{Filter: Filter{Scopes: []string{"global"}}}, "ja tabs ru"},
		{"only question words, and a time", Query{Text: "what did we do?", Filter: Filter{Since: day(7)}}, "auth ja"},
		{"no time never passes", Query{Filter: Filter{Scopes: []string{"global"}, Until: day(30)}}, "ja tabs"},
		{"limit", Query{Text: "database", Limit: 1}, "port2"},
	} {
		if got := found1(t, ix, c.q); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestContextOfTurns(t *testing.T) {
	ix := index(t,
		Doc{ID: "1", Group: "chat", Order: 1, Text: "Hello there friend"},
		Doc{ID: "2", Group: "chat", Order: 2, Text: "Where did Anna spend her holiday?"},
		Doc{ID: "3", Group: "chat", Order: 3, Text: "In Lisbon, with a friend."},
		Doc{ID: "4", Group: "other", Order: 3, Text: "In Madrid."},
		Doc{ID: "5", Text: "In Rome."},
	)
	hits, err := ix.Search(Query{Text: "Anna holiday"})
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(hits); got != "2 1 3" {
		t.Fatalf("found %q, want the turn and those beside it", got)
	}
	if hits[0].Own != hits[0].Score || hits[1].Own != 0 || hits[1].Score != hits[0].Own/2 {
		t.Errorf("a neighbour has half of the score and none of its own: %+v", hits)
	}
	// A turn that is taken out brings the others together.
	if err := ix.Remove("2"); err != nil {
		t.Fatal(err)
	}
	if got := found1(t, ix, Query{Text: "Lisbon"}); got != "3 1" {
		t.Errorf("found %q, want 3 1", got)
	}
}

func TestPutReplaceRemove(t *testing.T) {
	ix := index(t, notes...)
	if err := ix.Put(Doc{ID: "port", Text: "The staging database listens on port 6000"}); err != nil {
		t.Fatal(err)
	}
	if got := found1(t, ix, Query{Text: "5433"}); got != "" {
		t.Errorf("the replaced text is found: %q", got)
	}
	if got := found1(t, ix, Query{Text: "6000"}); got != "port" {
		t.Errorf("the new text is not found: %q", got)
	}
	if err := ix.Replace("b.org", Doc{ID: "auth", Text: "Tokens expire after a day"}); err != nil {
		t.Fatal(err)
	}
	if got := found1(t, ix, Query{Text: "token database"}); got != "auth port" {
		t.Errorf("found %q; port2 is not in its file any more", got)
	}
	if got, want := ix.Len(), len(notes)-1; got != want {
		t.Errorf("%d docs, want %d", got, want)
	}
	d, ok, err := ix.Doc("fn")
	if err != nil || !ok || d.Kind != "error-resolution" || !d.Time.Equal(day(5)) || d.Source != "a.org" || d.Tags[0] != "bug" {
		t.Errorf("doc %+v, %v, %v", d, ok, err)
	}
	if _, ok, _ := ix.Doc("port2"); ok {
		t.Error("port2 is still known")
	}
}
