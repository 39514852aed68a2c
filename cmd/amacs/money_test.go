package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"amacs/harness"
	"amacs/harness/ledger"
	"amacs/harness/provider/fake"
)

// shop is a home whose model is asked of a server, for money: a token that it
// writes costs a thousandth of a USD, one that it reads nothing. A tick of at most
// 8192 tokens comes to 8.192 USD, a small question of 200 to 0.2 USD.
type shop struct {
	*world
	*fake.Server
}

const shopTick = 8.192

// noKeys takes away what the tests' own environment may say of models.
var noKeys = []string{"OPENAI_API_KEY=", "OPENAI_BASE_URL=", "ANTHROPIC_API_KEY=", "ANTHROPIC_AUTH_TOKEN=", "ANTHROPIC_BASE_URL=",
	"OPENROUTER_API_KEY=", "AMACS_BASE_URL=", "HTTP_PROXY=", "http_proxy=", "NO_PROXY=", "no_proxy="}

func newShop(t testing.TB, settings ...string) *shop {
	t.Helper()
	s := &shop{newWorld(t), fake.New(t)}
	s.env = append(s.env, noKeys...)
	s.must("", "init")
	s.set(settings...)
	return s
}

// set makes these the settings of the home, each line "KEY: VALUE".
func (s *shop) set(settings ...string) {
	s.t.Helper()
	own := []string{"provider: openai", "model: priced", "base-url: " + s.URL + "/v1", "prices: {priced: {in: 0, out: 1000}}"}
	s.write("config.yaml", strings.Join(append(own, settings...), "\n")+"\n")
}

// sells queues answers that cost so many tokens.
func (s *shop) sells(tokens ...int) {
	for i, n := range tokens {
		s.Queue(fake.Answer{Text: said(fmt.Sprintf("answer %d", i)), Usage: fake.Usage{In: 1000, Cached: 600, Out: n}})
	}
}

// sold is how many questions came to the server.
func (s *shop) sold() (n int) {
	for _, r := range s.Requests() {
		if r.Method == "POST" {
			n++
		}
	}
	return n
}

// prompt is the text of the last question.
func (s *shop) prompt() string {
	s.t.Helper()
	all := s.Requests()
	var body struct{ Messages []struct{ Content any } }
	if err := json.Unmarshal(all[len(all)-1].Body, &body); err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprint(body.Messages)
}

// cost is `amacs cost --json`.
func (w *world) cost() (b harness.Budget) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.must("", "cost", "--json").out), &b); err != nil {
		w.t.Fatal(err)
	}
	return b
}

// entry is a line of the ledger's file.
type entry struct {
	Kind, Source, Model, Outcome string
	In, Cached, Out              int
	USD                          *float64
}

// entries are the lines of the ledger of one kind.
func (w *world) entries(kind string) (out []entry) {
	w.t.Helper()
	for _, path := range w.ledgerFiles() {
		f, err := os.Open(path)
		if err != nil {
			w.t.Fatal(err)
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var e entry
			if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
				w.t.Fatalf("%s: %v", path, err)
			}
			if e.Kind == kind {
				out = append(out, e)
			}
		}
	}
	return out
}

