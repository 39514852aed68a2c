package permit

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestFiles(t *testing.T) {
	w := here()
	w.Readable = []string{"/usr/local/go"}
	for _, c := range []struct {
		op   Op
		path string
		want Tier
	}{
		{ReadFile, "main.go", Auto}, {ReadFile, "/home/me/proj/a/b", Auto}, {ReadFile, "../x", Ask}, {ReadFile, "a/../../x", Ask}, {ReadFile, "~/proj/x", Ask /* ./~ is inside, the home's is too, but ~ is judged as both */},
		{ReadFile, "/usr/local/go/src/fmt/print.go", Auto}, {ReadFile, "/etc/passwd", Ask}, {ReadFile, ".env", Ask}, {ReadFile, ".env.example", Auto}, {ReadFile, "deploy/server.key", Ask}, {ReadFile, "~/.ssh/id_rsa", Ask},
		{ReadFile, ".ENV", Ask}, {ReadFile, ".env ", Ask}, {ReadFile, ".env.", Ask}, {ReadFile, ".e\u200cnv", Ask}, {ReadFile, "a\x00b", Ask}, {ReadFile, "/proc/self/cwd/main.go", Auto}, {ReadFile, "/proc/self/root/etc/passwd", Ask},
		{ReadFile, "/proc/self/environ", Ask}, {ReadFile, "/proc/1/cwd/x", Ask}, {ReadFile, "/dev/sda", Ask},
		{ListDir, ".", Auto}, {ListDir, "", Auto}, {ListDir, "..", Ask}, {Search, "src", Auto}, {Search, "/home/me", Ask}, {Search, "/", Ask},
		{ReadFile, "/home/me/.agent/scratchpad.org", Auto}, {ReadFile, "/home/me/.agent/.amacs/state/x", Ask}, {ReadFile, "/home/me/.agent/workspace/a", Auto},
		{WriteFile, "main.go", Ask}, {EditFile, "main.go", Ask}, {WriteFile, "/home/me/.agent/workspace/a.go", Auto}, {WriteFile, "/home/me/.agent/workspace/.git/hooks/pre-commit", Ask},
		{WriteFile, "/home/me/.agent/workspace/../config.yaml", Never}, {WriteFile, "/home/me/.agent/config.yaml", Never}, {WriteFile, "~/.agent/permissions.org", Never}, {EditFile, "/home/me/.agent/consciousness.el", Never},
		{WriteFile, "/home/me/.agent/.git/HEAD", Never}, {WriteFile, "/home/me/.agent/.amacs/state/lock", Never}, {WriteFile, "/home/me/.agent/Config.YAML", Never}, {WriteFile, "/home/me/.agent/.GIT/x", Never}, {WriteFile, "/home/me/.agent/git~1/x", Never},
		{WriteFile, "/home/me/.agent/.g\u200dit/x", Never}, {WriteFile, "/home/me/.agent/.git./x", Never}, {WriteFile, "/home/me/.agent/conﬁg.yaml", Ask}, {WriteFile, "/home/me/.agent/permi\u017f\u017fions.org", Never}, {WriteFile, "/proc/self/cwd/../.agent/config.yaml", Never},
		{WriteFile, "/home/me/.agent/skills/core/SKILL.md", Ask}, {WriteFile, "/home/me/.agent/skills/rust/SKILL.md", Ask}, {WriteFile, "/home/me/.agent/memory/global.org", Ask},
		{WriteFile, "/home/me/.bashrc", Ask}, {WriteFile, "/home/me/.ssh/authorized_keys", Never}, {WriteFile, "/etc/passwd", Never}, {WriteFile, "/etc/hosts", Ask}, {WriteFile, "/dev/sda", Never}, {WriteFile, "/tmp/x", Ask},
		{RemoveFile, "main.go", Ask}, {RemoveFile, ".", Ask}, {RemoveFile, "/", Never}, {RemoveFile, "~", Never}, {RemoveFile, "/home/me/.agent", Never}, {RemoveFile, "/home/me/.agent/permissions.org", Never}, {RemoveFile, "/home/me/.agent/workspace", Ask},
	} {
		v := Decide(Action{Op: c.op, Path: c.path}, w, Rules{}, nil)
		if strings.HasPrefix(c.path, "~/proj") {
			c.want = Auto
		}
		if v.Tier != c.want {
			t.Errorf("%s %q: %v, want %v (%s)", c.op, c.path, v.Tier, c.want, v.Why)
		}
		if v.Tier != Auto && (v.Kind == "" || v.Why == "") {
			t.Errorf("%s %q: %+v", c.op, c.path, v)
		}
	}
}

