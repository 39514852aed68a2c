package sexp

import (
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// forms pairs text with what Print makes of it.
var forms = []struct{ text, print string }{
	{"a", "a"}, {"nil", "nil"}, {"()", "nil"}, {":key", ":key"}, {"1+", "1+"}, {"-", "-"}, {"é", "é"},
	{"5", "5"}, {"+5", "5"}, {"5.", "5"}, {"-0", "0"}, {"9223372036854775807", "9223372036854775807"},
	{".5", "0.5"}, {"1.e3", "1000.0"}, {"1e10", "10000000000.0"}, {"1e15", "1e+15"}, {"-0.0", "-0.0"},
	{"1.0e+INF", "1.0e+INF"}, {"-1.0e+INF", "-1.0e+INF"}, {"0.0e+NaN", "0.0e+NaN"}, {"-3.0e+NaN", "-3.0e+NaN"},
	{"1e400", "1.0e+INF"}, {"5e-324", "5e-324"}, {"0.1", "0.1"}, {"123456789012345680.0", "1.2345678901234568e+17"},
	{"1e5.0", "1e5.0"}, {"+.e5", "+.e5"}, {"1.e", "1.e"}, {"--1", "--1"},
	{"#x-1f", "-31"}, {"#b101", "5"}, {"#24r1k", "44"}, {"##", "##"},
	{`\123`, `\123`}, {`a\ b`, `a\ b`}, {`\.`, `\.`}, {"a.b", "a.b"}, {"a?b", "a?b"}, {`\?a`, `\?a`}, {`a\#b`, `a\#b`},
	{"?a", "97"}, {`?\n`, "10"}, {`?\C-a`, "1"}, {`?\M-a`, "134217825"}, {`?\s`, "32"}, {`?\s-a`, "8388705"}, {`?\(`, "40"},
	{`?\C-%`, "67108901"}, {`?\^?`, "127"}, {`?\u00e9`, "233"}, {`?\N{U+41}`, "65"}, {`?\x41`, "65"}, {`?\101`, "65"},
	{`""`, `""`}, {`"a\nb"`, "\"a\nb\""}, {`"\t\e\d\s"`, "\"\t\x1b\x7f \""}, {`"\"\\"`, `"\"\\"`}, {"\"a\\\nb\\ c\"", `"abc"`},
	{`"\x41\ b"`, `"Ab"`}, {`"\u00e9\U0001F600\N{U+1F600}"`, `"é😀😀"`}, {`"\300é\xff"`, `"\300é\377"`}, {`"\C-a\^?\M-a"`, "\"\x01\x7f\\341\""},
	{`"\400"`, `"Ā"`}, {`"\q"`, `"q"`},
	{"'a", "'a"}, {"#'car", "#'car"}, {"`(a ,b ,@c)", "`(a ,b ,@c)"}, {",a", `(\, a)`}, {"(quote a b)", "(quote a b)"}, {"(a quote b)", "(a quote b)"},
	{"(a . b)", "(a . b)"}, {"(a .b)", `(a \.b)`}, {"(a . (b c))", "(a b c)"}, {"(a . nil)", "(a)"}, {"(a .(b))", "(a b)"}, {`(a ."b")`, `(a . "b")`},
	{"[a (b) \"c\"]", `[a (b) "c"]`}, {"[]", "[]"}, {"( a ; c\r\n b )", "(a b)"}, {"\u00a0a\u00a0", "a"}, {"`(a . ,b)", "`(a \\, b)"},
	{`((a . 1) (b . "x"))`, `((a . 1) (b . "x"))`},
}

func TestReadPrint(t *testing.T) {
	for _, f := range forms {
		v, _, err := Read(f.text)
		if err != nil {
			t.Errorf("Read(%q): %v", f.text, err)
			continue
		}
		if got := Print(v); got != f.print {
			t.Errorf("Print(Read(%q)) = %q, want %q", f.text, got, f.print)
		}
	}
}

var badForms = []string{
	")", "]", "(a]", "[a)", "[a . b]", ".", "(a . )", "(a .)", "(. b)", "(a . b c)", "#", "#a", "#<buffer x>", "#s(a b)", "#1=a", "#1#", "#:a", "#[1]",
	"#b2", "#xg", "#37r1", "#xffffffffffffffff", "9223372036854775808", "-9223372036854775809", "?ab", `?\Sa`, `?\x110000`, `"\x110000"`, `"\C-%"`,
	`"\uD800"`, `"\N{LATIN SMALL LETTER A}"`, `"\uzzzz"`, "(a#b)", "?\xff",
}

var incompleteForms = []string{"", " ; c", "(", "(a", "(a . b", "[", `"abc`, "'", ",@", "#'", "?", `?\`, `a\`, `"\u12`, `"\`, `?\C-`}

func TestReadRefuses(t *testing.T) {
	check := func(text string, incomplete bool) {
		values, err := ReadAll(text)
		if strings.TrimSpace(strings.TrimPrefix(text, " ; c")) == "" {
			_, _, err = Read(text)
		}
		var syntax *SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("reading %q gave %v, %v; want a SyntaxError", text, values, err)
		} else if syntax.Incomplete != incomplete || errors.Is(err, io.ErrUnexpectedEOF) != incomplete {
			t.Errorf("reading %q: incomplete = %v, want %v (%v)", text, syntax.Incomplete, incomplete, err)
		}
	}
	for _, text := range badForms {
		check(text, false)
	}
	for _, text := range incompleteForms {
		check(text, true)
	}
}

func TestErrorPlace(t *testing.T) {
	_, err := ReadAll("(a b)\n(é ])")
	want := SyntaxError{Offset: 10, Line: 2, Col: 4, Msg: "] in a list"}
	var got *SyntaxError
	if !errors.As(err, &got) || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestDepth(t *testing.T) {
	for _, c := range []struct {
		depth int
		ok    bool
	}{{maxDepth, true}, {maxDepth + 1, false}, {1_000_000, false}} {
		for _, pair := range []string{"()", "[]", "' "} {
			text := strings.Repeat(pair[:1], c.depth-1) + "a" + strings.Repeat(strings.TrimSpace(pair[1:]), c.depth-1)
			v, _, err := Read(text)
			if (err == nil) != c.ok {
				t.Errorf("%d × %q: err = %v", c.depth, pair, err)
			}
			if err == nil && Print(v) != text {
				t.Errorf("%d × %q does not print back", c.depth, pair)
			}
		}
	}
	if _, _, err := Read("?" + strings.Repeat(`\C-`, 1_000_000)); err == nil {
		t.Error("a million modifiers were read")
	}
}

func TestEndless(t *testing.T) {
	loop := &Cons{Symbol("a"), Nil}
	loop.Cdr = &Cons{Symbol("b"), loop}
	if got := Print(loop); !strings.HasSuffix(got, " . #circle)") || len(got) > 100 {
		t.Errorf("circular list prints as %q", got)
	}
	if _, err := Slice(loop); err == nil {
		t.Error("Slice of a circular list")
	}
	if _, found := Get(loop, "x"); found {
		t.Error("Get found something in a circle of symbols")
	}
	inner := &Cons{Nil, Nil}
	inner.Car = inner
	if got := Print(inner); !strings.Contains(got, "#deep") {
		t.Errorf("car loop prints as %.80q", got)
	}
	other := &Cons{Nil, Nil}
	other.Car = other
	if equal, done, _ := EqualWithin(inner, other, 1_000_000); equal || done {
		t.Errorf("car loops: equal %v, done %v", equal, done)
	}
	var shared Value = List(Symbol("x"))
	for range 60 {
		shared = List(shared, shared)
	}
	text, whole := PrintWithin(shared, false, 1000)
	if whole || len(text) > 1000 || !strings.HasSuffix(text, "#long") {
		t.Errorf("2^60 printed to %d bytes, whole %v", len(text), whole)
	}
}

func TestPrintWithin(t *testing.T) {
	v := List(Symbol("a"), "é\n", int64(7))
	full := Print(v)
	for max := 0; max < len(full)+3; max++ {
		text, whole := PrintWithin(v, false, max)
		if len(text) > max || whole != (max >= len(full)) || whole && text != full {
			t.Errorf("max %d: %q, %v", max, text, whole)
		}
	}
}

func TestDisplay(t *testing.T) {
	v := List("a\"b", Symbol("c d"), List(Symbol("quote"), "x"))
	if got, want := Display(v), `(a"b c d 'x)`; got != want {
		t.Errorf("Display = %q, want %q", got, want)
	}
}

// TestCommaAt: a comma before a symbol that begins with @ is not the splicing
// one. Emacs reads it so, and prints it wrongly.
func TestCommaAt(t *testing.T) {
	v := List(Symbol("`"), List(Symbol(","), Symbol("@a")))
	if got := Print(v); got != "`, @a" {
		t.Errorf("printed %q", got)
	}
	checkRoundTrip(t, v, Print(v))
}

func TestEqual(t *testing.T) {
	for _, c := range []struct {
		a, b Value
		want bool
	}{
		{Nil, nil, true}, {Symbol("a"), "a", false}, {int64(1), 1.0, false}, {0.0, math.Copysign(0, -1), false},
		{math.NaN(), math.NaN(), true}, {Vector{}, Vector{}, true}, {Vector{int64(1)}, Vector{int64(1)}, true}, {Vector{}, Nil, false},
		{List("a", Vector{"b"}), List("a", Vector{"b"}), true}, {List("a"), List("a", "b"), false}, {&Cons{"a", nil}, List("a"), true},
		{[]int{1}, []int{1}, false},
	} {
		if got := Equal(c.a, c.b); got != c.want {
			t.Errorf("Equal(%s, %s) = %v", Print(c.a), Print(c.b), got)
		}
	}
}

func TestSliceAndGet(t *testing.T) {
	for text, want := range map[string]int{"nil": 0, "(a b)": 2, "(a . b)": -1, "a": -1, "[a]": -1} {
		v, _, _ := Read(text)
		elements, err := Slice(v)
		if n := len(elements); err != nil && want >= 0 || err == nil && n != want {
			t.Errorf("Slice(%s) = %d elements, %v", text, n, err)
		}
	}
	alist, _, _ := Read(`(x (a . 1) (b 2 3) (a . 4) (c) . tail)`)
	for key, want := range map[Symbol]string{"a": "1", "b": "(2 3)", "c": "nil"} {
		if v, ok := Get(alist, key); !ok || Print(v) != want {
			t.Errorf("Get %s = %s, %v", key, Print(v), ok)
		}
	}
	if _, ok := Get(alist, "x"); ok {
		t.Error("Get found an element that is no pair")
	}
}

func FuzzRead(f *testing.F) {
	for _, form := range forms {
		f.Add(form.text)
	}
	for _, text := range append(badForms, incompleteForms...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, src string) {
		values, err := ReadAll(src)
		nodes, parseErr := Parse([]byte(src))
		if (err == nil) != (parseErr == nil) {
			t.Fatalf("ReadAll: %v, Parse: %v", err, parseErr)
		}
		for _, n := range nodes {
			checkRanges(t, src, n, 0, len(src))
		}
		for _, v := range values {
			checkRoundTrip(t, v, Print(v))
			checkRoundTrip(t, v, PrintIndented(v, 3))
		}
	})
}

func checkRoundTrip(t *testing.T, v Value, text string) {
	t.Helper()
	back, rest, err := Read(text)
	if err != nil || rest != len(text) {
		t.Fatalf("reading back %q: rest %d, %v", text, rest, err)
	}
	if !Equal(back, v) || Print(back) != Print(v) {
		t.Fatalf("%q reads back as %q", Print(v), Print(back))
	}
}

// checkRanges: a node's bytes are its value, its kids lie within it in order.
func checkRanges(t *testing.T, src string, n *Node, from, to int) {
	t.Helper()
	if n.Start < from || n.End > to || n.Start >= n.End {
		t.Fatalf("node %d:%d outside %d:%d in %q", n.Start, n.End, from, to, src)
	}
	v, rest, err := Read(src[n.Start:n.End])
	if err != nil || rest != n.End-n.Start || !Equal(v, n.Value) {
		t.Fatalf("bytes %q of a node read as %s, %v", src[n.Start:n.End], Print(v), err)
	}
	at := n.Start
	for _, kid := range n.Kids {
		checkRanges(t, src, kid, at, n.End)
		at = kid.End
	}
}
