package home

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"io/fs"

	hometemplate "amacs/agent-home-template"
)

func TestParseConfig(t *testing.T) {
	for _, tc := range []struct{ src, says string }{
		{"", ""}, {"# only\n", ""}, {"---\n", ""}, {"null\n", ""}, {"model:\n", ""}, {"color: never\r\npack: false\r\n", ""},
		{"model: 7\n", ""}, {"{color: always}", ""},
		{"# x\n\ncolour: always\n", `config.yaml line 3: unknown key "colour"; did you mean "color"?`},
		{"zzzzzz: 1\n", "the keys are provider, model"},
		{"context-window: 10\n", "config.yaml line 1: context-window: 10 is too small"},
		{"pack: true\ncontext-window: many\n", `config.yaml line 2: context-window: "many" does not fit; the default is 200000`},
		{"color: red\n", "config.yaml line 1: color: \"red\" is not one of"},
		{"pack: maybe\n", "line 1: pack: \"maybe\" does not fit"},
		{"model: [a]\n", "line 1: model: a list or mapping does not fit"},
		{"model: a\nmodel: b\n", "line 2: model is set twice"},
		{"- a\n", "config.yaml line 1: expected"},
		{"model: a\n\tcolor: b\n", "config.yaml: line 2"},
		{"model: \"a\n", "config.yaml: "},
	} {
		c, err := ParseConfig([]byte(tc.src))
		if tc.says == "" && err != nil || tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%q: %v, want %q", tc.src, err, tc.says)
		}
		if err != nil && !reflect.DeepEqual(c, DefaultConfig()) {
			t.Errorf("%q: %+v beside an error", tc.src, c)
		}
	}
}

func TestSetConfig(t *testing.T) {
	for _, tc := range []struct{ src, key, value, want string }{
		{"", "color", "never", "color: never\n"},
		{"# color: auto\n", "color", "never", "# color: auto\ncolor: never\n"},
		{"a: 1", "color", "never", "!unknown key \"a\""},
		{"color: auto", "pack", "false", "color: auto\npack: false\n"},
		{"color: auto # mine\npack: true\n", "color", "never", "color: never # mine\npack: true\n"},
		{"color:   \"auto\"   # mine\n", "color", "never", "color:   never   # mine\n"},
		{"model: 'it''s # x' # mine\n", "model", "b", "model: b # mine\n"},
		{`model: "a \" b" # mine` + "\n", "model", "c # d", "model: 'c # d' # mine\n"},
		{"model: é 😀 x # mine\n", "model", "z", "model: z # mine\n"},
		{"'model' : a\n", "model", "z", "'model' : z\n"},
		{"model:\npack: true\n", "model", "z", "model: z\npack: true\n"},
		{"model: # mine\n", "model", "z", "model: z # mine\n"},
		{"color: auto\r\npack: true\r\n", "color", "never", "color: never\r\npack: true\r\n"},
		{"pack: true\r\n", "color", "never", "pack: true\r\ncolor: never\r\n"},
		{"context-window: 8192\n", "context-window", "9000", "context-window: 9000\n"},
		{"model: a\n", "model", "", "model: \"\"\n"},
		{"model: a\n", "model", "123", "model: 123\n"},
		{"model: a\n", "model", "true", "model: true\n"},
		{"model: a\n", "model", "null", "model: \"null\"\n"},
		{"model: a\n", "model", `say "x" \ y: [z]`, ""},
		{"model: a\n", "model", strings.Repeat("long words ", 20) + "end", ""},
		{"model: a\n  b\n", "model", "y", "!not a plain one"},
		{"model: |\n  a\n", "model", "y", "!not a plain one"},
		{"model:\n  a\n", "model", "y", "!not a plain one"},
		{"model: &x a\n", "model", "y", "!not a plain one"},
		{"model: \"a\n  b\"\n", "model", "y", "!not a plain one"},
		{"{color: auto}\n", "color", "never", "!in braces"},
		{"{color: auto}\n", "pack", "false", "!in braces"},
		{"color: auto\n---\nx: y\n", "pack", "false", "!would be read as"},
		{"color: auto\n...\n", "pack", "false", "!"},
		{"", "colr", "never", "!did you mean \"color\"?"},
		{"", "color", "red", "!not one of"},
		{"", "pack", "yes", "!would be read as \"true\""},
		{"", "context-window", "010000", "!would be read as"},
		{"", "model", "a\nb", "!one line"},
	} {
		out, err := SetConfig([]byte(tc.src), tc.key, tc.value)
		if says, bad := strings.CutPrefix(tc.want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%q, %s = %q: %q, %v; want an error with %q", tc.src, tc.key, tc.value, out, err, says)
			}
			continue
		}
		if err != nil || tc.want != "" && string(out) != tc.want {
			t.Errorf("%q, %s = %q: %q, %v; want %q", tc.src, tc.key, tc.value, out, err, tc.want)
			continue
		}
		checkSet(t, out, tc.key, tc.value)
	}
}

func checkSet(t *testing.T, out []byte, key, value string) {
	t.Helper()
	c, err := ParseConfig(out)
	k, _ := configKey(key)
	if err != nil || k.Value(c) != value {
		t.Errorf("%q: %s is %q, %v; want %q", out, key, k.Value(c), err, value)
	}
}

// FuzzSetConfig: what is set is read back, other settings are as they were.
func FuzzSetConfig(f *testing.F) {
	for _, s := range nasty {
		f.Add("# c\nmodel: a # d\ncolor: never\n", s)
		f.Add(s, "x")
	}
	f.Fuzz(func(t *testing.T, src, value string) {
		was, err := ParseConfig([]byte(src))
		if err != nil {
			return
		}
		out, err := SetConfig([]byte(src), "model", value)
		if err != nil {
			return
		}
		checkSet(t, out, "model", value)
		now, _ := ParseConfig(out)
		was.Model = value
		if !reflect.DeepEqual(now, was) {
			t.Errorf("%q became %q", src, out)
		}
	})
}

// TestTemplateHasEveryKey: the settings of the code are those of the template,
// in its order, with the defaults that it shows.
func TestTemplateHasEveryKey(t *testing.T) {
	b, err := fs.ReadFile(hometemplate.Files(), ConfigFile)
	must(t, err)
	var shown, known []string
	for _, m := range regexp.MustCompile(`(?m)^# ([a-z-]+:(?: .+)?)$`).FindAllStringSubmatch(string(b), -1) {
		shown = append(shown, m[1])
		_, err := ParseConfig([]byte(m[1]))
		must(t, err)
	}
	for _, k := range ConfigKeys() {
		v := k.Value(DefaultConfig())
		if v == "" {
			v = `""`
		}
		if k.mapping {
			known = append(known, k.Key+":")
		} else {
			known = append(known, k.Key+": "+v)
		}
	}
	if got, want := strings.Join(shown, "\n"), strings.Join(known, "\n"); got != want {
		t.Errorf("the template shows\n%s\nthe code has\n%s", got, want)
	}
}
