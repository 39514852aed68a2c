package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"amacs/consciousness"
	"amacs/harness/home"
	"amacs/harness/journal"
	"amacs/org"
)

// human is who edits by hand in these tests.
const human = "The Human <human@example.org>"

// world is a home, beside a user's folder with a git identity, that tests run
// the real program on.
type world struct {
	t    testing.TB
	dir  string // the home
	env  []string
	temp string
	cwd  string // where the program runs
}

func newWorld(t testing.TB) *world {
	t.Helper()
	temp := t.TempDir()
	user := filepath.Join(temp, "home")
	if err := os.MkdirAll(user, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(user, ".gitconfig"), []byte(gitconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, temp: temp, dir: filepath.Join(temp, "agent"), cwd: temp}
	w.env = append(slices.DeleteFunc(os.Environ(), namesModel.MatchString), "HOME="+user, "AMACS_HOME="+w.dir, "TERM=dumb", "TZ=UTC", "AMACS_PROVIDER=", "AMACS_MODEL=", "AMACS_TEST_KILL=",
		"GORACE=atexit_sleep_ms=0") // with -race each run would take a second longer
	return w
}

// copyOf is a world whose home begins as that of another.
func (w *world) copyOf(t testing.TB) *world {
	t.Helper()
	to := newWorld(t)
	if out, err := exec.Command("cp", "-a", w.dir, to.dir).CombinedOutput(); err != nil {
		t.Fatalf("copying the home: %v %s", err, out)
	}
	return to
}

// script writes replies, one a line, and returns the flags that play them.
func (w *world) script(lines ...string) []string {
	w.t.Helper()
	f, err := os.CreateTemp(w.temp, "script-*.jsonl")
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(strings.Join(lines, "\n") + "\n"); err != nil {
		w.t.Fatal(err)
	}
	return []string{"--provider", "script", "--model", f.Name()}
}

// said is a reply as a script plays it.
func said(text string) string {
	return object(map[string]any{"reply": text})
}

// object is a reply with the given keys beside the required ones.
func object(with map[string]any) string {
	o := map[string]any{"mood": "calm", "confidence": 0.7, "monologue": "a thought"}
	for k, v := range with {
		o[k] = v
	}
	b, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// ended is a run of the program that is over.
type ended struct {
	out, errs string
	code      int
	killed    bool
}

func (w *world) command(in string, args ...string) *exec.Cmd {
	c := exec.Command("amacs", args...)
	c.Env, c.Dir = slices.Clone(w.env), w.cwd
	c.Stdin = strings.NewReader(in)
	return c
}

func (w *world) amacs(in string, args ...string) ended {
	w.t.Helper()
	return w.finish(w.command(in, args...))
}

func (w *world) finish(c *exec.Cmd) (r ended) {
	w.t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("running amacs: %v", err)
	}
	status := c.ProcessState.Sys().(syscall.WaitStatus)
	return ended{out.String(), errs.String(), c.ProcessState.ExitCode(), status.Signaled()}
}

// must is amacs where it has to succeed.
func (w *world) must(in string, args ...string) ended {
	w.t.Helper()
	r := w.amacs(in, args...)
	if r.code != 0 {
		w.t.Fatalf("amacs %q: exit %d\n%s%s", args, r.code, r.out, r.errs)
	}
	return r
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	c := exec.Command("git", append([]string{"-C", w.dir}, args...)...)
	c.Env = w.env
	out, err := c.CombinedOutput()
	if err != nil {
		w.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func (w *world) path(rel string) string { return filepath.Join(w.dir, rel) }

func (w *world) read(rel string) string {
	w.t.Helper()
	b, err := os.ReadFile(w.path(rel))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}

func (w *world) write(rel, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.path(rel), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// chat is every exchange of the home, the archive's included, oldest first.
func (w *world) chat() (all []home.Exchange) {
	w.t.Helper()
	files, err := filepath.Glob(w.path("archive/agent-chat/*.org"))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range append(files, w.path(home.Chat)) {
		b, err := os.ReadFile(f)
		if err != nil {
			w.t.Fatal(err)
		}
		all = append(all, home.Exchanges(b)...)
	}
	return all
}

// heard counts how often each line of the human is on disk: in the chat, or in
// the inbox.
func (w *world) heard() map[string]int {
	w.t.Helper()
	n := map[string]int{}
	for _, e := range w.chat() {
		if e.HasHuman {
			n[e.Human]++
		}
	}
	b, err := os.ReadFile(w.path(".amacs/state/inbox.jsonl"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.t.Fatal(err)
	}
	for raw := range bytes.Lines(b) {
		var l home.Line
		if json.Unmarshal(raw, &l) == nil {
			n[l.Text]++
		}
	}
	return n
}

// once checks that each of these lines is on disk exactly once.
func (w *world) once(lines ...string) {
	w.t.Helper()
	n := w.heard()
	for _, l := range lines {
		if n[l] != 1 {
			w.t.Errorf("the line %q is on disk %d times", l, n[l])
		}
	}
}

// commit is one line of the history.
type commit struct{ hash, author, subject string }

// log is the history, oldest first.
func (w *world) log() (out []commit) {
	w.t.Helper()
	for l := range strings.Lines(w.git("log", "--reverse", "--format=%H%x01%an <%ae>%x01%s")) {
		f := strings.SplitN(strings.TrimRight(l, "\n"), "\x01", 3)
		out = append(out, commit{f[0], f[1], f[2]})
	}
	return out
}

// alone waits until no git that a killed amacs had started to pack the home is at
// work there any more: fsck stumbles over packs that are being renamed.
func (w *world) alone() {
	w.t.Helper()
	w.await("git to end", func() bool {
		dirs, _ := filepath.Glob("/proc/[0-9]*/cwd") // none on other systems
		return !slices.ContainsFunc(dirs, func(link string) bool {
			dir, _ := os.Readlink(link)
			return dir == w.dir
		})
	})
}

// whole checks what must hold at every instant, a process killed or not: git
// finds nothing wrong and every file can be read.
func (w *world) whole() {
	w.t.Helper()
	w.alone()
	if out := w.git("fsck", "--full", "--strict", "--no-dangling", "--no-progress"); strings.TrimSpace(out) != "" {
		w.t.Errorf("git fsck: %s", out)
	}
	err := filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && (d.Name() == ".git" || d.Name() == ".amacs") {
				return filepath.SkipDir
			}
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch {
		case d.Name() == home.Consciousness:
			if _, notes, err := consciousness.Parse(b); err != nil || len(notes) > 0 {
				w.t.Errorf("%s: %v %q", path, err, notes)
			}
		case strings.HasSuffix(path, ".org"):
			if err := org.Damage(b); err != nil {
				w.t.Errorf("%s: %v", path, err)
			}
		case strings.HasPrefix(d.Name(), "."), strings.HasSuffix(path, ".md"), d.Name() == home.ConfigFile:
		default:
			w.t.Errorf("%s: what is this file?", path)
		}
		return nil
	})
	if err != nil {
		w.t.Error(err)
	}
}

// settled checks what must hold after a tick that ended: besides whole, that
// everything is committed, no number is used twice, each subject is of the
// journal's table, and only edits were made by the human, edited times.
func (w *world) settled(edited int) {
	w.t.Helper()
	w.whole()
	if out := w.git("status", "--porcelain"); out != "" {
		w.t.Errorf("git status is not clean:\n%s", out)
	}
	w.numbers()
	edits := 0
	for _, c := range w.log() {
		e, ok := journal.ParseSubject(c.subject)
		if !ok {
			w.t.Errorf("commit subject %q is not in the table", c.subject)
		}
		if (e.Kind == "EDIT") != (c.author == human) {
			w.t.Errorf("%s by %s", c.subject, c.author)
		}
		if e.Kind == "EDIT" {
			edits++
		}
	}
	if edits != edited {
		w.t.Errorf("%d [EDIT] commits, want %d:\n%s", edits, edited, w.git("log", "--stat", "--format=%an %s"))
	}
}

// numbers checks that tick numbers are used once and only grow.
func (w *world) numbers() {
	w.t.Helper()
	last := 0
	for _, c := range w.log() {
		if e, _ := journal.ParseSubject(c.subject); e.HasTick {
			if e.Tick <= last {
				w.t.Errorf("tick %d was committed after tick %d", e.Tick, last)
			}
			last = e.Tick
		}
	}
	last = 0
	for _, e := range w.chat() {
		if e.Tick <= last {
			w.t.Errorf("agent-chat.org: tick %d stands after tick %d", e.Tick, last)
		}
		last = e.Tick
	}
}

// prompt is a run of the program whose standard input stays open.
type prompt struct {
	w    *world
	cmd  *exec.Cmd
	in   *os.File
	seen chan string // lines of its output
}

// start runs the program with the pipe held open.
func (w *world) start(env []string, args ...string) *prompt {
	w.t.Helper()
	c := w.command("", args...)
	c.Env, c.Stdin = append(c.Env, env...), nil
	r, wr, err := os.Pipe()
	if err != nil {
		w.t.Fatal(err)
	}
	c.Stdin = r
	out, err := c.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	r.Close()
	p := &prompt{w: w, cmd: c, in: wr, seen: make(chan string, 1000)}
	go func() {
		defer close(p.seen)
		buf, rest := make([]byte, 4096), ""
		for {
			n, err := out.Read(buf)
			rest += string(buf[:n])
			for {
				line, after, ok := strings.Cut(rest, "\n")
				if !ok {
					break
				}
				p.seen <- line
				rest = after
			}
			if err != nil {
				return
			}
		}
	}()
	return p
}

func (p *prompt) say(line string) {
	if _, err := p.in.WriteString(line + "\n"); err != nil && !errors.Is(err, syscall.EPIPE) {
		p.w.t.Errorf("typing: %v", err)
	}
}

// until reads the output up to a line that holds text, and whether it came.
func (p *prompt) until(text string) bool {
	for line := range p.seen {
		if strings.Contains(line, text) {
			return true
		}
	}
	return false
}

// quit ends the input and waits for the process.
func (p *prompt) quit() int {
	p.in.Close()
	for range p.seen {
	}
	_ = p.cmd.Wait() // its exit code is the result
	return p.cmd.ProcessState.ExitCode()
}

// kill is kill -9.
func (p *prompt) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	p.quit()
}

func contains(t testing.TB, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q:\n%s", what, want, text)
		}
	}
}
