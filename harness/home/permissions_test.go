package home

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"amacs/org"
)

var (
	asked = time.Date(2026, 11, 21, 5, 42, 0, 0, time.Local)
	later = asked.Add(18 * time.Minute)
	push  = Request{
		Kind: "run:git push", Project: "/home/me/x", Dir: "/home/me/x", Tick: 42, Call: `(agent-run "git push origin main")`,
		Asked: asked, Expires: asked.AddDate(0, 0, 7), Summary: "Publish the fix", Why: "The server tests what is pushed",
		Commands: []string{"git push origin main"}, Files: []string{"a.go", "b, c.go"},
		Touches: []string{"contacts github.com"}, Confined: "no: it reaches the network",
	}
)

const pushed = `# -*- coding: utf-8 -*-
#+TITLE: What the agent asked, and what was answered
#+TODO: ASK(a) APPROVED(p) | DENIED(d) EXPIRED(e) DONE(o) FAILED(f)
# Change ASK to APPROVED or DENIED to answer; words after "answer ::" reach the agent.

* ASK git push origin main
:PROPERTIES:
:ID: ID
:KIND: run:git push
:PROJECT: /home/me/x
:CALL: (agent-run "git push origin main")
:DIR: /home/me/x
:TICK: 42
:ASKED: [2026-11-21 Sat 05:42]
:EXPIRES: [2026-11-28 Sat 05:42]
:END:
- summary :: Publish the fix
- why :: The server tests what is pushed
- file :: a.go
- file :: b, c.go
- command :: git push origin main
- touches :: contacts github.com
- confined :: no: it reaches the network
- answer ::
`

// ask makes a draft with requests, and their ids.
func ask(t testing.TB, rs ...Request) (*Draft, []string) {
	t.Helper()
	d := draft(nil)
	var ids []string
	for _, r := range rs {
		id, err := d.Ask(r)
		must(t, err)
		ids = append(ids, id)
	}
	return d, ids
}

func state(t testing.TB, d *Draft, id string) Request {
	t.Helper()
	r, err := d.Request(id)
	must(t, err)
	return r
}

// refused fails the test unless err says all the words.
func refused(t testing.TB, err error, words ...string) {
	t.Helper()
	for _, w := range words {
		if err == nil || !strings.Contains(err.Error(), w) {
			t.Fatalf("got error %v, want one with %q", err, w)
		}
	}
}

func TestAsk(t *testing.T) {
	d, ids := ask(t, push)
	if got, want := d.text(t, Permissions), strings.Replace(pushed, "ID: ID", "ID: "+ids[0], 1); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	same, again := ask(t, push, push)
	if again[0] != ids[0] || again[1] == ids[0] {
		t.Errorf("ids %v, then %v: the same request has the same id, the next one another", ids, again)
	}
	if n := len(Requests([]byte(same.text(t, Permissions)))); n != 2 {
		t.Errorf("%d requests", n)
	}
	r := push
	r.ID = ids[0]
	_, err := d.Ask(r)
	refused(t, err, "taken")
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct{ given, state string }{{"yes", Approved}, {"always", Approved}, {"no", Denied}, {"never", Denied}} {
		d, ids := ask(t, push)
		must(t, d.Give(ids[0][2:4], c.given, "prompt", "not on Fridays", later))
		r := state(t, d, ids[0])
		if r.State != c.state || r.Given != c.given || r.By != "prompt" || !r.Answered.Equal(later) || r.Answer != "not on Fridays" {
			t.Errorf("%s: %+v", c.given, r)
		}
		if !strings.Contains(d.text(t, Permissions), "- answer :: not on Fridays\n") {
			t.Errorf("%s: the words are not in their item:\n%s", c.given, d.text(t, Permissions))
		}
		refused(t, d.Give(ids[0], "yes", "command", "", later), ids[0], "already: "+c.given+", by prompt, 2026-11-21 06:00")
		err := d.Begin(ids[0], later)
		if c.state == Approved {
			must(t, err)
		} else {
			refused(t, err, "it is DENIED")
		}
	}
	d, ids := ask(t, push)
	refused(t, d.Give(ids[0], "maybe", "prompt", "", later), "maybe")
}

