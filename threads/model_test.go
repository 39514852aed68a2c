package threads

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is what a Set should be, told in maps.
type model struct {
	order   []ID
	active  ID
	buffers map[ID]map[string]bool
	skills  map[ID]map[string]bool
}

// TestModel plays random operations on a Set and on the model. After each, both agree, the Set before it is as it
// was, and the two share no memory.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := model{buffers: map[ID]map[string]bool{}, skills: map[ID]map[string]bool{}}
		var s Set
		id := rapid.SampledFrom([]ID{"a", "b", "c", "d", "Not An Id", ""})
		name := rapid.SampledFrom([]string{"x", "y", "z", ""})

		// step applies one operation and says whether it should succeed.
		step := func(t *rapid.T, want bool, op func(Set) (Set, error)) {
			before := s.clone()
			next, err := op(s)
			if (err == nil) != want {
				t.Fatalf("on %+v: error %v, want success %v", s, err, want)
			}
			if !reflect.DeepEqual(s, before) {
				t.Fatalf("the set changed under the operation: %+v, was %+v", s, before)
			}
			if err == nil {
				scribble(next)
				if !reflect.DeepEqual(s, before) {
					t.Fatalf("the new set shares memory with the old")
				}
				next, _ = op(s)
			}
			s = next
		}
		edit := func(of map[ID]map[string]bool, add bool, op func(Set, ID, string) (Set, error)) func(*rapid.T) {
			return func(t *rapid.T) {
				i, n := id.Draw(t, "id"), name.Draw(t, "name")
				ok := slices.Contains(m.order, i) && n != ""
				step(t, ok, func(s Set) (Set, error) { return op(s, i, n) })
				if ok && add {
					of[i][n] = true
				} else if ok {
					delete(of[i], n)
				}
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"create": func(t *rapid.T) {
				i, concern := id.Draw(t, "id"), rapid.SampledFrom([]string{"about", " "}).Draw(t, "concern")
				names := rapid.SliceOfN(name, 0, 4).Draw(t, "buffers")
				ok := len(m.order) < 3 && len(i) == 1 && !slices.Contains(m.order, i) && concern != " "
				step(t, ok, func(s Set) (Set, error) { return s.Create(Thread{ID: i, Concern: concern, Buffers: names}) })
				if ok {
					m.order = append(m.order, i)
					m.buffers[i], m.skills[i] = map[string]bool{}, map[string]bool{}
					for _, n := range names {
						if n != "" {
							m.buffers[i][n] = true
						}
					}
				}
			},
			"switch": func(t *rapid.T) {
				i := id.Draw(t, "id")
				ok := slices.Contains(m.order, i)
				step(t, ok, func(s Set) (Set, error) { return s.Switch(i) })
				if ok {
					m.active = i
				}
			},
			"complete": func(t *rapid.T) {
				i, evidence := id.Draw(t, "id"), rapid.SampledFrom([]string{"seen", ""}).Draw(t, "evidence")
				ok := slices.Contains(m.order, i) && evidence != ""
				step(t, ok, func(s Set) (Set, error) {
					next, done, err := s.Complete(i, evidence, "", 5)
					if err == nil && (done.ID != i || done.Completed != 5) {
						t.Fatalf("completed %+v", done)
					}
					return next, err
				})
				if ok {
					m.order = slices.DeleteFunc(m.order, func(o ID) bool { return o == i })
					if m.active == i {
						m.active = ""
					}
				}
			},
			"add buffer":    edit(m.buffers, true, Set.AddBuffer),
			"remove buffer": edit(m.buffers, false, Set.RemoveBuffer),
			"bind skill":    edit(m.skills, true, Set.BindSkill),
			"unbind skill":  edit(m.skills, false, Set.UnbindSkill),
			"":              func(t *rapid.T) { m.check(t, s) },
		})
	})
}

func (m model) check(t *rapid.T, s Set) {
	if len(s.Open) > MaxOpen || len(s.Open) != len(m.order) || s.Active != m.active {
		t.Fatalf("set %+v, model %+v", s, m)
	}
	for i, open := range s.Open {
		if open.ID != m.order[i] || open.Completed != 0 {
			t.Fatalf("thread %d is %+v, model %v", i, open, m.order)
		}
		if !same(open.Buffers, m.buffers[open.ID]) || !same(open.Skills, m.skills[open.ID]) {
			t.Fatalf("thread %+v, buffers %v, skills %v", open, m.buffers[open.ID], m.skills[open.ID])
		}
	}
}

// same: names has each of want once, and nothing else.
func same(names []string, want map[string]bool) bool {
	for _, n := range names {
		if !want[n] {
			return false
		}
	}
	return len(names) == len(want) && len(distinct(names)) == len(names)
}

// scribble writes over everything a Set points to.
func scribble(s Set) {
	for i := range s.Open {
		for _, names := range [][]string{s.Open[i].Buffers, s.Open[i].Skills} {
			for j := range names {
				names[j] = "scribbled"
			}
		}
		s.Open[i].ID = "scribbled"
	}
}
