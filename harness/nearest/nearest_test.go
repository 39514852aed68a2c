package nearest

import (
	"slices"
	"strings"
	"testing"
)

func TestNames(t *testing.T) {
	from := []string{"agent-create-thread", "agent-create-skill", "agent-recall", "agent-remember", "agent-log", "car", "cdr", "mapcar", "Mood", "car"}
	for _, c := range []struct {
		word string
		n    int
		want string
	}{
		{"agent-recal", 3, "agent-recall"},
		{"create-thread", 3, "agent-create-thread"},
		{"agent-create", 3, "agent-create-skill agent-create-thread"},
		{"agent-create", 1, "agent-create-skill"},
		{"AGENT-RECALL", 3, "agent-recall"},
		{"caar", 3, "car"},
		{"mood", 3, "Mood"},
		{"car", 9, "car cdr mapcar"},
		{"my-mapcar", 3, "mapcar car"},
		{"xyzzy", 3, ""}, {"", 3, ""}, {"c", 3, ""}, {"car", 0, ""}, {"car", -1, ""},
		{strings.Repeat("car", 1000), 3, ""},
		{"mémoire", 3, ""},
	} {
		if got := Names(c.word, from, c.n); !slices.Equal(got, strings.Fields(c.want)) {
			t.Errorf("Names(%.40q, %d) = %q, want %q", c.word, c.n, got, c.want)
		}
	}
}
