package journal

import (
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSubjects(t *testing.T) {
	for _, c := range []struct {
		tick                      int
		thread, mood, text, want  string
		backThread, backMood, txt string
	}{
		{42, "rust-debugging", "focused", "Fixed the borrow checker issue", "[TICK 42][rust-debugging][focused] Fixed the borrow checker issue", "rust-debugging", "focused", "Fixed the borrow checker issue"},
		{0, "", "", "", "[TICK 0][no-thread][no-mood]", "", "", ""},
		{7, "a", "calm [ish]", "x\ny\tz", "[TICK 7][a][calm (ish)] x y z", "a", "calm (ish)", "x y z"},
		{7, "a", "🦀🔥", " [EDIT] not", "[TICK 7][a][🦀🔥] [EDIT] not", "a", "🦀🔥", "[EDIT] not"},
		{7, "a", "\xff\x00", "b\xfe", "[TICK 7][a][\uFFFD] b\uFFFD", "a", "\uFFFD", "b\uFFFD"},
	} {
		got := TickSubject(c.tick, c.thread, c.mood, c.text)
		if got != c.want {
			t.Errorf("TickSubject = %q, want %q", got, c.want)
		}
		e, ok := ParseSubject(got)
		if !ok || e.Kind != "TICK" || e.Tick != c.tick || !e.HasTick || e.Thread != c.backThread || e.Mood != c.backMood || e.Text != c.txt {
			t.Errorf("ParseSubject(%q) = %+v, %v", got, e, ok)
		}
	}
	if s := TickSubject(1, "t", "m", strings.Repeat("é", 500)); utf8.RuneCountInString(s) != maxSubject || !strings.HasSuffix(s, "…") {
		t.Errorf("a long subject has %d runes", utf8.RuneCountInString(s))
	}
}

func TestParseSubject(t *testing.T) {
	for s, want := range map[string]Entry{
		"[EDIT] a, b": {Kind: "EDIT", Text: "a, b"},
		"[UNDO]":      {Kind: "UNDO"},
		"Tick 42 ‖ rust ‖ deep focus ‖ 0.85 ‖ did ‖ it": {Kind: "TICK", Tick: 42, HasTick: true, Thread: "rust", Mood: "deep focus", Text: "did ‖ it"},
		"Tick 0 ‖ no-thread ‖ awakening ‖ 0.50 ‖ First": {Kind: "TICK", HasTick: true, Mood: "awakening", Text: "First"},
	} {
		e, ok := ParseSubject(s)
		if !ok || e.Kind != want.Kind || e.Tick != want.Tick || e.HasTick != want.HasTick || e.Thread != want.Thread || e.Mood != want.Mood || e.Text != want.Text {
			t.Errorf("ParseSubject(%q) = %+v, %v", s, e, ok)
		}
	}
	for _, s := range []string{"", "fix", "[FOO] x", "[edit] x", "[EDIT]x", "[TICK] x", "[TICK 4] x", "[TICK 04][a][b] x", "[TICK -1][a][b] x",
		"[TICK 4][a] x", "[TICK 4][][b] x", "[TICK 4][a][b]x", " [EDIT] x", "[TICK 99999999999999999999][a][b] x", "Tick 4 ‖ a"} {
		if e, ok := ParseSubject(s); ok || e.Kind != "" || e.Text != s {
			t.Errorf("ParseSubject(%q) = %+v, %v, want none", s, e, ok)
		}
	}
}

func TestKinds(t *testing.T) {
	for _, k := range Kinds() {
		if k.Meaning() == "" {
			t.Errorf("%s has no meaning", k)
		}
		if e, ok := ParseSubject(Subject(k, "text")); ok != (k != "TICK") || ok && e.Kind != k {
			t.Errorf("Subject(%s) reads back as %+v, %v", k, e, ok)
		}
	}
	if Kind("FOO").Meaning() != "" {
		t.Error("an unknown kind has a meaning")
	}
}

var messages = []struct {
	body     string
	trailers []Trailer
}{
	{"", nil},
	{"(+ 1 2)\n=> 3", []Trailer{{"Tick", "4"}, {"Tick-Id", "x y"}}},
	{"Note: this is prose\nKey : also", nil},
	{"a\n\nFixes: b", []Trailer{{"Mood", "a\nb"}, {"Empty", " "}}},
	{"---\ndiff\n--- a/x", []Trailer{{"Outcome", "ok"}}},
	{"x\n\n# ------------------------ >8 ------------------------\ny", []Trailer{{"Outcome", "ok"}}},
	{"\n\n  indented\r\nwin\x00dows\x1b[31m \n\n", []Trailer{{"Cost-USD", "0.01"}}},
	{"Signed-off-by: A <a@b>\n(cherry picked from commit 123)", nil},
	{"bad \xff utf8", []Trailer{{"T", "\xff: x"}}},
}

// git reads the trailers that were written, all of them and no others.
func TestTrailersAgreeWithGit(t *testing.T) {
	needGit(t)
	for _, m := range messages {
		msg, err := formatMessage("[EDIT] x", m.body, m.trailers)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "interpret-trailers", "--parse")
		cmd.Stdin = strings.NewReader(msg)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		var want strings.Builder
		e := parseMessage(msg)
		for _, tr := range m.trailers {
			if v, ok := e.Trailers[tr.Key]; ok {
				want.WriteString(tr.Key + ": " + v + "\n")
			}
		}
		if string(out) != want.String() {
			t.Errorf("git reads %q of\n%s\nwant %q", out, msg, want.String())
		}
	}
}

