package tools

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func toolOf(t testing.TB, inputSchema string) *mcp.Tool {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(inputSchema), &v); err != nil {
		t.Fatal(err)
	}
	return &mcp.Tool{Name: "t", InputSchema: v}
}

// one is the schema of a tool with the argument v of this kind.
func one(kind string) string { return `{"type":"object","properties":{"v":` + kind + `}}` }

func TestFit(t *testing.T) {
	t.Parallel()
	const person = `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}`
	for _, c := range []struct{ schema, in, out string }{
		{one(`{"type":"integer"}`), `{"v":"5"}`, `{"v":5}`},
		{one(`{"type":"integer"}`), `{"v":" -5.0 "}`, `{"v":-5}`},
		{one(`{"type":"integer"}`), `{"v":5.0}`, `{"v":5}`},
		{one(`{"type":"integer"}`), `{"v":"5.5"}`, `"v" should be integer, and is "5.5"; it takes v (integer, optional)`},
		{one(`{"type":"integer"}`), `{"v":true}`, `"v" should be integer, and is true`},
		{one(`{"type":"integer"}`), `{"v":"9007199254740993"}`, `{"v":9007199254740993}`},
		{one(`{"type":"integer"}`), `{"v":1e300}`, `"v" should be integer`},
		{one(`{"type":"number"}`), `{"v":"2.5"}`, `{"v":2.5}`},
		{one(`{"type":"number"}`), `{"v":"NaN"}`, `"v" should be number`},
		{one(`{"type":"number"}`), `{"v":"many"}`, `"v" should be number, and is "many"`},
		{one(`{"type":"boolean"}`), `{"v":"True"}`, `{"v":true}`},
		{one(`{"type":"boolean"}`), `{"v":null}`, `{"v":false}`},
		{one(`{"type":"boolean"}`), `{"v":1}`, `"v" should be boolean, and is 1`},
		{one(`{"type":"string"}`), `{"v":5}`, `{"v":"5"}`},
		{one(`{"type":"string"}`), `{"v":true}`, `{"v":"true"}`},
		{one(`{"type":"string"}`), `{"v":"[1]"}`, `{"v":"[1]"}`},
		{one(`{"type":"string"}`), `{"v":null}`, `{}`},
		{one(`{"type":"string"}`), `{"v":["a"]}`, `"v" should be string, and is ["a"]`},
		{one(`{"type":["string","null"]}`), `{"v":null}`, `{"v":null}`},
		{one(`{"type":["integer","string"]}`), `{"v":"5"}`, `{"v":"5"}`},
		{one(`{"type":"array","items":{"type":"integer"}}`), `{"v":"5"}`, `{"v":[5]}`},
		{one(`{"type":"array","items":{"type":"integer"}}`), `{"v":"[1,\"2\"]"}`, `{"v":[1,2]}`},
		{one(`{"type":"array","items":{"type":"integer"}}`), `{"v":[1,"x"]}`, `"v" element 2 should be integer, and is "x"; it takes v (array of integers, optional)`},
		{one(`{"type":"array","items":{"type":"string"}}`), `{"v":[1,"x"]}`, `{"v":["1","x"]}`},
		{one(`{"type":"array"}`), `{"v":{"a":1}}`, `{"v":[{"a":1}]}`},
		{one(`{"enum":["low","high"]}`), `{"v":"High"}`, `{"v":"high"}`},
		{one(`{"enum":["low","high"]}`), `{"v":"middle"}`, `"v" should be "low" or "high", and is "middle"`},
		{one(`{"type":"integer","enum":[1,2]}`), `{"v":"2"}`, `{"v":2}`},
		{one(`{"const":"x"}`), `{"v":"y"}`, `"v" should be "x"`},
		{one(person), `{"v":"{\"name\":\"ann\",\"age\":\"7\"}"}`, `{"v":{"age":7,"name":"ann"}}`},
		{one(person), `{"v":{"age":7}}`, `"v" "name" is missing`},
		{one(person), `{"v":{"name":"ann","more":1}}`, `{"v":{"more":1,"name":"ann"}}`},
		{one(person), `{"v":"ann"}`, `"v" should be object, and is "ann"`},
		{one(`{"anyOf":[{"type":"integer"},{"type":"null"}]}`), `{"v":"5"}`, `{"v":5}`},
		{one(`{"anyOf":[{"type":"integer"},{"type":"string"}]}`), `{"v":"5"}`, `{"v":"5"}`},
		{one(`{"oneOf":[{"type":"integer"},{"type":"boolean"}]}`), `{"v":"x"}`, `"v" should be integer`},
		{one(`{}`), `{"v":{"x":[1]}}`, `{"v":{"x":[1]}}`},
		{one(`true`), `{"v":"x"}`, `{"v":"x"}`},
		{`{"type":"object","properties":{"v":{"$ref":"#/$defs/n"}},"$defs":{"n":{"type":"integer"}}}`, `{"v":"5"}`, `{"v":5}`},
		{`{"type":"object","properties":{"v":{"$ref":"#/$defs/n"}},"$defs":{"n":{"$ref":"#/$defs/n"}}}`, `{"v":"5"}`, `{"v":"5"}`},
		{`{"allOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]},{"properties":{"b":{"type":"boolean"}}}]}`, `{"a":"1","b":"true"}`, `{"a":1,"b":true}`},
		{`{"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"},{"$ref":"#/properties/a"}]}}}`, `{"a":"x"}`, `"a" is nested too deeply`},
		{`{"type":"object","properties":{"file_path":{"type":"string"},"maxDepth":{"type":"integer"}}}`, `{"file-path":"x","max_depth":"2"}`, `{"file_path":"x","maxDepth":2}`},
		{`{"type":"object","properties":{"limit":{"type":"integer"}},"required":["limit"]}`, `{"limt":1}`, `there is no argument "limt" (did you mean limit?); it takes limit (integer)`},
		{`{"type":"object","properties":{"a":{},"b":{}},"required":["b","a"]}`, `{}`, `"b" and "a" are missing; it takes b (anything), a (anything)`},
		{`{"type":"object","properties":{}}`, `{"x":1}`, `there is no argument "x"; it takes no arguments`},
		{`{"type":"object","properties":{"a":{}},"additionalProperties":true}`, `{"x":1}`, `{"x":1}`},
		{`{"type":"object"}`, `{"x":"1"}`, `{"x":"1"}`},
		{`null`, `{"x":"1"}`, `{"x":"1"}`},
	} {
		d := json.NewDecoder(strings.NewReader(c.in))
		d.UseNumber()
		var args map[string]any
		if err := d.Decode(&args); err != nil {
			t.Fatal(c.in, err)
		}
		out, err := fitArguments(toolOf(t, c.schema), args)
		if err != nil {
			if !strings.HasPrefix(err.Error(), c.out) {
				t.Errorf("%s %s\n is %v\nnot %s", c.schema, c.in, err, c.out)
			}
			continue
		}
		if b, err := json.Marshal(out); err != nil || string(b) != c.out {
			t.Errorf("%s %s\n is %s %v\nnot %s", c.schema, c.in, b, err, c.out)
		}
	}
}

