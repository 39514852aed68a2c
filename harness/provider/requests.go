package provider

import (
	"cmp"
	"regexp"
	"strings"
)

// request is something that the offline responder can be asked, in any of some
// wordings. The first request that fits a line counts.
type request struct {
	wordings []*regexp.Regexp
	act      func(s scene, line string, words []string) act
}

// asked compiles wordings: letter case, politeness and closing marks do not count.
func asked(wordings ...string) []*regexp.Regexp {
	var out []*regexp.Regexp
	for _, w := range wordings {
		out = append(out, regexp.MustCompile(`(?is)^(?:(?:please|amacs|ok|okay|now|can you|could you|would you|will you)[,:]?\s+)*(?:`+w+`)(?:,?\s+please)?[\s?!.]*$`))
	}
	return out
}

var aboutWordings = asked(
	`what (?:do|did|have) (?:you|we|i) (?:know|say|said|talk(?:ed)?|learn(?:ed|t)?|writ(?:e|ten)|noted?|remember|discuss(?:ed)?)(?: down)?(?: about| of| on| regarding)? (.+?)`,
	`(?:do|did|have) (?:you|we|i) (?:know|remember|recall|talk(?:ed)?|heard?)(?: anything| something)?(?: about| of)? (.+?)`,
	`(?:search|look)(?: the history| my notes)? for (.+?)`,
	`(?:find|search|tell me about|what about) (.+?)`)

// asksAbout reports whether a text is a question of that kind itself.
func asksAbout(text string) bool {
	for _, w := range aboutWordings {
		if w.MatchString(text) {
			return true
		}
	}
	return false
}

// path is what looks like one: quoted, or with a slash or an extension.
const path = `("[^"]+"|'[^']+'|[~./]\S*?|\S+/\S*?|\S+\.\w+?)`

var requests = []request{
	{asked(`help(?: me)?|\?|commands`,
		`what (?:can|do|should) (?:you|i|we) (?:do|type|say|ask)(?: here)?`,
		`(?:what|who) are you`, `how (?:does|do) (?:this|you|it) work`),
		func(scene, string, []string) act {
			return act{thought: "Explained what I can do.", say: helpText, whole: true}
		}},
	{asked(`(?:hello|hi|hey|hiya|greetings|good (?:morning|afternoon|evening|day))(?:[, ]+(?:there|amacs|again|you|everyone))*`),
		func(s scene, _ string, _ []string) act {
			if s.met {
				return act{thought: "Said hello.", say: "Hello. Still the offline responder, no language model is connected; type help for what I can do."}
			}
			return act{thought: "Said hello and who I am.", say: "Hello. " + introduction, whole: true}
		}},
	{asked(`(?:(?:list|show)(?: me)? )?(?:all |the |my |your |our |open )*threads`,
		`(?:what|which) threads (?:are|do|have)\b.*`, `what (?:are|am) (?:you|we|i) working on`),
		func(s scene, _ string, _ []string) act {
			return act{thought: "Listed the threads.", say: s.threadList()}
		}},
	{asked(`(?:(?:list|show|read)(?: me)? )?(?:all |the |my |your )*notes`,
		`what (?:did|have) (?:i|you|we) noted?(?: down)?(?: so far)?`,
		`what notes (?:are there|do (?:you|i|we) have)`),
		func(scene, string, []string) act {
			return act{thought: "Listed the notes.", eval: "(agent-list-notes)", report: noteList}
		}},
	{asked(`(?:read|show|open)(?: me)? (?:the |my )?note (?:on |about |called )?(.+?)`),
		func(_ scene, _ string, w []string) act {
			return act{thought: "Read the note " + w[1] + ".", eval: "(agent-read-note " + lisp(w[1]) + ")", report: words}
		}},
	{asked(`(?:make |take |add |write )?(?:a )?note (?:on|about|under) ([^:\n]{1,60}?)\s*:\s*(.+)`),
		func(_ scene, _ string, w []string) act { return keep(title(w[1]), w[2]) }},
	{asked(`(?:make |take |add |write )?(?:a )?note(?: that| to self| down)?(?:\s*:\s*|,?\s+)(.+)`,
		`remember(?: that| this)?(?:\s*:\s*|,?\s+)(.+)`),
		func(_ scene, _ string, w []string) act { return keep(title(w[1]), w[1]) }},
	{asked(`(?:start|create|open|begin|make|add)(?: a| an| another| the)?(?: new)? thread(?: (?:on|about|for|called|named|to))?\s*:?\s+(.+?)`,
		`new thread(?: (?:on|about|for|called|named|to))?\s*:?\s+(.+?)`),
		func(_ scene, _ string, w []string) act { return openThread(w[1]) }},
	{asked(`(?:switch|change|go|jump|return|move)(?: back| over)? to (?:the )?(?:thread )?(.+?)(?: thread)?`,
		`(?:resume|focus on|continue with|back to) (?:the )?(?:thread )?(.+?)(?: thread)?`),
		func(s scene, _ string, w []string) act {
			id := s.resolve(w[1])
			return act{thought: "Switched to " + id + ".", eval: "(agent-switch-thread " + lisp(id) + ")",
				report: func(string) string { return "Done: " + id + " is the active thread." }}
		}},
	{asked(`(?:(?:i|we)(?:['’]m|['’]re| am| are)? )?(?:all )?(?:done|finished|ready|through) with ([^:;\n]+?)(?:\s*[:;]\s*(.+))?`,
		`(?:complete|finish|close) ([^:;\n]+?)(?:\s*[:;]\s*(.+))?`),
		scene.complete},
	{asked(`(?:(?:show|read)(?: me)? )?(?:the |your |my )*(?:log|history)`,
		`what (?:did|have) (?:you|we) (?:do|done|been doing|been up to)(?: last| lately| recently| so far| before| today)*`,
		`(?:(?:show|list)(?: me)? )?(?:the )?(?:last|latest) ticks`),
		func(scene, string, []string) act {
			return act{thought: "Looked at the latest ticks.", eval: "(agent-log :last 10)", report: logList}
		}},
	{asked(`how are you(?: doing| feeling| today)*|how do you feel|how(?: is|['’]s) it going`,
		`(?:show |your )?status|what(?: is|['’]s) your (?:mood|status)`),
		func(s scene, _ string, _ []string) act {
			return act{thought: "Said how things stand.", say: s.status()}
		}},
	{asked(`(?:set|change) (?:your |the |my )?mood(?:\s*[:=]\s*|\s+to\s+|\s+)(.+?)`, `mood\s*[:=]\s*(.+?)`),
		func(_ scene, _ string, w []string) act {
			mood := clip(strings.Trim(w[1], `"'“”`))
			if mood == "" {
				return act{thought: "Was given an empty mood.", say: "Which mood? For example: set mood curious"}
			}
			return act{thought: "Set the mood to " + mood + ".", say: "My mood is now " + mood + ".",
				eval: "(agent-set 'mood " + lisp(mood) + ")", mood: mood}
		}},
	{asked(`add (?:the |a )?(?:buffer|file|folder|directory) (.+?)`,
		`add `+path+` (?:to (?:the |this |my )?(?:buffers|thread|context)|as (?:a )?buffer)`,
		`(?:show(?: me)?|look at|open|watch|read) (?:the )?(?:buffer |file |folder )?`+path),
		func(s scene, _ string, w []string) act { return s.addBuffer(strings.Trim(w[1], `"'`)) }},
	{aboutWordings, func(_ scene, _ string, w []string) act {
		return act{thought: lookedText + w[1] + ".", eval: "(agent-search-history " + lisp(w[1]) + " :last 12)",
			report: func(result string) string { return findings(w[1], result) }}
	}},
}

