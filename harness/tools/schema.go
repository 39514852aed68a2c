package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// schema is a JSON Schema, of which what is needed to fit arguments is read:
// type, enum, const, properties, required, additionalProperties, items, anyOf,
// oneOf, allOf and $ref within itself. The rest is the server's to check.
type schema struct {
	node  map[string]any
	root  map[string]any
	steps *int // that are left: a schema may refer to itself in many ways
}

// newSchema is that of a tool. One that can not be read wants nothing.
func newSchema(t *mcp.Tool) schema {
	root, ok := t.InputSchema.(map[string]any)
	if !ok {
		b, err := json.Marshal(t.InputSchema)
		if err != nil || json.Unmarshal(b, &root) != nil {
			root = nil
		}
	}
	steps := 10_000
	return schema{root, root, &steps}.resolved()
}

// sub is the schema that v is; false and true want nothing.
func (s schema) sub(v any) schema {
	node, _ := v.(map[string]any)
	return schema{node, s.root, s.steps}.resolved()
}

// resolved follows $ref, and lays what allOf holds together.
func (s schema) resolved() schema {
	const most = 32 // a ring of references ends here
	for range most {
		ref, ok := s.node["$ref"].(string)
		if !ok {
			break
		}
		s.node = s.at(ref)
	}
	parts, _ := s.node["allOf"].([]any)
	if len(parts) == 0 {
		return s
	}
	all := maps.Clone(s.node)
	delete(all, "allOf")
	properties, required := map[string]any{}, s.list("required")
	maps.Copy(properties, s.object("properties"))
	for _, p := range parts {
		part, _ := p.(map[string]any)
		if ref, ok := part["$ref"].(string); ok {
			part = s.at(ref)
		}
		for key, value := range part {
			if _, there := all[key]; !there && key != "allOf" {
				all[key] = value
			}
		}
		of := schema{part, s.root, s.steps}
		maps.Copy(properties, of.object("properties"))
		required = append(slices.Clone(required), of.list("required")...)
	}
	if len(properties) > 0 {
		all["properties"] = properties
	}
	all["required"] = required
	return schema{all, s.root, s.steps}
}

// at is what a reference like #/$defs/name points to.
func (s schema) at(ref string) map[string]any {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	node := s.root
	for part := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		if part != "" {
			part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part) // RFC 6901 §4
			node, _ = node[part].(map[string]any)
		}
	}
	return node
}

func (s schema) object(key string) map[string]any {
	m, _ := s.node[key].(map[string]any)
	return m
}

func (s schema) list(key string) []any {
	l, _ := s.node[key].([]any)
	return l
}

// types are the types that a value may have; none: any.
func (s schema) types() (types []string) {
	switch t := s.node["type"].(type) {
	case string:
		return []string{t}
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok {
				types = append(types, name)
			}
		}
		return types
	}
	switch {
	case s.object("properties") != nil:
		return []string{"object"}
	case s.node["items"] != nil:
		return []string{"array"}
	}
	return nil
}

// choices are the values that alone are allowed; none: any.
func (s schema) choices() []any {
	if c, ok := s.node["const"]; ok {
		return []any{c}
	}
	return s.list("enum")
}

// forms are the schemas of which one is enough.
func (s schema) forms() (forms []schema) {
	for _, key := range []string{"anyOf", "oneOf"} {
		for _, f := range s.list(key) {
			forms = append(forms, s.sub(f))
		}
	}
	return forms
}

// required reports whether an object must have this property.
func (s schema) required(name string) bool { return slices.Contains(s.list("required"), any(name)) }

// names are the properties: those that are required in their order, then the
// others sorted.
func (s schema) names() (names []string) {
	properties := s.object("properties")
	for _, r := range s.list("required") {
		if name, ok := r.(string); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// words are what a schema wants, for people: "integer", "a, b or c".
func (s schema) words() string {
	if choices := s.choices(); len(choices) > 0 {
		var texts []string
		for _, c := range choices[:min(10, len(choices))] {
			b, _ := json.Marshal(c) // it came from JSON
			texts = append(texts, string(b))
		}
		if len(choices) > len(texts) {
			texts = append(texts, "…")
		}
		return oneLine(strings.Join(texts, " or "), 150)
	}
	types := s.types()
	for _, f := range s.forms() {
		for _, t := range f.types() {
			if !slices.Contains(types, t) {
				types = append(slices.Clone(types), t)
			}
		}
	}
	if len(types) == 1 && types[0] == "array" {
		if of := s.sub(s.node["items"]).types(); len(of) == 1 {
			return "array of " + of[0] + "s"
		}
	}
	if len(types) == 0 {
		return "anything"
	}
	return strings.Join(types, " or ")
}

// parameters tells what a tool takes, briefly: "path (string), limit (integer, optional)".
func (s schema) parameters() string {
	const most = 20
	names := s.names()
	if len(names) == 0 {
		return "it takes no arguments"
	}
	properties := s.object("properties")
	var parts []string
	for _, name := range names[:min(most, len(names))] {
		words := s.sub(properties[name]).words()
		if !s.required(name) {
			words += ", optional"
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", oneLine(name, 64), words))
	}
	if len(names) > most {
		parts = append(parts, fmt.Sprintf("and %d more", len(names)-most))
	}
	return "it takes " + strings.Join(parts, ", ")
}

// describe is a tool as JSON for the agent, of at most 8 KB.
func describe(t *mcp.Tool) (string, error) {
	const most = 8 << 10
	full := map[string]any{"name": t.Name, "description": t.Description, "inputSchema": t.InputSchema}
	text, err := indented(full)
	if err != nil || len(text) <= most {
		return text, err
	}
	// Too long: without what is said of each property, then without its end.
	full["description"] = oneLine(t.Description, 1000)
	full["inputSchema"] = plain(t.InputSchema)
	if text, err = indented(full); err != nil || len(text) <= most {
		return text, err
	}
	const mark = "\n[...truncated...]"
	cut := most - len(mark)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + mark, nil
}

func indented(v any) (string, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// plain is a schema without descriptions and examples.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range v {
			_, text := value.(string)
			_, list := value.([]any)
			if text && (key == "description" || key == "title") || list && key == "examples" {
				continue
			}
			out[key] = plain(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = plain(v[i])
		}
		return out
	}
	return v
}
