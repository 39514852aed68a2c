package home

import (
	"strings"
	"testing"
	"time"

	"amacs/org"
)

// checkThought: a thought is one physical line, and comes back as that line.
func checkThought(t *testing.T, text string, tick int) {
	tick &= 0xffffff
	at := time.Date(2026, 11, 21, 5, 42, 0, 0, time.Local)
	for _, src := range []string{"", "mine\n", "mine", "mine\r\n"} {
		d := draft(map[string]string{Monologue: src})
		must(t, d.Think(Thought{tick, at, text}), d.Think(Thought{tick + 1, at, "next"}))
		out := d.text(t, Monologue)
		got := Thoughts([]byte(out))
		want := org.UnescapeTitle(org.EscapeTitle(text))
		if len(got) != 2 || got[0].Tick != tick || got[0].Text != want || !got[0].Time.Equal(at) || got[1].Text != "next" {
			t.Fatalf("%q: read back %+v", text, got)
		}
		if !strings.Contains(out, strings.TrimRight(src, "\r\n")) || len(strings.FieldsFunc(out, func(r rune) bool { return r == '\n' })) != 3 {
			t.Fatalf("%q: the file is %q", text, out)
		}
	}
}

func FuzzThought(f *testing.F) {
	for i, s := range nasty {
		f.Add(s, i)
	}
	f.Fuzz(checkThought)
}

func TestThoughts(t *testing.T) {
	src := "# mine\n[2026-11-21 Sat 05:42][TICK 42] Fixed it\n[2026-11-21 sáb. 05:43][TICK 43] localized\r\n" +
		"[2026-11-21 05:44][TICK 44]\n  [2026-11-21 Sat 05:42][TICK 45] indented\n[2026-11-21 Sat 05:42][TICK 99999999999] too large\nend"
	var ticks []int
	for _, th := range Thoughts([]byte(src)) {
		ticks = append(ticks, th.Tick)
	}
	if len(ticks) != 3 || ticks[0] != 42 || ticks[2] != 44 {
		t.Errorf("%v", ticks)
	}
	if got := (Thought{42, time.Date(2026, 11, 21, 5, 42, 0, 0, time.Local), "Fixed it"}).Print(); got != "[2026-11-21 Sat 05:42][TICK 42] Fixed it" {
		t.Errorf("%q", got)
	}
}
