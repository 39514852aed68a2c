package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// month is what the lines of one file come to, up to Offset. It is kept from
// call to call and, in sums.json, from process to process, so that a line is
// read once.
type month struct {
	Offset  int64                       `json:"offset"`            // bytes that were read
	Lines   int                         `json:"lines"`             // lines that were read
	Print   uint32                      `json:"print"`             // of the last bytes before Offset: is it still the same file?
	Days    map[string]map[Source]tally `json:"days,omitempty"`    // what was spent here
	Carried map[string]map[string]tally `json:"carried,omitempty"` // what another history tells, by "source model"
	Open    map[string]booking          `json:"open,omitempty"`    // what is not settled, by id
	Warned  map[string][]string         `json:"warned,omitempty"`  // caps that a warning was given of, by day
	Pending []pending                   `json:"pending,omitempty"` // calls beside the ticks that no commit has named
	Broken  []int                       `json:"broken,omitempty"`  // numbers of lines that can not be read

	checked bool             // the print was compared since it came from sums.json
	whole   map[Source]tally // the sum of all days; nil = to be made
}

// booking is where a reservation was counted.
type booking struct {
	Day    string `json:"day"`
	Source Source `json:"source"`
	Tally  tally  `json:"tally"`
}

// pending is a call that no commit has named, with the end of its line.
type pending struct {
	End    int64  `json:"end"`
	Day    string `json:"day"`
	Source Source `json:"source"`
	Model  string `json:"model"`
	Tally  tally  `json:"tally"`
}

func newMonth() *month {
	return &month{Days: map[string]map[Source]tally{}, Carried: map[string]map[string]tally{},
		Open: map[string]booking{}, Warned: map[string][]string{}}
}

// printed is how many bytes before Offset the print is made of.
const printed = 256

// read takes in what was appended to the file since, whole lines only. A file
// that is not the one that was read before is read anew.
func (m *month) read(path, name string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	size := info.Size()
	if size == m.Offset && (m.checked || size == 0) {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if m.Offset > 0 {
		print, err := fingerprint(f, m.Offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err != nil || size < m.Offset || print != m.Print {
			*m = *newMonth()
		}
	}
	m.checked = true
	tail := make([]byte, size-m.Offset)
	if n, err := f.ReadAt(tail, m.Offset); err != nil {
		if !errors.Is(err, io.EOF) {
			return err
		}
		tail = tail[:n] // cut back by a writer that failed, meanwhile
	}
	end := bytes.LastIndexByte(tail, '\n') + 1
	for rest := tail[:end]; len(rest) > 0; {
		n := bytes.IndexByte(rest, '\n') + 1
		m.Lines, m.Offset = m.Lines+1, m.Offset+int64(n)
		m.take(rest[:n-1], name)
		rest = rest[n:]
	}
	if end > 0 {
		m.whole = nil
		if m.Print, err = fingerprint(f, m.Offset); err != nil {
			return err
		}
	}
	return nil
}

func fingerprint(f io.ReaderAt, end int64) (uint32, error) {
	b := make([]byte, min(end, printed))
	if _, err := f.ReadAt(b, end-int64(len(b))); err != nil {
		return 0, err
	}
	return crc32.ChecksumIEEE(b), nil
}

// take counts one line.
func (m *month) take(b []byte, name string) {
	if len(b) == 0 || bytes.HasSuffix(b, torn) {
		return
	}
	l, err := parse(b, name)
	if err != nil {
		m.Broken = append(m.Broken, m.Lines)
		return
	}
	day, t := l.day(), l.tally()
	switch l.Kind {
	case reserve:
		m.add(day, l.Source, t)
		m.Open[l.ID] = booking{day, l.Source, t}
		if len(l.Warned) > 0 {
			m.Warned[day] = append(m.Warned[day], l.Warned...)
		}
	case settle:
		if was, ok := m.Open[l.ID]; ok {
			m.add(was.Day, was.Source, tally{}.minus(was.Tally))
			delete(m.Open, l.ID)
		}
		m.add(day, l.Source, t)
		if !l.Source.Tick() {
			m.Pending = append(m.Pending, pending{m.Offset, day, l.Source, l.name(), t})
		}
	case carry:
		if m.Carried[day] == nil {
			m.Carried[day] = map[string]tally{}
		}
		m.Carried[day][carryKey(l.Source, l.Model)] = t
	case reported:
		m.Pending = slices.DeleteFunc(m.Pending, func(p pending) bool { return p.End <= l.Through })
	}
}

func (m *month) add(day string, s Source, t tally) {
	if m.Days[day] == nil {
		m.Days[day] = map[Source]tally{}
	}
	m.Days[day][s] = m.Days[day][s].plus(t)
}

// name is a model with its provider.
func (l *line) name() string {
	if l.Provider == "" {
		return l.Model
	}
	return l.Provider + ":" + l.Model
}

// torn marks the remains of a line that a crash cut short.
var torn = []byte("#torn")

// pathOf is the file of a month.
func (l *Ledger) pathOf(name string) string { return filepath.Join(l.dir, name+".jsonl") }

// Broken is a line of the ledger that can not be read. It is not counted.
type Broken struct {
	File string `json:"file"`
	Line int    `json:"line"`
}

func (b Broken) Error() string {
	return fmt.Sprintf("the ledger's line %s:%d can not be read and is not counted; mend it, or delete it", b.File, b.Line)
}

// broken lists the lines that can not be read.
func (l *Ledger) broken() (out []Broken) {
	for _, name := range l.names() {
		for _, n := range l.months[name].Broken {
			out = append(out, Broken{l.pathOf(name), n})
		}
	}
	return out
}

// newlyBroken tells each of them once.
func (l *Ledger) newlyBroken() (out []string) {
	for _, b := range l.broken() {
		if !l.told[b] {
			l.told[b] = true
			out = append(out, b.Error())
		}
	}
	return out
}

// names are the months that are there, the oldest first.
func (l *Ledger) names() []string {
	var names []string
	for name := range l.months {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// refresh reads what was appended since the last time, by whomever.
func (l *Ledger) refresh() error {
	if l.months == nil {
		l.load()
	}
	entries, err := os.ReadDir(l.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	there := map[string]bool{}
	for _, e := range entries {
		name, ok := monthFile(e.Name())
		if !ok {
			continue
		}
		there[name] = true
		if l.months[name] == nil {
			l.months[name] = newMonth()
		}
		if err := l.months[name].read(l.pathOf(name), name); err != nil {
			return fmt.Errorf("reading the ledger: %w", err)
		}
	}
	for name := range l.months {
		if !there[name] {
			delete(l.months, name)
		}
	}
	return nil
}

// monthFile is the month that a file is of.
func monthFile(file string) (name string, ok bool) {
	if len(file) != len("2006-01.jsonl") || file[7:] != ".jsonl" || file[4] != '-' {
		return "", false
	}
	for _, c := range file[:4] + file[5:7] {
		if c < '0' || c > '9' {
			return "", false
		}
	}
	return file[:7], true
}
