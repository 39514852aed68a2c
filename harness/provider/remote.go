package provider

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"amacs/harness/provider/secret"
	"amacs/harness/provider/wire"
)

// remote is what the models of the vendors have in common: a server, a key, and
// what the server has refused.
type remote struct {
	provider string
	server   *wire.Server
	local    bool // on this machine or in this network: no key is needed
	options  Options
	ways     []way
	header   map[string]string // sent with each request

	keyMu sync.Mutex // held while the key is looked for, which may take seconds
	key   key

	mu      sync.Mutex
	facts   Facts
	without map[string]bool // settings that the server refused
	said    map[string]bool // words that the human has read
}

// way is how a key goes along: where it is looked for and in which header it is
// sent.
type way struct {
	vars           []string
	header, before string
}

func bearer(vars ...string) way { return way{vars, "Authorization", "Bearer "} }

type key struct {
	way
	text string
}

// newRemote returns the server at base.
func newRemote(o Options, billing Billing, base string, ways ...way) (*remote, error) {
	server, err := wire.New(base, agent(), cmp.Or(o.Idle, time.Minute), o.Debug)
	if err != nil {
		return nil, &Error{Provider: o.Provider, Op: "opening", Err: err, Hint: "set it by --base-url or `base-url:` in config.yaml"}
	}
	m := &remote{provider: o.Provider, server: server, local: isLocal(server.Host()), options: o, ways: ways,
		without: map[string]bool{}, said: map[string]bool{}}
	m.facts = Facts{Provider: o.Provider, Model: o.Model, Billing: billing}
	return m, nil
}

// agent is the User-Agent.
func agent() string {
	if b, ok := debug.ReadBuildInfo(); ok && b.Main.Version != "" && b.Main.Version != "(devel)" {
		return "amacs/" + b.Main.Version
	}
	return "amacs/devel"
}

// isLocal reports whether a host (with or without port) is this machine or in
// its private network.
func isLocal(host string) bool {
	u := url.URL{Host: host}
	name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	if ip, err := netip.ParseAddr(name); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified()
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || strings.HasSuffix(name, ".local") || name == "host.docker.internal"
}

func (m *remote) Name() string {
	if model := m.Facts().Model; model != "" {
		return m.provider + ":" + model
	}
	return m.provider
}

func (m *remote) Facts() Facts {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.facts
}

// learn keeps what the server has told of the model.
func (m *remote) learn(what func(*Facts)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	what(&m.facts)
}

// ask makes a request with the key in it.
func (m *remote) ask(ctx context.Context, path string, body any) (wire.Ask, error) {
	k, err := m.findKey(ctx)
	if err != nil {
		return wire.Ask{}, err
	}
	a := wire.Ask{Path: path, Body: body, Header: map[string]string{}}
	for name, value := range m.header {
		a.Header[name] = value
	}
	if k.text != "" {
		a.Header[k.header], a.Secrets = k.before+k.text, secret.Forms(k.text)
	}
	return a, nil
}

// findKey looks the key up once; a key that was refused is looked up again.
func (m *remote) findKey(ctx context.Context) (key, error) {
	m.keyMu.Lock()
	defer m.keyMu.Unlock()
	if m.key.text != "" {
		return m.key, nil
	}
	var vars []string
	for _, w := range m.ways {
		vars = append(vars, w.vars...)
	}
	if len(vars) == 0 {
		return key{}, nil
	}
	found, err := m.options.Key(ctx, m.server.Host(), vars...)
	switch {
	case ctx.Err() != nil:
		return key{}, ended(ctx, m.provider, "")
	case err != nil && m.Facts().Billing != Free: // a free server rarely wants one, and the command knows none for it; if it does, it says 401
		return key{}, &Error{Provider: m.provider, Op: "looking for the key", Err: err}
	case found.Text != "":
		m.key = key{m.ways[0], found.Text}
		for _, w := range m.ways {
			if slices.Contains(w.vars, found.From) {
				m.key.way = w
			}
		}
		return m.key, nil
	}
	if m.local {
		return key{}, nil
	}
	host, _, _ := strings.Cut(m.server.Host(), ":")
	return key{}, &Error{Provider: m.provider, Op: "looking for the key", Err: fmt.Errorf("there is no key for %s", host), Hint: found.Hint}
}

func (m *remote) forgetKey() {
	m.keyMu.Lock()
	defer m.keyMu.Unlock()
	m.key = key{}
}

// get reads a JSON answer to a request without settings; body nil = GET.
func (m *remote) get(ctx context.Context, op, path string, body, into any) (http.Header, error) {
	a, err := m.ask(ctx, path, body)
	if err != nil {
		return nil, err
	}
	header, err := m.server.JSON(ctx, a, into)
	if err != nil {
		e := m.failure(ctx, err, incoming{})
		e.Op = op
		return header, e
	}
	return header, nil
}

// hide takes the key out of words of the server that others will read.
func (m *remote) hide(words string) string {
	m.keyMu.Lock()
	defer m.keyMu.Unlock()
	return secret.Hide(words, m.key.text)
}

// call is one vendor's way to ask for a response.
type call struct {
	path string
	body func(*draft) any // made again when the server refuses a setting
	send func(context.Context, wire.Ask, func(data []byte) error) (http.Header, error)
	hear func(a *incoming, data []byte) error // an event of the stream; io.EOF after the stop marker
}

// maxRefusals is how many settings are left out, one after the other, before a
// refusal is an error.
const maxRefusals = 4

// complete asks once. What a server refuses of the settings that may be left out
// is left out and asked for again, which is no second attempt: nothing was
// answered.
func (m *remote) complete(ctx context.Context, c call, stream func(string)) (Response, error) {
	if ctx.Err() != nil {
		return Response{}, ended(ctx, m.provider, "")
	}
	var words []string
	for refusals := 0; ; refusals++ {
		d := m.draft()
		request, err := m.ask(ctx, c.path, c.body(d))
		if err != nil {
			return Response{}, err
		}
		a := incoming{stream: stream}
		header, err := c.send(ctx, request, func(data []byte) error { return c.hear(&a, data) })
		var f *wire.Fault
		if errors.As(err, &f) && refusals < maxRefusals {
			if word, ok := m.refuse(d, f); ok {
				words = append(words, word...)
				continue
			}
		}
		a.model, a.refusal = m.hide(a.model), m.hide(a.refusal)
		seen := limits(header, time.Now())
		if err == nil {
			err = a.missing()
		}
		if err != nil {
			e := m.failure(ctx, err, a)
			e.Limits = seen
			return Response{}, e
		}
		return Response{Text: a.text.String(), Model: cmp.Or(a.model, m.Facts().Model), Stop: a.stop, Usage: a.usage, Cost: a.cost,
			Limits: seen, Words: append(words, m.news(d.words)...)}, nil
	}
}

// events and lines are the two ways in which vendors stream.
func (m *remote) events(ctx context.Context, a wire.Ask, each func([]byte) error) (http.Header, error) {
	return m.server.Events(ctx, a, func(e wire.Event) error { return each([]byte(e.Data)) })
}

func (m *remote) lines(ctx context.Context, a wire.Ask, each func([]byte) error) (http.Header, error) {
	return m.server.Lines(ctx, a, each)
}

// news are the words that were not said before.
func (m *remote) news(words []string) []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(words, func(w string) bool {
		old := m.said[w]
		m.said[w] = true
		return old
	})
}