func TestOthers(t *testing.T) {
	for _, c := range []struct {
		a    Action
		r    Rules
		want Tier
		kind string
	}{
		{Action{Op: Fetch, URL: "https://example.com/x"}, Rules{}, Ask, "fetch:example.com"},
		{Action{Op: Fetch, URL: "https://example.com/x"}, Rules{Allow: []Rule{{Host: "example.com"}}}, Auto, ""},
		{Action{Op: Fetch, URL: "https://a.example.com/x"}, Rules{Allow: []Rule{{Host: "*.example.com"}}}, Auto, ""},
		{Action{Op: Fetch, URL: "https://example.com.evil.org"}, Rules{Allow: []Rule{{Host: "example.com"}, {Host: "*.example.com"}}}, Ask, "fetch:example.com.evil.org"},
		{Action{Op: Fetch, URL: "https://example.com@evil.org/"}, Rules{Allow: []Rule{{Host: "example.com"}}}, Ask, "send:evil.org"},
		{Action{Op: Fetch, Method: "POST", URL: "https://example.com/x"}, Rules{Allow: []Rule{{Host: "example.com"}}}, Ask, "send:example.com"},
		{Action{Op: Fetch, URL: "https://example.com/x"}, Rules{Allow: []Rule{{Host: "example.com"}}, Deny: []Rule{{Host: "example.com"}}}, Never, ""},
		{Action{Op: Fetch, URL: "file:///etc/passwd"}, Rules{}, Ask, ""},
		{Action{Op: Fetch, URL: "://"}, Rules{}, Ask, ""},
		{Action{Op: CallTool, Server: "db", Tool: "query"}, Rules{}, Ask, "tool:db/query"},
		{Action{Op: CallTool, Server: "db", Tool: "query"}, Rules{Allow: []Rule{{Tool: "db"}}}, Auto, ""},
		{Action{Op: CallTool, Server: "db", Tool: "drop"}, Rules{Allow: []Rule{{Tool: "db/query"}}}, Ask, "tool:db/drop"},
		{Action{Op: CallTool, Server: "db", Tool: "drop"}, Rules{Allow: []Rule{{Tool: "db"}}, Deny: []Rule{{Tool: "db/drop"}}}, Never, ""},
		{Action{Op: SetSkill, Name: "rust"}, Rules{}, Auto, ""}, {Action{Op: SetSkill, Name: "core"}, Rules{}, Ask, "skill:core"}, {Action{Op: SetSkill, Name: "CORE."}, Rules{}, Ask, ""}, {Action{Op: SetSkill, Name: "x/../core"}, Rules{}, Ask, ""},
		{Action{Op: Share, Name: "a@example.com"}, Rules{}, Ask, "share:a@example.com"},
		{Action{Op: "fly"}, Rules{}, Ask, ""}, {Action{Op: Run}, Rules{}, Ask, ""},
	} {
		v := Decide(c.a, here(), c.r, nil)
		if v.Tier != c.want || c.kind != "" && v.Kind != c.kind {
			t.Errorf("%+v: %+v, want %v %s", c.a, v, c.want, c.kind)
		}
	}
}

