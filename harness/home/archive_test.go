package home

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// settled puts a draft's changes into its files, as a transaction does.
func settled(t testing.TB, m fstest.MapFS, d *Draft) {
	t.Helper()
	for _, path := range d.Changed() {
		if strings.HasPrefix(path, "archive/") && m[path] != nil {
			t.Fatalf("%s was rewritten", path)
		}
		m[path] = &fstest.MapFile{Data: d.files[path].now}
	}
}

// TestArchiveLosesNothing: 2,000 ticks with texts of all sizes. The files stay
// small, and segments and file together hold everything once and in order.
func TestArchiveLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := fstest.MapFS{}
	var said []string
	archived := 0
	for tick := 1; tick <= 2000; tick++ {
		d := NewDraft(m)
		size := []int{20, 200, 200, 200, 2000, 2000, 9000, 30000}[r.IntN(8)]
		if tick == 700 {
			size = 90 << 10
		}
		text := fmt.Sprintf("%d %s", tick, strings.Repeat("word ", r.IntN(size)/5))
		said = append(said, strings.TrimSpace(text))
		must(t, d.Say(Line{Tick: tick, At: noon, Text: said[tick-1]}), d.Answer(tick, noon, []int{tick}, "ok", ""),
			d.Think(Thought{tick, noon, "thought of " + fmt.Sprint(tick)}))
		settled(t, m, d)
		d = NewDraft(m)
		moved, err := d.Archive(8, 30)
		must(t, err)
		if moved != "" {
			archived++
		}
		settled(t, m, d)
		last := len(said[tick-1])
		if n := len(m[Chat].Data); n > fullSize && last < fullSize/2 {
			t.Fatalf("tick %d: the chat has %d bytes", tick, n)
		}
		if n := len(m[Monologue].Data); n > calmSize+200 {
			t.Fatalf("tick %d: the monologue has %d bytes", tick, n)
		}
		if tick%100 == 50 {
			es, err := NewDraft(m).Conversation(40)
			must(t, err)
			if len(es) < 40 || es[len(es)-40].Tick != tick-39 {
				t.Fatalf("tick %d: the last 40 begin at %d", tick, es[len(es)-40].Tick)
			}
		}
	}
	if archived > 250 {
		t.Errorf("%d archive commits in 2,000 ticks", archived)
	}
	es, err := NewDraft(m).Conversation(1 << 30)
	must(t, err)
	if len(es) != len(said) {
		t.Fatalf("%d exchanges of %d", len(es), len(said))
	}
	for i, e := range es {
		if e.Tick != i+1 || e.Human != said[i] || e.Agent != "ok" {
			t.Fatalf("exchange %d is %+v", i, e)
		}
	}
	ts, err := NewDraft(m).Monologue(1 << 30)
	must(t, err)
	if len(ts) != 2000 || !slices.IsSortedFunc(ts, func(a, b Thought) int { return a.Tick - b.Tick }) {
		t.Fatalf("%d thoughts", len(ts))
	}
	if ts, _ := NewDraft(m).Monologue(5); len(ts) > 700 {
		t.Errorf("5 thoughts were asked, %d read", len(ts))
	}
	for path, f := range m {
		if strings.HasPrefix(path, "archive/") && !strings.HasPrefix(string(f.Data), orgHead+"#+TITLE: ") {
			t.Errorf("%s begins %.60q", path, f.Data)
		}
	}
}

// conversation is a chat of n answered exchanges of about size bytes each.
func conversation(t testing.TB, from, n, size int) string {
	d := draft(nil)
	for tick := from; tick < from+n; tick++ {
		must(t, d.Say(Line{Tick: tick, At: noon, Text: strings.Repeat("x", size)}), d.Answer(tick, noon, []int{tick}, "ok", ""))
	}
	return d.text(t, Chat)
}

