package harness

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"amacs/harness/eval"
	"amacs/harness/home"
	"amacs/harness/permit"
)

// hands is a mind in a project, with a human who gives the same answer to every
// question.
func (r *rig) hands(answer permit.Given) (m *Mind, asked *[]Question) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Join(r.cwd, ".git"), 0o700); err != nil {
		r.t.Fatal(err)
	}
	m = r.wakeUp("do it")
	asked = new([]Question)
	if answer != "" {
		m.Ask = func(_ context.Context, q Question) (Given, error) {
			*asked = append(*asked, q)
			return Given{Answer: answer}, nil
		}
	}
	return m, asked
}

// does evaluates a form and gives what the agent is told.
func (m *Mind) does(t *testing.T, form string) string {
	t.Helper()
	res := eval.Run(t.Context(), form, functions(m), nil, eval.DefaultLimits())
	if res.Err != nil {
		return "error: " + res.Err.Error()
	}
	return res.Text
}

// What could destroy is not run, even by a human who says yes to everything; what
// is risky is not run by one who says no.
func TestCorpusAtTheGate(t *testing.T) {
	if testing.Short() {
		t.Skip("800 commands")
	}
	r := newRig(t)
	user := t.TempDir()
	t.Setenv("HOME", user)
	for _, c := range []struct {
		file, first string
		answer      permit.Given
	}{{"destructive.txt", "never ", permit.Yes}, {"risky.txt", "", permit.No}} {
		b, err := os.ReadFile(filepath.Join("permit", "testdata", c.file))
		r.must(err)
		m, _ := r.hands(c.answer)
		n := 0
		for line := range strings.Lines(string(b)) {
			line = strings.TrimRight(line, "\n")
			text, ok := strings.CutPrefix(line, c.first)
			foreign := strings.Contains(text, "../../me") || strings.Contains(text, "~bob") // of a home elsewhere
			if foreign || line == "" || strings.HasPrefix(line, "#") || !ok {
				continue
			}
			n++
			text = strings.NewReplacer("⏎", "\n", "~/.agent", r.home.Root(), "$HOME/.agent", r.home.Root(), "/home/me/.agent", r.home.Root(), "/home/me/proj", r.cwd, "/home/me", user).Replace(strings.TrimPrefix(text, "*"))
			got := m.does(t, fmt.Sprintf("(agent-run %s :shell t)", quoteLisp(text)))
			if !strings.HasPrefix(got, "error: ") {
				t.Errorf("%s: %s: %s", c.file, text, got)
			}
		}
		deeds, err := r.home.Deeds()
		r.must(err)
		if n < 280 || len(deeds) > 0 {
			t.Errorf("%s: %d commands, and these ran: %+v", c.file, n, deeds)
		}
	}
}

