package provider

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	clis "amacs/harness/provider/agent"
	"amacs/harness/provider/secret"
)

// Options say which model is meant and how it is reached.
type Options struct {
	Provider string // one of Known
	Model    string // the provider's own name; "" = its default; for script the file; for agent "CLI" or "CLI:MODEL"
	BaseURL  string // of the server; "" = the vendor's variable, else its own
	Getenv   func(string) string
	// Key finds the key for a host, as [secret.Finder.Key] does; nil = in the
	// environment only.
	Key   func(ctx context.Context, host string, vars ...string) (secret.Key, error)
	Idle  time.Duration // how long a stream may be silent; 0 = a minute
	Debug io.Writer     // is shown every exchange, without keys; nil = nobody

	Agents []clis.Entry // the CLIs that the provider "agent" knows; nil = the built-in ones
}

// known are the names that [Open] takes.
var known = []string{"offline", "script", "anthropic", "openai", "ollama", "agent"}

// Known lists the providers.
func Known() []string { return append([]string(nil), known...) }

// Open returns the model of a provider. It asks nobody: a wrong key is found
// out by the first call.
func Open(o Options) (Model, error) {
	o = o.filled()
	switch o.Provider {
	case "offline":
		return Offline(), nil
	case "script":
		if o.Model == "" {
			return nil, &Error{Provider: o.Provider, Op: "opening", Err: fmt.Errorf("no file named"),
				Hint: "name it: --provider script --model FILE"}
		}
		return Script(o.Model)
	case "anthropic":
		return model(newAnthropic(o))
	case "openai":
		return model(newOpenAI(o))
	case "ollama":
		return model(newOllama(o))
	case "agent":
		return model(newCLI(o))
	}
	return nil, &Error{Provider: strconv.Quote(o.Provider), Op: "opening", Err: fmt.Errorf("no provider has this name; known are: %s, and auto", strings.Join(known, ", ")),
		Hint: "choose one with --provider, AMACS_PROVIDER or `provider:` in config.yaml"}
}

// filled are the options with what may be left out.
func (o Options) filled() Options {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Key == nil {
		o.Key = (&secret.Finder{Getenv: o.Getenv}).Key
	}
	return o
}

// model makes no Model of an error.
func model[M Model](m M, err error) (Model, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}
