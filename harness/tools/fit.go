package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fitArguments makes of args what the tool's input schema wants. Models send
// numbers and booleans as texts, a single value for a list, a list as JSON in a
// text, and names with - for _: where it is clear what was meant, it is taken.
// nil is the false, the empty or the absent value, whatever is wanted.
func fitArguments(t *mcp.Tool, args map[string]any) (map[string]any, error) {
	s := newSchema(t)
	args, _ = normal(args).(map[string]any)
	if s.object("properties") == nil && len(s.forms()) == 0 {
		return args, s.missing(args) // it says nothing of them
	}
	fitted, err := s.fitObject(args, true, 0)
	if err != nil {
		return nil, fmt.Errorf("%w; %s", err, s.parameters())
	}
	return fitted, nil
}

// normal turns every kind of number, list and map into those of JSON: float64 or
// int64, []any, map[string]any. What JSON has not becomes its text.
func normal(v any) any {
	switch v := v.(type) {
	case nil, bool, string, int64:
		return v
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil {
			return f
		}
		return v.String()
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.String:
		return r.String()
	case reflect.Bool:
		return r.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return r.Int()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := r.Uint(); n <= math.MaxInt64 {
			return int64(n)
		}
		return float64(r.Uint())
	case reflect.Float32, reflect.Float64:
		if f := r.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			return f
		}
	case reflect.Slice, reflect.Array:
		list := make([]any, r.Len())
		for i := range list {
			list[i] = normal(r.Index(i).Interface())
		}
		return list
	case reflect.Map:
		m := map[string]any{}
		for _, key := range r.MapKeys() {
			m[fmt.Sprint(key.Interface())] = normal(r.MapIndex(key).Interface())
		}
		return m
	}
	return fmt.Sprint(v)
}

const deepest = 64 // levels of arguments

// fit makes of v what s wants, or tells why it can not. A value that is right
// stays as it is.
func (s schema) fit(v any, depth int) (any, error) {
	if *s.steps--; depth > deepest || *s.steps < 0 {
		return nil, errors.New("is nested too deeply")
	}
	if forms := s.forms(); len(forms) > 0 && s.object("properties") == nil {
		return fitForms(forms, v, depth)
	}
	types := s.types()
	if choices := s.choices(); len(choices) > 0 {
		return s.choose(choices, v)
	}
	if len(types) == 0 {
		return v, nil
	}
	// As it is, if one of the types has it, else as the first that can be made of it.
	for _, t := range types {
		if isA(t, v) {
			if out, err := s.convert(t, v, depth); err != errUnlike {
				return out, err
			}
		}
	}
	for _, t := range types {
		out, err := s.convert(t, v, depth)
		if err == nil {
			return out, nil
		}
		if len(types) == 1 && err != errUnlike {
			return nil, err
		}
	}
	return nil, fmt.Errorf("should be %s, and is %s", s.words(), shown(v))
}

// fitForms takes the first form that v has without change, else the first that
// it can be made to have.
func fitForms(forms []schema, v any, depth int) (any, error) {
	var first error
	var changed any
	found := false
	for _, f := range forms {
		out, err := f.fit(v, depth+1)
		switch {
		case err != nil:
			if first == nil {
				first = err
			}
		case reflect.DeepEqual(out, v):
			return out, nil
		case !found:
			changed, found = out, true
		}
	}
	if found {
		return changed, nil
	}
	return nil, first
}

// choose takes the choice that v is, or whose text it is.
func (s schema) choose(choices []any, v any) (any, error) {
	for _, c := range choices {
		if reflect.DeepEqual(normal(c), v) || sameNumber(c, v) {
			return c, nil
		}
	}
	if text, ok := v.(string); ok {
		for _, c := range choices {
			if strings.EqualFold(strings.TrimSpace(text), fmt.Sprint(c)) {
				return c, nil
			}
		}
	}
	return nil, fmt.Errorf("should be %s, and is %s", s.words(), shown(v))
}

