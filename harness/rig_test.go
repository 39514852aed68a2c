package harness

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"amacs/harness/home"
	"amacs/harness/provider"
)

var update = flag.Bool("update", false, "write the golden files anew")

// offline is what the model that answers without any setting is opened by.
var offline = [3]string{"offline", "", ""}

// rig is a home whose model plays a script and whose clock stands still within a
// tick. It keeps what the model was asked and what the face was shown.
type rig struct {
	*Harness
	t      *testing.T
	at     time.Time
	cwd    string
	asked  []provider.Request
	events []Event
	model  provider.Model
}

func newRig(t *testing.T, script ...string) *rig {
	t.Helper()
	dir := t.TempDir()
	for _, env := range []string{"GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE", "GIT_DIR"} {
		t.Setenv(env, "")
		os.Unsetenv(env)
	}
	r := &rig{t: t, at: time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC), cwd: filepath.Join(dir, "code")}
	r.must(os.Mkdir(r.cwd, 0o700))
	root := filepath.Join(dir, "agent")
	_, err := Init(context.Background(), root)
	r.must(err)
	r.Harness, err = Open(context.Background(), Options{Root: root, Now: func() time.Time { return r.at }})
	r.must(err)
	r.settings.Load().models.open[offline] = r
	r.pause = func(context.Context, time.Duration) {}
	_, err = r.Ready(context.Background())
	r.must(err)
	r.script(script...)
	return r
}

// script gives the model lines to play, in the place of what is left of others.
func (r *rig) script(lines ...string) {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "script.jsonl")
	r.must(os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	model, err := provider.Script(file)
	r.must(err)
	r.model = model
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) Name() string { return "rigged" }

func (r *rig) Facts() provider.Facts { return provider.Facts{Provider: "script", Model: "rigged"} }

func (r *rig) Complete(ctx context.Context, q provider.Request, stream func(string)) (provider.Response, error) {
	r.asked = append(r.asked, q)
	return r.model.Complete(ctx, q, stream)
}

// say runs a tick on a line of the human, "" being a tick asked for by continue,
// a minute after the last.
func (r *rig) say(text string) Report {
	r.t.Helper()
	in := Input{Source: Human, Text: text, Cwd: r.cwd}
	if text == "" {
		in.Source, in.Chain = Continue, 1
	}
	return r.tick(context.Background(), in)
}

func (r *rig) tick(ctx context.Context, in Input) Report {
	r.t.Helper()
	r.at = r.at.Add(time.Minute)
	r.events = nil
	report, err := r.Tick(ctx, in, func(e Event) { r.events = append(r.events, e) })
	r.must(err)
	return report
}

// wakeUp is the mind of a tick that begins now.
func (r *rig) wakeUp(text string) *Mind {
	r.t.Helper()
	in := Input{Source: Human, Text: text, Cwd: r.cwd}
	r.must(r.keep(&in))
	m, err := r.wake(context.Background(), in, nil)
	r.must(err)
	return m
}

func (r *rig) read(path string) string {
	r.t.Helper()
	b, err := r.home.Read(path)
	r.must(err)
	return string(b)
}

// write saves a file as a hand would, in the home or by its absolute path, last
// changed some hours ago.
func (r *rig) write(path, text string) {
	r.t.Helper()
	if !filepath.IsAbs(path) {
		path = r.home.Path(path)
	}
	r.must(os.MkdirAll(filepath.Dir(path), 0o700))
	r.must(os.WriteFile(path, []byte(text), 0o600))
	r.must(os.Chtimes(path, r.at.Add(-5*time.Hour), r.at.Add(-5*time.Hour)))
}

// exchanges is the conversation as it is on disk.
func (r *rig) exchanges() []home.Exchange {
	r.t.Helper()
	all, err := r.home.Draft().Conversation(1 << 20)
	r.must(err)
	return all
}

// prompt is what the model was asked last, with a mark where a cache may end.
func (r *rig) prompt() string {
	r.t.Helper()
	return printed(r.asked[len(r.asked)-1])
}

func printed(q provider.Request) string {
	var b strings.Builder
	for _, block := range q.Blocks {
		b.WriteString(block.Text)
		if block.Cache {
			b.WriteString("~~~~~~~~ so far the same from tick to tick ~~~~~~~~\n")
		}
	}
	return b.String()
}

// golden compares text with testdata/name.golden.
func (r *rig) golden(name, text string) {
	r.t.Helper()
	text = strings.ReplaceAll(text, filepath.Dir(r.cwd), "/home/me")
	file := filepath.Join("testdata", name+".golden")
	if *update {
		r.must(os.MkdirAll("testdata", 0o755))
		r.must(os.WriteFile(file, []byte(text), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	r.must(err)
	if text != string(want) {
		r.t.Errorf("%s differs (go test ./harness -run Golden -update writes it anew); it is now\n%s", file, text)
	}
}
