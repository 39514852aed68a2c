package permit

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

// valuedOf are the options with a value of the programs that run another.
var valuedOf = map[string]string{
	"env": "-u --unset -C --chdir -S --split-string -P", "nice": "-n --adjustment", "ionice": "-c --class -n --classdata -p --pid",
	"timeout": "-k --kill-after -s --signal", "time": "-f --format -o --output", "stdbuf": "-i -o -e --input --output --error",
	"exec": "-a", "sudo": "-u --user -g --group -h --host -p --prompt -C -r --role -t --type -D --chdir -R --chroot -T -U", "doas": "-u -C",
	"pkexec": "--user", "chroot": "--userspec --groups", "unshare": "-S -G --map-user", "nsenter": "-t --target -S -G", "flock": "-w --timeout -E -c --command",
	"taskset": "-c -p", "chrt": "-p -T -P -D", "strace": "-e -o -p -s -u -P -E -S -a -b", "ltrace": "-e -o -p -s -u -n", "systemd-run": "-p --property -u --unit --uid --gid --slice -M --machine -E --setenv",
	"firejail": "", "proot": "-r -b -w -0 -S -R", "choom": "-n -p", "caffeinate": "-t -w", "rlwrap": "-a -b -f -H -p", "xvfb-run": "-n -s -a -e -f -p -w", "run0": "-u --user",
}

// asking are the wrappers that change who runs or what is seen, with the reason.
var asking = map[string]string{
	"sudo": "it runs as another user", "doas": "it runs as another user", "pkexec": "it runs as another user", "run0": "it runs as another user",
	"chroot": "it runs in another root", "unshare": "it runs in a space of its own", "nsenter": "it runs in another's space", "strace": "it looks into a process",
	"ltrace": "it looks into a process", "systemd-run": "it starts a service", "proot": "it runs in another root", "firejail": "it runs in a space of its own",
	"torsocks": "it reaches the network", "proxychains": "it reaches the network", "entr": "it runs again at each change", "setsid": "it runs on by itself", "nohup": "it runs on by itself",
	"flock": "it takes a lock", "rlwrap": "it keeps what is typed", "xvfb-run": "it starts a screen", "dbus-run-session": "it starts a bus", "fakeroot": "it pretends to be root",
}

