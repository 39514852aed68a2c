package consciousness_test

import (
	"slices"
	"strings"
	"testing"

	"amacs/consciousness"
	"amacs/consciousness/sexp"
)

func read(t testing.TB, src string) sexp.Value {
	t.Helper()
	vs, err := sexp.ReadAll(src)
	if err != nil || len(vs) != 1 {
		t.Fatalf("%s: %v", src, err)
	}
	return vs[0]
}

// Numbers out of their range are clamped, and that is told; by agent-set and by
// a hand alike. What is no such value is refused.
func TestAPISettings(t *testing.T) {
	whole := func(api consciousness.API, change func(*consciousness.API)) consciousness.API {
		change(&api)
		return api
	}
	none := func(*consciousness.API) {}
	for _, tc := range []struct {
		given string
		want  func(*consciousness.API)
		told  []string
		err   string
	}{
		{"((temperature . 0.4) (top-p . 0.9) (top-k . 40) (thinking . t) (max-tokens . 100) (model . \"m-1\"))", func(a *consciousness.API) {
			*a = consciousness.API{Temperature: 0.4, TopP: 0.9, TopK: 40, Thinking: true, MaxTokens: 100, Model: "m-1"}
		}, nil, ""},
		{"((temperature . 7))", func(a *consciousness.API) { a.Temperature = 2 }, []string{"temperature: 7 is more than 2.0, using 2.0"}, ""},
		{"((temperature . -0.5) (top-p . 1.01))", func(a *consciousness.API) { a.Temperature = 0 },
			[]string{"temperature: -0.5 is less than 0.0, using 0.0", "top-p: 1.01 is more than 1.0, using 1.0"}, ""},
		{"((temperature . 1.0e+INF))", func(a *consciousness.API) { a.Temperature = 2 }, []string{"temperature: 1.0e+INF is more than 2.0, using 2.0"}, ""},
		{"((max-tokens . 0))", func(a *consciousness.API) { a.MaxTokens = 1 }, []string{"max-tokens: 0 is less than 1, using 1"}, ""},
		{"((max-tokens . 9000000000000000000))", func(a *consciousness.API) { a.MaxTokens = 32768 }, []string{"max-tokens: 9000000000000000000 is more than 32768, using 32768"}, ""},
		{"((max-tokens . 512.0))", func(a *consciousness.API) { a.MaxTokens = 512 }, nil, ""},
		{"((top-k . 0))", none, nil, ""},
		{"((top-k . -1))", none, []string{"top-k: -1 is less than 0, using 0"}, ""},
		{"((top-k . 5000))", func(a *consciousness.API) { a.TopK = 1000 }, []string{"top-k: 5000 is more than 1000, using 1000"}, ""},
		{"((model . vendor/large:7b))", func(a *consciousness.API) { a.Model = "vendor/large:7b" }, nil, ""},
		{"((model . \" \"))", none, nil, ""},
		{"((unknown . 3))", none, nil, ""},
		{"((temperature . \"hot\"))", none, nil, `temperature: "hot" is not a number from 0 to 2`},
		{"((temperature . 7) (max-tokens . 1.5))", none, nil, "max-tokens: 1.5 is not a whole number from 1 to 32768"},
		{"((top-p . 0.0e+NaN))", none, nil, "top-p"},
		{"((model . (1)))", none, nil, "model: (1) is not the name of a model"},
		{"((model . \"a\nb\"))", none, nil, "is not the name of a model"},
		{"7", none, nil, "7 is not an alist"},
	} {
		s := consciousness.New()
		want := whole(s.API, tc.want)
		v := read(t, tc.given)
		told := s.Clamps("api-settings", v)
		err := s.Set("api-settings", v)
		if s.API != want || !slices.Equal(told, tc.told) || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("set %s: %+v %q %v, want %+v %q %q", tc.given, s.API, told, err, want, tc.told, tc.err)
		}

		src := "((mood . \"x\") (api-settings . " + tc.given + ")) ; mine\n"
		hand, notes, err := consciousness.Parse([]byte(src))
		if err != nil || hand.API != want {
			t.Errorf("read %s: %+v %v, want %+v", src, hand.API, err, want)
		}
		wantNotes := slices.Clone(tc.told)
		if tc.err != "" {
			wantNotes = []string{tc.err}
		}
		if len(notes) != len(wantNotes) {
			t.Errorf("read %s: notes %q, want %q", src, notes, wantNotes)
			continue
		}
		for i, n := range notes {
			if !strings.HasPrefix(n, "api-settings: ") || !strings.Contains(n, wantNotes[i]) {
				t.Errorf("read %s: note %q, want %q", src, n, wantNotes[i])
			}
		}
		hand.Mood = "y" // another edit leaves what the hand wrote
		out, err := consciousness.Splice([]byte(src), hand)
		if err != nil || !strings.Contains(string(out), "(api-settings . "+tc.given+")") {
			t.Errorf("%s became %s (%v)", src, out, err)
		}
	}
}

// What is set is written, and read back the same.
func TestAPISettingsAreWritten(t *testing.T) {
	src := []byte("((api-settings . ((temperature . 9) ; too hot\n (top-k . 3) (model . nil))))")
	for _, given := range []string{"((top-k . nil))", "((model . \"m\") (top-k . 7))", "((temperature . 1.5))", "((model . nil))"} {
		s, _, err := consciousness.Parse(src)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Set("api-settings", read(t, given)); err != nil {
			t.Fatal(err)
		}
		if src, err = consciousness.Splice(src, s); err != nil {
			t.Fatal(err)
		}
		again, _, err := consciousness.Parse(src)
		if err != nil || again.API != s.API {
			t.Errorf("after %s: %+v, want %+v (%v) from\n%s", given, again.API, s.API, err, src)
		}
		if hot := strings.Contains(string(src), "(temperature . 9) ; too hot"); hot != (s.API.Temperature == 2) {
			t.Errorf("after %s: the hand's temperature stays: %v\n%s", given, hot, src)
		}
	}
	if !strings.Contains(string(src), "(temperature . 1.5) ; too hot\n (top-k . 7) (model . nil)") {
		t.Errorf("the layout has changed:\n%s", src)
	}
}
