package harness_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
)

// room is what one package may import of this module, and why no more.
type room struct {
	may []string
	why string
}

// rooms is the floor plan. A subfolder is one floor below its parent and never
// imports it. A new package begins as a line here.
var rooms = map[string]room{
	"org":                 {nil, "outline text as bytes: no files, no clock, nothing of amacs"},
	"threads":             {nil, "the rule of lines of work: values only"},
	"skills":              {nil, "SKILL.md folders, read through an fs.FS"},
	"agent-home-template": {nil, "the files of a new home, as they are"},

	"consciousness/sexp":   {nil, "what a mind is written in: data, no evaluation"},
	"consciousness/memory": {[]string{"org"}, "what is remembered, as values and as org text: no files, no clock, no model"},
	"consciousness":        {[]string{"consciousness/sexp", "threads"}, "the state as values: no files, no clock, no model"},

	"harness/disk":            {nil, "waiting for the disk, and nothing else"},
	"harness/nearest":         {nil, "what was meant by a misspelt name"},
	"harness/reply":           {nil, "what a model's text means: pure"},
	"harness/provider/wire":   {nil, "HTTP as model services speak it: bytes and faults, no models"},
	"harness/provider/secret": {nil, "where keys are found, and hiding them"},
	"harness/provider/agent":  {nil, "agent CLIs as processes: a text in, a text out"},
	"harness/provider/fake":   {nil, "a model service on loopback, for tests only"},
	"harness/provider": {[]string{"consciousness/sexp", "harness/provider/agent", "harness/provider/secret", "harness/provider/wire"},
		"models: knows a prompt and an answer, no home"},
	"harness/redact":  {nil, "secrets taken out of text: pure"},
	"harness/permit":  {nil, "may it? values in, a verdict out: no files, no processes"},
	"harness/recall":  {nil, "the search index, over texts that are handed in: no home, no model"},
	"harness/files":   {nil, "files outside of the home: read, searched, changed; what may be is decided elsewhere"},
	"harness/process": {nil, "commands as processes: bounded and confined; what may run is decided elsewhere"},
	"harness/tools":   {[]string{"harness/nearest"}, "tools of MCP servers; what may be called is decided elsewhere"},
	"harness/ledger":  {[]string{"harness/disk"}, "what calls cost and may cost: no models, no home"},
	"harness/journal": {[]string{"harness/disk"}, "git: exact paths and messages, no formats of the home"},
	"harness/eval":    {[]string{"consciousness/sexp", "harness/nearest"}, "closed: it reaches only the functions it is handed"},
	"harness/home": {[]string{"consciousness", "consciousness/sexp", "org", "threads", "harness/disk", "harness/ledger", "harness/nearest", "harness/permit", "harness/provider/agent", "harness/redact", "harness/tools"},
		"the files and their locks, and no secret in them: no git, no model, no evaluation; of the ledger, the agents, the rules and the servers it knows how their settings are written"},
	"harness": {[]string{"agent-home-template", "consciousness", "consciousness/sexp", "org", "skills", "threads",
		"harness/eval", "harness/files", "harness/home", "harness/journal", "harness/ledger", "harness/nearest", "harness/permit",
		"harness/process", "harness/provider", "harness/provider/agent", "harness/provider/secret", "harness/redact", "harness/reply", "harness/tools"},
		"the tick: no terminal, no signals, no flags"},

	"cmd/amacs/repl/console": {nil, "the terminal: knows lines, not what becomes of them"},
	"cmd/amacs/repl": {[]string{"cmd/amacs/repl/console", "harness", "harness/nearest", "harness/permit", "harness/provider"},
		"a face: it asks the harness and never touches the home's files"},
	"cmd/amacs": {[]string{"agent-home-template", "cmd/amacs/repl", "cmd/amacs/repl/console", "consciousness", "consciousness/sexp",
		"harness", "harness/home", "harness/journal", "harness/ledger", "harness/nearest", "harness/permit", "harness/process", "harness/provider", "harness/redact", "org", "skills", "threads"},
		"wiring: flags, commands, exit codes"},
}

