package secret

import (
	"fmt"
	"strings"
)

// entry is one entry of a netrc file.
type entry struct {
	line     int // where it begins, from 1
	machine  string
	any      bool // it is a "default" entry, for every machine
	port     string
	login    string
	password string
}

// parse reads the entries of a netrc file:
//
//	# a comment goes to the end of the line
//	machine api.anthropic.com login apikey password sk-ant-…
//	machine localhost port 8080
//	        password "with blanks"
//	default login anonymous password me@home
//
// Keys and values are words; one in quotes may hold blanks and line breaks and has no
// escapes. Emacs' other names for the keys are known (host; user, account; protocol;
// secret), keys that it does not use are passed over, and of a key that comes twice the
// last counts. A macro (macdef) ends at a blank line; Emacs does not know it.
func parse(text string) ([]entry, error) {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	var out []entry
	var e entry
	open := false
	end := func() {
		if open {
			out = append(out, e)
		}
		e, open = entry{}, false
	}
	w := words{text: text, line: 1}
	for {
		key, at, ok := w.next()
		if !ok {
			end()
			return out, nil
		}
		switch key {
		case "default":
			end()
			e, open = entry{line: at, any: true}, true
			continue
		case "macdef":
			w.blankLine()
			continue
		case "machine":
			end()
		}
		value, valueAt, ok := w.next()
		if !ok { // a key without a value
			end()
			return out, nil
		}
		if value == "machine" {
			return nil, fmt.Errorf("line %d: the value before \"machine\" is missing", valueAt)
		}
		if !open {
			e.line, open = at, true
		}
		switch key {
		case "machine", "host":
			e.machine = value
		case "port", "protocol":
			e.port = value
		case "login", "user", "account":
			e.login = value
		case "password", "secret":
			e.password = value
		}
	}
}

// words cuts a netrc file into words.
type words struct {
	text string // what is left
	line int    // at which it begins
}

func (w *words) take(n int) string {
	taken := w.text[:n]
	w.line += strings.Count(taken, "\n")
	w.text = w.text[n:]
	return taken
}

// next is the next word, without quotes, and its line.
func (w *words) next() (word string, line int, ok bool) {
	for {
		w.take(len(w.text) - len(strings.TrimLeft(w.text, " \t\n")))
		if !strings.HasPrefix(w.text, "#") {
			break
		}
		w.take(endOf(w.text, "\n"))
	}
	if w.text == "" {
		return "", w.line, false
	}
	line = w.line
	if quote := w.text[0]; quote == '"' || quote == '\'' {
		if end := strings.IndexByte(w.text[1:], quote); end >= 0 {
			return w.take(end + 2)[1 : end+1], line, true
		}
	}
	return w.take(endOf(w.text, " \t\n")), line, true
}

// blankLine goes to the end of the next blank line.
func (w *words) blankLine() {
	for w.text != "" {
		if line := w.take(min(endOf(w.text, "\n")+1, len(w.text))); strings.TrimSpace(line) == "" {
			return
		}
	}
}

// endOf is how far text goes before one of the characters.
func endOf(text, chars string) int {
	if i := strings.IndexAny(text, chars); i >= 0 {
		return i
	}
	return len(text)
}