// wrapper runs another command that stands in its arguments.
func wrapper(name string) program {
	return func(j *judge, c call, args []string) flow {
		if why, ok := asking[name]; ok {
			j.find(finding{tier: Ask, why: why, kind: exactly(c.argv), words: c.argv, dir: c.dir(), firm: name == "sudo" || name == "doas" || name == "pkexec"})
		}
		takes := strings.Fields(valuedOf[name])
		inner := c
		i := 0
		for ; i < len(args); i++ {
			a := args[i]
			if strings.Contains(a, unknown) && i == 0 {
				j.blind(c, "it is not known which program runs")
			}
			if a == "--" {
				i++
				break
			}
			if a == "-" && name == "env" {
				continue
			}
			if strings.HasPrefix(a, "-") && len(a) > 1 {
				switch {
				case name == "command" && strings.ContainsAny(a, "vV"):
					return flow{}
				case name == "sudo" && (a == "-e" || a == "--edit" || a == "-l" || a == "-v" || a == "-k"):
					for _, p := range args[i+1:] {
						if a == "-e" || a == "--edit" {
							j.writes(c, p, false)
						}
					}
					return flow{}
				case name == "env" && (a == "-S" || strings.HasPrefix(a, "-S") || strings.HasPrefix(a, "--split")):
					rest := strings.TrimPrefix(a, "-S")
					if rest == "" || strings.HasPrefix(a, "--") {
						_, rest, _ = strings.Cut(a, "=")
						if rest == "" && i+1 < len(args) {
							i++
							rest = args[i]
						}
					}
					return j.text(strings.Join(append([]string{rest}, args[i+1:]...), " "), c.at, c.in, false)
				case name == "flock" && (a == "-c" || a == "--command"):
					if i+1 < len(args) {
						return j.text(args[i+1], j.child(c.at), c.in, false)
					}
				case name == "env" && (a == "-i" || a == "--ignore-environment"):
					j.exported(c, c.at.copy(), "every variable", "")
				case name == "env" && (strings.HasPrefix(a, "-u") && len(a) > 2 || strings.HasPrefix(a, "--unset=")):
					j.exported(c, c.at.copy(), strings.TrimPrefix(strings.TrimPrefix(a, "-u"), "--unset="), "")
				case slices.Contains(takes, a):
					if i+1 < len(args) && name == "env" && (a == "-u" || a == "--unset") {
						j.exported(c, c.at.copy(), args[i+1], "")
					}
					if i++; i < len(args) && (name == "env" && (a == "-C" || a == "--chdir") || a == "-D" && name == "sudo") {
						at := c.at.copy()
						at.cwd = j.enter(args[i], at)
						inner.at = at
					}
					if i < len(args) && (a == "-o" || a == "--output") && name != "stdbuf" {
						j.writes(c, args[i], false)
					}
				}
				continue
			}
			if n, v, ok := strings.Cut(a, "="); ok && n != "" && strings.Trim(n, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == "" {
				if inner.at == c.at {
					inner.at = c.at.copy()
				}
				j.exported(c, inner.at, n, v)
				continue
			}
			break
		}
		switch name { // an operand before the command
		case "timeout", "gtimeout", "chroot", "setarch", "flock", "chrt":
			i++
		case "taskset":
			if !slices.Contains(args[:min(i, len(args))], "-c") {
				i++
			}
		}
		if i >= len(args) {
			switch name {
			case "env":
				j.asks(c, "env", "it prints all variables")
			case "sudo", "doas", "pkexec", "chroot", "unshare", "nsenter":
				j.blind(c, "it opens a shell")
			}
			return flow{}
		}
		inner.argv = args[i:]
		if name == "exec" && i < len(args) || name != "env" && inner.at == c.at {
			inner.at = c.at
		}
		out := j.call(inner)
		if inner.at != c.at {
			j.join(c.at, inner.at)
		}
		return out
	}
}

// shell is sh and its kin.
func shell(name string) program {
	return func(j *judge, c call, args []string) flow {
		valued := strings.Fields("-o +o -O +O --rcfile --init-file")
		code, isCode := "", false
		i := 0
		for ; i < len(args); i++ {
			a := args[i]
			if a == "--" || a == "-" {
				i++
				break
			}
			if strings.Contains(a, unknown) || strings.Contains(a, star) {
				j.blind(c, "it is not known what the shell runs")
				return flow{}
			}
			if len(a) < 2 || a[0] != '-' && a[0] != '+' {
				break
			}
			if strings.HasPrefix(a, "--") {
				switch {
				case a == "--version" || a == "--help":
					return flow{}
				case slices.Contains(valued, a):
					i++
				}
				if a != "--norc" && a != "--noprofile" && a != "--posix" && a != "--login" {
					j.blind(c, "it is not known what the shell runs")
				}
				continue
			}
			isCode = isCode || strings.Contains(a, "c") && a[0] == '-'
			if strings.ContainsAny(a, "il") && a[0] == '-' && name != "sh" && name != "dash" {
				j.starts(c)
			}
			if strings.HasSuffix(a, "o") || strings.HasSuffix(a, "O") {
				i++
			}
		}
		rest := args[min(i, len(args)):]
		at := j.child(c.at)
		at.args, at.sure = nil, true
		switch {
		case isCode && len(rest) > 0:
			code = rest[0]
			if len(rest) > 1 {
				at.args = rest[2:]
			}
			at.sure = !slices.ContainsFunc(at.args, func(a string) bool { return strings.Contains(a, unknown) })
			if strings.Contains(code, unknown) {
				j.blind(c, "it is not known what the shell runs")
			}
			if name == "zsh" || name == "fish" || strings.HasSuffix(name, "csh") || name == "pwsh" {
				j.find(finding{tier: Ask, why: "it is a text for " + name, kind: exactly(c.argv), words: c.argv, dir: c.dir(), firm: true})
			}
			return j.text(strings.ReplaceAll(code, star, "*"), at, c.in, false)
		case len(rest) > 0 && rest[0] != "/dev/stdin":
			if rest[0] == "/dev/fd/63" {
				j.blind(c, "it runs what another command prints")
				return flow{}
			}
			j.asks(c, name+" "+rest[0], "it runs a script: "+rest[0])
			j.reads(c, rest[0], false)
		case c.in.known && !c.in.paths:
			if strings.TrimSpace(c.in.text) == "" {
				j.blind(c, "it opens a shell")
				return flow{}
			}
			return j.text(c.in.text, at, flow{}, false)
		default:
			j.find(finding{tier: Ask, why: "it runs what it is given, which is not known before", kind: exactly(append(slices.Clone(c.argv), "|")), words: c.argv, dir: c.dir(), firm: true})
		}
		return flow{}
	}
}

// starts asks because a shell's start files run too.
func (j *judge) starts(c call) {
	j.asks(c, c.argv[0]+" -l", "the shell's start files run too")
}

func eval(j *judge, c call, args []string) flow {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	src := strings.Join(args, " ")
	if strings.Contains(src, unknown) {
		j.blind(c, "it is not known what is evaluated")
	}
	return j.text(strings.ReplaceAll(src, star, "*"), c.at, c.in, false)
}

func source(j *judge, c call, args []string) flow {
	j.blind(c, "it runs a script in this shell")
	for _, a := range args[:min(1, len(args))] {
		j.reads(c, a, false)
	}
	if len(args) > 0 && args[0] == "/dev/stdin" && c.in.known {
		j.text(c.in.text, c.at, flow{}, false)
	}
	return flow{}
}

// texts are programs that hand a text to a shell, now or later.
func texts(name string) program {
	return func(j *judge, c call, args []string) flow {
		switch name {
		case "crontab":
			if o := options(args, "-u"); o.has("-l") && len(o.rest) == 0 && !o.has("-r", "-e") {
				j.asks(c, "crontab -l", "it reads what runs by the clock")
				return flow{}
			}
			j.find(finding{tier: Ask, why: "it changes what runs by the clock", kind: exactly(c.argv), words: c.argv, dir: c.dir(), firm: true})
			if c.in.known {
				for line := range strings.Lines(c.in.text) {
					if f := strings.Fields(line); len(f) > 1 {
						for n := range f {
							j.probe(strings.Join(f[n:], " "), c.at)
						}
					}
				}
			}
			return flow{}
		case "at", "batch":
			j.blind(c, "it runs later")
			if c.in.known {
				j.probe(c.in.text, c.at)
			}
			return flow{}
		}
		o := options(args, map[string]string{"su": "-c --command -s --shell -g -G", "watch": "-n --interval", "script": "-c --command -O -o -I -B -T -m -E"}[name])
		j.find(finding{tier: Ask, why: map[string]string{"su": "it runs as another user", "watch": "it runs without end", "script": "it records a terminal"}[name], kind: exactly(c.argv), words: c.argv, dir: c.dir(), firm: true})
		if name == "watch" {
			return j.text(strings.Join(o.rest, " "), j.child(c.at), c.in, false)
		}
		for _, code := range o.values("-c", "--command") {
			j.text(strings.ReplaceAll(code, star, "*"), j.child(c.at), c.in, false)
		}
		return flow{}
	}
}

func trap(j *judge, c call, args []string) flow {
	if len(args) > 1 && args[0] != "-" {
		if strings.Contains(args[0], unknown) {
			j.blind(c, "it is not known what is evaluated")
		}
		j.text(args[0], c.at.copy(), flow{}, false)
	}
	return flow{}
}

func alias(j *judge, c call, args []string) flow {
	for _, a := range args {
		if name, code, ok := strings.Cut(a, "="); ok {
			j.asks(c, "alias "+name, "it gives a command another meaning")
			j.probe(code, c.at)
		}
	}
	return flow{}
}

// interpreter runs code that is not looked into, but for what is never done.
func interpreter(name string) program {
	return func(j *judge, c call, args []string) flow {
		for i, a := range args {
			if (a == "--version" || a == "-V" || a == "-version" || a == "--help") && len(args) == 1 {
				return flow{}
			}
			if name == "node" && a == "-v" && len(args) == 1 || i == 0 && len(args) == 1 && name == "perl" && a == "-v" || name == "ruby" && a == "-v" && len(args) == 1 || name == "php" && a == "-v" && len(args) == 1 {
				return flow{}
			}
		}
		if _, ok := tools[name]; ok && j.toolKnows(name, c, args) {
			return flow{}
		}
		j.find(finding{tier: Ask, why: "it runs code in " + name, kind: exactly(c.argv), words: c.argv, dir: c.dir()})
		codes := slices.Clone(args)
		if c.in.known && !c.in.paths {
			codes = append(codes, c.in.text)
		}
		for _, code := range codes {
			j.code(c, code)
		}
		return flow{}
	}
}

var (
	quotedText = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|` + "`([^`]*)`" + `|%x?[({]([^)}]*)[)}]|qx/([^/]*)/`)
	removing   = regexp.MustCompile(`(?i)rmtree|rmdir|rm_r|remove_tree|rmsync|fs\.rm|remove_entry|removeall|unlink|deletefile|file-delete|delete-directory|rimraf|shred|truncate|system-?remove|delete folder|\.rm\(`)
	shelling   = regexp.MustCompile(`(?i)system|exec|spawn|popen|subprocess|shell|run\(|call\(|qx|backtick|do shell script|` + "`" + `|%x|call-process|\.sh\b|os\.|proc`)
	homeCall   = regexp.MustCompile(`(?i)expanduser|path\.home|os\.homedir|homedir\(\)|dir\.home|env\[?.?['"]?home|getenv\(.home`)
)

// code looks for what is never done in the code of another language: texts
// that it hands to a shell, and folders that it removes.
func (j *judge) code(c call, code string) {
	was := j.probing
	j.probing = true
	defer func() { j.probing = was }()
	removes, runs := removing.MatchString(code), shelling.MatchString(code)
	if !removes && !runs {
		return
	}
	var words []string
	for _, m := range quotedText.FindAllStringSubmatch(code, 64) {
		for _, s := range m[1:] {
			if s == "" {
				continue
			}
			s = strings.ReplaceAll(strings.ReplaceAll(s, `\"`, `"`), `\'`, `'`)
			words = append(words, s)
			if runs {
				j.text(s, c.at.copy(), flow{}, false)
			}
			if removes && (strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~")) {
				j.removes(c, s, true)
			}
			if removes && homeCall.MatchString(code) && (s == "~" || s == "HOME" || strings.HasPrefix(s, "~/")) {
				j.removes(c, "~", true)
			}
		}
	}
	if removes && len(words) == 0 && homeCall.MatchString(code) {
		j.removes(c, "~", true)
	}
	for i, w := range words { // ["rm", "-rf", "/"]
		if runs && programOf(w) != nil && i+1 < len(words) {
			j.call(c.with(words[i:]))
		}
	}
}

func awk(j *judge, c call, args []string) flow {
	o := options(args, "-F -v -f -e -i -E --field-separator --assign --file --source --include --exec -l --load")
	files := o.rest
	var codes []string
	if o.has("-f", "--file", "-i", "--include", "-E", "--exec", "-l", "--load") {
		j.asks(c, "awk -f", "it runs a script of awk")
	} else if codes = o.values("-e", "--source"); len(codes) == 0 && len(files) > 0 {
		codes, files = files[:1], files[1:]
	}
	if o.has("-o", "--pretty-print", "-p", "--profile", "-d", "--dump-variables") {
		j.asks(c, "awk -o", "it writes a file")
	}
	for _, code := range codes {
		if strings.Contains(code, unknown) || awkActs.MatchString(code) {
			j.find(finding{tier: Ask, why: "its program writes or runs something", kind: exactly(c.argv), words: c.argv, dir: c.dir()})
			j.code(c, code)
		}
	}
	for _, f := range files {
		if !strings.Contains(f, "=") {
			j.reads(c, f, false)
		}
	}
	return flow{paths: c.in.paths, text: c.in.text, known: c.in.paths}
}

var awkActs = regexp.MustCompile(`(?s)print.*(>|\|)|getline|system|ENVIRON|@|close\s*\(|fflush`)

func sed(j *judge, c call, args []string) flow {
	o := options(args, "-e -f -l --expression --file --line-length")
	files, codes := o.rest, o.values("-e", "--expression")
	if o.has("-f", "--file") {
		j.asks(c, "sed -f", "it runs a script of sed")
	} else if len(codes) == 0 && len(files) > 0 {
		codes, files = files[:1], files[1:]
	}
	for _, code := range codes {
		if strings.Contains(code, unknown) || !calmSed(code) {
			j.find(finding{tier: Ask, why: "its script writes or runs something", kind: exactly(c.argv), words: c.argv, dir: c.dir()})
			j.code(c, strings.TrimLeft(code, "0123456789,$ e"))
		}
	}
	inPlace := o.has("-i", "--in-place", "-I")
	for _, f := range args { // -ibak, -i.orig, -Ei
		inPlace = inPlace || strings.HasPrefix(f, "-i") || strings.HasPrefix(f, "--in")
	}
	for _, f := range files {
		if strings.HasPrefix(f, star) {
			j.blind(c, "a file's name may be an option of sed: write ./ before it")
		}
		if inPlace {
			j.writes(c, f, false)
		} else {
			j.reads(c, f, false)
		}
	}
	return flow{}
}

var (
	sedAddress = regexp.MustCompile(`^(\d+(~\d+)?|\$|/(\\.|[^/\\\n])*/[IM]*)(\s*,\s*(\+?\d+|~\d+|\$|/(\\.|[^/\\\n])*/[IM]*))?`)
	sedFlags   = regexp.MustCompile(`^[gpiI0-9]*`)
)

// calmSed says that a script of sed does nothing but print.
func calmSed(s string) bool {
	for {
		s = strings.TrimLeft(s, " \t\n;{}")
		if s == "" {
			return true
		}
		s = strings.TrimLeft(s[len(sedAddress.FindString(s)):], " \t!{")
		if s == "" {
			return false
		}
		switch s[0] {
		case 'p', 'd', 'q', 'Q', '=', 'n', 'N', 'D', 'P', 'h', 'H', 'g', 'G', 'x', 'l', 'z':
			s = s[1:]
		case 's', 'y':
			if len(s) < 2 || s[1] == '\n' || s[1] == '\\' {
				return false
			}
			delimiter, i := s[1], 2
			for n := 0; n < 2; n++ {
				for i < len(s) && s[i] != delimiter {
					if s[i] == '\\' {
						i++
					}
					i++
				}
				i++
			}
			if i > len(s) {
				return false
			}
			s = s[i:]
			s = s[len(sedFlags.FindString(s)):]
		default:
			return false
		}
		if s != "" && strings.IndexByte(" \t\n;}", s[0]) < 0 {
			return false
		}
	}
}

// says is echo and printf: what they print may be code for the next.
func says(name string) program {
	return func(j *judge, c call, args []string) flow {
		if name == "echo" {
			escapes := false
			for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' && strings.Trim(args[0][1:], "neE") == "" {
				escapes = escapes || strings.Contains(args[0], "e")
				args = args[1:]
			}
			text := strings.Join(args, " ")
			if escapes {
				text = ansi(text)
			}
			return spoken(text + "\n")
		}
		if len(args) > 1 && args[0] == "-v" {
			j.variable(c, args[1])
			return flow{known: true}
		}
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
		if len(args) == 0 || strings.Contains(args[0], unknown) {
			return flow{}
		}
		return spoken(printf(args[0], args[1:]))
	}
}

func spoken(text string) flow {
	if strings.Contains(text, unknown) {
		return flow{}
	}
	return flow{text: strings.ReplaceAll(text, star, "*"), known: true}
}

// printf is what the shell's printf prints; unknown where it does more than %s.
func printf(format string, args []string) string {
	out := ""
	for round := 0; round == 0 || len(args) > 0 && round < most; round++ {
		used := false
		for i := 0; i < len(format); i++ {
			switch {
			case format[i] == '\\' && i+1 < len(format):
				end := i + 2
				for end < len(format) && end < i+5 && strings.IndexByte("0123456789abcdefABCDEF", format[end]) >= 0 {
					end++
				}
				// as long as it is one escape
				for end > i+2 && len(ansi(format[i:end])) > 1 {
					end--
				}
				out += ansi(format[i:end])
				i = end - 1
			case format[i] == '%' && i+1 < len(format):
				i++
				arg := ""
				if format[i] == '%' {
					out += "%"
					continue
				}
				if len(args) > 0 {
					arg, args = args[0], args[1:]
				}
				used = true
				switch format[i] {
				case 's', 'd', 'i', 'u', 'c':
					out += arg
				case 'b':
					out += ansi(arg)
				default:
					return unknown
				}
			default:
				out += format[i : i+1]
			}
		}
		if !used {
			break
		}
	}
	return out
}

// decoded is what base64 -d, xxd -r and rev make of a known text.
func decoded(name string, o opts, in flow) flow {
	if !in.known || in.paths || len(o.rest) > 0 {
		return flow{}
	}
	switch {
	case name == "base64" && o.has("-d", "-D", "--decode"):
		if b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(in.text), "")); err == nil && plain(string(b)) {
			return flow{text: string(b), known: true}
		}
	case name == "xxd" && o.has("-r"):
		if b, err := hex.DecodeString(strings.Join(strings.Fields(in.text), "")); err == nil && plain(string(b)) {
			return flow{text: string(b), known: true}
		}
	case name == "rev":
		var out []string
		for line := range strings.Lines(in.text) {
			r := []rune(strings.TrimSuffix(line, "\n"))
			slices.Reverse(r)
			out = append(out, string(r)+"\n")
		}
		return flow{text: strings.Join(out, ""), known: true}
	case name == "cat" || name == "tac":
		return in
	}
	return flow{}
}

