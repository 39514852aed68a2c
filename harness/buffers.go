package harness

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// Buffer is a file or folder that the agent is shown whole while its thread is
// active.
type Buffer struct {
	Name    string // absolute path
	Mode    string // the name Emacs has for its kind
	Text    string
	Edited  int       // the tick in which the agent changed it, 0 if not lately
	Changed time.Time // zero for what is not there
}

const listingMax = 200 // entries of a folder

// ReadBuffer reads a file for the prompt, at most limit characters, without
// secrets, which clean takes out; a folder becomes a listing. What can not be
// shown is said in its place.
func ReadBuffer(path string, limit int, clean func(string) string) Buffer {
	b := Buffer{Name: path, Mode: "fundamental-mode"}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		b.Text = "(not there: " + cause(err) + ")"
		return b
	case info.IsDir():
		b.Mode = "dired-mode"
		b.Text = clean(listing(path))
	case !info.Mode().IsRegular():
		b.Text = "(not a regular file)"
		return b
	default:
		b.Mode = modeOf(path)
		b.Text = content(path, limit, info.Size(), clean)
	}
	b.Changed = info.ModTime()
	return b
}

func cause(err error) string {
	if pe, ok := err.(*os.PathError); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

func content(path string, limit int, size int64, clean func(string) string) string {
	f, err := os.Open(path)
	if err != nil {
		return "(not readable: " + cause(err) + ")"
	}
	defer f.Close()
	// A character has at most four bytes; one more tells whether there is more.
	raw, err := io.ReadAll(io.LimitReader(f, int64(limit)*utf8.UTFMax+utf8.UTFMax))
	if err != nil {
		return "(not readable: " + cause(err) + ")"
	}
	if bytes.IndexByte(raw, 0) >= 0 || !mostlyText(raw) {
		return fmt.Sprintf("(binary file, %d bytes)", size)
	}
	text := clean(strings.ToValidUTF8(string(raw), "\uFFFD")) // before it is cut: half a key is none to see
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit]) + "\n[...truncated...]"
	}
	return text
}

// mostlyText allows for the odd byte of an older encoding, and for a character
// that the limit cut.
func mostlyText(b []byte) bool {
	bad := 0
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			bad++
		}
		i += n
	}
	return bad*20 <= len(b)
}

func listing(path string) string {
	entries, err := os.ReadDir(path)
	if err != nil {
		return "(not readable: " + cause(err) + ")"
	}
	var b strings.Builder
	for i, e := range entries {
		if i == listingMax {
			fmt.Fprintf(&b, "[...%d more...]\n", len(entries)-i)
			break
		}
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		b.WriteString(name + "\n")
	}
	if len(entries) == 0 {
		return "(empty folder)"
	}
	return b.String()
}

var modes = map[string]string{
	".go": "go-mode", ".rs": "rust-mode", ".py": "python-mode", ".el": "emacs-lisp-mode",
	".org": "org-mode", ".md": "markdown-mode", ".c": "c-mode", ".h": "c-mode", ".cc": "c++-mode",
	".cpp": "c++-mode", ".java": "java-mode", ".js": "js-mode", ".ts": "typescript-mode",
	".tsx": "tsx-mode", ".rb": "ruby-mode", ".sh": "sh-mode", ".zsh": "sh-mode", ".bash": "sh-mode",
	".html": "html-mode", ".css": "css-mode", ".json": "json-mode", ".yaml": "yaml-mode",
	".yml": "yaml-mode", ".toml": "conf-toml-mode", ".sql": "sql-mode", ".tex": "latex-mode",
	".hs": "haskell-mode", ".lisp": "lisp-mode", ".scm": "scheme-mode", ".clj": "clojure-mode",
	".txt": "text-mode", ".diff": "diff-mode", ".patch": "diff-mode", ".lua": "lua-mode", ".php": "php-mode",
}

func modeOf(path string) string {
	switch base := filepath.Base(path); base {
	case "Makefile", "makefile", "GNUmakefile":
		return "makefile-mode"
	case "Dockerfile":
		return "dockerfile-mode"
	}
	if mode, ok := modes[strings.ToLower(filepath.Ext(path))]; ok {
		return mode
	}
	return "fundamental-mode"
}
