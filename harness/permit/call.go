package permit

import (
	"path"
	"slices"
	"strings"
)

// call is one simple command about to run.
type call struct {
	argv []string // its name first; may hold marks
	at   *scope
	in   flow // what it reads
}

// dir is where it runs, "" if that may be several places.
func (c call) dir() string {
	if c.at == nil || len(c.at.cwd) != 1 || strings.Contains(c.at.cwd[0], unknown) {
		return ""
	}
	return c.at.cwd[0]
}

func (c call) with(argv []string) call { c.argv = argv; return c }

// programs judges a command that is known by its name, argv without it.
type program func(j *judge, c call, args []string) flow

// trusted are the folders in which a program is what its name says.
var trusted = strings.Fields("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /usr/local/sbin /opt/homebrew/bin /usr/local/go/bin")

// programOf is how a program is judged that is no mere reader; nil is unknown.
func programOf(name string) program {
	switch name {
	case "env", "command", "builtin", "exec", "nohup", "nice", "ionice", "timeout", "gtimeout", "time", "stdbuf", "setsid", "chronic", "caffeinate", "unbuffer", "catchsegv", "chrt", "taskset", "ltrace", "strace", "sudo", "doas", "pkexec", "run0", "chroot", "unshare", "nsenter", "flock", "busybox", "toybox", "eatmydata", "fakeroot", "proot", "firejail", "systemd-run", "torsocks", "proxychains", "setarch", "linux64", "choom", "prlimit", "xvfb-run", "dbus-run-session", "rlwrap", "noglob", "nocorrect", "then", "do", "else", "!", "entr":
		return wrapper(name)
	case "xargs", "gxargs", "parallel":
		return xargs
	case "find", "gfind":
		return find
	case "sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "fish", "rbash", "csh", "tcsh", "pwsh":
		return shell(name)
	case "eval":
		return eval
	case "source", ".":
		return source
	case "su", "watch", "script", "at", "batch", "crontab":
		return texts(name)
	case "trap":
		return trap
	case "alias":
		return alias
	case "cd", "pushd", "popd":
		return cd
	case "read", "mapfile", "readarray", "getopts", "unset", "set", "shift":
		return variables(name)
	case "echo", "printf":
		return says(name)
	case "test", "[", "[[": // the last is a program where bash is not the shell
		return test
	case "printenv":
		return printenv
	case "python", "python2", "python3", "pypy", "pypy3", "ipython", "node", "nodejs", "deno", "bun", "ruby", "perl", "php", "lua", "luajit", "tclsh", "osascript", "Rscript", "julia", "groovy", "ghci", "elixir", "iex", "expect", "jshell", "guile", "sbcl", "emacs", "vim", "nvim", "vi", "ed", "ex", "gdb", "lldb", "sqlite3", "m4", "jrunscript", "powershell":
		return interpreter(name)
	case "awk", "gawk", "mawk", "nawk":
		return awk
	case "sed", "gsed":
		return sed
	case "rm", "grm", "rmdir", "unlink", "shred", "srm", "trash", "trash-put", "wipe":
		return remove(name)
	case "mv", "gmv", "cp", "gcp", "install", "ln", "rsync", "ditto":
		return transfer(name)
	case "dd":
		return dd
	case "tee", "touch", "mkdir", "truncate", "mkfifo", "mknod", "sponge", "patch", "split", "csplit", "fallocate", "mktemp":
		return writer(name)
	case "chmod", "chown", "chgrp", "chattr", "setfacl", "chflags", "xattr", "chcon", "icacls", "setfattr":
		return modes(name)
	case "tar", "gtar", "bsdtar":
		return tar
	case "unzip", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "7z", "7za", "zip", "cpio", "unrar":
		return archive(name)
	case "wipefs", "blkdiscard", "fdisk", "sfdisk", "gdisk", "sgdisk", "parted", "cfdisk", "mke2fs", "mkswap", "cryptsetup", "badblocks", "hdparm", "nvme", "diskutil", "lvremove", "vgremove", "pvremove", "zpool", "zfs", "mdadm", "format", "dban", "nwipe", "flashrom", "efibootmgr", "grub-install", "debugfs", "tune2fs", "e2image", "partclone.restore", "ntfsclone", "asr":
		return disk(name)
	case "curl", "wget", "fetch", "http", "https", "xh", "aria2c", "httpie", "lynx", "w3m", "links":
		return download(name)
	case "ssh", "scp", "sftp", "mosh", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "lftp", "rclone", "autossh", "sshpass", "ssh-copy-id", "dig", "nslookup", "host", "ping", "ping6", "traceroute", "whois", "nmap", "mail", "sendmail", "mailx", "mutt", "swaks", "msmtp", "openssl", "aws", "gcloud", "gsutil", "az", "s3cmd", "doctl", "heroku", "fly", "flyctl", "vercel", "netlify", "ntfy", "tftp", "iperf3", "ssh-keyscan", "gh", "glab", "hub":
		return network(name)
	case "kill", "pkill", "killall", "killall5":
		return kill
	case "git":
		return git
	case "amacs", "r":
		return itself(name)
	}
	return nil
}

