package recall

import (
	"bytes"
	"fmt"
	"math"
	"sync"
	"testing"
)

func TestScoreIsBM25(t *testing.T) {
	ix := index(t,
		Doc{ID: "1", Text: "zeppelin zeppelin harbour"},
		Doc{ID: "2", Text: "harbour lighthouse keeper boat rope"},
		Doc{ID: "3", Text: "keeper"},
	)
	hits, err := ix.Search(Query{Text: "zeppelin boat"})
	if err != nil {
		t.Fatal(err)
	}
	if ids(hits) != "1 2" {
		t.Fatalf("found %q", ids(hits))
	}
	idf := math.Log(1 + (3-1+0.5)/(1+0.5))
	for i, want := range []float64{
		idf * 2 * 2.2 / (2 + 1.2*(0.25+0.75*3/3)),
		idf * 1 * 2.2 / (1 + 1.2*(0.25+0.75*5/3)),
	} {
		if math.Abs(hits[i].Score-want) > 1e-12 || math.Abs(hits[i].Cover-0.5) > 1e-12 {
			t.Errorf("%s: score %v and cover %v, want %v and 0.5", hits[i].ID, hits[i].Score, hits[i].Cover, want)
		}
	}
}

// metered counts the bytes that are read.
type metered struct {
	*bytes.Reader
	read int
}

func (m *metered) ReadAt(b []byte, off int64) (int, error) {
	m.read += len(b)
	return m.Reader.ReadAt(b, off)
}

// A cold search for a rare word reads a small part of the index.
func TestColdSearchReadsLittle(t *testing.T) {
	b := newBuilder()
	for i := range 5000 {
		b.add(Doc{ID: fmt.Sprint("doc-", i), Kind: "fact", Time: day(1), Text: fmt.Sprintf("harbour keeper w%d w%d w%d rope boat w%d w%d w%d w%d", i, i/2, i/3, i*7, i*11, i*13, i*17)})
	}
	raw := b.bytes()
	m := &metered{Reader: bytes.NewReader(raw)}
	s, err := openSegment(m, 0, int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	ix := New()
	ix.parts = []*part{{segment: s}}
	if got := found1(t, ix, Query{Text: "w4321", Limit: 1}); got == "" {
		t.Fatal("nothing found")
	}
	if m.read > len(raw)/5 {
		t.Errorf("read %d of %d bytes for one word", m.read, len(raw))
	}
}

// Docs are copied a few times when they are put one by one, not once for each
// that comes after.
func TestPutOneByOneStaysCheap(t *testing.T) {
	ix, copied := New(), 0
	const n = 2000
	for i := range n {
		if err := ix.Put(Doc{ID: fmt.Sprint(i), Text: "harbour"}); err != nil {
			t.Fatal(err)
		}
		before := map[*part]bool{}
		for _, p := range ix.parts {
			before[p] = true
		}
		if got := found1(t, ix, Query{Text: "harbour", Limit: 1}); got == "" {
			t.Fatal("nothing found")
		}
		for _, p := range ix.parts {
			if !before[p] {
				copied += p.n
			}
		}
	}
	if copied > 12*n {
		t.Errorf("%d copies of %d docs", copied, n)
	}
}

func TestSearchesAndChangesAtOnce(t *testing.T) {
	ix := index(t, notes...)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for k := range 50 {
				d := Doc{ID: fmt.Sprint("d", i, "-", k), Text: "a database of boats"}
				if err := ix.Put(d); err != nil {
					t.Error(err)
				}
				hits, err := ix.Search(Query{Text: "boat", Limit: 1000})
				if err != nil || len(hits) <= k {
					t.Errorf("%d hits after %d of mine, %v", len(hits), k+1, err)
				}
			}
		})
	}
	all.Wait()
	if got, want := ix.Len(), len(notes)+200; got != want {
		t.Errorf("%d docs, want %d", got, want)
	}
}
