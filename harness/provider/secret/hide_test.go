package secret

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
)

const someKey = "sk-" + "ant-hunter2-hunter2-hunter2+x/9=&z"

func TestHide(t *testing.T) {
	asJSON, err := json.Marshal(map[string]string{"key": someKey})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		someKey,
		"x-api-key: " + someKey + "\r\n",
		"https://h.test/?key=" + url.QueryEscape(someKey),
		"https://h.test/" + url.PathEscape(someKey) + "/x",
		string(asJSON),
		`{"key":"` + someKey + `"}`,
		base64.StdEncoding.EncodeToString([]byte(someKey)),
		base64.URLEncoding.EncodeToString([]byte(someKey)),
		someKey + someKey,
	} {
		got := Hide(text, someKey)
		if !strings.Contains(got, hidden) || strings.Contains(got, "hunter") || strings.Contains(got, "aHVudGVy") {
			t.Errorf("%s became %s", text, got)
		}
	}
	// in basic authentication, wherever the key begins
	for _, user := range []string{"", "a", "ab", "abc"} {
		text := base64.StdEncoding.EncodeToString([]byte(user + ":" + someKey))
		if got := Hide(text, someKey); !strings.Contains(got, hidden) || len(got)-len(hidden) > 12 {
			t.Errorf("%s became %s", text, got)
		}
	}
	if got := Hide("one two three", "two", "", "three"); got != "one [key] [key]" {
		t.Error(got)
	}
	if got := Hide("a longer-key", "longer", "longer-key"); got != "a [key]" {
		t.Error(got)
	}
	if got := Hide("nothing to hide"); got != "nothing to hide" {
		t.Error(got)
	}
}

func TestShapes(t *testing.T) {
	for text, want := range map[string]string{
		"key " + "s" + "k-ant-" + "api03-" + "abcdefgh_ijkl, x":  "key [key], x",
		"sk-proj-abcdefghij_klmnop":                              "[key]",
		"AIzaSyA1234567890abcdefghijklmnopqrstuv":                "[key]",
		"gsk_abcdefghijklmnopqrst":                               "[key]",
		"ghp_abcdefghijklmnopqrstuvwxyz0123456789":               "[key]",
		"Authorization: Bearer abc.def-123456":                   "Authorization: Bearer [key]",
		"Authorization: Bearer [key]":                            "Authorization: Bearer [key]",
		"authorization: Basic dXNlcjpwYXNz":                      "authorization: Basic [key]",
		"X-Api-Key: abcdefgh1234":                                "X-Api-Key: [key]",
		`{"x-api-key":"abcdefgh1234","n":1}`:                     `{"x-api-key":"[key]","n":1}`,
		`{"api_key": "abc", "password": "x y"}`:                  `{"api_key": "[key]", "password": "[key]"}`,
		"GET /v1?key=abc&alt=sse":                                "GET /v1?key=[key]&alt=sse",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcDEF_123-45": "[key]",
		// not keys
		"a risk-assessment-of-the-whole-thing": "a risk-assessment-of-the-whole-thing",
		"max_tokens: 4096":                     "max_tokens: 4096",
		"the bearer of bad news":               "the bearer of bad news",
	} {
		if got := Shapes(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

// FuzzHide: a key is nowhere in what is left, as it is or escaped, and hiding
// twice hides no more.
func FuzzHide(f *testing.F) {
	f.Add("a ", someKey, " b")
	f.Add("Bearer ", "12345678", "5678")
	f.Fuzz(func(t *testing.T, before, key, after string) {
		if len(key) < 8 || wrong(key) != "" || strings.Contains(hidden, key) {
			return
		}
		asJSON, err := json.Marshal(key)
		if err != nil {
			t.Fatal(err)
		}
		inner := string(asJSON[1 : len(asJSON)-1])
		text := before + key + after + "\n" + url.QueryEscape(key) + "\n" + inner
		got := Hide(text, key)
		for _, form := range []string{key, url.QueryEscape(key), inner} {
			if strings.Contains(got, form) && !strings.Contains(form, hidden) {
				t.Errorf("%q is in %q", form, got)
			}
		}
		if once := Shapes(text); Shapes(once) != once {
			t.Errorf("%q became %q, then %q", text, once, Shapes(once))
		}
	})
}
