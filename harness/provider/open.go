package provider

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Options say which model is meant and how it is reached.
type Options struct {
	Provider string // one of Known
	Model    string // the provider's own name; "" = its default; for script the file; for agent "CLI" or "CLI:MODEL"
	BaseURL  string // of the server; "" = the vendor's variable, else its own
	Getenv   func(string) string
	// Key finds the key for a host, with the names of the environment variables
	// that may hold it. "" = there is none.
	Key   func(ctx context.Context, host string, vars ...string) (string, error)
	Idle  time.Duration // how long a stream may be silent; 0 = a minute
	Debug io.Writer     // is shown every exchange, without keys; nil = nobody
	Dir   string        // an empty folder for agent CLIs to run in
}

// known are the names that [Open] takes.
var known = []string{"offline", "script"}

// Known lists the providers.
func Known() []string { return append([]string(nil), known...) }

// Open returns the model of a provider. It asks nobody: a wrong key is found
// out by the first call.
func Open(o Options) (Model, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	switch o.Provider {
	case "offline":
		return Offline(), nil
	case "script":
		if o.Model == "" {
			return nil, &Error{Provider: o.Provider, Op: "opening", Err: fmt.Errorf("no file named"),
				Hint: "name it: --provider script --model FILE"}
		}
		return Script(o.Model)
	}
	return nil, &Error{Provider: strconv.Quote(o.Provider), Op: "opening", Err: fmt.Errorf("no provider has this name; known are: %s", strings.Join(known, ", ")),
		Hint: "choose one with --provider, AMACS_PROVIDER or `provider:` in config.yaml"}
}
