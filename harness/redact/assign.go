package redact

import (
	"strings"
)

const quote = "(?:\\\\{0,3}[\"'`]|&quot;|&#34;)"

// behind is what may stand between a name and its value:
//
//	password: x     "password": "x"    PASSWORD=x    password := "x"   'password' => 'x'
//	password: str = "x"                var password string = "x"       "password", "x"
//	name: PASSWORD⏎ value: x           key="password" value="x"        password("x")
//	<password>x     (password . "x")   the password for y is x         password "x"
//	| password | x |
var behind = lazy(`\A(?P<named>` + quote + `)?\]?\*{0,2}(?:` +
	`(?P<pair>(?:</\w+>)?,?\s+(?:` + quote + `|<)?[Vv]alue(?:` + quote + `|>)?[ \t]*[:=]?[ \t]*)` +
	`|(?P<typed>(?:[ \t]*:[ \t]*|[ \t]+)(?:string|String\??|&(?:'static )?str|str|\[\]byte|std::string|char ?\*?|Optional\[str\]|SecretStr|str ?\| ?None|Text)(?:\[\])?[ \t]*=[ \t]*)` +
	`|(?P<sign>[ \t]*(?:\|\|=|\?=|:=|=>|={1,3}|!==?|->|:{1,2})\*{0,2}[ \t]*(?:[|>][-+]?[ \t]*\r?\n[ \t]+)?)` +
	`|(?P<comma>[ \t]*,[ \t]*)` +
	`|\(` +
	`|(?P<tag>>)` +
	`|(?P<is>(?:[ \t]+(?:for|of|to|on|at)(?:[ \t]+[\w.@-]+){1,3})?(?:[ \t]+(?:is|was)(?:[ \t]+(?:now|set to))?[ \t]*:?|:)[ \t]+)` +
	`|(?P<cell>[ \t]+\|[ \t]+)` +
	`|(?:[ \t]+\.[ \t]+)` +
	`|(?P<space>[ \t]+)` +
	`)(?:(?:\[\]byte|String::from|String|str|bytes|b64decode|Some|SecretStr|Secret|new SecureString|SecureString|Buffer\.from|pulumi\.secret|atob|std::string)\()?` +
	`(?:[bBrRfFuU@$L]{0,2}(?P<open>` + quote + `))?`)

// group is the number of a named group of behind.
func group(name string) int { return behind().SubexpIndex(name) }

// setter is what stands before the name where a space stands before the value.
var setter = lazy(`(?:^|[\s;&"'(])(?:ENV|ARG|setenv|setx|set(?: -[-\w]+)+|setq|defvar|config set(?: -[-\w]+)*) +\S*$`)

// plainStart is what may stand before a name on a line of settings.
var plainStart = lazy(`^[ \t]*(?:[-*>+] +)?(?:(?:export|set|ENV|ARG|local|readonly|declare -\w+|global|let|const|var) +)?(?:\$env:|[$"'])?[\w.-]*$`)

