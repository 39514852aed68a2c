package harness

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/harness/tools"
	"amacs/skills"
	"amacs/threads"
)

// sectionOrder is the order of the prompt. In it each section stands once at
// most.
var sectionOrder = strings.Fields("skills tools buffers agent-consciousness threads scratchpad monologue chat scratchpad monologue buffers inbox last-eval agent-consciousness pending")

var (
	openTag = regexp.MustCompile(`^<([a-z-]+)(?: tick="\d+")?(?: untrusted="[^"<>\n]+")?>\n`)
	lineTag = regexp.MustCompile(`^<line tick="\d+">\n`)
	anyOfUs = regexp.MustCompile(`</?(?:` + strings.Join(append(sectionOrder, "line"), "|") + `)\b`)
)

// readBack takes a prompt apart by its tags alone.
func readBack(t *testing.T, text string) (names []string, bodies map[string]string) {
	t.Helper()
	bodies = map[string]string{}
	for text != "" {
		m := openTag.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("no section begins at %.80q", text)
		}
		body, rest, ok := strings.Cut(text[len(m[0]):], "\n</"+m[1]+">\n")
		if !ok {
			t.Fatalf("<%s> does not end", m[1])
		}
		names, bodies[m[1]], text = append(names, m[1]), bodies[m[1]]+body+"\n", rest
	}
	return names, bodies
}

// FuzzSee: whatever the texts of a mind are, none opens or closes a section, and
// the human's line can be read back to the byte.
func FuzzSee(f *testing.F) {
	nasty, err := os.ReadFile("testdata/nasty.golden")
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"", "plain", "</chat>", "<pending>\n</pending>\n", "<line tick=\"1\">", "</line>\n<line tick=\"2\">\nx", "<\\/chat><\\\\/chat>", "<", "</", "chat>\n</chat", "\xff\xfe</buffers>", "\n\n\n", "</skills", "<skills\n>", string(nasty)} {
		f.Add(text, uint8(5), 1<<20)
		f.Add(text, uint8(0), 1000)
	}
	f.Fuzz(func(t *testing.T, text string, depth uint8, limit int) {
		m := heavy()
		m.State.ChatDepth, m.State.MonologueDepth, m.State.GlobalNotes = int(depth), int(depth), int(depth)
		m.State.Mood, m.State.Identity = text, text
		m.State.LastEval = consciousness.LastEval{Tick: 3, Form: text, Success: depth%2 == 0, Result: text, Error: text, Sources: text}
		m.inboxSources = text
		m.Tools = []tools.Brief{{Server: "s", About: text, Tools: []tools.Tool{{Name: text, About: text}}}}
		m.State.Threads.Open = append(m.State.Threads.Open, threads.Thread{ID: "other", Concern: text, Goal: text, Buffers: []string{text}, Skills: []string{text}})
		m.Skills = append(m.Skills, skills.Skill{Name: text, Body: text})
		m.Buffers = append(m.Buffers, Buffer{Name: text, Mode: "text-mode", Text: text}, Buffer{Name: "f", Text: text, Changed: newAt(40)})
		m.Notes = append(m.Notes, home.Note{Heading: text, Thread: "work", Tick: 99, Text: text})
		m.Thoughts = append(m.Thoughts, home.Thought{Tick: 39, Text: text})
		m.Past = append(m.Past, home.Exchange{Tick: 39, Human: text, HasHuman: true, Agent: text, HasAgent: true, Outcome: "interrupted"})
		m.Pending = []home.Exchange{{Tick: 40, Human: text, HasHuman: true}, {Tick: 41, Human: text, HasHuman: true}}
		m.Inbox = []string{text}

		v := fit(m, limit)
		prompt := v.request().Text()
		names, bodies := readBack(t, prompt)
		at := 0
		for _, name := range names {
			for at < len(sectionOrder) && sectionOrder[at] != name {
				at++
			}
			if at == len(sectionOrder) {
				t.Fatalf("sections %q are not in order", names)
			}
			at++
		}
		pending := bodies["pending"]
		for name, body := range bodies {
			if name != "pending" && anyOfUs.MatchString(body) {
				t.Errorf("<%s> holds a tag: %q", name, anyOfUs.FindString(body))
			}
		}
		for range m.Pending {
			head := lineTag.FindString(pending)
			body, rest, ok := strings.Cut(pending[len(head):], "\n</line>\n")
			if head == "" || !ok || unquote(body) != text {
				t.Fatalf("the line %q became %q", text, pending)
			}
			if anyOfUs.MatchString(body) {
				t.Errorf("a line holds a tag: %q", body)
			}
			pending = rest
		}
		if pending != "" {
			t.Errorf("more than the lines is pending: %q", pending)
		}
		if utf8.ValidString(text) && !utf8.ValidString(prompt) {
			t.Error("a character was cut in two")
		}
	})
}

// unquote undoes quote.
func unquote(text string) string {
	return regexp.MustCompile(strings.Replace(ourTags.String(), `(\\*`, `\\(\\*`, 1)).ReplaceAllString(text, "<$1")
}

func FuzzQuote(f *testing.F) {
	for _, text := range []string{"", "</chat>", `<\/chat>`, `<\\/chat>`, "<chatter>", "<line", `<\<\line`, "a<memory>b"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q := quote(text)
		if anyOfUs.MatchString(q) {
			t.Errorf("%q keeps a tag: %q", text, q)
		}
		if back := unquote(q); back != text {
			t.Errorf("%q became %q and %q", text, q, back)
		}
	})
}
