package reply

import (
	"strings"
	"unicode/utf8"
)

// Problem says why a text is no reply, in words fit for the model and the human.
type Problem struct {
	Reason    string // "missing required key: monologue"
	Truncated bool   // the text ends too early: the token limit, or a broken stream
}

func (p *Problem) Error() string { return p.Reason }

func missingKeys(names []string) *Problem {
	key := "key: "
	if len(names) > 1 {
		key = "keys: "
	}
	return &Problem{Reason: "missing required " + key + strings.Join(names, ", ")}
}

// RetryMessage is what the model is told after a bad text (RFC v4 §2.4).
func RetryMessage(p *Problem, raw string) string {
	msg := "Your response was not valid JSON. Please retry.\n" +
		"What was wrong: " + p.Reason + ".\n" +
		"Send one JSON object and nothing around it, with mood (text), confidence (0 to 1) and monologue (one line of text);" +
		" eval, reply, continue and scratchpad are optional.\n"
	raw = strings.ToValidUTF8(strings.TrimSpace(raw), "\uFFFD")
	if raw == "" {
		return msg
	}
	const shown = 200
	head := raw
	if utf8.RuneCountInString(raw) > shown {
		head = string([]rune(raw)[:shown]) + "…"
	}
	return msg + "It began:\n" + head + "\n"
}