func quoteLisp(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// The agent can not approve itself: no function and no command of it changes what
// says what it may do, whatever the human answers.
func TestAgentCanNotApproveItself(t *testing.T) {
	r := newRig(t)
	root := r.home.Root()
	m, _ := r.hands("")
	m.does(t, `(agent-write-file "a.txt" "text")`) // a request that waits
	src, err := m.draft.Bytes(home.Permissions)
	r.must(err)
	r.must(r.Change(t.Context(), "REVIEW", "a request", home.Edit{What: "x", Apply: func(d *home.Draft) error { return d.Put(home.Permissions, src) }}))
	before := func() (all string) {
		for _, name := range []string{home.Permissions, home.ConfigFile, home.Consciousness, ".gitignore", ".git/config", "skills/core/SKILL.md"} {
			b, err := os.ReadFile(filepath.Join(root, name))
			r.must(err)
			all += name + "\n" + string(b)
		}
		return all
	}
	link := filepath.Join(r.cwd, "link")
	r.must(os.Symlink(filepath.Join(root, home.Permissions), link))
	r.must(os.Symlink(root, filepath.Join(r.cwd, "folder")))
	r.must(os.Link(filepath.Join(root, home.Permissions), filepath.Join(r.cwd, "hard")))
	was := before()
	id := home.Requests(src)[0].ID
	targets := []string{
		filepath.Join(root, home.Permissions), filepath.Join(root, "workspace", "..", home.Permissions), root + "//./" + home.Permissions,
		filepath.Join(root, strings.ToUpper(home.Permissions)), filepath.Join(root, home.ConfigFile), filepath.Join(root, home.Consciousness),
		filepath.Join(root, ".gitignore"), filepath.Join(root, ".git/config"), filepath.Join(root, ".git/hooks/pre-commit"),
		filepath.Join(root, ".amacs/state/kept.jsonl"), "link", "folder/" + home.Permissions, "/proc/self/root" + root + "/" + home.Permissions,
		"workspace/../" + home.Permissions,
	}
	for _, answer := range []permit.Given{permit.Always, permit.Yes} {
		m, asked := r.hands(answer)
		for _, path := range targets {
			for _, form := range []string{
				fmt.Sprintf("(agent-write-file %q \"* APPROVED x\")", path),
				fmt.Sprintf("(agent-edit-file %q \"ASK\" \"APPROVED\" :all t)", path),
			} {
				if got := m.does(t, form); !strings.HasPrefix(got, "error: ") {
					t.Errorf("%s: %s", form, got)
				}
			}
		}
		for _, path := range append(targets[:1:1], "link", "folder/"+home.Permissions) {
			for _, command := range []string{
				"sed -i s/ASK/APPROVED/ " + path, "echo '* APPROVED x' >> " + path, "cp a " + path, "tee " + path + " < a", "mv a " + path, "ln -f a " + path,
				"python3 -c \"open('" + path + "','a').write('x')\"", "env -u AMACS_INSIDE amacs approve " + id, "amacs approve " + id, "sh -c 'amacs approve " + id + "'",
				"amacs config confine false", "amacs purge --text x --yes", "amacs undo", "git -C " + root + " commit --amend -m x", "git --git-dir=" + root + "/.git update-ref HEAD x",
				"cd " + root + " && sed -i s/ASK/APPROVED/ permissions.org", "X=" + path + "; printf y > $X",
			} {
				m.does(t, fmt.Sprintf("(agent-run %s :shell t)", quoteLisp(command)))
			}
		}
		for _, q := range *asked {
			if strings.Contains(q.Text, "amacs approve") || strings.Contains(q.Text, "amacs purge") {
				t.Errorf("it was asked: %s", q.Text)
			}
		}
		// What was answered with yes is written down in permissions.org; nothing else is.
		now := before()
		cut := func(all string) string {
			_, rest, _ := strings.Cut(all, home.ConfigFile+"\n")
			return rest
		}
		if cut(now) != cut(was) {
			t.Errorf("%s: the files changed", answer)
		}
		b, err := os.ReadFile(filepath.Join(root, home.Permissions))
		r.must(err)
		if !strings.Contains(string(b), "* ASK ") || strings.Contains(string(b), "* APPROVED x") {
			t.Errorf("%s: the request was answered:\n%s", answer, b)
		}
	}
	// No function of the evaluator names the file.
	for _, f := range Functions() {
		if strings.Contains(f.Name, "approve") || strings.Contains(f.Name, "permission") && f.Name != "agent-request-permission" {
			t.Errorf("%s answers requests?", f.Name)
		}
	}
}

// An unconfined command that answers a request itself does not get away with it.
func TestUnconfinedCommandAnswers(t *testing.T) {
	r := newRig(t)
	m, _ := r.hands("")
	m.does(t, `(agent-write-file "a.txt" "text")`)
	src, err := m.draft.Bytes(home.Permissions)
	r.must(err)
	r.must(r.Change(t.Context(), "REVIEW", "a request", home.Edit{What: "x", Apply: func(d *home.Draft) error { return d.Put(home.Permissions, src) }}))
	r.write(filepath.Join(r.cwd, "sly"), "sed -i 's/^[*] ASK/* APPROVED/' "+r.home.Path(home.Permissions)+"\n")
	m, asked := r.hands(permit.Yes)
	got := m.does(t, `(agent-run "sh" "sly" :free t)`)
	if len(*asked) != 1 || !strings.HasPrefix(got, `"exit 0`) {
		t.Fatalf("%s; asked %+v", got, *asked)
	}
	for _, q := range home.Requests([]byte(r.read(home.Permissions))) {
		if q.Call == `(agent-write-file "a.txt" "text")` && !q.Waits() {
			t.Errorf("the request is %+v", q)
		}
	}
}

// inner are the functions that touch the home alone, by edits. Every other one
// passes the gate; outer has a call of it that the rules below deny.
var inner = strings.Fields(`agent-switch-thread agent-complete-thread agent-list-threads agent-thread-remove-buffer
	agent-list-available-skills agent-bind-skill-to-thread agent-unbind-skill agent-read-skill agent-create-skill
	agent-get agent-set agent-add-note agent-edit-note agent-list-notes agent-read-note agent-log agent-show-tick agent-diff agent-search-history
	agent-request-permission agent-list-tools agent-tool-schema`)

var outer = map[string]string{
	"agent-read-file":         `(agent-read-file "a.txt")`,
	"agent-list-directory":    `(agent-list-directory ".")`,
	"agent-search-files":      `(agent-search-files "x")`,
	"agent-write-file":        `(agent-write-file "a.txt" "x")`,
	"agent-edit-file":         `(agent-edit-file "a.txt" "one" "two")`,
	"agent-run":               `(agent-run "ls")`,
	"agent-create-thread":     `(agent-create-thread "other" :concern "c" :buffers '("a.txt"))`,
	"agent-thread-add-buffer": `(agent-thread-add-buffer "work" "a.txt")`,
	"agent-call-tool":         `(agent-call-tool "server" "tool")`,
}

// A new function of the agent is inner, or passes the gate: a human's deny stops it.
func TestEveryFunctionPassesTheGate(t *testing.T) {
	r := newRig(t)
	r.write(filepath.Join(r.cwd, "a.txt"), "one\n")
	r.write(home.ConfigFile, fmt.Sprintf("rules: {deny: [{folder: %s}, {command: ls}, {tool: server}]}\n", r.cwd))
	_, err := r.Ready(t.Context())
	r.must(err)
	m, asked := r.hands(permit.Yes)
	for _, f := range Functions() {
		call, isOuter := outer[f.Name]
		if isInner := slices.Contains(inner, f.Name); isInner == isOuter {
			t.Errorf("%s is neither inner nor shown to pass the gate", f.Name)
			continue
		}
		if got := m.does(t, call); isOuter && !strings.HasPrefix(got, "error: refused: config.yaml denies it") {
			t.Errorf("%s: %s", call, got)
		}
	}
	if len(*asked) > 0 {
		t.Errorf("asked: %+v", *asked)
	}
}

// What is shown as a buffer is read: it passes the gate when it becomes one, and
// where a link leads later is looked at anew.
func TestBuffersPassTheGate(t *testing.T) {
	r := newRig(t)
	secret := filepath.Join(t.TempDir(), "elsewhere.txt")
	r.write(secret, "TOP-SECRET\n")
	r.write(filepath.Join(r.cwd, "a.txt"), "mine\n")
	m, _ := r.hands("")
	for _, form := range []string{
		fmt.Sprintf(`(agent-create-thread "x" :concern "c" :buffers '("a.txt" %q))`, secret),
		fmt.Sprintf(`(progn (agent-create-thread "x" :concern "c") (agent-switch-thread "x") (agent-thread-add-buffer "x" %q))`, secret),
	} {
		if got := m.does(t, form); !strings.Contains(got, "not done yet: p-") {
			t.Errorf("%s: %s", form, got)
		}
	}
	m.does(t, `(agent-thread-add-buffer "x" "a.txt")`)
	shown := func() string {
		m.loadThread()
		return bufferTexts(m.Buffers)
	}
	if got := shown(); got != "mine\n" {
		t.Fatalf("shown: %q", got)
	}
	r.must(os.Remove(filepath.Join(r.cwd, "a.txt")))
	r.must(os.Symlink(secret, filepath.Join(r.cwd, "a.txt")))
	if got := shown(); !strings.Contains(got, "(not shown: it is a link to ") || strings.Contains(got, "TOP-SECRET") {
		t.Errorf("shown: %q", got)
	}
}

func bufferTexts(bs []Buffer) (all string) {
	for _, b := range bs {
		all += b.Text
	}
	return all
}

// A command that may look through the human's home is not shown where the
// credentials are.
func TestGrantLeavesSecretsOut(t *testing.T) {
	user := t.TempDir()
	t.Setenv("HOME", user)
	for _, path := range []string{".ssh/id_ed25519", ".config/gh/hosts.yml", ".config/editor/init", "code/x/main.go", "code/x/.env", "notes.txt", ".netrc"} {
		path = filepath.Join(user, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for from, want := range map[string]string{
		"":                ".config/editor code notes.txt",
		".config":         ".config/editor",
		"code":            "code",
		"code/x/.env":     "code/x/.env",
		".ssh/id_ed25519": ".ssh/id_ed25519",
	} {
		var got []string
		for _, p := range withoutSecrets(filepath.Join(user, from)) {
			rel, _ := filepath.Rel(user, p)
			got = append(got, rel)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", from, got, want)
		}
	}
}