func sameNumber(a, b any) bool {
	x, ok := number(a)
	y, also := number(b)
	return ok && also && x == y
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// isA reports whether v has a type of JSON Schema.
func isA(t string, v any) bool {
	switch v := v.(type) {
	case nil:
		return t == "null"
	case bool:
		return t == "boolean"
	case string:
		return t == "string"
	case int64:
		return t == "integer" || t == "number"
	case float64:
		return t == "number" || t == "integer" && v == math.Trunc(v)
	case []any:
		return t == "array"
	case map[string]any:
		return t == "object"
	}
	return false
}

var errUnlike = errors.New("is nothing like it")

// convert makes a value of type t of v, if it is clear which.
func (s schema) convert(t string, v any, depth int) (any, error) {
	text, isText := v.(string)
	text = strings.TrimSpace(text)
	switch t {
	case "null":
		if v == nil {
			return nil, nil
		}
	case "boolean":
		switch {
		case v == nil:
			return false, nil
		case strings.EqualFold(text, "true"):
			return true, nil
		case strings.EqualFold(text, "false"):
			return false, nil
		}
		if b, ok := v.(bool); ok {
			return b, nil
		}
	case "integer":
		if n, err := strconv.ParseInt(text, 10, 64); isText && err == nil {
			return n, nil
		}
		f, ok := number(v)
		if isText {
			var err error
			f, err = strconv.ParseFloat(text, 64)
			ok = err == nil
		}
		if n, exact := v.(int64); exact {
			return n, nil
		}
		if ok && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f), nil
		}
	case "number":
		if f, ok := number(v); ok && !isText {
			if n, exact := v.(int64); exact {
				return n, nil
			}
			return f, nil
		}
		if n, err := strconv.ParseInt(text, 10, 64); isText && err == nil {
			return n, nil
		}
		if f, err := strconv.ParseFloat(text, 64); isText && err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			return f, nil
		}
	case "string":
		switch v := v.(type) {
		case string:
			return v, nil
		case int64:
			return strconv.FormatInt(v, 10), nil
		case float64:
			return strconv.FormatFloat(v, 'f', -1, 64), nil
		case bool:
			return strconv.FormatBool(v), nil
		}
	case "array":
		return s.fitArray(v, depth)
	case "object":
		switch v := v.(type) {
		case map[string]any:
			return s.fitObject(v, false, depth)
		case string:
			var m map[string]any
			if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &m) == nil {
				return s.fitObject(m, false, depth)
			}
		case []any:
			if len(v) == 0 {
				return s.fitObject(map[string]any{}, false, depth)
			}
		case nil:
			return s.fitObject(map[string]any{}, false, depth)
		}
	}
	return nil, errUnlike
}

// fitArray takes a list, a text that is a list in JSON, or one value for its list.
func (s schema) fitArray(v any, depth int) (any, error) {
	list, ok := v.([]any)
	if text, isText := v.(string); isText && strings.HasPrefix(strings.TrimSpace(text), "[") {
		var parsed []any
		if json.Unmarshal([]byte(text), &parsed) == nil {
			list, ok = parsed, true
		}
	}
	switch {
	case v == nil:
		return []any{}, nil
	case !ok:
		list = []any{v}
	}
	of := s.sub(s.node["items"])
	out := make([]any, len(list))
	for i, item := range list {
		fitted, err := of.fit(item, depth+1)
		if err != nil {
			return nil, fmt.Errorf("element %d %w", i+1, err)
		}
		out[i] = fitted
	}
	return out, nil
}

// fitObject fits the properties. strict: one that the schema does not name is
// an error even if the schema does not say so.
func (s schema) fitObject(args map[string]any, strict bool, depth int) (map[string]any, error) {
	properties, out := s.object("properties"), map[string]any{}
	more, said := s.node["additionalProperties"]
	open := said && more != false || !said && !strict || s.node["patternProperties"] != nil || len(s.forms()) > 0
	for name, value := range args {
		property, known := properties[name]
		if !known {
			if same := s.sameName(name, args); same != "" {
				name, property, known = same, properties[same], true
			}
		}
		switch of := s.sub(property); {
		case known && value == nil && !s.required(name) && !slices.Contains(of.types(), "null") && !slices.Contains(of.types(), "boolean"):
			// absent
		case known:
			fitted, err := of.fit(value, depth+1)
			if err != nil {
				return nil, fmt.Errorf("%q %w", oneLine(name, 64), err)
			}
			out[name] = fitted
		case open:
			out[name] = value
		default:
			return nil, fmt.Errorf("there is no argument %q%s", oneLine(name, 64), meant(name, s.names()))
		}
	}
	return out, s.missing(out)
}

// sameName is the property that has this name but for case, - and _, if it is
// one and not given itself.
func (s schema) sameName(name string, args map[string]any) (same string) {
	bare := func(s string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(s))
	}
	for p := range s.object("properties") {
		if bare(p) != bare(name) {
			continue
		}
		if _, given := args[p]; given || same != "" {
			return ""
		}
		same = p
	}
	return same
}

// missing names the required properties that are not there.
func (s schema) missing(args map[string]any) error {
	var names []string
	for _, r := range s.list("required") {
		if name, ok := r.(string); ok {
			if _, there := args[name]; !there {
				names = append(names, strconv.Quote(oneLine(name, 64)))
			}
		}
	}
	if names == nil {
		return nil
	}
	if len(names) > 1 {
		return fmt.Errorf("%s are missing", strings.Join(names, " and "))
	}
	return fmt.Errorf("%s is missing", names[0])
}

// shown is a value for people.
func shown(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "something else"
	}
	return oneLine(string(b), 60)
}
