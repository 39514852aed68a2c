package recall

// stem takes the endings of an English word off, so that "deploy", "deployed"
// and "deploying" are one word (M. F. Porter, "An algorithm for suffix
// stripping", Program 14, 1980). The word is of the letters a to z; what is
// shorter than three letters stays.
func stem(word string) string {
	if len(word) < 3 {
		return word
	}
	s := stemmer{b: []byte(word)}
	s.plural()
	s.past()
	s.finalY()
	s.endings(step2)
	s.endings(step3)
	s.residue()
	s.finalE()
	return string(s.b)
}

// stemmer is a word on its way; j is where the ending begins that was asked for
// last.
type stemmer struct {
	b []byte
	j int
}

func (s *stemmer) consonant(i int) bool {
	switch s.b[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !s.consonant(i-1)
	}
	return true
}

// measure is the number of vowel-consonant sequences before the ending.
func (s *stemmer) measure() (m int) {
	i := 0
	for i < s.j && s.consonant(i) {
		i++
	}
	for i < s.j {
		for i < s.j && !s.consonant(i) {
			i++
		}
		if i == s.j {
			break
		}
		for i < s.j && s.consonant(i) {
			i++
		}
		m++
	}
	return m
}

func (s *stemmer) vowel() bool {
	for i := range s.j {
		if !s.consonant(i) {
			return true
		}
	}
	return false
}

func (s *stemmer) double() bool {
	n := len(s.b)
	return n > 1 && s.b[n-1] == s.b[n-2] && s.consonant(n-1)
}

// short says that the part before n ends in consonant, vowel, consonant, and
// not in w, x or y.
func (s *stemmer) short(n int) bool {
	if n < 3 || !s.consonant(n-1) || s.consonant(n-2) || !s.consonant(n-3) {
		return false
	}
	last := s.b[n-1]
	return last != 'w' && last != 'x' && last != 'y'
}

func (s *stemmer) ends(suffix string) bool {
	j := len(s.b) - len(suffix)
	if j < 0 || string(s.b[j:]) != suffix {
		return false
	}
	s.j = j
	return true
}

func (s *stemmer) set(with string) { s.b = append(s.b[:s.j], with...) }

// plural is step 1a.
func (s *stemmer) plural() {
	switch {
	case s.ends("sses"):
		s.set("ss")
	case s.ends("ies"):
		s.set("i")
	case s.ends("ss"):
	case s.ends("s"):
		s.set("")
	}
}

// past is step 1b.
func (s *stemmer) past() {
	if s.ends("eed") {
		if s.measure() > 0 {
			s.set("ee")
		}
		return
	}
	if !(s.ends("ed") && s.vowel()) && !(s.ends("ing") && s.vowel()) {
		return
	}
	s.set("")
	switch {
	case s.ends("at"), s.ends("bl"), s.ends("iz"):
		s.b = append(s.b, 'e')
	case s.double():
		if last := s.b[len(s.b)-1]; last != 'l' && last != 's' && last != 'z' {
			s.b = s.b[:len(s.b)-1]
		}
	default:
		s.j = len(s.b)
		if s.measure() == 1 && s.short(len(s.b)) {
			s.b = append(s.b, 'e')
		}
	}
}

// finalY is step 1c.
func (s *stemmer) finalY() {
	if s.ends("y") && s.vowel() {
		s.set("i")
	}
}

// ending is a suffix and what stands in its place; a longer one that has
// another as its end comes first.
type ending struct{ suffix, with string }

var step2 = []ending{
	{"ational", "ate"}, {"tional", "tion"}, {"enci", "ence"}, {"anci", "ance"}, {"izer", "ize"}, {"bli", "ble"},
	{"alli", "al"}, {"entli", "ent"}, {"eli", "e"}, {"ousli", "ous"}, {"ization", "ize"}, {"ation", "ate"},
	{"ator", "ate"}, {"alism", "al"}, {"iveness", "ive"}, {"fulness", "ful"}, {"ousness", "ous"}, {"aliti", "al"},
	{"iviti", "ive"}, {"biliti", "ble"}, {"logi", "log"},
}

var step3 = []ending{
	{"icate", "ic"}, {"ative", ""}, {"alize", "al"}, {"iciti", "ic"}, {"ical", "ic"}, {"ful", ""}, {"ness", ""},
}

func (s *stemmer) endings(table []ending) {
	for _, e := range table {
		if s.ends(e.suffix) {
			if s.measure() > 0 {
				s.set(e.with)
			}
			return
		}
	}
}

var step4 = []string{"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
	"ate", "iti", "ous", "ive", "ize"}

// residue is step 4.
func (s *stemmer) residue() {
	for _, suffix := range step4 {
		if !s.ends(suffix) {
			continue
		}
		if suffix == "ion" && (s.j == 0 || s.b[s.j-1] != 's' && s.b[s.j-1] != 't') {
			return
		}
		if s.measure() > 1 {
			s.set("")
		}
		return
	}
}

// finalE is step 5.
func (s *stemmer) finalE() {
	if s.ends("e") {
		if m := s.measure(); m > 1 || m == 1 && !s.short(s.j) {
			s.set("")
		}
	}
	s.j = len(s.b)
	if s.double() && s.b[len(s.b)-1] == 'l' && s.measure() > 1 {
		s.b = s.b[:len(s.b)-1]
	}
}
