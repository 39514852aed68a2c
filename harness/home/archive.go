package home

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"amacs/org"
)

// Sizes in bytes of the files that change at every tick. A commit stores each
// changed file whole, so its cost is theirs.
const (
	calmSize = 32 << 10 // above it, what no depth shows moves to the archive
	fullSize = 64 << 10 // above it, what the depths show moves too
	restSize = 16 << 10 // what is left after a move
	partSize = 16 << 10 // a smaller segment is not worth a commit
	// AskSize is where the scratchpad, which is never archived unasked, is
	// mentioned to the human.
	AskSize = 256 << 10
)

// The write-once segments: archive/agent-chat/00042-00097.org holds exchanges
// of ticks 42 to 97, archive/monologue/… thoughts. A second segment of the same
// ticks, as a revert can bring about, is called 00042-00097-2.org.
const (
	chatArchive      = "archive/agent-chat"
	monologueArchive = "archive/monologue"
	threadArchive    = "archive/threads.org"
)

var segmentName = regexp.MustCompile(`^(\d{1,9})-(\d{1,9})(?:-\d+)?\.org$`)

// Conversation is at least the last n exchanges, by tick, oldest first, where
// there are so many: read on into the archive where the chat file holds fewer.
func (d *Draft) Conversation(n int) ([]Exchange, error) {
	return readOn(d, n, Chat, chatArchive, Exchanges, func(e Exchange) int { return e.Tick })
}

// Monologue is at least the last n thoughts, in the same way.
func (d *Draft) Monologue(n int) ([]Thought, error) {
	return readOn(d, n, Monologue, monologueArchive, Thoughts, func(t Thought) int { return t.Tick })
}

// readOn reads the entries of a file, then those of its segments, newest first,
// until none of the last n can be missing.
func readOn[E any](d *Draft, n int, file, dir string, parse func([]byte) []E, tick func(E) int) ([]E, error) {
	src, err := d.Bytes(file)
	if err != nil {
		return nil, err
	}
	all := parse(src)
	segments, err := d.segments(dir)
	if err != nil {
		return nil, err
	}
	byTick := func(a, b E) int { return cmp.Compare(tick(a), tick(b)) }
	for {
		slices.SortStableFunc(all, byTick)
		if len(segments) == 0 || n <= 0 || len(all) >= n && tick(all[len(all)-n]) > segments[0].last {
			return all, nil
		}
		b, err := fs.ReadFile(d.disk, segments[0].path)
		if err != nil {
			return nil, fmt.Errorf("reading the archive: %w", err)
		}
		all = append(parse(b), all...)
		segments = segments[1:]
	}
}

type segment struct {
	path string
	last int // tick
}

// segments lists those of an archive folder, newest first.
func (d *Draft) segments(dir string) (found []segment, err error) {
	entries, err := fs.ReadDir(d.disk, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the archive: %w", err)
	}
	for _, e := range entries {
		if m := segmentName.FindStringSubmatch(e.Name()); m != nil {
			last, _ := strconv.Atoi(m[2])
			found = append(found, segment{path.Join(dir, e.Name()), last})
		}
	}
	slices.SortStableFunc(found, func(a, b segment) int { return cmp.Compare(b.last, a.last) })
	return found, nil
}

// Grown reports whether the chat, the monologue or the requests are so large that
// there may be something to move.
func (h *Home) Grown() bool {
	for path, most := range map[string]int64{Chat: calmSize, Monologue: calmSize, Permissions: fullSize} {
		if info, err := os.Stat(h.Path(path)); err == nil && info.Size() > most {
			return true
		}
	}
	return false
}

