package home

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"amacs/harness/ledger"
	"amacs/harness/nearest"
	"amacs/harness/permit"
	"amacs/harness/provider/agent"
	"amacs/harness/tools"
)

// Config is config.yaml. Every key may be missing.
//
//	provider: anthropic      # who answers
//	model: claude-sonnet-5-5 # the provider's model, or its file
//	models: claude-haiku-5-5 # others that the agent may choose
//	cap-day: 5 USD           # what may be spent
//	prices:                  # USD per million tokens
//	  my-model: {in: 0.5, out: 2}
type Config struct {
	Provider      string         `yaml:"provider"`
	Model         string         `yaml:"model"`
	BaseURL       string         `yaml:"base-url"`
	FastModel     string         `yaml:"fast-model"`
	Models        string         `yaml:"models"`
	KeyCommand    string         `yaml:"api-key-cmd"`
	Unattended    bool           `yaml:"unattended-paid"`
	Agents        []agent.Entry  `yaml:"agents"`
	Prices        ledger.Prices  `yaml:"prices"`
	CapLifetime   string         `yaml:"cap-lifetime"`
	CapMonth      string         `yaml:"cap-month"`
	CapDay        string         `yaml:"cap-day"`
	CapHuman      string         `yaml:"cap-human"`
	CapContinue   string         `yaml:"cap-continue"`
	CapAmbient    string         `yaml:"cap-ambient"`
	CapExplore    string         `yaml:"cap-explore"`
	CapAssist     string         `yaml:"cap-assist"`
	Rules         permit.Rules   `yaml:"rules"`
	AskWait       int            `yaml:"ask-wait"`
	AskExpires    int            `yaml:"ask-expires"`
	RunTime       int            `yaml:"run-time"`
	Confine       bool           `yaml:"confine"`
	Servers       []tools.Server `yaml:"mcp-servers"`
	IdleTimeout   int            `yaml:"idle-timeout"`
	StatusLine    bool           `yaml:"status-line"`
	ContextWindow int            `yaml:"context-window"`
	Color         string         `yaml:"color"`
	Pack          bool           `yaml:"pack"`
}

// ConfigKey is one setting, with what it does.
type ConfigKey struct {
	Key, Doc string
	value    func(*Config) string
	check    func(Config) error
	mapping  bool // for an editor only
}

// ConfigKeys lists the settings in the order of the manual.
func ConfigKeys() []ConfigKey { return slices.Clone(configKeys) }

