package consciousness

import "amacs/consciousness/sexp"

// WithTick makes the text of a consciousness.el say that the last tick was this
// one. No other byte changes.
func WithTick(src []byte, tick int) ([]byte, error) {
	alist, err := find(src)
	if err != nil {
		return nil, err
	}
	if _, value := sexp.Entry(alist, "current-tick"); value != nil && sexp.Equal(value.Value, int64(tick)) {
		return src, nil
	}
	return sexp.SetEntry(src, alist, "current-tick", int64(tick)), nil
}
