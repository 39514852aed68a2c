package home

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func deedHome(t *testing.T) *Home {
	t.Helper()
	h := &Home{root: t.TempDir()}
	if err := h.makeDirs(); err != nil {
		t.Fatal(err)
	}
	return h
}

func record(t *testing.T, h *Home, d Deed, content string) {
	t.Helper()
	if err := h.Record(context.Background(), d, []byte(content)); err != nil {
		t.Fatal(err)
	}
}

func TestDeeds(t *testing.T) {
	h := deedHome(t)
	if all, err := h.Deeds(); err != nil || len(all) != 0 {
		t.Fatalf("none yet: %v, %v", all, err)
	}
	at := time.Date(2026, 11, 21, 14, 30, 0, 1, time.UTC)
	run := Deed{Tick: 2, At: at, What: "run", Command: "go test ./...", Dir: "/x", Exit: -1}
	record(t, h, Deed{Tick: 1, At: at, What: "edit", Path: "/x/a", After: Sum([]byte("new"))}, "old")
	record(t, h, run, "")
	record(t, h, Deed{Tick: 2, At: at, What: "write", Path: "/x/b", New: true, After: Sum([]byte("b"))}, "")
	record(t, h, Deed{Tick: 2, At: at, What: "write", Path: "/x/empty", After: Sum([]byte("b"))}, "")
	run.Exit = 1
	record(t, h, run, "")

	all, err := h.Deeds()
	if err != nil || len(all) != 4 {
		t.Fatalf("%+v, %v", all, err)
	}
	if all[0].Before != Sum([]byte("old")) || all[1] != run || all[2].Before != "" || all[3].Before != Sum(nil) {
		t.Errorf("%+v", all)
	}
	if b, err := h.Preimage(all[0].Before); err != nil || string(b) != "old" {
		t.Errorf("%q, %v", b, err)
	}
	info, err := os.Stat(h.Path(before + "/" + all[0].Before))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := h.Preimage(Sum([]byte("never"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a preimage that is not there: %v", err)
	}

	// a line cut short by a crash harms no other
	f, err := os.OpenFile(h.Path(deeds), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"tick":3,"what":"ru`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	record(t, h, Deed{Tick: 4, At: at, What: "tool", Command: "notes/list"}, "")
	if all, err = h.Deeds(); err != nil || len(all) != 5 || all[4].Command != "notes/list" {
		t.Errorf("%+v, %v", all, err)
	}
	if err := os.WriteFile(h.Path(before+"/"+all[0].Before), []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Preimage(all[0].Before); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a damaged preimage: %v", err)
	}
}

func TestPreimagesAreBounded(t *testing.T) {
	h := deedHome(t)
	large := strings.Repeat("x", preimageMax+1)
	record(t, h, Deed{Tick: 1, What: "edit", Path: "/x/large"}, large)
	if _, err := h.Preimage(Sum([]byte(large))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a large file: %v", err)
	}
	now := time.Now()
	keep := func(text string, age time.Duration) string {
		record(t, h, Deed{Tick: 1, What: "edit", Path: "/x/" + text}, text)
		if err := os.Chtimes(h.Path(before+"/"+Sum([]byte(text))), now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
		return Sum([]byte(text))
	}
	there := func(sum string) bool { _, err := h.Preimage(sum); return err == nil }
	young, older := keep("young text", time.Hour), keep("older text", 50*time.Hour)
	ancient := keep("ancient text", preimageAge+time.Hour)
	if err := h.sweep(now, preimageSum); err != nil || !there(young) || !there(older) || there(ancient) {
		t.Errorf("by age: %v %v %v, %v", there(young), there(older), there(ancient), err)
	}
	if err := h.sweep(now, 15); err != nil || !there(young) || there(older) {
		t.Errorf("by size: %v %v, %v", there(young), there(older), err)
	}
	// used again, it is young again
	again := keep("again", 80*24*time.Hour)
	record(t, h, Deed{Tick: 2, What: "edit", Path: "/x/again"}, "again")
	if err := h.sweep(now.Add(20*24*time.Hour), preimageSum); err != nil || !there(again) {
		t.Errorf("used again: %v, %v", there(again), err)
	}
}

// The latest deeds are the last of all, however many there are.
func TestLatestDeeds(t *testing.T) {
	h := deedHome(t)
	if got, err := h.LatestDeeds(); err != nil || got != nil {
		t.Fatalf("%v, %v", got, err)
	}
	var lines []byte
	for i := range 3000 {
		lines = fmt.Appendf(lines, `{"tick":%d,"at":"2026-11-21T14:30:00Z","what":"run","command":"%s"}`+"\n", i, strings.Repeat("x", i%50))
	}
	if err := os.WriteFile(h.State("deeds.jsonl"), lines, 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := h.Deeds()
	if err != nil || len(all) != 3000 {
		t.Fatalf("%d deeds, %v", len(all), err)
	}
	last, err := h.LatestDeeds()
	if err != nil || len(last) < 300 || len(last) == len(all) || !slices.Equal(last, all[len(all)-len(last):]) {
		t.Errorf("%d of %d deeds, %v", len(last), len(all), err)
	}
}
