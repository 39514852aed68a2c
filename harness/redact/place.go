package redact

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

//go:embed places.txt
var placeLines string

// place is one line of places.txt.
type place struct {
	kind, test, word string
	anywhere         bool // also within a word
	far              bool // over several lines
	shape            func() *regexp.Regexp
}

const (
	value  = `(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"';|&<>\\` + "`" + `]+))`
	option = `(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"';|&<>=\\` + "`" + `]+))`
	rest   = `(?:(?s:.)*?\s)?`
)

var places = sync.OnceValue(func() []*place {
	var out []*place
	for line := range strings.Lines(placeLines) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Fields(line)
		if len(c) != 4 {
			panic(fmt.Sprintf("place of four columns expected: %q", line)) // part of the program, and tested
		}
		word, anywhere := strings.CutPrefix(c[2], "+")
		word, far := strings.CutPrefix(word, "*")
		source := strings.NewReplacer("VALUE", value, "OPTION", option, "REST", rest, "BACK", "").Replace(c[3])
		out = append(out, &place{c[0], c[1], word, anywhere, far,
			lazy(`\A(?i:` + source + `)`)})
	}
	return out
})

// placed looks for a secret in place p, whose word begins at start.
func (f *finder) placed(p *place, start int) {
	if start < f.passed[p] || !p.anywhere && isLetter(f.s[start]) && f.s[start-min(1, start)] != '-' && !opens(f.s, start) {
		return
	}
	if p.word == "@tcp(" {
		f.beforeAt(start)
		return
	}
	stop := min(len(f.s), start+512)
	if !p.far {
		stop = logicalLine(f.s, start)
	}
	m := p.shape().FindStringSubmatchIndex(f.s[start:stop])
	if m == nil {
		if p.word == "://" { // what does not fit one address of a run fits none
			if i := strings.IndexAny(f.s[start:stop], " \t\r\n\"'<>`,\\"); i >= 0 {
				stop = start + i
			}
		}
		f.passed[p] = stop
		return
	}
	for g := len(m) - 2; g > 0; g -= 2 {
		if m[g] < 0 {
			continue
		}
		from, to := start+m[g], start+m[g+1]
		f.passed[p] = to
		if p.fits(f.s[from:to], f.s[start:from]) {
			f.add(from, to, p.kind, byPlace)
		}
		return
	}
}

// fits tests a secret of place p; lead is the text before it.
func (p *place) fits(v, lead string) bool {
	switch p.test {
	case "drawn":
		return !isExample(v) && isStrange(v)
	case "key":
		return isSecret(v, anything, literal) && !isExpression(v)
	case "basic":
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			b, err := e.DecodeString(strings.TrimRight(v, "="))
			_, word, ok := strings.Cut(string(b), ":")
			if err == nil && ok {
				return isChosen(word)
			}
		}
		return isStrange(v) && !isExample(v)
	}
	if p.word == "://" && portPath().MatchString(v) || strings.HasSuffix(lead, "-p") && optionWord().MatchString("p"+v) {
		return false
	}
	return isChosen(v)
}

// optionWord begins options that begin with p: no password in them.
var optionWord = lazy(`^(?:pass|port|prot|prompt|print|plugin|pager|parallel|path|prog|prof)`)

// portPath is what stands behind the colon of an address without a password.
var portPath = lazy(`^\d{1,5}/`)

// isChosen says whether v, standing where only a password stands, is one, and
// no placeholder.
func isChosen(v string) bool {
	return len(v) >= least && len(v) <= longest && !isExample(v) && !isElsewhere(v) && !isPlain(v) && !isNamed(v) &&
		strings.IndexByte("$<{[(%", v[0]) < 0 && (strangeness(v) > 0 || count(v).digits < len(v) && !isRow(v))
}

// isRow says whether v counts up or repeats, as samples do.
func isRow(v string) bool {
	for i := 1; i < len(v); i++ {
		if v[i]-v[i-1] > 1 {
			return false
		}
	}
	return true
}

// beforeAt looks for user:password before the @ of a MySQL address.
func (f *finder) beforeAt(at int) {
	from := at
	for from > 0 && at-from < 256 && !isSpace(f.s[from-1]) && strings.IndexByte("\"'`<>", f.s[from-1]) < 0 {
		from--
	}
	if i := strings.IndexByte(f.s[from:at], ':'); i >= 0 && isChosen(f.s[from+i+1:at]) {
		f.add(from+i+1, at, "password", byPlace)
	}
}

// logicalLine returns where the line at i ends, with those that a backslash
// joins to it.
func logicalLine(s string, i int) int {
	bound := min(len(s), i+longest)
	for i < bound {
		n := strings.IndexByte(s[i:bound], '\n')
		if n < 0 {
			return bound
		}
		i += n
		if before := strings.TrimSuffix(s[:i], "\r"); !strings.HasSuffix(before, `\`) {
			return i
		}
		i++
	}
	return bound
}
