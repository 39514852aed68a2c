// Package skills reads what the agent knows how to do: folders of prose, by the rules of agentskills.io (RFC v4 §6).
//
//	skills/
//	├── core/                 the system prompt: always loaded, never bound
//	│   ├── SKILL.md
//	│   └── references/tick.md
//	└── rust-mode/
//	    ├── SKILL.md          shown while a thread that it is bound to is active
//	    ├── references/       prose that SKILL.md points at, read when it is needed
//	    ├── scripts/          tested code
//	    └── assets/
//
// SKILL.md is Markdown under a front matter in YAML. The name is that of the folder: a-z, 0-9 and single hyphens, 64
// characters at most; the description says what the skill does and when to use it, in at most 1,024. Other keys (license, compatibility,
// metadata, allowed-tools) are left alone.
//
//	---
//	name: rust-mode
//	description: How to read the borrow checker's errors. Use it on Rust code.
//	---
//
//	Look at the first error only …
//
// Each function takes a file system rooted at the skills folder and reads it anew: nothing is kept, nothing is written.
// Begin with [List]; [Core] gives the system prompt.
package skills

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

const (
	// MaxSize is how large a SKILL.md may be, in bytes.
	MaxSize = 64 << 10
	// MaxFile is how large a file beside it may be to be read, in bytes.
	MaxFile = 1 << 20

	core    = "core"
	minCore = 100 // characters below which the core skill can not be one
)

// A Skill is one folder, read.
type Skill struct {
	Name        string
	Description string   // one line
	Body        string   // SKILL.md below its front matter, with LF line ends
	Dir         string   // the folder, relative to the skills folder
	Files       []string // the files beside SKILL.md, relative to Dir, sorted; without links and dot files
	Size        int      // of SKILL.md, in bytes
}

// Broken is a folder with a SKILL.md that can not be used, and why.
type Broken struct {
	Name string
	Err  error
}

// List reads all skills but the core skill, sorted by name. A folder without a SKILL.md is no skill, and neither is one whose
// name begins with a dot. If the skills folder can not be read, that is the one Broken, named ".".
func List(fsys fs.FS) (ok []Skill, broken []Broken) {
	entries, err := fs.ReadDir(fsys, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, []Broken{{".", fmt.Errorf("listing skills: %w", err)}}
	}
	for _, entry := range entries {
		name := entry.Name()
		if name == core || strings.HasPrefix(name, ".") {
			continue
		}
		if info, err := fs.Stat(fsys, name); err != nil || !info.IsDir() { // entry itself may be a link
			continue
		}
		skill, err := read(fsys, name)
		switch {
		case err == nil:
			ok = append(ok, skill)
		case !errors.Is(err, fs.ErrNotExist):
			broken = append(broken, Broken{name, fmt.Errorf("skill %q: %w", name, err)})
		}
	}
	return ok, broken
}

// Load reads one skill, the core skill too. The error for an unknown one lists those that there are.
func Load(fsys fs.FS, name string) (Skill, error) {
	if checkName(name) != nil {
		return Skill{}, unknown(fsys, name)
	}
	skill, err := read(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		return Skill{}, unknown(fsys, name)
	}
	if err != nil {
		return Skill{}, fmt.Errorf("skill %q: %w", name, err)
	}
	return skill, nil
}

// Core returns the system prompt, the body of core/SKILL.md: the same bytes as long as the file is the same. It refuses one
// that is missing, broken, or under 100 characters.
func Core(fsys fs.FS) (text string, err error) {
	skill, err := read(fsys, core)
	if err != nil {
		return "", fmt.Errorf("the core skill, %s: %w", path.Join(core, fileName), err)
	}
	if n := len([]rune(strings.TrimSpace(skill.Body))); n < minCore {
		return "", fmt.Errorf("the core skill, %s: its text has only %d characters, and a system prompt needs %d", path.Join(core, fileName), n, minCore)
	}
	return skill.Body, nil
}

// ReadFile reads a file of a skill, such as "references/tick.md", at most 1 MB of it or nothing. The file is relative to
// the skill's folder and stays inside it: no "..", no absolute path, no symbolic link where fsys can tell.
func ReadFile(fsys fs.FS, name, file string) ([]byte, error) {
	skill, err := Load(fsys, name)
	if err != nil {
		return nil, err
	}
	if file == fileName {
		return regular(fsys, path.Join(name, file), MaxSize)
	}
	if !fs.ValidPath(file) || file == "." {
		return nil, fmt.Errorf("reading a file of skill %q: %q does not stay inside the skill; give a path such as \"references/notes.md\"", name, file)
	}
	at := name
	for part := range strings.SplitSeq(file, "/") {
		at = path.Join(at, part)
		info, err := fs.Lstat(fsys, at)
		if err != nil {
			return nil, fmt.Errorf("reading %s: no such file; %s", path.Join(name, file), listing(skill.Files))
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("reading %s: %s is a symbolic link, and those are not followed inside a skill", path.Join(name, file), at)
		}
	}
	return regular(fsys, at, MaxFile)
}

// read reads the skill in a folder; the error wraps fs.ErrNotExist when it has no SKILL.md.
func read(fsys fs.FS, dir string) (Skill, error) {
	data, err := regular(fsys, path.Join(dir, fileName), MaxSize)
	if err != nil {
		return Skill{}, err
	}
	skill, err := parse(dir, data)
	if err != nil {
		return Skill{}, err
	}
	skill.Files, err = beside(fsys, dir)
	return skill, err
}

// regular reads a regular file of at most limit bytes.
func regular(fsys fs.FS, file string, limit int64) ([]byte, error) {
	info, err := fs.Stat(fsys, file)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a regular file", file)
	case info.Size() > limit:
		return nil, fmt.Errorf("%s has %d bytes, more than the %d KB that are read; move some of it to files in references/", file, info.Size(), limit>>10)
	}
	return fs.ReadFile(fsys, file)
}

// beside lists the regular files of a skill but SKILL.md, sorted.
func beside(fsys fs.FS, dir string) ([]string, error) {
	var files []string
	err := fs.WalkDir(fsys, dir, func(p string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := strings.TrimPrefix(p, dir+"/")
		switch {
		case p == dir:
		case strings.HasPrefix(entry.Name(), "."):
			if entry.IsDir() {
				return fs.SkipDir
			}
		case entry.Type().IsRegular() && rel != fileName:
			files = append(files, rel)
		}
		return nil
	})
	return files, err
}

func unknown(fsys fs.FS, name string) error {
	ok, _ := List(fsys)
	names := make([]string, len(ok))
	for i, skill := range ok {
		names[i] = skill.Name
	}
	return fmt.Errorf("no skill %q; %s", name, listing(names))
}

// listing is the end of an error that says what there is instead.
func listing(names []string) string {
	if len(names) == 0 {
		return "there is none"
	}
	return "there is " + strings.Join(names, ", ")
}
