package redact

// words finds many words in a text in one pass, without regard to the case of
// ASCII letters: A. V. Aho, M. J. Corasick, Efficient String Matching, 1975.
type words struct {
	class [256]uint8 // of a byte: 0 is any that no word has
	width int        // number of classes
	next  []int32    // state × class → state
	ends  [][]int32  // of a state: the words that end there
	list  []string
}

// newWords prepares the search for the words of list, given in lower case.
func newWords(list []string) *words {
	w := &words{width: 1, list: list}
	for _, word := range list {
		for i := range len(word) {
			if c := word[i]; w.class[c] == 0 {
				w.class[c] = uint8(w.width)
				w.width++
			}
		}
	}
	for c := byte('a'); c <= 'z'; c++ {
		w.class[c-'a'+'A'] = w.class[c]
	}
	w.grow()
	for n, word := range list {
		at := int32(0)
		for i := range len(word) {
			edge := int(at)*w.width + int(w.class[word[i]])
			if w.next[edge] == 0 {
				w.next[edge] = int32(len(w.ends))
				w.grow()
			}
			at = w.next[edge]
		}
		w.ends[at] = append(w.ends[at], int32(n))
	}
	w.fall()
	return w
}

// grow adds a state.
func (w *words) grow() {
	w.next = append(w.next, make([]int32, w.width)...)
	w.ends = append(w.ends, nil)
}

// fall fills the edges that no word has: they lead to the longest word begun
// within what was read.
func (w *words) fall() {
	back := make([]int32, len(w.ends))
	queue := []int32{}
	for _, to := range w.next[:w.width] {
		if to != 0 {
			queue = append(queue, to)
		}
	}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for c := range w.width {
			edge := int(at)*w.width + c
			other := w.next[int(back[at])*w.width+c]
			if to := w.next[edge]; to != 0 {
				back[to] = other
				w.ends[to] = append(w.ends[to], w.ends[other]...)
				queue = append(queue, to)
			} else {
				w.next[edge] = other
			}
		}
	}
}

// each calls f for each word in s, by the place of its last byte, with the
// word's number and where it begins.
func (w *words) each(s string, f func(word, start int)) {
	at := 0
	for i := range len(s) {
		at = int(w.next[at*w.width+int(w.class[s[i]])])
		for _, n := range w.ends[at] {
			f(int(n), i+1-len(w.list[n]))
		}
	}
}

// in says whether one of the words is in s.
func (w *words) in(s string) bool {
	at := 0
	for i := range len(s) {
		at = int(w.next[at*w.width+int(w.class[s[i]])])
		if len(w.ends[at]) > 0 {
			return true
		}
	}
	return false
}
