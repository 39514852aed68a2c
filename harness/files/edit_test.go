package files_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"amacs/harness/files"
)

func TestEdit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, before, old, new string
		all                    bool
		after, says            string
	}{
		{"plain", "a b c\n", "b", "x", false, "a x c\n", ""},
		{"dollars stay", "a b c\n", "b", "$1 ${b} \\1 %s", false, "a $1 ${b} \\1 %s c\n", ""},
		{"dots are dots", "axb a.b\n", "a.b", "c", false, "axb c\n", ""},
		{"to nothing", "a\nb\n", "a\n", "", false, "b\n", ""},
		{"no final newline", "a\nb", "b", "c", false, "a\nc", ""},
		{"lines", "a\nb\nc\n", "a\nb\n", "x\n", false, "x\nc\n", ""},
		{"all", "a a a\n", "a", "aa", true, "aa aa aa\n", ""},
		{"all, overlapping", "aaaaa", "aa", "b", true, "bba", ""},
		{"CRLF", "a\r\nb\r\nc\r\n", "a\nb", "x\ny", false, "x\r\ny\r\nc\r\n", ""},
		{"CRLF given for LF", "a\nb\nc\n", "a\r\nb", "x\r\ny", false, "x\ny\nc\n", ""},
		{"a line end of two bytes", "a\r\nb\r\n", "\nb", "", false, "a\r\n", ""},
		{"mixed, mostly LF", "a\r\nb\nc\n", "a\nb", "x\ny", false, "x\ny\nc\n", ""},
		{"mixed, mostly CRLF", "a\r\nb\r\nc\n", "c\n", "x\ny\n", false, "a\r\nb\r\nx\r\ny\r\n", ""},
		{"mark", "\xEF\xBB\xBFa\n", "a", "ä", false, "\xEF\xBB\xBFä\n", ""},
		{"UTF-16", "\xFF\xFEa\x00b\x00", "b", "ä", false, "\xFF\xFEa\x00\xE4\x00", ""},
		{"Latin-1 stays", "Stra\xDFe und Weg\n", "Weg", "Steg", false, "Stra\xDFe und Steg\n", ""},
		{"unicode", "Straße 日本 😀\n", "日本", "😀", false, "Straße 😀 😀\n", ""},

		{"encodings would be mixed", "Stra\xDFe und Weg\n", "Weg", "Höhe", false, "", "two encodings would be mixed"},
		{"what is no text", "Stra\xDFe und Weg\n", "Stra\uFFFDe", "x", false, "", "stands for a byte that is no UTF-8"},
		{"half a character of UTF-16", "\xFF\xFEa\x00b\x00c", "a", "x", false, "", "an edit would change more"},
		{"twice", "a\nb\na\n", "a", "x", false, "", "more than once, in lines 1 and 3; give more"},
		{"twice in a line", "\na a\n", "a", "x", false, "", "more than once, in line 2;"},
		{"overlapping", "aaa", "aa", "x", false, "", "more than once"},
		{"often", strings.Repeat("a\n", 50), "a", "x", false, "", "19, 20 and more"},
		{"very often", strings.Repeat("a", 1<<20), strings.Repeat("a", 1<<19), "x", false, "", "more than once, in line 1"},
		{"the same", "a\n", "a", "a", false, "", "the new text is the same"},
		{"the same but for line ends", "a\r\nb\r\n", "a\r\nb", "a\nb", false, "", "the new text is the same"},
		{"empty", "a\n", "", "x", false, "", "the text to replace is empty"},
		{"new is no text", "a\n", "a", "\x00", false, "", "holds a NUL"},
		{"too large", strings.Repeat("a", 1<<20), "a", "aaaaaaaa", true, "", "has 8 MB; the most is 4"},

		{"nothing like it", "package main\n", "zzzz", "x", false, "", "the text to replace is not there"},
		{"tabs", "func f() {\n\treturn 1\n}\n", "func f() {\n    return 1\n}\n", "x", false, "",
			"nearest to it, from line 1 on:\n     1  func f() {\n     2  \treturn 1\n     3  }\nline 2 begins with \"\\t\" in the file, with \"    \" in the text looked for"},
		{"spaces at the end", "a\nreturn one  \n", "return one\n", "x", false, "", "line 2 ends with \"  \" in the file, with \"\" in the text looked for"},
		{"spaces within", "x =  1 + 2\n", "x = 1 + 2", "x", false, "", "line 1 has other white space within: \"x =  1 + 2\" in the file"},
		{"case", "// Returns one\n", "// returns one", "x", false, "", "line 1 differs in upper and lower case"},
		{"a word", "one\ntwo\nfunc Read(path string) error {\n", "func Read(file string) error {", "x", false, "",
			"from line 3 on:\n     3  func Read(path string) error {\nline 3 differs; looked for: func Read(file string) error {"},
		{"what is around", "return one\n", "\n\nreturn one\n", "x", false, "", "what comes before or after them is not"},
	} {
		dir := folder(t)
		at := filepath.Join(dir, "f")
		put(t, dir, "f", tc.before)
		c, err := files.PlanEdit(at, tc.old, tc.new, tc.all)
		if tc.says != "" {
			if err == nil {
				t.Errorf("%s: planned %q", tc.name, c.After)
			} else if !strings.Contains(err.Error(), tc.says) || !strings.HasPrefix(err.Error(), "editing "+at+": ") {
				t.Errorf("%s: error %q, want one with %q", tc.name, err, tc.says)
			}
			continue
		}
		must(t, err)
		must(t, c.Apply())
		if got := get(t, at); got != tc.after {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.after)
		}
	}
}

