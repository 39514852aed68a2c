package sexp

import (
	"slices"
	"strings"
	"testing"
)

const mind = `;; -*- lexical-data -*-
'((identity . "amacs-instance-1") ; who

  ;; Affective (agent-controlled)
  (mood . "focused")   ; how it feels
  (buffers "a" "b") (empty)
  (budget .
    ((cost . 0.15)
     (pressure . low)))) ; end
`

func parseOne(t testing.TB, src []byte) *Node {
	t.Helper()
	nodes, err := Parse(src)
	if err != nil || len(nodes) == 0 {
		t.Fatalf("parsing %q: %v", src, err)
	}
	return nodes[0]
}

func TestSetEntry(t *testing.T) {
	for _, c := range []struct{ src, key, value, want string }{
		{mind, "mood", `"glad"`, strings.Replace(mind, `"focused"`, `"glad"`, 1)},
		{mind, "mood", `"focused"`, mind},
		{mind, "buffers", `("a" "b")`, mind},
		{mind, "buffers", `("c")`, strings.Replace(mind, `"a" "b"`, `. ("c")`, 1)},
		{mind, "empty", `7`, strings.Replace(mind, `(empty)`, `(empty . 7)`, 1)},
		{mind, "empty", `nil`, mind},
		{mind, "budget", `((cost . 1))`, strings.Replace(mind, "((cost . 0.15)\n     (pressure . low))", "((cost . 1))", 1)},
		{mind, "new", `"l1\nl2"`, strings.Replace(mind, "low)))) ; end", "low)))\n  (new . \"l1\\nl2\")) ; end", 1)},
		{mind, "deep", `((a . 1) (b . 2))`, strings.Replace(mind, "low)))) ; end", "low)))\n  (deep .\n    ((a . 1)\n     (b . 2)))) ; end", 1)},
		{"nil", "a", "1", "((a . 1))"},
		{"()", "a", "1", "((a . 1))"},
		{"'( ; c\n)", "a", "1", "'((a . 1) ; c\n)"},
		{"((a . 1))", "b", "2", "((a . 1) (b . 2))"},
		{"((a . 1) . x)", "b", "2", "((a . 1) (b . 2) . x)"},
		{"((a . 1)\r\n (b . 2) ; b\r\n)", "c", "3", "((a . 1)\r\n (b . 2) ; b\r\n (c . 3)\r\n)"},
		{`((a ."x"))`, "a", "y", `((a . y))`},
		{`((a x . y))`, "a", "z", `((a . z))`},
		{"((a . 1) (a . 2))", "a", "3", "((a . 3) (a . 2))"},
		{"(x [a 1] (b))", "a", "1", "(x [a 1] (b) (a . 1))"},
	} {
		v, _, err := Read(c.value)
		if err != nil {
			t.Fatal(err)
		}
		src := []byte(c.src)
		got := SetEntry(src, parseOne(t, src), Symbol(c.key), v)
		if string(got) != c.want {
			t.Errorf("set %s to %s in %q:\n got %q\nwant %q", c.key, c.value, c.src, got, c.want)
		}
		if string(src) != c.src {
			t.Errorf("SetEntry changed its argument %q", c.src)
		}
	}
}

func TestReplace(t *testing.T) {
	for _, c := range []struct {
		src  string
		i    int
		text string
		want string
	}{
		{"(a b c)", 1, "x", "(a x c)"},
		{`(a"b"c)`, 1, "x", "(a x c)"},
		{`("a""b")`, 0, `"x"`, `("x""b")`},
		{`(?("b")`, 1, "x", "(?( x)"},
		{`(\'"b"c)`, 1, "x", `(\' x c)`},
		{`(? "b")`, 1, "x", "(?  x)"},
		{"[a;c\nb]", 0, "x", "[x;c\nb]"},
		{"(a . b)", 1, "(b c)", "(a . (b c))"},
		{"'a", 0, "(b)", "'(b)"},
		{",a", 0, "@b", ", @b"},
		{`("a"#'b)`, 0, "c", "(c #'b)"},
	} {
		src := []byte(c.src)
		got := Replace(src, parseOne(t, src).Kids[c.i], c.text)
		if string(got) != c.want {
			t.Errorf("replace %d of %q: got %q, want %q", c.i, c.src, got, c.want)
		}
	}
}

