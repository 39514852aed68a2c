package permit

import (
	"regexp"
	"slices"
	"strings"
)

// reader is a program that only reads, of its options what matters here.
type reader struct {
	valued string // flags that take a value
	asks   string // flags that make it write, run or send something
	reads  string // flags whose value is a path that it reads
	first  bool   // the first operand is a pattern, unless a flag of given gives it
	given  string
	none   bool // its operands are no paths
	here   bool // without operands it reads the folder that it is in
	second bool // a second operand is written
	names  bool // what it prints are paths of what it reads
	passes bool // what it prints are some of the lines that it reads
}

var plainReader = reader{}
var noPaths = reader{none: true}

const grepValued = "-A -B -C -m -e -f -d -D --after-context --before-context --context --max-count --regexp --file --include --exclude --exclude-dir --exclude-from --color --colour --label"

var grepReader = reader{valued: grepValued, reads: "-f --file --exclude-from", first: true, given: "-e -f --regexp --file", here: true, passes: true}

var readers = map[string]reader{
	"cat": {passes: true}, "tac": {passes: true}, "nl": plainReader, "rev": plainReader, "head": {valued: "-n -c --lines --bytes", passes: true}, "tail": {valued: "-n -c --lines --bytes -s --pid --sleep-interval", passes: true},
	"wc": {reads: "--files0-from"}, "cut": {valued: "-d -f -c -b --delimiter --fields --output-delimiter"}, "sort": {valued: "-k -t -S -T --key --field-separator --parallel --buffer-size --batch-size --sort", asks: "-o --output --compress-program -T --temporary-directory", reads: "--files0-from --random-source", passes: true},
	"uniq": {valued: "-f -s -w", second: true, passes: true}, "tr": noPaths, "paste": {valued: "-d"}, "join": {valued: "-1 -2 -t -o -e -a -v -j"}, "comm": plainReader, "diff": {valued: "-U -C -I -x -X -F -L --label -W --width --color", reads: "-X --exclude-from --from-file --to-file"},
	"cmp": {valued: "-n -i"}, "diff3": plainReader, "sdiff": {asks: "-o --output --diff-program"}, "colordiff": {valued: "-U -C"}, "file": {valued: "-F -P -e", asks: "-C --compile", reads: "-f -m --files-from --magic-file"},
	"stat": {valued: "-c -f --format --printf -t"}, "ls": {valued: "-I -w -T --ignore --hide --time-style --sort --format", here: true, names: true}, "dir": {here: true}, "vdir": {here: true}, "ll": {here: true}, "la": {here: true}, "exa": {here: true, valued: "-L -I -s"}, "eza": {here: true, valued: "-L -I -s"}, "lsd": {here: true},
	"tree": {valued: "-L -P -I --filelimit --charset", asks: "-o -R", reads: "--fromfile --gitfile", here: true}, "du": {valued: "-d -B -t --max-depth --exclude --block-size --threshold", reads: "-X --exclude-from --files0-from", here: true}, "df": {none: true, valued: "-B -t -x"}, "ncdu": {here: true, asks: "-o -f -e"},
	"md5sum": plainReader, "sha1sum": plainReader, "sha224sum": plainReader, "sha256sum": plainReader, "sha384sum": plainReader, "sha512sum": plainReader, "b2sum": plainReader, "cksum": plainReader, "sum": plainReader, "md5": plainReader, "shasum": {valued: "-a"}, "crc32": plainReader,
	"od": {valued: "-A -t -j -N -w -S"}, "hexdump": {valued: "-n -s -e", reads: "-f"}, "hd": plainReader, "xxd": {valued: "-l -s -c -g -o", second: true}, "strings": {valued: "-n -t -e"},
	"readlink": plainReader, "realpath": {valued: "--relative-to --relative-base"}, "basename": {none: true, valued: "-s"}, "dirname": noPaths, "pathchk": noPaths,
	"grep": grepReader, "egrep": grepReader, "fgrep": grepReader, "ggrep": grepReader, "zgrep": grepReader, "rgrep": grepReader,
	"rg": {valued: grepValued + " -g -t -T -j -r -E -M --glob --iglob --type --type-not --max-depth --replace --sort --sortr --threads --encoding --max-columns --max-filesize --context-separator --colors -d", asks: "--pre --hostname-bin --ignore-file", reads: "-f --file --ignore-file", first: true, given: "-e -f --regexp --file --files --type-list", here: true, names: true},
	"ag": {valued: "-A -B -C -G -m --depth --ignore", asks: "--pager", first: true, here: true}, "fd": {valued: "-e -t -d -E -g -c -j -S -o --extension --type --max-depth --exclude --min-depth --size --changed-within --changed-before", asks: "-x -X --exec --exec-batch", reads: "--ignore-file --base-directory -C --search-path", first: true, here: true, names: true},
	"fdfind": {valued: "-e -t -d -E -j -S", asks: "-x -X --exec --exec-batch", first: true, here: true, names: true},
	"jq":     {valued: "--indent --arg --argjson --tab", reads: "-f --from-file --slurpfile --rawfile -L", first: true, given: "-f --from-file"}, "yq": {asks: "-i --inplace -s --split-exp", first: true, valued: "-o -p -I --indent"}, "gron": plainReader, "xmllint": {valued: "--xpath --encode", asks: "-o --output --shell"}, "tidy": {asks: "-m -o -f"},
	"column": {valued: "-s -t -o -c -N -H"}, "fold": {valued: "-w"}, "fmt": {valued: "-w"}, "expand": {valued: "-t"}, "unexpand": {valued: "-t"}, "pr": {valued: "-l -w -h"}, "tsort": plainReader, "look": {first: true}, "numfmt": noPaths, "factor": noPaths,
	"less": {asks: "-o -O --log-file --LOG-FILE -k --lesskey-src", valued: "-p -t -x -j"}, "more": plainReader, "most": plainReader, "bat": {valued: "-l -r -H --language --line-range --style --theme --color --paging", asks: "--pager"}, "batcat": {valued: "-l -r", asks: "--pager"}, "zcat": plainReader, "bzcat": plainReader, "xzcat": plainReader, "zless": plainReader, "zstdcat": plainReader, "gzcat": plainReader,
	"base64": {valued: "-w -i", asks: "-o"}, "base32": {valued: "-w"}, "iconv": {valued: "-f -t", asks: "-o --output"}, "uuencode": plainReader, "seq": noPaths, "yes": noPaths, "jot": noPaths, "shuf": {valued: "-n -i", asks: "-o --output"}, "tput": noPaths, "clear": noPaths,
	"true": noPaths, "false": noPaths, ":": noPaths, "pwd": noPaths, "date": {none: true, valued: "-d -I -f -v", asks: "-s --set", reads: "-r -f --file --reference"}, "whoami": noPaths, "id": noPaths, "groups": noPaths, "who": noPaths, "w": noPaths, "users": noPaths, "logname": noPaths, "tty": noPaths, "uname": noPaths, "arch": noPaths, "uptime": noPaths,
	"nproc": noPaths, "free": noPaths, "vmstat": noPaths, "iostat": noPaths, "mpstat": noPaths, "lscpu": noPaths, "lsblk": noPaths, "lsusb": noPaths, "lspci": noPaths, "lsmod": noPaths, "lsof": noPaths, "ps": {none: true, valued: "-p -u -o -C --sort"}, "pgrep": noPaths, "pstree": noPaths, "pidof": noPaths, "top": {none: true, asks: ""}, "fuser": {none: true, asks: "-k --kill"},
	"which": noPaths, "whereis": noPaths, "type": noPaths, "hash": {none: true, asks: "-p"}, "whatis": noPaths, "apropos": noPaths, "man": {none: true, asks: "-P --pager -H --html -C -M -X -l"}, "info": {none: true, asks: "-o --output -f --file"}, "help": noPaths, "tldr": noPaths,
	"expr": noPaths, "bc": plainReader, "sleep": noPaths, "locale": noPaths, "getconf": noPaths, "getent": noPaths, "cal": noPaths, "ncal": noPaths, "jobs": noPaths, "times": noPaths, "wait": noPaths, "umask": noPaths, "dirs": noPaths, "shopt": noPaths, "ulimit": noPaths, "exit": noPaths, "return": noPaths, "break": noPaths, "continue": noPaths, "logout": noPaths,
	"netstat": noPaths, "ss": {none: true, asks: "-K --kill -D"}, "nm": plainReader, "objdump": plainReader, "readelf": plainReader, "size": plainReader, "cloc": {here: true, asks: "--out --report-file --vcs --extract-with --config --diff-list-file --sql --write-lang-def", valued: "--exclude-dir --include-lang"}, "tokei": {here: true, asks: "--output", valued: "-e -t"}, "scc": {here: true, asks: "-o --output --format-multi", valued: "-i -e"},
	"shellcheck": {valued: "-s -e -f -S -o --shell --exclude --format --severity"}, "yamllint": {asks: "-c --config-file"}, "jsonlint": {asks: "-i --in-place"}, "hadolint": plainReader, "csvcut": {valued: "-c"}, "csvlook": plainReader, "xsv": noPaths, "exiftool": {asks: "-overwrite_original"}, "identify": plainReader, "ffprobe": plainReader, "sw_vers": noPaths, "dscacheutil": noPaths, "hostid": noPaths, "lsb_release": noPaths, "gofmt": {asks: "-w -cpuprofile"}, "goimports": {asks: "-w"}, "pdftotext": {second: true, valued: "-f -l"}, "zipinfo": plainReader, "ip": noPaths, "ifconfig": noPaths, "hostname": noPaths, "route": noPaths, "arp": noPaths, "sysctl": noPaths, "ldconfig": noPaths, "env-vars": noPaths,
}

