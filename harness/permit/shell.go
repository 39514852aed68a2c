package permit

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// flow is what goes through a pipe, where it is known.
type flow struct {
	text  string
	known bool
	paths bool // text is paths, one a line, and some of them may be missing
}

// function is a function of the text: every body that its name may have.
type function struct {
	bodies []*syntax.Stmt
	called bool
	active bool
	spawns int // how deep in pipes and background it was called
}

const (
	maxSteps = 8000
	maxDepth = 12
	maxText  = 64 << 10
)

// tooMuch counts the work and stops it.
func (j *judge) tooMuch() bool {
	if j.steps++; j.steps < maxSteps {
		return false
	}
	j.stopped = true
	return true
}

// otherwise finds what sh reads differently from bash.
var otherwise = regexp.MustCompile(`\[\[|&>|>&|\(\(|\$'|\$"|\|&|<\(|>\(|<<<|;&|\{[^}]*[,.]|\bfunction\b|\+=|\+\(|\?\(|@\(|!\(|\*\(`)

// text judges a text as bash reads it, and as sh does if that may differ.
func (j *judge) text(src string, at *scope, in flow, top bool) flow {
	if j.depth++; j.depth > maxDepth || j.tooMuch() || len(src) > maxText {
		j.depth--
		j.blind(call{at: at, argv: []string{src[:min(len(src), 200)]}}, "it is too deep or too long to look into")
		return flow{}
	}
	defer func() { j.depth-- }()
	c := call{at: at, argv: []string{src}}
	if strings.ContainsAny(src, "\x00\r"+star) || top && strings.Contains(src, unknown) {
		j.blind(c, "it holds a character that hides what it means")
		src = strings.NewReplacer("\x00", "", "\r", "", star, "*").Replace(src)
		if top {
			src = strings.ReplaceAll(src, unknown, "")
		}
	}
	var out flow
	variants := []syntax.LangVariant{syntax.LangBash}
	if otherwise.MatchString(src) {
		variants = append(variants, syntax.LangPOSIX)
	}
	for i, lang := range variants {
		f, err := syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(strings.Contains(src, "#"))).Parse(strings.NewReader(src), "")
		if err == nil {
			j.comments(f, src, at)
			s := at
			if i > 0 {
				s = at.copy()
			}
			if got := j.stmts(f.Stmts, s, in); i == 0 {
				out = got
			}
			continue
		}
		if i == 0 {
			j.blind(c, "it can not be read as shell")
		}
		j.pieces(src, at, in, i == 0)
	}
	return out
}

// comments doubts a comment that begins in the middle of a word: the parser sees
// one after `""` or `$()`, where a shell goes on reading.
func (j *judge) comments(f *syntax.File, src string, at *scope) {
	if !strings.Contains(src, "#") {
		return
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.Comment); ok {
			o := int(c.Hash.Offset())
			if o >= len(src) || src[o] != '#' || o > 0 && !strings.ContainsRune(" \t\n;&|(", rune(src[o-1])) {
				j.blind(call{at: at, argv: []string{src}}, "what follows its # may be a comment or not")
				j.probe(strings.TrimLeft(c.Text, ";&|) "), at)
			}
		}
		return true
	})
}

// pieces looks for what is never done in a text that does not parse: a shell
// runs the lines before the fault. If fine is set, lines are cut at their operators
// too, since the fault may be only in how they are joined.
func (j *judge) pieces(src string, at *scope, in flow, fine bool) {
	was := j.probing
	j.probing = true
	defer func() { j.probing = was }()
	lists := [][]string{strings.Split(src, "\n")}
	if fine {
		lists = append(lists, strings.FieldsFunc(src, func(r rune) bool { return strings.ContainsRune("\n;&|(){}", r) }))
	}
	for _, list := range lists {
		for _, piece := range list {
			if f, err := syntax.NewParser().Parse(strings.NewReader(piece), ""); err == nil {
				j.stmts(f.Stmts, at.copy(), in)
			}
		}
	}
}

// probe judges a text for what is never done, and nothing else.
func (j *judge) probe(src string, at *scope) {
	was := j.probing
	j.probing = true
	j.text(src, at.copy(), flow{}, false)
	j.probing = was
}

func (j *judge) stmts(list []*syntax.Stmt, at *scope, in flow) flow {
	out := flow{known: true}
	for i, s := range list {
		got := j.stmt(s, at, in)
		if i == 0 {
			out = got
		} else {
			out = flow{text: out.text + got.text, known: out.known && got.known, paths: out.paths || got.paths}
		}
	}
	return out
}

