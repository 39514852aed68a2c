package memory

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"amacs/org"
)

// Memory is one remembered thing. Times are kept to the minute.
type Memory struct {
	ID      string // a word, see [NewID]; "" for a heading that a hand made
	Content string // up to [MaxContent] characters, without secrets
	Kind    string // one of [Kinds]
	Scope   Scope
	Tags    []string // Org tags, see [Tag]

	Importance string  // high, medium or low
	Trust      string  // high: a human said it; medium: seen; low: inferred
	Confidence float64 // 0 to 1, as it was at the last reinforcement or check; see [Effective]
	Strength   int     // how often it was stated

	Created  time.Time // zero: not known
	Updated  time.Time // of the content; zero: never
	Verified time.Time // when it was last found to hold; zero: never

	Source  string // who stored it: agent, human, hand, garden, the name of an import
	Tick    int    // that stored it, 0 if none did
	Session string // that stored it, a word
	Group   string // the conversation that it is a turn of, whose order is the file's

	SupersededBy string   // what took its place; "" while it stands
	Supersedes   []string // whose place it took
	Contradicts  []string
	DerivedFrom  []string
	Relates      []Link

	InvalidAt time.Time // from then on it does not count; zero: it does
	Why       string    // it does not count: forgotten, faded, stale…

	Crumbs []Crumb // its last uses and reinforcements, oldest first
}

// Link is an edge to a memory with a weight above 0, up to 1.
type Link struct {
	ID     string
	Weight float64
}

// Crumb says when and where a memory was used or stated again.
type Crumb struct {
	What    string // Used or Reinforced
	At      time.Time
	Tick    int
	Session string // a word
}

// The kinds of a memory.
const (
	Fact            = "fact"
	Preference      = "preference"
	Entity          = "entity"
	Correction      = "correction"
	Decision        = "decision"
	Procedure       = "procedure"
	Negative        = "negative"
	Finding         = "finding"
	ErrorResolution = "error-resolution"
	TaskUpdate      = "task-update"
	FileContext     = "file-context"
	SessionSummary  = "session-summary"
)

// Degrees of importance and of trust.
const (
	High   = "high"
	Medium = "medium"
	Low    = "low"
)

// Hand is the source of what a human wrote into the file.
const Hand = "hand"

// What a [Crumb] tells of.
const (
	Used       = "used"
	Reinforced = "reinforced"
)

// MaxContent is the longest content, in characters.
const MaxContent = 1000

// Kinds are all kinds of memories, in the order in which they are explained.
func Kinds() []string {
	return []string{Fact, Preference, Entity, Correction, Decision, Procedure, Negative, Finding,
		ErrorResolution, TaskUpdate, FileContext, SessionSummary}
}

// New is a memory as it begins: medium in importance and trust, stated once.
func New(kind, content string, at time.Time) Memory {
	return Memory{Kind: kind, Content: content, Created: at.Local().Truncate(time.Minute),
		Importance: Medium, Trust: Medium, Confidence: 1, Strength: 1}
}

// Active reports whether the memory counts: nothing superseded it, and it is
// not invalid at now.
func Active(m Memory, now time.Time) bool {
	return m.SupersededBy == "" && (m.InvalidAt.IsZero() || now.Before(m.InvalidAt))
}

// pinned is the tag of what is always shown.
const pinned = "pinned"

// Pinned reports whether the memory has the tag pinned.
func (m Memory) Pinned() bool { return slices.Contains(m.Tags, pinned) }

// Pin is m with the tag pinned, or without it.
func (m Memory) Pin(on bool) Memory {
	m.Tags = slices.DeleteFunc(slices.Clone(m.Tags), func(t string) bool { return t == pinned })
	if on {
		m.Tags = append(m.Tags, pinned)
	}
	return m
}

// Tag makes any text a tag: what can not stand in one becomes "_".
func Tag(s string) string {
	e := org.Entry{Title: "x", Tags: []string{strings.TrimSpace(s)}}
	if tags := org.Parse([]byte(e.String())).Headings[0].Tags; len(tags) == 1 {
		return tags[0]
	}
	return ""
}

// Check says why a memory can not be stored. Nil means that it can, and that it
// will be read back as it is.
func (m Memory) Check() error {
	if err := m.check(); err != nil {
		return fmt.Errorf("this can not be a memory (%s): %w", m.Title(), err)
	}
	return nil
}

func (m Memory) check() error {
	wrong := fmt.Errorf
	if !isWord(m.ID) {
		return wrong("its id must be one word, and is %q", m.ID)
	}
	if err := checkContent(m.Content); err != nil {
		return err
	}
	if !slices.Contains(Kinds(), m.Kind) {
		return wrong("its kind is %q; the kinds are %s", m.Kind, strings.Join(Kinds(), ", "))
	}
	for _, d := range []struct{ of, is string }{{"importance", m.Importance}, {"trust", m.Trust}} {
		if d.is != High && d.is != Medium && d.is != Low {
			return wrong("its %s is %q, and must be high, medium or low", d.of, d.is)
		}
	}
	if !(m.Confidence >= 0 && m.Confidence <= 1) {
		return wrong("its confidence is %v, and must be from 0 to 1", m.Confidence)
	}
	if m.Strength < 0 || m.Tick < 0 {
		return wrong("its strength and its tick can not be negative")
	}
	if got := ParseScope(m.Scope.String()); got != m.Scope {
		return wrong("its scope would be read as %q", got)
	}
	for _, t := range m.Tags {
		if t == "" || Tag(t) != t {
			return wrong("%q can not be a tag; a tag is made of letters, digits, _ @ # %%", t)
		}
	}
	for _, text := range []struct{ of, is string }{{"source", m.Source}, {"session", m.Session}, {"group", m.Group}, {"reason", m.Why}} {
		if text.is != "" && org.UnescapeTitle(org.EscapeTitle(text.is)) != text.is {
			return wrong("its %s is not one line: %q", text.of, text.is)
		}
	}
	for _, id := range slices.Concat(m.Supersedes, m.Contradicts, m.DerivedFrom) {
		if !isWord(id) {
			return wrong("%q can not be an id", id)
		}
	}
	if m.SupersededBy != "" && !isWord(m.SupersededBy) {
		return wrong("%q can not be an id", m.SupersededBy)
	}
	for _, l := range m.Relates {
		if !isWord(l.ID) || !(l.Weight > 0 && l.Weight <= 1) {
			return wrong("it relates to %q by %v, which must be above 0 and up to 1", l.ID, l.Weight)
		}
	}
	for _, c := range m.Crumbs {
		if c.What != Used && c.What != Reinforced || c.Session != "" && !isWord(c.Session) || c.Tick < 0 || c.At.IsZero() {
			return wrong("a use or reinforcement of it has no time, or a session that is not a word: %+v", c)
		}
	}
	return nil
}

func checkContent(s string) error {
	if strings.TrimSpace(s) == "" {
		return fmt.Errorf("it has no text")
	}
	if n := utf8.RuneCountInString(s); n > MaxContent {
		return fmt.Errorf("it has %d characters, and %d are the most; say it shorter, or in two memories", n, MaxContent)
	}
	return nil
}

// isWord reports whether s can stand in a list of ids.
func isWord(s string) bool {
	return s != "" && len(s) <= 200 && len(strings.Fields(s)) == 1 && strings.Fields(s)[0] == s &&
		org.UnescapeTitle(org.EscapeTitle(s)) == s
}

// round keeps a confidence or a weight short to read.
func round(x float64) float64 { return math.Round(x*1000) / 1000 }
