package consciousness_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"amacs/consciousness"
	"amacs/consciousness/sexp"
	"amacs/threads"
)

func template(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../agent-home-template/consciousness.el")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTemplateIsTheDefault(t *testing.T) {
	s, notes, err := consciousness.Parse(template(t))
	if err != nil || len(notes) > 0 {
		t.Fatalf("Parse: %v, notes %q", err, notes)
	}
	if got, want := s.Text(), consciousness.New().Text(); got != want {
		t.Errorf("the template differs from New:\n%s\nwant\n%s", got, want)
	}
	out, err := consciousness.Splice(template(t), s)
	if err != nil || string(out) != string(template(t)) {
		t.Errorf("Splice of an unchanged state changed the file: %v\n%s", err, out)
	}
}

func TestSpliceKeepsWhatIsNotItsOwn(t *testing.T) {
	src := `;; mine
'((mood . "calm") ; a comment
  (my-field . (1 2))
  (current-tick . 7)
  (open-threads . (((id . "one") (concern . "first") (colour . "red") (buffers)) ; red
                   ((id . "two") (concern . "second") (buffers "/a"))))
  (active-thread . "one"))
`
	s, _, err := consciousness.Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	s.Mood, s.Tick = "keen", 8
	set, err := s.Threads.AddBuffer("one", "/b")
	if err != nil {
		t.Fatal(err)
	}
	s.Threads = set
	if err := s.Complete("two", "tests pass", "much"); err != nil {
		t.Fatal(err)
	}
	if s.Threads, err = s.Threads.Create(threads.Thread{ID: "three", Concern: "third", Started: 8}); err != nil {
		t.Fatal(err)
	}
	out, err := consciousness.Splice([]byte(src), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{";; mine\n'((mood . \"keen\") ; a comment", "(my-field . (1 2))", `(colour . "red")`, "; red", "(current-tick . 8)"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("missing %q in\n%s", want, out)
		}
	}
	again, notes, err := consciousness.Parse(out)
	if err != nil || len(notes) > 0 {
		t.Fatalf("Parse: %v %q\n%s", err, notes, out)
	}
	if again.Text() != s.Text() {
		t.Errorf("read back\n%s\nwant\n%s\nfrom\n%s", again.Text(), s.Text(), out)
	}
}

func TestParseForgives(t *testing.T) {
	for _, tc := range []struct{ src, note string }{
		{`((mood . 42))`, "mood: 42 is not a text"},
		{`((confidence . 7))`, "confidence: 7 is not a number from 0 to 1"},
		{`((chat-context-depth . 0))`, "chat-context-depth"},
		{`((active-thread . "gone"))`, `no open thread "gone"`},
		{`((open-threads . (((id . "A B")))))`, "open-threads: id"},
		{`((api-settings . ((temperature . 9))))`, "temperature: 9"},
	} {
		s, notes, err := consciousness.Parse([]byte(tc.src))
		if err != nil {
			t.Errorf("%s: %v", tc.src, err)
			continue
		}
		if len(notes) != 1 || !strings.Contains(notes[0], tc.note) {
			t.Errorf("%s: notes %q, want one with %q", tc.src, notes, tc.note)
		}
		out, err := consciousness.Splice([]byte(tc.src), s)
		if err != nil {
			t.Errorf("%s: %v", tc.src, err)
		}
		if body := strings.TrimSuffix(strings.TrimPrefix(tc.src, "("), ")"); !strings.Contains(string(out), body) {
			t.Errorf("%s: a value that was not set was overwritten:\n%s", tc.src, out)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for _, src := range []string{"", "(", "((mood . \"x\")", "mood", "(mood)", "() ()", "((a . 1)) junk", "\x00"} {
		if _, _, err := consciousness.Parse([]byte(src)); err == nil {
			t.Errorf("%q: no error", src)
		}
		if _, err := consciousness.Splice([]byte(src), consciousness.New()); err == nil {
			t.Errorf("%q: written", src)
		}
	}
}

func TestOlderForm(t *testing.T) {
	s, _, err := consciousness.Parse([]byte("(setq agent-consciousness '((mood . \"old\")))"))
	if err != nil || s.Mood != "old" {
		t.Errorf("mood %q, %v", s.Mood, err)
	}
}

func TestSet(t *testing.T) {
	s := consciousness.New()
	s.Threads.Open = []threads.Thread{{ID: "one", Concern: "x"}}
	for _, tc := range []struct {
		key  sexp.Symbol
		v    sexp.Value
		want string // part of the error; "" for none
	}{
		{"mood", "glad", ""}, {"mood", sexp.Symbol("glad"), ""}, {"mood", int64(3), "not a text"},
		{"confidence", int64(1), ""}, {"confidence", 1.5, "from 0 to 1"},
		{"chat-context-depth", 9.0, ""}, {"chat-context-depth", int64(0), "from 1"},
		{"active-thread", "one", ""}, {"active-thread", "two", "one"}, {"active-thread", sexp.Nil, ""},
		{"current-tick", int64(1), "derived"}, {"open-threads", sexp.Nil, "agent-create-thread"},
		{"moood", "x", "no field"},
	} {
		err := s.Set(tc.key, tc.v)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("Set %s %s: %v, want %q", tc.key, sexp.Print(tc.v), err, tc.want)
		}
	}
}

func TestOverruled(t *testing.T) {
	was, s := template(t), consciousness.New()
	s.Tick, s.Time, s.Mood = 9, time.Unix(0, 0), "new"
	now, err := consciousness.Splice(was, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(consciousness.Overruled(was, now), " "); got != "current-tick current-time" {
		t.Errorf("Overruled: %q", got)
	}
}

func FuzzSplice(f *testing.F) {
	f.Add(`((mood . "x"))`, "glad", 3)
	f.Add(`'((open-threads ((id . "a") (concern . "b"))) (x))`, "calm", 9)
	f.Add(string(template(f)), "new mood", 12)
	f.Fuzz(func(t *testing.T, src, mood string, tick int) {
		s, _, err := consciousness.Parse([]byte(src))
		if err != nil {
			return
		}
		s.Tick = tick & 0xffff
		if s.Set("mood", mood) != nil {
			return
		}
		out, err := consciousness.Splice([]byte(src), s)
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		again, _, err := consciousness.Parse(out)
		if err != nil {
			t.Fatalf("%q became unreadable: %q: %v", src, out, err)
		}
		if again.Mood != s.Mood || again.Tick != s.Tick || len(again.Threads.Open) != len(s.Threads.Open) {
			t.Fatalf("%q: read back %+v, want %+v", out, again, s)
		}
	})
}
