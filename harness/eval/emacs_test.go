package eval

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"amacs/consciousness/sexp"
)

// inEmacs evaluates each form of a file and writes for each a string: what
// prin1 makes of its value, or "error: " and the text of the error.
const inEmacs = `
(progn
  (require 'cl-lib) (require 'seq) (require 'subr-x)
  (let ((coding-system-for-read 'utf-8-unix) (coding-system-for-write 'utf-8-unix) (inhibit-message t) forms out)
    (with-temp-buffer
      (insert-file-contents (getenv "FORMS"))
      (goto-char (point-min))
      (condition-case nil
          (while t (push (read (current-buffer)) forms))
        (end-of-file nil)))
    (with-temp-buffer
      (dolist (form (nreverse forms))
        (push (condition-case e (prin1-to-string (eval form t))
                (t (concat "error: " (error-message-string e))))
              out)))
    (with-temp-file (getenv "RESULTS")
      (dolist (text (nreverse out)) (prin1 text (current-buffer)) (insert "\n")))))`

// TestEmacs compares values and error texts with those of Emacs 28, form by
// form. A difference must be marked in the file, and a mark must be one.
func TestEmacs(t *testing.T) {
	if _, err := exec.LookPath("emacs"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs emacs: ", err)
		}
		t.Skip("no emacs")
	}
	file := filepath.Join("testdata", "emacs.el")
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	forms, err := sexp.Parse(src)
	if err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(t.TempDir(), "results")
	cmd := exec.Command("emacs", "-Q", "--batch", "--eval", inEmacs)
	cmd.Env = append(os.Environ(), "FORMS="+file, "RESULTS="+results, "LC_ALL=C.UTF-8")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("emacs: %v: %s", err, out)
	}
	text, err := os.ReadFile(results)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := sexp.ReadAll(string(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(theirs) != len(forms) || len(forms) < 300 {
		t.Fatalf("Emacs evaluated %d forms of %d", len(theirs), len(forms))
	}
	end := 0
	for i, form := range forms {
		marked := strings.Contains(string(src[end:form.Start]), "\n;; differs: ")
		end = form.End
		source := string(src[form.Start:form.End])
		ours := outcome(source)
		switch same := ours == theirs[i]; {
		case !same && !marked:
			t.Errorf("%s\n  here  %s\n  Emacs %s", source, ours, theirs[i])
		case same && marked:
			t.Errorf("%s is marked as different and is the same: %s", source, ours)
		}
	}
}

// outcome is the value or the error of a form, without the hint that Emacs
// does not give.
func outcome(src string) string {
	res := Run(context.Background(), src, nil, nil, DefaultLimits())
	if res.Err != nil {
		return "error: " + errorText(res.Err.Symbol, res.Err.Data)
	}
	return res.Text
}

// emacsForms are the texts of the forms in the file.
func emacsForms() ([]string, error) {
	src, err := os.ReadFile(filepath.Join("testdata", "emacs.el"))
	if err != nil {
		return nil, err
	}
	nodes, err := sexp.Parse(src)
	if err != nil {
		return nil, err
	}
	var forms []string
	for _, n := range nodes {
		forms = append(forms, string(src[n.Start:n.End]))
	}
	return forms, nil
}
