package redact

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
)

var (
	update       = flag.Bool("update", false, "write gitleaks.txt from the file named by -gitleaks")
	gitleaksFile = flag.String("gitleaks", "", "config/gitleaks.toml of gitleaks")
)

// ours are the rules of gitleaks that rules.txt has, looser, or that need more
// than a shape: a sum of 40 hexadecimal digits is no secret without a name.
var ours = regexp.MustCompile(`^(?:age|airtable|anthropic|artifactory|atlassian|aws|azure|cloudflare|curl|digitalocean|discord|doppler|dropbox|` +
	`facebook|flutterwave-public|freemius|gcp|generic|github|gitlab|grafana|hashicorp|heroku|huggingface|jwt|kubernetes|linear|mailchimp|mailgun|npm|nuget|openai|` +
	`perplexity|pkcs12|private-key|pypi|sendgrid|sidekiq|slack|sourcegraph|square|stripe|telegram|twilio|vault|notion|octopus)`)

// TestGitleaks makes gitleaks.txt anew: fetch gitleaks.toml of a release, then
//
//	go test ./harness/redact -run TestGitleaks -update -gitleaks gitleaks.toml
func TestGitleaks(t *testing.T) {
	if *gitleaksFile == "" {
		t.Skip("without -gitleaks")
	}
	b, err := os.ReadFile(*gitleaksFile)
	if err != nil {
		t.Fatal(err)
	}
	out := convert(string(b))
	if *update {
		if err := os.WriteFile("gitleaks.txt", []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if out != gitleaksRules {
		t.Error("gitleaks.txt is not what -update would write")
	}
}

var (
	tomlID     = regexp.MustCompile(`(?m)^id = "(.*)"$`)
	tomlRegex  = regexp.MustCompile(`(?m)^regex = '''(.*)'''$`)
	tomlWords  = regexp.MustCompile(`(?ms)^keywords = \[(.*?)\]$`)
	tomlString = regexp.MustCompile(`"([^"]*)"`)
)

// convert keeps of gitleaks' rules those that know a token by how it begins.
// What must come before and after a token is left out: Text has its own.
func convert(toml string) string {
	var out strings.Builder
	out.WriteString("# The rules of gitleaks 8.30.1 (MIT, see gitleaks.LICENSE) that know a token by how it\n" +
		"# begins and that rules.txt does not have. Made by TestGitleaks; not to be edited.\n")
	for _, block := range strings.Split(toml, "[[rules]]")[1:] {
		id, regex, list := tomlID.FindStringSubmatch(block), tomlRegex.FindStringSubmatch(block), tomlWords.FindStringSubmatch(block)
		if id == nil || regex == nil || list == nil || ours.MatchString(id[1]) || strings.Contains(regex[1], `(?:=|>|:{1,3}=`) {
			continue
		}
		shape := strings.TrimPrefix(regex[1], `\b`)
		for _, end := range []string{`(?:[\x60'"\s;]|\\[nr]|$)`, `(?:[\x60'"\s;]|\\[nr]|$|\b)`, `(?:[^\w-]|\z)`, `(?:[^a-zA-Z0-9+/]|\z)`, `\b`} {
			shape = strings.TrimSuffix(shape, end)
		}
		var words []string
		for _, w := range tomlString.FindAllStringSubmatch(list[1], -1) {
			words = append(words, strings.ToLower(w[1]))
		}
		line := fmt.Sprintf("%s %s %s\n", id[1], strings.Join(words, ","), shape)
		if r, err := parseRule(line[:len(line)-1]); err == nil && beginsWithWord(r) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// beginsWithWord tries whether what r describes begins with one of its words.
func beginsWithWord(r *rule) bool {
	for n := range uint64(20) {
		sample := strings.ToLower(sampleOf(r.source, rand.New(rand.NewPCG(n, 1))))
		if len(sample) < 16 {
			return false
		}
		begins := false
		for _, w := range r.begins {
			begins = begins || strings.HasPrefix(sample, w)
		}
		if !begins {
			return false
		}
	}
	return true
}
