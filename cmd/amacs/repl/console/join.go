package console

import "strings"

const quotes = `"""`

// joiner makes messages of lines. A line that ends in an odd number of
// backslashes goes on in the next one; a line that begins with """ opens a
// block, in which a backslash is nothing special, and the next one that ends
// with """ closes it. The lines of a message are joined by newlines.
type joiner struct {
	typed []string // the open message as it was typed
	parts []string // the open message without its syntax
	block bool
}

// add takes a line and returns the message that it completes, if it does.
func (j *joiner) add(line string) (message string, done bool) {
	if len(j.typed) == 0 {
		if after, ok := strings.CutPrefix(line, quotes); ok {
			return j.open(line, after)
		}
	}
	j.typed = append(j.typed, line)
	if j.block {
		before, closed := strings.CutSuffix(strings.TrimRight(line, " \t"), quotes)
		if !closed {
			j.parts = append(j.parts, line)
			return "", false
		}
		return j.finish(before), true
	}
	if (len(line)-len(strings.TrimRight(line, `\`)))%2 == 1 {
		j.parts = append(j.parts, line[:len(line)-1])
		return "", false
	}
	j.parts = append(j.parts, line)
	return j.finish(""), true
}

func (j *joiner) open(line, after string) (string, bool) {
	if inner, ok := strings.CutSuffix(strings.TrimRight(after, " \t"), quotes); ok {
		return inner, true
	}
	j.typed, j.block = []string{line}, true
	if after != "" {
		j.parts = []string{after}
	}
	return "", false
}

func (j *joiner) finish(last string) string {
	if last != "" {
		j.parts = append(j.parts, last)
	}
	message := strings.Join(j.parts, "\n")
	*j = joiner{}
	return message
}

// isOpen reports whether a message has begun and not ended.
func (j *joiner) isOpen() bool { return len(j.typed) > 0 }

// abandon forgets the open message and returns it as it was typed.
func (j *joiner) abandon() string {
	text := strings.Join(j.typed, "\n")
	*j = joiner{}
	return text
}
