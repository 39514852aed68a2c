package sexp

import (
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// throughEmacs reads each form from its standard file and prints it again.
const throughEmacs = `
(let ((coding-system-for-read 'utf-8-unix) (coding-system-for-write 'utf-8-unix) out)
  (with-temp-buffer
    (insert-file-contents "in.el")
    (goto-char (point-min))
    (condition-case nil
        (while t (push (prin1-to-string (read (current-buffer))) out))
      (end-of-file nil)))
  (with-temp-file "out.el"
    (insert (mapconcat 'identity (nreverse out) "\n"))))`

// TestEmacs: Emacs reads what we print, prints it back, and we read an equal value.
func TestEmacs(t *testing.T) {
	if _, err := exec.LookPath("emacs"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs emacs: ", err)
		}
		t.Skip("no emacs")
	}
	var values []Value
	for _, f := range forms {
		v, _, err := Read(f.text)
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	source := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		values = append(values, randomValue(source, 4))
	}
	for name, print := range map[string]func(Value) string{
		"Print": Print, "PrintIndented": func(v Value) string { return PrintIndented(v, 0) },
	} {
		var text strings.Builder
		for _, v := range values {
			text.WriteString(print(v) + "\n")
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "in.el"), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("emacs", "-Q", "--batch", "--eval", throughEmacs)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("emacs: %v: %s", err, out)
		}
		out, err := os.ReadFile(filepath.Join(dir, "out.el"))
		if err != nil {
			t.Fatal(err)
		}
		back, err := ReadAll(string(out))
		if err != nil {
			t.Fatalf("reading what Emacs printed: %v", err)
		}
		if len(back) != len(values) {
			t.Fatalf("%s: Emacs read %d forms of %d", name, len(back), len(values))
		}
		for i, v := range values {
			if !Equal(back[i], v) {
				t.Errorf("%s: %q came back from Emacs as %q", name, print(v), Print(back[i]))
			}
		}
	}
}

// randomValue makes values with a liking for what is hard to print. Bytes that
// are not UTF-8 stay in strings: in a symbol Emacs holds them in its own code.
func randomValue(r *rand.Rand, depth int) Value {
	pick := func(pieces []string) string {
		var out strings.Builder
		for range r.IntN(6) {
			out.WriteString(pieces[r.IntN(len(pieces))])
		}
		return out.String()
	}
	pieces := []string{"a", "B", "7", "-", "+", ".", "?", "#", "e", "1e5", " ", "\n", "\t", "\r", "\\", "\"", "'", "`", ",", ",@", ";", "(", ")", "[", "]", "\u00a0", "é", "😀", "\u200b", "‘", "|", "{", "&", ":", "\x7f", "\x1b", "\x01", "%s", "nil"}
	switch n := r.IntN(12); {
	case n < 3 && depth > 0:
		var tail Value = Nil
		if r.IntN(3) == 0 {
			tail = randomValue(r, 0)
		}
		for range r.IntN(4) + 1 {
			tail = &Cons{randomValue(r, depth-1), tail}
		}
		return tail
	case n == 3 && depth > 0:
		v := Vector{}
		for range r.IntN(4) {
			v = append(v, randomValue(r, depth-1))
		}
		return v
	case n == 4 && depth > 0:
		names := []Symbol{"quote", "function", "`", ",", ",@"}
		return List(names[r.IntN(len(names))], randomValue(r, depth-1))
	case n < 7:
		return pick(append(pieces, "\xff", "\xc3", "\xa9", "\x80", "\x00"))
	case n < 9:
		return Symbol(pick(pieces))
	case n == 9:
		return int64(r.Uint64()) >> r.IntN(64)
	case n == 10:
		return math.Float64frombits(r.Uint64() >> 2) // of any size, but no NaN
	}
	return float64(r.IntN(2000)-1000) / math.Pow(10, float64(r.IntN(30)-10))
}
