package permit

import (
	"slices"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string][]string{
		`go test ./...`:           {"go", "test", "./..."},
		`git commit -m "a 'b' c"`: {"git", "commit", "-m", "a 'b' c"},
		`grep 'x*y' a\ b`:         {"grep", "x*y", "a b"},
		`echo "a\"b" 'c"d'e`:      {"echo", `a"b`, `c"de`},
		`printf "" ''`:            {"printf", "", ""},
		`ls | wc`:                 nil,
		`ls > x`:                  nil,
		`ls; ls`:                  nil,
		`ls && ls`:                nil,
		`! ls`:                    nil,
		`ls &`:                    nil,
		`ls *.go`:                 nil,
		`ls ~`:                    nil,
		`ls {a,b}`:                nil,
		`echo $HOME`:              nil,
		`echo "$HOME"`:            nil,
		"echo `id`":               nil,
		`echo $(id)`:              nil,
		`A=1 ls`:                  nil,
		`A=1`:                     nil,
		`echo $'a'`:               nil,
		`(ls)`:                    nil,
		`echo "a`:                 nil,
		``:                        nil,
		`# nothing`:               nil,
		"ls\nrm x":                nil,
	} {
		got, ok := Words(text)
		if ok != (want != nil) || ok && !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", text, got, ok, want)
		}
	}
}