func TestArchiveLeavesWhatIsNotItsOwn(t *testing.T) {
	for name, crlf := range map[string]bool{"LF": false, "CRLF": true} {
		src := conversation(t, 1, 20, 2000)
		src = strings.Replace(src, "* Tick 2\n", "* Mine\nremark\n\n* Tick 2\n", 1)
		src = strings.Replace(src, "* Tick 3\n:PROPERTIES:\n", "* Tick 3\n:PROPERTIES:\n:MINE: yes\n", 1)
		src = strings.Replace(src, "** Agent\nok\n\n* Tick 6\n", "* Tick 6\n", 1) // 5 waits again
		if crlf {
			src = strings.ReplaceAll(src, "\n", "\r\n")
		}
		m := fstest.MapFS{Chat: {Data: []byte(src)}}
		d := NewDraft(m)
		moved, err := d.Archive(5, 5)
		must(t, err)
		if moved != "agent-chat.org, ticks 1 to 15" {
			t.Errorf("%s: moved %q", name, moved)
		}
		settled(t, m, d)
		left := string(m[Chat].Data)
		for _, stays := range []string{"* Mine", "remark", ":MINE: yes", "* Tick 5", "* Tick 16"} {
			if !strings.Contains(left, stays) {
				t.Errorf("%s: %q was moved", name, stays)
			}
		}
		// The last n go by tick, whatever stayed.
		es, err := NewDraft(m).Conversation(9)
		must(t, err)
		if len(es) != 20 || es[0].Tick != 1 || es[19].Tick != 20 {
			t.Errorf("%s: %d exchanges, %d to %d", name, len(es), es[0].Tick, es[len(es)-1].Tick)
		}
		if es, _ := NewDraft(m).Conversation(5); len(es) != 7 {
			t.Errorf("%s: 5 exchanges need no archive, %d were read", name, len(es))
		}
	}
}

func TestArchiveIsNotWrittenTwice(t *testing.T) {
	src := conversation(t, 1, 20, 2000)
	m := fstest.MapFS{Chat: {Data: []byte(src)}}
	d := NewDraft(m)
	_, err := d.Archive(5, 5)
	must(t, err)
	settled(t, m, d)
	// The same entries again, as after a revert of the chat: no second copy.
	m[Chat] = &fstest.MapFile{Data: []byte(src)}
	d = NewDraft(m)
	_, err = d.Archive(5, 5)
	must(t, err)
	settled(t, m, d)
	// Other entries of the same ticks: a segment beside.
	m[Chat] = &fstest.MapFile{Data: []byte(strings.ReplaceAll(src, "xx", "yy"))}
	d = NewDraft(m)
	_, err = d.Archive(5, 5)
	must(t, err)
	settled(t, m, d)
	names, err := fs.Glob(m, chatArchive+"/*")
	must(t, err)
	if len(names) != 2 || !strings.HasSuffix(names[0], "-2.org") {
		t.Errorf("segments %q", names)
	}
}

func TestArchiveBeyondFiveDigits(t *testing.T) {
	m := fstest.MapFS{Chat: {Data: []byte(conversation(t, 100_010, 2, 10))}}
	for _, from := range []int{99_980, 99_990, 100_000} {
		m[fmt.Sprintf("%s/%05d-%05d.org", chatArchive, from, from+9)] = &fstest.MapFile{Data: []byte(conversation(t, from, 10, 10))}
	}
	es, err := NewDraft(m).Conversation(5)
	must(t, err)
	if len(es) != 12 || es[0].Tick != 100_000 {
		t.Errorf("%d exchanges from %d", len(es), es[0].Tick)
	}
}

func TestOneHugeEntry(t *testing.T) {
	m := fstest.MapFS{Chat: {Data: []byte(conversation(t, 1, 1, 200_000))}}
	d := NewDraft(m)
	if moved, err := d.Archive(5, 5); err != nil || moved != "" {
		t.Errorf("the newest entry moved: %q, %v", moved, err)
	}
	must(t, d.Say(Line{Tick: 2, At: noon, Text: "x"}))
	if moved, err := d.Archive(5, 5); err != nil || moved != "agent-chat.org, ticks 1 to 1" {
		t.Errorf("moved %q, %v", moved, err)
	}
}

