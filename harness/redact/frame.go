package redact

import (
	"strings"
)

var (
	// frameHead begins a private key: RFC 7468 §10, §11, OpenSSH, RFC 9580 §6.2.
	frameHead = lazy(`\A-----BEGIN [A-Z0-9 _-]{0,60}PRIVATE KEY(?: BLOCK)?-----`)
	frameFoot = lazy(`\A-----END [A-Z0-9 _-]{0,60}PRIVATE KEY(?: BLOCK)?-----`)
	// putty holds the secret part of PuTTY's key files.
	putty = lazy(`\APrivate-Lines: *\d+\s*((?:[A-Za-z0-9+/=]{16,}\s+)+)`)
	// keyLine is a line of a key whose end is missing.
	keyLine = lazy(`\A[ \t>|]*(?:[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]+={1,2}|[A-Z][A-Za-z-]+: [^\r\n]*|)[ \t]*(?:\\[rn])*\r?(?:\n|\z)`)
	keyBody = lazy(`[A-Za-z0-9+/]{20,}`)
)

// largestKey bounds a private key.
const largestKey = 64 << 10

// framed looks for a private key whose frame begins at start.
func (f *finder) framed(start int) {
	window := f.s[start:min(len(f.s), start+largestKey)]
	if m := putty().FindStringSubmatchIndex(window); m != nil {
		f.add(start+m[2], start+len(strings.TrimRight(window[:m[3]], " \t\r\n")), "private-key", byFrame)
		return
	}
	head := frameHead().FindString(window)
	if head == "" {
		return
	}
	end := len(head)
	if i := strings.Index(window[end:], "-----"); i >= 0 {
		if foot := frameFoot().FindString(window[end+i:]); foot != "" {
			end += i + len(foot)
		}
	}
	if end == len(head) { // cut off
		end += len(window[end:]) - len(strings.TrimLeft(window[end:], " \t\r\n"))
		for end < len(window) {
			n := len(keyLine().FindString(window[end:]))
			if n == 0 {
				break
			}
			end += n
		}
		end = len(strings.TrimRight(window[:end], " \t\r\n"))
	}
	for _, body := range keyBody().FindAllString(window[len(head):end], 3) {
		if isStrange(body) {
			f.add(start, start+end, "private-key", byFrame)
			return
		}
	}
}
