package files

import (
	"fmt"
	"strings"
	"unicode"
)

const (
	alike    = 0.5 // share of pairs of characters that two lines must have in common
	compared = 500 // characters of a line that are looked at
)

// nearest says where in text stands what is most like old, and how the first
// line that differs does so; "" where nothing is like it.
func nearest(text, old string) string {
	want := strings.Split(strings.Trim(old, "\n"), "\n")
	have := strings.Split(text, "\n")
	// The longest line is the one to look for: short ones are everywhere.
	key := 0
	for i, line := range want {
		if len(strings.TrimSpace(line)) > len(strings.TrimSpace(want[key])) {
			key = i
		}
	}
	pairs, best, most := pairsOf(want[key]), -1, alike
	for i, line := range have {
		if s := pairs.like(line); s > most {
			best, most = i, s
		}
	}
	if best < 0 {
		return ""
	}
	from := max(best-key, 0)
	to := min(from+len(want), len(have))
	var b strings.Builder
	fmt.Fprintf(&b, "; nearest to it, from line %d on:", from+1)
	first := ""
	for i := from; i < to; i++ {
		if i-from < 5 || i == best {
			fmt.Fprintf(&b, "\n%6d  %s", i+1, window(strings.ToValidUTF8(have[i], "\uFFFD"), 0))
		}
		if first == "" && have[i] != want[i-from] {
			first = differs(i+1, have[i], want[i-from])
		}
	}
	if first == "" {
		first = "the lines are alike, and what comes before or after them is not"
	}
	return b.String() + "\n" + first
}

// differs says how a line of the file is not the line that was looked for.
func differs(n int, have, want string) string {
	h, w := indent(have), indent(want)
	hb, wb := strings.TrimSpace(have), strings.TrimSpace(want)
	switch {
	case hb == wb && h != w:
		return fmt.Sprintf("line %d begins with %q in the file, with %q in the text looked for", n, h, w)
	case hb == wb:
		return fmt.Sprintf("line %d ends with %q in the file, with %q in the text looked for", n, trailing(have), trailing(want))
	case strings.Join(strings.Fields(hb), " ") == strings.Join(strings.Fields(wb), " "):
		return fmt.Sprintf("line %d has other white space within: %q in the file", n, window(hb, 0))
	case strings.EqualFold(hb, wb):
		return fmt.Sprintf("line %d differs in upper and lower case", n)
	}
	return fmt.Sprintf("line %d differs; looked for: %s", n, window(want, 0))
}

func indent(s string) string { return s[:len(s)-len(strings.TrimLeftFunc(s, unicode.IsSpace))] }

func trailing(s string) string { return s[len(strings.TrimRightFunc(s, unicode.IsSpace)):] }

// bigrams counts the pairs of neighbouring bytes of a line, white space apart.
type bigrams struct {
	n     map[[2]byte]int
	total int
}

func pairsOf(line string) bigrams {
	b := bigrams{n: map[[2]byte]int{}}
	eachPair(line, func(p [2]byte) {
		b.n[p]++
		b.total++
	})
	return b
}

func eachPair(line string, yield func([2]byte)) {
	last := byte(0)
	for _, c := range []byte(line[:min(len(line), compared)]) {
		if c == ' ' || c == '\t' || c == '\r' {
			continue
		}
		yield([2]byte{last, c})
		last = c
	}
}

// like is the Dice coefficient of two lines, 0 to 1.
func (b bigrams) like(line string) float64 {
	if n := len(line); b.total == 0 || n == 0 || n > 8*(b.total+8) && n > compared {
		return 0
	}
	seen := map[[2]byte]int{}
	total, same := 0, 0
	eachPair(line, func(p [2]byte) {
		total++
		if b.n[p] > 0 {
			if seen[p]++; seen[p] <= b.n[p] {
				same++
			}
		}
	})
	if total == 0 {
		return 0
	}
	return 2 * float64(same) / float64(total+b.total)
}
