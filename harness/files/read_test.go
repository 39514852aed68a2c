package files_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"amacs/harness/files"
)

// traps is a folder with everything that is no plain text file in a plain
// folder; what lies behind links is in `outside`.
func traps(t *testing.T) (dir string) {
	dir = folder(t)
	put(t, dir, "outside/secret", "hunter2\n", "in/a.txt", "a\n", "in/big", "", "in/binary", "a\x00b", "in/noise", "\x01\x02\x03\x04abc")
	must(t, os.Symlink("../outside", filepath.Join(dir, "in/folder")))
	must(t, os.Symlink("../outside/secret", filepath.Join(dir, "in/link")))
	must(t, os.Symlink("nowhere", filepath.Join(dir, "in/dangling")))
	must(t, os.Truncate(filepath.Join(dir, "in/big"), 5<<30))
	must(t, unix.Mkfifo(filepath.Join(dir, "in/pipe"), 0o600))
	return dir
}

var trapped = []struct {
	path, says string
	moved      bool
}{
	{"in/folder/secret", "in/folder is a symbolic link", true},
	{"in/folder/new", "in/folder is a symbolic link", true},
	{"in/link", "it is a symbolic link", true},
	{"in/dangling", "it is a symbolic link", true},
	{"in/../outside/secret", "without dots", false},
	{"in/./a.txt", "without dots", false},
	{"in/a.txt/", "without dots", false},
	{"in//a.txt", "without dots", false},
	{"in/a\x00.txt", "NUL", false},
	{"in/pipe", "it is a pipe", false},
	{"in/a.txt/b", "in/a.txt is not a folder", false},
	{"in/binary", "binary", false},
	{"in/noise", "binary", false},
}

func TestTraps(t *testing.T) {
	dir := traps(t)
	l, err := net.Listen("unix", filepath.Join(dir, "in/s"))
	must(t, err)
	defer l.Close()
	check := func(t *testing.T, err error, says string, moved bool) {
		t.Helper()
		wantError(t, err, says)
		if errors.Is(err, files.ErrMoved) != moved {
			t.Errorf("ErrMoved is %v in %v", !moved, err)
		}
	}
	for _, tc := range append(trapped, struct {
		path, says string
		moved      bool
	}{"in/s", "it is a socket", false}) {
		at := dir + "/" + tc.path
		_, err := files.Read(at, 0, 0)
		check(t, err, tc.says, tc.moved)
		_, err = files.PlanWrite(at, "mine\n")
		check(t, err, tc.says, tc.moved)
		_, err = files.PlanEdit(at, "a", "b", false)
		check(t, err, tc.says, tc.moved)
	}
	for _, relative := range []string{"a.txt", "", ".", "~/a.txt"} {
		_, err := files.Read(relative, 0, 0)
		check(t, err, "not an absolute path", false)
	}
	for _, at := range []string{"/dev/zero", "/dev/null", "/dev/tty"} {
		_, err := files.Read(at, 0, 0)
		check(t, err, "it is a device", false)
		_, err = files.PlanWrite(at, "x")
		check(t, err, "it is a device", false)
	}
	_, err = files.Read(dir+"/in", 0, 0)
	check(t, err, "list it with agent-list-directory", false)
	_, err = files.Read("/", 0, 0)
	check(t, err, "it is a folder", false)
	_, err = files.PlanWrite(dir+"/in", "x")
	check(t, err, "it is a folder", false)
	_, err = files.Read(dir+"/in/big", 0, 0)
	check(t, err, "binary", false)
	_, err = files.PlanWrite(dir+"/in/big", "x")
	check(t, err, "more than 4 MB", false)
	_, err = files.PlanWrite(dir+"/in/new", strings.Repeat("x", 5<<20))
	check(t, err, "the most is 4", false)
	_, err = files.Read(dir+"/in/none", 0, 0)
	check(t, err, "no such file", false)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v is not os.ErrNotExist", err)
	}
	_, err = files.PlanEdit(dir+"/in/none", "a", "b", false)
	check(t, err, "to make it, write it", false)
	if got := get(t, dir+"/outside/secret"); got != "hunter2\n" {
		t.Errorf("the secret is now %q", got)
	}
	if isDir(dir+"/in/new") || len(entries(t, dir+"/outside")) != 1 {
		t.Error("something was made")
	}
}

func entries(t testing.TB, dir string) []os.DirEntry {
	t.Helper()
	list, err := os.ReadDir(dir)
	must(t, err)
	return list
}

