package files_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"amacs/harness/files"
)

func TestSearch(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	put(t, dir, "a.go", "one\ntwo\nthree\nfour\nfive\n", "sub/b.go", "TWO\r\n", "sub/.env", "two\n", ".git/config", "two\n", "key.pem", "two\n",
		"binary", "two\x00", "big", "two\n"+strings.Repeat("x", files.MaxFile), "names", "two\n", "outside/o", "two\n", "latin", "two Stra\xDFen\n")
	must(t, os.Link(dir+"/names", dir+"/other"))
	must(t, os.Symlink("outside", dir+"/link"))
	must(t, os.Symlink("outside/o", dir+"/link.go"))
	must(t, unix.Mkfifo(dir+"/pipe", 0o600))
	found, err := files.Search(context.Background(), dir, files.Query{Pattern: "two", Context: 2, Hidden: true,
		Sensitive: func(p string) bool { return p == dir+"/key.pem" || strings.HasSuffix(p, "/.env") }})
	must(t, err)
	want := []string{`{a.go 2 two [one] [three four]}`, "{latin 1 two Stra\uFFFDen [] []}", `{outside/o 1 two [] []}`, `{sub/b.go 1 TWO [] []}`}
	var got []string
	for _, h := range found.Hits {
		got = append(got, fmt.Sprint(h))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := fmt.Sprint(found.Files, found.Cut, found.Skipped); got != "4 false [1 binary 1 larger than 4 MB 2 with several names 2 sensitive]" {
		t.Error(got)
	}
}

func TestSearchCaps(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	put(t, dir, "a", strings.Repeat("x\n", 99)+strings.Repeat("ä", 1000)+"xneedle"+strings.Repeat("ö", 1000)+"\n", "b", "x\n")
	found, err := files.Search(context.Background(), dir, files.Query{Pattern: "x"})
	must(t, err)
	if len(found.Hits) != files.MaxHits || !found.Cut {
		t.Errorf("%d hits, cut %v", len(found.Hits), found.Cut)
	}
	last := found.Hits[99]
	if last.Line != 100 || !strings.Contains(last.Text, "xneedle") || utf8.RuneCountInString(last.Text) != files.MaxWidth+2 ||
		!strings.HasPrefix(last.Text, "…ä") || !strings.HasSuffix(last.Text, "ö…") {
		t.Errorf("%+v", last)
	}
	found, err = files.Search(context.Background(), dir, files.Query{Pattern: "x", Max: 101})
	must(t, err)
	if len(found.Hits) != 101 || found.Cut {
		t.Errorf("%d hits, cut %v", len(found.Hits), found.Cut)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = files.Search(ctx, dir, files.Query{Pattern: "x"})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestSearchOneFile(t *testing.T) {
	t.Parallel()
	dir := traps(t)
	put(t, dir, ".gitignore", "*\n", "in/.hidden", "\xFF\xFEt\x00w\x00o\x00")
	found, err := files.Search(context.Background(), dir+"/in/.hidden", files.Query{Pattern: "two"})
	must(t, err)
	if len(found.Hits) != 1 || found.Hits[0].Path != ".hidden" {
		t.Errorf("%+v", found)
	}
	for _, tc := range trapped {
		_, err := files.Search(context.Background(), dir+"/"+tc.path, files.Query{Pattern: "two"})
		if wantError(t, err, tc.says); errors.Is(err, files.ErrMoved) != tc.moved {
			t.Errorf("ErrMoved is %v in %v", !tc.moved, err)
		}
	}
	_, err = files.Search(context.Background(), dir+"/in/big", files.Query{Pattern: "two"})
	wantError(t, err, "larger than 4 MB")
	_, err = files.Search(context.Background(), dir+"/in/folder", files.Query{Pattern: "two"})
	wantError(t, err, "symbolic link")
}

func TestSearchPatterns(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	put(t, dir, "f", "foo.bar\nFoo\nfoobar\n(x\nStraße Straſe \u212Aelvin\n")
	for _, tc := range []struct {
		q    files.Query
		want string
		says string
	}{
		{files.Query{Pattern: "foo"}, "1 2 3", ""},
		{files.Query{Pattern: "Foo"}, "2", ""},
		{files.Query{Pattern: "Foo", IgnoreCase: true}, "1 2 3", ""},
		{files.Query{Pattern: `foo\W`}, "1", ""},
		{files.Query{Pattern: `(?P<Name>foo)\pL`}, "3", ""},
		{files.Query{Pattern: `\p{Lu}`}, "2 5", ""},
		{files.Query{Pattern: `[A-Z]oo`}, "2", ""},
		{files.Query{Pattern: "foo.bar", Literal: true}, "1", ""},
		{files.Query{Pattern: "(x", Literal: true}, "4", ""},
		{files.Query{Pattern: `^foo$|^\(`}, "2 4", ""},
		{files.Query{Pattern: `foo$`}, "2", ""},
		{files.Query{Pattern: `kelvin`}, "5", ""},
		{files.Query{Pattern: `strase`}, "5", ""},
		{files.Query{Pattern: `x*`}, "1 2 3 4 5", ""},
		{files.Query{Pattern: `(foo){0,1}bar`}, "1 3", ""},
		{files.Query{Pattern: ``}, "", "no pattern"},
		{files.Query{Pattern: `(x`}, "", "no regular expression of Go (missing closing )); mend it"},
		{files.Query{Pattern: `foo(?=bar)`}, "", "no regular expression"},
		{files.Query{Pattern: "a\nb"}, "", "line by line"},
		{files.Query{Pattern: `a(b|\nc)`}, "", "line by line"},
		{files.Query{Pattern: "x", Glob: "a["}, "", `"a[" is no glob`},
		{files.Query{Pattern: "x", Glob: "*.{a,b"}, "", "is no glob"},
	} {
		found, err := files.Search(context.Background(), dir, tc.q)
		if tc.says != "" {
			wantError(t, err, tc.says)
			continue
		}
		must(t, err)
		var got []string
		for _, h := range found.Hits {
			got = append(got, fmt.Sprint(h.Line))
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%+v: lines %v, want %s", tc.q, got, tc.want)
		}
	}
}

// A line that matches is found whatever its needle; the needle only saves time.
func FuzzLines(f *testing.F) {
	f.Add("a+b", "xaab\nB\n")
	f.Add("(?i)sk", "\u212A\u017F\nsk SK\n")
	f.Add("ab|a", "a\n\nb")
	f.Add("x(foo|(?i)Bar)", "xbar\nxFoo\nxfoo")
	f.Fuzz(func(t *testing.T, pattern, text string) { files.CheckLines(t, pattern, text) })
}

// The rules of a repository of git count in its worktrees too, and those of the
// user in every repository.
func TestSearchWorktree(t *testing.T) {
	dir := folder(t)
	home := filepath.Join(dir, "home")
	put(t, dir, "home/.gitconfig", "[user]\n\tname = x\n[core]\n\texcludesFile = ~/mine\n", "home/mine", "*.swp\n/top\n", "home/none", "")
	t.Setenv("HOME", home)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir + "/repo", "-c", "user.email=x@example.org"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	put(t, dir, "repo/kept", "x\n")
	git("init", "-q")
	git("add", ".")
	git("commit", "-qm", "x")
	git("worktree", "add", "-q", dir+"/tree")
	put(t, dir, "repo/.git/info/exclude", "*.secret\n")
	for _, at := range []string{"repo", "tree"} {
		put(t, dir, at+"/a.secret", "x\n", at+"/a.swp", "x\n", at+"/top", "x\n", at+"/sub/top", "x\n")
		got := hits(t, dir+"/"+at, files.Query{Pattern: "x"})
		if fmt.Sprint(got) != "[kept:1:x sub/top:1:x]" {
			t.Errorf("%s: %v", at, got)
		}
	}
	for name, want := range map[string]string{"config": "/c", "ignore": "/i"} {
		put(t, dir, "xdg-"+name+"/git/"+name, map[string]string{"config": "[core]\nexcludesfile = \"" + dir + "/c\"\n", "ignore": "kept\n"}[name], "c", "kept\n")
		t.Setenv("XDG_CONFIG_HOME", dir+"/xdg-"+name)
		must(t, os.WriteFile(home+"/.gitconfig", nil, 0o644))
		for _, h := range hits(t, dir+"/repo", files.Query{Pattern: "x"}) {
			if strings.HasPrefix(h, "kept") {
				t.Errorf("%s does not count (%s)", name, want)
			}
		}
	}
}

// grove is a tree of n files as a project has them.
func grove(b *testing.B, n int) string {
	dir := folder(b)
	put(b, dir, ".git/HEAD", "ref: refs/heads/main\n", ".gitignore", "*.o\n*.log\nnode_modules/\n/build\ndist/\n*.min.js\n.DS_Store\n!keep.log\nsrc/**/gen/\n*.py[co]\n")
	line := "\tfor i, value := range values { total += value * weights[i] } // the sum of all\n"
	for i := range n {
		text := strings.Repeat(line, 20+i%100)
		if i%100 == 7 {
			text += "func Needle(in haystack) error {\n"
		}
		put(b, dir, fmt.Sprintf("pkg%02d/sub%d/file%d.go", i%20, i%7, i), text)
	}
	return dir
}

var benchmarks = []struct{ name, pattern string }{
	{"literal", "Needle"}, {"folded", "needle"}, {"expression", `func \w+\(.*error`}, {"either", "Needle|Nadel|aguja"}, {"no-needle", `[0-9]{5}|[Nn]eedle`},
}

func BenchmarkSearch(b *testing.B) {
	dir := grove(b, 2000)
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				found, err := files.Search(context.Background(), dir, files.Query{Pattern: bm.pattern})
				must(b, err)
				if len(found.Hits) != 20 {
					b.Fatal(len(found.Hits))
				}
			}
		})
	}
}

func BenchmarkRipgrep(b *testing.B) {
	rg, dir := ripgrep(b), grove(b, 2000)
	for _, bm := range benchmarks {
		b.Run(bm.name, func(b *testing.B) {
			for b.Loop() {
				out, err := exec.Command(rg, "--no-config", "-S", bm.pattern, dir).Output()
				must(b, err)
				if strings.Count(string(out), "\n") != 20 {
					b.Fatal(string(out))
				}
			}
		})
	}
}
