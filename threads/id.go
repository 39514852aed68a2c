package threads

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// An ID names a thread: in notes, in commit subjects and on the agent's tongue. It does not change.
type ID string

var (
	idRule = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,39}$`)
	notID  = regexp.MustCompile(`[^a-z0-9]+`)
	// reserved words say "no thread" in the files, in Lisp and in commit subjects.
	reserved = []string{"null", "nil", "no-thread"}
)

// ParseID accepts what can name a thread: a-z, 0-9 and hyphens, 40 at most, not beginning with a hyphen, and none of the words
// null, nil, no-thread. The error says the rule and, where one can be made from s, a fixed form.
func ParseID(s string) (ID, error) {
	if slices.Contains(reserved, s) {
		return "", fmt.Errorf("thread id %q means that there is no thread; choose another", s)
	}
	if !idRule.MatchString(s) {
		return "", fmt.Errorf("thread id %q: an id has lower-case letters a-z, digits and hyphens, begins with a letter or digit, and is at most 40 long%s", s, suggestion(s))
	}
	return ID(s), nil
}

// suggestion makes of "Rust Debugging" the words `; try "rust-debugging"`, or nothing where no id would be left.
func suggestion(s string) string {
	fixed := strings.Trim(notID.ReplaceAllString(strings.ToLower(s), "-"), "-")
	if len(fixed) > 40 {
		fixed = strings.Trim(fixed[:40], "-")
	}
	if fixed == "" || slices.Contains(reserved, fixed) {
		return ""
	}
	return fmt.Sprintf("; try %q", fixed)
}
