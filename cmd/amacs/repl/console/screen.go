package console

import (
	"fmt"
	"os"
	"strings"

	"github.com/chzyer/readline"
	"golang.org/x/term"
)

// output writes, and keeps the first error for Close to return.
type output struct {
	f   *os.File
	err error
}

func (o *output) write(s string) {
	if _, err := o.f.WriteString(s); err != nil && o.err == nil {
		o.err = err
	}
}

// view is the line being edited as it is to be shown.
type view struct {
	prompt string // in place of the main prompt; "" for that one
	line   []glyph
	cursor int // index into line
}

var lineEnds = strings.NewReplacer("\n", "\r\n")

// screen draws on a terminal. It writes each change, from erasing the live
// block to drawing the next one, in one piece.
type screen struct {
	out    output
	in     int // descriptor of the terminal whose modes are set
	prompt string
	color  bool

	columns, height int
	status, keys    string // shown in the prompt
	view            view
	wrap            wrapper // the unfinished row of a reply
	live            block   // what is drawn
	spaced          bool    // the text above it ends with an empty line
	held            strings.Builder
	off             bool            // the terminal is a child's: what is written is held
	closed          bool            // it is given back: what is written is only written
	cooked          *readline.State // the modes to restore
}

func openScreen(opts Options) (*screen, error) {
	s := &screen{out: output{f: opts.Out}, in: int(opts.In.Fd()), prompt: opts.Prompt, color: opts.Color, off: true}
	return s, s.resume()
}

// over writes text above the live block and draws the block anew.
func (s *screen) over(text string) {
	if text != "" {
		s.spaced = text == "\r\n" || strings.HasSuffix(text, "\n\r\n")
	}
	switch {
	case s.closed:
		s.out.write(text)
	case s.off:
		s.held.WriteString(text)
	default:
		s.out.write(s.erase(s.live.row) + text + s.draw())
	}
}

// erase gives the sequence that removes a block in whose row the cursor is. It
// erases from the second column on, after the first: from the screen's first
// place on, tmux would keep a copy of the block in its history each time.
func (s *screen) erase(row int) string {
	const rest = "\r\x1b[K\x1b[C\x1b[J\r"
	if row == 0 {
		return rest
	}
	return fmt.Sprintf("\x1b[%dA", row) + rest
}

// draw gives the live block, with the cursor in its place.
func (s *screen) draw() string {
	prompt := s.promptGlyphs(s.view.prompt)
	b := layout(append(prompt, s.view.line...), len(prompt)+s.view.cursor, s.columns)
	if len(s.wrap.row) > 0 {
		var reply block
		reply.add(string(s.wrap.row), s.wrap.columns)
		b = block{append(reply.rows, b.rows...), append(reply.widths, b.widths...), b.row + 1, b.col}
	}
	s.live = b.window(s.height)
	return s.paint(s.live)
}

func (s *screen) paint(b block) string {
	var out strings.Builder
	out.WriteString(strings.Join(b.rows, "\r\n") + "\r")
	if up := len(b.rows) - 1 - b.row; up > 0 {
		fmt.Fprintf(&out, "\x1b[%dA", up)
	}
	if b.col > 0 {
		fmt.Fprintf(&out, "\x1b[%dC", b.col)
	}
	return out.String()
}

// promptGlyphs is the given prompt, or the main one with the status in it.
func (s *screen) promptGlyphs(prompt string) []glyph {
	status := s.status
	if s.keys != "" {
		status = s.keys
	}
	if prompt != "" || status == "" {
		if prompt == "" {
			prompt = s.prompt
		}
		return glyphs(prompt)
	}
	before, after := s.prompt, ""
	if name, ok := strings.CutSuffix(s.prompt, "> "); ok {
		before, after = name+" ", "> "
	}
	dim := glyphs("(" + status + ")")
	if s.color {
		dim[0].text = "\x1b[2m" + dim[0].text
		dim[len(dim)-1].text += "\x1b[22m"
	}
	return append(append(glyphs(before), dim...), glyphs(after)...)
}

// edit shows the line as it is now.
func (s *screen) edit(v view) {
	s.view = v
	s.over("")
}