// takesOptions are the readers that an option can make do more, so that a
// file's name must not become one.
func (r reader) takesOptions() bool { return r.asks != "" || r.reads != "" }

func (j *judge) reader(name string, r reader, c call, args []string) flow {
	o := options(args, r.valued+" "+r.reads)
	for _, f := range strings.Fields(r.asks) {
		if o.has(f) {
			j.find(finding{tier: Ask, why: "with " + f + " " + name + " does more than read", kind: exactly(c.argv), words: c.argv, dir: c.dir()})
			for _, v := range o.values(f) {
				j.into(c, v)
			}
			if f == "-x" || f == "-X" || strings.HasPrefix(f, "--exec") { // fd
				for i, a := range args {
					if strings.HasPrefix(a, "-x") || strings.HasPrefix(a, "-X") || strings.HasPrefix(a, "--exec") {
						j.within(func() { j.call(c.with(args[i+1:])) })
						break
					}
				}
			}
			if name == "sort" && (f == "-o" || f == "--output") {
				for _, v := range o.values("-o", "--output") {
					j.writes(c, v, false)
				}
			}
		}
	}
	switch name {
	case "ip", "ifconfig", "hostname", "route", "arp", "sysctl", "ldconfig":
		if !looks(name, o) {
			j.asks(c, name, "it changes how the machine is set up")
		}
	case "less", "more", "most":
		if slices.ContainsFunc(o.rest, func(p string) bool { return strings.HasPrefix(p, "+") }) {
			j.blind(c, "it gives "+name+" a command")
		}
	case "ps":
		if slices.ContainsFunc(o.rest, func(p string) bool { return strings.Contains(p, "e") }) || o.has("-E") {
			j.asks(c, "ps e", "it prints the variables of processes")
		}
	case "jq":
		for i, a := range args {
			if (strings.HasPrefix(a, "--raw") || strings.HasPrefix(a, "--slurpf")) && i+2 < len(args) {
				j.reads(c, args[i+2], false)
			}
			if len(o.rest) > 0 && a == o.rest[0] && jqEnv.MatchString(a) {
				j.asks(c, "env", "it prints all variables")
			}
		}
	case "exit", "return":
		return flow{known: true}
	case "pwd":
		if len(c.at.cwd) == 1 {
			return flow{text: c.at.cwd[0] + "\n", known: !strings.Contains(c.at.cwd[0], unknown)}
		}
	}
	for _, v := range o.values(strings.Fields(r.reads)...) {
		if v != "" {
			j.reads(c, v, false)
		}
	}
	rest := o.rest
	for i, a := range args {
		bare := strings.HasPrefix(a, unknown) || strings.HasPrefix(a, star)
		if bare && r.takesOptions() && !slices.Contains(args[:i], "--") && strings.HasPrefix(a, unknown) && !(r.first && len(rest) > 0 && a == rest[0] && a != unknown) {
			j.blind(c, "a word that is not known may be an option of "+name)
			break
		}
		if bare && strings.HasPrefix(a, star) && (name == "sort" || name == "fd") {
			j.blind(c, "a file's name may be an option: write ./ before it")
			break
		}
	}
	if r.none {
		if name == "basename" || name == "dirname" {
			return shortened(name, rest)
		}
		return flow{known: name == "true" || name == ":" || name == "false"}
	}
	if r.first && !o.has(strings.Fields(r.given)...) && len(rest) > 0 {
		rest = rest[1:]
	}
	deep := r.here || o.has("-r", "-R", "--recursive")
	if len(rest) == 0 && r.here && !c.in.known && !c.in.paths || len(rest) == 0 && r.here && !r.passes {
		j.reads(c, ".", name != "ls" || o.has("-R"))
	}
	for i, p := range rest {
		if p == "-" {
			continue
		}
		if r.second && i == 1 {
			j.writes(c, p, false)
			continue
		}
		j.reads(c, p, deep)
	}
	switch {
	case len(rest) == 0 && r.passes && c.in.paths:
		return c.in
	case r.names && name != "rg" || o.has("-l", "--files-with-matches", "-L", "--files") && (r.names || r.first):
		if len(rest) == 0 {
			rest = []string{"."}
		}
		var under []string
		for _, p := range rest {
			if name == "ls" && !strings.Contains(p, star) {
				under = append(under, strings.TrimPrefix(strings.TrimRight(p, "/")+"/", "./")+star)
				if p != "." { // its lines lack the folder
					under = append(under, star)
				}
				continue
			}
			under = append(under, p)
		}
		return listing(under)
	}
	return decoded(name, o, c.in)
}

