package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amacs/harness/home"
	"amacs/harness/provider"
)

// The manual is held to the program in both directions. What stands between
// generated and sample marks is the program's own account, written anew by
// UPDATE=1; the other marked tables are prose whose keys are compared.

const (
	manualPath = "../../docs/manual.md"
	readmePath = "../../README.md"
)

func TestManualGenerated(t *testing.T) {
	root := fullCommand()
	parts := map[string]string{
		"generated commands":    commandList(root),
		"generated flags":       flagList(root.PersistentFlags()) + "* `-h`, `--help`: what the command does\n",
		"generated promptflags": flagList(root.LocalNonPersistentFlags()),
		"generated config":      configTable(),
		"generated kinds":       kindTable(t),
		"generated functions":   functionTable(),
		"generated forms":       formList(),
		"generated limits":      limits(),
	}
	maps.Copy(parts, samples(t))
	maps.Copy(parts, handsSamples(t))
	used := generated(t, manualPath, parts)
	for name := range parts {
		if !slices.Contains(used, name) {
			t.Errorf("the manual has no part %q", name)
		}
	}
	generated(t, readmePath, parts)
}

// generated compares the marked parts of a document with the program's, or writes
// them anew, and returns which it has.
func generated(t *testing.T, path string, parts map[string]string) (used []string) {
	src, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	mark := regexp.MustCompile("(?s)<!-- ((generated|sample) [^ ]+) -->\n(.*?)<!-- /(\\w+) -->")
	out := mark.ReplaceAllStringFunc(string(src), func(part string) string {
		m := mark.FindStringSubmatch(part)
		want, ok := parts[m[1]]
		if !ok || m[2] != m[4] {
			t.Errorf("%s has a part %q that no test knows, or ends it wrongly", path, m[1])
			return part
		}
		used = append(used, m[1])
		if m[3] != want && os.Getenv("UPDATE") == "" {
			t.Errorf("%s: %s is not what the program says (UPDATE=1 writes it anew):\n%s\n--- the program:\n%s", path, m[1], m[3], want)
		}
		return fmt.Sprintf("<!-- %s -->\n%s<!-- /%s -->", m[1], want, m[2])
	})
	if os.Getenv("UPDATE") != "" && out != string(src) {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return used
}

// samples are files of a real home after three ticks, with fixed times.
func samples(t *testing.T) map[string]string {
	w := newWorld(t)
	work := filepath.Join(w.temp, "work")
	w.env = append(w.env, "HOME="+filepath.Join(w.temp, "home"))
	if err := os.Mkdir(work, 0o755); err != nil {
		t.Fatal(err)
	}
	replies := strings.Join([]string{
		object(map[string]any{"mood": "focused", "monologue": "Opened a thread for the ownership error", "continue": true,
			"eval": `(agent-create-thread "rust-debugging" :concern "Fix ownership error" :goal "It compiles" :buffers '("src/main.rs")) (agent-switch-thread "rust-debugging")`}),
		object(map[string]any{"mood": "clear", "confidence": 0.8, "monologue": "Found a reference to a local variable",
			"reply":      "Looking at main.rs line 45, you return a reference to a local.\nReturn the value itself.",
			"scratchpad": map[string]any{"heading": "Ownership in main.rs", "thread": "rust-debugging", "content": "parse() returns a reference to a local:\n* return it by value"}}),
		object(map[string]any{"mood": "pleased", "confidence": 0.9, "monologue": "Closed the thread, opened one for the blog post", "reply": "Good. On to the blog post.",
			"eval": `(agent-complete-thread "rust-debugging" :evidence "cargo build passes" :learned "Return owned values") (agent-create-thread "blog" :concern "Write about lifetimes")`}),
	}, "\n")
	if err := os.WriteFile(filepath.Join(work, "replies.jsonl"), []byte(replies), 0o600); err != nil {
		t.Fatal(err)
	}
	c := w.command("What's causing the ownership error?\nThe build passes now.\n", "--provider", "script", "--model", "replies.jsonl")
	c.Dir = work
	if r := w.finish(c); r.code != 0 {
		t.Fatalf("exit %d: %s%s", r.code, r.out, r.errs)
	}
	real, err := filepath.EvalSymlinks(work)
	if err != nil {
		t.Fatal(err)
	}
	fixed := strings.NewReplacer(real, "/home/you/project", work, "/home/you/project")
	utc := regexp.MustCompile(`\d{4}-\d\d-\d\dT[\d:]{8}Z`)
	local := regexp.MustCompile(`\[\d{4}-\d\d-\d\d \w+ \d\d:\d\d\]`)
	id := regexp.MustCompile(`(?m)^Tick-Id: .*$`)
	quoted := func(lang, text string) string {
		text = utc.ReplaceAllString(fixed.Replace(text), "2026-11-21T14:30:00Z")
		text = local.ReplaceAllString(text, "[2026-11-21 Sat 15:30]")
		text = id.ReplaceAllString(text, "Tick-Id: 9f86d081884c7d65")
		return "```" + lang + "\n" + strings.TrimRight(text, "\n") + "\n```\n"
	}
	out := map[string]string{"sample commit": quoted("", w.git("log", "-1", "--format=%B"))}
	for path, lang := range map[string]string{
		home.Consciousness: "elisp", home.Chat: "org", home.Scratchpad: "org", home.Monologue: "org", "archive/threads.org": "org", home.ConfigFile: "yaml",
	} {
		b, err := os.ReadFile(filepath.Join(w.dir, path))
		if err != nil {
			t.Fatal(err)
		}
		out["sample "+path] = quoted(lang, string(b))
	}
	out["sample cost"] = quoted("", costSample(t))
	return out
}

// costSample is what amacs cost shows of two calls.
func costSample(t *testing.T) string {
	w := newWorld(t)
	w.must("", "init")
	const replies = `{"text":"{\"mood\":\"m\",\"confidence\":1,\"monologue\":\"x\",\"reply\":\"a\"}","usage":{"in":7120,"out":310}}
{"text":"{\"mood\":\"m\",\"confidence\":1,\"monologue\":\"x\",\"reply\":\"b\"}","usage":{"in":7466,"cached":6980,"out":402}}`
	path := filepath.Join(w.temp, "priced.jsonl")
	if err := os.WriteFile(path, []byte(replies), 0o600); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(w.dir, home.ConfigFile)
	src, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	src = append(src, "prices:\n  priced.jsonl: {in: 2, cached: 0.1, out: 10}\n"...)
	if err := os.WriteFile(config, src, 0o600); err != nil {
		t.Fatal(err)
	}
	w.must("hello\nand now?\n", "--provider", "script", "--model", path)
	return "$ amacs cost\n" + regexp.MustCompile(`\d{4}-\d\d-\d\d`).ReplaceAllString(w.must("", "cost").out, "2026-11-22")
}

func TestManualTables(t *testing.T) {
	src, err := os.ReadFile(manualPath)
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("`([^`]+)`")
	// rows are the cells of a table, below its head.
	rows := func(name string) (out [][]string) {
		m := regexp.MustCompile(`(?s)<!-- ` + name + `\b.*?-->\n(.*?)<!-- /` + name + ` -->`).FindSubmatch(src)
		if m == nil {
			t.Fatalf("the manual has no table %q", name)
		}
		for _, row := range strings.Split(strings.TrimSpace(string(m[1])), "\n")[2:] {
			out = append(out, strings.Split(strings.Trim(row, "| "), " | "))
		}
		return out
	}
	// column gives the words of a table's column, those in backquotes if any is.
	column := func(name string, n int) (out []string) {
		for _, row := range rows(name) {
			words := code.FindAllStringSubmatch(row[n], -1)
			if words == nil {
				out = append(out, row[n])
			}
			for _, w := range words {
				out = append(out, w[1])
			}
		}
		return out
	}
	w := newWorld(t)
	w.env = append(w.env, "EDITOR=true", "VISUAL=", "PAGER=cat")
	w.must("", "init")
	verbs := promptVerbs(t, w)
	var slashed []string
	for _, v := range verbs {
		slashed = append(slashed, "/"+v)
	}
	bothWays(t, "verbs of the prompt", column("verbs", 0), slashed)
	bothWays(t, "environment variables", column("environment", 0), environment(t))
	codes, names := exitCodes(t)
	bothWays(t, "exit codes", column("exits", 0), codes)
	bothWays(t, "names of exit codes", column("exits", 1), names)

	help := w.must("note: milk\n/help\n").out
	shown := regexp.MustCompile(`/[a-z]+`).FindAllString(help[strings.Index(help, "Type what you want"):], -1)
	slices.Sort(shown)
	bothWays(t, "verbs of /help", append(slices.Compact(shown), "/init", "/exit", "/q", "/?"), slashed)

	bothWays(t, "providers", column("providers", 0), append(provider.Known(), "auto"))
	var caps, documented []string
	for _, k := range home.ConfigKeys() {
		if strings.HasPrefix(k.Key, "cap-") {
			caps = append(caps, "`"+k.Key+"` `"+k.Value(home.DefaultConfig())+"`")
		}
	}
	for _, row := range rows("caps") {
		documented = append(documented, row[0]+" "+row[2])
	}
	bothWays(t, "caps and their defaults", documented, caps)
	documented = nil
	for _, row := range rows("api") {
		text := strings.ReplaceAll(row[0]+" "+row[1], "`", "")
		if _, most, ok := strings.Cut(row[2], " to "); ok {
			text += " " + most
		}
		documented = append(documented, text)
	}
	bothWays(t, "api-settings", documented, apiSettings(t))

	w.must("", "ask", "start a thread on milk")
	w.must("", "ask", "done with milk: it is in the fridge")
	w.must("", append(w.script(does(`(agent-run "touch milk")`, "Asking"), said("asked")), "ask", "make a file")...)
	script := filepath.Join(w.temp, "ready.jsonl")
	if err := os.WriteFile(script, []byte(`{"text":"ready","usage":{"in":20,"out":2}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	w.must("", "models", "check", "--provider", "script", "--model", script) // what it cost is named by the next commit
	w.must("", "ask", "note: milk")
	bothWays(t, "files of a home", column("files", 0), homeFiles(t, w.dir))
	bothWays(t, "amacs' own files", column("own", 0), ownFiles(t))
	var trailers []string
	for l := range strings.Lines(w.git("log", "-1", "--format=%(trailers:only)")) {
		if key, _, ok := strings.Cut(l, ": "); ok {
			trailers = append(trailers, key)
		}
	}
	bothWays(t, "trailers", column("trailers", 0), trailers)
}

// bothWays compares what the manual has with what the program has, as sets.
func bothWays(t *testing.T, what string, manual, program []string) {
	t.Helper()
	for _, x := range manual {
		if !slices.Contains(program, x) {
			t.Errorf("%s: %q is documented and does not exist", what, x)
		}
	}
	for _, x := range program {
		if !slices.Contains(manual, x) {
			t.Errorf("%s: %q exists and is not documented", what, x)
		}
	}
}

// What the documents' prose names in backquotes exists: commands and flags.
func TestProse(t *testing.T) {
	known := map[string]bool{}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		known["amacs "+c.Name()] = true
		c.Flags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
		c.PersistentFlags().VisitAll(func(f *pflag.Flag) { known["--"+f.Name] = true })
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(fullCommand())
	quoted := regexp.MustCompile("`(amacs [^`]+|--[^`]+)`")
	names := regexp.MustCompile(`amacs [a-z]+|(?:^| )--[a-z-]+`)
	for _, path := range []string{manualPath, readmePath, "../../CONTRIBUTING.md"} {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range quoted.FindAllSubmatch(src, -1) {
			for _, name := range names.FindAllString(string(q[1]), -1) {
				if name = strings.TrimSpace(name); !known[name] {
					t.Errorf("%s: %q in `%s` does not exist", path, name, q[1])
				}
			}
		}
	}
}

// Every setting has a script that shows what it changes.
func TestEverySettingIsTried(t *testing.T) {
	for _, k := range home.ConfigKeys() {
		if _, err := os.Stat("testdata/config_" + k.Key + ".txtar"); err != nil {
			t.Errorf("no script shows what the setting %s changes: %v", k.Key, err)
		}
	}
}
