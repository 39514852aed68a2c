package permit

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// value is what a variable may hold, one of several texts.
type value []string

// scope is what is known where a command runs.
type scope struct {
	vars   map[string]value // set in the text; over World.Vars
	local  map[string]bool  // set, but not handed to children
	args   []string         // $1 …
	sure   bool             // args are known
	cwd    []string         // where it may be
	narrow []string         // where it is if the last command, a cd, succeeded
}

func (s *scope) copy() *scope {
	t := *s
	t.vars, t.local = make(map[string]value, len(s.vars)), make(map[string]bool, len(s.local))
	for k, v := range s.vars {
		t.vars[k] = v
	}
	for k := range s.local {
		t.local[k] = true
	}
	t.cwd = slices.Clone(s.cwd)
	t.narrow = nil
	return &t
}

// join makes s what holds if either s or t may.
func (j *judge) join(s, t *scope) {
	for k, v := range t.vars {
		if old, ok := s.vars[k]; ok {
			s.set(k, union(old, v))
		} else {
			s.set(k, union(j.outer(k), v))
		}
		if t.local[k] {
			s.mark(k)
		}
	}
	for k, v := range s.vars {
		if _, ok := t.vars[k]; !ok {
			s.set(k, union(v, j.outer(k)))
		}
	}
	s.cwd = union(s.cwd, t.cwd)
	if !s.sure || !t.sure || !slices.Equal(s.args, t.args) {
		s.args, s.sure = nil, false
	}
}

func (s *scope) set(name string, v value) {
	if s.vars == nil {
		s.vars = map[string]value{}
	}
	s.vars[name] = v
}

func (s *scope) mark(name string) {
	if s.local == nil {
		s.local = map[string]bool{}
	}
	s.local[name] = true
}

// most bounds how many values, words and readings are followed.
const most = 48

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, x := range b {
		if len(x) > longest {
			x = unknown
		}
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	if len(out) > most {
		return append(out[:most:most], unknown)
	}
	return out
}

// outer is what a variable holds before the text sets it.
func (j *judge) outer(name string) value {
	if v, ok := j.Vars[name]; ok {
		if !plain(v) {
			return value{unknown}
		}
		return value{v}
	}
	switch name {
	case "HOME":
		if j.User != "" {
			return value{j.User}
		}
	case "IFS":
		return value{" \t\n"}
	}
	return value{unknown}
}

func (j *judge) lookup(at *scope, name string) value {
	if v, ok := at.vars[name]; ok {
		return v
	}
	switch name {
	case "PWD":
		return at.cwd
	case "?", "#", "$", "!", "-", "RANDOM", "SECONDS", "LINENO", "UID", "EUID", "PPID", "BASHPID", "EPOCHSECONDS", "OPTIND":
		if name == "#" && at.sure {
			return value{strconv.Itoa(len(at.args))}
		}
		return value{"0"}
	case "@", "*":
		if at.sure {
			return value{strings.Join(at.args, " ")}
		}
		return value{unknown}
	}
	if n, err := strconv.Atoi(name); err == nil {
		switch {
		case n == 0 || !at.sure:
			return value{unknown}
		case n <= len(at.args):
			return value{at.args[n-1]}
		}
		return value{""}
	}
	return j.outer(name)
}

// partial is a word half read: fields that are whole, and the one in work.
type partial struct {
	done []string
	cur  string
	open bool // cur is a field even if empty
}

// piece is what one part of a word may be.
type piece struct {
	text   string
	split  bool     // an unquoted expansion: split into fields, with globs
	fields []string // "$@": fields of their own
	many   bool     // fields counts
}

// words are all readings of a list of words, each a list of fields.
func (j *judge) words(list []*syntax.Word, at *scope) [][]string {
	out := [][]string{nil}
	for _, w := range list {
		alts := j.word(w, at)
		if len(out)*len(alts) > most || len(out[0]) > 8*longest {
			alts = [][]string{{unknown}}
		}
		if len(out) == 1 && len(alts) == 1 {
			out[0] = append(out[0], alts[0]...)
			continue
		}
		next := make([][]string, 0, len(out)*len(alts))
		for _, o := range out {
			for _, a := range alts {
				next = append(next, append(slices.Clone(o), a...))
			}
		}
		out = next
	}
	return out
}

