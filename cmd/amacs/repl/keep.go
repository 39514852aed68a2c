package repl

import (
	"context"
	"fmt"
	"strings"

	"amacs/harness"
)

// warn says of each secret in a line, once, that it is not stored.
func (r *repl) warn(text string) {
	found := r.Harness.Secrets(text)
	if len(found) == 0 {
		return
	}
	r.unsaid = text
	var news []harness.Secret
	for _, s := range found {
		if !r.warned[s.ID] {
			r.warned[s.ID] = true
			news = append(news, s)
		}
	}
	if len(news) > 0 {
		r.voice.notice(TakenOut(news, r.con.Interactive()))
	}
}

// TakenOut says that secrets of a line are not stored, and how they would be:
// at a prompt, or else by a command.
func TakenOut(list []harness.Secret, prompt bool) string {
	kinds, ids := make([]string, len(list)), make([]string, len(list))
	for i, s := range list {
		kinds[i], ids[i] = s.Article(), s.ID
	}
	do := "/keep says it as it was"
	if !prompt {
		do = "`amacs keep " + strings.Join(ids, " ") + "` stores it from now on"
	}
	last := len(kinds) - 1
	what, was := kinds[last], "was"
	if last > 0 {
		what, was = strings.Join(kinds[:last], ", ")+" and "+what, "were"
	}
	return fmt.Sprintf("(%s %s taken out of your line before it was stored; %s)", what, was, do)
}

// keep says the last line that secrets were taken out of again, as it was, and
// keeps them from now on.
func (r *repl) keep(ctx context.Context) {
	text := r.unsaid
	if err := r.Harness.Keep(ctx, r.Harness.Secrets(text)...); err != nil {
		r.say(err.Error())
		return
	}
	r.unsaid = ""
	r.hear(ctx, text)
}