// commit leaves the line, with mark behind it, in the text above, and begins
// an empty one. A reply's unfinished row stays below it.
func (s *screen) commit(v view, mark string) {
	prompt := v.prompt
	if prompt == "" {
		prompt = s.prompt
	}
	text := append(append(glyphs(prompt), v.line...), glyphs(mark)...)
	s.view = view{}
	s.over(strings.Join(layout(text, -1, s.columns).rows, "\r\n") + "\r\n")
}

func (s *screen) clear() {
	if !s.off && !s.closed {
		s.live = block{}
		s.out.write("\x1b[H\x1b[2J" + s.draw())
	}
}

func (s *screen) print(text string) { s.over(lineEnds.Replace(text)) }

func (s *screen) begin() {
	if !s.spaced {
		s.over("\r\n")
	}
}

func (s *screen) stream(text string) { s.print(s.wrap.feed(text, s.columns)) }

func (s *screen) end() { s.print(s.wrap.take(len(s.wrap.row)) + "\n") }

func (s *screen) setStatus(status string) {
	s.status = strings.ReplaceAll(Clean(status), "\n", " ")
	s.over("")
}

func (s *screen) busy() bool { return s.status != "" }

func (s *screen) ask(text, keys string) {
	s.keys = keys
	s.print(text + "\n")
}

func (s *screen) asked() {
	s.keys = ""
	s.over("")
}

func (s *screen) ready() {}

func (s *screen) width() int { return s.columns }

func (s *screen) measure() {
	var err error
	if s.columns, s.height, err = term.GetSize(int(s.out.f.Fd())); err != nil || s.columns < 1 || s.height < 1 {
		s.columns, s.height = 80, 24
	}
}

// resize draws anew at the new size. Terminals break the rows that have become
// too long, and take the cursor with them.
func (s *screen) resize() {
	s.measure()
	if s.off || s.closed {
		return
	}
	s.out.write(s.erase(s.live.rowAt(s.columns)) + s.rewrap() + s.draw())
}

// rewrap fits the unfinished row of a reply to the width and gives the rows
// that it has become beside the last.
func (s *screen) rewrap() string {
	row := string(s.wrap.row)
	s.wrap = wrapper{}
	return lineEnds.Replace(s.wrap.feed(row, s.columns))
}

// suspend gives the terminal back as it was found, without the live block.
func (s *screen) suspend() error {
	if s.closed {
		return nil
	}
	s.out.write(s.erase(s.live.row))
	return s.restore()
}

func (s *screen) restore() error {
	s.off = true
	s.out.write("\x1b[?2004l")
	return readline.Restore(s.in, s.cooked)
}

// resume takes the terminal: raw, with bracketed paste, the block drawn.
func (s *screen) resume() error {
	if s.closed {
		return nil
	}
	var err error
	if s.cooked, err = readline.MakeRaw(s.in); err != nil {
		return fmt.Errorf("setting the terminal to raw mode: %w", err)
	}
	s.off = false
	s.measure()
	s.live = block{}
	text := s.held.String() + s.rewrap()
	s.held.Reset()
	s.out.write("\x1b[?2004h" + text + s.draw())
	return nil
}

// continued is called after a stop, in which a shell has set its own modes.
func (s *screen) continued() {
	if !s.off && !s.closed {
		_, _ = readline.MakeRaw(s.in) // it was possible before; if it is no longer, reading ends
		s.live = block{}
		s.out.write("\x1b[?2004h\r" + s.draw())
	}
}

// close leaves what was typed on the screen, without the status.
func (s *screen) close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if s.off { // a child has it, as it was found
		return s.out.err
	}
	s.status, s.keys = "", ""
	below := ""
	erase := s.erase(s.live.row)
	draw := s.draw()
	if n := len(s.live.rows) - 1 - s.live.row; n > 0 {
		below = fmt.Sprintf("\x1b[%dB", n)
	}
	s.out.write(erase + draw + below + "\r\n")
	if err := s.restore(); err != nil {
		return fmt.Errorf("restoring the terminal: %w", err)
	}
	return s.out.err
}
