package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	hometemplate "amacs/agent-home-template"
	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/harness/journal"
	"amacs/harness/permit"
	"amacs/harness/provider"
	"amacs/harness/tools"
	"amacs/skills"
)

// Mind is everything a tick knows: the texts of the home as a draft, what was
// read from them, and the edits that the tick has made so far.
type Mind struct {
	Input
	Tick     int
	ID       string // unique over machines
	Now      time.Time
	Before   int // the tick before, 0 if none
	State    consciousness.State
	Core     string // the system prompt
	Pending  []home.Exchange
	Past     []home.Exchange // answered, oldest first, at least as many as the depth
	Thoughts []home.Thought
	Notes    []home.Note
	Skills   []skills.Skill // bound to the active thread
	Buffers  []Buffer       // of the active thread
	Tools    []tools.Brief  // of MCP servers, as far as they are known
	Inbox    []string       // what the agent is told once
	Notices  []string       // what the human is told
	Window   int            // tokens the model can read

	gate         *gate    // stands before everything outside of the home
	project      string   // its root; "" is none
	inboxSources string   // whose words the inbox holds
	sources      []string // whose words the eval of this tick has read
	edited       []string // files outside of the home that the tick has changed
	looping      bool     // the eval repeats itself

	model    provider.Model // that is asked
	critical string         // why the budget allows only ticks of the human; "" = it allows all
	draft    *home.Draft
	claim    string            // intent that holds the human's lines
	left     map[string][]byte // the texts of every tick, as the waking left them
	claimed  []byte            // the chat with them in it
	lines    []home.Line       // of the human, heard by this tick
	edits    []home.Edit
	skillFS  fs.FS
	journal  *journal.Repo
}

// tell shows the notices that waking gave.
func (m *Mind) tell(show Show) {
	for _, n := range m.Notices {
		show(Event{Notice, n})
	}
}

// edit makes a change on the draft and keeps it for the commit.
func (m *Mind) edit(what string, apply func(*home.Draft) error) error {
	if err := apply(m.draft); err != nil {
		return err
	}
	m.edits = append(m.edits, home.Edit{What: what, Apply: apply})
	return nil
}

// wake settles the home, puts what the human said into the chat and onto the
// disk, and reads the mind. words are for the human, from the getting ready.
func (h *Harness) wake(ctx context.Context, in Input, words []string) (*Mind, error) {
	h.step("wake")
	m := h.mind(in)
	m.ID = home.NewID()
	// From here on the line is the home's: a Ctrl-C must not lose it.
	ctx = context.WithoutCancel(ctx)
	err := h.home.Update(ctx, func(tx *home.Tx) error {
		notices, err := h.settle(ctx, tx, true)
		m.Notices, m.Inbox = append(words, notices...), append(m.Inbox, notices...)
		if err != nil {
			return err
		}
		m.draft = tx.Draft // what a hand changes from now on is for the commit to find
		if err := h.hear(ctx, tx, m); err != nil {
			return err
		}
		m.left = map[string][]byte{}
		for _, path := range everyTick {
			if b, err := tx.Bytes(path); err == nil {
				m.left[path] = b
			}
		}
		return nil
	})
	if err != nil {
		return nil, h.unheard(err)
	}
	if err := m.load(h.home); err != nil {
		return nil, fmt.Errorf("waking: %w", err)
	}
	if err := h.pick(m); err != nil {
		return nil, fmt.Errorf("waking: %w", err)
	}
	return m, h.weigh(ctx, m)
}

// mind is an empty one, with its gate.
func (h *Harness) mind(in Input) *Mind {
	m := &Mind{Input: in, Now: h.now(), journal: h.journal, project: projectOf(in.Cwd)}
	m.gate = &gate{Harness: h, m: m, show: func(Event) {}}
	m.Tools = h.Tools().Known()
	return m
}

