package console

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/chzyer/readline"
)

// recall shows entry i of the history, or what was typed in its place.
func (e *editor) recall(i int) (rune, bool) {
	if i < 0 || i > len(e.history.entries) {
		return e.become(e.now)
	}
	if e.drafts == nil {
		e.drafts = make(map[int][]rune)
	}
	e.drafts[e.at] = e.now.line
	e.at = i
	line, typed := e.drafts[i]
	if !typed {
		line = e.entry(i)
	}
	return e.become(edit{line, len(line)})
}

// entry is entry i of the history as a line.
func (e *editor) entry(i int) []rune {
	text := e.history.entries[i]
	if len(text) > recallBytes || lines(text) > recallLines {
		return []rune{e.cells.token("sent before", text, true)}
	}
	return e.cells.encode(text, true)
}

// search is a look for a text in the history (Ctrl-R). The line shows what is
// found; Enter sends it, other keys begin to edit it, Ctrl-G takes it back.
type search struct {
	text   string
	at     int // the entry found
	failed bool
	before edit
}

func (s *search) prompt() string {
	if s.failed {
		return "(no '" + Clean(s.text) + "')> "
	}
	return "(search '" + Clean(s.text) + "')> "
}

// searchKey handles a key of the search and leaves in e.next what the line
// becomes; false ends the search and leaves the key to others.
func (e *editor) searchKey(r rune) bool {
	s := e.search
	newest := len(e.history.entries) - 1
	switch {
	case r == readline.CharBckSearch:
		e.look(s.at-1, -1)
	case r == readline.CharFwdSearch:
		e.look(s.at+1, 1)
	case r == readline.CharBackspace:
		_, n := utf8.DecodeLastRuneInString(s.text)
		s.text = s.text[:len(s.text)-n]
		e.look(newest, -1)
	case r == readline.CharBell || r == keyInterrupt:
		e.next, e.search = &s.before, nil
	case r == keyPasted:
		e.next = &e.now
	case r >= ' ' && r < firstKey:
		s.text += e.cells.decode([]rune{r})
		e.look(s.at, -1)
	default:
		e.search = nil
		return false
	}
	return true
}

// look finds the search's text from entry i on, in steps of step.
func (e *editor) look(i, step int) {
	s := e.search
	e.next = &e.now
	if s.text == "" {
		s.failed = false
		return
	}
	found := e.history.find(s.text, i, step)
	if s.failed = found < 0; s.failed {
		return
	}
	s.at, e.at = found, found
	line := e.entry(found)
	e.next = &edit{line, len(line)}
}

// Do is readline's question for completions: what to insert at pos, once.
// Where there are several, their common beginning is inserted, and without
// one they are shown above the prompt.
func (e *editor) Do(line []rune, pos int) ([][]rune, int) {
	if e.c.opts.Complete == nil {
		return nil, 0
	}
	before := e.cells.decode(line[:pos])
	word := before[strings.LastIndexAny(before, " \t\n")+1:]
	all := e.c.opts.Complete(e.cells.decode(line), len(before))
	all = slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !strings.HasPrefix(s, word) })
	if len(all) == 0 {
		return nil, 0
	}
	insert := common(all)[len(word):]
	if len(all) == 1 && pos == len(line) {
		insert += " "
	}
	if insert == "" {
		const most = 100
		if len(all) > most {
			all = append(all[:most:most], "…")
		}
		e.c.Print(Clean(strings.Join(all, "  ")))
		return nil, 0
	}
	return [][]rune{e.cells.encode(insert, false)}, 0
}

// common is the longest beginning that all share.
func common(all []string) string {
	first := []rune(all[0])
	for _, s := range all[1:] {
		for !strings.HasPrefix(s, string(first)) {
			first = first[:len(first)-1]
		}
	}
	return string(first)
}
