package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Query is what Search looks for.
type Query struct {
	Pattern    string // a regular expression of Go, for one line
	Literal    bool   // Pattern is a text, not an expression
	IgnoreCase bool   // always; else only if Pattern has no capital
	Glob       string // which files, as a line of gitignore(5): "*.go", "src/**", "*.{c,h}", "!*_test.go"
	Context    int    // lines before and after each hit, at most 10
	Max        int    // hits; 0 is MaxHits
	Hidden     bool   // look into files and folders whose name begins with a dot, too
	Ignored    bool   // look into what ignore files leave out, too

	// Sensitive says of an absolute path that it may hold credentials: such a
	// file is not looked into. Nil is none.
	Sensitive func(path string) bool
}

// Hit is a line that matches.
type Hit struct {
	Path          string // relative to where the search began, with slashes
	Line          int    // from 1
	Text          string // at most MaxWidth characters, around the match
	Before, After []string
}

// Found is what Search found.
type Found struct {
	Hits    []Hit    // by path and line
	Files   int      // files looked into
	Cut     bool     // there are more hits
	Skipped []string // what was not looked into, and why: "3 binary", "1 larger than 4 MB"
}

// Search looks for a pattern in a file, or in the text files below a folder, as
// ripgrep does: no hidden files, no binary ones, no links, nothing that
// .gitignore, .ignore or .rgignore leave out, from the root of the repository
// on. `.git` is never looked into. Other than rg's -g, a glob only narrows; and a
// file with several hard links is skipped, because it is also somewhere else.
// When ctx ends, what was found so far comes with its error.
func Search(ctx context.Context, root string, q Query) (Found, error) {
	s := searcher{ctx: ctx, q: q, root: root, skipped: map[string]int{}}
	err := s.search()
	for _, why := range reasons {
		if n := s.skipped[why]; n > 0 {
			s.found.Skipped = append(s.found.Skipped, fmt.Sprintf("%d %s", n, why))
		}
	}
	if err != nil {
		return s.found, fmt.Errorf("searching %s: %w", root, err)
	}
	return s.found, nil
}

// Why a file is not looked into.
const (
	isBinary    = "binary"
	isLarge     = "larger than 4 MB"
	isLinked    = "with several names"
	isSensitive = "sensitive"
	isClosed    = "not readable"
	isDeep      = "too deep in folders"
)

var reasons = [...]string{isBinary, isLarge, isLinked, isSensitive, isClosed, isDeep}

type searcher struct {
	ctx     context.Context
	q       Query
	wanted  wanted
	glob    *pattern
	global  []pattern
	root    string
	found   Found
	skipped map[string]int
	buf     []byte // of the file that is looked into
}

// errFull ends a search that has found enough.
var errFull = errors.New("enough is found")

func (s *searcher) search() (err error) {
	if s.wanted, err = compile(s.q); err != nil {
		return err
	}
	if s.q.Max <= 0 {
		s.q.Max = MaxHits
	}
	s.q.Context = max(0, min(s.q.Context, 10))
	if s.q.Glob != "" {
		p, ok := parsePattern(s.q.Glob, true)
		if !ok {
			return fmt.Errorf("%q is no glob", s.q.Glob)
		}
		s.glob = &p
	}
	dir, name, err := parted(s.root)
	if err != nil {
		return err
	}
	above, err := openFolder(dir, nil)
	if err != nil {
		return err
	}
	defer above.close()
	st, err := above.stat(name)
	if err != nil {
		return err
	}
	if kind(st) != unix.S_IFDIR {
		err = s.named(above, name)
	} else {
		err = s.below(above, name)
	}
	if errors.Is(err, errFull) {
		s.found.Cut = true
		return nil
	}
	return err
}

// named looks into one file that was named: that it can not be is an error.
func (s *searcher) named(d folder, name string) error {
	if err := s.file(d, name, name); err != nil {
		return err
	}
	switch {
	case s.skipped[isBinary] > 0:
		return errBinary
	case s.skipped[isLarge] > 0:
		return errors.New("it is " + isLarge)
	case s.skipped[isClosed] > 0:
		_, _, _, err := d.read(name, MaxFile, nil)
		return err
	}
	return nil
}

// below looks into the folder name in above.
func (s *searcher) below(above folder, name string) error {
	var r *rules
	if !s.q.Ignored {
		s.global = globalRules()
		bad := func() { s.skipped[isClosed]++ }
		visit := func(d folder) {
			r = readRules(r, d, func(name string) bool {
				_, err := d.stat(name)
				return err == nil
			}, bad)
		}
		if s.root != "/" {
			d, err := openFolder(s.root, visit)
			if err != nil {
				return err
			}
			d.close()
		}
	}
	d, err := above.sub(name, unix.O_RDONLY)
	if err != nil {
		return err
	}
	defer d.close()
	return s.walk(d, "", r, 0)
}