// variables are the builtins that set variables to what is not known.
func variables(name string) program {
	return func(j *judge, c call, args []string) flow {
		o := options(args, "-p -d -n -N -t -u -a -i -O -s -C -c")
		switch name {
		case "read", "mapfile", "readarray", "getopts":
			fed := value{unknown}
			if name == "read" && c.in.known {
				fed = nil
				for line := range strings.Lines(c.in.text) {
					fed = union(fed, value{globs(strings.TrimSpace(line))})
				}
				if len(fed) == 0 || len(o.rest) != 1 && !c.in.paths {
					fed = value{unknown}
				}
			}
			names := append(o.rest, o.values("-a")...)
			if name == "getopts" && len(names) > 0 {
				names = append(names[1:2:2], "OPTARG")
			}
			if len(names) == 0 {
				names = []string{"REPLY", "MAPFILE"}
			}
			for _, n := range names {
				j.variable(c, n)
				c.at.set(n, fed)
			}
		case "unset":
			for _, n := range o.rest {
				j.variable(c, n)
				c.at.set(n, value{""})
			}
		case "shift":
			c.at.args, c.at.sure = nil, false
		case "set":
			if len(args) == 0 {
				j.asks(c, "env", "it prints all variables")
			}
			for i, a := range args {
				if a == "--" || !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "+") {
					c.at.args = args[i:]
					if a == "--" {
						c.at.args = args[i+1:]
					}
					c.at.sure = !strings.Contains(strings.Join(args, " "), unknown)
					break
				}
			}
		}
		return flow{known: true}
	}
}