func TestWords(t *testing.T) {
	for _, words := range []string{"* one\n#+TODO: X | ASK", "a line", strings.Repeat("long ", 100), "[[https://example.org][x]] :tag:"} {
		d, ids := ask(t, push)
		must(t, d.Give(ids[0], "no", "command", words, later))
		if r := state(t, d, ids[0]); r.Answer != strings.TrimSpace(words) || r.State != Denied {
			t.Errorf("%q came back as %q", words, r.Answer)
		}
	}
	d, ids := ask(t, push)
	src := strings.Replace(d.text(t, Permissions), "- answer ::\n", "- answer :: by hand\n  and on\n", 1)
	must(t, d.Put(Permissions, []byte(src)), d.Give(ids[0], "yes", "command", "and by command", later))
	if r := state(t, d, ids[0]); r.Answer != "by hand\nand on\nand by command" {
		t.Errorf("%q", r.Answer)
	}
}

func TestRunsOnce(t *testing.T) {
	d, ids := ask(t, push)
	id := ids[0]
	refused(t, d.Begin(id, later), "not answered yet")
	must(t, d.Give(id, "yes", "command", "", later))
	refused(t, d.End(id, Finished, "x", later), "not begun")
	must(t, d.Begin(id, later))
	refused(t, d.Begin(id, later), "begun already", "06:00")
	refused(t, d.End(id, "ASK", "x", later), "does not end ASK")
	must(t, d.End(id, Failed, "exit 1\n* remote: no\n", later))
	r := state(t, d, id)
	if r.State != Failed || r.Given != "yes" || r.Result != "exit 1\n* remote: no\n" || !r.Ended.Equal(later) {
		t.Errorf("%+v", r)
	}
	refused(t, d.End(id, Finished, "", later), "it is FAILED")
	refused(t, d.Begin(id, later), "it is FAILED")
	refused(t, d.Give(id, "no", "command", "", later), "already: yes", "it is failed")
}

// An approval that the gate refuses after all is no denial of the human's.
func TestRefusedAfterAll(t *testing.T) {
	d, ids := ask(t, push)
	must(t, d.Give(ids[0], "yes", "command", "", later), d.End(ids[0], Denied, "config.yaml denies it", later))
	if r := state(t, d, ids[0]); r.State != Denied || r.Given != "yes" || r.By != "command" {
		t.Errorf("%+v", r)
	}
}

// A hand may change its mind about what was denied, also when the agent knows.
func TestHandChangesItsMind(t *testing.T) {
	for _, to := range []string{Approved, Asking} {
		d, ids := ask(t, push)
		id := ids[0]
		must(t, d.Give(id, "never", "prompt", "", asked), d.Told(id, asked))
		must(t, d.Put(Permissions, []byte(strings.Replace(d.text(t, Permissions), "* DENIED", "* "+to, 1))))
		if to == Asking {
			must(t, d.Give(id, "yes", "hand", "", later))
			if r := state(t, d, id); !r.Ended.IsZero() {
				t.Errorf("it is over already: %+v", r)
			}
		}
		must(t, d.Begin(id, later), d.End(id, Finished, "ok", later))
		if r := state(t, d, id); r.Given != "yes" || r.By != "hand" || !r.Answered.Equal(later) || r.State != Finished {
			t.Errorf("%s: %+v", to, r)
		}
	}
}

func TestLongResult(t *testing.T) {
	d, ids := ask(t, push)
	must(t, d.Give(ids[0], "yes", "command", "", later), d.Begin(ids[0], later),
		d.End(ids[0], Finished, strings.Repeat("ü\n", 4000)+"the end", later))
	r := state(t, d, ids[0])
	if len(r.Result) > resultSize+60 || !strings.HasPrefix(r.Result, "[...79") || !strings.HasSuffix(r.Result, "ü\nthe end") {
		t.Errorf("%d bytes: %.40q", len(r.Result), r.Result)
	}
}

