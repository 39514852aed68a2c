package memory

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// field is one property of a heading.
type field struct {
	key    string
	always bool // written also into a heading that a hand made
	get    func(m *Memory) string
	set    func(m *Memory, v string) // what is not understood changes nothing
}

// fields are the properties in the order in which they are written. SESSION is
// none of them: Emacs takes that one for a setting of code blocks.
var fields = []field{
	word("ID", true, func(m *Memory) *string { return &m.ID }),
	word("KIND", true, func(m *Memory) *string { return &m.Kind }),
	{"SCOPE", true, func(m *Memory) string { return m.Scope.String() }, func(m *Memory, v string) { m.Scope = ParseScope(v) }},
	degree("IMPORTANCE", func(m *Memory) *string { return &m.Importance }),
	degree("TRUST", func(m *Memory) *string { return &m.Trust }),
	{"CONFIDENCE", true, func(m *Memory) string { return number(m.Confidence) }, func(m *Memory, v string) {
		if f, err := strconv.ParseFloat(v, 64); err == nil && f == f {
			m.Confidence = min(max(f, 0), 1)
		}
	}},
	{"STRENGTH", true, func(m *Memory) string { return strconv.Itoa(m.Strength) }, func(m *Memory, v string) {
		if n, err := strconv.Atoi(v); err == nil && n >= 0 {
			m.Strength = n
		}
	}},
	moment("CREATED", true, func(m *Memory) *time.Time { return &m.Created }),
	moment("UPDATED", false, func(m *Memory) *time.Time { return &m.Updated }),
	moment("VERIFIED", false, func(m *Memory) *time.Time { return &m.Verified }),
	word("SOURCE", true, func(m *Memory) *string { return &m.Source }),
	{"TICK", false, func(m *Memory) string {
		if m.Tick == 0 {
			return ""
		}
		return strconv.Itoa(m.Tick)
	}, func(m *Memory, v string) {
		if n, err := strconv.Atoi(v); err == nil && n >= 0 {
			m.Tick = n
		}
	}},
	word("SESSION_ID", false, func(m *Memory) *string { return &m.Session }),
	word("GROUP", false, func(m *Memory) *string { return &m.Group }),
	word("SUPERSEDED_BY", false, func(m *Memory) *string { return &m.SupersededBy }),
	words("SUPERSEDES", func(m *Memory) *[]string { return &m.Supersedes }),
	words("CONTRADICTS", func(m *Memory) *[]string { return &m.Contradicts }),
	words("DERIVED_FROM", func(m *Memory) *[]string { return &m.DerivedFrom }),
	{"RELATES", false, func(m *Memory) string { return writeLinks(m.Relates) }, func(m *Memory, v string) { m.Relates = readLinks(v) }},
	moment("INVALID_AT", false, func(m *Memory) *time.Time { return &m.InvalidAt }),
	word("INVALID_WHY", false, func(m *Memory) *string { return &m.Why }),
}

func word(key string, always bool, at func(m *Memory) *string) field {
	return field{key, always, func(m *Memory) string { return *at(m) }, func(m *Memory, v string) {
		if v != "" {
			*at(m) = v
		}
	}}
}

func degree(key string, at func(m *Memory) *string) field {
	return field{key, true, func(m *Memory) string { return *at(m) }, func(m *Memory, v string) {
		if v = strings.ToLower(v); v == High || v == Medium || v == Low {
			*at(m) = v
		}
	}}
}

func words(key string, at func(m *Memory) *[]string) field {
	return field{key, false, func(m *Memory) string { return strings.Join(*at(m), " ") }, func(m *Memory, v string) {
		if ids := strings.Fields(v); len(ids) > 0 {
			*at(m) = ids
		}
	}}
}

func moment(key string, always bool, at func(m *Memory) *time.Time) field {
	return field{key, always, func(m *Memory) string {
		if at(m).IsZero() {
			return ""
		}
		return writeStamp(*at(m))
	}, func(m *Memory, v string) { *at(m) = readStamp(v) }}
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// plainWeight is the weight of a link that was written without one.
const plainWeight = 0.6

func writeLinks(links []Link) string {
	var out []string
	for _, l := range links {
		out = append(out, l.ID+"="+number(l.Weight))
	}
	return strings.Join(out, " ")
}

func readLinks(s string) (links []Link) {
	for _, w := range strings.Fields(s) {
		l := Link{w, plainWeight}
		if i := strings.LastIndexByte(w, '='); i > 0 {
			if f, err := strconv.ParseFloat(w[i+1:], 64); err == nil && f > 0 && f <= 1 {
				l = Link{w[:i], f}
			}
		}
		links = append(links, l)
	}
	return links
}

// stamp is an Org time stamp with any name of the day, or none, and the
// brackets of either kind.
var stamp = regexp.MustCompile(`[\[<](\d{4}-\d\d-\d\d)(?: +[^\s\d\]>]+)?(?: +(\d?\d:\d\d))?[^\]>]*[\]>]`)

const stampLayout = "[2006-01-02 Mon 15:04]"

func writeStamp(t time.Time) string { return t.Local().Format(stampLayout) }

// readStamp is the time of the first stamp in s, or zero.
func readStamp(s string) time.Time {
	if t, err := time.ParseInLocation(stampLayout, s, time.Local); err == nil {
		return t // as it was written here
	}
	m := stamp.FindStringSubmatch(s)
	if m == nil {
		return time.Time{}
	}
	if m[2] == "" {
		m[2] = "00:00"
	}
	t, _ := time.ParseInLocation("2006-01-02 15:04", m[1]+" "+m[2], time.Local)
	return t
}
