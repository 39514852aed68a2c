package console

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Options say where the console reads and writes and how it looks.
type Options struct {
	In, Out *os.File
	Prompt  string // plain text, "amacs> ": a status is put before its final "> "
	History string // path of the history file; "" keeps none

	// Stored gives what the history file gets of an entry; nil: all of it.
	Stored func(text string) string

	Color bool // the status may be dim (terminals only)

	// Complete returns whole candidates for the word that ends at byte pos of
	// line. Nil switches completion off. It is called while a key is handled,
	// so it must be quick and must not call the Console.
	Complete func(line string, pos int) []string
}

// Event is what the keyboard brings: a [Line], an [Interrupt] or an [EOF].
type Event interface{ event() }

// Line is one message, possibly of several lines, without its final newline.
// Blank ones are delivered too.
type Line struct {
	Text   string
	Pasted bool // some of it was pasted
}

// Interrupt is Ctrl-C or SIGINT. At an idle prompt it has cleared what was
// typed, which is then in Text; while a status is shown the typed line stays.
type Interrupt struct{ Text string }

// EOF is Ctrl-D on an empty line, or the end of the input, after which nothing
// more comes. Err is nil but for an input that could not be read.
type EOF struct{ Err error }

func (Line) event()      {}
func (Interrupt) event() {}
func (EOF) event()       {}

// ErrNoAnswer is returned by [Console.Ask] when Ctrl-C or the end of input
// comes instead of an answer, or when nobody is there to ask.
var ErrNoAnswer = errors.New("no answer")

// Console is an open terminal, dumb terminal or pipe. Its methods may be
// called from any goroutine.
type Console struct {
	kind   kind
	opts   Options
	in     *input
	events chan Event
	wanted chan struct{} // a pipe's line is asked for
	done   chan struct{}
	wg     sync.WaitGroup
	closed sync.Once

	mu        sync.Mutex // guards all below, and all writing
	show      display
	reply     reply
	question  *question
	ended     bool // the input is at its end: no question can be answered
	suspended bool
	stopped   bool // by Ctrl-Z: the terminal is taken back without SIGCONT
}

type kind int

const (
	pipe kind = iota
	dumb
	terminal
)

// display is the part of the console that writes: a *screen on a terminal, a
// *plain elsewhere. The console calls it under its lock.
type display interface {
	print(text string)
	begin()             // a reply begins
	stream(text string) // the next part of the reply, clean
	end()               // the reply is over
	setStatus(status string)
	busy() bool // a status is shown
	ask(text, keys string)
	asked() // the question is settled
	ready() // the REPL waits for a line
	suspend() error
	resume() error
	width() int
	close() error
}

// question is an Ask that waits; answer has room for one rune, 0 for none.
type question struct {
	keys   string
	words  []string // the first belongs to the first key
	answer chan rune
}

// Open takes the terminal over, in raw mode with bracketed paste if it is a
// real one, until [Console.Close]. A history that can not be read is reported
// on the screen and does not hinder. SIGINT becomes an event; on a terminal
// SIGTERM and SIGHUP restore it and are then raised again.
func Open(opts Options) (*Console, error) {
	c := &Console{
		kind:   kindOf(opts),
		opts:   opts,
		events: make(chan Event, 1024),
		wanted: make(chan struct{}, 1),
		done:   make(chan struct{}),
	}
	var err error
	if c.in, err = openInput(opts.In); err != nil {
		return nil, fmt.Errorf("opening the console: %w", err)
	}
	if c.kind != terminal {
		p := &plain{out: output{f: opts.Out}, prompt: opts.Prompt, dumb: c.kind == dumb}
		c.show = p
		c.wg.Go(func() { c.readLines(p) })
	} else if err = c.openTerminal(); err != nil {
		c.in.release()
		return nil, fmt.Errorf("opening the console: %w", err)
	}
	c.watchSignals()
	return c, nil
}

func kindOf(opts Options) kind {
	if !term.IsTerminal(int(opts.In.Fd())) || !term.IsTerminal(int(opts.Out.Fd())) {
		return pipe
	}
	if t := os.Getenv("TERM"); t == "" || t == "dumb" {
		return dumb
	}
	return terminal
}

// Interactive reports whether a person types: a terminal or a dumb terminal.
func (c *Console) Interactive() bool { return c.kind != pipe }

// Events is where lines, interrupts and the end arrive. It is never closed.
func (c *Console) Events() <-chan Event { return c.events }

// Next says that the REPL is ready for a line. A pipe then reads one, so that
// none is handed out ahead of its tick; a dumb terminal shows its prompt; on a
// terminal the prompt is always there.
func (c *Console) Next() {
	c.mu.Lock()
	c.show.ready()
	c.mu.Unlock()
	select {
	case c.wanted <- struct{}{}:
	default:
	}
}

// SetStatus shows s in the prompt of a terminal, `amacs (thinking 3s)> `; ""
// takes it away.
func (c *Console) SetStatus(s string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.show.setStatus(s)
}

// Print writes whole lines above the prompt; a final newline is added if it is
// missing. It is written as it is: text from elsewhere goes through [Clean].
func (c *Console) Print(text string) {
	if text == "" {
		return
	}
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.show.print(text)
}

