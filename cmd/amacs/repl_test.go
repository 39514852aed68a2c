package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFirstStart(t *testing.T) {
	t.Parallel()
	for columns, want := range map[int]string{
		80: `made a new home in HOME
amacs development in HOME, answered by offline; /help lists the
commands
amacs> hello

Hello. I am the offline responder built into amacs: no language model is
connected, I only know a dozen plain requests. Three that work:
  note: buy milk
  start a thread on the parser
  what do you know about milk
Type help for the others.

amacs>`,
		40: `made a new home in HOME
amacs development in
HOME, answered by
offline; /help lists the commands
amacs> hello

Hello. I am the offline responder built
into amacs: no language model is
connected, I only know a dozen plain
requests. Three that work:
  note: buy milk
  start a thread on the parser
  what do you know about milk
Type help for the others.

amacs>`,
	} {
		s := newScreen(t, columns, 24)
		s.open("--provider", "offline") // nobody is asked who shall answer
		s.enter("hello")
		s.see(`others\.\n\namacs> $`)
		if got := strings.ReplaceAll(s.all(), s.dir, "HOME"); got != want {
			t.Errorf("%d columns:\n%s\nwant\n%s", columns, got, want)
		}
		s.keys("C-d")
		s.see(`exit 0$`)
		s.settled(0)
	}
}

func TestTypedDuringTick(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80, 40)
	s.open(s.script(slow(400, begun+"to one", "\"}"), said("to both others"), hangs(begun+"never"))...)
	s.enter("one")
	s.see(`to one\namacs \(thinking \d+s\)> $|thinking`)
	for _, line := range []string{"two", "three"} {
		s.enter(line)
		s.await("the inbox", func() bool { return s.inbox(line) })
		s.see(line + `\n\(kept; it is heard when this tick has ended\)`)
	}
	s.see(`to both others\n\namacs> $`)
	s.settled(0)
	s.once("one", "two", "three")
	for _, e := range s.chat() {
		if e.Pending() {
			t.Errorf("%q is pending", e.Human)
		}
	}
	s.shows(1, "to both others")

	s.enter("four")
	s.see(`never\namacs \(thinking 1s\)> $`)
	for _, line := range []string{"five", "six"} {
		s.enter(line)
		s.await("the inbox", func() bool { return s.inbox(line) })
	}
	if err := syscall.Kill(s.pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.see(`exit 137$`)
	s.once("four", "five", "six")
	s.open(s.script(said("to all four"))...)
	s.see(`2 lines of an earlier run not answered yet; the next tick hears all of them\n`)
	s.shows(1, "tick 4 was interrupted")
	s.enter("/retry")
	s.see(`to all four\n\namacs> $`)
	s.once("four", "five", "six")
	s.settled(0)
}

func TestInterrupts(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80, 40)
	half := hangs(begun + "the first half")
	s.open(s.script(half, half, half, hangs(begun+"and"), slow(600, begun+"an end", "\"}"))...)
	fastest := time.Hour
	for i := range 3 {
		s.enter("one")
		s.see(`the first half\namacs \(thinking`)
		began := time.Now()
		s.keys("C-c")
		s.see(fmt.Sprintf(`the first half\n\n\(interrupted, tick %d\)\namacs> $`, i+1))
		fastest = min(fastest, time.Since(began))
	}
	if fastest > 200*time.Millisecond {
		t.Errorf("the prompt was back after %v", fastest)
	}
	contains(t, "the commit", s.git("log", "-1", "--format=%B"), "Outcome: interrupted", "interrupted by the human")
	contains(t, "the chat", s.read("agent-chat.org"), ":OUTCOME: interrupted\n:END:\nthe first half\n")
	s.settled(0)

	s.typed("half a line")
	s.keys("C-c")
	s.see(`amacs> half a line\^C\namacs> $`)
	s.keys("C-c", "C-c")
	s.see(`(\(Ctrl-D or /quit leaves\)\n){2}amacs> $`)

	s.enter("two") // what is typed while a tick runs survives its end
	s.see(`\nand\namacs \(thinking`)
	s.typed("typed")
	s.keys("C-c")
	s.see(`\(interrupted, tick 4\)\namacs> typed$`)
	s.keys("C-c")

	s.enter("three")
	s.see(`an end`)
	s.keys("C-d")
	s.see(`\(leaving when this tick has ended; Ctrl-C ends it now\)`)
	s.see(`exit 0$`)
	s.shows(1, "an end")
	s.settled(0)

	s.open(s.script(hangs(begun + "more"))...)
	s.enter("four")
	s.see(`more\namacs \(thinking`)
	s.enter("/quit")
	s.see(`\(interrupted, tick 6\)\n(.*\n)*exit 0$`)
	s.settled(0)
}

