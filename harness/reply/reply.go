// Package reply holds what a model's text means: one JSON object (RFC v4 §2.3),
// read as tolerantly as is safe. It reads text and nothing else.
//
//	{"mood": "focused", "confidence": 0.85,
//	 "monologue": "Found the missing lifetime.",
//	 "eval": "(agent-switch-thread \"rust\")",
//	 "reply": "It was line 40.", "continue": false,
//	 "scratchpad": {"heading": "Lifetimes", "thread": null, "content": "…"}}
//
// mood, confidence and monologue are required, the rest is optional. [Parse]
// reads a whole text; [Stream] decodes the words of "reply" while they arrive;
// [RetryMessage] tells the model what was wrong.
//
// # Which object
//
// The object may stand anywhere: in a code fence, between prose, behind a
// <think> block. Of several complete ones the first counts, since a model that
// runs on goes on to invent the human's next line and answers that. What stands
// before a bare </think> was thinking and does not count; what stands in a
// <think> that never ends does not count either, for a thought that was cut
// off is not yet a decision.
//
// Begin reading at [Parse].
package reply

import "encoding/json"

// Reply is what the model decided (RFC v4 §2.3, design §7).
type Reply struct {
	Mood       string   // one line, never empty
	Confidence float64  // 0 to 1
	Monologue  string   // one line, never empty
	Eval       string   // one or more forms; "" = none
	Text       string   // the "reply" key without space around it; "" = silent
	Continue   bool     // another tick at once
	Note       *Note    // the "scratchpad" key; nil = none
	Warnings   []string // what was mended or ignored; nil = nothing
}

// Note is a piece of text for the scratchpad (RFC v4 §4.2).
type Note struct {
	Heading string
	Thread  string // "" = global
	Content string
}

// Parse reads a model's whole text. What it had to mend is told in Warnings.
// The error is always a [*Problem].
func Parse(raw string) (Reply, error) {
	s := search{raw: raw}
	s.run()
	var inner string
	if s.object == nil && json.Unmarshal([]byte(raw), &inner) == nil {
		in := search{raw: inner, warnings: []string{"the object was sent inside a JSON string"}}
		if in.run(); in.object != nil {
			s = in
		}
	}
	if s.object == nil {
		return Reply{}, s.problem
	}
	return s.object.reply(s.warnings)
}
