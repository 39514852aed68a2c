package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amacs/consciousness"
	"amacs/consciousness/sexp"
	"amacs/harness"
	"amacs/harness/eval"
	"amacs/harness/home"
	"amacs/harness/journal"
)

// What the program says of itself, for the tests of the manual.

// fullCommand is the tree of commands with those that cobra adds.
func fullCommand() *cobra.Command {
	root := (&app{}).command()
	root.InitDefaultHelpFlag()
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	return root
}

func commandList(root *cobra.Command) string {
	var b strings.Builder
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, "**%s**\n\n", strings.TrimSuffix(g.Title, ":"))
		for _, c := range root.Commands() {
			if c.GroupID == g.ID {
				describe(&b, "", c)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func describe(b *strings.Builder, indent string, c *cobra.Command) {
	path := strings.TrimSpace(strings.TrimSuffix(c.CommandPath(), c.Name()))
	fmt.Fprintf(b, "%s* `%s %s`: %s\n", indent, path, c.Use, c.Short)
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			fmt.Fprintf(b, "%s  * %s\n", indent, flagText(f))
		}
	})
	for _, sub := range c.Commands() {
		describe(b, indent+"  ", sub)
	}
}

// flagList lists flags but for --help, which all commands have.
func flagList(set *pflag.FlagSet) string {
	var b strings.Builder
	set.VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			fmt.Fprintf(&b, "* %s\n", flagText(f))
		}
	})
	return b.String()
}

func flagText(f *pflag.Flag) string {
	name := "`--" + f.Name + "`"
	if f.Shorthand != "" {
		name = "`-" + f.Shorthand + "`, " + name
	}
	_, usage := pflag.UnquoteUsage(f)
	switch f.DefValue {
	case "", "0", "false":
	default:
		usage += " (" + f.DefValue + ")"
	}
	return name + ": " + usage
}

func configTable() string {
	rows := [][]string{{"key", "default", "what it does"}}
	for _, k := range home.ConfigKeys() {
		value := k.Value(home.DefaultConfig())
		if value == "" {
			value = `""`
		}
		rows = append(rows, []string{"`" + k.Key + "`", "`" + value + "`", k.Doc})
	}
	return table(rows)
}

// kindTable lists the commits' kinds; those that no code writes yet are marked.
func kindTable(t *testing.T) string {
	written := map[string]bool{}
	inspect(t, func(path string, n ast.Node) {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && !strings.Contains(path, "journal") {
			s, _ := strconv.Unquote(lit.Value)
			written[s] = true
		}
	})
	rows := [][]string{{"subject", "what the commit holds"}}
	for _, k := range journal.Kinds() {
		subject, meaning := "`["+string(k)+"] …`", k.Meaning()
		if k == "TICK" {
			subject = "`[TICK 42][thread][mood] …`"
		} else if !written[string(k)] {
			meaning += " (not written yet)"
		}
		rows = append(rows, []string{subject, meaning})
	}
	return table(rows)
}

func functionTable() string {
	rows := [][]string{{"function", "arguments", "what it does"}}
	for _, f := range harness.Functions() {
		args := ""
		if f.Args != "" {
			args = "`" + f.Args + "`"
		}
		rows = append(rows, []string{"`" + f.Name + "`", args, f.Doc})
	}
	return table(rows)
}

func formList() string {
	line, out := "", "```\n"
	for _, name := range eval.Names() {
		if len(line)+len(name) > 110 {
			out, line = out+strings.TrimSpace(line)+"\n", ""
		}
		line += name + " "
	}
	return out + strings.TrimSpace(line) + "\n```\n"
}

func limits() string {
	l := eval.DefaultLimits()
	return fmt.Sprintf("Limits of one eval: %d steps, a depth of %d, %s, %d MiB of values, %d KiB of output; no `condition-case` catches one.\n",
		l.Steps, l.Depth, l.Time, l.Memory>>20, l.Output>>10)
}

func table(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String()
}

// promptVerbs are the commands' names and the words in the prompt's code that
// the prompt takes as verbs: it is asked about each.
func promptVerbs(t *testing.T, w *world) (verbs []string) {
	words := names(fullCommand())
	inspect(t, func(path string, n ast.Node) {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && filepath.Base(filepath.Dir(path)) == "repl" {
			if s, _ := strconv.Unquote(lit.Value); regexp.MustCompile(`^([a-z]+|\?)$`).MatchString(s) {
				words = append(words, s)
			}
		}
	})
	slices.Sort(words)
	words = slices.DeleteFunc(slices.Compact(words), func(s string) bool { return s == "ask" }) // it is what the prompt does
	for len(words) > 0 {
		// After each word one that is no verb: where its answer is missing, the
		// word was one that leaves.
		var in strings.Builder
		for i, word := range words {
			fmt.Fprintf(&in, "/%s\n/none-%d\n", word, i)
		}
		out := w.must(in.String()).out
		done := 0
		for i, word := range words {
			if !strings.Contains(out, "no command /"+word+";") {
				verbs = append(verbs, word)
			}
			done = i + 1
			if !strings.Contains(out, fmt.Sprintf("no command /none-%d;", i)) {
				break
			}
		}
		words = words[done:]
	}
	return verbs
}

