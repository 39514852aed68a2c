package provider

import (
	"fmt"
	"regexp"

	"amacs/harness/provider/wire"
)

// optional is a part of a request that a server may refuse and an answer can do
// without.
type optional struct {
	name string         // which one
	says string         // as the human reads it: "a JSON schema"; "" = another takes its place, which nobody needs to know
	mark *regexp.Regexp // how a server's error names it
}

var (
	optSchema = optional{"schema", "a JSON schema",
		regexp.MustCompile(`(?i)output_config\.format|output[_ ]?format|structured output|response_format|json[_ ]?schema|\bschema\b|\bgrammar\b|\bformat\b`)}
	optTemperature = optional{"temperature", "a temperature", regexp.MustCompile(`(?i)temperature|sampling param`)}
	optTopP        = optional{"top_p", "top-p", regexp.MustCompile(`(?i)top[_-]?p\b|sampling param`)}
	optTopK        = optional{"top_k", "top-k", regexp.MustCompile(`(?i)top[_-]?k\b|sampling param`)}
	optThinking    = optional{"thinking", "the setting for thinking", regexp.MustCompile(`(?i)thinking|\bthink\b|reasoning`)}
	optEffort      = optional{"effort", "a setting for effort", regexp.MustCompile(`(?i)\beffort\b`)}
	optCounts      = optional{"stream_options", "the wish to count tokens", regexp.MustCompile(`(?i)stream_options|include_usage`)}
	optSystem      = optional{"system", "", regexp.MustCompile(`(?i)system (role|message)s?|role:? .?system`)}
	optMaxTokens   = optional{"max_tokens", "", regexp.MustCompile(
		`(?i)(unsupported|unrecognized|unknown|unexpected|not permitted)[^.]*max_(completion_)?tokens|max_(completion_)?tokens\b[^.]*(not supported|not permitted|instead)`)}
)

// draft is a request in the making.
type draft struct {
	without map[string]bool
	sent    []optional
	words   []string // what the human should know of it
}

func (m *remote) draft() *draft {
	m.mu.Lock()
	defer m.mu.Unlock()
	d := &draft{without: map[string]bool{}}
	for name := range m.without {
		d.without[name] = true
	}
	return d
}

// takes reports whether the server may be sent o.
func (d *draft) takes(o optional) bool {
	if d.without[o.name] {
		return false
	}
	d.sent = append(d.sent, o)
	return true
}

func (d *draft) say(format string, args ...any) {
	d.words = append(d.words, fmt.Sprintf(format, args...))
}

// refuse finds the setting that a server refused and leaves it out from now on.
// It returns what the human should know of that.
func (m *remote) refuse(d *draft, f *wire.Fault) (words []string, ok bool) {
	if f.Status != 400 && f.Status != 422 || classOf(f) != Permanent {
		return nil, false
	}
	text := f.Param + " " + f.Message
	for _, o := range d.sent {
		if !o.mark.MatchString(text) {
			continue
		}
		m.mu.Lock()
		m.without[o.name] = true
		m.mu.Unlock()
		if o.says != "" {
			words = []string{fmt.Sprintf("%s does not take %s, so it is left out: %s", m.Name(), o.says, f.Message)}
		}
		return words, true
	}
	return nil, false
}
