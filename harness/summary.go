package harness

import (
	"fmt"
	"strings"
	"time"

	"amacs/harness/ledger"
)

// Summary tells of a conversation's ticks in a line, "" where there is nothing
// that its last reply does not show: "4 ticks in 12s: 2 files changed (main.go,
// main_test.go), 3 commands, 0.02 USD".
func Summary(ticks []Report, took time.Duration) string {
	var files []string
	ran, usd, priced := 0, 0.0, false
	for _, r := range ticks {
		for _, f := range r.Edited {
			if !strings.Contains(", "+strings.Join(files, ", ")+",", ", "+f+",") {
				files = append(files, f)
			}
		}
		ran += r.Ran
		if r.CostUSD != nil {
			usd, priced = usd+*r.CostUSD, priced || *r.CostUSD > 0
		}
	}
	if len(ticks) < 3 && len(files) == 0 && ran == 0 {
		return ""
	}
	s := fmt.Sprintf("%s in %s", Count(len(ticks), "tick"), took.Round(time.Second))
	var parts []string
	if len(files) > 0 {
		parts = append(parts, fmt.Sprintf("%s changed (%s)", Count(len(files), "file"), listed(files)))
	}
	if ran > 0 {
		parts = append(parts, Count(ran, "command"))
	}
	if priced {
		parts = append(parts, ledger.Dollars(usd))
	}
	if len(parts) > 0 {
		s += ": " + strings.Join(parts, ", ")
	}
	return s
}

// listed names some, and how many more there are.
func listed(names []string) string {
	if len(names) > 8 {
		names = append(names[:7:7], fmt.Sprintf("%d more", len(names)-7))
	}
	return strings.Join(names, ", ")
}

// Count is "1 line", "2 lines".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
