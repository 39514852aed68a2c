package ledger

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A line that was cut short anywhere is skipped, or counted if it is whole, and
// never eats the next one.
func TestTornLine(t *testing.T) {
	seed := t.TempDir()
	call(t, Open(seed, Options{Now: (&clock{noon}).now}), Human, 2)
	whole := month1(t, seed)
	first := bytes.IndexByte(whole, '\n') + 1
	second := whole[first:]
	for n := range second {
		if n%5 != 0 && n < len(second)-3 {
			continue // a few lengths are enough: each waits for the disk
		}
		dir := t.TempDir()
		path := filepath.Join(dir, "2026-11.jsonl")
		must(t, os.WriteFile(path, append(bytes.Clone(whole[:first]), second[:n]...), 0o600))
		for _, l := range []*Ledger{Open(dir, Options{Now: (&clock{noon}).now}), Open(dir, Options{Now: (&clock{noon}).now})} {
			call(t, l, Explore, 1)
		}
		got := totals(t, Open(dir, Options{Now: (&clock{noon}).now}))
		want := Sum{USD: 2, Calls: 1, Unsettled: 1} // its settlement is not there
		if n == len(second)-1 {
			want.Unsettled = 0 // it lacks only the end of the line
		}
		if got.Broken != nil || got.Sources[Human].Day != want || got.Sources[Explore].Day != (Sum{USD: 2, Calls: 2}) {
			t.Fatalf("cut after %d bytes: %+v\n%s", n, got, month1(t, dir))
		}
		if !bytes.Contains(month1(t, dir), second[:n]) {
			t.Fatalf("cut after %d bytes: they are gone", n)
		}
	}
}

// Any other line that can not be read is named, by each process once, and the
// rest counts.
func TestBrokenLines(t *testing.T) {
	dir := t.TempDir()
	open := func() *Ledger { return Open(dir, Options{Caps: caps(t, "day", "1"), Now: (&clock{noon}).now}) }
	l := open()
	call(t, l, Human, 0.5)
	path := filepath.Join(dir, "2026-11.jsonl")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	for _, text := range []string{"rubbish", `{"kind":"gift","at":"2026-11-21T12:00:00Z"}`, `{"kind":"settle","at":"2026-11-21T12:00:00Z","in":-5}`,
		`{"kind":"settle","at":"2026-10-21T12:00:00Z"}`, `{"kind":"settle","at":"2026-11-21T12:00:00Z","usd":-1}`, `{"kind":"settle"}`, "\x00\x00", "[]"} {
		_, err := f.WriteString(text + "\n")
		must(t, err)
	}
	must(t, f.Close())
	call(t, l, Human, 0.25)
	want := []Broken{}
	for n := 3; n <= 10; n++ {
		want = append(want, Broken{path, n})
	}
	for _, l := range []*Ledger{l, open()} {
		got := totals(t, l)
		if !slices.Equal(got.Broken, want) || got.Day != (Sum{USD: 0.75, Calls: 2}) {
			t.Errorf("%+v", got)
		}
	}
	l = open()
	for i := range 2 {
		r, err := l.Reserve(ctx, Worst{Source: Human, Free: true})
		must(t, err)
		if (len(r.Warnings) == 8) != (i == 0) || i == 0 && !strings.Contains(r.Warnings[0], path+":3") {
			t.Errorf("call %d warns: %q", i, r.Warnings)
		}
	}
	if got := refused(t, l, Worst{Source: Human, USD: usd(0.26)}); got != "day" {
		t.Errorf("the cap does not hold: %q", got)
	}
}

// The stored sums are a shortcut and nothing else.
func TestSums(t *testing.T) {
	dir := t.TempDir()
	k := &clock{noon}
	open := func() *Ledger {
		l := Open(dir, Options{Now: k.now})
		l.storeAfter = 1
		return l
	}
	must(t, open().Carry(ctx, []DaySum{{"2026-11-21", Ambient, "m", Sum{USD: 3}}}))
	for i := range 6 {
		k.at = noon.AddDate(0, 0, 3*i)
		call(t, open(), Judge, 1)
	}
	refused(t, open(), Worst{Source: Human, USD: usd(5)})
	call(t, open(), Human, 1)
	sums, november := filepath.Join(dir, sumsFile), filepath.Join(dir, "2026-11.jsonl")
	want := totals(t, open())
	unreported, err := open().Unreported()
	must(t, err)
	if want.Lifetime.USD != 15 || want.Lifetime.Unsettled != 1 {
		t.Fatalf("%+v", want)
	}
	b, err := os.ReadFile(sums)
	must(t, err)
	for name, text := range map[string]string{"as they are": string(b), "gone": "", "broken": string(b[:len(b)/2]), "of another version": `{"version":99}`,
		"empty": `{"version":1,"months":{"2026-11":null,"2026-12":{}}}`, "null": "null",
		"of another file":       strings.ReplaceAll(string(b), `"print":`, `"print":1`),
		"of a file that shrank": strings.ReplaceAll(string(b), `"offset":`, `"offset":9`)} {
		must(t, os.WriteFile(sums, []byte(text), 0o600))
		got := totals(t, open())
		if got.Lifetime != want.Lifetime || got.Day != want.Day || got.Month != want.Month {
			t.Errorf("sums %s: %+v, want %+v", name, got, want)
		}
		if r, err := open().Unreported(); err != nil || !slices.Equal(r.Days, unreported.Days) {
			t.Errorf("sums %s: unreported %v, %v", name, r.Days, err)
		}
	}
	// A month that was replaced by a longer one is read anew.
	before, err := os.ReadFile(november)
	must(t, err)
	l := open()
	totals(t, l)
	longer := bytes.ReplaceAll(before, []byte(`"kind":`), []byte(`      "kind":`))
	longer = bytes.ReplaceAll(longer, []byte(`"usd":1,`), []byte(`"usd":2,`))
	must(t, os.WriteFile(november, longer, 0o600))
	for _, l := range []*Ledger{l, open()} {
		if got := totals(t, l).Lifetime; got.USD != 19 {
			t.Errorf("with another November: %+v", got)
		}
	}
	// A month that is deleted is deleted, for those who have read it, too.
	must(t, os.Remove(november))
	for _, l := range []*Ledger{l, open()} {
		if got := totals(t, l).Lifetime; got.USD != 8 {
			t.Errorf("without November: %+v", got)
		}
	}
}
