package home

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"amacs/consciousness"
	"amacs/org"
	"amacs/threads"
)

// token draws a key of GitHub's form: no secret stands in this repository.
func token(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 9))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := []byte("ghp_")
	for range 36 {
		b = append(b, alphabet[r.IntN(len(alphabet))])
	}
	return string(b)
}

const mark = "[redacted:github-token]"

const someState = `;; mine
((current-tick . 3)
 (mood . "calm")
 (open-threads . (((id . "rust") (concern . "borrows") (goal . "none")))))
`

// edits are ways to put a text into the home.
var guardEdits = map[string]func(d *Draft, text string) error{
	"say":      func(d *Draft, text string) error { return d.Say(Line{Tick: 9, Text: text}) },
	"answer":   func(d *Draft, text string) error { return d.Answer(9, noon, nil, text, "") },
	"unparsed": func(d *Draft, text string) error { return d.Unparsed(9, noon, 0, text) },
	"think":    func(d *Draft, text string) error { return d.Think(Thought{Tick: 9, Time: noon, Text: text}) },
	"note":     func(d *Draft, text string) error { return d.AddNote(Note{Heading: "h", Text: text}) },
	"heading":  func(d *Draft, text string) error { return d.AddNote(Note{Heading: text, Text: "x"}) },
	"mood": func(d *Draft, text string) error {
		return d.Mind(func(s *consciousness.State) error { s.Mood = text; return nil })
	},
	"eval": func(d *Draft, text string) error {
		return d.Mind(func(s *consciousness.State) error {
			s.LastEval = consciousness.LastEval{Tick: 9, Form: `(f "` + text + `")`, Error: text}
			return nil
		})
	},
	"learned": func(d *Draft, text string) error { return d.Complete("rust", text, text, 9, noon) },
	"file":    func(d *Draft, text string) error { return d.Put("skills/x/references/a.txt", []byte(text)) },
}

// carriers are texts around a secret, the last ones such as are written escaped.
var carriers = []string{"SECRET", "it is SECRET.", "* head\n:ID: SECRET\n#+begin_src\nSECRET", "a \"SECRET\" b\\n", "\x1b[31mSECRET\x1b[0m",
	"\xffSECRET\xfe", "my password: SECRET\n\\", "(setq token \"SECRET\")", "\\\"token\\\":\\\"SECRET\\\"", "{{{SECRET}}}\u202e"}

func TestStorageIsTheGate(t *testing.T) {
	t.Parallel()
	n := uint64(0)
	for name, edit := range guardEdits {
		for _, carrier := range carriers {
			n++
			secret := token(n)
			text := strings.ReplaceAll(carrier, "SECRET", secret)
			var twice [2]string
			for i := range twice {
				d := NewDraft(fstest.MapFS{Consciousness: {Data: []byte(someState)}})
				must(t, edit(d, text))
				for _, path := range d.Changed() {
					b, err := d.Bytes(path)
					must(t, err)
					twice[i] += path + "\n" + string(b)
					if strings.HasSuffix(path, ".org") && org.Damage(b) != nil {
						t.Errorf("%s of %q: %s is damaged:\n%s", name, carrier, path, b)
					}
				}
				if _, notes, err := d.State(); err != nil || len(notes) > 0 {
					t.Errorf("%s of %q: the state is damaged: %v %q\n%s", name, carrier, err, notes, twice[i])
				}
			}
			if strings.Contains(twice[0], secret[4:20]) || !strings.Contains(twice[0], "[redacted:") {
				t.Errorf("%s of %q is stored as\n%s", name, carrier, twice[0])
			}
			if twice[0] != twice[1] {
				t.Errorf("%s of %q twice gives\n%s\nand\n%s", name, carrier, twice[0], twice[1])
			}
		}
	}
}

// What stood in a file stays, and what is put beside it is looked at.
func TestOldSecretsStay(t *testing.T) {
	t.Parallel()
	old, fresh := token(1), token(2)
	was := "# mine\n* a note\nexport GITHUB_TOKEN=" + old + "\nand more\n"
	d := NewDraft(fstest.MapFS{Scratchpad: {Data: []byte(was)}})
	must(t, d.AddNote(Note{Heading: "a note", Text: "old " + token(1)[4:30]}))
	must(t, d.AddNote(Note{Heading: "b", Text: "new " + fresh}))
	b, err := d.Bytes(Scratchpad)
	must(t, err)
	if !bytes.Contains(b, []byte(was[strings.Index(was, "export"):])) {
		t.Errorf("the hand's text has changed:\n%s", b)
	}
	if bytes.Contains(b, []byte(fresh)) || !bytes.Contains(b, []byte("new "+mark)) {
		t.Errorf("the new secret is in it:\n%s", b)
	}
}

