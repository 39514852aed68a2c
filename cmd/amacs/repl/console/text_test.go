package console

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var foreign = []string{
	"", "plain\ttext\n", "grüße 漢字 👍🏽 e\u0301", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\u009b31m", "\x9b31m\xff\x80",
	"good\rbad", "one\r\ntwo\r\r\nthree\r", "\x00\x01\x7f", "a\u202eb\u2066c\u2069\u2028", "\ufffd", "half \xe6\xbc", "\xf0\x9f\x91",
	"back\\slash \"\"\" \\n", "\U00100000\U0010fffd\U0010ff01",
}

func ExampleClean() {
	fmt.Println(Clean("\x1b[2Jsafe\u202e and\rsound\x07"))
	// Output:
	// ␛[2Jsafe<U+202E> and
	// sound␇
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"tabs\tand\nlines\n":   "tabs\tand\nlines\n",
		"漢字 e\u0301 👍🏽 \u200d": "漢字 e\u0301 👍🏽 \u200d",
		"\x1b\x00\x07\x7f":     "␛␀␇␡",
		"\u0085\u009b":         "<U+0085><U+009B>",
		"\x9b\xe6\xbc":         "���",
		"a\r\nb\rc\r":          "a\nb\nc\n",
		"\r\r\n\n":             "\n\n\n",
		"\u202d\u2067":         "<U+202D><U+2067>",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, not %q", in, got, want)
		}
	}
}

// A cleaned text has nothing to steer a terminal, is clean when cleaned again,
// and does not depend on where the pieces were cut.
func FuzzClean(f *testing.F) {
	for i, s := range foreign {
		f.Add(s, i)
	}
	f.Fuzz(func(t *testing.T, s string, cut int) {
		got := Clean(s)
		if !utf8.ValidString(got) {
			t.Errorf("%q is not UTF-8", got)
		}
		for _, r := range got {
			if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || steers(r) {
				t.Errorf("%q holds %U", got, r)
			}
		}
		if again := Clean(got); again != got {
			t.Errorf("cleaned again %q is %q", got, again)
		}
		var c cleaner
		var pieces string
		for _, p := range cuts(s, cut) {
			pieces += c.feed(p)
		}
		if pieces += c.rest(); pieces != got {
			t.Errorf("in pieces %q, whole %q", pieces, got)
		}
	})
}

// cuts cuts s into pieces, of lengths that follow from seed.
func cuts(s string, seed int) []string {
	var out []string
	for len(s) > 0 {
		seed = seed*1103515245 + 12345
		n := min(len(s), 1+int(uint(seed)>>16%5))
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}

// Any text survives in a line.
func FuzzCells(f *testing.F) {
	for _, s := range foreign {
		f.Add(s, true)
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, s string, inert bool) {
		c := &cells{}
		rs := c.encode(s, inert)
		if got := c.decode(rs); got != s {
			t.Errorf("%q came back as %q", s, got)
		}
		for _, r := range rs {
			if r < ' ' || r >= firstKey || inert && (r == '\\' || r == '"') {
				t.Errorf("%q became %U", s, r)
			}
		}
	})
}

