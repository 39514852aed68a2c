package provider

import (
	"errors"
	"io"
	"strings"
	"testing"

	"amacs/harness/provider/wire"
)

// heard plays events to a vendor's ear.
func heard(hear func(*incoming, []byte) error, events ...string) (*incoming, error) {
	a := &incoming{}
	for _, e := range events {
		if err := hear(a, []byte(e)); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			var f *wire.Fault
			if errors.As(err, &f) {
				f.Again = true // as wire has it for what comes in mid-stream
			}
			return a, err
		}
	}
	return a, a.missing()
}

func TestHear(t *testing.T) {
	for name, c := range map[string]struct {
		hear   func(*incoming, []byte) error
		events []string
		text   string
		stop   string
		usage  Usage
		cost   float64
		err    string
		class  Class
	}{
		"anthropic, unknown events and fields": {hearAnthropic, []string{`{"type":"message_start","message":{"model":"m","usage":{"input_tokens":5,"cache_read_input_tokens":3,"output_tokens":1}}}`,
			`{"type":"new_thing","delta":"a string"}`, `{"type":"content_block_start","content_block":{"type":"thinking","thinking":""}}`, `{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"x"}}`,
			`{"type":"content_block_start","content_block":{"type":"text","text":"a"}}`, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"b"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`, `{"type":"message_stop"}`}, "ab", "end", Usage{In: 8, Cached: 3, Out: 7}, 0, "", 0},
		"anthropic, refusal": {hearAnthropic, []string{`{"type":"content_block_delta","delta":{"type":"text_delta","text":"I"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"refusal","stop_details":{"category":"cyber","explanation":null}}}`, `{"type":"message_stop"}`}, "I", "refusal", Usage{}, 0, "refused to answer: cyber", Permanent},
		"anthropic, full window": {hearAnthropic, []string{`{"type":"message_delta","delta":{"stop_reason":"model_context_window_exceeded"}}`, `{"type":"message_stop"}`}, "", "model_context_window_exceeded", Usage{}, 0, "do not fit", TooLong},
		"anthropic, no stop":     {hearAnthropic, []string{`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`}, "", "", Usage{}, 0, "before its stop marker", Transient},
		"anthropic, odd field":   {hearAnthropic, []string{`{"type":"content_block_delta","delta":[]}`}, "", "", Usage{}, 0, "content_block_delta event is not understood", 0},

		"openai, no [DONE]": {hearOpenAI, []string{`{"choices":[{"index":0,"delta":{"role":"assistant","content":null,"reasoning_content":"hm"},"finish_reason":null}]}`, `{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}`,
			`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":4,"cost":0.25,"prompt_tokens_details":{"cached_tokens":6,"cache_write_tokens":2}}}`}, "a", "end", Usage{In: 9, Cached: 6, Written: 2, Out: 4}, 0.25, "", 0},
		"openai, no reason":      {hearOpenAI, []string{`{"choices":[{"delta":{"content":"a"}}]}`, ``, `[DONE]`}, "a", "end", Usage{}, 0, "", 0},
		"openai, other choices":  {hearOpenAI, []string{`{"choices":[{"index":1,"delta":{"content":"b"}},{"index":0,"delta":{"content":"a"}}],"error":null}`, `[DONE]`}, "a", "end", Usage{}, 0, "", 0},
		"openai, refusal":        {hearOpenAI, []string{`{"choices":[{"delta":{"refusal":"I can "}}]}`, `{"choices":[{"delta":{"refusal":"not."},"finish_reason":"stop"}]}`, `[DONE]`}, "", "end", Usage{}, 0, "I can not.", Permanent},
		"openai, content filter": {hearOpenAI, []string{`{"choices":[{"delta":{"content":"a"},"finish_reason":"content_filter"}]}`, `[DONE]`}, "a", "content_filter", Usage{}, 0, "content filter", Permanent},
		"openai, cut":            {hearOpenAI, []string{`{"choices":[{"delta":{"content":"a"}}]}`}, "a", "", Usage{}, 0, "before its stop marker", Transient},
		"openai, not JSON":       {hearOpenAI, []string{`{"choices":[{"de`}, "", "", Usage{}, 0, "not whole", 0},

		"ollama, thinking": {hearOllama, []string{`{"message":{"content":"","thinking":"hm"},"done":false}`, `{"message":{"content":"a"},"done":false}`, `{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}`},
			"a", "end", Usage{In: 3, Out: 4}, 0, "", 0},
		"ollama, cut":   {hearOllama, []string{`{"message":{"content":"a"},"done":false}`}, "a", "", Usage{}, 0, "before its stop marker", Transient},
		"ollama, error": {hearOllama, []string{`{"error":"llama runner process has terminated"}`}, "", "", Usage{}, 0, "runner process", Transient},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := heard(c.hear, c.events...)
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("%v", err)
			}
			var f *wire.Fault
			if errors.As(err, &f) && classOf(f) != c.class {
				t.Errorf("%v", classOf(f))
			}
			if a.text.String() != c.text || a.stop != c.stop || a.usage != c.usage || (a.cost == nil) != (c.cost == 0) || a.cost != nil && *a.cost != c.cost {
				t.Errorf("%q, stop %q, usage %+v, cost %v", a.text.String(), a.stop, a.usage, a.cost)
			}
		})
	}
}

// No event makes an ear panic, and none is text that is not text.
func FuzzHear(f *testing.F) {
	for _, seed := range []string{`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`, `{"type":"content_block_delta","delta":{"type":"text_delta","text":"b"}}`,
		`{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}],"usage":null}`, `{"error":{"message":"m"}}`, `{"message":{"content":"a"},"done":true}`, `[DONE]`, `null`, `{"type":"error"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		for _, hear := range []func(*incoming, []byte) error{hearAnthropic, hearOpenAI, hearOllama} {
			a, err := heard(hear, string(event))
			var fault *wire.Fault
			if errors.As(err, &fault) {
				classOf(fault)
			}
			if strings.ToValidUTF8(a.text.String(), "") != a.text.String() {
				t.Errorf("%q", a.text.String())
			}
		}
	})
}
