package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"amacs/harness/home"
	"amacs/harness/ledger"
	"amacs/harness/provider"
	"amacs/harness/provider/agent"
)

// Configured reports whether somebody has said who answers: a flag, a variable
// or config.yaml.
func (h *Harness) Configured() bool {
	return h.overrides.provider != "" || h.home.HasSetting("provider")
}

// Use makes a provider that was found the one that answers, in config.yaml.
func (h *Harness) Use(ctx context.Context, c provider.Candidate) error {
	settings := [][2]string{{"provider", c.Provider}}
	for _, s := range [][2]string{{"model", c.Model}, {"base-url", c.BaseURL}} {
		if s[1] != "" {
			settings = append(settings, s)
		}
	}
	return h.Configure(ctx, settings...)
}

// Configure changes settings in config.yaml, in one commit. With another provider
// go the settings that belong to the one before: its key must not be sent to the
// other's server. A value that does not fit is a *home.BadSetting.
func (h *Harness) Configure(ctx context.Context, settings ...[2]string) error {
	if was, err := h.home.Config(); err == nil {
		settings = append(settings, leftovers(was, settings)...)
	}
	what := ""
	for i, s := range settings {
		if i > 0 {
			what += ", "
		}
		what += s[0] + " is " + cmp.Or(s[1], "empty")
	}
	err := h.Change(ctx, "CONFIG", what, home.Edit{What: "changing the settings", Apply: func(d *home.Draft) error {
		src, err := d.Bytes(home.ConfigFile)
		for i := 0; i < len(settings) && err == nil; i++ {
			src, err = home.SetConfig(src, settings[i][0], settings[i][1])
		}
		if err != nil {
			return err
		}
		return d.Put(home.ConfigFile, src)
	}})
	if err != nil {
		return err
	}
	h.choosing.Lock()
	defer h.choosing.Unlock()
	h.overrides.giveWay(settings)
	config, err := h.home.Config()
	if err == nil {
		_, err = h.adopt(h.overrides.over(config))
	}
	return err
}

// leftovers empties the settings that belong to a provider which settings change
// for another.
func leftovers(was home.Config, settings [][2]string) (out [][2]string) {
	named := map[string]string{}
	for _, s := range settings {
		named[s[0]] = s[1]
	}
	if to, ok := named["provider"]; !ok || to == was.Provider {
		return nil
	}
	for _, s := range [][2]string{{"model", was.Model}, {"base-url", was.BaseURL}, {"fast-model", was.FastModel}, {"models", was.Models}} {
		if _, ok := named[s[0]]; !ok && s[1] != "" {
			out = append(out, [2]string{s[0], ""})
		}
	}
	return out
}

// LastCall is the latest call of a tick, within a day; false = there is none.
func (h *Harness) LastCall() (last ledger.Call, ok bool, err error) {
	for c, err := range h.Ledger().Calls(h.now().AddDate(0, 0, -1), time.Time{}) {
		var broken ledger.Broken
		if errors.As(err, &broken) {
			continue // `cost` and `doctor` tell of it
		}
		if err != nil {
			return last, false, err
		}
		if c.Outcome != ledger.Unsettled && (c.Source == ledger.Human || c.Source == ledger.Continue) && (!ok || c.At.After(last.At)) {
			last, ok = c, true
		}
	}
	return last, ok, nil
}

// Billing is who pays for the model that answers.
func (h *Harness) Billing() provider.Billing {
	s := h.settings.Load()
	m, err := s.model(s.chosen.Model)
	if err != nil {
		return provider.Free
	}
	return h.billing(m.Facts())
}

// Agents are the CLIs that amacs knows, those that are here and those that are
// not.
func (h *Harness) Agents(ctx context.Context) []agent.Found {
	return agent.Find(ctx, h.settings.Load().entries(), nil, nil)
}

// Priced is a model with what it costs.
type Priced struct {
	Name    string        `json:"name"`
	Window  int           `json:"window,omitempty"` // tokens it can read
	Note    string        `json:"note,omitempty"`
	Answers bool          `json:"answers"` // it is the one that is configured
	Price   *ledger.Price `json:"usd_per_million_tokens"`
	free    bool
}

// PriceText is "3 in, 15 out, 0.3 cached" in USD per million tokens.
func (p Priced) PriceText() string {
	switch {
	case p.Price != nil:
		return p.Price.String()
	case p.free:
		return "free"
	}
	return "price not known"
}

// Models asks the provider which models it has.
func (h *Harness) Models(ctx context.Context) ([]Priced, error) {
	if _, err := h.Ready(ctx); err != nil {
		return nil, err
	}
	s := h.settings.Load()
	o := s.chosen
	list, err := provider.Models(ctx, o)
	if err != nil {
		return nil, err
	}
	m, err := s.model(o.Model)
	if err != nil {
		return nil, err
	}
	f, out := m.Facts(), []Priced{}
	for _, l := range list {
		p := Priced{Name: l.Name, Window: l.Window, Note: l.Note, Answers: l.Name == f.Model, free: h.billing(provider.Facts{Model: l.Name, Billing: f.Billing}) == provider.Free}
		if price, ok := h.Ledger().Price(l.Name); ok && !p.free {
			p.Price = &price
		}
		out = append(out, p)
	}
	return out, nil
}

// Unattended says which provider unattended work would use, or why none.
func (h *Harness) Unattended(ctx context.Context) string {
	c, ok := provider.ChooseUnattended(h.Candidates(ctx), h.Config().Unattended)
	if !ok {
		return "off: there is no CLI with a login and no local model, and models that bill by the token are not allowed (unattended-paid)"
	}
	return fmt.Sprintf("%s: %s", c.Name(), c.Why)
}
