package process

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() {
	parts["loopback"] = func([]string) {
		for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
			l, err := net.Listen("tcp", address)
			if err != nil {
				fmt.Println(err)
				syscall.Exit(1)
			}
			go net.Dial("tcp", l.Addr().String())
			if _, err := l.Accept(); err != nil {
				fmt.Println(err)
				syscall.Exit(1)
			}
		}
	}
	parts["dial"] = func(args []string) {
		if err := ask("tcp", args[0]); err != nil {
			fmt.Println(err)
			syscall.Exit(1)
		}
	}
}

// What a confined command is to be able to do.
func TestInside(t *testing.T) {
	s := Supported()
	if !s.Files {
		t.Skip(s)
	}
	t.Parallel()
	dir := t.TempDir()
	in, ro, secret := filepath.Join(dir, "in"), filepath.Join(dir, "ro"), filepath.Join(dir, "secret")
	for _, err := range []error{
		os.MkdirAll(filepath.Join(in, "ro"), 0o755), os.MkdirAll(filepath.Join(in, "kept/deep"), 0o755), os.WriteFile(filepath.Join(in, "kept/f"), []byte("kept\n"), 0o644), os.MkdirAll(filepath.Join(ro, "rw"), 0o755), os.Mkdir(secret, 0o755),
		os.WriteFile(filepath.Join(ro, "file"), []byte("ro\n"), 0o644),
		os.WriteFile(filepath.Join(secret, "one"), []byte("one\n"), 0o644),
		os.WriteFile(filepath.Join(secret, "two"), []byte("two\n"), 0o644),
		os.WriteFile(filepath.Join(secret, "prog"), []byte("#!/bin/sh\n"), 0o755),
		os.Symlink(in, filepath.Join(dir, "link")), os.Symlink("loop", filepath.Join(dir, "loop")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("pong"))
			c.Close()
		}
	}()

	grant := func(change func(*Grant)) func(*Command) { return func(c *Command) { change(c.Grant) } }
	for name, c := range map[string]struct {
		text    string
		change  func(*Command)
		out     string
		fails   string // as an error of Run
		private bool   // needs namespaces
	}{
		"write":             {text: "mkdir a b && echo x >a/f && mv a/f b/f && ln b/f a/g && ln -s g a/h && chmod 600 a/h && touch -d @1 a/g && mkfifo p && cat a/h && rm -r a b p", out: "x\n"},
		"devices":           {text: "echo x >/dev/null; echo x >>/dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c; cat </dev/null", out: "3\n3\n"},
		"dev/fd":            {text: "echo out >/dev/stdout; echo err >/dev/stderr; cat <(echo sub); cat <<<here", out: "out\nerr\nsub\nhere\n"},
		"shared memory":     {text: "echo x >/dev/shm/x && cat /dev/shm/x", out: "x\n", private: true},
		"its own process":   {text: "read -r a b rest </proc/self/stat; echo $b; test -r /proc/cpuinfo", out: "(bash)\n"},
		"others are hidden": {text: "set -- /proc/[0-9]*; echo $#", out: "2\n", private: true}, // the helper and bash
		"the root folder":   {text: "ls /; touch /x", private: true, out: "*touch: cannot touch '/x': Read-only file system\n"},
		"its own signals":   {text: "sleep 1000 & kill $!; wait $!; echo $?", out: "143\n"},
		"no core dumps":     {text: "ulimit -c", out: "0\n"},
		"not to write":      {text: "cat ../ro/file; (echo x >../ro/file) 2>/dev/null || echo no", change: grant(func(g *Grant) { g.Read = append(g.Read, ro) }), out: "ro\nno\n"},
		"write in read": {text: "echo x >../ro/rw/f && (echo x >../ro/f) 2>/dev/null || echo no", change: grant(func(g *Grant) {
			g.Read, g.Write = append(g.Read, ro), append(g.Write, ro+"/rw")
		}), out: "no\n"},
		"read in write": {text: "echo x >ro/f && cat ro/f", change: grant(func(g *Grant) { g.Read = append(g.Read, in+"/ro") }), out: "x\n"},
		"a guard": {text: "cat kept/f; (echo x >>kept/f) 2>/dev/null || echo no; (echo x >kept/new) 2>/dev/null || echo no; mv kept gone 2>/dev/null || echo no; echo x >kept/deep/f && cat kept/deep/f; echo y >ro/g && cat ro/g",
			change: grant(func(g *Grant) {
				g.Guard, g.Write = []string{in + "/kept", in + "/nothing"}, append(g.Write, in+"/kept/deep")
			}), out: "kept\nno\nno\nno\nx\ny\n"},
		"a file alone":    {text: "cat ../secret/one; cat ../secret/two 2>/dev/null || echo no", change: grant(func(g *Grant) { g.Read = append(g.Read, secret+"/one") }), out: "one\nno\n"},
		"a file to write": {text: "echo more >>../secret/two; cat ../secret/two", change: grant(func(g *Grant) { g.Write = append(g.Write, secret+"/two") }), out: "two\nmore\n"},
		"by a link": {text: "pwd; echo x >../link/g; cat " + dir + "/link/g", change: func(c *Command) {
			c.Dir, c.Grant.Write = dir+"/link", []string{dir + "/link"}
		}, out: in + "\nx\n"},
		"what is not there": {text: "echo x", change: grant(func(g *Grant) {
			g.Read, g.Write = append(g.Read, dir+"/gone", dir+"/loop"), append(g.Write, ro+"/file/x")
		}), out: "x\n"},
		"everything to read": {text: "cat ../secret/one; (echo x >../secret/one) 2>/dev/null || echo no; echo x >f && cat f; echo x >/dev/null", change: grant(func(g *Grant) {
			g.Read = []string{"/"}
		}), out: "one\nno\nx\n"},
		"everything to write": {text: "echo x >../secret/new; cat ../secret/new", change: grant(func(g *Grant) { g.Write = []string{"/"} }), out: "x\n"},
		"its own loopback":    {text: self + " loopback", private: true},
		"the network":         {text: self + " dial " + l.Addr().String(), change: grant(func(g *Grant) { g.Network = true })},
		"no network":          {text: self + " dial " + l.Addr().String() + " >/dev/null || echo no", out: "no\n"},
		"python":              {text: "test -x /usr/bin/python3 || { echo ok; exit; }; /usr/bin/python3 -c 'import multiprocessing, subprocess, tempfile; tempfile.TemporaryFile(dir=\".\"); print(subprocess.check_output([\"echo\", \"ok\"]).decode(), end=\"\")'", out: "ok\n"},
		"folder not granted":  {text: "pwd", change: func(c *Command) { c.Dir = ro }, fails: "its folder " + ro + " is not among those granted", private: true},
		"program not granted": {text: "", change: func(c *Command) { c.Argv = []string{secret + "/prog"} }, fails: "not among what was granted"},
		"not absolute":        {text: "", change: grant(func(g *Grant) { g.Read = []string{"usr"} }), fails: `the granted path "usr" is not absolute`},
	} {
		t.Run(name, func(t *testing.T) {
			if c.private && !s.Network {
				t.Skip("needs namespaces")
			}
			command := confined(shell(c.text), in)
			command.Dir = in
			if c.change != nil {
				c.change(&command)
			}
			r, err := Run(t.Context(), command)
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%v, not %s; %+v", err, c.fails, r)
				}
				return
			}
			end, part := strings.CutPrefix(c.out, "*")
			if err != nil || r.Out != c.out && !(part && strings.HasSuffix(r.Out, end)) || r.Left != 0 {
				t.Errorf("%v: %+v", err, r)
			}
		})
	}
}

