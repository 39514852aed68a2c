package console

import (
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/chzyer/readline"
)

const (
	more = "...> " // the prompt of a message's further lines

	recallBytes = 8 << 10 // a longer entry of the history is recalled as a token
	recallLines = 100
)

// editor is the line being typed. readline calls key before and OnChange after
// each key, both in its one goroutine, to which all fields belong.
type editor struct {
	c       *Console
	screen  *screen // under c.mu
	rl      *readline.Instance
	keys    *keys
	cells   *cells
	history *history

	now    edit   // the line as readline has it
	next   *edit  // what it is to become
	cut    []rune // for Ctrl-Y
	pasted bool
	joiner joiner

	at     int            // the entry of the history shown; one past the last: none
	drafts map[int][]rune // what was typed in place of entries, and of none
	search *search
}

// edit is a line and the cursor in it.
type edit struct {
	line []rune
	pos  int
}

// keys is the keyboard as readline reads it. It counts the runes given out, so
// that the editor can draw once for all that came together.
type keys struct {
	in    io.Reader
	mu    sync.Mutex // held while cells are given out that are not yet in open
	board keyboard
	ready []byte
	open  atomic.Int64 // runes given out and not yet handled
	err   error        // what ended the input
}

func (k *keys) Read(p []byte) (int, error) {
	var b [4096]byte
	for len(k.ready) == 0 {
		n, err := k.in.Read(b[:])
		if err != nil {
			k.err = err
			return 0, io.EOF
		}
		k.mu.Lock()
		rs := k.board.feed(b[:n])
		k.open.Add(int64(len(rs)))
		k.mu.Unlock()
		k.ready = []byte(string(rs))
	}
	n := copy(p, k.ready)
	k.ready = k.ready[n:]
	return n, nil
}

func (k *keys) Close() error { return nil }

// openTerminal starts the screen and the editor. readline is told that it has
// no terminal, so that it edits and leaves the rest alone.
func (c *Console) openTerminal() error {
	cells := &cells{}
	e := &editor{c: c, cells: cells, keys: &keys{in: c.in, board: keyboard{cells: cells}}}
	var trouble error
	e.history, trouble = openHistory(c.opts.History)
	e.history.stored = c.opts.Stored
	e.at = len(e.history.entries)

	nothing := func() error { return nil }
	var err error
	if e.screen, err = openScreen(c.opts); err != nil {
		return err
	}
	e.rl, err = readline.NewEx(&readline.Config{
		Stdin:               e.keys,
		Stdout:              io.Discard,
		Stderr:              io.Discard,
		HistoryLimit:        -1,
		AutoComplete:        e,
		Listener:            e,
		FuncFilterInputRune: e.key,
		FuncIsTerminal:      func() bool { return false },
		FuncMakeRaw:         nothing,
		FuncExitRaw:         nothing,
		FuncGetWidth:        func() int { return 80 },
		FuncOnWidthChanged:  func(func()) {},
	})
	if err != nil {
		return errors.Join(err, e.screen.close())
	}
	c.show = e.screen
	e.report(trouble)
	c.wg.Go(e.run)
	return nil
}

// run lasts as long as the input: Enter and Ctrl-C never reach readline, so
// Readline returns only at the end.
func (e *editor) run() {
	_, _ = e.rl.Readline()
	_ = e.rl.Config.Stdin.Close()
	if errors.Is(e.keys.err, io.EOF) {
		e.keys.err = nil
	}
	e.c.end(e.keys.err)
}

func (e *editor) report(err error) {
	if err != nil {
		e.c.Print("(" + err.Error() + ")")
	}
}

// key is asked about each rune before readline: it returns the rune that
// readline is to handle, or false if there is nothing left to do.
func (e *editor) key(r rune) (rune, bool) {
	if r == 0 { // the end; readline sends a line that is not empty once more
		e.rl.Operation.SetBuffer("")
		return 0, true
	}
	e.keys.open.Add(-1)
	if e.search != nil && e.searchKey(r) {
		return e.become(*e.next)
	}
	line, pos := e.now.line, e.now.pos
	switch r {
	case keyEnter:
		return e.enter()
	case keyInterrupt:
		return e.interrupt()
	case keyEnd:
		if len(line) == 0 && !e.joiner.isOpen() {
			e.c.deliver(EOF{})
		}
		return e.cutTo(min(pos+1, len(line)), false)
	case keyDelete:
		return e.cutTo(min(pos+1, len(line)), false)
	case keyPasted:
		e.pasted = true
		return e.become(e.now)
	case keyWordLeft:
		return e.become(edit{line, wordLeft(line, pos)})
	case keyWordRight:
		return e.become(edit{line, wordRight(line, pos)})
	case keyCutWordLeft:
		return e.cutTo(wordLeft(line, pos), true)
	case keyCutWordRight:
		return e.cutTo(wordRight(line, pos), true)
	case readline.CharCtrlU:
		return e.cutTo(0, true)
	case readline.CharKill:
		return e.cutTo(len(line), true)
	case readline.CharCtrlY:
		return e.become(edit{slices.Insert(slices.Clone(line), pos, e.cut...), pos + len(e.cut)})
	case readline.CharPrev:
		return e.recall(e.at - 1)
	case readline.CharNext:
		return e.recall(e.at + 1)
	case readline.CharBckSearch, readline.CharFwdSearch:
		e.search = &search{at: len(e.history.entries) - 1, before: e.now}
		return e.become(e.now)
	case readline.CharCtrlL:
		e.c.mu.Lock()
		e.screen.clear()
		e.c.mu.Unlock()
		return e.become(e.now)
	case readline.CharCtrlZ:
		e.stop()
		return e.become(e.now)
	}
	return r, true
}

