package process

import (
	"fmt"
	"testing"
)

// A program chooses its name, and can not pass for another process by it.
func FuzzReadStat(f *testing.F) {
	f.Add("bash", 12, 1, 12)
	f.Add("a) S 1 2 3 (b", 7, 3, 4)
	f.Add("", 1, 0, 1)
	f.Fuzz(func(t *testing.T, name string, pid, parent, session int) {
		line := fmt.Sprintf("%d (%s) S %d %d %d 0 -1 4194304", pid, name, parent, session, session)
		if got, ok := readStat(pid, []byte(line)); !ok || got != (entry{pid, parent, session}) {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
		readStat(pid, []byte(name))
	})
}
