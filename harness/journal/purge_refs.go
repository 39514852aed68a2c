package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// refs are all refs of the repository and where they are; symbolic ones are not
// among them.
func (r *Repo) refs() (map[string]plumbing.Hash, error) {
	all, err := r.packedRefs()
	if err != nil {
		return nil, err
	}
	err = filepath.WalkDir(filepath.Join(r.git, "refs"), func(path string, d fs.DirEntry, err error) error {
		if gone(err) {
			return nil
		}
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return err
		}
		text, err := os.ReadFile(path)
		if gone(err) {
			return nil
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(r.git, path)
		if err != nil {
			return err
		}
		name, line := filepath.ToSlash(rel), strings.TrimSpace(string(text))
		switch {
		case plumbing.IsHash(line):
			all[name] = plumbing.NewHash(line)
		case strings.HasPrefix(line, "ref: "):
		default:
			return &Refusal{path, "holds no commit", "mend it, or remove it with `git update-ref -d " + name + "`"}
		}
		return nil
	})
	return all, err
}

// packedRefs reads .git/packed-refs (git help pack-refs).
func (r *Repo) packedRefs() (map[string]plumbing.Hash, error) {
	path := filepath.Join(r.git, "packed-refs")
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	all := map[string]plumbing.Hash{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' || line[0] == '^' {
			continue
		}
		hash, name, ok := strings.Cut(line, " ")
		if !ok || !plumbing.IsHash(hash) {
			return nil, &Refusal{path, fmt.Sprintf("has a line that is no ref: %.80q", line), "mend it; `git show-ref` lists what git can read"}
		}
		all[name] = plumbing.NewHash(hash)
	}
	return all, nil
}

// writePackedRefs replaces .git/packed-refs. The caller holds its lock.
func (r *Repo) writePackedRefs(all map[string]plumbing.Hash) error {
	s := r.store()
	defer s.Close()
	var b strings.Builder
	b.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%s %s\n", all[name], name)
		at := all[name]
		for {
			t, err := object.GetTag(s, at)
			if err != nil {
				break // no tag, which is nearly always so
			}
			at = t.Target
		}
		if at != all[name] {
			fmt.Fprintf(&b, "^%s\n", at)
		}
	}
	return r.replace(filepath.Join(r.git, "packed-refs"), []byte(b.String()))
}