func (w *world) ledgerFiles() []string {
	w.t.Helper()
	files, err := filepath.Glob(w.path(".amacs/state/ledger/*.jsonl"))
	if err != nil {
		w.t.Fatal(err)
	}
	return files
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// together runs commands at once and returns their ends in the order given.
func (w *world) together(runs ...[]string) []ended {
	out, done := make([]ended, len(runs)), make(chan int)
	for i, args := range runs {
		go func() {
			out[i] = w.finish(w.command("", args...))
			done <- i
		}()
	}
	for range runs {
		<-done
	}
	return out
}

// TestLastDollar: processes that ask at the same moment, with room for one call.
// One is answered; the others are refused, and their lines wait.
func TestLastDollar(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	const rounds = 20
	spent, sold := 0.0, 0
	var lines []string
	for round := range rounds {
		// The last rounds are of small questions, which no tick lease keeps apart.
		small, n := round >= rounds/2, 2
		if round%4 == 3 {
			n = 4
		}
		room, price := shopTick+1, 8000
		var runs [][]string
		for i := range n {
			line := fmt.Sprintf("round %d line %d", round, i)
			if runs = append(runs, []string{"ask", line}); small {
				runs[i] = []string{"models", "check"}
			} else {
				lines = append(lines, line)
			}
		}
		if small {
			room, price = 0.3, 200
		}
		s.set("cap-day: off", fmt.Sprintf("cap-lifetime: %.3f USD", spent+room))
		s.sells(price)
		codes := []int{}
		for i, r := range s.together(runs...) {
			codes = append(codes, r.code)
			if r.code == exitRefused {
				contains(t, "the refused", r.errs, "cap-lifetime is ")
				if !small {
					contains(t, "the refused", r.errs, "your line is kept")
				}
			} else if r.code != 0 {
				t.Errorf("round %d, process %d: exit %d\n%s", round, i, r.code, r.errs)
			}
		}
		slices.Sort(codes)
		if codes[0] != 0 || codes[1] != exitRefused {
			t.Fatalf("round %d: exit codes %v", round, codes)
		}
		spent, sold = spent+float64(price)/1000, sold+1
		if got := s.sold(); got != sold {
			t.Fatalf("round %d: %d questions came to the server, want %d", round, got, sold)
		}
	}
	s.once(lines...)
	if b := s.cost(); !near(b.Lifetime.USD, spent) || b.Lifetime.Calls != rounds || b.Lifetime.Unsettled != 0 {
		t.Errorf("%+v, want %v USD", b.Lifetime, spent)
	}
}

// TestKilledUnsettled: kill -9 between reservation and settlement. The call
// counts at its worst from then on, and the line is answered when there is room.
func TestKilledUnsettled(t *testing.T) {
	t.Parallel()
	for at, asked := range map[string]int{"reserved": 0, "answered": 1, "stalled": 1} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, "cap-day: 10 USD")
			if at == "stalled" {
				s.Queue(fake.Answer{Fault: fake.Stall})
				p := s.start(nil, "ask", "line one")
				if !s.Await(20*time.Second, func() bool { return s.sold() == 1 }) {
					t.Fatal("the server was not asked")
				}
				p.kill()
			} else {
				if asked > 0 {
					s.sells(10)
				}
				c := s.command("", "ask", "line one")
				c.Env = append(c.Env, "AMACS_TEST_KILL="+at)
				if r := s.finish(c); !r.killed {
					t.Fatalf("not killed: exit %d\n%s", r.code, r.errs)
				}
			}
			if s.sold() != asked {
				t.Fatalf("the server was asked %d times", s.sold())
			}
			contains(t, "cost", s.must("", "cost").out, "today         1 call, ", "$8.19, 1 unsettled and counted at the worst\n",
				"cap-day       8.192 USD of 10 USD a day used; it resets on ", "pressure      high (82% of cap-day)")
			contains(t, "cost --by source", s.must("", "cost", "--by", "source").out, "human  1 call, ", "$8.19, 1 unsettled")
			if b := s.cost(); !near(b.Day.USD, shopTick) || b.Day.Unsettled != 1 || b.Day.Calls != 1 {
				t.Errorf("%+v", b.Day)
			}

			r := s.amacs("", "ask", "line two")
			if r.code != exitRefused || s.sold() != asked {
				t.Errorf("beyond the cap: exit %d, asked %d times", r.code, s.sold())
			}
			contains(t, "the refusal", r.errs, "cap-day is 10 USD a day: 8.192 USD is spent (1 of the calls unsettled, at their worst) and this call could come to 8.192 USD; it resets on ",
				"change it: amacs config cap-day LIMIT")
			contains(t, "status", s.must("", "status").out, "waiting   2 lines without an answer")

			s.set("cap-day: 20 USD")
			s.Queue(fake.Answer{Text: said("to both"), Usage: fake.Usage{Out: 10}, When: "line two"})
			contains(t, "the answer", s.must("", "ask", "line three").out, "to both")
			s.once("line one", "line two", "line three")
			for _, e := range s.chat() {
				if e.Pending() {
					t.Errorf("%q waits still", e.Human)
				}
			}
			if b := s.cost(); b.Day.Unsettled != 1 || b.Day.USD < shopTick {
				t.Errorf("after the next call: %+v", b.Day)
			}
		})
	}
}

