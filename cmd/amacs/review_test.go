package main

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"amacs/harness/home"
)

// asking is a world with n requests that wait, the first with a long diff.
func asking(t *testing.T, n int) *world {
	t.Helper()
	w := newWorld(t)
	w.must("", "init")
	d := home.NewDraft(os.DirFS(w.dir))
	for i := range n {
		r := home.Request{ID: fmt.Sprint("p-", i), Kind: fmt.Sprint("run:do ", i), Asked: time.Now(), Commands: []string{fmt.Sprint("do ", i, " \x1b[31m")}}
		if i == 0 {
			r.Diff = strings.Repeat("+ a line\n", 60) + "+ the last line\n"
		}
		if _, err := d.Ask(r); err != nil {
			t.Fatal(err)
		}
	}
	src, err := d.Bytes(home.Permissions)
	if err != nil {
		t.Fatal(err)
	}
	w.write(home.Permissions, string(src))
	return w
}

// given are the answers by id, with the words.
func (w *world) given() map[string]string {
	out := map[string]string{}
	for _, r := range home.Requests([]byte(w.read(home.Permissions))) {
		out[r.ID] = strings.TrimSpace(r.State + " " + r.Given + " " + r.Answer)
	}
	return out
}

// TestReview: each key at a terminal, in a shell and at the prompt.
func TestReview(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		term   string
		prompt bool
	}{{"xterm", false}, {"dumb", false}, {"xterm", true}} {
		t.Run(fmt.Sprint(c.term, " at the prompt ", c.prompt), func(t *testing.T) {
			t.Parallel()
			w := asking(t, 7)
			env := []string{"TERM=" + c.term, "PAGER=cat"}
			var p *terminal
			if c.prompt {
				p = w.terminal(t, env, "--provider", "offline")
				p.says(`amacs>$`)
				p.typed("/review\r")
			} else {
				p = w.terminal(t, env, "review")
			}
			p.says(`1 of 7: p-0 do 0 ␛\[31m .*\(21 lines of the diff left out; v shows all\) a approve`)
			p.says(`review>$`)
			p.typed("v\r")
			p.says(`the last line .*review>$`)
			p.typed("what?\r")
			p.says(`the last line .*a approve · d deny .*review>$`)
			for i, step := range []struct{ key, says string }{
				{"a", `p-0 approved; it runs at the next tick`},
				{"d not on Fridays", `p-1 denied; the agent learns it at its next tick`},
				{"A", `p-2 approved; .* unasked: run:do 2`},
				{"N nor this", `p-3 denied; .* unasked: run:do 3`},
				{"s", ""}, {"deny", `p-5 denied`},
			} {
				p.typed(step.key + "\r")
				p.says(step.says + fmt.Sprintf(`.*%d of 7: p-%d .*review>$`, i+2, i+1))
			}
			p.typed("q\r")
			p.says(`2 requests wait for an answer`)
			if c.prompt {
				p.says(`2 requests wait for an answer.*amacs>$`)
				p.typed("hello\r")
				p.says(`offline responder.*amacs>$`)
				p.typed("\x04")
			}
			if code := p.ended(); code != 0 {
				t.Errorf("exit %d", code)
			}
			if strings.Contains(p.text(), "do 0 \x1b[31m") {
				t.Error("a request steers the terminal")
			}
			want := map[string]string{"p-0": "APPROVED yes", "p-1": "DENIED no not on Fridays", "p-2": "APPROVED always",
				"p-3": "DENIED never nor this", "p-4": "ASK", "p-5": "DENIED no", "p-6": "ASK"}
			got := w.given()
			for id, s := range want {
				// At the prompt a tick has gone on with what was approved.
				if c.prompt && strings.HasPrefix(s, "APPROVED") {
					continue
				}
				if got[id] != s {
					t.Errorf("%s is %q, want %q", id, got[id], s)
				}
			}
		})
	}
}

// TestReviewIsLeft: who leaves answers nothing.
func TestReviewIsLeft(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"Ctrl-C": "\x03", "Ctrl-D": "\x04"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := asking(t, 1)
			p := w.terminal(t, []string{"TERM=xterm"}, "review")
			p.says(`review>$`)
			p.typed(key)
			p.says(`1 request waits for an answer`)
			if code := p.ended(); code != 0 || w.given()["p-0"] != "ASK" {
				t.Errorf("exit %d, %v", code, w.given())
			}
		})
	}
}

// TestReviewIsOvertaken: what was answered elsewhere meanwhile is said, and
// stays as it was answered.
func TestReviewIsOvertaken(t *testing.T) {
	t.Parallel()
	w := asking(t, 2)
	p := w.terminal(t, []string{"TERM=xterm"}, "review")
	p.says(`1 of 2: p-0 .*review>$`)
	w.must("", "deny", "p-0", "-m", "sooner")
	p.typed("a\r")
	p.says(`p-0 was answered already: no, by command.*2 of 2: p-1 .*review>$`)
	p.typed("a\r")
	p.says(`p-1 approved`)
	if code := p.ended(); code != 0 || w.given()["p-0"] != "DENIED no sooner" || w.given()["p-1"] != "APPROVED yes" {
		t.Errorf("exit %d, %v", code, w.given())
	}
}
