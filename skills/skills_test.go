package skills

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

// skillCases are SKILL.md files of a folder "a-1".
var skillCases = []struct {
	name, text string
	body       string // when it is good
	says       string // when it is not
}{
	{name: "plain", text: "---\nname: a-1\ndescription: d\n---\n\n# A\n", body: "# A\n"},
	{name: "no body", text: "---\nname: a-1\ndescription: d\n---", body: ""},
	{name: "CRLF", text: "---\r\nname: a-1\r\ndescription: d\r\n---\r\nx\r\n", body: "x\n"},
	{name: "BOM", text: "\ufeff---\nname: a-1\ndescription: d\n---\nx", body: "x"},
	{name: "blanks after the rule", text: "--- \nname: a-1\ndescription: d\n---\t\nx", body: "x"},
	{name: "rule in the body", text: "---\nname: a-1\ndescription: d\n---\nx\n---\ny\n", body: "x\n---\ny\n"},
	{name: "the other keys", text: "---\nname: a-1\ndescription: d\nlicense: MIT\ncompatibility: emacs\nmetadata: {a: b}\nallowed-tools: Read\nversion: 2\n---\nx", body: "x"},
	{name: "folded description", text: "---\nname: a-1\ndescription: >\n  d\n---\nx", body: "x"},
	{name: "long description", text: "---\nname: a-1\ndescription: " + strings.Repeat("é", 1024) + "\n---\nx", body: "x"},
	{name: "too long description", text: "---\nname: a-1\ndescription: " + strings.Repeat("é", 1025) + "\n---\nx", says: "1025 characters"},
	{name: "no front matter", text: "# A\n", says: "front matter"},
	{name: "empty", text: "", says: "front matter"},
	{name: "not closed", text: "---\nname: a-1\ndescription: d\n", says: "not closed"},
	{name: "other name", text: "---\nname: b\ndescription: d\n---\n", says: `its name is "b", its folder "a-1"`},
	{name: "no name", text: "---\ndescription: d\n---\n", says: "no name"},
	{name: "no description", text: "---\nname: a-1\n---\n", says: "no description"},
	{name: "blank description", text: "---\nname: a-1\ndescription: '  '\n---\n", says: "no description"},
	{name: "a colon", text: "---\nname: a-1\ndescription: Use when: always\n---\n", says: "needs quotes"},
	{name: "a list", text: "---\n- name\n---\n", says: "not YAML"},
	{name: "bytes", text: "---\nname: a-1\ndescription: d\n---\n\xff", says: "UTF-8"},
	{name: "NUL", text: "---\nname: a-1\ndescription: d\n---\n\x00", says: "UTF-8"},
	{name: "too large", text: "---\nname: a-1\ndescription: d\n---\n" + strings.Repeat("x", MaxSize), says: "64 KB"},
}