// A key whose end is missing takes no heading with it, whatever follows.
func TestKeyWithoutEnd(t *testing.T) {
	t.Parallel()
	d := NewDraft(fstest.MapFS{})
	body := strings.Repeat(token(3)[4:], 2)
	must(t, d.Put(Chat, []byte("* Tick 1\n** Human\n-----BEGIN PRIVATE KEY-----\n"+body+"\n\n** Agent\nso what\n* Tick 2\n** Human\n-----END PRIVATE KEY-----\n")))
	b, err := d.Bytes(Chat)
	must(t, err)
	if all := Exchanges(b); len(all) != 2 || all[0].Agent != "so what" || all[0].Human != "[redacted:private-key]" {
		t.Errorf("%+v\n%s", all, b)
	}
}

// What has no room for a mark refuses the edit.
func TestSecretNames(t *testing.T) {
	t.Parallel()
	d := NewDraft(fstest.MapFS{Consciousness: {Data: []byte(someState)}, ConfigFile: {Data: []byte("provider: offline\n")}})
	id := "sk-proj-a1b2x9c8v7b6n5m4q3w2e1r0t9y8"
	for name, err := range map[string]error{
		"thread": d.Mind(func(s *consciousness.State) (err error) {
			s.Threads, err = s.Threads.Create(threads.Thread{ID: threads.ID(id), Concern: "x", Started: 1})
			return err
		}),
		"file":     d.Put("skills/"+id+"/SKILL.md", []byte("x")),
		"settings": d.Put(ConfigFile, []byte("provider: offline\nmcp-servers: [{name: x, env: {TOKEN: "+token(5)+"}}]\n")),
	} {
		if err == nil || strings.Contains(err.Error(), id[8:]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(d.Changed()) > 0 {
		t.Errorf("changed: %q", d.Changed())
	}
}

// A secret that was found once is found again without what told it then.
func TestSeenBefore(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.Clean("the password: Rabbit!4711 is new")
	if got := h.Clean("so I typed Rabbit!4711 again"); got != "so I typed [redacted:password] again" {
		t.Error(got)
	}
	if got := NewDraft(fstest.MapFS{}).Clean("so I typed Rabbit!4711 again"); !strings.Contains(got, "Rabbit!4711") {
		t.Error("an ordinary text is altered")
	}
}

func TestKept(t *testing.T) {
	t.Parallel()
	h, ctx := newHome(t), context.Background()
	text := "use " + token(7) + " and " + token(8)
	found := h.Secrets(text)
	if len(found) != 2 {
		t.Fatal(found)
	}
	must(t, h.Keep(ctx, Kept{ID: found[0].Sum, Kind: found[0].Kind, At: noon}))
	must(t, h.Keep(ctx, Kept{ID: found[0].Sum, At: noon})) // once
	want := "use " + token(7) + " and " + mark
	other, err := Open(h.Root()) // another process
	must(t, err)
	for _, x := range []*Home{h, other} {
		if got := x.Clean(text); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	list, err := other.Kept()
	must(t, err)
	if len(list) != 1 || list[0].Kind != "github-token" {
		t.Errorf("kept: %+v", list)
	}
	b, err := os.ReadFile(h.State("kept.jsonl"))
	must(t, err)
	if bytes.Contains(b, []byte(token(7))) {
		t.Error("the secret is in the list")
	}
	must(t, other.Unkeep(ctx, found[0].Sum))
	if got := h.Clean(text); got != "use "+mark+" and "+mark {
		t.Error(got)
	}
}

// FuzzGuard: nothing but secrets is taken out, what is read stays readable, and
// the second time there is nothing to take out.
func FuzzGuard(f *testing.F) {
	f.Add(someState, strings.Replace(someState, "calm", token(1), 1), true)
	f.Add("* a\nx\n", "* a\ntoken: "+token(2)+"\n* b\n", false)
	f.Add("", "", false)
	f.Fuzz(func(t *testing.T, was, now string, alist bool) {
		name := Scratchpad
		if alist {
			name = Consciousness
		}
		out := (&guard{}).file(name, []byte(was), []byte(was), []byte(now))
		if again := (&guard{}).file(name, []byte(was), []byte(was), out); !bytes.Equal(again, out) {
			t.Fatalf("%q → %q → %q", now, out, again)
		}
		if !strings.Contains(string(out), "[redacted:") && string(out) != now {
			t.Fatalf("%q became %q", now, out)
		}
		if _, _, err := consciousness.Parse([]byte(now)); alist && err == nil {
			if _, _, err := consciousness.Parse(out); err != nil {
				t.Fatalf("%q can not be read: %v (it was %q)", out, err, now)
			}
		}
		if !alist && org.Damage([]byte(now)) == nil && org.Damage(out) != nil {
			t.Fatalf("%q is damaged: %v", out, org.Damage(out))
		}
	})
}

// BenchmarkGuard is what a tick's edit of a file costs: a line at the end of a
// chat of 30 KB.
func BenchmarkGuard(b *testing.B) {
	was := []byte(strings.Repeat("* Tick 1\n** Human\nwhat do you make of the next part?\n", 600))
	now := append(bytes.Clone(was), fmt.Sprintf("** Agent\n%s\n", strings.Repeat("This is a sentence of the answer. ", 10))...)
	g := &guard{}
	for b.Loop() {
		g.file(Chat, was, was, now)
	}
}
