package permit

import (
	"slices"
	"strings"
)

// before are the options with a value that stand before a subcommand.
var before = map[string]string{
	"git": "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source", "docker": "-H --host -c --context --config -l --log-level", "podman": "-H --url -c --connection --root --runroot",
	"kubectl": "-n --namespace --context --kubeconfig -s --server --cluster --user --token --as", "npm": "--prefix -C -w --workspace", "yarn": "--cwd", "pnpm": "-C --dir --filter", "cargo": "-C --config -Z --color", "go": "-C",
	"systemctl": "-H --host -M --machine -t --type", "helm": "-n --namespace --kube-context --kubeconfig", "make": "-C -f -j -I -o -W", "terraform": "", "mvn": "-f -P -pl", "gradle": "-p -b",
}

// gitReads are the subcommands of git that only read. After a colon stand the
// options that make them write or run something.
var gitReads = map[string]string{
	"status": "", "log": "--output", "show": "--output --ext-diff", "diff": "--output --ext-diff", "blame": "", "annotate": "", "shortlog": "--output", "describe": "", "rev-parse": "", "rev-list": "", "ls-files": "", "ls-tree": "",
	"cat-file": "--textconv --filters", "name-rev": "", "merge-base": "", "for-each-ref": "", "show-ref": "", "grep": "-O --open-files-in-pager --ext-grep", "whatchanged": "--output", "cherry": "", "count-objects": "", "var": "", "version": "", "help": "-w --web -i",
	"diff-tree": "--output", "diff-index": "--output", "diff-files": "--output", "range-diff": "--output", "check-ignore": "", "check-attr": "", "verify-commit": "", "verify-tag": "", "show-branch": "", "fsck": "--lost-found", "hash-object": "-w", "ls": "",
	"merge-tree": "--write-tree", "get-tar-commit-id": "", "column": "", "stripspace": "", "patch-id": "", "check-ref-format": "", "check-mailmap": "", "interpret-trailers": "--in-place",
}

