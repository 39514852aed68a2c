package permit

import (
	"slices"
	"strings"
)

// tool is a program with subcommands: what only reads, what runs the code of
// the project to check it, and the options that make any of them do more.
type tool struct {
	reads string // subcommands, "," between, words in order
	tests string // the same: auto where commands are confined, else ask; * is all
	asks  string // flags
}

var tools = map[string]tool{
	"go":    {reads: "version,env,list,doc,help,mod graph,mod why,mod verify,tool", tests: "test,vet,build", asks: "-w -u -toolexec -exec -vettool -mod -modfile -overlay -o -C -m -json=x -export -pkgdir -C -test.testlogfile"},
	"cargo": {reads: "tree,metadata,help,version,locate-project,pkgid,--list,read-manifest,verify-project", tests: "test,check,build,clippy,nextest run,bench,doc", asks: "--config --fix --manifest-path -Z --target-dir --out-dir --artifact-dir"},
	"npm":   {reads: "ls,list,ll,la,view,info,show,outdated,root,prefix,bin,help,explain,why,pkg get,version,search,fund", tests: "test,t,tst,run test,run lint,run build,run check,run typecheck,run-script test", asks: "--script-shell --prefix -g --global --userconfig --globalconfig --node-options --registry"},
	"yarn":  {reads: "list,info,why,licenses list,outdated", tests: "test,run test,lint,run lint,build,run build", asks: "--cwd --script-shell --use-yarnrc --registry"}, "pnpm": {reads: "ls,list,why,outdated,root,licenses", tests: "test,t,run test,run lint,run build", asks: "--dir -C --script-shell --registry"},
	"pip": {reads: "list,show,freeze,check,help,inspect", asks: "--python --log --proxy -i --index-url --extra-index-url --path"}, "pip3": {reads: "list,show,freeze,check,help,inspect", asks: "--python --log --proxy -i --index-url --path"}, "uv": {reads: "pip list,pip show,pip freeze,tree,version,pip tree"}, "poetry": {reads: "show,check,env info,version"}, "pipx": {reads: "list"}, "pipenv": {reads: "graph"}, "conda": {reads: "list,info,env list"},
	"gem": {reads: "list,info,env,contents,which"}, "bundle": {reads: "list,info,show,outdated,check", tests: "exec rspec,exec rake test"}, "composer": {reads: "show,info,outdated,validate,licenses"}, "apt": {reads: "list,show,search,policy,depends,rdepends", asks: "-o -c"}, "apt-cache": {reads: "policy,show,search,depends,rdepends,madison,stats,showpkg", asks: "-o -c"}, "apt-get": {},
	"dpkg": {reads: "-l,-L,-s,-S,--list,--listfiles,--status,--search,--print-architecture", asks: "-i --install -r --remove -P --purge --unpack --configure -a"}, "dpkg-query": {reads: "-l,-L,-s,-S,-W"}, "rpm": {reads: "-q,-qa,-qi,-ql,-qf", asks: "-i -U -e -F --import --initdb --rebuilddb --eval --pipe --define --load"}, "brew": {reads: "list,ls,info,search,deps,outdated,--prefix,config,leaves,desc"}, "snap": {reads: "list,info,find"}, "flatpak": {reads: "list,info"}, "pacman": {reads: "-Q,-Qi,-Ql,-Qs,-Ss,-Si", asks: "-S -R -U -y -u -D --hookdir"}, "dnf": {reads: "list,info,search,repolist"}, "yum": {reads: "list,info,search"},
	"docker": {reads: "ps,images,logs,inspect,version,info,top,port,diff,history,image ls,image inspect,container ls,container logs,network ls,network inspect,volume ls,volume inspect,compose ps,compose logs,compose config,compose ls,system df,context ls,stats,search", asks: "-H --host --config -c --context -o --output"}, "podman": {reads: "ps,images,logs,inspect,version,info,top,port,diff,history", asks: "--url -c --connection --root --runroot --hooks-dir --runtime"}, "docker-compose": {reads: "ps,logs,config", asks: "-o --output"},
	"kubectl": {reads: "get,describe,logs,version,config current-context,config get-contexts,api-resources,api-versions,explain,top,cluster-info,auth can-i,rollout status,rollout history", asks: "--kubeconfig -s --server --token --as --raw --context --output-directory --user"}, "oc": {reads: "get,describe,logs,version,whoami,status", asks: "--kubeconfig -s --server --token --raw"}, "helm": {reads: "list,ls,status,history,search,show,version", asks: "--kubeconfig --post-renderer --kube-apiserver --kube-token --output-dir"},
	"terraform": {reads: "version,state list,providers,output", asks: "-state -chdir"}, "systemctl": {reads: "status,list-units,list-unit-files,is-active,is-enabled,is-failed,show,cat,list-timers,list-dependencies,get-default", asks: "-H --host -M --machine"}, "launchctl": {reads: "list,print"}, "service": {}, "loginctl": {reads: "list-sessions,show-session"}, "timedatectl": {reads: "status,show,list-timezones"}, "hostnamectl": {reads: "status"},
	"make": {reads: "", tests: "test,check,build,lint,all,vet,unit,unit-test,tests,", asks: "-C -f --file --directory -E --eval -I --include-dir SHELL"}, "gmake": {tests: "test,check,build,lint,all,", asks: "-C -f --file --directory -E --eval"}, "ninja": {tests: "test,all,", asks: "-C -f -t"}, "cmake": {reads: "--version,--help", tests: "--build"}, "just": {reads: "--list,-l,--summary", tests: "test,check,lint,build", asks: "-f --justfile -d --working-directory --shell --set --shell-arg"}, "task": {reads: "--list,-l", tests: "test,lint,build"}, "rake": {reads: "-T,--tasks", tests: "test,spec"}, "mvn": {reads: "--version,-v", tests: "test,verify,compile", asks: "-f -s -D"}, "gradle": {reads: "--version,-v,tasks,projects,dependencies", tests: "test,check,build", asks: "-p -b -I -c -P -D"}, "sbt": {tests: "test,compile"}, "bazel": {reads: "version,info", tests: "test,build"}, "dotnet": {reads: "--version,--info,--list-sdks", tests: "test,build"}, "swift": {reads: "--version", tests: "test,build"}, "mix": {tests: "test"}, "zig": {reads: "version,env", tests: "build test,test,build"}, "lein": {tests: "test"}, "stack": {tests: "test,build"}, "cabal": {tests: "test,build"}, "dune": {tests: "test,build,runtest"}, "flutter": {tests: "test,analyze"}, "dart": {tests: "test,analyze"},
	"pytest": {tests: "*", asks: "-p -c --confcutdir --rootdir -o --basetemp --junitxml --junit-xml --pdb --pdbcls"}, "py.test": {tests: "*"}, "tox": {tests: ""}, "nox": {tests: ""}, "ctest": {tests: "*", asks: "-S -D --build-and-test -T -M"}, "jest": {tests: "*", asks: "-u --updateSnapshot --config -c --rootDir"}, "vitest": {tests: "run", asks: "-u --update -c --config"}, "mocha": {tests: "*", asks: "-r --require --config"}, "phpunit": {tests: "*", asks: "--bootstrap -c --configuration --prepend"}, "rspec": {tests: "*", asks: "-r --require -o --out --options"}, "bats": {tests: "*"}, "mypy": {tests: "*", asks: "--config-file --python-executable --install-types --html-report --txt-report --xml-report --junit-xml"}, "pyright": {tests: "*", asks: "--createstub"}, "flake8": {tests: "*", asks: "--config --output-file --append-config"}, "pylint": {tests: "*", asks: "--rcfile --init-hook --load-plugins --output"}, "eslint": {tests: "*", asks: "--fix -o --output-file -c --config --resolve-plugins-relative-to --rulesdir --init"}, "golangci-lint": {reads: "version,linters", tests: "run", asks: "--fix -c --config --out-format"}, "staticcheck": {tests: "*"}, "tsc": {tests: "--noEmit"}, "clippy-driver": {},
	"ruff": {reads: "check,version,rule,linter", asks: "--fix --fix-only --unsafe-fixes -o --output-file --add-noqa --config"}, "black": {reads: "--check,--diff", asks: "--config"}, "isort": {reads: "--check,--check-only,--diff,-c", asks: "--settings-path"}, "prettier": {tests: "--check,-c,-l", asks: "-w --write --config --plugin"}, "rustc": {reads: "--version,-V,--explain,--print"}, "rustup": {reads: "show,toolchain list,target list,component list,which"}, "python3": {reads: "", tests: "-m pytest,-m unittest,-m mypy,-m compileall -q"}, "python": {tests: "-m pytest,-m unittest,-m mypy"}, "node": {tests: "--test"}, "deno": {reads: "info,--version", tests: "test,check,lint"}, "bun": {reads: "pm ls,--version", tests: "test"}, "nvm": {reads: "ls,list,current,version"}, "pyenv": {reads: "versions,version,which"}, "rbenv": {reads: "versions,version,which"}, "asdf": {reads: "list,current,where,which"}, "direnv": {reads: "status"}, "tmux": {reads: "ls,list-sessions,list-windows,list-panes"}, "screen": {reads: "-ls"}, "virsh": {reads: "list"}, "vagrant": {reads: "status,version"}, "ansible": {}, "crictl": {reads: "ps,images"}, "buf": {reads: "--version"}, "protoc": {reads: "--version"}, "npx": {}, "hugo": {reads: "version,list"}, "nginx": {reads: "-v,-V"}, "psql": {reads: "--version,-V"}, "mysql": {reads: "--version,-V"},
}

