package home

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"amacs/harness/nearest"
)

// Config is config.yaml. Every key may be missing.
//
//	provider: offline        # which model answers
//	model: ""                # the provider's model, or its file
//	context-window: 200000   # tokens the model can read
//	color: auto              # auto, always, never
//	pack: true               # keep git's storage small with the git binary
type Config struct {
	Provider      string `yaml:"provider"`
	Model         string `yaml:"model"`
	ContextWindow int    `yaml:"context-window"`
	Color         string `yaml:"color"`
	Pack          bool   `yaml:"pack"`
}

// ConfigKey is one setting, with what it does.
type ConfigKey struct {
	Key, Doc string
	value    func(*Config) string
	check    func(Config) error
}

// ConfigKeys lists the settings in the order of the manual.
func ConfigKeys() []ConfigKey { return slices.Clone(configKeys) }

var configKeys = []ConfigKey{
	{"provider", "which model answers: offline (built in, no model) or script (plays a file)",
		func(c *Config) string { return c.Provider }, nil},
	{"model", "the provider's model; for script, the file of replies",
		func(c *Config) string { return c.Model }, nil},
	{"context-window", "how many tokens the model can read; the prompt is trimmed to fit",
		func(c *Config) string { return fmt.Sprint(c.ContextWindow) },
		func(c Config) error {
			if c.ContextWindow < 4096 {
				return fmt.Errorf("context-window: %d is too small, 4096 is the least", c.ContextWindow)
			}
			return nil
		}},
	{"color", "colours: auto (on a terminal), always or never; NO_COLOR and TERM=dumb count as never",
		func(c *Config) string { return c.Color },
		func(c Config) error {
			switch c.Color {
			case "auto", "always", "never":
				return nil
			}
			return fmt.Errorf("color: %q is not one of auto, always, never", c.Color)
		}},
	{"pack", "keep git's storage small by running `git repack` now and then: true or false",
		func(c *Config) string { return fmt.Sprint(c.Pack) }, nil},
}

// Value is the setting as c has it.
func (k ConfigKey) Value(c Config) string { return k.value(&c) }

// DefaultConfig is what holds where config.yaml is silent.
func DefaultConfig() Config {
	return Config{Provider: "offline", ContextWindow: 200_000, Color: "auto", Pack: true}
}

// Config reads config.yaml. An error names the line, and for an unknown key the
// nearest known one.
func (h *Home) Config() (Config, error) {
	b, err := h.Read(ConfigFile)
	if errors.Is(err, fs.ErrNotExist) {
		return DefaultConfig(), nil
	}
	if err != nil {
		return DefaultConfig(), err
	}
	return ParseConfig(b)
}

// ParseConfig reads the text of a config.yaml. Beside an error it is the
// defaults.
func ParseConfig(src []byte) (Config, error) {
	top, err := configNode(src)
	if err != nil || top == nil {
		return DefaultConfig(), err
	}
	c, seen := DefaultConfig(), map[string]bool{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		pair := top.Content[i : i+2]
		key := pair[0].Value
		at := fmt.Sprintf("%s line %d", ConfigFile, pair[0].Line)
		k, err := configKey(key)
		switch {
		case err != nil:
			return DefaultConfig(), fmt.Errorf("%s: %w", at, err)
		case seen[key]:
			return DefaultConfig(), fmt.Errorf("%s: %s is set twice", at, key)
		}
		seen[key] = true
		if err := (&yaml.Node{Kind: yaml.MappingNode, Content: pair}).Decode(&c); err != nil {
			return DefaultConfig(), fmt.Errorf("%s: %s: %s does not fit; the default is %s", at, key, shown(pair[1]), k.Value(DefaultConfig()))
		}
		if k.check == nil {
			continue
		}
		if err := k.check(c); err != nil {
			return DefaultConfig(), fmt.Errorf("%s: %w", at, err)
		}
	}
	return c, nil
}

func shown(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return strconv.Quote(n.Value)
	}
	return "a list or mapping"
}

// configNode is the mapping that a config.yaml holds, nil if it is empty.
func configNode(src []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		return nil, fmt.Errorf("%s: %s", ConfigFile, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s line %d: expected `key: value` lines", ConfigFile, top.Line)
	}
	return top, nil
}

func configKey(name string) (ConfigKey, error) {
	var known []string
	for _, k := range configKeys {
		if k.Key == name {
			return k, nil
		}
		known = append(known, k.Key)
	}
	hint := "the keys are " + strings.Join(known, ", ")
	if near := nearest.Names(name, known, 1); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	return ConfigKey{}, fmt.Errorf("unknown key %q; %s", name, hint)
}