// environment lists the variables that the code asks for or sets: by a call, or
// in the packages of the providers by a text that looks like a variable's name.
func environment(t *testing.T) []string {
	seen, keys := map[string]bool{}, map[ast.Node]bool{}
	implied := map[string][]string{
		"UserHomeDir": {"HOME"}, "LookPath": {"PATH"}, "MkdirTemp": {"TMPDIR"},
		"ProxyFromEnvironment": {"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"},
	}
	name := regexp.MustCompile(`^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(=.*)?$`)
	inspect(t, func(path string, n ast.Node) {
		switch n := n.(type) {
		case *ast.KeyValueExpr: // what is set for a CLI, in its own words
			keys[n.Key] = true
		case *ast.SelectorExpr:
			for _, v := range implied[n.Sel.Name] {
				seen[v] = true
			}
		case *ast.CallExpr:
			fn, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || fmt.Sprint(fn.X) != "os" || !slices.Contains([]string{"Getenv", "LookupEnv", "Setenv"}, fn.Sel.Name) {
				return
			}
			lit, ok := n.Args[0].(*ast.BasicLit)
			if !ok {
				t.Errorf("%s asks for a variable whose name this test can not see", path)
				return
			}
			text, _ := strconv.Unquote(lit.Value)
			seen[text] = true
		case *ast.BasicLit:
			if n.Kind != token.STRING || keys[n] || !strings.Contains(path, "/harness/provider/") || strings.Contains(path, "/fake/") {
				return
			}
			text, _ := strconv.Unquote(n.Value)
			if m := name.FindStringSubmatch(text); m != nil {
				seen[m[1]] = true
			}
		}
	})
	return slices.Sorted(maps.Keys(seen))
}

// apiSettings tells each of the api-settings with its default and, if it is a
// number, the most that it can be: "temperature 1.0 2".
func apiSettings(t *testing.T) (out []string) {
	entries := func(s consciousness.State) []sexp.Value {
		v, err := s.Get("api-settings")
		if err != nil {
			t.Fatal(err)
		}
		list, err := sexp.Slice(v)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	for i, e := range entries(consciousness.New()) {
		pair := e.(*sexp.Cons)
		text := sexp.Print(pair.Car) + " " + sexp.Print(pair.Cdr)
		s := consciousness.New()
		far, _, err := sexp.Read("((" + sexp.Print(pair.Car) + " . 1000000000))")
		if err != nil {
			t.Fatal(err)
		}
		if s.Set("api-settings", far) == nil {
			if most := sexp.Print(entries(s)[i].(*sexp.Cons).Cdr); most != "t" {
				text += " " + strings.TrimSuffix(most, ".0")
			}
		}
		out = append(out, text)
	}
	return out
}

// inspect walks over all Go files that are not tests.
func inspect(t *testing.T, fn func(path string, n ast.Node)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/provider/fake/") {
			return err // the last is for tests only
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			fn(path, n)
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// exitCodes reads the constants of exit.go.
func exitCodes(t *testing.T) (codes, names []string) {
	f, err := parser.ParseFile(token.NewFileSet(), "exit.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	space := regexp.MustCompile(`([a-z])([A-Z])`)
	ast.Inspect(f, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok || len(v.Values) == 0 {
			return true
		}
		if name, ok := strings.CutPrefix(v.Names[0].Name, "exit"); ok {
			codes = append(codes, v.Values[0].(*ast.BasicLit).Value)
			names = append(names, strings.ToLower(space.ReplaceAllString(name, "$1 $2")))
		}
		return true
	})
	return codes, names
}

// ownFiles are the files below .amacs that the code names: by State and Cache, or
// behind stateDir. A constant in a name is known by its last value.
func ownFiles(t *testing.T) []string {
	type use struct {
		dir  string
		name ast.Expr
	}
	var uses []use
	consts := map[string]ast.Expr{}
	inspect(t, func(_ string, n ast.Node) {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if len(n.Values) == 1 {
				consts[n.Names[0].Name] = n.Values[0]
			}
		case *ast.BinaryExpr:
			if x, ok := n.X.(*ast.Ident); ok && (x.Name == "stateDir" || x.Name == "cacheDir") {
				uses = append(uses, use{strings.TrimSuffix(x.Name, "Dir"), n.Y})
			}
		case *ast.CallExpr:
			if fn, ok := n.Fun.(*ast.SelectorExpr); ok && (fn.Sel.Name == "State" || fn.Sel.Name == "Cache") && len(n.Args) == 1 {
				uses = append(uses, use{strings.ToLower(fn.Sel.Name), n.Args[0]})
			}
		}
	})
	seen := map[string]bool{"state/meant-…": true} // its name is made at the time
	for _, u := range uses {
		if ident, ok := u.name.(*ast.Ident); ok {
			u.name = consts[ident.Name]
		}
		if lit, ok := u.name.(*ast.BasicLit); ok {
			name, _ := strconv.Unquote(lit.Value)
			if name, _, _ = strings.Cut(strings.TrimPrefix(name, "/"), "/"); name != "" {
				seen[u.dir+"/"+name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

func homeFiles(t *testing.T, dir string) (out []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() {
			name += "/"
		}
		out = append(out, name)
	}
	return out
}
