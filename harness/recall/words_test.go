package recall

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// shown is the words of a text: those that stand whole in brackets.
func shown(text string) string {
	var out []string
	for _, w := range words(text) {
		if w.whole {
			out = append(out, "["+w.term+"]")
		} else {
			out = append(out, w.term)
		}
	}
	return strings.Join(out, " ")
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"What did we decide about the deployments?": "decid deploy",
		"is_ready":                    "readi [isreadi]",
		"homeDir":                     "home dir [homedir]",
		"HTTPServer":                  "http server [httpserver]",
		"well-kept":                   "well kept [wellkept]",
		"harness/home/lock.go":        "har home lock go [lock.go] [harness/home/lock.go]",
		"Go 1.26.8":                   "go [1.26] [1.26.8]",
		"v1.26":                       "[1.26]",
		"on 2026-11-21.":              "2026 [2026-11] [2026-11-21]",
		"at 10:30":                    "[10:30]",
		"1,000 lines":                 "1000 line",
		"don't can't":                 "",
		"Anna's O'Brien":              "anna obrien",
		"café CAFÉ":                   "cafe cafe",
		"Ёлка и ёлка":                 "елка и елка",
		"ΛΌΓΟΣ λόγος":                 "λογοσ λογοσ",
		"東京都 and 京":                   "東京 京都 京",
		"c++ and C#":                  "c [c++] c [c#]",
		"std::vector":                 "std vector [std::vector]",
		"https://example.com/a_b?x=y": "http exampl com [example.com] b [ab] [example.com/a_b] x y",
		"k3f":                         "k3f",
		"--dry-run":                   "dry run [dryrun]",
		"see URLs, APIs":              "see url api",
		"\xff\xfe broken \xf0":        "broken",
		"f#\xfe":                      "f [f#]",
		"a.b..c":                      "b [a.b] c",
	} {
		if got := shown(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	for _, pair := range strings.Fields(`caresses:caress ponies:poni cats:cat feed:feed agreed:agre plastered:plaster bled:bled
		motoring:motor sing:sing conflated:conflat troubled:troubl sized:size hopping:hop tanned:tan falling:fall hissing:hiss
		fizzed:fizz failing:fail filing:file happy:happi sky:sky relational:relat conditional:condit rational:ration
		digitizer:digit vietnamization:vietnam predication:predic operator:oper feudalism:feudal decisiveness:decis
		hopefulness:hope callousness:callous formality:formal sensitivity:sensit triplicate:triplic formative:form
		formalize:formal electrical:electr goodness:good revival:reviv allowance:allow inference:infer airliner:airlin
		adjustable:adjust defensible:defens irritant:irrit replacement:replac adjustment:adjust dependent:depend
		adoption:adopt communism:commun activate:activ angularity:angular effective:effect bowdlerize:bowdler probate:probat
		rate:rate cease:ceas controll:control roll:roll generalizations:gener oscillators:oscil by:by`) {
		in, want, _ := strings.Cut(pair, ":")
		if got := stem(in); got != want {
			t.Errorf("stem(%q) = %q, want %q", in, got, want)
		}
	}
}

// A text and its terms again must be found by each other: what is split once
// into plain words is not split otherwise in a query.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"homeDir is_ready", "1.26.8", "東京都", "don't\xff", "a::b.c/d-e", "İ'ß"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := 0
		for _, w := range words(text) {
			if w.term == "" || len(w.term) > maxTerm+2 || !utf8.ValidString(w.term) {
				t.Fatalf("%q gives the term %q", text, w.term)
			}
			if w.place < 0 || w.place > len(text) || !w.whole && w.place < last {
				t.Fatalf("%q puts %q at %d after %d", text, w.term, w.place, last)
			}
			if !w.whole {
				last = w.place
			}
		}
		if a, b := fmt.Sprint(words(text)), fmt.Sprint(words("  "+text+" ")); a != b {
			t.Fatalf("%q: with spaces around it %s, else %s", text, b, a)
		}
	})
}