// assigned looks for a secret that the name around start is given.
func (f *finder) assigned(start, end int) {
	if start < f.nameEnd {
		return
	}
	s := f.s
	from := start
	for from > f.nameEnd && start-from <= maxName && isNameByte(s[from-1]) {
		from--
	}
	for end < len(s) && end-start <= maxName && isNameByte(s[end]) {
		end++
	}
	f.nameEnd = end
	if end-from > maxName {
		return
	}
	if from > 0 && s[from-1] == '\\' && strings.IndexByte("nrt", s[from]) >= 0 {
		from++ // the letter of an escape
	}
	name := strings.TrimLeft(s[from:end], "-.")
	flag := strings.HasPrefix(s[from:end], "--")
	t, kind := says(name)
	if from >= 3 && s[from-3:from] == "://" { // a user
		return
	}
	if t == nothing || name == "PASS" && end < len(s) && s[end] == ':' { // the verdict of a test
		return
	}
	m := behind().FindStringSubmatchIndex(s[end:min(len(s), end+200)])
	if m == nil {
		return
	}
	has := func(name string) bool { return m[2*group(name)] >= 0 }
	at := end + m[1]
	quoted := has("open")
	var stop int
	st := literal
	line := func() string { // before the name
		window := s[max(0, from-200):from]
		return window[strings.LastIndexByte(window, '\n')+1:]
	}
	switch {
	case quoted:
		mark := s[end+m[2*group("open")] : end+m[2*group("open")+1]]
		stop = closing(s, at, mark)
		if stop < 0 { // cut off
			stop = until(s, at, " ")
		}
		if has("comma") && !has("named") || has("space") && (strings.EqualFold(name, "pass") || stop-at > 0 && count(s[at:stop]).digits == 0) {
			return
		}
	case has("sign"):
		between := s[end+m[2*group("sign")] : end+m[2*group("sign")+1]]
		stop, st = bare(s, at, between, name, line())
	case has("tag"):
		if from == 0 || s[from-1] != '<' {
			return
		}
		stop = until(s, at, "<")
	case has("cell"):
		if !tableRow().MatchString(line()) {
			return
		}
		stop = until(s, at, " |")
	case has("is"), has("pair"):
		stop = until(s, at, " \"'`,;<>")
	case has("space"):
		stop = until(s, at, " \"'`;|&<>)")
		if !flag && !setter().MatchString(s[max(0, from-40):from]) {
			st = bareWord
		}
	default:
		return
	}
	if stop-at > long {
		if at >= f.valueEnd {
			f.valueEnd, f.valueTries = stop, 0
		}
		if f.valueTries++; f.valueTries > patience {
			return
		}
	}
	if !quoted {
		for stop > at && strings.IndexByte(".,:*)", s[stop-1]) >= 0 && st != shout {
			stop-- // the end of a sentence
		}
		if v := s[at:stop]; st != shout && (isExpression(v) || isName(v)) {
			return // code
		}
	}
	if isSecret(s[at:stop], t, st) {
		f.add(at, stop, kind, byName)
	}
}

// tableRow begins a row of a table.
var tableRow = lazy(`^[ \t]*\|`)

// isName says whether v is the name of a variable that holds a secret.
func isName(v string) bool {
	t, _ := says(v)
	return t != nothing && strings.IndexFunc(v, func(r rune) bool { return r > 0x7f || !isNameByte(byte(r)) }) < 0
}

// bare returns where a value without quotes ends, and how it is written.
// Before it stand, on its line, line, then the name and the sign.
func bare(s string, at int, between, name, line string) (stop int, st style) {
	tight := between == "="
	alone := plainStart().MatchString(line)
	upper := strings.ToUpper(name) == name
	if tight && (alone || upper && (line == "" || strings.IndexByte(" \t;\"'`:(", line[len(line)-1]) >= 0)) {
		stop = until(s, at, " \"'`;|<>")
		if i := escaped().FindStringIndex(s[at:stop]); i != nil {
			stop = at + i[0]
		}
		if i := strings.IndexByte(s[at:stop], '&'); i >= 0 && strings.Contains(s[at+i:stop], "=") {
			stop = at + i // a form
		}
		if upper {
			return stop, shout
		}
		return stop, literal
	}
	if alone {
		stop = until(s, at, " ")
		rest, _, _ := strings.Cut(s[stop:min(len(s), stop+longest)], "\n")
		rest = strings.TrimLeft(rest, " \t\r")
		if stop > at && strings.IndexByte(",;{(\"'", s[stop-1]) < 0 && (rest == "" || rest[0] == '#') {
			return stop, literal
		}
	}
	return until(s, at, " \"'`,;&<>)]}|\\"), loose
}

// escaped is the end of a line, or of a quoted text, within a quoted text.
var escaped = lazy(`\\(?:[nrt]|$)`)

// until returns where the first of the bytes of chars, or a control character,
// stands in s from at on.
func until(s string, at int, chars string) int {
	for i := at; i < len(s) && i <= at+longest; i++ {
		if s[i] < ' ' || strings.IndexByte(chars, s[i]) >= 0 {
			return i
		}
	}
	return min(len(s), at+longest+1)
}

// closing returns where a value that begins at at ends with mark, or -1.
func closing(s string, at int, mark string) int {
	part := s[at:min(len(s), at+longest)]
	for i := 0; i < len(part); i++ {
		switch {
		case part[i] == '\n':
			return -1
		case strings.HasPrefix(part[i:], mark):
			return at + i
		case part[i] == '\\' && len(mark) == 1:
			i++
		}
	}
	return -1
}

// isNameByte says whether c may stand in a name.
func isNameByte(c byte) bool { return isWordByte(c) || c == '-' || c == '.' }
