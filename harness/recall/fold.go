package recall

import "unicode"

// folded are letters with a mark, row by row, and the plain letter that they
// are found under.
var folded = func() map[rune]rune {
	out := map[rune]rune{}
	for plain, marked := range map[rune]string{
		'a': "àáâãäåāăą", 'c': "çćĉċč", 'd': "ďđ", 'e': "èéêëēĕėęě", 'g': "ĝğġģ", 'h': "ĥħ", 'i': "ìíîïĩīĭįı", 'j': "ĵ",
		'k': "ķ", 'l': "ĺļľŀł", 'n': "ñńņňŉ", 'o': "òóôõöøōŏő", 'r': "ŕŗř", 's': "śŝşšș", 't': "ţťŧț", 'u': "ùúûüũūŭůűų",
		'w': "ŵ", 'y': "ýÿŷ", 'z': "źżž",
		'е': "ё", 'α': "ά", 'ε': "έ", 'η': "ή", 'ι': "ίϊΐ", 'ο': "ό", 'υ': "ύϋΰ", 'ω': "ώ", 'σ': "ς",
	} {
		for _, r := range marked {
			out[r] = plain
		}
	}
	return out
}()

// fold is a letter as it is indexed: small, and without its mark.
func fold(r rune) rune {
	if r < 0x80 {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	r = unicode.ToLower(r)
	if plain, ok := folded[r]; ok {
		return plain
	}
	return r
}