// TestClone: a clone has no ledger. Its totals are those that the commits tell.
func TestClone(t *testing.T) {
	t.Parallel()
	s := newShop(t, "cap-day: 100 USD")
	s.sells(1500)
	s.Queue(fake.Answer{Text: object(map[string]any{"reply": "going on", "continue": true}), Usage: fake.Usage{In: 2000, Cached: 1999, Out: 7}})
	s.sells(3)
	s.must("", "ask", "line one")
	s.must("", "ask", "line two")
	s.Queue(fake.Answer{Text: "ready", Usage: fake.Usage{In: 30, Out: 2}}, fake.Answer{Text: "ready", Usage: fake.Usage{In: 40, Out: 3}},
		fake.Answer{Text: "ready", Usage: fake.Usage{In: 50, Out: 4}, Model: "mystery"})
	s.must("", "models", "check")
	s.must("", "models", "check")
	s.must("", "--model", "mystery", "models", "check")
	s.sells(12)
	s.must("", "ask", "line three")
	contains(t, "the commit", s.git("log", "-1", "--format=%B"), " assist 0.005 USD, 120 in, 0 cached, 9 out, 3 calls")

	was := s.cost()
	if c := was.Lifetime; !near(c.USD, 1.527) || c.Calls != 7 || c.In != 5120 || c.Out != 1531 {
		t.Fatalf("the first home: %+v", c)
	}
	clone := s.cloned()
	for look := range 2 {
		b := clone.cost()
		if fmt.Sprint(b.Sources) != fmt.Sprint(was.Sources) || fmt.Sprint(b.Spans) != fmt.Sprint(was.Spans) {
			t.Errorf("look %d: %+v, want %+v", look, b.Totals, was.Totals)
		}
		if fmt.Sprint(b.Caps) != fmt.Sprint(was.Caps) {
			t.Errorf("look %d: %+v, want %+v", look, b.Caps, was.Caps)
		}
	}
	lines := clone.entries("carry")
	if len(lines) != 3 {
		t.Errorf("carried: %+v", lines)
	}
	for _, by := range []string{"day", "source"} {
		if here, there := clone.must("", "cost", "--by", by).out, s.must("", "cost", "--by", by).out; here != there {
			t.Errorf("by %s:\n%swant\n%s", by, here, there)
		}
	}

	// What the clone spends comes on top, and its caps hold from the first call on.
	for _, args := range [][]string{{"ask", "line four"}, {"models", "check"}} {
		fresh := s.cloned()
		fresh.write("config.yaml", strings.Replace(fresh.read("config.yaml"), "cap-day: 100 USD", "cap-day: 1.6 USD", 1))
		if r := fresh.amacs("", args...); r.code != exitRefused {
			t.Errorf("a clone's %q: exit %d\n%s", args, r.code, r.errs)
		}
	}
	s.sells(100)
	clone.must("", "ask", "line four")
	if b := clone.cost(); !near(b.Day.USD, was.Day.USD+0.1) || b.Day.Calls != was.Day.Calls+1 {
		t.Errorf("after a call of the clone: %+v", b.Day)
	}
}

// cloned is a world whose home is a clone of this one, with its settings.
func (s *shop) cloned() *world {
	s.t.Helper()
	to := newWorld(s.t)
	to.env = append(to.env, noKeys...)
	s.git("clone", "-q", s.dir, to.dir)
	return to
}

