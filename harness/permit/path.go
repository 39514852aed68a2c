package permit

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// Marks in words and paths, of characters that no text may hold (plain refuses it).
const (
	star    = "\uE0F0" // what a glob may match: any text without a slash
	unknown = "\uE0F1" // a text that is not known, maybe empty
)

// place is where a path may lead.
type place struct {
	path string // absolute and clean, links followed; may hold stars
	sure bool   // no part of it was unknown; else the unknown is left out
}

func clean(p string) string { return path.Clean("/" + p) }

// places are all that p may mean in one of the folders cwds. `~` is read as the
// user's home and as a name, a path as it is written and with its links followed.
func (j *judge) places(p string, cwds []string) (out []place) {
	if j.tooMuch() {
		return nil
	}
	add := func(p string, sure bool) {
		if pl := (place{p, sure}); !slices.Contains(out, pl) {
			out = append(out, pl)
		}
	}
	if !strings.HasPrefix(p, "/") {
		if home, ok := j.tilde(p); ok {
			for _, pl := range j.places(home, cwds) {
				add(pl.path, pl.sure)
			}
		}
	}
	for _, cwd := range cwds {
		abs := p
		if !strings.HasPrefix(p, "/") {
			abs = cwd + "/" + p
		}
		sure := !strings.Contains(abs, unknown) && strings.HasPrefix(abs, "/") && !strings.ContainsRune(abs, 0)
		if !sure {
			if strings.Trim(p, unknown) == "" { // nothing of it is known
				add("", false)
				continue
			}
			if rest := strings.ReplaceAll(p, unknown, ""); strings.HasPrefix(rest, "/") {
				abs = rest
			} else {
				abs = strings.ReplaceAll(abs, unknown, "")
			}
		}
		named := j.proc(clean(abs), cwd)
		if named == "" {
			add("", false)
			add("/", false)
			continue
		}
		add(named, sure)
		if j.Resolve != nil {
			add(j.proc(j.follow(abs), cwd), sure)
		}
	}
	return out
}

// tilde is p with its ~ read as a home.
func (j *judge) tilde(p string) (string, bool) {
	if !strings.HasPrefix(p, "~") {
		return "", false
	}
	who, rest, _ := strings.Cut(p[1:], "/")
	switch {
	case j.User == "":
		return unknown + "/" + rest, true
	case who == "":
		return j.User + "/" + rest, true
	case who == "root":
		return "/root/" + rest, true
	case strings.ContainsAny(who, "+-0123456789"):
		return unknown + "/" + rest, true
	}
	return path.Dir(j.User) + "/" + who + "/" + rest, true
}

// proc reads the magic links of /proc; "" is one whose target is not known.
func (j *judge) proc(p, cwd string) string {
	for range 8 {
		comps := strings.Split(strings.TrimPrefix(p, "/"), "/")
		if len(comps) < 3 || fold(comps[0]) != "proc" {
			return p
		}
		mine := comps[1] == "self" || comps[1] == "thread-self"
		at := 2
		if len(comps) > 4 && comps[2] == "task" {
			at = 4
		}
		rest := strings.Join(comps[at+1:], "/")
		switch {
		case strings.Contains(comps[at], star):
			return ""
		case comps[at] == "cwd" && mine && strings.HasPrefix(cwd, "/"):
			p = clean(cwd + "/" + rest)
		case comps[at] == "root" && mine:
			p = clean(rest)
		case comps[at] == "cwd" || comps[at] == "root" || comps[at] == "map_files":
			return ""
		case comps[at] == "fd" && rest != "" && mine:
			return clean("/dev/fd/" + rest)
		case comps[at] == "fd" && rest != "":
			return ""
		default:
			return p
		}
	}
	return ""
}

// follow is abs with its links followed, `..` taken where they lead.
func (j *judge) follow(abs string) string {
	at, comps := "/", strings.Split(abs, "/")
	if !slices.Contains(comps, "..") && !strings.Contains(abs, star) {
		return j.real(clean(abs))
	}
	for i, c := range comps {
		switch {
		case c == "" || c == ".":
		case c == "..":
			at = path.Dir(at)
		case strings.Contains(c, star):
			return clean(at + "/" + strings.Join(comps[i:], "/"))
		default:
			at = j.real(path.Join(at, c))
		}
	}
	return at
}

func (j *judge) real(p string) string {
	if r, ok := j.resolved[p]; ok {
		return r
	}
	r, _ := j.Resolve(p)
	if r == "" {
		r = p
	}
	j.resolved[p] = clean(r)
	return clean(r)
}