// doors says which package imports a third-party module: one each, so that it
// can be replaced in one place. Tests may use more.
var doors = map[string]string{
	"github.com/go-git/":                "harness/journal",
	"github.com/niklasfasching/go-org":  "org",
	"github.com/chzyer/readline":        "cmd/amacs/repl/console",
	"github.com/mattn/go-runewidth":     "cmd/amacs/repl/console",
	"gopkg.in/yaml.v3":                  "harness/home skills",         // the two that read YAML
	"github.com/gofrs/flock":            "harness/home harness/ledger", // the two that lock
	"github.com/google/renameio":        "harness/home harness/ledger",
	"github.com/tmaxmax/go-sse":         "harness/provider/wire",
	"github.com/agnivade/levenshtein":   "harness/nearest",
	"github.com/spf13/cobra":            "cmd/amacs",
	"github.com/kballard/go-shellquote": "cmd/amacs/repl",
	"mvdan.cc/sh/":                      "harness/permit",
	"github.com/aymanbagabas/go-udiff":  "harness/files",
	"github.com/modelcontextprotocol/":  "harness/tools",
	"github.com/creack/pty":             "harness/provider/agent", // for a CLI that wants a terminal
	"golang.org/x/term":                 "cmd/amacs cmd/amacs/repl/console",
	"golang.org/x/sys":                  "harness/disk harness/files harness/process cmd/amacs/repl/console",
}

// imports of the module's packages, test files apart.
func imports(root string) (map[string][]string, error) {
	out := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != root) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		if _, ok := out[pkg]; !ok {
			out[pkg] = nil
		}
		for _, spec := range f.Imports {
			p, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			out[pkg] = append(out[pkg], p)
		}
		return nil
	})
	return out, err
}

// breaches lists what the imports do against the plan.
func breaches(imports map[string][]string) (out []string) {
	for pkg, of := range imports {
		r, ok := rooms[pkg]
		if !ok {
			out = append(out, pkg+" is not in the floor plan")
			continue
		}
		for _, p := range of {
			if inner, ok := strings.CutPrefix(p, "amacs/"); ok {
				if strings.HasPrefix(pkg, inner+"/") {
					out = append(out, fmt.Sprintf("%s imports its parent %s", pkg, inner))
				} else if !contains(r.may, inner) {
					out = append(out, fmt.Sprintf("%s imports %s (%s)", pkg, inner, r.why))
				}
			} else if strings.Contains(strings.Split(p, "/")[0], ".") {
				if who, ok := door(p); !ok {
					out = append(out, fmt.Sprintf("%s imports %s, which has no door", pkg, p))
				} else if !contains(strings.Fields(who), pkg) {
					out = append(out, fmt.Sprintf("%s imports %s, whose door is %s", pkg, p, who))
				}
			}
		}
	}
	sort.Strings(out)
	return out
}

func door(p string) (string, bool) {
	for prefix, who := range doors {
		if strings.HasPrefix(p, prefix) {
			return who, true
		}
	}
	return "", false
}

func contains(xs []string, x string) bool {
	for _, y := range xs {
		if x == y {
			return true
		}
	}
	return false
}

func TestLayers(t *testing.T) {
	all, err := imports("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range breaches(all) {
		t.Error(b)
	}
	for pkg := range rooms {
		if _, ok := all[pkg]; !ok {
			t.Errorf("%s is in the floor plan and nowhere else", pkg)
		}
	}
	for prefix, who := range doors {
		used := false
		for _, pkg := range strings.Fields(who) {
			for _, p := range all[pkg] {
				used = used || strings.HasPrefix(p, prefix)
			}
		}
		if !used {
			t.Errorf("nobody goes through the door of %s", prefix)
		}
	}
}

// A plan that nothing can break would say nothing.
func TestLayersSeeABreach(t *testing.T) {
	for _, planted := range []struct{ pkg, imports string }{
		{"org", "amacs/harness/home"},
		{"harness/home", "amacs/harness"},
		{"harness/eval", "amacs/harness/journal"},
		{"harness", "github.com/go-git/go-git/v5"},
		{"threads", "github.com/unknown/module"},
		{"some/new/package", "fmt"},
	} {
		if len(breaches(map[string][]string{planted.pkg: {planted.imports}})) == 0 {
			t.Errorf("%s may import %s unnoticed", planted.pkg, planted.imports)
		}
	}
}

// The top level is the owner's; what is beside it is listed here.
func TestTopLevel(t *testing.T) {
	entries, err := filepath.Glob("../*")
	if err != nil {
		t.Fatal(err)
	}
	const plan = "harness consciousness threads skills org cmd agent-home-template go.mod go.sum README.md docs LICENSE CHANGELOG.md CONTRIBUTING.md"
	for _, e := range entries {
		if strings.HasPrefix(path.Base(filepath.ToSlash(e)), ".") {
			continue
		}
		if !contains(strings.Fields(plan), path.Base(filepath.ToSlash(e))) {
			t.Errorf("%s is not in the plan of the top level", path.Base(e))
		}
	}
}