// TestMangledTrailers: what a hand wrote into trailers, and can not be, is passed
// over; it neither counts nor keeps a tick from running.
func TestMangledTrailers(t *testing.T) {
	t.Parallel()
	s := newShop(t, "cap-day: 100 USD")
	s.sells(1500)
	s.must("", "ask", "line one")
	was := s.cost()
	good := map[string]string{"Tick": "9", "Source": "human", "Model": "m", "Tokens": "10 in, 0 cached, 10 out", "Cost-USD": "1", "Beside": ""}
	for i, bad := range []string{
		"Source: nobody", "Source: human continue", "Source: assist", "Source:",
		"Tokens: many", "Tokens: -10 in, 0 cached, 10 out", "Tokens: 99999999999999999999 in, 0 cached, 1 out", "Tokens: 1 in, 0 cached, 1 out, or so", "Tokens: 0x10 in, 0 cached, 1 out",
		"Cost-USD: NaN", "Cost-USD: -1", "Cost-USD: 1e300", "Cost-USD: Inf", "Cost-USD: a lot", "Cost-USD: 1,5", "Cost-USD: 100000",
		"Beside: rubbish", "Beside: 2026-11-21 assist NaN USD, 1 in, 0 cached, 1 out, 1 calls", "Beside: 2026-13-45 assist 1 USD, 1 in, 0 cached, 1 out, 1 calls",
		"Beside: 2026-11-21 nobody 1 USD, 1 in, 0 cached, 1 out, 1 calls", "Beside: 2026-11-21 human 1 USD, 1 in, 0 cached, 1 out, 1 calls",
		"Beside: 0000-01-01 judge 1 USD, 1 in, 0 cached, 1 out, 1 calls", "Beside: 2026-11-21 judge 1 USD, -1 in, 0 cached, 1 out, 1 calls; ; ;",
		"Beside: 2026-11-21 judge -1 USD, 1 in, 0 cached, 1 out, 1 calls",
	} {
		name, value, _ := strings.Cut(bad, ":")
		message := fmt.Sprintf("by hand %d\n\n", i)
		for _, key := range []string{"Tick", "Source", "Model", "Tokens", "Cost-USD", "Beside"} {
			v := good[key]
			if name == "Beside" && key == "Tokens" {
				v = ""
			}
			if key == name {
				v = strings.TrimSpace(value)
			}
			if v != "" {
				message += key + ": " + v + "\n"
			}
		}
		s.git("commit", "-q", "--allow-empty", "-m", message)
	}
	clone := s.cloned()
	if b := clone.cost(); fmt.Sprint(b.Totals) != fmt.Sprint(was.Totals) {
		t.Errorf("%+v, want %+v", b.Totals, was.Totals)
	}
	s.sells(1)
	clone.must("", "ask", "line two")

	// Commits that can be, one by one, but not all together.
	for range 110 {
		s.git("commit", "-q", "--allow-empty", "-m", "by hand\n\nTick: 9\nSource: explore\nTokens: 1 in, 0 cached, 1 out\nCost-USD: 9999")
	}
	clone = s.cloned()
	if b := clone.cost(); b.Sources[ledger.Explore].Lifetime.USD > 1e6 {
		t.Errorf("%+v", b.Sources)
	}
	clone.must("", "status")
}

