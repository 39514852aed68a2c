package org

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
)

// checkTail compares Tail with Parse, for every n that matters.
func checkTail(t *testing.T, src []byte) {
	t.Helper()
	d := Parse(src)
	var tops []int
	for _, h := range d.Headings {
		if h.Level == 1 {
			tops = append(tops, h.Start)
		}
	}
	for n := range min(len(tops), 5) + 2 {
		want := d.Preamble
		if n == 0 {
			want = len(src)
		} else if n <= len(tops) {
			want = tops[len(tops)-n]
		}
		b, at, err := Tail(bytes.NewReader(src), int64(len(src)), n)
		if err != nil || at != int64(want) || !bytes.Equal(b, src[want:]) {
			t.Fatalf("Tail(%d) of %d bytes begins at %d, want %d (%v)", n, len(src), at, want, err)
		}
	}
}

func TestTailAgreesWithParse(t *testing.T) {
	for _, src := range outlines {
		checkTail(t, []byte(src))
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 { // headings on every side of a chunk's edge
		pad := strings.Repeat("x", chunk-12+r.IntN(24))
		checkTail(t, []byte("* a\n"+pad+"\n* b\n** c\n"+pad+"\n* d\n"))
		checkTail(t, []byte("pre\n** a\n"+pad+"\n"+strings.Repeat("*", 1+r.IntN(20))+" b\n"+pad[:chunk-30+r.IntN(18)]))
	}
	checkTail(t, []byte("x\n"+strings.Repeat("*", 3*chunk)+" deep\n* a\n"))
	checkTail(t, []byte(strings.Repeat("*", 3*chunk)))
}

func FuzzTail(f *testing.F) {
	for _, src := range outlines {
		f.Add([]byte(src))
	}
	f.Fuzz(checkTail)
}

// counting counts the bytes read from it.
type counting struct {
	io.ReaderAt
	n int64
}

func (c *counting) ReadAt(b []byte, at int64) (int, error) {
	c.n += int64(len(b))
	return c.ReaderAt.ReadAt(b, at)
}

func TestTailReadsTheEndOnly(t *testing.T) {
	src := large(5 << 20)
	r := &counting{ReaderAt: bytes.NewReader(src)}
	if _, _, err := Tail(r, int64(len(src)), 3); err != nil || r.n > 3*chunk {
		t.Errorf("read %d bytes of %d (%v)", r.n, len(src), err)
	}
	if _, _, err := Tail(bytes.NewReader(src[:100]), 200, 1); !errors.Is(err, io.EOF) {
		t.Errorf("a file shorter than said: %v, want EOF", err)
	}
}

// large is a chat of about size bytes.
func large(size int) []byte {
	var b bytes.Buffer
	b.WriteString("# -*- coding: utf-8 -*-\n")
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "* Tick %d\n:PROPERTIES:\n:TIMESTAMP: 2025-01-02T14:30:00Z\n:END:\n\n** Human\nWhat's causing the ownership error?\n\n** Agent\n%s\n\n", i, strings.Repeat("Looking at main.rs line 45, the issue is this.\n", 10))
	}
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	src := large(5 << 20)
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		Parse(src)
	}
}

func BenchmarkTail(b *testing.B) {
	src := large(5 << 20)
	r := bytes.NewReader(src)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Tail(r, int64(len(src)), 10); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEscape(b *testing.B) {
	text := strings.Repeat("Looking at main.rs line 45, the issue is this: don't *panic*.\n", 100) + "end"
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Unescape(Escape(text))
	}
}
