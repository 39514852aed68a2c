package files_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"amacs/harness/files"
)

// ripgrep is the real one; where it is not installed, it is only needed by CI.
func ripgrep(t testing.TB) string {
	t.Helper()
	rg, err := exec.LookPath("rg")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("ripgrep is not installed")
		}
		t.Skip("ripgrep is not installed")
	}
	return rg
}

// lines are the hits of rg, as "path:line:text". The options make it what
// Search is: `.git` never, line ends of any kind.
func lines(t testing.TB, root string, args ...string) (out []string) {
	t.Helper()
	args = append([]string{"--no-config", "--json", "--crlf", "--no-messages"}, args...)
	cmd := exec.Command(ripgrep(t), append(args, root)...)
	cmd.Dir = root // where globs begin
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	raw, err := cmd.Output()
	if err != nil && (cmd.ProcessState.ExitCode() != 1 || stderr.Len() > 0) {
		t.Fatalf("rg %q: %v %s", args, err, stderr.String())
	}
	for line := range bytes.Lines(raw) {
		var m struct {
			Type string
			Data struct {
				Path  struct{ Text string }
				Lines struct{ Text string }
				Line  int `json:"line_number"`
			}
		}
		must(t, json.Unmarshal(line, &m))
		rel := strings.TrimPrefix(m.Data.Path.Text, root+"/")
		if m.Type == "match" && !strings.HasPrefix(rel, ".git/") && !strings.Contains(rel, "/.git/") {
			out = append(out, fmt.Sprintf("%s:%d:%s", rel, m.Data.Line, strings.TrimRight(m.Data.Lines.Text, "\r\n")))
		}
	}
	slices.Sort(out)
	return out
}

func hits(t testing.TB, root string, q files.Query) (out []string) {
	t.Helper()
	q.Max = 1e6
	found, err := files.Search(context.Background(), root, q)
	must(t, err)
	for _, h := range found.Hits {
		out = append(out, fmt.Sprintf("%s:%d:%s", h.Path, h.Line, h.Text))
	}
	slices.Sort(out)
	return out
}

func same(t testing.TB, what string, got, want []string) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for _, l := range want {
		if _, ok := slices.BinarySearch(got, l); !ok {
			t.Errorf("%s: not found: %q", what, l)
		}
	}
	for _, l := range got {
		if _, ok := slices.BinarySearch(want, l); !ok {
			t.Errorf("%s: rg does not find %q", what, l)
		}
	}
}

var (
	names  = strings.Fields("a b ab abc build dist doc keep src test vendor node_modules x.y .hidden .config")
	ends   = strings.Fields(".go .md .log .txt .o .c .min.js")
	rule   = strings.Fields("*.log *.o /build build/ dist/ !keep !keep/ !*.go vendor/ /src/*.c src/** **/doc **/test/*.md a/**/b ab* a?c [ab] [!a-c]* [^x]*.txt *.min.js doc/*.md /*.txt .hidden !.hidden !.config/ \\!keep # *.go/ x.y abc/ !abc.* a**b /**/b b/** !b/*.go **/ ** node_modules")
	ignore = []string{".gitignore", ".gitignore", ".gitignore", ".ignore", ".rgignore"}
	words  = strings.Fields("func Func FUNC return if x err café Straße 42 foo_bar foo.bar naïve 日本 \t}")
)