// TestPressure: near the end of a cap the agent is told, and goes on only where
// the human says something.
func TestPressure(t *testing.T) {
	t.Parallel()
	s := newShop(t, "cap-day: 100 USD")
	s.sells(91_000)
	r := s.must("", "ask", "line one")
	if strings.Contains(r.errs, "cap-day") {
		t.Errorf("the first call warns:\n%s", r.errs)
	}
	if p := s.prompt(); !strings.Contains(p, "(pressure . low)") || strings.Contains(p, "critical:") {
		t.Errorf("told before there is a need:\n%s", p)
	}
	on := object(map[string]any{"reply": "going on", "continue": true})
	s.Queue(fake.Answer{Text: on, Usage: fake.Usage{Out: 100}}, fake.Answer{Text: on, Usage: fake.Usage{Out: 100}})
	const reason = "the budget's pressure is critical: 91% of cap-day is spent"
	for i, line := range []string{"line two", "line three"} {
		r := s.must("", "ask", "--json", line)
		contains(t, "the report", r.out, `"reply": "going on"`, `"continue": false`, "stopped: "+reason+"; say something to go on")
		if s.sold() != i+2 {
			t.Errorf("the server was asked %d times", s.sold())
		}
		p := s.prompt()
		_, inbox, _ := strings.Cut(p, "<inbox>")
		inbox, _, _ = strings.Cut(inbox, "</inbox>")
		contains(t, "the inbox", inbox, reason, "continue is refused")
		contains(t, "the prompt", p, "(pressure . critical)")
	}
	contains(t, "status", s.must("", "status").out, "pressure  critical (91% of cap-day)")
	s.set("cap-day: 99 USD") // no room for a tick
	r = s.amacs("", "ask", "--json", "line four")
	if r.code != exitRefused {
		t.Errorf("exit %d", r.code)
	}
}

// TestWarning: at 80% of a cap the human is told, once.
func TestWarning(t *testing.T) {
	t.Parallel()
	s := newShop(t, "cap-day: 100 USD")
	s.sells(80_000, 1, 1)
	told := 0
	for i := range 3 {
		r := s.must("", "ask", fmt.Sprint("line ", i))
		told += strings.Count(r.errs, "80 USD of cap-day is spent (100 USD a day)")
		if want := min(i, 1); told != want {
			t.Errorf("after line %d it was told %d times, want %d:\n%s", i, told, want, r.errs)
		}
	}
}

// TestCapInPrompt: a cap that is reached, on a pipe and with --json.
func TestCapInPrompt(t *testing.T) {
	t.Parallel()
	s := newShop(t, "cap-day: 10 USD")
	s.sells(5000)
	r := s.amacs("one\ntwo\n/cost\nthree\n")
	if r.code != exitRefused || s.sold() != 1 {
		t.Errorf("exit %d, asked %d times", r.code, s.sold())
	}
	const refusal = "cap-day is 10 USD a day: 5 USD is spent and this call could come to 8.192 USD; it resets on "
	contains(t, "the prompt", r.out, "answer 0", "no reply: "+refusal, "your line is kept", "cap-day       5 USD of 10 USD a day used")
	r = s.amacs("", "ask", "--json", "four")
	var report struct {
		Ticks []struct {
			Outcome string
			In      int `json:"tokens_in"`
		}
	}
	var failure struct {
		Error string
		Exit  int
	}
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || len(report.Ticks) != 1 || report.Ticks[0].Outcome != "failed" {
		t.Errorf("%v: %s", err, r.out)
	}
	if err := json.Unmarshal([]byte(r.errs), &failure); err != nil || failure.Exit != exitRefused || r.code != exitRefused || !strings.Contains(failure.Error, refusal) {
		t.Errorf("exit %d: %v %+v", r.code, err, failure)
	}
	s.once("one", "two", "three", "four")
	contains(t, "status", s.must("", "status").out, "waiting   3 lines without an answer")
}

