package org

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// nasty is foreign text that means something to Org, Emacs, git or a terminal. Tables, fuzz seeds and the Emacs oracle
// all start from it.
var nasty = []string{
	"", " ", "\n", "\n\n", "a", "a\n", "a\n\n", "\na", "  a", "a  ", "\ta", "a\n\nb", "a\n  \nb", " \na", "a\n ", "\\", "\\\\", "\\x41", "\\u{41}",
	"* Tick 99", "** x", "*bold* text", "**bold**: text", "* ", "*", "*\tx", " * indented", "  - x\n    * y", ",* x", ",,* x", ",", ",,", ",x", ", * x", " ,* x",
	"# comment", "#", "#x", "## Title", "# Title\n\ntext", ",# x", ",#", "  # x", "  ,# x", "#\tx",
	"#+TITLE: x", "#+begin_src go\nx\n#+end_src", "#+end_example", "#+begin_example\nx\n#+end_example", ",#+end_example", "x\n#+end_example\n* y", "#+begin_example quoted\n\\x41\n#+end_example",
	"#+TODO: FOO | BAR", "#+SETUPFILE: /etc/passwd", "#+INCLUDE: \"/etc/passwd\"", "#+", "#+foo", "#+BEGIN: x\n#+END:", "#+CALL: f()", "#+ATTR_HTML: :x y", " #+NAME: x:y", "#+OPTIONS: zz:t", "#+CATEGORY: a\n#+CATEGORY: b", "#+begin_src\nx\n#+end_src",
	":END:", ":PROPERTIES:", ":PROPERTIES:\n:ID: abc\n:END:", ":LOGBOOK:", ":ID: abc", " :X: y", ": fixed", ":", ":)", "::", ":a:b:", ":foo bar", "a :tag:", "x\n:END:",
	"SCHEDULED: <2026-11-21 Sat>", "DEADLINE: <2026-11-21 Sat>", "CLOSED: [2026-11-21 Sat]", "Deadline: Friday", " scheduled: now", "x\nDEADLINE: <2026-11-21 Sat>", "do it SCHEDULED: <2026-11-21 Sat> now",
	"CLOCK: [2026-11-21 Sat 10:00]--[2026-11-21 Sat 11:00] =>  1:00", "#+X\nCLOCK: [2026-11-21 Sat 10:00]--[2026-11-21 Sat 11:00] =>  1:00", "clock: x",
	"<2026-11-21 Sat>", "see <2026-11-21 Sat 10:00>--<2026-11-22 Sun> ok", "<2026-11-20 Fri>--<2026-11-21 Sat>-<2026-11-22 Sun>", "[2026-11-21 Sat]", "<2026-1-1 +1d>", "%%(amacs-ran)", "  %%(amacs-ran)", "&%%(amacs-ran)", "x <%%(amacs-ran)> y", "#+X\n%%(amacs-ran)\n&%%(amacs-ran)\n <%%(amacs-ran)> <2026-11-21 Sat>",
	"| a | b |\n|---+---|\n| 1 | 2 |", "|a|b|", " | x", "+---+\n| x |\n+---+", "+--+", "-----", "---", "- x\n- y\n  - z", "1. a\n2. b", "1) a", "+ a", "- [ ] a\n- [X] b [1/2]", "- term :: def", "10. [@5] x",
	"[fn:1]", "text[fn:1]\n\n[fn:1] note", "[fn::inline]", "[fn:x:y]", "[[file:nowhere]]", "[[id:none]]", "[[#none]]", "[[*none]]", "[[none][d]]", "[ -f x ] && [[ -f y ]]", "[cite:@x]", "[cite/t:@x]", "{{{macro(x)}}}", "{{{{x}}}}", "{{x}}",
	"<<target>>", "<<target>> <<target>>", "<<<radio>>>", "cout << x << y", "a >> b", "x<<y>>z", "src_go{x}", "call_f(x)", "call_f[:x](y)", "src_x", "call_me", "\\begin{x}\ny\n\\end{x}", "  \\begin{align*}", "\\(x\\) $y$ \\alpha", "a_b a_{c} d^e", "@@html:x@@", "@@x",
	"file:nowhere.txt", "see file:nowhere.txt.", "<file:nowhere>", "(file:nowhere)", "id:none", "_id:none", "x id:none", "raid:5", "file+emacs:x", "file+sys:x", "attachment:x", "docview:x", "elisp:(amacs-ran)", "shell:ls", "ID:none", "文file:nowhere", "https://example.com/x?y=[1]", "mailto:a@b.c", "doi:10.1/x", "in this file: x",
	"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> br", "=======", "||||||| base", "<<<<<<<", "======== eight", "x\n=======\ny", "Title\n=====",
	"Local Variables:\nmode: text\nEnd:", "# Local Variables:\n# eval: (amacs-ran)\n# End:", "the local variables: x", "x\n  local Variables:\n  fill-column: 3\n  End:\n", "-*- mode: text -*-",
	"a\r\nb", "a\rb", "\x00", "\x1b[31mred\x1b[0m", "\x07", "\x7f", "a\fb", "\v", "\u0085", "\u2028", "\u2029", "\ufeff", "\u202e", "\u2066x\u2069", "\u200b", "\u200f", "\u00a0", "\u200d", "\ufffd", "\ufffe", "\xff", "a\xffb\n", "\xed\xa0\x80", "\xc3", "é", "日本語", "👩‍👩‍👧", "🇩🇪", "\U0010ffff", "\x1b\n* x\n:END:", "\xff\n#+end_example",
	"COMMENT x", "COMMENT", "COMMENTARY", "TODO x", "TODO", "DONE", "ASK", "QUOTE x", "Footnotes", "[#A] x", "x [#B] y", "[#1]", "[#10] x", "[#ab]", "[50%] x", "x [1/2]", "[/]", "[%]", "[1/]", "Todo x", "TODOx", "HTTP timeouts", "don't – \"quote\" — it's", "=code= ~x~ /i/ +s+ _u_",
	":tag:", "x :tag:", "x :a:b:", "x ::", "x :a::b:", "x :a-b:", "x: y:", "x :é:", "x :a: ", "12:30:", "a :b", "x\t:tag:", "\u200b:tag:", "\u200bTODO x", "x :tag:\u200b", "[\u200b[x]]", "[\u200b\u200b[x]]", "[[\u200bx", "{\u200b{{x", "<\u200b<x>>", "TODO\u200b x",
	"```sh\n# install\n* glob\n```", "\tif x {\n\t\t* y\n\t}", "foo :: bar", "\\\\", "a \\\\\nb", "***************** x", "*************** END", "%", "&", "END", ":end:", "#+END_EXAMPLE", "#+Begin_Example\n#+End_Example", "> quote", "~", "@", "\"", "'",
}