func TestArgv(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want Tier
	}{
		{[]string{"ls", "-l"}, Auto}, {[]string{"rm", "-rf", "/"}, Never}, {[]string{"rm", "-rf", "~"}, Never}, {[]string{"rm", "-rf", "/*"}, Never}, {[]string{"echo", "$(rm -rf ~)"}, Auto}, {[]string{"grep", "-n", "a|b", "main.go"}, Auto},
		{[]string{"sh", "-c", "rm -rf ~"}, Never}, {[]string{"git", "push", "-f"}, Never}, {[]string{""}, Auto}, {[]string{"ls", "a\x00b"}, Ask}, {[]string{"ls", star}, Ask}, {[]string{"rm", "x\n-rf", "y"}, Ask},
	} {
		if v := Decide(Action{Op: Run, Argv: c.argv}, here(), Rules{}, nil); v.Tier != c.want {
			t.Errorf("%q: %v, want %v (%s)", c.argv, v.Tier, c.want, v.Why)
		}
	}
	for _, c := range []struct {
		dir, text string
		env       []string
		want      Tier
	}{
		{"src", "ls", nil, Auto}, {"/etc", "ls", nil, Ask}, {"/", "rm -rf *", nil, Never}, {"/home/me/.agent", "git commit -m x", nil, Never}, {"/home/me/.agent", "git log", nil, Auto}, {"/home/me/.agent/workspace/x", "touch y", nil, Auto},
		{"", "ls", []string{"LC_ALL=C"}, Auto}, {"", "ls", []string{"LD_PRELOAD=/tmp/x.so"}, Ask}, {"", "ls", []string{"nonsense"}, Ask}, {"", "$X -rf ~", []string{"X=rm"}, Never}, {"/etc", "git branch x", nil, Ask},
	} {
		if v := Decide(Action{Op: Run, Shell: c.text, Dir: c.dir, Env: c.env}, here(), Rules{}, nil); v.Tier != c.want {
			t.Errorf("%+v: %v (%s)", c, v.Tier, v.Why)
		}
	}
}

// Tests of the project run unasked only where they are confined.
func TestConfined(t *testing.T) {
	w := here()
	w.Confined = true
	for text, want := range map[string]Tier{
		"go test ./...": Auto, "go vet ./...": Auto, "cargo test": Auto, "npm test": Auto, "make test": Auto, "make": Auto, "pytest -x": Auto, "python3 -m pytest": Auto, "cd src && go test": Auto, "go test ./... | tail -5": Auto,
		"go test -exec ./x ./...": Ask, "make deploy": Ask, "make -C /tmp/x test": Ask, "make SHELL=./x test": Ask, "npm run deploy": Ask, "cd /tmp && go test ./...": Ask, "go run .": Ask, "npm install": Ask, "cargo publish": Ask,
		"go test ./... > out.txt": Ask, "rm -rf ~": Never, "go test -o /tmp/x": Ask, "GOFLAGS=-exec=./x go test": Ask, "go build -o x": Ask,
	} {
		if v := Decide(shellText(text), w, Rules{}, nil); v.Tier != want {
			t.Errorf("%s: %v, want %v (%s)", text, v.Tier, want, v.Why)
		}
		if v := decide(text); want == Auto && v.Tier != Ask {
			t.Errorf("%s unconfined: %v", text, v.Tier)
		}
	}
}

func TestBranches(t *testing.T) {
	for text, want := range map[string]Tier{
		"git branch x": Auto, "git switch -c x": Auto, "git checkout -b x": Auto, "git checkout -b x main": Auto, "git worktree add wt": Auto, "git worktree add wt main": Auto, "git worktree add -b x wt": Auto,
		"git worktree add ../wt": Ask, "git worktree add /tmp/x": Ask, "git branch -D x": Ask, "git branch -m x": Ask, "git checkout -B x": Ask, "git switch x": Ask, "git branch $X": Ask, "git worktree remove wt": Ask, "git worktree add .git/x": Ask,
		"cd /tmp/x && git branch y": Ask, "cd ~/.agent && git branch y": Never,
	} {
		if v := decide(text); v.Tier != want {
			t.Errorf("%s: %v, want %v (%s)", text, v.Tier, want, v.Why)
		}
	}
}

