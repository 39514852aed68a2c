package harness

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"amacs/harness/home"
	"amacs/harness/ledger"
	"amacs/harness/provider"
	"amacs/harness/provider/agent"
	"amacs/harness/provider/secret"
	"amacs/harness/tools"
)

// settings are what config.yaml and what comes before it amount to. They are
// replaced as a whole: a command may read them while a tick runs.
type settings struct {
	config home.Config
	caps   ledger.Caps
	ledger *ledger.Ledger
	keys   *secret.Finder
	chosen provider.Options // who answers; Provider is "" until Ready
	why    string           // of a choice that amacs made
	models *models
	tools  *tools.Set
}

// models are those that were opened, by provider, model and server.
type models struct {
	sync.Mutex
	open map[[3]string]provider.Model
}

// adopt makes settings those in force, and keeps what they do not change.
func (h *Harness) adopt(c home.Config) (*settings, error) {
	caps, err := c.Caps()
	if err != nil {
		return nil, err
	}
	s := &settings{config: c, caps: caps}
	was := h.settings.Load()
	if was != nil {
		s.ledger, s.keys, s.chosen, s.why, s.models, s.tools = was.ledger, was.keys, was.chosen, was.why, was.models, was.tools
	}
	if was == nil || !reflect.DeepEqual(caps, was.caps) || !reflect.DeepEqual(c.Prices, was.config.Prices) {
		s.ledger = ledger.Open(h.home.State("ledger"), ledger.Options{Caps: caps, Prices: c.Prices, Now: h.now})
	}
	if was == nil || c.KeyCommand != was.config.KeyCommand {
		dir, _ := os.UserHomeDir() // "" = there are no files of keys
		s.keys = &secret.Finder{Getenv: os.Getenv, Command: c.KeyCommand, Home: dir}
	}
	if was == nil || c.KeyCommand != was.config.KeyCommand || c.IdleTimeout != was.config.IdleTimeout || !reflect.DeepEqual(c.Agents, was.config.Agents) {
		s.models = &models{open: map[[3]string]provider.Model{}}
	}
	if was == nil || !reflect.DeepEqual(c.Servers, was.config.Servers) {
		s.tools = tools.New(c.Servers, tools.Options{Dir: h.home.Path(home.Workspace), Environ: os.Environ, Cache: h.home.Cache("tools")})
	}
	h.settings.Store(s)
	if was != nil && was.tools != s.tools {
		go was.tools.Close() // what it had started has no caller any more
	}
	return s, nil
}

// Tools are the MCP servers in force.
func (h *Harness) Tools() *tools.Set { return h.settings.Load().tools }

// Close ends what the harness has started.
func (h *Harness) Close() error { return h.Tools().Close() }

// Ready reads the settings anew and opens the model that is configured, if that
// has not been done. Only ticks and small questions need one. It returns what
// the human should know of the choice.
func (h *Harness) Ready(ctx context.Context) (words []string, err error) {
	h.choosing.Lock()
	defer h.choosing.Unlock()
	s := h.settings.Load()
	config, err := h.home.Config()
	if err == nil {
		s, err = h.adopt(h.overrides.over(config))
	}
	if err != nil {
		words = append(words, err.Error()+"; the settings from before hold")
		s = h.settings.Load()
	}
	next := *s
	o := provider.Options{
		Provider: s.config.Provider, Model: s.config.Model, BaseURL: s.config.BaseURL,
		Agents: s.entries(), Debug: h.debug, Key: s.keys.Key, Idle: time.Duration(s.config.IdleTimeout) * time.Second,
	}
	switch {
	case o.Provider != "auto":
		next.why = ""
	case s.why != "":
		o.Provider, o.Model, o.BaseURL = s.chosen.Provider, s.chosen.Model, s.chosen.BaseURL
	default:
		c := provider.Choose(h.Candidates(ctx))
		o.Provider, o.Model, o.BaseURL = c.Provider, c.Model, c.BaseURL
		next.why = fmt.Sprintf("auto chose %s: %s", c.Name(), c.Why)
		words = append(words, next.why)
	}
	next.chosen = o
	h.settings.Store(&next)
	_, err = next.model(o.Model)
	return words, err
}

// entries are the agent CLIs that are known, the user's own among them.
func (s *settings) entries() []agent.Entry {
	all, err := agent.Merge(agent.Builtin(), s.config.Agents)
	if err != nil { // reading the settings has refused it
		return agent.Builtin()
	}
	return all
}

// model opens one of the provider that answers; "" is the default one.
func (s *settings) model(name string) (provider.Model, error) {
	o := s.chosen
	o.Model = name
	id := [3]string{o.Provider, o.Model, o.BaseURL}
	s.models.Lock()
	defer s.models.Unlock()
	if m, ok := s.models.open[id]; ok {
		return m, nil
	}
	m, err := provider.Open(o)
	if err == nil {
		s.models.open[id] = m
	}
	return m, err
}

// Candidates are the providers that could answer here, in the order of auto.
func (h *Harness) Candidates(ctx context.Context) []provider.Candidate {
	s := h.settings.Load()
	return provider.Find(ctx, provider.FindOptions{Keys: s.keys, Agents: s.entries()})
}

// ModelName says who answers.
func (h *Harness) ModelName() string {
	s := h.settings.Load()
	if m, err := s.model(s.chosen.Model); err == nil && s.chosen.Provider != "" {
		return m.Name()
	}
	if s.config.Model == "" {
		return s.config.Provider
	}
	return s.config.Provider + ":" + s.config.Model
}

// answering is the model for a tick: the agent's own choice where the settings
// allow it. words tell of one that was not followed.
func (h *Harness) answering(wish string) (m provider.Model, words string, err error) {
	s := h.settings.Load()
	allowed := strings.FieldsFunc(s.config.Models, func(r rune) bool { return r == ',' || r == ' ' })
	if wish == "" || wish == s.chosen.Model {
		m, err = s.model(s.chosen.Model)
		return m, "", err
	}
	if !slices.Contains(allowed, wish) {
		m, err = s.model(s.chosen.Model)
		return m, fmt.Sprintf("api-settings name the model %q, which `models` in %s does not allow; %s answers", wish, home.ConfigFile, h.ModelName()), err
	}
	m, err = s.model(wish)
	return m, "", err
}

// overrides are the flags and variables that come before the file.
type overrides struct{ provider, model, baseURL string }

// giveWay drops those that are set anew: at an open prompt the last word counts.
func (o *overrides) giveWay(settings [][2]string) {
	for _, s := range settings {
		switch s[0] {
		case "provider":
			*o = overrides{}
		case "model":
			o.model = ""
		case "base-url":
			o.baseURL = ""
		}
	}
}

func (o overrides) over(c home.Config) home.Config {
	if o.provider != "" && o.provider != c.Provider {
		c.Provider, c.Model, c.BaseURL, c.FastModel, c.Models = o.provider, "", "", "", ""
	}
	if o.model != "" {
		c.Model = o.model
	}
	if o.baseURL != "" {
		c.BaseURL = o.baseURL
	}
	return c
}