// variable judges a name that is worked out when the builtin runs.
func (j *judge) variable(c call, name string) {
	if strings.ContainsAny(name, "[$`(") || strings.Contains(name, unknown) {
		j.blind(c, "a variable's name that runs something")
		return
	}
	j.assigned(c, c.at, name, value{unknown})
}

func test(j *judge, c call, args []string) flow {
	for _, a := range args {
		if strings.Contains(a, "$(") || strings.Contains(a, "`") {
			j.blind(c, "a command is hidden in arithmetic")
		}
	}
	return flow{known: true}
}

func printenv(j *judge, c call, args []string) flow {
	for _, a := range args {
		if strings.HasPrefix(a, "-") && len(args) > 1 {
			continue
		}
		if !slices.Contains(strings.Fields("PATH HOME USER SHELL PWD LANG TERM EDITOR PAGER TZ LOGNAME HOSTNAME GOPATH GOROOT GOFLAGS JAVA_HOME VIRTUAL_ENV DISPLAY TMPDIR OLDPWD"), a) {
			j.asks(c, "printenv "+a, "it may print a secret: "+shown(a))
		}
	}
	if len(args) == 0 {
		j.asks(c, "env", "it prints all variables")
	}
	return flow{}
}

// enter is where a folder named p is, from each place where at may be.
func (j *judge) enter(p string, at *scope) (out []string) {
	for _, pl := range j.places(p, at.cwd) {
		if !pl.sure {
			out = union(out, []string{unknown})
			continue
		}
		out = union(out, []string{pl.path})
	}
	return out
}

