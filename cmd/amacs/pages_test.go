package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"amacs/harness/home"
	"amacs/harness/provider"
	"amacs/harness/provider/agent"
)

// All pages are held to the program: their settings can be set, their commands
// exist, their links lead somewhere, and no provider is missing.

var (
	pageSetting = regexp.MustCompile("(?ms)^ *```yaml\n(.*?)^ *```$")
	pageCommand = regexp.MustCompile("`amacs ([a-z-]+)")
	pageLink    = regexp.MustCompile(`\]\(([^):#]*)(?:#([^)]*))?\)`)
	pageHeading = regexp.MustCompile(`(?m)^#+ (.*)$`)
)

// allPages are the texts of the documentation by their paths.
func allPages(t *testing.T) map[string]string {
	texts := map[string]string{}
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/providers/*.md"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatal(pattern, err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[path] = string(b)
		}
	}
	return texts
}

func TestPages(t *testing.T) {
	root, texts := fullCommand(), allPages(t)
	for path, text := range texts {
		for _, m := range pageSetting.FindAllStringSubmatch(text, -1) {
			if _, err := home.ParseConfig([]byte(dedent(m[1]))); err != nil {
				t.Errorf("%s: %v in\n%s", path, err, m[1])
			}
		}
		for _, m := range pageCommand.FindAllStringSubmatch(text, -1) {
			if c, _, err := root.Find([]string{m[1]}); err != nil || c == root {
				t.Errorf("%s: there is no command %q", path, m[1])
			}
		}
		for _, m := range pageLink.FindAllStringSubmatch(text, -1) {
			to := path
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(path), m[1])
			}
			if _, err := os.Stat(to); err != nil || m[2] != "" && !slices.Contains(anchors(texts[to]), m[2]) {
				t.Errorf("%s: the link %s leads nowhere", path, m[0])
			}
		}
	}
}

// The page on all providers says which can do what.
func TestProviderPages(t *testing.T) {
	text := allPages(t)["../../docs/providers/README.md"]
	for _, p := range provider.Known() {
		if !strings.Contains(text, "| `"+p+"` |") {
			t.Errorf("README.md does not list %s", p)
		}
	}
	for row, has := range map[string]func(agent.Entry) bool{
		"streams the reply":      func(e agent.Entry) bool { return e.Output.Delta != "" },
		"is held to the schema":  func(e agent.Entry) bool { return len(e.Schema) > 0 },
		"cached tokens are told": func(e agent.Entry) bool { return e.Output.Cached != "" },
		"says what a call cost":  func(e agent.Entry) bool { return e.Output.Cost != "" },
	} {
		m := regexp.MustCompile(`(?m)^\| ` + row + ` \|.*\| ([^|]*) \|$`).FindStringSubmatch(text)
		if m == nil {
			t.Errorf("README.md has no row %q", row)
			continue
		}
		var can []string
		for _, e := range agent.Builtin() {
			if has(e) {
				can = append(can, "`"+e.Name+"`")
			}
		}
		bothWays(t, row, strings.Split(m[1], ", "), can)
	}
	page := allPages(t)["../../docs/providers/agent.md"]
	for _, e := range agent.Builtin() {
		if !strings.Contains(page, "| `"+e.Name+"` |") {
			t.Errorf("agent.md does not list %s", e.Name)
		}
	}
}

// anchors are the names that headings have as targets of links.
func anchors(text string) (out []string) {
	for _, h := range pageHeading.FindAllStringSubmatch(text, -1) {
		name := regexp.MustCompile(`[^a-z0-9 -]`).ReplaceAllString(strings.ToLower(h[1]), "")
		out = append(out, strings.ReplaceAll(name, " ", "-"))
	}
	return out
}

func dedent(text string) string {
	lines := strings.Split(text, "\n")
	n := len(lines[0]) - len(strings.TrimLeft(lines[0], " "))
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], strings.Repeat(" ", n))
	}
	return strings.Join(lines, "\n")
}
