package org

import (
	"bytes"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var wide = regexp.MustCompile(`^\[#([1-5][0-9]|6[0-4])\]`)

// readHeadingLine reads `** STATE [#A] COMMENT title :tag:tag:` in that order, every part but the stars optional.
func (d *Doc) readHeadingLine(h *Heading, known map[string]bool) {
	text := d.Src[:d.textEnd(h.Start)]
	h.Level = stars(text[h.Start:])
	blanks := h.Start + h.Level
	at := skipBlanks(text, blanks)
	from := blanks // where tags may begin: `* :tag:` has a tag and no title, `* TODO :tag:` a title
	bare := true   // nothing stands before the title
	h.state = span{at, at}
	if i := bytes.IndexByte(text[at:], ' '); i > 0 && known[string(text[at:at+i])] {
		h.State = string(text[at : at+i])
		h.state.to = at + i
		at = skipBlanks(text, at+i)
		bare = false
	}
	if n := priority(text[at:]); n > 0 {
		h.Priority = string(text[at+2 : at+n-1])
		at = skipBlanks(text, at+n)
		bare = false
	}
	if rest, ok := bytes.CutPrefix(text[at:], []byte("COMMENT")); ok && (len(rest) == 0 || rest[0] == ' ' || rest[0] == '\t') {
		h.Comment = true
		from = at + len("COMMENT")
		at = skipBlanks(text, from)
	} else if !bare {
		from = at
	}
	end := len(bytes.TrimRight(text, " \t"))
	h.tags = tagSpan(text, from, end)
	if h.tags.from < h.tags.to {
		for _, t := range strings.Split(string(text[h.tags.from:h.tags.to]), ":") {
			if t != "" {
				h.Tags = append(h.Tags, t)
			}
		}
		end = len(bytes.TrimRight(text[:h.tags.from], " \t"))
	}
	end = max(at, end)
	h.title = span{at, end}
	h.Title = string(text[at:end])
	if h.tags.from == h.tags.to {
		h.tags = span{end, end}
	}
}

func skipBlanks(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\t') {
		at++
	}
	return at
}

// priority is the length of a cookie such as [#A] at the start of text, or 0. Emacs 28's org-element takes any single
// character, its org-priority-regexp also numbers up to 64.
func priority(text []byte) int {
	if m := wide.Find(text); m != nil {
		return len(m)
	}
	if !bytes.HasPrefix(text, []byte("[#")) {
		return 0
	}
	_, n := utf8.DecodeRune(text[2:])
	if n > 0 && len(text) > 2+n && text[2+n] == ']' {
		return n + 3
	}
	return 0
}

// tagSpan finds `:a:b:` at the end of text[from:end]; a blank must stand before it, at from or later.
func tagSpan(text []byte, from, end int) span {
	i := end
	for i > from && !isBlank(text[i-1]) {
		i--
	}
	if i == from || end-i < 3 || text[i] != ':' || text[end-1] != ':' {
		return span{end, end}
	}
	for _, r := range string(text[i:end]) {
		if r != ':' && !isTagRune(r) {
			return span{end, end}
		}
	}
	return span{i, end}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// isTagRune is [[:alnum:]_@#%] as Emacs understands it.
func isTagRune(r rune) bool {
	return strings.ContainsRune("_@#%", r) || unicode.In(r, unicode.L, unicode.M, unicode.Nd, unicode.Nl)
}
