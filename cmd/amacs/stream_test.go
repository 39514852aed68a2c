package main

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"amacs/harness/provider/fake"
)

// vendors are the ways to speak to a model service.
var vendors = []string{"anthropic", "openai", "ollama"}

// namesModel finds the variables of this machine that name a model.
var namesModel = regexp.MustCompile(`^(ANTHROPIC|OPENAI|OPENROUTER|OLLAMA|AMACS_BASE|[A-Za-z]+_PROXY|[a-z]+_proxy)`)

// service gives a world a model service of a vendor, and the flags to ask it.
func (w *world) service(vendor string) (*fake.Server, []string) {
	w.t.Helper()
	s := fake.New(w.t)
	w.env = append(w.env, "ANTHROPIC_API_KEY=sk-ant-planted")
	base := s.URL
	if vendor == "openai" {
		base += "/v1"
	}
	return s, []string{"--provider", vendor, "--model", "small", "--base-url", base}
}

// asks are the requests for a reply.
func asks(s *fake.Server) (out []fake.Request) {
	for _, r := range s.Requests() {
		if r.Method == http.MethodPost && r.URL.Path != "/api/show" {
			out = append(out, r)
		}
	}
	return out
}

// eachVendor runs a test for every vendor, with -short for one, in a world of its
// own.
func eachVendor(t *testing.T, test func(t *testing.T, w *world, s *fake.Server, flags []string)) {
	for i, vendor := range vendors {
		if testing.Short() && i > 0 {
			break
		}
		t.Run(vendor, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			s, flags := w.service(vendor)
			test(t, w, s, flags)
		})
	}
}

func TestStreamed(t *testing.T) {
	t.Parallel()
	eachVendor(t, func(t *testing.T, w *world, s *fake.Server, flags []string) {
		w.must("", "init")
		p := w.terminal(t, nil, flags...)
		p.see(`amacs> $`)
		const text = "The größe of 漢字 and of 🙂 is\nseen piece by piece, and its end"
		reply := said(text)
		var cut []int
		for i := range reply {
			cut = append(cut, i, i+1, i+2)
		}
		for i, fault := range []fake.Fault{"", fake.Noise, fake.Gzip} {
			s.Queue(fake.Answer{Text: reply, Thinking: "what nobody is to see", Pieces: 5, Cut: cut, Delay: 12 * time.Millisecond, Fault: fault})
			p.typed(fmt.Sprintf("line %d\n", i))
			p.see(fmt.Sprintf(`line %d\n\nThe gr`, i))
			if r := asks(s); len(r) != i+1 || !r[i].Done.IsZero() {
				t.Errorf("%q: the reply appeared after its end, or %d requests were made", fault, len(r))
			}
			p.see(fmt.Sprintf(`line %d\n\n%s\n\namacs> $`, i, regexp.QuoteMeta(text)))
		}
		p.typed("\x04")
		if code := p.ended(); code != 0 || strings.Contains(p.text(), "nobody is to see") || strings.ContainsRune(p.text(), '\uFFFD') {
			t.Errorf("exit %d: %q", code, p.text())
		}
		for _, e := range w.chat() {
			if e.Agent != text {
				t.Errorf("the chat has %q", e.Agent)
			}
		}
		w.settled(0)
	})
}