// A Go module is built and tested: with the machine's cache, as compiling the
// standard library takes half a minute; AMACS_LONG=1 for a cache of its own.
func TestGoConfined(t *testing.T) {
	s := Supported()
	if !s.Files {
		t.Skip(s)
	}
	if testing.Short() {
		t.Skip("compiles and links")
	}
	t.Parallel()
	dir := t.TempDir()
	tmp := filepath.Join(dir, "tmp")
	for _, err := range []error{
		os.Mkdir(tmp, 0o755),
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module tiny\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "tiny.go"), []byte("package main\n\nfunc main() { println(twice(21)) }\n\nfunc twice(n int) int { return 2 * n }\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "tiny_test.go"), []byte("package main\n\nimport \"testing\"\n\nfunc TestTwice(t *testing.T) {\n\tif twice(2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n"), 0o644),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := confined(shell("go build -o tiny . && ./tiny && go test ."), dir)
	c.Dir = dir
	env, err := exec.Command("go", "env", "GOROOT", "GOCACHE").Output()
	if err != nil {
		t.Skip("needs go")
	}
	goroot, cache, _ := strings.Cut(strings.TrimSpace(string(env)), "\n")
	if _, err := os.Stat(cache); err != nil || os.Getenv("AMACS_LONG") != "" {
		cache = filepath.Join(tmp, "cache")
	}
	c.Grant.Write = append(c.Grant.Write, cache)
	c.Grant.Read = append(c.Grant.Read, goroot)
	c.Env = []string{"PATH=" + goroot + "/bin:/usr/bin:/bin", "GOCACHE=" + cache, "GOPATH=" + tmp + "/go", "GOTMPDIR=" + tmp,
		"TMPDIR=" + tmp, "HOME=" + tmp, "CGO_ENABLED=0", "GOTOOLCHAIN=local", "GOFLAGS=-vet=off", fmt.Sprint("GOMAXPROCS=", runtime.NumCPU())}
	c.Time = 5 * time.Minute
	r, err := Run(t.Context(), c)
	if err != nil || r.Code != 0 || !strings.HasPrefix(r.Out, "42\nok  \ttiny") {
		t.Errorf("%v: %+v", err, r)
	}
}
