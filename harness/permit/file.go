package permit

import (
	"slices"
	"strings"
)

// own are the files of the agent's home that say what it may do and who it is:
// no function on files writes them.
var own = folders("permissions.org config.yaml consciousness.el .git .amacs .gitignore")

// reads judges the reading of p; all says that what lies below is read too.
func (j *judge) reads(c call, p string, all bool) {
	if p == "" && c.at.cwd == nil {
		return
	}
	for _, pl := range j.places(p, c.at.cwd) {
		if !pl.sure {
			j.blind(c, "it is not known what is read")
			j.touch(Reads, p)
			continue
		}
		j.touch(Reads, pl.path)
		f := finding{tier: Ask, kind: "read:" + pl.path, path: pl.path, words: c.argv, dir: c.dir()}
		comps := parts(pl.path)
		rest, users := j.ofUser(comps)
		inHome := j.Home != "" && inside(pl.path, j.Home)
		switch {
		case j.isSecret(comps):
			if !j.probing {
				j.secret = true
			}
			f.why, f.firm = "it may hold credentials: "+pl.path, true
		case len(comps) > 0 && comps[0] == "dev":
			if name := strings.Join(comps[1:], "/"); harmlessDevice(name) {
				continue
			}
			f.why, f.firm = "it reads a device: "+pl.path, true
		case inHome && j.Home != "" && below(comps, append(parts(j.Home), ".amacs")) && !below(comps, append(parts(j.Home), ".amacs", "cache", "run", "output")):
			f.why = "it is amacs' own state: " + pl.path
		case users && all && holds(rest, credentialFolders):
			f.why, f.firm = "below it are credentials: "+pl.path, true
		case inHome, inside(pl.path, j.Workspace), inside(pl.path, j.Project):
			continue
		case j.readable(pl.path), lies(comps, publicFiles) && !strings.Contains(pl.path, star):
			continue
		default:
			f.why = "it is outside of the project: " + pl.path
		}
		j.find(f)
	}
}

func (j *judge) readable(p string) bool {
	for _, f := range j.Readable {
		if inside(p, f) {
			return true
		}
	}
	return false
}

func harmlessDevice(name string) bool {
	if n, ok := strings.CutPrefix(name, "fd/"); ok {
		return n != "" && strings.Trim(n, "0123456789") == ""
	}
	for _, d := range harmlessDevices {
		if name == d {
			return true
		}
	}
	return false
}

// writes judges the writing of p; tree says that many files are put into the
// folder p.
func (j *judge) writes(c call, p string, tree bool) {
	for _, pl := range j.places(p, c.at.cwd) {
		f := finding{tier: Ask, kind: "write:" + pl.path, path: pl.path, words: c.argv, dir: c.dir()}
		comps := parts(pl.path)
		rest, users := j.ofUser(comps)
		device := len(comps) > 0 && comps[0] == "dev"
		if device && pl.sure && harmlessDevice(strings.Join(comps[1:], "/")) {
			continue
		}
		j.touch(Writes, pl.path)
		switch {
		case pl.path == "":
			j.blind(c, "it is not known what is written")
			continue
		case len(comps) > 1 && device && (comps[1] == "tcp" || comps[1] == "udp"):
			j.network = true
			f.why, f.firm = "it talks to another machine: "+pl.path, true
		case device && len(comps) > 1 && (strings.Contains(pl.path, star) || !calmDevice(comps[1])):
			f.tier, f.why = Never, "it overwrites a device: "+pl.path
		case j.guards(&f, comps):
		case users && lies(rest, credentialFolders):
			f.tier, f.why = Never, "it writes where credentials are kept: "+pl.path
		case lies(comps, criticalFiles):
			f.tier, f.why = Never, "the machine depends on it: "+pl.path
		case tree && (len(comps) == 0 || lies(comps, systemFolders) && !localSoftware(comps)):
			f.tier, f.why = Never, "it overwrites the system: "+pl.path
		case strings.Contains(pl.path, star) && (holds(comps, systemFolders) || users && holds(rest, userFolders)):
			f.tier, f.why = Never, "it may overwrite anything in "+pl.path
		case !pl.sure:
			j.blind(c, "it is not known what is written")
			continue
		case users && lies(rest, startFiles) || starts(comps):
			f.why, f.firm = "it is run by itself later: "+pl.path, true
		case inside(pl.path, j.Workspace) && pl.path != j.Workspace && !strings.Contains(pl.path, star):
			continue
		case inside(pl.path, j.Project):
			f.why = "it writes " + pl.path
			if j.file && !strings.Contains(pl.path, star) {
				f.kind = "write:the project" // one answer may serve for all of it
			}
		default:
			f.why = "it writes outside of the project: " + pl.path
		}
		j.find(f)
	}
}

