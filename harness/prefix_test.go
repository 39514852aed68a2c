package harness

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"amacs/harness/provider"
)

// served is what a cache gives of one request, in bytes.
type served struct {
	all     int // of the request
	same    int // at its start, as in the request before: what a cache of any prefix serves
	read    int // by a cache with breakpoints
	written int // to it
}

// breakpoints is how many a request may have, the one after the system prompt
// included.
const breakpoints = 4

// caches plays both kinds of cache over requests in their order. One serves any
// prefix that it saw in the request before. The other knows only prefixes that
// ended at a breakpoint, looks for one where a block ends, at most 20 blocks
// before a breakpoint, and is written to up to the last breakpoint.
func caches(asked []provider.Request) (out []served) {
	known := map[[32]byte]bool{}
	before := ""
	for _, q := range asked {
		type end struct {
			at   int
			sum  [32]byte
			mark bool
		}
		ends := []end{{len(q.System), sha256.Sum256([]byte(q.System)), true}}
		text, marks := q.System, 1
		for _, b := range q.Blocks {
			last := ends[len(ends)-1]
			text += b.Text
			own := sha256.Sum256([]byte(b.Text))
			ends = append(ends, end{len(text), sha256.Sum256(append(last.sum[:], own[:]...)), b.Cache})
			if b.Cache {
				marks++
			}
		}
		for i := range ends { // too many: the system prompt's and the last ones count
			if ends[i].mark && i > 0 && marks > breakpoints {
				ends[i].mark = false
				marks--
			}
		}
		s := served{all: len(text)}
		for s.same < min(len(text), len(before)) && text[s.same] == before[s.same] {
			s.same++
		}
		to := 0
		for i, e := range ends {
			if !e.mark {
				continue
			}
			to = e.at
			for j := i; j >= max(0, i-20); j-- {
				if known[ends[j].sum] {
					s.read = max(s.read, ends[j].at)
					break
				}
			}
		}
		s.written = to - s.read
		for _, e := range ends {
			if e.mark {
				known[e.sum] = true
			}
		}
		out, before = append(out, s), text
	}
	return out
}

