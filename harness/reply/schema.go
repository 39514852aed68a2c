package reply

import (
	"bytes"
	"encoding/json"
)

// Key is one key of the reply, as a model is told of it: by the JSON schema that
// goes with a request, and by the table of the core skill.
type Key struct {
	Name     string
	Type     string // "string", "number", "boolean" or "object"
	Optional bool   // may be null, or left out where no schema is enforced
	Does     string
	Keys     []Key // of an object
}

// Keys are the keys of a reply in the order in which a model should write them.
// A model decides by writing: first what it is about, then what it does, then
// what it says of that, so that a reply can not promise another action than the
// one already written. Both are short as a rule, or there is no reply beside
// them, so that the words for the human come early; what nobody waits for
// follows, and how sure it is of the whole it tells last.
func Keys() []Key {
	return []Key{
		{Name: "monologue", Type: "string", Does: "one line for your own history: what you do and why. It becomes the commit's subject, `[TICK 42][thread][mood] monologue`"},
		{Name: "eval", Type: "string", Optional: true, Does: "one or more forms to evaluate"},
		{Name: "reply", Type: "string", Optional: true, Does: "what the human reads. Absent, null or empty: a silent tick"},
		{Name: "continue", Type: "boolean", Optional: true, Does: "`true`: give me another tick at once"},
		{Name: "scratchpad", Type: "object", Optional: true, Does: "a note to keep", Keys: []Key{
			{Name: "heading", Type: "string", Does: "its name; one used again within the same thread is added to"},
			{Name: "thread", Type: "string", Optional: true, Does: "id of the thread it belongs to; null: it is global"},
			{Name: "content", Type: "string", Does: "its text"},
		}},
		{Name: "mood", Type: "string", Does: "how you feel, in a word, a few, or an emoji"},
		{Name: "confidence", Type: "number", Does: "a number from 0 to 1: how sure you are of what you are doing"},
	}
}

// Schema is the JSON schema of a reply, in the form that every vendor's strict
// mode takes: each key required, optional ones nullable by anyOf, no other keys,
// and none of the keywords that one of them refuses (minimum, maxLength,
// pattern, default…). So it allows what [Parse] still refuses or mends: a blank
// mood or monologue, a confidence of 7.
func Schema() json.RawMessage {
	b, err := json.Marshal(of(Key{Type: "object", Keys: Keys()}))
	if err != nil { // can not happen: strings only
		return nil
	}
	return b
}

// schema is a JSON schema, as far as it is needed here.
type schema struct {
	Description string     `json:"description,omitempty"`
	Type        string     `json:"type,omitempty"`
	AnyOf       []schema   `json:"anyOf,omitempty"`
	Properties  properties `json:"properties,omitempty"`
	Required    []string   `json:"required,omitempty"`
	Additional  *bool      `json:"additionalProperties,omitempty"`
}

func of(k Key) schema {
	s := schema{Type: k.Type}
	if k.Type == "object" {
		s.Properties, s.Additional = k.Keys, new(bool)
		for _, inner := range k.Keys {
			s.Required = append(s.Required, inner.Name)
		}
	}
	if k.Optional {
		s = schema{AnyOf: []schema{s, {Type: "null"}}}
	}
	s.Description = k.Does
	return s
}

// properties keeps its keys in order: models write them so.
type properties []Key

func (ps properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, k := range ps {
		value, err := json.Marshal(of(k))
		if err != nil {
			return nil, err
		}
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(`"` + k.Name + `":`)
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