func git(j *judge, c call, args []string) flow {
	at, i := c.at, 0
	for ; i < len(args) && strings.HasPrefix(args[i], "-"); i++ {
		a := args[i]
		name, v, has := strings.Cut(a, "=")
		if slices.Contains(strings.Fields(before["git"]), name) && !has && i+1 < len(args) {
			i++
			v = args[i]
		}
		switch name {
		case "-C":
			at = at.copy()
			at.cwd = j.enter(v, at)
		case "-c", "--config-env":
			key, code, _ := strings.Cut(v, "=")
			key = strings.ToLower(key)
			if !slices.Contains(strings.Fields("color.ui color.diff color.status core.quotepath user.name user.email log.showsignature advice.detachedhead core.pager core.abbrev diff.renames"), key) || key == "core.pager" && code != "cat" && code != "" {
				j.blind(c, "it gives git a setting that may run a program: "+shown(key))
				j.probe(strings.TrimPrefix(code, "!"), c.at)
				if strings.HasPrefix(key, "alias.") {
					j.within(func() {
						if f := strings.Fields(code); len(f) > 0 && !strings.HasPrefix(code, "!") {
							git(j, c.with(append([]string{"git"}, f...)), append(f, args[min(i+2, len(args)):]...))
						}
					})
				}
			}
		case "--git-dir", "--work-tree", "--exec-path", "--namespace", "--super-prefix", "--attr-source":
			if v != "" {
				j.blind(c, "it points git elsewhere")
				for _, pl := range j.places(v, at.cwd) {
					if j.Home != "" && inside(pl.path, j.Home) && !inside(pl.path, j.Workspace) {
						at = at.copy()
						at.cwd = []string{j.Home}
					}
				}
			}
		case "--version", "--help", "-h", "-v", "--html-path", "--man-path", "--info-path":
			return flow{}
		case "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--bare", "-p", "--paginate", "--no-lazy-fetch", "--no-advice", "--icase-pathspecs", "--glob-pathspecs", "--noglob-pathspecs":
		default:
			j.blind(c, "an option of git that is not known here: "+shown(a))
		}
	}
	if i >= len(args) {
		return flow{}
	}
	sub, rest := args[i], args[i+1:]
	g := call{argv: c.argv, at: at, in: c.in}
	if strings.Contains(sub, unknown) || strings.Contains(sub, star) {
		j.blind(c, "it is not known what git does")
		j.within(func() { j.push(g, rest) })
		return flow{}
	}
	if harmful, ok := gitReads[sub]; ok && !options(rest, "").has(append(strings.Fields(harmful), "--upload-pack", "--receive-pack", "--exec")...) {
		j.gitSees(g, rest)
		j.gitRuns(g, sub)
		if sub == "rev-parse" && slices.Contains(rest, "--show-toplevel") && j.Project != "" && len(at.cwd) == 1 && inside(at.cwd[0], j.Project) {
			return flow{text: j.Project + "\n", known: true}
		}
		if sub == "ls-files" || (sub == "diff" || sub == "grep") && slices.ContainsFunc(rest, func(a string) bool { return a == "--name-only" || a == "-l" }) {
			return listing([]string{"./" + star})
		}
		return flow{}
	}
	if j.gitLists(sub, rest) {
		j.gitSees(g, nil)
		j.gitRuns(g, sub)
		return flow{}
	}
	for _, cwd := range at.cwd { // what remains writes into the repository
		if j.Home != "" && inside(cwd, j.Home) && !(inside(cwd, j.Workspace) && cwd != j.Workspace) {
			j.refuses(c, "git "+sub, "the agent's history is written by its ticks alone")
		}
	}
	switch sub {
	case "push", "send-pack":
		j.push(g, rest)
	case "branch", "switch", "checkout", "worktree":
		if j.branches(g, sub, rest) {
			return flow{}
		}
		j.gitAsks(g, sub, rest, "it changes the repository")
	case "fetch", "pull", "clone", "ls-remote", "submodule", "remote", "archive", "request-pull", "svn", "p4", "send-email", "lfs", "bundle", "daemon", "instaweb":
		if sub != "remote" && sub != "archive" && sub != "bundle" && !j.probing {
			j.network = true
		}
		j.gitAsks(g, sub, rest, map[bool]string{true: "it changes the repository", false: "it reaches another repository"}[sub == "remote" || sub == "archive" || sub == "bundle"])
		for k, a := range rest {
			code := ""
			if strings.HasPrefix(a, "ext::") {
				code = strings.TrimPrefix(a, "ext::")
			} else if (a == "foreach" || a == "--upload-pack" || a == "-u") && k+1 < len(rest) {
				code = strings.Join(rest[k+1:], " ")
			} else if strings.HasPrefix(a, "--upload-pack=") {
				code = strings.TrimPrefix(a, "--upload-pack=")
			}
			if code != "" {
				j.blind(c, "it runs another program")
				j.probe(code, at)
			}
		}
	case "config":
		j.find(finding{tier: Ask, why: "it changes a setting of git", kind: exactly(c.argv), words: c.argv, dir: c.dir(), firm: true})
		for _, a := range rest {
			if strings.HasPrefix(a, "!") {
				j.probe(a[1:], at)
			}
		}
	case "rebase", "bisect", "filter-branch", "filter-repo", "difftool", "mergetool", "stash", "commit", "clean", "reset":
		o := options(rest, "-x --exec --tree-filter --index-filter --msg-filter --env-filter --commit-filter -m --message -F -C -c --author --date -e --exclude -t --tool")
		for _, code := range o.values("-x", "--exec", "--tree-filter", "--index-filter", "--msg-filter", "--env-filter", "--commit-filter") {
			if sub != "commit" && sub != "stash" && code != "" {
				j.blind(c, "it runs another program")
				j.probe(code, at)
			}
		}
		if sub == "bisect" && len(rest) > 1 && rest[0] == "run" {
			j.blind(c, "it runs another program")
			j.call(g.with(rest[1:]))
		}
		if sub == "clean" {
			paths := o.rest
			if len(paths) == 0 {
				paths = []string{"."}
			}
			for _, p := range paths {
				j.removes(g, p, true)
			}
		}
		why := map[string]string{"stash": "it changes files", "reset": "it may take changes away", "commit": "it makes a commit, and runs the project's hooks"}[sub]
		if why == "" {
			why = "it rewrites the repository or its files"
		}
		j.gitAsks(g, sub, rest, why)
	default:
		j.gitAsks(g, sub, rest, "it changes the repository, or is not known here")
	}
	return flow{}
}

func (j *judge) within(f func()) {
	was := j.probing
	j.probing = true
	f()
	j.probing = was
}