func (j *judge) stmt(s *syntax.Stmt, at *scope, in flow) flow {
	at.narrow = nil
	if j.tooMuch() {
		return flow{}
	}
	toFile := false
	for _, r := range s.Redirs {
		in, toFile = j.redirect(r, at, in, toFile)
	}
	var out flow
	if s.Background {
		after := at.copy()
		j.spawn(1)
		out = j.cmd(s.Cmd, after, in)
		j.spawn(-1)
		j.join(at, after)
	} else {
		out = j.cmd(s.Cmd, at, in)
	}
	if toFile {
		return flow{known: true}
	}
	return out
}

func (j *judge) spawn(n int) {
	for _, f := range j.funcs {
		if f.active {
			f.spawns += n
		}
	}
}

func (j *judge) redirect(r *syntax.Redirect, at *scope, in flow, toFile bool) (flow, bool) {
	c := call{at: at}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		return j.heredoc(r, at), toFile
	case syntax.WordHdoc:
		v := j.single(r.Word, at)
		if len(v) != 1 || strings.Contains(v[0], unknown) {
			return flow{}, toFile
		}
		return flow{text: strings.ReplaceAll(v[0], star, "*") + "\n", known: true}, toFile
	}
	for _, target := range j.single(r.Word, at) {
		switch r.Op {
		case syntax.RdrIn:
			j.reads(c, target, false)
			in = flow{}
			if target == "/dev/null" {
				in.known = true
			}
		case syntax.DplIn, syntax.DplOut:
			if t := strings.TrimSuffix(target, "-"); strings.Trim(t, "0123456789") == "" {
				continue
			}
			if r.Op == syntax.DplIn {
				j.reads(c, target, false)
				continue
			}
			j.writes(c, target, false)
			toFile = true
		default: // > >> >| &> &>> <>
			j.writes(c, target, false)
			if r.N == nil || r.N.Value == "1" {
				toFile = true
			}
		}
	}
	return in, toFile
}

