package fake_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"amacs/harness/provider/fake"
)

// What a vendor would refuse is refused, and the queue is left as it is.
func TestRefused(t *testing.T) {
	anthropic := func(more string) string {
		return `{"model":"m","max_tokens":2000,"messages":[{"role":"user","content":[{"type":"text","text":"kettle?"}]}]` + more + `}`
	}
	format := func(schema string) string {
		return anthropic(`,"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}`)
	}
	chat := func(schema string) string {
		return `{"model":"m","messages":[{"role":"user","content":"x"}],"response_format":{"type":"json_schema","json_schema":{"name":"reply","strict":true,"schema":` + schema + `}}}`
	}
	const closed = `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":"object","properties":{"c":{"type":"number"}},"required":["c"],"additionalProperties":false}},"required":["a","b"],"additionalProperties":false}`
	marked := `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
	for _, one := range []struct{ path, body, says string }{
		{"/v1/messages", anthropic(``), ""},
		{"/v1/messages", `{"model":"m","messages":[{"role":"user","content":"x"}]}`, "max_tokens: Field required"},
		{"/v1/messages", `{"model":"m","max_tokens":1,"messages":[]}`, "at least one message"},
		{"/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":""}]}]}`, "non-whitespace"},
		{"/v1/messages", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"{"}]}`, "prefill"},
		{"/v1/messages", anthropic(`,"system":[` + strings.Repeat(marked+",", 3) + marked + `]`), ""},
		{"/v1/messages", anthropic(`,"system":[` + strings.Repeat(marked+",", 4) + marked + `]`), "Found 5"},
		{"/v1/messages", anthropic(`,"temperature":1.5`), "range: 0..1"},
		{"/v1/messages", anthropic(`,"temperature":0.5,"top_p":0.9`), "cannot both"},
		{"/v1/messages", anthropic(`,"thinking":{"type":"enabled","budget_tokens":1024}`), ""},
		{"/v1/messages", anthropic(`,"thinking":{"type":"enabled","budget_tokens":2000}`), "must be greater"},
		{"/v1/messages", anthropic(`,"thinking":{"type":"enabled","budget_tokens":100}`), "1024"},
		{"/v1/messages", anthropic(`,"thinking":{"type":"adaptive"},"temperature":0.5`), "may only be set to 1"},
		{"/v1/messages", anthropic(`,"thinking":{"type":"adaptive"},"top_k":5`), "top_k"},
		{"/v1/messages", format(closed), ""},
		{"/v1/messages", format(`{"type":"object","properties":{"a":{"type":"string"}}}`), "additionalProperties"},
		{"/v1/messages", format(strings.Replace(closed, `"type":"number"`, `"type":"number","minimum":0`, 1)), "'minimum' is not supported"},
		{"/v1/chat/completions", chat(closed), ""},
		{"/v1/chat/completions", chat(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]}`), "'additionalProperties' is required"},
		{"/v1/chat/completions", chat(strings.Replace(closed, `"required":["c"],`, "", 1)), "In context=('properties', 'b'), 'required'"},
		{"/v1/chat/completions", chat(`{"type":"array"}`), "type: \\\"object\\\""},
		{"/v1/chat/completions", `{"model":"m","stream_options":{},"messages":[{"role":"user","content":"x"}]}`, "stream_options"},
		{"/v1/chat/completions", `{"model":"m"`, "parse the JSON"},
		{"/v1/responses", `{"model":"m"}`, "input"},
		{"/api/chat", `{"messages":[]}`, "model is required"},
		{"/v1beta/models/m:streamGenerateContent", `{"contents":[]}`, "alt=sse"},
	} {
		s := fake.New(t)
		s.Queue(fake.Answer{})
		r := post(t, t.Context(), s.URL+one.path, one.body)
		body := read(t, r)
		if one.says == "" {
			if r.StatusCode != 200 || s.Left() != 0 {
				t.Errorf("%s: %d %s", one.body, r.StatusCode, body)
			}
		} else if r.StatusCode != 400 || !strings.Contains(body, one.says) || s.Left() != 1 {
			t.Errorf("%s: %d %s, want %q", one.body, r.StatusCode, body, one.says)
		}
	}
}

func TestNoKey(t *testing.T) {
	s := fake.New(t)
	for path, want := range map[string]int{"/v1/messages": 401, "/v1beta/models/m:generateContent": 403, "/nowhere": 404} {
		r, err := http.Post(s.URL+path, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, r.StatusCode, want)
		}
	}
}

