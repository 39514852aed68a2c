package permit

import (
	"net/url"
	"slices"
	"strings"
)

// contact judges the reaching of another machine; reading says that nothing is
// sent but the question.
func (j *judge) contact(c call, host, by string, reading bool) {
	if !j.probing {
		j.network = true
		j.fetched = append(j.fetched, host)
	}
	j.touch(Contacts, host)
	f := finding{tier: Ask, why: "it reaches " + host, kind: "fetch:" + host, words: c.argv, dir: c.dir()}
	if reading {
		f.host = host
	} else {
		f.why, f.kind = "it sends to "+host, "send:"+host
	}
	if host == "" || strings.Contains(host, unknown) {
		f.why, f.kind, f.firm = "it reaches the network", "run:"+by, strings.Contains(host, unknown)
	}
	j.find(f)
}

func (j *judge) fetch(a Action) {
	c := call{at: &scope{cwd: []string{j.Cwd}}, argv: nil}
	u, err := url.Parse(strings.TrimSpace(a.URL))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		j.find(finding{tier: Ask, why: "it is no http address: " + a.URL, kind: "fetch:" + a.URL, firm: true})
		if err == nil && u.Scheme == "file" {
			j.reads(c, u.Path, false)
		}
		return
	}
	reading := slices.Contains([]string{"", "GET", "HEAD"}, a.Method) && u.User == nil
	j.contact(c, strings.ToLower(u.Hostname()), "fetch", reading)
}

// hostOf is the host of an address as curl reads it.
func hostOf(s string) (host, file string) {
	if strings.Contains(s, unknown) || strings.Contains(s, star) && !strings.Contains(s, "/") {
		return unknown, ""
	}
	s = strings.ReplaceAll(s, star, "*")
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || strings.ContainsAny(s, "{}[]\\") {
		return unknown, ""
	}
	if strings.EqualFold(u.Scheme, "file") {
		return "", u.Path
	}
	return strings.ToLower(u.Hostname()), ""
}

// download is curl, wget and their kin.
func download(name string) program {
	valued := "-o --output -d --data --data-raw --data-binary --data-ascii --data-urlencode -F --form --form-string -T --upload-file -H --header -X --request -u --user -A --user-agent -e --referer -b --cookie -c --cookie-jar -K --config -x --proxy " +
		"-m --max-time --connect-timeout --retry --retry-delay --retry-max-time -E --cert --key --cacert --capath -w --write-out -D --dump-header -r --range -C --continue-at -Y -y -z -Q --quote -P -U --proxy-user --resolve --connect-to --interface --limit-rate --max-redirs --url --unix-socket --json --output-dir --netrc-file -t --tries --trace --trace-ascii --stderr --libcurl --hsts --alt-svc --etag-save --etag-compare --variable"
	if name == "wget" {
		valued = "-O --output-document -o --output-file -a --append-output -P --directory-prefix -i --input-file -U --user-agent --header --post-data --post-file --body-data --body-file --method -t --tries -T --timeout -w --wait -Q --quota -l --level -A -R -D -e --execute --user --password --load-cookies --save-cookies --limit-rate -B --base --use-askpass --config --ca-certificate --certificate --private-key"
	}
	return func(j *judge, c call, args []string) flow {
		o := options(args, valued)
		if len(args) == 1 && o.has("--version", "-V", "--help", "-h") {
			return flow{}
		}
		method, _ := o.value("-X", "--request", "--method")
		reading := method == "" || method == "GET" || method == "HEAD"
		if strings.HasPrefix(strings.ToUpper(method), "DELETE") && slices.ContainsFunc(o.rest, func(u string) bool { return strings.Contains(u, "/git/refs/") || strings.Contains(u, "/branches/") }) {
			j.refuses(c, name+" DELETE", "it removes a remote branch")
		}
		for _, f := range o.flags {
			switch f.name {
			case "-d", "--data", "--data-binary", "--data-ascii", "--data-urlencode", "--json", "-F", "--form":
				reading = false
				if k := strings.IndexAny(f.value, "@<"); k >= 0 && (k == 0 || f.name == "-F" || f.name == "--form" || f.name == "--data-urlencode") {
					p, _, _ := strings.Cut(f.value[k+1:], ";")
					if p != "-" {
						j.reads(c, p, false)
					}
				}
			case "-T", "--upload-file", "--post-file", "--body-file":
				reading = false
				if name != "wget" || f.name != "-T" {
					j.reads(c, f.value, false)
				}
			case "--data-raw", "--form-string", "--post-data", "--body-data", "-u", "--user", "-Q", "--quote", "--user-agent", "-A", "-e", "-H", "--header", "-b", "--cookie":
				if f.name != "-A" && f.name != "--user-agent" {
					reading = false
				}
				if p, ok := strings.CutPrefix(f.value, "@"); ok {
					j.reads(c, p, false)
				}
				if name == "wget" && f.name == "-e" {
					j.blind(c, "it takes a setting that may run a program")
				}
			case "-K", "--config", "-i", "--input-file":
				if name == "curl" && f.name == "-i" {
					continue
				}
				j.blind(c, "it is not known what is fetched")
				j.reads(c, f.value, false)
			case "-o", "--output", "-c", "--cookie-jar", "-D", "--dump-header", "-O", "--output-document", "--output-file", "-a", "--append-output", "--trace", "--trace-ascii", "--stderr", "--libcurl", "--hsts", "--alt-svc", "--etag-save", "--save-cookies":
				if name == "curl" && (f.name == "-O" || f.name == "-a") {
					j.asks(c, name+" -O", "it writes a file")
					continue
				}
				if f.value != "-" && f.value != "" {
					j.writes(c, f.value, false)
				}
			case "-x", "--proxy", "--connect-to", "--resolve", "--unix-socket", "--proxy-user", "--preproxy":
				j.blind(c, "it goes by another way")
			case "--use-askpass":
				j.blind(c, "it runs another program")
			}
			for _, s := range []string{"--data", "--form", "--upload", "--post", "--body", "--json", "--conf", "--head", "--user", "--cook", "--quot", "--prox"} {
				if strings.HasPrefix(f.name, s) {
					reading = false
				}
			}
		}
		if name != "curl" && name != "fetch" && name != "wget" {
			reading = false
		}
		if name == "wget" {
			if out, ok := o.value("-O", "--output-document"); !(ok && (out == "-" || out == "/dev/null")) && !o.has("--spider") {
				j.asks(c, "wget to a file", "it writes a file")
			}
		}
		urls := append(o.rest, o.values("--url")...)
		if len(urls) == 0 {
			j.contact(c, "", name, false)
		}
		for _, u := range urls {
			host, file := hostOf(u)
			if file != "" {
				j.reads(c, file, false)
				continue
			}
			j.contact(c, host, name, reading)
		}
		return flow{}
	}
}

