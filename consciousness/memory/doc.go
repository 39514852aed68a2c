// Package memory is what the agent remembers: one record, its form in a file,
// and the rules of its life.
//
// Everything here is values in, values out: no files, no clock, no model. A
// file of memories is an outline that is written by hand as well as by the
// program; one heading is one memory:
//
//	# -*- coding: utf-8 -*-
//	#+TITLE: Memories: project amacs-w5d3kq8nt2
//	# One heading is one memory. Edit, move or delete them; a new one needs no properties.
//
//	* The build needs Go 1.26 :go:build:
//	:PROPERTIES:
//	:ID: k3f
//	:KIND: fact
//	:SCOPE: project amacs-w5d3kq8nt2
//	:IMPORTANCE: medium
//	:TRUST: high
//	:CONFIDENCE: 0.95
//	:STRENGTH: 2
//	:CREATED: [2026-11-21 Sat 05:42]
//	:SOURCE: agent
//	:TICK: 42
//	:RELATES: m7w=0.6
//	:END:
//	:LOGBOOK:
//	- reinforced [2026-11-22 Sun 10:00] tick 57 session r-8
//	:END:
//
//	* The release is cut from main on Thursdays, after the nightly … :pinned:
//	:PROPERTIES:
//	:ID: m7w
//	:END:
//	The release is cut from main on Thursdays, after the nightly tests
//	were green. Who cuts it tells the others.
//
// A short text is the title. A longer one is the body, and the title an
// excerpt that ends in "…"; where it does not, a hand wrote both, and the text
// is the title and the body below it. Missing properties have defaults, see
// [Read]. Properties, lists and headings that mean nothing here stay as they
// are, byte for byte.
//
// Begin reading at [Memory], then [Read], [Add] and [Set] for the file, and
// life.go for how a memory grows and fades.
package memory
