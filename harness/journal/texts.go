package journal

import (
	"context"
	"fmt"
	"iter"

	"github.com/go-git/go-git/v5/plumbing"
)

// Version is a text that the history holds: one version of a file, or a commit's
// message.
type Version struct {
	Path   string // "" = the message
	Commit string // the newest commit that has it
	Text   []byte
}

// Texts yields every text of the history once, the newest commits first. An error
// ends it.
func (r *Repo) Texts(ctx context.Context) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		s := r.store()
		defer s.Close()
		seen := map[plumbing.Hash]bool{}
		for c, err := range r.history(ctx, s, "") {
			if err == nil && !yield(Version{Commit: c.Hash.String(), Text: []byte(c.Message)}, nil) {
				return
			}
			stop := false
			if err == nil {
				stop, err = s.texts(c.TreeHash, "", seen, func(path string, text []byte) bool {
					return yield(Version{path, c.Hash.String(), text}, nil) && ctx.Err() == nil
				})
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(Version{}, fmt.Errorf("read the texts of %s: %w", r.root, err))
				return
			}
			if stop {
				return
			}
		}
	}
}

// texts calls use for each file below a tree that was not seen before, until it
// says false.
func (s *store) texts(tree plumbing.Hash, prefix string, seen map[plumbing.Hash]bool, use func(path string, text []byte) bool) (stop bool, err error) {
	if seen[tree] {
		return false, nil
	}
	seen[tree] = true
	nodes, err := s.tree(tree)
	if err != nil {
		return false, err
	}
	for _, n := range nodes {
		path := join(prefix, n.name)
		switch {
		case n.mode == modeDir:
			stop, err = s.texts(n.hash, path, seen, use)
		case (isFile(n.mode) || n.mode == modeLink) && !seen[n.hash]:
			seen[n.hash] = true
			var text []byte
			if text, err = s.bytes(plumbing.BlobObject, n.hash); err == nil {
				stop = !use(path, text)
			}
		}
		if stop || err != nil {
			return stop, err
		}
	}
	return false, nil
}
