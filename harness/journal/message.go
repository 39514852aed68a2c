package journal

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Kind is the first word of a subject: TICK, EDIT, RECOVERED…; "" for a commit
// that amacs did not write.
type Kind string

// kinds is the one table of subjects (design: the tick, step 6).
var kinds = []struct {
	kind    Kind
	meaning string
}{
	{"TICK", "one pass of the loop"},
	{"INIT", "a new home"},
	{"EDIT", "files edited by hand since the last commit"},
	{"RECOVERED", "the remains of an interrupted write"},
	{"MEMORY", "memories changed outside a tick"},
	{"QUEUE", "scheduled items changed outside a tick"},
	{"GARDEN", "upkeep of memories"},
	{"SKILL", "skills changed outside a tick"},
	{"THREAD", "threads changed outside a tick"},
	{"REVIEW", "requests approved or denied"},
	{"IMPORT", "knowledge brought in from elsewhere"},
	{"ARCHIVE", "old entries moved to a write-once segment"},
	{"UNDO", "an earlier state brought back"},
	{"CONFIG", "settings changed"},
	{"PURGE", "something really forgotten"},
}

// Kinds lists every kind, ticks first.
func Kinds() []Kind {
	out := make([]Kind, len(kinds))
	for i, k := range kinds {
		out[i] = k.kind
	}
	return out
}

// Meaning says in a few words what commits of the kind hold; "" for a kind
// that does not exist.
func (k Kind) Meaning() string {
	for _, row := range kinds {
		if row.kind == k {
			return row.meaning
		}
	}
	return ""
}

const (
	maxSubject = 200 // runes
	maxLabel   = 60  // runes of a thread or a mood
	noThread   = "no-thread"
	noMood     = "no-mood"
)

// TickSubject is the subject of a tick's commit (RFC v4 §8.2):
// "[TICK 42][rust-debugging][focused] Fixed …". It is one line of at most 200
// runes; brackets in a label become parentheses.
func TickSubject(tick int, thread, mood, text string) string {
	head := fmt.Sprintf("[TICK %d][%s][%s]", max(tick, 0), label(thread, noThread), label(mood, noMood))
	return subject(head, text)
}

// Subject is the subject of a commit that is not a tick: "[EDIT] queue.org".
func Subject(kind Kind, text string) string { return subject("["+string(kind)+"]", text) }

func subject(head, text string) string {
	return cut(strings.TrimSpace(head+" "+fold(text)), maxSubject)
}

func label(s, empty string) string {
	s = strings.NewReplacer("[", "(", "]", ")").Replace(fold(s))
	if s == "" {
		return empty
	}
	return cut(s, maxLabel)
}

// fold makes one line of s: control characters and runs of space become one
// space, invalid UTF-8 becomes U+FFFD.
func fold(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Join(strings.Fields(s), " ")
}

// cut shortens s to at most n runes, the last of them "…" if anything is lost.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return strings.TrimRight(string(r[:n-1]), " ") + "…"
}

var (
	tickForm = regexp.MustCompile(`^\[TICK (0|[1-9][0-9]*)\]\[([^\[\]]+)\]\[([^\[\]]+)\](?: (\S.*))?$`)
	kindForm = regexp.MustCompile(`^\[([A-Z]+)\](?: (\S.*))?$`)
	oldForm  = regexp.MustCompile(`^Tick (0|[1-9][0-9]*) ‖ ([^‖]*) ‖ ([^‖]*) ‖ ([^‖]*) ‖ (.*)$`)
)

// ParseSubject reads a subject into Subject, Kind, Tick, HasTick, Thread, Mood
// and Text of an Entry. It accepts the forms of TickSubject and Subject, and
// the first AMACS' "Tick 42 ‖ thread ‖ mood ‖ 0.85 ‖ text", whose confidence
// becomes a trailer. Anything else gives false, and an Entry with Subject and
// Text only. Thread is "" for no-thread, Mood "" for no-mood.
func ParseSubject(s string) (Entry, bool) {
	e := Entry{Subject: s, Text: s}
	if m := oldForm.FindStringSubmatch(s); m != nil {
		e.Trailers = map[string]string{"Confidence": strings.TrimSpace(m[4])}
		return e.tick(m[1], strings.TrimSpace(m[2]), strings.TrimSpace(m[3]), m[5])
	}
	return parseOwn(s)
}

