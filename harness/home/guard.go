package home

import (
	"bytes"
	"cmp"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"amacs/consciousness/sexp"
	"amacs/harness/redact"
)

// guard takes secrets out of what is stored: every text that a Draft puts into a
// file passes it. What the human keeps (kept.go) stays.
//
// A secret that was found once is taken out wherever else it stands, while this
// process lives: the name beside it, which told it from a word, is missing there.
type guard struct {
	keptPath string

	mu    sync.Mutex
	stamp time.Time // of the kept file when it was read
	size  int64
	kept  map[string]bool
	seen  []seen // the newest last
}

// seen is a secret that was found.
type seen struct{ secret, kind, sum string }

const (
	seenMax  = 256
	seenSize = 8 // bytes: a shorter one may be part of ordinary text
)

// Secret is a place in a text that looks like one.
type Secret = redact.Finding

// Clean is text without its secrets, but for those that are kept.
func (h *Home) Clean(text string) string { return h.guard.clean(text) }

// Secrets lists the secrets in a text, but for those that are kept.
func (h *Home) Secrets(text string) []Secret { return h.guard.look(text, never) }

// CleanFile is a file's text without the secrets that came into it since was.
func (h *Home) CleanFile(path string, was, now []byte) []byte {
	return h.guard.file(path, was, was, now)
}

// NewSecrets lists the secrets that a file's text has and was had not, by their
// places in now.
func (h *Home) NewSecrets(path string, was, now []byte) []Secret {
	from, to := changed(was, now)
	var found []Secret
	for _, r := range runs(path, string(now[from:to])) {
		for _, f := range h.guard.look(r.text, in(was)) {
			f.Start, f.End = f.Start+from+r.start, f.End+from+r.start
			found = append(found, f)
		}
	}
	return found
}

// never says that a secret stood in no text before.
func never(string) bool { return false }

// in says whether a secret stood in one of the texts before.
func in(texts ...[]byte) func(string) bool {
	return func(secret string) bool {
		return slices.ContainsFunc(texts, func(t []byte) bool { return bytes.Contains(t, []byte(secret)) })
	}
}

func (g *guard) clean(text string) string { return without(text, g.look(text, never)) }

// without puts the marks of found into text.
func without(text string, found []Secret) string {
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	from := 0
	for _, f := range found {
		b.WriteString(text[from:f.Start] + "[redacted:" + f.Kind + "]")
		from = f.End
	}
	return b.String() + text[from:]
}

// look finds the secrets of a text in order, but for those that are kept or that
// stood there before, and remembers them.
func (g *guard) look(text string, stood func(secret string) bool) []Secret {
	kept, seen := g.state()
	stay := map[string]bool{}
	keep := func(sum string) bool { return kept[sum] || stay[sum] }
	var found []Secret
	for again := true; again; {
		_, found = redact.Text(text, redact.Options{Keep: keep})
		again = false
		for _, f := range found {
			if stood(text[f.Start:f.End]) {
				stay[f.Sum], again = true, true
			}
		}
	}
	n := len(found)
	for _, k := range seen {
		if kept[k.sum] || !strings.Contains(text, k.secret) || stood(k.secret) {
			continue
		}
		for at := 0; ; {
			i := strings.Index(text[at:], k.secret)
			if i < 0 {
				break
			}
			f := Secret{Kind: k.kind, Start: at + i, End: at + i + len(k.secret), Sum: k.sum}
			at = f.End
			if !slices.ContainsFunc(found, func(x Secret) bool { return x.Start < f.End && f.Start < x.End }) {
				found = append(found, f)
			}
		}
	}
	g.learn(text, found[:n])
	slices.SortFunc(found, func(a, b Secret) int { return cmp.Compare(a.Start, b.Start) })
	return found
}

// state is what is kept, read anew where the file has changed, and what was found.
func (g *guard) state() (kept map[string]bool, all []seen) {
	info, err := os.Stat(g.keptPath)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case err != nil:
		g.kept, g.stamp, g.size = nil, time.Time{}, 0
	case g.kept == nil || !info.ModTime().Equal(g.stamp) || info.Size() != g.size:
		g.kept, g.stamp, g.size = map[string]bool{}, info.ModTime(), info.Size()
		b, err := os.ReadFile(g.keptPath)
		if err != nil {
			break // nothing is kept, then
		}
		for _, k := range parseKept(b) {
			g.kept[k.ID] = true
		}
	}
	return g.kept, g.seen
}

// learn remembers what was found, as far as it is no word.
func (g *guard) learn(text string, found []Secret) {
	if len(found) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, f := range found {
		secret := text[f.Start:f.End]
		if len(secret) < seenSize || isWord(secret) || slices.ContainsFunc(g.seen, func(k seen) bool { return k.sum == f.Sum }) {
			continue
		}
		g.seen = append(slices.Clip(g.seen), seen{strings.Clone(secret), f.Kind, f.Sum})
	}
	if n := len(g.seen) - seenMax; n > 0 {
		g.seen = g.seen[n:]
	}
}