func (j *judge) gitAsks(c call, sub string, rest []string, why string) {
	j.touch(Moves, sub)
	kind := "git " + sub
	for _, f := range rest { // what may lose work is a kind of its own
		if strings.HasPrefix(f, "-") && slices.Contains(strings.Fields("--hard --force -f -D -fd -fdx -ffdx -xdf --amend --all --global --system"), f) {
			kind += " " + f
		}
	}
	if slices.Contains([]string{"fetch", "pull", "clone", "ls-remote", "svn", "p4", "request-pull", "send-email"}, sub) || sub == "submodule" && len(rest) > 0 && rest[0] == "add" {
		for _, a := range rest {
			if !strings.HasPrefix(a, "-") {
				kind += elsewhere(a)
			}
		}
	}
	if (sub == "remote" || sub == "stash" || sub == "submodule" || sub == "worktree") && len(rest) > 0 {
		kind += " " + rest[0]
	}
	j.asks(c, kind, why)
}

// gitRuns asks where reading may start programs of the project's choice.
func (j *judge) gitRuns(c call, sub string) {
	if j.GitRuns && !j.Confined {
		j.asks(c, "git "+sub+" with its programs", "the project's git is set up to run programs of its own, and they are not confined here")
	}
}

// gitSees judges the reading of a repository, and of paths out of it.
func (j *judge) gitSees(c call, rest []string) {
	for _, p := range rest {
		if strings.Contains(p, unknown) {
			j.blind(c, "it is not known what git reads")
		}
		if _, file, ok := strings.Cut(p, ":"); ok { // HEAD:.env
			p = file
		}
		if strings.HasPrefix(p, "-") {
			continue
		}
		j.sensitive(c, p)
		if strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") || strings.HasPrefix(p, "../") || p == ".." {
			j.reads(c, p, false)
		}
	}
	j.reads(c, ".", false)
}

// gitLists says that a subcommand that can write only lists here.
func (j *judge) gitLists(sub string, rest []string) bool {
	only := func(allowed string) bool {
		for _, a := range rest {
			name, _, _ := strings.Cut(a, "=")
			if !slices.Contains(strings.Fields(allowed), name) {
				return false
			}
		}
		return true
	}
	first := ""
	if len(rest) > 0 {
		first = rest[0]
	}
	o := options(rest, "--sort --format --contains --no-contains --merged --no-merged --points-at")
	switch sub {
	case "branch":
		return only("-a -r -v -vv -l --list --all --remotes --verbose --show-current --sort --format --merged --no-merged --contains --no-contains --points-at --color --no-color --column --no-column -av -avv -rv --ignore-case") ||
			(o.has("--list", "-l") || o.has("--contains", "--merged", "--no-merged", "--points-at", "--no-contains")) && !o.has("-d", "-D", "-m", "-M", "-c", "-C", "-f", "-u", "--delete", "--move", "--copy", "--force", "--set-upstream-to", "--unset-upstream", "--edit-description")
	case "tag":
		return only("-l --list -n --sort --format --merged --no-merged --contains --points-at --column") || o.has("-l", "--list") && !o.has("-d", "--delete", "-f", "--force", "-a", "-s", "-m")
	case "remote":
		return len(rest) == 0 || only("-v --verbose") || first == "get-url"
	case "stash":
		return first == "list" || first == "show" && !o.has("--output", "--ext-diff")
	case "worktree":
		return first == "list"
	case "reflog":
		return first == "" || first == "show" || first == "exists" || strings.HasPrefix(first, "-") || first == "HEAD"
	case "config":
		return (o.has("--get", "--list", "-l", "--get-all", "--get-regexp") || first == "get" || first == "list") && !o.has("--unset", "--add", "--replace-all", "-e", "--edit", "--unset-all", "--remove-section", "--rename-section") && !slices.Contains(rest, "--global") && !slices.Contains(rest, "-f") && !slices.Contains(rest, "--file")
	case "submodule":
		return first == "" || first == "status" || first == "summary"
	case "notes":
		return first == "" || first == "list" || first == "show"
	case "bisect":
		return first == "log" || first == "view"
	case "symbolic-ref":
		return len(o.rest) <= 1 && !o.has("-d", "--delete")
	case "sparse-checkout":
		return first == "list"
	case "bundle":
		return first == "list-heads"
	case "lfs":
		return first == "ls-files" || first == "status" || first == "env"
	case "apply":
		return o.has("--stat", "--check", "--numstat", "--summary") && !o.has("--apply", "--index", "--cached") && len(o.rest) > 0 && !slices.ContainsFunc(o.rest, func(p string) bool { return strings.ContainsAny(p, "/~") })
	case "add", "commit", "mv", "rm":
		return o.has("-n", "--dry-run") && sub != "commit" && slices.ContainsFunc(rest, func(a string) bool { return a == "-n" || a == "--dry-run" })
	case "clean":
		return slices.ContainsFunc(rest, func(a string) bool { return a == "-n" || a == "--dry-run" || a == "-nd" || a == "-ndx" }) && !o.has("-f", "--force")
	}
	return false
}