// The cache serves what stands before a breakpoint, from block to block, and
// writes what is new up to the last one.
func TestAnthropicCache(t *testing.T) {
	text := func(name string, n int, mark bool) string {
		more := ""
		if mark {
			more = `,"cache_control":{"type":"ephemeral"}`
		}
		return fmt.Sprintf(`{"type":"text","text":%q%s}`, strings.Repeat(name, n), more)
	}
	big := func(name string, mark bool) string { return text(name, 4000, mark) } // 1,000 tokens each
	many := func(n int) (out []string) {
		for i := range n {
			out = append(out, text(string(rune('a'+i)), 40, false))
		}
		return out
	}
	s := fake.New(t)
	for i, one := range []struct {
		model           string
		blocks          []string
		in, read, wrote int
	}{
		{"m", []string{big("a", true)}, 1000, 0, 0}, // below the floor
		{"m", []string{big("a", false), big("b", true), big("c", false)}, 1000, 0, 2000},
		{"m", []string{big("a", false), big("b", true), big("d", false)}, 1000, 2000, 0},
		{"m", []string{big("a", false), big("b", false), big("c", true), big("d", false)}, 1000, 2000, 1000},
		{"m", []string{big("a", true), big("b", true), big("c", true), big("d", true)}, 0, 3000, 1000},
		{"m", []string{big("a", false), big("x", true), big("c", true)}, 0, 0, 3000}, // a was never at the end of 1,024 tokens
		{"other", []string{big("a", false), big("b", true)}, 0, 0, 2000},
		{"m", []string{big("a", false), big("b", false), big("c", false)}, 3000, 0, 0},                                        // no breakpoint
		{"m", append(append([]string{big("a", false), big("b", false)}, many(18)...), text("z", 40, true)), 0, 2000, 190},     // 19 blocks back
		{"m", append(append([]string{big("a", false), big("b", false)}, many(25)...), text("y", 40, true)), 0, 0, 2000 + 260}, // too far back
	} {
		body := fmt.Sprintf(`{"model":%q,"max_tokens":9,"messages":[{"role":"user","content":[%s]}]}`, one.model, strings.Join(one.blocks, ","))
		got := read(t, post(t, t.Context(), s.URL+"/v1/messages", body))
		for _, want := range []string{fmt.Sprintf(`"input_tokens":%d,`, one.in), fmt.Sprintf(`"cache_read_input_tokens":%d,`, one.read),
			fmt.Sprintf(`"cache_creation_input_tokens":%d,`, one.wrote)} {
			if !strings.Contains(got, want) {
				t.Errorf("request %d: no %s in %s", i, want, got)
			}
		}
		count := read(t, post(t, t.Context(), s.URL+"/v1/messages/count_tokens", body))
		if want := fmt.Sprintf(`{"input_tokens":%d}`, one.in+one.read+one.wrote); count != want {
			t.Errorf("request %d: counted %s, want %s", i, count, want)
		}
	}
}

func TestOpenAICache(t *testing.T) {
	s := fake.New(t)
	long := strings.Repeat("kettle, ", 1000) // 2,000 tokens
	for i, one := range []struct {
		prompt string
		cached int
	}{
		{long + "one", 0},
		{long + "two", 1920}, // 15 times 128
		{"and " + long, 0},
		{long[:4000], 0}, // 1,000 tokens
		{long[:4600], 1024},
	} {
		body := read(t, post(t, t.Context(), s.URL+"/v1/chat/completions", fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, one.prompt)))
		if want := fmt.Sprintf(`"cached_tokens":%d}`, one.cached); !strings.Contains(body, want) {
			t.Errorf("request %d: no %s in %s", i, want, body)
		}
	}
}

// A prompt beyond num_ctx is cut without a word, unless it must not be.
func TestOllamaContext(t *testing.T) {
	s := fake.New(t)
	prompt := strings.Repeat("kettle, ", 2500) // 5,000 tokens
	for _, one := range []struct {
		more   string
		status int
		says   string
	}{
		{``, 200, `"prompt_eval_count":4096`},
		{`,"options":{"num_ctx":8192}`, 200, `"prompt_eval_count":500`},
		{`,"truncate":false`, 400, "exceeds the context length"},
		{`,"truncate":false,"options":{"num_ctx":8192}`, 200, `"prompt_eval_count":500`},
	} {
		r := post(t, t.Context(), s.URL+"/api/chat", fmt.Sprintf(`{"model":"m","stream":false,"messages":[{"role":"user","content":%q}]%s}`, prompt, one.more))
		if body := read(t, r); r.StatusCode != one.status || !strings.Contains(body, one.says) {
			t.Errorf("%s: %d %s", one.more, r.StatusCode, body)
		}
	}
}
