package org

import (
	"bytes"
	"errors"
	"regexp"
	"strings"

	goorg "github.com/niklasfasching/go-org/org"
)

// Beyond these, text is shown as it is: go-org's time grows with the cube of open blocks, macros and footnotes.
const (
	renderLimit = 16 << 10 // bytes
	openLimit   = 50       // blocks; half as many macros and footnotes
)

// lossy finds table rows that go-org takes for rules, or whose empty cells it drops.
var lossy = regexp.MustCompile(`(?m)^[ \t]*\|(?:[+-|]*[+\--|]*[^\s|+-][+-|]*[ \t]*$|.*\|\|)`)

// Text renders an Org fragment for a terminal: headings, paragraphs, lists, code, aligned tables, links as
// "description (url)"; drawers, keywords and comments are left out. Nothing it names is read. A fragment that go-org
// can not render without loss, or over 16 KiB, comes back as it is. Control characters are not touched.
func Text(src []byte) (text string) {
	raw := string(src)
	if len(src) > renderLimit || lossy.Match(src) || costly(src) {
		return raw
	}
	defer func() {
		if recover() != nil { // go-org indexes what it parses unchecked
			text = raw
		}
	}()
	conf := goorg.New().Silent()
	conf.ReadFile = func(string) ([]byte, error) { return nil, errors.New("not read") }
	w := &terminal{OrgWriter: goorg.NewOrgWriter()}
	w.ExtendingWriter = w
	out, err := conf.Parse(bytes.NewReader(src), "").Write(w)
	if err != nil {
		return raw
	}
	return strings.Trim(out, "\n")
}

var blockEdge = regexp.MustCompile(`(?mi)^[ \t]*(?:#\+(begin|end)_|\\(begin|end)\{)(\w*)`)

// costly says whether a block has no end, or whether there is very much to be nested.
func costly(src []byte) bool {
	edges := blockEdge.FindAllSubmatch(src, -1)
	open := map[string]int{}
	for _, m := range edges {
		name := strings.ToLower(string(m[3]))
		if strings.EqualFold(string(m[1])+string(m[2]), "begin") {
			open[name]++
		} else if open[name] > 0 {
			open[name]--
		}
	}
	for _, n := range open {
		if n > 0 {
			return true
		}
	}
	inline := bytes.Count(src, []byte("{{{")) + bytes.Count(src, []byte("[fn:"))
	return len(edges)/2 > openLimit || inline > openLimit/2
}

// terminal is go-org's Org writer without what a reader at a prompt has no use for.
type terminal struct{ *goorg.OrgWriter }

func (w *terminal) WriteKeyword(goorg.Keyword)               {}
func (w *terminal) WriteInclude(goorg.Include)               {}
func (w *terminal) WriteComment(goorg.Comment)               {}
func (w *terminal) WriteDrawer(goorg.Drawer)                 {}
func (w *terminal) WritePropertyDrawer(goorg.PropertyDrawer) {}

// WriteBlock shows code indented and other blocks as their content.
func (w *terminal) WriteBlock(b goorg.Block) {
	text := strings.TrimRight(w.WriteNodesAsString(b.Children...), "\n")
	if b.Name == "SRC" || b.Name == "EXAMPLE" || b.Name == "EXPORT" {
		text = indented(text)
	}
	w.WriteString(text + "\n")
	if b.Result != nil {
		goorg.WriteNodes(w, b.Result)
	}
}

// WriteExample shows `: x` lines as code.
func (w *terminal) WriteExample(e goorg.Example) {
	for _, line := range e.Children {
		w.WriteString(indented(w.WriteNodesAsString(line)) + "\n")
	}
}

// WriteResult leaves out #+RESULTS.
func (w *terminal) WriteResult(r goorg.Result) { goorg.WriteNodes(w, r.Node) }

// WriteNodeWithMeta leaves out captions and attributes.
func (w *terminal) WriteNodeWithMeta(n goorg.NodeWithMeta) { goorg.WriteNodes(w, n.Node) }

// WriteNodeWithName leaves out #+NAME.
func (w *terminal) WriteNodeWithName(n goorg.NodeWithName) { goorg.WriteNodes(w, n.Node) }

// WriteRegularLink shows where a link leads.
func (w *terminal) WriteRegularLink(l goorg.RegularLink) {
	if len(l.Description) == 0 {
		w.WriteString(l.URL)
		return
	}
	w.WriteString(w.WriteNodesAsString(l.Description...) + " (" + l.URL + ")")
}

func indented(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if line != "" {
			lines[i] = "    " + line
		}
	}
	return strings.Join(lines, "\n")
}