func TestRead(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("line\n", 3000)
	long := strings.Repeat("ä", 200<<10)
	for _, tc := range []struct {
		name, raw   string
		from, count int
		want        files.Text
	}{
		{"plain", "a\nb\nc\n", 0, 0, files.Text{Text: "a\nb\nc\n", From: 1, To: 3, Lines: 3}},
		{"part", "a\nb\nc\n", 2, 1, files.Text{Text: "b\n", From: 2, To: 2, Lines: 3}},
		{"more than there is", "a\nb\n", 2, 9, files.Text{Text: "b\n", From: 2, To: 2, Lines: 2}},
		{"no final newline", "a\nb", 0, 0, files.Text{Text: "a\nb", From: 1, To: 2, Lines: 2}},
		{"empty", "", 0, 0, files.Text{From: 1}},
		{"one newline", "\n", 0, 0, files.Text{Text: "\n", From: 1, To: 1, Lines: 1}},
		{"CRLF", "a\r\nb\r\n", 0, 0, files.Text{Text: "a\nb\n", From: 1, To: 2, Lines: 2, Form: "CRLF line ends"}},
		{"mixed", "a\r\nb\n", 0, 0, files.Text{Text: "a\nb\n", From: 1, To: 2, Lines: 2, Form: "mixed line ends"}},
		{"mark", "\xEF\xBB\xBFä\n", 0, 0, files.Text{Text: "ä\n", From: 1, To: 1, Lines: 1, Form: "UTF-8 with a byte order mark"}},
		{"UTF-16", "\xFF\xFEa\x00\n\x00\x3D\xD8\x00\xDE", 0, 0, files.Text{Text: "a\n😀", From: 1, To: 2, Lines: 2, Form: "UTF-16LE"}},
		{"UTF-16 the other way", "\xFE\xFF\x00a\x00\r\x00\n", 0, 0, files.Text{Text: "a\n", From: 1, To: 1, Lines: 1, Form: "UTF-16BE, CRLF line ends"}},
		{"Latin-1", "Stra\xDFe und Weg\n", 0, 0, files.Text{Text: "Stra\uFFFDe und Weg\n", From: 1, To: 1, Lines: 1,
			Form: "not all of it is text in its encoding: such bytes are shown as \uFFFD"}},
		{"many lines", many, 0, 0, files.Text{Text: many[:5*files.MaxLines], From: 1, To: files.MaxLines, Lines: 3000, Cut: true}},
		{"many lines, the last", many, 2990, 0, files.Text{Text: many[:5*11], From: 2990, To: 3000, Lines: 3000}},
		{"long line", "a\n" + long + "\nb\n", 2, 0, files.Text{Text: long[:files.MaxText], From: 2, To: 2, Lines: 3, Cut: true}},
		{"ünïcode 日本", "x", 0, 0, files.Text{Text: "x", From: 1, To: 1, Lines: 1}},
	} {
		dir := folder(t)
		put(t, dir, tc.name, tc.raw)
		tc.want.Size, tc.want.Names = int64(len(tc.raw)), 1
		got, err := files.Read(filepath.Join(dir, tc.name), tc.from, tc.count)
		must(t, err)
		if got != tc.want {
			if len(got.Text) > 200 {
				got.Text, tc.want.Text = fmt.Sprint(got.Text == tc.want.Text, len(got.Text)), ""
			}
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

func TestReadBeyond(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	put(t, dir, "a", "1\n2\n", "long", strings.Repeat("ä234567\n", 2<<20))
	_, err := files.Read(dir+"/a", 3, 0)
	wantError(t, err, "it has 2 lines, and line 3 was asked for")
	_, err = files.Read(dir+"/a", 1, -1)
	wantError(t, err, "-1 lines")
	text, err := files.Read(dir+"/long", 0, 2)
	must(t, err)
	if text.Text != "ä234567\nä234567\n" || text.Cut || text.Form != "" || text.Size != 18<<20 {
		t.Errorf("%+v", text)
	}
	_, err = files.Read(dir+"/long", 2e6, 0)
	wantError(t, err, "not in its first 16 MB")
}

func TestReadNames(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	put(t, dir, "a", "x\n")
	must(t, os.Link(dir+"/a", dir+"/b"))
	text, err := files.Read(dir+"/b", 0, 0)
	must(t, err)
	if text.Names != 2 {
		t.Errorf("%d names", text.Names)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	dir := traps(t)
	put(t, dir, "in/sub/x/y", "12345", "in/.git/config", "", "in/sub-2", "1")
	show := func(l files.Listing) string {
		var b strings.Builder
		for _, e := range l.Entries {
			fmt.Fprintf(&b, "%s %s %d %s\n", e.Path, e.Kind, e.Size, e.Link)
		}
		return b.String()
	}
	l, err := files.List(dir+"/in", 1)
	must(t, err)
	want := `.git/ folder 0 
a.txt file 2 
big file 5368709120 
binary file 3 
dangling link 0 nowhere
folder link 0 ../outside
link link 0 ../outside/secret
noise file 7 
pipe special 0 
sub-2 file 1 
sub/ folder 0 
`
	if got := show(l); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	l, err = files.List(dir+"/in/sub", 9)
	must(t, err)
	if got := show(l); got != "x/ folder 0 \nx/y file 5 \n" {
		t.Errorf("got\n%s", got)
	}
	l, err = files.List(dir+"/in", 9)
	must(t, err)
	if got := show(l); strings.Contains(got, ".git/config") || !strings.Contains(got, "sub/x/y") || strings.Contains(got, "folder/secret") {
		t.Errorf("got\n%s", got)
	}
	for i := range 40 {
		for j := range 20 {
			put(t, dir, fmt.Sprintf("many/%02d/%02d", i, j), "")
		}
	}
	l, err = files.List(dir+"/many", 3)
	must(t, err)
	if len(l.Entries) != files.MaxListed || l.Left != 840-files.MaxListed || l.Entries[0].Path != "00/" {
		t.Errorf("%d entries, %d left, first %v", len(l.Entries), l.Left, l.Entries[0])
	}
	_, err = files.List(dir+"/in/folder", 1)
	if !errors.Is(err, files.ErrMoved) {
		t.Errorf("a link is listed: %v", err)
	}
	_, err = files.List(dir+"/in/a.txt", 1)
	wantError(t, err, "a.txt is not a folder")
}