var configKeys = []ConfigKey{
	{"provider", "who answers: offline (built in, no model), anthropic, openai (or any server that speaks as it does), ollama, agent (a CLI that you are logged in to), script (plays a file), or auto, which takes the first that is ready",
		func(c *Config) string { return c.Provider }, func(c Config) error { return known("provider", c.Provider, providers) }, false},
	{"model", "the provider's model; for agent the CLI, as `claude` or `claude:opus`; for script the file of replies",
		func(c *Config) string { return c.Model }, nil, false},
	{"base-url", "the server to ask, where it is not the vendor's own; it is sent the key",
		func(c *Config) string { return c.BaseURL }, func(c Config) error { return checkURL(c.BaseURL) }, false},
	{"fast-model", "the model for small questions, which make no tick; empty for the same as `model`",
		func(c *Config) string { return c.FastModel }, nil, false},
	{"models", "other models of the provider that the agent may choose, with commas between",
		func(c *Config) string { return c.Models }, nil, false},
	{"api-key-cmd", "a command that prints the key, for keys that are not in the environment; it sees the host in AMACS_KEY_HOST",
		func(c *Config) string { return c.KeyCommand }, nil, false},
	{"unattended-paid", "whether unattended work may use a model that bills by the token: true or false",
		func(c *Config) string { return fmt.Sprint(c.Unattended) }, nil, false},
	{"agents", "CLIs to ask, beside the built-in ones or laid over them; a list",
		func(c *Config) string { return strings.Join(agentNames(c.Agents), ", ") },
		func(c Config) error { return checkAgents(c.Agents) }, true},
	{"prices", "prices of models in USD per million tokens, before the built-in table; a mapping",
		func(c *Config) string { return strings.Join(slices.Sorted(maps.Keys(c.Prices)), ", ") },
		func(c Config) error { return checkPrices(c.Prices) }, true},
	capKey("cap-lifetime", "the most that is ever spent, as `50 USD`; off for no limit", func(c *Config) *string { return &c.CapLifetime }),
	capKey("cap-month", "the most in a month, as `50 USD`", func(c *Config) *string { return &c.CapMonth }),
	capKey("cap-day", "the most in a day, as `5 USD`, `2000000 tokens` or both", func(c *Config) *string { return &c.CapDay }),
	capKey("cap-human", "the most for ticks that your own lines set off, as `2 USD` (a day) or `20 USD a month`", func(c *Config) *string { return &c.CapHuman }),
	capKey("cap-continue", "the most for ticks that the agent asked for with continue", func(c *Config) *string { return &c.CapContinue }),
	capKey("cap-ambient", "the most for unattended ticks, as `1 USD a day`", func(c *Config) *string { return &c.CapAmbient }),
	capKey("cap-explore", "the most for explorations", func(c *Config) *string { return &c.CapExplore }),
	capKey("cap-assist", "the most for small questions beside the ticks", func(c *Config) *string { return &c.CapAssist }),
	{"rules", "what the agent may do unasked, must ask for and may not do, by command, folder, host or tool; a mapping of allow, ask and deny",
		func(c *Config) string { return countRules(c.Rules) },
		func(c Config) error { return checkRules(c.Rules) }, true},
	{"ask-wait", "how many seconds a question at the prompt waits; then it counts as no, for now",
		func(c *Config) string { return fmt.Sprint(c.AskWait) },
		func(c Config) error { return atLeast("ask-wait", c.AskWait, 1) }, false},
	{"ask-expires", "how many days a request in permissions.org waits; then it counts as no, for now",
		func(c *Config) string { return fmt.Sprint(c.AskExpires) },
		func(c Config) error { return atLeast("ask-expires", c.AskExpires, 1) }, false},
	{"run-time", "how many seconds a command of the agent may run, unless it asks for another time (at most an hour)",
		func(c *Config) string { return fmt.Sprint(c.RunTime) },
		func(c Config) error { return atLeast("run-time", c.RunTime, 1) }, false},
	{"confine", "run the agent's commands confined where the system can (`amacs doctor` tells): true or false",
		func(c *Config) string { return fmt.Sprint(c.Confine) }, nil, false},
	{"mcp-servers", "MCP servers whose tools the agent may call; a list",
		func(c *Config) string { return strings.Join(serverNames(c.Servers), ", ") },
		func(c Config) error { return checkServers(c.Servers) }, true},
	{"status-line", "a line after each reply with tick, tokens and cost: true or false",
		func(c *Config) string { return fmt.Sprint(c.StatusLine) }, nil, false},
	{"idle-timeout", "how many seconds a model may be silent in the middle of a reply; before its first word five times as long",
		func(c *Config) string { return fmt.Sprint(c.IdleTimeout) },
		func(c Config) error { return atLeast("idle-timeout", c.IdleTimeout, 1) }, false},
	{"context-window", "how many tokens the model can read; the prompt is trimmed to fit",
		func(c *Config) string { return fmt.Sprint(c.ContextWindow) },
		func(c Config) error { return atLeast("context-window", c.ContextWindow, 4096) }, false},
	{"color", "colours: auto (on a terminal), always or never; NO_COLOR and TERM=dumb count as never",
		func(c *Config) string { return c.Color },
		func(c Config) error { return known("color", c.Color, []string{"auto", "always", "never"}) }, false},
	{"pack", "keep git's storage small by running `git repack` now and then: true or false",
		func(c *Config) string { return fmt.Sprint(c.Pack) }, nil, false},
}

// providers are the names that a provider may have here.
var providers = []string{"offline", "anthropic", "openai", "ollama", "agent", "script", "auto"}

func atLeast(key string, value, least int) error {
	if value < least {
		return fmt.Errorf("%s: %d is too small, %d is the least", key, value, least)
	}
	return nil
}

func known(key, value string, words []string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return fmt.Errorf("%s: %q is not one of %s", key, value, strings.Join(words, ", "))
}

func checkURL(text string) error {
	u, err := url.Parse(text)
	if text == "" || err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") && u.User == nil {
		return nil
	}
	if err == nil {
		text = u.Redacted()
	}
	return fmt.Errorf("base-url: %q is not an address such as http://127.0.0.1:8080/v1 (a key does not belong in it)", text)
}

func checkPrices(prices ledger.Prices) error {
	for _, model := range slices.Sorted(maps.Keys(prices)) {
		if err := prices[model].Check(); err != nil {
			return fmt.Errorf("prices: %s: %w", model, err)
		}
	}
	return nil
}

