package recall

import "testing"

func TestPairs(t *testing.T) {
	const yes, no = 0.5, 0.5
	for _, c := range []struct {
		a, b           string
		same, contrary bool
	}{
		{"Prefers tabs over spaces", "prefers  tabs over spaces.", true, false},
		{"The staging database listens on port 5433", "Staging's database is listening on port 5433", true, false},
		{"A man is playing a guitar", "A guitar is being played by a man", true, false},
		{"Two dogs are running", "2 dogs run", true, false},
		{"A man is playing a guitar", "There is no man playing a guitar", false, true},
		{"A man is playing a guitar", "A man isn't playing a guitar", false, true},
		{"The database listens on port 5433", "The database listens on port 5432", false, true},
		{"Built with Go 1.25.1", "Built with Go 1.26.0", false, true},
		{"The release is on 2026-11-21", "The release is on 2026-11-28", false, true},
		{"Enable the cache in production", "Disable the cache in production", false, true},
		{"A woman is putting on a hat", "A woman is taking off a hat", false, true},
		{"Tests run on every push", "The office is not open on Sunday", false, false},
		{"A man is cooking pasta", "A dog chases a red ball", false, false},
		{"There is no cat on the roof", "A boat sails on the lake", false, false},
		{"", "Tests run", false, false},
	} {
		for _, p := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := Duplicate(p[0], p[1]); got >= yes != c.same {
				t.Errorf("duplicate %q, %q: %.2f, want %v", p[0], p[1], got, c.same)
			}
			if got := Contradiction(p[0], p[1]); got >= no != c.contrary {
				t.Errorf("contradiction %q, %q: %.2f, want %v", p[0], p[1], got, c.contrary)
			}
		}
	}
}

func FuzzPairs(f *testing.F) {
	f.Add("port 5433 is open", "port 5432 is not open")
	f.Fuzz(func(t *testing.T, a, b string) {
		for name, of := range map[string]func(a, b string) float64{"duplicate": Duplicate, "contradiction": Contradiction} {
			x, y := of(a, b), of(b, a)
			if x != y || !(x >= 0 && x <= 1) {
				t.Fatalf("%s %q, %q: %v and %v", name, a, b, x, y)
			}
		}
		if Duplicate(a, a) != 1 || Contradiction(a, a) != 0 {
			t.Fatalf("%q is not its own duplicate", a)
		}
	})
}
