package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// pick takes a text or a number out of a JSON value; see [Output]. The zero
// pick finds nothing.
type pick []choice

// choice is one alternative: terms that are added, if all conditions hold.
type choice struct {
	terms []path
	conds []cond
}

type cond struct {
	at    path
	value string
}

// path leads to elements of a value, by key or index; "*" is all of them.
type path []string

func parsePick(s string) (pick, error) {
	if strings.TrimSpace(s) == "" {
		return nil, nil
	}
	var p pick
	for alternative := range strings.SplitSeq(s, "|") {
		terms, conds, _ := strings.Cut(" "+alternative+" ", " if ")
		var c choice
		for term := range strings.SplitSeq(terms, "+") {
			at, err := parsePath(term)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", s, err)
			}
			c.terms = append(c.terms, at)
		}
		for _, word := range strings.Fields(conds) {
			name, value, ok := strings.Cut(word, "=")
			at, err := parsePath(name)
			if err != nil || !ok {
				return nil, fmt.Errorf("%q: %q is not a condition; write path=value", s, word)
			}
			c.conds = append(c.conds, cond{at, value})
		}
		p = append(p, c)
	}
	return p, nil
}

func parsePath(s string) (path, error) {
	s = strings.TrimSpace(s)
	at := path(strings.Split(s, "."))
	if slices.Contains(at, "") || strings.ContainsAny(s, " \t\n=") {
		return nil, fmt.Errorf("%q is not a path; write keys with dots between them", s)
	}
	return at, nil
}

// find calls use for each element that the path leads to, until it says false.
// Keys of an object are taken in order.
func (at path) find(v any, use func(any) bool) bool {
	if len(at) == 0 {
		return use(v)
	}
	key, rest := at[0], at[1:]
	switch v := v.(type) {
	case map[string]any:
		if key == "*" {
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if !rest.find(v[k], use) {
					return false
				}
			}
		} else if inner, ok := v[key]; ok {
			return rest.find(inner, use)
		}
	case []any:
		if key == "*" {
			for _, inner := range v {
				if !rest.find(inner, use) {
					return false
				}
			}
		} else if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v) {
			return rest.find(v[i], use)
		}
	}
	return true
}

func (c choice) holds(v any) bool {
	for _, cond := range c.conds {
		held := false
		cond.at.find(v, func(found any) bool {
			held = scalar(found) == cond.value
			return !held
		})
		if !held {
			return false
		}
	}
	return true
}

// text is the first text that is there and not empty.
func (p pick) text(v any) (text string) {
	for _, c := range p {
		if !c.holds(v) {
			continue
		}
		for _, at := range c.terms {
			at.find(v, func(found any) bool {
				text = scalar(found)
				return text == ""
			})
			if text != "" {
				return text
			}
		}
	}
	return ""
}

// number adds the numbers of the first alternative that has any.
func (p pick) number(v any) (sum float64, ok bool) {
	for _, c := range p {
		if !c.holds(v) {
			continue
		}
		for _, at := range c.terms {
			at.find(v, func(found any) bool {
				if n, is := found.(float64); is {
					sum, ok = sum+n, true
				}
				return true
			})
		}
		if ok {
			return sum, true
		}
	}
	return 0, false
}

// scalar is a JSON value as text: strings as they are, null as nothing.
func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	b, err := json.Marshal(v)
	if err != nil { // can not happen: v came out of JSON
		return ""
	}
	return string(b)
}
