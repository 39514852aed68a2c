package provider

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clis "amacs/harness/provider/agent"
)

// stubCLI is a CLI that runs a shell script; $1… are its flags.
func stubCLI(script string) clis.Entry {
	return clis.Entry{
		Name: "stub", Command: []string{"sh", "-c", script, "--"}, Model: []string{"--model", "{model}"}, Schema: []string{"--schema", "{schema}"},
		Budget: []string{"--budget", "{usd}"}, System: []string{"--system", "{system}"}, Continue: []string{"--go-on", "{session}"}, MaxUSD: 0.25,
		Output: clis.Output{Format: "lines", Delta: "delta", Stop: "stop", Model: "model", In: "in", Cached: "cached", Out: "out", Cost: "usd", Error: "error"},
	}
}

func openCLI(t *testing.T, model string, entries ...clis.Entry) Model {
	t.Helper()
	m, err := Open(Options{Provider: "agent", Model: model, Agents: entries})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var cliRequest = Request{
	System: "Be brief.", Blocks: []Block{{Text: "one ", Cache: true}, {Text: "two"}},
	Retry:    []Turn{{Role: "assistant", Text: "bad"}, {Role: "user", Text: "Again, please."}},
	Settings: Settings{Temperature: 1, TopP: 1}, Schema: []byte(`{"type":"object"}`),
}

func TestCLI(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen")
	m := openCLI(t, "stub:large", stubCLI(`{ echo "$*"; cat; } > '`+seen+`'
		echo '{"model":"large-2","delta":"Hel"}'; echo '{"delta":"lo."}'; echo '{"in":100,"cached":60,"out":7,"usd":0.02,"stop":"max_tokens"}'`))
	if f := m.Facts(); m.Name() != "agent:stub:large" || f != (Facts{Provider: "agent", Model: "stub:large", Billing: Subscription, MaxUSD: 0.25}) {
		t.Errorf("%s, %+v", m.Name(), f)
	}
	var streamed []string
	r, err := m.Complete(t.Context(), cliRequest, func(s string) { streamed = append(streamed, s) })
	if err != nil {
		t.Fatal(err)
	}
	if r.Text != "Hello." || strings.Join(streamed, "|") != "Hel|lo." || r.Model != "large-2" || r.Stop != "max_tokens" ||
		r.Usage != (Usage{In: 100, Cached: 60, Out: 7}) || r.Cost == nil || *r.Cost != 0.02 || r.Words != nil {
		t.Errorf("%+v, %q", r, streamed)
	}
	got, err := os.ReadFile(seen)
	const want = "--model large --system Be brief. --budget 0.25 --schema {\"type\":\"object\"}\n" +
		"one two\n\n<your-last-reply>\nbad\n</your-last-reply>\n\nAgain, please."
	if err != nil || string(got) != want {
		t.Errorf("it saw %q, %v", got, err)
	}
}

func TestCLIErrors(t *testing.T) {
	soon := time.Now().Add(30 * time.Minute).Format("3:04pm")
	for name, c := range map[string]struct {
		script string
		class  Class
		began  bool
		says   string
	}{
		"not logged in": {`echo '{"error":"Not logged in"}'; exit 1`, Permanent, false, "provider agent: asking: stub: Not logged in (run `stub` once"},
		"limit":         {`echo '{"error":"usage limit, resets ` + soon + `"}'; exit 1`, Transient, false, "it resets at "},
		"no money":      {`echo '{"error":"Credit balance is too low"}'; exit 1`, Permanent, false, "balance"},
		"too long":      {`echo '{"error":"Prompt is too long"}'; exit 1`, TooLong, false, "too long"},
		"overloaded":    {`echo '{"error":"529 overloaded"}'; exit 1`, Permanent, true, "529"},
		"deadline":      {`echo '{"delta":"half"}'; sleep 60`, Permanent, true, "not done after"},
		"crash":         {`echo '{"delta":"half"}'; kill -9 $$`, Permanent, true, "killed"},
		"billed":        {`echo '{"delta":"half","in":9,"out":3,"usd":0.3}'; echo '{"error":"Reached maximum budget"}'; exit 1`, Permanent, true, "maximum budget"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entry := stubCLI(c.script)
			if name == "deadline" {
				entry.Timeout = 300 * time.Millisecond
			}
			_, err := openCLI(t, "stub", entry).Complete(t.Context(), cliRequest, nil)
			var e *Error
			if !errors.As(err, &e) || e.Class != c.class || e.Began != c.began || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%+v: %v", e, err)
			}
			if strings.Contains(c.script, "half") != (e.Partial == "half") {
				t.Errorf("partial %q", e.Partial)
			}
			switch name {
			case "limit":
				if e.RetryAfter < 28*time.Minute || e.RetryAfter > 31*time.Minute {
					t.Errorf("retry after %v", e.RetryAfter)
				}
			case "billed":
				if e.Usage != (Usage{In: 9, Out: 3}) || e.Cost == nil || *e.Cost != 0.3 {
					t.Errorf("%+v", e)
				}
			}
		})
	}
}