// understand finds what a line asks for.
func (s scene) understand(text string) act {
	text = strings.TrimSpace(text)
	for _, r := range requests {
		for _, w := range r.wordings {
			if m := w.FindStringSubmatch(text); m != nil {
				return r.act(s, text, m)
			}
		}
	}
	return act{thought: "Could not answer without a language model: " + text, lost: true,
		say: "I can not answer that: no language model is connected, and it is none of the requests that I know. Your line is kept in the conversation. Type help for what I can do."}
}

// keep writes a note.
func keep(heading, text string) act {
	return act{thought: "Noted: " + heading + ".", say: "Noted in the scratchpad, under “" + heading + "”.",
		eval: "(agent-add-note " + lisp(heading) + " " + lisp(strings.TrimSpace(text)) + ")"}
}

func openThread(concern string) act {
	id := slug(concern)
	return act{thought: "Started the thread " + id + ".",
		eval: "(progn (agent-create-thread " + lisp(id) + " :concern " + lisp(strings.Join(strings.Fields(concern), " ")) + ") (agent-switch-thread " + lisp(id) + "))",
		report: func(string) string {
			return "Done: the thread " + id + " is open, and the active one. When it is finished: done with " + id + ": how you know it"
		}}
}

var lesson = regexp.MustCompile(`(?is)^(.*?)[\s;,.]*\b(?:(?:i|we) )?learn(?:ed|t)(?::| that)?\s+(.+)$`)

// complete closes the thread that is named, or the active one if it is "this".
func (s scene) complete(said string, w []string) act {
	name := strings.TrimSpace(w[1])
	id := ""
	switch strings.ToLower(name) {
	case "this", "it", "that", "this thread", "that thread", "the thread":
		id = s.active
	default:
		name = strings.TrimPrefix(strings.TrimPrefix(name, "the "), "thread ")
		id = s.resolve(strings.TrimSuffix(name, " thread"))
	}
	evidence, learned := strings.TrimSpace(w[2]), ""
	if m := lesson.FindStringSubmatch(evidence); m != nil {
		evidence, learned = m[1], m[2]
	}
	if evidence == "" {
		evidence = "the human said: " + said
	}
	const begins = "(agent-complete-thread "
	done := act{thought: "Completed " + cmp.Or(id, "the active thread") + ".", begins: begins,
		eval:   begins + lisp(id) + " :evidence " + lisp(evidence) + " :learned " + lisp(learned) + ")",
		report: func(result string) string { return "Done: " + words(result) + "." }}
	if id == "" && !s.ran(done, s.lines[len(s.lines)-1]) { // once it is done, none is active
		return act{thought: "No thread is active to complete.", say: "No thread is active. " + s.threadList()}
	}
	return done
}

func (s scene) addBuffer(path string) act {
	if s.active == "" {
		return act{thought: "No thread is active to show " + path + " in.",
			say: "No thread is active, and a buffer is shown as part of one. " + s.threadList()}
	}
	return act{thought: "Added the buffer " + path + ".",
		eval: "(agent-thread-add-buffer " + lisp(s.active) + " " + lisp(path) + ")",
		report: func(result string) string {
			return "Done: " + words(result) + " is shown to the agent while " + s.active + " is active."
		}}
}
