package agent

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
)

// Merge lays the user's entries over the built-in ones: what one with a known
// name sets replaces that part, a new name is added after the others. The error
// names each entry that can not work.
func Merge(builtin, user []Entry) ([]Entry, error) {
	all := slices.Clone(builtin)
	var wrong []error
	for _, u := range user {
		at := slices.IndexFunc(all, func(e Entry) bool { return e.Name == u.Name })
		if at < 0 {
			at, all = len(all), append(all, Entry{})
		}
		overlay(reflect.ValueOf(&all[at]).Elem(), reflect.ValueOf(u))
		if err := all[at].check(); err != nil {
			wrong = append(wrong, fmt.Errorf("agents: %s: %w", u.Name, err))
		}
	}
	return all, errors.Join(wrong...)
}

// overlay sets each field of a struct that from sets.
func overlay(to, from reflect.Value) {
	for i := range from.NumField() {
		switch f := from.Field(i); {
		case f.Kind() == reflect.Struct:
			overlay(to.Field(i), f)
		case !f.IsZero():
			to.Field(i).Set(f)
		}
	}
}