// toolKnows judges an interpreter's subcommand, if it is one of the table.
func (j *judge) toolKnows(name string, c call, args []string) bool {
	t := tools[name]
	if fits(t.reads, args) || fits(t.tests, args) {
		j.tool(name, t, c, args)
		return true
	}
	return false
}

// fits says that args begin, options before them apart, with one of the list.
func fits(list string, args []string) bool {
	if list == "*" {
		return true
	}
	if list == "" {
		return false
	}
	for entry := range strings.SplitSeq(list, ",") {
		words := strings.Fields(entry)
		if len(words) == 0 {
			if !slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") }) {
				return true
			}
			continue
		}
		k := 0
		for _, a := range args {
			if k < len(words) && a == words[k] {
				k++
			} else if k > 0 || !strings.HasPrefix(a, "-") {
				break
			}
		}
		if k == len(words) {
			return true
		}
	}
	return false
}

func (j *judge) tool(name string, t tool, c call, args []string) {
	if len(args) == 1 && slices.Contains(strings.Fields("--version -V --help -h"), args[0]) {
		return
	}
	if len(args) == 0 && t.reads != "" && !strings.Contains(t.tests, ",,") && !strings.HasSuffix(t.tests, ",") && t.tests != "*" {
		return // it prints how it is used
	}
	kind := strings.Join(head(c.argv), " ")
	o := options(args, before[name])
	for _, a := range args {
		if strings.Contains(a, unknown) {
			j.blind(c, "it is not known what "+name+" does")
			return
		}
	}
	more := ""
	for _, f := range strings.Fields(t.asks) {
		for _, a := range args {
			n, _, _ := strings.Cut(a, "=")
			if n == f || n == "-"+f || strings.HasPrefix(f, "--") && len(n) > 3 && strings.HasPrefix(f, n) ||
				len(f) == 2 && f[0] == '-' && len(n) > 2 && n[1] != '-' && name != "go" && strings.HasPrefix(n, f) || f == "SHELL" && strings.Contains(a, "=") {
				more = f
			}
		}
	}
	if name == "go" && more == "-json=x" {
		more = ""
	}
	for _, cwd := range c.at.cwd {
		if !inside(cwd, j.Project) && !inside(cwd, j.Workspace) && fits(t.tests, args) {
			more = "being outside of the project"
		}
	}
	if name == "kubectl" || name == "oc" {
		for _, a := range o.rest {
			for part := range strings.SplitSeq(a, ",") {
				if strings.HasPrefix(strings.ToLower(part), "secret") {
					j.find(finding{tier: Ask, why: "it prints credentials", kind: exactly(c.argv), words: c.argv, dir: c.dir(), firm: true})
					return
				}
			}
		}
	}
	if name == "docker" || name == "podman" {
		j.container(c, args)
	}
	switch {
	case more != "":
		j.find(finding{tier: Ask, why: name + " with " + more + " does more than read or test", kind: exactly(c.argv), words: c.argv, dir: c.dir()})
	case fits(t.reads, args) && name == "npm" && len(o.rest) > 1 && o.rest[0] == "version":
		j.asks(c, "npm version", "it changes the project's version")
	case fits(t.reads, args) && name == "go" && slices.Contains(args, "tool") && len(o.rest) > 1:
		j.asks(c, "go tool "+o.rest[1], "it runs a tool")
	case fits(t.reads, args):
		for _, a := range o.rest {
			j.sensitive(c, a)
			if strings.HasPrefix(a, "/") || strings.HasPrefix(a, "~") || strings.HasPrefix(a, "..") {
				j.reads(c, a, false)
			}
		}
	case fits(t.tests, args) && j.Confined && !slices.ContainsFunc(o.rest, func(a string) bool { return danger(name, a) }):
	case fits(t.tests, args):
		j.asks(c, kind, "it runs the project's code, which is not confined here")
	default:
		j.asks(c, kind, "it may change something: "+shown(kind))
	}
	if name == "npx" || name == "bundle" || name == "poetry" || name == "uv" || name == "pipx" || name == "pipenv" {
		for i, a := range args {
			if i > 0 && (args[i-1] == "run" || args[i-1] == "exec") || name == "npx" && !strings.HasPrefix(a, "-") {
				j.within(func() { j.call(c.with(args[i:])) })
				break
			}
		}
	}
	if name == "make" || name == "gmake" || name == "just" {
		for _, a := range args { // SHELL=…, CC='…'
			if _, v, ok := strings.Cut(a, "="); ok {
				j.probe(v, c.at)
			}
		}
	}
}

