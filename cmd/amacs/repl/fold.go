package repl

import (
	"strings"
	"unicode/utf8"
)

// fold breaks lines longer than width at spaces, where there are any. It counts
// characters: amacs' own sentences have few wide ones.
func fold(text string, width int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		column := 0
		for i, word := range strings.Split(line, " ") {
			n := utf8.RuneCountInString(strings.TrimSuffix(word, "\n"))
			switch {
			case i == 0:
			case column > 0 && column+1+n > width:
				out.WriteByte('\n')
				column = 0
			default:
				out.WriteByte(' ')
				column++
			}
			out.WriteString(word)
			column += n
		}
	}
	return out.String()
}
