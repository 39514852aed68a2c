package fake

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Peer finds a real agent CLI that can talk to a [Server]: in AMACS_PEERS, as
// `npm install --prefix $AMACS_PEERS/NAME` leaves it there, or on the PATH. It
// skips the test where there is none, or fails it where AMACS_NEED_PEERS is set.
func Peer(t testing.TB, command string) (path string) {
	t.Helper()
	if root := os.Getenv("AMACS_PEERS"); root != "" {
		if path, err := exec.LookPath(filepath.Join(root, command, "node_modules", ".bin", command)); err == nil {
			return path
		}
	}
	path, err := exec.LookPath(command)
	if err != nil {
		if os.Getenv("AMACS_NEED_PEERS") != "" {
			t.Fatalf("%s is not installed, and AMACS_NEED_PEERS is set", command)
		}
		t.Skipf("%s is not installed", command)
	}
	return path
}
