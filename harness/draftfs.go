package harness

import (
	"bytes"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"amacs/harness/home"
)

// draftFS is a folder of the home as a tick sees it: what its draft has written
// there, over what is on disk.
type draftFS struct {
	disk  fs.FS // the folder
	dir   string
	draft *home.Draft
}

// find looks for a file of the draft, or for a folder that is in the draft only.
func (d draftFS) find(name string) (f made, ok bool) {
	at := path.Join(d.dir, name)
	for file, text := range d.draft.Contents() {
		if file == at {
			return made{name: path.Base(name), text: text}, true
		}
		ok = ok || strings.HasPrefix(file, at+"/")
	}
	if ok {
		_, err := fs.Lstat(d.disk, name)
		ok = err != nil
	}
	return made{name: path.Base(name), folder: true}, ok
}

func (d draftFS) Open(name string) (fs.File, error) {
	if f, ok := d.find(name); ok {
		return &opened{f, bytes.NewReader(f.text)}, nil
	}
	return d.disk.Open(name)
}

func (d draftFS) Lstat(name string) (fs.FileInfo, error) {
	if f, ok := d.find(name); ok {
		return f, nil
	}
	return fs.Lstat(d.disk, name)
}

func (d draftFS) ReadLink(name string) (string, error) { return fs.ReadLink(d.disk, name) }

func (d draftFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(d.disk, name)
	for file := range d.draft.Contents() {
		below, ok := strings.CutPrefix(file, path.Join(d.dir, name)+"/")
		kid, _, _ := strings.Cut(below, "/")
		if !ok || slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == kid }) {
			continue
		}
		if f, ok := d.find(path.Join(name, kid)); ok {
			list, err = append(list, fs.FileInfoToDirEntry(f)), nil
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// made is a file of the draft, or a folder that is in the draft only.
type made struct {
	name   string
	text   []byte
	folder bool
}

func (f made) Name() string       { return f.name }
func (f made) Size() int64        { return int64(len(f.text)) }
func (f made) ModTime() time.Time { return time.Time{} }
func (f made) IsDir() bool        { return f.folder }
func (f made) Sys() any           { return nil }
func (f made) Mode() fs.FileMode {
	if f.folder {
		return fs.ModeDir | 0o500
	}
	return 0o400
}

type opened struct {
	made
	*bytes.Reader
}

func (f *opened) Size() int64                { return f.made.Size() }
func (f *opened) Stat() (fs.FileInfo, error) { return f.made, nil }
func (f *opened) Close() error               { return nil }
