package memory

import (
	"crypto/sha256"
	"encoding/base32"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// ProjectKey names a project: by the URL of its remote, else, where that is "",
// by its root folder. One repository has one key, whether it is reached over
// SSH or HTTPS and wherever its clones are; the key is a readable name and a
// hash, e.g. amacs-w5d3kq8nt2. Users and passwords in the URL have no part in it.
func ProjectKey(remote, root string) string {
	id, of := "folder "+path.Clean(root), path.Clean(root)
	if strings.TrimSpace(remote) != "" {
		of = Remote(remote, root)
		id = "remote " + of
	}
	name := path.Base(of)
	if name == "/" || name == "." {
		name = "root"
	}
	return plainName(name, 40) + "-" + hash(id)
}

var (
	scheme  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)
	scpLike = regexp.MustCompile(`^(?:[^@/\s]+@)?(\[[^\]/]+\]|[^:/\s\[\]]+):(.*)$`)
	port    = regexp.MustCompile(`:\d*$`)
)

// sameHost are hosts that serve SSH for another one.
var sameHost = map[string]string{
	"ssh.github.com":       "github.com",
	"altssh.gitlab.com":    "gitlab.com",
	"altssh.bitbucket.org": "bitbucket.org",
	"ssh.dev.azure.com":    "dev.azure.com",
}

// Remote is a git remote's URL without what does not tell repositories apart:
// scheme, user, port, the host's case, ".git" and slashes at the end. The forms
// are those of git-clone(1), "GIT URLS". A path is taken from root on.
//
//	git@GitHub.com:me/amacs.git   → github.com/me/amacs
//	https://github.com/me/amacs/  → github.com/me/amacs
//	../amacs.git                  → /home/me/amacs
func Remote(remote, root string) string {
	remote = strings.TrimSpace(remote)
	host, at := "", remote
	if scheme.MatchString(remote) {
		_, rest, _ := strings.Cut(remote, "://")
		if cut := strings.IndexAny(rest, "?#"); cut >= 0 {
			rest = rest[:cut]
		}
		host, at, _ = strings.Cut(rest, "/")
		host, at = host[strings.LastIndexByte(host, '@')+1:], "/"+at
		if strings.EqualFold(remote[:min(len(remote), 7)], "file://") {
			host = ""
		}
		if plain, err := url.PathUnescape(at); err == nil {
			at = plain
		}
	} else if m := scpLike.FindStringSubmatch(remote); m != nil && len(m[1]) > 1 {
		host, at = m[1], m[2]
		if strings.Contains(host, ":") && strings.Count(host, ":") == 1 { // [host:port]:path
			host = strings.Trim(host, "[]")
		}
	}
	if host == "" {
		if !path.IsAbs(at) {
			at = path.Join(root, at)
		}
		return trimGit(path.Clean(at))
	}
	host = strings.ToLower(host)
	if !strings.HasSuffix(host, "]") {
		host = port.ReplaceAllString(host, "")
	}
	host = strings.TrimSuffix(strings.Trim(host, "[]"), ".")
	if other, ok := sameHost[host]; ok {
		host = other
	}
	at = trimGit(path.Clean("/" + at))
	if host == "dev.azure.com" { // v3/org/project/name over SSH, org/project/_git/name over HTTPS
		at = strings.Replace(strings.TrimPrefix(at, "/v3"), "/_git/", "/", 1)
	}
	return strings.TrimSuffix(host+at, "/")
}

func trimGit(s string) string {
	if t := strings.TrimSuffix(s, ".git"); t != "" && !strings.HasSuffix(t, "/") {
		return t
	}
	return strings.TrimSuffix(s, "/.git")
}

// BranchFile is a branch's name as a file's, without its ending: "/" is "--",
// and what a file system could take for another name has a hash behind a "~",
// which no branch has. Two branches never have one file.
func BranchFile(branch string) string {
	name := plainName(strings.ReplaceAll(branch, "/", "--"), 60)
	if strings.ReplaceAll(name, "--", "/") != branch {
		name += "~" + hash("branch "+branch)
	}
	return name
}

// plainName keeps small letters, digits, "-", "_" and single dots within.
func plainName(s string, size int) string {
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(s))
	for strings.Contains(s, "..") {
		s = strings.ReplaceAll(s, "..", ".")
	}
	s = strings.Trim(s[:min(len(s), size)], "-.")
	if s == "" {
		return "x"
	}
	return s
}

var base = base32.NewEncoding("abcdefghjkmnpqrstuvwxyz123456789").WithPadding(base32.NoPadding)

// hash is short, and long enough for a lifetime of projects: 50 bits.
func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base.EncodeToString(sum[:])[:10]
}
