package consciousness_test

import (
	"strings"
	"testing"

	"amacs/consciousness"
)

func TestWithTick(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"((current-tick . 3) ; mine\n (mood . \"x\"))\n", "((current-tick . 45) ; mine\n (mood . \"x\"))\n"},
		{"; a\n(setq agent-consciousness '((current-tick . 45)))", "; a\n(setq agent-consciousness '((current-tick . 45)))"},
	} {
		got, err := consciousness.WithTick([]byte(c.src), 45)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v", c.src, got, err)
		}
	}
	got, err := consciousness.WithTick([]byte("((mood . \"x\"))"), 45)
	if err != nil || !strings.Contains(string(got), "(current-tick . 45)") {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := consciousness.WithTick([]byte("((mood"), 45); err == nil {
		t.Error("a broken file was changed")
	}
}
