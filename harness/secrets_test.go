package harness

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"amacs/harness/home"
	"amacs/harness/journal"
)

// key draws a key of GitHub's form: no secret stands in this repository.
func key(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 4))
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	b := []byte("ghp_")
	for range 36 {
		b = append(b, alphabet[r.IntN(len(alphabet))])
	}
	return string(b)
}

const noReply = `{"mood":"calm","confidence":0.5,"monologue":"a thought","reply":"yes"}`

// No key in a project's file, nor in a file of the home, reaches the model.
func TestModelSeesNoSecret(t *testing.T) {
	r := newRig(t, `{"mood":"calm","confidence":0.5,"monologue":"a","reply":"b","eval":"(progn (agent-create-thread \"a\" :concern \"c\" :buffers '(\"main.go\")) (agent-switch-thread \"a\"))"}`,
		noReply, noReply, noReply)
	file := filepath.Join(r.cwd, "main.go")
	r.write(file, "package main\n// "+strings.Repeat("x", 60)+"\nconst token = \""+key(1)+"\"\n")
	r.say("hello")
	for _, name := range []string{home.Scratchpad, home.Chat, "skills/core/SKILL.md"} {
		r.write(name, r.read(name)+"\n# "+key(2)+"\n* Tick 0\n** Human\n"+key(3)+"\n** Agent\nyes\n")
	}
	state := r.read(home.Consciousness)
	r.write(home.Consciousness, strings.Replace(state, `(concern . "`, `(concern . "`+key(4)+" ", 1))
	for _, limit := range []string{"10000", "100", "90"} { // the last cuts the key in two
		state := r.read(home.Consciousness)
		at := strings.Index(state, "(buffer-content-limit . ") + len("(buffer-content-limit . ")
		r.write(home.Consciousness, state[:at]+limit+state[at+strings.IndexByte(state[at:], ')'):])
		r.say("and " + key(5))
		prompt := r.asked[len(r.asked)-1].System + r.prompt()
		for n := range uint64(6) {
			if strings.Contains(prompt, key(n)[:12]) {
				t.Errorf("limit %s: key %d is in the prompt", limit, n)
			}
		}
	}
	if !strings.Contains(r.prompt(), "main.go (go-mode)") || !strings.Contains(r.prompt(), "[redacted:github-token]") {
		t.Errorf("the prompt has no buffer:\n%s", r.prompt())
	}
}

// What one text of a reply gives away is taken out of all.
func TestSecretOfOneField(t *testing.T) {
	r := newRig(t, `{"mood":"calm","confidence":0.5,"monologue":"typed Rabbit!4711 in","reply":"The password: Rabbit!4711","scratchpad":{"heading":"Rabbit!4711","thread":null,"content":"it is Rabbit!4711"}}`)
	report := r.say("hello")
	if !strings.Contains(report.Reply, "Rabbit!4711") {
		t.Errorf("what is shown is altered: %q", report.Reply)
	}
	for _, path := range everyTick {
		if strings.Contains(r.read(path), "4711") {
			t.Errorf("%s:\n%s", path, r.read(path))
		}
	}
	for e, err := range r.journal.Log(context.Background(), journal.Query{Max: 1}) {
		r.must(err)
		if !strings.HasSuffix(e.Subject, "typed [redacted:password] in") {
			t.Error(e.Subject)
		}
	}
}

// A transaction that was interrupted is committed without the secret that a hand
// had put into one of its files.
func TestInterruptedWithSecret(t *testing.T) {
	for _, at := range []string{"write", "git"} {
		r := newRig(t, noReply, `{"mood":"calm","confidence":0.5,"monologue":"a thought","reply":"yes","scratchpad":{"heading":"h","thread":null,"content":"noted"}}`, noReply)
		r.say("hello")
		r.write(home.Scratchpad, r.read(home.Scratchpad)+"* mine\n"+key(1)+"\n")
		stopped := errors.New("stopped here")
		r.step = func(name string) {
			if name == at {
				panic(stopped)
			}
		}
		func() {
			defer func() {
				if x := recover(); x != stopped {
					t.Fatalf("ended with %v", x)
				}
			}()
			r.say("and now")
		}()
		r.step = func(string) {}
		other, err := Open(context.Background(), Options{Root: r.home.Root()})
		r.must(err)
		_, err = other.Mend(context.Background())
		r.must(err)
		committed, err := other.journal.File(context.Background(), "HEAD", home.Scratchpad)
		r.must(err)
		if strings.Contains(string(committed), key(1)) || !strings.Contains(string(committed), "noted") {
			t.Errorf("at %s the commit has\n%s", at, committed)
		}
		if b := r.read(home.Scratchpad); !strings.Contains(b, key(1)) || !strings.Contains(b, "noted") {
			t.Errorf("at %s the file has\n%s", at, b)
		}
		held, err := other.Held(context.Background())
		r.must(err)
		if len(held) != 1 || held[0].Path != home.Scratchpad {
			t.Errorf("held: %+v", held)
		}
	}
}

// A file whose name is a secret is left alone, and the name is not shown.
func TestSecretName(t *testing.T) {
	r := newRig(t, noReply, noReply)
	r.write(key(1)+".txt", "x\n")
	report := r.say("hello")
	if all := strings.Join(report.Notices, "\n"); !strings.Contains(all, "the name of a new file holds") || strings.Contains(all, key(1)[:12]) {
		t.Errorf("notices: %s", all)
	}
	held, err := r.Held(context.Background())
	r.must(err)
	if len(held) != 1 {
		t.Errorf("held: %+v", held)
	}
	r.must(os.Remove(r.home.Path(key(1) + ".txt")))
	if report := r.say("hello"); len(report.Notices) > 0 {
		t.Errorf("notices: %q", report.Notices)
	}
}
