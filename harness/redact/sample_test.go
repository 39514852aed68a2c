package redact

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// sampleOf draws a text that the regexp source describes.
func sampleOf(source string, r *rand.Rand) string {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	draw(&b, parsed.Simplify(), r)
	return b.String()
}

func draw(b *strings.Builder, e *syntax.Regexp, r *rand.Rand) {
	times := func(low, high int) {
		for range low + r.IntN(high-low+1) {
			draw(b, e.Sub[0], r)
		}
	}
	switch e.Op {
	case syntax.OpLiteral:
		b.WriteString(string(e.Rune))
	case syntax.OpCharClass:
		b.WriteRune(drawRune(e.Rune, r))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpConcat:
		for _, sub := range e.Sub {
			draw(b, sub, r)
		}
	case syntax.OpAlternate:
		draw(b, e.Sub[r.IntN(len(e.Sub))], r)
	case syntax.OpCapture:
		draw(b, e.Sub[0], r)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpStar:
		times(0, 8)
	case syntax.OpPlus:
		times(1, 9)
	case syntax.OpRepeat:
		high := e.Max
		if high < 0 {
			high = e.Min + 12
		}
		times(e.Min, high)
	}
}

// drawRune draws one of the ranges' characters, of ASCII letters and digits
// where there are any.
func drawRune(ranges []rune, r *rand.Rand) rune {
	var all, best []rune
	for i := 0; i < len(ranges); i += 2 {
		for c := ranges[i]; c <= min(ranges[i+1], 0x7e); c++ {
			all = append(all, c)
			if isLetter(byte(c)) || isDigit(byte(c)) {
				best = append(best, c)
			}
		}
	}
	if len(best) > 0 && (len(best) == len(all) || r.IntN(12) > 0) {
		return best[r.IntN(len(best))]
	}
	return all[r.IntN(len(all))]
}