// Stream shows the next part of a reply, cleaned. On a terminal it is wrapped
// at spaces to the width of the screen, elsewhere written through. Newlines at
// the reply's beginning and end are dropped (RFC v4 §9.1).
func (c *Console) Stream(chunk string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streamed(c.reply.feed(chunk))
}

func (c *Console) streamed(text string) {
	if text == "" {
		return
	}
	if !c.reply.begun {
		c.reply.begun = true
		c.show.begin()
	}
	c.show.stream(text)
}

// EndStream ends the reply: its line is ended and one blank line follows. If
// nothing was streamed it does nothing.
func (c *Console) EndStream() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streamed(c.reply.rest())
	if c.reply.begun {
		c.show.end()
	}
	c.reply = reply{}
}

// Ask prints the question and waits for a line that is just one of keys, in
// either case, or the word that belongs to it (the first word to the first key);
// the key is returned. A capital stands for its word only, so that nobody gives
// that answer by a slip. Other lines are events as ever.
// One question at a time. It ends with [ErrNoAnswer], so after Ctrl-C, which is
// then no event, or with the error of ctx.
func (c *Console) Ask(ctx context.Context, text, keys string, words ...string) (rune, error) {
	q := &question{keys: keys, words: words, answer: make(chan rune, 1)}
	c.mu.Lock()
	if c.kind == pipe || c.ended || c.question != nil {
		c.mu.Unlock()
		return 0, fmt.Errorf("asking %q: %w", text, ErrNoAnswer)
	}
	c.question = q
	c.show.ask(text, q.shown())
	c.mu.Unlock()
	err := ErrNoAnswer
	select {
	case r := <-q.answer:
		if r != 0 {
			return r, nil
		}
	case <-c.done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.question == q {
		c.settle(0)
	}
	return 0, fmt.Errorf("asking %q: %w", text, err)
}

// Forget drops the lines that were typed so far: before a question was shown,
// nobody has answered it.
func (c *Console) Forget() {
	if c.kind == pipe {
		return
	}
	flush(c.in.fd)
	var rest []Event
	for {
		select {
		case e := <-c.events:
			if _, ok := e.(Line); !ok {
				rest = append(rest, e)
			}
			continue
		default:
		}
		break
	}
	for _, e := range rest {
		c.events <- e
	}
}

// Flush drops what was typed on a terminal that no Console reads.
func Flush(f *os.File) { flush(int(f.Fd())) }

// settle answers the question that waits, 0 for not at all.
func (c *Console) settle(answer rune) {
	c.question.answer <- answer
	c.question = nil
	c.show.asked()
}

// Suspend hands the terminal to f, which starts a child such as $EDITOR and
// waits for it, then takes it back. What is printed to a terminal meanwhile is
// shown after it.
func (c *Console) Suspend(f func() error) error {
	c.mu.Lock()
	if c.suspended {
		c.mu.Unlock()
		return errors.New("suspending the console: it is suspended already")
	}
	c.suspended = true
	err := c.show.suspend()
	c.mu.Unlock()
	if err == nil {
		c.in.pause()
		err = f()
		c.in.resume()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.suspended = false
	return errors.Join(err, c.show.resume())
}

// Width is the number of columns of the screen, 80 where there is none.
func (c *Console) Width() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.show.width()
}

// Close gives the terminal back as it was found and stops reading. The error
// is the first one met in writing or restoring. A second Close does nothing.
func (c *Console) Close() error {
	var err error
	c.closed.Do(func() {
		close(c.done)
		c.mu.Lock()
		err = c.show.close()
		c.mu.Unlock()
		c.in.close()
		c.wg.Wait()
		c.in.release()
	})
	if err != nil {
		return fmt.Errorf("closing the console: %w", err)
	}
	return nil
}

// deliver hands an event to the REPL, or to the question that waits for it. It
// must not be called under the lock: a full channel waits for the REPL. It
// reports whether it was the question's.
func (c *Console) deliver(e Event) bool {
	if c.answered(e) {
		return true
	}
	select {
	case c.events <- e:
	case <-c.done:
	}
	return false
}

// end delivers the end of the input.
func (c *Console) end(err error) {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.deliver(EOF{Err: err})
}

// answered settles a waiting question and reports whether e was meant for it.
// The end of the input ends a question too, and is still for the REPL to see.
func (c *Console) answered(e Event) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, atEnd := e.(EOF)
	var answer rune
	if c.question == nil {
		return false
	}
	if line, ok := e.(Line); ok {
		if answer, ok = c.question.match(line.Text); !ok {
			return false
		}
	}
	c.settle(answer)
	return !atEnd
}

// shown are the answers as the prompt shows them: y/n/always.
func (q *question) shown() string {
	var all []string
	for i, k := range []rune(q.keys) {
		if unicode.IsUpper(k) {
			all = append(all, q.words[i])
		} else {
			all = append(all, string(k))
		}
	}
	return strings.Join(all, "/")
}

// match finds the key that a line is, if it is just one, or its word.
func (q *question) match(line string) (rune, bool) {
	line = strings.TrimSpace(line)
	keys := []rune(q.keys)
	for i, word := range q.words {
		if strings.EqualFold(word, line) {
			return keys[i], true
		}
	}
	r, n := utf8.DecodeRuneInString(line)
	if n == 0 || n != len(line) {
		return 0, false
	}
	for _, k := range keys {
		if k == unicode.ToLower(r) {
			return k, true
		}
	}
	return 0, false
}
