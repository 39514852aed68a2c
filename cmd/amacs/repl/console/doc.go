// Package console is the terminal under the REPL: the prompt, the keyboard and
// the printing. It knows nothing of what amacs does with a line.
//
// [Open] chooses one of three kinds:
//
//   - terminal: both ends are a tty and TERM names a real terminal. A line can
//     be typed and sent at any time, also while a reply streams above it.
//   - dumb terminal: a tty with TERM=dumb or none (Emacs comint, an editor's
//     shell). Lines are read as the kernel hands them over (4,096 bytes at
//     most each) and no escape sequence is ever written.
//   - pipe: anything else. No prompt; lines of any length, one for each
//     [Console.Next].
//
// What a person sees on a terminal is finished text and, below it, one live
// block that is erased and drawn again as a whole: the unfinished row of a
// reply, then the prompt with the line being typed.
//
//	amacs> why does it fail?
//
//	Looking at main.rs line 45, the issue is that you return a
//	reference to a local                                    <- live block
//	amacs (thinking 3s)> and [paste #1, 40 lines] too_      <-
//
// In the line a pasted text, a newline, a tab or a stray byte is one *cell*: a
// private-use rune that stands for a text and is shown as a label, so that the
// message comes out byte for byte. Pasted text is never syntax.
//
// A message may have several lines: `\` at the end of a line, a block between
// `"""` and `"""`, or a paste. It stays one entry of the history, a
// file of mode 0600 with one entry a line, the oldest first, in which `\\`,
// `\n` and `\r` stand for backslash, newline and carriage return:
//
//	why does it fail?
//	first line\nsecond line
//
// # Why readline edits and does not draw
//
// chzyer/readline holds the line and its editing keys. Its drawing is switched
// off: it is quadratic in the length of a line, misplaces the cursor in wide
// and wrapped text, and races with prints and with SIGWINCH. So the keyboard
// is decoded before it (keys.go), its state is read through its two callbacks
// (editor.go), and everything on the screen is written under one lock (screen.go).
//
// Begin reading with [Open], then editor.key.
package console
