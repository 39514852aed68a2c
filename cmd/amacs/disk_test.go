package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// onDisk runs a shell script with $DISK, a file system of its own, of some KB,
// where the kernel lets us mount one. A full disk can not be had otherwise: a
// file size limit kills a Go program by SIGXFSZ.
func (w *world) onDisk(kb int, script string) (string, error) {
	w.t.Helper()
	disk := w.temp + "/disk"
	if err := os.MkdirAll(disk, 0o700); err != nil {
		w.t.Fatal(err)
	}
	try := exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", disk)
	if out, err := try.CombinedOutput(); err != nil {
		w.t.Skipf("no file system can be mounted: %v %s", err, out)
	}
	c := exec.Command("unshare", "-rm", "sh", "-c", fmt.Sprintf("mount -t tmpfs -o size=%dk none \"$DISK\" || exit 99\n%s", kb, script))
	c.Dir, c.Env = w.temp, append(w.env, "DISK="+disk, "AMACS_HOME="+disk+"/agent", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	out, err := c.CombinedOutput()
	return string(out), err
}

// TestFullDisk: the disk fills up between and during ticks. Each tick says so,
// with a failing exit code, until there is room; no line that was taken is lost.
func TestFullDisk(t *testing.T) {
	w := newWorld(t)
	flags := strings.Join(w.script(deed), " ")
	out, err := w.onDisk(2048, `
set -u
amacs ask `+flags+` "line zero" > /dev/null 2>&1 || echo "first tick: exit $?"
for leave in 0 4 8 16 24 32 48 64 96; do
	rm -f "$DISK/ballast"
	free=$(df -k --output=avail "$DISK" | tail -1)
	dd if=/dev/zero of="$DISK/ballast" bs=1k count=$((free - leave)) 2> /dev/null
	amacs ask `+flags+` "line $leave" > out 2> errs
	code=$?
	[ $code = 1 ] || [ $code = 5 ] || [ $code = 0 ] || { echo "leave $leave: exit $code"; cat errs; }
	[ $code = 0 ] || grep -q "no space left" errs || { echo "leave $leave: exit $code says"; cat errs; }
	git -C "$AMACS_HOME" fsck --full --strict --no-dangling --no-progress || echo "leave $leave: fsck"
	echo "$leave $code" >> codes
	grep -q "^what you said is kept\|  what you said is kept" errs && echo "line $leave" >> kept
	[ $code = 0 ] && echo "line $leave" >> kept
done
rm -f "$DISK/ballast"
amacs ask `+flags+` "line last" > out 2> errs || { echo "with room: exit $?"; cat errs; }
cp -a "$AMACS_HOME" ./agent
cat codes >&2`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	t.Logf("KB left and exit code: %s", strings.Join(lines, ", "))
	failed := 0
	for _, l := range lines {
		var left, code int
		if n, _ := fmt.Sscanf(l, "%d %d", &left, &code); n != 2 || strings.Count(l, " ") != 1 {
			t.Errorf("%s", out)
			break
		}
		if code != 0 {
			failed++
		}
	}
	if failed == 0 {
		t.Error("the disk was never full")
	}
	w.settled(0)
	w.once(slices.Collect(maps.Keys(w.heard()))...)
	taken, _ := os.ReadFile(w.temp + "/kept") // none, where every line was refused
	w.once(append(strings.Split(strings.TrimSpace(string(taken)), "\n"), "line zero", "line last")...)
}

// TestReadOnly: on a read-only disk those that look work, those that write say
// why they can not.
func TestReadOnly(t *testing.T) {
	w := newWorld(t)
	out, err := w.onDisk(4096, `
amacs ask "line zero" > /dev/null 2>&1 || echo "first tick: exit $?"
git -C "$AMACS_HOME" rev-parse HEAD > before
mount -o remount,ro "$DISK" || exit 99
for look in status log threads notes depth "depth chat 7" "ask hello" init; do
	amacs $look > out 2> errs
	echo "$look: $? $(tr '\n' ' ' < errs)"
done
git -C "$AMACS_HOME" rev-parse HEAD | cmp - before && echo same`)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, look := range []string{"status", "log", "threads", "notes", "depth"} {
		contains(t, "a look", out, look+": 0")
	}
	for _, line := range strings.Split(out, "\n") {
		for _, write := range []string{"depth chat 7", "ask hello"} {
			if strings.HasPrefix(line, write+":") && !strings.Contains(line, "read-only file system") || strings.HasPrefix(line, write+": 0") {
				t.Errorf("on a read-only disk, %s", line)
			}
		}
	}
	contains(t, "git", out, "same")
}

// TestPackedWhileOpen: the user's git gc replaces every object file while a
// prompt is open.
func TestPackedWhileOpen(t *testing.T) {
	w := newWorld(t)
	firstTick(w)
	p := w.start(nil, w.script(said("answer one"), deed, said("answer three"))...)
	for i, answer := range []string{"answer one", "of the reply", "answer three"} {
		p.say(fmt.Sprint("line ", i))
		if !p.until(answer) {
			t.Fatalf("no answer to line %d", i)
		}
		w.git("gc", "-q", "--prune=now")
	}
	if code := p.quit(); code != 0 {
		t.Errorf("exit %d", code)
	}
	w.settled(0)
	w.once("line zero", "line 0", "line 1", "line 2")
}
