package recall

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// many are memories as they could be: words by Zipf's law out of 30,000, 8 to
// 40 of them.
var many = sync.OnceValues(func() ([]Doc, int) {
	r := rand.New(rand.NewPCG(5, 12))
	zipf := rand.NewZipf(r, 1.1, 8, 29_999)
	vocabulary := make([]string, 30_000)
	const syllables = "ba ce di fo gu ha je ki lo mu na pe ri so tu va we xi yo zu bra cle dri flo gru"
	of := strings.Fields(syllables)
	for i := range vocabulary {
		for range 2 + r.IntN(3) {
			vocabulary[i] += of[r.IntN(len(of))]
		}
	}
	docs, size := make([]Doc, 100_000), 0
	for i := range docs {
		var b strings.Builder
		for range 8 + r.IntN(33) {
			b.WriteString(vocabulary[zipf.Uint64()])
			b.WriteByte(' ')
		}
		docs[i] = Doc{ID: fmt.Sprintf("m%05x", i), Text: b.String(), Kind: "fact", Scope: "global", Source: fmt.Sprint("f", i%100),
			Time: time.Unix(1_700_000_000+int64(i)*60, 0)}
		size += b.Len()
	}
	return docs, size
})

// asked are 200 queries of two to four words of one doc.
func asked(docs []Doc) (out []string) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 200 {
		f := strings.Fields(docs[r.IntN(len(docs))].Text)
		out = append(out, strings.Join([]string{f[r.IntN(len(f))], f[r.IntN(len(f))], f[r.IntN(len(f))]}, " "))
	}
	return out
}

func BenchmarkBuild(b *testing.B) {
	docs, size := many()
	path := filepath.Join(b.TempDir(), "index")
	for b.Loop() {
		ix := index(b, docs...)
		if err := ix.Save(path, "x"); err != nil {
			b.Fatal(err)
		}
		ix.Close()
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/float64(size), "size/text")
	b.ReportMetric(float64(len(docs))*float64(b.N)/b.Elapsed().Seconds(), "docs/s")
}

func BenchmarkSearch(b *testing.B) {
	docs, _ := many()
	b.Run("memories", func(b *testing.B) { searches(b, docs) })
	turns := slices.Clone(docs)
	for i := range turns {
		turns[i].Group, turns[i].Order = fmt.Sprint("chat", i/300), i%300
	}
	b.Run("turns", func(b *testing.B) { searches(b, turns) })
}

func searches(b *testing.B, docs []Doc) {
	path := filepath.Join(b.TempDir(), "index")
	ix := index(b, docs...)
	if err := ix.Save(path, "x"); err != nil {
		b.Fatal(err)
	}
	defer ix.Close()
	texts := asked(docs)
	b.Run("warm", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if _, err := ix.Search(Query{Text: texts[i%len(texts)], Limit: 10}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("cold", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			ix, err := Open(path, "x")
			if err != nil {
				b.Fatal(err)
			}
			if _, err := ix.Search(Query{Text: texts[i%len(texts)], Limit: 10}); err != nil {
				b.Fatal(err)
			}
			ix.Close()
		}
	})
	b.Run("add-one-and-save", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if err := ix.Put(Doc{ID: fmt.Sprint("new", i), Text: texts[i%len(texts)]}); err != nil {
				b.Fatal(err)
			}
			if err := ix.Save(path, "x"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRipgrep(b *testing.B) {
	rg, err := exec.LookPath("rg")
	if err != nil {
		b.Skip("rg is not here")
	}
	docs, _ := many()
	dir := b.TempDir()
	files := map[string]*bytes.Buffer{}
	for _, d := range docs {
		if files[d.Source] == nil {
			files[d.Source] = &bytes.Buffer{}
		}
		fmt.Fprintf(files[d.Source], "* %s\n%s\n", d.ID, d.Text)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	texts := asked(docs)
	for i := 0; b.Loop(); i++ {
		if err := exec.Command(rg, "-c", "-e", strings.ReplaceAll(texts[i%len(texts)], " ", "|"), dir).Run(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSQLite(b *testing.B) {
	sqlite, err := exec.LookPath("sqlite3")
	if err != nil {
		b.Skip("sqlite3 is not here")
	}
	docs, _ := many()
	db := filepath.Join(b.TempDir(), "db")
	sql := &bytes.Buffer{}
	sql.WriteString("create virtual table m using fts5(id unindexed, text, tokenize='porter unicode61');begin;\n")
	for _, d := range docs {
		fmt.Fprintf(sql, "insert into m values('%s','%s');\n", d.ID, d.Text)
	}
	sql.WriteString("commit;\n")
	run := func(b *testing.B, in string) {
		cmd := exec.Command(sqlite, db)
		cmd.Stdin = strings.NewReader(in)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Skipf("sqlite3 has no FTS5: %v %.200s", err, out)
		}
	}
	run(b, sql.String())
	query := func(text string) string {
		return "select id from m where m match '" + strings.ReplaceAll(text, " ", " OR ") + "' order by rank limit 10;\n"
	}
	texts := asked(docs)
	b.Run("cold", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			run(b, query(texts[i%len(texts)]))
		}
	})
	b.Run("warm", func(b *testing.B) { // 200 queries of one process, the time of one told
		var all strings.Builder
		for _, t := range texts {
			all.WriteString(query(t))
		}
		for b.Loop() {
			run(b, all.String())
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(texts)), "ns/query")
	})
}