// scraps are pieces that random text is made of.
var scraps = append([]string{"\n", "\n", "\n", " ", " ", "  ", "\t", ",", "*", "#", "+", ":", "<", ">", "[", "]", "{", "}", "|", "\\", "a", "b c", "TODO", "\u200b", "\r\n"}, nasty...)

// scribble makes text of up to n scraps.
func scribble(r *rand.Rand, n int) string {
	var b strings.Builder
	for range r.IntN(n + 1) {
		b.WriteString(scraps[r.IntN(len(scraps))])
	}
	return b.String()
}

// outlines are whole texts to parse.
var outlines = []string{
	"", "\n", "x", "x\n", "* a", "* a\n", "*", "* ", "** a\n* b\n** c\n*** d\n* e\n", "pre\n\n* a\nbody\n\n\n* b",
	"* TODO a\n* DONE b\n* TODO\n* TODO \n* TODOx\n*  TODO\t x\n* todo x\n* TODO :a:\n* :a:\n*  :a:\n*   \n",
	"* [#A] a\n* TODO [#B] b :x:\n* [#A]b\n* [#1] c\n* [#ab] d\n* [#é] e\n* a [#C]\n* [#A]\n* [#A] :t:\n* [#C]:t:\n",
	"* COMMENT a\n* TODO [#A] COMMENT b :x:\n* COMMENT\n* COMMENT :x:\n",
	"* a :x:\n* a :x:y:\n* a :x: y\n* a:x:\n* a ::\n* a :::\n* a :x::y:\n* a :x-y:\n* a :é_@#%1:  \n* a  \t:x:\t\n* a :b: :c:\n* a :\n",
	"* a\nSCHEDULED: <2026-11-21 Sat>\nbody\n* b\nDEADLINE: <2026-11-21 Sat 10:00 +1w> SCHEDULED: <2026-11-20>--<2026-11-21> x\n:PROPERTIES:\n:ID: x\n:END:\nbody\n* c\nCLOSED: [2026-11-21 Sat 05:42]\n* d\n\nSCHEDULED: <2026-11-21 Sat>\n* e\nSCHEDULED: tomorrow\n* f\n  CLOSED:[2026-11-21]\tSCHEDULED:   <2026-11-21>\n",
	"* a\n:PROPERTIES:\n:A: 1\n:a: 2\n:B+:  x  y  \n:C:\n:D: \n:E:F: g\n:END: not\n :ID:   sp  \n  :END:  \nbody\n:PROPERTIES:\n:X: y\n:END:\n",
	"* a\n:PROPERTIES:\n:A: 1\nnot a property\n:END:\n* b\n:PROPERTIES:\n:A: 1\n* c\n:PROPERTIES:\n:END:\n* d\n\n:PROPERTIES:\n:A: 1\n:END:\n* e\n:properties:\n:A: 1\n:end:\n* f\n:PROPERTIES:\n:A:\t1\n:END:\n* g\n:PROPERTIES:\n:A: 1\n:END:\n:PROPERTIES:\n:B: 1\n:END:\n",
	"#+TODO: ASK(a) WAIT(w@/!) | OK(o) NO\n* ASK a\n* WAIT b\n* OK c\n* NO d\n* TODO e\n* ASK\n",
	"* FOO a\n#+begin_example\n#+TODO: BAD\n#+end_example\n* BAD b\n#+seq_todo: FOO\n  #+TYP_TODO: Fred Sara | Z\n* Fred c\n#+begin_src x\n#+TODO: OPEN\n* OPEN d\n",
	"* a\r\n:PROPERTIES:\r\n:A: 1\r\n:END:\r\nbody\r\n* TODO b :t:\r\n", "* a\n#+begin_src\n* b\n#+end_src\n", "a\n* b\n *c\n* \xff d\n", "\ufeff* a\n* b\n",
}

