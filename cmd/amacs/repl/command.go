package repl

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"amacs/cmd/amacs/repl/console"
	"amacs/harness/nearest"
)

// own are the commands that only the prompt has.
var own = []string{"help", "quit", "retry"}

// command tells commands from what is said: a path such as /usr/bin is said,
// and so is a paste.
func (r *repl) command(l console.Line) (words []string, ok bool) {
	text, slash := strings.CutPrefix(l.Text, "/")
	name, _, _ := strings.Cut(text, " ")
	if l.Pasted || !slash || name == "" || strings.ContainsAny(name, "/\n") || strings.Contains(text, "\n") {
		return nil, false
	}
	words, err := shellquote.Split(text)
	if err != nil {
		r.say(fmt.Sprintf("/%s: %v; put a text with quotes in it into \"…\"", name, err))
		return nil, true
	}
	return words, true
}

func (r *repl) run(ctx context.Context, words []string) {
	if len(words) == 0 {
		return
	}
	switch name := words[0]; {
	case slices.Contains([]string{"quit", "exit", "q"}, name):
		r.ending = true
		if r.cancel != nil {
			r.cancel()
		}
	case len(words) == 1 && (name == "help" || name == "?"):
		r.con.Print(help)
	case len(words) == 1 && name == "keep" && r.unsaid != "":
		r.keep(ctx)
	case name == "retry":
		r.retry(ctx)
	case !slices.Contains(r.Commands, name):
		hint := "/help lists the commands"
		if near := nearest.Names(name, r.names(), 1); len(near) > 0 {
			hint = "did you mean /" + near[0] + "?"
		}
		r.say(fmt.Sprintf("no command /%s; %s (to say it to the agent, begin the line with a space)", name, hint))
	default:
		r.execute(ctx, words)
	}
}

// retry runs a tick for the lines that wait.
func (r *repl) retry(ctx context.Context) {
	if r.cancel != nil {
		r.say("a tick runs already")
		return
	}
	m, err := r.Harness.Peek(ctx, r.Cwd)
	if err != nil {
		r.say(err.Error())
		return
	}
	if waiting, err := r.Harness.Waiting(); err == nil && waiting+len(m.Pending) == 0 {
		r.say("no line waits for an answer")
		return
	}
	r.tick(ctx, "")
}

// execute runs a command of amacs. Ctrl-C ends it; what else is typed meanwhile
// waits, since it may mean what the command changes.
func (r *repl) execute(ctx context.Context, words []string) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		text, err := r.Execute(ctx, words, r.con.Suspend)
		r.con.Print(console.Clean(text))
		if err != nil {
			r.say(err.Error())
		}
	}()
	for {
		select {
		case <-done:
			return
		case e := <-r.con.Events():
			if i, ok := e.(console.Interrupt); ok && i.Text == "" {
				stop()
			} else {
				r.later = append(r.later, e)
			}
		}
	}
}

func (r *repl) names() []string {
	all := append(slices.Clone(own), r.Commands...)
	slices.Sort(all)
	return slices.Compact(all)
}

// complete gives commands after a slash at the start, and after a command what
// may follow it.
func (r *repl) complete(line string, pos int) (out []string) {
	head, slash := strings.CutPrefix(line[:pos], "/")
	if !slash {
		return nil
	}
	words := strings.Split(head, " ")
	word, before := words[len(words)-1], words[:len(words)-1]
	if len(before) == 0 {
		for _, n := range r.names() {
			if strings.HasPrefix(n, word) {
				out = append(out, "/"+n)
			}
		}
		return out
	}
	for _, w := range r.Words(slices.DeleteFunc(before, func(s string) bool { return s == "" })) {
		if strings.HasPrefix(w, word) {
			out = append(out, w)
		}
	}
	return out
}