// asks adds that the command is asked about.
func (j *judge) asks(c call, kind, why string) {
	j.find(finding{tier: Ask, why: why, kind: "run:" + kind, words: c.argv, dir: c.dir()})
}

func (j *judge) refuses(c call, kind, why string) {
	j.find(finding{tier: Never, why: why, kind: "run:" + kind, words: c.argv, dir: c.dir()})
}

// call judges one simple command.
func (j *judge) call(c call) flow {
	for len(c.argv) > 0 && c.argv[0] == "" { // an empty expansion
		c.argv = c.argv[1:]
	}
	if len(c.argv) == 0 {
		return flow{known: true}
	}
	if j.depth++; j.depth > 2*maxDepth || j.tooMuch() {
		j.depth--
		j.blind(c, "it is too deep to look into")
		return flow{}
	}
	defer func() { j.depth-- }()
	name, args := c.argv[0], c.argv[1:]
	if _, ok := j.funcs[name]; ok {
		return j.callFunction(name, c, args, !slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, unknown) }))
	}
	if strings.Contains(name, star) || strings.Contains(name, unknown) {
		j.blind(c, "it is not known which program runs")
		j.guess(c, args)
		return flow{}
	}
	if !j.probing {
		j.ran = append(j.ran, command{words: c.argv, dir: c.dir()})
		j.touch(Runs, name)
	}
	base := name
	if strings.Contains(name, "/") {
		base = path.Base(name)
		if !slices.Contains(trusted, path.Dir(name)) {
			j.asks(c, name, "it runs a program by its path: "+name)
			if !strings.Contains(name, unknown) && base == "." || base == "/" {
				return flow{}
			}
		}
	}
	out, known := j.dispatch(base, c, args)
	if known {
		return out
	}
	if low := strings.ToLower(strings.TrimSuffix(base, ".exe")); low != base { // where case does not count
		j.asks(c, base, "it is not known what "+base+" does")
		out, _ = j.dispatch(low, c, args)
		return out
	}
	switch {
	case strings.HasPrefix(base, "mkfs") || strings.HasPrefix(base, "newfs"):
		j.refuses(c, base, "it makes a new file system where there may be one")
		return flow{}
	}
	if !slices.Contains(strings.Fields(versioned), base) || len(args) != 1 || !slices.Contains(strings.Fields("--version -V -v version --help -h -version help"), args[0]) || name != base {
		j.asks(c, base, "it is not known what "+base+" does")
		j.guess(c, args)
	}
	return flow{}
}

// versioned are programs that may be asked for their version.
const versioned = "gcc g++ cc c++ clang clang++ cmake make ninja meson bazel rustc rustup java javac kotlinc scala ghc stack cabal ocaml swift zig nim dart flutter julia R Rscript lua luajit php composer perl ruby node deno bun " +
	"python python2 python3 tsc npx vim nvim emacs nano code tmux screen ssh psql mysql sqlite3 redis-cli mongosh docker podman kubectl helm terraform ansible vagrant aws gcloud az gh glab curl wget openssl gpg ffmpeg convert pandoc " +
	"latex pdflatex tar zip unzip gzip xz zstd bash sh zsh fish dash perl go cargo npm yarn pnpm pip pip3 poetry uv pipx gem bundle brew apt apt-get dnf yum pacman mvn gradle sbt lein mix elixir erl systemctl nginx protoc buf hugo jekyll pytest tox ruff black mypy eslint prettier jest vitest golangci-lint staticcheck"

func (j *judge) dispatch(name string, c call, args []string) (flow, bool) {
	if r, ok := readers[name]; ok {
		return j.reader(name, r, c, args), true
	}
	if p := programOf(name); p != nil {
		return p(j, c, args), true
	}
	if t, ok := tools[name]; ok {
		j.tool(name, t, c, args)
		return flow{}, true
	}
	return flow{}, false
}

// guess judges an unknown program with removal's arguments as what it may be.
func (j *judge) guess(c call, args []string) {
	was := j.probing
	j.probing = true
	defer func() { j.probing = was }()
	o := options(args, "")
	if o.has("-r", "-R", "--recursive") && o.has("-f", "--force") {
		for _, p := range o.rest {
			j.removes(c, p, true)
		}
	}
	for i, a := range args { // a wrapper that is not known here
		if !strings.HasPrefix(a, "-") && programOf(path.Base(a)) != nil {
			j.call(c.with(args[i:]))
			return
		}
	}
}