// inside says that p is base or below it, letter for letter.
func inside(p, base string) bool {
	if base == "" {
		return false
	}
	base = clean(base)
	return p == base || base == "/" || strings.HasPrefix(p, base+"/")
}

// fold is a name as the least careful file system reads it: without case,
// invisible characters, dots and spaces at the end.
func fold(name string) string {
	ascii := true
	for i := range len(name) {
		ascii = ascii && name[i] < 0x80 && name[i] >= 0x20
	}
	if !ascii {
		name = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r) || unicode.IsControl(r) {
				return -1
			}
			for q := unicode.SimpleFold(r); q != r; q = unicode.SimpleFold(q) {
				if q < r { // the first letter of those that differ in case alone
					r = q
				}
			}
			return unicode.ToLower(r)
		}, name)
	}
	name = strings.ToLower(name)
	if name != "." && name != ".." {
		name = strings.TrimRight(name, ". ")
	}
	if name == "git~1" {
		return ".git"
	}
	return name
}

func parts(p string) []string {
	p = strings.Trim(p, "/")
	if p == "" {
		return nil
	}
	out := strings.Split(p, "/")
	for i := range out {
		out[i] = fold(out[i])
	}
	return out
}

// could says that a name with stars may be the name.
func could(pattern, name string) bool {
	if !strings.Contains(pattern, star) {
		return pattern == name
	}
	if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") {
		return false
	}
	pieces := strings.Split(pattern, star)
	if !strings.HasPrefix(name, pieces[0]) {
		return false
	}
	name = name[len(pieces[0]):]
	last := pieces[len(pieces)-1]
	for _, piece := range pieces[1 : len(pieces)-1] {
		i := strings.Index(name, piece)
		if i < 0 {
			return false
		}
		name = name[i+len(piece):]
	}
	return strings.HasSuffix(name, last)
}

// above says that p may be base or hold it.
func above(p, base []string) bool {
	if len(p) > len(base) {
		return false
	}
	for i := range p {
		if !could(p[i], base[i]) {
			return false
		}
	}
	return true
}

// below says that p may be base or lie in it.
func below(p, base []string) bool {
	if len(p) < len(base) {
		return false
	}
	for i := range base {
		if !could(p[i], base[i]) {
			return false
		}
	}
	return true
}

// Lists of folders. Those of the user are relative to the user's home.
var (
	credentialFolders = folders(".ssh .gnupg .aws .azure .kube .docker .password-store .config/gcloud .config/gh .config/op .config/sops " +
		".local/share/keyrings .gnome2/keyrings .mozilla .thunderbird .config/google-chrome .config/chromium .config/BraveSoftware " +
		"Library/Keychains Library/Application%20Support/Google/Chrome Library/Application%20Support/Firefox .vault .config/Bitwarden .electrum .bitcoin .terraform.d")
	userFolders = folders(". .config .local .local/share Documents Desktop Downloads Pictures Music Movies Videos Public Templates " +
		"Library Applications Projects projects src code Code work dev Dropbox OneDrive Nextcloud .git")
	systemFolders = folders("/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /proc /run /sbin /sys /usr /var/lib /var/log /var/run /var/spool " +
		"/var/db /var/mail /System /Library /Applications /private/etc /private/var/db /nix/store /efi /snap /cores /usr/local")
	topFolders = folders("/ /home /Users /root /opt /var /tmp /mnt /media /srv /data /private /private/var /private/tmp /Volumes /nix /var/tmp /usr/local /lost+found /var/www /var/backups")
	// deviceNames are those in /dev that may be written without harm.
	harmlessDevices = strings.Fields("null zero full random urandom stdin stdout stderr tty")
	// criticalFiles decide who gets in, or whether the machine starts.
	criticalFiles = folders("/etc/passwd /etc/shadow /etc/group /etc/gshadow /etc/sudoers /etc/sudoers.d /etc/fstab /etc/crypttab /etc/pam.d /etc/ssh /etc/ld.so.preload " +
		"/boot /efi /proc /sys /private/etc/passwd /private/etc/sudoers /private/etc/master.passwd /etc/master.passwd")
	// startFiles are run by a shell, a login or a clock.
	startFiles = folders(".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .inputrc " +
		".xinitrc .xsession .xprofile .config/fish .config/autostart .config/systemd .config/environment.d .gitconfig .config/git .vimrc .vim .config/nvim .emacs .emacs.d " +
		".config/emacs .npmrc .cargo/config .cargo/config.toml .pip/pip.conf .config/pip .tmux.conf .config/direnv .direnvrc .envrc " +
		"Library/LaunchAgents Library/LaunchDaemons .local/bin bin .config/zsh .oh-my-zsh .pam_environment")
	publicFiles = folders("/etc/os-release /etc/lsb-release /etc/issue /etc/debian_version /etc/hosts /etc/hostname /etc/timezone /etc/localtime /etc/shells /etc/services /etc/protocols " +
		"/proc/cpuinfo /proc/meminfo /proc/version /proc/uptime /proc/loadavg /proc/filesystems /proc/mounts /usr/share/doc /usr/share/man /usr/share/dict /usr/share/zoneinfo /usr/include /usr/lib/os-release")
)