func TestStreams(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80, 45)
	s.open(s.script(
		slow(300, begun, "begins ", "and goes on ", "to its end\"}"),
		slow(50, `{"mood":"calm","reply":"too early"}`), said("the final text"),
		slow(50, `{"reply":"one ","mood":"calm","confidence":0.5,"monologue":"m","reply":"another"}`),
		slow(0, "no JSON at all"), slow(0, "nor this"), slow(0, "nor that \x1b[31m!"),
		`{"error":"the line is dead","class":"permanent","text":"{\"reply\":\"cut o"}`,
	)...)
	s.enter("one")
	s.see(`begins and\namacs \(thinking \ds\)> $|begins and goes on\namacs`)
	s.see(`amacs> one\n\nbegins and goes on to its end\n\namacs> $`)
	s.enter("two")
	s.see(`(?m)^too early\n\n\(withdrawn\)\n\(not valid JSON: .*; asking again 1/2\)\n\nthe final text\n\namacs> $`)
	s.enter("three")
	s.see(`one\n\n\(withdrawn\)\n\nanother\n\namacs> $`)
	s.enter("four")
	s.see(`asking again 1/2\)\n.*asking again 2/2\)\n.*gave up after 2 retries\)\ntick 4: the reply could not be read; it is kept in agent-chat.org, and your line\nwaits:\nnor that ␛\[31m!\namacs> $`)
	s.enter("five")
	s.see(`(?s)cut o\n\n\(withdrawn\)\n.*tick 5: no reply: provider script: asking: the line is dead\n  your line is kept; it is answered with your next one, or by /retry\namacs> $`)
	s.settled(0)
}

func TestSilentAndContinued(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80, 45)
	s.must("", "init")
	s.must("", "depth", "continue", "2")
	on := map[string]any{"continue": true}
	s.open(s.script(object(map[string]any{"eval": `(message "counting %d\x1b[2J" 3)`}), said("there"),
		object(on), object(on), object(on))...)
	s.enter("one")
	s.see(`amacs> one\n(counting 3.*\n)· tick 1, no reply yet\namacs> $`)
	s.enter("two")
	s.see(`there\n\namacs> $`)
	s.enter("three")
	s.see(`three\n· tick 3: a thought\n· tick 4: a thought\n· tick 5, no reply yet\nstopped after 2 ticks in a row \(autonomous-tick-limit\); say something to go on\n· 3 ticks in \d+s\namacs> $`)
	s.settled(0)
}

