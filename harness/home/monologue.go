package home

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"amacs/org"
)

// Thought is one line of monologue.org:
//
//	[2026-11-21 Sat 05:42][TICK 42] Fixed the borrow checker issue
//
// The stamp is local time. Lines of other forms are the human's and pass over.
type Thought struct {
	Tick int
	Time time.Time
	Text string
}

const stampLayout = "2006-01-02 Mon 15:04"

var thoughtLine = regexp.MustCompile(`^\[(\d{4}-\d\d-\d\d(?: \pL+\.?)? \d\d:\d\d)\]\[TICK (\d{1,9})\] ?(.*)$`)

// Print is the line as it is written, without its end.
func (t Thought) Print() string {
	return fmt.Sprintf("[%s][TICK %d] %s", t.Time.Format(stampLayout), t.Tick, org.EscapeTitle(t.Text))
}

// Thoughts reads a monologue, oldest first.
func Thoughts(src []byte) []Thought {
	var out []Thought
	for line := range bytes.Lines(src) {
		m := thoughtLine.FindStringSubmatch(strings.TrimRight(string(line), "\r\n"))
		if m == nil {
			continue
		}
		t := Thought{Text: org.UnescapeTitle(m[3])}
		t.Tick, _ = strconv.Atoi(m[2])
		f := strings.Fields(m[1])
		t.Time, _ = time.ParseInLocation("2006-01-02 15:04", f[0]+" "+f[len(f)-1], time.Local)
		out = append(out, t)
	}
	return out
}

// Think adds a line to the monologue.
func (d *Draft) Think(t Thought) error {
	t.Text = d.Clean(t.Text)
	return d.edit(Monologue, func(src []byte) ([]byte, error) {
		return appendLine(src, t.Print()), nil
	})
}

// appendLine adds a line with the line end that the file has.
func appendLine(src []byte, line string) []byte {
	end := eol(src)
	if n := len(src); n > 0 && src[n-1] != '\n' {
		line = end + line
	}
	return append(src[:len(src):len(src)], line+end...)
}

// eol is what the first line of a text ends in.
func eol(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}
