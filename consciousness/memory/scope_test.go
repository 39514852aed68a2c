package memory

import (
	"path"
	"strings"
	"testing"
)

func TestScope(t *testing.T) {
	for text, file := range map[string]string{
		"global":                "global.org",
		"project amacs-x":       "projects/amacs-x.org",
		"project amacs-x a/b":   "projects/amacs-x.org",
		"branch amacs-x a/b":    "projects/amacs-x/a--b.org",
		"thread rust-debugging": "threads/rust-debugging.org",
	} {
		s := ParseScope(text)
		if s.String() != text || s.File() != file {
			t.Errorf("%q is %+v, %q, in %s", text, s, s, s.File())
		}
	}
	for _, text := range []string{"", "moon", "global x", "project", "project ", "branch x", "thread", "branch a b c", "Global"} {
		if s := ParseScope(text); s != (Scope{}) || s.File() != "" {
			t.Errorf("%q is %+v", text, s)
		}
	}
	b := Scope{Level: Branch, Project: "p", Branch: "x"}
	if b.For(Medium) != b || b.For(High) != (Scope{Level: Project, Project: "p", Branch: "x"}) || (Scope{Level: Thread, Thread: "x"}).For(High).Level != Thread {
		t.Error("important ones go to another place")
	}
}

func TestScopeOf(t *testing.T) {
	for _, text := range []string{"global", "project amacs-x", "branch amacs-x main", "branch amacs-x a/b", "branch amacs-x A--b", "thread rust-debugging", "thread Über alles"} {
		s := ParseScope(text)
		m := full("k3f", "x")
		m.Scope = s
		for name, src := range map[string][]byte{"its preamble": Preamble(s), "with CRLF": []byte(strings.ReplaceAll(string(Preamble(s)), "\n", "\r\n")), "a memory": []byte(m.file())} {
			for n := range 3 {
				if got := ScopeOf(Part(s.File(), n), src); got != s {
					t.Errorf("by %s %s is %q, want %q", name, s.File(), got, s)
				}
			}
		}
		if got := ScopeOf(s.File(), nil); got != s && got != (Scope{}) || (got == s) == strings.Contains(s.File(), "~") {
			t.Errorf("%s alone is %q", s.File(), got)
		}
	}
	for _, file := range []string{"", "x.org", "projects/a/b/c.org", "threads/x.txt", "global", "projects/.org"} {
		if got := ScopeOf(file, nil); got != (Scope{}) {
			t.Errorf("%q is %q", file, got)
		}
	}
}

func TestPart(t *testing.T) {
	for n, want := range []string{"a/b.org", "a/b.org", "a/b+2.org", "a/b+3.org"} {
		got := Part("a/b.org", n)
		if file, m := CutPart(got); got != want || file != "a/b.org" || m != max(n, 1) {
			t.Errorf("part %d is %s, which is part %d of %s", n, got, m, file)
		}
	}
	for _, name := range []string{"b.org", "+2.org", "b+1.org", "b+02.org", "b+x.org", "b+2.txt"} {
		if file, n := CutPart(name); file != name || n != 1 {
			t.Errorf("%s is part %d of %s", name, n, file)
		}
	}
}

func TestRemote(t *testing.T) {
	for want, remotes := range map[string][]string{
		"github.com/me/amacs": {
			"https://github.com/me/amacs", "https://github.com/me/amacs.git", "https://github.com/me/amacs/", "https://github.com/me/amacs.git/",
			"http://GitHub.com/me/amacs", "https://me:pass@github.com/me/amacs.git", "https://tok@github.com:443/me/amacs",
			"git@github.com:me/amacs.git", "git@github.com:me/amacs", "github.com:me/amacs.git", "git@GITHUB.com:/me/amacs.git/",
			"ssh://git@github.com/me/amacs.git", "ssh://git@github.com:22/me/amacs", "SSH://github.com/me/amacs", "git+ssh://git@github.com/me/amacs",
			"git://github.com/me/amacs.git", "git://github.com:9418/me//amacs.git", "ssh://git@ssh.github.com:443/me/amacs.git",
			" https://github.com/me/amacs?x=y#z\n", "https://github.com./me/amacs",
		},
		"host/~me/a b":               {"ssh://host/~me/a%20b.git", "host:~me/a b.git"},
		"host":                       {"https://host", "https://host/"},
		"::1/x":                      {"ssh://git@[::1]:22/x.git", "git@[::1]:x"},
		"dev.azure.com/org/proj/rep": {"git@ssh.dev.azure.com:v3/org/proj/rep", "https://org@dev.azure.com/org/proj/_git/rep"},
		"/srv/x":                     {"/srv/x.git", "file:///srv/x.git", "/srv/x/", "/srv/x/.git", "file://localhost/srv/x", "../../srv/x.git"},
		"/home/me/x":                 {"x", "./x.git", "../me/x/"},
		"/home/me/c:/x":              {"c:/x"},
	} {
		for _, r := range remotes {
			if got := Remote(r, "/home/me"); got != want {
				t.Errorf("%q is %q, want %q", r, got, want)
			}
		}
	}
}