func TestSkillFile(t *testing.T) {
	for _, c := range skillCases {
		t.Run(c.name, func(t *testing.T) {
			fsys := fstest.MapFS{"a-1/SKILL.md": file(c.text)}
			ok, broken := List(fsys)
			skill, err := Load(fsys, "a-1")
			if c.says != "" {
				if err == nil || !strings.Contains(err.Error(), c.says) {
					t.Errorf("Load: %v; want %q", err, c.says)
				}
				if len(ok) != 0 || len(broken) != 1 || broken[0].Name != "a-1" || broken[0].Err.Error() != err.Error() {
					t.Errorf("List: %+v, %+v", ok, broken)
				}
				return
			}
			if err != nil || skill.Body != c.body || skill.Name != "a-1" || skill.Dir != "a-1" || skill.Size != len(c.text) {
				t.Errorf("Load: %+v, %v", skill, err)
			}
			if len(broken) != 0 || len(ok) != 1 || !reflect.DeepEqual(ok[0], skill) {
				t.Errorf("List: %+v, %+v", ok, broken)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for name, good := range map[string]bool{
		"a": true, "9": true, "rust-mode": true, strings.Repeat("a", 64): true,
		strings.Repeat("a", 65): false, "-a": false, "a-": false, "a--b": false, "A": false, "a_b": false, "a b": false, "é": false, "a\n": false,
	} {
		_, err := New(name, "d", "x")
		if (err == nil) != good {
			t.Errorf("New(%q): %v; want good %v", name, err, good)
		}
	}
}

func skill(name string) *fstest.MapFile {
	return file("---\nname: " + name + "\ndescription: about " + name + "\n---\n\nDo " + name + ".\n")
}

// home is a skills folder with some of everything.
func home() fstest.MapFS {
	return fstest.MapFS{
		"README.md":              file("not a skill"),
		"core/SKILL.md":          file("---\nname: core\ndescription: d\n---\n\nYou are amacs.\n" + strings.Repeat("Be kind. ", 20)),
		"core/references/r.md":   file("r"),
		".hidden/SKILL.md":       file("x"),
		"empty/notes.md":         file("no SKILL.md here"),
		"zeta/SKILL.md":          skill("zeta"),
		"zeta/scripts/run.sh":    file("echo"),
		"zeta/references/b.md":   file("b"),
		"zeta/references/a.md":   file("a"),
		"zeta/.git/config":       file("x"),
		"zeta/.DS_Store":         file("x"),
		"zeta/big.md":            file(strings.Repeat("x", MaxFile+1)),
		"zeta/deep/SKILL.md":     file("a file like another"),
		"alpha/SKILL.md":         skill("alpha"),
		"Beta/SKILL.md":          skill("Beta"),
		"folder/SKILL.md/inside": file("x"),
	}
}

func TestList(t *testing.T) {
	ok, broken := List(home())
	if len(ok) != 2 || ok[0].Name != "alpha" || ok[1].Name != "zeta" {
		t.Fatalf("ok: %+v", ok)
	}
	if ok[0].Description != "about alpha" || ok[0].Body != "Do alpha.\n" {
		t.Errorf("alpha: %+v", ok[0])
	}
	if got := fmt.Sprint(ok[1].Files); got != "[big.md deep/SKILL.md references/a.md references/b.md scripts/run.sh]" {
		t.Errorf("files of zeta: %s", got)
	}
	var names []string
	for _, b := range broken {
		names = append(names, b.Name)
		if !strings.Contains(b.Err.Error(), b.Name) {
			t.Errorf("the error does not name it: %v", b.Err)
		}
	}
	if fmt.Sprint(names) != "[Beta folder]" {
		t.Errorf("broken: %+v", broken)
	}
	if ok, broken := List(os.DirFS(filepath.Join(t.TempDir(), "absent"))); ok != nil || broken != nil {
		t.Errorf("no skills folder: %v, %v", ok, broken)
	}
	if _, broken := List(unreadable{}); len(broken) != 1 || broken[0].Name != "." {
		t.Errorf("an unreadable folder: %v", broken)
	}
}

type unreadable struct{}

func (unreadable) Open(string) (fs.File, error) { return nil, fs.ErrPermission }

func TestLoad(t *testing.T) {
	for name, says := range map[string]string{
		"alpha": "", "zeta": "", "core": "",
		"gamma":   `no skill "gamma"; there is alpha, zeta`,
		"empty":   `no skill "empty"`,
		"../x":    `no skill "../x"`,
		"":        `no skill ""`,
		".hidden": `no skill ".hidden"`,
		"folder":  "not a regular file",
	} {
		s, err := Load(home(), name)
		if says == "" && (err != nil || s.Name != name) || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("Load(%q): %+v, %v; want %q", name, s, err, says)
		}
	}
	if _, err := Load(fstest.MapFS{}, "x"); err == nil || !strings.Contains(err.Error(), "there is none") {
		t.Errorf("with no skills: %v", err)
	}
}

func TestCore(t *testing.T) {
	text, err := Core(home())
	if err != nil || !strings.HasPrefix(text, "You are amacs.\n") {
		t.Errorf("%q, %v", text, err)
	}
	if again, _ := Core(home()); again != text {
		t.Error("the system prompt is not the same the second time")
	}
	for says, fsys := range map[string]fstest.MapFS{
		"SKILL.md":        {},
		"12 characters":   {"core/SKILL.md": file("---\nname: core\ndescription: d\n---\nYou are Bob.\n")},
		"front matter":    {"core/SKILL.md": file(strings.Repeat("You are amacs. ", 20))},
		`its name is "x"`: {"core/SKILL.md": skill("x")},
	} {
		if text, err := Core(fsys); err == nil || text != "" || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "core/SKILL.md") {
			t.Errorf("%q, %v; want %q", text, err, says)
		}
	}
}

func TestReadFile(t *testing.T) {
	for _, c := range []struct{ name, file, want, says string }{
		{"zeta", "references/a.md", "a", ""},
		{"core", "references/r.md", "r", ""},
		{"zeta", "SKILL.md", string(skill("zeta").Data), ""},
		{"zeta", "references/c.md", "", "there is big.md, deep/SKILL.md, references/a.md"},
		{"zeta", "references", "", "not a regular file"},
		{"zeta", "references/a.md/x", "", "no such file"},
		{"zeta", "../alpha/SKILL.md", "", "stay inside"},
		{"zeta", "references/../../alpha/SKILL.md", "", "stay inside"},
		{"zeta", "/etc/passwd", "", "stay inside"},
		{"zeta", "", "", "stay inside"},
		{"zeta", ".", "", "stay inside"},
		{"zeta", "big.md", "", "1024 KB"},
		{"gamma", "references/a.md", "", "no skill"},
		{"..", "zeta/SKILL.md", "", "no skill"},
		{"Beta", "SKILL.md", "", "no skill"},
	} {
		got, err := ReadFile(home(), c.name, c.file)
		if string(got) != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("ReadFile(%q, %q) = %q, %v; want %q, %q", c.name, c.file, got, err, c.want, c.says)
		}
	}
}

// TestLinks: a skill folder and its SKILL.md may be links, files beside it may not.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	skills := filepath.Join(dir, "skills")
	write := func(p, s string) {
		if err := os.MkdirAll(filepath.Dir(p), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	link := func(to, from string) {
		if err := os.Symlink(to, from); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(dir, "secret"), "s3cret")
	write(filepath.Join(dir, "away", "SKILL.md"), string(skill("linked").Data))
	write(filepath.Join(dir, "away", "references", "r.md"), "r")
	write(filepath.Join(skills, "own", "SKILL.md"), string(skill("own").Data))
	link("../away", filepath.Join(skills, "linked"))
	link("../../secret", filepath.Join(skills, "own", "notes.md"))
	link("../..", filepath.Join(skills, "own", "references"))
	link("/nowhere", filepath.Join(skills, "dangling"))
	link("../secret", filepath.Join(skills, "NOTES"))

	fsys := os.DirFS(skills)
	ok, broken := List(fsys)
	if len(ok) != 2 || len(broken) != 0 || ok[0].Name != "linked" || fmt.Sprint(ok[0].Files) != "[references/r.md]" || len(ok[1].Files) != 0 {
		t.Errorf("ok %+v, broken %+v", ok, broken)
	}
	if got, err := ReadFile(fsys, "linked", "references/r.md"); string(got) != "r" {
		t.Errorf("in a linked skill: %q, %v", got, err)
	}
	for _, file := range []string{"notes.md", "references/secret"} {
		if got, err := ReadFile(fsys, "own", file); err == nil || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("through a link: %q, %v", got, err)
		}
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct{ name, description, body, says string }{
		{"rust-mode", "How to read errors: use it on Rust", "# Rust\n", ""},
		{"q", `"quoted" # 'text' é 日本`, "a\r\nb", ""},
		{"q", "two\nlines", "\n\n  indented", ""},
		{"q", "true", "x", ""},
		{"core", "d", "x", "taken"},
		{"Q", "d", "x", "not allowed"},
		{"", "d", "x", "no name"},
		{"../q", "d", "x", "not allowed"},
		{"q", " ", "x", "no description"},
		{"q", strings.Repeat("x", 1025), "x", "1025"},
		{"q", "d", " \n", "empty"},
		{"q", "d", "---\nname: q\n---\nx", "the text alone"},
		{"q", "d", "x\x00", "UTF-8"},
		{"q", "\xff", "x", "UTF-8"},
		{"q", "d", strings.Repeat("x", MaxSize), "64 KB"},
	} {
		files, err := New(c.name, c.description, c.body)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("New(%q, %.20q, %.20q): %v; want %q", c.name, c.description, c.body, err, c.says)
			}
			continue
		}
		if err != nil {
			t.Errorf("New(%q, %q, %q): %v", c.name, c.description, c.body, err)
			continue
		}
		readsBack(t, files, c.name, c.description)
	}
}

