package reply

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

var requiredKeys = []string{"mood", "confidence", "monologue"}

// missing names the required keys that are absent, null or blank.
func (o object) missing() []string {
	var names []string
	for _, key := range requiredKeys {
		v, _ := o.get(key)
		if s, isText := v.(string); v == nil || isText && strings.TrimSpace(s) == "" {
			names = append(names, key)
		}
	}
	return names
}

// unwrap returns the one value of o that is a reply, if o itself is none.
func (o object) unwrap() (inner object, wrapped bool) {
	if len(o.missing()) == 0 {
		return o, false
	}
	for _, m := range o {
		if in, ok := m.value.(object); ok && len(in.missing()) == 0 {
			if wrapped {
				return o, false
			}
			inner, wrapped = in, true
		}
	}
	if !wrapped {
		return o, false
	}
	return inner, true
}

// reply gives the members their meaning.
func (o object) reply(warnings []string) (Reply, error) {
	m := meaning{object: o, warnings: warnings}
	r := Reply{
		Mood:       oneLine(m.text("mood", ", ")),
		Confidence: m.confidence(),
		Monologue:  oneLine(m.text("monologue", " ")),
		Eval:       m.eval(),
		Text:       strings.TrimSpace(m.text("reply", "\n")),
		Continue:   m.truth("continue"),
		Note:       m.note(),
	}
	if m.problem == nil {
		var empty []string
		if r.Mood == "" {
			empty = append(empty, "mood")
		}
		if r.Monologue == "" {
			empty = append(empty, "monologue")
		}
		if len(empty) > 0 {
			m.problem = missingKeys(empty)
		}
	}
	if m.problem != nil {
		return Reply{}, m.problem
	}
	r.Warnings = m.warnings
	return r, nil
}

// meaning reads the members of an object; the first problem stays.
type meaning struct {
	object
	warnings []string
	problem  *Problem
}

func (m *meaning) warn(format string, args ...any) {
	m.warnings = append(m.warnings, fmt.Sprintf(format, args...))
}

func (m *meaning) fail(format string, args ...any) {
	if m.problem == nil {
		m.problem = &Problem{Reason: fmt.Sprintf(format, args...)}
	}
}

// text reads a key whose value is text, or a list of texts.
func (m *meaning) text(key, between string) string {
	v, _ := m.get(key)
	s, ok := asText(v, between)
	if !ok {
		m.fail("%s must be text, not %s", key, kind(v))
	}
	if _, plain := v.(string); ok && v != nil && !plain {
		m.warn("%s given as %s, taken as text", key, kind(v))
	}
	return s
}

func asText(v any, between string) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return v, true
	case number:
		return string(v), true
	case bool:
		return strconv.FormatBool(v), true
	case []any:
		var parts []string
		for _, e := range v {
			s, ok := asText(e, between)
			if !ok {
				return "", false
			}
			if s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, between), true
	}
	return "", false
}

func kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a truth value"
	case string:
		return "text"
	case number:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

func (m *meaning) confidence() float64 {
	v, _ := m.get("confidence")
	text, isText := v.(string)
	if n, ok := v.(number); ok {
		text = string(n)
	} else if !isText {
		m.fail("confidence must be a number from 0 to 1, not %s", kind(v))
		return 0
	}
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	c, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	word := strings.ContainsAny(digits, "iInN") // Infinity, NaN
	if err != nil && !math.IsInf(c, 0) || math.IsNaN(c) || word {
		m.fail("confidence must be a number from 0 to 1, not %q", text)
		return 0
	}
	if percent {
		c /= 100
	}
	in := min(max(c, 0), 1)
	switch {
	case in != c:
		m.warn("confidence %s taken as %g", text, in)
	case isText || percent:
		m.warn("confidence given as text")
	}
	return in
}

func (m *meaning) eval() string {
	v, _ := m.get("eval")
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		s := strings.TrimSpace(v)
		if s == "null" || s == "None" {
			m.warn("eval given as the text %q, taken as none", s)
			return ""
		}
		return s
	case bool:
		if !v {
			m.warn("eval given as false, taken as none")
			return ""
		}
	case []any:
		var forms []string
		for _, e := range v {
			s, isText := e.(string)
			if !isText && e != nil {
				m.fail("eval must be text with one or more forms, not a list that holds %s", kind(e))
				return ""
			}
			forms = append(forms, s)
		}
		m.warn("eval given as a list, joined")
		return strings.TrimSpace(strings.Join(forms, "\n"))
	}
	m.fail("eval must be text with one or more forms, or null, not %s", kind(v))
	return ""
}

// truth reads a key that is true or false; what it can not read is false.
func (m *meaning) truth(key string) bool {
	v, _ := m.get(key)
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case string:
		switch strings.ToLower(strings.TrimSpace(v)) {
		case "true", "yes", "1":
			m.warn("%s given as text", key)
			return true
		case "false", "no", "0", "", "null":
			m.warn("%s given as text", key)
			return false
		}
	case number:
		if v == "0" || v == "1" {
			m.warn("%s given as a number", key)
			return v == "1"
		}
	}
	m.warn("%s must be true or false, not %s: taken as false", key, kind(v))
	return false
}

// note reads the scratchpad; one without heading or content is ignored (RFC v4 §2.3).
func (m *meaning) note() *Note {
	v, _ := m.get("scratchpad")
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
		if len(list) > 1 {
			m.warn("scratchpad holds %d notes: the first one counts", len(list))
		}
	} else if ok {
		v = nil
	}
	if s, ok := v.(string); v == nil || ok && strings.TrimSpace(s) == "" {
		return nil
	}
	o, ok := v.(object)
	if !ok {
		m.warn("scratchpad ignored: it must be an object, not %s", kind(v))
		return nil
	}
	in := meaning{object: o}
	heading, content := oneLine(in.text("heading", " ")), in.text("content", "\n")
	thread := strings.TrimSpace(in.text("thread", " "))
	switch {
	case in.problem != nil:
		m.warn("scratchpad ignored: %s", in.problem.Reason)
		return nil
	case heading == "" || strings.TrimSpace(content) == "":
		if len(o) > 0 {
			m.warn("scratchpad ignored: it needs heading and content")
		}
		return nil
	}
	switch strings.ToLower(thread) {
	case "null", "nil", "none", "no-thread":
		thread = ""
	}
	return &Note{Heading: heading, Thread: thread, Content: content}
}

// oneLine joins the lines of s by single spaces.
func oneLine(s string) string {
	lines := strings.FieldsFunc(s, func(r rune) bool {
		return strings.ContainsRune("\n\r\t\v\f\u0085\u2028\u2029", r)
	})
	kept := lines[:0]
	for _, l := range lines {
		if l = strings.TrimSpace(l); l != "" {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, " ")
}
