package reply

import "strings"

// maxTries bounds the work on a text that is full of braces.
const maxTries = 100

// search looks through a text for the object that is the reply.
type search struct {
	raw   string
	lower string // raw in lower case, each byte in its place
	pos   int

	object     object // the first one with the required keys; nil = none
	start, end int    // where it stands
	more       bool   // another one follows
	warnings   []string

	problem *Problem // why there is none, about the object nearest to a reply
	keys    int      // required keys in that object
}

func (s *search) run() {
	s.lower = lowerASCII(s.raw)
	for tries := 0; tries < maxTries; {
		i := strings.IndexAny(s.raw[s.pos:], "{<")
		if i < 0 {
			break
		}
		s.pos += i
		if s.raw[s.pos] == '<' {
			s.tag()
		} else {
			s.brace()
			tries++
		}
	}
	switch {
	case s.object != nil:
		if strings.TrimSpace(s.raw[:s.start]) != "" || strings.TrimSpace(s.raw[s.end:]) != "" {
			s.warnings = append(s.warnings, "text around the object was ignored")
		}
		if s.more {
			s.warnings = append(s.warnings, "more than one object: the first one counts")
		}
	case s.problem == nil && strings.TrimSpace(s.raw) == "":
		s.problem = &Problem{Reason: "the response was empty"}
	case s.problem == nil:
		s.problem = &Problem{Reason: "no JSON object found"}
	}
}

// tag steps over a thought.
func (s *search) tag() {
	name, closing, n := thinkTag(s.lower[s.pos:])
	if n == 0 {
		s.pos++
		return
	}
	s.pos += n
	if closing { // all so far was thinking
		*s = search{raw: s.raw, lower: s.lower, pos: s.pos}
		return
	}
	if i := strings.Index(s.lower[s.pos:], "</"+name+">"); i >= 0 {
		s.pos += i + len("</"+name+">")
		return
	}
	s.miss(&Problem{Reason: "cut off inside <" + name + ">, before a JSON object", Truncated: true}, 0)
	s.pos = len(s.raw)
}

// brace reads the object at a brace, if it is one.
func (s *search) brace() {
	sc := scanner{src: s.raw, pos: s.pos}
	members, problem := sc.object()
	if problem != nil {
		if len(members) == 0 { // a brace in prose
			if sc.opensWithQuote(s.pos) {
				s.miss(problem, 0)
			}
			s.pos++
			return
		}
		s.miss(problem, len(requiredKeys)-len(members.missing()))
		s.pos = max(s.pos+1, sc.pos)
		return
	}
	o, wrapped := members.unwrap()
	switch missing := o.missing(); {
	case len(missing) > 0:
		s.miss(missingKeys(missing), len(requiredKeys)-len(missing))
	case s.object != nil:
		s.more = true
	default:
		s.object, s.start, s.end = o, s.pos, sc.pos
		s.warnings = append(s.warnings, sc.repairs...)
		if wrapped {
			s.warnings = append(s.warnings, "the reply was wrapped in another object")
		}
	}
	s.pos = sc.pos
}

// miss keeps the problem of the object that comes nearest to a reply.
func (s *search) miss(p *Problem, keys int) {
	if s.problem == nil || keys >= s.keys {
		s.problem, s.keys = p, keys
	}
}

var thoughts = []string{"think", "thinking", "thought", "reasoning"}

// thinkTag recognises a tag of thinking at the start of text, in lower case; n is its length,
// 0 if there is none.
func thinkTag(text string) (name string, closing bool, n int) {
	for _, name := range thoughts {
		if strings.HasPrefix(text, "<"+name+">") {
			return name, false, len(name) + 2
		}
		if strings.HasPrefix(text, "</"+name+">") {
			return name, true, len(name) + 3
		}
	}
	return "", false, 0
}

// lowerASCII keeps every byte in its place, which strings.ToLower does not.
func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