func TestInsertAfter(t *testing.T) {
	for _, c := range []struct {
		src  string
		i    int
		want string
	}{
		{"(a b)", -1, "(X a b)"}, {"(a b)", 0, "(a X b)"}, {"(a b)", 1, "(a b X)"}, {"(a b)", 9, "(a b X)"},
		{"()", -1, "(X)"}, {"nil", 0, "(X)"}, {"[]", 0, "[X]"}, {"[a]", 0, "[a X]"}, {"a", 0, "a"},
		{"(a . b)", 0, "(a X . b)"}, {"(a . b)", 1, "(a X . b)"}, {`("a". b)`, 0, `("a" X . b)`},
		{"(a\n b ; note\n c)", 0, "(a\n X\n b ; note\n c)"},
		{"(a\n b ; note\n c)", 1, "(a\n b ; note\n X\n c)"},
		{"(a\n b ; note\n)", 1, "(a\n b ; note\n X\n)"},
		{"(a\n b c\n d)", 1, "(a\n b X c\n d)"},
		{"(a ; note\n)", 0, "(a X ; note\n)"},
		{"(a\n b)", -1, "(X\n a\n b)"},
		{"( ; note\n a)", -1, "(X  ; note\n a)"},
		{"(a\r\n\tb ; n\r\n c)", 1, "(a\r\n\tb ; n\r\n\tX\r\n c)"},
	} {
		src := []byte(c.src)
		if got := InsertAfter(src, parseOne(t, src), c.i, "X"); string(got) != c.want {
			t.Errorf("insert after %d of %q:\n got %q\nwant %q", c.i, c.src, got, c.want)
		}
	}
}

func TestDelete(t *testing.T) {
	for _, c := range []struct {
		src  string
		i    int
		want string
	}{
		{"(a b c)", 0, "(b c)"}, {"(a b c)", 1, "(a c)"}, {"(a b c)", 2, "(a b)"}, {"(a)", 0, "()"}, {"(a)", 1, "(a)"}, {"x", 0, "x"},
		{"(\x00a\n b)", 0, "(\n b)"}, {"[a b]", 0, "[b]"}, {"'(a b)", 0, "'(b)"},
		{`(a"b"c)`, 1, "(a c)"}, {`(?( "b"c)`, 1, "(?( c)"},
		{"(a . b)", 0, "b"}, {"(a . b)", 1, "(a)"}, {"(a b . c)", 1, "(a . c)"}, {"(a b . c)", 2, "(a b)"},
		{"(a . ; note . \n b)", 1, "(a ; note . \n )"},
		{"(a ; about a\n b ; about b\n c)", 1, "(a ; about a\n  ; about b\n c)"},
		{"(a ; about a\n b)", 1, "(a ; about a\n )"},
		{"(a ; about a\n b\n c)", 1, "(a ; about a\n c)"},
		{"(a\n  b\n  c)", 0, "(b\n  c)"}, {"(a\n  b\n  c)", 1, "(a\n  c)"}, {"(a\n  b\n  c)", 2, "(a\n  b)"},
		{"(a\r\n  b\r\n  c)", 1, "(a\r\n  c)"},
	} {
		src := []byte(c.src)
		if got := Delete(src, parseOne(t, src), c.i); string(got) != c.want {
			t.Errorf("delete %d of %q:\n got %q\nwant %q", c.i, c.src, got, c.want)
		}
	}
}

