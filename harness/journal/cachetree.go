package journal

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// cacheTree is the index's TREE extension: for each folder whose entries are
// known to make up a stored tree, that tree. It answers "does the index equal
// the last commit" without reading a tree.
type cacheTree struct {
	name  string
	count int // entries below; -1: not known to be stored
	hash  plumbing.Hash
	subs  []*cacheTree
}

func parseCacheTree(b []byte) (*cacheTree, []byte, error) {
	name, rest, ok := bytes.Cut(b, []byte{0})
	line, rest, ok2 := bytes.Cut(rest, []byte{'\n'})
	count, subs, ok3 := strings.Cut(string(line), " ")
	c, err := strconv.Atoi(count)
	n, err2 := strconv.Atoi(subs)
	if !ok || !ok2 || !ok3 || err != nil || err2 != nil || c < -1 || n < 0 || n > len(rest) {
		return nil, nil, errIndex
	}
	t := &cacheTree{name: string(name), count: c}
	if c >= 0 {
		if len(rest) < 20 {
			return nil, nil, errIndex
		}
		t.hash, rest = plumbing.Hash(rest[:20]), rest[20:]
	}
	for range n {
		var sub *cacheTree
		if sub, rest, err = parseCacheTree(rest); err != nil {
			return nil, nil, err
		}
		t.subs = append(t.subs, sub)
	}
	return t, rest, nil
}

func (t *cacheTree) encode(out []byte) []byte {
	out = append(append(out, t.name...), 0)
	out = fmt.Appendf(out, "%d %d\n", t.count, len(t.subs))
	if t.count >= 0 {
		out = append(out, t.hash[:]...)
	}
	for _, s := range t.subs {
		out = s.encode(out)
	}
	return out
}

func (t *cacheTree) sub(name string) *cacheTree {
	for _, s := range t.subs {
		if s.name == name {
			return s
		}
	}
	return nil
}

// invalidate forgets the trees that path lies in.
func (t *cacheTree) invalidate(path string) {
	t.count = -1
	if first, rest, deeper := strings.Cut(path, "/"); deeper {
		if s := t.sub(first); s != nil {
			s.invalidate(rest)
		}
	}
}

// rebuild computes the forgotten trees from the index's entries, all of which
// lie below prefix, and keeps those that are stored.
func (t *cacheTree) rebuild(entries []entry, prefix string, stored func(plumbing.Hash) bool) {
	if t.count >= 0 {
		return
	}
	var list []node
	var subs []*cacheTree
	whole := true
	for i := 0; i < len(entries); {
		e := entries[i]
		name, _, deeper := strings.Cut(e.path[len(prefix):], "/")
		if !deeper {
			list = append(list, node{name, e.mode, e.hash})
			whole = whole && e.stage() == 0 && e.more&moreIntent == 0
			i++
			continue
		}
		dir, j := prefix+name+"/", i
		for j < len(entries) && strings.HasPrefix(entries[j].path, dir) {
			j++
		}
		s := t.sub(name)
		if s == nil {
			s = &cacheTree{name: name, count: -1}
		}
		s.rebuild(entries[i:j], dir, stored)
		subs, list = append(subs, s), append(list, node{name, modeDir, s.hash})
		whole, i = whole && s.count >= 0, j
	}
	t.subs = subs
	if !whole {
		return
	}
	if h := hashObject("tree", encodeTree(list)); stored(h) {
		t.count, t.hash = len(entries), h
	}
}