func TestProjectKey(t *testing.T) {
	ssh, https := ProjectKey("git@github.com:me/amacs.git", "/a"), ProjectKey("https://x:y@github.com/me/amacs", "/b")
	if ssh != https || !strings.HasPrefix(ssh, "amacs-") || len(ssh) != len("amacs-")+10 {
		t.Errorf("%s and %s", ssh, https)
	}
	seen := map[string][2]string{}
	for _, p := range [][2]string{
		{"git@github.com:me/amacs.git", ""}, {"git@github.com:Me/amacs.git", ""}, {"git@github.com:you/amacs.git", ""}, {"git@gitlab.com:me/amacs", ""},
		{"", "/home/me/amacs"}, {"", "/home/me/Amacs"}, {"", "/"}, {"/home/me/amacs", ""}, {"", "/home/me/ü"}, {"", "/home/me/" + strings.Repeat("x", 200)},
	} {
		key := ProjectKey(p[0], p[1])
		if other, ok := seen[key]; ok {
			t.Errorf("%v and %v are both %s", p, other, key)
		}
		seen[key] = p
		if len(key) > 60 || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "" || key[0] == '-' || key[0] == '.' {
			t.Errorf("%v is %q", p, key)
		}
	}
	if ProjectKey("", "/home/me/x/") != ProjectKey(" ", "/home/me/x") {
		t.Error("a slash at the end counts")
	}
}

func TestBranchFile(t *testing.T) {
	for branch, want := range map[string]string{"main": "main", "feat/login": "feat--login", "feat/-x": "feat---x", "v1.2_x": "v1.2_x"} {
		if got := BranchFile(branch); got != want {
			t.Errorf("%q is %q", branch, got)
		}
	}
	for _, branch := range []string{"a--b", "Main", "ü", "a\\b", ".x", "x.", "a+b", "detached~", "con:", strings.Repeat("x", 61), "feat-/x", "--"} {
		if got := BranchFile(branch); !strings.Contains(got, "~") {
			t.Errorf("%q is %q, and could be another", branch, got)
		}
	}
}

// FuzzBranchFile: two branches, two files, also where letters have no case.
func FuzzBranchFile(f *testing.F) {
	f.Add("a/b", "a--b")
	f.Add("A", "a")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := BranchFile(a), BranchFile(b)
		if a != b && strings.EqualFold(x, y) {
			t.Fatalf("%q and %q are both %q", a, b, x)
		}
		if x != path.Base(x) || strings.HasPrefix(x, ".") || len(x) > 80 || strings.Trim(x, "abcdefghijklmnopqrstuvwxyz0123456789-_.~") != "" {
			t.Fatalf("%q is %q", a, x)
		}
		if file, n := CutPart(x + ".org"); n != 1 || file != x+".org" {
			t.Fatalf("%q is taken for part %d of %s", a, n, file)
		}
	})
}

// FuzzRemote: no remote is lost on what a remote is not, and none is changed
// twice.
func FuzzRemote(f *testing.F) {
	f.Add("git@github.com:me/amacs.git", "/r")
	f.Add("ssh://[::1]:22//.git", "/")
	f.Fuzz(func(t *testing.T, remote, root string) {
		key := ProjectKey(remote, root)
		if key == "" || len(key) > 60 || path.Base(key) != key || strings.ContainsAny(key, " @:") {
			t.Fatalf("%q is %q", remote, key)
		}
		if s := (Scope{Level: Project, Project: key}); ParseScope(s.String()) != s {
			t.Fatalf("%q is no scope", s)
		}
	})
}