// become lets the line become another one: readline gets a harmless key, and
// in OnChange takes the new line over.
func (e *editor) become(next edit) (rune, bool) {
	e.next = &next
	return readline.CharLineStart, true
}

// cutTo removes the runes between the cursor and another place, for Ctrl-Y to
// bring back if keep is set.
func (e *editor) cutTo(to int, keep bool) (rune, bool) {
	from, to := min(e.now.pos, to), max(e.now.pos, to)
	if keep && from < to {
		e.cut = slices.Clone(e.now.line[from:to])
	}
	return e.become(edit{slices.Delete(slices.Clone(e.now.line), from, to), from})
}

// OnChange is called with the line after each key.
func (e *editor) OnChange(line []rune, pos int, _ rune) ([]rune, int, bool) {
	changed := e.next != nil
	if changed {
		line, pos = slices.Clone(e.next.line), e.next.pos
		e.next = nil
	}
	e.now = edit{slices.Clone(line), pos}
	if e.keys.open.Load() <= 0 {
		e.c.mu.Lock()
		e.screen.edit(e.view())
		e.c.mu.Unlock()
	}
	return line, pos, changed
}

// enter takes the line as it is; it may complete a message.
func (e *editor) enter() (rune, bool) {
	view := e.view()
	message, done := e.joiner.add(string(e.now.line))
	e.c.mu.Lock()
	e.screen.commit(view, "")
	e.c.mu.Unlock()
	if done {
		line := Line{Text: e.cells.decode([]rune(message)), Pasted: e.pasted}
		if !e.c.deliver(line) {
			e.report(e.history.add(line.Text))
		}
		e.fresh()
	}
	return e.become(edit{})
}

// interrupt clears an idle prompt; Ctrl-Y brings the line back. While a tick
// runs it is the tick that is meant, and the line stays; at a question, what was
// begun of an answer goes with it.
func (e *editor) interrupt() (rune, bool) {
	e.c.mu.Lock()
	busy := e.screen.busy()
	if busy || e.c.question != nil || len(e.now.line) == 0 && !e.joiner.isOpen() {
		e.c.mu.Unlock()
		e.c.deliver(Interrupt{})
		if busy {
			return e.become(e.now)
		}
		return e.become(edit{})
	}
	e.screen.commit(e.view(), "^C")
	e.c.mu.Unlock()
	text := string(e.now.line)
	if e.joiner.isOpen() {
		text = e.joiner.abandon() + "\n" + text
	}
	cut := []rune(text)
	text = e.cells.decode(cut)
	e.fresh()
	e.cut = e.now.line
	e.c.deliver(Interrupt{Text: text})
	return e.become(edit{})
}

// fresh begins a new message.
func (e *editor) fresh() {
	e.at, e.drafts, e.pasted = len(e.history.entries), nil, false
	e.keys.mu.Lock()
	defer e.keys.mu.Unlock()
	if e.cells.full() && e.keys.open.Load() <= 0 {
		e.cells.forget()
		e.cut, e.now = nil, edit{}
	}
}

// stop is Ctrl-Z: the shell gets the terminal until it continues this job.
// Where there is no shell, the signal is without effect.
func (e *editor) stop() {
	e.c.mu.Lock()
	defer e.c.mu.Unlock()
	if e.screen.suspend() == nil {
		e.c.stopped = true
		_ = syscall.Kill(0, syscall.SIGTSTP)
		time.Sleep(50 * time.Millisecond) // the stop comes at once, but on another thread
	}
	_ = e.screen.resume() // worked before; if it does not, reading ends
}

// view is the line as it is to be shown.
func (e *editor) view() view {
	v := view{}
	switch {
	case e.search != nil:
		v.prompt = e.search.prompt()
	case e.joiner.isOpen():
		v.prompt = more
	}
	for i, r := range e.now.line {
		if i == e.now.pos {
			v.cursor = len(v.line)
		}
		k, ok := e.cells.at(r)
		if !ok {
			k.label = string(r)
		}
		v.line = append(v.line, glyphs(k.label)...)
		if k == newlineCell {
			v.line = append(v.line, glyphs(more)...)
		}
	}
	if e.now.pos >= len(e.now.line) {
		v.cursor = len(v.line)
	}
	return v
}
