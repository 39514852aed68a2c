// Package files reads, lists, searches and changes files outside of the agent's
// mind. Whether that may be done is decided before (package permit); here it is
// done to the very file that the decision spoke of.
//
// Every path is absolute, clean and without a symbolic link on its way. The way
// is opened folder by folder and no link is followed, so that a folder that
// became a link after the decision is an error, ErrMoved, and no way out. The
// same error says that a file is not what it was when its change was planned.
//
// A change is planned first, which touches nothing, and can be shown before it
// is applied:
//
//	c, err := files.PlanEdit("/home/me/x/main.go", "retrun", "return", false)
//	fmt.Print(c.Diff())
//	err = c.Apply()
//
// Text is UTF-8 with plain line ends for whoever reads and edits; on disk the
// file keeps its encoding, its byte order mark and its line ends.
//
//	open.go    the way to a file, without links
//	form.go    bytes to text and back
//	read.go list.go
//	search.go  the walk; pattern.go what is looked for; ignore.go glob.go what is left out
//	plan.go    what a write or an edit would change; edit.go nearest.go
//	change.go  diff and apply
//
// Begin reading at Change.
package files

import "errors"

// ErrMoved says that a path, or the file there, is not what was looked at.
var ErrMoved = errors.New("it is no longer what was looked at; look again")

// Caps.
const (
	MaxText   = 256 << 10 // bytes of text that Read returns
	MaxLines  = 2000      // lines that Read returns
	MaxFile   = 4 << 20   // bytes of a file that is written, edited or searched
	MaxListed = 500       // entries that List returns
	MaxHits   = 100       // lines that Search returns, unless more are asked for
	MaxWidth  = 250       // characters of a line that Search returns
	MaxDiff   = 400       // lines of a diff

	scanned = 16 << 20 // bytes of a file in which Read counts lines
	deepest = 100      // folders in folders, for Search and List
)
