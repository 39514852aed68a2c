// Package recall finds what was said: an inverted index over every text of a
// home (memories, findings, notes, chat), and the choice of the few that are
// worth showing. It knows docs and words, no files of the home, no clock and no
// model; vectors are handed in by whoever has them.
//
// An [Index] is a list of segments. A segment holds some docs and never changes;
// a doc that is put again or removed is marked dead where it was and left out
// when segments are merged. Scores are BM25 (Robertson and Zaragoza, "The
// Probabilistic Relevance Framework", 2009) with k1 = 1.2 and b = 0.75. A search
// after any sequence of changes answers as one in a new index of the same docs.
//
// On disk it is one file, a cache that may be deleted at any time. Numbers are
// little-endian:
//
//	amacs-ix            8 bytes
//	version             4 bytes, raised when the format or the splitting of words changes
//	manifest            offset 8, length 8, CRC-32C 4
//	header's checksum   4
//	segments, one after another, then the manifest: the caller's stamp, then
//	offset, length and dead docs of each segment
//
// A segment is the lists of its words, a dictionary in blocks of 64 terms,
// columns of the docs' properties, and a footer that says where each is. A
// cold search reads the header, the footers, one block for each word and the
// lists that it needs. [Index.Save] appends the new segments and a new manifest
// behind what is there and then changes the header, so that a reader sees the
// old state or the new one; every piece has a checksum. What is damaged, cut
// short, of another version or with another stamp is [ErrStale]: build it anew.
//
// The texts are not kept. Begin reading at [Index.Search] in search.go; how a
// text becomes words is in words.go, the choice of what to show in choose.go.
package recall

import (
	"errors"
	"time"
)

// ErrStale says that a cache file is missing, damaged or not of this state of
// the texts, and that the index must be built anew.
var ErrStale = errors.New("the search index must be built anew")

// Doc is one text that can be found.
type Doc struct {
	ID   string // unique in the index
	Text string

	Kind, Scope string
	Source      string // the file that it is from, see [Index.Replace]
	Tags        []string
	Time        time.Time // to the millisecond; zero is unknown

	// Group names the conversation that the doc is a turn of, and Order its
	// place there. A turn is found by what its neighbours say, too. A text that
	// stands by itself has no group.
	Group string
	Order int
}

// Hit is a doc that was found.
type Hit struct {
	ID    string
	Score float64 // comparable within one search only
	Own   float64 // the part of Score that its own words earned
	Cover float64 // 0 to 1: how much of what was asked its own words answer, by the weight of the words
}