// An edit is the file with exactly one replacement, where the text stood once.
func FuzzEdit(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), "b", "x")
	f.Add([]byte("a\r\nb\r\nc\n"), "b\nc", "x\ny")
	f.Add([]byte("\xFF\xFEa\x00\r\x00\n\x00b\x00"), "\nb", "ä\n")
	f.Add([]byte("\xEF\xBB\xBFStra\xDFe \r\n$1"), "$1", "${0}")
	dir, err := os.MkdirTemp("", "fuzz")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { os.RemoveAll(dir) })
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, before []byte, old, new string) {
		at := filepath.Join(dir, "f")
		must(t, os.WriteFile(at, before, 0o644))
		c, err := files.PlanEdit(at, old, new, false)
		if err != nil {
			if c.After != nil {
				t.Error("an error and a change")
			}
			return
		}
		if !bytes.Equal(c.Before, before) {
			t.Fatalf("before is %q, not %q", c.Before, before)
		}
		unwide := func(b []byte) ([]byte, bool) { // UTF-16 made UTF-8, by the slow way
			little := bytes.HasPrefix(b, []byte("\xFF\xFE"))
			if !little && !bytes.HasPrefix(b, []byte("\xFE\xFF")) {
				return b, true
			}
			var out []byte
			for i := 2; i+1 < len(b); i += 2 {
				unit := rune(b[i])<<8 | rune(b[i+1])
				if little {
					unit = rune(b[i+1])<<8 | rune(b[i])
				}
				if 0xD800 <= unit && unit < 0xE000 {
					return nil, false
				}
				out = utf8.AppendRune(out, unit)
			}
			return out, true
		}
		was, ok1 := unwide(before)
		is, ok2 := unwide(c.After)
		if !ok1 || !ok2 {
			return
		}
		// Each of the two ways in which the texts may stand in the file.
		matches := 0
		for _, o := range forms(old) {
			for _, n := range forms(new) {
				if bytes.Count(was, o) == 1 && bytes.Equal(is, bytes.Replace(was, o, n, 1)) {
					matches++
				}
			}
		}
		if matches == 0 && !bytes.Contains(was, []byte("\r\n")) {
			t.Fatalf("%q → %q in %q is %q", old, new, was, is)
		}
		// With mixed line ends: as the plain text has it.
		plain := func(b []byte) string { return strings.ReplaceAll(string(b), "\r\n", "\n") }
		o, n := plain([]byte(old)), plain([]byte(new))
		if strings.Contains(plain(was)+o+n, "\r") {
			return // one that stands alone may become a part of a line end
		}
		if text := plain(was); strings.Count(text, o) != 1 || plain(is) != strings.Replace(text, o, n, 1) {
			t.Fatalf("%q → %q in %q is %q", old, new, was, is)
		}
	})
}

func forms(s string) [][]byte {
	plain := strings.ReplaceAll(s, "\r\n", "\n")
	return [][]byte{[]byte(plain), []byte(strings.ReplaceAll(plain, "\n", "\r\n"))}
}