// Archive moves the oldest entries of the chat and the monologue to segments of
// their own when those files have grown. Only whole entries move that are
// answered and just as they were written; chatDepth and thoughtDepth say how
// many of the newest are shown to the agent and stay while there is room. It
// returns what it moved, in words, "" for nothing.
func (d *Draft) Archive(chatDepth, thoughtDepth int) (string, error) {
	var moved []string
	for _, a := range []struct {
		file, dir, title string
		pieces           func([]byte) []piece
		depth            int
	}{
		{Chat, chatArchive, "Conversation", chatPieces, chatDepth},
		{Monologue, monologueArchive, "Monologue", monologuePieces, thoughtDepth},
	} {
		src, err := d.Bytes(a.file)
		if err != nil || len(src) <= calmSize {
			continue // a damaged file is named where it is read
		}
		left, taken, first, last := part(src, a.pieces(src), a.depth)
		if len(taken) == 0 {
			continue
		}
		ticks := fmt.Sprintf("ticks %d to %d", first, last)
		head := strings.ReplaceAll(fmt.Sprintf("%s#+TITLE: %s, %s\n\n", orgHead, a.title, ticks), "\n", eol(src))
		if err := d.putSegment(fmt.Sprintf("%s/%05d-%05d", a.dir, first, last), head+string(taken)); err != nil {
			return "", err
		}
		if err := d.Put(a.file, left); err != nil {
			return "", err
		}
		moved = append(moved, a.file+", "+ticks)
	}
	return strings.Join(moved, ", "), nil
}

// putSegment writes a segment under a name that is free; one that is there
// already, to the byte, is not written twice.
func (d *Draft) putSegment(name, text string) error {
	for n := 1; ; n++ {
		path := name + ".org"
		if n > 1 {
			path = fmt.Sprintf("%s-%d.org", name, n)
		}
		switch b, err := d.Bytes(path); {
		case err == nil && b == nil:
			return d.Put(path, []byte(text))
		case string(b) == text:
			return nil
		case n == 1000:
			return fmt.Errorf("writing %s: there are %d segments of these ticks already", path, n)
		}
	}
}

// piece is a stretch of a file that is one entry.
type piece struct {
	start, end int
	tick       int
	movable    func() bool // asked only of those that are to move
}

func chatPieces(src []byte) (pieces []piece) {
	doc := org.Parse(src)
	for _, h := range doc.Top() {
		tick, _ := tickOf(h)
		pieces = append(pieces, piece{h.Start, h.End, tick, func() bool {
			e, ok := exchange(doc, h)
			raw := bytes.TrimRight(bytes.ReplaceAll(src[h.Start:h.End], []byte("\r\n"), []byte("\n")), "\n")
			return ok && !e.Pending() && e.Print() == string(raw)+"\n"
		}})
	}
	return pieces
}

func monologuePieces(src []byte) (pieces []piece) {
	at := 0
	for line := range bytes.Lines(src) {
		if ts := Thoughts(line); len(ts) > 0 {
			pieces = append(pieces, piece{at, at + len(line), ts[0].Tick, func() bool { return bytes.HasSuffix(line, []byte("\n")) }})
		}
		at += len(line)
	}
	return pieces
}

// part takes pieces out of a file, oldest first, until it is small. It takes
// none where that would not be worth a segment.
func part(src []byte, pieces []piece, depth int) (left, taken []byte, first, last int) {
	stay := depth
	if len(src) > fullSize {
		stay = 1
	}
	pieces = pieces[:max(0, len(pieces)-stay)]
	worth := func(n int) bool { return n >= partSize || len(src) > fullSize && len(src)-n <= fullSize }
	if n := len(pieces); n == 0 || !worth(pieces[n-1].end-pieces[0].start) {
		return nil, nil, 0, 0
	}
	at, size := 0, len(src)
	for _, p := range pieces {
		if size <= restSize {
			break
		}
		if !p.movable() {
			continue
		}
		left = append(left, src[at:p.start]...)
		taken = append(taken, src[p.start:p.end]...)
		at, size = p.end, size-(p.end-p.start)
		if first == 0 {
			first = p.tick
		}
		last = max(last, p.tick)
	}
	if !worth(len(taken)) {
		return nil, nil, 0, 0
	}
	return append(left, src[at:]...), taken, first, last
}
