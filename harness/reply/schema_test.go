package reply

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// obeys says how a value breaks a schema, "" if it does not. It knows what
// strict mode allows and refuses to read the rest.
func obeys(rule map[string]any, v any) string {
	for word := range rule {
		if !slices.Contains([]string{"type", "description", "properties", "required", "additionalProperties", "anyOf"}, word) {
			return "the schema has " + word
		}
	}
	if kinds, ok := rule["anyOf"].([]any); ok {
		var whys []string
		for _, r := range kinds {
			why := obeys(r.(map[string]any), v)
			if why == "" {
				return ""
			}
			whys = append(whys, why)
		}
		return strings.Join(whys, ", and ")
	}
	kind := map[string]bool{}
	switch v.(type) {
	case nil:
		kind["null"] = true
	case bool:
		kind["boolean"] = true
	case json.Number:
		kind["number"] = true
	case string:
		kind["string"] = true
	case map[string]any:
		kind["object"] = true
	}
	if want := rule["type"].(string); !kind[want] {
		return fmt.Sprintf("%v is no %s", v, want)
	}
	if rule["type"] != "object" {
		return ""
	}
	members, properties := v.(map[string]any), rule["properties"].(map[string]any)
	for _, key := range rule["required"].([]any) {
		if _, ok := members[key.(string)]; !ok {
			return key.(string) + " is missing"
		}
	}
	for key, member := range members {
		inner, ok := properties[key].(map[string]any)
		if !ok {
			return "there is no " + key
		}
		if why := obeys(inner, member); why != "" {
			return key + ": " + why
		}
	}
	return ""
}

func decode(t testing.TB, raw string) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

// strict lists what a vendor's strict mode would refuse of a schema: OpenAI
// wants every key required and no others, at most 5 levels; Anthropic at most 16
// unions; obeys refuses the keywords that one of them does.
func strict(rule map[string]any, depth int) (refused []string, unions int) {
	if depth > 5 {
		refused = append(refused, "nested too deeply")
	}
	if kinds, ok := rule["anyOf"].([]any); ok {
		unions++
		for _, r := range kinds {
			inner, n := strict(r.(map[string]any), depth)
			refused, unions = append(refused, inner...), unions+n
		}
	}
	properties, ok := rule["properties"].(map[string]any)
	if ok != (rule["type"] == "object") || ok != (rule["additionalProperties"] == false) {
		refused = append(refused, fmt.Sprint("an object without properties or open to others: ", rule))
	}
	if required, _ := rule["required"].([]any); len(required) != len(properties) {
		refused = append(refused, fmt.Sprint("not all are required: ", required))
	}
	for name, r := range properties {
		if r.(map[string]any)["description"] == nil {
			refused = append(refused, name+" is not described")
		}
		inner, n := strict(r.(map[string]any), depth+1)
		refused, unions = append(refused, inner...), unions+n
	}
	return refused, unions
}

func TestSchemaIsStrict(t *testing.T) {
	rule := decode(t, string(Schema())).(map[string]any)
	refused, unions := strict(rule, 1)
	if len(refused) > 0 || unions > 16 {
		t.Errorf("%q, %d unions in\n%s", refused, unions, Schema())
	}
	var required []string
	at := 0
	for _, k := range Keys() {
		if !k.Optional {
			required = append(required, k.Name)
		}
		i := strings.Index(string(Schema())[at:], `"`+k.Name+`":{"description"`)
		if i < 0 {
			t.Errorf("%s is not where the table has it in\n%s", k.Name, Schema())
		}
		at += max(i, 0)
	}
	if slices.Sort(required); !slices.Equal(required, slices.Sorted(slices.Values(requiredKeys))) {
		t.Errorf("required are %q, Parse wants %q", required, requiredKeys)
	}
	for raw, why := range map[string]string{ // what obeys must see
		`{"monologue":"m","eval":null,"reply":null,"continue":null,"scratchpad":null,"mood":"x","confidence":1}`:                          "",
		`{"monologue":"m","eval":null,"reply":null,"continue":null,"scratchpad":null,"mood":"x"}`:                                         "confidence is missing",
		`{"monologue":"m","eval":null,"reply":7,"continue":null,"scratchpad":null,"mood":"x","confidence":1}`:                             "reply: 7 is no string",
		`{"monologue":"m","eval":null,"reply":null,"continue":null,"scratchpad":{"heading":"h","content":"c"},"mood":"x","confidence":1}`: "thread is missing",
		`{"a":1,"monologue":"m","eval":null,"reply":null,"continue":null,"scratchpad":null,"mood":"x","confidence":1}`:                    "there is no a",
	} {
		if got := obeys(rule, decode(t, raw)); (got == "") != (why == "") || !strings.Contains(got, why) {
			t.Errorf("%s: %q, want %q", raw, got, why)
		}
	}
}

// write draws a value that obeys a key and writes it as JSON.
func write(t *rapid.T, k Key) string {
	if k.Optional && rapid.Bool().Draw(t, k.Name+" is null") {
		return "null"
	}
	var v any
	switch k.Type {
	case "object":
		var parts []string
		for _, inner := range k.Keys {
			parts = append(parts, fmt.Sprintf("%q:%s", inner.Name, write(t, inner)))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case "boolean":
		v = rapid.Bool().Draw(t, k.Name)
	case "number":
		v = rapid.Float64().Draw(t, k.Name)
		if rapid.Bool().Draw(t, "a usual one") {
			v = rapid.Float64Range(0, 1).Draw(t, k.Name)
		}
	default:
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[\s{}"\\<>/a-z]*|<think>.*|null|\(f "x"\)`)).Draw(t, k.Name)
		if slices.Contains(requiredKeys, k.Name) && oneLine(text) == "" {
			text += "x" // the one thing that a schema can not say
		}
		v = text
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Whatever obeys the schema is a reply, and says what it said.
func TestWhatObeysParses(t *testing.T) {
	rule := decode(t, string(Schema())).(map[string]any)
	rapid.Check(t, func(t *rapid.T) {
		raw := write(t, Key{Type: "object", Keys: Keys()})
		var said struct {
			Reply      *string
			Eval       *string
			Continue   *bool
			Confidence float64
		}
		if err := json.Unmarshal([]byte(raw), &said); err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(strings.NewReader(raw))
		dec.UseNumber()
		var v any
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		if why := obeys(rule, v); why != "" {
			t.Fatalf("%s: %s", raw, why)
		}
		r, err := Parse(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		text := ""
		if said.Reply != nil {
			text = strings.TrimSpace(*said.Reply)
		}
		if r.Text != text || r.Continue != (said.Continue != nil && *said.Continue) || r.Confidence != min(max(said.Confidence, 0), 1) {
			t.Fatalf("%s: %+v", raw, r)
		}
		if form := strings.TrimSpace(deref(said.Eval)); r.Eval != form && form != "null" && form != "None" {
			t.Fatalf("%s: eval %q", raw, r.Eval)
		}
	})
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
