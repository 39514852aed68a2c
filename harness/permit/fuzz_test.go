package permit

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// wrapped are forms around a text that run it and must not make it look milder.
func wrapped(s string) map[string]string {
	q, err := syntax.Quote(s, syntax.LangBash)
	if err != nil {
		return nil
	}
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		q = "-- " + q
	}
	out := map[string]string{"sh -c": "sh -c " + q, "timeout": "timeout 5 bash -c " + q, "eval": "eval " + q}
	if f, err := syntax.NewParser().Parse(strings.NewReader(s), ""); err == nil && len(f.Stmts) > 0 && !strings.HasSuffix(s, `\`) {
		out["( )"] = "(" + s + "\n)"
		out["{ }"] = "{ " + s + "\n}"
		out["if"] = "if true; then " + s + "\nfi"
	}
	return out
}

// laws are what holds for any text.
func laws(t *testing.T, s string) {
	v := decide(s)
	if again := decide(s); !reflect.DeepEqual(v, again) {
		t.Fatalf("%q: %+v, then %+v", s, v, again)
	}
	if v.Tier != Auto && (v.Why == "" || v.Kind == "") {
		t.Fatalf("%q: %+v", s, v)
	}
	if !strings.HasSuffix(s, `\`) { // there the last word would change
		if more := decide(s + "; rm -rf ~"); more.Tier < v.Tier {
			t.Fatalf("%q: %v (%s), and with more %v (%s)", s, v.Tier, v.Why, more.Tier, more.Why)
		}
	}
	if _, err := syntax.NewParser().Parse(strings.NewReader(s), ""); err == nil {
		if more := decide(s + "\nrm -rf ~"); more.Tier != Never && !strings.HasSuffix(s, `\`) && !strings.Contains(s, "<<") && !strings.ContainsAny(s, "\x00\r") {
			t.Fatalf("%q, then rm -rf ~: %v (%s)", s, more.Tier, more.Why)
		}
	}
	for how, text := range wrapped(s) {
		if w := decide(text); w.Tier < v.Tier {
			t.Fatalf("%q: %v (%s), in %s %v (%s)\n%s", s, v.Tier, v.Why, how, w.Tier, w.Why, text)
		}
	}
}

func TestLaws(t *testing.T) {
	for _, name := range []string{"harmless", "risky", "destructive"} {
		for _, s := range corpus(t, name) {
			laws(t, s.text)
		}
	}
}

func FuzzDecide(f *testing.F) {
	for i, s := range append(corpus(f, "risky"), corpus(f, "destructive")...) {
		if i%8 == 0 {
			f.Add(s.text)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s != "" && len(s) < 500 {
			laws(t, s)
		}
	})
}

// A path is never milder for being written differently.
func FuzzPath(f *testing.F) {
	for _, p := range []string{"/", "~", "a/../..", "/proc/self/cwd/x", ".env", "/home/me/.agent/config.yaml", "\x00", "/dev/fd/1", "~root/x", "/proc/1/root"} {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p string) {
		if strings.ContainsAny(p, star+unknown) {
			return
		}
		for _, op := range []Op{ReadFile, ListDir, WriteFile, RemoveFile} {
			v := Decide(Action{Op: op, Path: p}, here(), Rules{}, nil)
			if strings.HasPrefix(p, "/") {
				for _, q := range []string{"/" + p, "/." + p, "/x/.." + p, "/proc/self/root" + p} {
					if w := Decide(Action{Op: op, Path: q}, here(), Rules{}, nil); w.Tier < v.Tier {
						t.Fatalf("%s %q: %v (%s), as %q %v (%s)", op, p, v.Tier, v.Why, q, w.Tier, w.Why)
					}
				}
			}
		}
	})
}

// Texts that are made to cost time or memory end.
func TestBombs(t *testing.T) {
	for _, s := range []string{
		strings.Repeat("{a,b}", 40), strings.Repeat("$(", 200) + "ls" + strings.Repeat(")", 200), strings.Repeat("for i in 1 2; do ", 40) + "ls" + strings.Repeat("; done", 40),
		strings.Repeat("sh -c ", 500) + "ls", strings.Repeat("timeout 5 ", 5000) + "ls", strings.Repeat("x=$x$x;", 2000) + "rm $x", strings.Repeat("(", 3000) + "ls" + strings.Repeat(")", 3000),
		"echo " + strings.Repeat("~/*/../", 3000), strings.Repeat("ls|", 5000) + "ls", strings.Repeat("f() { f; }; f;", 1000), "x={1..100000}{1..100000}; rm $x", strings.Repeat("eval ", 1000) + "ls",
		strings.Repeat("rm a;", 6000), strings.Repeat(`set -- "$@" "$@" x;`, 500) + `rm "$@"`, strings.Repeat("x=$(echo $x $x);", 500) + "rm $x", "rm " + strings.Repeat("a ", 9000), strings.Repeat("x=a$x;", 300) + "y=$x$x$x$x$x; for i in $y$y$y$y; do rm $i; done",
	} {
		start := time.Now()
		if v := decide(s); time.Since(start) > 10*time.Second {
			t.Errorf("%.40q… takes %v (%v)", s, time.Since(start), v.Tier)
		}
	}
}