func agentNames(entries []agent.Entry) (names []string) {
	for _, e := range entries {
		names = append(names, e.Name)
	}
	return names
}

func checkAgents(entries []agent.Entry) error {
	if _, err := agent.Merge(agent.Builtin(), entries); err != nil {
		return fmt.Errorf("agents: %w", err)
	}
	return nil
}

func serverNames(servers []tools.Server) (names []string) {
	for _, s := range servers {
		names = append(names, s.Name)
	}
	return names
}

func checkServers(servers []tools.Server) error {
	if err := tools.Check(servers); err != nil {
		return fmt.Errorf("mcp-servers: %w", err)
	}
	return nil
}

func countRules(r permit.Rules) string {
	if len(r.Allow)+len(r.Ask)+len(r.Deny) == 0 {
		return ""
	}
	return fmt.Sprintf("%d allow, %d ask, %d deny", len(r.Allow), len(r.Ask), len(r.Deny))
}

func checkRules(r permit.Rules) error {
	for _, rule := range slices.Concat(r.Allow, r.Ask, r.Deny) {
		switch {
		case rule == permit.Rule{}:
			return errors.New("rules: a rule names a command, a folder, a host or a tool")
		case rule.Folder != "" && !strings.HasPrefix(rule.Folder, "/") && rule.Folder != "~" && !strings.HasPrefix(rule.Folder, "~/"):
			return fmt.Errorf("rules: folder %q is not an absolute path (it may begin with ~/)", rule.Folder)
		case rule.Tool != "" && (rule.Command+rule.Host+rule.Folder) != "", rule.Host != "" && (rule.Command+rule.Folder) != "":
			return fmt.Errorf("rules: %s: only command and folder may stand together", rule)
		}
	}
	return nil
}

func capKey(key, doc string, at func(*Config) *string) ConfigKey {
	return ConfigKey{key, doc, func(c *Config) string { return *at(c) },
		func(c Config) error {
			_, err := ledger.ParseCap(strings.TrimPrefix(key, "cap-"), *at(&c))
			return err
		}, false}
}

// Caps are the caps as the ledger holds them.
func (c Config) Caps() (ledger.Caps, error) {
	caps := ledger.Caps{}
	for _, k := range configKeys {
		name, is := strings.CutPrefix(k.Key, "cap-")
		if !is {
			continue
		}
		limit, err := ledger.ParseCap(name, k.value(&c))
		if err != nil {
			return nil, err
		}
		caps[name] = limit
	}
	return caps, nil
}

// Value is the setting as c has it.
func (k ConfigKey) Value(c Config) string { return k.value(&c) }

// DefaultConfig is what holds where config.yaml is silent.
func DefaultConfig() Config {
	return Config{
		Provider: "offline", AskWait: 600, AskExpires: 7, RunTime: 120, Confine: true, IdleTimeout: 60, ContextWindow: 200_000, Color: "auto", Pack: true,
		CapLifetime: "off", CapMonth: "off", CapDay: "5 USD",
		CapHuman: "off", CapContinue: "off", CapAmbient: "off", CapExplore: "off", CapAssist: "off",
	}
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
		if k.mapping {
			if err := decodeStrictly(pair, &c); err != nil {
				return DefaultConfig(), fmt.Errorf("%s: %s: %w", at, key, err)
			}
		} else if err := (&yaml.Node{Kind: yaml.MappingNode, Content: pair}).Decode(&c); err != nil {
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

// decodeStrictly reads a mapping. Keys in it that nobody knows are errors.
func decodeStrictly(pair []*yaml.Node, c *Config) error {
	text, err := yaml.Marshal(&yaml.Node{Kind: yaml.MappingNode, Content: pair})
	if err != nil {
		return err
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	var wrong *yaml.TypeError
	if err = d.Decode(c); errors.As(err, &wrong) { // its lines are those of the copy
		return errors.New(lineOfCopy.ReplaceAllString(strings.Join(wrong.Errors, "; "), ""))
	}
	return err
}

var lineOfCopy = regexp.MustCompile(`line \d+: `)

// HasSetting reports whether config.yaml sets a key.
func (h *Home) HasSetting(key string) bool {
	src, err := h.Read(ConfigFile)
	if err != nil {
		return false
	}
	top, err := configNode(src)
	if err != nil || top == nil {
		return err != nil // nobody is asked over a file that must be mended
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		if top.Content[i].Value == key {
			return true
		}
	}
	return false
}

// IsProvider reports whether a provider has this name.
func IsProvider(name string) bool { return slices.Contains(providers, name) }

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
