package reply

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Stream decodes the top-level "reply" string of a response while it arrives.
// The zero value is ready; one Stream reads one response.
//
// For a response that is valid JSON the pieces add up to [Reply].Text. For one
// that [Parse] refuses or repairs they can be less or other: Parse is right,
// and a text already shown that is no prefix of Reply.Text is to be withdrawn.
type Stream struct {
	state   state
	tail    []byte // the last bytes outside an object, where a tag may be
	thought string // the tag that began the thinking

	depth    int
	wantKey  bool   // at depth 1: the next string is a key
	key      string // at depth 1: the key that was read
	required int    // required keys seen
	text     decoder

	begun bool   // text of the reply was given out
	held  []byte // space that is given out only when more text follows
}

type state int

const (
	outside state = iota
	thinking
	inObject
	inString // some string of the object
	inReply  // the string that is given out
	finished
)

// Write takes the next piece of the response, cut anywhere, and returns the
// text that it adds to the reply.
func (s *Stream) Write(chunk string) string {
	var out []byte
	for i := range len(chunk) {
		switch c := chunk[i]; s.state {
		case outside, thinking:
			s.prose(c)
		case inObject:
			s.structure(c)
		case inString, inReply:
			out = s.inside(out, c)
		}
	}
	return string(out)
}

// prose reads a byte outside the object.
func (s *Stream) prose(c byte) {
	if c == '{' && s.state == outside {
		s.state, s.depth, s.wantKey, s.key, s.required = inObject, 1, true, "", 0
		s.tail = s.tail[:0]
		return
	}
	s.tail = append(s.tail, c)
	if over := len(s.tail) - len("</reasoning>"); over > 0 {
		s.tail = s.tail[over:]
	}
	if c != '>' {
		return
	}
	start := bytes.LastIndexByte(s.tail, '<')
	if start < 0 {
		return
	}
	switch name, closing, _ := thinkTag(lowerASCII(string(s.tail[start:]))); {
	case s.state == outside && name != "" && !closing:
		s.state, s.thought = thinking, name
	case s.state == thinking && name == s.thought && closing:
		s.state = outside
	}
}

// structure reads a byte of the object that is in no string.
func (s *Stream) structure(c byte) {
	switch {
	case c == '"':
		s.state, s.text = inString, decoder{}
		if s.depth == 1 && !s.wantKey && s.key == "reply" && !s.begun {
			s.state = inReply
		}
	case c == '}' || c == ']':
		if s.depth--; s.depth == 0 {
			s.endObject()
		}
	case s.depth > 1:
		if c == '{' || c == '[' {
			s.depth++
		}
	case c == ':':
		s.wantKey = false
	case c == ',':
		s.wantKey, s.key = true, ""
	case s.wantKey && !unicode.IsSpace(rune(c)): // a brace in prose
		s.state = outside
		s.prose(c)
	case c == '{' || c == '[':
		s.depth++
	}
}

// inside reads a byte of a string.
func (s *Stream) inside(out []byte, c byte) []byte {
	end := c == '"' && !s.text.escaped()
	if end {
		s.text.close()
	} else {
		s.text.feed(c)
	}
	if s.state == inReply {
		out = s.give(out)
	}
	if !end {
		return out
	}
	switch {
	case s.state == inReply:
		s.begun = true
	case s.depth == 1 && s.wantKey:
		s.key = string(s.text.out)
		if slices.Contains(requiredKeys, s.key) {
			s.required++
		}
	}
	s.state = inObject
	return out
}

// give appends what is decoded, without the space around the whole.
func (s *Stream) give(out []byte) []byte {
	for len(s.text.out) > 0 {
		r, n := utf8.DecodeRune(s.text.out)
		if unicode.IsSpace(r) {
			if s.begun {
				s.held = append(s.held, s.text.out[:n]...)
			}
		} else {
			out = append(append(out, s.held...), s.text.out[:n]...)
			s.held, s.begun = s.held[:0], true
		}
		s.text.out = s.text.out[n:]
	}
	return out
}

// endObject decides whether that was the reply's object.
func (s *Stream) endObject() {
	s.state = outside
	if s.begun || s.required >= len(requiredKeys) {
		s.state = finished
	}
}
