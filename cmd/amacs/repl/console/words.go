package console

import "unicode"

// readline takes every letter outside ASCII for the edge of a word, so the
// words are found here.

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}

// wordLeft is the beginning of the word at or before pos.
func wordLeft(line []rune, pos int) int {
	for pos > 0 && !inWord(line[pos-1]) {
		pos--
	}
	for pos > 0 && inWord(line[pos-1]) {
		pos--
	}
	return pos
}

// wordRight is the end of the word at or after pos.
func wordRight(line []rune, pos int) int {
	for pos < len(line) && !inWord(line[pos]) {
		pos++
	}
	for pos < len(line) && inWord(line[pos]) {
		pos++
	}
	return pos
}
