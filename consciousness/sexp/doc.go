// Package sexp holds what a mind is written in: Lisp data as Emacs reads and
// prints it, without evaluation.
//
// On disk the data looks like this, comments and layout included:
//
//	'((identity . "amacs-instance-1")
//
//	  ;; Affective (agent-controlled)
//	  (mood . "focused")
//	  (confidence . 0.85)
//	  (budget .
//	    ((cost-so-far . 0.15)
//	     (pressure . low))))
//
// [Read] and [Print] go between text and values; what Print writes, Emacs'
// read reads back to an equal value, and the other way round. [Parse] keeps the
// byte range of each form as a [Node], so that [Replace], [InsertAfter],
// [Delete] and [SetEntry] can edit a file and leave every other byte alone.
//
// Begin reading at [Value].
//
// # Limits
//
// Strings are bytes, normally UTF-8; a byte that is not part of valid UTF-8
// plays the part of Emacs' raw byte and is printed as \ooo. Integers have 64
// bits: a larger literal is an error and never a rounded number. Records,
// hash tables, #1= labels, uninterned symbols and \N{CHARACTER NAME} are
// refused. Forms nest at most 1,000 deep.
package sexp