func TestMessages(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80, 30)
	replies := make([]string, 20)
	for i := range replies {
		replies[i] = said(fmt.Sprintf("answer %d", i+1))
	}
	flags := s.script(replies...)
	s.open(flags...)
	forty := "/log is what I pasted:\n" + strings.Repeat("* größe\t漢字 \"\"\" \\\n", 38) + ":END:"
	n := 0
	answered := func(want string) {
		t.Helper()
		n++
		s.see(fmt.Sprintf(`\nanswer %d\n\namacs> $`, n))
		s.heardExactly(want)
	}
	s.paste(forty)
	s.see(`amacs> \[paste #1, 40 lines\]$`)
	s.keys("Enter")
	answered(forty)
	s.enter(`"""`)
	s.enter(`/status`)
	s.enter(`  two`)
	s.enter(`"""`)
	answered("/status\n  two")
	s.enter(`one \`)
	s.enter(`/two`)
	answered("one \n/two")
	s.enter("漢字 " + strings.Repeat("ü", 90))
	answered("漢字 " + strings.Repeat("ü", 90))
	s.enter("/usr/bin/x is broken")
	answered("/usr/bin/x is broken")
	s.enter(" /help me")
	answered(" /help me")
	s.enter("   ")
	s.keys("C-d")
	s.see(`exit 0$`)

	n = 0
	s.open(flags...)
	s.keys("Up", "Up", "Up", "Up")
	s.see(`amacs> one ?\n\.\.\.> /two$`)
	s.keys("Enter")
	answered("one \n/two")
	s.keys("C-r")
	s.typed("/status")
	s.see(`\(search '/status'\)> /status\n\.\.\.>   two$`)
	s.keys("Enter")
	answered("/status\n  two")
	s.settled(0)
}

func TestResizeDuringStream(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 70, 30)
	var pieces []string
	for i := range 40 {
		pieces = append(pieces, fmt.Sprintf("word%d 漢字 ", i))
	}
	s.open(s.script(slow(40, append(append([]string{begun}, pieces...), "\"}")...))...)
	for range 30 { // near the top of the screen tmux pushes what it breaks out of sight
		s.keys("Enter")
	}
	s.enter("go")
	for _, columns := range []string{"50", "90", "64"} {
		s.see(`word\d`)
		s.tmux("resize-window", "-t", s.pane, "-x", columns)
		time.Sleep(200 * time.Millisecond)
	}
	s.see(`word39 漢字\n\namacs> $`)
	// tmux tells of a new size up to 250 ms late: what is drawn meanwhile may leave
	// a row behind. What came after is whole, and no prompt is left.
	words := strings.Join(strings.Fields(s.all()), " ")
	contains(t, "the screen", words, strings.TrimSpace(strings.Join(pieces[34:], "")))
	s.shows(0, "thinking")
}

// verbs are commands and what they say.
var verbs = map[string]string{
	"/statsu":                 `no command /statsu; did you mean /status\? \(to say it to the agent, begin the line with a space\)`,
	"/help log":               `Lists ticks, newest first`,
	"/help":                   `/retry \(ask again`,
	"/log --tick 1":           `\[TICK 1\]\[no-thread\]\[calm\] a thought`,
	"/log -n x":               `invalid argument "x"`,
	"/log --nope":             `unknown flag: --nope`,
	"/notes 'it":              `/notes: Unterminated single-quoted string`,
	"/mood":                   `calm \(confidence 0\.70\)`,
	"/context":                `characters, \d+% of them in the stable part`,
	"/depth chat 7":           `chat +7 +chat-context-depth`,
	"/buffers":                `the active thread has no buffers`,
	"/config color":           `color +auto`,
	"/version":                `amacs development`,
	"/doctor":                 `ok +home`,
	"/status":                 `threads +none open`,
	"/retry":                  `no line waits for an answer`,
	"/ask x":                  `just type it`,
	"/restore scratchpad.org": `nothing is missing from scratchpad\.org`,
	"/thread done nope":       `completing thread: no `,
	"/home":                   `no command /home`,
}

func TestCommands(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 100, 50)
	s.must("", append(s.script(said("first")), "ask", "one")...)
	s.open(s.script(said("done"))...)
	for line, want := range verbs {
		s.keys("C-l")
		s.enter(line)
		s.see(regexp.QuoteMeta(line) + `\n(.*\n)*?.*` + want)
		s.see(`amacs> $`)
	}
	s.enter("/quit")
	s.see(`exit 0$`)
	s.settled(0)
}

func TestCompletionAndPager(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 100, 50)
	s.must("", "init")
	s.must("", "thread", "new", "rust-debugging", "the", "borrow", "checker")
	s.must("", "thread", "new", "parser", "grammar")
	if err := os.MkdirAll(s.path("skills/searching"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.write("skills/searching/SKILL.md", "---\nname: searching\ndescription: How to search\n---\n"+strings.Repeat("a long skill\n", 60))
	s.write("../long", strings.Repeat("a long buffer\n", 60))
	s.tool("PAGER", "echo PAGED; head -n 2; read x </dev/tty; echo over")
	s.open(s.script(said("done"))...)

	s.typed("/thr")
	s.keys("Tab")
	s.see(`amacs> /thread$`)
	s.typed(" sw")
	s.keys("Tab", "Tab")
	s.see(`parser  rust-debugging|rust-debugging  parser`)
	s.typed("r")
	s.keys("Tab", "Enter")
	s.see(`\n\* rust-debugging  the borrow checker\n`)
	s.typed("/skills ")
	s.keys("Tab")
	s.see(`amacs> /skills searching $`)
	s.keys("Enter")
	s.see(`PAGED\na long skill\na long skill$`)
	s.keys("Enter")
	s.see(`over\namacs> $`)
	s.enter("/thread add rust-debugging " + s.path("../long"))
	s.see(`buffers: /`)
	s.enter("/buffers 1")
	s.see(`PAGED\n=== /.*/long .*\na long buffer$`)
	s.keys("Enter")
	s.see(`over\namacs> $`)
	s.enter("/buffers")
	s.see(`\n1  /.*/long \(.*, \d+ characters\)\namacs> $`)
}

func TestCommandsDuringTick(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 100, 50)
	s.tool("EDITOR", `echo EDITING; stty -a | grep -o -- '-*icanon'; read x; echo "$x" >>"$1"`)
	s.open(s.script(hangs(begun + "busy"))...)
	s.enter("what")
	s.see(`busy\namacs \(thinking`)
	s.enter("/mood")
	s.see(`\(confidence 0\.\d+\)\n(.*\n)*busy\namacs \(thinking \ds\)> $`)
	s.enter("/edit")
	s.see(`EDITING\nicanon$`)
	s.enter("written by hand")
	s.see(`busy\namacs \(thinking \ds\)> $`)
	s.enter("/thread new third something")
	s.see(`\n\* third  something\n`)
	s.enter("/nonsense")
	s.see(`no command /nonsense`)
	s.keys("C-c")
	s.see(`\(interrupted, tick 1\)\n(.*\n)*amacs> $`)
	contains(t, "the scratchpad", s.read("scratchpad.org"), "written by hand\n")
	s.enter("/quit")
	s.see(`exit 0$`)
	s.settled(1)
}

func TestTwoPrompts(t *testing.T) {
	t.Parallel()
	s := newScreen(t, 80, 24)
	s.open(s.script(slow(600, begun+"to the first", "\"}"))...)
	first := s.pane
	s.open(s.script(said("to the second"), said("again"))...)
	second := s.pane
	s.pane = first
	s.enter("one")
	s.see(`to the first`)
	s.pane = second
	s.enter("two")
	s.see(`waiting for the tick of process \d+; your line is kept\n`)
	s.enter("/thread new x y")
	s.see(`\* x  y\n`)
	s.see(`to the second\n\namacs> $`)
	s.enter("three")
	s.see(`again\n\namacs> $`)
	s.shows(0, "to the first")
	s.pane = first
	s.see(`to the first\n\namacs> $`)
	s.shows(0, "to the second")
	s.enter("/log")
	s.see(`\[TICK 3\].*\n.*\[TICK 2\].*\n.*\[TICK 1\]`)
	s.once("one", "two", "three")
	s.settled(0)

	// Ctrl-C ends the waiting, and the line waits on.
	s.enter("/quit")
	s.see(`exit 0$`)
	s.open(s.script(hangs(begun + "slow"))...)
	s.enter("four")
	s.see(`slow\namacs \(thinking`)
	s.pane = second
	s.enter("five")
	s.see(`\namacs \(waiting \ds\)> $`)
	s.keys("C-c")
	s.see(`\(interrupted; your line is kept, the next tick hears it\)\namacs> $`)
	s.once("five")
}

func TestTerminated(t *testing.T) {
	t.Parallel()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		s := newScreen(t, 80, 24)
		s.sh(`stty -a >before; amacs "$@"; echo "exit $?"; stty -a >after; cmp before after && echo same modes; sleep 1000`, append([]string{"sh"}, s.script(hangs(begun+"half"))...)...)
		s.see(`amacs> $`)
		s.enter("one")
		s.see(`half\namacs \(thinking`)
		if err := syscall.Kill(s.pid(), signal); err != nil {
			t.Fatal(err)
		}
		s.see(`\(interrupted, tick 1\)\n(.*\n)*exit 130\nsame modes$`)
		s.settled(0)
		contains(t, "the chat", s.read("agent-chat.org"), "\nhalf\n")
	}
}
