package memory

import (
	"time"

	"amacs/org"
)

// Adopt takes up what a hand did to a file of this scope; was is how its
// memories were before, wherever they stood. It returns the new text and the
// memories that changed, in file order:
//
//   - a heading without an id, or with one that is taken (a copy), gets an id
//     and the properties that it lacks; its source is the hand, and where it
//     does not say how far it is trusted, highly;
//   - a memory whose content was edited is trusted highly and counts as checked;
//   - one that was moved here gets this scope.
//
// Nothing else is touched. Taken are the ids of other files; those of this one
// are added, so that one file can be adopted after the other.
func Adopt(src []byte, s Scope, was map[string]Memory, taken map[string]bool, now time.Time) ([]byte, []Memory) {
	now = now.Local().Truncate(time.Minute)
	doc := org.Parse(src)
	here := map[string]bool{}
	for _, h := range doc.Headings {
		here[id(h)] = true
	}
	var changes []change
	var changed []Memory
	for _, h := range headings(doc) {
		m := read(doc, h)
		before, isKnown := was[m.ID]
		isNew := m.ID == "" || taken[m.ID]
		edited := !isNew && isKnown && before.Content != m.Content
		moved := s != (Scope{}) && m.Scope.File() != s.File()
		if isNew {
			if m.ID == "" { // a copy keeps what it has
				if _, ok := h.Prop("TRUST"); !ok {
					m.Trust = High
				}
				if m.Created.IsZero() {
					m.Created = now
				}
			}
			m.ID = NewID(m.Content, now, func(id string) bool { return here[id] || taken[id] })
			m.Source = Hand
		}
		if edited {
			m.Source, m.Trust, m.Confidence, m.Updated, m.Verified = Hand, High, 1, now, now
		}
		if moved {
			m.Scope = s
		}
		taken[m.ID] = true
		if isNew || edited || moved {
			changes = append(changes, change{h, rewrite(doc, h, m, isNew)})
			changed = append(changed, m)
		}
	}
	for id := range here {
		if id != "" {
			taken[id] = true
		}
	}
	return apply(doc, changes), changed
}
