package skills

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

const (
	fileName       = "SKILL.md"
	maxName        = 64
	maxDescription = 1024
)

// front is the front matter that amacs reads and writes.
type front struct {
	Name        string `yaml:"name"`
	Description string `yaml:"description"`
}

// New returns the files of a new skill, by their paths below the skills folder. Name and description follow the rules of the format,
// the body is the text below the front matter. What it returns, [Load] reads back to the same skill.
func New(name, description, body string) (files map[string][]byte, err error) {
	if name == core {
		return nil, errors.New(`new skill: the name "core" is taken by the system prompt; choose another`)
	}
	body = strings.TrimLeft(unix(body), "\n")
	if strings.TrimSpace(body) == "" {
		return nil, fmt.Errorf("new skill %q: its body is empty; write what to do, with an example", name)
	}
	if strings.HasPrefix(body, rule+"\n") {
		return nil, fmt.Errorf("new skill %q: its body begins with %s; give the text alone, the front matter is made from name and description", name, rule)
	}
	if !strings.HasSuffix(body, "\n") {
		body += "\n"
	}
	description = oneLine(description)
	head, err := yaml.Marshal(front{name, description})
	if err != nil {
		return nil, fmt.Errorf("new skill %q: %w", name, err)
	}
	data := []byte(rule + "\n" + string(head) + rule + "\n\n" + body)
	if len(data) > MaxSize {
		return nil, fmt.Errorf("new skill %q: %d bytes are more than %d KB; make it shorter", name, len(data), MaxSize>>10)
	}
	back, err := parse(name, data)
	if err != nil {
		return nil, fmt.Errorf("new skill %q: %w", name, err)
	}
	if back.Description != description || back.Body != body {
		return nil, fmt.Errorf("new skill %q: its text does not survive being written; remove control characters", name)
	}
	return map[string][]byte{path.Join(name, fileName): data}, nil
}

// parse reads a SKILL.md that lies in the folder dir.
func parse(dir string, data []byte) (Skill, error) {
	head, body, err := split(data)
	if err != nil {
		return Skill{}, err
	}
	var f front
	if err := yaml.Unmarshal([]byte(head), &f); err != nil {
		return Skill{}, fmt.Errorf("the front matter is not YAML (%w); a description that holds a colon needs quotes", err)
	}
	if err := checkName(f.Name); err != nil {
		return Skill{}, err
	}
	if f.Name != path.Base(dir) {
		return Skill{}, fmt.Errorf("its name is %q, its folder %q; they must be the same", f.Name, path.Base(dir))
	}
	description := oneLine(f.Description)
	switch n := utf8.RuneCountInString(description); {
	case n == 0:
		return Skill{}, errors.New("the front matter has no description; say what the skill does and when to use it")
	case !utf8.ValidString(description):
		return Skill{}, errors.New("the description is not UTF-8 text")
	case n > maxDescription:
		return Skill{}, fmt.Errorf("the description has %d characters, %d are allowed", n, maxDescription)
	}
	return Skill{Name: f.Name, Description: description, Body: body, Dir: dir, Size: len(data)}, nil
}

// rule is the line above and below the front matter.
const rule = "---"

// split parts a SKILL.md into its front matter and the text below, both with LF line ends.
func split(data []byte) (head, body string, err error) {
	if !utf8.Valid(data) || strings.ContainsRune(string(data), 0) {
		return "", "", errors.New("it is not UTF-8 text")
	}
	text := unix(strings.TrimPrefix(string(data), "\ufeff"))
	line, rest, _ := strings.Cut(text, "\n")
	if !isRule(line) {
		return "", "", errors.New("it does not begin with a front matter: a line ---, name: and description:, a line ---")
	}
	for at := 0; at < len(rest); {
		line, _, _ := strings.Cut(rest[at:], "\n")
		end := min(at+len(line)+1, len(rest))
		if isRule(line) {
			return rest[:at], strings.TrimLeft(rest[end:], "\n"), nil
		}
		at = end
	}
	return "", "", errors.New("its front matter is not closed by a line ---")
}

func isRule(line string) bool { return strings.TrimRight(line, " \t") == rule }

var nameRule = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("the front matter has no name")
	case len(name) > maxName || !nameRule.MatchString(name):
		return fmt.Errorf("the name %q is not allowed: a-z, 0-9 and single hyphens between them, %d at most", name, maxName)
	}
	return nil
}

func unix(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
