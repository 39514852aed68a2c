package harness

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"amacs/harness/home"
)

// What a tick came to stands in the chat, the monologue, and its commit.
func TestOutcomes(t *testing.T) {
	const line = "* Tick 1\n:PROPERTIES:\n:TIMESTAMP: 2026-11-21T14:31:00Z\n:END:\n\n** Human\nhello\n"
	for _, c := range []struct {
		name      string
		script    []string
		chat      string // after the head
		monologue string
		subject   string
		body      string
		trailers  string // Thread, Mood, Confidence, Source, Model, Tokens, Outcome
		pending   bool
	}{
		{"replied", []string{`{"reply":{"mood":"glad [very]","confidence":0.876,"monologue":"Said hello","reply":"Hello!","eval":"(+ 1 2)"},"usage":{"in":9,"cached":4,"out":2},"model":"m-1"}`},
			line + "\n** Agent\nHello!\n", "Said hello", "[TICK 1][no-thread][glad (very)] Said hello", "eval: (+ 1 2)\nresult: 3",
			"no-thread|glad [very]|0.88|human|m-1|9 in, 4 cached, 2 out|replied", false},
		{"replied in a new thread", []string{`{"mood":"glad","confidence":1,"monologue":"Began","reply":"Yes","eval":"(agent-create-thread \"work\" :concern \"c\") (agent-switch-thread \"work\") (car 5)"}`},
			line + "\n** Agent\nYes\n", "Began", "[TICK 1][work][glad] Began",
			"eval: (agent-create-thread \"work\" :concern \"c\") (agent-switch-thread \"work\") (car 5)\nerror: Wrong type argument: listp, 5",
			"work|glad|1.00|human|script:script.jsonl|0 in, 0 cached, 0 out|replied", false},
		{"silent", []string{`{"mood":"quiet","confidence":0.5,"monologue":"Thought about it","reply":"  "}`},
			line, "Thought about it", "[TICK 1][no-thread][quiet] Thought about it", "",
			"no-thread|quiet|0.50|human|script:script.jsonl|0 in, 0 cached, 0 out|silent", true},
		{"unparsed", []string{`"* one"`, `"two"`, `"* three"`},
			line + "\n** Unparsed\n,* three\n", "(a reply that could not be read)", "[TICK 1][no-thread][awakening] (a reply that could not be read)", "",
			"no-thread|awakening|0.50|human|script:script.jsonl|0 in, 0 cached, 0 out|unparsed", true},
		{"failed", []string{`{"error":"no\nway"}`},
			line, "(no reply: provider script: asking: no way)", "[TICK 1][no-thread][awakening] (no reply: provider script: asking: no way)", "failure: provider script: asking: no\nway",
			"no-thread|awakening|0.50|human|rigged|0 in, 0 cached, 0 out|failed", true},
		{"interrupted", []string{`{"text":"{\"reply\":\"Hel","hang":true}`},
			line + "\n** Agent\n:PROPERTIES:\n:OUTCOME: interrupted\n:END:\nHel\n", "(interrupted by the human)", "[TICK 1][no-thread][awakening] (interrupted by the human)", "",
			"no-thread|awakening|0.50|human|rigged|0 in, 0 cached, 0 out|interrupted", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, c.script...)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if c.name == "interrupted" {
				time.AfterFunc(200*time.Millisecond, cancel)
			}
			got := r.tick(ctx, Input{Source: Human, Text: "hello", Cwd: r.cwd})
			if want, _, _ := strings.Cut(c.name, " "); got.Outcome != want || got.Tick != 1 || len(got.Notices) > 0 {
				t.Errorf("%+v", got)
			}
			chat := r.read(home.Chat)
			if i := strings.Index(chat, "* Tick"); chat[i:] != c.chat {
				t.Errorf("the chat has\n%s, want\n%s", chat[i:], c.chat)
			}
			if m := r.read(home.Monologue); !strings.HasSuffix(m, "\n[2026-11-21 Sat 14:31][TICK 1] "+c.monologue+"\n") {
				t.Errorf("the monologue ends %q", m[max(0, len(m)-200):])
			}
			e, err := r.FindTick(t.Context(), 1)
			r.must(err)
			var trailers []string
			for _, key := range []string{"Thread", "Mood", "Confidence", "Source", "Model", "Tokens", "Outcome"} {
				trailers = append(trailers, e.Trailers[key])
			}
			if e.Subject != c.subject || strings.TrimSpace(e.Body) != c.body || strings.Join(trailers, "|") != c.trailers {
				t.Errorf("the commit is\n%s\n%s\n%q, want\n%s\n%s\n%q", e.Subject, e.Body, trailers, c.subject, c.body, c.trailers)
			}
			if !regexp.MustCompile(`^[0-9a-f]{16}$`).MatchString(e.Trailers["Tick-Id"]) || e.Trailers["Tick"] != "1" || e.Trailers["Cost-USD"] != "0" || e.Author.Name != "amacs" {
				t.Errorf("trailers %v by %v", e.Trailers, e.Author)
			}
			if m := r.wakeUp(""); (len(m.Pending) > 0) != c.pending {
				t.Errorf("pending %+v", m.Pending)
			}
		})
	}
}

