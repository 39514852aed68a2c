package harness

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"amacs/harness/home"
	"amacs/harness/journal"
)

func quiet(string, int, int) {}

// yes agrees to every purge and keeps what it was told.
func yes(cost *Cost) Asking {
	return Asking{Progress: quiet, Cost: func(c Cost) (bool, error) { *cost = c; return true, nil }}
}

func (r *rig) git(args ...string) string {
	r.t.Helper()
	out, err := exec.Command("git", append([]string{"-C", r.home.Root()}, args...)...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// purgeHome is a home with a word in every place that a home has.
func purgeHome(t *testing.T) *rig {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	r := newRig(t,
		`{"mood":"zebracrossing","confidence":1,"monologue":"thought of zebracrossing","reply":"it is \"zebracrossing\"","eval":"(progn (agent-create-thread \"t-zebracrossing\" :concern \"zebracrossing\") (agent-switch-thread \"t-zebracrossing\") (agent-add-note \"zebracrossing\" \"x\"))"}`,
		`{"mood":"calm","confidence":1,"monologue":"other","reply":"no"}`)
	r.say("what is a zebracrossing?")
	r.say("and now?")
	for path, text := range map[string]string{
		".amacs/state/history":         "what is a zebracrossing?\n",
		".amacs/state/deeds.jsonl":     `{"tick":1,"what":"run","command":"echo zebracrossing"}` + "\n",
		".amacs/state/before/0123abcd": "before: zebracrossing",
		".amacs/state/before/4567abcd": "before: another",
		".amacs/cache/http.log":        "zebracrossing",
		"workspace/project/x.txt":      "zebracrossing",
		"own/zebracrossing.txt":        "mine",
	} {
		r.must(os.MkdirAll(filepath.Dir(r.home.Path(path)), 0o700))
		r.must(os.WriteFile(r.home.Path(path), []byte(text), 0o640))
	}
	r.must(r.home.Post(context.Background(), home.Line{At: r.at, Face: "other", PID: os.Getpid(), Text: `a "zebracrossing" typed`}))
	return r
}

// stands lists the files of the home, but for git's objects, that hold the word.
func (r *rig) stands() (out []string) {
	r.t.Helper()
	err := filepath.WalkDir(r.home.Root(), func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(p)
		if rel, _ := filepath.Rel(r.home.Root(), p); bytes.Contains(b, []byte("zebracrossing")) || strings.Contains(rel, "zebracrossing") {
			out = append(out, rel)
		}
		return err
	})
	r.must(err)
	return out
}

func TestPurge(t *testing.T) {
	r := purgeHome(t)
	ctx := context.Background()
	r.git("gc", "-q")
	var cost Cost
	r.must(r.Purge(ctx, Forget{Texts: []string{"zebracrossing"}}, yes(&cost)))
	if cost.Texts < 6 || cost.With < 2 || len(cost.Files) < 7 || strings.Join(cost.Elsewhere, " ") != "workspace/project/x.txt" {
		t.Errorf("%+v", cost)
	}
	for _, p := range r.stands() {
		if !strings.HasPrefix(p, ".git/") && p != ".amacs/state/purge.json" && p != "workspace/project/x.txt" {
			t.Errorf("it stands in %s", p)
		}
	}
	if out := r.git("status", "--porcelain"); out != "" {
		t.Errorf("git status: %s", out)
	}
	if words, err := r.Unconfirmed(); err != nil || words == "" {
		t.Errorf("unconfirmed: %q %v", words, err)
	}
	if err := r.Purge(ctx, Forget{Texts: []string{"another"}}, yes(&cost)); !errors.Is(err, ErrUnconfirmed) {
		t.Errorf("a second purge: %v", err)
	}
	proof, err := r.ConfirmPurge(ctx)
	if err != nil || len(proof.Found) > 0 || strings.Join(proof.Elsewhere, " ") != "workspace/project/x.txt" {
		t.Errorf("%+v %v", proof, err)
	}
	if got := strings.Join(r.stands(), " "); got != "workspace/project/x.txt" {
		t.Errorf("after the confirmation it stands in %s", got)
	}
	all := r.git("cat-file", "--batch-all-objects", "--batch")
	if strings.Contains(all, "zebracrossing") || !strings.Contains(all, "[purged]") {
		t.Error("a git object holds it, or none shows where it stood")
	}
	r.git("fsck", "--strict")
	if _, err := os.Stat(r.home.Path("own/[purged].txt")); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(r.home.State("history"))
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode: %v %v", info, err)
	}
	for path, there := range map[string]bool{".amacs/state/before/0123abcd": false, ".amacs/state/before/4567abcd": true, ".amacs/cache/http.log": false, ".amacs/state/purge.json": false} {
		if _, err := os.Stat(r.home.Path(path)); (err == nil) != there {
			t.Errorf("%s is there: %v", path, !there)
		}
	}
	lines, err := r.home.Inbox("other")
	if err != nil || len(lines) != 1 || lines[0].Text != `a "[purged]" typed` {
		t.Errorf("inbox: %+v %v", lines, err)
	}
	r.script(`{"mood":"calm","confidence":1,"monologue":"on","reply":"here"}`)
	if report := r.say("go on"); report.Tick != 3 || report.Outcome != "replied" {
		t.Errorf("the next tick: %+v", report)
	}
	e, err := r.FindTick(ctx, 1)
	if err != nil || e.Subject != "[TICK 1][t-(purged)][(purged)] thought of [purged]" {
		t.Errorf("%+v %v", e, err)
	}
}

