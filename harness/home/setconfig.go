package home

import (
	"bytes"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// BadSetting says why a setting can not be made so.
type BadSetting struct{ Err error }

func (e *BadSetting) Error() string { return e.Err.Error() }
func (e *BadSetting) Unwrap() error { return e.Err }

// SetConfig puts key: value into the text of a config.yaml and changes no other
// byte. The result is read back before it is returned; a text in which the value
// can not be replaced so is refused with a *BadSetting.
func SetConfig(src []byte, key, value string) ([]byte, error) {
	out, err := setConfig(src, key, value)
	if err != nil {
		return nil, &BadSetting{err}
	}
	return out, nil
}

func setConfig(src []byte, key, value string) ([]byte, error) {
	k, err := configKey(key)
	if err != nil {
		return nil, err
	}
	if strings.ContainsAny(value, "\r\n") {
		return nil, fmt.Errorf("setting %s: a value is one line", key)
	}
	if k.mapping {
		return nil, fmt.Errorf("setting %s: it takes several lines; change it in an editor, `amacs edit %s`", key, ConfigFile)
	}
	top, err := configNode(src)
	if err != nil {
		return nil, err
	}
	text, err := scalar(value)
	if err != nil {
		return nil, fmt.Errorf("setting %s: %w", key, err)
	}
	out, err := spliceConfig(src, top, key, text)
	if err != nil {
		return nil, err
	}
	c, err := ParseConfig(out)
	if err != nil {
		return nil, fmt.Errorf("setting %s: %w", key, err)
	}
	if now := k.Value(c); now != value {
		return nil, fmt.Errorf("setting %s to %q: it would be read as %q; say that, or change %s in an editor", key, value, now, ConfigFile)
	}
	return out, nil
}

// scalar is a value as YAML has it on one line: truth and numbers as such, all
// else as text.
func scalar(value string) (string, error) {
	if value == "true" || value == "false" || value != "" && strings.Trim(value, "0123456789") == "" {
		return value, nil
	}
	b, err := yaml.Marshal(value)
	text := strings.TrimSpace(string(b))
	if err == nil && strings.Contains(text, "\n") { // it was folded
		text = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
	}
	return text, err
}

func spliceConfig(src []byte, top *yaml.Node, key, text string) ([]byte, error) {
	if top != nil && top.Style&yaml.FlowStyle != 0 {
		return nil, fmt.Errorf("%s line %d: the settings are written in braces; change %s in an editor", ConfigFile, top.Line, key)
	}
	for i := 0; top != nil && i+1 < len(top.Content); i += 2 {
		if top.Content[i].Value != key {
			continue
		}
		from, to, ok := valueSpan(src, top.Content[i], top.Content[i+1])
		if !ok {
			return nil, fmt.Errorf("%s line %d: the value of %s is not a plain one on its line; change it in an editor", ConfigFile, top.Content[i].Line, key)
		}
		if from > 0 && src[from-1] == ':' {
			text = " " + text
		}
		return insert(append(src[:from:from], src[to:]...), from, text), nil
	}
	return appendLine(src, key+": "+text), nil
}

// valueSpan is where a value stands in the text; ok is false where it is not to
// be seen as one word or quoted text on its key's line.
func valueSpan(src []byte, key, value *yaml.Node) (from, to int, ok bool) {
	start, line, ok := lineOf(src, key.Line)
	if !ok || value.Kind != yaml.ScalarNode || value.Anchor != "" {
		return 0, 0, false
	}
	name := column(line, key.Column)
	colon := bytes.IndexByte(line[name:], ':')
	if colon < 0 {
		return 0, 0, false
	}
	from = name + colon + 1
	if value.Value == "" && value.Style == 0 { // `key:`, with nothing behind it
		return start + from, start + from, value.Tag == "!!null"
	}
	if value.Line != key.Line {
		return 0, 0, false
	}
	from = column(line, value.Column)
	for to = from + 1; to <= len(line); to++ {
		var s string
		if value.Style == 0 {
			ok = string(line[from:to]) == value.Value
		} else {
			ok = line[to-1] == line[from] && yaml.Unmarshal(line[from:to], &s) == nil && s == value.Value
		}
		if ok {
			return start + from, start + to, true
		}
	}
	return 0, 0, false
}

// lineOf is the n-th line, counted from 1, without its end.
func lineOf(src []byte, n int) (start int, line []byte, ok bool) {
	for line := range bytes.Lines(src) {
		if n--; n == 0 {
			return start, bytes.TrimRight(line, "\r\n"), true
		}
		start += len(line)
	}
	return 0, nil, false
}

// column is the byte offset of the n-th character, counted from 1.
func column(line []byte, n int) int {
	for i := range string(line) {
		if n--; n == 0 {
			return i
		}
	}
	return len(line)
}
