// Package consciousness is the working state of one mind: what it is doing, how
// it feels about it, how much of its past it wants to see.
//
// On disk it is one alist, consciousness.el, that Emacs' read accepts and a
// human may edit at any time (RFC v4 §3.1):
//
//	;; the working state of this agent
//	'((identity . "amacs-1")
//	  (current-tick . 42)
//	  (mood . "focused")        ; comments stay where they are
//	  (open-threads . (((id . "rust-debugging")
//	                    (concern . "Fix ownership error")
//	                    (buffers "src/main.rs"))))
//	  …)
//
// The quote may be missing, and the older (setq agent-consciousness '(…)) is
// read too. Each field has a kind, which says who may change it:
//
//	derived  recomputed at every tick; a hand edit is ignored and reported
//	chosen   the agent's and the human's to set
//	set      a list with ids, changed entry by entry
//
//	key                      kind     default       read by
//	identity                 chosen   "amacs-1"     the prompt
//	current-tick             derived  0             numbering, the prompt
//	current-time             derived  nil           the prompt, long-gap
//	long-gap                 derived  nil           the prompt: seconds since the previous tick, above an hour
//	mood                     chosen   "awakening"   the prompt, commit subjects
//	confidence               chosen   0.5           the prompt, commit trailers
//	active-thread            chosen   nil           which buffers, skills and notes are shown
//	open-threads             set      ()            <threads>
//	pending-threads          derived  ()            the prompt: summaries of the threads not active
//	completed-threads        set      ()            the prompt: the last ten
//	last-eval-result         derived  nil           <last-eval>
//	budget                   derived  see RFC       the prompt
//	chat-context-depth       chosen   5             <chat>, in exchanges
//	monologue-context-depth  chosen   20            <monologue>, in lines
//	global-scratchpad-depth  chosen   5             <scratchpad>, in notes
//	thread-scratchpad-depth  chosen   10            <scratchpad>, in notes
//	buffer-content-limit     chosen   10000         <buffers>, in characters
//	buffer-line-numbers      chosen   nil           <buffers>, whether lines are numbered
//	autonomous-tick-limit    chosen   10            continue chains, in ticks
//	api-settings             chosen   see RFC       every request to a model
//
// The settings of api-settings; a number out of its range is not refused: the
// nearest that fits is used, and that is told.
//
//	temperature  1.0   0 to 2       how freely words are drawn
//	top-p        1.0   0 to 1       of how much of the likely words
//	top-k        nil   1 to 1000    of how many words; nil or 0: of all
//	thinking     nil   t or nil     think before the answer, where the model can
//	max-tokens   8192  1 to 32768   of an answer, thinking included
//	model        nil   text or nil  which model is asked; nil: the configured one
//
// Unknown fields and comments survive every edit. Begin reading at State, then
// at the table in fields.go; api.go has the settings; splice.go writes.
package consciousness

import (
	"fmt"
	"time"

	"amacs/consciousness/sexp"
	"amacs/threads"
)

// State is the working state as Go values.
type State struct {
	Identity   string
	Tick       int
	Time       time.Time     // of the last tick, UTC
	LongGap    time.Duration // since the tick before, if over an hour; else 0
	Mood       string
	Confidence float64 // 0..1
	Threads    threads.Set
	Completed  []threads.Thread // newest last, at most KeepCompleted
	LastEval   LastEval
	Budget     Budget

	ChatDepth      int  // exchanges
	MonologueDepth int  // lines
	GlobalNotes    int  // notes
	ThreadNotes    int  // notes
	BufferLimit    int  // characters of one buffer
	LineNumbers    bool // before the lines of buffers
	ContinueLimit  int  // ticks in a row without the human

	API API
}

// LastEval is what became of the latest eval (RFC v4 §7). The zero value means
// that nothing was ever evaluated.
type LastEval struct {
	Tick    int
	Form    string
	Success bool
	Result  string // printed value
	Error   string
	Skipped bool   // the reply had no eval
	Sources string // whose words the result holds that are neither the human's nor the agent's: "file main.go; command go test"
}

// Budget is the money view of RFC v4 §3.1, in US dollars.
type Budget struct {
	Cost     float64
	Limit    float64 // 0: none
	Pressure string  // low, moderate, high, critical
}

// API holds the request settings that the agent may choose (RFC v4 §3.3).
type API struct {
	Temperature float64 // 0..2
	TopP        float64 // 0..1
	TopK        int     // 0..1000; 0 = not set, printed nil
	Thinking    bool
	MaxTokens   int    // 1..32768
	Model       string // the provider's own name for it; "" = the configured one, printed nil
}

