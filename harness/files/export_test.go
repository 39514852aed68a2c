package files

import (
	"fmt"
	"strings"
	"testing"
)

// CheckLines compares the lines that are found with those that match one by
// one.
func CheckLines(t *testing.T, pattern, text string) {
	w, err := compile(Query{Pattern: pattern})
	if err != nil {
		return
	}
	var got, want []string
	w.lines([]byte(text), func(start, end, at int) bool {
		got = append(got, fmt.Sprintf("%q", text[start:end]))
		return true
	})
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); w.re.MatchString(line) {
			want = append(want, fmt.Sprintf("%q", line))
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q finds %v, and %v match", pattern, got, want)
	}
}