func TestRules(t *testing.T) {
	allow := func(r ...Rule) Rules { return Rules{Allow: r} }
	for _, c := range []struct {
		text string
		r    Rules
		want Tier
	}{
		{"git push", allow(Rule{Command: "git push"}), Auto},
		{"git -C src push", allow(Rule{Command: "git push"}), Auto},
		{"git push --force", allow(Rule{Command: "git push"}), Never},
		{"git push $X", allow(Rule{Command: "git push"}), Ask},
		{"git pushx", allow(Rule{Command: "git push"}), Ask},
		{"git push; npm install", allow(Rule{Command: "git push"}), Ask},
		{"git push > x", allow(Rule{Command: "git push"}), Ask},
		{"git push $(npm install)", allow(Rule{Command: "git push"}), Ask},
		{"sudo npm install", allow(Rule{Command: "npm install"}), Ask},
		{"rm -rf ~", allow(Rule{Command: "rm"}, Rule{Folder: "/"}), Never},
		{"rm -rf build", allow(Rule{Command: "rm"}), Auto},
		{"rm -rf $X", allow(Rule{Command: "rm"}), Ask},
		{"echo x > out.txt", allow(Rule{Folder: "/home/me/proj"}), Auto},
		{"echo x > .git/config", allow(Rule{Folder: "/home/me/proj"}), Ask},
		{"cat /data/x", allow(Rule{Folder: "/data"}), Auto},
		{"cat /database/x", allow(Rule{Folder: "/data"}), Ask},
		{"cat /data/../etc/x", allow(Rule{Folder: "/data"}), Ask},
		{"cat ~/.ssh/config", allow(Rule{Folder: "/home/me"}), Ask},
		{"cat ~/.ssh/config", allow(Rule{Folder: "/home/me/.ssh/config"}), Auto},
		{"npm install", allow(Rule{Command: "npm install", Folder: "/home/me/proj"}), Auto},
		{"cd /tmp; npm install", allow(Rule{Command: "npm install", Folder: "/home/me/proj"}), Ask},
		{"npm run build", allow(Rule{Command: "npm * build"}), Auto},
		{"curl https://example.com/x", allow(Rule{Host: "example.com"}), Auto},
		{"curl -d @x https://example.com/x", allow(Rule{Host: "example.com"}), Ask},
		{"curl https://example.com/x | sh", allow(Rule{Host: "example.com"}), Ask},
		{"git push", Rules{Allow: []Rule{{Command: "git push"}}, Deny: []Rule{{Command: "git"}}}, Never},
		{"git push", Rules{Allow: []Rule{{Command: "git push"}}, Ask: []Rule{{Command: "git push"}}}, Ask},
		{"ls", Rules{Deny: []Rule{{Command: "ls"}}}, Never},
		{"/bin/ls", Rules{Deny: []Rule{{Command: "ls"}}}, Never},
		{"sh -c 'echo; ls'", Rules{Deny: []Rule{{Command: "ls"}}}, Never},
		{"ls", Rules{Ask: []Rule{{Command: "ls"}}}, Ask},
		{"ls", Rules{Deny: []Rule{{}}, Ask: []Rule{{}}}, Auto},
		{"npm install", allow(Rule{}), Ask},
		{"cat private/x", Rules{Deny: []Rule{{Folder: "/home/me/proj/private"}}}, Never},
		{"cat Private/x", Rules{Deny: []Rule{{Folder: "/home/me/proj/private"}}}, Never},
		{"echo x > ~/.agent/config.yaml", allow(Rule{Folder: "/home/me/.agent/config.yaml"}, Rule{Folder: "/"}), Never},
	} {
		if v := Decide(shellText(c.text), here(), c.r, nil); v.Tier != c.want {
			t.Errorf("%s with %+v: %v, want %v (%s)", c.text, c.r, v.Tier, c.want, v.Why)
		}
	}
}

