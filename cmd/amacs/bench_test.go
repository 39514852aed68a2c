package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
)

// BenchmarkStart is the way to the prompt and out again, on an empty home and
// on one with many ticks, in turn; and the memory that a prompt holds while
// nothing happens. 10,000 ticks take minutes to make:
//
//	AMACS_LONG=1 go test ./cmd/amacs -run '^$' -bench Start -benchtime 50x -timeout 60m
func BenchmarkStart(b *testing.B) {
	ticks := 300
	if os.Getenv("AMACS_LONG") != "" {
		ticks = 10000
	}
	bin := filepath.Join(b.TempDir(), "amacs")
	if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
		b.Fatalf("go build: %v: %s", err, out)
	}
	empty, old := filepath.Join(b.TempDir(), "empty"), filepath.Join(b.TempDir(), "old")
	start := func(home, input string) time.Duration {
		cmd := exec.Command(bin, "--home", home)
		cmd.Stdin = strings.NewReader(input)
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("amacs: %v: %s", err, out)
		}
		return time.Since(began)
	}
	start(empty, "")
	var talk strings.Builder
	for i := range ticks {
		fmt.Fprintf(&talk, "tell me of the %dth thing that happened, in a few words\n", i)
	}
	start(old, talk.String())
	var young, aged time.Duration
	for b.Loop() {
		young += start(empty, "")
		aged += start(old, "")
	}
	b.ReportMetric(young.Seconds()*1e3/float64(b.N), "ms/empty")
	b.ReportMetric(aged.Seconds()*1e3/float64(b.N), fmt.Sprintf("ms/%d-ticks", ticks))
	b.ReportMetric(float64(aged)/float64(young), "old/empty")
	b.ReportMetric(idleMB(b, bin, old), "MB-idle")
}

// idleMB is the resident memory of a prompt that waits, in megabytes.
func idleMB(b *testing.B, bin, home string) float64 {
	cmd := exec.Command(bin, "--home", home)
	cmd.Env = append(os.Environ(), "TERM=xterm")
	tty, err := pty.Start(cmd)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { cmd.Process.Kill(); cmd.Wait(); tty.Close() }()
	go io.Copy(io.Discard, tty)
	time.Sleep(time.Second)
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		b.Skip("no /proc here")
	}
	for line := range strings.Lines(string(status)) {
		var kb float64
		if _, err := fmt.Sscanf(line, "VmRSS: %f kB", &kb); err == nil {
			return kb / 1024
		}
	}
	return 0
}
