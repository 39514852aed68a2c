package memory

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"
)

// An id begins with a letter. There are no vowels, so that it is no word, and
// nothing that looks like something else.
const (
	letters = "bcdfghjkmnpqrstvwx"
	signs   = letters + "23456789"
)

// NewID is an id for a memory: three characters, or more where those are taken.
// The same content, time and taken ids give the same one.
func NewID(content string, at time.Time, taken func(id string) bool) string {
	for try := 0; ; try++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %d %s", try, at.Unix(), content))
		n := binary.BigEndian.Uint64(sum[:])
		size := 3
		for t := try / 4; t > 0 && size < 12; t /= 4 {
			size++
		}
		id := []byte{letters[n%uint64(len(letters))]}
		for n /= uint64(len(letters)); len(id) < size; n /= uint64(len(signs)) {
			id = append(id, signs[n%uint64(len(signs))])
		}
		if !taken(string(id)) {
			return string(id)
		}
	}
}

// Find is the one of the ids that is meant by itself or by the beginning of it.
func Find(ids []string, prefix string) (string, error) {
	prefix = strings.Trim(strings.TrimSpace(prefix), "[]")
	if prefix == "" {
		return "", fmt.Errorf("no memory was named; give its id, or the beginning of it")
	}
	if slices.Contains(ids, prefix) {
		return prefix, nil
	}
	var found []string
	for _, id := range ids {
		if len(id) >= len(prefix) && strings.EqualFold(id[:len(prefix)], prefix) {
			if len(id) == len(prefix) {
				return id, nil
			}
			found = append(found, id)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	switch n := len(found); {
	case n == 1:
		return found[0], nil
	case n == 0:
		return "", fmt.Errorf("no memory has an id that begins with %q; `amacs memory list` shows them", prefix)
	case n > 8:
		return "", fmt.Errorf("%q is the beginning of %d ids: %s and %d more; give more of it", prefix, n, strings.Join(found[:8], ", "), n-8)
	}
	return "", fmt.Errorf("%q is the beginning of %d ids: %s; give more of it", prefix, len(found), strings.Join(found, ", "))
}
