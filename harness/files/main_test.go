package files_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The settings of whoever runs the tests are none of theirs.
func TestMain(m *testing.M) {
	if what := os.Getenv("FILES_TEST_CHILD"); what != "" {
		os.Exit(child(what))
	}
	home, err := os.MkdirTemp("", "files")
	if err != nil {
		panic(err)
	}
	os.Setenv("HOME", home)
	os.Unsetenv("XDG_CONFIG_HOME")
	os.Unsetenv("RIPGREP_CONFIG_PATH")
	unix.Umask(0o022)
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

// folder is an empty folder whose path has no link in it.
func folder(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// put writes files below dir, given as name and text in turn; a name that ends
// in a slash is a folder.
func put(t testing.TB, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		at := filepath.Join(dir, files[i])
		err := os.MkdirAll(filepath.Dir(at), 0o755)
		if err == nil && strings.HasSuffix(files[i], "/") {
			err = os.MkdirAll(at, 0o755)
		} else if err == nil {
			err = os.WriteFile(at, []byte(files[i+1]), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func get(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantError checks that an error says so.
func wantError(t testing.TB, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("error %q, want one with %q", fmt.Sprint(err), says)
	}
}