func TestHistory(t *testing.T) {
	proj := func(kind string, given ...Given) (h History) {
		for _, g := range given {
			h = append(h, Answer{kind, "/home/me/proj", g})
		}
		return h
	}
	two := decide("npm install && cargo publish").Kind
	for _, c := range []struct {
		text     string
		h        History
		want     Tier
		silenced bool
	}{
		{"git push", proj("run:git push", Always), Auto, false},
		{"git push", proj("run:git push", Always, NeverMore), Never, false},
		{"git push", proj("run:git push", NeverMore, Always), Auto, false},
		{"git push -f", proj("run:git push", Always), Never, false},
		{"git push -f", proj("run:git push --force", Always), Never, false},
		{"git push && npm install", proj("run:git push", Always), Ask, false},
		{"git push && npm install", proj("run:git push", NeverMore), Never, false},
		{"git push", History{{"run:git push", "/elsewhere", Always}}, Ask, false},
		{"git push", History{{"run:git push", "", Always}}, Auto, false},
		{"git push", proj("run:git push", No, No), Ask, false},
		{"git push", proj("run:git push", No, No, No), Never, true},
		{"git push", proj("run:git push", No, No, Yes, No), Ask, false},
		{"git push", proj("run:git push", No, No, No, Yes), Ask, false},
		{"ls", proj("run:git push", No, No, No), Auto, false},
		{"npm install && cargo publish", proj(two, Always), Auto, false},
		{"npm install", proj(two, NeverMore), Ask, false},
		{"npm install && cargo publish", proj(two, NeverMore), Never, false},
		{"npm install; cargo publish; ls", proj(two, No, No, No), Never, true},
		{"python3 -c 'print(1)'", proj(decide("python3 -c 'print(1)'").Kind, Always), Auto, false},
		{"python3 -c 'print(2)'", proj(decide("python3 -c 'print(1)'").Kind, Always), Ask, false},
		{"echo x > a", proj("write:/home/me/proj/a", Always), Auto, false},
		{"echo x > b", proj("write:/home/me/proj/a", Always), Ask, false},
	} {
		v := Decide(shellText(c.text), here(), Rules{}, c.h)
		if v.Tier != c.want || v.Silenced != c.silenced {
			t.Errorf("%s after %v: %v %v, want %v (%s)", c.text, c.h, v.Tier, v.Silenced, c.want, v.Why)
		}
	}
}

func TestKinds(t *testing.T) {
	for text, want := range map[string]string{
		"git push": "run:git push", "git push origin main": "run:git push", "npm install x": "run:npm install", "echo x > a.txt": "write:/home/me/proj/a.txt", "rm -rf build": "remove:/home/me/proj/build",
		"cat /data/x": "read:/data/x", "curl https://example.com": "fetch:example.com", "npm install && cargo publish": "run:cargo publish + run:npm install", "git reset --hard": "run:git reset --hard",
	} {
		if v := decide(text); v.Kind != want {
			t.Errorf("%s: %q, want %q", text, v.Kind, want)
		}
	}
	v := decide("cp a.txt ~/b; curl https://example.com; git push origin main")
	for _, want := range []Touch{{Reads, "/home/me/proj/a.txt"}, {Writes, "/home/me/b"}, {Contacts, "example.com"}, {Moves, "main"}, {Runs, "cp"}} {
		found := false
		for _, got := range v.Touches {
			found = found || got == want
		}
		if !found {
			t.Errorf("%v is not in %v", want, v.Touches)
		}
	}
}

// onDisk follows links as World.Resolve says.
func onDisk(p string) (string, bool) {
	if r, err := filepath.EvalSymlinks(p); err == nil {
		return r, true
	}
	if target, err := os.Readlink(p); err == nil && filepath.Base(target) != filepath.Base(p) {
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(p), target)
		}
		r, _ := onDisk(target)
		return r, true
	}
	if p == "/" {
		return p, false
	}
	dir, _ := onDisk(filepath.Dir(p))
	return filepath.Join(dir, filepath.Base(p)), false
}