// KeepCompleted is how many completed threads stay in view.
const KeepCompleted = 10

// New is the state of a mind that has not ticked yet.
func New() State {
	return State{
		Identity: "amacs-1", Mood: "awakening", Confidence: 0.5,
		Budget:    Budget{Pressure: "low"},
		ChatDepth: 5, MonologueDepth: 20, GlobalNotes: 5, ThreadNotes: 10,
		BufferLimit: 10000, ContinueLimit: 10,
		API: API{Temperature: 1, TopP: 1, MaxTokens: 8192},
	}
}

// Complete closes a thread with what shows that it is done and what was learnt.
func (s *State) Complete(id threads.ID, evidence, learned string) error {
	set, done, err := s.Threads.Complete(id, evidence, learned, s.Tick)
	if err != nil {
		return err
	}
	s.Threads = set
	s.Completed = append(s.Completed[:len(s.Completed):len(s.Completed)], done)
	if n := len(s.Completed); n > KeepCompleted {
		s.Completed = s.Completed[n-KeepCompleted:]
	}
	return nil
}

// Parse reads consciousness.el. Fields that are missing or have a value that
// does not fit keep their default; the second are named in notes, sentences for
// the human, and so are numbers that were brought into their range. An error means that the file as a whole could not be read: then it
// must not be written either.
func Parse(src []byte) (s State, notes []string, err error) {
	s = New()
	alist, err := find(src)
	if err != nil {
		return s, nil, err
	}
	for _, f := range fields {
		_, value := sexp.Entry(alist, f.Key)
		if value == nil {
			continue
		}
		clamped, err := f.set(&s, value.Value)
		for _, c := range clamped {
			notes = append(notes, string(f.Key)+": "+c)
		}
		switch {
		case err == nil:
		case f.Kind == Set:
			notes = append(notes, fmt.Sprintf("%s: %v; it is passed over", f.Key, err))
		default:
			notes = append(notes, fmt.Sprintf("%s: %v; using %s", f.Key, err, sexp.Print(f.get(&s))))
		}
	}
	if id := s.Threads.Active; id != "" {
		if _, ok := s.Threads.Find(id); !ok {
			notes = append(notes, fmt.Sprintf("active-thread: no open thread %q; none is active", id))
			s.Threads.Active = ""
		}
	}
	if n := len(s.Threads.Open); n > threads.MaxOpen {
		notes = append(notes, fmt.Sprintf("open-threads: %d are open, %d is the most; no new one can be created until some are completed", n, threads.MaxOpen))
	}
	return s, notes, nil
}

// Text prints the state for the prompt, one field a line, without the fields
// named in skip.
func (s State) Text(skip ...sexp.Symbol) string {
	var pairs []sexp.Value
next:
	for _, f := range fields {
		for _, k := range skip {
			if f.Key == k {
				continue next
			}
		}
		pairs = append(pairs, &sexp.Cons{Car: f.Key, Cdr: f.get(&s)})
	}
	return sexp.PrintIndented(sexp.List(pairs...), 0)
}

// Get is the value of a field.
func (s State) Get(key sexp.Symbol) (sexp.Value, error) {
	f, err := Lookup(key)
	if err != nil {
		return nil, err
	}
	return f.get(&s), nil
}

// Set changes a chosen field; derived fields and sets refuse with a sentence
// that says what to do instead. Numbers that [State.Clamps] names are brought
// into their range.
func (s *State) Set(key sexp.Symbol, v sexp.Value) error {
	f, err := Lookup(key)
	if err != nil {
		return err
	}
	switch f.Kind {
	case Derived:
		return fmt.Errorf("%s is derived: it is recomputed at every tick and can not be set", key)
	case Set:
		return fmt.Errorf("%s is a set: use agent-create-thread, agent-switch-thread or agent-complete-thread", key)
	}
	t := *s
	if _, err := f.set(&t, v); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if id := t.Threads.Active; id != s.Threads.Active && id != "" {
		if t.Threads, err = s.Threads.Switch(id); err != nil {
			return err
		}
	}
	*s = t
	return nil
}

// Clamps says, a sentence each, what setting a field to v would not take as it
// is given: "temperature: 7 is more than 2, using 2.0".
func (s State) Clamps(key sexp.Symbol, v sexp.Value) []string {
	f, err := Lookup(key)
	if err != nil {
		return nil
	}
	clamped, err := f.set(&s, v)
	if err != nil {
		return nil
	}
	return clamped
}