// TestAttempts: every attempt is a line of the ledger, charged for what became of
// it: nothing where the server refused, what it had counted or an estimate where
// its answer broke off.
func TestAttempts(t *testing.T) {
	t.Parallel()
	soon := map[string]string{"retry-after-ms": "1"}
	long := said(strings.Repeat("words and more words ", 40))
	usage := fake.Usage{In: 4000, Out: 100}
	type attempt struct {
		outcome string
		charged bool
	}
	for _, c := range []struct {
		name    string
		vendor  string
		answers []fake.Answer
		want    []attempt
		code    int
	}{
		{"busy", "openai", []fake.Answer{{Fault: "429", Headers: soon}, {Fault: "529", Headers: soon}, {Text: long, Usage: usage}},
			[]attempt{{"transient", false}, {"transient", false}, {"ok", true}}, 0},
		{"key", "openai", []fake.Answer{{Fault: "401"}}, []attempt{{"permanent", false}}, exitNoModel},
		{"quota", "openai", []fake.Answer{{Fault: fake.Quota}}, []attempt{{"permanent", false}}, exitNoModel},
		{"reset", "openai", []fake.Answer{{Fault: fake.Reset, Times: 1, Text: long, Usage: usage}}, []attempt{{"transient", true}, {"ok", true}}, 0},
		{"counted", "anthropic", []fake.Answer{{Fault: fake.NoStop, Times: 1, Text: long, Usage: usage}}, []attempt{{"transient", true}, {"ok", true}}, 0},
		{"no usage", "openai", []fake.Answer{{Fault: fake.NoUsage, Text: long}}, []attempt{{"ok, tokens estimated", true}}, 0},
		{"not JSON", "openai", []fake.Answer{{Text: "what?", Usage: usage}, {Text: long, Usage: usage}}, []attempt{{"ok", true}, {"ok", true}}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t)
			s.write("config.yaml", "provider: "+c.vendor+"\nmodel: priced\nbase-url: "+s.URL+map[string]string{"openai": "/v1"}[c.vendor]+
				"\nprices: {priced: {in: 10, out: 100}}\n")
			s.env = append(s.env, "ANTHROPIC_API_KEY=sk-ant-planted-0123456789")
			s.Queue(c.answers...)
			r := s.amacs("", "ask", "a line")
			if r.code != c.code {
				t.Fatalf("exit %d, want %d\n%s", r.code, c.code, r.errs)
			}
			got := s.entries("settle")
			if len(got) != len(c.want) || len(s.entries("reserve")) != len(c.want) || s.sold() != len(c.want) {
				t.Fatalf("%d lines, %d questions: %+v", len(got), s.sold(), got)
			}
			sum := 0.0
			for i, e := range got {
				if e.USD == nil || e.Outcome != c.want[i].outcome || (*e.USD > 0) != c.want[i].charged || (e.In > 0) != c.want[i].charged {
					t.Errorf("attempt %d: %+v, want %+v", i, e, c.want[i])
					continue
				}
				if c.name == "counted" && i == 0 && (e.In != usage.In || e.Out == 0) {
					t.Errorf("what the server had counted: %+v", e)
				}
				sum += *e.USD
			}
			b := s.cost()
			if !near(b.Day.USD, sum) || b.Day.Calls != len(c.want) || b.Day.Unsettled != 0 {
				t.Errorf("cost: %+v, want %v", b.Day, sum)
			}
			_, said, _ := strings.Cut(s.git("log", "-1", "--format=%B"), "\nCost-USD: ")
			said, _, _ = strings.Cut(said, "\n")
			if usd, err := strconv.ParseFloat(said, 64); err != nil || !near(usd, sum) {
				t.Errorf("the commit says Cost-USD: %s, not %v", said, sum)
			}
		})
	}
	t.Run("nobody there", func(t *testing.T) {
		t.Parallel()
		s := newShop(t)
		s.set("fast-model: priced")
		s.write("config.yaml", strings.Replace(s.read("config.yaml"), s.URL, "http://127.0.0.1:9", 1))
		if r := s.amacs("", "models", "check"); r.code != exitNoModel {
			t.Errorf("exit %d\n%s", r.code, r.errs)
		}
		if b := s.cost(); b.Day.USD != 0 || b.Day.Calls != 1 || b.Day.In != 0 {
			t.Errorf("%+v", b.Day)
		}
	})
}

