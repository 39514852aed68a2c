package console

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/chzyer/readline"
)

// Keys that the editor handles itself, or that readline knows by a number that
// it would take for another key.
const (
	keyEnter rune = firstKey + iota
	keyInterrupt
	keyEnd // Ctrl-D: end of input, or delete
	keyDelete
	keyWordLeft
	keyWordRight
	keyCutWordLeft
	keyCutWordRight
	keyPasted // comes before what was pasted
)

// controls are the control characters that mean something; others are dropped.
var controls = map[byte]rune{
	'A' - '@': readline.CharLineStart, 'B' - '@': readline.CharBackward, 'C' - '@': keyInterrupt,
	'D' - '@': keyEnd, 'E' - '@': readline.CharLineEnd, 'F' - '@': readline.CharForward,
	'G' - '@': readline.CharBell, 'H' - '@': readline.CharBackspace, '\t': readline.CharTab,
	'\n': keyEnter, '\r': keyEnter, 'K' - '@': readline.CharKill, 'L' - '@': readline.CharCtrlL,
	'N' - '@': readline.CharNext, 'P' - '@': readline.CharPrev, 'R' - '@': readline.CharBckSearch,
	'S' - '@': readline.CharFwdSearch, 'T' - '@': readline.CharTranspose, 'U' - '@': readline.CharCtrlU,
	'W' - '@': keyCutWordLeft, 'Y' - '@': readline.CharCtrlY, 'Z' - '@': readline.CharCtrlZ,
	0x7f: readline.CharBackspace,
}

// sequences are what follows ESC, from xterm, tmux, screen, PuTTY, rxvt and
// the Linux console.
var sequences = map[string]rune{
	"[A": readline.CharPrev, "[B": readline.CharNext, "OA": readline.CharPrev, "OB": readline.CharNext,
	"[C": readline.CharForward, "[D": readline.CharBackward, "OC": readline.CharForward, "OD": readline.CharBackward,
	"[H": readline.CharLineStart, "[1~": readline.CharLineStart, "[7~": readline.CharLineStart, "OH": readline.CharLineStart,
	"[F": readline.CharLineEnd, "[4~": readline.CharLineEnd, "[8~": readline.CharLineEnd, "OF": readline.CharLineEnd,
	"[3~": keyDelete, "[3;5~": keyCutWordRight, "[3;3~": keyCutWordRight,
	"[1;5C": keyWordRight, "[1;3C": keyWordRight, "[5C": keyWordRight, "Oc": keyWordRight, "f": keyWordRight,
	"[1;5D": keyWordLeft, "[1;3D": keyWordLeft, "[5D": keyWordLeft, "Od": keyWordLeft, "b": keyWordLeft,
	"d": keyCutWordRight, "\x7f": keyCutWordLeft, "\x08": keyCutWordLeft, "OM": keyEnter,
}

const (
	pasteBegins = "[200~"
	pasteEnds   = "\x1b[201~"

	inlineBytes = 500 // a longer paste is a token
	inlineLines = 5   // so is one of more lines
)

// keyboard turns the bytes of a terminal, cut anywhere, into runes of a line
// and keys.
type keyboard struct {
	cells   *cells
	part    []byte // what can not be told yet: half a sequence, half a rune
	pasting bool
	paste   []byte
	pastes  int // so far, for their labels
}

func (k *keyboard) feed(b []byte) []rune {
	var out []rune
	b = append(k.part, b...)
	k.part = nil
	for len(b) > 0 {
		if k.pasting {
			var rs []rune
			rs, b = k.takePaste(b)
			out = append(out, rs...)
			continue
		}
		rs, n := k.next(b)
		if n == 0 {
			k.part = bytes.Clone(b)
			break
		}
		out = append(out, rs...)
		b = b[n:]
	}
	return out
}

// next reads one key or one run of text off b and says how many bytes it has;
// 0 if more must come first.
func (k *keyboard) next(b []byte) ([]rune, int) {
	if b[0] == 0x1b {
		return k.escape(b)
	}
	if b[0] < 0x20 || b[0] == 0x7f {
		if r, ok := controls[b[0]]; ok {
			return []rune{r}, 1
		}
		return nil, 1
	}
	n := bytes.IndexFunc(b, func(r rune) bool { return r < 0x20 || r == 0x7f })
	if n < 0 {
		n = whole(b)
	}
	text := string(b[:n])
	if n > inlineBytes { // nobody types that at once: a paste without its marks
		return []rune{k.cells.token("text", text, true)}, n
	}
	return k.cells.encode(text, false), n
}

// whole is len(b) without an unfinished rune at its end.
func whole(b []byte) int {
	for i := len(b) - 1; i >= 0 && i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return i
			}
			break
		}
	}
	return len(b)
}

// escape reads what begins with ESC. An ESC before something unknown is
// dropped alone, so that no letter is lost after a stray Escape key.
func (k *keyboard) escape(b []byte) ([]rune, int) {
	if len(b) == 1 {
		return nil, 0
	}
	n := 2
	switch b[1] {
	case '[':
		for n < len(b) && 0x20 <= b[n] && b[n] <= 0x3f {
			n++
		}
		if n == 2 && n < len(b) && b[n] == '[' { // a function key of the Linux console
			n++
		}
		n++
	case 'O':
		n = 3
	}
	if n > len(b) {
		return nil, 0
	}
	name := string(b[1:n])
	if name == pasteBegins {
		k.pasting = true
		return nil, n
	}
	if r, ok := sequences[name]; ok {
		return []rune{r}, n
	}
	if b[1] != '[' && b[1] != 'O' {
		return nil, 1
	}
	if last := b[n-1]; last < 0x20 || last == 0x1b || last >= 0x7f { // broken off
		return nil, n - 1
	}
	return nil, n
}

// takePaste moves b into the paste and returns the paste when it is complete,
// and the bytes behind it.
func (k *keyboard) takePaste(b []byte) (out []rune, rest []byte) {
	seen := max(0, len(k.paste)-len(pasteEnds))
	k.paste = append(k.paste, b...)
	i := bytes.Index(k.paste[seen:], []byte(pasteEnds))
	if i < 0 {
		return nil, nil
	}
	rest = k.paste[seen+i+len(pasteEnds):]
	// Terminals send the newlines of a paste as CR.
	text := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(k.paste[:seen+i]))
	k.paste, k.pasting = nil, false
	switch {
	case text == "":
		return nil, rest
	case len(text) <= inlineBytes && lines(text) <= inlineLines:
		out = k.cells.encode(text, true)
	default:
		k.pastes++
		out = []rune{k.cells.token(fmt.Sprintf("paste #%d", k.pastes), text, false)}
	}
	return append([]rune{keyPasted}, out...), rest
}
