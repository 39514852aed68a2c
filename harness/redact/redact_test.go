package redact

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

func TestKindsAndPlaces(t *testing.T) {
	t.Parallel()
	token := "ghp" + "_16C7e42F292c6912E7710c838347Ae178B4a"
	for _, c := range []struct{ in, out string }{
		{"", ""},
		{"a " + token + " b", "a [redacted:github-token] b"},
		{token[:30] + " x" + token, token[:30] + " x" + token}, // too short; within a word
		{"x: " + token + "\ny: " + token, "x: [redacted:github-token]\ny: [redacted:github-token]"},
		{"git clone https://x-access-token:" + token + "@github.com/a/b", "git clone https://x-access-token:[redacted:github-token]@github.com/a/b"},
		{"password: hunter2", "password: [redacted:password]"},
		{"password=hunter2 and then hunter2 again", "password=[redacted:password] and then [redacted:password] again"},
		{"DB_PASSWORD=\"hunter2\"\r\n", "DB_PASSWORD=\"[redacted:password]\"\r\n"},
		{"\xff\xfepassword=\"hunter2\"\x00\xff", "\xff\xfepassword=\"[redacted:password]\"\x00\xff"},
		{"It is password: Summer24! or so.", "It is password: [redacted:password] or so."},
		{"The wifi password is Summer24.", "The wifi password is [redacted:password]."},
		{"GITHUB_TOKEN=" + token[:38] + "\x1b[0m", "GITHUB_TOKEN=[redacted:github-token]\x1b[0m"},
		{"client_secret=Zm9vYmFy9Kd03Jx7", "client_secret=[redacted:secret]"},
		{"[redacted:password]", "[redacted:password]"},
	} {
		out, found := Text(c.in, Options{})
		if out != c.out {
			t.Errorf("%q → %q, want %q", c.in, out, c.out)
		}
		law(t, c.in, out, found)
	}
}

func TestKeep(t *testing.T) {
	t.Parallel()
	in := "password=hunter2\nadmin_password=monkey77\n"
	_, found := Text(in, Options{})
	if len(found) != 2 || found[0].Sum == found[1].Sum || len(found[0].Sum) != 12 {
		t.Fatalf("found %v", found)
	}
	out, rest := Text(in, Options{Keep: func(sum string) bool { return sum == found[0].Sum }})
	if want := "password=hunter2\nadmin_password=[redacted:password]\n"; out != want || len(rest) != 1 || rest[0] != found[1] {
		t.Errorf("%q %v, want %q", out, rest, want)
	}
	if _, other := Text("hint: password: hunter2", Options{}); len(other) != 1 || other[0].Sum != found[0].Sum {
		t.Errorf("the sum depends on the place: %v, %v", other, found[0])
	}
}

// goEnv asks the go command.
func goEnv(t *testing.T, args ...string) []string {
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		t.Skipf("go %s: %v", strings.Join(args, " "), err)
	}
	return strings.Fields(string(out))
}

// textsUnder are the files under folder whose name fits.
func textsUnder(t *testing.T, folder string, fits func(path string) bool) []string {
	var out []string
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if d.Type().IsRegular() && fits(path) {
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

var prose = regexp.MustCompile(`(?i)/(?:readme|licen[cs]e|copying|changelog|contributing)[^/]*$`)

// Ordinary code and prose stays as it is.
func TestOrdinary(t *testing.T) {
	t.Parallel()
	code := func(path string) bool {
		return strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, ".md") || strings.HasSuffix(path, ".mod") || strings.HasSuffix(path, ".sum")
	}
	sources := map[string][]string{"traps": {"testdata/ordinary.txt"}, "this module": textsUnder(t, "../..", code)}
	root := goEnv(t, "env", "GOROOT")[0]
	for _, folder := range strings.Fields("bufio bytes encoding fmt net os strings text") {
		sources["go"] = append(sources["go"], textsUnder(t, filepath.Join(root, "src", folder), code)...)
	}
	for _, folder := range goEnv(t, "list", "-m", "-f", "{{if not .Main}}{{.Dir}}{{end}}", "all") {
		sources["modules"] = append(sources["modules"], textsUnder(t, folder, prose.MatchString)...)
	}
	lines := 0
	for name, paths := range sources {
		size, count, altered := 0, 0, 0
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			size += len(b)
			s := string(b)
			count += strings.Count(s, "\n")
			_, found := Text(s, Options{})
			for _, f := range found {
				altered++
				t.Errorf("%s:%d: %s: %q", path, strings.Count(s[:f.Start], "\n")+1, f.Kind, s[f.Start:f.End])
			}
		}
		lines += count
		t.Logf("%-12s %5d files %8d lines %9d bytes, %d altered", name, len(paths), count, size, altered)
	}
	if lines < 5000 {
		t.Errorf("%d lines are few", lines)
	}
}

