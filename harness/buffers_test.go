package harness

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// plainly takes nothing out.
func plainly(text string) string { return text }

func TestReadBuffer(t *testing.T) {
	dir := t.TempDir()
	now := time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now, now.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	write("a.rs", "fn f() {}\n")
	write("Makefile", "all:\n")
	write("latin.txt", strings.Repeat("plain text ", 10)+"caf\xe9\n")
	write("ten.txt", "ééééééééé\n")
	write("eleven.txt", "éééééééééé\n")
	write("wide.txt", strings.Repeat("漢", 5000))
	write("nul.txt", "a\x00b")
	write("noise", "\xff\xfe\xfd\xfc")
	write("empty.txt", "")
	for n := range listingMax + 5 {
		write(fmt.Sprintf("many/%03d", n), "")
	}
	write("some/b/c", "")
	write("some/a", "")
	if err := os.Mkdir(filepath.Join(dir, "none"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", filepath.Join(dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a.rs", filepath.Join(dir, "link.rs")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, mode, text string
	}{
		{"a.rs", "rust-mode", "fn f() {}\n"},
		{"link.rs", "rust-mode", "fn f() {}\n"},
		{"Makefile", "makefile-mode", "all:\n"},
		{"latin.txt", "text-mode", "plain text\n[...truncated...]"},
		{"ten.txt", "text-mode", "ééééééééé\n"},
		{"eleven.txt", "text-mode", "éééééééééé\n[...truncated...]"},
		{"wide.txt", "text-mode", "漢漢漢漢漢漢漢漢漢漢\n[...truncated...]"},
		{"nul.txt", "text-mode", "(binary file, 3 bytes)"},
		{"noise", "fundamental-mode", "(binary file, 4 bytes)"},
		{"empty.txt", "text-mode", ""},
		{"some", "dired-mode", "a\nb/\n"},
		{"none", "dired-mode", "(empty folder)"},
		{"pipe", "fundamental-mode", "(not a regular file)"},
		{"gone", "fundamental-mode", "(not there: no such file or directory)"},
		{"a.rs/b", "fundamental-mode", "(not there: not a directory)"},
		{"loop", "fundamental-mode", "(not there: too many levels of symbolic links)"},
	} {
		b := ReadBuffer(filepath.Join(dir, c.name), 10, plainly)
		if b.Mode != c.mode || b.Text != c.text || b.Name != filepath.Join(dir, c.name) {
			t.Errorf("%s: %+v, want %s %q", c.name, b, c.mode, c.text)
		}
	}
	if b := ReadBuffer(filepath.Join(dir, "latin.txt"), 1000, plainly); !strings.HasSuffix(b.Text, "caf\uFFFD\n") {
		t.Errorf("an odd byte: %q", b.Text)
	}
	if b := ReadBuffer(filepath.Join(dir, "many"), 10, plainly); !strings.HasSuffix(b.Text, "\n199\n[...5 more...]\n") {
		t.Errorf("a long listing ends %q", b.Text[len(b.Text)-40:])
	}
	if b := ReadBuffer(filepath.Join(dir, "a.rs"), 10, plainly); !b.Changed.Equal(now.Add(-time.Hour)) {
		t.Errorf("changed at %v", b.Changed)
	}
	if b := ReadBuffer(filepath.Join(dir, "gone.txt"), 10, plainly); !b.Changed.IsZero() {
		t.Errorf("what is not there was changed at %v", b.Changed)
	}
}
