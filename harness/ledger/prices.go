package ledger

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"
)

// PricesDate is the day of the newest source of the built-in prices.
const PricesDate = "2026-10-27"

// Price is what a model costs, in USD per million tokens. In config.yaml:
//
//	prices:
//	  my-model: {in: 0.5, cached: 0.05, written: 0.6, out: 2}
//	  my-other: {in: 2, out: 12, above: 200000, long: {in: 4, out: 18}}
//
// Not modelled: cache entries that are kept for longer than the provider's
// shortest span cost more to write, and are not asked for; discounts and
// surcharges of batches, regions and fast lanes.
type Price struct {
	In      float64 // also for Cached and Written where they are 0
	Cached  float64 // input read from a cache
	Written float64 // input written to a cache
	Out     float64 // thinking included
	Above   int     // where the prompt has more tokens than this, Long holds for the whole call; 0 = never
	Long    *Price
}

// Check refuses prices that make no sense.
func (p Price) Check() error {
	for _, usd := range []float64{p.In, p.Cached, p.Written, p.Out} {
		if math.IsNaN(usd) || usd < 0 || usd > maxUSD {
			return fmt.Errorf("%v is no price; it is in USD per million tokens", usd)
		}
	}
	if p.Above < 0 || p.Above > 0 != (p.Long != nil) {
		return errors.New("above (a number of tokens) and long (prices) belong together")
	}
	if p.Long == nil {
		return nil
	}
	if p.Long.Long != nil {
		return errors.New("long has a long of its own")
	}
	return p.Long.Check()
}

// Cost is the price of a call in USD. Cached and written tokens are parts of in.
func (p Price) Cost(in, cached, written, out int) float64 {
	p = p.band(in)
	fresh := max(0, in-cached-written)
	return (float64(fresh)*p.In + float64(cached)*p.Cached + float64(written)*p.Written + float64(out)*p.Out) / 1e6
}

// Worst is the most that a call of so many tokens can cost, however much of it
// a cache takes.
func (p Price) Worst(in, out int) float64 {
	p = p.band(in)
	return (float64(in)*max(p.In, p.Cached, p.Written) + float64(out)*p.Out) / 1e6
}

// band is the price for a prompt of a length, with nothing left out.
func (p Price) band(in int) Price {
	if p.Long != nil && in > p.Above {
		p = *p.Long
	}
	if p.Cached == 0 {
		p.Cached = p.In
	}
	if p.Written == 0 {
		p.Written = p.In
	}
	return p
}

// Prices are the user's own, by model; they go before the built-in ones.
type Prices map[string]Price

var dated = regexp.MustCompile(`(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest|@.*)$`)

// Of finds the price of a model: by its name, by that without a date
// (claude-sonnet-4-5-20250929, gpt-5-2025-08-07, …-latest, …@20250929), and by
// either without the vendor before it (openai/gpt-5). Nothing else is guessed.
func (p Prices) Of(model string) (Price, bool) {
	for _, name := range []string{model, dated.ReplaceAllString(model, ""), bare(model), dated.ReplaceAllString(bare(model), "")} {
		if price, ok := p[name]; ok {
			return price, true
		}
		if price, ok := builtIn[name]; ok {
			return price, true
		}
	}
	return Price{}, false
}

func bare(model string) string {
	_, name, ok := strings.Cut(model, "/")
	if !ok {
		return model
	}
	return name
}

