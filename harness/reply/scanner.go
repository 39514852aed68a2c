package reply

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDepth is how deep lists and objects may nest.
const maxDepth = 200

// A value is nil, bool, string, number, []any or object.
type (
	number string
	object []member
	member struct {
		key   string
		value any
	}
)

// get returns the last value given for key.
func (o object) get(key string) (any, bool) {
	for i := len(o) - 1; i >= 0; i-- {
		if o[i].key == key {
			return o[i].value, true
		}
	}
	return nil, false
}

// scanner reads JSON, and what is meant as JSON. On valid JSON it gives what
// encoding/json gives (a fuzzed law); each liberty is noted in repairs.
type scanner struct {
	src     string
	pos     int
	depth   int
	repairs []string
}

func (s *scanner) repaired(what string) {
	for _, r := range s.repairs {
		if r == what {
			return
		}
	}
	s.repairs = append(s.repairs, what)
}

func (s *scanner) fail(format string, args ...any) *Problem {
	before := s.src[:s.pos]
	line := 1 + strings.Count(before, "\n")
	column := 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
	return &Problem{Reason: fmt.Sprintf("not valid JSON at line %d, column %d: ", line, column) + fmt.Sprintf(format, args...)}
}

// wanted reports what was expected at pos, or that the text ends here.
func (s *scanner) wanted(what string) *Problem {
	if s.pos >= len(s.src) {
		return &Problem{Reason: "the JSON object is cut off at the end: it has no closing brace; make it shorter", Truncated: true}
	}
	r, _ := utf8.DecodeRuneInString(s.src[s.pos:])
	return s.fail("%s expected, found %q", what, r)
}

// peek skips space and // comments and returns the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.src) {
		rest := s.src[s.pos:]
		if strings.HasPrefix(rest, "//") {
			s.repaired("comment skipped")
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				s.pos += i
				continue
			}
			s.pos = len(s.src)
			return 0
		}
		r, n := utf8.DecodeRuneInString(rest)
		if !unicode.IsSpace(r) && r != '\ufeff' {
			return rest[0]
		}
		s.pos += n
	}
	return 0
}

func (s *scanner) value(in byte) (any, *Problem) {
	switch c := s.peek(); c {
	case '{':
		return s.object()
	case '[':
		return s.list()
	case '"', '\'':
		return s.text(in)
	default:
		return s.bare()
	}
}

// object reads from an opening brace. The members read so far come with a
// problem, the last one without value.
func (s *scanner) object() (object, *Problem) {
	o, seen := object{}, map[string]bool{}
	if s.depth++; s.depth > maxDepth {
		return o, s.fail("nested too deeply")
	}
	s.pos++
	for comma := true; ; {
		c := s.peek()
		switch {
		case c == '}':
			if comma && len(o) > 0 {
				s.repaired("trailing comma")
			}
			s.pos++
			s.depth--
			return o, nil
		case c == ',' && !comma:
			s.pos++
			comma = true
			continue
		case !comma && c != 0:
			s.repaired("missing comma")
		}
		key, problem := s.key()
		if problem != nil {
			return o, problem
		}
		if s.peek() != ':' {
			return o, s.wanted("':' after the key " + strconv.Quote(key))
		}
		s.pos++
		if seen[key] {
			s.repaired(fmt.Sprintf("key %q given twice: the last one counts", key))
		}
		o, seen[key] = append(o, member{key: key}), true
		v, problem := s.value('{')
		if problem != nil {
			return o, problem
		}
		o[len(o)-1].value = v
		comma = false
	}
}

func (s *scanner) key() (string, *Problem) {
	switch c := s.peek(); c {
	case '"', '\'':
		return s.text(0)
	}
	start := s.pos
	for s.pos < len(s.src) && isWord(s.src[s.pos]) {
		s.pos++
	}
	if s.pos == start {
		return "", s.wanted("a key or '}'")
	}
	s.repaired("key without quotes")
	return s.src[start:s.pos], nil
}

func (s *scanner) list() ([]any, *Problem) {
	if s.depth++; s.depth > maxDepth {
		return nil, s.fail("nested too deeply")
	}
	s.pos++
	list := []any{}
	for comma := true; ; {
		c := s.peek()
		switch {
		case c == ']':
			if comma && len(list) > 0 {
				s.repaired("trailing comma")
			}
			s.pos++
			s.depth--
			return list, nil
		case c == ',' && !comma:
			s.pos++
			comma = true
			continue
		case !comma && c != 0:
			return nil, s.wanted("',' or ']'")
		}
		v, problem := s.value('[')
		if problem != nil {
			return nil, problem
		}
		list = append(list, v)
		comma = false
	}
}

// bare reads a number or a word: true, null, Python's None.
func (s *scanner) bare() (any, *Problem) {
	start, end := s.pos, s.pos
	for end < len(s.src) && (isWord(s.src[end]) || strings.IndexByte("+.%", s.src[end]) >= 0) {
		end++
	}
	word := s.src[start:end]
	v, python, ok := constant(word)
	if !ok {
		return nil, s.wanted("a value")
	}
	if python {
		s.repaired("Python's " + word)
	}
	s.pos = end
	return v, nil
}

func constant(word string) (v any, python, ok bool) {
	switch word {
	case "true", "True":
		return true, word == "True", true
	case "false", "False":
		return false, word == "False", true
	case "null", "None":
		return nil, word == "None", true
	}
	_, err := strconv.ParseFloat(strings.TrimSuffix(word, "%"), 64)
	if err != nil && !strings.Contains(err.Error(), strconv.ErrRange.Error()) {
		return nil, false, false
	}
	return number(word), false, true
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// text reads a quoted string; in is the bracket around it, 0 for a key.
func (s *scanner) text(in byte) (string, *Problem) {
	quote := s.src[s.pos]
	if quote == '\'' {
		s.repaired("single quotes")
	}
	var d decoder
	for s.pos++; s.pos < len(s.src); s.pos++ {
		c := s.src[s.pos]
		if c == quote && !d.escaped() {
			if s.closes(in) {
				s.pos++
				d.close()
				if d.odd {
					s.repaired("unknown escape kept as it is")
				}
				return string(d.out), nil
			}
			s.repaired("quote without backslash inside a string")
		}
		if c < ' ' {
			s.repaired("line break or control character inside a string")
		}
		d.feed(c)
	}
	return "", s.wanted("a closing quote")
}

// closes reports whether the quote at pos ends its string: in an object a
// closing brace, the end or the next key follows; in a list a comma or bracket.
func (s *scanner) closes(in byte) bool {
	ahead := scanner{src: s.src, pos: s.pos + 1}
	c := ahead.peek()
	switch {
	case in == 0 || c == 0:
		return true
	case in == '[':
		return c == ',' || c == ']'
	case c == '}':
		return true
	case c == ',':
		ahead.pos++
		c = ahead.peek()
		return c == 0 || c == '}' || ahead.keyFollows()
	}
	return ahead.keyFollows()
}

// keyFollows reports whether a key and its colon stand at pos.
func (s *scanner) keyFollows() bool {
	if c := s.peek(); c != '"' && c != '\'' && !isWord(c) {
		return false
	}
	_, problem := s.key()
	return problem == nil && s.peek() == ':'
}

// opensWithQuote reports whether a quote is the first thing after a brace.
func (s *scanner) opensWithQuote(brace int) bool {
	ahead := scanner{src: s.src, pos: brace + 1}
	c := ahead.peek()
	return c == '"' || c == '\''
}
