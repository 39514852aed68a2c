package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"amacs/harness/home"
)

// The README's first screen is what happens on an empty machine.
func TestReadme(t *testing.T) {
	src, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```console\n(.*?)```").FindSubmatch(src)
	if m == nil {
		t.Fatal("the README has no session")
	}
	user, shims := t.TempDir(), t.TempDir()
	// `go run ./cmd/amacs` is answered by this binary, see TestMain; TestGoRun
	// runs the real one.
	shim := "#!/bin/sh\n[ \"$1 $2\" = 'run ./cmd/amacs' ] || exit 99\nshift 2\nexec amacs \"$@\"\n"
	if err := os.WriteFile(filepath.Join(shims, "go"), []byte(shim), 0o755); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "HOME="+user, "PATH="+shims+":"+os.Getenv("PATH"), "TZ=UTC",
		"AMACS_HOME=", "AMACS_PROVIDER=", "AMACS_MODEL=", "XDG_CONFIG_HOME=", "GIT_CONFIG_NOSYSTEM=1")
	hash, took := regexp.MustCompile(`(?m)^[0-9a-f]{7} `), regexp.MustCompile(`ticks in \d+s`)
	for _, part := range strings.Split("\n"+string(m[1]), "\n$ ")[1:] {
		command, want, _ := strings.Cut(part, "\n")
		c := exec.Command("bash", "-c", command)
		c.Dir, c.Env = "../..", env
		out, err := c.CombinedOutput()
		got := strings.ReplaceAll(string(out), user, "~")
		if err != nil {
			t.Errorf("$ %s\n%v", command, err)
		}
		trim := func(s string) string {
			return took.ReplaceAllString(hash.ReplaceAllString(strings.TrimRight(s, "\n"), "0000000 "), "ticks in 0s")
		}
		if trim(got) != trim(want) {
			t.Errorf("$ %s\nthe README shows:\n%s\nthe program printed:\n%s", command, want, got)
		}
	}
}

// What CONTRIBUTING names exists: fuzz targets, benchmarks, flags, files.
func TestContributing(t *testing.T) {
	src, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`go test (\./\S+) [^`+"`"+`]*-(fuzz|bench) (\w+)`).FindAllSubmatch(src, -1) {
		kind := map[string]string{"fuzz": "Fuzz", "bench": "Benchmark"}[string(m[2])]
		name := kind + strings.TrimPrefix(string(m[3]), kind)
		if !testsHold(t, string(m[1]), "func "+name) {
			t.Errorf("CONTRIBUTING names %s, which is not in %s", name, m[1])
		}
	}
	for _, m := range regexp.MustCompile(`go test ([^`+"`"+`]*) -update`).FindAllSubmatch(src, -1) {
		for _, dir := range strings.Fields(string(m[1])) {
			if !testsHold(t, dir, `flag.Bool("update"`) {
				t.Errorf("CONTRIBUTING gives -update to %s, whose tests have no such flag", dir)
			}
		}
	}
	for _, m := range regexp.MustCompile("`([\\w./-]+/[\\w./-]+)`").FindAllSubmatch(src, -1) {
		if _, err := os.Stat("../../" + string(m[1])); err != nil {
			t.Errorf("CONTRIBUTING names a path: %v", err)
		}
	}
}

func testsHold(t *testing.T, dir, text string) bool {
	t.Helper()
	files, err := filepath.Glob("../../" + dir + "/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(path string) bool {
		b, err := os.ReadFile(path)
		return err == nil && bytes.Contains(b, []byte(text))
	})
}

func TestGoRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program")
	}
	dir := filepath.Join(t.TempDir(), "agent")
	c := exec.Command("go", "run", "./cmd/amacs")
	c.Dir = "../.."
	c.Env = append(os.Environ(), "AMACS_HOME="+dir, "AMACS_PROVIDER=", "AMACS_MODEL=")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if got := out.String(); got != "made a new home in "+dir+"\n" {
		t.Errorf("printed %q", got)
	}
	if !home.Exists(dir) {
		t.Error("no home was made")
	}
}