// shortened is what basename and dirname print.
func shortened(name string, rest []string) flow {
	if len(rest) == 0 || strings.Contains(rest[0], unknown) {
		return flow{}
	}
	p := strings.TrimRight(rest[0], "/")
	i := strings.LastIndex(p, "/")
	switch {
	case name == "basename" && len(rest) == 1:
		return flow{text: p[i+1:] + "\n", known: true}
	case name == "basename":
		return flow{text: strings.TrimSuffix(p[i+1:], rest[1]) + "\n", known: true}
	case i < 0:
		return flow{text: ".\n", known: true}
	}
	return flow{text: p[:i] + "\n", known: true}
}

var jqEnv = regexp.MustCompile(`(^|[^."a-zA-Z_])env\b|\$ENV|\b(import|include)\b`)

// looks says that a tool for the machine's settings only shows them.
func looks(name string, o opts) bool {
	switch name {
	case "ip":
		return !o.has("-b", "-batch", "--batch") && (len(o.rest) == 1 && !slices.Contains([]string{"netns"}, o.rest[0]) || len(o.rest) > 1 && slices.Contains(strings.Fields("show list s ls get"), o.rest[1]))
	case "ifconfig":
		return len(o.rest) < 2
	case "sysctl":
		return !o.has("-w", "--write", "-p", "--load", "--system", "-f") && !slices.ContainsFunc(o.rest, func(a string) bool { return strings.Contains(a, "=") })
	case "ldconfig":
		return o.has("-p", "--print-cache")
	case "hostname", "arp", "route":
		return len(o.rest) == 0 && !o.has("-F", "--file", "-b", "-s", "-d", "-f")
	}
	return false
}
