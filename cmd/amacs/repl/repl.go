// Package repl is the prompt: a line goes in, a tick runs, its reply comes out.
//
//	amacs> What's causing the ownership error?
//
//	Looking at main.rs line 45, the issue is that you're returning
//	a reference to a local variable...
//
//	amacs> /threads
//	* rust-debugging  Fix ownership error
//
// A line that begins with / and a command's name runs that command; all else is
// said to the agent. What is typed while a tick runs is on disk at Enter and is
// heard by the next tick. On a pipe every line is a tick, one after the other.
//
// Begin reading at Run: one loop over the keyboard and the tick that runs.
package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness"
	"amacs/harness/provider"
)

// Options for Run.
type Options struct {
	Harness  *harness.Harness
	In, Out  *os.File
	Cwd      string
	Color    bool
	Banner   string                         // shown first on a terminal
	Lines    bool                           // a pipe may have any number of lines for a provider that bills them
	Commands []string                       // names after the slash
	Words    func(before []string) []string // what may follow these words of a command
	// Execute runs a command and gives what it says, but for what it has shown
	// itself; suspend lends the terminal to a child.
	Execute func(ctx context.Context, words []string, suspend func(func() error) error) (string, error)
}

// repl is one run of the prompt. Its fields belong to the loop.
type repl struct {
	Options
	con    *console.Console
	voice  *voice
	ticks  chan error         // one is sent when the running ticks have ended
	cancel context.CancelFunc // ends them; nil while none runs
	pack   chan struct{}

	later  []console.Event // what was typed while a command ran
	unsaid string          // the last line that secrets were taken out of, as it was typed
	warned map[string]bool // ids of secrets that the human was told of
	said   int             // lines for the agent
	ending bool            // quit when the ticks have ended
	failed error           // what the last ticks ended with
	lost   error           // why the input could not be read to its end
}

// ErrInterrupted is returned when Ctrl-C ended a run on a pipe, or a signal any
// run.
var ErrInterrupted = errors.New("interrupted")

// Run reads lines until the end of input or /quit. SIGTERM and SIGHUP end it as
// well; a tick that runs then is committed as interrupted.
func Run(ctx context.Context, o Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	found, err := mend(ctx, o.Harness)
	if err != nil {
		return err
	}
	r := &repl{Options: o, warned: map[string]bool{}, ticks: make(chan error, 1), pack: make(chan struct{}, 1)}
	con, err := console.Open(console.Options{
		In: o.In, Out: o.Out, Prompt: "amacs> ", Color: o.Color,
		History: o.Harness.Home().State("history"), Stored: o.Harness.Clean, Complete: r.complete,
	})
	if err != nil {
		return err
	}
	defer con.Close()
	r.con, r.voice = con, &voice{con: con, color: o.Color}
	if con.Interactive() {
		r.say(o.Banner)
	}
	for _, n := range found {
		r.voice.notice(n)
	}
	if err := r.welcome(ctx); err != nil {
		return err
	}
	packed := make(chan struct{})
	packing, stopPacking := context.WithCancel(ctx)
	go r.packer(packing, packed)
	defer func() { stopPacking(); <-packed }()
	return r.loop(ctx)
}

// mend settles the home and tells what an earlier run left.
func mend(ctx context.Context, h *harness.Harness) ([]string, error) {
	found, err := h.Mend(ctx)
	if err != nil {
		return nil, err
	}
	if n, err := h.Waiting(); err == nil && n > 0 {
		found = append(found, harness.Count(n, "line")+" of an earlier run not answered yet; the next tick hears all of them (/retry runs one now)")
	}
	return found, nil
}

// loop is the only place that decides: what a key means, and what follows a
// tick.
func (r *repl) loop(ctx context.Context) error {
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	stopped := ctx.Done()
	r.con.Next()
	for {
		if len(r.later) > 0 {
			e := r.later[0]
			r.later = r.later[1:]
			r.event(ctx, e)
		} else {
			select {
			case e := <-r.con.Events():
				r.event(ctx, e)
			case err := <-r.ticks:
				r.ended(ctx, err)
			case <-clock.C:
				if r.cancel != nil {
					r.voice.clock()
				}
			case <-stopped: // the tick ends by itself: its context is this one's
				stopped, r.ending, r.failed = nil, true, ErrInterrupted
			}
		}
		if r.cancel == nil && r.ending {
			return r.verdict(ctx)
		}
	}
}

// verdict is the error that the run ends with. At a prompt, what went wrong has
// been seen, and the human went on.
func (r *repl) verdict(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return ErrInterrupted
	case r.lost != nil || r.con.Interactive():
		return r.lost
	}
	return r.failed
}

func (r *repl) event(ctx context.Context, e console.Event) {
	switch e := e.(type) {
	case console.Line:
		r.line(ctx, e)
	case console.Interrupt:
		r.interrupt(e)
	case console.EOF:
		r.ending = true
		r.lost = e.Err
		if r.cancel != nil && r.con.Interactive() {
			r.voice.notice("(leaving when this tick has ended; Ctrl-C ends it now)")
		}
	}
}

