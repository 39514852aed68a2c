package harness

import (
	"cmp"
	"slices"
	"strings"

	"amacs/harness/home"
	"amacs/harness/reply"
)

// bytesPerToken is an estimate; English prose has about four. Bytes, since the
// letters of other scripts take more of them and more tokens, too.
const bytesPerToken = 3

// fit lays out a mind within a number of bytes. What is too much is left out in
// this order: buffers, the largest first; of the monologue, the notes and the
// chat what is oldest, of the chat all but one exchange; then the longest of
// what else has no bound. The system prompt and the pending lines stay whole,
// so that a very small limit is exceeded. It cuts in strides, of which the last
// takes more than it must: then what is left stays the same for some ticks.
func fit(m *Mind, limit int) View {
	v := layout(m)
	if v.bytes() <= limit {
		return v
	}
	less := *m
	less.Skills, less.Buffers = slices.Clone(m.Skills), slices.Clone(m.Buffers)
	less.Thoughts, less.Past = slices.Concat(m.thoughts()), slices.Concat(m.past())
	less.Notes = slices.Concat(m.notes())
	less.Inbox = append(slices.Clone(m.Inbox), tooLong)
	v = layout(&less)
	stride := max(1, limit/16)
	for _, cut := range []func(m *Mind, over int) bool{cutBuffers, dropThoughts, dropNotes, dropExchanges, cutRest} {
		for over := v.bytes() - limit; over > 0 && cut(&less, (over/stride+1)*stride); over = v.bytes() - limit {
			v = layout(&less)
		}
	}
	return v
}

const tooLong = "your prompt was too long for the model, and parts of it are left out: of buffers, then the oldest thoughts, notes and exchanges; fewer buffers and smaller depths make room"

// bytes is what a model is sent.
func (v View) bytes() int {
	n := len(v.System) + len(reply.Schema())
	for _, s := range v.Sections {
		n += len(s.Text)
	}
	return n
}

// The cuts take at least over bytes from a mind where there is so much. They
// report whether they took any.

func cutBuffers(m *Mind, over int) bool {
	var texts []*string
	for i := range m.Buffers {
		texts = append(texts, &m.Buffers[i].Text)
	}
	return shorten(texts, over)
}

func dropThoughts(m *Mind, over int) bool {
	n := oldest(m.Thoughts, over, func(t home.Thought) string { return thoughtText([]home.Thought{t}) })
	m.Thoughts = m.Thoughts[n:]
	return n > 0
}

func dropNotes(m *Mind, over int) bool {
	byTick := slices.Clone(m.Notes)
	slices.SortStableFunc(byTick, func(a, b home.Note) int { return cmp.Compare(a.Tick, b.Tick) })
	n := oldest(byTick, over, func(x home.Note) string { return noteText([]home.Note{x}) })
	m.Notes = slices.DeleteFunc(slices.Clone(m.Notes), func(x home.Note) bool { return slices.Contains(byTick[:n], x) })
	return n > 0
}

func dropExchanges(m *Mind, over int) bool {
	if len(m.Past) == 0 {
		return false
	}
	n := oldest(m.Past[:len(m.Past)-1], over, chatText)
	m.Past = m.Past[n:]
	return n > 0
}

func cutRest(m *Mind, over int) bool {
	e := &m.State.LastEval
	texts := []*string{&e.Form, &e.Result, &e.Error}
	for i := range m.Skills {
		texts = append(texts, &m.Skills[i].Body)
	}
	for i := range m.Past {
		texts = append(texts, &m.Past[i].Human, &m.Past[i].Agent)
	}
	return shorten(texts, over)
}

// oldest counts how many entries, oldest first, make up over bytes.
func oldest[T any](xs []T, over int, text func(T) string) int {
	for i, x := range xs {
		if over <= 0 {
			return i
		}
		over -= len(text(x))
	}
	return len(xs)
}

const trimmed = "\n[...trimmed to fit...]"

// shorten takes over bytes from the end of the longest text, or all that it has,
// and marks the place.
func shorten(texts []*string, over int) bool {
	longest := slices.MaxFunc(append(texts, new(string)), func(a, b *string) int { return cmp.Compare(spare(*a), spare(*b)) })
	n := spare(*longest)
	if n <= 0 {
		return false
	}
	keep := strings.TrimSuffix(*longest, trimmed)[:max(0, n-over)]
	*longest = strings.ToValidUTF8(keep, "") + trimmed
	return true
}

// spare is how many bytes of a text can be taken.
func spare(text string) int {
	if body, marked := strings.CutSuffix(text, trimmed); marked {
		return len(body)
	}
	return len(text) - len(trimmed)
}
