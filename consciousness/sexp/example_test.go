package sexp_test

import (
	"fmt"

	"amacs/consciousness/sexp"
)

func ExampleSetEntry() {
	src := []byte("'((mood . \"focused\") ; how it feels\n  (confidence . 0.85))\n")
	nodes, err := sexp.Parse(src)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", sexp.SetEntry(src, nodes[0], "mood", "glad"))
	// Output:
	// '((mood . "glad") ; how it feels
	//   (confidence . 0.85))
}

func ExampleGet() {
	alist, _, err := sexp.Read(`((id . "rust-debugging") (buffers "src/main.rs" "src/lib.rs"))`)
	if err != nil {
		fmt.Println(err)
		return
	}
	buffers, _ := sexp.Get(alist, "buffers")
	fmt.Println(sexp.Print(buffers))
	// Output: ("src/main.rs" "src/lib.rs")
}

func ExamplePrintIndented() {
	v, _, err := sexp.Read(`((mood . "focused") (budget (cost-so-far . 0.15) (pressure . low)))`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("'" + sexp.PrintIndented(v, 1))
	// Output:
	// '((mood . "focused")
	//   (budget .
	//     ((cost-so-far . 0.15)
	//      (pressure . low))))
}
