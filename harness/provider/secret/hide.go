package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

const hidden = "[key]"

// Hide replaces each of the keys by "[key]", also where it is escaped for a URL
// or for JSON, and where it is part of something in base64, as in the header
// of basic authentication.
func Hide(text string, keys ...string) string {
	var shapes []string
	for _, key := range keys {
		if key != "" {
			shapes = append(shapes, Forms(key)...)
		}
	}
	slices.SortFunc(shapes, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	var pairs []string
	for _, s := range slices.Compact(shapes) {
		pairs = append(pairs, s, hidden)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// Forms are the ways in which a key may be written, itself among them: what has
// to be hidden where it may come back.
func Forms(key string) []string {
	out := []string{key, url.QueryEscape(key), url.PathEscape(key), inJSON(key, true), inJSON(key, false)}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		out = append(out, e.EncodeToString([]byte(key)))
		for before := range 3 {
			if part := inBase64(e, key, before); len(part) >= 8 {
				out = append(out, part)
			}
		}
	}
	return out
}

func inJSON(key string, html bool) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(html)
	if err := e.Encode(key); err != nil { // can not happen: a string
		return key
	}
	return b.String()[1 : b.Len()-2] // without quotes and newline
}

// inBase64 is the part of a longer text in base64 that stems from the key
// alone, when the number of bytes before the key is before, modulo 3.
func inBase64(e *base64.Encoding, key string, before int) string {
	text := e.WithPadding(base64.NoPadding).EncodeToString([]byte("\x00\x00"[:before] + key))
	start := (before*8 + 5) / 6
	end := (before + len(key)) * 8 / 6
	return text[min(start, end):end]
}

// shape is how keys of some kind look; $1 and $2 are kept.
type shape struct {
	looks *regexp.Regexp
	as    string
}

var shapes = []shape{
	{regexp.MustCompile(`(?i)\b(authorization|x-api-key|x-goog-api-key|api-key)(["']?\s*[:=]\s*["']?(?:(?:bearer|basic|token)\s+)?)[^\s"',\[]{8,}`), "$1$2" + hidden},
	{regexp.MustCompile(`(?i)\b(bearer)(\s+)[A-Za-z0-9._~+/=-]{8,}`), "$1$2" + hidden},
	{regexp.MustCompile(`(?i)([?&](?:key|api_?key|access_?token|token)=)()[^&\s"'\[]+`), "$1" + hidden},
	{regexp.MustCompile(`(?i)("(?:api_?key|access_?token|refresh_?token|client_?secret|password)"\s*:\s*")()[^"\[][^"]*`), "$1" + hidden},
	{regexp.MustCompile(`\b(?:` + strings.Join([]string{
		`sk-[A-Za-z0-9_-]{16,}`, // Anthropic, OpenAI, OpenRouter and others
		`(?:gsk|xai|hf|r8|pplx|nvapi|fw|csk)[_-][A-Za-z0-9_-]{16,}`, // Groq, xAI, Hugging Face, Replicate, …
		`AIza[A-Za-z0-9_-]{30,}`,                                    // Google
		`AKIA[A-Z0-9]{16}`,                                          // AWS
		`gh[pousr]_[A-Za-z0-9]{20,}`, `github_pat_[A-Za-z0-9_]{20,}`,
		`eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*`, // a JSON web token
	}, "|") + `)`), hidden},
}

// Shapes replaces what looks like a vendor's key by "[key]". It is for logs,
// beside Hide, and hides sooner too much than too little.
func Shapes(text string) string {
	for _, s := range shapes {
		text = s.looks.ReplaceAllString(text, s.as)
	}
	return text
}