func init() {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "* h %d\ntext\n\n", i)
	}
	outlines = append(outlines, b.String())
}

// words are what heading lines are made of, rows what stands below them.
var (
	words = []string{"TODO", "DONE", "ASK", "todo", "x", "y z", "[#A]", "[#é]", "[#]]", "[#AB]", "COMMENT ", ":a:", ":a:b:", "::", ":a b:", ":é_@#%:", "a:b:", "\u3000", "\u200b", "[1/2]", "<2026-11-21 Sat>"}
	rows  = []string{
		"", "", "text", "SCHEDULED: <2026-11-21 Sat>", "  DEADLINE: <2026-11-21 Sat 10:00 +1w -2d>", "CLOSED: [2026-11-21 Sat]\tSCHEDULED: <2026-11-20 Fri>--<2026-11-21 Sat> x", "scheduled: later", "SCHEDULED:",
		":PROPERTIES:", ":PROPERTIES:", " :properties:\t", ":A: 1", ":A: 1", ":a:  x y  ", ":B+: 2", ":C:", ":D: ", ":E:\t1", ":F:G: h", ":Z :", ":é: ü", ":\u3000: x", ":a\u00a0b: x", ":END: x", ":END:", ":END:", "  :end:  ", "# note",
		"#+begin_example", "#+end_example", "#+begin_src x", "#+end_src", " - item", "***", "*x",
	}
)

// randomOutline is text of n lines that are structure or nearly so.
func randomOutline(r *rand.Rand, n int) string {
	var b strings.Builder
	b.WriteString("# -*- coding: utf-8 -*-\n#+TODO: TODO ASK(a/!) | DONE\n")
	for range n {
		if r.IntN(4) > 0 {
			b.WriteString(rows[r.IntN(len(rows))] + "\n")
			continue
		}
		b.WriteString(strings.Repeat("*", 1+r.IntN(4)))
		for range r.IntN(6) {
			b.WriteString([]string{" ", " ", " ", "  ", "\t", ""}[r.IntN(6)] + words[r.IntN(len(words))])
		}
		b.WriteString([]string{"\n", "\n", " \n", "\t\n"}[r.IntN(4)])
	}
	return b.String()
}
