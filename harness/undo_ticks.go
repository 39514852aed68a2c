package harness

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// runs parts ascending ticks into stretches without a gap: first and last.
func runs(ticks []int) (out [][2]int) {
	for _, t := range ticks {
		if n := len(out); n > 0 && t <= out[n-1][1]+1 {
			out[n-1][1] = t
		} else {
			out = append(out, [2]int{t, t})
		}
	}
	return out
}

// TickWords names ascending ticks for a human: "tick 3 and 43 to 45".
func TickWords(ticks []int) string {
	var parts []string
	for _, r := range runs(ticks) {
		if r[0] == r[1] {
			parts = append(parts, strconv.Itoa(r[0]))
		} else {
			parts = append(parts, fmt.Sprintf("%d to %d", r[0], r[1]))
		}
	}
	last := max(len(parts)-1, 0)
	if last > 0 {
		return "tick " + strings.Join(parts[:last], ", ") + " and " + parts[last]
	}
	return "tick " + strings.Join(parts, "")
}

// printTicks is "3,43-45"; readTicks reads that, and of a stretch at most
// mostTicks, whatever a hand has written.
func printTicks(ticks []int) string {
	var parts []string
	for _, r := range runs(ticks) {
		if r[0] == r[1] {
			parts = append(parts, strconv.Itoa(r[0]))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", r[0], r[1]))
		}
	}
	return strings.Join(parts, ",")
}

const mostTicks = 100_000

func readTicks(s string) (ticks []int) {
	for part := range strings.SplitSeq(s, ",") {
		first, last, _ := strings.Cut(part, "-")
		a, err := strconv.Atoi(first)
		b, _ := strconv.Atoi(cmp.Or(last, first))
		for b = min(b, a+mostTicks); err == nil && a <= b; a++ {
			ticks = append(ticks, a)
		}
	}
	return ticks
}
