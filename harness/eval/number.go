package eval

import (
	"cmp"
	"math"
	"math/big"

	"amacs/consciousness/sexp"
)

// num is a number: the integer i, or f if float is set.
type num struct {
	float bool
	i     int64
	f     float64
}

func number(v Value) (num, error) {
	switch x := v.(type) {
	case int64:
		return num{i: x}, nil
	case float64:
		return num{float: true, f: x}, nil
	}
	return num{}, wrongType("number-or-marker-p", v)
}

func numbers(a []Value) ([]num, error) {
	out := make([]num, len(a))
	for i, v := range a {
		var err error
		if out[i], err = number(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (n num) value() Value {
	if n.float {
		return n.f
	}
	return n.i
}

func (n num) toFloat() num {
	if n.float {
		return n
	}
	return num{float: true, f: float64(n.i)}
}

// compare returns -1, 0 or 1, and 2 if one is not a number. Integers and
// floats are compared exactly.
func (n num) compare(o num) int {
	switch {
	case n.float && math.IsNaN(n.f) || o.float && math.IsNaN(o.f):
		return 2
	case !n.float && !o.float:
		return cmp.Compare(n.i, o.i)
	case n.float && o.float:
		return cmp.Compare(n.f, o.f)
	}
	return n.big().Cmp(o.big())
}

func (n num) big() *big.Float {
	if n.float {
		return big.NewFloat(n.f)
	}
	return new(big.Float).SetInt64(n.i)
}

// overflow is what arithmetic beyond 64 bits gives: Emacs would go on in
// integers of any size.
func overflow() *Error {
	err := fail("overflow-error")
	err.Hint = "integers have 64 bits; use floats"
	return err
}

func add(a, b num) (num, error) {
	if a.float || b.float {
		return num{float: true, f: a.toFloat().f + b.toFloat().f}, nil
	}
	sum := a.i + b.i
	if (sum > a.i) != (b.i > 0) && b.i != 0 {
		return num{}, overflow()
	}
	return num{i: sum}, nil
}

func subtract(a, b num) (num, error) {
	if a.float || b.float {
		return num{float: true, f: a.toFloat().f - b.toFloat().f}, nil
	}
	difference := a.i - b.i
	if (difference < a.i) != (b.i > 0) && b.i != 0 {
		return num{}, overflow()
	}
	return num{i: difference}, nil
}

func multiply(a, b num) (num, error) {
	if a.float || b.float {
		return num{float: true, f: a.toFloat().f * b.toFloat().f}, nil
	}
	product := a.i * b.i
	if a.i != 0 && (product/a.i != b.i || a.i == -1 && b.i == math.MinInt64) {
		return num{}, overflow()
	}
	return num{i: product}, nil
}

func divide(a, b num) (num, error) {
	switch {
	case a.float || b.float:
		return num{float: true, f: a.toFloat().f / b.toFloat().f}, nil
	case b.i == 0:
		return num{}, fail("arith-error")
	case a.i == math.MinInt64 && b.i == -1:
		return num{}, overflow()
	}
	return num{i: a.i / b.i}, nil
}

type operation = func(a, b num) (num, error)

// fold makes + and *: the operation over all arguments from a start.
func fold(op operation, start int64) builtin {
	return builtin{0, -1, func(_ *machine, a []Value) (Value, error) {
		list, err := numbers(a)
		total := num{i: start}
		for i := 0; err == nil && i < len(list); i++ {
			total, err = op(total, list[i])
		}
		return total.value(), err
	}}
}

// chain makes - and /: with one argument the operation on start and it.
func chain(op operation, start int64, min int) builtin {
	return builtin{min, -1, func(_ *machine, a []Value) (Value, error) {
		list, err := numbers(a)
		if err != nil {
			return nil, err
		}
		switch len(list) {
		case 0:
			return start, nil
		case 1:
			list = []num{{i: start}, list[0]}
		}
		for _, n := range list {
			if n.float { // one float makes the whole a division of floats
				list[0] = list[0].toFloat()
			}
		}
		total := list[0]
		for i := 1; err == nil && i < len(list); i++ {
			total, err = op(total, list[i])
		}
		return total.value(), err
	}}
}

// compares makes < and its kin: each argument with the next.
func compares(ok func(c int) bool) builtin {
	return builtin{1, -1, func(_ *machine, a []Value) (Value, error) {
		list, err := numbers(a)
		if err != nil {
			return nil, err
		}
		for i := 1; i < len(list); i++ {
			if !ok(list[i-1].compare(list[i])) {
				return sexp.Nil, nil
			}
		}
		return sexp.T, nil
	}}
}

// extreme makes max and min.
func extreme(better int) builtin {
	return builtin{1, -1, func(_ *machine, a []Value) (Value, error) {
		list, err := numbers(a)
		if err != nil {
			return nil, err
		}
		best := list[0]
		for _, n := range list[1:] {
			if c := n.compare(best); c == better || c == 2 && !(best.float && math.IsNaN(best.f)) {
				best = n
			}
		}
		return best.value(), nil
	}}
}

// by1 makes 1+ and 1-.
func by1(op operation) builtin {
	return builtin{1, 1, func(_ *machine, a []Value) (Value, error) {
		n, err := number(a[0])
		if err != nil {
			return nil, err
		}
		n, err = op(n, num{i: 1})
		return n.value(), err
	}}
}

// rounding makes floor and its kin. whole rounds a float, adjust corrects the
// quotient of integers that was cut towards zero, by the remainder.
func rounding(whole func(float64) float64, adjust func(quotient, remainder, divisor int64) int64) builtin {
	return builtin{1, 2, func(_ *machine, a []Value) (Value, error) {
		n, err := number(a[0])
		if err != nil {
			return nil, wrongType("numberp", a[0])
		}
		d := num{i: 1}
		if len(a) > 1 && !isNil(a[1]) {
			if d, err = number(a[1]); err != nil {
				return nil, wrongType("numberp", a[1])
			}
		}
		if d.compare(num{}) == 0 {
			return nil, fail("arith-error")
		}
		if n.float || d.float {
			f := whole(n.toFloat().f / d.toFloat().f)
			if !(f >= math.MinInt64 && f < -math.MinInt64) {
				return nil, overflow()
			}
			return int64(f), nil
		}
		quotient, err := divide(n, d)
		if err != nil {
			return nil, err
		}
		return quotient.i + adjust(quotient.i, n.i%d.i, d.i), nil
	}}
}

func roundDown(_, remainder, divisor int64) int64 {
	if remainder != 0 && (remainder < 0) != (divisor < 0) {
		return -1
	}
	return 0
}

func roundUp(_, remainder, divisor int64) int64 {
	if remainder != 0 && (remainder < 0) == (divisor < 0) {
		return 1
	}
	return 0
}

// roundEven goes to the nearest, from the middle to the even one.
func roundEven(quotient, remainder, divisor int64) int64 {
	away := int64(1)
	if (remainder < 0) != (divisor < 0) {
		away = -1
	}
	r, d := magnitude(remainder), magnitude(divisor)
	if r > d-r || r == d-r && quotient%2 != 0 {
		return away
	}
	return 0
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func remainder(_ *machine, a []Value) (Value, error) {
	x, ok := a[0].(int64)
	if !ok {
		return nil, wrongType("integer-or-marker-p", a[0])
	}
	y, ok := a[1].(int64)
	switch {
	case !ok:
		return nil, wrongType("integer-or-marker-p", a[1])
	case y == 0:
		return nil, fail("arith-error")
	case y == -1: // also of the smallest integer
		return int64(0), nil
	}
	return x % y, nil
}

// modulo has the sign of the divisor.
func modulo(_ *machine, a []Value) (Value, error) {
	list, err := numbers(a)
	if err != nil {
		return nil, err
	}
	x, y := list[0], list[1]
	if x.float || y.float {
		d := y.toFloat().f
		r := math.Mod(x.toFloat().f, d)
		if r != 0 && (r < 0) != (d < 0) {
			r += d
		}
		return r, nil
	}
	switch y.i {
	case 0:
		return nil, fail("arith-error")
	case -1:
		return int64(0), nil
	}
	r := x.i % y.i
	if r != 0 && (r < 0) != (y.i < 0) {
		r += y.i
	}
	return r, nil
}

func expt(_ *machine, a []Value) (Value, error) {
	list, err := numbers(a)
	if err != nil {
		return nil, err
	}
	base, power := list[0], list[1]
	if base.float || power.float || power.i < 0 {
		return math.Pow(base.toFloat().f, power.toFloat().f), nil
	}
	result := num{i: 1}
	for n := power.i; n > 0; n >>= 1 {
		if n&1 == 1 {
			if result, err = multiply(result, base); err != nil {
				return nil, err
			}
		}
		if n > 1 {
			if base, err = multiply(base, base); err != nil {
				return nil, err
			}
		}
	}
	return result.i, nil
}

// onFloat makes sqrt and its kin.
func onFloat(f func(float64) float64) builtin {
	return builtin{1, 1, func(_ *machine, a []Value) (Value, error) {
		n, err := number(a[0])
		if err != nil {
			return nil, wrongType("numberp", a[0])
		}
		return f(n.toFloat().f), nil
	}}
}

// bits makes logand and its kin.
func bits(op func(a, b int64) int64, start int64) builtin {
	return builtin{0, -1, func(_ *machine, a []Value) (Value, error) {
		total := start
		for _, v := range a {
			n, ok := v.(int64)
			if !ok {
				return nil, wrongType("integer-or-marker-p", v)
			}
			total = op(total, n)
		}
		return total, nil
	}}
}

func numberFunctions() map[Symbol]builtin {
	sign := func(ok func(c int) bool) builtin {
		return builtin{1, 1, func(_ *machine, a []Value) (Value, error) {
			n, err := number(a[0])
			return truth(err == nil && ok(n.compare(num{}))), err
		}}
	}
	return map[Symbol]builtin{
		"+": fold(add, 0), "*": fold(multiply, 1), "-": chain(subtract, 0, 0), "/": chain(divide, 1, 1),
		"%": {2, 2, remainder}, "mod": {2, 2, modulo}, "1+": by1(add), "1-": by1(subtract), "expt": {2, 2, expt},
		"=": compares(func(c int) bool { return c == 0 }), "<": compares(func(c int) bool { return c == -1 }),
		">": compares(func(c int) bool { return c == 1 }), "<=": compares(func(c int) bool { return c <= 0 }),
		">=": compares(func(c int) bool { return c == 0 || c == 1 }),
		"/=": {2, 2, func(_ *machine, a []Value) (Value, error) {
			list, err := numbers(a)
			return truth(err == nil && list[0].compare(list[1]) != 0), err
		}},
		"max": extreme(1), "min": extreme(-1),
		"abs": {1, 1, func(_ *machine, a []Value) (Value, error) {
			n, err := number(a[0])
			switch {
			case err != nil:
				return nil, wrongType("numberp", a[0])
			case n.float:
				return math.Abs(n.f), nil
			case n.i < 0:
				n, err = subtract(num{}, n)
			}
			return n.value(), err
		}},
		"floor": rounding(math.Floor, roundDown), "ceiling": rounding(math.Ceil, roundUp),
		"round":    rounding(math.RoundToEven, roundEven),
		"truncate": rounding(math.Trunc, func(int64, int64, int64) int64 { return 0 }),
		"float":    onFloat(func(f float64) float64 { return f }), "sqrt": onFloat(math.Sqrt), "exp": onFloat(math.Exp),
		"zerop":    sign(func(c int) bool { return c == 0 }),
		"cl-plusp": sign(func(c int) bool { return c == 1 }), "cl-minusp": sign(func(c int) bool { return c == -1 }),
		"cl-evenp": parity(0), "cl-oddp": parity(1),
		"logand": bits(func(a, b int64) int64 { return a & b }, -1),
		"logior": bits(func(a, b int64) int64 { return a | b }, 0),
		"logxor": bits(func(a, b int64) int64 { return a ^ b }, 0),
	}
}

func parity(rest int64) builtin {
	return builtin{1, 1, func(_ *machine, a []Value) (Value, error) {
		n, ok := a[0].(int64)
		if !ok {
			return nil, wrongType("integer-or-marker-p", a[0])
		}
		return truth(n&1 == rest), nil
	}}
}