func TestMessageRefusals(t *testing.T) {
	for _, s := range []string{"", "hello", "[EDIT] a\nb", "[EDIT] " + strings.Repeat("x", 300), "[TICK] x", "Tick 42 ‖ a ‖ b ‖ 0.85 ‖ c"} {
		if _, err := formatMessage(s, "", nil); err == nil {
			t.Errorf("subject %q was accepted", s)
		}
	}
	for _, k := range []string{"", "a b", "a:", "ä", "-x", "a\nb"} {
		if _, err := formatMessage("[EDIT] x", "", []Trailer{{k, "v"}}); err == nil {
			t.Errorf("trailer key %q was accepted", k)
		}
	}
}

// What is written reads back, and writing what was read changes nothing.
func FuzzMessage(f *testing.F) {
	for _, m := range messages {
		value := ""
		for _, tr := range m.trailers {
			value += tr.Value
		}
		f.Add(m.body, value)
	}
	f.Fuzz(func(t *testing.T, body, value string) {
		trailers := []Trailer{{"Outcome", value}}
		msg, err := formatMessage("[EDIT] x", body, trailers)
		if err != nil {
			t.Fatal(err)
		}
		e := parseMessage(msg)
		if e.Subject != "[EDIT] x" || e.Body != cleanBody(body, e.Trailers == nil) {
			t.Fatalf("read back %+v from %q", e, msg)
		}
		if v := fold(value); e.Trailers["Outcome"] != v || (v != "") != (e.Trailers != nil) {
			t.Fatalf("trailers %v from %q", e.Trailers, msg)
		}
		var back []Trailer
		for _, k := range slices.Sorted(maps.Keys(e.Trailers)) {
			back = append(back, Trailer{k, e.Trailers[k]})
		}
		if again, err := formatMessage(e.Subject, e.Body, back); err != nil || again != msg {
			t.Fatalf("second writing %q, first %q (%v)", again, msg, err)
		}
	})
}

func FuzzSubject(f *testing.F) {
	f.Add(1, "a", "b", "c")
	f.Add(0, "[x]", "\n", "‖")
	f.Fuzz(func(t *testing.T, tick int, thread, mood, text string) {
		s := TickSubject(tick, thread, mood, text)
		e, ok := ParseSubject(s)
		if !ok || e.Tick != max(tick, 0) || strings.ContainsAny(s, "\n\r\x00") || utf8.RuneCountInString(s) > maxSubject {
			t.Fatalf("%q reads back as %+v, %v", s, e, ok)
		}
		if again := TickSubject(e.Tick, e.Thread, e.Mood, e.Text); again != s {
			t.Fatalf("second writing %q, first %q", again, s)
		}
		ParseSubject(text)
	})
}
