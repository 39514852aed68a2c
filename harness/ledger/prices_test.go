package ledger

import (
	"math"
	"testing"
)

func TestPriceOf(t *testing.T) {
	own := Prices{"gpt-5.4": {In: 1, Out: 1}, "acme/large": {In: 7}, "local": {}}
	for _, c := range []struct {
		model string
		in    float64 // -1 = unknown
	}{
		{"claude-sonnet-4-5", 3},
		{"claude-sonnet-4-5-20250929", 3},
		{"claude-sonnet-4-5-latest", 3},
		{"claude-sonnet-4-5@20250929", 3},
		{"anthropic/claude-sonnet-4-5", 3},
		{"anthropic/claude-sonnet-4-5-20250929", 3},
		{"gpt-5.4", 1},
		{"openai/gpt-5.4-2026-03-05", 1},
		{"gpt-5.4-mini-2026-03-17", 0.75},
		{"acme/large", 7},
		{"large", -1},
		{"local", 0},
		{"claude-sonnet", -1},
		{"claude-sonnet-4-5-turbo", -1},
		{"openai/gpt-5.4:free", -1},
		{"", -1},
	} {
		p, ok := own.Of(c.model)
		if ok != (c.in >= 0) || ok && p.In != c.in {
			t.Errorf("%q: %+v, %v; want %v", c.model, p, ok, c.in)
		}
	}
}

func TestPriceCost(t *testing.T) {
	full := Price{In: 2, Cached: 0.2, Written: 2.5, Out: 10, Above: 1000, Long: &Price{In: 4, Cached: 0.4, Written: 5, Out: 15}}
	bare := Price{In: 2, Out: 10}
	for _, c := range []struct {
		p                        Price
		in, cached, written, out int
		want, worst              float64 // millionths of a USD
	}{
		{full, 1000, 0, 0, 100, 3000, 3500},
		{full, 1000, 600, 300, 100, 200 + 120 + 750 + 1000, 3500},
		{full, 1001, 0, 0, 100, 4004 + 1500, 5005 + 1500},
		{bare, 1000, 600, 300, 100, 3000, 3000},
		{bare, 100, 200, 0, 0, 400, 200}, // more cached than there is: as told
		{Price{}, 1000, 0, 0, 1000, 0, 0},
	} {
		if got := 1e6 * c.p.Cost(c.in, c.cached, c.written, c.out); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%+v: %d/%d/%d/%d costs %v, want %v", c.p, c.in, c.cached, c.written, c.out, got, c.want)
		}
		if got := 1e6 * c.p.Worst(c.in, c.out); math.Abs(got-c.worst) > 1e-6 {
			t.Errorf("%+v: %d/%d comes to %v, want %v", c.p, c.in, c.out, got, c.worst)
		}
	}
}

// A prompt that is longer, or less of it cached, never costs less; nothing costs
// more than its worst case.
func TestBuiltInPrices(t *testing.T) {
	for model, p := range builtIn {
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", model, err)
		}
		if p.In <= 0 || p.Cached > p.In {
			t.Errorf("%s: %+v", model, p)
		}
		for _, in := range []int{1, 99_999, 100_001, 300_000, 900_000} {
			for _, cached := range []int{0, in / 2, in} {
				if got, most := p.Cost(in, cached, in-cached, 1000), p.Worst(in, 1000); got > most+1e-12 {
					t.Errorf("%s: %d in, %d cached costs %v, more than %v", model, in, cached, got, most)
				}
			}
		}
	}
}

func TestPriceCheck(t *testing.T) {
	for _, p := range []Price{{In: -1}, {Out: math.NaN()}, {Cached: math.Inf(1)}, {Above: 5}, {Long: &Price{}}, {Above: -1, Long: &Price{}},
		{Above: 1, Long: &Price{In: -1}}, {Above: 1, Long: &Price{Above: 1, Long: &Price{}}}} {
		if p.Check() == nil {
			t.Errorf("%+v passes", p)
		}
	}
}