func folders(list string) (out [][]string) {
	for f := range strings.FieldsSeq(list) {
		if f == "." {
			f = ""
		}
		out = append(out, parts(strings.ReplaceAll(f, "%20", " ")))
	}
	return out
}

// holds says that one of the folders lies at p or below it.
func holds(p []string, list [][]string) bool {
	return slices.ContainsFunc(list, func(f []string) bool { return above(p, f) })
}

// lies says that p lies in one of the folders.
func lies(p []string, list [][]string) bool {
	return slices.ContainsFunc(list, func(f []string) bool { return below(p, f) })
}

// ofUser is the part of p below a user's home: that of the user, of root or
// of somebody else in the usual places.
func (j *judge) ofUser(p []string) (rest []string, ok bool) {
	if home := parts(j.User); len(home) > 0 && below(p, home) {
		return p[len(home):], true
	}
	if len(p) > 0 && could(p[0], "root") {
		return p[1:], true
	}
	if len(p) > 1 && (could(p[0], "home") || could(p[0], "users")) {
		return p[2:], true
	}
	return nil, false
}

// Secret says that a file is known to hold credentials, by its name or the folder
// it lies in. user is the user's home.
func Secret(file, user string) bool {
	j := judge{World: World{User: user}}
	return j.isSecret(parts(file))
}

// HoldsSecrets says that below a folder are some that are known to hold
// credentials.
func HoldsSecrets(folder, user string) bool {
	j := judge{World: World{User: user}}
	rest, ok := j.ofUser(parts(folder))
	return ok && holds(rest, credentialFolders) || above(parts(folder), parts(user)) || len(parts(folder)) == 0
}

// isSecret says that p, or what a glob in it may match, is a credential.
func (j *judge) isSecret(p []string) bool {
	if rest, ok := j.ofUser(p); ok && lies(rest, credentialFolders) {
		return true
	}
	if len(p) == 0 {
		return false
	}
	if len(p) > 1 && p[0] == "proc" && could(p[len(p)-1], "environ") {
		return true
	}
	if lies(p, secretFiles) {
		return true
	}
	name := p[len(p)-1]
	if strings.HasSuffix(name, ".pub") && strings.HasPrefix(name, "id_") {
		return false
	}
	for _, suffix := range secretSuffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	for _, safe := range []string{".example", ".sample", ".template", ".dist"} {
		if strings.HasSuffix(name, safe) {
			return false
		}
	}
	if strings.HasPrefix(name, ".env.") || strings.HasPrefix(name, ".env"+star) {
		return true
	}
	if strings.HasPrefix(name, star) {
		return false
	}
	return slices.ContainsFunc(secretNames, func(s string) bool { return could(name, s) })
}

var (
	secretFiles    = folders("/etc/shadow /etc/gshadow /etc/sudoers /etc/sudoers.d /etc/master.passwd /etc/ssl/private /etc/krb5.keytab /etc/kubernetes /run/secrets /var/run/secrets /proc/kcore /proc/keys /dev/mem")
	secretSuffixes = strings.Fields(".pem .key .p12 .pfx .jks .keystore .kdbx .ppk .asc .gpg .age .keychain .keychain-db .tfstate .tfvars .ovpn")
	secretNames    = strings.Fields(".env .envrc .netrc _netrc .authinfo .authinfo.gpg .npmrc .pypirc .pgpass .my.cnf .git-credentials .htpasswd .boto .s3cfg .rclone.conf .vault-token .dockercfg .dockerconfigjson " +
		".bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history .histfile .lesshst .yarnrc.yml " +
		"id_rsa id_dsa id_ecdsa id_ed25519 id_ecdsa_sk id_ed25519_sk credentials credentials.json credentials.yml credentials.toml credentials.xml secrets secrets.yml secrets.yaml secrets.json secrets.toml secret.yml secret.yaml " +
		"service-account.json serviceaccount.json master.key token.json auth.json hosts.yml cookies cookies.sqlite login.keychain wallet.dat keyfile kubeconfig htpasswd shadow")
)
