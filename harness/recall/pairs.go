package recall

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Duplicate tells how surely two texts say the same, from 0 to 1, by their
// words alone. It proposes; it never decides.
func Duplicate(a, b string) float64 {
	x, y := statementOf(a), statementOf(b)
	if x.plain == y.plain {
		return 1
	}
	same := alike(x, y)
	return same * (1 - 0.8*conflict(x, y))
}

// Contradiction tells how surely two texts can not both be true, from 0 to 1,
// by their words alone: one denies what the other says, says the opposite word,
// or names another number, date or version for the same thing. It proposes; it
// never decides.
func Contradiction(a, b string) float64 {
	x, y := statementOf(a), statementOf(b)
	if x.plain == y.plain {
		return 0
	}
	about := subject(x, y)
	return conflict(x, y) * min(1, max(0, (about-0.15)/0.45))
}

// statement is a text as pairs are compared.
type statement struct {
	plain   string          // small letters, single spaces, no punctuation
	words   map[string]bool // stems, without stop words and negations
	numbers map[string]bool
	small   map[string]bool // up, in, off: stop words that have an opposite
	denied  bool
}

func statementOf(text string) statement {
	s := statement{words: map[string]bool{}, numbers: map[string]bool{}, small: map[string]bool{}}
	var plain []string
	for _, f := range strings.Fields(foldAll(text)) {
		f = strings.Trim(f, `.,;:!?"'()[]{}<>`+"`")
		if f == "" {
			continue
		}
		plain = append(plain, f)
		bare := strings.NewReplacer("'", "", "’", "").Replace(f)
		switch {
		case negations[bare]:
			s.denied = !s.denied
		case stop[bare]:
			s.small[bare] = true
		}
	}
	s.plain = strings.Join(plain, " ")
	for _, w := range words(text) {
		switch {
		case w.term == "":
		case strings.ContainsAny(w.term, "0123456789"):
			if w.whole || len(s.numbers) == 0 || !wholeHas(s.numbers, w.term) {
				s.numbers[w.term] = true
			}
		case w.whole, negations[w.term], emptyWords[w.term]:
		default:
			s.words[w.term] = true
		}
	}
	for w := range s.words {
		if n := counted[w]; n != "" {
			delete(s.words, w)
			s.numbers[n] = true
		}
	}
	return s
}

// emptyWords are the stems of words that say nothing of the subject and stand
// with a denial.
var emptyWords = map[string]bool{"longer": true, "anymor": true, "anyon": true, "anyth": true, "someon": true, "someth": true,
	"nobodi": true, "noth": true, "stop": true, "lack": true, "ani": true}

var counted = map[string]string{"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
	"eight": "8", "nine": "9", "ten": "10", "twelv": "12"}

// wholeHas says that a part belongs to a version or date that is there whole.
func wholeHas(numbers map[string]bool, part string) bool {
	for n := range numbers {
		if n != part && strings.HasPrefix(n, part) {
			return true
		}
	}
	return false
}

// alike is how much of the words of both is in both; a word that is nearly the
// same counts for its likeness.
func alike(x, y statement) float64 {
	total := float64(len(x.words) + len(y.words) + len(x.numbers) + len(y.numbers))
	if total == 0 {
		return 0
	}
	return 2 * (shared(x.words, y.words) + overlap(x.numbers, y.numbers)) / total
}

// subject is how surely two statements are about one thing: their words without
// those that are opposite, and of the shorter text more than of the longer.
func subject(x, y statement) float64 {
	both := shared(x.words, y.words)
	n, m := float64(len(x.words)), float64(len(y.words))
	for a := range x.words {
		for b := range y.words {
			if opposites[[2]string{a, b}] {
				n, m = n-1, m-1
			}
		}
	}
	if n < 1 || m < 1 {
		return 0
	}
	dice, part := 2*both/(n+m), both/min(n, m)
	return min(1, 0.5*dice+0.5*part)
}

// conflict is how strongly the statements differ on what they are about.
func conflict(x, y statement) (c float64) {
	if x.denied != y.denied {
		c = 1
	}
	for a := range x.words {
		for b := range y.words {
			if !x.words[b] && !y.words[a] && opposites[[2]string{a, b}] {
				c = max(c, 0.9)
			}
		}
	}
	for a := range x.small {
		for b := range y.small {
			if !x.small[b] && !y.small[a] && opposites[[2]string{a, b}] {
				c = max(c, 0.6)
			}
		}
	}
	if differ(x.numbers, y.numbers) {
		c = max(c, 0.8)
	}
	if x.denied && y.denied {
		c *= 0.5
	}
	return c
}

// differ says that each has a number that the other has not.
func differ(x, y map[string]bool) bool {
	n := overlap(x, y)
	return n < float64(len(x)) && n < float64(len(y))
}

func overlap(x, y map[string]bool) (n float64) {
	for w := range x {
		if y[w] {
			n++
		}
	}
	return n
}

// leastLike is the likeness of two words that may be one, misspelt or of one
// family.
const leastLike = 0.6

// shared is how many words both have.
func shared(x, y map[string]bool) float64 {
	n := overlap(x, y)
	return n + (nearly(x, y)+nearly(y, x))/2
}

// nearly adds up the likeness of the words of x that y has only nearly.
func nearly(x, y map[string]bool) (n float64) {
	for _, a := range slices.Sorted(maps.Keys(x)) {
		best := 0.0
		for b := range y {
			if !y[a] && !x[b] {
				best = max(best, kin(a, b))
			}
		}
		if best >= leastLike {
			n += best
		}
	}
	return n
}

// kin is the likeness of two words by their pairs of letters (Dice).
func kin(a, b string) float64 {
	if len(a) < 4 || len(b) < 4 || math.Abs(float64(len(a)-len(b))) > 4 {
		return 0
	}
	pairs := map[string]int{}
	for i := range len(a) - 1 {
		pairs[a[i:i+2]]++
	}
	same := 0
	for i := range len(b) - 1 {
		if pairs[b[i:i+2]] > 0 {
			pairs[b[i:i+2]]--
			same++
		}
	}
	return 2 * float64(same) / float64(len(a)+len(b)-2)
}
