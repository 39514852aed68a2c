package journal

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Modes of index and tree entries.
const (
	modeFile = 0o100644
	modeExec = 0o100755
	modeLink = 0o120000
	modeDir  = 0o040000
	modeRepo = 0o160000 // a submodule
)

func isFile(mode uint32) bool { return mode&0o170000 == 0o100000 }

// node is one entry of a tree; a zero mode means none.
type node struct {
	name string
	mode uint32
	hash plumbing.Hash
}

func parseTree(data []byte) ([]node, error) {
	var out []node
	for len(data) > 0 {
		head, rest, ok := bytes.Cut(data, []byte{0})
		mode, name, ok2 := strings.Cut(string(head), " ")
		n, err := strconv.ParseUint(mode, 8, 32)
		if !ok || !ok2 || err != nil || len(rest) < 20 {
			return nil, errors.New("malformed tree")
		}
		out = append(out, node{name, uint32(n), plumbing.Hash(rest[:20])})
		data = rest[20:]
	}
	return out, nil
}

// encodeTree writes entries in git's order: as if folders ended in a slash.
func encodeTree(list []node) []byte {
	key := func(n node) string {
		if n.mode == modeDir {
			return n.name + "/"
		}
		return n.name
	}
	slices.SortFunc(list, func(a, b node) int { return strings.Compare(key(a), key(b)) })
	var out []byte
	for _, n := range list {
		out = strconv.AppendUint(out, uint64(n.mode), 8)
		out = append(append(append(out, ' '), n.name...), 0)
		out = append(out, n.hash[:]...)
	}
	return out
}

// tree reads a tree; the caller does not change the slice.
func (s *store) tree(h plumbing.Hash) ([]node, error) {
	if list, ok := s.trees[h]; ok || h.IsZero() {
		return list, nil
	}
	data, err := s.bytes(plumbing.TreeObject, h)
	if err != nil {
		return nil, err
	}
	list, err := parseTree(data)
	if err != nil {
		return nil, fmt.Errorf("read tree %s: %w", h, err)
	}
	if len(s.trees) > 10_000 {
		clear(s.trees)
	}
	s.trees[h] = list
	return list, nil
}

// find looks path up below the tree h; a zero mode says that there is none.
func (s *store) find(h plumbing.Hash, path string) (node, error) {
	for {
		first, rest, deeper := strings.Cut(path, "/")
		list, err := s.tree(h)
		if err != nil {
			return node{}, err
		}
		i := slices.IndexFunc(list, func(n node) bool { return n.name == first })
		if i < 0 || deeper && list[i].mode != modeDir {
			return node{}, nil
		}
		if !deeper {
			return list[i], nil
		}
		h, path = list[i].hash, rest
	}
}

// flatten calls f for each file below the tree h; name is the whole path.
func (s *store) flatten(h plumbing.Hash, prefix string, f func(node)) error {
	list, err := s.tree(h)
	if err != nil {
		return err
	}
	for _, n := range list {
		n.name = prefix + n.name
		if n.mode != modeDir {
			f(n)
		} else if err := s.flatten(n.hash, n.name+"/", f); err != nil {
			return err
		}
	}
	return nil
}

// treeEdit makes new trees out of old ones.
type treeEdit struct {
	read func(plumbing.Hash) ([]node, error)
	emit func(data []byte) plumbing.Hash // called for each new tree
}

// apply gives the tree h with edits made: nodes by path, sorted, a zero mode
// deleting. An empty tree is the zero hash.
func (t treeEdit) apply(h plumbing.Hash, edits []node) (plumbing.Hash, error) {
	list, err := t.read(h)
	if err != nil {
		return h, err
	}
	at := make(map[string]node, len(list))
	for _, n := range list {
		at[n.name] = n
	}
	below := map[string][]node{}
	for _, e := range edits {
		first, rest, deeper := strings.Cut(e.name, "/")
		if deeper {
			below[first] = append(below[first], node{rest, e.mode, e.hash})
		} else if e.mode != 0 || at[first].mode != modeDir {
			at[first] = e // deleting the file X never deletes the folder X
		}
	}
	for name, edits := range below {
		if at[name].mode != modeDir {
			edits = slices.DeleteFunc(edits, func(e node) bool { return e.mode == 0 })
			if len(edits) == 0 {
				continue
			}
			at[name] = node{}
		}
		sub, err := t.apply(at[name].hash, edits)
		if err != nil {
			return h, err
		}
		at[name] = node{name, modeDir, sub}
	}
	var out []node
	for _, n := range at {
		if n.mode != 0 && !n.hash.IsZero() {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return plumbing.ZeroHash, nil
	}
	return t.emit(encodeTree(out)), nil
}