func TestPrintIndented(t *testing.T) {
	for text, want := range map[string]string{
		`((a . 1) (b (c . 2) (d . "x\ty\r")) (e "f" "g"))`: "((a . 1)\n (b .\n   ((c . 2)\n    (d . \"x\\ty\\015\")))\n (e . (\"f\" \"g\")))",
		`(a b (c . d))`:        `(a b (c . d))`,
		`((id . "x"))`:         `((id . "x"))`,
		`'((a . 1) (b . 2))`:   `'((a . 1) (b . 2))`,
		`nil`:                  `nil`,
		`((a . nil) (b . []))`: "((a . nil)\n (b . []))",
		`(((id . "x") (n . 1)) ((id . "y") (n . 2)) "` + strings.Repeat("x", 50) + `")`: "(((id . \"x\")\n  (n . 1))\n ((id . \"y\")\n  (n . 2))\n \"" + strings.Repeat("x", 50) + "\")",
	} {
		v, _, err := Read(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := PrintIndented(v, 0); got != want {
			t.Errorf("PrintIndented(%s):\n got %s\nwant %s", text, got, want)
		}
	}
}

// FuzzSplice: each edit makes the value that the same change to the list
// makes, keeps every comment, and leaves the bytes outside the list alone.
func FuzzSplice(f *testing.F) {
	for _, src := range []string{mind, "(a b . c)", "(a ; x\n b)", "[a\n b ;c\n]", `(?("a"\'"b")`, "()", "((a . b) (c d) (e))", "'(a)", "((a . 1)\r\n (b ; x\r\n 2))"} {
		f.Add(src, 1, `"x"`)
		f.Add(src, 0, "y")
	}
	f.Fuzz(func(t *testing.T, text string, i int, form string) {
		src := []byte(text)
		nodes, err := Parse(src)
		v, rest, formErr := Read(form)
		if err != nil || formErr != nil || rest != len(form) || len(nodes) == 0 || len(Print(v)) > 1000 {
			return
		}
		form = Print(v)
		n := nodes[0]
		for list := n; list != nil; {
			checkEdits(t, src, nodes, list, i, v, form)
			if len(list.Kids) == 0 {
				break
			}
			list = list.Kids[len(list.Kids)-1]
		}
	})
}

func checkEdits(t *testing.T, src []byte, nodes []*Node, list *Node, i int, v Value, form string) {
	after := func(what string, got []byte) *Node {
		t.Helper()
		again, err := Parse(got)
		if err != nil || len(again) != len(nodes) {
			t.Fatalf("%s: %q became %q: %d forms, %v", what, src, got, len(again), err)
		}
		if string(got[:list.Start]) != string(src[:list.Start]) || !strings.HasSuffix(string(got), string(src[list.End:])) {
			t.Fatalf("%s: %q became %q: changed outside the list", what, src, got)
		}
		if n := find(again, list.Start); n != nil {
			return n
		}
		if n := find(again, list.Start+1); n != nil { // behind padding
			return n
		}
		t.Fatalf("%s: %q became %q: no form at %d", what, src, got, list.Start)
		return nil
	}
	if got := Replace(src, list, form); !Equal(after("replace", got).Value, v) {
		t.Fatalf("replacing %d:%d of %q by %s: %q", list.Start, list.End, src, form, got)
	}
	inner := unquoted(list)
	if !inner.sequence(src) || i < 0 || i >= len(inner.Kids) {
		return
	}
	was := printed(inner)
	at := i
	if inner.Dotted {
		at = min(at, len(inner.Kids)-2)
	}
	got := InsertAfter(src, list, i, form)
	if is := printed(unquoted(after("insert", got))); !slices.Equal(is, slices.Insert(slices.Clone(was), at+1, form)) {
		t.Fatalf("inserting %s after %d of %q: %q", form, i, src, got)
	}
	if comments(got) != comments(src) {
		t.Fatalf("inserting %s after %d of %q: %q has other comments", form, i, src, got)
	}
	if inner.Dotted && len(inner.Kids) == 2 && i == 0 {
		return
	}
	got = Delete(src, list, i)
	if is := printed(unquoted(after("delete", got))); !slices.Equal(is, slices.Delete(slices.Clone(was), i, i+1)) {
		t.Fatalf("deleting %d of %q: %q", i, src, got)
	}
	if kid := inner.Kids[i]; comments(src[kid.Start:kid.End]) == "" && comments(got) != comments(src) {
		t.Fatalf("deleting %d of %q: %q has other comments", i, src, got)
	}
}

func printed(n *Node) (elements []string) {
	for _, kid := range n.Kids {
		elements = append(elements, Print(kid.Value))
	}
	return elements
}

// find returns the outermost node that starts at the offset.
func find(nodes []*Node, start int) *Node {
	for _, n := range nodes {
		if n.Start == start {
			return n
		}
		if found := find(n.Kids, start); found != nil {
			return found
		}
	}
	return nil
}

// comments returns the comments of src, each without blanks at its ends.
func comments(src []byte) string {
	var out []string
	p := parser{src: string(src)}
	for p.pos < len(p.src) {
		before := p.pos
		p.space()
		for _, line := range strings.Split(p.src[before:p.pos], "\n") {
			if i := strings.IndexByte(line, ';'); i >= 0 {
				out = append(out, strings.TrimSpace(line[i:]))
			}
		}
		if p.pos >= len(p.src) {
			break
		}
		switch p.src[p.pos] {
		case '(', ')', '[', ']', '\'', '`', ',', '.':
			if p.src[p.pos] != '.' || p.atDot() {
				p.pos++
				continue
			}
		}
		if strings.HasPrefix(p.src[p.pos:], "#'") || strings.HasPrefix(p.src[p.pos:], ",@") {
			p.pos += 2
			continue
		}
		if p.src[p.pos] == '@' && p.pos > 0 && p.src[p.pos-1] == ',' {
			p.pos++
			continue
		}
		if _, err := p.form(); err != nil {
			return "?"
		}
	}
	return strings.Join(out, "\n")
}

// FuzzSetEntry: what was set is read back, other keys keep their values, and
// setting the same again changes no byte.
func FuzzSetEntry(f *testing.F) {
	for _, src := range []string{mind, "((a . b) (c d) (e))", "nil", "((a . 1)\r\n (b ; x\r\n 2))", `((a ."x"))`, "((a x . y) . z)"} {
		for _, key := range []string{"a", "b", "mood", "empty", "buffers", "new one"} {
			f.Add(src, key, `((x . "y") (z 1 2))`)
			f.Add(src, key, "nil")
		}
	}
	f.Fuzz(func(t *testing.T, text, name, form string) {
		src, key := []byte(text), Symbol(name)
		nodes, err := Parse(src)
		v, _, formErr := Read(form)
		if err != nil || formErr != nil || len(nodes) == 0 || prefixes[key] != "" || !Equal(v, v) {
			return
		}
		alist := unquoted(nodes[0])
		if alist.Value != Value(Nil) && !(alist.sequence(src) && src[alist.Start] == '(') || alist.Dotted {
			return
		}
		got := SetEntry(src, nodes[0], key, v)
		again, err := Parse(got)
		if err != nil {
			if strings.Contains(err.Error(), "nest") {
				return
			}
			t.Fatalf("set %q to %s in %q: %q: %v", key, form, src, got, err)
		}
		now := unquoted(again[0])
		if back, ok := Get(now.Value, key); !ok || !Equal(back, v) {
			t.Fatalf("set %q to %s in %q: %q holds %s", key, form, src, got, Print(back))
		}
		for _, kid := range alist.Kids {
			other, ok := kid.Value.(*Cons)
			if !ok || other.Car == Value(key) {
				continue
			}
			if name, ok := other.Car.(Symbol); ok {
				was, _ := Get(alist.Value, name)
				if is, _ := Get(now.Value, name); !Equal(is, was) {
					t.Fatalf("set %q in %q changed %q to %s: %q", key, src, name, Print(is), got)
				}
			}
		}
		if twice := SetEntry(got, again[0], key, v); string(twice) != string(got) {
			t.Fatalf("setting %q twice: %q, then %q", key, got, twice)
		}
	})
}
