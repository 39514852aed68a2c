package permit

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// here is a world without a disk: a project, an agent's home and a user's.
func here() World {
	return World{
		Project: "/home/me/proj", Home: "/home/me/.agent", User: "/home/me", Cwd: "/home/me/proj",
		Vars: map[string]string{"HOME": "/home/me", "PWD": "/home/me/proj", "USER": "me", "PATH": "/usr/bin:/bin"},
	}
}

func shellText(s string) Action { return Action{Op: Run, Shell: s} }

func decide(s string) Verdict { return Decide(shellText(s), here(), Rules{}, nil) }

// sample is one line of a corpus.
type sample struct {
	text   string
	want   Tier
	hidden bool
}

func corpus(t testing.TB, name string) (out []sample) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(string(b)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		s := sample{text: line, want: map[string]Tier{"harmless": Auto, "risky": Ask}[name]}
		if name == "destructive" {
			word, text, ok := strings.Cut(line, " ")
			tier, known := map[string]Tier{"ask": Ask, "never": Never}[strings.TrimSuffix(word, "*")]
			if !ok || !known {
				t.Fatalf("%s: %q says no tier", name, line)
			}
			s = sample{text, tier, strings.HasSuffix(word, "*")}
		}
		s.text = strings.ReplaceAll(s.text, "⏎", "\n")
		out = append(out, s)
	}
	return out
}

func TestCorpus(t *testing.T) {
	var table [5][3]int
	rows := []string{"harmless", "risky", "destructive: ask", "destructive: never", "of these, hidden"}
	count := func(row int, got Tier) { table[row][got]++ }
	for _, s := range corpus(t, "harmless") {
		v := decide(s.text)
		count(0, v.Tier)
		if v.Tier == Never {
			t.Errorf("never, but harmless: %s (%s)", s.text, v.Why)
		} else if v.Tier != Auto {
			t.Logf("asks: %s (%s)", s.text, v.Why)
		}
	}
	for _, s := range corpus(t, "risky") {
		v := decide(s.text)
		if count(1, v.Tier); v.Tier != Ask {
			t.Errorf("%v, want ask: %s (%s)", v.Tier, s.text, v.Why)
		}
	}
	for _, s := range corpus(t, "destructive") {
		v := decide(s.text)
		row := 2
		if s.want == Never {
			row = 3
		}
		count(row, v.Tier)
		if s.hidden {
			count(4, v.Tier)
		}
		if v.Tier < s.want {
			t.Errorf("%v, want %v: %s (%s)", v.Tier, s.want, s.text, v.Why)
		}
	}
	text := fmt.Sprintf("%-20s %6s %6s %6s\n", "", "auto", "ask", "never")
	for i, r := range table {
		text += fmt.Sprintf("%-20s %6d %6d %6d\n", rows[i], r[0], r[1], r[2])
	}
	t.Log("\n" + text)
	sum := func(r [3]int) int { return r[0] + r[1] + r[2] }
	if n := sum(table[0]); table[0][Auto]*100 < n*95 {
		t.Errorf("%d of %d harmless commands are auto, want 95 of 100", table[0][Auto], n)
	}
	if sum(table[0]) < 200 || sum(table[1]) < 150 || sum(table[2])+sum(table[3]) < 150 || sum(table[4]) < 50 {
		t.Errorf("the corpus is too small:\n%s", text)
	}
}