// danger is a target of make and its kin that is more than a test.
func danger(name, target string) bool {
	return strings.ContainsAny(target, "=$`") || (name == "make" || name == "gmake" || name == "just" || name == "ninja" || name == "gradle" || name == "mvn" || name == "bazel" || name == "task") &&
		slices.ContainsFunc(strings.Fields("install deploy release publish push upload clean distclean uninstall"), func(w string) bool { return strings.Contains(target, w) })
}

// container looks into docker run and exec.
func (j *judge) container(c call, args []string) {
	i := slices.IndexFunc(args, func(a string) bool { return a == "run" || a == "exec" })
	if i < 0 {
		return
	}
	const valued = "-v --volume --mount -e --env -w --workdir -u --user --name -p --publish --network --entrypoint -l --label -h --hostname --cpus -m --memory"
	image := i + 1 // options end where it stands
	for ; image < len(args) && strings.HasPrefix(args[image], "-"); image++ {
		if slices.Contains(strings.Fields(valued), args[image]) {
			image++
		}
	}
	o := options(args[i+1:min(image, len(args))], valued)
	mounts := map[string]string{} // inside → outside
	for _, v := range o.values("-v", "--volume") {
		if out, rest, ok := strings.Cut(v, ":"); ok {
			in, _, _ := strings.Cut(rest, ":")
			mounts[clean(in)] = out
		}
	}
	for _, v := range o.values("--mount") {
		var in, out string
		for f := range strings.SplitSeq(v, ",") {
			k, val, _ := strings.Cut(f, "=")
			switch k {
			case "src", "source":
				out = val
			case "dst", "target", "destination":
				in = val
			}
		}
		if in != "" && out != "" {
			mounts[clean(in)] = out
		}
	}
	if image+1 >= len(args) || len(mounts) == 0 {
		return
	}
	inner := make([]string, 0, len(args))
	for _, a := range args[image+1:] { // paths as they are outside
		for in, out := range mounts {
			if in != "/" {
				a = strings.ReplaceAll(a, in, strings.TrimRight(out, "/")+"/")
			}
		}
		inner = append(inner, a)
	}
	j.within(func() { j.call(c.with(inner)) })
}
