package consciousness_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"amacs/consciousness"
	"amacs/consciousness/sexp"
	"amacs/threads"
)

// TestSpliceKeepsWhatAHandWrote: src is a hand's, edit changes the state, and
// every text of keep is still there afterwards.
func TestSpliceKeepsWhatAHandWrote(t *testing.T) {
	create := func(id threads.ID) func(*consciousness.State) error {
		return func(s *consciousness.State) (err error) {
			s.Threads, err = s.Threads.Create(threads.Thread{ID: id, Concern: "c"})
			return err
		}
	}
	complete := func(s *consciousness.State) error { return s.Complete("one", "seen", "") }
	for _, tc := range []struct {
		name, src string
		edit      func(*consciousness.State) error
		keep      []string
	}{
		{"a thread behind one that does not fit", `((open-threads . (((id . "one") (concern . "a"))
  ((id . "B A D") (concern . "mine"))
  ((id . "two") (concern . "b")))))`, create("new"), []string{`"B A D"`, `"mine"`, `"two"`, `"one"`, `"new"`}},
		{"the same, one is completed", `((open-threads . (((id . "B A D")) ((id . "one") (concern . "a"))
  ((id . "two") (concern . "b") (colour . red)))))`, complete, []string{`"B A D"`, `"two"`, "(colour . red)"}},
		{"a comment in an empty list", "((open-threads . ( ; none yet\n)))", create("new"), []string{"; none yet", `"new"`}},
		{"a comment behind the last thread", "((open-threads . (((id . \"one\") (concern . \"a\")) ; red\n)))", complete, []string{"; red"}},
		{"threads without a dot", `((open-threads ((id . "one") (concern . "a")) ; x
 ((id . "two") (concern . "b") (buffers "/f"))))`, complete, []string{"; x", `"two"`, `(buffers "/f")`}},
		{"no threads, no dot", `((open-threads))`, create("new"), []string{`"new"`}},
		{"nil", `((open-threads . nil))`, create("new"), []string{`"new"`}},
		{"a quoted list", `((open-threads . '(1)))`, create("new"), []string{`"new"`}},
		{"a vector", `((open-threads . [1]))`, create("new"), []string{`"new"`}},
		{"one id twice", `((open-threads . (((id . "one") (concern . "a")) ((id . "one") (concern . "b")))))`, create("new"), []string{`"a"`, `"b"`}},
		{"api settings", "((api-settings . ((temperature . 0.5) ; careful\n  (my-own . 3) (top-p . 1))))", func(s *consciousness.State) error {
			return s.Set("api-settings", sexp.List(&sexp.Cons{Car: sexp.Symbol("temperature"), Cdr: 0.25}))
		}, []string{"(temperature . 0.25) ; careful", "(my-own . 3)", "(top-p . 1)", "(max-tokens . 8192)"}},
		{"api settings without a dot", "((api-settings (temperature . 0.5) (my-own . 3)))", func(s *consciousness.State) error {
			return s.Set("api-settings", sexp.List(&sexp.Cons{Car: sexp.Symbol("max-tokens"), Cdr: int64(9)}))
		}, []string{"(temperature . 0.5)", "(my-own . 3)", "(max-tokens . 9)"}},
		{"a list where a word belongs", "((mood . (1 2)))", func(s *consciousness.State) error { return s.Set("mood", "glad") }, []string{`(mood . "glad")`}},
		{"CRLF", "((mood . \"a\") ; one\r\n (mine . 2))\r\n", func(s *consciousness.State) error { return s.Set("mood", "b") }, []string{"((mood . \"b\") ; one\r\n (mine . 2)\r\n"}},
		{"the older form", "(setq agent-consciousness ; mine\n '((mood . \"a\")))\n", func(s *consciousness.State) error { return s.Set("mood", "b") }, []string{"(setq agent-consciousness ; mine\n '((mood . \"b\")"}},
	} {
		s, _, err := consciousness.Parse([]byte(tc.src))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if err := tc.edit(&s); err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		out, err := consciousness.Splice([]byte(tc.src), s)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		for _, keep := range tc.keep {
			if !strings.Contains(string(out), keep) {
				t.Errorf("%s: %q is gone:\n%s", tc.name, keep, out)
			}
		}
		again, _, err := consciousness.Parse(out)
		if err != nil || again.Text() != s.Text() {
			t.Errorf("%s: read back, %v\n%s\nwant\n%s", tc.name, err, again.Text(), s.Text())
		}
		if twice, _ := consciousness.Splice(out, again); string(twice) != string(out) {
			t.Errorf("%s: a second Splice of the same changed\n%s\ninto\n%s", tc.name, out, twice)
		}
	}
}

func TestParsePassesOverOneThread(t *testing.T) {
	s, notes, err := consciousness.Parse([]byte(`((open-threads . (((id . "B")) ((id . "one") (concern . "a")))) (active-thread . "one"))`))
	if err != nil || len(s.Threads.Open) != 1 || s.Threads.Active != "one" {
		t.Errorf("threads %+v, %v", s.Threads, err)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "passed over") {
		t.Errorf("notes %q", notes)
	}
}