// walk looks into the folder d, which is rel below the root.
func (s *searcher) walk(d folder, rel string, r *rules, depth int) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	entries, err := d.names()
	if err != nil {
		if rel == "" {
			return err
		}
		s.skipped[isClosed]++
		return nil
	}
	if !s.q.Ignored {
		r = readRules(r, d, func(name string) bool {
			_, ok := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
			return ok
		}, func() { s.skipped[isClosed]++ })
	}
	for _, e := range entries {
		name := e.Name()
		if name == ".git" || !e.IsDir() && !e.Type().IsRegular() {
			continue
		}
		says := silent
		if !s.q.Ignored {
			says = r.says(d.join(name), e.IsDir(), s.global)
		}
		if says == left || says == silent && !s.q.Hidden && name[0] == '.' || !s.chosen(rel+name, e.IsDir()) {
			continue
		}
		if e.IsDir() {
			err = s.sub(d, name, rel+name+"/", r, depth+1)
		} else {
			err = s.file(d, name, rel+name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *searcher) sub(d folder, name, rel string, r *rules, depth int) error {
	if depth > deepest {
		s.skipped[isDeep]++
		return nil
	}
	sub, err := d.sub(name, unix.O_RDONLY)
	if err != nil {
		s.skipped[isClosed]++
		return nil
	}
	defer sub.close()
	return s.walk(sub, rel, r, depth)
}

// chosen says that the glob does not leave rel out. A folder is only left out
// where the glob says what not to search.
func (s *searcher) chosen(rel string, dir bool) bool {
	if s.glob == nil {
		return true
	}
	says := judge([]pattern{*s.glob}, rel, dir)
	if s.glob.negated {
		return says != kept
	}
	return dir || says == left
}

// file looks into one file.
func (s *searcher) file(d folder, name, rel string) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.q.Sensitive != nil && s.q.Sensitive(d.join(name)) {
		s.skipped[isSensitive]++
		return nil
	}
	b, why := s.read(d, name)
	if why != "" {
		s.skipped[why]++
		return nil
	}
	text, ok := searchable(b)
	if !ok {
		s.skipped[isBinary]++
		return nil
	}
	s.found.Files++
	line, done, full := 1, 0, false
	s.wanted.lines(text, func(start, end, at int) bool {
		if len(s.found.Hits) == s.q.Max {
			full = true
			return false
		}
		line += bytes.Count(text[done:start], []byte("\n"))
		done = start
		hit := Hit{Path: rel, Line: line, Text: window(string(text[start:end]), at)}
		hit.Before, hit.After = around(text, start, end, s.q.Context)
		s.found.Hits = append(s.found.Hits, hit)
		return true
	})
	if full {
		return errFull
	}
	return nil
}

// read reads a file, or says why not.
func (s *searcher) read(d folder, name string) (b []byte, why string) {
	fd, st, err := d.file(name)
	if err != nil {
		return nil, isClosed
	}
	defer unix.Close(fd)
	if st.Nlink > 1 {
		return nil, isLinked
	}
	more := st.Size > MaxFile
	if !more {
		b, more, err = slurp(fd, st, MaxFile, s.buf)
	}
	switch {
	case more:
		return nil, isLarge
	case err != nil:
		return nil, isClosed
	}
	s.buf = b
	return b, ""
}

// searchable is b as text with plain line ends.
func searchable(b []byte) (text []byte, ok bool) {
	if len(b) > 1 && (b[0] == markLess[0] && b[1] == markLess[1] || b[0] == markGreat[0] && b[1] == markGreat[1]) {
		wide, _, err := decode(b)
		return []byte(plainEnds(wide)), err == nil
	}
	b = bytes.TrimPrefix(b, []byte(markUTF8))
	if bytes.IndexByte(b, 0) >= 0 || !mostlyText(string(b[:min(len(b), 8<<10)])) {
		return nil, false
	}
	if bytes.Contains(b, []byte("\r\n")) {
		b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	}
	return b, true
}

// around are up to n lines before and after a line.
func around(text []byte, start, end, n int) (before, after []string) {
	for ; len(before) < n && start > 0; start = bytes.LastIndexByte(text[:start-1], '\n') + 1 {
		from := bytes.LastIndexByte(text[:start-1], '\n') + 1
		before = append(before, window(string(text[from:start-1]), 0))
	}
	slices.Reverse(before)
	for len(after) < n && end+1 < len(text) {
		line, _, _ := bytes.Cut(text[end+1:], []byte("\n"))
		after = append(after, window(string(line), 0))
		end += 1 + len(line)
	}
	return before, after
}

// window is at most MaxWidth characters of a line, so that what stands at the
// byte at is among them.
func window(line string, at int) string {
	line, rest := strings.ToValidUTF8(line[:at], "\uFFFD"), strings.ToValidUTF8(line[at:], "\uFFFD")
	at = utf8.RuneCountInString(line)
	line += rest
	if len(line) <= MaxWidth {
		return line
	}
	runes := []rune(line)
	if len(runes) <= MaxWidth {
		return line
	}
	from := 0
	if at > MaxWidth*3/4 {
		from = min(at-MaxWidth/4, len(runes)-MaxWidth)
	}
	out := string(runes[from : from+MaxWidth])
	if from > 0 {
		out = "…" + out
	}
	if from+MaxWidth < len(runes) {
		out += "…"
	}
	return out
}
