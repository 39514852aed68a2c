package org_test

import (
	"fmt"

	"amacs/org"
)

func ExampleParse() {
	d := org.Parse([]byte("* TODO [#A] Water the plants :home:\nSCHEDULED: <2026-11-21 Sat>\nThe fern first.\n"))
	h := d.Headings[0]
	fmt.Println(h.State, h.Priority, h.Title, h.Tags, h.Scheduled)
	fmt.Print(string(d.SetState(h, "DONE")))
	// Output:
	// TODO A Water the plants [home] <2026-11-21 Sat>
	// * DONE [#A] Water the plants :home:
	// SCHEDULED: <2026-11-21 Sat>
	// The fern first.
}

func ExampleEscape() {
	fmt.Println(org.Escape("* Not a heading, but *bold*."))
	fmt.Println(org.Escape("one line with its end\n:END:\n"))
	fmt.Println(org.Unescape(org.Escape("* Not a heading, but *bold*.")))
	// Output:
	// ,* Not a heading, but *bold*.
	// #+begin_example
	// one line with its end
	// ,:END:
	//
	// #+end_example
	// * Not a heading, but *bold*.
}

func ExampleAppend() {
	file := []byte("# -*- coding: utf-8 -*-\n")
	file = org.Append(file, org.Entry{
		Title:    "Tick 42",
		Props:    []org.Prop{{Key: "TIMESTAMP", Value: "2025-01-02T14:30:00Z"}},
		Children: []org.Entry{{Title: "Human", Body: org.Escape("Hello")}, {Title: "Agent", Body: org.Escape("Hi.")}},
	})
	fmt.Print(string(file))
	// Output:
	// # -*- coding: utf-8 -*-
	//
	// * Tick 42
	// :PROPERTIES:
	// :TIMESTAMP: 2025-01-02T14:30:00Z
	// :END:
	//
	// ** Human
	// Hello
	//
	// ** Agent
	// Hi.
}