// readsBack: what New returned is exactly one file, and Load makes that skill of it.
func readsBack(t *testing.T, files map[string][]byte, name, description string) {
	t.Helper()
	if keys := slices.Collect(maps.Keys(files)); len(keys) != 1 || keys[0] != name+"/SKILL.md" {
		t.Fatalf("files %v", keys)
	}
	fsys := fstest.MapFS{}
	for p, data := range files {
		fsys[p] = &fstest.MapFile{Data: data}
	}
	got, err := Load(fsys, name)
	if err != nil || got.Description != oneLine(description) {
		t.Fatalf("%+v, %v\n%s", got, err, files[name+"/SKILL.md"])
	}
}

func FuzzNew(f *testing.F) {
	f.Add("rust-mode", "How: to", "# Rust\n---\nx")
	f.Add("q", "--- # &a *b !!binary", "\r\n\t- x")
	f.Add("q", "\x85\u2028\ufeff", "\ufeff")
	f.Fuzz(func(t *testing.T, name, description, body string) {
		if files, err := New(name, description, body); err == nil {
			readsBack(t, files, name, description)
		}
	})
}

// FuzzSkillFile: any SKILL.md is read or refused, and what is read keeps the rules.
func FuzzSkillFile(f *testing.F) {
	for _, c := range skillCases {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fsys := fstest.MapFS{"a-1/SKILL.md": file(text)}
		s, err := Load(fsys, "a-1")
		if err != nil {
			return
		}
		n := len([]rune(s.Description))
		if s.Name != "a-1" || n < 1 || n > 1024 || strings.Contains(s.Description, "\n") || !strings.HasSuffix(strings.ReplaceAll(text, "\r\n", "\n"), s.Body) {
			t.Fatalf("%+v", s)
		}
	})
}

func ExampleNew() {
	files, _ := New("commit-style", "How commits are worded here. Use it before each commit.", "One sentence, present tense.")
	fmt.Print(string(files["commit-style/SKILL.md"]))
	// Output:
	// ---
	// name: commit-style
	// description: How commits are worded here. Use it before each commit.
	// ---
	//
	// One sentence, present tense.
}