// word is all readings of w, each a list of fields.
func (j *judge) word(w *syntax.Word, at *scope) [][]string {
	if w == nil {
		return [][]string{nil}
	}
	if len(w.Parts) == 1 { // the usual case
		if lit, ok := w.Parts[0].(*syntax.Lit); ok && !strings.ContainsAny(lit.Value, `{\*?[`) {
			return [][]string{{lit.Value}}
		}
	}
	ws, ok := braces(w)
	if !ok {
		return [][]string{{unknown}}
	}
	out := [][]string{nil}
	for _, w := range ws {
		alts := j.unbraced(w, at)
		if len(out)*len(alts) > most {
			return [][]string{{unknown}}
		}
		next := make([][]string, 0, len(out)*len(alts))
		for _, o := range out {
			for _, a := range alts {
				next = append(next, append(slices.Clone(o), a...))
			}
		}
		out = next
	}
	return out
}

func (j *judge) unbraced(parts []syntax.WordPart, at *scope) [][]string {
	alts := []partial{{}}
	for _, p := range parts {
		pieces := j.part(p, at, false)
		if len(alts)*len(pieces) > most {
			return [][]string{{unknown}}
		}
		var next []partial
		for _, a := range alts {
			for _, pc := range pieces {
				b := partial{slices.Clone(a.done), a.cur, a.open}
				b.add(pc)
				next = append(next, b)
			}
		}
		alts = next
	}
	out := make([][]string, len(alts))
	for i, a := range alts {
		out[i] = a.done
		if a.open {
			out[i] = append(out[i], a.cur)
		}
	}
	return out
}

// longest bounds a text that is put together.
const longest = 8 << 10

func (a *partial) add(p piece) {
	if len(a.cur)+len(p.text) > longest || len(a.done)+len(p.fields) > 4*most {
		p = piece{text: unknown}
		a.cur = ""
	}
	switch {
	case p.many:
		for i, f := range p.fields {
			if i > 0 {
				a.done = append(a.done, a.cur)
				a.cur = ""
			}
			a.cur += f
			a.open = true
		}
	case !p.split:
		a.cur += p.text
		a.open = true
	default:
		text := globs(p.text)
		for i, r := range text {
			if r != ' ' && r != '\t' && r != '\n' {
				continue
			}
			before := text[:i]
			a.cur += strings.TrimLeft(before, " \t\n")
			if a.cur != "" || a.open {
				a.done = append(a.done, a.cur)
			}
			a.cur, a.open = "", false
			a.add(piece{text: text[i+1:], split: true})
			return
		}
		a.cur += text
		a.open = a.open || text != ""
	}
}

// part is what one part of a word may be.
func (j *judge) part(p syntax.WordPart, at *scope, quoted bool) []piece {
	if j.tooMuch() {
		return []piece{{text: unknown}}
	}
	switch p := p.(type) {
	case *syntax.Lit:
		if quoted {
			return []piece{{text: unescape(p.Value, "$`\"\\")}}
		}
		return []piece{{text: bare(p.Value)}}
	case *syntax.SglQuoted:
		if p.Dollar {
			return []piece{{text: ansi(p.Value)}}
		}
		return []piece{{text: p.Value}}
	case *syntax.DblQuoted:
		alts := []partial{{open: true}}
		for _, q := range p.Parts {
			pieces := j.part(q, at, true)
			if len(alts)*len(pieces) > most {
				return []piece{{text: unknown}}
			}
			var next []partial
			for _, a := range alts {
				for _, pc := range pieces {
					b := partial{slices.Clone(a.done), a.cur, true}
					b.add(pc)
					next = append(next, b)
				}
			}
			alts = next
		}
		var out []piece
		for _, a := range alts {
			if len(a.done) > 0 {
				out = append(out, piece{fields: append(a.done, a.cur), many: true})
			} else {
				out = append(out, piece{text: a.cur})
			}
		}
		return out
	case *syntax.ParamExp:
		return j.param(p, at, quoted)
	case *syntax.CmdSubst:
		return pieces(j.subst(p, at), !quoted)
	case *syntax.ArithmExp:
		j.arithm(p.X, at)
		return []piece{{text: "0"}}
	case *syntax.ProcSubst:
		inner := at.copy()
		j.stmts(p.Stmts, inner, flow{})
		return []piece{{text: "/dev/fd/63"}}
	case *syntax.ExtGlob:
		return []piece{{text: star}}
	}
	return []piece{{text: unknown}}
}

