package eval

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"amacs/consciousness/sexp"
)

func run(t *testing.T, src string, funcs ...Func) Result {
	t.Helper()
	return Run(context.Background(), src, funcs, nil, DefaultLimits())
}

// show is the value or the whole error text.
func show(res Result) string {
	if res.Err != nil {
		return "error: " + res.Err.Error()
	}
	return res.Text
}

func TestRun(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"", "nil"}, {"; nothing", "nil"}, {"1 2 3", "3"}, {"(setq x 1) (+ x 1)", "2"},
		{"(setq x 1) (car 5", "error: End of file during parsing; a closing parenthesis or quote is missing"},
		{"(setq x 1) )", `error: Invalid read syntax: ")", 1, 12`},
		{"(defun f (x) (* 2 x)) (mapcar #'f '(1 2))", "(2 4)"},
		{"(lambda (x &optional y &rest z) x)", "#<lambda (x &optional y &rest z)>"},
		{"(defun f ()) (list (function f) (lambda ()))", "(f #<lambda ()>)"},
		{"((lambda (x) x))", "error: Wrong number of arguments: #<lambda (x)>, 0; it takes (x)"},
		{"(mapcra #'car nil)", "error: Symbol’s function definition is void: mapcra; nearest: mapc, mapcan, mapcar"},
		{"(agent-recal)", "error: Symbol’s function definition is void: agent-recal"},
		{"(let ((thread 1)) (list thraed))", "error: Symbol’s value as variable is void: thraed; nearest: thread"},
		{"(mapcar car '((1)))", "error: Symbol’s value as variable is void: car; it is a function: write (car …) or #'car"},
		{"(+ 9223372036854775807 1)", "error: Arithmetic overflow error; integers have 64 bits; use floats"},
		{"99999999999999999999", `error: Invalid read syntax: "integer 99999999999999999999 does not fit in 64 bits (write a float or a string)", 1, 1`},
		{"(defun car (x) x)", "error: car is built in and can not be defined again; choose another name"},
		{"(signal 'my-own '(1))", "error: peculiar error: 1"},
		{"(let ((l (list 3 1 2))) (sort l #'<) l)", "(3 1 2)"},
		{`(string-match-p "\\w" "a")`, `error: Invalid regexp: "\\w is not supported here; use a set such as [[:alnum:]] or [ \\t]"`},
		{`(replace-regexp-in-string "x*" "-" "axb")`, "error: a regexp that matches the empty text can not be used to split or replace here"},
		{`(length "\300é\377")`, "3"}, {`(substring "\300é\377" 2)`, `"\377"`}, {`(concat (string-to-list "\300é"))`, `"\300é"`},
		{`(upcase "\300é")`, `"\300É"`}, {`(reverse "a\300")`, `"\300a"`},
		{"(make-string 2 4194303)", `"\377\377"`},
	} {
		if got := show(run(t, c.src)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

// TestReadFirst: a form that can not be read keeps the ones before it from running.
func TestReadFirst(t *testing.T) {
	called := false
	res := run(t, "(touch) (", Func{Name: "touch", Max: -1, Call: func(context.Context, Args) (sexp.Value, error) {
		called = true
		return nil, nil
	}})
	if called || res.Err == nil || res.Err.Symbol != "end-of-file" {
		t.Errorf("called %v, %v", called, res.Err)
	}
}

func TestVariables(t *testing.T) {
	vars := map[Symbol]Value{"tick": int64(42)}
	res := Run(context.Background(), "(setq tick (1+ tick) other 1) tick", nil, vars, DefaultLimits())
	if res.Text != "43" || len(vars) != 1 || vars["tick"] != int64(42) {
		t.Errorf("%s; the caller's variables are %v", res.Text, vars)
	}
}

func TestMessages(t *testing.T) {
	res := run(t, `(message "a %d" 1) (message nil) (message "b") (car 1)`)
	if !slices.Equal(res.Messages, []string{"a 1", "b"}) || res.Err == nil || res.Steps == 0 {
		t.Errorf("%q, %v, %d steps", res.Messages, res.Err, res.Steps)
	}
}

func TestOutputIsCut(t *testing.T) {
	lim := DefaultLimits()
	lim.Output = 100
	for _, src := range []string{"(make-string 1000 ?é)", "(make-list 1000 'a)", "(let (x) (dotimes (i 50) (setq x (list x x))) x)"} {
		res := Run(context.Background(), src, nil, nil, lim)
		if res.Err != nil || len(res.Text) > 100 || !strings.HasSuffix(res.Text, cutMark) {
			t.Errorf("%s: %d bytes %q, %v", src, len(res.Text), res.Text, res.Err)
		}
	}
	res := Run(context.Background(), `(dotimes (i 100) (message "0123456789"))`, nil, nil, lim)
	if res.Err == nil || res.Err.Symbol != "output-limit" || len(res.Messages) != 10 {
		t.Errorf("%d messages, %v", len(res.Messages), res.Err)
	}
}

// runaways end by a limit, each by one of those named.
var runaways = []struct{ src, limits string }{
	{"(while t)", "step-limit"},
	{"(while t (ignore-errors (car 1)))", "step-limit"},
	{"(defun f () (f)) (f)", "depth-limit"},
	{"(defun f (n) (+ 1 (f n))) (f 1)", "depth-limit"},
	{"(funcall (lambda (f) (funcall f f)) (lambda (f) (funcall f f)))", "depth-limit"},
	{"(defmacro m () '(m)) (m)", "depth-limit"},
	{"(let ((x '(eval x))) (setq y '(eval y)) (eval y))", "depth-limit"},
	{"(let (x) (while t (push 1 x)))", "step-limit memory-limit"},
	{`(let ((s "x")) (while t (setq s (concat s s))))`, "memory-limit step-limit"},
	{"(let ((l '(1))) (while t (setq l (append l l))))", "memory-limit step-limit"},
	{"(let ((x '(a))) (while t (setq x (list x x))))", "step-limit memory-limit"},
	{"(let ((x '(a))) (dotimes (i 60) (setq x (list x x))) (prin1-to-string x))", "memory-limit step-limit"},
	{"(let ((x '(a)) (y '(a))) (dotimes (i 60) (setq x (list x x) y (list y y))) (equal x y))", "step-limit"},
	{"(let ((x '(a))) (dotimes (i 60) (setq x (list x x))) (flatten-tree x))", "step-limit memory-limit"},
	{`(format "%999999999d" 1)`, "memory-limit"},
	{`(format "%99999999999999999999s" 1)`, "memory-limit"},
	{`(format "%.999999999f" 1.0)`, "memory-limit"},
	{"(make-string 9999999999999 ?x)", "memory-limit"},
	{"(make-list 99999999999 1)", "memory-limit"},
	{"(number-sequence 1 9223372036854775807)", "memory-limit"},
	{"(dotimes (i 9223372036854775807))", "step-limit memory-limit"},
	{"(sort (make-list 100000 1) (lambda (a b) (< a b)))", "step-limit"},
	{"(mapcar (lambda (x) (mapcar #'identity (make-list 1000 1))) (make-list 10000 1))", "memory-limit step-limit"},
	{`(let ((s (make-string 10000000 ?a))) (dotimes (i 10000) (string-match-p "a*a*a*a*a*b" s)))`, "step-limit memory-limit"},
	{`(let ((s (make-string 1000000 ?a))) (split-string s "a"))`, "step-limit memory-limit"},
	{`(string-join (make-list 100000 (make-string 10000 ?x)) "")`, "memory-limit"},
	{`(mapcar #'identity (make-string 20000000 ?x))`, "memory-limit step-limit"},
	{`(let ((s (make-string 1000 ?x))) (while t (setq s (string-replace "x" s s))))`, "memory-limit"},
	{`(defun f (l) (mapcar (lambda (x) (f l)) l)) (f (make-list 100000 1))`, "depth-limit memory-limit step-limit"},
	{`(let ((s (make-string 1000000 ?a)) (n 0)) (while t (setq n (+ n (length s)))))`, "step-limit"},
	{`(read (make-string 10000000 ?a))`, "memory-limit step-limit"},
	{"(let ((f nil)) (while t (let ((g f)) (setq f (lambda () g)))))", "step-limit memory-limit"},
	{"(expt 1.0 (while t))", "step-limit"},
	{"`(,@(while t))", "step-limit"},
}

// wrappers are what a runaway may try to outlive a limit with. In each, (after)
// must not be reached.
var wrappers = []string{
	"%s",
	"(condition-case nil %s (error (after)) (t (after)))",
	"(condition-case nil %s ((step-limit memory-limit depth-limit time-limit) (after)) (:success (after)))",
	"(ignore-errors %s) (after)",
	"(unwind-protect %s (after))",
	"(catch 'x (unwind-protect %s (throw 'x (after))))",
	"(or (ignore-errors %s) (after))",
}

func TestLimitsHold(t *testing.T) {
	lim := DefaultLimits()
	lim.Steps, lim.Memory = 50_000, 16<<20
	for _, c := range runaways {
		for _, wrapper := range wrappers {
			src := fmt.Sprintf(wrapper, "(progn "+c.src+")")
			reached := false
			after := Func{Name: "after", Call: func(context.Context, Args) (sexp.Value, error) {
				reached = true
				return nil, nil
			}}
			start := time.Now()
			res := Run(context.Background(), src, []Func{after}, nil, lim)
			if res.Err == nil || !res.Err.Limit || !slices.Contains(strings.Fields(c.limits), string(res.Err.Symbol)) || reached {
				t.Errorf("%s\n  ended with %v (%.80s), want %s; went on: %v", src, res.Err, res.Text, c.limits, reached)
			}
			if took := time.Since(start); took > 5*time.Second {
				t.Errorf("%s took %v", src, took)
			}
		}
	}
}

func TestTimeLimit(t *testing.T) {
	lim := DefaultLimits()
	lim.Steps, lim.Time = 1<<60, 50*time.Millisecond
	lim.Memory = 1 << 60
	for _, src := range []string{"(while t)", "(while t (ignore-errors (while t)))", "(wait)", "(ignore-errors (wait)) (while t)", "(sort (number-sequence 1 300000) (lambda (a b) (< b a)))"} {
		wait := Func{Name: "wait", Call: func(ctx context.Context, _ Args) (sexp.Value, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("waiting: %w", ctx.Err())
		}}
		start := time.Now()
		res := Run(context.Background(), src, []Func{wait}, nil, lim)
		if took := time.Since(start); took > time.Second {
			t.Errorf("%s took %v", src, took)
		}
		if res.Err == nil || res.Err.Symbol != "time-limit" || !res.Err.Limit {
			t.Errorf("%s ended with %v", src, res.Err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if res := Run(ctx, "(ignore-errors (while t))", nil, nil, DefaultLimits()); res.Err == nil || !strings.Contains(res.Err.Error(), "cancelled") {
		t.Errorf("a cancelled run ended with %v", res.Err)
	}
}

// TestMemoryIsBounded measures what runaways really hold and make.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("measures")
	}
	lim := DefaultLimits()
	lim.Memory = 16 << 20
	for _, c := range runaways {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		done, peak := make(chan struct{}), make(chan uint64)
		go func() {
			var highest uint64
			for {
				select {
				case <-done:
					peak <- highest
					return
				case <-time.After(time.Millisecond):
					var now runtime.MemStats
					runtime.ReadMemStats(&now)
					highest = max(highest, now.HeapAlloc)
				}
			}
		}()
		Run(context.Background(), c.src, nil, nil, lim)
		close(done)
		highest := <-peak
		runtime.ReadMemStats(&after)
		const slack = 64 << 20 // garbage not yet collected, and the steps' own
		if held := int64(highest) - int64(before.HeapAlloc); held > 3*lim.Memory+slack {
			t.Errorf("%s held %d MiB", c.src, held>>20)
		}
		t.Logf("%4d MiB made, %4d held: %.70s", (after.TotalAlloc-before.TotalAlloc)>>20, max(0, int64(highest)-int64(before.HeapAlloc))>>20, c.src)
	}
}

func TestPanicIsData(t *testing.T) {
	res := run(t, "(boom)", Func{Name: "boom", Call: func(context.Context, Args) (sexp.Value, error) { panic("boom") }})
	if res.Err == nil || res.Err.Symbol != "internal-error" || !strings.Contains(res.Err.Error(), "boom") {
		t.Errorf("%v", res.Err)
	}
}

func TestNames(t *testing.T) {
	names := Names()
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Error("names are not sorted or not unique")
	}
	for _, want := range strings.Fields(`progn prog1 prog2 let let* if when unless cond and or not setq lambda defun funcall apply mapcar mapc mapconcat
		dolist dotimes while condition-case catch throw unwind-protect error signal user-error format concat message ignore identity alist-get assoc assq
		rassoc plist-get plist-put nth nthcdr car cdr cadr cddr caar car-safe cdr-safe cons list append length reverse nreverse last butlast delete remove delq
		remq seq-filter cl-remove-if cl-remove-if-not seq-map sort member memq substring string= string-equal string< string-prefix-p string-suffix-p string-trim
		string-join string-match-p string-to-number number-to-string split-string upcase downcase capitalize replace-regexp-in-string string-replace mod 1+ 1-
		max min abs floor round truncate float zerop eq eql equal quote push pop number-sequence prin1-to-string symbol-name intern make-string make-list
		vconcat aref vector`) {
		if !slices.Contains(names, want) {
			t.Errorf("%s is missing", want)
		}
	}
	special := specialForms()
	for name := range builtins() {
		if _, both := special[name]; both {
			t.Errorf("%s is a form and a function", name)
		}
	}
}

func TestHostFunctions(t *testing.T) {
	describe := func(_ context.Context, a Args) (sexp.Value, error) {
		id, err := a.String(0)
		if err != nil {
			return nil, err
		}
		concern, err := a.Text(":concern")
		if err != nil {
			return nil, err
		}
		buffers, err := a.Texts(":buffers")
		if err != nil {
			return nil, err
		}
		last, err := a.Count(":last", 7)
		if err != nil {
			return nil, err
		}
		_, more := a.Optional(1)
		return fmt.Sprintf("%s %q %q %d %v", id, concern, buffers, last, more), nil
	}
	funcs := []Func{
		{Name: "agent-open", Args: "ID &key :concern", Min: 1, Max: 2, Keys: []string{":concern", ":buffers", ":last"}, Call: describe},
		{Name: "agent-int", Min: 1, Max: 1, Call: func(_ context.Context, a Args) (sexp.Value, error) { n, err := a.Int(0); return n, err }},
		{Name: "agent-raw", Max: -1, Call: func(_ context.Context, a Args) (sexp.Value, error) { return sexp.List(a.Value(0), a.Value(9)), nil }},
		{Name: "agent-fail", Call: func(context.Context, Args) (sexp.Value, error) { return nil, errors.New("no such thread") }},
		{Name: "agent-go", Call: func(context.Context, Args) (sexp.Value, error) {
			return sexp.Vector{true, nil, 5, &sexp.Cons{Car: "a", Cdr: nil}}, nil
		}},
		{Name: "agent-odd", Call: func(context.Context, Args) (sexp.Value, error) { return []int{1}, nil }},
		{Name: "agent-loop", Call: func(context.Context, Args) (sexp.Value, error) {
			c := &sexp.Cons{Car: "a"}
			c.Cdr = c
			return c, nil
		}},
	}
	for _, c := range []struct{ src, want string }{
		{`(agent-open "id")`, `"id \"\" [] 7 false"`},
		{`(agent-open 'id :concern 'fix :buffers '("a" b 1) :last "3")`, `"id \"fix\" [\"a\" \"b\" \"1\"] 3 false"`},
		{`(agent-open 5 t :buffers "one")`, `"5 \"\" [\"one\"] 7 true"`},
		{`(agent-open "id" :buffers ["x"] :buffers nil)`, `"id \"\" [\"x\"] 7 false"`},
		{`(agent-open)`, "error: Wrong number of arguments: agent-open, 0; the form is (agent-open ID &key :concern)"},
		{`(agent-open 1 2 3)`, "error: Wrong number of arguments: agent-open, 3; the form is (agent-open ID &key :concern)"},
		{`(agent-open "id" :colour 1)`, "error: agent-open: unknown keyword :colour; known: :concern, :buffers, :last"},
		{`(agent-open "id" :concern)`, "error: agent-open: no value after :concern; the form is (agent-open ID &key :concern)"},
		{`(agent-open nil)`, "error: Wrong type argument: stringp, nil"},
		{`(agent-open '(1))`, "error: Wrong type argument: stringp, (1)"},
		{`(agent-open "id" :last -1)`, "error: Wrong type argument: natnump, -1"},
		{`(agent-int "12")`, "12"}, {`(agent-int 3.0)`, "3"}, {`(agent-int 3.5)`, "error: Wrong type argument: integerp, 3.5"},
		{`(agent-raw :key)`, "(:key nil)"}, {`(agent-raw)`, "(nil nil)"},
		{`(agent-fail)`, "error: no such thread"}, {`(condition-case e (agent-fail) (error (cadr e)))`, `"no such thread"`},
		{`(agent-go)`, `[t nil 5 ("a")]`}, {"(if (elt (agent-go) 1) 1 2)", "2"},
		{`(agent-odd)`, "error: a value of the host is no Lisp value: []int"},
		{`(agent-loop)`, "error: Memory limit: more than 67108864 bytes made"},
		{`(mapcar #'agent-int '(1 "2"))`, "(1 2)"},
		{`(agent-opne 1)`, "error: Symbol’s function definition is void: agent-opne; nearest: agent-open"},
		{`(defun agent-open (x) x)`, "error: agent-open is built in and can not be defined again; choose another name"},
	} {
		if got := show(run(t, c.src, funcs...)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

func Example() {
	res := Run(context.Background(), `(mapcar (lambda (n) (* n n)) (number-sequence 1 3))`, nil, nil, DefaultLimits())
	fmt.Println(res.Text)
	res = Run(context.Background(), `(string-trim 42)`, nil, nil, DefaultLimits())
	fmt.Println(res.Err)
	// Output:
	// (1 4 9)
	// Wrong type argument: stringp, 42
}

func BenchmarkFib(b *testing.B) {
	for b.Loop() {
		if res := Run(context.Background(), "(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2))))) (fib 20)", nil, nil, DefaultLimits()); res.Text != "6765" {
			b.Fatal(show(res))
		}
	}
}

func BenchmarkList(b *testing.B) {
	for b.Loop() {
		if res := Run(context.Background(), "(let (l) (dotimes (i 50000) (push i l)) (length (mapcar #'1+ (nreverse l))))", nil, nil, DefaultLimits()); res.Text != "50000" {
			b.Fatal(show(res))
		}
	}
}

// FuzzRun: no input panics, runs past its time or leaves a value that does not
// print; and a value made of data alone reads back to itself.
func FuzzRun(f *testing.F) {
	for _, c := range runaways {
		f.Add(c.src)
	}
	src, err := emacsForms()
	if err != nil {
		f.Fatal(err)
	}
	for _, form := range src {
		f.Add(form)
	}
	lim := Limits{Steps: 20_000, Depth: 200, Time: 2 * time.Second, Memory: 4 << 20, Output: 2000}
	f.Fuzz(func(t *testing.T, src string) {
		start := time.Now()
		res := Run(context.Background(), src, nil, nil, lim)
		if took := time.Since(start); took > lim.Time+time.Second {
			t.Fatalf("%q took %v", src, took)
		}
		if len(res.Text) > lim.Output {
			t.Fatalf("%q made %d bytes of text", src, len(res.Text))
		}
		if res.Err != nil {
			if res.Err.Symbol == "internal-error" {
				t.Fatalf("%q: %v", src, res.Err)
			}
			if len(res.Err.Error()) > 20*maxErrorPart {
				t.Fatalf("%q: the error text has %d bytes", src, len(res.Err.Error()))
			}
		}
	})
}