// heard notes whose words an eval has read: they are not the human's.
func (m *Mind) heard(source string) {
	if !slices.Contains(m.sources, source) {
		m.sources = append(m.sources, source)
	}
}

// pick chooses the model that is asked, and with it how long the prompt may be.
func (h *Harness) pick(m *Mind) (err error) {
	var words string
	m.model, words, err = h.answering(m.State.API.Model)
	if err != nil {
		return err
	}
	if words != "" {
		m.tellBoth(words)
	}
	m.Window = h.Config().ContextWindow
	if w := m.model.Facts().Window; w > 0 {
		m.Window = min(m.Window, w)
	}
	return nil
}

// unheard adds to a failure to wake what becomes of the lines that wait.
func (h *Harness) unheard(why error) error {
	if n, err := h.Waiting(); err != nil || n == 0 {
		return fmt.Errorf("waking: %w", why)
	}
	return fmt.Errorf("waking: %w\n  what you said is kept and will be heard by the next tick that can wake", why)
}

// hear numbers the tick and enters the human's lines as pending exchanges.
func (h *Harness) hear(ctx context.Context, tx *home.Tx, m *Mind) error {
	lines, err := h.home.Inbox(h.face)
	if err != nil {
		return err
	}
	last, err := h.lastTick(ctx, tx)
	if err != nil {
		return err
	}
	m.Before, m.lines = last, lines
	m.Tick = last + max(1, len(lines))
	for i := range lines {
		lines[i].Tick = last + 1 + i
		if err := tx.Say(lines[i]); err != nil {
			return err
		}
	}
	h.step("hear")
	if len(lines) > 0 {
		if m.claim, err = tx.Claim(m.Tick, lines); err != nil {
			return fmt.Errorf("writing down what you said: %w", err)
		}
		if m.claimed, err = tx.Bytes(home.Chat); err != nil {
			return err
		}
		h.step("claimed")
		if err := tx.Write(); err != nil {
			return fmt.Errorf("writing down what you said: %w", err)
		}
	}
	h.step("heard")
	if err := tx.Drop(lines); err != nil {
		return err
	}
	return tx.Count(m.Tick)
}

// lastTick is the largest tick number that was ever given: no revert, reset or
// hand edit brings one back.
func (h *Harness) lastTick(ctx context.Context, tx *home.Tx) (int, error) {
	c, err := h.home.Counters()
	if err != nil {
		return 0, err
	}
	last := c.Tick
	if !h.headed || last == 0 {
		n, err := h.journal.LastTick(ctx)
		if err != nil {
			return 0, err
		}
		last, h.headed = max(last, n), true
	}
	if s, _, err := tx.State(); err == nil {
		last = max(last, s.Tick)
	}
	if src, err := tx.Bytes(home.Chat); err == nil {
		last = max(last, home.LastExchange(src))
	}
	return last, nil
}

// load reads the mind from the home as it is now.
func (m *Mind) load(hm *home.Home) error {
	state, notes, err := m.draft.State()
	if err := m.forgive(err); err != nil {
		return err
	}
	for _, n := range notes {
		m.tellBoth(home.Consciousness + ": " + n)
	}
	m.State = stamp(state, m.Tick, m.Now)
	if err := m.loadTexts(); err != nil {
		return err
	}
	m.skillFS = draftFS{os.DirFS(hm.Path(home.Skills)), home.Skills, m.draft}
	m.Core, err = skills.Core(m.skillFS)
	if err != nil || len(m.Core) < 100 {
		m.Core = hometemplate.Core()
		m.tellBoth("skills/core/SKILL.md can not be used, the built-in one stands in: " + reason(err))
	}
	m.loadThread()
	return nil
}

func reason(err error) string {
	if err == nil {
		return "it is shorter than 100 characters"
	}
	return err.Error()
}

