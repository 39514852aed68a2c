package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"amacs/harness/provider"
)

const fine = `{"reply":{"mood":"fine","confidence":0.8,"monologue":"Said it","reply":"All well."},"usage":{"in":100,"cached":60,"out":7},"model":"model-2"}`

// shown is what a face was told: streamed pieces joined, other events in words.
func (r *rig) shown() (out []string) {
	chunks := ""
	for _, e := range append(r.events, Event{Kind: -1}) {
		if e.Kind == Chunk {
			chunks += e.Text
			continue
		}
		if chunks != "" {
			out, chunks = append(out, "streamed "+chunks), ""
		}
		switch e.Kind {
		case Thinking:
			out = append(out, "thinking")
		case Withdrawn:
			out = append(out, "withdrawn "+e.Text)
		case Acting:
			out = append(out, "acting "+e.Text)
		case Notice:
			out = append(out, "notice "+e.Text)
		}
	}
	return out
}

func TestThinkRetries(t *testing.T) {
	bad := func(text string) string {
		return fmt.Sprintf(`{"text":%q,"usage":{"in":10,"cached":1,"out":3}}`, text)
	}
	const noMood = `{"reply":"streamed too early","confidence":1,"monologue":"x"}`
	for _, c := range []struct {
		name    string
		script  []string
		outcome string
		calls   int
		tokens  string
		model   string
		shown   []string
	}{
		{"at once", []string{fine}, "replied", 1, "100 in, 60 cached, 7 out", "model-2",
			[]string{"thinking", "streamed All well."}},
		{"once more", []string{bad("I think so."), fine}, "replied", 2, "110 in, 61 cached, 10 out", "model-2",
			[]string{"thinking", "withdrawn (not valid JSON: no JSON object found; asking again 1/2)", "streamed All well."}},
		{"the last time", []string{bad(noMood), bad("no"), fine}, "replied", 3, "120 in, 62 cached, 13 out", "model-2",
			[]string{"thinking", "streamed streamed too early", "withdrawn (not valid JSON: missing required key: mood; asking again 1/2)",
				"withdrawn (not valid JSON: no JSON object found; asking again 2/2)", "streamed All well."}},
		{"never", []string{bad("a"), bad("b"), bad("c"), fine}, "unparsed", 3, "30 in, 3 cached, 9 out", "script:script.jsonl",
			[]string{"thinking", "withdrawn (not valid JSON: no JSON object found; asking again 1/2)", "withdrawn (not valid JSON: no JSON object found; asking again 2/2)",
				"withdrawn (not valid JSON: no JSON object found; gave up after 2 retries)"}},
		{"fails at a retry", []string{bad("a"), `{"error":"overloaded"}`}, "failed", 2, "10 in, 1 cached, 3 out", "rigged",
			[]string{"thinking", "withdrawn (not valid JSON: no JSON object found; asking again 1/2)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.script...)
			got := r.say("how are things?")
			if got.Outcome != c.outcome || len(r.asked) != c.calls {
				t.Errorf("%s after %d calls, want %s after %d", got.Outcome, len(r.asked), c.outcome, c.calls)
			}
			if s := r.shown(); !slices.Equal(s, c.shown) {
				t.Errorf("shown\n%q, want\n%q", s, c.shown)
			}
			for i, q := range r.asked {
				if len(q.Retry) != 2*i || q.Text() != r.asked[0].Text() || q.System != r.asked[0].System {
					t.Errorf("call %d: %d turns, or another prompt than the first", i, len(q.Retry))
				}
			}
			e, err := r.FindTick(t.Context(), got.Tick)
			r.must(err)
			if e.Trailers["Tokens"] != c.tokens || e.Trailers["Model"] != c.model || e.Trailers["Outcome"] != c.outcome {
				t.Errorf("trailers %v, want tokens %s of %s", e.Trailers, c.tokens, c.model)
			}
		})
	}
}

func TestThinkRetryTurns(t *testing.T) {
	long := strings.Repeat("so it goes. ", 40)
	r := newRig(t, fmt.Sprintf("%q", long), `{"text":"{\"mood\":\"fine\"}"}`, fine)
	r.say("hello")
	turns := r.asked[2].Retry
	want := []struct{ role, starts, holds string }{
		{"assistant", long, long},
		{"user", "Your response was not valid JSON. Please retry.\n", "\nIt began:\n" + long[:200] + "…\n"},
		{"assistant", `{"mood":"fine"}`, ""},
		{"user", "Your response was not valid JSON. Please retry.\n", "missing required keys: confidence, monologue"},
	}
	for i, w := range want {
		if turns[i].Role != w.role || !strings.HasPrefix(turns[i].Text, w.starts) || !strings.Contains(turns[i].Text, w.holds) {
			t.Errorf("turn %d: %+v", i, turns[i])
		}
	}
}

