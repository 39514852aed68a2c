package redact

import (
	"regexp"
	"sync"
)

// lazy compiles a regexp when it is first used: a program that redacts nothing
// does not wait for it.
func lazy(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
}

// lazyWords is the same for words.
func lazyWords(list ...string) func() *words {
	return sync.OnceValue(func() *words { return newWords(list) })
}
