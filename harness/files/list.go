package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Entry is one thing in a folder.
type Entry struct {
	Path string // relative to the folder, with slashes; a folder ends in one
	Size int64  // bytes of a regular file
	Link string // where a symbolic link leads
	Kind string // "file", "folder", "link", "special"
}

// Listing is what List found.
type Listing struct {
	Entries []Entry  // by path
	Left    int      // entries of the folders read that the cap left out; folders behind the cap are not read
	Closed  []string // folders that could not be read
}

// List lists a folder, and what is in its folders down to depth (0 and 1 are the
// folder alone). What lies less deep comes first under the cap, MaxListed. The
// inside of `.git` is left out.
func List(folder string, depth int) (Listing, error) {
	l, err := list(folder, min(depth, deepest))
	if err != nil {
		return Listing{}, fmt.Errorf("listing %s: %w", folder, err)
	}
	return l, nil
}

func list(base string, depth int) (l Listing, err error) {
	if _, _, err := parted(base); err != nil {
		return l, err
	}
	level := []string{""} // folders to read, relative, ending in a slash
	for ; len(level) > 0; depth-- {
		var next []string
		for _, rel := range level {
			entries, err := inside(base, rel)
			if err != nil {
				if rel == "" {
					return l, err
				}
				l.Closed = append(l.Closed, rel)
				continue
			}
			for _, e := range entries {
				if len(l.Entries) == MaxListed {
					l.Left++
					continue
				}
				l.Entries = append(l.Entries, e)
				if e.Kind == "folder" && e.Path != ".git/" && !strings.HasSuffix(e.Path, "/.git/") {
					next = append(next, e.Path)
				}
			}
		}
		if depth <= 1 || l.Left > 0 {
			break
		}
		level = next
	}
	slices.SortFunc(l.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return l, nil
}

// inside lists the folder rel below base.
func inside(base, rel string) ([]Entry, error) {
	d, err := openFolder(path.Join(base, rel), nil)
	if err != nil {
		return nil, err
	}
	defer d.close()
	names, err := d.names()
	if err != nil {
		return nil, err
	}
	var out []Entry
	for _, e := range names {
		st, err := d.stat(e.Name())
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		entry := Entry{Path: rel + e.Name(), Kind: "special"}
		switch kind(st) {
		case unix.S_IFREG:
			entry.Kind, entry.Size = "file", st.Size
		case unix.S_IFDIR:
			entry.Kind, entry.Path = "folder", entry.Path+"/"
		case unix.S_IFLNK:
			entry.Kind, entry.Link = "link", d.target(e.Name())
		}
		out = append(out, entry)
	}
	return out, nil
}

// names reads what is in a folder, by name.
func (d folder) names() ([]fs.DirEntry, error) {
	fd, err := openat(d.fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), d.path)
	defer f.Close()
	list, err := f.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// target is where a link leads, "" if that can not be read.
func (d folder) target(name string) string {
	buf := make([]byte, 4096)
	n, err := again(func() (int, error) { return unix.Readlinkat(d.fd, name, buf) })
	if err != nil {
		return ""
	}
	return string(buf[:n])
}
