package recall

import (
	"math"
	"testing"
	"time"
)

func recalled(t *testing.T, ix *Index, a Ask) string {
	t.Helper()
	hits, err := ix.Recall(a)
	if err != nil {
		t.Fatal(err)
	}
	return ids(hits)
}

func TestRecall(t *testing.T) {
	ix := index(t, notes...)
	for _, c := range []struct {
		name string
		ask  Ask
		want string
	}{
		{"the good ones alone", Ask{Query: Query{Text: "Which port has the staging database?"}}, "port port2"},
		{"never", Ask{Query: Query{Text: "database port"}, Never: map[string]bool{"port2": true}}, "port"},
		{"at most", Ask{Query: Query{Text: "database port", Limit: 1}}, "port2"},
		{"one common word of many says nothing", Ask{Query: Query{Text: "zeppelin orchestra violin concerto hour"}}, ""},
		{"a prior decides a tie", Ask{Query: Query{Text: "database port"}, Prior: func(id string) Prior {
			return Prior{Confidence: 1, Here: id == "port"}
		}}, "port port2"},
		{"vectors alone", Ask{Query: Query{Text: "credentials"}, Near: []Hit{{ID: "auth", Score: 0.7}, {ID: "lock", Score: 0.2}}}, "auth"},
		{"both", Ask{Query: Query{Text: "database"}, Near: []Hit{{ID: "port", Score: 0.8}, {ID: "auth", Score: 0.75}}}, "port port2 auth"},
		{"vectors pass the filter", Ask{Query: Query{Text: "credentials", Filter: Filter{Kinds: []string{"decision"}}}, Near: []Hit{{ID: "auth", Score: 0.7}}}, ""},
		{"vectors of what is gone", Ask{Query: Query{Text: "credentials"}, Near: []Hit{{ID: "gone", Score: 0.9}}}, ""},
	} {
		if got := recalled(t, ix, c.ask); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestPriorIsGentle(t *testing.T) {
	best := Prior{Confidence: 1, Importance: 1, Strength: 1000, Here: true}.Factor()
	worst := Prior{Importance: -1, Age: 1e5 * time.Hour}.Factor()
	if best > 1.301 || worst < 0.849 || best < worst {
		t.Errorf("factors from %v to %v", worst, best)
	}
}

func TestFuse(t *testing.T) {
	got := Fuse([]Hit{{ID: "a", Own: 3}, {ID: "b"}}, []Hit{{ID: "b"}, {ID: "c"}})
	if ids(got) != "b a c" {
		t.Fatalf("fused %q", ids(got))
	}
	if want := 1.0/62 + 1.0/61; math.Abs(got[0].Score-want) > 1e-12 || got[1].Own != 3 {
		t.Errorf("fused %+v, want the first with %v", got, want)
	}
}