// builtIn are list prices for pay-as-you-go use. A model of which no price was
// found is not here.
var builtIn = map[string]Price{
	// https://platform.claude.com/docs/en/about-claude/pricing and the models'
	// own pages there, 2026-10; cache writes are those of five minutes.
	"claude-fable-5-1":  {In: 10, Cached: 0.25, Written: 12.5, Out: 50},
	"claude-mythos-5-1": {In: 10, Cached: 0.25, Written: 12.5, Out: 50},
	"claude-fable-5":    {In: 10, Cached: 1, Written: 12.5, Out: 50},
	"claude-mythos-5":   {In: 10, Cached: 1, Written: 12.5, Out: 50},
	"claude-opus-5-5":   {In: 4, Cached: 0.2, Written: 5, Out: 20},
	"claude-opus-5":     {In: 5, Cached: 0.5, Written: 6.25, Out: 25},
	"claude-opus-4-8":   {In: 5, Cached: 0.5, Written: 6.25, Out: 25},
	"claude-opus-4-7":   {In: 5, Cached: 0.5, Written: 6.25, Out: 25},
	"claude-opus-4-6":   {In: 5, Cached: 0.5, Written: 6.25, Out: 25},
	"claude-opus-4-5":   {In: 5, Cached: 0.5, Written: 6.25, Out: 25},
	"claude-opus-4-1":   {In: 15, Cached: 1.5, Written: 18.75, Out: 75},
	"claude-sonnet-5-5": {In: 2, Cached: 0.1, Written: 2.5, Out: 10},
	"claude-sonnet-5":   {In: 2, Cached: 0.2, Written: 2.5, Out: 10},
	"claude-sonnet-4-6": {In: 3, Cached: 0.3, Written: 3.75, Out: 15},
	"claude-sonnet-4-5": {In: 3, Cached: 0.3, Written: 3.75, Out: 15},
	"claude-haiku-5-5": {In: 0.1, Cached: 0.01, Written: 0.125, Out: 0.5,
		Above: 100_000, Long: &Price{In: 0.5, Cached: 0.05, Written: 0.625, Out: 2.5}},
	"claude-haiku-4-5": {In: 1, Cached: 0.1, Written: 1.25, Out: 5},

	// https://developers.openai.com/api/docs/pricing as told on 2026-09-22 …
	// 2026-10-27 by https://docs.litellm.ai/blog/gpt_6_sol_luna, …/gpt-6-1-terra
	// and release notes that cite it.
	"gpt-6-astra":   openAILong(10, 1, 12.5, 50),
	"gpt-6-sol":     openAILong(2, 0.2, 2.5, 10),
	"gpt-6-luna":    openAILong(0.1, 0.01, 0.125, 0.5),
	"gpt-6.1-sol":   openAILong(2, 0.1, 2.5, 10),
	"gpt-6.1-terra": openAILong(1, 0.05, 1.25, 5),
	// https://docs.apiyi.com/models (gpt-5.6-sol after its reduction) and
	// https://github.com/github/docs data/tables/copilot/models-and-pricing.yml, 2026-10.
	"gpt-5.6":       openAILong(4, 0.4, 5, 20),
	"gpt-5.6-sol":   openAILong(4, 0.4, 5, 20),
	"gpt-5.6-terra": openAILong(2, 0.2, 2.5, 12),
	"gpt-5.6-luna":  openAILong(0.2, 0.02, 0.25, 1.2),
	"gpt-5.5":       openAILong(5, 0.5, 0, 30),
	"gpt-5.4":       openAILong(2.5, 0.25, 0, 15),
	"gpt-5.4-mini":  {In: 0.75, Cached: 0.075, Out: 4.5},
	"gpt-5.4-nano":  {In: 0.2, Cached: 0.02, Out: 1.25},
	"gpt-5.3-codex": {In: 1.75, Cached: 0.175, Out: 14},
	"gpt-5.2":       {In: 1.75, Cached: 0.175, Out: 14},
	"gpt-5-mini":    {In: 0.25, Cached: 0.025, Out: 2},
	"gpt-4.1":       {In: 2, Cached: 0.5, Out: 8},
	// https://developers.openai.com/api/docs/models/text-embedding-3-large, read 2026-11.
	"text-embedding-3-large": {In: 0.13},
	"text-embedding-3-small": {In: 0.02},

	// https://ai.google.dev/gemini-api/docs/pricing as read on 2026-10-07 by
	// https://github.com/api-evangelist/deepmind. Gemini 3.8 Flash is half of this
	// until 2026-12-31.
	"gemini-3.8-flash":       {In: 1.5, Out: 7.5},
	"gemini-3.5-flash":       {In: 1.5, Cached: 0.15, Out: 9},
	"gemini-3.5-flash-lite":  {In: 0.3, Out: 2.5},
	"gemini-3.1-pro-preview": {In: 2, Cached: 0.2, Out: 12, Above: 200_000, Long: &Price{In: 4, Cached: 0.4, Out: 18}},
}

// openAILong is a model of which prompts of more than 272,000 tokens cost twice
// the input and one and a half times the output. For gpt-6-astra that it costs
// more is documented, and the rule taken from its siblings.
func openAILong(in, cached, written, out float64) Price {
	return Price{In: in, Cached: cached, Written: written, Out: out, Above: 272_000,
		Long: &Price{In: 2 * in, Cached: 2 * cached, Written: 2 * written, Out: 1.5 * out}}
}