// TestHandEdits: what a hand makes of a request, and what is read then.
func TestHandEdits(t *testing.T) {
	for name, c := range map[string]struct {
		from, to              string
		state, given, by, say string
	}{
		"approved":           {"* ASK", "* APPROVED", Approved, "yes", "hand", ""},
		"denied":             {"* ASK", "* DENIED", Denied, "no", "hand", ""},
		"closed by Emacs":    {"* ASK git push origin main\n", "* DENIED git push origin main\nCLOSED: [2026-11-21 Sat 06:00]\n", Denied, "no", "hand", ""},
		"blanks and a tag":   {"* ASK git push origin main", "*  APPROVED   git push  origin main   :work:", Approved, "yes", "hand", ""},
		"words":              {"- answer ::", "- answer ::   only today  ", Asking, "", "", "only today"},
		"words below":        {"- answer ::", "\n** Answer\nonly today\n* no, tomorrow", Asking, "", "", "only today"},
		"no state":           {"* ASK ", "* ", Asking, "", "", ""},
		"lower case":         {"* ASK ", "* approved ", Asking, "", "", ""},
		"no line of states":  {"#+TODO: ASK(a) APPROVED(p) | DENIED(d) EXPIRED(e) DONE(o) FAILED(f)\n", "", Asking, "", "", ""},
		"states of his own":  {"#+TODO: ASK(a) APPROVED(p) | DENIED(d) EXPIRED(e) DONE(o) FAILED(f)\n", "#+TODO: ASK | DENIED\n", Asking, "", "", ""},
		"always":             {"* ASK", "* APPROVED", Approved, "always", "hand", ""},
		"against its state":  {"* ASK", "* DENIED", Denied, "no", "hand", ""},
		"an answer, no ASK":  {"* ASK", "* ASK", Asking, "", "", ""},
		"an unknown answer":  {"* ASK", "* APPROVED", Approved, "yes", "hand", ""},
		"a state of his own": {"* ASK git push origin main\n", "#+TODO: LATER\n* LATER git push origin main\n", "LATER", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			d, ids := ask(t, push)
			src := d.text(t, Permissions)
			if strings.Count(src, c.from) == 0 {
				t.Fatalf("%q is not in the file", c.from)
			}
			src = strings.Replace(src, c.from, c.to, 1)
			prop := map[string]string{"always": "always\n:BY: hand", "against its state": "always\n:BY: prompt", "an answer, no ASK": "always", "an unknown answer": "sure"}[name]
			if prop != "" {
				src = strings.Replace(src, ":END:", ":ANSWER: "+prop+"\n:MINE: kept\n:END:", 1)
			}
			for _, src := range []string{src, strings.ReplaceAll(src, "\n", "\r\n")} {
				rs := Requests([]byte(src))
				if len(rs) != 1 {
					t.Fatalf("%d requests", len(rs))
				}
				r := rs[0]
				if r.State != c.state || r.Given != c.given || r.By != c.by || r.Answer != c.say || r.ID != ids[0] || r.Summary != push.Summary || r.Waits() != (c.state == Asking) {
					t.Errorf("got %s %q by %q %q, want %+v", r.State, r.Given, r.By, r.Answer, c)
				}
				must(t, d.Put(Permissions, []byte(src)))
				switch {
				case r.Waits():
					must(t, d.Give(r.ID, "yes", "command", "", later))
				case r.State == Approved:
					must(t, d.Begin(r.ID, later), d.End(r.ID, Finished, "ok", later))
				default:
					refused(t, d.Give(r.ID, "yes", "command", "", later), r.ID)
					continue
				}
				r = state(t, d, ids[0])
				if r.Given == "" || r.By == "" || r.Answered.IsZero() {
					t.Errorf("afterwards %+v", r)
				}
				if prop != "" && !strings.Contains(d.text(t, Permissions), ":MINE: kept") {
					t.Error("an unknown property is gone")
				}
			}
		})
	}
}

