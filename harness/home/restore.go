package home

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"amacs/org"
)

// loss is what a tick wrote into the chat, the monologue or the scratchpad and a
// later text of that file lacks, as when an editor saves over a file that it has
// not read again.
type loss struct {
	name string // for a human
	tick int
	put  func(src []byte) []byte // puts it back
}

// Lost names what ticks wrote into a file, one of Chat, Monologue and
// Scratchpad, and it now lacks.
func Lost(path string, was, now []byte) []string {
	var names []string
	for _, l := range losses(path, was, now) {
		names = append(names, l.name)
	}
	if n := len(names); n > 5 {
		names = append(names[:4], fmt.Sprintf("%d more", n-4))
	}
	return names
}

// Restore puts back what the file lacks of was: entries of the chat and the
// monologue in the order of their ticks, notes at the end. It returns their
// names.
func (d *Draft) Restore(path string, was []byte) (names []string, err error) {
	err = d.edit(path, func(src []byte) ([]byte, error) {
		for _, l := range losses(path, was, src) {
			names = append(names, l.name)
			src = l.put(src)
		}
		return src, nil
	})
	return names, err
}

func losses(path string, was, now []byte) (out []loss) {
	switch path {
	case Chat:
		out = lostChat(org.Parse(was), org.Parse(now))
	case Monologue:
		out = lostThoughts(was, now)
	case Scratchpad:
		out = lostNotes(org.Parse(was), org.Parse(now))
	}
	slices.SortStableFunc(out, func(a, b loss) int { return a.tick - b.tick })
	return out
}

// lostChat finds exchanges, and replies to exchanges that are still there.
func lostChat(was, now *org.Doc) (out []loss) {
	for _, h := range was.Top() {
		e, ok := exchange(was, h)
		if !ok {
			continue
		}
		text := subtree(was, h)
		there := findTick(now, e.Tick)
		if there == nil {
			out = append(out, loss{fmt.Sprintf("tick %d", e.Tick), e.Tick, func(src []byte) []byte {
				doc := org.Parse(src)
				for _, h := range doc.Top() {
					if tick, ok := tickOf(h); ok && tick > e.Tick {
						return insert(src, h.Start, text+eol(src))
					}
				}
				return appendRaw(src, text)
			}})
			continue
		}
		if x, _ := exchange(now, there); !x.HasAgent && (e.HasAgent || e.ReplyTick != x.ReplyTick) {
			out = append(out, loss{fmt.Sprintf("the reply to tick %d", e.Tick), e.Tick, func(src []byte) []byte {
				if e.ReplyTick != 0 {
					doc := org.Parse(src)
					src = doc.SetProp(findTick(doc, e.Tick), "REPLY_TICK", strconv.Itoa(e.ReplyTick))
				}
				if e.HasAgent {
					doc := org.Parse(src)
					src = doc.AppendChild(findTick(doc, e.Tick), half("Agent", e.Agent, e.Outcome))
				}
				return src
			}})
		}
	}
	return out
}

func lostThoughts(was, now []byte) (out []loss) {
	have := map[int]bool{}
	for _, t := range Thoughts(now) {
		have[t.Tick] = true
	}
	for line := range bytes.Lines(was) {
		ts := Thoughts(line)
		if len(ts) == 0 || have[ts[0].Tick] {
			continue
		}
		tick, text := ts[0].Tick, strings.TrimRight(string(line), "\r\n")
		out = append(out, loss{fmt.Sprintf("the line of tick %d", tick), tick, func(src []byte) []byte {
			for _, p := range monologuePieces(src) {
				if p.tick > tick {
					return insert(src, p.start, text+eol(src))
				}
			}
			return appendLine(src, text)
		}})
	}
	return out
}

// lostNotes finds notes, and what a later tick added to notes that are still
// there as they were before it.
func lostNotes(was, now *org.Doc) (out []loss) {
	for _, h := range was.Top() {
		n, text := note(was, h), subtree(was, h)
		if n.Tick == 0 {
			continue // the human's own
		}
		there := findNote(now, n)
		if there == nil {
			out = append(out, loss{fmt.Sprintf("the note %q of tick %d", n.Heading, n.Tick), n.Tick, func(src []byte) []byte {
				return appendRaw(src, text)
			}})
			continue
		}
		if x := note(now, there); x.Tick < n.Tick && strings.HasPrefix(n.Text, x.Text) {
			out = append(out, loss{fmt.Sprintf("what tick %d added to the note %q", n.Tick, n.Heading), n.Tick, func(src []byte) []byte {
				doc := org.Parse(src)
				h := findNote(doc, n)
				return insert(doc.Remove(h), h.Start, text+string(src[contentEnd(src, h):h.End]))
			}})
		}
	}
	return out
}

// subtree is an entry's text with one line end behind its last line.
func subtree(doc *org.Doc, h *org.Heading) string {
	return string(doc.Src[h.Start:contentEnd(doc.Src, h)])
}

// contentEnd is where the empty lines begin that end an entry.
func contentEnd(src []byte, h *org.Heading) int {
	end := h.Start + len(bytes.TrimRight(src[h.Start:h.End], "\r\n"))
	if n := bytes.IndexByte(src[end:h.End], '\n'); n >= 0 {
		return end + n + 1
	}
	return h.End
}

func insert(src []byte, at int, text string) []byte {
	return slices.Concat(src[:at], []byte(text), src[at:])
}

// appendRaw adds an entry's text after an empty line.
func appendRaw(src []byte, text string) []byte {
	if n := len(src); n > 0 && src[n-1] != '\n' {
		text = eol(src) + text
	}
	return insert(src, len(src), eol(src)+text)
}