// What the keyboard reads does not depend on how the bytes come, and a paste
// comes out as it went in, whatever it holds.
func FuzzKeyboard(f *testing.F) {
	for i, s := range append(slices.Clone(foreign), "\x1b[A\x1bOH\x1b[1;5D\x1bb\x1b\r\x03\x04", "\x1b[200~a\rb\x1b[201~c\r", "\x1b[\x1b[A\x1b\x1bx\x1b[[A") {
		f.Add(s, "pasted\r\x1b[A"+s, i)
	}
	f.Fuzz(func(t *testing.T, keys, paste string, cut int) {
		if strings.Contains(paste, pasteEnds) || strings.Contains(keys, pasteBegins) {
			t.Skip()
		}
		c := &cells{}
		input := "\x1b[200~" + paste + pasteEnds + keys
		whole := (&keyboard{cells: c}).feed([]byte(input))
		k := &keyboard{cells: c}
		var pieces []rune
		for _, p := range cuts(input, cut) {
			pieces = append(pieces, k.feed([]byte(p))...)
		}
		k = &keyboard{cells: c}
		first := k.feed([]byte("\x1b[200~" + paste + pasteEnds))
		want := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(paste)
		if paste != "" && (first[0] != keyPasted || c.decode(first[1:]) != want) {
			t.Errorf("the paste %q came out as %q", paste, c.decode(first))
		}
		if len(keys) > inlineBytes {
			return // a long run in one piece is a token
		}
		if got, want := c.decode(pieces), c.decode(whole); got != want {
			t.Errorf("in pieces %q, whole %q", got, want)
		}
		for _, r := range whole {
			if r == 0 || r == 0x1b || r == '\r' || r == '\n' {
				t.Errorf("%q holds %q", whole, r)
			}
		}
	})
}

func FuzzHistory(f *testing.F) {
	for _, s := range foreign {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		written := toHistory.Replace(s)
		if strings.ContainsAny(written, "\r\n") {
			t.Errorf("%q has more than one line", written)
		}
		if got := ofHistory.Replace(written); got != s {
			t.Errorf("%q came back as %q", s, got)
		}
	})
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	h, err := openHistory(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"one", "one", " ", "two\nlines\\n", "one", strings.Repeat("x", entryBytes+1)} {
		if err := h.add(s); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"one", "two\nlines\\n", "one"}
	if h, err = openHistory(path); err != nil || !slices.Equal(h.entries, want) {
		t.Errorf("read %q, %v", h.entries, err)
	}
	for _, q := range []struct {
		text          string
		i, step, want int
	}{{"one", 2, -1, 2}, {"one", 1, -1, 0}, {"lines", 2, -1, 1}, {"one", 1, 1, 2}, {"none", 2, -1, -1}, {"", 3, 1, -1}} {
		if got := h.find(q.text, q.i, q.step); got != q.want {
			t.Errorf("find(%q, %d, %d) = %d", q.text, q.i, q.step, got)
		}
	}
}

func TestHistoryIsTrimmed(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		kept int
		last string
	}{
		"many":  {strings.Repeat("entry\n", 3000) + "last\n", historyEntries, "last"},
		"large": {strings.Repeat(strings.Repeat("x", 1023)+"\n", 2000), 512, strings.Repeat("x", 1023)},
		"torn":  {"one\ntwo", 2, "two"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "history")
			if err := os.WriteFile(path, []byte(test.file), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := openHistory(path); err != nil {
				t.Fatal(err)
			}
			h, err := openHistory(path)
			if err != nil || len(h.entries) != test.kept || h.entries[len(h.entries)-1] != test.last {
				t.Errorf("%d entries are left, %v", len(h.entries), err)
			}
			data, err := os.ReadFile(path)
			if err != nil || !bytes.HasSuffix(data, []byte(test.last+"\n")) {
				t.Errorf("the file ends in %q, %v", data[max(0, len(data)-20):], err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the file is %v, %v", info, err)
			}
		})
	}
}