// stamp sets the derived fields for a tick.
func stamp(s consciousness.State, tick int, now time.Time) consciousness.State {
	s.LongGap = 0
	if gap := now.Sub(s.Time); !s.Time.IsZero() && gap > time.Hour {
		s.LongGap = gap.Truncate(time.Second)
	}
	s.Tick, s.Time = tick, now.UTC().Truncate(time.Second)
	return s
}

func (m *Mind) loadTexts() error {
	err := m.loadChat()
	if err := m.forgive(err); err != nil {
		return err
	}
	m.Thoughts, err = m.draft.Monologue(reach(m.State.MonologueDepth))
	if err := m.forgive(err); err != nil {
		return err
	}
	src, err := m.draft.Bytes(home.Scratchpad)
	if err := m.forgive(err); err != nil {
		return err
	}
	m.Notes = home.Notes(src)
	if len(src) > home.AskSize {
		m.Notices = append(m.Notices, fmt.Sprintf("%s is %d KB; take out or move away what is no longer needed, every tick that writes it stores it whole", home.Scratchpad, len(src)>>10))
	}
	return nil
}

// loadChat parts the conversation into what is answered and what waits.
func (m *Mind) loadChat() error {
	want := reach(m.State.ChatDepth)
	for n := want; ; n += want {
		exchanges, err := m.draft.Conversation(n)
		m.Pending, m.Past = nil, nil
		for _, e := range exchanges {
			if e.Pending() {
				m.Pending = append(m.Pending, e)
			} else if e.HasHuman || e.HasAgent {
				m.Past = append(m.Past, e)
			}
		}
		if err != nil || len(m.Past) >= want || len(exchanges) < n {
			return err
		}
	}
}

// forgive turns damage of a file into a notice: the tick works without it.
func (m *Mind) forgive(err error) error {
	var damaged *home.Damaged
	if errors.As(err, &damaged) {
		m.tellBoth(damaged.Error())
		return nil
	}
	return err
}

func (m *Mind) tellBoth(s string) {
	m.Notices, m.Inbox = append(m.Notices, s), append(m.Inbox, s)
}

// loadThread fetches what the active thread brings along: skills and buffers.
func (m *Mind) loadThread() {
	t, ok := m.State.Threads.Find(m.State.Threads.Active)
	if !ok {
		return
	}
	m.Skills, m.Buffers = nil, nil
	for _, name := range t.Skills {
		s, err := skills.Load(m.skillFS, name)
		if err != nil {
			s = skills.Skill{Name: name, Body: "(not available: " + err.Error() + ")"}
		}
		m.Skills = append(m.Skills, s)
	}
	if len(t.Buffers) == 0 {
		return
	}
	changed := m.changedLately()
	for _, path := range t.Buffers {
		b := m.buffer(m.absolute(path))
		if real, ok := resolve(b.Name); ok {
			b.Edited = changed[real]
		}
		m.Buffers = append(m.Buffers, b)
	}
}

// buffer reads a buffer of the active thread. That a path may be shown was said
// when it became one; where a link leads now, was not.
func (m *Mind) buffer(path string) Buffer {
	if real, _ := resolve(path); real != path {
		v, err := m.gate.verdict(permit.Action{Op: readingOf(real), Path: real}, deal{})
		if err != nil || v.Tier != permit.Auto {
			return Buffer{Name: path, Mode: "fundamental-mode", Text: fmt.Sprintf("(not shown: it is a link to %s now; add that, if it is meant)", real)}
		}
	}
	return ReadBuffer(path, m.State.BufferLimit, m.draft.Clean)
}

// changedLately are the files outside of the home that the agent has changed since
// the chat's latest step but one, with the tick of the last change.
func (m *Mind) changedLately() map[string]int {
	out := map[string]int{}
	deeds, err := m.gate.home.LatestDeeds()
	if err != nil {
		m.tellBoth(err.Error())
	}
	n := step(m.State.ChatDepth)
	for _, d := range deeds {
		if d.Path != "" && d.Tick >= m.Tick-m.Tick%n-n {
			out[d.Path] = d.Tick
		}
	}
	return out
}