func pieces(v value, split bool) (out []piece) {
	for _, s := range v {
		out = append(out, piece{text: s, split: split})
	}
	return out
}

// subst is what a command substitution may print.
func (j *judge) subst(c *syntax.CmdSubst, at *scope) value {
	inner := at.copy()
	out := j.stmts(c.Stmts, inner, flow{})
	if !out.known {
		return value{unknown}
	}
	return value{strings.TrimRight(out.text, "\n")}
}

func (j *judge) param(p *syntax.ParamExp, at *scope, quoted bool) []piece {
	if p.Param == nil || p.Index != nil || p.Excl || p.NestedParam != nil || p.Flags != nil || p.Width || p.IsSet {
		j.lookInto(p, at)
		return []piece{{text: unknown}}
	}
	name := p.Param.Value
	if p.Length {
		return []piece{{text: "0"}}
	}
	if (name == "@" || name == "*" && !quoted) && at.sure && p.Exp == nil && p.Slice == nil && p.Repl == nil {
		return []piece{{fields: at.args, many: true}}
	}
	v := j.lookup(at, name)
	switch {
	case p.Slice != nil || p.Repl != nil || len(p.Modifiers) > 0:
		j.lookInto(p, at)
		v = value{unknown}
	case p.Exp != nil:
		v = j.expansion(p, v, at)
	}
	return pieces(v, !quoted)
}

func (j *judge) expansion(p *syntax.ParamExp, v value, at *scope) value {
	var word value
	for _, fields := range j.word(p.Exp.Word, at) {
		word = append(word, strings.Join(fields, " "))
	}
	known := !slices.Contains(v, unknown)
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			j.assigned(call{at: at}, at, p.Param.Value, union(v, word))
		}
		if known && !slices.Contains(v, "") {
			return v
		}
		return union(v, word)
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		if !known { // it is something, if the command runs
			return value{unknown + "x" + unknown}
		}
		return v
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		return union(value{""}, word)
	case syntax.RemSmallSuffix, syntax.RemLargeSuffix:
		// ${f%.*}: a name without its end is still below the folder it was in
		if len(v) == 1 && known && len(word) == 1 && strings.HasPrefix(word[0], ".") && !strings.ContainsAny(word[0], "/"+unknown) && strings.Contains(path.Base(v[0]), ".") {
			return value{v[0][:len(v[0])-len(path.Base(v[0]))] + star}
		}
	}
	return value{unknown}
}

// lookInto judges the commands within something that is not worked out.
func (j *judge) lookInto(n syntax.Node, at *scope) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			j.subst(n, at)
			return false
		case *syntax.ProcSubst:
			j.stmts(n.Stmts, at.copy(), flow{})
			return false
		}
		return true
	})
}

// arithm judges an arithmetic expression: what it assigns and what it runs. An
// index may hold a command that bash runs when it reads the variable.
func (j *judge) arithm(x syntax.ArithmExpr, at *scope) {
	if x == nil {
		return
	}
	j.lookInto(x, at)
	syntax.Walk(x, func(n syntax.Node) bool {
		if b, ok := n.(*syntax.BinaryArithm); ok && strings.HasSuffix(b.Op.String(), "=") {
			if w, ok := b.X.(*syntax.Word); ok {
				if name := w.Lit(); name != "" {
					at.set(name, value{unknown})
				}
			}
		}
		if u, ok := n.(*syntax.UnaryArithm); ok {
			if w, ok := u.X.(*syntax.Word); ok && w.Lit() != "" {
				at.set(w.Lit(), value{unknown})
			}
		}
		return true
	})
}

// single is w as one text, as in an assignment or a redirection.
func (j *judge) single(w *syntax.Word, at *scope) value {
	var out value
	for _, fields := range j.word(w, at) {
		out = union(out, value{strings.Join(fields, " ")})
	}
	return out
}

