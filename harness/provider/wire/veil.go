package wire

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// masked stands where a key was.
const masked = "[key]"

// veil hides secrets in text, each as it is, as a part of a URL and as JSON.
type veil struct {
	secrets []string
	replace *strings.Replacer
}

func newVeil(secrets []string) *veil {
	v := &veil{}
	for _, s := range secrets {
		if len(s) < 4 { // as common as any word
			continue
		}
		quoted, _ := json.Marshal(s) // a string can not fail
		v.secrets = append(v.secrets, s, url.QueryEscape(s), url.PathEscape(s), strings.Trim(string(quoted), `"`))
	}
	// Where two begin alike, the longer one is meant.
	slices.SortFunc(v.secrets, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	v.secrets = slices.Compact(v.secrets)
	var pairs []string
	for _, form := range v.secrets {
		pairs = append(pairs, form, masked)
	}
	v.replace = strings.NewReplacer(pairs...)
	return v
}

func (v *veil) text(s string) string { return v.replace.Replace(s) }

// open splits text into what can be shown and the end of it that may be the
// beginning of a secret.
func (v *veil) open(text string) (show, keep string) {
	cut := len(text)
	for _, s := range v.secrets {
		for n := min(len(s)-1, len(text)); n > len(text)-cut; n-- {
			if strings.HasPrefix(s, text[len(text)-n:]) {
				cut = len(text) - n
				break
			}
		}
	}
	return text[:cut], text[cut:]
}
