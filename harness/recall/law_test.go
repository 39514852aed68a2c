package recall

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var vocabulary = strings.Fields("apple river lock go1.26 parse_header homeDir running runner anna lisbon database port 5432 東京都 развёртывание token")

func randomDoc(r *rand.Rand, id int) Doc {
	var text []string
	for range r.IntN(12) {
		text = append(text, vocabulary[r.IntN(len(vocabulary))])
	}
	d := Doc{ID: fmt.Sprint("d", id), Text: strings.Join(text, " "), Kind: []string{"fact", "decision"}[r.IntN(2)],
		Scope: fmt.Sprint("s", r.IntN(3)), Source: fmt.Sprint("f", r.IntN(4)), Order: r.IntN(5)}
	if r.IntN(2) == 0 {
		d.Group = fmt.Sprint("g", r.IntN(4))
	}
	if r.IntN(3) > 0 {
		d.Time = time.UnixMilli(int64(r.IntN(5)) * 86400_000)
		d.Tags = []string{fmt.Sprint("t", r.IntN(3))}
	}
	return d
}

var questions = []Query{
	{Text: "apple river", Limit: 1000}, {Text: "run lock", Limit: 7}, {Text: "app* 東"}, {Text: `"lisbon database"`},
	{Text: "token 5432 1.26", Filter: Filter{Kinds: []string{"fact"}}}, {Filter: Filter{Tags: []string{"t1"}}, Limit: 50},
	{Text: "parseHeader развертывание", Filter: Filter{Since: time.UnixMilli(86400_000)}, Limit: 1000},
}

// The law: whatever was put, replaced, removed, saved and opened, a search
// answers as in a new index of what is there.
func TestSearchIsAsRebuilt(t *testing.T) {
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 1))
		path := filepath.Join(t.TempDir(), "index")
		ix, model := New(), map[string]Doc{}
		for step := range 150 {
			stamp := fmt.Sprint(step)
			var err error
			switch n := r.IntN(10); {
			case n < 5:
				for range 1 + r.IntN(8) {
					d := randomDoc(r, r.IntN(80))
					model[d.ID] = d
					err = errors.Join(err, ix.Put(d))
				}
			case n < 7:
				id := fmt.Sprint("d", r.IntN(80))
				delete(model, id)
				err = ix.Remove(id)
			case n < 8:
				source := fmt.Sprint("f", r.IntN(4))
				for id, d := range model {
					if d.Source == source {
						delete(model, id)
					}
				}
				d := randomDoc(r, r.IntN(80))
				d.Source = source
				model[d.ID] = d
				err = ix.Replace(source, d)
			default:
				if err = ix.Save(path, stamp); err == nil && n == 9 {
					ix.Close()
					ix, err = Open(path, stamp)
				}
			}
			if err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			if step%10 != 9 {
				continue
			}
			fresh := New()
			for _, d := range model {
				if err := fresh.Put(d); err != nil {
					t.Fatal(err)
				}
			}
			if ix.Len() != len(model) {
				t.Fatalf("seed %d, step %d: %d docs, want %d", seed, step, ix.Len(), len(model))
			}
			for _, q := range questions {
				got, err := ix.Search(q)
				if err != nil {
					t.Fatalf("seed %d, step %d: %v", seed, step, err)
				}
				want, err := fresh.Search(q)
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("seed %d, step %d, %q:\n got %v\nwant %v", seed, step, q.Text, got, want)
				}
			}
		}
		ix.Close()
	}
}

func saved(t testing.TB, docs ...Doc) (path string, raw []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "index")
	ix := index(t, docs...)
	if err := ix.Save(path, "one"); err != nil {
		t.Fatal(err)
	}
	ix.Close()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, raw
}