// forest makes a tree of files with ignore files at random places.
func forest(t testing.TB, r *rand.Rand, root string, repo bool) {
	one := func(from []string) string { return from[r.IntN(len(from))] }
	text := func(end string) string {
		var b strings.Builder
		for range r.IntN(12) {
			for range r.IntN(6) {
				b.WriteString(one(words) + " ")
			}
			b.WriteString(end)
		}
		return b.String()
	}
	var grow func(dir string, depth int)
	grow = func(dir string, depth int) {
		put(t, dir, "./", "")
		for range 2 + r.IntN(5) {
			end := "\n"
			if r.IntN(5) == 0 {
				end = "\r\n"
			}
			content := text(end)
			switch r.IntN(12) {
			case 0:
				content = "\x00" + content
			case 1:
				content = "\xEF\xBB\xBF" + content
			case 2:
				content = strings.TrimRight(content, "\r\n")
			case 3:
				content = "\xFF\xFE" + wide(content)
			}
			name := one(names) + one(ends)
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
				put(t, dir, name, content)
			}
		}
		if r.IntN(2) == 0 {
			var lines []string
			for range 1 + r.IntN(4) {
				lines = append(lines, one(rule))
			}
			put(t, dir, one(ignore), strings.Join(lines, "\n")+"\n")
		}
		if depth == 0 {
			return
		}
		for range r.IntN(5) {
			if name := one(names); !strings.Contains(dir, ".git") {
				grow(filepath.Join(dir, name), depth-1)
			}
		}
		if r.IntN(10) == 0 {
			put(t, dir, ".git/info/exclude", one(rule)+"\n", ".git/HEAD", "func\n")
		}
		if r.IntN(3) == 0 {
			os.Symlink("..", filepath.Join(dir, "loop"))
			os.Symlink("a.go", filepath.Join(dir, "link.go"))
		}
	}
	if repo {
		put(t, root, ".git/info/exclude", one(rule)+"\n", ".git/HEAD", "func\n")
	}
	grow(root, 3)
}

func wide(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteByte(byte(r))
		b.WriteByte(byte(r >> 8))
	}
	return b.String()
}

// Search finds what rg finds, in the same files.
func TestSearchAsRipgrep(t *testing.T) {
	ripgrep(t)
	queries := []struct {
		q    files.Query
		args []string
	}{
		{files.Query{Pattern: ``}, nil},
		{files.Query{Pattern: `func`}, []string{"-S", "-e", "func"}},
		{files.Query{Pattern: `Func`, Hidden: true}, []string{"-S", "--hidden", "-e", "Func"}},
		{files.Query{Pattern: `\bFOO\W\w+`, IgnoreCase: true}, []string{"-i", "-e", `\bFOO\W\w+`}},
		{files.Query{Pattern: `^\S*\s*$`}, []string{"-S", "-e", `^\S*\s*$`}},
		{files.Query{Pattern: `stra.e|\p{Han}+`}, []string{"-S", "-e", `stra.e|\p{Han}+`}},
		{files.Query{Pattern: `foo.bar`, Literal: true, Ignored: true}, []string{"-SF", "--no-ignore", "-e", "foo.bar"}},
		{files.Query{Pattern: `x $`, Ignored: true, Hidden: true}, []string{"-S", "-uu", "-e", "x $"}},
		{files.Query{Pattern: `\S`, Hidden: true, Glob: "*.{go,md}"}, []string{"-S", "--hidden", "-e", `\S`, "--type-add", "wanted:*.{go,md}", "-t", "wanted"}},
		{files.Query{Pattern: `\S`, Glob: "!*.min.js"}, []string{"-S", "-e", `\S`, "--type-add", "unwanted:*.min.js", "-T", "unwanted"}},
		{files.Query{Pattern: `.`, Ignored: true, Hidden: true, Glob: "src/**"}, []string{"-uu", "-g", "src/**", "-e", "."}},
		{files.Query{Pattern: `.`, Ignored: true, Hidden: true, Glob: "**/{a,test}/[!x]*.{md,go}"}, []string{"-uu", "-g", "**/{a,test}/[!x]*.{md,go}", "-e", "."}},
		{files.Query{Pattern: `.`, Ignored: true, Hidden: true, Glob: "!/a/**"}, []string{"-uu", "-g", "!/a/**", "-e", "."}},
	}
	n := uint64(8)
	if testing.Short() {
		n = 3
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			root := filepath.Join(folder(t), "tree")
			forest(t, rand.New(rand.NewPCG(1, seed)), root, seed%4 != 0)
			put(t, filepath.Dir(root), ".ignore", "x.y\n", ".gitignore", "*.c\n")
			for _, q := range queries {
				if q.q.Pattern == "" { // the files, not the lines
					q.q.Pattern, q.args = ".", []string{"-e", "."}
				}
				same(t, strings.Join(q.args, " "), hits(t, root, q.q), lines(t, root, q.args...))
			}
			for _, sub := range []string{"src", "build", "a/b"} {
				if at := filepath.Join(root, sub); isDir(at) {
					same(t, "in "+sub, hits(t, at, files.Query{Pattern: "."}), lines(t, at, "-e", "."))
				}
			}
		})
	}
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