// opts are a command's arguments, told apart.
type opts struct {
	flags []opt
	rest  []string // operands
}

type opt struct{ name, value string }

// options tells args apart as GNU's getopt does; valued are the flags that take
// a value. A cluster of short flags counts as each of them.
func options(args []string, valued string) (o opts) {
	takes := strings.Fields(valued)
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			o.rest = append(o.rest, args[i+1:]...)
			return o
		case a == "-" || !strings.HasPrefix(a, "-"):
			o.rest = append(o.rest, a)
		case strings.HasPrefix(a, "--"):
			name, v, has := strings.Cut(a, "=")
			if !has && slices.Contains(takes, name) && i+1 < len(args) {
				i++
				v = args[i]
			}
			o.flags = append(o.flags, opt{name, v})
		case slices.Contains(takes, a) && i+1 < len(args): // also -long flags of find, java
			i++
			o.flags = append(o.flags, opt{a, args[i]})
		default:
			o.flags = append(o.flags, opt{name: a})
			for k := 1; k < len(a); k++ {
				f := "-" + a[k:k+1]
				if slices.Contains(takes, f) {
					v := a[k+1:]
					if v == "" && i+1 < len(args) {
						i++
						v = args[i]
					}
					o.flags = append(o.flags, opt{f, v})
					break
				}
				o.flags = append(o.flags, opt{name: f})
			}
		}
	}
	return o
}

// has says that a flag is given, a long one perhaps shortened.
func (o opts) has(names ...string) bool {
	_, ok := o.value(names...)
	return ok
}

func (o opts) value(names ...string) (string, bool) {
	for _, f := range o.flags {
		for _, n := range names {
			if f.name == n || len(f.name) > 3 && strings.HasPrefix(f.name, "--") && strings.HasPrefix(n, f.name) {
				return f.value, true
			}
		}
	}
	return "", false
}

func (o opts) values(names ...string) (out []string) {
	for _, f := range o.flags {
		if (opts{flags: []opt{f}}).has(names...) {
			out = append(out, f.value)
		}
	}
	return out
}

// The variables of a command's environment that change nothing but how its
// output looks.
var calm = strings.Fields("LANG LANGUAGE TZ TERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE COLUMNS LINES CI RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE " +
	"GOOS GOARCH CGO_ENABLED GOMAXPROCS GOMEMLIMIT NODE_ENV GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GTEST_COLOR CARGO_TERM_COLOR PYTHONIOENCODING PYTHONHASHSEED DEBIAN_FRONTEND VERBOSE DEBUG POSIXLY_CORRECT BLOCKSIZE")

// exported judges a variable that commands will see.
func (j *judge) exported(c call, at *scope, name, v string) {
	ok := slices.Contains(calm, name) || strings.HasPrefix(name, "LC_")
	switch name {
	case "PAGER", "GIT_PAGER", "MANPAGER", "LESS":
		ok = v == "" || v == "cat" || name == "LESS" && strings.Trim(v, "-FRXSi") == ""
	}
	if !ok {
		j.find(finding{tier: Ask, why: "it sets " + name + ", which may change what commands do", kind: exactly([]string{name + "=" + v}), words: c.argv, dir: c.dir(), firm: true})
	}
	at.set(name, value{v})
}

// ruling are variables that the shell itself obeys.
var ruling = strings.Fields("PATH IFS ENV SHELLOPTS BASHOPTS PROMPT_COMMAND CDPATH HOME SHELL GLOBIGNORE FIGNORE FPATH MAILCHECK MAILPATH HISTFILE TMOUT LD_PRELOAD LD_LIBRARY_PATH")

// assigned judges NAME=value on its own, and remembers it.
func (j *judge) assigned(c call, at *scope, name string, v value) {
	_, shared := j.Vars[name]
	if shared || name == "HOME" || slices.Contains(ruling, name) || strings.HasPrefix(name, "BASH_") || strings.HasPrefix(name, "PS") && len(name) == 3 {
		for _, s := range v {
			j.exported(c, at, name, s)
		}
	} else if _, was := at.vars[name]; !was || at.local[name] {
		at.mark(name)
	}
	at.set(name, v)
}

// child is the scope of a shell that at starts.
func (j *judge) child(at *scope) *scope {
	s := at.copy()
	for k := range s.local {
		s.vars[k] = union(s.vars[k], union(j.outer(k), value{""}))
	}
	return s
}