func (r *repl) line(ctx context.Context, l console.Line) {
	words, isCommand := r.command(l)
	switch {
	case isCommand:
		r.run(ctx, words)
	case strings.TrimSpace(l.Text) == "":
	case r.tooMany():
		r.ending, r.failed = true, ErrTooMany
	default:
		r.warn(l.Text)
		r.hear(ctx, l.Text)
	}
	if r.cancel == nil && !r.ending {
		r.con.Next()
	}
}

// hear keeps a line for the tick that follows, or runs one.
func (r *repl) hear(ctx context.Context, text string) {
	if r.cancel != nil {
		r.post(ctx, text)
	} else {
		r.tick(ctx, text)
	}
}

// maxLines is how many lines a pipe may send to a provider that bills them: a
// file piped by mistake is not worth its price.
const maxLines = 20

// ErrTooMany is returned for a pipe with more lines than that.
var ErrTooMany = fmt.Errorf("more than %d lines for a provider that bills them; those before were answered, this one was not heard. --lines allows any number; `amacs ask -` sends all as one message", maxLines)

// tooMany counts a line.
func (r *repl) tooMany() bool {
	r.said++
	return r.said > maxLines && !r.Lines && !r.con.Interactive() && r.Harness.Billing() == provider.PerToken
}

// post keeps a line that was typed while a tick runs.
func (r *repl) post(ctx context.Context, text string) {
	switch err := r.Harness.Post(ctx, text); {
	case err != nil:
		r.voice.notice("your line could not be saved, it is not heard: " + err.Error())
	case r.ending:
		r.voice.notice("(kept; it is heard when you are back)")
	default:
		r.voice.notice("(kept; it is heard when this tick has ended)")
	}
}

func (r *repl) interrupt(e console.Interrupt) {
	if !r.con.Interactive() {
		r.ending, r.failed = true, ErrInterrupted
	}
	switch {
	case r.cancel != nil:
		r.cancel()
	case e.Text == "" && !r.ending:
		r.voice.notice("(Ctrl-D or /quit leaves)")
	}
}

// tick runs a conversation's ticks beside the loop, which goes on reading keys.
// No text means to answer what waits.
func (r *repl) tick(ctx context.Context, text string) {
	ctx, r.cancel = context.WithCancel(ctx)
	r.voice.begin()
	in := harness.Input{Source: harness.Human, Text: text, Cwd: r.Cwd}
	if r.con.Interactive() {
		in.Ask = r.voice.ask
	}
	go func() {
		var all []harness.Report
		began := time.Now()
		err := r.Harness.Converse(ctx, in, r.voice.event, func(rep harness.Report) {
			all = append(all, rep)
			r.voice.report(rep)
			r.statusLine(ctx, rep)
		})
		r.voice.summary(all, time.Since(began))
		var last harness.Report
		if len(all) > 0 {
			last = all[len(all)-1]
		}
		if err == nil && (last.Outcome == "failed" || last.Outcome == "unparsed") {
			err = &unanswered{last.Tick, last.Failure}
		}
		r.ticks <- err
	}()
}

// statusLine shows what a tick cost, where the settings ask for it.
func (r *repl) statusLine(ctx context.Context, rep harness.Report) {
	if !r.Harness.Config().StatusLine {
		return
	}
	b, err := r.Harness.Budget(ctx)
	if err != nil {
		r.voice.notice("what was spent could not be read: " + err.Error())
		return
	}
	r.voice.notice("· " + rep.StatusLine(b))
}

// unanswered is the end of a tick that gave no reply, which the voice has told.
type unanswered struct {
	tick int
	why  error // nil where the reply could not be read
}

func (u *unanswered) Error() string { return fmt.Sprintf("tick %d ended without a reply", u.tick) }
func (u *unanswered) Unwrap() error { return u.why }

// ended follows the last tick of a conversation.
func (r *repl) ended(ctx context.Context, err error) {
	r.cancel()
	r.cancel = nil
	r.voice.end()
	if !errors.Is(r.failed, ErrInterrupted) {
		r.failed = err
	}
	var told *unanswered
	switch {
	case err == nil || errors.As(err, &told):
	case errors.Is(err, context.Canceled):
		r.voice.notice("(interrupted; your line is kept, the next tick hears it)")
	default:
		r.voice.notice(err.Error())
	}
	select {
	case r.pack <- struct{}{}:
	default:
	}
	if r.ending {
		return
	}
	if n, werr := r.Harness.Waiting(); werr == nil && n > 0 && (err == nil || told != nil) {
		r.tick(ctx, "")
		return
	}
	r.con.Next()
}

// packer keeps git's storage small beside the ticks. Why it can not is said
// once.
func (r *repl) packer(ctx context.Context, done chan<- struct{}) {
	defer close(done)
	said := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.pack:
			if err := r.Harness.Pack(ctx); err != nil && ctx.Err() == nil && !said {
				r.voice.notice("packing the history: " + err.Error())
				said = true
			}
		}
	}
}

// say shows sentences that may hold anything.
func (r *repl) say(text string) { r.con.Print(r.voice.sentences(text)) }