func (j *judge) heredoc(r *syntax.Redirect, at *scope) flow {
	if r.Hdoc == nil {
		return flow{known: true}
	}
	raw := false
	for _, p := range r.Word.Parts {
		lit, ok := p.(*syntax.Lit)
		raw = raw || !ok || strings.Contains(lit.Value, `\`)
	}
	out := flow{known: true}
	for _, p := range r.Hdoc.Parts {
		lit, ok := p.(*syntax.Lit)
		switch {
		case ok && raw:
			out.text += lit.Value
		case ok:
			out.text += unescape(lit.Value, "$`\\")
		default:
			got := j.part(p, at, true)
			if len(got) != 1 || got[0].many || strings.Contains(got[0].text, unknown) {
				out.known = false
				continue
			}
			out.text += strings.ReplaceAll(got[0].text, star, "*")
		}
	}
	if r.Op == syntax.DashHdoc {
		lines := strings.Split(out.text, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		out.text = strings.Join(lines, "\n")
	}
	return out
}

// maybe judges commands that may run or not.
func (j *judge) maybe(list []*syntax.Stmt, at *scope, in flow) {
	after := at.copy()
	j.stmts(list, after, in)
	j.join(at, after)
}

// loop judges commands that may run often.
func (j *judge) loop(at *scope, body func(*scope)) {
	once := at.copy()
	body(once)
	j.join(at, once)
	twice := at.copy()
	body(twice)
	again := false
	for k, v := range twice.vars {
		if !slices.Equal(union(at.vars[k], v), at.vars[k]) {
			at.set(k, value{unknown})
			again = true
		}
	}
	if len(union(at.cwd, twice.cwd)) > len(at.cwd) {
		at.cwd = union(at.cwd, []string{unknown})
		again = true
	}
	if again {
		body(at.copy())
	}
}

func (j *judge) cmd(x syntax.Command, at *scope, in flow) flow {
	switch x := x.(type) {
	case nil:
		return flow{known: true}
	case *syntax.CallExpr:
		return j.simple(x, at, in)
	case *syntax.Block:
		return j.stmts(x.Stmts, at, in)
	case *syntax.Subshell:
		return j.stmts(x.Stmts, at.copy(), in)
	case *syntax.BinaryCmd:
		return j.binary(x, at, in)
	case *syntax.IfClause:
		for i := x; i != nil; i = i.Else {
			j.stmts(i.Cond, at, in)
			j.maybe(i.Then, at, in)
		}
	case *syntax.WhileClause:
		fed := in
		j.loop(at, func(s *scope) {
			j.stmts(x.Cond, s, fed)
			j.stmts(x.Do, s, fed)
		})
	case *syntax.ForClause:
		j.forLoop(x, at, in)
	case *syntax.CaseClause:
		j.single(x.Word, at)
		for _, item := range x.Items {
			for _, p := range item.Patterns {
				j.single(p, at)
			}
			j.maybe(item.Stmts, at, in)
		}
	case *syntax.FuncDecl:
		j.declare(x)
	case *syntax.ArithmCmd:
		j.arithm(x.X, at)
		j.hidden(x, at)
	case *syntax.LetClause:
		for _, e := range x.Exprs {
			j.arithm(e, at)
		}
		j.hidden(x, at)
	case *syntax.TestClause:
		j.lookInto(x, at)
		j.hidden(x, at)
	case *syntax.DeclClause:
		j.decl(x, at)
	case *syntax.TimeClause:
		if x.Stmt != nil {
			return j.stmt(x.Stmt, at, in)
		}
	case *syntax.CoprocClause:
		j.stmt(x.Stmt, at.copy(), flow{})
	default:
		j.lookInto(x, at)
		j.blind(call{at: at}, "a shell construct that is not known here")
	}
	return flow{}
}

// hidden finds a command in an arithmetic text, which bash would run.
func (j *judge) hidden(n syntax.Node, at *scope) {
	syntax.Walk(n, func(n syntax.Node) bool {
		var s string
		switch n := n.(type) {
		case *syntax.SglQuoted:
			s = n.Value
		case *syntax.Lit:
			s = n.Value
		}
		if strings.Contains(s, "$(") || strings.Contains(s, "`") {
			j.blind(call{at: at, argv: []string{s}}, "a command is hidden in arithmetic")
		}
		return true
	})
}

func (j *judge) binary(x *syntax.BinaryCmd, at *scope, in flow) flow {
	switch x.Op {
	case syntax.AndStmt, syntax.OrStmt:
		j.stmt(x.X, at, in)
		then := at.copy()
		entered := x.Op == syntax.AndStmt && at.narrow != nil
		if entered {
			then.cwd = at.narrow
		}
		j.stmt(x.Y, then, in)
		narrow := then.narrow
		if narrow == nil && entered {
			narrow = then.cwd
		}
		j.join(at, then)
		at.narrow = narrow
		return flow{}
	}
	left, right := at.copy(), at.copy()
	j.spawn(1)
	out := j.stmt(x.X, left, in)
	if x.Op == syntax.PipeAll {
		out = flow{}
	}
	out = j.stmt(x.Y, right, out)
	j.spawn(-1)
	j.join(at, left)
	j.join(at, right)
	return out
}

func (j *judge) forLoop(x *syntax.ForClause, at *scope, in flow) {
	body := func(s *scope) { j.stmts(x.Do, s, in) }
	switch l := x.Loop.(type) {
	case *syntax.WordIter:
		var v value
		for _, fields := range j.words(l.Items, at) {
			v = union(v, fields)
		}
		if !l.InPos.IsValid() && len(l.Items) == 0 {
			if v = at.args; !at.sure {
				v = value{unknown}
			}
		}
		if x.Select {
			v = union(v, value{unknown})
		}
		at.set(l.Name.Value, v)
		at.mark(l.Name.Value)
		j.loop(at, func(s *scope) {
			s.set(l.Name.Value, v)
			body(s)
		})
	case *syntax.CStyleLoop:
		j.hidden(l, at)
		for _, e := range []syntax.ArithmExpr{l.Init, l.Cond, l.Post} {
			j.arithm(e, at)
		}
		j.loop(at, body)
	default:
		j.blind(call{at: at}, "a loop that is not known here")
		j.loop(at, body)
	}
}

func (j *judge) declare(x *syntax.FuncDecl) {
	names := x.Names
	if x.Name != nil {
		names = append(slices.Clone(names), x.Name)
	}
	for _, n := range names {
		f := j.funcs[n.Value]
		if f == nil {
			f = &function{}
			j.funcs[n.Value] = f
		}
		if !slices.Contains(f.bodies, x.Body) && len(f.bodies) < most {
			f.bodies = append(f.bodies, x.Body)
		}
	}
}

// uncalled are the functions that no call has reached, in order.
func (j *judge) uncalled() (out []string) {
	for name, f := range j.funcs {
		if !f.called {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func (j *judge) callFunction(name string, c call, args []string, sure bool) flow {
	f := j.funcs[name]
	f.called = true
	if f.active {
		if f.spawns > 0 {
			j.find(finding{tier: Never, why: "it starts itself without end", kind: "run:fork bomb", words: c.argv, dir: c.dir()})
		} else {
			j.blind(c, "a function that calls itself")
		}
		return flow{}
	}
	f.active, f.spawns = true, 0
	defer func() { f.active = false }()
	was, wasSure := c.at.args, c.at.sure
	c.at.args, c.at.sure = args, sure
	var out flow
	for _, b := range f.bodies {
		out = j.stmt(b, c.at, c.in)
	}
	c.at.args, c.at.sure = was, wasSure
	if len(f.bodies) > 1 {
		return flow{}
	}
	return out
}

// assign works out NAME=value, NAME+=value, NAME[i]=value and NAME=(…).
func (j *judge) assign(a *syntax.Assign, at *scope) (name string, v value) {
	if a.Name != nil {
		name = a.Name.Value
	}
	switch {
	case a.Array != nil:
		for _, e := range a.Array.Elems {
			if e.Value != nil {
				j.single(e.Value, at)
			}
			j.arithm(e.Index, at)
		}
		j.hidden(a, at)
		return name, value{unknown}
	case a.Index != nil:
		j.arithm(a.Index, at)
		j.hidden(a.Index, at)
		if a.Value != nil {
			j.single(a.Value, at)
		}
		return name, value{unknown}
	case a.Value == nil:
		return name, value{""}
	}
	for _, s := range j.single(a.Value, at) {
		v = append(v, strings.ReplaceAll(s, star, "*"))
	}
	if a.Append {
		var all value
		for _, old := range j.lookup(at, name) {
			for _, more := range v {
				all = union(all, value{old + more})
			}
		}
		v = all
	}
	return name, v
}

// decl judges export, declare, local, readonly, typeset and nameref.
func (j *judge) decl(x *syntax.DeclClause, at *scope) {
	c := call{at: at, argv: []string{x.Variant.Value}}
	export := x.Variant.Value == "export"
	flags := ""
	for _, a := range x.Args {
		if !a.Naked {
			continue
		}
		if a.Value == nil {
			continue
		}
		for _, s := range j.single(a.Value, at) {
			switch {
			case strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+"):
				flags += s
			default:
				j.blind(c, "what is declared is worked out later")
			}
		}
	}
	j.ran = append(j.ran, command{words: c.argv, dir: c.dir()})
	export = export || strings.Contains(flags, "x")
	if len(x.Args) == 0 || strings.Contains(flags, "p") && !strings.Contains(flags, "f") {
		if x.Variant.Value != "local" {
			j.find(finding{tier: Ask, why: "it prints all variables", kind: "run:env", words: c.argv, dir: c.dir()})
		}
	}
	for _, a := range x.Args {
		if a.Name == nil {
			continue
		}
		name, v := a.Name.Value, value(nil)
		if a.Naked {
			v = j.lookup(at, name)
			if !export {
				continue
			}
		} else {
			name, v = j.assign(a, at)
		}
		if strings.ContainsAny(flags, "niaA") || x.Variant.Value == "nameref" {
			j.hidden(a, at)
			v = value{unknown}
		}
		j.assigned(c, at, name, v)
		if export {
			for _, s := range v {
				j.exported(c, at, name, s)
			}
			at.set(name, v)
			delete(at.local, name)
		}
	}
}

func (j *judge) simple(x *syntax.CallExpr, at *scope, in flow) flow {
	if len(x.Args) == 0 {
		for _, a := range x.Assigns {
			name, v := j.assign(a, at)
			j.assigned(call{at: at}, at, name, v)
		}
		return flow{known: true}
	}
	readings := j.words(x.Args, at)
	inner := at
	if len(x.Assigns) > 0 {
		inner = at.copy()
		for _, a := range x.Assigns {
			name, v := j.assign(a, inner)
			reader := len(readings) == 1 && len(readings[0]) > 0 && readings[0][0] == "read"
			for _, s := range v {
				if !(name == "IFS" && reader) {
					j.exported(call{at: at, argv: []string{name + "=" + s}}, inner, name, s)
				}
			}
			inner.set(name, v)
			delete(inner.local, name)
		}
	}
	var out flow
	start := inner
	for i, argv := range readings {
		s := start
		if len(readings) > 1 {
			s = start.copy()
		}
		got := j.call(call{argv: argv, at: s, in: in})
		if s != start {
			j.join(inner, s)
		}
		if out = got; i > 0 || len(readings) > 1 {
			out = flow{}
		}
	}
	if inner != at {
		j.join(at, inner)
	}
	return out
}
