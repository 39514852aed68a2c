package agent

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestPick(t *testing.T) {
	const value = `{"type":"result","n":3,"ok":true,"none":null,"empty":"","list":["a",{"b":2},{"b":5}],
		"usage":{"in":10,"cached":5.5},"models":{"x":{"t":1},"y":{"t":2}}}`
	var v any
	if err := json.Unmarshal([]byte(value), &v); err != nil {
		t.Fatal(err)
	}
	for pick, want := range map[string]struct {
		text   string
		number float64
		ok     bool
	}{
		"":                               {},
		"type":                           {text: "result"},
		"type if n=3":                    {text: "result"},
		"type if n=4":                    {},
		"type if ok=true type=result":    {text: "result"},
		"type if none= empty=":           {text: "result"},
		"type if missing=x":              {},
		"type if list.*.b=5":             {text: "result"},
		"empty | type":                   {text: "result"},
		"missing | type if n=4 | list.0": {text: "a"},
		"list.*":                         {text: "a"},
		"list.1":                         {text: `{"b":2}`},
		"list.7 | list.x":                {},
		"usage.in + usage.cached":        {text: "10", number: 15.5, ok: true},
		"usage.in + usage.none":          {text: "10", number: 10, ok: true},
		"models.*.t":                     {text: "1", number: 3, ok: true},
		"list.*.b":                       {text: "2", number: 7, ok: true},
		"type.further":                   {},
	} {
		p, err := parsePick(pick)
		if err != nil {
			t.Errorf("%q: %v", pick, err)
			continue
		}
		number, ok := p.number(v)
		if text := p.text(v); text != want.text || number != want.number || ok != want.ok {
			t.Errorf("%q: text %q, number %v %v", pick, text, number, ok)
		}
	}
	for pick, want := range map[string]string{
		"a..b": "is not a path", "a if b": "is not a condition", "a |": "is not a path", "a b": "is not a path", " if a=b": "is not a path", "a=b": "is not a path",
	} {
		if _, err := parsePick(pick); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", pick, err)
		}
	}
}

func FuzzPick(f *testing.F) {
	for _, e := range Builtin() {
		for _, p := range []string{e.Output.Text, e.Output.In, e.Output.Error} {
			f.Add(p, `{"type":"result","result":"x","usage":{"input_tokens":1}}`)
		}
	}
	f.Fuzz(func(t *testing.T, pick, value string) {
		p, err := parsePick(pick)
		var v any
		if err != nil || json.Unmarshal([]byte(value), &v) != nil {
			return
		}
		before, _ := json.Marshal(v)
		p.text(v)
		p.number(v)
		if after, _ := json.Marshal(v); string(after) != string(before) {
			t.Errorf("%q changed %s", pick, value)
		}
	})
}