// A reply answers all that waits: it stands under the newest line, and the older
// ones name its tick.
func TestAnswersAllPending(t *testing.T) {
	const silent = `{"mood":"calm","confidence":0.5,"monologue":"Waited"}`
	r := newRig(t, silent, silent, `{"mood":"calm","confidence":0.5,"monologue":"Spoke","reply":"To all three.","continue":true}`,
		`{"mood":"calm","confidence":0.5,"monologue":"Spoke again","reply":"And this."}`)
	for _, line := range []string{"one", "two", "three", ""} {
		r.say(line)
	}
	want := []home.Exchange{
		{Tick: 1, Human: "one", HasHuman: true, ReplyTick: 3},
		{Tick: 2, Human: "two", HasHuman: true, ReplyTick: 3},
		{Tick: 3, Human: "three", HasHuman: true, Agent: "To all three.", HasAgent: true},
		{Tick: 4, Agent: "And this.", HasAgent: true},
	}
	got := r.exchanges()
	for i := range got {
		got[i].Time = time.Time{}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want\n%+v", got, want)
	}
}

// The limit of ticks in a row is enforced, shown and recorded.
func TestContinueRefused(t *testing.T) {
	const on = `{"mood":"keen","confidence":0.5,"monologue":"Went on","continue":true}`
	r := newRig(t, `{"mood":"keen","confidence":0.5,"monologue":"Set the limit","eval":"(agent-set 'autonomous-tick-limit 3)","continue":true}`, on, on, on, on)
	var reports []Report
	r.must(r.Converse(t.Context(), Input{Source: Human, Text: "go", Cwd: r.cwd}, func(Event) {}, func(x Report) { reports = append(reports, x) }))
	if len(reports) != 4 {
		t.Fatalf("%d ticks", len(reports))
	}
	last := reports[3]
	if last.Continue || !slices.Equal(last.Notices, []string{"stopped after 3 ticks in a row (autonomous-tick-limit); say something to go on"}) {
		t.Errorf("%+v", last)
	}
	e, err := r.FindTick(t.Context(), last.Tick)
	r.must(err)
	if e.Subject != "[TICK 4][no-thread][keen] Went on (continue refused: 3 ticks in a row)" || e.Trailers["Source"] != "continue" {
		t.Errorf("%s %v", e.Subject, e.Trailers)
	}
	if got := r.say("more"); !got.Continue {
		t.Error("a line of the human does not start the count anew")
	}
}

// What the agent is told of its note and eval, on the next tick.
func TestRemembered(t *testing.T) {
	note := func(thread, more string) string {
		return `{"mood":"calm","confidence":0.5,"monologue":"Noted","reply":"ok","scratchpad":{"heading":"H","thread":"` + thread + `","content":"text"}` + more + `}`
	}
	const told = `the note "H" was stored under thread "later", which is not open`
	r := newRig(t)
	for _, c := range []struct{ script, eval string }{
		{note("later", ""), "form: nil\nsuccess: t\nresult: " + told},
		{note("later", `,"eval":"(+ 1 1)"`), "form: (+ 1 1)\nsuccess: t\nresult: 2\n" + told},
		{note("later", `,"eval":"(car 1)"`), "form: (car 1)\nsuccess: nil\nerror: Wrong type argument: listp, 1\n" + told},
		{note("null", ""), ""},
		{note("later", `,"eval":"(agent-create-thread \"later\" :concern \"x\")"`), "form: (agent-create-thread \"later\" :concern \"x\")\nsuccess: t\nresult: \"later\""},
	} {
		r.script(c.script)
		r.say("go")
		prompt := printed(see(r.wakeUp("")).request())
		_, got, _ := strings.Cut(prompt, "<last-eval ")
		got, _, _ = strings.Cut(got, "\n</last-eval>")
		_, got, _ = strings.Cut(got, ">\n")
		if got != c.eval {
			t.Errorf("%s gives\n%s, want\n%s", c.script, got, c.eval)
		}
	}
}