// Taken back, everything is byte for byte as it was.
func TestPurgeBack(t *testing.T) {
	r := purgeHome(t)
	ctx := context.Background()
	_, err := r.Mend(ctx)
	r.must(err)
	snapshot := func() string {
		out := r.git("for-each-ref") + r.git("ls-files", "--stage")
		for _, p := range strings.Fields(r.git("ls-files", "-z")) {
			out += p
		}
		for _, p := range []string{home.Chat, home.Scratchpad, home.Monologue, home.Consciousness, "own/zebracrossing.txt", ".amacs/state/history", ".amacs/state/inbox.jsonl", ".amacs/state/deeds.jsonl", ".amacs/state/before/0123abcd"} {
			b, err := os.ReadFile(r.home.Path(p))
			r.must(err)
			out += p + ":" + string(b)
		}
		return out
	}
	was := snapshot()
	var cost Cost
	r.must(r.Purge(ctx, Forget{Texts: []string{"zebracrossing"}}, yes(&cost)))
	r.must(r.BackFromPurge(ctx))
	if now := snapshot(); now != was {
		t.Errorf("now\n%s\nwas\n%s", now, was)
	}
	if out := r.git("status", "--porcelain"); out != "" {
		t.Errorf("git status: %s", out)
	}
	if err := r.BackFromPurge(ctx); !errors.Is(err, ErrNoPurge) {
		t.Errorf("a second time: %v", err)
	}
	if _, err := r.ConfirmPurge(ctx); !errors.Is(err, ErrNoPurge) {
		t.Errorf("confirmed: %v", err)
	}
	r.must(r.Purge(ctx, Forget{Texts: []string{"zebracrossing"}}, yes(&cost)))
	r.script(`{"mood":"calm","confidence":1,"monologue":"on","reply":"here"}`)
	r.say("go on")
	if err := r.BackFromPurge(ctx); !errors.Is(err, journal.ErrMoved) {
		t.Errorf("back over a tick: %v", err)
	}
	_, err = r.ConfirmPurge(ctx)
	r.must(err)
}

func TestPurgeSecrets(t *testing.T) {
	r := newRig(t, `{"mood":"calm","confidence":1,"monologue":"x","reply":"here"}`)
	ctx := context.Background()
	const one, two = "ghp_0a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R", "ghp_9a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R"
	r.must(os.WriteFile(r.home.Path("mine.org"), []byte("* keys\n"+one+"\n"+two+"\n"), 0o600))
	_, err := r.journal.Commit(ctx, journal.Commit{Subject: "[EDIT] mine.org", Paths: []string{"mine.org"}})
	r.must(err)
	var id string
	for _, s := range r.Secrets(one) {
		id = s.ID
	}
	var cost Cost
	if err := r.Purge(ctx, Forget{Secrets: []string{"ffffffffffff"}}, yes(&cost)); err == nil || !strings.Contains(err.Error(), "ffffffffffff") {
		t.Errorf("an unknown id: %v", err)
	}
	r.must(r.Purge(ctx, Forget{Secrets: []string{"#" + id[:6]}}, yes(&cost)))
	proof, err := r.ConfirmPurge(ctx)
	if err != nil || len(proof.Found) > 0 {
		t.Fatalf("%+v %v", proof, err)
	}
	b, err := r.home.Read("mine.org")
	r.must(err)
	if want := "* keys\n[redacted:github-token]\n" + two + "\n"; strings.Replace(string(b), "[redacted:github-pat]", "[redacted:github-token]", 1) != want {
		t.Errorf("%q", b)
	}
	r.must(r.Purge(ctx, Forget{All: true}, yes(&cost)))
	_, err = r.ConfirmPurge(ctx)
	r.must(err)
	if all := r.git("cat-file", "--batch-all-objects", "--batch"); strings.Contains(all, "ghp_") {
		t.Error("a secret is left")
	}
	if err := r.Purge(ctx, Forget{All: true}, yes(&cost)); !errors.Is(err, ErrNowhere) {
		t.Errorf("nothing left: %v", err)
	}
}