func TestThinkFails(t *testing.T) {
	for class, calls := range map[string]int{"permanent": 1, "transient": provider.Attempts, "too long": 2} {
		broken := `{"text":"{\"mood\":\"fine\",\"reply\":\"Half a","error":"the line broke","class":"` + class + `"}`
		r := newRig(t, broken, broken, broken, broken, broken, fine)
		got := r.say("hello")
		if got.Outcome != "failed" || provider.Classify(got.Failure).String() != class || got.Continue || got.Reply != "" {
			t.Errorf("%s: %+v", class, got)
		}
		if s := r.shown(); len(r.asked) != calls || !slices.Equal(s[:3], []string{"thinking", "streamed Half a", "withdrawn (the reply broke off)"}) {
			t.Errorf("%s: shown %q in %d calls", class, s, len(r.asked))
		}
		m := r.wakeUp("")
		if len(m.Pending) != 1 || m.Pending[0].Human != "hello" || m.Pending[0].Unparsed != "Half a\n(the reply broke off here)" {
			t.Errorf("%s: pending %+v", class, m.Pending)
		}
	}
}

// What may pass is asked again, what was streamed withdrawn, and all that it
// cost added up.
func TestThinkAgain(t *testing.T) {
	over := `{"error":"overloaded","class":"transient"}`
	r := newRig(t, over, `{"text":"{\"mood\":\"fine\",\"reply\":\"Half a","error":"the line broke","class":"transient"}`, fine)
	got := r.say("hello")
	if got.Outcome != "replied" || got.In != 100 {
		t.Errorf("%+v", got)
	}
	want := []string{"thinking", "notice (script: overloaded; asking again in ",
		"streamed Half a", "withdrawn (the reply broke off)", "notice (script: the line broke; asking again in ", "streamed All well."}
	shown := r.shown()
	if len(shown) != len(want) {
		t.Fatalf("shown %q", shown)
	}
	for i, s := range shown {
		if !strings.HasPrefix(s, want[i]) {
			t.Errorf("shown %q, want %q", s, want[i])
		}
	}
}

// A prompt that the model finds too long is sent once more, shorter.
func TestThinkShorter(t *testing.T) {
	r := newRig(t, fine, `{"error":"prompt is too long","class":"too long"}`, fine)
	r.write("scratchpad.org", "* Long\n"+strings.Repeat("A line of a long note.\n", 1000))
	r.say("hello")
	got := r.say("and now?")
	first, second := r.asked[1], r.asked[2]
	if got.Outcome != "replied" || len(second.Text())+len(second.System) > (len(first.Text())+len(first.System))*6/10 {
		t.Errorf("%s, %d bytes after %d", got.Outcome, len(second.Text()), len(first.Text()))
	}
	if second.System != first.System || !strings.Contains(second.Text(), "and now?") || !strings.Contains(second.Text(), "too long for the model") {
		t.Errorf("asked %s", second.Text())
	}
}

func TestThinkInterrupted(t *testing.T) {
	for _, c := range []struct{ script, partial string }{
		{`{"text":"{\"mood\":\"fine\",\"reply\":\"Half a","hang":true}`, "Half a"},
		{`{"hang":true}`, ""},
	} {
		r := newRig(t, `{"mood":"keen","confidence":0.9,"monologue":"Looked","eval":"(+ 40 2)","continue":true}`, c.script, fine)
		r.say("look")
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(200*time.Millisecond, cancel)
		got := r.tick(ctx, Input{Source: Human, Text: "and?", Cwd: r.cwd})
		if got.Outcome != "interrupted" || got.Reply != c.partial || got.Mood != "keen" {
			t.Errorf("%+v", got)
		}
		last := r.exchanges()[1]
		if last.Agent != c.partial || !last.HasAgent || last.Outcome != "interrupted" || last.Human != "and?" {
			t.Errorf("kept %+v", last)
		}
		// The agent has not seen what its eval gave: it stays in view.
		if r.say("go on"); !strings.Contains(r.prompt(), "<last-eval tick=\"1\">\nform: (+ 40 2)\nsuccess: t\nresult: 42\n") {
			t.Errorf("the result is lost:\n%s", r.prompt())
		}
	}
}