// TestOnlyItsHeading: all that is not the request's stays, byte for byte.
func TestOnlyItsHeading(t *testing.T) {
	d, ids := ask(t, push)
	src := d.text(t, Permissions)
	head, own, _ := strings.Cut(src, "* ASK")
	before := head + "my own words\n\n* TODO [#A] Mine  :x:\n:PROPERTIES:\n:ID: 3b2c\n:END:\n\n\n"
	after := "\n\n* ASK git push by hand, no id\n- answer ::\n   * x\n"
	must(t, d.Put(Permissions, []byte(before+"* ASK"+own+after)))
	must(t, d.Give(ids[0], "always", "command", "go on", later), d.Begin(ids[0], later), d.End(ids[0], Finished, "ok", later))
	got := d.text(t, Permissions)
	if !strings.HasPrefix(got, before+"* DONE git push origin main\n") || !strings.HasSuffix(got, after) {
		t.Errorf("got\n%s", got)
	}
	if rs := Requests([]byte(got)); len(rs) != 1 {
		t.Errorf("%d requests: %+v", len(rs), rs)
	}
}

func TestFindRequest(t *testing.T) {
	d := draft(nil)
	_, err := d.Request("x")
	refused(t, err, "nothing was asked yet")
	for _, id := range []string{"p-3f2a", "p-3f2b", "p-77"} {
		r := push
		r.ID = id
		_, err := d.Ask(r)
		must(t, err)
	}
	for given, want := range map[string]string{"p-3f2a": "p-3f2a", "3f2b": "p-3f2b", "7": "p-77", "p-7": "p-77", " 77 ": "p-77"} {
		if r, err := d.Request(given); err != nil || r.ID != want {
			t.Errorf("%q: %s, %v", given, r.ID, err)
		}
	}
	for given, want := range map[string]string{"3f": "p-3f2a, p-3f2b", "": "waiting", "p-": "waiting", "9": "p-77"} {
		_, err := d.Request(given)
		refused(t, err, want)
	}
	src := d.text(t, Permissions)
	must(t, d.Put(Permissions, []byte(src+src[strings.LastIndex(src, "\n* ")+1:])))
	_, err = d.Request("p-77")
	refused(t, err, "2 requests")
	refused(t, d.Begin("p-77", later), "2 requests")
}

func TestExpire(t *testing.T) {
	lasting, answered := push, push
	lasting.Expires, lasting.Summary = time.Time{}, "lasting"
	answered.Summary = "answered"
	d, ids := ask(t, push, lasting, answered)
	must(t, d.Give(ids[2], "yes", "command", "", later))
	for _, c := range []struct {
		now  time.Time
		want []string
	}{{push.Expires.Add(-time.Minute), nil}, {push.Expires, ids[:1]}, {push.Expires.AddDate(1, 0, 0), nil}} {
		got, err := d.Expire(c.now)
		must(t, err)
		if !slices.Equal(got, c.want) {
			t.Errorf("at %s %v expire, want %v", c.now, got, c.want)
		}
	}
	if r := state(t, d, ids[0]); r.State != Expired || r.Given != "" {
		t.Errorf("%+v", r)
	}
	refused(t, d.Give(ids[0], "yes", "command", "", later), "has expired")
	none := draft(nil)
	got, err := none.Expire(later)
	if err != nil || got != nil || none.Changed() != nil {
		t.Errorf("%v, %v, %v", got, err, none.Changed())
	}
}

