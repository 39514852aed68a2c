package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	clis "amacs/harness/provider/agent"
	"amacs/harness/provider/secret"
)

// Candidate is what could answer here. It holds no key.
type Candidate struct {
	Provider string
	Model    string // "" = the provider's default
	BaseURL  string // "" = the vendor's variable, else its own server
	Billing  Billing
	Ready    bool   // as far as can be seen without asking a model
	Why      string // of a ready one: "ANTHROPIC_API_KEY is set"
	Problem  string // of one that is not: why, and what to do
}

// Name is "anthropic" or "agent:claude", as in [Model].
func (c Candidate) Name() string {
	if c.Model == "" {
		return c.Provider
	}
	return c.Provider + ":" + c.Model
}

// FindOptions say where Find looks.
type FindOptions struct {
	Keys     *secret.Finder               // its command is not run: it may ask a human something
	Agents   []clis.Entry                 // the CLIs to look for, the best first
	Lookup   func(string) (string, bool)  // nil = os.LookupEnv
	LookPath func(string) (string, error) // nil = exec.LookPath
	HTTP     http.RoundTripper            // how local servers are reached; nil = directly

	wait time.Duration // for the local servers; 0 = serversWait
}

// Find lists what could answer here, ready or not, in the order in which auto
// chooses: a key, an agent CLI, a local server, the offline responder. It asks no
// model and sends no key anywhere, and takes half a second at most.
func Find(ctx context.Context, o FindOptions) []Candidate {
	if o.Lookup == nil {
		o.Lookup = os.LookupEnv
	}
	if o.LookPath == nil {
		o.LookPath = exec.LookPath
	}
	local := make(chan []Candidate, 1)
	go func() { local <- o.servers(ctx) }()
	out := o.keys()
	for _, e := range o.Agents {
		out = append(out, o.agent(e))
	}
	out = append(out, <-local...)
	return append(out, Candidate{Provider: "offline", Ready: true, Why: "built in, no model"})
}

// Choose returns the first candidate that is ready.
func Choose(cs []Candidate) Candidate {
	for _, c := range cs {
		if c.Ready {
			return c
		}
	}
	return Candidate{Provider: "offline", Ready: true, Why: "nothing else is ready"}
}

// ChooseUnattended returns what works while nobody looks; false = nothing does.
// Logins come first, OpenAI's before Anthropic's, so that the rate limit that is
// used is not the one of the human at the prompt. Then what is free: a small
// local model judges worse, but its work can be undone, and spent money can not.
// What bills by the token comes last, and only where that is allowed. The offline
// responder has no judgement at all.
func ChooseUnattended(cs []Candidate, allowPaid bool) (Candidate, bool) {
	for _, fits := range []func(Candidate) bool{
		func(c Candidate) bool { return c.Billing == Subscription && c.Model == "codex" },
		func(c Candidate) bool { return c.Billing == Subscription && c.Model == "claude" },
		func(c Candidate) bool { return c.Billing == Subscription },
		func(c Candidate) bool { return c.Billing == Free },
		func(c Candidate) bool { return c.Billing == PerToken && allowPaid },
	} {
		for _, c := range cs {
			if c.Ready && c.Provider != "offline" && fits(c) {
				return c, true
			}
		}
	}
	return Candidate{}, false
}

// keys are the vendors that bill by the token. A server whose models have no
// default is not ready: the first one of its list may cost anything.
func (o FindOptions) keys() []Candidate {
	out := []Candidate{o.vendor("anthropic", "ANTHROPIC_BASE_URL", anthropicBase, "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")}
	if own := o.value("OPENAI_BASE_URL"); !isLocalURL(own) && hostOf(own) != hostOf(openRouter) {
		c := o.vendor("openai", "OPENAI_BASE_URL", openaiBase, "OPENAI_API_KEY")
		if c.BaseURL != "" && hostOf(c.BaseURL) != hostOf(openaiBase) {
			c = c.needsModel()
		}
		out = append(out, c)
	}
	router := o.vendor("openai", "", openRouter, "OPENROUTER_API_KEY")
	router.BaseURL = openRouter
	return append(out, router.needsModel())
}

const openRouter = "https://openrouter.ai/api/v1"

// hostOf is the host of an address, without its port; "" = it has none.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// needsModel is c, which is not ready as long as nobody names a model.
func (c Candidate) needsModel() Candidate {
	if c.Ready {
		c.Problem = fmt.Sprintf("%s, but there is no model by default: set provider: openai, base-url: %s, and model", c.Why, c.BaseURL)
		c.Ready, c.Why = false, ""
	}
	return c
}

func (o FindOptions) value(name string) string {
	v, _ := o.Lookup(name)
	return v
}

// vendor looks for the key of a server: of the one that a variable names, else
// of the vendor's own.
func (o FindOptions) vendor(provider, baseVar, base string, vars ...string) Candidate {
	c := Candidate{Provider: provider, Billing: PerToken}
	own := o.value(baseVar)
	if own != "" {
		base = own
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" || u.User != nil {
		c.Problem = baseVar + " is not an address such as https://llm.example.com/v1"
		return c
	}
	if own != "" {
		c.BaseURL = own
	}
	k, err := o.Keys.Stored(u.Host, vars...)
	switch {
	case err != nil:
		c.Problem = err.Error()
	case k.Text == "":
		c.Problem = o.noKey(k, u.Host, vars)
	case strings.HasPrefix(k.From, "~"):
		c.Ready, c.Why = true, "a key is in "+k.From
	default:
		c.Ready, c.Why = true, k.From+" is set"
	}
	if c.Ready && own != "" {
		c.Why += ", and " + baseVar + " names " + u.Host
	}
	return c
}

func (o FindOptions) noKey(k secret.Key, host string, vars []string) string {
	for _, name := range vars {
		if _, set := o.Lookup(name); set {
			return name + " is set, but empty"
		}
	}
	if o.Keys.Command != "" {
		return fmt.Sprintf("no key for %s is stored, and api-key-cmd is not run only to see whether it has one: choose the provider by name", host)
	}
	return fmt.Sprintf("no key for %s: %s", host, k.Hint)
}

// agent looks for a CLI by name alone. Whether it is the right one, and logged in,
// is seen when it runs.
func (o FindOptions) agent(e clis.Entry) Candidate {
	c := Candidate{Provider: "agent", Model: e.Name, Billing: Subscription}
	if e.Keyed() {
		c.Billing = PerToken
	}
	if len(e.Command) == 0 {
		c.Problem = "its entry in config.yaml names no command"
		return c
	}
	path, err := o.LookPath(e.Command[0])
	switch {
	case errors.Is(err, exec.ErrDot):
		c.Problem = fmt.Sprintf("%s is in the current folder, from where it is not run", e.Command[0])
	case err != nil:
		c.Problem = fmt.Sprintf("no %s on the PATH", e.Command[0])
	default:
		c.Ready, c.Why = true, fmt.Sprintf("%s is in %s", filepath.Base(path), o.shorten(filepath.Dir(path)))
	}
	return c
}

// shorten writes ~ for the user's home.
func (o FindOptions) shorten(dir string) string {
	home := o.Keys.Home
	if rest, ok := strings.CutPrefix(dir, home); ok && home != "" && (rest == "" || rest[0] == filepath.Separator) {
		return "~" + rest
	}
	return dir
}