// The values of another language than JSON.
func TestFitKinds(t *testing.T) {
	t.Parallel()
	type word string
	out, err := fitArguments(toolOf(t, `{"type":"object"}`), map[string]any{
		"int": 5, "u": uint8(6), "f": float32(0.5), "nan": math.NaN(), "huge": uint64(math.MaxUint64),
		"list": []string{"a"}, "map": map[word]int{"k": 1}, "word": word("w"), "nil": nil,
	})
	want := map[string]any{
		"int": int64(5), "u": int64(6), "f": 0.5, "nan": "NaN", "huge": float64(math.MaxUint64),
		"list": []any{"a"}, "map": map[string]any{"k": int64(1)}, "word": "w", "nil": nil,
	}
	if err != nil || !reflect.DeepEqual(out, want) {
		t.Errorf("%#v %v", out, err)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	property := `{"type":"string","description":"` + strings.Repeat("very ", 100) + `long"}`
	few := `{"type":"object","properties":{"description":` + property + strings.Repeat(`,"p`+strings.Repeat("x", 3)+`":`+property, 30) + `}}`
	var many strings.Builder
	for i := range 500 {
		many.WriteString(`,"` + strings.Repeat("é", 20) + string(rune('a'+i%26)) + strings.Repeat("i", i/26) + `":{"type":"string"}`)
	}
	long := toolOf(t, `{"type":"object","properties":{"a":{}`+many.String()+`}}`)
	for name, c := range map[string]struct {
		tool *mcp.Tool
		end  string
	}{"whole": {toolOf(t, one(`{"type":"string"}`)), "}"}, "few": {toolOf(t, few), "}"}, "many": {long, "\n[...truncated...]"}} {
		text, err := describe(c.tool)
		if err != nil || len(text) > 8<<10 || !strings.HasSuffix(text, c.end) || !strings.HasPrefix(text, "{\n  \"") {
			t.Errorf("%s: %d bytes, %v: …%s", name, len(text), err, text[max(0, len(text)-100):])
		}
		if c.end == "}" && !json.Valid([]byte(text)) {
			t.Errorf("%s: no JSON", name)
		}
	}
}

// What fits once fits again and stays as it is; nothing panics or runs away.
func FuzzFit(f *testing.F) {
	f.Add(one(`{"type":"integer"}`), `{"v":"5"}`)
	f.Add(one(`{"anyOf":[{"$ref":"#"},{"enum":["a",1,null]}]}`), `{"v":{"v":"A"}}`)
	f.Add(`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"properties":{"x":{"items":{"type":["number","boolean"]}}},"required":["x"]}}}`, `{"X":["1",true]}`)
	f.Fuzz(func(t *testing.T, inputSchema, in string) {
		var s, v any
		if json.Unmarshal([]byte(inputSchema), &s) != nil || json.Unmarshal([]byte(in), &v) != nil {
			return
		}
		args, ok := v.(map[string]any)
		if !ok {
			return
		}
		tool := &mcp.Tool{Name: "t", InputSchema: s}
		once, err := fitArguments(tool, args)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%q", err)
			}
			return
		}
		twice, err := fitArguments(tool, once)
		if err != nil {
			if strings.Contains(err.Error(), "too deeply") { // the steps are counted for each
				return
			}
			t.Fatalf("%v does not fit again: %v", once, err)
		}
		if !reflect.DeepEqual(once, twice) {
			t.Fatalf("%#v becomes %#v", once, twice)
		}
		if _, err := describe(tool); err != nil {
			t.Fatal(err)
		}
	})
}