// TestAbsurdCost: a server's numbers that can not be are not believed. The call
// counts at its worst, in the ledger as in the commit.
func TestAbsurdCost(t *testing.T) {
	t.Parallel()
	free, dear := -1.0, 1e9
	for name, a := range map[string]fake.Answer{
		"tokens":      {Text: said("an answer"), Usage: fake.Usage{In: 5, Out: 2_000_000_000_000}},
		"less than 0": {Text: said("an answer"), Usage: fake.Usage{In: 5, Out: 2}, Cost: &free},
		"USD":         {Text: said("an answer"), Usage: fake.Usage{In: 5, Out: 2}, Cost: &dear},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, "cap-day: 10 USD")
			s.Queue(a)
			r := s.must("", "ask", "line one")
			contains(t, "the tick", r.out+r.errs, "an answer", "what the call cost could not be written down; it counts at its worst case")
			if b := s.cost(); !near(b.Day.USD, shopTick) || b.Day.Unsettled != 1 {
				t.Errorf("%+v", b.Day)
			}
			contains(t, "the commit", s.git("log", "-1", "--format=%B"), "\nCost-USD: 8.192\n", " 8192 out\n")
			if r := s.amacs("", "ask", "line two"); r.code != exitRefused {
				t.Errorf("the next call: exit %d", r.code)
			}
		})
	}
}

// TestLedgerDamage: lines that can not be read are named and passed over; where
// nothing can be read or written, no call is made.
func TestLedgerDamage(t *testing.T) {
	t.Parallel()
	t.Run("a line in the middle", func(t *testing.T) {
		t.Parallel()
		s := newShop(t, "cap-day: 100 USD")
		s.sells(10, 20, 30)
		s.must("", "ask", "line one")
		file := s.ledgerFiles()[0]
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		head, tail, _ := strings.Cut(string(b), "\n")
		if err := os.WriteFile(file, []byte(head+"\nrubbish\n"+tail), 0o600); err != nil {
			t.Fatal(err)
		}
		name := file + ":2 can not be read and is not counted; mend it, or delete it"
		contains(t, "cost", s.must("", "cost").out, "today         1 call, 1,000 tokens in (60% cached), 10 out, $0.0100\n", name)
		contains(t, "cost --by", s.must("", "cost", "--by", "day").out, "1 call, ", name)
		contains(t, "cost --by --json", s.must("", "cost", "--by", "model", "--json").out, `"calls": 1`, `"line": 2`)
		contains(t, "the tick", s.must("", "ask", "line two").errs, name)
		r := s.amacs("", "doctor")
		if r.code != exitHome {
			t.Errorf("doctor: exit %d", r.code)
		}
		contains(t, "doctor", r.out, "bad    ledger", name)
		if b := s.cost(); b.Day.Calls != 2 || !near(b.Day.USD, 0.03) {
			t.Errorf("%+v", b.Day)
		}
	})
	t.Run("a line cut short", func(t *testing.T) {
		t.Parallel()
		s := newShop(t, "cap-day: 100 USD")
		s.sells(10, 20)
		s.must("", "ask", "line one")
		file := s.ledgerFiles()[0]
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(`{"kind":"reserve","id":"0`); err != nil {
			t.Fatal(err)
		}
		f.Close()
		for i := range 2 {
			if b := s.cost(); b.Day.Calls != i+1 || b.Broken != nil {
				t.Errorf("%+v %v", b.Day, b.Broken)
			}
			contains(t, "doctor", s.must("", "doctor").out, "ok     ledger")
			if i == 0 {
				if r := s.must("", "ask", "line two"); r.errs != "" {
					t.Errorf("the tick says:\n%s", r.errs)
				}
			}
		}
	})

	spoiled := map[string]func(w *world, dir string) error{
		"a folder that can not be read": func(w *world, dir string) error { return os.Chmod(dir, 0) },
		"a file in its place": func(w *world, dir string) error {
			if err := os.RemoveAll(dir); err != nil {
				return err
			}
			return os.WriteFile(dir, nil, 0o600)
		},
		"a folder in a month's place": func(w *world, dir string) error {
			file := w.ledgerFiles()[0]
			if err := os.Remove(file); err != nil {
				return err
			}
			return os.Mkdir(file, 0o700)
		},
	}
	for name, spoil := range spoiled {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(t, "cap-day: 100 USD")
			s.sells(10, 10)
			s.must("", "ask", "line one")
			dir := s.path(".amacs/state/ledger")
			if err := spoil(s.world, dir); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.Chmod(dir, 0o700) })
			for _, args := range [][]string{{"ask", "line two"}, {"models", "check"}, {"cost"}, {"doctor"}} {
				r := s.finish(s.unprivileged(args...))
				want := exitFailed
				if args[0] == "doctor" {
					want = exitHome
				}
				if r.code != want {
					t.Errorf("%q: exit %d, want %d\n%s%s", args, r.code, want, r.out, r.errs)
				}
				contains(t, fmt.Sprint(args), r.out+r.errs, dir)
				if args[0] == "ask" {
					contains(t, "the tick", r.errs, "no call is made without the ledger; mend it, or move "+dir+" away", "what you said is kept")
				}
			}
			if s.sold() != 1 {
				t.Errorf("the server was asked %d times", s.sold())
			}
			s.once("line one", "line two")
			if err := os.Chmod(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			s.must("", "ask", "line three")
			if b := s.cost(); b.Lifetime.Calls != 2 { // the first by its commit
				t.Errorf("%+v", b.Lifetime)
			}
			s.once("line one", "line two", "line three")
		})
	}
}