func TestArchiveRequests(t *testing.T) {
	t.Parallel()
	m := fstest.MapFS{}
	d := NewDraft(m)
	given := []string{"yes", "no", "always", "never", ""}
	archived := 0
	for i := range 50 {
		r := push
		r.Tick, r.Summary, r.Diff = i, fmt.Sprint("request ", i), strings.Repeat("+ line\n", 600)
		id, err := d.Ask(r)
		must(t, err)
		if g := given[i%len(given)]; g != "" {
			must(t, d.Give(id, g, "command", "", later))
			if g == "yes" && i%2 == 0 {
				must(t, d.Begin(id, later), d.End(id, Finished, "ok", later))
			} else if g == "no" && i%3 == 0 {
				must(t, d.Told(id, later))
			}
		}
		n, err := d.ArchiveRequests()
		must(t, err)
		if archived += n; n == 0 && i < 12 && len(d.text(t, Permissions)) > fullSize {
			t.Fatalf("request %d: %d bytes and nothing moves", i, len(d.text(t, Permissions)))
		}
		settled(t, fstest.MapFS{}, d)
	}
	here, there := Requests([]byte(d.text(t, Permissions))), Requests([]byte(d.text(t, permissionArchive)))
	if len(here)+len(there) != 50 || len(there) != archived || archived < 5 {
		t.Fatalf("%d here, %d of %d in the archive", len(here), len(there), archived)
	}
	last := -1
	for _, r := range there {
		if r.State != Finished && r.State != Denied || r.Ended.IsZero() || r.Given == "never" || r.Tick <= last {
			t.Errorf("in the archive: %+v", r)
		}
		last = r.Tick
	}
	seen := map[int]bool{}
	for _, r := range append(here, there...) {
		if seen[r.Tick] || r.Diff != strings.Repeat("+ line\n", 600) {
			t.Errorf("tick %d is there twice, or changed", r.Tick)
		}
		seen[r.Tick] = true
	}
}

// texts of a request, each from a byte string of its own.
func fuzzed(parts []string) Request {
	p := func(i int) string { return parts[i%len(parts)] }
	return Request{Tick: 7, Asked: asked, Expires: later, Kind: p(0), Project: p(1), Call: p(2), Dir: p(3), Summary: p(4), Why: p(5),
		Files: []string{p(6), p(7)}, Commands: []string{p(8)}, Touches: []string{p(9), p(0), p(3)}, Confined: p(10),
		Risks: p(11), Rollback: p(12), Expected: p(13), Diff: p(14)}
}

func roundTrip(t *testing.T, parts []string) {
	t.Helper()
	want := fuzzed(parts)
	d, ids := ask(t, push, want, push)
	want.ID, want.State = ids[1], Asking
	check := func() Request {
		t.Helper()
		rs := Requests([]byte(d.text(t, Permissions)))
		if len(rs) != 3 {
			t.Fatalf("%d requests in\n%s", len(rs), d.text(t, Permissions))
		}
		if rs[0].Summary != push.Summary || rs[2].Summary != push.Summary || !rs[0].Waits() || !rs[2].Waits() {
			t.Fatalf("a neighbour changed:\n%s", d.text(t, Permissions))
		}
		return rs[1]
	}
	if got := check(); !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v\nin\n%s", got, want, d.text(t, Permissions))
	}
	words, result := parts[0], parts[len(parts)-1]
	must(t, d.Give(want.ID, "yes", "command", words, later), d.Begin(want.ID, later), d.End(want.ID, Finished, result, later))
	want.State, want.Given, want.By, want.Answered, want.Started, want.Ended = Finished, "yes", "command", later, later, later
	want.Answer, want.Result = strings.TrimSpace(words), tail(result)
	if got := check(); !reflect.DeepEqual(got, want) {
		t.Fatalf("answered: got  %+v\nwant %+v\nin\n%s", got, want, d.text(t, Permissions))
	}
}

// nastyFrom are the nasty texts, from the i-th on, none of them long.
func nastyFrom(i int) []string {
	parts := append(slices.Clone(nasty[i:]), nasty[:i]...)
	for j, s := range parts {
		parts[j] = s[:min(len(s), 300)]
	}
	return parts
}

func TestRequestsRoundTrip(t *testing.T) {
	t.Parallel()
	for i := range nasty {
		parts := nastyFrom(i)
		roundTrip(t, parts)
	}
	roundTrip(t, titles)
}

func FuzzRequests(f *testing.F) {
	f.Add([]byte("a\x00\n* b\x00[[x]]\x00\xff"))
	f.Add([]byte(" :tag:\x00ASK x\x00- why :: y\n- answer :: z\x00\u200b\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var parts []string
		for _, p := range bytes.Split(b, []byte{0}) {
			parts = append(parts, string(p))
		}
		roundTrip(t, parts)
	})
}

