package permit

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// Words parts the text of a command into a program and its arguments, where that
// needs no shell: quotes are read, and nothing expands. ok is false for a text
// with a variable, a glob, a pipe, a redirection or several commands in it.
func Words(text string) (argv []string, ok bool) {
	f, err := syntax.NewParser().Parse(strings.NewReader(text), "")
	if err != nil || len(f.Stmts) != 1 {
		return nil, false
	}
	s := f.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || len(s.Redirs) > 0 || len(call.Assigns) > 0 {
		return nil, false
	}
	for _, w := range call.Args {
		for _, part := range w.Parts {
			switch p := part.(type) {
			case *syntax.Lit:
				if strings.ContainsAny(p.Value, `*?[~{`) {
					return nil, false
				}
			case *syntax.SglQuoted:
				if p.Dollar {
					return nil, false
				}
			case *syntax.DblQuoted:
				for _, in := range p.Parts {
					if _, ok := in.(*syntax.Lit); !ok || p.Dollar {
						return nil, false
					}
				}
			default:
				return nil, false
			}
		}
	}
	argv, err = expand.Fields(&expand.Config{}, call.Args...)
	return argv, err == nil && len(argv) > 0
}

// Line is a program and its arguments as one would type them.
func Line(argv []string) string {
	words := make([]string, len(argv))
	for i, w := range argv {
		q, err := syntax.Quote(w, syntax.LangBash)
		if err != nil { // a NUL
			q = strconv.Quote(w)
		}
		words[i] = q
	}
	return strings.Join(words, " ")
}