// guards judges a change in the agent's home; false says that it is none.
func (j *judge) guards(f *finding, comps []string) bool {
	home := parts(j.Home)
	if len(home) == 0 || !below(comps, home) {
		return false
	}
	rest := comps[len(home):]
	if work := parts(j.Workspace); below(comps, work) && !strings.Contains(strings.Join(comps[:len(work)], ""), star) && len(comps) > len(work) {
		return false
	}
	switch {
	case lies(rest, own):
		f.tier, f.why = Never, "the agent can not change what it may do: "+f.path
	case !j.file:
		f.tier, f.why = Never, "commands only read the agent's home: "+f.path
	case len(rest) > 0 && could(rest[0], "skills") && (len(rest) == 1 || could(rest[1], "core")):
		f.why, f.firm = "it says how the agent works: "+f.path, true
	default:
		f.why, f.firm = "it is a part of the agent's mind: "+f.path, true
	}
	return true
}

// calmDevice says that writing to a device destroys no disk and no memory.
func calmDevice(name string) bool {
	for _, p := range []string{"null", "zero", "full", "random", "urandom", "tty", "pts", "std", "fd", "shm", "ptmx", "console"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// localSoftware says that p is what the user installed, not the system.
func localSoftware(p []string) bool {
	return len(p) > 1 && p[0] == "usr" && p[1] == "local"
}

// Names of folders and files of a project whose text is run without being called:
// by git and its hooks, when a folder is entered or opened in an editor, by a
// build server after a push.
var (
	startFolders = strings.Fields(".git .husky .githooks .github .gitea .forgejo .circleci .buildkite .vscode .idea .devcontainer")
	startNames   = strings.Fields(".envrc .gitconfig .gitattributes .gitmodules .gitlab-ci.yml .travis.yml .drone.yml jenkinsfile azure-pipelines.yml bitbucket-pipelines.yml appveyor.yml " +
		".pre-commit-config.yaml lefthook.yml .dir-locals.el .dir-locals-2.el .exrc .nvimrc .vimrc .lvimrc .mise.toml mise.toml")
)

// starts says that p is run by git, direnv, an editor, a build server or cron.
func starts(p []string) bool {
	for i, c := range p {
		if strings.HasPrefix(c, ".git"+star) || slices.Contains(startFolders, c) || i == len(p)-1 && slices.Contains(startNames, c) {
			return true
		}
	}
	return len(p) > 1 && p[0] == "etc" && (strings.HasPrefix(p[1], "cron") || strings.HasPrefix(p[1], "profile") || p[1] == "systemd" || strings.HasPrefix(p[1], "init") || p[1] == "rc.local" ||
		strings.HasPrefix(p[1], "bash") || strings.HasPrefix(p[1], "zsh"))
}

// removes judges the removal of p, with all below it if all is set.
func (j *judge) removes(c call, p string, all bool) {
	for _, pl := range j.places(p, c.at.cwd) {
		f := finding{tier: Ask, kind: "remove:" + pl.path, path: pl.path, words: c.argv, dir: c.dir()}
		j.touch(Removes, pl.path)
		if pl.path == "" {
			j.blind(c, "it is not known what is removed")
			continue
		}
		comps := parts(pl.path)
		rest, users := j.ofUser(comps)
		home := parts(j.Home)
		glob := len(comps) > 0 && (strings.Contains(pl.path, star) || comps[len(comps)-1] == "*")
		everything := glob && comps[len(comps)-1] == "*" || glob && comps[len(comps)-1] == star
		switch {
		case len(home) > 0 && above(comps, home):
			f.tier, f.why = Never, "it removes the agent's home: "+pl.path
		case j.guards(&f, comps):
		case holds(comps, topFolders) || holds(comps, systemFolders):
			f.tier, f.why = Never, "it removes the system: "+pl.path
		case len(comps) == 1 && pl.sure && (all || glob):
			f.tier, f.why = Never, "it removes a folder of the root: "+pl.path
		case above(comps, parts(j.User)), users && len(rest) == 0:
			f.tier, f.why = Never, "it removes a home: "+pl.path
		case users && len(rest) == 1 && everything:
			f.tier, f.why = Never, "it removes all in a home: "+pl.path
		case users && (holds(rest, userFolders) || holds(rest, credentialFolders)):
			f.tier, f.why = Never, "it removes what is dear in a home: "+pl.path
		case users && lies(rest, credentialFolders):
			f.tier, f.why = Never, "it removes credentials: "+pl.path
		case lies(comps, criticalFiles):
			f.tier, f.why = Never, "the machine depends on it: "+pl.path
		case lies(comps, systemFolders) && (all || glob) && (!localSoftware(comps) || everything && len(comps) < 4):
			f.tier, f.why = Never, "it removes a part of the system: "+pl.path
		case !pl.sure:
			j.blind(c, "it is not known what is removed")
			continue
		case users && lies(rest, startFiles):
			f.why, f.firm = "it is needed at the next start: "+pl.path, true
		case inside(pl.path, j.Workspace) && pl.path != j.Workspace && !glob && !j.file:
			f.why = "it removes " + pl.path
		case j.Project != "" && above(comps, parts(j.Project)):
			f.why, f.firm = "it removes the whole project: "+pl.path, true
		case inside(pl.path, j.Project):
			f.why = "it removes " + pl.path
		default:
			f.why = "it removes outside of the project: " + pl.path
		}
		j.find(f)
	}
}