// isWord says whether s is of letters alone, or has none.
func isWord(s string) bool {
	letters := 0
	for _, r := range s {
		if 'a' <= r|0x20 && r|0x20 <= 'z' {
			letters++
		}
	}
	return letters == 0 || letters == len(s)
}

// file takes out of a file's text the secrets that came into it since was, but
// for those that read, the text on disk, has. Only the lines that differ are
// looked at, with those around them.
func (g *guard) file(name string, read, was, now []byte) []byte {
	from, to := changed(was, now)
	if from == to {
		return now
	}
	if name == Consciousness {
		return g.alist(read, was, now, from, to)
	}
	var b strings.Builder
	clean := true
	for _, r := range runs(name, string(now[from:to])) {
		found := g.look(r.text, in(read, was))
		clean = clean && len(found) == 0
		b.WriteString(without(r.text, found))
	}
	if clean {
		return now
	}
	return slices.Concat(now[:from], []byte(b.String()), now[to:])
}

// around is how many lines before and after those that differ are looked at.
const around = 3

// changed is the part of now that differs from was: whole lines, and some around
// them. It is empty where nothing came in.
func changed(was, now []byte) (from, to int) {
	short := min(len(was), len(now))
	for from < short && was[from] == now[from] {
		from++
	}
	end := 0
	for end < short-from && was[len(was)-1-end] == now[len(now)-1-end] {
		end++
	}
	if from == len(was) && from == len(now) {
		return 0, 0
	}
	to = len(now) - end
	from = bytes.LastIndexByte(now[:from], '\n') + 1
	for n := 0; n < around && from > 0; n++ {
		from = bytes.LastIndexByte(now[:from-1], '\n') + 1
	}
	for n := 0; n <= around && to < len(now); n++ {
		i := bytes.IndexByte(now[to:], '\n')
		if i < 0 {
			return from, len(now)
		}
		to += i + 1
	}
	return from, to
}

// run is a part of a text, and where it begins.
type run struct {
	text  string
	start int
}

// runs parts a text of the home so that a secret of several lines can not take
// a heading, a drawer or the edge of a block with it.
func runs(name, text string) (out []run) {
	if path.Ext(name) != ".org" {
		return []run{{text, 0}}
	}
	start, at := 0, 0
	cut := func(end int) {
		if end > start {
			out = append(out, run{text[start:end], start})
		}
		start = end
	}
	for line := range strings.Lines(text) {
		if isStructure(line) {
			cut(at)
			cut(at + len(line))
		}
		at += len(line)
	}
	cut(at)
	return out
}

// isStructure says whether a line is more than text to Org or to us.
func isStructure(line string) bool {
	if line[0] == '*' || line[0] == '[' {
		return true
	}
	line = strings.TrimLeft(line, " \t")
	return strings.HasPrefix(line, ":") || strings.HasPrefix(line, "#+")
}

// alist is file for the working state, whose strings are looked at as what they
// say, and written anew where something is taken out.
func (g *guard) alist(read, was, now []byte, from, to int) []byte {
	nodes, err := sexp.Parse(now)
	if err != nil {
		return []byte(string(now[:from]) + without(string(now[from:to]), g.look(string(now[from:to]), in(read, was))) + string(now[to:]))
	}
	var edits []patch
	leaves(nodes, func(n *sexp.Node) {
		text, ok := n.Value.(string)
		if !ok || n.End <= from || n.Start >= to {
			return
		}
		stood := func(secret string) bool {
			quoted := sexp.Print(secret)
			return in(read, was)(quoted[1 : len(quoted)-1])
		}
		if found := g.look(text, stood); len(found) > 0 {
			edits = append(edits, patch{n.Start, n.End, sexp.Print(without(text, found))})
		}
	})
	out := patched(now, edits)
	// A name beside a string may say what the string alone does not.
	from, to = changed(was, out)
	found := g.look(string(out[from:to]), in(read, was))
	if len(found) == 0 {
		return out
	}
	if nodes, err = sexp.Parse(out); err != nil {
		return out // strings for strings: it can be read
	}
	edits = nil
	for _, f := range found {
		f.Start, f.End = f.Start+from, f.End+from
		within := false
		leaves(nodes, func(n *sexp.Node) {
			if n.Start < f.End && f.Start < n.End {
				within = true
				edits = append(edits, patch{n.Start, n.End, sexp.Print("[redacted:" + f.Kind + "]")})
			}
		})
		if !within {
			edits = append(edits, patch{f.Start, f.End, "[redacted:" + f.Kind + "]"})
		}
	}
	return patched(out, slices.CompactFunc(edits, func(a, b patch) bool { return a.start == b.start }))
}

// patch is where a text is to be put.
type patch struct {
	start, end int
	text       string
}

// patched makes edits, given in order.
func patched(src []byte, edits []patch) []byte {
	for _, e := range slices.Backward(edits) {
		src = slices.Concat(src[:e.start], []byte(e.text), src[e.end:])
	}
	return src
}

// leaves visits what is no list, in order.
func leaves(nodes []*sexp.Node, visit func(*sexp.Node)) {
	for _, n := range nodes {
		if len(n.Kids) == 0 {
			visit(n)
		}
		leaves(n.Kids, visit)
	}
}