// network is everything else that reaches another machine.
func network(name string) program {
	return func(j *judge, c call, args []string) flow {
		if len(args) == 1 && slices.Contains(strings.Fields("--version -V version --help -h help"), args[0]) {
			return flow{}
		}
		switch name {
		case "ssh", "autossh", "mosh":
			o := options(args, "-i -p -l -o -F -L -R -D -J -b -c -e -E -I -m -O -Q -S -w -W -B")
			if len(args) == 1 && args[0] == "-V" {
				return flow{}
			}
			for _, v := range o.values("-o") {
				if low := strings.ToLower(v); strings.Contains(low, "command") || strings.Contains(low, unknown) {
					j.blind(c, "it runs another program")
					_, code, _ := strings.Cut(strings.ReplaceAll(v, " ", "="), "=")
					j.probe(strings.ReplaceAll(code, "=", " "), c.at)
				}
			}
			host := ""
			if len(o.rest) > 0 {
				host = o.rest[0]
				host = host[strings.LastIndex(host, "@")+1:]
			}
			j.contact(c, host, name, false)
			for k, a := range args { // what runs there
				if len(o.rest) > 0 && a == o.rest[0] {
					j.probe(strings.ReplaceAll(strings.Join(args[k+1:], " "), star, "*"), c.at)
					break
				}
			}
			if c.in.known && !c.in.paths {
				j.probe(c.in.text, c.at)
			}
		case "scp", "sftp", "rclone", "ssh-copy-id":
			o := options(args, "-i -P -o -F -l -c -S -J -p -b")
			host := ""
			for _, p := range o.rest {
				if h, _, ok := strings.Cut(p, ":"); ok && !strings.Contains(h, "/") {
					host = h[strings.LastIndex(h, "@")+1:]
				}
			}
			for k, p := range o.rest {
				if strings.Contains(p, ":") {
					continue
				}
				if k == len(o.rest)-1 && k > 0 {
					j.writes(c, p, o.has("-r"))
				} else if name == "scp" || name == "rclone" && k > 0 {
					j.reads(c, p, o.has("-r"))
				}
			}
			j.contact(c, host, name, false)
		case "openssl":
			if len(args) > 0 && (args[0] == "s_client" || args[0] == "s_server") {
				j.contact(c, "", name, false)
				return flow{}
			}
			for _, a := range args {
				if strings.Contains(a, "/") || strings.Contains(a, ".") {
					j.reads(c, a, false)
				}
			}
			j.asks(c, "openssl", "it works on keys")
		case "gh", "glab", "hub":
			words := head(c.argv)
			if len(words) > 2 && words[2] == "delete" && words[1] == "repo" || j.deletes(args) {
				j.refuses(c, strings.Join(words, " "), "it removes what others have")
				return flow{}
			}
			j.network = j.network || !j.probing
			j.touch(Contacts, "github.com")
			kind := strings.Join(words, " ")
			j.find(finding{tier: Ask, why: "it acts on a server: " + shown(kind), kind: "run:" + kind, words: c.argv, dir: c.dir()})
		default:
			for _, a := range args {
				if name == "nc" || name == "ncat" || name == "netcat" || name == "socat" {
					for _, flag := range []string{"EXEC:", "SYSTEM:", "exec:", "system:"} {
						if _, code, ok := strings.Cut(a, flag); ok {
							j.probe(code, c.at)
						}
					}
				}
				if strings.Contains(a, "/") && !strings.Contains(a, "://") && !strings.HasPrefix(a, "-") {
					j.sensitive(c, a)
				}
			}
			j.contact(c, "", name, false)
		}
		return flow{}
	}
}

// sensitive judges p only if it is a credential.
func (j *judge) sensitive(c call, p string) {
	for _, pl := range j.places(strings.TrimPrefix(p, "@"), c.at.cwd) {
		if j.isSecret(parts(pl.path)) {
			j.reads(c, pl.path, false)
		}
	}
}

// deletes says that a call of gh api removes a branch or a repository.
func (j *judge) deletes(args []string) bool {
	o := options(args, "-X --method -f -F --field --raw-field -H --header -q --jq -t --template --input")
	m, _ := o.value("-X", "--method")
	return strings.EqualFold(m, "delete") && slices.ContainsFunc(o.rest, func(a string) bool {
		return strings.Contains(a, "/git/refs") || strings.Contains(a, "/branches/") || strings.Count(strings.Trim(a, "/"), "/") == 2 && strings.HasPrefix(strings.Trim(a, "/"), "repos/")
	})
}
