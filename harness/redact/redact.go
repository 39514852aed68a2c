// Package redact takes secrets out of text: text in, text out, no files, no
// clock. Each secret becomes [redacted:kind]; all other bytes stay as they are.
//
//	export GITHUB_TOKEN=ghp_16C7e42F2…       export GITHUB_TOKEN=[redacted:github-token]
//	psql postgres://app:…@db/main            psql postgres://app:[redacted:password]@db/main
//
// A secret is known by one of three things:
//
//   - its own shape (token.go): rules.txt and gitleaks.txt list the prefixes
//     and alphabets of tokens; private keys have a frame (frame.go);
//   - the place it stands in (place.go, places.txt): a header, a URL, a line
//     of .netrc, an option of a command;
//   - the name it is given (name.go, assign.go): password: …, API_KEY=….
//     Only here the value decides too (value.go): a type, a call, a
//     placeholder or a plain word is no secret.
//
// A secret that was found once is taken out wherever else it occurs. Text that
// is redacted already stays: Text(Text(s)) is Text(s).
//
// Not found, because it can not be told from ordinary text: a password of
// letters alone behind a name (NAME=value in capitals apart), a pass phrase of
// several words, a password without a name beside it, less than five bytes,
// the same secret in another encoding.
//
// Begin reading at Text, then find.
package redact

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Finding is one place where a secret stood.
type Finding struct {
	Kind       string // as it is shown: github-token, password, private-key, …
	Start, End int    // bytes in the text that was given
	// Sum is a short hash of the secret, the same wherever it occurs. It does
	// not hide a weak password from someone who guesses: store it only for a
	// secret that is to be kept anyway.
	Sum string
}

// Options change what Text takes out.
type Options struct {
	// Keep says of a secret's Sum that the secret is to stay. It may be nil.
	Keep func(sum string) bool
}

const (
	before = "[redacted:"
	after  = "]"
)

// Text returns s without its secrets, and where in s they stood, from the
// first to the last. Findings do not overlap. Kept secrets are not among them.
func Text(s string, o Options) (out string, found []Finding) {
	kept := func(secret string) bool { return o.Keep != nil && o.Keep(sum(secret)) }
	var all []span
	secrets := newEchoes()
	out = s
	// What was taken out may have hidden something else by standing next to it:
	// look again until there is nothing. Each round takes at least a byte.
	for {
		more := sift(s, back(find(out), all), all, kept)
		for _, m := range more {
			secrets.add(s[m.start:m.end], m.kind)
		}
		more = append(more, sift(s, back(secrets.in(out), all), all, kept)...)
		if len(more) == 0 {
			break
		}
		all = merge(append(all, more...))
		out = replace(s, all)
	}
	for _, f := range all {
		found = append(found, Finding{f.kind, f.start, f.end, sum(s[f.start:f.end])})
	}
	return out, found
}

// sum is the first half dozen bytes of a hash.
func sum(secret string) string {
	h := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(h[:6])
}

// mark is what stands for a secret.
func mark(kind string) string { return before + kind + after }

// sift leaves out what is kept, and what is taken out already.
func sift(s string, more, all []span, kept func(string) bool) []span {
	out := more[:0]
	i := 0
	for _, m := range more {
		for i < len(all) && all[i].end < m.end {
			i++
		}
		inside := i < len(all) && all[i].start <= m.start
		if !inside && !kept(s[m.start:m.end]) {
			out = append(out, m)
		}
	}
	return out
}

// replace puts the marks into s.
func replace(s string, all []span) string {
	var b strings.Builder
	from := 0
	for _, f := range all {
		b.WriteString(s[from:f.start])
		b.WriteString(mark(f.kind))
		from = f.end
	}
	b.WriteString(s[from:])
	return b.String()
}

// back turns places in replace(s, all) into places in s. One that reaches into
// a mark takes all of what the mark stands for.
func back(found, all []span) []span {
	if len(all) == 0 {
		return found
	}
	i, shift := 0, 0 // all[:i] end at or before the place looked at; shift is s minus text
	start := func(at int) int {
		for i < len(all) {
			head := all[i].start - shift
			tail := head + len(mark(all[i].kind))
			if at < head {
				break
			}
			if at < tail {
				return all[i].start
			}
			shift = all[i].end - tail
			i++
		}
		return at + shift
	}
	for n := range found {
		f := &found[n]
		from := start(f.start)
		j, by := i, shift
		to := f.end + by
		for j < len(all) {
			head := all[j].start - by
			tail := head + len(mark(all[j].kind))
			if f.end <= head {
				break
			}
			if f.end <= tail {
				to = all[j].end
				break
			}
			by = all[j].end - tail
			j++
			to = f.end + by
		}
		f.start, f.end = from, to
	}
	return found
}