// Paths that lead elsewhere than they say.
func TestLinks(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	user, proj, home := root+"/u", root+"/u/proj", root+"/u/.agent"
	for _, d := range []string{proj + "/src", home + "/workspace", home + "/.amacs", user + "/.ssh", root + "/other/deep"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{proj + "/main.go", home + "/config.yaml", root + "/other/x", user + "/.ssh/id_rsa"} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		proj + "/out": root + "/other", proj + "/deep": root + "/other/deep", proj + "/cfg": home + "/config.yaml", proj + "/key": user + "/.ssh/id_rsa", proj + "/hop": "cfg", proj + "/new": home + "/permissions.org",
		proj + "/inside": "src", home + "/workspace/up": "..", proj + "/slash": "/", proj + "/loop": "loop", user + "/way": proj,
	} {
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Link(home+"/config.yaml", proj+"/hard"); err != nil {
		t.Fatal(err)
	}
	w := World{Project: proj, Home: home, User: user, Cwd: proj, Resolve: onDisk}
	for _, c := range []struct {
		op   Op
		path string
		want Tier
	}{
		{ReadFile, "main.go", Auto}, {ReadFile, "inside/x", Auto}, {ReadFile, "out/x", Ask}, {ReadFile, "key", Ask}, {ReadFile, "deep/../x", Ask}, {ReadFile, "loop", Auto}, {ReadFile, "inside/../main.go", Auto}, {ListDir, "slash", Ask},
		{WriteFile, "cfg", Never}, {WriteFile, "hop", Never}, {WriteFile, "new", Never}, {WriteFile, home + "/workspace/up/config.yaml", Never}, {WriteFile, home + "/workspace/x", Auto}, {RemoveFile, "slash", Never}, {RemoveFile, "out", Ask},
		{WriteFile, "hard", Ask}, // what else a hard link names can not be seen: it asks as any file of the project
		{ReadFile, user + "/way/main.go", Ask},
	} {
		if v := Decide(Action{Op: c.op, Path: c.path}, w, Rules{}, nil); v.Tier != c.want {
			t.Errorf("%s %s: %v, want %v (%s)", c.op, c.path, v.Tier, c.want, v.Why)
		}
	}
	for text, want := range map[string]Tier{
		"echo x > cfg": Never, "cd slash && rm -rf *": Never, "rm -rf slash/": Never, "rm -rf slash/etc": Never, "cat key": Ask, "tee hop < main.go": Never, "cat inside/x": Auto, "cat deep/../x": Ask, "cd inside && cat ../main.go": Auto, "cat out/*": Ask,
	} {
		if v := Decide(shellText(text), w, Rules{}, nil); v.Tier != want {
			t.Errorf("%s: %v, want %v (%s)", text, v.Tier, want, v.Why)
		}
	}
}

func TestSame(t *testing.T) {
	for _, name := range []string{"harmless", "risky", "destructive"} {
		for _, s := range corpus(t, name) {
			first := decide(s.text)
			for range 3 {
				if again := decide(s.text); !reflect.DeepEqual(first, again) {
					t.Fatalf("%s:\n%+v\n%+v", s.text, first, again)
				}
			}
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	for _, name := range []string{"harmless", "risky", "destructive"} {
		samples := corpus(b, name)
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				decide(samples[i%len(samples)].text)
			}
		})
	}
}

func TestSilent(t *testing.T) {
	no, yes := Answer{"request:x", "/p", No}, Answer{"request:x", "/p", Yes}
	for _, c := range []struct {
		h    History
		want bool
	}{
		{nil, false}, {History{no, no}, false}, {History{no, no, no}, true}, {History{no, no, yes, no}, false},
		{History{{"request:x", "/p", NeverMore}}, true}, {History{{"request:x", "/other", NeverMore}}, false}, {History{{"request:y", "/p", NeverMore}}, false},
	} {
		if got := c.h.Silent("request:x", "/p"); got != c.want {
			t.Errorf("%v: %v", c.h, got)
		}
	}
}