func TestOpenStale(t *testing.T) {
	path, raw := saved(t, notes...)
	if _, err := Open(path, "two"); !errors.Is(err, ErrStale) {
		t.Errorf("another stamp: %v", err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none"), "one"); !errors.Is(err, ErrStale) {
		t.Errorf("no file: %v", err)
	}
	for _, n := range []int{0, 1, 8, headerLen, len(raw) / 2, len(raw) - 1} {
		if err := os.WriteFile(path, raw[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, "one"); !errors.Is(err, ErrStale) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}

// Whatever byte is damaged, the answer is the right one or ErrStale.
func TestDamageIsSeen(t *testing.T) {
	path, raw := saved(t, notes...)
	queries := []Query{{Text: "database port lock", Limit: 100}, {Text: `"production database"`}, {Filter: Filter{Tags: []string{"bug"}}}}
	sound := index(t, notes...)
	caught := 0
	for at := range raw {
		bad := append([]byte(nil), raw...)
		bad[at] ^= 0x41
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		ix, err := Open(path, "one")
		for _, q := range queries {
			if err != nil {
				break
			}
			var got, want []Hit
			got, err = ix.Search(q)
			want, _ = sound.Search(q)
			if err == nil && !reflect.DeepEqual(got, want) {
				t.Fatalf("byte %d: %v, want %v", at, got, want)
			}
		}
		if err != nil {
			if !errors.Is(err, ErrStale) {
				t.Fatalf("byte %d: %v", at, err)
			}
			caught++
		}
		if ix != nil {
			ix.Close()
		}
	}
	if caught < len(raw)/2 {
		t.Errorf("only %d of %d damages were seen", caught, len(raw))
	}
}

// A reader that opened before a save goes on as it was; one after it sees all.
func TestSaveBesideAReader(t *testing.T) {
	path, raw := saved(t, notes...)
	reader, err := Open(path, "one")
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	writer, err := Open(path, "one")
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := writer.Put(Doc{ID: "new", Text: "a zeppelin"}); err != nil {
		t.Fatal(err)
	}
	if err := writer.Save(path, "two"); err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(now[headerLen:len(raw)]) != string(raw[headerLen:]) {
		t.Error("the save changed what was there")
	}
	if got := found1(t, reader, Query{Text: "database zeppelin"}); got != "port2 port" {
		t.Errorf("the reader finds %q", got)
	}
	if err := reader.Put(Doc{ID: "mine", Text: "another"}); err != nil {
		t.Fatal(err)
	}
	if err := reader.Save(path, "three"); !errors.Is(err, ErrStale) {
		t.Errorf("saving over another's save: %v", err)
	}
	after, err := Open(path, "two")
	if err != nil {
		t.Fatal(err)
	}
	defer after.Close()
	if got := found1(t, after, Query{Text: "zeppelin"}); got != "new" {
		t.Errorf("after the save %q is found", got)
	}
}

// Many small saves must not let the file grow without end.
func TestFileStaysSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "index")
	r := rand.New(rand.NewPCG(7, 7))
	ix := New()
	for i := range 300 {
		if err := ix.Put(randomDoc(r, i), randomDoc(r, r.IntN(40))); err != nil {
			t.Fatal(err)
		}
		if err := ix.Save(path, fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
		if n := len(ix.parts); n > 8 {
			t.Fatalf("%d segments after %d saves", n, i+1)
		}
	}
	defer ix.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > 3*spare {
		t.Errorf("the file has %d bytes for 300 short docs", info.Size())
	}
	left, err := filepath.Glob(path + ".*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func FuzzOpen(f *testing.F) {
	_, raw := saved(f, notes[:3]...)
	f.Add(raw, 0, uint8(0))
	f.Add(raw, len(raw)/2, uint8(9))
	f.Add([]byte(magic), 3, uint8(1))
	f.Fuzz(func(t *testing.T, raw []byte, at int, x uint8) {
		if at >= 0 && at < len(raw) {
			raw = append([]byte(nil), raw...)
			raw[at] ^= x
		}
		path := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		ix, _, err := OpenAny(path)
		if err == nil {
			defer ix.Close()
			for _, q := range questions {
				if _, err = ix.Search(q); err != nil {
					break
				}
			}
		}
		if err != nil && !errors.Is(err, ErrStale) {
			t.Fatalf("not ErrStale: %v", err)
		}
	})
}

// What a segment with sound checksums and senseless contents does must be an
// error, too.
func FuzzSegment(f *testing.F) {
	b := newBuilder()
	for _, d := range notes {
		b.add(d)
	}
	f.Add(b.bytes(), 5, uint8(1))
	f.Fuzz(func(t *testing.T, raw []byte, at int, x uint8) {
		raw = append([]byte(nil), raw...)
		if at >= 0 && at < len(raw) {
			raw[at] ^= x
		}
		resum(raw)
		s, err := openSegment(strings.NewReader(string(raw)), 0, int64(len(raw)))
		if err != nil {
			return
		}
		ix := New()
		ix.parts = append(ix.parts, &part{segment: s})
		for _, q := range questions {
			if _, err := ix.Search(q); err != nil && !errors.Is(err, ErrStale) {
				t.Fatal(err)
			}
		}
		if err := newBuilder().take(s, nil); err != nil && !errors.Is(err, ErrStale) {
			t.Fatal(err)
		}
	})
}

// resum makes the checksums of the footer and the sections sound again.
func resum(raw []byte) {
	if len(raw) < footerLen {
		return
	}
	le := binary.LittleEndian
	foot := raw[len(raw)-footerLen:]
	for i := range sections {
		at := foot[4+12*i:]
		off, n := int64(le.Uint32(at)), int64(le.Uint32(at[4:]))
		if off+n <= int64(len(raw)) && le.Uint32(at[8:]) != 0 {
			le.PutUint32(at[8:], sum32(raw[off:off+n]))
		}
	}
	le.PutUint32(foot[footerLen-4:], sum32(foot[:footerLen-4]))
}
