// Package org reads and edits Org outline text as bytes.
//
// Everything here is text in, text out: no files, no clock. An outline on disk looks like this:
//
//	# -*- coding: utf-8 -*-
//	#+TODO: ASK | APPROVED DENIED
//
//	* ASK [#A] Push the branch :git:work:
//	SCHEDULED: <2026-11-21 Sat>
//	:PROPERTIES:
//	:ID: req-7
//	:END:
//	The body, up to the next heading.
//
//	** A child
//
// [Parse] finds headings and their byte ranges by Emacs 28's rules (org-element): a heading is stars and a space at
// column 0, wherever it stands; a planning line and a property drawer count only directly below it. Edits are methods
// of [Doc]: each returns the whole new text with one splice made and every other byte as it was. A Doc describes the
// text it was parsed from; after an edit, parse again.
//
// Text that comes from elsewhere (a person's line, a model's reply) goes through [Escape] or [EscapeTitle] before it
// enters a file, and comes back byte for byte through [Unescape] or [UnescapeTitle].
//
// Begin reading at [Parse], then escape.go for the escape rule.
//
// # Why not go-org for all of it
//
// go-org has no positions, and its writer changes about a third of the lines of a real file. So it only renders
// ([Text]), and nothing it prints is ever written back.
package org
