package console

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"golang.org/x/term"
)

// plain is the display of a dumb terminal and of a pipe: it writes text as it
// comes and never an escape sequence. Only a dumb terminal gets a prompt.
type plain struct {
	out    output
	prompt string
	dumb   bool

	shown string // the prompt that stands on the last line
	torn  bool   // that line is an unfinished one of a reply

	asking string // the prompt of a question
	owed   string // the prompt to show after it
}

// clear ends the last line, so that text can follow. It returns the prompt
// that must be shown again.
func (p *plain) clear() string {
	prompt := p.shown
	if prompt != "" || p.torn {
		p.out.write("\n")
	}
	p.shown, p.torn = "", false
	return prompt
}

func (p *plain) show(prompt string) {
	if p.dumb && prompt != "" && p.shown == "" {
		p.shown = prompt
		p.out.write(prompt)
	}
}

// echoed is called when a line has come. A dumb terminal has shown its end.
func (p *plain) echoed() {
	p.shown = ""
	p.torn = p.torn && !p.dumb
}

func (p *plain) print(text string) {
	prompt := p.clear()
	p.out.write(text)
	p.show(prompt)
}

func (p *plain) begin() {
	p.clear()
	if p.dumb {
		p.out.write("\n")
	}
}

func (p *plain) stream(text string) {
	p.out.write(text)
	p.torn = !strings.HasSuffix(text, "\n")
}

func (p *plain) end() {
	p.clear()
	p.out.write("\n")
}

func (p *plain) setStatus(string) {}

func (p *plain) busy() bool { return false }

func (p *plain) ask(text, keys string) {
	p.owed = p.clear()
	p.out.write(text + "\n")
	p.asking = "(" + keys + ") "
	p.show(p.asking)
}

func (p *plain) asked() {
	if p.shown == p.asking {
		p.clear()
	}
	p.asking = ""
	p.show(p.owed)
}

func (p *plain) ready() {
	if p.asking == "" {
		p.show(p.prompt)
		return
	}
	p.owed = p.prompt
	p.show(p.asking)
}

func (p *plain) suspend() error { return nil }

func (p *plain) resume() error { return nil }

func (p *plain) width() int {
	if n, _, err := term.GetSize(int(p.out.f.Fd())); err == nil && n > 0 {
		return n
	}
	return 80
}

func (p *plain) close() error { return p.out.err }

// readLines reads a dumb terminal or a pipe to its end. A line of a pipe is
// read when Next has asked for a message.
func (c *Console) readLines(p *plain) {
	in := bufio.NewReader(c.in)
	var j joiner
	for {
		if c.kind == pipe && !j.isOpen() {
			select {
			case <-c.wanted:
			case <-c.done:
				return
			}
		}
		line, err := in.ReadString('\n')
		if line != "" {
			message, done := j.add(unended(line))
			c.mu.Lock()
			p.echoed()
			if !done {
				p.show(more)
			}
			c.mu.Unlock()
			if done {
				c.deliver(Line{Text: message})
			}
		}
		if err != nil {
			if j.isOpen() {
				c.deliver(Line{Text: j.abandon()})
			}
			if errors.Is(err, io.EOF) {
				err = nil
			}
			c.end(err)
			return
		}
	}
}

// unended is a line without the LF or CR LF at its end.
func unended(line string) string {
	if text, ok := strings.CutSuffix(line, "\r\n"); ok {
		return text
	}
	return strings.TrimSuffix(line, "\n")
}