// soon waits for something and tells how long it took.
func soon(t *testing.T, what string, ok func() bool) time.Duration {
	t.Helper()
	began := time.Now()
	for !ok() {
		if time.Since(began) > 15*time.Second {
			t.Fatalf("%s: not in time", what)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(began)
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}

// Ctrl-C ends a tick at once, wherever it waits: the server sees it, the prompt
// is back, and the commit says so.
func TestHangUp(t *testing.T) {
	t.Parallel()
	const tries = 5
	eachVendor(t, func(t *testing.T, w *world, s *fake.Server, flags []string) {
		w.must("", "init")
		p := w.terminal(t, []string{"TERM=xterm"}, flags...)
		p.see(`amacs> `)
		tick := 0
		for _, c := range []struct {
			name   string
			answer fake.Answer
			seen   string // on the screen when it is time
			kept   string // of the reply
		}{
			{"in the stream", fake.Answer{Text: said("the first half" + strings.Repeat(" and more", 40)), Fault: fake.Stall}, "the first half", "the first half"},
			{"before the first byte", fake.Answer{Fault: fake.SlowHeaders}, "", ""},
			{"before asking again", fake.Answer{Fault: "429", Headers: map[string]string{"retry-after": "30"}}, `asking\s+again\s+in\s+30s`, ""},
		} {
			var prompt, hungUp []time.Duration
			for range tries {
				tick++
				s.Queue(c.answer)
				before := len(p.text())
				p.typed(fmt.Sprintf("line %d\r", tick))
				soon(t, "the request", func() bool { return len(asks(s)) == tick })
				soon(t, c.name, func() bool { return regexp.MustCompile(c.seen).MatchString(p.text()[before:]) })
				back := fmt.Sprintf("(interrupted, tick %d)", tick)
				pressed := time.Now()
				p.typed("\x03")
				soon(t, back, func() bool { return strings.Contains(p.text()[before:], back) })
				prompt = append(prompt, time.Since(pressed))
				if onTheWire := c.answer.Fault != "429"; onTheWire {
					soon(t, "hanging up", func() bool { return !asks(s)[tick-1].Gone.IsZero() })
					hungUp = append(hungUp, asks(s)[tick-1].Gone.Sub(pressed))
				}
				log := w.git("log", "-1", "--format=%s%n%B")
				contains(t, c.name, log, fmt.Sprintf("[TICK %d]", tick), "Outcome: interrupted")
				if e := w.chat()[tick-1]; !strings.HasPrefix(e.Agent, c.kept) || e.Outcome != "interrupted" {
					t.Errorf("%s: the chat has %q, %q", c.name, e.Outcome, e.Agent)
				}
			}
			if fastest := slices.Min(prompt); fastest > 200*time.Millisecond {
				t.Errorf("%s: the prompt was back after %v", c.name, fastest)
			}
			words := fmt.Sprintf("%s: the prompt is back after %v", c.name, median(prompt).Round(time.Millisecond))
			if len(hungUp) > 0 {
				if fastest := slices.Min(hungUp); fastest > 100*time.Millisecond {
					t.Errorf("%s: the server saw it after %v", c.name, fastest)
				}
				words += fmt.Sprintf(", the server saw it after %v", median(hungUp).Round(time.Millisecond))
			}
			t.Log(words + " (median)")
		}
		p.typed("\x04")
		if code := p.ended(); code != 0 {
			t.Errorf("exit %d", code)
		}
		w.settled(0)
	})
}

// atOnce says that the next attempt need not wait.
var atOnce = map[string]string{"retry-after-ms": "10"}

// fault is something that goes wrong and what comes of it.
type fault struct {
	fault   fake.Fault
	headers map[string]string
	code    int
	asked   int    // how often the service was
	errs    string // a pattern, on standard error
	kept    bool   // what was heard of the reply
}

const halves = "One half of this is heard before the line breaks, and the other half is not."

func (f fault) answer() fake.Answer {
	a := fake.Answer{Fault: f.fault, Times: 1, Text: said(halves), Headers: f.headers}
	switch {
	case f.fault == fake.SlowHeaders:
		a.Times, a.Delay = 0, 50*time.Millisecond
	case f.fault == fake.Huge:
		a.Times, a.Text = -1, ""
	case f.code != 0:
		a.Times = -1
	}
	return a
}

// check looks at what came of a line that was said in the face of a fault.
func (f fault) check(w *world, s *fake.Server, line string, r ended) {
	w.t.Helper()
	t := w.t
	if r.code != f.code || len(asks(s)) != f.asked || !regexp.MustCompile(f.errs).MatchString(r.errs) {
		t.Errorf("%s: exit %d, want %d; asked %d times, want %d; want %s:\n%s%.300s", f.fault, r.code, f.code, len(asks(s)), f.asked, f.errs, r.errs, r.out)
	}
	log, chat := w.git("log", "-1", "--grep=^.TICK", "--format=%B"), w.chat()
	last, failed := chat[len(chat)-1], f.code != 0
	outcome := "Outcome: replied"
	if failed {
		outcome = "Outcome: failed"
		contains(t, string(f.fault), log, "failure: ")
		contains(t, string(f.fault), r.errs, "your line is kept")
	}
	contains(t, string(f.fault), log, fmt.Sprintf("[TICK %d]", last.Tick), outcome)
	if last.Human != line || last.Pending() != failed || !failed && r.out != halves+"\n" || failed && r.out != "" {
		t.Errorf("%s: the line is %q, it waits: %v; the reply is %.300q", f.fault, last.Human, last.Pending(), r.out)
	}
	kept := strings.HasSuffix(last.Unparsed, "\n(the reply broke off here)")
	if kept != f.kept || len(last.Unparsed) > 100<<10 {
		t.Errorf("%s: what was heard is kept: %v, want %v; it has %d bytes", f.fault, kept, f.kept, len(last.Unparsed))
	}
	if strings.Contains(r.errs+r.out+log+w.read("agent-chat.org"), "sk-ant-planted") {
		t.Errorf("%s: the key is to be read:\n%s", f.fault, r.errs)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	faults := []fault{
		{fault: "429", headers: atOnce, asked: 2, errs: `(?i)^\(.*429 .*asking again in 0s, 2/5\)\n$`},
		{fault: fake.RetryAfter, headers: atOnce, asked: 2, errs: `429 .*asking again in`},
		{fault: "500", headers: atOnce, asked: 2, errs: `500 .*asking again in 0s`},
		{fault: "529", headers: atOnce, asked: 2, errs: `529.*asking again in 0s`},
		{fault: "429", headers: atOnce, code: 4, asked: 5, errs: `(?s)2/5.*3/5.*4/5.*5/5.*amacs: tick \d+: .*429`},
		{fault: "500", headers: atOnce, code: 4, asked: 5, errs: `(?s)5/5.*amacs: tick \d+: .*500 Internal Server Error`},
		{fault: "429", headers: map[string]string{"retry-after": "3600"}, code: 4, asked: 1, errs: `^amacs: tick \d+: .*429`},
		{fault: fake.Reset, asked: 2, errs: `(?s)broke off.*127.0.0.1.*asking again in 1`},
		{fault: fake.HalfJSON, asked: 2, errs: `(?s)broke off.*asking again in 1`},
		{fault: fake.Empty, asked: 2, errs: `the answer is empty; asking again in 1`},
		{fault: fake.NoStop, asked: 2, errs: `(?s)broke off.*before its stop marker.*; asking again in 1`},
		{fault: fake.ErrorEvent, asked: 2, errs: `(?s)broke off.*asking again in 1`},
		{fault: fake.SlowHeaders, asked: 1, errs: `^$`},
		{fault: fake.HTML, code: 4, asked: 1, errs: `text/html instead of .*Sign in.*is base-url the address of an API\?`},
		{fault: fake.ContentType, code: 4, asked: 1, errs: `text/plain instead of `},
		{fault: fake.Huge, code: 4, asked: 1, errs: `(?s)broke off.*the answer is too long: more than 8 MB`, kept: true},
		{fault: "401", code: 4, asked: 1, errs: `401 Unauthorized: .*the key was refused`},
		{fault: "403", code: 4, asked: 1, errs: `403 Forbidden: .*the key has no right to this`},
		{fault: "404", code: 4, asked: 1, errs: "404 Not Found: .*`amacs models` lists"},
		{fault: "400", code: 4, asked: 1, errs: `400 Bad Request: .*--debug-http`},
		{fault: fake.TooLong, asked: 2, errs: `^\(the prompt is too long for \w+:small; asking again with less\)\n$`},
		{fault: fake.TooLong, code: 4, asked: 2, errs: `/context`},
		{fault: fake.NoSchema, asked: 2, errs: `^\w+:small does not take a JSON schema, so it is left out: `},
		{fault: fake.Quota, code: 4, asked: 1, errs: `add credit or raise the limit`},
	}
	eachVendor(t, func(t *testing.T, w *world, _ *fake.Server, _ []string) {
		_, vendor, _ := strings.Cut(t.Name(), "/")
		w.must("", "init")
		var later []func()
		for i, f := range faults {
			s, flags := w.service(vendor)
			s.Queue(f.answer())
			line := fmt.Sprintf("is it so, %d?", i)
			c := w.command("", append(flags, "ask", line)...)
			if !strings.Contains(f.errs, "in 1") {
				f.check(w, s, line, w.finish(c))
				continue
			}
			// This one waits for a second: the others go on beside it.
			own, done := w.copyOf(t), make(chan ended, 1)
			c.Env = append(c.Env, "AMACS_HOME="+own.dir)
			go func() { done <- own.finish(c) }()
			later = append(later, func() { f.check(own, s, line, <-done) })
		}
		for _, wait := range later {
			wait()
		}
		w.settled(0)
	})
}

// newShown is a screen in which only the service is known.
func newShown(t *testing.T) (*screen, *fake.Server) {
	s := newScreen(t, 80, 50)
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENROUTER_API_KEY", "AMACS_BASE_URL"} {
		s.tmux("set-environment", "-g", name, "")
	}
	server := fake.New(t)
	s.must("", "init")
	s.write("config.yaml", "provider: openai\nbase-url: "+server.URL+"/v1\nmodel: small\n")
	return s, server
}

// A session at the prompt: a fault, the answer to the line that waits, other
// models, hand edits of the settings.
func TestSession(t *testing.T) {
	t.Parallel()
	s, server := newShown(t)
	s.open()
	server.Queue(fake.Answer{Fault: "401"})
	s.enter("one")
	s.see(`amacs> one\ntick 1: no reply: provider openai: asking: (.*\n)+  your line is kept; it is answered with your next one, or by /retry\namacs> $`)
	s.enter("/status")
	s.see(`waiting +1 line without an answer\n`)
	server.Queue(fake.Answer{Text: said("to one")})
	s.enter("/retry")
	s.see(`/retry\n\nto one\n\namacs> $`)
	s.once("one")

	server.Queue(fake.Answer{Fault: fake.Reset, Times: 1, Text: said("The first half is seen, and the other half is not seen before the service is asked again.")})
	s.enter("two")
	s.see(`(?s)two\n\nThe first .*\n\n\(withdrawn\)\n\(the reply broke off\)\n\(openai: 127.*asking again in 1(\.\d)?s, 2/5\)\n\nThe first half is .*\s+asked\s+again\.\n\namacs> $`)

	server.Queue(fake.Answer{Text: begun + "as far as it", Stop: "max_tokens", Times: 1}, fake.Answer{Text: said("shorter")})
	s.enter("three")
	s.see(`(?s)as far as it\n\n\(withdrawn\)\n\(not valid JSON: it reached the length that max-tokens.*again 1/2\)\n\nshorter\n\namacs> $`)

	models := func(want ...string) {
		t.Helper()
		var got []string
		for _, r := range asks(server)[len(asks(server))-len(want):] {
			got = append(got, regexp.MustCompile(`"model":"([^"]*)"`).FindStringSubmatch(string(r.Body))[1])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q were asked, want %q", got, want)
		}
	}
	s.keys("C-l")
	s.enter("/model fake-1-mini")
	s.see(`/model fake-1-mini\nopenai:fake-1-mini\namacs> $`)
	s.enter("four")
	s.see(`Hello\.\n\namacs> $`)
	models("small", "fake-1-mini")
	s.enter("/models")
	s.see(`/models\n  fake-1 +free\n\* fake-1-mini +free\n`)
	s.enter("/think on")
	s.see(`thinking is on\namacs> $`)
	s.enter("five")
	s.see(`five\n\nHello\.\n\n127.* is not told to think: .*\namacs> $`)
	s.enter("/think off")
	s.see(`thinking is off\namacs> $`)
	s.enter("/agents")
	s.see(`/agents\n(.*\n)+amacs> $`)
	s.enter("/cost")
	s.see(`today +\d+ calls, [\d,]+ tokens in`)
	s.enter("/context")
	s.see(`last call +[\d,]+ tokens in \(\d+% cached\), \d+ out\n`)

	// The file is the human's: what it says counts for the next line, as far as it
	// can be read.
	s.keys("C-l")
	s.write("config.yaml", strings.Replace(s.read("config.yaml"), "fake-1-mini", "by-hand", 1))
	s.enter("six")
	s.see(`six\n\nHello\.\n\namacs> $`)
	models("by-hand")
	whole := s.read("config.yaml")
	s.write("config.yaml", whole+"color: [\n")
	s.enter("seven")
	s.see(`seven\nconfig\.yaml: line \d+: .*; the settings from(\s+)before hold\n\nHello\.\n\namacs> $`)
	models("by-hand", "by-hand")
	s.write("config.yaml", strings.Replace(whole, "by-hand", "mended", 1))
	s.enter("eight")
	s.see(`eight\n\nHello\.\n\namacs> $`)
	models("by-hand", "mended")
	s.enter("/quit")
	s.see(`exit 0$`)
	s.once("one", "two", "three", "four", "five", "six", "seven", "eight")
	s.settled(4)
}

// While `ask` waits it shows for how long, where there is somebody to see it.
func TestSpinner(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, term string
		args       []string
		want       bool
	}{
		{"a terminal", "xterm", nil, true},
		{"JSON", "xterm", []string{"--json"}, false},
		{"a dumb terminal", "dumb", nil, false},
		{"a pipe", "xterm", nil, false},
	} {
		w := newWorld(t)
		server, flags := w.service("openai")
		answer := fake.Answer{Fault: fake.SlowHeaders, Delay: 50 * time.Millisecond, Pieces: 1000, Text: said("at last")}
		if c.want {
			answer.Delay = 600 * time.Millisecond
		}
		server.Queue(answer)
		w.must("", "init")
		args := append(append(flags, "ask", "hello"), c.args...)
		var text string
		if c.name == "a pipe" {
			w.env = append(w.env, "TERM=xterm")
			r := w.must("", args...)
			text = r.out + r.errs
		} else {
			p := w.terminal(t, []string{"TERM=" + c.term}, args...)
			if c.want {
				p.see("\r[|/\\\\-] thinking 0s")
				p.see("\r[|/\\\\-] thinking [1-9]s\r\x1b\\[Kat last\n$")
			}
			p.see(`at last`)
			if code := p.ended(); code != 0 {
				t.Errorf("%s: exit %d", c.name, code)
			}
			text = p.text()
		}
		if got := strings.Contains(text, "thinking"); got != c.want {
			t.Errorf("%s: a spinner: %v: %q", c.name, got, text)
		}
	}

	// Ctrl-C takes it away.
	w := newWorld(t)
	server, flags := w.service("openai")
	server.Queue(fake.Answer{Fault: fake.SlowHeaders})
	w.must("", "init")
	p := w.terminal(t, []string{"TERM=xterm"}, append(flags, "ask", "hello")...)
	soon(t, "the request", func() bool { return len(asks(server)) == 1 })
	p.see("thinking 0s")
	p.typed("\x03")
	p.see("thinking 0s\\^C\r\x1b\\[Kamacs: interrupted\n$")
	if code := p.ended(); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
	contains(t, "the commit", w.git("log", "-1", "--format=%B"), "Outcome: interrupted")
}