func TestCLICancelled(t *testing.T) {
	m := openCLI(t, "stub", stubCLI(`trap '' TERM; echo '{"delta":"half a wo"}'; while :; do sleep 0.05; done`))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var at time.Time
	_, err := m.Complete(ctx, cliRequest, func(string) {
		at = time.Now()
		cancel()
	})
	var e *Error
	if !errors.As(err, &e) || e.Class != Cancelled || !e.Began || e.Partial != "half a wo" || !errors.Is(err, context.Canceled) {
		t.Errorf("%+v", err)
	}
	if took := time.Since(at); took > 500*time.Millisecond { // 100 ms is meant; a loaded machine may need more
		t.Errorf("took %v", took)
	}
}

// A schema that its model refuses is left out, once and for all, and said.
func TestCLIWithoutSchema(t *testing.T) {
	count := filepath.Join(t.TempDir(), "count")
	m := openCLI(t, "stub", stubCLI(`echo x >> '`+count+`'; case "$*" in *--schema*) echo '{"error":"Invalid schema for response_format"}'; exit 1;; esac; echo '{"delta":"fine"}'`))
	for n, words := range []int{2, 0} {
		request := cliRequest
		request.Settings.TopK = 3
		r, err := m.Complete(t.Context(), request, nil)
		if err != nil || r.Text != "fine" || len(r.Words) != words {
			t.Fatalf("%d: %+v, %v", n, r, err)
		}
		if words > 0 && (!strings.Contains(r.Words[0], "does not take a JSON schema") || !strings.Contains(r.Words[1], "top-k do not reach")) {
			t.Errorf("%q", r.Words)
		}
	}
	if b, err := os.ReadFile(count); err != nil || len(b) != 6 {
		t.Errorf("it ran %d times, %v", len(b)/2, err)
	}
}

func TestOpenCLI(t *testing.T) {
	for model, want := range map[string]string{
		"":       "no CLI named; known are: claude, codex, gemini",
		"claud":  `no CLI "claud"; known are: claude`,
		"claude": "",
	} {
		m, err := Open(Options{Provider: "agent", Model: model})
		if want == "" && (err != nil || m.Name() != "agent:claude" || m.Facts().MaxUSD != 0.5) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v", model, err)
		}
	}
	plain := clis.Entry{Name: "plain", Command: []string{"plain"}, Billing: "key"}
	if _, err := Open(Options{Provider: "agent", Model: "plain:x", Agents: []clis.Entry{plain}}); err == nil || !strings.Contains(err.Error(), "takes no name of a model") {
		t.Error(err)
	}
	if m := openCLI(t, "plain", plain); m.Facts().Billing != PerToken {
		t.Errorf("%+v", m.Facts())
	}
}