func TestRestore(t *testing.T) {
	chat := conversation(t, 1, 4, 10)
	mono := "# mine\n[2026-11-21 Sat 05:42][TICK 1] a\n[2026-11-21 Sat 05:42][TICK 2] b\n[2026-11-21 Sat 05:42][TICK 3] c\n"
	pad := "* human\nx\n\n* n\n:PROPERTIES:\n:THREAD: null\n:TICK: 4\n:END:\none\n\n* m\n:PROPERTIES:\n:TICK: 5\n:END:\ntwo\n\nthree\n"
	for _, tc := range []struct{ name, path, was, now, lost, want string }{
		{"nothing", Chat, chat, chat, "", chat},
		{"an exchange in the middle", Chat, chat, cut(chat, "* Tick 2", "* Tick 3"), "tick 2", chat},
		{"the last", Chat, chat, cut(chat, "\n* Tick 4", ""), "tick 4", chat},
		{"the reply only", Chat, chat, cut(chat, "\n** Agent\nok\n\n* Tick 3", "\n* Tick 3"), "the reply to tick 2", chat},
		{"an older line's answer", Chat, "* Tick 1\n:PROPERTIES:\n:REPLY_TICK: 2\n:END:\n\n** Human\na\n", "* Tick 1\n:PROPERTIES:\n:END:\n\n** Human\na\n",
			"the reply to tick 1", "* Tick 1\n:PROPERTIES:\n:REPLY_TICK: 2\n:END:\n\n** Human\na\n"},
		{"an edit of the hand is none", Chat, chat, strings.Replace(chat, "ok", "okay", 1), "", ""},
		{"a thought", Monologue, mono, cut(mono, "[2026-11-21 Sat 05:42][TICK 2]", "[2026-11-21 Sat 05:42][TICK 3]"), "the line of tick 2", mono},
		{"the last thought, no final newline", Monologue, mono, "# mine\n[2026-11-21 Sat 05:42][TICK 1] a\n[2026-11-21 Sat 05:42][TICK 2] b", "the line of tick 3", mono},
		{"all thoughts, CRLF", Monologue, mono, "# mine\r\n", "the line of tick 1 the line of tick 2 the line of tick 3", strings.ReplaceAll(mono, "\n", "\r\n")},
		{"a note", Scratchpad, pad, cut(pad, "* n", "* m"), `the note "n" of tick 4`,
			cut(pad, "* n", "* m") + "\n* n\n:PROPERTIES:\n:THREAD: null\n:TICK: 4\n:END:\none\n"},
		{"what was added to a note", Scratchpad, pad, strings.Replace(strings.Replace(pad, "\n\nthree", "", 1), "TICK: 5", "TICK: 3", 1), `what tick 5 added to the note "m"`, pad},
		{"the human's own note", Scratchpad, pad, cut(pad, "* human", "* n"), "", ""},
	} {
		if got := strings.Join(Lost(tc.path, []byte(tc.was), []byte(tc.now)), " "); got != tc.lost {
			t.Errorf("%s: lost %q, want %q", tc.name, got, tc.lost)
		}
		d := draft(map[string]string{tc.path: tc.now})
		names, err := d.Restore(tc.path, []byte(tc.was))
		must(t, err)
		if strings.Join(names, " ") != tc.lost {
			t.Errorf("%s: restored %q", tc.name, names)
		}
		if got := d.text(t, tc.path); tc.want != "" && got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, got, tc.want)
		}
	}
	var now string
	if got := Lost(Chat, []byte(conversation(t, 1, 9, 9)), []byte(now)); len(got) != 5 || got[4] != "5 more" {
		t.Errorf("%q", got)
	}
}

// cut takes a text out from one mark to the next, "" for the end.
func cut(s, from, to string) string {
	i := strings.Index(s, from)
	if to == "" {
		return s[:i]
	}
	return s[:i] + s[i+strings.LastIndex(s[i:], to):]
}

func TestComplete(t *testing.T) {
	d := draft(map[string]string{Consciousness: `((open-threads . (((id . "a") (concern . "TODO [[x]] :tag:") (goal . "* g") (buffers "/x" "/y")))))`})
	must(t, d.Complete("a", ":END:\n* evidence", "", 9, time.Unix(0, 0)))
	want := orgHead + "\n* \u200bTODO"
	got := d.text(t, threadArchive)
	if strings.Contains(got, want) || !strings.Contains(got, ":STARTED_TICK: 0\n:COMPLETED_TICK: 9\n:COMPLETED_AT: 1970-01-01T00:00:00Z\n:END:\n\n** Goal\n,* g\n\n** Evidence\n#+begin_example\n") {
		t.Errorf("got\n%s", got)
	}
	d = draft(map[string]string{Consciousness: `((open-threads . (((id . "a") (concern . "c")))))`, threadArchive: "<<<<<<< HEAD\n"})
	if err := d.Complete("a", "seen", "", 9, noon); err == nil || len(d.Changed()) > 0 {
		t.Errorf("a damaged archive: %v, changed %q", err, d.Changed())
	}
}