func TestCompletedThreadsAreKeptShort(t *testing.T) {
	s := consciousness.New()
	for i := range consciousness.KeepCompleted + 5 {
		id := threads.ID(fmt.Sprint("t", i))
		var err error
		if s.Threads, err = s.Threads.Create(threads.Thread{ID: id, Concern: "c"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Complete(id, "seen", ""); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.Completed); n != consciousness.KeepCompleted || s.Completed[n-1].ID != "t14" || s.Completed[0].ID != "t5" {
		t.Errorf("%d are kept: %+v", n, s.Completed)
	}
}

// differ is the first line in which two texts differ.
func differ(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("%q, want %q", g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// walk makes one random edit.
func walk(r *rand.Rand, s *consciousness.State, step int) {
	words := []string{"calm", "a \"quoted\" \\ mood", "ünï 😀", "(x . y) ; no", "tab\there", "'q", "\xff bytes", "nil", "1e5"}
	word := words[r.IntN(len(words))]
	pick := func() threads.ID {
		if len(s.Threads.Open) == 0 {
			return "none"
		}
		return s.Threads.Open[r.IntN(len(s.Threads.Open))].ID
	}
	keep := func(set threads.Set, err error) {
		if err == nil {
			s.Threads = set
		}
	}
	switch r.IntN(9) {
	case 0:
		_ = s.Set("mood", word)
	case 1:
		keep(s.Threads.Create(threads.Thread{ID: threads.ID(fmt.Sprint("t", step)), Concern: word, Goal: words[step%len(words)], Buffers: []string{"/a " + word}, Started: step}))
	case 2:
		_ = s.Complete(pick(), word, words[step%len(words)])
	case 3:
		keep(s.Threads.Switch(pick()))
	case 4:
		keep(s.Threads.AddBuffer(pick(), "/"+word))
	case 5:
		keep(s.Threads.BindSkill(pick(), word))
	case 6:
		s.LastEval = consciousness.LastEval{Tick: step, Form: "(f \"" + word + "\")\n(g)", Success: step%2 == 0, Result: word, Error: word}
	case 7:
		_ = s.Set("api-settings", sexp.List(
			&sexp.Cons{Car: sexp.Symbol("temperature"), Cdr: float64(step%20) / 10},
			&sexp.Cons{Car: sexp.Symbol("top-k"), Cdr: int64(step % 3)},
			&sexp.Cons{Car: sexp.Symbol("model"), Cdr: word}))
	case 8:
		s.Budget.Cost += 0.25
		s.LongGap = time.Duration(step) * time.Minute
	}
	s.Tick, s.Time, s.Confidence = step, time.Unix(int64(step)*1000, 0).UTC(), float64(step%101)/100
}

// TestEmacsReadsEveryFile: Emacs' read takes each file of a random walk of edits,
// one form and no more, to the value that we read; comments and unknown fields
// of the hand are in the last one as in the first.
func TestEmacsReadsEveryFile(t *testing.T) {
	if _, err := exec.LookPath("emacs"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs emacs: ", err)
		}
		t.Skip("no emacs")
	}
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(7, 8))
	hands := []string{
		strings.Replace(string(template(t)), "(mood", ";; KEEP one\n  (mine . (1 . 2)) ; KEEP two\n  (mood", 1),
		"((mood . \"x\") ; KEEP one\n (mine . (1 . 2)) ; KEEP two\n)\n",
		"(setq agent-consciousness ; KEEP one\n  '((open-threads ; KEEP two\n     ) (mine . (1 . 2))))",
	}
	var want []sexp.Value
	for _, hand := range hands {
		src := []byte(hand)
		for step := 1; step <= 60; step++ {
			s, notes, err := consciousness.Parse(src)
			if err != nil || len(notes) > 0 {
				t.Fatalf("step %d: %v %q\n%s", step, err, notes, src)
			}
			walk(r, &s, step)
			if src, err = consciousness.Splice(src, s); err != nil {
				t.Fatal(err)
			}
			again, _, err := consciousness.Parse(src)
			again.Budget = s.Budget // never read from the file
			if err != nil || again.Text() != s.Text() {
				t.Fatalf("step %d: read back, %v: %s\nfrom\n%s", step, err, differ(again.Text(), s.Text()), src)
			}
			forms, err := sexp.ReadAll(string(src))
			if err != nil || len(forms) != 1 {
				t.Fatalf("%d forms, %v", len(forms), err)
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%04d.el", len(want))), src, 0o600); err != nil {
				t.Fatal(err)
			}
			want = append(want, forms[0])
		}
		for _, keep := range []string{"KEEP one", "KEEP two", "(mine . (1 . 2))"} {
			if strings.Count(string(src), keep) != 1 {
				t.Errorf("%q is gone or doubled:\n%s", keep, src)
			}
		}
	}
	cmd := exec.Command("emacs", "-Q", "--batch", "--eval", `
(let ((coding-system-for-read 'utf-8-unix) (coding-system-for-write 'utf-8-unix) out)
  (dolist (f (directory-files "." nil "\\.el$"))
    (with-temp-buffer
      (insert-file-contents f)
      (let ((v (read (current-buffer))))
        (condition-case nil (progn (read (current-buffer)) (error "more than one form in %s" f)) (end-of-file nil))
        (push (prin1-to-string v) out))))
  (with-temp-file "out" (insert (mapconcat 'identity (nreverse out) "\n"))))`)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("emacs: %v: %s", err, out)
	}
	out, err := os.ReadFile(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	back, err := sexp.ReadAll(string(out))
	if err != nil || len(back) != len(want) {
		t.Fatalf("Emacs read %d files of %d; %v", len(back), len(want), err)
	}
	for i := range want {
		if !sexp.Equal(back[i], want[i]) {
			t.Errorf("file %d: Emacs read\n%s\nwe read\n%s", i, sexp.Print(back[i]), sexp.Print(want[i]))
		}
	}
}