// branches judges the making of a branch or a worktree, which is unasked in the
// project; false leaves it to the question.
func (j *judge) branches(c call, sub string, rest []string) bool {
	own := len(c.at.cwd) == 1 && (inside(c.at.cwd[0], j.Project) || inside(c.at.cwd[0], j.Workspace))
	if !own || slices.ContainsFunc(rest, func(a string) bool { return strings.Contains(a, unknown) || strings.Contains(a, star) }) {
		return false
	}
	o := options(rest, "-b -c --create -B -C --reason --orphan")
	var made string
	switch {
	case sub == "branch" && len(o.flags) == 0 && len(o.rest) > 0 && len(o.rest) < 3:
		made = o.rest[0]
	case sub == "switch" && len(o.flags) == 1 && o.has("-c", "--create"):
		made, _ = o.value("-c", "--create")
	case sub == "checkout" && len(o.flags) == 1 && o.has("-b") && len(o.rest) < 2:
		made, _ = o.value("-b")
	case sub == "worktree" && len(o.rest) > 1 && len(o.rest) < 4 && o.rest[0] == "add" && (len(o.flags) == 0 || len(o.flags) == 1 && o.has("-b")):
		for _, pl := range j.places(o.rest[1], c.at.cwd) {
			in := inside(pl.path, j.Project) && pl.path != j.Project || inside(pl.path, j.Workspace) && pl.path != j.Workspace
			if !pl.sure || !in || starts(parts(pl.path)) {
				return false
			}
		}
		made = o.rest[1]
	default:
		return false
	}
	j.touch(Moves, made)
	return made != "" && !strings.HasPrefix(made, "-")
}

// push judges git push.
func (j *judge) push(c call, rest []string) {
	o := options(rest, "--receive-pack --exec -o --push-option --repo --signed --recurse-submodules")
	refuse := func(kind, why string) { j.refuses(c, "git push "+kind, why) }
	if !j.probing {
		j.network = true
	}
	for _, f := range o.flags {
		switch {
		case f.name == "-f" || long(f.name, "--force", 3) || strings.HasPrefix(f.name, "--force-"):
			refuse("--force", "a forced push replaces what others have")
		case f.name == "-d" || long(f.name, "--delete", 4):
			refuse("--delete", "it removes a remote branch")
		case long(f.name, "--mirror", 3) || long(f.name, "--prune", 4):
			refuse(f.name, "it removes remote branches")
		case strings.Contains(f.name, unknown):
			j.blind(c, "it is not known how it pushes")
		case long(f.name, "--receive-pack", 5) || long(f.name, "--exec", 3):
			j.blind(c, "it runs another program")
			j.probe(f.value, c.at)
		}
	}
	remote := "origin"
	for i, r := range o.rest {
		if strings.Contains(r, unknown) || strings.Contains(r, star) {
			j.blind(c, "it is not known what is pushed")
		}
		if i == 0 {
			remote = r
		}
		switch {
		case strings.HasPrefix(r, "+"):
			refuse("--force", "a forced push replaces what others have")
		case strings.HasPrefix(r, ":") && len(r) > 1:
			refuse("--delete", "it removes a remote branch")
		case strings.HasPrefix(strings.TrimPrefix(r, unknown), ":"):
			j.blind(c, "it may remove a remote branch")
		}
		if i > 0 {
			j.touch(Moves, r)
		}
	}
	if v, ok := o.value("--repo"); ok {
		remote = v
	}
	j.touch(Contacts, remote)
	j.asks(c, "git push"+elsewhere(remote), "it pushes to "+shown(remote))
}

// elsewhere is what a kind says of a repository that is named by where it is, not
// by the name that the project has for it.
func elsewhere(remote string) string {
	if strings.ContainsAny(remote, "/:\\.~"+unknown+star) {
		return " " + remote
	}
	return ""
}

// long says that f is the long option, perhaps shortened to at least n characters.
func long(f, option string, n int) bool {
	return len(f) >= n && strings.HasPrefix(f, "--") && strings.HasPrefix(option, f)
}
