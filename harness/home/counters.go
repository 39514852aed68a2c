package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Counters is .amacs/state/counters.json. It is a memory beside the files, so
// that a reset or revert of the home repeats no number; without it both numbers
// are found again in the home and its history.
type Counters struct {
	Tick       int `json:"tick"`       // the largest that was ever begun
	Generation int `json:"generation"` // grows with each change of the home
}

const counters = stateDir + "/counters.json"

// Counters reads them; zero if there are none yet.
func (h *Home) Counters() (c Counters, err error) {
	b, err := os.ReadFile(h.Path(counters))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("reading the counters: %w", err)
	}
	if json.Unmarshal(b, &c) != nil {
		return Counters{}, nil // cut short by a power failure: found again elsewhere
	}
	return c, nil
}

// Count raises the largest tick to at least tick and the generation by one.
func (tx *Tx) Count(tick int) error {
	c, err := tx.h.Counters()
	if err != nil {
		return err
	}
	c.Tick, c.Generation = max(c.Tick, tick), c.Generation+1
	// Not synced: what a power failure takes is found again in the history. One
	// write of an unchanging length in place, so that readers, who take no lock,
	// never see half of it.
	f, err := os.OpenFile(tx.h.Path(counters), os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "{\"tick\":%10d,\"generation\":%14d}\n", c.Tick, c.Generation)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("writing the counters: %w", err)
	}
	return nil
}