// parseOwn accepts only what amacs writes today.
func parseOwn(s string) (Entry, bool) {
	e := Entry{Subject: s, Text: s}
	if m := tickForm.FindStringSubmatch(s); m != nil {
		return e.tick(m[1], m[2], m[3], m[4])
	}
	if m := kindForm.FindStringSubmatch(s); m != nil {
		if k := Kind(m[1]); k != "TICK" && slices.Contains(Kinds(), k) {
			e.Kind, e.Text = k, m[2]
			return e, true
		}
	}
	return e, false
}

func (e Entry) tick(n, thread, mood, text string) (Entry, bool) {
	tick, err := strconv.Atoi(n)
	if err != nil {
		return e, false // more digits than an int holds
	}
	e.Kind, e.Tick, e.HasTick, e.Text = "TICK", tick, true, text
	if thread != noThread {
		e.Thread = thread
	}
	if mood != noMood {
		e.Mood = mood
	}
	return e, true
}

// Trailer is one "Key: value" line at the end of a message. The key consists
// of letters, digits and hyphens.
type Trailer struct{ Key, Value string }

var (
	trailerKey  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*$`)
	trailerLine = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9-]*):[ \t]*(.*)$`)
	// looksTrailing matches what git would read as a trailer, or as the sign
	// that a paragraph holds trailers.
	looksTrailing = regexp.MustCompile(`^(?:[A-Za-z0-9-]+[ \t]*:|\(cherry picked from commit )`)
	// endsMessage matches what git reads as the end of a message.
	endsMessage = regexp.MustCompile(`^(?:---(?:\s|$)|# -{24} >8)`)
)

// formatMessage writes subject, body and trailers as `git interpret-trailers`
// reads them. Trailers with an empty value are left out. Lines of the body that
// git would misread are indented by a space.
func formatMessage(subject, body string, trailers []Trailer) (string, error) {
	if _, ok := parseOwn(subject); !ok || subject != cut(fold(subject), maxSubject) {
		return "", fmt.Errorf("subject %q: not of a known kind, or not one short line", subject)
	}
	var tail []string
	for _, t := range trailers {
		if !trailerKey.MatchString(t.Key) {
			return "", fmt.Errorf("trailer key %q: want letters, digits and hyphens", t.Key)
		}
		if v := fold(t.Value); v != "" {
			tail = append(tail, t.Key+": "+v)
		}
	}
	parts := []string{subject}
	if b := cleanBody(body, len(tail) == 0); b != "" {
		parts = append(parts, b)
	}
	if len(tail) > 0 {
		parts = append(parts, strings.Join(tail, "\n"))
	}
	return strings.Join(parts, "\n\n") + "\n", nil
}

// cleanBody normalises line ends, control characters and outer blank lines;
// last says that the body ends the message, so that its final paragraph must
// not look like trailers.
func cleanBody(body string, last bool) string {
	body = strings.ReplaceAll(strings.ToValidUTF8(body, "\uFFFD"), "\r\n", "\n")
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		l = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\t' {
				return '\uFFFD'
			}
			return r
		}, l)
		if lines[i] = strings.TrimRightFunc(l, unicode.IsSpace); endsMessage.MatchString(lines[i]) {
			lines[i] = " " + lines[i]
		}
	}
	lines = strings.Split(strings.Trim(strings.Join(lines, "\n"), "\n"), "\n")
	for i := len(lines) - 1; last && i >= 0 && lines[i] != ""; i-- {
		if looksTrailing.MatchString(lines[i]) {
			lines[i] = " " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

// parseMessage takes a commit message apart.
func parseMessage(msg string) Entry {
	first, rest, _ := strings.Cut(strings.TrimLeft(msg, "\n"), "\n")
	e, _ := ParseSubject(strings.TrimRight(first, " \r"))
	body := strings.Trim(rest, "\n")
	cutAt := strings.LastIndex(body, "\n\n") + 2
	if cutAt == 1 {
		cutAt = 0
	}
	if trailers := parseTrailers(body[cutAt:]); trailers != nil {
		body = strings.TrimRight(body[:cutAt], "\n")
		if e.Trailers == nil {
			e.Trailers = trailers
		}
	}
	e.Body = body
	if n, err := strconv.Atoi(e.Trailers["Tick"]); err == nil && n >= 0 && !e.HasTick {
		e.Tick, e.HasTick = n, true // a subject that was reworded by hand
	}
	return e
}

// parseTrailers reads a paragraph all of whose lines are trailers, else nil.
func parseTrailers(paragraph string) map[string]string {
	out := map[string]string{}
	for l := range strings.SplitSeq(paragraph, "\n") {
		m := trailerLine.FindStringSubmatch(l)
		if m == nil {
			return nil
		}
		out[m[1]] = strings.TrimSpace(m[2])
	}
	return out
}
