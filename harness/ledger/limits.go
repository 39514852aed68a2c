package ledger

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/renameio/v2"
)

// Limit is a rate limit that a provider told. In limits.json they stand by
// provider:
//
//	{"anthropic":[{"kind":"requests","limit":50,"remaining":42,"reset":"2026-11-21T15:00:00Z","seen":"2026-11-21T14:59:31Z"}]}
type Limit struct {
	Kind      string    `json:"kind"` // "requests", "tokens", "input-tokens", "output-tokens"; RetryAfter
	Limit     int       `json:"limit"`
	Remaining int       `json:"remaining"`
	Reset     time.Time `json:"reset"` // when it is whole again
	Seen      time.Time `json:"seen"`  // when it was told; KeepLimits sets it
}

// RetryAfter is the kind of a limit that has only a Reset: before it the
// provider wants no more calls.
const RetryAfter = "retry-after"

const limitsFile = "limits.json"

// KeepLimits remembers what a provider told, in the place of what it told
// before of the same kinds.
func (l *Ledger) KeepLimits(provider string, limits []Limit) error {
	if len(limits) == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), settleWait)
	defer cancel()
	unlock, err := l.lock(ctx)
	if err != nil {
		return fmt.Errorf("keeping the rate limits of %s: %w", provider, err)
	}
	defer unlock()
	all, err := l.limits()
	if err != nil {
		all = map[string][]Limit{} // told again with each call: not worth stopping for
	}
	kept := slices.DeleteFunc(all[provider], func(was Limit) bool {
		return slices.ContainsFunc(limits, func(now Limit) bool { return now.Kind == was.Kind })
	})
	for _, now := range limits {
		now.Seen = l.now()
		kept = append(kept, now)
	}
	slices.SortFunc(kept, func(a, b Limit) int { return strings.Compare(a.Kind, b.Kind) })
	all[provider] = kept
	b, err := json.Marshal(all)
	if err == nil {
		err = renameio.WriteFile(filepath.Join(l.dir, limitsFile), append(b, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping the rate limits of %s: %w", provider, err)
	}
	return nil
}

// Limits are the rate limits that were kept, by provider.
func (l *Ledger) Limits() (map[string][]Limit, error) { return l.limits() }

func (l *Ledger) limits() (map[string][]Limit, error) {
	path := filepath.Join(l.dir, limitsFile)
	all := map[string][]Limit{}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the rate limits: %w", err)
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, fmt.Errorf("%s can not be read (%w); delete it, the next call makes it anew", path, err)
	}
	return all, nil
}
