package repl

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
)

// voice shows ticks: what streams in, and what came of each. The ticks tell it
// from beside the loop.
type voice struct {
	con   *console.Console
	color bool

	mu       sync.Mutex
	started  time.Time // of the conversation
	doing    string    // shown in the prompt: "thinking"
	streamed strings.Builder
	told     []string // notices of this tick
	held     []string // those that came into a reply: told after it
}

// begin is the start of a conversation.
func (v *voice) begin() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.started, v.doing = time.Now(), "waiting"
	v.con.SetStatus("thinking") // where it has to wait, the clock says so
}

// clock renews the status in the prompt.
func (v *voice) clock() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.con.SetStatus(fmt.Sprintf("%s %ds", v.doing, int(time.Since(v.started).Seconds())))
}

// event shows progress within a tick.
func (v *voice) event(e harness.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e.Kind {
	case harness.Thinking:
		v.doing = "thinking"
	case harness.Acting:
		v.doing = "evaluating"
	case harness.Chunk:
		v.streamed.WriteString(e.Text)
		v.con.Stream(e.Text)
	case harness.Running:
		v.doing = "running"
		v.tell("· running " + e.Text)
	case harness.Withdrawn:
		v.withdraw()
		v.notice(e.Text)
	case harness.Notice:
		if v.streamed.Len() > 0 {
			v.held = append(v.held, e.Text)
		} else {
			v.tell(e.Text)
		}
	}
}

// report shows what came of a tick.
func (v *voice) report(r harness.Report) {
	v.mu.Lock()
	defer v.mu.Unlock()
	rest, goesOn := strings.CutPrefix(r.Reply, v.streamed.String())
	if !goesOn { // it was repaired
		v.withdraw()
	}
	v.con.Stream(rest)
	v.endStream()
	switch r.Outcome {
	case "silent":
		v.notice("· " + stage(r))
	case "interrupted":
		v.notice(fmt.Sprintf("(interrupted, tick %d)", r.Tick))
	case "unparsed":
		v.notice(fmt.Sprintf("tick %d: the reply could not be read; it is kept in agent-chat.org, and your line waits:", r.Tick))
		v.con.Print(console.Clean(r.Raw))
	case "failed":
		v.notice(fmt.Sprintf("tick %d: no reply: %v", r.Tick, r.Failure))
		if r.Waiting > 0 {
			v.notice("  your line is kept; it is answered with your next one, or by /retry")
		}
	}
	v.held = append(v.held, r.Notices...)
	v.close()
}

// stage is what a tick without a reply was about.
func stage(r harness.Report) string {
	if r.Continue && strings.TrimSpace(r.Monologue) != "" {
		return fmt.Sprintf("tick %d: %s", r.Tick, r.Monologue)
	}
	return fmt.Sprintf("tick %d, no reply yet", r.Tick)
}

// end is the end of a conversation; its last tick may have failed in mid-reply.
func (v *voice) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.close()
	v.con.SetStatus("")
}

// close ends what is open of a tick.
func (v *voice) close() {
	v.endStream()
	for _, n := range v.held {
		v.tell(n)
	}
	v.told, v.held = nil, nil
}

func (v *voice) endStream() {
	v.con.EndStream()
	v.streamed.Reset()
}

// withdraw says of a reply on the screen that it does not count.
func (v *voice) withdraw() {
	if v.streamed.Len() > 0 {
		v.endStream()
		v.notice("(withdrawn)")
	}
}

// tell shows a notice of a tick, once.
func (v *voice) tell(text string) {
	if !slices.Contains(v.told, text) {
		v.told = append(v.told, text)
		v.notice(text)
	}
}

// notice shows what amacs says, set off from the agent's words where colours are
// wanted.
func (v *voice) notice(text string) {
	text = v.sentences(text)
	if v.color {
		text = "\x1b[2m" + text + "\x1b[0m"
	}
	v.con.Print(text)
}

// sentences is text that may hold anything, made fit for the screen.
func (v *voice) sentences(text string) string {
	text = console.Clean(text)
	if v.con.Interactive() {
		text = fold(text, v.con.Width())
	}
	return text
}