func cd(j *judge, c call, args []string) flow {
	var o []string
	for _, a := range args {
		if !slices.Contains([]string{"-L", "-P", "-e", "-@", "--", "-n"}, a) {
			o = append(o, a)
		}
	}
	var to []string
	switch {
	case c.argv[0] == "popd" || len(o) == 1 && o[0] == "-" || len(o) == 1 && strings.HasPrefix(o[0], "+"):
		to = []string{unknown}
	case len(o) == 0 && c.argv[0] == "cd":
		to = j.enter("~", c.at)
	case len(o) == 0:
		to = []string{unknown}
	default:
		to = j.enter(o[0], c.at)
		if strings.Trim(o[0], unknown) == "" { // nothing may be left of it
			to = union(to, j.enter("~", c.at))
		}
	}
	if cdpath, ok := j.Vars["CDPATH"]; ok && cdpath != "" {
		to = union(to, []string{unknown})
	}
	c.at.cwd = union(c.at.cwd, to)
	c.at.narrow = to
	return flow{}
}

// itself is amacs: the agent can not approve itself.
func itself(name string) program {
	reading := strings.Fields("log diff status version help cost context")
	return func(j *judge, c call, args []string) flow {
		if name == "amacs" && slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") }) {
			for _, a := range args {
				if slices.Contains(reading, a) {
					j.asks(c, "amacs "+a, "it runs amacs within amacs")
					return flow{}
				}
				if !strings.HasPrefix(a, "-") && !strings.Contains(a, "/") {
					break
				}
			}
		} else if len(args) == 1 && (args[0] == "--version" || args[0] == "--help") {
			return flow{}
		}
		j.refuses(c, name, "the agent can not speak for the human to itself")
		return flow{}
	}
}
