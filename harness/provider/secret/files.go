package secret

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// files are looked through in this order.
var files = []string{".authinfo", ".netrc"}

const (
	encrypted = ".authinfo.gpg"
	fileMost  = 1 << 20 // bytes of a netrc file
	// keyLogin is the login that marks an entry as a key of an API, by the
	// custom of Emacs' packages.
	keyLogin = "apikey"
)

func (f *Finder) fromFiles(host string, vars []string) (Key, error) {
	if f.Home == "" {
		return Key{Hint: f.hint(host, vars)}, nil
	}
	for _, name := range files {
		text, open, err := read(filepath.Join(f.Home, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Key{}, fmt.Errorf("looking for a key in ~/%s: %w", name, err)
		}
		entries, err := parse(text)
		if err != nil {
			return Key{}, fmt.Errorf("looking for a key in ~/%s: %w", name, err)
		}
		e, ok := choose(entries, host)
		if !ok {
			continue
		}
		from := fmt.Sprintf("~/%s line %d", name, e.line)
		if strings.HasPrefix(e.password, "gpg:") {
			return Key{}, fmt.Errorf("the key in %s is encrypted by Emacs, which amacs can not read: write it plainly, or set api-key-cmd", from)
		}
		if open {
			from += fmt.Sprintf(" (others can read this file: chmod 600 ~/%s)", name)
		}
		return accept(e.password, from)
	}
	return Key{Hint: f.hint(host, vars)}, nil
}

// hint says where a key may be put.
func (f *Finder) hint(host string, vars []string) string {
	name, _ := split(host)
	var ways []string
	if len(vars) > 0 {
		ways = append(ways, "set "+vars[0])
	}
	if f.Home == "" {
		return strings.Join(append(ways, "set api-key-cmd"), ", or ")
	}
	if _, err := os.Stat(filepath.Join(f.Home, encrypted)); err == nil {
		return strings.Join(append(ways, "if the key is in ~/"+encrypted+", set api-key-cmd: "+decrypt), ", or ")
	}
	return strings.Join(append(ways, "set api-key-cmd", fmt.Sprintf("write `machine %s login %s password KEY` into ~/.authinfo (chmod 600)", name, keyLogin)), ", or ")
}

// decrypt is a command for keys in an encrypted file, with the entries written
// as `machine HOST login NAME password KEY`.
const decrypt = `gpg -dq ~/.authinfo.gpg | awk -v h="$AMACS_KEY_HOST" '$2 == h {print $6}'`

// read reads a netrc file; open reports that others than the user can read it.
func read(path string) (text string, open bool, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", false, err
	}
	switch {
	case !info.Mode().IsRegular():
		return "", false, errors.New("this is no file")
	case info.Size() > fileMost:
		return "", false, fmt.Errorf("the file is larger than %d bytes", fileMost)
	}
	b, err := os.ReadFile(path)
	return string(b), info.Mode().Perm()&0o044 != 0, err
}

// choose takes the entry for a host: one with the login "apikey", else the
// first that names the host. A default entry, which is mostly somebody's mail
// address for FTP, counts only with that login.
func choose(entries []entry, host string) (entry, bool) {
	var found, fallback *entry
	for i := range entries {
		e := &entries[i]
		switch {
		case e.password == "" || !e.isFor(host):
		case !e.any && e.login == keyLogin:
			return *e, true
		case !e.any && found == nil:
			found = e
		case e.any && e.login == keyLogin && fallback == nil:
			fallback = e
		}
	}
	if found == nil {
		found = fallback
	}
	if found == nil {
		return entry{}, false
	}
	return *found, true
}

// isFor reports whether an entry is for a host and, if the entry names a port,
// for that port; a host without one means that of HTTPS.
func (e entry) isFor(host string) bool {
	name, port := split(host)
	switch {
	case e.any:
	case e.machine == "":
		return false // a password for every machine is nobody's key
	case strings.EqualFold(e.machine, host):
	case !strings.EqualFold(e.machine, name):
		return false
	}
	return e.port == "" || e.port == port || port == "443" && e.port == "https"
}

// split parts "host:port".
func split(host string) (name, port string) {
	if name, port, err := net.SplitHostPort(host); err == nil {
		return name, port
	}
	return strings.Trim(host, "[]"), "443"
}