// unprivileged is a command that file permissions hold for, even where the tests
// run as root.
func (w *world) unprivileged(args ...string) *exec.Cmd {
	w.t.Helper()
	c := w.command("", args...)
	if os.Geteuid() != 0 {
		return c
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		w.t.Skip("as root, and without setpriv, every folder can be read")
	}
	const caps = "-dac_override,-dac_read_search"
	c.Args = append([]string{setpriv, "--bounding-set", caps, "--inh-caps", caps, c.Path}, args...)
	c.Path = setpriv
	return c
}

// TestLedgerOnFullDisk: no call is made that can not be booked.
func TestLedgerOnFullDisk(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.env = append(s.env, "CONFIG="+s.path("config.yaml"))
	const check = `
amacs models check > out 2> errs
code=$?
[ $code = 0 ] && echo answered || echo "exit $code: $(cat errs)"
`
	out, err := s.onDisk(2048, `
amacs init > /dev/null || exit 98
cp "$CONFIG" "$AMACS_HOME/config.yaml"
dd if=/dev/zero of="$DISK/ballast" bs=1k 2> /dev/null
`+check+`
rm -f "$DISK/ballast"
`+check+`
dd if=/dev/zero of="$DISK/ballast" bs=1k 2> /dev/null
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
`+check+`
done
rm -f "$DISK/ballast"
amacs cost --json
`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines, rest, _ := strings.Cut(out, "{")
	answered := strings.Count(lines, "answered\n")
	if answered != s.sold() || !strings.HasPrefix(lines, "exit 1: ") || !strings.HasSuffix(lines, "\n") {
		t.Errorf("%d answered, the server was asked %d times:\n%s", answered, s.sold(), lines)
	}
	for l := range strings.Lines(lines) {
		if l != "answered\n" && !strings.Contains(l, "no space left") {
			t.Errorf("%s", l)
		}
	}
	if strings.Count(lines, "no space left") < 2 {
		t.Errorf("the disk was never full:\n%s", lines)
	}
	var b harness.Budget
	if err := json.Unmarshal([]byte("{"+rest), &b); err != nil || b.Lifetime.Calls != answered || b.Broken != nil {
		t.Errorf("%v %+v", err, b)
	}
}
