package consciousness

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode"

	"amacs/consciousness/sexp"
)

// setting is one entry of api-settings.
type setting struct {
	name string
	get  func(API) sexp.Value
	set  func(*API, sexp.Value) (clamped string, err error)
}

// settings are in file order.
var settings = []setting{
	{"temperature", func(a API) sexp.Value { return a.Temperature },
		func(a *API, v sexp.Value) (clamped string, err error) {
			a.Temperature, clamped, err = clampFloat(v, 0, 2)
			return clamped, err
		}},
	{"top-p", func(a API) sexp.Value { return a.TopP },
		func(a *API, v sexp.Value) (clamped string, err error) {
			a.TopP, clamped, err = clampFloat(v, 0, 1)
			return clamped, err
		}},
	{"top-k",
		func(a API) sexp.Value {
			if a.TopK == 0 {
				return sexp.Nil
			}
			return int64(a.TopK)
		},
		func(a *API, v sexp.Value) (clamped string, err error) {
			if a.TopK = 0; v == sexp.Nil {
				return "", nil
			}
			a.TopK, clamped, err = clampWhole(v, 0, 1000)
			return clamped, err
		}},
	{"thinking", func(a API) sexp.Value { return truth(a.Thinking) },
		func(a *API, v sexp.Value) (string, error) {
			a.Thinking = v != sexp.Nil
			return "", nil
		}},
	{"max-tokens", func(a API) sexp.Value { return int64(a.MaxTokens) },
		func(a *API, v sexp.Value) (clamped string, err error) {
			a.MaxTokens, clamped, err = clampWhole(v, 1, 32768)
			return clamped, err
		}},
	{"model", func(a API) sexp.Value { return orNil(a.Model) },
		func(a *API, v sexp.Value) (string, error) {
			name, err := word(v)
			name = strings.TrimSpace(name)
			if err != nil || len(name) > 200 || strings.ContainsFunc(name, unicode.IsControl) {
				return "", fmt.Errorf("%s is not the name of a model, nor nil for the configured one", sexp.Print(v))
			}
			a.Model = name
			return "", nil
		}},
}

func printAPI(s *State) sexp.Value {
	var kv []any
	for _, x := range settings {
		kv = append(kv, x.name, x.get(s.API))
	}
	return alist(kv...)
}

// readAPI takes the settings that v names; the others stay.
func readAPI(s *State, v sexp.Value) (clamped []string, err error) {
	if _, err := sexp.Slice(v); err != nil {
		return nil, fmt.Errorf("%s is not an alist", sexp.Print(v))
	}
	api := s.API
	for _, x := range settings {
		given, ok := sexp.Get(v, sexp.Symbol(x.name))
		if !ok {
			continue
		}
		told, err := x.set(&api, given)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.name, err)
		}
		if told != "" {
			clamped = append(clamped, x.name+": "+told)
		}
	}
	s.API = api
	return clamped, nil
}

// clampFloat reads a number and brings it into its range, which it tells.
func clampFloat(v sexp.Value, low, high float64) (f float64, told string, err error) {
	if f, err = float(v, math.Inf(-1), math.Inf(1)); err != nil {
		return 0, "", fmt.Errorf("%s is not a number from %g to %g", sexp.Print(v), low, high)
	}
	in := min(max(f, low), high)
	return in, outside(v, cmp.Compare(f, in), in), nil
}

// clampWhole is clampFloat for whole numbers.
func clampWhole(v sexp.Value, low, high int) (n int, told string, err error) {
	f, err := float(v, math.Inf(-1), math.Inf(1))
	if err != nil || f != math.Trunc(f) {
		return 0, "", fmt.Errorf("%s is not a whole number from %d to %d", sexp.Print(v), low, high)
	}
	in := min(max(f, float64(low)), float64(high))
	return int(in), outside(v, cmp.Compare(f, in), int64(in)), nil
}

// outside says that in is used for v, which is on one side of the range; "" for
// a v within it.
func outside(v sexp.Value, side int, in sexp.Value) string {
	word := map[int]string{-1: "less", 1: "more"}[side]
	if word == "" {
		return ""
	}
	return fmt.Sprintf("%s is %s than %s, using %[3]s", sexp.Print(v), word, sexp.Print(in))
}