// What amacs itself writes around the texts can not be taken out.
func TestPurgeRefuses(t *testing.T) {
	r := newRig(t, `{"mood":"calm","confidence":1,"monologue":"x","reply":"here"}`)
	r.say("hello")
	head := r.git("rev-parse", "HEAD")
	for name, f := range map[string]Forget{
		"short":       {Texts: []string{"abc"}},
		"the mark":    {Texts: []string{"[purged]"}},
		"of the mark": {Texts: []string{"urged"}},
		"two marks":   {Texts: []string{"d][p"}},
		"a file":      {Texts: []string{"agent-chat"}},
		"a tick":      {Texts: []string{"* Tick 1"}},
		"a subject":   {Texts: []string{"[TICK"}},
		"the state":   {Texts: []string{"(current-tick"}},
		"a half":      {Texts: []string{"** Human"}},
		"nowhere":     {Texts: []string{"never said"}},
		"outside":     {Paths: []string{"../x"}},
		"git":         {Paths: []string{".git/config"}},
		"all":         {Paths: []string{"."}},
		"the head":    {Paths: []string{home.Consciousness}},
		"short id":    {Secrets: []string{"ab"}},
	} {
		var cost Cost
		if err := r.Purge(context.Background(), f, yes(&cost)); err == nil {
			t.Errorf("%s: purged", name)
		} else {
			t.Log(err)
		}
	}
	if now := r.git("rev-parse", "HEAD"); now != head {
		t.Error("the history changed")
	}
	release, err := r.home.TryLease()
	r.must(err)
	defer release()
	if err := r.Purge(context.Background(), Forget{Texts: []string{"hello"}}, Asking{}); !errors.Is(err, ErrThinking) || !errors.Is(err, home.ErrBusy) {
		t.Errorf("while a tick thinks: %v", err)
	}
}

func TestPurgePath(t *testing.T) {
	r := newRig(t, `{"mood":"calm","confidence":1,"monologue":"x","reply":"here"}`)
	ctx := context.Background()
	for _, text := range []string{"one", "two"} {
		r.must(os.MkdirAll(r.home.Path("d/e"), 0o700))
		r.must(os.WriteFile(r.home.Path("d/e/diary.org"), []byte(text), 0o600))
		_, err := r.Mend(ctx)
		r.must(err)
	}
	var cost Cost
	r.must(r.Purge(ctx, Forget{Paths: []string{r.home.Path("d/e/diary.org")}}, yes(&cost)))
	proof, err := r.ConfirmPurge(ctx)
	if err != nil || len(proof.Found) > 0 {
		t.Fatalf("%+v %v", proof, err)
	}
	if _, err := os.Stat(r.home.Path("d")); err == nil {
		t.Error("the folder is still there")
	}
	if out := r.git("log", "--all", "--format=%h", "--", "d/e/diary.org") + r.git("status", "--porcelain"); out != "" {
		t.Errorf("still in the history: %s", out)
	}
}

func TestEraser(t *testing.T) {
	key := "-----BEGIN KEY-----\nabcdefghijkl\nmnopqr\n-----END KEY-----"
	e := newEraser([]word{{[]byte("secret-word-of-mine"), purged}, {[]byte(`say "it" <now>`), purged}, {[]byte(key), "[redacted:private-key]"}, {[]byte("secret-word"), purged}})
	for in, want := range map[string]string{
		"x secret-word-of-mine y":            "x [purged] y",
		"x secret-word y":                    "x [purged] y",
		"x secret-wor y":                     "x secret-wor y",
		"x secret-wor…":                      "x [purged]…",
		"x secret-word-of [...]":             "x [purged]-of [...]",
		`{"a":"say \"it\" <now>"}`:           `{"a":"[purged]"}`,
		`{"a":"say \"it\" \u003cnow\u003e"}`: `{"a":"[purged]"}`,
		`say "it" <now>`:                     "[purged]",
		"k: " + key + ".":                    "k: [redacted:private-key].",
		"  -----BEGIN KEY-----\n  ,abcdefghijkl\r\n  mnopqr\n  -----END KEY-----\n": "  [redacted:private-key]\n",
		strings.ReplaceAll(key, "\n", `\n`):                                         "[redacted:private-key]",
		strings.ReplaceAll(key, "\n", " "):                                          "[redacted:private-key]",
		"abcdefghijkl":                                                              "abcdefghijkl",
		"":                                                                          "",
	} {
		if got := string(e.text([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// A word that may be purged is nowhere in what is left, and the rest stays.
func FuzzEraser(f *testing.F) {
	f.Add("a zebracrossing here", "zebracrossing")
	f.Add("one\n  two three\n", "one\ntwo three")
	f.Add("aaaaaaaaa", "aaaa")
	f.Add("d]d][p[p", "]d][")
	f.Add("0", "ono \xb8twe\nthree")
	f.Add("\xff\xfe\"\\", "\xff\xfe\"\\")
	f.Fuzz(func(t *testing.T, text, what string) {
		w := word{[]byte(what), purged}
		if w.check() != nil {
			return
		}
		e := newEraser([]word{w})
		out := e.text([]byte(text))
		if bytes.Contains(out, w.Text) {
			t.Errorf("%q still holds %q", out, what)
		}
		if again := e.text(out); !bytes.Equal(again, out) {
			t.Errorf("%q becomes %q", out, again)
		}
		if bytes.Equal(out, []byte(text)) != !bytes.Contains(out, []byte(purged)) && !strings.Contains(text, purged) {
			t.Errorf("%q became %q without a mark", text, out)
		}
	})
}