// Each line of the traps stands for itself, too.
func TestTrapsAlone(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("testdata/ordinary.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		for _, s := range []string{line, strings.TrimSpace(line), "  " + strings.TrimSpace(line) + "\r\n", "> " + line} {
			if out, _ := Text(s, Options{}); out != s {
				t.Errorf("%q → %q", s, out)
			}
		}
	}
}

// Time grows with the length and no faster, also for texts that are an attack.
func TestTime(t *testing.T) {
	parts := []string{"-----BEGIN PRIVATE KEY-----\n", "curl -u ", "mysql ", "machine x login ", "://a:", "://", "://\x01", "password=", "password: \"", "password: \"a ", "\\\"", "token token",
		"Authorization: Bearer ", "a.atlasv1.", "eyJ-eyJa", "key-", "sk-", "x", "\xff", "[redacted:", "]", "password=aB3$xY9!q ", "secret", "=", "a1", "echo ", "\\\n"}
	for _, r := range rules() {
		parts = append(parts, r.begins...)
	}
	took := func(part string, size int) time.Duration {
		s := strings.Repeat(part, size/len(part))
		begun := time.Now()
		Text(s, Options{})
		return time.Since(begun)
	}
	took("password: hunter2 "+strings.Join(parts, " "), 1<<16) // compile what there is to compile
	slowest, which := time.Duration(0), ""
	for _, p := range parts {
		one, four := took(p, 1<<12), took(p, 1<<14)
		if four > slowest {
			slowest, which = four, p
		}
		if four > 10*one+500*time.Millisecond { // 16 times is the square
			t.Errorf("4 KB of %q took %v, 16 KB %v", p, one, four)
		}
	}
	t.Logf("slowest: %v for 16 KB of %q", slowest, which)
}

func FuzzText(f *testing.F) {
	for _, x := range situations {
		f.Add(strings.ReplaceAll(x.text, "SECRET", "hunter2"))
		f.Add(strings.ReplaceAll(x.text, "SECRET", "aB3xY9qT7wK2mN5p"))
	}
	f.Add("password=]abc12[redacted:password]]abc12")
	f.Add("password=\"x[redac9\" [redac9 x[redacted:password]")
	f.Fuzz(func(t *testing.T, s string) {
		out, found := Text(s, Options{})
		law(t, s, out, found)
	})
}

func BenchmarkText(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"code", sourceText(b)},
		{"secrets", secretText()},
	} {
		literal := regexp.MustCompile(`ghp_[0-9a-zA-Z]{36}`)
		other := regexp.MustCompile(`\b(?:ghp|gho)_[0-9a-zA-Z]{36}\b`)
		perKB := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(len(c.text))*1024, "µs/KB")
		}
		b.Run(c.name+"/Text", func(b *testing.B) {
			for b.Loop() {
				Text(c.text, Options{})
			}
			perKB(b)
		})
		b.Run(c.name+"/one regexp with a literal prefix", func(b *testing.B) {
			for b.Loop() {
				literal.FindAllStringIndex(c.text, -1)
			}
			perKB(b)
		})
		b.Run(c.name+"/one regexp without", func(b *testing.B) {
			for b.Loop() {
				other.FindAllStringIndex(c.text, -1)
			}
			perKB(b)
		})
	}
}

// sourceText is this module's code.
func sourceText(b *testing.B) string {
	var s strings.Builder
	for _, folder := range []string{"../../org", "../../consciousness", "../home", "../journal", "../provider", "."} {
		paths, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range paths {
			if strings.HasSuffix(p, "_test.go") {
				continue
			}
			text, err := os.ReadFile(p)
			if err != nil {
				b.Fatal(err)
			}
			s.Write(text)
		}
	}
	return s.String()
}

// secretText has a secret in every line.
func secretText() string {
	var s strings.Builder
	for _, list := range planted() {
		for _, p := range list {
			fmt.Fprintln(&s, p[0])
		}
	}
	return s.String()
}
