package harness

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/harness/tools"
	"amacs/skills"
	"amacs/threads"
)

// heavy is a mind with something of everything. Each piece holds a word that
// tells it apart.
func heavy() *Mind {
	m := &Mind{Tick: 40, Now: newAt(40), Core: strings.Repeat("core. ", 200), Window: 1 << 20, State: consciousness.New()}
	m.State.ChatDepth = 8
	m.State.Threads = threads.Set{Open: []threads.Thread{{ID: "work", Concern: "to work"}}, Active: "work"}
	m.State.LastEval = consciousness.LastEval{Tick: 39, Form: "(form)", Success: true, Result: strings.Repeat("result ", 200)}
	m.Skills = []skills.Skill{{Name: "bound", Body: strings.Repeat("skill ", 300)}}
	m.Buffers = []Buffer{
		{Name: "/small", Mode: "text-mode", Text: strings.Repeat("small ", 300)},
		{Name: "/large", Mode: "text-mode", Text: strings.Repeat("large ", 900), Changed: newAt(39)},
		{Name: "/middle", Mode: "text-mode", Text: strings.Repeat("middle ", 500)},
		{Name: "/tiny", Mode: "text-mode", Text: "tiny"},
	}
	for n := 20; n < 40; n++ {
		m.Thoughts = append(m.Thoughts, home.Thought{Tick: n, Time: newAt(n), Text: fmt.Sprintf("thought%d %s", n, strings.Repeat("t", 80))})
	}
	for n := 30; n < 40; n++ {
		m.Past = append(m.Past, home.Exchange{Tick: n, Human: fmt.Sprintf("human%d", n), HasHuman: true, Agent: strings.Repeat("agent ", 60), HasAgent: true})
	}
	for n, of := range []string{"", "work", "", "other", "work"} {
		m.Notes = append(m.Notes, home.Note{Heading: fmt.Sprintf("note%d", n), Thread: of, Tick: 50 - n, Text: strings.Repeat("noted ", 60)})
	}
	m.Pending = []home.Exchange{{Tick: 40, Human: strings.Repeat("pending ", 50), HasHuman: true}}
	m.Inbox = []string{"a line of the inbox"}
	m.Tools = []tools.Brief{{Server: "github", About: "issues", Tools: []tools.Tool{{Name: "search", About: "finds"}}}}
	return m
}

// count is how often each word stands in the prompt.
func count(v View) map[string]int {
	words := map[string]int{}
	for _, s := range v.Sections {
		for w := range strings.FieldsSeq(s.Text) {
			words[strings.TrimRight(w, "0123456789")]++
		}
	}
	return words
}

func TestFit(t *testing.T) {
	m := heavy()
	whole := layout(m)
	full := count(whole)
	floor := fit(m, -1).bytes()
	// What is cut only when all before it is gone, but for what stays of each.
	order := []struct {
		word  string
		stays int
	}{{"large", 0}, {"middle", 0}, {"small", 0}, {"thought", 0}, {"noted", 0}, {"human", 1}, {"skill", 0}}
	for limit := whole.bytes() + 50; limit > -100; limit -= 83 {
		v := fit(m, limit)
		got := count(v)
		if v.bytes() > max(limit, floor) {
			t.Errorf("limit %d: %d bytes", limit, v.bytes())
		}
		if v.System != m.Core || got["pending"] != 50 || got["human"] == 0 || !strings.Contains(printed(v.request()), "a line of the inbox") || got["tiny"] != 1 {
			t.Errorf("limit %d: the system prompt, the pending line, the last exchange, the inbox or a buffer shorter than its mark was cut", limit)
		}
		if told := got["prompt"] > 0; told != (limit < whole.bytes()) {
			t.Errorf("limit %d of %d: the agent is told: %v", limit, whole.bytes(), told)
		}
		for i, this := range order[1:] {
			before := order[i]
			if got[this.word] < full[this.word] && got[before.word] > before.stays {
				t.Errorf("limit %d: %s was cut, and %d of %s are there", limit, this.word, got[before.word], before.word)
			}
		}
		if t.Failed() {
			t.Fatal()
		}
	}
	if !reflect.DeepEqual(m, heavy()) {
		t.Error("the mind was changed")
	}
}

// What is oldest goes first, by the tick that wrote it.
func TestFitOldest(t *testing.T) {
	m := heavy()
	m.Buffers, m.Thoughts = nil, nil
	v := fit(m, layout(m).bytes()-450)
	got := printed(v.request())
	for _, gone := range []string{"[work] note4", "* note2"} {
		if strings.Contains(got, gone) {
			t.Errorf("%s is older and stays", gone)
		}
	}
	if !strings.Contains(got, "[work] note1") || !strings.Contains(got, "* note0") {
		t.Error("a note that is newer was cut")
	}
	v = fit(m, layout(m).bytes()-3500)
	chat := ""
	for _, s := range v.Sections {
		if s.Name == "chat" {
			chat += s.Text
		}
	}
	if strings.Contains(chat, "human32") || !strings.Contains(chat, "human39") {
		t.Errorf("not the oldest of the chat was cut:\n%s", chat)
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		texts []string
		over  int
		want  []string
		ok    bool
	}{
		{nil, 5, nil, false},
		{[]string{"short", ""}, 5, []string{"short", ""}, false},
		{[]string{strings.Repeat("a", 40), strings.Repeat("b", 50)}, 10, []string{strings.Repeat("a", 40), strings.Repeat("b", 50-10-len(trimmed)) + trimmed}, true},
		{[]string{"abc" + trimmed, "short"}, 2, []string{"a" + trimmed, "short"}, true},
		{[]string{"abc" + trimmed}, 99, []string{trimmed}, true},
		{[]string{trimmed}, 99, []string{trimmed}, false},
		{[]string{strings.Repeat("é", 20)}, 13, []string{"éé" + trimmed}, true},
	} {
		got := slices.Clone(c.texts)
		var at []*string
		for i := range got {
			at = append(at, &got[i])
		}
		if ok := shorten(at, c.over); ok != c.ok || !slices.Equal(got, c.want) {
			t.Errorf("shorten %q by %d = %q %v, want %q %v", c.texts, c.over, got, ok, c.want, c.ok)
		}
	}
}

// The model's window sets the limit.
func TestSeeWindow(t *testing.T) {
	m := heavy()
	m.Window, m.State.API.MaxTokens = 5000, 2000
	if n := see(m).bytes(); n > 9000 || n < 8000 {
		t.Errorf("%d bytes for 3000 tokens", n)
	}
	m.Window = 1000 // less than the answer may have
	if got := count(see(m)); got["pending"] != 50 || got["human"] == 0 || got["large"] != 0 {
		t.Errorf("a window that is too small: %v", got)
	}
}