// FuzzRequestEdits: whatever a file holds, an answer changes that heading alone.
func FuzzRequestEdits(f *testing.F) {
	f.Add([]byte(strings.Replace(pushed, "ID: ID", "ID: p-1", 1)))
	f.Add([]byte("* ASK x\n:PROPERTIES:\n:ID: p-1\n:END:\r\n** Answer\n* y\n:PROPERTIES:\n:ID: p-2\n:END:"))
	f.Fuzz(func(t *testing.T, src []byte) {
		d := draft(map[string]string{Permissions: string(src)})
		if _, err := d.Bytes(Permissions); err != nil {
			t.Skip("damaged")
		}
		for _, r := range Requests(src) {
			was, err := d.Request(r.ID)
			if err != nil {
				continue // the id is there twice
			}
			err = d.Give(r.ID, "no", "command", "words", later)
			if was.Waits() != (err == nil) {
				t.Fatalf("%s is %s: %v", r.ID, was.State, err)
			}
			if err != nil {
				continue
			}
			if now := state(t, d, r.ID); now.State != Denied || now.Given != "no" || now.Why != was.Why || now.Call != was.Call || !strings.HasSuffix(now.Answer, "words") {
				t.Fatalf("%+v became %+v", was, now)
			}
		}
		if got, want := len(Requests([]byte(d.text(t, Permissions)))), len(Requests(src)); got != want {
			t.Fatalf("%d requests of %d", got, want)
		}
	})
}

// TestEmacsAnswers: real Emacs sees the headings that were meant, and what it
// makes of a state is what is read.
func TestEmacsAnswers(t *testing.T) {
	t.Parallel()
	emacs, err := exec.LookPath("emacs")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI needs emacs: ", err)
		}
		t.Skip("no emacs")
	}
	d, ids := ask(t, push, push, push)
	var want []string
	for range ids {
		want = append(want, "ASK git push origin main")
	}
	for i := range nasty {
		parts := nastyFrom(i)
		id, err := d.Ask(fuzzed(parts))
		must(t, err, d.Give(id, "yes", "command", parts[1], later), d.Begin(id, later), d.End(id, Finished, parts[2], later))
		want = append(want, "DONE "+org.UnescapeTitle(org.EscapeTitle(state(t, d, id).Title())))
	}
	file := filepath.Join(t.TempDir(), Permissions)
	must(t, os.WriteFile(file, []byte(d.text(t, Permissions)), 0o600))

	var seen []seenFile
	out, err := exec.Command(emacs, "-Q", "--batch", "-l", "../../org/testdata/check.el", "-f", "amacs-check", file).Output()
	must(t, err, json.Unmarshal(out, &seen))
	rs := Requests([]byte(d.text(t, Permissions)))
	var got []string
	for _, h := range seen[0].Headings {
		if h.Level > 1 {
			continue
		}
		if id := h.Props[0]; id != [2]string{"ID", rs[len(got)].ID} || h.Comment || h.Priority != "" || len(h.Tags) > 0 || h.Scheduled != "" {
			t.Errorf("line %d: %+v", h.Line, h)
		}
		got = append(got, h.State+" "+org.UnescapeTitle(h.Title))
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("Emacs sees\n%s\nwant\n%s", g, w)
	}
	for _, l := range seen[0].Lint {
		t.Errorf("org-lint: line %d: %s", l.Line, l.Text)
	}

	script := `(progn (find-file (car command-line-args-left)) (setq command-line-args-left nil org-log-done 'time)
  (goto-char (point-min)) (re-search-forward "^\\* ASK") (org-todo "APPROVED")
  (re-search-forward "^\\* ASK") (org-todo "DENIED") (let ((make-backup-files nil)) (save-buffer)))`
	if out, err := exec.Command(emacs, "-Q", "--batch", "-l", "org", "--eval", script, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	src, err := os.ReadFile(file)
	must(t, err)
	rs = Requests(src)
	if rs[0].State != Approved || rs[0].Given != "yes" || rs[0].By != "hand" || rs[1].State != Denied || rs[1].Given != "no" || !rs[2].Waits() {
		t.Errorf("after org-todo: %s, %s, %s", rs[0].State, rs[1].State, rs[2].State)
	}
	must(t, d.Put(Permissions, src), d.Begin(ids[0], later), d.End(ids[0], Finished, "ok", later))
}