func TestHistoryWithoutItsFile(t *testing.T) {
	h, err := openHistory(t.TempDir()) // a directory
	if err == nil {
		t.Error("a directory was read")
	}
	if err := h.add("one"); err == nil || len(h.entries) != 1 {
		t.Errorf("%d entries, %v", len(h.entries), err)
	}
	h, err = openHistory(filepath.Join(t.TempDir(), "no", "such"))
	if err != nil {
		t.Error(err)
	}
	if err := h.add("one"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestJoiner(t *testing.T) {
	for _, test := range []struct{ typed, want, left []string }{
		{typed: []string{"one", "", "two"}, want: []string{"one", "", "two"}},
		{typed: []string{`one\`, `two\`, "three", "four"}, want: []string{"one\ntwo\nthree", "four"}},
		{typed: []string{`even\\`, `odd\\\`, ""}, want: []string{`even\\`, "odd\\\\\n"}},
		{typed: []string{`"""`, `one\`, "", `"""`}, want: []string{"one\\\n"}},
		{typed: []string{`"""one`, `"two"`, `three"""  `}, want: []string{"one\n\"two\"\nthree"}},
		{typed: []string{`"""one"""`, `""""""`, `""`}, want: []string{"one", "", `""`}},
		{typed: []string{`a """`, `b\`, `"""`}, want: []string{`a """`, "b\n\"\"\""}},
		{typed: []string{`one\`, "two", `three\`}, want: []string{"one\ntwo"}, left: []string{`three\`}},
		{typed: []string{`"""one`, "two"}, left: []string{"\"\"\"one\ntwo"}},
	} {
		var j joiner
		var got, left []string
		for _, l := range test.typed {
			if m, done := j.add(l); done {
				got = append(got, m)
			}
		}
		if j.isOpen() {
			left = []string{j.abandon()}
		}
		if !slices.Equal(got, test.want) || !slices.Equal(left, test.left) {
			t.Errorf("%q gave %q and left %q", test.typed, got, left)
		}
	}
}

func TestReply(t *testing.T) {
	for _, test := range []struct {
		chunks []string
		want   string
	}{
		{[]string{"one", " two"}, "one two"},
		{[]string{"\n", "\n\none\n", "\n", "two\n", "\n\n"}, "one\n\ntwo"},
		{[]string{"a\r", "\nb\xe6", "\xbc\xa2", "\x1b"}, "a\nb漢␛"},
		{[]string{"\n\n"}, ""},
		{[]string{"a\xe6"}, "a�"},
	} {
		var r reply
		var got string
		for _, c := range test.chunks {
			text := r.feed(c)
			r.begun = r.begun || text != ""
			got += text
		}
		if got += r.rest(); got != test.want {
			t.Errorf("%q gave %q", test.chunks, got)
		}
	}
}

func TestWrapper(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"one two three four", "one two\nthree four"},
		{"0123456789", "0123456789"},
		{"0123456789 a", "0123456789\na"},
		{"0123456789abc d", "0123456789\nabc d"},
		{"    indented text", "    indent\ned text"},
		{"漢字漢字漢字", "漢字漢字漢\n字"},
		{"a 漢字漢字漢", "a\n漢字漢字漢"},
		{"a\tb c", "a\tb\nc"},
		{"one\n\ntwo\n", "one\n\ntwo\n"},
		{"e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301"},
	} {
		for seed := range 5 {
			var w wrapper
			var got string
			for _, r := range cutRunes(test.in, seed) {
				got += w.feed(r, 10)
			}
			if got += string(w.row); got != test.want {
				t.Errorf("%q became %q, not %q", test.in, got, test.want)
			}
		}
	}
}

func cutRunes(s string, seed int) []string {
	var out []string
	for i, r := range []rune(s) {
		if i > 0 && (i*7+seed)%3 > 0 {
			out[len(out)-1] += string(r)
		} else {
			out = append(out, string(r))
		}
	}
	return out
}

func TestLayout(t *testing.T) {
	for _, test := range []struct {
		text          string
		cursor, width int
		rows          string
		row, col      int
	}{
		{"", 0, 10, "", 0, 0},
		{"hello", 5, 10, "hello", 0, 5},
		{"hello", 0, 10, "hello", 0, 0},
		{"hello", 5, 5, "hello|", 1, 0},
		{"hello", -1, 5, "hello", 0, 0},
		{"漢字漢", 2, 5, "漢字|漢", 1, 0},
		{"one\ntwo", 3, 10, "one|two", 0, 3},
		{"one\ntwo", 3, 3, "one||two", 1, 0},
		{"one\ntwo", 7, 3, "one|two|", 2, 0},
		{"漢", 0, 1, "漢", 0, 0},
	} {
		b := layout(glyphs(test.text), test.cursor, test.width)
		if got := strings.Join(b.rows, "|"); got != test.rows || b.row != test.row || b.col != test.col {
			t.Errorf("%+v became %q, cursor %d %d", test, got, b.row, b.col)
		}
	}
}

// No row is too wide, none of the text is lost, and the cursor is on the
// screen, in the window too.
func FuzzLayout(f *testing.F) {
	for i, s := range foreign {
		f.Add(s, i, 10, 3)
	}
	f.Fuzz(func(t *testing.T, s string, cursor, width, height int) {
		gs := glyphs(Clean(s))
		width, height = 4+int(uint(width)%80), 1+int(uint(height)%20)
		cursor = int(uint(cursor) % uint(len(gs)+1))
		b := layout(gs, cursor, width)
		if got, want := strings.Join(b.rows, ""), strings.ReplaceAll(Clean(s), "\n", ""); got != want {
			t.Errorf("%q became %q", want, got)
		}
		for _, w := range []block{b, b.window(height)} {
			if w.row < 0 || w.row >= len(w.rows) || w.col < 0 || w.col >= width {
				t.Errorf("%q: the cursor is at %d %d of %d rows, %d columns", s, w.row, w.col, len(w.rows), width)
			}
		}
		if w := b.window(height); len(w.rows) > height || w.rows[w.row] != b.rows[b.row] {
			t.Errorf("%q: a window of %d rows shows %q", s, height, w.rows)
		}
		for i, row := range b.rows {
			if w := b.widths[i]; w > width {
				t.Errorf("row %q has %d columns of %d", row, w, width)
			}
		}
		if b.rowAt(width) != b.row {
			t.Errorf("%q: row %d is taken for %d", s, b.row, b.rowAt(width))
		}
	})
}

func TestWords(t *testing.T) {
	line := []rune("größe, (漢字) x_1")
	for pos, want := range map[int][2]int{0: {0, 5}, 3: {0, 5}, 5: {0, 10}, 8: {0, 10}, 10: {8, 15}, 15: {12, 15}} {
		if l, r := wordLeft(line, pos), wordRight(line, pos); l != want[0] || r != want[1] {
			t.Errorf("at %d the words end at %d and %d", pos, l, r)
		}
	}
}

func TestCommon(t *testing.T) {
	for want, all := range map[string][]string{"gr": {"grün", "gruß", "gr"}, "": {"a", "b"}, "x": {"x"}, "漢": {"漢字", "漢"}} {
		if got := common(all); got != want {
			t.Errorf("common(%q) = %q", all, got)
		}
	}
}

func TestStatusInPrompt(t *testing.T) {
	for _, test := range []struct {
		prompt, status, keys string
		color                bool
		want                 string
	}{
		{"amacs> ", "", "", true, "amacs> "},
		{"amacs> ", "thinking 3s", "", false, "amacs (thinking 3s)> "},
		{"amacs> ", "thinking", "", true, "amacs \x1b[2m(thinking)\x1b[22m> "},
		{"amacs> ", "thinking", "y/n", false, "amacs (y/n)> "},
		{"? ", "busy", "", false, "? (busy)"},
	} {
		s := screen{prompt: test.prompt, status: test.status, keys: test.keys, color: test.color}
		var got string
		for _, g := range s.promptGlyphs("") {
			got += g.text
		}
		if got != test.want {
			t.Errorf("%+v shows %q", test, got)
		}
	}
}

func TestBare(t *testing.T) {
	for in, want := range map[string]string{
		"plain ü 漢\n":               "plain ü 漢\n",
		"rm -rf ~/\u200bx":          "rm -rf ~/<U+200B>x",
		"\u202egpj.exe\ufeff":       "<U+202E>gpj.exe<U+FEFF>",
		"a\u00adb\U000E0041c\ufe0f": "a<U+00AD>b<U+E0041>c<U+FE0F>",
		"\x1b[31mred":               "␛[31mred",
	} {
		if got := Bare(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
