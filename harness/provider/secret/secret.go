// Package secret finds the keys of providers, and keeps them out of what is
// shown. A key is never in the home: it comes, in this order, from
//
//   - an environment variable, the vendor's own: ANTHROPIC_API_KEY
//
//   - api-key-cmd, a shell command line whose first line of output is the key.
//     It runs at most once a process and host, with AMACS_KEY_HOST naming the
//     host, so that one command can serve several:
//
//     api-key-cmd: pass show keys/$AMACS_KEY_HOST
//
//   - ~/.authinfo, then ~/.netrc, read as Emacs' auth-source does:
//
//     machine api.anthropic.com login apikey password sk-ant-…
//
// Begin reading at [Finder.Key]; [Hide] and [Shapes] are for what is shown.
package secret

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"
)

// Key is a key, or the news that there is none. Printed by any verb of fmt, or
// as JSON, it does not show itself.
type Key struct {
	Text string // "" = there is none
	From string // where it was found: "ANTHROPIC_API_KEY", "api-key-cmd", "~/.authinfo line 3"
	Hint string // beside no Text: where a key may be put
}

// Format prints where the key is from.
func (k Key) Format(w fmt.State, _ rune) {
	fmt.Fprint(w, hidden)
	if k.From != "" {
		fmt.Fprint(w, " from "+k.From)
	}
}

// MarshalText is as Format.
func (k Key) MarshalText() ([]byte, error) { return fmt.Append(nil, k), nil }

// Finder finds keys. It may be used by many goroutines; make it once a process,
// for it remembers what the command said.
type Finder struct {
	Getenv  func(string) string
	Command string // api-key-cmd; "" = none
	Home    string // the user's home folder; "" = no files are read

	once  sync.Once
	turn  chan struct{}     // held while the command runs
	given map[string]string // by host: what the command gave
	wait  time.Duration     // how long it may take; 0 = commandWait
}

// Key finds the key for a host ("api.anthropic.com", "127.0.0.1:8080"); vars are
// the environment variables that may hold it, the first one that is not empty
// counts. A Key without Text and no error means that there is none. A key that
// can not be one (it has a blank or a line break in it, or quotes around it), a
// command that fails and a file that can not be read are errors; they name the
// place and never show the key.
func (f *Finder) Key(ctx context.Context, host string, vars ...string) (Key, error) {
	k, err := f.fromEnv(vars)
	if k.Text != "" || err != nil {
		return k, err
	}
	if f.Command != "" {
		text, err := f.ask(ctx, host)
		return Key{Text: text, From: "api-key-cmd"}, err
	}
	return f.fromFiles(host, vars)
}

// Stored is Key without the command, which may ask a human something and is not
// run only to see what there is.
func (f *Finder) Stored(host string, vars ...string) (Key, error) {
	k, err := f.fromEnv(vars)
	if k.Text != "" || err != nil {
		return k, err
	}
	return f.fromFiles(host, vars)
}

func (f *Finder) fromEnv(vars []string) (Key, error) {
	for _, name := range vars {
		if text := f.Getenv(name); text != "" {
			return accept(text, name)
		}
	}
	return Key{}, nil
}

// accept makes a Key of a text that can be one.
func accept(text, from string) (Key, error) {
	if why := wrong(text); why != "" {
		return Key{}, fmt.Errorf("the key in %s %s; it was not used", from, why)
	}
	return Key{Text: text, From: from}, nil
}

// wrong says why a text can not be a key; "" = it can. A key goes into a header,
// as visible ASCII (RFC 9110 §5.5).
func wrong(text string) string {
	if strings.Trim(text, " \t\r\n") == "" {
		return "is empty"
	}
	for _, c := range text {
		switch {
		case c == '\n' || c == '\r':
			return "has a line break in it"
		case c == ' ' || c == '\t':
			return "has a blank in it"
		case c < ' ' || c == 0x7f:
			return "has a control character in it"
		case c > 0x7f:
			return "has a character in it that is not ASCII"
		}
	}
	if first := text[0]; first == '"' || first == '\'' {
		return "begins with a quotation mark"
	}
	return ""
}