func TestCaches(t *testing.T) {
	req := func(system string, blocks ...string) provider.Request {
		q := provider.Request{System: system}
		for _, b := range blocks {
			text, mark := strings.CutSuffix(b, "|")
			q.Blocks = append(q.Blocks, provider.Block{Text: text, Cache: mark})
		}
		return q
	}
	got := caches([]provider.Request{
		req("sys", "aaaa|", "bb|", "c"),
		req("sys", "aaaa|", "bb", "dd|", "e"),   // bb is found before a breakpoint, though none is there
		req("sys", "aaaa|", "bbdd|", "e"),       // the same bytes in other blocks are another prefix
		req("sys", "a|", "a|", "a|", "a|", "e"), // five breakpoints: that of the first block does not count
		req("sys", "a|", "e"),
	})
	want := []served{{10, 0, 0, 9}, {12, 9, 9, 2}, {12, 12, 7, 4}, {8, 7, 3, 4}, {5, 4, 3, 1}}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// words is prose of about n characters.
func words(r *rand.Rand, n int) string {
	const some = "the parser reads a token and keeps what it has seen so that an error names the line where it began ; we could return the value itself or hold it longer but then who frees it and when would that be noticed"
	from := strings.Fields(some)
	var b strings.Builder
	for b.Len() < n {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(from[r.IntN(len(from))])
	}
	return b.String() + "."
}

// length draws how long a text is: most are short, some are long.
func length(r *rand.Rand, usual, most int) int {
	if r.IntN(6) == 0 {
		return usual + r.IntN(most-usual)
	}
	return usual/3 + r.IntN(usual)
}

// Of the requests of a conversation a cache serves most. The figures are bytes
// over all ticks, the first one included.
func TestPrefix(t *testing.T) {
	if testing.Short() {
		t.Skip("250 ticks")
	}
	const ticks = 50
	for _, c := range []struct {
		name            string
		window          int     // tokens
		work            bool    // in threads with buffers and a skill
		edits, switches int     // by hand and of threads, every so many ticks
		any, marked     float64 // floors of the share that is served
	}{
		{"talk", 200000, false, 0, 0, 0.83, 0.82},
		{"work", 200000, true, 0, 0, 0.87, 0.86},
		{"edits", 200000, true, 6, 0, 0.78, 0.76},
		{"switches", 200000, true, 9, 12, 0.82, 0.81},
		{"too long", 16000, true, 0, 0, 0.81, 0.81},
	} {
		t.Run(c.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(3, 7))
			r := newRig(t)
			r.write("config.yaml", fmt.Sprintf("context-window: %d\n", c.window))
			file := func(name string) string { return filepath.Join(r.cwd, name) }
			for i, name := range []string{"lexer.go", "parser.go", "post.md"} {
				r.write(file(name), words(rnd, 3000+2000*i))
			}
			for n := 1; n <= ticks; n++ {
				answer := map[string]any{"mood": []string{"calm", "keen", "curious", "focused"}[n/5%4], "confidence": 0.5 + float64(rnd.IntN(40))/100,
					"monologue": words(rnd, length(rnd, 70, 160))}
				line := words(rnd, length(rnd, 80, 500))
				switch {
				case c.work && n == 3:
					answer["eval"] = `(agent-create-skill "grammars" :description "How grammars are read. Use it on parsers." :body "` + words(rnd, 1500) + `")
						(agent-create-thread "parser" :concern "Read the grammar" :goal "All tests pass" :buffers '("lexer.go" "parser.go") :skills '("grammars"))
						(agent-create-thread "blog" :concern "Write about it" :buffers '("post.md")) (agent-switch-thread "parser")`
				case c.switches > 0 && n > 3 && n%c.switches == 0:
					answer["eval"] = fmt.Sprintf(`(agent-switch-thread %q)`, []string{"parser", "blog"}[n/c.switches%2])
				case rnd.IntN(6) == 0:
					answer["eval"] = `(agent-search-history "token" :last 5)`
				}
				if c.edits > 0 && n%c.edits == 4 {
					name := []string{"lexer.go", "parser.go"}[n/c.edits%2]
					r.write(file(name), words(rnd, 3500))
					r.must(os.Chtimes(file(name), r.at, r.at))
				}
				if rnd.IntN(6) == 0 {
					note := map[string]any{"heading": []string{"Findings", "Plan", words(rnd, 15)}[rnd.IntN(3)], "thread": nil, "content": words(rnd, length(rnd, 200, 600))}
					if c.work && n > 3 && rnd.IntN(2) == 0 {
						note["thread"] = "parser"
					}
					answer["scratchpad"] = note
				}
				switch rnd.IntN(8) {
				case 0: // silent: the next one answers this line, too
				case 1:
					answer["continue"] = true
				default:
					answer["reply"] = words(rnd, length(rnd, 500, 2500))
				}
				text, err := json.Marshal(answer)
				r.must(err)
				r.script(string(text))
				if n%11 == 0 { // as after continue
					line = ""
				}
				r.say(line)
			}
			var sum served
			for i, s := range caches(r.asked) {
				t.Logf("tick %2d: %6d bytes, as before %3d%%, read %3d%%, written %3d%%", i+1, s.all, 100*s.same/s.all, 100*s.read/s.all, 100*s.written/s.all)
				sum.all, sum.same, sum.read, sum.written = sum.all+s.all, sum.same+s.same, sum.read+s.read, sum.written+s.written
			}
			share := func(n int) float64 { return float64(n) / float64(sum.all) }
			t.Logf("%d requests, %d bytes on average: %.1f%% as in the one before; with breakpoints %.1f%% read, %.1f%% written, %.1f%% neither",
				len(r.asked), sum.all/len(r.asked), 100*share(sum.same), 100*share(sum.read), 100*share(sum.written), 100*(1-share(sum.read)-share(sum.written)))
			if len(r.asked) != ticks || share(sum.same) < c.any || share(sum.read) < c.marked {
				t.Errorf("%d requests; served are %.3f and %.3f, want %.2f and %.2f at least", len(r.asked), share(sum.same), share(sum.read), c.any, c.marked)
			}
		})
	}
}