// bare is an unquoted literal: its escapes taken, its globs marked.
func bare(s string) string {
	if !strings.ContainsAny(s, `\*?[`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
		case s[i] == '*' || s[i] == '?':
			b.WriteString(star)
		case s[i] == '[':
			if n := bracket(s[i:]); n > 0 {
				b.WriteString(star)
				i += n - 1
			} else {
				b.WriteByte('[')
			}
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// bracket is the length of the [set] at the beginning of s; 0 is none.
func bracket(s string) int {
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for ; i < len(s); i++ {
		if s[i] == ']' {
			return i + 1
		}
		if s[i] == '/' {
			return 0
		}
	}
	return 0
}

// globs marks the globs of an expansion's text.
func globs(s string) string {
	if !strings.ContainsAny(s, "*?[") {
		return s
	}
	return bare(strings.ReplaceAll(s, `\`, `\\`))
}

// unescape takes the backslashes before the given characters.
func unescape(s, before string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && (strings.IndexByte(before, s[i+1]) >= 0 || s[i+1] == '\n') {
			if i++; s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansi is the text of $'…', and of printf's and echo -e's escapes.
func ansi(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		number := func(base, from, n int) int {
			end := from
			for end < len(s) && end < from+n && strings.IndexByte("0123456789abcdefABCDEF"[:map[int]int{8: 8, 16: 22}[base]], s[end]) >= 0 {
				end++
			}
			v, err := strconv.ParseInt(s[from:end], base, 32)
			if err != nil {
				return -1
			}
			i = end - 1
			return int(v)
		}
		switch c := s[i]; c {
		case 'a', 'b', 'e', 'E', 'f', 'n', 'r', 't', 'v':
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v"[strings.IndexByte("abeEfnrtv", c)])
		case 'x':
			if v := number(16, i+1, 2); v >= 0 {
				b.WriteByte(byte(v))
			}
		case 'u', 'U':
			if v := number(16, i+1, map[byte]int{'u': 4, 'U': 8}[c]); v >= 0 {
				b.WriteRune(rune(v))
			}
		case 'c':
			if i+1 < len(s) {
				i++
				b.WriteByte(s[i] & 0x1f)
			}
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := 3
			if c == '0' {
				n = 4
			}
			b.WriteByte(byte(number(8, i, n)))
		case '\\', '\'', '"', '?':
			b.WriteByte(c)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	if out := b.String(); plain(out) {
		return out
	}
	return unknown
}

// braces are the words that w stands for; false if they are too many.
func braces(w *syntax.Word) ([][]syntax.WordPart, bool) {
	has := false
	for _, p := range w.Parts {
		if lit, ok := p.(*syntax.Lit); ok && strings.Contains(lit.Value, "{") {
			has = true
		}
	}
	if !has {
		return [][]syntax.WordPart{w.Parts}, true
	}
	split := &syntax.Word{Parts: slices.Clone(w.Parts)}
	syntax.SplitBraces(split)
	return unbrace(split.Parts)
}

func unbrace(ps []syntax.WordPart) ([][]syntax.WordPart, bool) {
	out := [][]syntax.WordPart{nil}
	for _, p := range ps {
		alts := [][]syntax.WordPart{{p}}
		if b, ok := p.(*syntax.BraceExp); ok {
			alts = nil
			if b.Sequence {
				alts = sequence(b)
			} else {
				for _, e := range b.Elems {
					inner, ok := unbrace(e.Parts)
					if !ok {
						return nil, false
					}
					alts = append(alts, inner...)
				}
			}
		}
		if len(out)*len(alts) > 4*most {
			return nil, false
		}
		var next [][]syntax.WordPart
		for _, o := range out {
			for _, a := range alts {
				next = append(next, append(slices.Clone(o), a...))
			}
		}
		out = next
	}
	return out, true
}

// sequence is {a..z}: all of a few, or any text for many.
func sequence(b *syntax.BraceExp) (out [][]syntax.WordPart) {
	lit := func(s string) []syntax.WordPart { return []syntax.WordPart{&syntax.SglQuoted{Value: s}} }
	from, to := b.Elems[0].Lit(), b.Elems[1].Lit()
	x, err1 := strconv.Atoi(from)
	y, err2 := strconv.Atoi(to)
	letters := err1 != nil && err2 != nil && len(from) == 1 && len(to) == 1
	if letters {
		x, y = int(from[0]), int(to[0])
	} else if err1 != nil || err2 != nil {
		return [][]syntax.WordPart{{&syntax.Lit{Value: "*"}}}
	}
	if x > y {
		x, y = y, x
	}
	if len(b.Elems) > 2 || y-x > most || y-x < 0 {
		return [][]syntax.WordPart{{&syntax.Lit{Value: "*"}}}
	}
	for ; x <= y; x++ {
		if letters {
			out = append(out, lit(string(rune(x))))
		} else {
			out = append(out, lit(strconv.Itoa(x)))
		}
	}
	return out
}
