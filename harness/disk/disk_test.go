package disk_test

import (
	"os"
	"path/filepath"
	"testing"

	"amacs/harness/disk"
)

func TestSync(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if err := disk.Stage(paths...); err != nil {
		t.Errorf("Stage: %v", err)
	}
	if err := disk.Sync(append(paths, dir, filepath.Join(dir, "gone"))...); err != nil {
		t.Errorf("Sync: %v", err)
	}
	if err := disk.Sync("/dev/null/x"); err == nil {
		t.Error("Sync of a path that can not be opened: no error")
	}
}

// Files made durable together, against one after the other.
func BenchmarkSync(b *testing.B) {
	dir := b.TempDir()
	write := func() (paths []string) {
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, make([]byte, 8000), 0o600); err != nil {
				b.Fatal(err)
			}
			paths = append(paths, path)
		}
		return paths
	}
	b.Run("together", func(b *testing.B) {
		for b.Loop() {
			if err := disk.Sync(write()...); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("each", func(b *testing.B) {
		for b.Loop() {
			for _, path := range write() {
				f, err := os.Open(path)
				if err != nil {
					b.Fatal(err)
				}
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		}
	})
}
