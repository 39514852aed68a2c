package ledger

import (
	"slices"
	"strings"
	"testing"
)

func TestParseCap(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string // "" = refused
		says       string
	}{
		{"day", "off", "off", ""},
		{"day", " off ", "off", ""},
		{"day", "5", "5 USD a day", ""},
		{"month", "5", "5 USD a month", ""},
		{"lifetime", "5", "5 USD ever", ""},
		{"explore", "5", "5 USD a day", ""},
		{"explore", "5 ever", "5 USD ever", ""},
		{"explore", "$0.50 a month", "0.5 USD a month", ""},
		{"day", "5usd", "5 USD a day", ""},
		{"day", "$5", "5 USD a day", ""},
		{"day", "200000 tokens", "200000 tokens a day", ""},
		{"day", "1 token", "1 tokens a day", ""},
		{"ambient", "1 USD a day, 20 USD a month, 100 USD ever", "1 USD a day, 20 USD a month, 100 USD ever", ""},
		{"ambient", "1 USD, 5000 tokens", "1 USD a day, 5000 tokens a day", ""},
		{"day", "0", "", "say off"},
		{"day", "0.00 USD", "", "provider: offline"},
		{"day", "5, 0 tokens", "", "say off"},
		{"day", "", "", "no limit"},
		{"day", "off, 5", "", "no limit"},
		{"day", "-5", "", "no limit"},
		{"day", "5 EUR", "", "no limit"},
		{"day", "1e5", "", "no limit"},
		{"day", "$5 tokens", "", "in USD or in tokens"},
		{"day", "1.5 tokens", "", "whole number"},
		{"day", "9999999999999999999 tokens", "", "whole number"},
		{"day", "0.0000000000001", "", "not between"},
		{"day", "1e400", "", "no limit"},
		{"day", strings.Repeat("9", 400), "", "not between"},
		{"month", "1 USD a day", "", "a month"},
		{"day", "1 USD ever", "", "a day"},
		{"day", "1 USD, 2 USD", "", "contradict"},
		{"yearly", "5", "", "lifetime, month, day"},
	} {
		got, err := ParseCap(c.name, c.text)
		if c.want == "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %q: got %s, %v; want an error with %q", c.name, c.text, got, err, c.says)
			}
			continue
		}
		if err != nil || got.String() != c.want {
			t.Errorf("%s: %q: got %s, %v; want %s", c.name, c.text, got, err, c.want)
		}
	}
}

func FuzzParseCap(f *testing.F) {
	for _, text := range []string{"off", "5", "$0.5 a month", "200000 tokens", "1 USD a day, 20 USD a month, 100 USD ever", "0", "5 ever"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range CapNames() {
			c, err := ParseCap(name, text)
			if err != nil {
				continue
			}
			again, err := ParseCap(name, c.String())
			if err != nil || !slices.Equal(c, again) {
				t.Fatalf("cap-%s: %q is %s, which reads as %s, %v", name, text, c, again, err)
			}
			for _, b := range c {
				if b.limit() <= 0 {
					t.Fatalf("cap-%s: %q allows nothing", name, text)
				}
			}
		}
	})
}

func TestDefaultCaps(t *testing.T) {
	got := DefaultCaps()
	want, err := ParseCap("day", "5 USD")
	if err != nil || len(got) != 1 || !slices.Equal(got["day"], want) {
		t.Errorf("the defaults are %v", got)
	}
}
