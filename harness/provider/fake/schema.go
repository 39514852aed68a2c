package fake

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// objects walks a JSON schema and calls visit with each part of it and where it
// is, as OpenAI names a place: ('properties', 'scratchpad').
func objects(schema any, at []string, visit func(at []string, s obj) *failure) *failure {
	s, ok := schema.(obj)
	if !ok {
		return nil
	}
	if f := visit(at, s); f != nil {
		return f
	}
	for _, group := range []string{"properties", "$defs", "definitions"} {
		inner, _ := s[group].(obj)
		for _, name := range keys(inner) {
			if f := objects(inner[name], append(at[:len(at):len(at)], group, name), visit); f != nil {
				return f
			}
		}
	}
	for _, group := range []string{"anyOf", "allOf", "oneOf"} {
		list, _ := s[group].([]any)
		for i, one := range list {
			if f := objects(one, append(at[:len(at):len(at)], group, fmt.Sprint(i)), visit); f != nil {
				return f
			}
		}
	}
	return objects(s["items"], append(at[:len(at):len(at)], "items"), visit)
}

func keys(o obj) []string {
	var out []string
	for k := range o {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

func isObject(s obj) bool {
	switch t := s["type"].(type) {
	case string:
		return t == "object"
	case []any:
		return slices.Contains(t, any("object"))
	}
	return s["properties"] != nil
}

// strictOpenAI says what a schema has that OpenAI's strict mode refuses: every
// object is closed and requires all that it knows.
func strictOpenAI(param, name string, schema any) *failure {
	refuse := func(at []string, why string) *failure {
		place := "()"
		if len(at) > 0 {
			place = "('" + strings.Join(at, "', '") + "')"
		}
		return &failure{400, "invalid_request_error", "invalid_json_schema", param,
			fmt.Sprintf("Invalid schema for response_format '%s': In context=%s, %s.", name, place, why)}
	}
	if root, ok := schema.(obj); !ok || !isObject(root) || root["anyOf"] != nil {
		return refuse(nil, "schema must be a JSON Schema of 'type: \"object\"'")
	}
	return objects(schema, nil, func(at []string, s obj) *failure {
		if !isObject(s) {
			return nil
		}
		if s["additionalProperties"] != false {
			return refuse(at, "'additionalProperties' is required to be supplied and to be false")
		}
		required, _ := s["required"].([]any)
		properties, _ := s["properties"].(obj)
		for _, k := range keys(properties) {
			if !slices.Contains(required, any(k)) {
				return refuse(at, "'required' is required to be supplied and to be an array including every key in properties. Missing '"+k+"'")
			}
		}
		return nil
	})
}

// strictAnthropic says what a schema has that Anthropic's grammar can not hold:
// open objects, and bounds of numbers, strings and lists.
func strictAnthropic(schema any) *failure {
	return objects(schema, nil, func(_ []string, s obj) *failure {
		refuse := func(why string) *failure {
			return &failure{status: 400, kind: "invalid_request_error", message: "output_config.format.schema: " + why}
		}
		if isObject(s) && s["additionalProperties"] != false {
			return refuse("For 'object' type, 'additionalProperties' must be explicitly set to false")
		}
		for _, k := range []string{"exclusiveMaximum", "exclusiveMinimum", "maxItems", "maxLength", "maximum", "minLength", "minimum", "multipleOf"} {
			if s[k] != nil {
				return refuse(fmt.Sprintf("For '%v' type, property '%s' is not supported", s["type"], k))
			}
		}
		return nil
	})
}
